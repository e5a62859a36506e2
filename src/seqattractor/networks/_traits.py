"""What is fair to say beside a result: how much a network stores, and how it came to know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from seqattractor.networks._base import SequenceMemory

__all__ = ["Traits", "n_parameters", "traits"]


@dataclass(frozen=True)
class Traits:
    """What kind of memory a network is. None means that its author has not said.

    Parameters
    ----------
    weights : tuple of str, optional
        The fitted arrays that recall needs; by default all except the records of learning (``..._errors_``).
    stores_patterns : bool, optional
        Whether the patterns themselves are the weights, with a unit for each.
    online : bool, optional
        Whether it learns from one transition at a time, keeping no other.
    local : bool, optional
        Whether every weight changes by what is known at its two ends.
    dwells : bool
        Whether it stays at each pattern for several steps, so that repeated states count once.
    note : str
        Anything else that is fair to know.

    Examples
    --------
    >>> import seqattractor as sa
    >>> class Table(sa.LookupMemory):
    ...     def _traits(self):
    ...         return sa.Traits(stores_patterns=True, online=True, local=False)
    >>> sa.compare("random", {"table": Table()}, values=[5], trials=1).networks[0]["stores_patterns"]
    True
    """

    weights: tuple[str, ...] | None = None
    stores_patterns: bool | None = None
    online: bool | None = None
    local: bool | None = None
    dwells: bool = False
    note: str = ""


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
    return net._traits()


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
