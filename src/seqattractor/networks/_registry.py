"""Short names of the networks, for grids, comparisons and the command line; classes load when they are asked for."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from seqattractor.networks._base import SequenceMemory

__all__ = ["NAMES", "make_network", "network_class", "parameters_of"]

NAMES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "attractor": ("attractor", "SequenceAttractor", {}),
    "attractor-V": ("attractor", "SequenceAttractor", {"learn": "V"}),
    "sparse": ("sparse", "SparseSequenceAttractor", {}),
    "visible": ("visible", "VisibleNetwork", {}),
    "perceptron": ("visible", "VisibleNetwork", {"rule": "perceptron"}),
    "hebbian": ("visible", "VisibleNetwork", {"rule": "hebbian"}),
    "slow-synapses": ("visible", "VisibleNetwork", {"rule": "slow-synapses"}),
    "pseudo-inverse": ("visible", "VisibleNetwork", {"rule": "pseudo-inverse"}),
    "one-hot": ("one_hot", "OneHotNetwork", {}),
    "dense": ("dense", "DenseSequenceMemory", {}),
    "dense-3": ("dense", "DenseSequenceMemory", {"degree": 3}),
    "dense-exponential": ("dense", "DenseSequenceMemory", {"interaction": "exponential"}),
    "dense-pseudo-inverse": ("dense", "DenseSequenceMemory", {"pseudo_inverse": True}),
    "modern-hopfield": ("dense", "DenseSequenceMemory", {"interaction": "softmax", "self_overlap": True}),
    "mixed": ("dense", "DenseSequenceMemory", {"slow_weight": 2.5}),
    "predictive": ("predictive", "PredictiveCodingMemory", {}),
    "predictive-2": ("predictive", "PredictiveCodingMemory", {"n_latent": 200, "learning_rate": 1.0, "max_epochs": 60}),
    "lookup": ("lookup", "LookupMemory", {}),
}
"""Short name: module in this folder, class, and parameters that differ from the defaults of the class."""


def network_class(name: str) -> type[SequenceMemory]:
    """Give the class that a short name stands for.

    Examples
    --------
    >>> network_class("one-hot").__name__
    'OneHotNetwork'
    """
    if name not in NAMES:
        raise ValueError(f"there is no network {name!r}; the networks are {', '.join(NAMES)}.")
    module, cls, _ = NAMES[name]
    found: type[SequenceMemory] = getattr(import_module(f"seqattractor.networks._{module}"), cls)
    return found


def parameters_of(name: str) -> dict[str, Any]:
    """Give the parameters of a network with their default values.

    Examples
    --------
    >>> parameters_of("pseudo-inverse")["rule"]
    'pseudo-inverse'
    """
    signature = inspect.signature(network_class(name))
    return {p.name: p.default for p in signature.parameters.values()} | NAMES[name][2]


def make_network(name: str, **parameters: Any) -> SequenceMemory:
    """Make a network from its short name.

    Parameters
    ----------
    name : str
        A key of `NAMES`.
    **parameters
        Of the network; an unknown one is refused with the known ones.

    Returns
    -------
    SequenceMemory
        Not fitted.

    Examples
    --------
    >>> make_network("attractor", n_hidden=20).n_hidden
    20
    """
    known = parameters_of(name)
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"the network {name!r} has no parameter {parameter!r}; it has {', '.join(known) or 'none'}.")
    return network_class(name)(**(NAMES[name][2] | parameters))
