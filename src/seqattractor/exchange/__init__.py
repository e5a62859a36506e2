"""Networks to and from other tools: torch, ONNX, NIR, safetensors. Public names are listed in ``__init__.pyi``."""

from seqattractor._suggest import public_names as _public_names

__getattr__, __dir__, __all__ = _public_names(__name__, __file__)
