"""A network as an ONNX model: matrix products of whole numbers in limbs, carries, and a comparison with zero for each layer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from seqattractor.exchange.extras import needed
from seqattractor.exchange.limbs import split_weights
from seqattractor.exchange.threshold_layers import about, digest_of, layer_names, threshold_layers, type_name

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

FORMAT = "seqattractor-onnx"
OPSET, IR_VERSION = 17, 8
"""Which every onnxruntime since 1.12 reads."""


def onnx_model(net: SequenceMemory, dtype: Any = "float64") -> Any:
    """Give the ``onnx.ModelProto`` of a network; see `SequenceMemory.to_onnx`."""
    onnx = needed("onnx", "to_onnx()", "onnx")
    helper, numbers = onnx.helper, onnx.numpy_helper
    layers, name = threshold_layers(net, "ONNX"), type_name(dtype)
    inner = {"float64": onnx.TensorProto.DOUBLE, "float32": onnx.TensorProto.FLOAT}[name]
    nodes: list[Any] = []
    constants: dict[str, Any] = {}
    told: list[dict[str, Any]] = []

    def node(kind: str, *inputs: str, **options: Any) -> str:
        output = str(options.pop("output", f"{kind.lower()}_{len(nodes)}"))
        nodes.append(helper.make_node(kind, list(inputs), [output], name=f"{kind}_{len(nodes)}", **options))
        return output

    def constant(title: str, value: Any) -> str:
        constants[title] = np.ascontiguousarray(value, dtype=name)
        return title

    x = node("Flatten", node("Cast", "states", to=inner), axis=1)
    for title, layer in zip(layer_names(layers), layers, strict=True):
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
        told.append({"low": layer.low, "high": layer.high, "bits": limbs.bits, "exponent": limbs.exponent.tolist()})
    node("Cast", x, to=onnx.TensorProto.FLOAT, output="next_patterns")
    N, order = net.n_features_in_, net.order_
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
    facts = {"format": FORMAT, **about(net), "layers": told}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in facts.items()}
    helper.set_model_props(model, {**texts, "digest": digest_of(texts["layers"], constants)})
    onnx.checker.check_model(model)
    return model
