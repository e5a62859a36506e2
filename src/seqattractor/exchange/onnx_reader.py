"""Networks from the ONNX models that `SequenceMemory.to_onnx` makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from seqattractor._checks import check_memory
from seqattractor.exchange.extras import needed
from seqattractor.exchange.foreign import Found, network_of_layers
from seqattractor.exchange.limbs import DIGITS, Limbs
from seqattractor.exchange.onnx_model import FORMAT
from seqattractor.exchange.threshold_layers import digest_of, layer_names
from seqattractor.networks.given import ThresholdNetwork
from seqattractor.networks.model_file import Refused


def read_onnx(path: Path) -> ThresholdNetwork:
    """Read the layers of an ONNX model of ours; nothing of it is run, and no other file is read."""
    onnx = needed("onnx", "an .onnx file", "onnx")
    check_memory(4 * path.stat().st_size, f"the model in {path}")
    try:
        model = onnx.load_model_from_string(path.read_bytes())
    except Exception as error:  # of protobuf, whose classes of errors differ between its versions
        raise ValueError(f"it cannot be read as an ONNX model: {str(error)[:100]}") from None
    facts = {entry.key: entry.value for entry in model.metadata_props}
    if facts.get("format") != FORMAT:
        raise Refused(f"{path} was not written by seqattractor; give its weights to sa.networks.from_arrays(U, V).")
    arrays = {}
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise ValueError("it has weights that lie in other files")
        arrays[tensor.name] = np.asarray(onnx.numpy_helper.to_array(tensor))
    if facts.get("digest") != digest_of(facts.get("layers", ""), arrays):
        raise ValueError("its weights are not what was saved")
    told = json.loads(facts.get("layers", ""))
    return network_of_layers([_layer(name, about, arrays) for name, about in zip(layer_names(told), told, strict=True)])


def _layer(name: str, about: dict[str, Any], arrays: dict[str, Any]) -> Found:
    """A layer from its limbs; what does not fit together is refused."""
    count = sum(1 for title in arrays if title.startswith(f"{name}.digits."))
    digits = np.stack([arrays[f"{name}.digits.{k}"].T for k in range(count)]).astype(np.float64)
    offsets = np.stack([arrays[f"{name}.offsets.{k}"] for k in range(count)]).astype(np.float64)
    exponent, bits, low = np.array(about["exponent"], dtype=np.int32), about["bits"], about["low"]
    fits = digits.ndim == 3 and offsets.shape == digits.shape[:2] and exponent.shape == offsets.shape[1:]
    if not fits or bits not in range(1, DIGITS["float64"]) or low not in (-1, 0) or np.any(np.abs(exponent) > 1100):
        raise ValueError(f"its {name} layer does not fit together")
    weights, offset = Limbs(digits, offsets, exponent, bits).weights()
    return Found(weights, offset, low)
