"""How capacity grows with the size of a network: searches put together, and the law that they follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from seqattractor.paper.target import Result, Row
from seqattractor.paper.trials.capacity import LONGEST
from seqattractor.study.capacity import Capacity, Search
from seqattractor.study.laws import Law, fit_law


def pooled_capacity(size: Row, searches: Sequence[Sequence[Sequence[int]]]) -> Row:
    """Put the trials of several searches together: the longest sequence with 95 % success, its interval, and what was tried.

    Examples
    --------
    >>> row = pooled_capacity({"network": "hebbian", "N": 50, "M": None, "flips": 5}, [[[5, 8, 8]], [[5, 7, 8], [20, 0, 8]]])
    >>> row["tried"], 5 <= row["t95_high"] < 20
    ([[5, 15, 16], [20, 0, 8]], True)
    """
    right: Counter[int] = Counter()
    trials: Counter[int] = Counter()
    for T, successes, n in (each for search in searches for each in search):
        right[T] += successes
        trials[T] += n
    tried = [[T, right[T], trials[T]] for T in sorted(trials)]
    found = _capacity(size, tried)
    return {"t95": found.t, "t95_low": found.low, "t95_high": found.high, "at_least": found.at_least, "tried": tried}


def _capacity(size: Row, tried: Sequence[Sequence[int]]) -> Capacity:
    """What trials tell about a capacity."""
    settings: dict[str, Any] = {"network": size["network"], "n": size["N"], "flips": size["flips"]}
    search = Search(settings if size["M"] is None else settings | {"m": size["M"]}, t_max=LONGEST)
    search.curve.learn(*zip(*tried, strict=True))
    for T, right, n in tried:
        search.tried[T] += n
        search.right[T] += right
    return search.result()


def scaling_laws(result: Result) -> dict[str, Law | None]:
    """Give the law of each network's capacity, or None where too few are known."""
    networks = dict.fromkeys(row["network"] for row in result.rows(part="scaling"))
    found = {name: [_capacity(row, row["tried"]) for row in result.rows(part="scaling", network=name)] for name in networks}
    return {name: fit_law(capacities) for name, capacities in found.items()}


def law_words(law: Law) -> str:
    """A law as a formula, with standard errors."""
    return str(law).replace(" * ", " ")
