"""What the trials of a comparison support: where a network succeeds more often than not, and which
more often than another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

LEVEL = 0.05


@dataclass(frozen=True)
class Decided:
    """At which values the trials decide that a network succeeds in more or in less than half of all
    trials.
    """

    most: Any
    """The hardest value up to which it is more than half, at this and all easier ones; None if
    there is none.
    """
    fails_from: Any
    """The easiest value from which on it is less than half, at this and all harder ones; None if
    there is none.
    """


def decide(rows: Sequence[Mapping[str, Any]]) -> Decided:
    """Decide from the successes of a network, easy values first, where it succeeds in more and
    where in less than half.

    One value after another is tested, from either end, until one is not decided: so the level is
    that of a network, not only of a value. A row whose interval is one point stands for trials that
    would all be the same, and needs no test.
    """
    sides = [
        int(2 * row["low"] - 1)
        if row["low"] == row["high"]
        else side(row["successes"], row["trials"])
        for row in rows
    ]
    values = [row["value"] for row in rows]
    up = next((k for k, each in enumerate(sides) if each != 1), len(sides))
    down = next((k for k, each in enumerate(reversed(sides)) if each != -1), len(sides))
    return Decided(values[up - 1] if up else None, values[-down] if down else None)


def side(successes: int, trials: int) -> int:
    """Return 1 if success is shown to be more likely than not, -1 if less, and 0 if that is not
    decided.

    This is the exact binomial test of one half, two-sided at the level 0.05: a Wilson interval
    beside one half is wrong in 12.5 % of cases with 4 trials. Fewer than 6 trials decide nothing.
    """
    from scipy.stats import binomtest

    if not trials or binomtest(successes, trials).pvalue >= LEVEL:
        return 0
    return 1 if 2 * successes > trials else -1


@dataclass(frozen=True)
class Difference:
    """Two networks on the same trials: which succeeds at more values more often, and how likely
    that is by chance.
    """

    better: str
    worse: str
    p: float
    """Two-sided exact sign test, corrected by Holm for all pairs."""


def differences(by_trial: Mapping[str, Sequence[str]]) -> list[Difference]:
    """Compare all pairs of networks trial by trial, and return one `Difference` for each, the most
    certain first.

    Each network has its successes by trial ("1101") at each value. A trial counts once, however
    many values it has: for each network how many of them it recalls. The sign test is exact, and
    Holm's correction is for all the pairs.
    """
    from scipy.stats import binomtest

    totals = {
        name: [trial.count("1") for trial in zip(*values, strict=True)]
        for name, values in by_trial.items()
    }
    found = []
    for first, second in combinations(totals, 2):
        more = sum(a > b for a, b in zip(totals[first], totals[second], strict=True))
        fewer = sum(a < b for a, b in zip(totals[first], totals[second], strict=True))
        better, worse = (first, second) if more >= fewer else (second, first)
        found.append(
            Difference(
                better, worse, float(binomtest(more, more + fewer).pvalue) if more + fewer else 1.0
            )
        )
    found.sort(key=lambda each: each.p)
    return [
        replace(pair, p=p) for pair, p in zip(found, holm([pair.p for pair in found]), strict=True)
    ]


def holm(p: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down procedure."""
    corrected = [0.0] * len(p)
    running = 0.0
    for rank, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        running = max(running, min(1.0, (len(p) - rank) * p[k]))
        corrected[k] = running
    return corrected
