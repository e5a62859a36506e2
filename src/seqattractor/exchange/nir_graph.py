"""A network as a NIR graph that simulators of spiking neurons read: an affine map and integrate-and-fire neurons for each layer.

Simulators read NIR's `LIF` and few other neurons. With a time step as long as its time constant such a neuron forgets all but its
input, v = I, and fires if v > 1. States are spikes, 1 for +1 and 0 for -1: W x + c with x = 2 s - 1 is 2 W s + (c - W 1). Each
row is multiplied by a power of two, which changes no sign, so that its sums lie between -1 and 1, and

    v = 1 + (W x + c) + half a unit,

where all sums are whole multiples of the unit of their row: v is above 1 exactly where a sum is at or above zero, where our
neurons are active, never at 1, and below 2, so that a neuron that may fire several times in one step fires once.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from seqattractor.exchange.extras import needed
from seqattractor.exchange.limbs import Floats, round_weights
from seqattractor.exchange.threshold_layers import about, layer_names, threshold_layers
from seqattractor.networks.traits import Layer

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

TAU = 1e-4
"""The time constant in seconds, and the time step: the one that snnTorch takes."""
DIGITS = 50
"""Bits of the sums. With half a unit, 1 and what is added in between they are numbers of 53 bits, which float64 holds."""
FEW = 21
"""The same for float32."""


def nir_graph(net: SequenceMemory) -> Any:
    """Give the ``nir.NIRGraph`` of a network; see `SequenceMemory.to_nir`."""
    nir = needed("nir", "to_nir()", "nir")
    layers = threshold_layers(net, "NIR")
    N, inputs = net.n_features_in_, net.n_features_in_ * net.order_
    nodes: dict[str, Any] = {"input": nir.Input(input_type={"input": np.array([inputs])})}
    before, exact, in_float32 = -1, True, True
    for name, layer in zip(layer_names(layers), layers, strict=True):
        weight, bias, unit, unchanged = _of_spikes(layer, before)
        exact, in_float32, before = exact and unchanged, in_float32 and bool(unit.min() >= 2.0**-FEW), layer.low
        ones = np.ones(len(weight))
        nodes[f"{name}_sum"] = nir.Affine(weight=weight, bias=1 + bias + unit / 2)
        nodes[name] = nir.LIF(tau=TAU * ones, r=ones.copy(), v_leak=0 * ones, v_threshold=ones.copy())
    nodes["output"] = nir.Output(output_type={"output": np.array([N])})
    facts = about(net) | {"exact": exact, "exact_in_float32": exact and in_float32, "dt": TAU}
    graph = nir.NIRGraph(nodes=nodes, edges=list(pairwise(nodes)))
    graph.metadata = {key: value if isinstance(value, str) else json.dumps(value) for key, value in facts.items()}
    return graph


def _of_spikes(layer: Layer, before: int) -> tuple[Floats, Floats, Floats, bool]:
    """Weights, biases and units of a layer whose inputs are spikes, scaled, and whether nothing was rounded."""
    W, offset, unit = round_weights(layer.weights, layer.offset, DIGITS)
    unchanged = bool(np.array_equal(W, layer.weights) and np.array_equal(offset, layer.offset))
    shift = -np.frexp(np.abs(W).sum(axis=1) + np.abs(offset))[1]
    W, offset, unit = np.ldexp(W, shift[:, None]), np.ldexp(offset, shift), np.ldexp(unit, shift)
    if before == 0:  # the layer before has states 0 and 1 itself
        return W, offset, unit, unchanged
    return 2 * W, offset - W.sum(axis=1), unit, unchanged
