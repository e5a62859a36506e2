"""Do our counts agree with the paper's? Fisher's exact test for each cell, corrected for their number by Holm."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from seqattractor.paper.numbers import TRIALS
from seqattractor.report.page import Verdict

LEVEL = 0.05
"""The chance that any cell at all is said to differ although none does."""


@dataclass(frozen=True)
class Compared:
    """One cell: our count and the paper's, with the p-value alone and corrected for the number of cells."""

    row: dict[str, Any]
    p: float
    p_holm: float

    @property
    def agrees(self) -> bool:
        """Whether the difference may be chance."""
        return self.p_holm >= LEVEL


def p_value(a: int, n: int, b: int, m: int) -> float:
    """Two-sided p-value of Fisher's exact test of a successes of n against b of m: both are samples.

    Examples
    --------
    >>> round(p_value(8, 10, 1, 6), 6)
    0.034965
    """
    from scipy.stats import fisher_exact

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


def compare(rows: Sequence[dict[str, Any]]) -> list[Compared]:
    """Compare rows that have "successes" of "trials" with the count "paper", of 100 trials."""
    p = [p_value(row["successes"], row["trials"], row["paper"], TRIALS) for row in rows]
    return [Compared(*cell) for cell in zip(rows, p, holm(p), strict=True)]


def describe(compared: Sequence[Compared], names: Sequence[str]) -> Verdict:
    """The verdict in one or two plain sentences; `names` are the keys that tell cells apart."""
    test = "two-sided Fisher's exact test of our count against the paper's, Holm-corrected over all cells"
    differing = [c for c in compared if not c.agrees]
    least = min(c.p_holm for c in compared)
    trials = max(c.row["trials"] for c in compared)
    if not differing:
        text = f"All {len(compared)} cells agree with the paper (smallest corrected p = {least:.2g}; {test}, level {LEVEL})."
    else:
        cells = "; ".join(
            f"{', '.join(f'{name} = {c.row[name]}' for name in names)}: {c.row['successes']}/{c.row['trials']} here, "
            f"{c.row['paper']}/{TRIALS} in the paper, p = {c.p_holm:.2g}"
            for c in differing
        )
        text = (
            f"{len(compared) - len(differing)} of {len(compared)} cells agree with the paper ({test}, level {LEVEL}). "
            f"Not in agreement: {cells}."
        )
    return Verdict(not differing, text + caution(trials))


def caution(trials: int) -> str:
    """A sentence to add where there are few trials per cell, with a space before it.

    Examples
    --------
    >>> caution(5), caution(100)
    (' With 5 trials per cell only gross differences can show.', '')
    """
    return f" With {trials} trial{'s' if trials > 1 else ''} per cell only gross differences can show." if trials < 50 else ""
