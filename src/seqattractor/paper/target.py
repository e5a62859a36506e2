"""What a table or figure of the paper is here: cells of independent trials, a result, a picture and a verdict.

To add one, write a file with a subclass of `Target` and an instance called ``TARGET``, and name the file in
`seqattractor.paper.registry`. Everything else (seeds, processes, resuming, progress, files, report) comes by itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.paper.settings import Request
from seqattractor.report.view import Animation, Table, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Animation", "Cell", "Outcome", "Result", "Table", "Target", "Verdict", "count_successes"]

Cell = dict[str, Any]
"""What all trials of a cell share, as plain JSON values: part of the seed, and passed to every trial."""

Outcome = dict[str, Any]
"""What one trial found, as plain JSON values."""


@dataclass(frozen=True)
class Result:
    """What a target found: `data` goes to the JSON file as it is, the rest only into pictures."""

    data: dict[str, Any]
    extra: dict[str, Any] = field(default_factory=dict)


class Target(ABC):
    """One table or figure of the paper."""

    name: ClassVar[str]
    """As on the command line."""
    title: ClassVar[str]
    about: ClassVar[str]
    """One or two sentences for the report: what is done here, and how."""
    experiment: ClassVar[str]
    """Whose trials these are. Targets of one experiment share trials (and must agree on cells and `trial`)."""

    @abstractmethod
    def cells(self, request: Request) -> list[Cell]:
        """The cells, in the order of the result."""

    def n_trials(self, request: Request, cell: Cell) -> int:
        """How many trials a cell has."""
        return request.trials

    @abstractmethod
    def trial(self, cell: Cell, rng: np.random.Generator, number: int) -> Outcome:
        """Run one trial. The outcome depends on nothing but the arguments."""

    @abstractmethod
    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        """Put the outcomes of all cells together; data holds "settings" and "rows"."""

    @abstractmethod
    def verdict(self, result: Result) -> Verdict:
        """Say in plain words whether this agrees with the paper."""

    @abstractmethod
    def figure(self, result: Result) -> Figure:
        """Draw it."""

    def csv_rows(self, result: Result) -> list[dict[str, Any]]:
        """The rows of the CSV file."""
        rows: list[dict[str, Any]] = result.data["rows"]
        return rows

    def tables(self, result: Result) -> list[Table]:
        """Tables for the report, beside the figure."""
        return []

    def animations(self, result: Result) -> list[Animation]:
        """Moving pictures for the report."""
        return []


def count_successes(trials: Sequence[Outcome]) -> dict[str, Any]:
    """Give the part of a row that says how many trials succeeded, with the 95 % Wilson interval.

    Examples
    --------
    >>> count_successes([{"success": True}, {"success": False}])["successes"]
    1
    """
    successes = sum(outcome["success"] for outcome in trials)
    return {"trials": len(trials), "successes": successes, "interval": list(wilson_interval(successes, len(trials)))}
