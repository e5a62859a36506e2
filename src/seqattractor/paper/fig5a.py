"""Figure 5 (a): the counts of table 1 as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqattractor.paper.random_sequences import WAYS, RandomSequences
from seqattractor.paper.target import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class CountsFigure(RandomSequences):
    """Bars of counts, ours beside the paper's."""

    def figure(self, result: Result) -> Figure:
        """One panel for each way of learning."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        figure, axes = plt.subplots(2, 1, figsize=(9.0, 5.4), sharex=True)
        for ax, (learn, words), color in zip(axes, WAYS.items(), (plots.ORANGE, plots.BLUE), strict=True):
            rows = [row for row in result.data["rows"] if row["learn"] == learn]
            columns = ([row[key] for row in rows] for key in (self.varied, "successes", "trials", "paper"))
            plots.compared_bars(*columns, color=color, ax=ax)
            ax.set_title(words)
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)
        axes[1].set_xlabel({"T": "period length T", "M": "hidden neurons M"}[self.varied])
        return figure


class Figure5a(CountsFigure):
    """Figure 5 (a)."""

    name, experiment = "fig5a", "table1"
    title = "Figure 5 (a)"
    varied = "T"
    about = "The trials of table 1 as bars: success against the period length T, with M = 500 hidden neurons."


TARGET = Figure5a()
