"""Other people's sequence memories, one file per model with its learning rule. Public names are
listed in ``__init__.pyi``.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
