"""Figure 3: why a random projection will do. x can be read off sign(P x) by V = P+ or P^T if M is large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqattractor.paper.settings import RECONSTRUCTION
from seqattractor.paper.target import Cell, Outcome, Request, Result, Target
from seqattractor.report.page import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DECODERS = {"pseudo_inverse": "V = P⁺", "transpose": "V = Pᵀ"}


class Figure3(Target):
    """Figure 3."""

    def cells(self, request: Request) -> list[Cell]:
        """Each distribution of P with each M."""
        return [{"P": P, "M": M, "N": RECONSTRUCTION["N"]} for P in RECONSTRUCTION["P"] for M in RECONSTRUCTION["M"]]

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Average over trials."""
        rows = []
        for cell, trials in outcomes:
            for decoder in DECODERS:
                errors = [outcome[decoder] for outcome in trials]
                spread = float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else None
                rows.append(
                    {
                        "P": cell["P"],
                        "V": decoder,
                        "M": cell["M"],
                        "trials": len(trials),
                        "mean_error": float(np.mean(errors)),
                        "standard_error": spread,
                    }
                )
        settings = {"N": RECONSTRUCTION["N"], "trials": request.trials, "seed": request.seed}
        return Result({"settings": settings, "rows": rows})

    def verdict(self, result: Result) -> Verdict:
        """For large M the error is nearly gone, with both matrices and both distributions."""
        rows = result.data["rows"]
        largest = max(row["M"] for row in rows)
        last = [row["mean_error"] for row in rows if row["M"] == largest]
        first = [row["mean_error"] for row in rows if row["M"] == min(row["M"] for row in rows)]
        n = result.data["settings"]["N"]
        return Verdict(
            max(last) < 0.02 * n < min(first),
            f"The mean error falls from at least {min(first):.0f} at M = {min(row['M'] for row in rows)} to at most "
            f"{max(last):.2g} at M = {largest} (of {2 * n} possible), for both matrices V and both distributions of P alike. The "
            "paper's curves fall to zero too; it gives no numbers.",
        )

    def tables(self, result: Result) -> list[Table]:
        """Mean errors over M."""
        rows = result.data["rows"]
        values = sorted({row["M"] for row in rows})
        mean = {(row["P"], row["V"], row["M"]): row["mean_error"] for row in rows}
        lines = [
            [f"{P.capitalize()}, {words}", *(f"{mean[P, decoder, M]:.1f}" for M in values)]
            for P in RECONSTRUCTION["P"]
            for decoder, words in DECODERS.items()
        ]
        return [Table(["M", *map(str, values)], lines)]

    def figure(self, result: Result) -> Figure:
        """A panel for each distribution of P."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), sharey=True)
        for ax, P in zip(axes, RECONSTRUCTION["P"], strict=True):
            for decoder, color, dash in zip(DECODERS, (plots.BLUE, plots.ORANGE), ("-", "--"), strict=True):
                rows = [row for row in result.data["rows"] if row["P"] == P and row["V"] == decoder]
                label = {"pseudo_inverse": "$V = P^+$", "transpose": r"$V = P^\top$"}[decoder]
                x, y = [row["M"] for row in rows], [row["mean_error"] for row in rows]
                spread = [row["standard_error"] or 0.0 for row in rows]
                ax.errorbar(x, y, yerr=spread, fmt=f"o{dash}", color=color, markersize=3.5, label=label)
            ax.set_title(P.capitalize())
            ax.set_xlabel("hidden neurons M")
            ax.grid(visible=True)
            ax.legend(loc="upper right")
        axes[0].set_ylabel("reconstruction error")
        axes[0].set_ylim(bottom=0)
        return figure


TARGET = Figure3(
    name="fig3",
    title="Figure 3",
    trial="reconstruction:reconstruct_pattern",
    about="The reconstruction error |x - sign(V sign(P x))|, summed over N = 100 units (each wrong one counts 2), for a random "
    "M x N matrix P and a random x. The paper does not list its values of M.",
)
