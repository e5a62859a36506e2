"""Figures 6 and 7: recall of the gait sequence and of moving digits from a corrupted first frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.paper.pictures import PictureTarget, settings_of
from seqattractor.paper.target import Cell, Outcome, Request, Result
from seqattractor.paper.trials.pictures import frames_of, load_pictures, recalled_frames
from seqattractor.report.figures import recall_gif
from seqattractor.report.page import Animation, Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class RecallFigure(PictureTarget):
    """Stored frames above, recalled frames below, and the recall as a moving picture."""

    frames_shown: int
    columns: int
    """Sequences side by side in the moving picture."""
    scale: int
    """Pixels of the moving picture for one unit."""

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Wrong pixels in every frame, and how many sequences were retrieved."""
        [(cell, trials)] = outcomes
        rows = [
            {
                "network": number + 1,
                "epochs": outcome["epochs"],
                "converged": outcome["converged"],
                "sequences": len(outcome["retrieved"]),
                "retrieved": sum(outcome["retrieved"]),
                "exact_from_frame": outcome["exact_from"],
                "wrong_pixels_by_frame": np.sum(outcome["wrong"], axis=0).tolist(),
            }
            for number, outcome in enumerate(trials)
        ]
        settings = {**settings_of(cell), "networks": len(trials), "seed": request.seed}
        pictures = load_pictures(cell, 0)
        extra = {"truth": frames_of(pictures), "recalled": recalled_frames(trials[0], pictures), "flips": cell["flips"]}
        return Result({"settings": settings, "rows": rows}, extra)

    def closed(self, result: Result) -> bool:
        """Whether the sequences are loops."""
        truth = result.extra["truth"]
        return bool((truth[:, 0] == truth[:, -1]).all())

    def verdict(self, result: Result) -> Verdict:
        """The paper shows one clean recall."""
        rows = result.data["rows"]
        total, retrieved = sum(row["sequences"] for row in rows), sum(row["retrieved"] for row in rows)
        low, high = (100 * end for end in wilson_interval(retrieved, total))
        networks = f"{len(rows)} network{'s' if len(rows) > 1 else ''}"
        starts = [start for row in rows for start in row["exact_from_frame"]]
        at_once = sum(start == 2 for start in starts)
        criterion = "by the criterion of section 6.2" if self.closed(result) else "exactly up to the last frame"
        return Verdict(
            retrieved > total / 2,
            f"{retrieved} of {total} sequences in {networks} were recalled {criterion} from {result.extra['flips']} flipped "
            f"pixels (95 % interval {low:.0f}–{high:.0f} %); {at_once} of them had no wrong pixel from the second frame on. The "
            "paper shows one recall, without numbers.",
        )

    def tables(self, result: Result) -> list[Table]:
        """Wrong pixels over all sequences, frame by frame."""
        n = self.frames_shown
        lines = [
            [
                f"Network {row['network']}",
                f"{row['retrieved']} of {row['sequences']}",
                str(row["epochs"]),
                *map(str, row["wrong_pixels_by_frame"][:n]),
            ]
            for row in result.data["rows"]
        ]
        caption = "Wrong pixels in the recalled frames t = 1 (the corrupted cue) onwards, summed over sequences."
        return [Table(["", "recalled", "epochs", *(f"t = {t}" for t in range(1, n + 1))], lines, caption)]

    def animations(self, result: Result) -> list[Animation]:
        """The recall of the first network."""
        truth, recalled = result.extra["truth"], result.extra["recalled"]
        gif = recall_gif(truth, recalled, columns=self.columns, scale=self.scale)
        caption = f"Stored (left) and recalled by the first network from {result.extra['flips']} flipped pixels (right)."
        return [Animation(gif, caption, width=720 if self.columns > 1 else 420)]

    def figure(self, result: Result) -> Figure:
        """Two strips of frames."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        n = self.frames_shown
        truth, recalled = result.extra["truth"][0, :n], result.extra["recalled"][0, :n]
        ratio = truth.shape[1] / (truth.shape[2] * n)
        figure, axes = plt.subplots(2, 1, figsize=(9.0, 2 * 8.2 * ratio + 0.5))
        plots.filmstrip(truth, label="x(t)", numbers=range(1, n + 1), ax=axes[0])
        plots.filmstrip(recalled, label="ξ(t)", ax=axes[1])
        return figure


FIGURE_6 = RecallFigure(
    name="fig6",
    title="Figure 6",
    uses=(("gait", "UV"),),
    frames_shown=10,
    columns=1,
    scale=2,
    about="One gait sequence of 103 silhouettes (128 x 88 pixels) in a network with M = 200 hidden neurons, started from its "
    "first frame with 2000 of 11264 pixels flipped. The database of the paper may not be passed on: unless --gait-dir names your "
    "copy, a figure drawn by this package walks instead.",
)
FIGURE_7 = RecallFigure(
    name="fig7",
    title="Figure 7",
    uses=(("digits", "UV"),),
    frames_shown=8,
    columns=5,
    scale=1,
    about="20 sequences of 20 frames (64 x 64 pixels) of two moving digits in a network with M = 1000 hidden neurons, each "
    "started from its first frame with 300 of 4096 pixels flipped; sequence 1 is shown. Unless --mnist-file names your copy "
    "of Moving MNIST or MNIST, the digits are scikit-learn's, moved in the same way.",
)
