"""The four theorems, each checked on random instances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqattractor.paper.settings import LEARNING
from seqattractor.paper.target import Cell, Outcome, Request, Result, Target
from seqattractor.report.page import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATEMENTS = {
    1: "Any sequence of distinct patterns with x(1) = x(T) is made by a network with M = T - 1 hidden neurons.",
    2: "If weights without errors exist, learning from zero weights ends in finitely many steps.",
    3: "One step of learning removes the error of a neuron if the rate is large enough.",
    4: "Without errors, hidden states perturbed by less than kappa / max |V| still give the next pattern.",
}


class Theorems(Target):
    """Theorems 1 to 4."""

    def cells(self, request: Request) -> list[Cell]:
        """One cell for each theorem."""
        return [{"theorem": number} for number in STATEMENTS]

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Count the instances."""
        rows = [
            {
                "theorem": cell["theorem"],
                "statement": STATEMENTS[cell["theorem"]],
                "instances": len(trials),
                "held": sum(outcome["holds"] for outcome in trials),
            }
            for cell, trials in outcomes
        ]
        return Result({"settings": {**LEARNING, "trials": request.trials, "seed": request.seed}, "rows": rows})

    def verdict(self, result: Result) -> Verdict:
        """All must hold, every time."""
        failed = [row for row in result.data["rows"] if row["held"] < row["instances"]]
        total = sum(row["instances"] for row in result.data["rows"])
        if not failed:
            return Verdict(True, f"All four theorems held in all {total} random instances.")
        words = ", ".join(f"theorem {row['theorem']} in {row['held']} of {row['instances']}" for row in failed)
        return Verdict(False, f"Held in fewer instances than were tried: {words}.")

    def tables(self, result: Result) -> list[Table]:
        """What each theorem says and how often it held."""
        lines = [[f"{row['theorem']}. {row['statement']}", f"{row['held']} of {row['instances']}"] for row in result.data["rows"]]
        return [Table(["Theorem", "held in"], lines)]

    def figure(self, result: Result) -> Figure:
        """Bars of the instances in which each theorem held."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        rows = result.data["rows"]
        figure, ax = plt.subplots(figsize=(6.4, 2.2))
        labels = [f"theorem {row['theorem']}" for row in rows]
        bars = ax.barh(labels, [100 * row["held"] / row["instances"] for row in rows], color=plots.BLUE)
        ax.bar_label(bars, [f"{row['held']} of {row['instances']}" for row in rows], label_type="center", color="white")
        ax.set_xlim(0, 100)
        ax.set_xlabel("instances in which it held, %")
        ax.invert_yaxis()
        return figure


TARGET = Theorems(
    name="theorems",
    title="Theorems 1 to 4",
    trial="theorems:check_theorem",
    about="Each theorem is checked on random instances of random size, with as large a perturbation as theorem 4 allows.",
)
