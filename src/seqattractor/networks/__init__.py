"""The networks. All are `SequenceMemory`s: fit, step, recall, score, save. Public names are listed
in ``__init__.pyi``.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
