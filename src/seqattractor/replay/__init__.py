"""Is it replay? Tests of whether candidate events follow a sequence that a memory has learned."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
