"""What is fair to say beside a result: how much a network stores, and how it came to know it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqattractor.networks.base import SequenceMemory

__all__ = ["Traits", "n_parameters", "traits"]


@dataclass(frozen=True)
class Traits:
    """What kind of memory a network is. None means that its author has not said."""

    weights: tuple[str, ...] | None = None
    """The fitted arrays that recall needs; by default all except the records of learning (``..._errors_``)."""
    stores_patterns: bool | None = None
    """Whether the patterns themselves are the weights, with a unit for each."""
    online: bool | None = None
    """Whether it learns from one transition at a time, keeping no other."""
    local: bool | None = None
    """Whether every weight changes by what is known at its two ends."""
    dwells: bool = False
    """Whether it stays at each pattern for several steps, so that repeated states count once."""
    note: str = ""


_OF_CLASSES = {
    "SequenceAttractor": Traits(weights=("U_", "V_"), stores_patterns=False, online=True, local=True),
    "SparseSequenceAttractor": Traits(weights=("U_", "hidden_bias_", "V_"), stores_patterns=False, online=True, local=True),
    "OneHotNetwork": Traits(
        weights=("U_", "V_", "bias_"),
        stores_patterns=True,
        online=True,
        local=True,
        note="no learning: one hidden unit with fixed weights for each transition",
    ),
}


def traits(net: SequenceMemory) -> Traits:
    """Tell what kind of memory a network is.

    A class says so itself with a method ``_traits()`` that returns a `Traits`.

    Parameters
    ----------
    net : SequenceMemory

    Returns
    -------
    Traits

    Examples
    --------
    >>> import seqattractor as sa
    >>> traits(sa.VisibleNetwork(rule="pseudo-inverse")).local
    False
    """
    own = getattr(net, "_traits", None)
    if own is not None:
        told: Traits = own()
        return told
    return _OF_CLASSES.get(type(net).__name__, Traits())


def n_parameters(net: SequenceMemory) -> int:
    """Count the numbers that a fitted network needs to recall.

    Parameters
    ----------
    net : SequenceMemory
        Fitted.

    Returns
    -------
    int

    Examples
    --------
    >>> import seqattractor as sa
    >>> n_parameters(sa.VisibleNetwork(rule="hebbian").fit(sa.datasets.random_periodic(4, 30, rng=0)))
    900
    """
    names = traits(net).weights
    if names is None:
        fitted = {k: v for k, v in vars(net).items() if k.endswith("_") and not k.startswith("_")}
        names = tuple(k for k, v in fitted.items() if isinstance(v, np.ndarray) and not k.endswith("errors_"))
    return sum(int(np.asarray(getattr(net, name)).size) for name in names)
