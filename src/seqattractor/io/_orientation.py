"""Which way round a table stands: a row for each time step, as we read it, or a row for each neuron and time in the columns."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import brief, remedy, terms

STEP_NAMES = ("frame", "frames", "bin", "bins", "step", "steps", "sample", "samples")
UNIT_NAMES = ("id", *(word + end for word in ("unit", "neuron", "cell", "cluster", "roi") for end in ("", "s", "_id", " id")))
_PER_SECOND = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6}
_TIME = re.compile(r"(times?|t|timestamps?|seconds|spike[_ ]?times?)(?:[ _]?[\[(]?(s|sec|seconds|ms|us)[\])]?)?")
_NAMED_UNIT = re.compile(r"(?:unit|neuron|cell|cluster|roi|n|u|c)[ _#-]*\d+")
_NAMED_TIME = re.compile(r"(?:t|time|bin|frame)[ _=#-]*\d+(?:\.\d+)?(?: ?m?s)?|\d+(?:\.\d+)? ?m?s")
_FAR_MORE = 4  # times as many columns as rows: time is longer than a population is large


@dataclass(frozen=True)
class Table:
    """A block of numbers with what stands beside it."""

    values: NDArray[Any]
    """Shape (rows, columns)."""
    columns: list[str] | None = None
    """What stands above the columns."""
    rows: list[str] | None = None
    """What stands before the rows, where that is not a number."""
    corner: str = ""
    """What stands above those, or above a first column that was taken off."""

    def turned(self) -> Table:
        """Give it with rows and columns exchanged."""
        return replace(self, values=self.values.T, columns=self.rows, rows=self.columns)


def seconds_of(name: str) -> float | None:
    """Tell how many seconds a column of this name counts by, or None if it is not a column of times.

    Examples
    --------
    >>> seconds_of("time (ms)"), seconds_of("spike_times"), seconds_of("left")
    (0.001, 1.0, None)
    """
    match = _TIME.fullmatch(name.strip().lower())
    return None if match is None else _PER_SECOND[match[2] or "s"]


def times_in(names: list[str] | None) -> NDArray[np.float64] | None:
    """Give the times that names of columns stand for, if they are numbers that rise in equal steps; else None.

    Examples
    --------
    >>> times_in(["0", "0.5", "1.0"]), times_in(["3", "1", "2"])
    (array([0. , 0.5, 1. ]), None)
    """
    try:
        values = np.array([float(name) for name in names or ()])
    except ValueError:
        return None
    apart = np.diff(values)
    return values if len(values) > 2 and apart.min() > 0 and np.ptp(apart) <= 0.01 * apart.max() else None


def is_turned(table: Table, path: Path, time_axis: int | None) -> bool:
    """Tell whether time runs along the columns: as the user says, or else as what stands beside the numbers says.

    Parameters
    ----------
    table : Table
    path : Path
        For sentences.
    time_axis : {0, 1} or None
        What the user says.

    Returns
    -------
    bool
        Where the table alone says so, with a warning that tells what was assumed.

    Raises
    ------
    ValueError
        If rows have names of which nothing says whether these are units or times.
    """
    if time_axis is not None:
        return time_axis == 1
    if seconds_of(table.corner) is not None or table.corner.lower() in STEP_NAMES:
        return False
    evidence = _evidence(table)
    if evidence is None:
        if table.rows is not None and not _are_times(table):
            asked = "and nothing says whether rows are units or time steps: give {time_axis} 1 for units, 0 for time steps"
            words = remedy(asked, "which is not read: take it away")
            raise ValueError(f"{path} has a name before each row, such as {brief(table.rows[0])}, {words}.")
        return False
    assume_turned(table.values.shape, evidence, path)
    return True


def assume_turned(shape: tuple[int, ...], evidence: str, path: Path) -> None:
    """Warn that rows are taken for units, and why; the lab, which offers no choice, refuses instead.

    Parameters
    ----------
    shape : (rows, columns)
    evidence : str
        Why, in words that follow "because".
    path : Path
    """
    if terms().caller == "lab":
        raise ValueError(
            f"{path} seems to hold a row for each unit, because {evidence}; turn it so that each row is a time step."
        )
    instead = remedy("{time_axis} 1 says so without this warning, {time_axis} 0 makes rows time steps", "")
    warnings.warn(
        f"{path} is read as {shape[0]} units (rows) x {shape[1]} time steps (columns), because {evidence}; {instead}.",
        stacklevel=2,
    )


def _evidence(table: Table) -> str | None:
    """Why rows should be units, in words; None where nothing says so."""
    rows, columns = table.rows, table.columns
    times = times_in(columns)
    fractions = times is not None and bool((times % 1).any())
    if rows is not None:
        if table.corner.lower() in UNIT_NAMES:
            return f"the first column is called {brief(table.corner)}"
        if all(_NAMED_UNIT.fullmatch(name.lower()) for name in rows):
            return f"the rows are called {brief(rows[0])} to {brief(rows[-1])}"
        if times is not None and not _are_times(table):
            return f"the rows have names and the columns times, {columns[0]} to {columns[-1]}" if columns else None
    elif fractions and columns:
        return f"the columns are headed by times, {columns[0]} to {columns[-1]}"
    if columns and len(columns) > 2 and all(_NAMED_TIME.fullmatch(name.lower()) for name in columns):
        return f"the columns are called {brief(columns[0])} to {brief(columns[-1])}"
    return None


def _are_times(table: Table) -> bool:
    """Whether the names before the rows are those of time steps, such as t1, or dates and times of day."""
    clock = re.compile(r"(?=.*\d)[\d\s:./T+-]+Z?|" + _NAMED_TIME.pattern, re.IGNORECASE)
    return table.rows is not None and all(clock.fullmatch(name) for name in table.rows)


def may_be_turned(rows: int, columns: int) -> bool:
    """Whether a table without names has so many more columns than rows that time might run along them."""
    return columns >= _FAR_MORE * rows
