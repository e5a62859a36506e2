"""The paper's own counts, and whether ours agree: Fisher's exact test for each cell, corrected for their number by Holm."""

from collections.abc import Sequence
from typing import Any

from scipy.stats import fisher_exact

from seqattractor.report.page import Verdict

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
    "UV": {100: 10, 200: 52, 300: 85, 400: 90, 500: 94, 600: 88, 700: 95, 800: 96, 900: 96, 1000: 97},
}

LEVEL = 0.05
"""The chance that any cell at all is said to differ although none does."""


def p_value(a: int, n: int, b: int, m: int) -> float:
    """Two-sided p-value of Fisher's exact test of a successes of n against b of m: both are samples.

    Examples
    --------
    >>> round(p_value(8, 10, 1, 6), 6)
    0.034965
    """
    return float(fisher_exact([[a, n - a], [b, m - b]]).pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p)
    running = 0.0
    for rank, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        running = max(running, min(1.0, (len(p) - rank) * p[k]))
        corrected[k] = running
    return corrected


def compare(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare rows that have "successes" of "trials" with the count "paper", of 100 trials.

    To each row come "p", the p-value of its cell alone, and "p_holm", corrected for the number of cells.
    """
    p = [p_value(row["successes"], row["trials"], row["paper"], TRIALS) for row in rows]
    return [{**row, "p": alone, "p_holm": corrected} for row, alone, corrected in zip(rows, p, holm(p), strict=True)]


def describe(compared: Sequence[dict[str, Any]], names: Sequence[str]) -> Verdict:
    """The verdict in one or two plain sentences; `names` are the keys that tell cells apart."""
    test = "two-sided Fisher's exact test of our count against the paper's, Holm-corrected over all cells"
    differing = [row for row in compared if row["p_holm"] < LEVEL]
    if not differing:
        least = min(row["p_holm"] for row in compared)
        text = f"All {len(compared)} cells agree with the paper (smallest corrected p = {least:.2g}; {test}, level {LEVEL})."
    else:
        cells = "; ".join(
            f"{', '.join(f'{name} = {row[name]}' for name in names)}: {row['successes']}/{row['trials']} here, "
            f"{row['paper']}/{TRIALS} in the paper, p = {row['p_holm']:.2g}"
            for row in differing
        )
        text = (
            f"{len(compared) - len(differing)} of {len(compared)} cells agree with the paper ({test}, level {LEVEL}). "
            f"Not in agreement: {cells}."
        )
    return Verdict(not differing, text + caution(max(row["trials"] for row in compared)))


def caution(trials: int) -> str:
    """A sentence to add where there are few trials per cell, with a space before it.

    Examples
    --------
    >>> caution(5), caution(100)
    (' With 5 trials per cell only gross differences can show.', '')
    """
    return f" With {trials} trial{'s' if trials > 1 else ''} per cell only gross differences can show." if trials < 50 else ""
