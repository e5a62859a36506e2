"""Is it replay? Tests of whether candidate events follow a sequence that a memory has learned."""

from seqattractor._suggest import public_names as _public_names

__getattr__, __dir__, __all__ = _public_names(__name__, __file__)
