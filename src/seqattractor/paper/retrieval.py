"""Random periodic sequences: how often a network retrieves one from a corrupted first pattern.

Tables 1 and 2 and figure 5 beside the paper's counts; appendix F, sparse inputs and targets, against learning U and V.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.variants import FixedHiddenNetwork
from seqattractor.paper import agreement
from seqattractor.paper.settings import LEARNING, RANDOM_SEQUENCES, SPARSITY
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target, count_successes, draw_successes, flat_interval
from seqattractor.report.page import Table, Verdict
from seqattractor.study.settings import PERIODS
from seqattractor.study.statistics import holm
from seqattractor.study.trial import retrieve_with


def retrieve_sequence(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """One trial of tables 1 and 2; settings are T, M, N, flips and learn.

    "bias" is there where there are biases, and "distinct" if the period is not T - 1. By the text of section 6.2 a sequence x(1),
    ..., x(T) has T - 1 distinct patterns, since x(T) = x(1). "distinct" is another number of them, after which x(1) comes again:
    T if "period length T" is taken at its word.

    Examples
    --------
    >>> retrieve_sequence({"T": 5, "M": 60, "N": 40, "flips": 2, "learn": "UV"}, np.random.SeedSequence(0))
    {'success': True}
    """
    return {"success": _retrieves(settings, seed, bias=settings.get("bias", False))}


def retrieve_with_sparse_inputs(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """One trial of appendix F, as `retrieve_sequence`, with hidden states sign(U x - theta)."""
    return {"success": _retrieves(settings, seed, input_threshold=_theta(settings))}


def retrieve_with_sparse_targets(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """One trial of appendix F, as `retrieve_sequence`, with hidden targets sign(P x(t+1) - theta)."""
    return {"success": _retrieves(settings, seed, target_threshold=_theta(settings))}


def _theta(settings: dict[str, Any]) -> float:
    """The threshold; settings count it in standard deviations of the projection of a pattern by standard normal weights."""
    return float(settings["theta"] * sqrt(settings["N"]))


def _retrieves(settings: dict[str, Any], seed: np.random.SeedSequence, **parameters: float) -> bool:
    """Whether the paper's network retrieves its sequence; one stream of random numbers serves sequence, network and cue."""
    rng = np.random.default_rng(seed)
    network = SequenceAttractor if settings["learn"] == "UV" else FixedHiddenNetwork
    how = {"engine": "exact", "n_jobs": 1, "random_state": rng, **LEARNING, **parameters}
    length = settings.get("distinct", settings["T"] - 1) + 1  # with the last pattern, which is the first again
    sizes = {"n": settings["N"], "t": length, "flips": settings["flips"]}
    return bool(retrieve_with(network(settings["M"], **how), sizes, rng, rng)["success"])


WAYS = {"V": "Learning only V", "UV": "Learning U and V"}
COLORS = {"V": plots.ORANGE, "UV": plots.BLUE}
AXES = {"T": "period length T", "M": "hidden neurons M"}
FIXED = {key: RANDOM_SEQUENCES[key] for key in ("N", "flips")}
FIXED_SPARSE = {key: SPARSITY[key] for key in ("N", "M", "flips")}
OF_PAPER = {"table1": agreement.TABLE_1, "table2": agreement.TABLE_2}


@dataclass(frozen=True, kw_only=True)
class Counts(Target):
    """Counts of successes beside the paper's, for each value of what is varied and both ways of learning."""

    trial: str = "retrieval:retrieve_sequence"
    varied: str
    """What differs between cells, beside the way of learning: "T" or "M"."""

    def cells(self, request: Request) -> list[Cell]:
        """Every T and M with both ways of learning."""
        grid = RANDOM_SEQUENCES[self.experiment]
        return [{"T": T, "M": M, **FIXED, "learn": learn} for learn in WAYS for T in grid["T"] for M in grid["M"]]

    def settings(self, request: Request) -> dict[str, Any]:
        """Those of section 6.2."""
        return {**FIXED, **LEARNING, "recall_steps": f"{PERIODS} T", "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count the successes."""
        paper = OF_PAPER[self.experiment][cell["learn"]][cell[self.varied]]
        return [{key: cell[key] for key in ("T", "M", "learn")} | count_successes(trials) | {"paper": paper}]

    def verdict(self, result: Result) -> Verdict:
        """Agreement by Fisher's exact test."""
        return agreement.describe(agreement.compare(result.rows()), [self.varied, "learn"])

    def csv_rows(self, result: Result) -> list[Row]:
        """The rows with both ends of the interval and the p-values."""
        return agreement.compare([flat_interval(row) for row in result.rows()])


class CountsTable(Counts):
    """A table of counts, ours above the paper's, and curves of both."""

    def tables(self, result: Result) -> list[Table]:
        """Ours and the paper's counts, one column for each cell."""
        lines = []
        for learn, words in WAYS.items():
            rows = sorted(result.rows(learn=learn), key=lambda row: int(row[self.varied]))
            lines += [
                [f"{words}, here (of {rows[0]['trials']})", *(str(row["successes"]) for row in rows)],
                ["95 % interval, %", *("{:.0f}–{:.0f}".format(*(100 * end for end in row["interval"])) for row in rows)],
                [f"{words}, paper (of {agreement.TRIALS})", *(str(row["paper"]) for row in rows)],
            ]
        return [Table([self.varied, *(str(row[self.varied]) for row in rows)], lines)]

    def figure(self, result: Result) -> Figure:
        """Success over the varied number, ours and the paper's, both with Wilson intervals."""
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.2), sharey=True)
        grey = {"color": plots.GREY, "linestyle": "--", "marker": "s"}
        for ax, learn in zip(axes, WAYS, strict=True):
            rows = result.rows(learn=learn)
            paper = [{**row, "successes": row["paper"], "trials": agreement.TRIALS} for row in rows]
            x = [row[self.varied] for row in rows]
            shift = 0.006 * (max(x) - min(x))
            draw_successes(paper, self.varied, shift=shift, label="paper", ax=ax, **grey)
            draw_successes(rows, self.varied, shift=-shift, color=COLORS[learn], label="here", ax=ax)
            ax.set_xlabel(AXES[self.varied])
        axes[1].set_ylabel("")
        _entitle(axes)
        return figure


class CountsFigure(Counts):
    """Bars of counts, ours beside the paper's."""

    def figure(self, result: Result) -> Figure:
        """One panel for each way of learning."""
        figure, axes = plt.subplots(2, 1, figsize=(9.0, 5.4), sharex=True)
        for ax, learn in zip(axes, WAYS, strict=True):
            rows = result.rows(learn=learn)
            columns = ([row[key] for row in rows] for key in (self.varied, "successes", "trials", "paper"))
            plots.compared_bars(*columns, color=COLORS[learn], ax=ax)
        axes[1].set_xlabel(AXES[self.varied])
        _entitle(axes)
        return figure


def _entitle(axes: list[Axes]) -> None:
    """Say above each panel which way of learning it shows; the legend stands there, too, where no bar or interval can lie."""
    for ax, words in zip(axes, WAYS.values(), strict=True):
        ax.set_title(words, loc="left")
        ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)


@dataclass(frozen=True, kw_only=True)
class Sparsity(Target):
    """Success against T for a grid of thresholds, compared with the paper's own method."""

    variants: dict[str, dict[str, Any]]
    """The ways of learning to compare, by what they are called, as {"learn", "theta"}; the first one is the paper's method."""

    def cells(self, request: Request) -> list[Cell]:
        """Each way of learning with each T; a quick look takes every second T."""
        periods = SPARSITY["T"][1::2] if request.quick else SPARSITY["T"]
        return [{**variant, "T": T, **FIXED_SPARSE} for variant in self.variants.values() for T in periods]

    def settings(self, request: Request) -> dict[str, Any]:
        """The sizes, and the settings of section 6."""
        return {**FIXED_SPARSE, **LEARNING, "recall_steps": f"{PERIODS} T", "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count successes."""
        return [{key: cell[key] for key in ("learn", "theta", "T")} | count_successes(trials)]

    def verdict(self, result: Result) -> Verdict:
        """The paper finds no significant gain; is there a cell with one?"""
        own, *others = (result.rows(**variant) for variant in self.variants.values())
        pairs = [
            (f"{label}, T = {row['T']} ({row['successes']} of {row['trials']})", row, reference)
            for label, rows in zip(list(self.variants)[1:], others, strict=True)
            for row, reference in zip(rows, own, strict=True)
        ]
        p = [agreement.p_value(a["successes"], a["trials"], b["successes"], b["trials"]) for _, a, b in pairs]
        gains = [
            words
            for (words, row, reference), corrected in zip(pairs, holm(p), strict=True)
            if row["successes"] > reference["successes"] and corrected < agreement.LEVEL
        ]
        test = f"two-sided Fisher's exact test in each of {len(p)} cells, Holm-corrected, level {agreement.LEVEL}"
        if gains:
            return Verdict(False, f"Unlike in the paper, sparsity helps here: {'; '.join(gains)} ({test}).")
        few = agreement.caution(max(row["trials"] for row in own))
        return Verdict(True, f"As in the paper, no threshold gives more successes than learning U and V ({test}).{few}")

    def tables(self, result: Result) -> list[Table]:
        """Counts, one line for each way of learning."""
        by_variant = {label: result.rows(**variant) for label, variant in self.variants.items()}
        own = next(iter(by_variant.values()))
        lines = [[label, *(str(row["successes"]) for row in rows)] for label, rows in by_variant.items()]
        caption = f"Successes of {own[0]['trials']} trials. The paper's figure gives no numbers in its text."
        return [Table(["T", *(str(row["T"]) for row in own)], lines, caption)]

    def figure(self, result: Result) -> Figure:
        """One curve for each way of learning."""
        figure, ax = plt.subplots(figsize=(8.0, 3.6))
        for k, (label, variant) in enumerate(self.variants.items()):
            draw_successes(result.rows(**variant), "T", shift=0.5 * (k - 2), label=label, marker="osD^v<"[k], ax=ax)
        ax.set_xlabel("period length T")
        ax.legend(fontsize=9, loc="center left", bbox_to_anchor=(1.01, 0.5))
        return figure


TABLE_1 = CountsTable(
    name="table1",
    experiment="table1",
    title="Table 1",
    varied="T",
    about="Random periodic sequences, N = 100 visible and M = 500 hidden neurons. A network learns one sequence and is started "
    "from its first pattern with 10 flipped units; it succeeds if the whole sequence then appears without a wrong unit.",
)
TABLE_2 = CountsTable(
    name="table2",
    experiment="table2",
    title="Table 2",
    varied="M",
    about="As table 1, with sequences of length T = 70 and different numbers M of hidden neurons. T = 70, M = 500 stands in both "
    "tables of the paper, with different counts: 8 and 6 for learning only V, 88 and 94 for learning U and V.",
)
FIGURE_5A = CountsFigure(
    name="fig5a",
    experiment="table1",
    title="Figure 5 (a)",
    varied="T",
    about="The trials of table 1 as bars: success against the period length T, with M = 500 hidden neurons.",
)
FIGURE_5B = CountsFigure(
    name="fig5b",
    experiment="table2",
    title="Figure 5 (b)",
    varied="M",
    about="The trials of table 2 as bars: success against the number M of hidden neurons, for sequences of length T = 70.",
)
SPARSE_INPUTS = Sparsity(
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
SPARSE_TARGETS = Sparsity(
    name="sparse-targets",
    title="Sparse targets (appendix F)",
    trial="retrieval:retrieve_with_sparse_targets",
    variants={f"θ = {theta:g} SD": {"learn": "UV", "theta": theta} for theta in SPARSITY["theta"]},
    about="Learning U and V with hidden targets sign(P x(t+1) - theta). Theta is given in standard deviations of P x; the paper "
    "does not list its values, and theta = 0 is its own method.",
)
