"""File formats and objects of other tools: torch, ONNX, NIR, safetensors. Users reach them from a
network and `sa.networks`.
"""
