"""Appendix E on gait and on moving digits: Hebbian V, only V, and U and V learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seqattractor.paper.pictures import PictureTarget, settings_of
from seqattractor.paper.target import Cell, Outcome, Request, Result
from seqattractor.paper.trials.pictures import frames_of, load_pictures, recalled_frames
from seqattractor.report.page import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


METHODS = {
    "hebbian": "U fixed, V by the Hebbian rule",
    "V": "U fixed, V by the three-factor rule",
    "UV": "U and V by the three-factor rule",
}


@dataclass(frozen=True, kw_only=True)
class Ablation(PictureTarget):
    """Recall by three ways of learning, one below the other."""

    frames_shown: int
    shown: tuple[int, ...]
    """Numbers of the sequences to show, counted from 1, as in the paper."""

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Sequences retrieved and mean wrong pixels of each method."""
        rows = []
        for cell, trials in outcomes:
            T = len(trials[0]["wrong"][0])
            in_step = [sum(start <= T for start in outcome["exact_from"]) for outcome in trials]
            wrong = np.array([outcome["wrong"] for outcome in trials])[:, :, 1:]
            rows.append(
                {
                    "method": cell["method"],
                    "networks": len(trials),
                    "sequences": sum(len(outcome["retrieved"]) for outcome in trials),
                    "in_step": sum(in_step),
                    "in_step_by_network": in_step,
                    "retrieved": sum(sum(outcome["retrieved"]) for outcome in trials),
                    "converged": sum(outcome["converged"] for outcome in trials),
                    "mean_wrong_pixels_in_a_recalled_frame": float(wrong.mean()),
                }
            )
        cell = outcomes[0][0]
        pictures = load_pictures(cell, 0)
        extra = {"truth": frames_of(pictures)}
        extra |= {cell["method"]: recalled_frames(trials[0], pictures) for cell, trials in outcomes}
        return Result({"settings": {**settings_of(cell), "seed": request.seed}, "rows": rows}, extra)

    def verdict(self, result: Result) -> Verdict:
        """The paper shows that only learning U and V recalls the frames."""
        by_method = {row["method"]: row for row in result.data["rows"]}
        pixels = {method: row["mean_wrong_pixels_in_a_recalled_frame"] for method, row in by_method.items()}
        words = ", ".join(
            f"{METHODS[method]}: {row['in_step']} of {row['sequences']} ({pixels[method]:.1f} wrong pixels per frame)"
            for method, row in by_method.items()
        )
        best = pixels["UV"] < min(pixels["V"], pixels["hebbian"])
        claim = (
            "As in the paper, learning U and V recalls best" if best else "Unlike in the paper, learning U and V is not the best"
        )
        return Verdict(best, f"{claim}. Sequences recalled in step, exactly up to the last frame: {words}.")

    def tables(self, result: Result) -> list[Table]:
        """Counts of each method."""
        lines = [
            [
                METHODS[row["method"]],
                f"{row['in_step']} of {row['sequences']}",
                f"{row['retrieved']} of {row['sequences']}",
                f"{row['converged']} of {row['networks']}",
                f"{row['mean_wrong_pixels_in_a_recalled_frame']:.1f}",
            ]
            for row in result.data["rows"]
        ]
        return [Table(["", "recalled in step", "in any phase (6.2)", "learned without error", "wrong pixels per frame"], lines)]

    def figure(self, result: Result) -> Figure:
        """For each shown sequence the stored frames and three recalls."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        n = self.frames_shown
        strips = {"truth": "stored", "hebbian": "Hebbian V", "V": "only V", "UV": "U and V"}
        height, width = result.extra["truth"].shape[2:]
        lines = len(strips) * len(self.shown)
        figure, axes = plt.subplots(lines, 1, figsize=(9.0, lines * 7.9 * height / (width * n) + 0.4))
        for k, ax in enumerate(axes):
            sequence, (key, label) = self.shown[k // len(strips)], list(strips.items())[k % len(strips)]
            numbers = range(1, n + 1) if key == "truth" else None
            plots.filmstrip(result.extra[key][sequence - 1, :n], label=label, numbers=numbers, ax=ax)
            if key == "truth" and len(self.shown) > 1:
                ax.set_ylabel(f"sequence {sequence},\nstored", rotation=0, ha="right", va="center")
        return figure


GAIT = Ablation(
    name="ablation-gait",
    title="Ablation on gait (appendix E)",
    uses=tuple(("gait", method) for method in METHODS),
    frames_shown=10,
    shown=(1,),
    about="The sequence, network size and noise of figure 6, with three ways of learning.",
)
DIGITS = Ablation(
    name="ablation-digits",
    title="Ablation on moving digits (appendix E)",
    uses=tuple(("digits", method) for method in METHODS),
    frames_shown=8,
    shown=(1, 6, 11, 16),
    about="The sequences, network size and noise of figure 7, with three ways of learning; sequences 1, 6, 11 and 16 are shown.",
)
