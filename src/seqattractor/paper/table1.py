"""Table 1: successful retrievals for different period lengths T."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqattractor.paper.numbers import TRIALS
from seqattractor.paper.random_sequences import WAYS, RandomSequences
from seqattractor.paper.target import Result, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class CountsTable(RandomSequences):
    """A table of counts, ours above the paper's, and a picture of both with intervals."""

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
            lines.append([f"{words}, paper (of {TRIALS})", *(str(cells[v]["paper"]) for v in values)])
        return [Table([self.varied, *map(str, values)], lines)]

    def figure(self, result: Result) -> Figure:
        """Success over the varied number, ours and the paper's, both with Wilson intervals."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), sharey=True)
        for ax, (learn, words), color in zip(axes, WAYS.items(), (plots.ORANGE, plots.BLUE), strict=True):
            rows = [row for row in result.data["rows"] if row["learn"] == learn]
            x = [row[self.varied] for row in rows]
            shift = 0.006 * (max(x) - min(x))
            counts = [row["paper"] for row in rows], [TRIALS] * len(rows)
            plots.success_curve(x, *counts, shift=shift, color=plots.GREY, linestyle="--", marker="s", label="paper", ax=ax)
            counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
            plots.success_curve(x, *counts, shift=-shift, color=color, label="here", ax=ax)
            ax.set_title(words)
            ax.set_xlabel({"T": "period length T", "M": "hidden neurons M"}[self.varied])
            ax.legend()
        axes[1].set_ylabel("")
        return figure


class Table1(CountsTable):
    """Table 1."""

    name = experiment = "table1"
    title = "Table 1"
    varied = "T"
    about = (
        "Random periodic sequences, N = 100 visible and M = 500 hidden neurons. A network learns one sequence and is started "
        "from its first pattern with 10 flipped units; it succeeds if the whole sequence then appears without a wrong unit."
    )


TARGET = Table1()
