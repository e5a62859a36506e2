"""Past the paper: how much the sparse rule stores, beside the paper's rule and memories that keep the patterns themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqattractor.paper.target import Cell, Outcome, Request, Result, Target, count_successes, flat_interval
from seqattractor.paper.trials.capacity import ABLATIONS, DIGITS, M, N
from seqattractor.report.page import Table, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLIPS = 10
LENGTHS = [50, 100, 200, 300, 400, 500, 600, 700, 800]
CUE_FLIPS, CUE_LENGTHS = [10, 15, 20, 25, 30], [70, 200]
ABLATION_T = 500
MANY, FEW = 50, 10  # trials at most: of the sparse network; of one whose outcome hardly varies, or that takes long

NAMES = {
    "sparse": "sparse",
    "convergent": "sparse, convergent",
    "paper": "the paper's rule",
    "one-hot": "one-hot, one neuron per transition",
    "dense": "dense, one unit per pattern",
}
"""What the networks of the trials are called in the report."""


class Capacity(Target):
    """Success and basin against length, success against flips, ablations, and moving digits."""

    def cells(self, request: Request) -> list[Cell]:
        """Four groups of cells, told apart by "part"."""
        lengths = LENGTHS[1::2] if request.quick else LENGTHS
        stored = DIGITS["stored"][:1] if request.quick else DIGITS["stored"]
        cells: list[Cell] = [{"part": "length", "network": name, "T": T, "flips": FLIPS} for name in NAMES for T in lengths]
        cells += [
            {"part": "flips", "network": name, "T": T, "flips": flips}
            for name in ("sparse", "paper")
            for T in CUE_LENGTHS
            for flips in CUE_FLIPS
        ]
        cells += [{"part": "ablation", "options": name, "T": ABLATION_T, "flips": FLIPS} for name in ABLATIONS]
        cells += [{"part": "digits", "network": name, "stored": k} for name in ("sparse", "paper") for k in stored]
        return cells

    def n_trials(self, request: Request, cell: Cell) -> int:
        """Fewer trials where they would tell nothing new."""
        if cell["part"] == "digits":
            return request.at_most(DIGITS["trials"])
        slow = cell["part"] == "ablation" or cell["network"] != "sparse"
        return request.at_most(FEW if slow else MANY)

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Count successes and average basins."""
        rows: list[dict[str, Any]] = []
        for cell, trials in outcomes:
            row = {**dict.fromkeys(("part", "network", "options", "T", "flips", "stored")), **cell, "trials": len(trials)}
            if cell["part"] == "digits":
                row["recalled"] = [outcome["recalled"] for outcome in trials]
            else:
                row |= count_successes(trials)
                row["basin"] = float(np.mean([outcome["basin"] for outcome in trials]))
            rows.append(row)
        settings = {"N": N, "M": M, "settle": 25, "digits": DIGITS, "ablations": ABLATIONS, "seed": request.seed}
        return Result({"settings": settings, "rows": rows})

    def verdict(self, result: Result) -> Verdict:
        """Say how far each rule comes."""
        longest = {name: _longest(result, name) for name in ("sparse", "paper")}
        said = [
            f"{NAMES[name]} retrieves sequences of up to {T} patterns" if T else f"{NAMES[name]} none of these"
            for name, T in longest.items()
        ]
        return Verdict(
            None,
            f"In at least 95 % of the trials {' and '.join(said)}, with N = {N}, M = {M} and {FLIPS} flips. "
            "The paper has no such rule: its conclusion asks for one.",
        )

    def csv_rows(self, result: Result) -> list[dict[str, Any]]:
        """Rows with both ends of the interval, and digits as one text."""
        columns = ("part", "network", "options", "T", "flips", "stored", "trials", "successes", "basin", "low", "high")
        return [
            {**{key: flat_interval(row).get(key) for key in columns}, "recalled": " ".join(map(str, row.get("recalled", [])))}
            for row in result.data["rows"]
        ]

    def tables(self, result: Result) -> list[Table]:
        """Success and basin against length, and the ablations."""
        lengths = sorted({row["T"] for row in _part(result, "length")})
        lines = []
        for name, words in NAMES.items():
            by_length = {row["T"]: row for row in _part(result, "length") if row["network"] == name}
            lines.append([f"{words}: success", *(f"{by_length[T]['successes']}/{by_length[T]['trials']}" for T in lengths)])
            lines.append([f"{words}: basin", *(_fraction(by_length[T]["basin"]) for T in lengths)])
        ablations = [
            [row["options"], f"{row['successes']}/{row['trials']}", _fraction(row["basin"])] for row in _part(result, "ablation")
        ]
        digits = [
            [f"{NAMES[row['network']]}, {row['stored']} stored", ", ".join(map(str, row["recalled"]))]
            for row in _part(result, "digits")
        ]
        return [
            Table(["T", *map(str, lengths)], lines, "Success and basin against the length of the sequence."),
            Table(
                ["setting", "success", "basin"], ablations, f"What each part of the sparse rule is worth, at T = {ABLATION_T}."
            ),
            Table(["moving digits", "sequences with all frames exact"], digits, "One number for each set of sequences."),
        ]

    def figure(self, result: Result) -> Figure:
        """Four panels."""
        from matplotlib import pyplot as plt

        from seqattractor import plots

        figure, axes = plt.subplots(2, 2, figsize=(9.6, 6.8))
        colors = dict(zip(NAMES, (plots.BLUE, plots.GREEN, plots.ORANGE, plots.GREY, plots.RED), strict=True))
        _draw_lengths(axes[0, 0], axes[0, 1], result, colors)
        for name in ("sparse", "paper"):
            for T, line in zip(CUE_LENGTHS, ("-", "--"), strict=True):
                rows = [row for row in _part(result, "flips") if row["network"] == name and row["T"] == T]
                counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
                label = f"{NAMES[name]}, T = {T}"
                plots.success_curve(
                    [row["flips"] for row in rows], *counts, color=colors[name], linestyle=line, label=label, ax=axes[1, 0]
                )
            rows = [row for row in _part(result, "digits") if row["network"] == name]
            percent = [100 * np.mean(row["recalled"]) / row["stored"] for row in rows]
            axes[1, 1].plot([row["stored"] for row in rows], percent, "o-", markersize=4, color=colors[name], label=NAMES[name])
        axes[1, 0].set(xlabel="flipped units of the cue", xticks=CUE_FLIPS)
        axes[1, 1].set_xticks(sorted({row["stored"] for row in _part(result, "digits")}))
        axes[1, 1].set(xlabel="stored sequences of moving digits", ylabel="all frames exact, %", ylim=(-4, 104))
        axes[1, 1].grid(visible=True)
        for ax in axes[1]:  # above the panels, where no interval can lie
            ax.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return figure


def _part(result: Result, part: str) -> list[dict[str, Any]]:
    """The rows of one group of cells."""
    return [row for row in result.data["rows"] if row["part"] == part]


def _longest(result: Result, network: str) -> int:
    """The largest T up to which every tested length succeeds in at least 95 % of the trials; 0 if none does."""
    longest = 0
    for row in sorted((r for r in _part(result, "length") if r["network"] == network), key=lambda r: int(r["T"])):
        if row["successes"] < 0.95 * row["trials"]:
            break
        longest = int(row["T"])
    return longest


def _fraction(value: float) -> str:
    """A fraction with four digits, never rounded up to 1."""
    return "1" if value == 1 else f"{min(value, 0.9999):.4f}".lstrip("0") if value else "0"


def _draw_lengths(success: Axes, basins: Axes, result: Result, colors: dict[str, str]) -> None:
    """Success and basin against T, one line per network."""
    from seqattractor import plots

    for k, (name, words) in enumerate(NAMES.items()):
        rows = [row for row in _part(result, "length") if row["network"] == name]
        T = [row["T"] for row in rows]
        counts = [row["successes"] for row in rows], [row["trials"] for row in rows]
        plots.success_curve(T, *counts, shift=0.005 * max(T) * (k - 2), color=colors[name], label=words, ax=success)
        basins.plot(T, [100 * row["basin"] for row in rows], "o-", markersize=4, linewidth=1.4, color=colors[name], label=words)
    for ax in (success, basins):
        ax.axvline(M + 1, color=plots.GREY, linewidth=0.8, linestyle=":")
        ax.set_xlabel("period length T (dotted: M + 1)")
    basins.set(ylabel="basin, %", ylim=(-4, 104))
    basins.grid(visible=True)
    basins.legend(fontsize=8, loc="center left")


TARGET = Capacity(
    name="capacity",
    title="Capacity, past the paper",
    trial="capacity:store_sequences",
    about="Random periodic sequences, N = 100 visible and M = 500 hidden neurons, default settings of every network. Success is "
    "the criterion of section 6.2 from the first pattern with 10 flipped units. The basin is stricter: the fraction of all "
    "patterns from which, with as many flips, the network is exactly on the sequence and in phase after 25 steps. Moving "
    "digits: sequences of 20 frames, M = 1000, 300 flipped pixels in the first frame; a sequence counts if all other frames "
    "are exact.",
)
