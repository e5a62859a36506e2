"""What it is and why it works: figure 2, the network; figure 3, x read off sign(P x) by V = P+ or P^T; the theorems.

The four theorems are checked on random instances, and so are the two extensions that the paper states.
"""

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.paper.settings import LEARNING, RECONSTRUCTION
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.report.page import Table, Verdict

DECODERS = {"pseudo_inverse": "V = P⁺", "transpose": "V = Pᵀ"}
LINES = {"pseudo_inverse": ("$V = P^+$", plots.BLUE, "-"), "transpose": (r"$V = P^\top$", plots.ORANGE, "--")}

STATEMENTS = {
    "1": "Any sequence of distinct patterns with x(1) = x(T) is made by a network with M = T - 1 hidden neurons.",
    "2": "If weights without errors exist, learning from zero weights ends in finitely many steps.",
    "3": "One step of learning removes the error of a hidden neuron if the rate is large enough.",
    "3 for V": "The same for a visible neuron and V.",
    "4": "Without errors, hidden states perturbed by less than kappa / max |V| still give the next pattern.",
    "4 for U": "The same for U: visible states perturbed by less than kappa / max |U| still give the hidden states.",
}
"""By theorem; "for" marks the two that the paper says can be trivially extended."""


class Figure2(Target):
    """Figure 2, which is a drawing; that the network in it is the one that this package runs is checked on random states."""

    def cells(self, request: Request) -> list[Cell]:
        """One, with as many neurons as are drawn."""
        return [{"N": 5, "M": 4}]

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count the networks whose steps are those of the unfolded one."""
        return [{**cell, "networks": len(trials), "equal": sum(outcome["equal"] for outcome in trials)}]

    def verdict(self, result: Result) -> Verdict:
        """The steps must be the same in every network."""
        [row] = result.rows()
        words = f"{row['equal']} of {row['networks']} random networks of N = {row['N']} and M = {row['M']} neurons"
        return Verdict(row["equal"] == row["networks"], f"The steps of {words} are those of the network drawn, neuron by neuron.")

    def figure(self, result: Result) -> Figure:
        """The network and the network unfolded in time."""
        figure, ax = plt.subplots(figsize=(8.0, 2.6))
        [row] = result.rows()
        plots.network_diagram(row["N"], row["M"], ax=ax)
        return figure


class Figure3(Target):
    """Figure 3."""

    def cells(self, request: Request) -> list[Cell]:
        """Each distribution of P with each M."""
        return [{"P": P, "M": M, "N": RECONSTRUCTION["N"]} for P in RECONSTRUCTION["P"] for M in RECONSTRUCTION["M"]]

    def settings(self, request: Request) -> dict[str, Any]:
        """The size of the patterns."""
        return {"N": RECONSTRUCTION["N"], "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Average over trials."""
        rows = []
        for decoder in DECODERS:
            errors = [outcome[decoder] for outcome in trials]
            spread = float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else None
            mean = {"trials": len(trials), "mean_error": float(np.mean(errors)), "standard_error": spread}
            rows.append({"P": cell["P"], "V": decoder, "M": cell["M"], **mean})
        return rows

    def verdict(self, result: Result) -> Verdict:
        """For large M the error is nearly gone, with both matrices and both distributions."""
        values, n = [row["M"] for row in result.rows()], result.data["settings"]["N"]
        first, last = ([row["mean_error"] for row in result.rows(M=M)] for M in (min(values), max(values)))
        return Verdict(
            max(last) < 0.02 * n < min(first),
            f"The mean error falls from at least {min(first):.0f} at M = {min(values)} to at most {max(last):.2g} at "
            f"M = {max(values)} (of {2 * n} possible), for both matrices V and both distributions of P alike. The paper's curves "
            "fall to zero too; it gives no numbers.",
        )

    def tables(self, result: Result) -> list[Table]:
        """Mean errors over M."""
        lines = [
            [f"{P.capitalize()}, {words}", *(f"{row['mean_error']:.1f}" for row in result.rows(P=P, V=decoder))]
            for P in RECONSTRUCTION["P"]
            for decoder, words in DECODERS.items()
        ]
        return [Table(["M", *map(str, RECONSTRUCTION["M"])], lines)]

    def figure(self, result: Result) -> Figure:
        """A panel for each distribution of P."""
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), sharey=True)
        for ax, P in zip(axes, RECONSTRUCTION["P"], strict=True):
            for decoder, (label, color, dash) in LINES.items():
                rows = result.rows(P=P, V=decoder)
                x, y = [row["M"] for row in rows], [row["mean_error"] for row in rows]
                spread = [row["standard_error"] or 0.0 for row in rows]
                ax.errorbar(x, y, yerr=spread, fmt=f"o{dash}", color=color, markersize=3.5, label=label)
            ax.set(title=P.capitalize(), xlabel="hidden neurons M")
            ax.grid(visible=True)
            ax.legend(loc="upper right")
        axes[0].set_ylabel("reconstruction error")
        axes[0].set_ylim(bottom=0)
        return figure


class Theorems(Target):
    """Theorems 1 to 4 and their extensions."""

    def cells(self, request: Request) -> list[Cell]:
        """One cell for each theorem and each extension."""
        return [{"theorem": name} for name in STATEMENTS]

    def settings(self, request: Request) -> dict[str, Any]:
        """Those of section 6."""
        return {**LEARNING, "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count the instances."""
        name, held = cell["theorem"], sum(outcome["holds"] for outcome in trials)
        return [{"theorem": name, "statement": STATEMENTS[name], "instances": len(trials), "held": held}]

    def verdict(self, result: Result) -> Verdict:
        """All must hold, every time."""
        failed = [row for row in result.rows() if row["held"] < row["instances"]]
        total = sum(row["instances"] for row in result.rows())
        if not failed:
            return Verdict(True, f"All four theorems and both extensions held in all {total} random instances.")
        words = ", ".join(f"theorem {row['theorem']} in {row['held']} of {row['instances']}" for row in failed)
        return Verdict(False, f"Held in fewer instances than were tried: {words}.")

    def tables(self, result: Result) -> list[Table]:
        """What each theorem says and how often it held."""
        return [Table.of(result.rows(), {"Theorem": "{theorem}. {statement}", "held in": "{held} of {instances}"})]

    def figure(self, result: Result) -> Figure:
        """Bars of the instances in which each theorem held."""
        rows = result.rows()
        figure, ax = plt.subplots(figsize=(6.4, 2.9))
        labels = [f"theorem {row['theorem']}" for row in rows]
        bars = ax.barh(labels, [100 * row["held"] / row["instances"] for row in rows], color=plots.BLUE)
        ax.bar_label(bars, [f"{row['held']} of {row['instances']}" for row in rows], label_type="center", color="white")
        ax.set(xlim=(0, 100), xlabel="instances in which it held, %")
        ax.invert_yaxis()
        return figure


FIGURE_2 = Figure2(
    name="fig2",
    title="Figure 2",
    trial="network:step_network",
    about="The network with hidden neurons, and one step of it as a feedforward network, drawn by this package. Filled circles "
    "are visible neurons, empty ones hidden. Networks with random weights are run beside the drawing, eqs. (2) and (3), "
    "connection by connection, from all 32 visible states.",
)
FIGURE_3 = Figure3(
    name="fig3",
    title="Figure 3",
    trial="reconstruction:reconstruct_pattern",
    about="The reconstruction error |x - sign(V sign(P x))|, summed over N = 100 units (each wrong one counts 2), for a random "
    "M x N matrix P and a random x. The paper does not list its values of M.",
)
THEOREMS = Theorems(
    name="theorems",
    title="Theorems 1 to 4 and their extensions",
    trial="theorems:check_theorem",
    about="Each theorem is checked on random instances of random size, and so are the two extensions that the paper states: "
    "theorem 3 for V, and theorem 4 for U. Theorem 4 is put to as many flips as it allows for each neuron, in the worst places "
    "for it and in random ones.",
)
