"""The paper's own counts, and tests of ours against them.

Fisher's exact tests, corrected for their number by Holm, find a cell that stands out. The pooled
test of Mantel and Haenszel finds a small difference of the same direction in many cells, which
shows in none of them alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import Any

from seqattractor.report.page import Verdict
from seqattractor.study.statistics import holm

# Appendix D, tables 1 and 2: successful retrievals out of 100 trials.
TRIALS = 100
# With M = 500 hidden neurons, for each way of learning: period length T -> successes.
TABLE_1 = {
    "V": {
        10: 100, 20: 100, 30: 100, 40: 91, 50: 66, 60: 19, 70: 8, 80: 2,
        90: 0, 100: 0, 110: 0, 120: 0, 130: 0, 140: 0, 150: 0,
    },
    "UV": {
        10: 100, 20: 100, 30: 100, 40: 100, 50: 100, 60: 99, 70: 88, 80: 52,
        90: 20, 100: 1, 110: 0, 120: 0, 130: 0, 140: 0, 150: 0,
    },
}  # fmt: skip
# With the period length T = 70, for each way of learning: number of hidden neurons M -> successes.
TABLE_2 = {
    "V": {100: 0, 200: 0, 300: 1, 400: 3, 500: 6, 600: 16, 700: 14, 800: 27, 900: 30, 1000: 37},
    "UV": {
        100: 10,
        200: 52,
        300: 85,
        400: 90,
        500: 94,
        600: 88,
        700: 95,
        800: 96,
        900: 96,
        1000: 97,
    },
}

LEVEL = 0.05  # the family-wise error rate of the tests of cells, and the level of the pooled test

Stratum = tuple[int, int, int, int]  # a successes of n on the one side, b of m on the other


def p_value(a: int, n: int, b: int, m: int) -> float:
    """Return the two-sided p-value of Fisher's exact test of a successes of n against b of m."""
    from scipy.stats import (
        fisher_exact,
    )  # half a second, in which workers can begin: tests come last

    return float(fisher_exact([[a, n - a], [b, m - b]]).pvalue)


@dataclass(frozen=True)
class Pooled:
    """The odds ratio of success between two sides, over all strata."""

    odds_ratio: float | None
    """Of Mantel and Haenszel; 0 or infinite where one side has no success, or the other no failure.
    None without strata.
    """
    interval: tuple[float, float] | None
    """95 %, with the variance of Robins, Breslow and Greenland; None where the ratio has none."""
    p: float  # two-sided, of the Cochran-Mantel-Haenszel test without continuity correction
    strata: int
    """The number of those with both a success and a failure; the others carry no information."""

    def words(self) -> str:
        """Format the ratio with its interval and p-value."""
        if self.odds_ratio is None:
            return "no stratum has both a success and a failure"
        interval = (
            "without an interval"
            if self.interval is None
            else "95 % interval {:.2f} to {:.2f}".format(*self.interval)
        )
        return f"odds ratio {self.odds_ratio:.2f}, {interval}, p = {self.p:.2g}"


def pool(strata: Sequence[Stratum]) -> Pooled:
    """Compare two sides over strata (a, n, b, m); the odds ratio is above 1 where the first side
    succeeds more often.

    N. Mantel and W. Haenszel, J. Natl. Cancer Inst. 22 (1959); J. Robins, N. Breslow and S.
    Greenland, Biometrics 42 (1986).
    """
    from scipy.stats import chi2, norm

    informative = [(a, n, b, m) for a, n, b, m in strata if n and m and 0 < a + b < n + m]
    if not informative:
        return Pooled(None, None, 1.0, 0)
    excess = variance = R = S = PR = PS_QR = QS = 0.0
    for a, n, b, m in informative:
        total, successes = n + m, a + b
        excess += a - n * successes / total
        variance += n * m * successes * (total - successes) / (total**2 * (total - 1))
        r, s = a * (m - b) / total, b * (n - a) / total
        P, Q = (a + m - b) / total, (b + n - a) / total
        R, S, PR, PS_QR, QS = R + r, S + s, PR + P * r, PS_QR + P * s + Q * r, QS + Q * s
    p = float(chi2.sf(excess**2 / variance, 1))
    if R == 0 or S == 0:
        return Pooled(0.0 if S else inf, None, p, len(informative))
    spread = sqrt(PR / (2 * R**2) + PS_QR / (2 * R * S) + QS / (2 * S**2)) * float(norm.ppf(0.975))
    return Pooled(R / S, (exp(log(R / S) - spread), exp(log(R / S) + spread)), p, len(informative))


def pool_with_paper(rows: Sequence[dict[str, Any]]) -> Pooled:
    """Pool rows that have "successes" of "trials" beside the count "paper"; above 1 there are more
    successes here.
    """
    return pool([(row["successes"], row["trials"], row["paper"], TRIALS) for row in rows])


def compare(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with "p", of "successes" of "trials" against the count "paper", and "p_holm",
    corrected for all cells.
    """
    p = [p_value(row["successes"], row["trials"], row["paper"], TRIALS) for row in rows]
    return [
        {**row, "p": alone, "p_holm": both}
        for row, alone, both in zip(rows, p, holm(p), strict=True)
    ]


def corrected(pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> list[float]:
    """Return the p-value of Fisher's test for each pair of rows, corrected for the number of
    pairs.
    """
    return holm(
        [p_value(a["successes"], a["trials"], b["successes"], b["trials"]) for a, b in pairs]
    )


def describe(compared: Sequence[dict[str, Any]], names: Sequence[str]) -> Verdict:
    """Return the verdict, agreement if neither a cell nor all of them together differ; `names` are
    the keys of cells.
    """
    test = (
        "two-sided Fisher's exact test of our count against the paper's, Holm-corrected over all "
        "cells"
    )
    differ = [row for row in compared if row["p_holm"] < LEVEL]
    if not differ:
        least = min(row["p_holm"] for row in compared)
        text = (
            f"All {len(compared)} cells agree with the paper (smallest corrected p = {least:.2g}; "
            f"{test}, level {LEVEL})."
        )
    else:
        cells = "; ".join(
            f"{', '.join(f'{name} = {row[name]}' for name in names)}: "
            f"{row['successes']}/{row['trials']} here, "
            f"{row['paper']}/{TRIALS} in the paper, p = {row['p_holm']:.2g}"
            for row in differ
        )
        text = (
            f"{len(compared) - len(differ)} of {len(compared)} cells agree with the paper ({test}, "
            f"level {LEVEL}). Not in agreement: {cells}."
        )
    pooled = pool_with_paper(compared)
    text += f" {describe_pooled(pooled)}{caution(max(row['trials'] for row in compared))}"
    return Verdict(not differ and pooled.p >= LEVEL, text)


def describe_pooled(pooled: Pooled) -> str:
    """Describe the pooled test."""
    if pooled.odds_ratio is None:
        return "No cell has both a success and a failure, so there is nothing to pool."
    test = f"Pooled over all cells (Cochran-Mantel-Haenszel test, {pooled.words()})"
    if pooled.p >= LEVEL:
        return f"{test} no common difference shows."
    which = "more" if pooled.odds_ratio > 1 else "fewer"
    return f"{test} there are {which} successes here than in the paper."


def caution(trials: int) -> str:
    """Return a space and a sentence where there are few trials per cell."""
    return (
        f" With {trials} trial{'s' if trials > 1 else ''} per cell only gross differences can show."
        if trials < 50
        else ""
    )
