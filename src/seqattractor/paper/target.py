"""A target is a table or figure of the paper: cells of independent trials, a result, and its tables
and figures.

To add one, write a file with a subclass of `Target` and an instance of it, and give it a line in
`TARGETS`. Its trial is a function ``(settings, seed) -> outcome`` in the same file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqattractor._suggest import no_such
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.report.page import Animation, Table, Verdict
from seqattractor.zoo.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from seqattractor.study.capacity import Search

# Name: file and instance, in the order of the report, the paper's own first; a file is imported
# only when it is asked for.
TARGETS = {
    "fig1": "toy:FIGURE_1",
    "fig2": "theory:FIGURE_2",
    "fig3": "theory:FIGURE_3",
    "fig4": "toy:FIGURE_4",
    "fig5a": "retrieval:FIGURE_5A",
    "fig5b": "retrieval:FIGURE_5B",
    "fig6": "pictures:FIGURE_6",
    "fig7": "pictures:FIGURE_7",
    "fig8": "pictures:FIGURE_8",
    "table1": "retrieval:TABLE_1",
    "table2": "retrieval:TABLE_2",
    "ablation-gait": "pictures:ABLATION_GAIT",
    "ablation-digits": "pictures:ABLATION_DIGITS",
    "sparse-inputs": "retrieval:SPARSE_INPUTS",
    "sparse-targets": "retrieval:SPARSE_TARGETS",
    "theorems": "theory:THEOREMS",
    "pooled": "pooled:TARGET",
    "learned-targets": "learned_targets:TARGET",
    "capacity": "capacity:TARGET",
    "continual": "continual:TARGET",
    "biology": "biology:TARGET",
    "nights": "nights:TARGET",
    "sleep": "sleep:TARGET",
    "spikes": "spikes:TARGET",
    **{name: f"neighbours:{name}" for name in EXPERIMENTS},
}
NEIGHBOURS = tuple(EXPERIMENTS)
"""Systems of the paper's list and some others, each with an experiment of its own; "neighbours"
stands for all of them.
"""
PAST_THE_PAPER = (
    "pooled",
    "learned-targets",
    "capacity",
    "continual",
    "biology",
    "nights",
    "sleep",
    "spikes",
    *NEIGHBOURS,
)
"""These take long, so "all" leaves them out."""
QUICK_TRIALS = 5

Cell = dict[str, Any]
"""The settings of the trials of a cell, as plain JSON values: a part of the seed, and passed to
every trial.
"""

Outcome = dict[str, Any]  # the outcome of one trial, as plain JSON values
Row = dict[str, Any]  # one row of a result, as plain JSON values


@dataclass(frozen=True)
class Request:
    """The number of trials, the seed and the data of a reproduction."""

    trials: int = 100  # trials per cell; targets that need fewer networks take fewer
    seed: int = 0
    quick: bool = False  # few trials and coarse grids
    full: bool = False  # larger sizes of neighbours, nearer to the published ones
    gait_dir: Path | None = None  # a folder of OU-ISIR silhouettes; by default the drawn walker
    mnist_file: Path | None = None  # a file with Moving MNIST; by default scikit-learn's digits

    def at_most(self, trials: int) -> int:
        """Return the number of trials asked for, but no more than `trials`."""
        return min(self.trials, trials)


@dataclass(frozen=True)
class Result:
    """The result of a target: `data` goes to the JSON file as it is, the rest only into
    pictures.
    """

    data: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)

    def rows(self, **values: Any) -> list[Row]:
        """Return the rows that have these values."""
        return [
            row
            for row in self.data["rows"]
            if all(row[key] == value for key, value in values.items())
        ]


@dataclass(frozen=True, kw_only=True)
class Target(ABC):
    """One table or figure of the paper."""

    name: str  # as on the command line
    title: str
    about: str  # one or two sentences for the report: what is done here, and how
    trial: str  # the function that runs one trial, as "module:function" of `seqattractor.paper`
    experiment: str = ""  # targets of the same experiment share their trials; by default the name

    @property
    def trial_function(self) -> str:
        """The full name of the function that runs one trial."""
        return self.trial if "." in self.trial else f"seqattractor.paper.{self.trial}"

    @abstractmethod
    def cells(self, request: Request) -> list[Cell]:
        """Return the cells, in the order of the result."""

    def experiments(self, request: Request) -> list[str]:
        """Return the experiment of each cell."""
        return [self.experiment or self.name] * len(self.cells(request))

    def n_trials(self, request: Request, cell: Cell) -> int:
        """Return the number of trials of a cell."""
        return request.trials

    def searches(self, request: Request) -> list[Search]:
        """Return searches that decide by themselves which further cells there are: settings with a
        length "t", and how many trials.
        """
        return []

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Return the result of the outcomes of all cells."""
        rows = [row for cell, trials in outcomes for row in self.rows(cell, trials)]
        settings = {**self.settings(request), "seed": request.seed}
        return Result({"settings": settings, "rows": rows}, self.extra(outcomes))

    def settings(self, request: Request) -> dict[str, Any]:
        """Return the settings for the JSON file, beside the seed."""
        return {"trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Return the rows of one cell."""
        raise NotImplementedError

    def extra(self, outcomes: list[tuple[Cell, list[Outcome]]]) -> dict[str, Any]:
        """Return what only the pictures need."""
        return {}

    @abstractmethod
    def verdict(self, result: Result) -> Verdict:
        """Return whether the result agrees with the paper, and a description of it."""

    @abstractmethod
    def figure(self, result: Result) -> Figure:
        """Draw the result."""

    def csv_rows(self, result: Result) -> list[Row]:
        """Return the rows of the CSV file."""
        return result.rows()

    def tables(self, result: Result) -> list[Table]:
        """Return tables for the report."""
        return []

    def animations(self, result: Result) -> list[Animation]:
        """Return animations for the report."""
        return []


def get_target(name: str) -> Target:
    """Return the target of this name."""
    if name not in TARGETS:
        raise ValueError(no_such("target", name, TARGETS))
    file, _, instance = TARGETS[name].partition(":")
    module = import_module(f"seqattractor.paper.{file}")
    target: Target = module.neighbour(name) if name in EXPERIMENTS else getattr(module, instance)
    return target


def count_successes(trials: Sequence[Outcome]) -> Row:
    """Return the number of trials and successes with the 95 % Wilson interval, as a part of a
    row.
    """
    successes = sum(outcome["success"] for outcome in trials)
    return {
        "trials": len(trials),
        "successes": successes,
        "interval": list(wilson_interval(successes, len(trials))),
    }


def draw_successes(rows: Sequence[Row], x: str, *, ax: Axes, **line: Any) -> None:
    """Draw the successes of rows over their values of `x`, with intervals."""
    from seqattractor import plots

    plots.success_curve(
        *([row[key] for row in rows] for key in (x, "successes", "trials")), ax=ax, **line
    )


def flat_interval(row: Row) -> Row:
    """Return a row with both ends of its interval in columns of their own."""
    low, high = row.get("interval", (None, None))
    return {
        **{key: value for key, value in row.items() if key != "interval"},
        "low": low,
        "high": high,
    }
