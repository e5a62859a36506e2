"""Neighbours: experiments of `seqattractor.zoo.experiments` as targets, with a table of checks and
a figure of panels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from seqattractor import plots
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.report.page import Table, Verdict
from seqattractor.zoo.experiments import get_experiment
from seqattractor.zoo.experiments.experiment import Experiment, Panel, standard_error

COLORS = (plots.BLUE, plots.ORANGE, plots.GREEN, plots.RED)
DASHES = ("--", ":", "-.")
KINDS = {
    "published": "published",
    "expected": "claimed or derived",
    "prototype": "ours; does not count",
}


@dataclass(frozen=True, kw_only=True)
class _Neighbour(Target):
    """The target of an experiment with another system."""

    system: Experiment

    def cells(self, request: Request) -> list[Cell]:
        return [{key: value for key, value in self._size(request).items() if key != "networks"}]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return request.at_most(self._size(request).get("networks", 1))

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        return [
            {
                "quantity": check.words,
                "expected": list(check.ends),
                "source": check.source,
                "kind": check.kind,
                "ours": mean(ours),
                "standard_error": standard_error(ours),
                "trials": len(ours),
                "agrees": check.agrees(ours),
            }
            for check in self.system.checks
            if (ours := [outcome["numbers"][check.key] for outcome in trials])
        ]

    def settings(self, request: Request) -> dict[str, Any]:
        system, [size] = self.system, self.cells(request)
        described = {
            "publication": system.source,
            "network": system.network,
            "not_verified": system.not_verified,
        }
        return {"size": size, **described}

    def extra(self, outcomes: list[tuple[Cell, list[Outcome]]]) -> dict[str, Any]:
        series = [outcome["series"] for outcome in outcomes[0][1]]
        return {"series": _averages(series) if self.system.averaged else series[0]}

    def verdict(self, result: Result) -> Verdict:
        results = [
            f"{row['quantity']}: {_number(row)}, expected {_expected(row)}" for row in result.rows()
        ]
        counted = [row for row in result.rows() if row["kind"] != "prototype"]
        published = sum(row["kind"] == "published" for row in counted)
        against = (
            f"{published} compared with something that the authors published"
            if published
            else "none compared with a published number or law"
        )
        holds = (
            f"{sum(row['agrees'] for row in counted)} of {len(counted)} consistency checks hold "
            f"({against})"
        )
        if not counted:
            holds = "Compared with a prototype of ours only, which does not count"
        agrees = all(row["agrees"] for row in counted) if counted else None
        return Verdict(
            agrees, f"{holds}. {'; '.join(results)}. Not verified: {self.system.not_verified}"
        )

    def csv_rows(self, result: Result) -> list[Row]:
        return [{**row, "expected": _expected(row)} for row in result.rows()]

    def tables(self, result: Result) -> list[Table]:
        lines = [
            [
                row["quantity"],
                _expected(row),
                row["source"],
                KINDS[row["kind"]],
                _number(row),
                "yes" if row["agrees"] else "no",
            ]
            for row in result.rows()
        ]
        return [
            Table(
                ["quantity", "expected", "from", "which is", "ours", "agrees"],
                lines,
                self.system.source,
            )
        ]

    def figure(self, result: Result) -> Figure:
        lines = max(
            math.ceil(len(set(panel.series.values())) / _columns(panel))
            for panel in self.system.panels
        )
        size = 4.6 * len(self.system.panels), 2.9 + 0.25 * lines
        figure, axes = plt.subplots(1, len(self.system.panels), figsize=size, squeeze=False)
        for panel, ax in zip(self.system.panels, axes[0], strict=True):
            _draw(panel, result.extra["series"], ax)
        return figure

    def _size(self, request: Request) -> dict[str, Any]:
        """Return the settings of the size that is asked for."""
        system = self.system
        return {
            **system.size,
            **(system.quick if request.quick else {}),
            **(system.full if request.full else {}),
        }


def neighbour(name: str) -> Target:
    """Return the target of an experiment."""
    system = get_experiment(name)
    trial = f"{system.trial.__module__}:{system.trial.__name__}"
    return _Neighbour(
        name=system.name, title=system.title, about=system.about, trial=trial, system=system
    )


def _draw(panel: Panel, series: Mapping[str, Any], ax: Axes) -> None:
    """Draw the series of a panel; those of the same name in the same colour, with one line in the
    legend.
    """
    ours = list(
        dict.fromkeys(words for key, words in panel.series.items() if key not in panel.theory)
    )
    theory = list(
        dict.fromkeys(words for key, words in panel.series.items() if key in panel.theory)
    )
    labelled: set[str] = set()
    for key, words in panel.series.items():
        label = None if words in labelled else words
        labelled.add(words)
        color = plots.GREY if key in panel.theory else COLORS[ours.index(words) % len(COLORS)]
        style = (
            DASHES[theory.index(words) % len(DASHES)]
            if key in panel.theory
            else "o"
            if panel.points
            else "-"
        )
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
    if len(labelled) > 1:
        ax.legend(
            loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=_columns(panel), frameon=False
        )


def _columns(panel: Panel) -> int:
    """Return the columns of the legend: long words stand below each other."""
    return 2 if max(len(words) for words in panel.series.values()) <= 24 else 1


def _averages(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of each series over several networks, at the same points."""
    return {
        key: {
            "x": series["x"],
            "y": [
                mean(values) for values in zip(*(one[key]["y"] for one in outcomes), strict=True)
            ],
        }
        for key, series in outcomes[0].items()
    }


def _number(row: Row) -> str:
    """Return our number with its standard error."""
    return f"{row['ours']:.3g}" + (
        f" +- {row['standard_error']:.2g}" if row["standard_error"] else ""
    )


def _expected(row: Row) -> str:
    """Return the expected value or range in words."""
    low, high = row["expected"]
    if low == high:
        return f"{low:.3g}"
    return (
        f"at most {high:.3g}"
        if low is None
        else f"{low:.3g} or more"
        if high is None
        else f"{low:.3g} to {high:.3g}"
    )
