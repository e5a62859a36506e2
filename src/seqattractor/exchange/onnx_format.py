"""ONNX models: matrix products of whole numbers in limbs, carries, and a comparison with zero for each layer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from seqattractor._checks import check_memory
from seqattractor.exchange.layers import (
    ForeignFile,
    PlainLayer,
    PlainNetwork,
    as_texts,
    digest_of,
    layer_names,
    needed,
    type_name,
)
from seqattractor.exchange.limbs import DIGITS, Limbs, split_weights

FORMAT = "seqattractor-onnx"
OPSET, IR_VERSION = 17, 8
"""Which every onnxruntime since 1.12 reads."""


def onnx_model(net: PlainNetwork, dtype: Any = "float64") -> Any:
    """Return the ``onnx.ModelProto`` of a network; see `SequenceMemory.to_onnx`."""
    onnx = needed("onnx", "to_onnx()", "onnx")
    helper, numbers = onnx.helper, onnx.numpy_helper
    name = type_name(dtype)
    inner = {"float64": onnx.TensorProto.DOUBLE, "float32": onnx.TensorProto.FLOAT}[name]
    nodes: list[Any] = []
    constants: dict[str, Any] = {}
    described: list[dict[str, Any]] = []

    def node(kind: str, *inputs: str, **options: Any) -> str:
        output = str(options.pop("output", f"{kind.lower()}_{len(nodes)}"))
        nodes.append(helper.make_node(kind, list(inputs), [output], name=f"{kind}_{len(nodes)}", **options))
        return output

    def constant(title: str, value: Any) -> str:
        constants[title] = np.ascontiguousarray(value, dtype=name)
        return title

    x = node("Flatten", node("Cast", "states", to=inner), axis=1)
    for title, layer in net.named().items():
        limbs = split_weights(layer.weights, layer.offset, name)
        carry = None
        for k, (digits, offsets) in enumerate(zip(limbs.digits, limbs.offsets, strict=True)):
            sums = node("MatMul", x, constant(f"{title}.digits.{k}", digits.T))
            sums = node("Add", sums, constant(f"{title}.offsets.{k}", offsets))
            if carry is not None:
                sums = node("Add", sums, carry)
            if k + 1 < len(limbs.digits):
                carry = node("Floor", node("Mul", sums, constant(f"{title}.shift", 2.0**-limbs.bits)))
        active = node("GreaterOrEqual", sums, constant("zero", 0))
        x = node("Where", active, constant(f"state.{layer.high}", layer.high), constant(f"state.{layer.low}", layer.low))
        described.append({"low": layer.low, "high": layer.high, "bits": limbs.bits, "exponent": limbs.exponent.tolist()})
    node("Cast", x, to=onnx.TensorProto.FLOAT, output="next_patterns")
    N, order = net.n_visible, net.order
    floats = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "seqattractor",
        [helper.make_tensor_value_info("states", floats, ["batch", N] if order == 1 else ["batch", order, N])],
        [helper.make_tensor_value_info("next_patterns", floats, ["batch", N])],
        [numbers.from_array(value, title) for title, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="seqattractor")
    model.ir_version = IR_VERSION
    model.doc_string = "Takes states of -1 and +1 and gives the patterns that follow them; sums are exact in any order."
    facts = {"format": FORMAT, **net.about, "layers": described}
    texts = as_texts(facts)
    helper.set_model_props(model, {**texts, "digest": digest_of(texts["layers"], constants)})
    onnx.checker.check_model(model)
    return model


def read_onnx(path: Path) -> list[PlainLayer]:
    """Read the layers of a model that `SequenceMemory.to_onnx` made; nothing of it is run, and no other file is read."""
    onnx = needed("onnx", "an .onnx file", "onnx")
    check_memory(4 * path.stat().st_size, f"the model in {path}")
    try:
        model = onnx.load_model_from_string(path.read_bytes())
    except Exception as error:  # of protobuf, whose classes of errors differ between its versions
        raise ValueError(f"it cannot be read as an ONNX model: {str(error)[:100]}") from None
    facts = {entry.key: entry.value for entry in model.metadata_props}
    if facts.get("format") != FORMAT:
        raise ForeignFile(f"{path} was not written by seqattractor; give its weights to sa.networks.from_arrays(U, V).")
    arrays = {}
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise ValueError("it has weights that lie in other files")
        arrays[tensor.name] = np.asarray(onnx.numpy_helper.to_array(tensor))
    if facts.get("digest") != digest_of(facts.get("layers", ""), arrays):
        raise ValueError("its weights are not what was saved")
    described = json.loads(facts.get("layers", ""))
    return [_layer(name, about, arrays) for name, about in zip(layer_names(described), described, strict=True)]


def _layer(name: str, about: dict[str, Any], arrays: dict[str, Any]) -> PlainLayer:
    """Return a layer from its limbs, or raise if they do not fit together."""
    count = sum(1 for title in arrays if title.startswith(f"{name}.digits."))
    digits = np.stack([arrays[f"{name}.digits.{k}"].T for k in range(count)]).astype(np.float64)
    offsets = np.stack([arrays[f"{name}.offsets.{k}"] for k in range(count)]).astype(np.float64)
    exponent, bits, low = np.array(about["exponent"], dtype=np.int32), about["bits"], about["low"]
    fits = digits.ndim == 3 and offsets.shape == digits.shape[:2] and exponent.shape == offsets.shape[1:]
    if not fits or bits not in range(1, DIGITS["float64"]) or low not in (-1, 0) or np.any(np.abs(exponent) > 1100):
        raise ValueError(f"its {name} layer does not fit together")
    weights, offset = Limbs(digits, offsets, exponent, bits).weights()
    return PlainLayer(weights, offset, low)
