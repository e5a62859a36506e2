"""Networks from NIR graphs: chains of an affine map and threshold neurons, once or twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor._checks import check_finite
from seqattractor.exchange.foreign import Found, network_of_layers
from seqattractor.exchange.limbs import Floats
from seqattractor.networks.given import ThresholdNetwork


def from_nir(graph: Any) -> ThresholdNetwork:
    """Make a network from a NIR graph: input, affine map, neurons, and perhaps both once more, output.

    Parameters
    ----------
    graph : nir.NIRGraph
        Nodes `Affine` or `Linear` and `LIF` or `Threshold` in one chain. Input and output are spikes, 1 for a unit that is +1 and
        0 for -1, as in `SequenceMemory.to_nir`. `LIF` neurons are threshold neurons if the time step, which
        ``graph.metadata["dt"]`` must name, is as long as their time constant. ``nir.read(path)`` reads a graph from a file; do
        that with files that you trust, since a damaged HDF5 file can keep its reader busy for ever.

    Returns
    -------
    ThresholdNetwork
        For states of -1 and +1. Its hidden neurons are 1 and 0. NIR's neurons are silent at their threshold and ours active, so
        offsets are lowered by less than the smallest step between two fields.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> sa.exchange.from_nir(sa.OneHotNetwork().fit(X).to_nir()).score(X)  # doctest: +SKIP
    1.0
    """
    nodes = _chain(graph)
    kinds = [type(node).__name__ for node in nodes]
    affine, neurons = nodes[1:-1:2], nodes[2:-1:2]
    right = kinds[0] == "Input" and kinds[-1] == "Output" and len(affine) == len(neurons) in (1, 2)
    if not right or set(kinds[1:-1:2]) - {"Affine", "Linear"} or set(kinds[2:-1:2]) - {"LIF", "Threshold"}:
        raise ValueError(
            f"the graph is {' -> '.join(kinds[:10])}, but a network here is Input -> Affine -> LIF, perhaps -> Affine -> LIF, "
            "-> Output; Linear may stand for Affine and Threshold for LIF."
        )
    step = (getattr(graph, "metadata", None) or {}).get("dt")
    layers = [_layer(a, n, step) for a, n in zip(affine, neurons, strict=True)]
    layers[0] = layers[0].of_signs()
    return network_of_layers(layers)


def _layer(affine: Any, neurons: Any, step: Any) -> Found:
    """A layer of neurons that fire above their threshold. LIF neurons do if all but the input of this step has leaked away."""
    W = check_finite(affine.weight, "a weight of the graph", "neurons", "inputs")
    bias = check_finite(getattr(affine, "bias", np.zeros(len(W))), "a bias of the graph", "neurons")

    def of_neurons(name: str) -> Floats:
        value = check_finite(np.atleast_1d(getattr(neurons, name)), f"{name} of the graph", "neurons")
        return np.broadcast_to(value, len(W))

    if type(neurons).__name__ == "Threshold":
        return Found(W, bias - of_neurons("threshold"), 0, at_zero=False)
    tau = of_neurons("tau")
    if step is None or np.any(tau != float(step)):
        raise ValueError(
            f"the graph has LIF neurons with a time constant of {tau[0]:g} s, which are threshold neurons only in time steps as "
            f"long; if that is meant, say so: graph.metadata['dt'] = '{tau[0]}'."
        )
    # tau dv/dt = v_leak - v + r I, in one step of tau: v = v_leak + r I.
    r = of_neurons("r")
    return Found(r[:, None] * W, r * bias + of_neurons("v_leak") - of_neurons("v_threshold"), 0, at_zero=False)


def _chain(graph: Any) -> list[Any]:
    """The nodes of a graph from its input to its output, if they make one chain."""
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
