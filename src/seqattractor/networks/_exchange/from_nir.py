"""Networks from NIR graphs: chains of an affine map and a threshold, once or twice."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor._checks import check_finite
from seqattractor.networks._exchange.foreign import Found, network_of_layers
from seqattractor.networks._given import ThresholdNetwork


def from_nir(graph: Any) -> ThresholdNetwork:
    """Make a network from a NIR graph: input, affine map, threshold, and perhaps both once more, output.

    Parameters
    ----------
    graph : nir.NIRGraph
        Nodes `Affine` or `Linear` and `Threshold` in one chain. Input and output are spikes, 1 for a unit that is +1 and 0 for
        -1, as in `SequenceMemory.to_nir`. ``nir.read(path)`` reads one from a file; do that with files that you trust, since a
        damaged HDF5 file can keep its reader busy for ever.

    Returns
    -------
    ThresholdNetwork
        For states of -1 and +1. Its hidden neurons are 1 and 0. NIR's neurons are silent at their threshold and ours active, so
        offsets are lowered by less than the smallest step between two fields.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> sa.from_nir(sa.OneHotNetwork().fit(X).to_nir()).score(X)  # doctest: +SKIP
    1.0
    """
    nodes = _chain(graph)
    kinds = [type(node).__name__ for node in nodes]
    affine, threshold = nodes[1:-1:2], nodes[2:-1:2]
    right = kinds[0] == "Input" and kinds[-1] == "Output" and len(affine) == len(threshold) in (1, 2)
    if (
        not right
        or {type(a).__name__ for a in affine} - {"Affine", "Linear"}
        or {type(t).__name__ for t in threshold} != {"Threshold"}
    ):
        raise ValueError(
            f"the graph is {' -> '.join(kinds[:10])}, but a network here is Input -> Affine -> Threshold, perhaps -> Affine -> "
            "Threshold, -> Output."
        )
    layers = []
    for a, t in zip(affine, threshold, strict=True):
        W = check_finite(a.weight, "a weight of the graph", "neurons", "inputs")
        level = np.broadcast_to(check_finite(np.atleast_1d(t.threshold), "a threshold of the graph", "neurons"), len(W))
        offset = check_finite(getattr(a, "bias", np.zeros(len(W))), "a bias of the graph", "neurons") - level
        layers.append(Found(W, offset, 0, at_zero=False))
    layers[0] = layers[0].of_signs()
    return network_of_layers(layers)


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
