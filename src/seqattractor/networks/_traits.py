"""What is fair to say beside a result: how much a network stores, and how it came to know it."""

from __future__ import annotations

from dataclasses import dataclass


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
    >>> sa.PseudoInverseMemory().traits().local
    False
    """

    weights: tuple[str, ...] | None = None
    stores_patterns: bool | None = None
    online: bool | None = None
    local: bool | None = None
    dwells: bool = False
    note: str = ""
