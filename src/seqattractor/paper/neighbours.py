"""Neighbours: the systems that the paper sets itself against in words, each with an experiment and consistency checks.

A neighbour is a `Neighbour` here and a trial in `seqattractor.paper.trials` that gives series of points and numbers. To add one,
write both, and give it a line in `TARGETS` and in `NEIGHBOURS` of `seqattractor.paper.target`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Any, Literal

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from seqattractor import plots
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.report.page import Table, Verdict

COLORS = (plots.BLUE, plots.ORANGE, plots.GREEN, plots.RED)
DASHES = ("--", ":", "-.")
KINDS = {"published": "published", "expected": "claimed or derived", "prototype": "ours; does not count"}


@dataclass(frozen=True)
class Panel:
    """A part of the figure: some of the series that a trial gives, in words."""

    title: str
    x: str
    y: str
    series: Mapping[str, str]
    """By the key of a series, what it is called; several with the same words share a line of the legend."""
    theory: Sequence[str] = ()
    """Keys of series that are theory or published numbers, drawn in grey."""
    log: Literal["", "x", "y", "xy"] = ""
    points: bool = False
    """Whether points are not joined by a line."""


@dataclass(frozen=True)
class Check:
    """A consistency check: a number of ours beside what was published, claimed in words or can be derived."""

    key: str
    """Of the number that a trial gives."""
    words: str
    expected: float | tuple[float | None, float | None]
    """What it should be, or from where to where; None leaves an end open."""
    source: str
    """Where that comes from."""
    tolerance: float = 0.0
    """How far from `expected` the mean may be; twice its standard error is added."""
    kind: Literal["published", "expected", "prototype"] = "expected"
    """Whether the authors published the law, formula, theorem or number; or it is what they claim in words, or follows from the
    equations; or it is only what a prototype of ours gave, which counts for nothing."""

    def agrees(self, ours: Sequence[float]) -> bool:
        """Whether our numbers, one for each trial, agree."""
        (low, high), slack = self.ends, self.tolerance + 2 * _standard_error(ours)
        return (low is None or low - slack <= mean(ours)) and (high is None or mean(ours) <= high + slack)

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """From where to where it should be."""
        return self.expected if isinstance(self.expected, tuple) else (self.expected, self.expected)


@dataclass(frozen=True, kw_only=True)
class Neighbour(Target):
    """An experiment with a system, at a size that runs in a minute, with consistency checks."""

    source: str
    """The publication."""
    network: str = ""
    """The short name under which its memory takes part in comparisons."""
    not_verified: str
    """What could not be checked against a source, in a sentence."""
    panels: tuple[Panel, ...]
    checks: tuple[Check, ...]
    size: Mapping[str, Any] = field(default_factory=dict)
    """Of the usual run: settings of the trial, and `networks`, how many there are."""
    quick: Mapping[str, Any] = field(default_factory=dict)
    """What is smaller with --quick."""
    full: Mapping[str, Any] = field(default_factory=dict)
    """What is larger with --full."""
    averaged: bool = False
    """Whether the figure shows means over all networks; else it shows the first network."""

    def cells(self, request: Request) -> list[Cell]:
        """One cell: the experiment at the size that is asked for."""
        return [{key: value for key, value in self._size(request).items() if key != "networks"}]

    def n_trials(self, request: Request, cell: Cell) -> int:
        """As many as the size says, or fewer if fewer are asked for."""
        return request.at_most(self._size(request).get("networks", 1))

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """A row for each check."""
        return [
            {
                "quantity": check.words,
                "expected": list(check.ends),
                "source": check.source,
                "kind": check.kind,
                "ours": mean(ours),
                "standard_error": _standard_error(ours),
                "trials": len(ours),
                "agrees": check.agrees(ours),
            }
            for check in self.checks
            if (ours := [outcome["numbers"][check.key] for outcome in trials])
        ]

    def settings(self, request: Request) -> dict[str, Any]:
        """The size, and what was published."""
        size = {key: value for key, value in self._size(request).items() if key != "networks"}
        return {"size": size, "publication": self.source, "network": self.network, "not_verified": self.not_verified}

    def extra(self, outcomes: list[tuple[Cell, list[Outcome]]]) -> dict[str, Any]:
        """The series of the first network, or their means."""
        series = [outcome["series"] for outcome in outcomes[0][1]]
        return {"series": _averages(series) if self.averaged else series[0]}

    def verdict(self, result: Result) -> Verdict:
        """Whether all checks hold that count, against what, and what could not be verified."""
        told = [f"{row['quantity']}: {_number(row)}, expected {_expected(row)}" for row in result.rows()]
        counted = [row for row in result.rows() if row["kind"] != "prototype"]
        published = sum(row["kind"] == "published" for row in counted)
        against = (
            f"{published} compared with something that the authors published"
            if published
            else "none compared with a published number or law"
        )
        holds = f"{sum(row['agrees'] for row in counted)} of {len(counted)} consistency checks hold ({against})"
        if not counted:
            holds = "Compared with a prototype of ours only, which does not count"
        agrees = all(row["agrees"] for row in counted) if counted else None
        return Verdict(agrees, f"{holds}. {'; '.join(told)}. Not verified: {self.not_verified}")

    def csv_rows(self, result: Result) -> list[Row]:
        """A row for each check, with both ends of what is expected."""
        return [{**row, "expected": _expected(row)} for row in result.rows()]

    def tables(self, result: Result) -> list[Table]:
        """What was published or derived beside ours."""
        lines = [
            [row["quantity"], _expected(row), row["source"], KINDS[row["kind"]], _number(row), "yes" if row["agrees"] else "no"]
            for row in result.rows()
        ]
        return [Table(["quantity", "expected", "from", "which is", "ours", "agrees"], lines, self.source)]

    def figure(self, result: Result) -> Figure:
        """A panel beside the other, ours in colours and theory in grey."""
        lines = max(math.ceil(len(set(panel.series.values())) / _columns(panel)) for panel in self.panels)
        size = 4.6 * len(self.panels), 2.9 + 0.25 * lines
        figure, axes = plt.subplots(1, len(self.panels), figsize=size, squeeze=False)
        for panel, ax in zip(self.panels, axes[0], strict=True):
            _draw(panel, result.extra["series"], ax)
        return figure

    def _size(self, request: Request) -> dict[str, Any]:
        """The size that is asked for."""
        return {**self.size, **(self.quick if request.quick else {}), **(self.full if request.full else {})}


def _draw(panel: Panel, series: Mapping[str, Any], ax: Axes) -> None:
    """Draw the series of a panel; those of the same name in the same colour, with one line in the legend."""
    ours = list(dict.fromkeys(words for key, words in panel.series.items() if key not in panel.theory))
    theory = list(dict.fromkeys(words for key, words in panel.series.items() if key in panel.theory))
    told: set[str] = set()
    for key, words in panel.series.items():
        label = None if words in told else words
        told.add(words)
        color = plots.GREY if key in panel.theory else COLORS[ours.index(words) % len(COLORS)]
        style = DASHES[theory.index(words) % len(DASHES)] if key in panel.theory else "o" if panel.points else "-"
        ax.plot(series[key]["x"], series[key]["y"], style, color=color, label=label)
    if all(isinstance(x, int) for key in panel.series for x in series[key]["x"]):
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
    ax.set(xlabel=panel.x, ylabel=panel.y)
    ax.set_title(panel.title, loc="left")
    if "x" in panel.log:
        ax.set_xscale("log")
        ticks = series[next(iter(panel.series))]["x"]
        if len(ticks) < 9:
            ax.set_xticks(ticks, [f"{x:.0f}" if x >= 10 else f"{x:.2g}" for x in ticks])
            ax.minorticks_off()
    if "y" in panel.log:
        ax.set_yscale("log")
    if len(told) > 1:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=_columns(panel), frameon=False)


def _columns(panel: Panel) -> int:
    """Of the legend: long words stand below each other."""
    return 2 if max(len(words) for words in panel.series.values()) <= 24 else 1


def _averages(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The mean of each series over several networks, at the same points."""
    return {
        key: {"x": series["x"], "y": [mean(values) for values in zip(*(one[key]["y"] for one in outcomes), strict=True)]}
        for key, series in outcomes[0].items()
    }


def _standard_error(numbers: Sequence[float]) -> float:
    """Of the mean; 0 for a single number."""
    return stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0


def _number(row: Row) -> str:
    """Ours, with its standard error."""
    return f"{row['ours']:.3g}" + (f" +- {row['standard_error']:.2g}" if row["standard_error"] else "")


def _expected(row: Row) -> str:
    """What was expected."""
    low, high = row["expected"]
    if low == high:
        return f"{low:.3g}"
    return f"at most {high:.3g}" if low is None else f"{low:.3g} or more" if high is None else f"{low:.3g} to {high:.3g}"
