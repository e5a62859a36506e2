"""Beyond the paper: how much the sparse rule stores, beside the paper's rule and memories that keep the patterns themselves."""

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target, count_successes, draw_successes, flat_interval
from seqattractor.paper.trials.capacity import ABLATIONS, DIGITS, M, N
from seqattractor.report.page import Table, Verdict

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

    def settings(self, request: Request) -> dict[str, Any]:
        """The sizes, and what the ablations change."""
        return {"N": N, "M": M, "settle": 25, "digits": DIGITS, "ablations": ABLATIONS}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count successes and average basins."""
        row = {**dict.fromkeys(("part", "network", "options", "T", "flips", "stored")), **cell, "trials": len(trials)}
        if cell["part"] == "digits":
            return [{**row, "recalled": [outcome["recalled"] for outcome in trials]}]
        basin = float(np.mean([outcome["basin"] for outcome in trials]))
        return [row | count_successes(trials) | {"basin": basin}]

    def verdict(self, result: Result) -> Verdict:
        """Say how far each rule comes."""
        longest = {name: longest_stored(result, name) for name in ("sparse", "paper")}
        said = [
            f"{NAMES[name]} retrieves sequences of up to {T} patterns" if T else f"{NAMES[name]} none of these"
            for name, T in longest.items()
        ]
        return Verdict(
            None,
            f"In at least 95 % of the trials {' and '.join(said)}, with N = {N}, M = {M} and {FLIPS} flips. "
            "The paper has no such rule: its conclusion asks for one.",
        )

    def csv_rows(self, result: Result) -> list[Row]:
        """Rows with both ends of the interval, and digits as one text."""
        columns = ("part", "network", "options", "T", "flips", "stored", "trials", "successes", "basin", "low", "high")
        return [
            {**{key: flat_interval(row).get(key) for key in columns}, "recalled": " ".join(map(str, row.get("recalled", [])))}
            for row in result.rows()
        ]

    def tables(self, result: Result) -> list[Table]:
        """Success and basin against length, and the ablations."""
        lines = []
        for name, words in NAMES.items():
            rows = sorted(result.rows(part="length", network=name), key=lambda row: int(row["T"]))
            lines.append([f"{words}: success", *(f"{row['successes']}/{row['trials']}" for row in rows)])
            lines.append([f"{words}: basin", *(fraction(row["basin"]) for row in rows)])
        lengths = [str(row["T"]) for row in rows]
        ablations = [{**row, "basin": fraction(row["basin"])} for row in result.rows(part="ablation")]
        digits = [
            {"words": f"{NAMES[row['network']]}, {row['stored']} stored", "recalled": ", ".join(map(str, row["recalled"]))}
            for row in result.rows(part="digits")
        ]
        return [
            Table(["T", *lengths], lines, "Success and basin against the length of the sequence."),
            Table.of(
                ablations,
                {"setting": "{options}", "success": "{successes}/{trials}", "basin": "{basin}"},
                f"What each part of the sparse rule is worth, at T = {ABLATION_T}.",
            ),
            Table.of(
                digits,
                {"moving digits": "{words}", "sequences with all frames exact": "{recalled}"},
                "One number for each set of sequences.",
            ),
        ]

    def figure(self, result: Result) -> Figure:
        """Four panels: success and basin against T, success against flips, and moving digits."""
        figure, axes = plt.subplots(2, 2, figsize=(9.6, 6.8))
        (success, basins), (cues, digits) = axes
        colors = dict(zip(NAMES, (plots.BLUE, plots.GREEN, plots.ORANGE, plots.GREY, plots.RED), strict=True))
        for k, (name, words) in enumerate(NAMES.items()):
            rows, line = result.rows(part="length", network=name), {"color": colors[name], "label": words}
            lengths = [row["T"] for row in rows]
            draw_successes(rows, "T", shift=0.005 * max(lengths) * (k - 2), ax=success, **line)
            _draw_percent(basins, lengths, [100 * row["basin"] for row in rows], "basin, %", linewidth=1.4, **line)
        for ax in (success, basins):
            ax.axvline(M + 1, color=plots.GREY, linewidth=0.8, linestyle=":")
            ax.set_xlabel("period length T (dotted: M + 1)")
        basins.legend(fontsize=8, loc="center left")
        for name in ("sparse", "paper"):
            for T, dash in zip(CUE_LENGTHS, ("-", "--"), strict=True):
                rows = result.rows(part="flips", network=name, T=T)
                draw_successes(rows, "flips", color=colors[name], linestyle=dash, label=f"{NAMES[name]}, T = {T}", ax=cues)
            rows = result.rows(part="digits", network=name)
            stored, recalled = [row["stored"] for row in rows], [100 * np.mean(row["recalled"]) / row["stored"] for row in rows]
            _draw_percent(digits, stored, recalled, "all frames exact, %", color=colors[name], label=NAMES[name])
        cues.set(xlabel="flipped units of the cue", xticks=CUE_FLIPS)
        digits.set(xlabel="stored sequences of moving digits", xticks=sorted(stored))
        for ax in (cues, digits):  # above the panels, where no interval can lie
            ax.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return figure


def _draw_percent(ax: Axes, x: list[int], percent: list[float], what: str, **line: Any) -> None:
    """Draw a line of percentages that have no interval."""
    ax.plot(x, percent, "o-", markersize=4, **line)
    ax.set(ylabel=what, ylim=(-4, 104))
    ax.grid(visible=True)


def longest_stored(result: Result, network: str) -> int:
    """The largest T up to which every tested length succeeds in at least 95 % of the trials; 0 if none does."""
    longest = 0
    for row in sorted(result.rows(part="length", network=network), key=lambda row: int(row["T"])):
        if row["successes"] < 0.95 * row["trials"]:
            break
        longest = int(row["T"])
    return longest


def fraction(value: float) -> str:
    """A fraction with four digits, never rounded up to 1."""
    return "1" if value == 1 else f"{min(value, 0.9999):.4f}".lstrip("0") if value else "0"


TARGET = Capacity(
    name="capacity",
    title="Capacity, beyond the paper",
    trial="capacity:store_sequences",
    about="Random periodic sequences, N = 100 visible and M = 500 hidden neurons, default settings of every network. Success is "
    "the criterion of section 6.2 from the first pattern with 10 flipped units. The basin is stricter: the fraction of all "
    "patterns from which, with as many flips, the network is exactly on the sequence and in phase after 25 steps. Moving "
    "digits: sequences of 20 frames, M = 1000, 300 flipped pixels in the first frame; a sequence counts if all other frames "
    "are exact.",
)
