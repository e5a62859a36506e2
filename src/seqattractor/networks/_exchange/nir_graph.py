"""A network as a NIR graph of spikes: an affine map and a threshold for each layer.

Nodes of NIR's kind `Threshold` give 1 above the threshold and 0 elsewhere, also at the threshold itself. So states are spikes, 1
for +1 and 0 for -1: W x + c with x = 2 s - 1 is 2 W s + (c - W 1). And as our neurons are active at a sum of exactly zero, the
threshold lies half a unit below zero: all sums are whole multiples of the unit of their row.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np

from seqattractor.networks._exchange.extras import needed
from seqattractor.networks._exchange.limbs import round_weights
from seqattractor.networks._exchange.threshold_layers import about, layer_names, threshold_layers
from seqattractor.networks._hooks import Hooks
from seqattractor.networks._traits import Layer

DIGITS = 51
"""Of sums in float64, with room for twice the weights and their sum."""


def nir_graph(net: Hooks) -> Any:
    """Give the ``nir.NIRGraph`` of a network; see `SequenceMemory.to_nir`."""
    nir = needed("nir", "to_nir()", "nir")
    layers = threshold_layers(net, "NIR")
    N, inputs = net.n_features_in_, net.n_features_in_ * net.order_
    nodes: dict[str, Any] = {"input": nir.Input(input_type={"input": np.array([inputs])})}
    before, exact = -1, True
    for name, layer in zip(layer_names(layers), layers, strict=True):
        weight, bias, unit, unchanged = _of_spikes(layer, before)
        exact, before = exact and unchanged, layer.low
        nodes[f"{name}_sum"] = nir.Affine(weight=weight, bias=bias)
        nodes[name] = nir.Threshold(threshold=-unit / 2)
    nodes["output"] = nir.Output(output_type={"output": np.array([N])})
    facts = about(net) | {"exact": exact}
    graph = nir.NIRGraph(nodes=nodes, edges=list(pairwise(nodes)))
    graph.metadata = {key: value if isinstance(value, str) else json.dumps(value) for key, value in facts.items()}
    return graph


def _of_spikes(layer: Layer, before: int) -> tuple[Any, Any, Any, bool]:
    """Weights, biases and units of a layer whose inputs are spikes, and whether nothing was rounded."""
    W, offset, unit = round_weights(layer.weights, layer.offset, DIGITS)
    unchanged = bool(np.array_equal(W, layer.weights) and np.array_equal(offset, layer.offset))
    if before == 0:  # the layer before has states 0 and 1 itself
        return W, offset, unit, unchanged
    return 2 * W, offset - W.sum(axis=1), unit, unchanged
