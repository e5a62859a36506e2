"""Choosing parameters with scikit-learn: learn all sequences, and score recall from corrupted
cues.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
