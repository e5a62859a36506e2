"""Random periodic sequences: how often a network retrieves one from a corrupted first pattern.

Tables 1 and 2 and figure 5 beside the paper's counts; appendix F, sparse inputs and targets,
against learning U and V.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.variants import FixedHiddenNetwork
from seqattractor.paper import agreement
from seqattractor.paper.settings import LEARNING, RANDOM_SEQUENCES, SPARSITY
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
from seqattractor.study.settings import PERIODS
from seqattractor.study.trial import retrieve_with


def retrieve_sequence(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Run one trial of tables 1 and 2; settings are T, M, N, flips and learn, and optionally
    distinct.

    By the text of section 6.2 a sequence x(1), ..., x(T) has T - 1 distinct patterns, since x(T) =
    x(1). "distinct" is another number of them, after which x(1) comes again: T if "period length T"
    is taken literally.
    """
    return {"success": _retrieves(settings, seed)}


def retrieve_with_sparse_inputs(
    settings: dict[str, Any], seed: np.random.SeedSequence
) -> dict[str, Any]:
    """Run one trial of appendix F, as `retrieve_sequence`, with hidden states sign(U x - theta)."""
    return {"success": _retrieves(settings, seed, input_threshold=_theta(settings))}


def retrieve_with_sparse_targets(
    settings: dict[str, Any], seed: np.random.SeedSequence
) -> dict[str, Any]:
    """Run one trial of appendix F, as `retrieve_sequence`, with hidden targets sign(P x(t+1) -
    theta).
    """
    return {"success": _retrieves(settings, seed, target_threshold=_theta(settings))}


def _theta(settings: dict[str, Any]) -> float:
    """Return the threshold; settings give it in standard deviations of the projection of a pattern
    by standard normal weights.
    """
    return float(settings["theta"] * sqrt(settings["N"]))


def _retrieves(settings: dict[str, Any], seed: np.random.SeedSequence, **parameters: float) -> bool:
    """Return whether the paper's network retrieves its sequence; one random stream serves sequence,
    network and cue.
    """
    rng = np.random.default_rng(seed)
    network = SequenceAttractor if settings["learn"] == "UV" else FixedHiddenNetwork
    how = {"engine": "exact", "n_jobs": 1, "random_state": rng, **LEARNING, **parameters}
    length = (
        settings.get("distinct", settings["T"] - 1) + 1
    )  # with the last pattern, which is the first again
    sizes = {"n": settings["N"], "t": length, "flips": settings["flips"]}
    return bool(retrieve_with(network(settings["M"], **how), sizes, rng, rng)["success"])


WAYS = {"V": "Learning only V", "UV": "Learning U and V"}
COLORS = {"V": plots.ORANGE, "UV": plots.BLUE}
AXES = {"T": "period length T", "M": "hidden neurons M"}
FIXED = {key: RANDOM_SEQUENCES[key] for key in ("N", "flips")}
FIXED_SPARSE = {key: SPARSITY[key] for key in ("N", "M", "flips")}
OF_PAPER = {"table1": agreement.TABLE_1, "table2": agreement.TABLE_2}


@dataclass(frozen=True, kw_only=True)
class _Counts(Target):
    """Counts of successes beside the paper's, for each value of what is varied and both ways of
    learning.
    """

    trial: str = "retrieval:retrieve_sequence"
    varied: str  # the setting that differs between cells, beside the way of learning: "T" or "M"

    def cells(self, request: Request) -> list[Cell]:
        grid = RANDOM_SEQUENCES[self.experiment]
        return [
            {"T": T, "M": M, **FIXED, "learn": learn}
            for learn in WAYS
            for T in grid["T"]
            for M in grid["M"]
        ]

    def settings(self, request: Request) -> dict[str, Any]:
        return {**FIXED, **LEARNING, "recall_steps": f"{PERIODS} T", "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        paper = OF_PAPER[self.experiment][cell["learn"]][cell[self.varied]]
        return [
            {key: cell[key] for key in ("T", "M", "learn")}
            | count_successes(trials)
            | {"paper": paper}
        ]

    def verdict(self, result: Result) -> Verdict:
        return agreement.describe(agreement.compare(result.rows()), [self.varied, "learn"])

    def csv_rows(self, result: Result) -> list[Row]:
        return agreement.compare([flat_interval(row) for row in result.rows()])

    def figure(self, result: Result) -> Figure:
        """Draw bars of counts, ours beside the paper's, in a panel for each way of learning."""
        figure, axes = plt.subplots(2, 1, figsize=(9.0, 5.4), sharex=True)
        for ax, learn in zip(axes, WAYS, strict=True):
            _draw_bars(result.rows(learn=learn), self.varied, COLORS[learn], ax)
        axes[1].set_xlabel(AXES[self.varied])
        _entitle(axes)
        return figure


class _CountsTable(_Counts):
    """Counts as a table, ours above the paper's."""

    def tables(self, result: Result) -> list[Table]:
        lines: list[Line] = []
        for learn, words in WAYS.items():
            rows = result.rows(learn=learn)
            lines += counts_and_intervals(f"{words}, here", rows)
            lines.append((f"{words}, paper (of {agreement.TRIALS})", rows, "{paper}".format_map))
        return [Table.over(self.varied, lines)]


def counts_and_intervals(label: str, rows: list[Row]) -> list[Line]:
    """Return two lines of a table: successes, and their 95 % intervals in percent."""
    return [
        (f"{label} (of {rows[0]['trials']})", rows, "{successes}".format_map),
        (
            "95 % interval, %",
            rows,
            lambda row: "{:.0f}–{:.0f}".format(*(100 * end for end in row["interval"])),
        ),
    ]


def _draw_bars(rows: list[Row], varied: str, color: str, ax: Axes) -> None:
    """Draw success in percent, ours with Wilson intervals beside the paper's, with counts on the
    bars.
    """
    at = np.arange(len(rows))
    rates, paper = (
        [100 * row["successes"] / row["trials"] for row in rows],
        [row["paper"] for row in rows],
    )
    ax.bar(at - 0.2, rates, 0.4, color=color, label=f"here (of {rows[0]['trials']})")
    ax.bar(
        at + 0.2,
        paper,
        0.4,
        facecolor="none",
        edgecolor=plots.GREY,
        hatch="////",
        label=f"paper (of {agreement.TRIALS})",
    )
    counts: dict[str, Any] = {
        "ha": "center",
        "va": "bottom",
        "fontsize": 7,
    }  # so small that two 100s do not touch
    for k, row in enumerate(rows):
        low, high = (100 * end for end in row["interval"])
        ax.plot([k - 0.2] * 2, [low, high], color=mpl.rcParams["text.color"], linewidth=1.0)
        ax.text(k - 0.2, max(rates[k], high) + 1.5, str(row["successes"]), **counts)
        ax.text(k + 0.2, paper[k] + 1.5, str(paper[k]), color=plots.GREY, **counts)
    ax.set_xticks(at, [str(row[varied]) for row in rows])
    ax.set(
        xlim=(-0.6, len(rows) - 0.4), ylim=(0, 116), yticks=range(0, 101, 25), ylabel="success, %"
    )
    ax.grid(axis="y")


def _entitle(axes: list[Axes]) -> None:
    """Write the way of learning above each panel, with the legend beside it, where no bar or
    interval can lie.
    """
    for ax, words in zip(axes, WAYS.values(), strict=True):
        ax.set_title(words, loc="left")
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)


@dataclass(frozen=True, kw_only=True)
class _Sparsity(Target):
    """Success against T for a grid of thresholds, compared with the paper's own method."""

    variants: dict[str, dict[str, Any]]
    """The ways of learning to compare, by their labels, as {"learn", "theta"}; the first one is the
    paper's method.
    """

    def cells(self, request: Request) -> list[Cell]:
        periods = SPARSITY["T"][1::2] if request.quick else SPARSITY["T"]
        return [
            {**variant, "T": T, **FIXED_SPARSE}
            for variant in self.variants.values()
            for T in periods
        ]

    def settings(self, request: Request) -> dict[str, Any]:
        return {
            **FIXED_SPARSE,
            **LEARNING,
            "recall_steps": f"{PERIODS} T",
            "trials": request.trials,
        }

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        return [{key: cell[key] for key in ("learn", "theta", "T")} | count_successes(trials)]

    def verdict(self, result: Result) -> Verdict:
        """Look for a cell with a significant gain; the paper finds none."""
        (_, own), *others = (
            (label, result.rows(**variant)) for label, variant in self.variants.items()
        )
        pairs = [(row, paper) for _, rows in others for row, paper in zip(rows, own, strict=True)]
        labels = [label for label, rows in others for _ in rows]
        gains = [
            f"{label}, T = {row['T']} ({row['successes']} of {row['trials']})"
            for label, (row, paper), p in zip(
                labels, pairs, agreement.corrected(pairs), strict=True
            )
            if row["successes"] > paper["successes"] and p < agreement.LEVEL
        ]
        test = (
            f"two-sided Fisher's exact test in each of {len(pairs)} cells, Holm-corrected, level "
            f"{agreement.LEVEL}"
        )
        if gains:
            return Verdict(
                False, f"Unlike in the paper, sparsity helps here: {'; '.join(gains)} ({test})."
            )
        few = agreement.caution(max(row["trials"] for row in own))
        return Verdict(
            True,
            "As in the paper, no threshold gives more successes than learning U and V "
            f"({test}).{few}",
        )

    def tables(self, result: Result) -> list[Table]:
        lines: list[Line] = [
            (label, result.rows(**variant), "{successes}".format_map)
            for label, variant in self.variants.items()
        ]
        trials = result.rows()[0]["trials"]
        return [
            Table.over(
                "T",
                lines,
                f"Successes of {trials} trials. The paper's figure gives no numbers in its text.",
            )
        ]

    def figure(self, result: Result) -> Figure:
        figure, ax = plt.subplots(figsize=(8.0, 3.6))
        for k, (label, variant) in enumerate(self.variants.items()):
            draw_successes(
                result.rows(**variant),
                "T",
                shift=0.5 * (k - 2),
                label=label,
                marker="osD^v<"[k],
                ax=ax,
            )
        ax.set_xlabel("period length T")
        ax.legend(fontsize=9, loc="center left", bbox_to_anchor=(1.01, 0.5))
        return figure


TABLE_1 = _CountsTable(
    name="table1",
    experiment="table1",
    title="Table 1",
    varied="T",
    about="Random periodic sequences, N = 100 visible and M = 500 hidden neurons. A network learns "
    "one sequence and is started from its first pattern with 10 flipped units; it succeeds if the "
    "whole sequence then appears without a wrong unit.",
)
TABLE_2 = _CountsTable(
    name="table2",
    experiment="table2",
    title="Table 2",
    varied="M",
    about="As table 1, with sequences of length T = 70 and different numbers M of hidden neurons. "
    "T = 70, M = 500 stands in both tables of the paper, with different counts: 8 and 6 for "
    "learning only V, 88 and 94 for learning U and V.",
)
FIGURE_5A = _Counts(
    name="fig5a",
    experiment="table1",
    title="Figure 5 (a)",
    varied="T",
    about=(
        "The trials of table 1 as bars: success against the period length T, with M = 500 hidden "
        "neurons."
    ),
)
FIGURE_5B = _Counts(
    name="fig5b",
    experiment="table2",
    title="Figure 5 (b)",
    varied="M",
    about=(
        "The trials of table 2 as bars: success against the number M of hidden neurons, for "
        "sequences of length T = 70."
    ),
)
SPARSE_INPUTS = _Sparsity(
    name="sparse-inputs",
    title="Sparse inputs (appendix F)",
    trial="retrieval:retrieve_with_sparse_inputs",
    variants={
        "learning U and V": {"learn": "UV", "theta": 0.0},
        **{
            f"fixed U, θ = {theta:g} SD": {"learn": "V", "theta": theta}
            for theta in SPARSITY["theta"]
        },
    },
    about="U fixed and standard normal with hidden states sign(U x - theta), learning only V, "
    "against learning U and V. Theta is given in standard deviations of U x; the paper does not "
    "list its values.",
)
SPARSE_TARGETS = _Sparsity(
    name="sparse-targets",
    title="Sparse targets (appendix F)",
    trial="retrieval:retrieve_with_sparse_targets",
    variants={f"θ = {theta:g} SD": {"learn": "UV", "theta": theta} for theta in SPARSITY["theta"]},
    about="Learning U and V with hidden targets sign(P x(t+1) - theta). Theta is given in standard "
    "deviations of P x; the paper does not list its values, and theta = 0 is its own method.",
)
