"""ONNX models: a matrix product and a comparison with zero for each layer, in float64."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from seqattractor._checks import check_memory
from seqattractor.exchange.layers import (
    PlainLayer,
    PlainNetwork,
    RejectedFile,
    as_texts,
    digest_of,
    layer_names,
    needed,
)

FORMAT = "seqattractor-onnx"
OPSET, IR_VERSION = 17, 8
"""Which every onnxruntime since 1.12 reads."""


def onnx_model(net: PlainNetwork) -> Any:
    """Return the ``onnx.ModelProto`` of a network; see `seqattractor.networks.to_onnx`."""
    onnx = needed("onnx", "to_onnx()", "onnx")
    helper, types = onnx.helper, onnx.TensorProto
    nodes: list[Any] = []
    constants: dict[str, Any] = {}

    def node(kind: str, *inputs: str, **options: Any) -> str:
        output = str(options.pop("output", f"{kind.lower()}_{len(nodes)}"))
        nodes.append(
            helper.make_node(kind, list(inputs), [output], name=f"{kind}_{len(nodes)}", **options)
        )
        return output

    def constant(title: str, value: Any) -> str:
        constants[title] = np.ascontiguousarray(value, dtype=np.float64)
        return title

    x = node("Flatten", node("Cast", "states", to=types.DOUBLE), axis=1)
    for name, layer in net.named().items():
        fields = node("MatMul", x, constant(f"{name}.weight", layer.weights.T))
        fields = node("Add", fields, constant(f"{name}.bias", layer.offset))
        active = node("GreaterOrEqual", fields, constant("zero", 0))
        x = node("Where", active, constant("state.1", 1), constant(f"state.{layer.low}", layer.low))
    node("Cast", x, to=types.FLOAT, output="next_patterns")
    N, order = net.n_visible, net.order
    states = ["batch", N] if order == 1 else ["batch", order, N]
    graph = helper.make_graph(
        nodes,
        "seqattractor",
        [helper.make_tensor_value_info("states", types.FLOAT, states)],
        [helper.make_tensor_value_info("next_patterns", types.FLOAT, ["batch", N])],
        [onnx.numpy_helper.from_array(value, title) for title, value in constants.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="seqattractor"
    )
    model.ir_version = IR_VERSION
    model.doc_string = "Takes states of -1 and +1 and returns the patterns that follow them."
    texts = as_texts({"format": FORMAT, **net.about, "silent": [layer.low for layer in net.layers]})
    helper.set_model_props(model, {**texts, "digest": digest_of(texts["silent"], constants)})
    onnx.checker.check_model(model)
    return model


def read_onnx(path: Path) -> list[PlainLayer]:
    """Read the layers of a model that `seqattractor.networks.to_onnx` made; nothing in it is
    run.
    """
    onnx = needed("onnx", "an .onnx file", "onnx")
    check_memory(4 * path.stat().st_size, f"the model in {path}")
    try:
        model = onnx.load_model_from_string(path.read_bytes())
    except Exception as error:  # of protobuf, whose classes of errors differ between its versions
        raise ValueError(f"it cannot be read as an ONNX model: {str(error)[:100]}") from None
    facts = {entry.key: entry.value for entry in model.metadata_props}
    if facts.get("format") != FORMAT:
        raise RejectedFile(
            f"{path} was not written by seqattractor; give its weights to "
            "sa.networks.from_arrays(U, V)."
        )
    arrays = {}
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise ValueError("it has weights that lie in other files")
        arrays[tensor.name] = np.asarray(onnx.numpy_helper.to_array(tensor))
    if facts.get("digest") != digest_of(facts.get("silent", ""), arrays):
        raise ValueError("its weights are not what was saved")
    silent = json.loads(facts.get("silent", ""))
    return [
        _layer(name, low, arrays) for name, low in zip(layer_names(silent), silent, strict=True)
    ]


def _layer(name: str, low: int, arrays: dict[str, Any]) -> PlainLayer:
    """Return a layer, or raise if its arrays do not fit together."""
    weights, bias = arrays[f"{name}.weight"].T, arrays[f"{name}.bias"]
    if weights.ndim != 2 or bias.shape != weights.shape[:1] or low not in (-1, 0):
        raise ValueError(f"its {name} layer does not fit together")
    return PlainLayer(weights.astype(np.float64), bias.astype(np.float64), low)
