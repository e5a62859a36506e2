"""Appendix F: sparse random projected inputs and targets, by a threshold theta, against learning U and V as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seqattractor.experiments._trial import PERIODS
from seqattractor.paper.agreement import LEVEL, caution, holm, p_value
from seqattractor.paper.settings import LEARNING, SPARSITY
from seqattractor.paper.target import Cell, Outcome, Request, Result, Target, count_successes
from seqattractor.report.page import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Sparsity(Target):
    """Success against T for a grid of thresholds, compared with the paper's own method."""

    variants: dict[str, dict[str, Any]]
    """The ways of learning to compare, by what they are called, as {"learn", "theta"}; the first one is the paper's method."""

    def cells(self, request: Request) -> list[Cell]:
        """Each way of learning with each T; a quick look takes every second T."""
        periods = SPARSITY["T"][1::2] if request.quick else SPARSITY["T"]
        fixed = {key: SPARSITY[key] for key in ("N", "M", "flips")}
        return [{**variant, "T": T, **fixed} for variant in self.variants.values() for T in periods]

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Count successes."""
        rows = [{key: cell[key] for key in ("learn", "theta", "T")} | count_successes(trials) for cell, trials in outcomes]
        fixed = {key: SPARSITY[key] for key in ("N", "M", "flips")}
        settings = {**fixed, **LEARNING, "recall_steps": f"{PERIODS} T", "trials": request.trials, "seed": request.seed}
        return Result({"settings": settings, "rows": rows})

    def _by_variant(self, result: Result) -> list[tuple[str, list[dict[str, Any]]]]:
        """The rows of each way of learning, with its name."""
        return [
            (label, [row for row in result.data["rows"] if {**row, **variant} == row]) for label, variant in self.variants.items()
        ]

    def verdict(self, result: Result) -> Verdict:
        """The paper finds no significant gain; is there a cell with one?"""
        (_, own), *others = self._by_variant(result)
        better, p = [], []
        for label, rows in others:
            for row, reference in zip(rows, own, strict=True):
                p.append(p_value(row["successes"], row["trials"], reference["successes"], reference["trials"]))
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
        return Verdict(
            True, f"As in the paper, no threshold gives more successes than learning U and V ({test}).{caution(trials)}"
        )

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
        ax.legend(fontsize=9, loc="center left", bbox_to_anchor=(1.01, 0.5))
        return figure


INPUTS = Sparsity(
    name="sparse-inputs",
    title="Sparse inputs (appendix F)",
    trial="retrieval:retrieve_with_sparse_inputs",
    variants={
        "learning U and V": {"learn": "UV", "theta": 0.0},
        **{f"fixed U, θ = {theta:g} SD": {"learn": "V", "theta": theta} for theta in SPARSITY["theta"]},
    },
    about="U fixed and standard normal with hidden states sign(U x - theta), learning only V, against learning U and V. Theta is "
    "given in standard deviations of U x; the paper does not list its values.",
)
TARGETS = Sparsity(
    name="sparse-targets",
    title="Sparse targets (appendix F)",
    trial="retrieval:retrieve_with_sparse_targets",
    variants={f"θ = {theta:g} SD": {"learn": "UV", "theta": theta} for theta in SPARSITY["theta"]},
    about="Learning U and V with hidden targets sign(P x(t+1) - theta). Theta is given in standard deviations of P x; the paper "
    "does not list its values, and theta = 0 is its own method.",
)
