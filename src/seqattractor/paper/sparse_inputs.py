"""Appendix F, sparse random projected inputs: fixed U with a threshold theta against learning U and V."""

from __future__ import annotations

from abc import abstractmethod
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from seqattractor.paper.agreement import LEVEL, fisher_exact, holm
from seqattractor.paper.random_sequences import retrieval_trial
from seqattractor.paper.settings import LEARNING, RECALL_PERIODS, SPARSITY, Request
from seqattractor.paper.target import Cell, Outcome, Result, Table, Target, Verdict, count_successes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Sparsity(Target):
    """Success against T for a grid of thresholds, compared with the paper's own method."""

    @abstractmethod
    def variants(self) -> list[dict[str, Any]]:
        """The ways of learning to compare, as {"learn", "theta"}; the first one is the paper's method."""

    @abstractmethod
    def label(self, variant: dict[str, Any]) -> str:
        """What to call a way of learning."""

    @abstractmethod
    def threshold(self, theta: float) -> dict[str, float]:
        """The parameter of the network that sets this threshold."""

    def cells(self, request: Request) -> list[Cell]:
        """Each way of learning with each T; a quick look takes every second T."""
        periods = SPARSITY["T"][1::2] if request.quick else SPARSITY["T"]
        fixed = {key: SPARSITY[key] for key in ("N", "M", "flips")}
        return [{**variant, "T": T, **fixed} for variant in self.variants() for T in periods]

    def trial(self, cell: Cell, rng: np.random.Generator, number: int) -> Outcome:
        """One network, one sequence, one cue, as in section 6.2."""
        sizes: dict[str, Any] = {key: cell[key] for key in ("T", "N", "M", "flips", "learn")}
        # theta counts standard deviations of the projection of a pattern of +-1 by standard normal weights.
        sizes |= self.threshold(cell["theta"] * sqrt(cell["N"]))
        return {"success": retrieval_trial(**sizes, rng=rng)}

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Count successes."""
        rows = [{key: cell[key] for key in ("learn", "theta", "T")} | count_successes(trials) for cell, trials in outcomes]
        fixed = {key: SPARSITY[key] for key in ("N", "M", "flips")}
        settings = {**fixed, **LEARNING, "recall_steps": f"{RECALL_PERIODS} T", "trials": request.trials, "seed": request.seed}
        return Result({"settings": settings, "rows": rows})

    def _by_variant(self, result: Result) -> list[tuple[str, list[dict[str, Any]]]]:
        """The rows of each way of learning, with its name."""
        return [
            (self.label(variant), [row for row in result.data["rows"] if {**row, **variant} == row])
            for variant in self.variants()
        ]

    def verdict(self, result: Result) -> Verdict:
        """The paper finds no significant gain; is there a cell with one?"""
        (_, own), *others = self._by_variant(result)
        better, p = [], []
        for label, rows in others:
            for row, reference in zip(rows, own, strict=True):
                p.append(fisher_exact(row["successes"], row["trials"], reference["successes"], reference["trials"]))
                better.append((label, row, row["successes"] > reference["successes"]))
        gains = [
            f"{label}, T = {row['T']} ({row['successes']} of {row['trials']})"
            for (label, row, more), corrected in zip(better, holm(p), strict=True)
            if more and corrected < LEVEL
        ]
        test = f"two-sided Fisher's exact test in each of {len(p)} cells, Holm-corrected, level {LEVEL}"
        if gains:
            return Verdict(False, f"Unlike in the paper, sparsity helps here: {'; '.join(gains)} ({test}).")
        trials = max(row["trials"] for row in own)
        caution = f" With {trials} trials a cell only gross differences can show." if trials < 50 else ""
        return Verdict(True, f"As in the paper, no threshold gives more successes than learning U and V ({test}).{caution}")

    def tables(self, result: Result) -> list[Table]:
        """Counts, one line for each way of learning."""
        by_variant = self._by_variant(result)
        periods = [row["T"] for row in by_variant[0][1]]
        lines = [[label, *(str(row["successes"]) for row in rows)] for label, rows in by_variant]
        caption = f"Successes of {by_variant[0][1][0]['trials']} trials. The paper's figure gives no numbers in its text."
        return [Table(["T", *map(str, periods)], lines, caption)]

    def figure(self, result: Result) -> Figure:
        """One curve for each way of learning."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        figure, ax = plt.subplots(figsize=(8.0, 3.6))
        for k, (label, rows) in enumerate(self._by_variant(result)):
            counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
            marker = "osD^v<"[k]
            plots.success_curve([row["T"] for row in rows], *counts, shift=0.5 * (k - 2), label=label, marker=marker, ax=ax)
        ax.set_xlabel("period length T")
        ax.legend(fontsize=9)
        return figure


class SparseInputs(Sparsity):
    """Sparse random projected inputs."""

    name = experiment = "sparse-inputs"
    title = "Sparse inputs (appendix F)"
    about = (
        "U fixed and standard normal with hidden states sign(U x - theta), learning only V, against learning U and V. Theta is "
        "given in standard deviations of U x; the paper does not list its values."
    )

    def variants(self) -> list[dict[str, Any]]:
        """Learning U and V, then fixed U with each theta."""
        return [{"learn": "UV", "theta": 0.0}, *({"learn": "V", "theta": theta} for theta in SPARSITY["theta"])]

    def label(self, variant: dict[str, Any]) -> str:
        """Name the method or its theta."""
        return "learning U and V" if variant["learn"] == "UV" else f"fixed U, θ = {variant['theta']:g} SD"

    def threshold(self, theta: float) -> dict[str, float]:
        """On the input of the hidden neurons."""
        return {"input_threshold": theta}


TARGET = SparseInputs()
