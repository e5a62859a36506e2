"""Tables 1 and 2 and figure 5: how often a network retrieves a random periodic sequence from a corrupted first pattern."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seqattractor.experiments._trial import PERIODS
from seqattractor.paper import numbers
from seqattractor.paper.agreement import compare, describe
from seqattractor.paper.settings import LEARNING, RANDOM_SEQUENCES
from seqattractor.paper.target import Cell, Outcome, Request, Result, Target, count_successes, flat_interval
from seqattractor.report.page import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WAYS = {"V": "Learning only V", "UV": "Learning U and V"}
AXES = {"T": "period length T", "M": "hidden neurons M"}
OF_PAPER = {"table1": numbers.TABLE_1, "table2": numbers.TABLE_2}


@dataclass(frozen=True, kw_only=True)
class Counts(Target):
    """Counts of successes beside the paper's, for each value of what is varied and both ways of learning."""

    trial: str = "retrieval:retrieve_sequence"
    varied: str
    """What differs between cells, beside the way of learning: "T" or "M"."""

    def cells(self, request: Request) -> list[Cell]:
        """Every T and M with both ways of learning."""
        grid = RANDOM_SEQUENCES[self.experiment]
        return [
            {"T": T, "M": M, "N": RANDOM_SEQUENCES["N"], "flips": RANDOM_SEQUENCES["flips"], "learn": learn}
            for learn in WAYS
            for T in grid["T"]
            for M in grid["M"]
        ]

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Count the successes of each cell."""
        rows = [
            {key: cell[key] for key in ("T", "M", "learn")}
            | count_successes(trials)
            | {"paper": OF_PAPER[self.experiment][cell["learn"]][cell[self.varied]]}
            for cell, trials in outcomes
        ]
        settings = {
            **{key: RANDOM_SEQUENCES[key] for key in ("N", "flips")},
            **LEARNING,
            "recall_steps": f"{PERIODS} T",
            "trials": request.trials,
            "seed": request.seed,
        }
        return Result({"settings": settings, "rows": rows})

    def verdict(self, result: Result) -> Verdict:
        """Agreement by Fisher's exact test."""
        return describe(compare(result.data["rows"]), [self.varied, "learn"])

    def csv_rows(self, result: Result) -> list[dict[str, Any]]:
        """The rows with both ends of the interval and the p-values."""
        return [{**flat_interval(c.row), "p": c.p, "p_holm": c.p_holm} for c in compare(result.data["rows"])]

    def _draw(self, axes: list[Axes], result: Result) -> None:
        """One panel for each way of learning, with the legend above it, where no bar or interval can lie."""
        from seqattractor import plots

        for ax, (learn, words), color in zip(axes, WAYS.items(), (plots.ORANGE, plots.BLUE), strict=True):
            self._draw_counts(ax, [row for row in result.data["rows"] if row["learn"] == learn], color)
            ax.set_title(words, loc="left")
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)

    @abstractmethod
    def _draw_counts(self, ax: Axes, rows: list[dict[str, Any]], color: str) -> None:
        """Draw the counts of one way of learning: ours and the paper's."""


class CountsTable(Counts):
    """A table of counts, ours above the paper's, and curves of both."""

    def tables(self, result: Result) -> list[Table]:
        """Ours and the paper's counts, one column for each cell."""
        rows = result.data["rows"]
        values = sorted({row[self.varied] for row in rows})
        lines = []
        for learn, words in WAYS.items():
            cells = {row[self.varied]: row for row in rows if row["learn"] == learn}
            trials = cells[values[0]]["trials"]
            lines.append([f"{words}, here (of {trials})", *(str(cells[v]["successes"]) for v in values)])
            lines.append(
                ["95 % interval, %", *("{:.0f}–{:.0f}".format(*(100 * end for end in cells[v]["interval"])) for v in values)]
            )
            lines.append([f"{words}, paper (of {numbers.TRIALS})", *(str(cells[v]["paper"]) for v in values)])
        return [Table([self.varied, *map(str, values)], lines)]

    def figure(self, result: Result) -> Figure:
        """Success over the varied number, ours and the paper's, both with Wilson intervals."""
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), sharey=True)
        self._draw(axes, result)
        for ax in axes:
            ax.set_xlabel(AXES[self.varied])
        axes[1].set_ylabel("")
        return figure

    def _draw_counts(self, ax: Axes, rows: list[dict[str, Any]], color: str) -> None:
        from seqattractor import plots

        x = [row[self.varied] for row in rows]
        shift = 0.006 * (max(x) - min(x))
        counts = [row["paper"] for row in rows], [numbers.TRIALS] * len(rows)
        plots.success_curve(x, *counts, shift=shift, color=plots.GREY, linestyle="--", marker="s", label="paper", ax=ax)
        counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
        plots.success_curve(x, *counts, shift=-shift, color=color, label="here", ax=ax)


class CountsFigure(Counts):
    """Bars of counts, ours beside the paper's."""

    def figure(self, result: Result) -> Figure:
        """One panel for each way of learning."""
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(2, 1, figsize=(9.0, 5.4), sharex=True)
        self._draw(axes, result)
        axes[1].set_xlabel(AXES[self.varied])
        return figure

    def _draw_counts(self, ax: Axes, rows: list[dict[str, Any]], color: str) -> None:
        from seqattractor import plots

        columns = ([row[key] for row in rows] for key in (self.varied, "successes", "trials", "paper"))
        plots.compared_bars(*columns, color=color, ax=ax)


TABLE_1 = CountsTable(
    name="table1",
    experiment="table1",
    title="Table 1",
    varied="T",
    about="Random periodic sequences, N = 100 visible and M = 500 hidden neurons. A network learns one sequence and is started "
    "from its first pattern with 10 flipped units; it succeeds if the whole sequence then appears without a wrong unit.",
)
TABLE_2 = CountsTable(
    name="table2",
    experiment="table2",
    title="Table 2",
    varied="M",
    about="As table 1, with sequences of length T = 70 and different numbers M of hidden neurons. T = 70, M = 500 stands in both "
    "tables of the paper, with different counts: 8 and 6 for learning only V, 88 and 94 for learning U and V.",
)
FIGURE_5A = CountsFigure(
    name="fig5a",
    experiment="table1",
    title="Figure 5 (a)",
    varied="T",
    about="The trials of table 1 as bars: success against the period length T, with M = 500 hidden neurons.",
)
FIGURE_5B = CountsFigure(
    name="fig5b",
    experiment="table2",
    title="Figure 5 (b)",
    varied="M",
    about="The trials of table 2 as bars: success against the number M of hidden neurons, for sequences of length T = 70.",
)
