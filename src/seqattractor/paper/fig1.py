"""Figure 1: two sequences that no network without hidden neurons can make, with a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from seqattractor.datasets._small import toy
from seqattractor.paper.settings import LEARNING, TOY
from seqattractor.paper.target import Cell, Outcome, Request, Result, Target
from seqattractor.report.view import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Figure1(Target):
    """Figure 1."""

    def cells(self, request: Request) -> list[Cell]:
        """One cell of networks for each sequence, and one with the proof."""
        return [{"sequence": 1}, {"sequence": 2}, {"proof": 1}, {"proof": 2}]

    def n_trials(self, request: Request, cell: Cell) -> int:
        """A proof is made once."""
        return 1 if "proof" in cell else request.trials

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Count networks that learned, beside the proof."""
        proofs = {cell["proof"]: trials[0] for cell, trials in outcomes if "proof" in cell}
        trained = {cell["sequence"]: trials for cell, trials in outcomes if "sequence" in cell}
        rows = [
            {
                "sequence": number,
                "trials": len(trials),
                "converged": sum(outcome["converged"] for outcome in trials),
                "successes": sum(outcome["success"] for outcome in trials),
                "fewest_errors_in_an_epoch": min(outcome["fewest_errors"] for outcome in trials),
                "impossible_neurons": proofs[number]["impossible"],
                "proof_for_the_first_of_them": proofs[number]["combination"],
            }
            for number, trials in trained.items()
        ]
        settings = {"N": TOY["N"], **LEARNING, "trials": request.trials, "seed": request.seed}
        trajectories = {number: np.array(trials[0]["trajectory"]) for number, trials in trained.items()}
        return Result({"settings": settings, "rows": rows}, {"trajectories": trajectories})

    def verdict(self, result: Result) -> Verdict:
        """Both the proof and the perceptron say no."""
        rows = result.data["rows"]
        agrees = all(row["impossible_neurons"] and not row["converged"] for row in rows)
        runs = sum(row["trials"] for row in rows)
        proofs = "; ".join(
            f"sequence {row['sequence']}: {len(row['impossible_neurons'])} of {TOY['N']} neurons impossible" for row in rows
        )
        learned = sum(row["converged"] for row in rows)
        return Verdict(
            agrees,
            f"As in the paper, neither sequence can be made without hidden neurons. Proof by linear programming: {proofs}. "
            f"The perceptron rule reached zero errors in {learned} of {runs} runs.",
        )

    def tables(self, result: Result) -> list[Table]:
        """The proofs, for anybody to check."""
        lines = [
            [
                f"Sequence {row['sequence']}",
                ", ".join(map(str, row["impossible_neurons"])),
                f"{row['impossible_neurons'][0]}: ({', '.join(map(str, row['proof_for_the_first_of_them']))})",
                f"{row['converged']} of {row['trials']}",
                str(row["fewest_errors_in_an_epoch"]),
            ]
            for row in result.data["rows"]
        ]
        caption = (
            "Proof: for neuron i, the sum over t of lambda(t) x_i(t+1) x(t) is the zero vector, no lambda is below 0, and one is "
            "above 0 where x_i(t+1) = -1. Any weights w would make that sum of products with w positive."
        )
        columns = ["", "impossible neurons", "lambda(t) for the first", "perceptron converged", "fewest errors in an epoch"]
        return [Table(columns, lines, caption)]

    def figure(self, result: Result) -> Figure:
        """The sequences above, what a trained network does from their first pattern below."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        figure, axes = plt.subplots(2, 2, figsize=(6.0, 6.6))
        for column, (number, trajectory) in enumerate(sorted(result.extra["trajectories"].items())):
            X = toy(number)
            plots.raster(X, title=f"sequence {number}, $x(t)$", ax=axes[0, column])
            plots.raster(trajectory, title="recalled (dots: wrong units)", wrong=trajectory != X, ax=axes[1, column])
            for ax in axes[:, column]:
                ax.set_xlabel("time")
                ax.set_ylabel("neuron")
        return figure


TARGET = Figure1(
    name="fig1",
    title="Figure 1",
    trial="toy:train_perceptron",
    about="Two sequences of ten neurons in the spirit of the paper's, whose own pictures are not part of its text. A network of "
    "visible neurons only is trained on each by the perceptron rule with the paper's margin and rate, and a linear program "
    "looks for weights, neuron by neuron, or proves in whole numbers that there are none.",
)
