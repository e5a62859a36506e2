"""Beyond the paper: how much the sparse rule stores, and why, beside the paper's rule and memories
that store the patterns.

The trials, the grid, the sentence, the tables and the figures of `reproduce capacity`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.analysis._certificate import certify
from seqattractor.analysis._lost_starts import lost_starts
from seqattractor.analysis._robustness import robustness_curve
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING
from seqattractor.paper.target import (
    Cell,
    Outcome,
    Request,
    Result,
    Row,
    Target,
    count_successes,
    draw_successes,
    flat_interval,
)
from seqattractor.report.page import Line, Table, Verdict
from seqattractor.sequences import Patterns
from seqattractor.study.trial import Task, draw_sequences, judge, recall_task, retrieve_with
from seqattractor.theory import gardner
from seqattractor.zoo.dense import DenseSequenceMemory

STEPS = 300  # first steps at each number of flips that a curve of robustness is measured with
ENOUGH = 0.95  # the success rate from which a length counts as stored
TUNED = "paper, tuned"
"""The paper's rule with the margin that tuning chose for comparisons (docs/rivals.rst)."""
TUNED_KAPPA = 10.0
NOISY = "paper, noisy"
"""The paper's rule, which sees every input with as many flips as the cue will have."""
ONE_HOT = "one-hot"
"""One threshold neuron for each transition with a given tolerance; M does not matter."""

NETWORKS: dict[str, Callable[[int, np.random.Generator], SequenceMemory]] = {
    "sparse": lambda M, rng: SparseSequenceAttractor(M, random_state=rng),
    "convergent": lambda M, rng: SparseSequenceAttractor(M, noise=0, random_state=rng),
    "paper": lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING),
    TUNED: lambda M, rng: SequenceAttractor(
        M, random_state=rng, n_jobs=1, **LEARNING | {"kappa": TUNED_KAPPA}
    ),
    "dense": lambda M, rng: DenseSequenceMemory(interaction="exponential"),
}
"""How each network is made, beside the one-hot network."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "everything": {},
    "no bias": {"bias": 0},
    "no noise while learning": {"noise": 0},
    "constant learning rates": {"decay": False},
    "no homeostasis": {"homeostasis": 0.0},
    "no redraw": {"redraw": 0.0},
    "no learned feedback": {"learned_feedback": 0.0},
    "P random and fixed, from x(t)": {"learned_drive": False},
    "P random and fixed, no learned feedback": {"learned_drive": False, "learned_feedback": 0.0},
    "P random and fixed, from x(t+1), no learned feedback": {
        "target_from": "next",
        "learned_feedback": 0.0,
    },
    "thresholds instead of winners": {"code": "thresholds"},
    "larger steps of active neurons": {"active_weight": 3},
    "2 winners": {"n_winners": 2},
    "5 winners": {"n_winners": 5},
    "10 winners": {"n_winners": 10},
}
"""Parameters of the sparse network that switch off or change a part of its rule."""

NAMES = {
    "sparse": "sparse",
    "convergent": "sparse, convergent",
    "paper": "the paper's rule",
    ONE_HOT: "one-hot, one neuron per transition",
    "dense": "dense, one unit per pattern",
}
"""The networks of the trials in the words of the report."""
CONTROL = {
    "paper": "the paper's rule",
    TUNED: f"the paper's rule, kappa = {TUNED_KAPPA:.0f}",
    NOISY: "the paper's rule, flips while it learns",
}
"""The control: would the paper's rule do as well with a larger margin, or with noise during
learning?
"""
FULL: dict[str, Any] = {
    "N": 100,
    "M": 500,
    "flips": 10,
    "lengths": [100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200],
    # far beyond it nothing changes for the paper's rule, and learning takes long
    "paper_up_to": 200,
    "control_lengths": [60, 80, 90, 100, 120],
    "cue_lengths": [70, 200],
    "cue_flips": [10, 15, 20, 25, 30],
    "ablation_lengths": [500, 800, 1000],
    "inside_lengths": [100, 300, 500, 700, 800, 900, 1000, 1100, 1200],
    "robust_flips": [0, 5, 10, 15, 20, 25, 30, 35, 40],
    "digits": {
        "stored": [20, 40, 80, 160],
        "paper": [20, 40],
        "T": 20,
        "M": 1000,
        "flips": 300,
        "trials": 1,
    },
}
QUICK: dict[str, Any] = {
    "N": 40,
    "M": 60,
    "flips": 4,
    "lengths": [30, 60, 90],
    "paper_up_to": 60,
    "control_lengths": [20, 30],
    "cue_lengths": [20, 40],
    "cue_flips": [4, 8],
    "ablation_lengths": [50, 80],
    "inside_lengths": [30, 60, 90],
    "robust_flips": [0, 3, 6, 9, 12],
    "digits": {"stored": [2], "paper": [2], "T": 8, "M": 40, "flips": 300, "trials": 1},
}
MANY, FEW = 50, 5  # most trials: of the sparse and one-hot networks and the control; of all others


# -- trials
# --------------------------------------------------------------------------------------------------


def store_sequences(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Run a trial of the part that `settings` name; a single random stream serves sequence, network
    and cue.
    """
    rng = np.random.default_rng(seed)
    if settings["part"] == "digits":
        return _store_digits(settings, rng)
    if settings["part"] == "inside":
        return _look_inside(settings, rng)
    learn: Callable[[SequenceMemory, Patterns], Any] | None = None
    if settings["part"] == "ablation":
        net: SequenceMemory = SparseSequenceAttractor(
            settings["M"], random_state=rng, **ABLATIONS[settings["options"]]
        )
    elif settings["network"] == NOISY:
        net = NETWORKS["paper"](settings["M"], rng)
        learn = partial(
            learn_from_noise, flips=settings["flips"], epochs=LEARNING["max_epochs"], rng=rng
        )
    else:
        net = _make(settings, rng)
    sizes = {
        "n": settings["N"],
        "t": settings["T"],
        "flips": settings["flips"],
        "measure_basin": True,
    }
    outcome = retrieve_with(net, sizes, rng, rng, learn=learn)
    return {key: outcome[key] for key in ("success", "basin", "score")}


def _make(settings: dict[str, Any], rng: np.random.Generator) -> SequenceMemory:
    """Return the network of a trial, unfitted."""
    if settings["network"] == ONE_HOT:
        return OneHotNetwork(tolerance=settings["flips"])
    return NETWORKS[settings["network"]](settings["M"], rng)


def learn_from_noise(
    net: Any, X: Patterns, *, flips: int, epochs: int, rng: np.random.Generator
) -> None:
    """Present all transitions of a sequence, (T, N), in every epoch, with other units of each input
    flipped every time.

    The rule is the paper's, eqs. (4)-(9), with the flipped x(t) in place of x(t); x(t+1), and with
    it the targets, stay clean.
    """
    for _ in range(epochs):
        pairs = np.stack(
            [flip(X[:-1], flips, rng), X[1:]], axis=1
        )  # each transition is a sequence of its own
        net.partial_fit(pairs.reshape(-1, X.shape[1]), np.full(len(pairs), 2))


def _store_digits(settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Store sequences of moving digits and count those of which all frames are recalled without a
    wrong pixel.
    """
    net = _make(settings, rng)
    X = moving_digits(settings["stored"], length=settings["T"], rng=rng)
    task = Task(X.patterns, X.lengths, settings["flips"], closed=False)
    net.fit(X)
    cues = flip(np.stack([x[0] for x in X.split()]), task.flips, rng=rng)
    return {
        "recalled": sum(
            time is not None
            for time in judge(recall_task(net, task, cues[:, None], rng), task, net)
        )
    }


def _look_inside(settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Measure hidden codes, lost starts, proven flips, and robustness to each number of flips in
    "up_to".
    """
    X, _ = draw_sequences(1, settings["T"], settings["N"], rng=rng)
    net: Any = NETWORKS[settings["network"]](settings["M"], rng)
    net.fit(X)
    starts = lost_starts(net, X, flips=settings["flips"], rng=rng)
    proven = certify(net, X, method="count", attack=False).radius
    curve = robustness_curve(net, X, flips=settings["up_to"], trials=STEPS, rng=rng)
    return {
        "active": float(np.mean(net.hidden(X[:-1]) > 0)),
        "counts": starts.counts.tolist(),
        "made": float(np.mean(proven >= 0)),
        "radius": float(np.mean(np.maximum(proven, 0))),
        "least_radius": int(max(proven.min(), 0)),
        "right": curve.successes.tolist(),
    }


# -- grid, sentence, tables
# --------------------------------------------------------------------------------------------


class _CapacityPage(Target):
    """Success and basin against length and flips, ablations, moving digits, theory's limits, and
    the inside.
    """

    def cells(self, request: Request) -> list[Cell]:
        s = sizes_of(request)
        digits = {key: s["digits"][key] for key in ("T", "M", "flips")}

        def cell(part: str, T: int, flips: int = s["flips"], **others: Any) -> Cell:
            return {"part": part, "N": s["N"], "M": s["M"], "T": T, "flips": flips, **others}

        return [
            *(
                cell("length", T, network=name)
                for name in NAMES
                for T in s["lengths"]
                if name != "paper" or s["paper_up_to"] >= T
            ),
            *(
                cell("flips", T, flips, network=name)
                for name in ("sparse", "paper", ONE_HOT)
                for T in s["cue_lengths"]
                for flips in s["cue_flips"]
            ),
            *(cell("control", T, network=name) for name in CONTROL for T in s["control_lengths"]),
            *(
                cell("ablation", T, options=name)
                for name in ABLATIONS
                for T in s["ablation_lengths"]
            ),
            *(
                {"part": "digits", "network": name, "stored": k, **digits}
                for name in ("sparse", "paper", ONE_HOT, "dense")
                for k in s["digits"]["paper" if name == "paper" else "stored"]
            ),
            *(
                cell("inside", T, network="sparse", up_to=s["robust_flips"])
                for T in s["inside_lengths"]
            ),
        ]

    def n_trials(self, request: Request, cell: Cell) -> int:
        network = cell["network"] if cell["part"] in ("length", "flips") else None
        if request.quick:
            return request.at_most(2 if network == "sparse" else 1)
        if cell["part"] == "digits":
            return request.at_most(sizes_of(request)["digits"]["trials"])
        often = cell["part"] == "control" or network in ("sparse", ONE_HOT)
        return request.at_most(MANY if often else FEW)

    def settings(self, request: Request) -> dict[str, Any]:
        return sizes_of(request) | {"settle": 25, "ablations": ABLATIONS}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        def mean(*keys: str) -> dict[str, float]:
            return {key: float(np.mean([outcome[key] for outcome in trials])) for key in keys}

        row = {**dict.fromkeys(COLUMNS), **cell, "trials": len(trials)}
        if cell["part"] == "digits":
            return [{**row, "recalled": [outcome["recalled"] for outcome in trials]}]
        if cell["part"] == "inside":
            counts = np.sum([outcome["counts"] for outcome in trials], axis=0)
            right = np.mean([outcome["right"] for outcome in trials], axis=0) / STEPS
            least = min(outcome["least_radius"] for outcome in trials)
            found = {"counts": counts.tolist(), "least_radius": least, "right": right.tolist()}
            return [row | mean("active", "made", "radius") | found]
        return [row | count_successes(trials) | mean("basin", "score")]

    def verdict(self, result: Result) -> Verdict:
        s = result.data["settings"]
        longest = {name: longest_stored(result, name) for name in ("sparse", "paper")}
        reached = [
            f"{NAMES[name]} retrieves sequences of up to {T} patterns"
            if T
            else f"{NAMES[name]} none of {s['lengths'][0]} or more"
            for name, T in longest.items()
        ]
        text = (
            f"In at least 95 % of the trials {' and '.join(reached)}, with N = {s['N']}, M = "
            f"{s['M']} and {s['flips']} flips. "
        )
        if longest["sparse"]:
            bits = bits_per_weight(longest["sparse"], s["N"], s["M"])
            text += (
                f"The longest of the sparse network are {bits:.2f} bits for each of its weights. "
            )
        counts = np.sum([row["counts"] for row in result.rows(part="inside")], axis=0)
        lost = counts[:, 1:].sum()
        if lost:
            share = counts[1:, 1:].sum() / lost
            text += (
                f"Of the starts that it loses, {share:.0%} have a wrong hidden neuron in the first "
                "step. "
            )
        return Verdict(None, text + "The paper has no such rule: its conclusion asks for one.")

    def csv_rows(self, result: Result) -> list[Row]:
        measured = ("trials", "successes", "low", "high", "basin", "score")
        columns = (*COLUMNS, *measured, "active", "made", "radius", "least_radius")
        lists = ("recalled", "right", "counts")
        return [
            {key: flat_interval(row).get(key) for key in columns}
            | {key: " ".join(map(str, row.get(key, []))) for key in lists}
            for row in result.rows()
        ]

    def tables(self, result: Result) -> list[Table]:
        return [
            _length_table(
                result, "length", NAMES, "Success and basin against the length of the sequence."
            ),
            _flip_table(result),
            _length_table(
                result,
                "control",
                CONTROL,
                "The paper's rule, with a larger margin, and with flips in the inputs that it "
                "learns from.",
            ),
            _ablation_table(result),
            _limit_table(result),
        ]

    def figure(self, result: Result) -> Figure:
        """Draw success and basin against T, success against flips, and moving digits."""
        s = result.data["settings"]
        figure, ((success, basins), (cues, digits)) = plt.subplots(
            2, 2, figsize=(9.6, 7.2), layout="constrained"
        )
        colors = dict(
            zip(NAMES, (plots.BLUE, plots.GREEN, plots.ORANGE, plots.GREY, plots.RED), strict=True)
        )
        short = {name: words.partition(",")[0] for name, words in NAMES.items()}
        for k, (name, words) in enumerate(NAMES.items()):
            rows, line = (
                result.rows(part="length", network=name),
                {"color": colors[name], "label": words},
            )
            draw_successes(rows, "T", shift=0.005 * max(s["lengths"]) * (k - 2), ax=success, **line)
            _draw_percent(
                basins, rows, "T", [100 * row["basin"] for row in rows], linewidth=1.4, **line
            )
        for ax in (success, basins):
            for T in (s["M"] + 1, 2 * s["M"] + 1):
                ax.axvline(T, color=plots.GREY, linewidth=0.8, linestyle=":")
            ax.set_xlabel("period length T (dotted: M + 1, 2M + 1)")
        figure.legend(
            *basins.get_legend_handles_labels(), fontsize=8, ncols=3, loc="outside upper center"
        )
        for k, name in enumerate(("sparse", "paper", ONE_HOT)):
            for T, dash in zip(s["cue_lengths"], ("-", "--"), strict=True):
                rows, line = (
                    result.rows(part="flips", network=name, T=T),
                    {"color": colors[name], "linestyle": dash},
                )
                draw_successes(
                    rows, "flips", shift=0.2 * k, label=f"{short[name]}, T = {T}", ax=cues, **line
                )
        for name in ("dense", "sparse", "paper", ONE_HOT):  # the first two lie on each other
            rows = result.rows(part="digits", network=name)
            recalled = [100 * np.mean(row["recalled"]) / row["stored"] for row in rows]
            _draw_percent(digits, rows, "stored", recalled, color=colors[name], label=short[name])
        basins.set(ylabel="basin, %")
        cues.set(xlabel="flipped units of the cue", xticks=s["cue_flips"])
        digits.set(
            xlabel="stored sequences of moving digits",
            xticks=s["digits"]["stored"],
            ylabel="all frames exact, %",
        )
        for ax in (cues, digits):  # above the panels, where no interval can lie
            ax.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        return figure


COLUMNS = ("part", "network", "options", "N", "M", "T", "flips", "stored")
"""Settings that distinguish cells."""


def sizes_of(request: Request) -> dict[str, Any]:
    """Return the sizes of networks and sequences."""
    return QUICK if request.quick else FULL


def longest_stored(result: Result, network: str) -> int:
    """Return the largest T up to which every tested length succeeds in at least 95 % of the trials;
    0 if none does.
    """
    longest = 0
    for row in sorted(result.rows(part="length", network=network), key=lambda row: int(row["T"])):
        if row["successes"] < ENOUGH * row["trials"]:
            break
        longest = int(row["T"])
    return longest


def fraction(value: float) -> str:
    """Format a fraction with four digits, never rounded up to 1."""
    return "1" if value == 1 else f"{min(value, 0.9999):.4f}".lstrip("0") if value else "0"


_counted = "{successes}/{trials}".format_map


def _basin(row: Mapping[str, Any]) -> str:
    """Format the basin of a row."""
    return fraction(row["basin"])


def _length_table(result: Result, part: str, names: Mapping[str, str], caption: str) -> Table:
    """Return success and basin of every network at every length."""
    lines: list[Line] = []
    for name, words in names.items():
        rows = result.rows(part=part, network=name)
        lines += [(f"{words}: success", rows, _counted), (f"{words}: basin", rows, _basin)]
    return Table.over("T", lines, caption)


def _flip_table(result: Result) -> Table:
    """Return success against flips of the cue."""
    lines: list[Line] = [
        (f"{NAMES[name]}, T = {T}", result.rows(part="flips", network=name, T=T), _counted)
        for name in ("sparse", "paper", ONE_HOT)
        for T in result.data["settings"]["cue_lengths"]
    ]
    return Table.over(
        "flips", lines, "Success against the flips of the cue.", heading="flips of the cue"
    )


def _ablation_table(result: Result) -> Table:
    """Return success and basin with one thing changed."""
    lines: list[Line] = [
        (
            name,
            result.rows(part="ablation", options=name),
            lambda row: f"{_counted(row)}, {_basin(row)}",
        )
        for name in result.data["settings"]["ablations"]
    ]
    caption = "What each part of the sparse rule is worth: success, basin."
    return Table.over("T", lines, caption, heading="setting", column="T = {}")


def _limit_table(result: Result) -> Table:
    """Return loads and bits beside theory's limits."""
    columns = {
        "T": "{T}",
        "success": "{success}",
        "bits per weight": "{bits:.3f}",
        "patterns per input of V (Cover: 2)": "{visible_load:.2f}",
        "active hidden neurons": "{active:.2%}",
        "patterns per input of U": "{hidden_load:.2f}",
        "Gardner's limit of U": "{gardner:.1f}",
    }
    return Table.of(
        loads(result),
        columns,
        "What is stored beside the limits for random patterns and random targets.",
    )


def bits_per_weight(T: int, N: int, M: int) -> float:
    """Return the bits of T random patterns (the last is the first) for each of the 2MN + M weights
    of a sparse network.
    """
    return (T - 1) * N / (2 * M * N + M)


def loads(result: Result) -> list[Row]:
    """Return bits for each weight, and the loads of V and U beside their limits, for each length
    that was looked into.

    V has M inputs and as many patterns as there are transitions, half of them +1. U has N inputs,
    and a fraction `active` of the transitions should make a neuron active.
    """
    rows = []
    for row in result.rows(part="inside"):
        N, M, T = row["N"], row["M"], row["T"]
        tried = result.rows(part="length", network=row["network"], T=T)
        rows.append(
            {
                "T": T,
                "success": _counted(tried[0]) if tried else "-",
                "bits": bits_per_weight(T, N, M),
                "visible_load": (T - 1) / M,
                "active": row["active"],
                "hidden_load": (T - 1) / N,
                "gardner": gardner(active=min(max(row["active"], 1e-9), 1 - 1e-9)),
            }
        )
    return rows


def _draw_percent(ax: Axes, rows: list[Row], x: str, percent: list[Any], **line: Any) -> None:
    """Draw a line of percentages that have no interval."""
    ax.plot([row[x] for row in rows], percent, "o-", markersize=4, **line)
    ax.set(ylim=(-4, 104))
    ax.grid(visible=True)


TARGET = _CapacityPage(
    name="capacity",
    title="Capacity, beyond the paper",
    trial="capacity:store_sequences",
    about="Random periodic sequences, default settings of every network (one-hot is given the "
    "number of flips); N = 100 visible and M = 500 hidden neurons, fewer in the quick version. "
    "Success is the criterion of section 6.2 from the first pattern with a tenth of the units "
    "flipped. The basin is stricter: the fraction of all patterns from which, with as many flips, "
    "the network is exactly on the sequence and in phase after 25 steps. Moving digits: a sequence "
    "counts if all frames after the corrupted first one are exact.",
)
