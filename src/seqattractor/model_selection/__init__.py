"""Choosing parameters with scikit-learn: learn all sequences, and score recall from corrupted cues."""

from seqattractor._suggest import public_names as _public_names

__getattr__, __dir__, __all__ = _public_names(__name__, __file__)
