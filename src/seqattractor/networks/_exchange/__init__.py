"""Networks out and in: torch, ONNX, NIR and safetensors. What is shared stands in `limbs.py` and `threshold_layers.py`."""
