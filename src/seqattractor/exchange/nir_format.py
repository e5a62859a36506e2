"""NIR graphs: an affine map and integrate-and-fire neurons, which fire where v > 1, for each layer.

Rows are scaled so that sums lie between -1 and 1, and v = 1 + (W x + c) + half a unit: above 1
where a sum, a multiple of the unit, is at or above zero, never at 1, and below 2, so that it fires
once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from seqattractor._checks import check_finite
from seqattractor.exchange.layers import (
    Floats,
    PlainLayer,
    PlainNetwork,
    as_texts,
    lowest_bit,
    needed,
)

TAU = 1e-4
"""The time constant in seconds, and the time step: the one that snnTorch takes."""
DIGITS = 50
"""Bits of the sums. With half a unit, 1 and what is added in between they are numbers of 53 bits,
which float64 holds.
"""
FEW = 21
"""The same for float32."""


def nir_graph(net: PlainNetwork) -> Any:
    """Return the ``nir.NIRGraph`` of a network; see `seqattractor.networks.to_nir`."""
    nir = needed("nir", "to_nir()", "nir")
    nodes: dict[str, Any] = {
        "input": nir.Input(input_type={"input": np.array([net.n_visible * net.order])})
    }
    before, exact, in_float32 = -1, True, True
    for name, layer in net.named().items():
        weight, bias, unit, unchanged = _of_spikes(layer, before)
        exact, in_float32, before = (
            exact and unchanged,
            in_float32 and bool(unit.min() >= 2.0**-FEW),
            layer.low,
        )
        ones = np.ones(len(weight))
        nodes[f"{name}_sum"] = nir.Affine(weight=weight, bias=1 + bias + unit / 2)
        nodes[name] = nir.LIF(
            tau=TAU * ones, r=ones.copy(), v_leak=0 * ones, v_threshold=ones.copy()
        )
    nodes["output"] = nir.Output(output_type={"output": np.array([net.n_visible])})
    facts = net.about | {"exact": exact, "exact_in_float32": exact and in_float32, "dt": TAU}
    graph = nir.NIRGraph(nodes=nodes, edges=list(pairwise(nodes)))
    graph.metadata = as_texts(facts)
    return graph


def _of_spikes(layer: PlainLayer, before: int) -> tuple[Floats, Floats, Floats, bool]:
    """Return weights, biases and units of a layer whose inputs are spikes, scaled, and whether
    nothing was rounded.
    """
    W, offset, unit = _rounded(layer.weights, layer.offset)
    unchanged = bool(np.array_equal(W, layer.weights) and np.array_equal(offset, layer.offset))
    shift = -np.frexp(np.abs(W).sum(axis=1) + np.abs(offset))[1]
    W, offset, unit = np.ldexp(W, shift[:, None]), np.ldexp(offset, shift), np.ldexp(unit, shift)
    if before == 0:  # the layer before has states 0 and 1 itself
        return W, offset, unit, unchanged
    return 2 * W, offset - W.sum(axis=1), unit, unchanged


def _rounded(W: Floats, offset: Floats) -> tuple[Floats, Floats, Floats]:
    """Round each row to a power of two, its unit, so coarse that all its sums have at most `DIGITS`
    bits.
    """
    rows = np.column_stack([W, offset])
    largest = np.abs(rows).sum(axis=1) * (
        1 + rows.shape[1] * 2.0 ** (1 - DIGITS)
    )  # each term may grow by half a unit
    exponent = np.maximum(lowest_bit(rows), np.frexp(largest)[1] - DIGITS)
    rounded = np.ldexp(np.rint(np.ldexp(rows, -exponent[:, None])), exponent[:, None])
    return rounded[:, :-1], rounded[:, -1], np.ldexp(1.0, exponent)


def layers_of_nir(graph: Any) -> list[PlainLayer]:
    """Return the layers of a NIR graph; see `seqattractor.networks.from_nir`."""
    nodes = _chain(graph)
    kinds = [type(node).__name__ for node in nodes]
    affine, neurons = nodes[1:-1:2], nodes[2:-1:2]
    right = kinds[0] == "Input" and kinds[-1] == "Output" and len(affine) == len(neurons) in (1, 2)
    if (
        not right
        or set(kinds[1:-1:2]) - {"Affine", "Linear"}
        or set(kinds[2:-1:2]) - {"LIF", "Threshold"}
    ):
        raise ValueError(
            f"the graph is {' -> '.join(kinds[:10])}, but a network here is Input -> Affine -> "
            "LIF, perhaps -> Affine -> LIF, -> Output; Linear may stand for Affine and Threshold "
            "for LIF."
        )
    step = (getattr(graph, "metadata", None) or {}).get("dt")
    layers = [_layer(a, n, step) for a, n in zip(affine, neurons, strict=True)]
    layers[0] = layers[0].of_signs()
    return layers


def _layer(affine: Any, neurons: Any, step: Any) -> PlainLayer:
    """Return a layer of neurons that fire above their threshold: LIF neurons do if only the input
    of this step is left.
    """
    W = check_finite(affine.weight, "a weight of the graph", "neurons", "inputs")
    bias = check_finite(getattr(affine, "bias", np.zeros(len(W))), "a bias of the graph", "neurons")

    def of_neurons(name: str) -> Floats:
        value = check_finite(
            np.atleast_1d(getattr(neurons, name)), f"{name} of the graph", "neurons"
        )
        return np.broadcast_to(value, len(W))

    if type(neurons).__name__ == "Threshold":
        return PlainLayer(W, bias - of_neurons("threshold"), 0, at_zero=False)
    tau = of_neurons("tau")
    if step is None or np.any(tau != float(step)):
        raise ValueError(
            f"the graph has LIF neurons with a time constant of {tau[0]:g} s, which are threshold "
            "neurons only in time steps as long; if that is meant, set graph.metadata['dt'] = "
            f"'{tau[0]}'."
        )
    # tau dv/dt = v_leak - v + r I, in one step of tau: v = v_leak + r I.
    r = of_neurons("r")
    return PlainLayer(
        r[:, None] * W,
        r * bias + of_neurons("v_leak") - of_neurons("v_threshold"),
        0,
        at_zero=False,
    )


def _chain(graph: Any) -> list[Any]:
    """Return the nodes of a graph from its input to its output, if they make one chain."""
    nodes, edges = getattr(graph, "nodes", None), getattr(graph, "edges", None)
    if not isinstance(nodes, dict) or edges is None:
        raise TypeError(f"the graph must be a nir.NIRGraph, but it is a {type(graph).__name__}.")
    after = {str(a): str(b) for a, b in edges}
    starts = [name for name in nodes if name not in after.values()]
    chain = [starts[0]] if len(starts) == 1 else []
    while chain and chain[-1] in after and len(chain) <= len(nodes):
        chain.append(after[chain[-1]])
    if len(chain) != len(nodes) or len(edges) != len(nodes) - 1:
        raise ValueError("the nodes of the graph do not make one chain from an input to an output.")
    return [nodes[name] for name in chain]
