"""Text files: text art, with a block of lines for each frame, and tables, with a row for each time
step and a column per unit.
"""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Budget, Options, TooLargeError, bin_spikes_first, brief, remedy
from seqattractor.io._recording import Recording, check_room, collect_frames

OFF = " .·-_0"  # these characters are off in text art, all others on
MAX_BYTES = 2**26
MAX_COLUMNS = 2**20
STEP_NAMES = ("frame", "frames", "bin", "bins", "step", "steps", "sample", "samples")
UNIT_NAMES = (
    "id",
    *(
        word + end
        for word in ("unit", "neuron", "cell", "cluster", "roi")
        for end in ("", "s", "_id", " id")
    ),
)
_PER_SECOND = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6}
_TIME = re.compile(
    r"(times?|t|timestamps?|seconds|spike[_ ]?times?)(?:[ _]?[\[(]?(s|sec|seconds|ms|us)[\])]?)?"
)


def read_text(path: Path, options: Options) -> Recording:
    """Read text art: a frame is a block of lines, blank lines separate the frames, and an empty row
    is written with dots.
    """
    blocks: list[list[str]] = []
    for block in _blocks(path):
        blocks.append([line.rstrip() for _, line in block])
        check_room(len(blocks), 0, path)
    if not blocks:
        raise ValueError(
            f"{path} is empty; text art has a block of lines for each frame, with blank lines "
            "between."
        )
    height, width = len(blocks[0]), max(len(line) for block in blocks for line in block)
    for t, lines in enumerate(blocks):
        if len(lines) != height:
            raise ValueError(
                f"frame {t} of {path} has {len(lines)} lines, but frame 0 has {height}; "
                "all need the same number (write an empty row as dots)."
            )
    taken = collect_frames(_drawn(blocks, width, path), options, path)
    return Recording([taken], "text", [path.stem])


def _drawn(blocks: list[list[str]], width: int, path: Path) -> Iterator[NDArray[np.uint8]]:
    """Go through the frames of text art, each of shape (lines, width); one long line makes all
    frames wide.
    """
    budget = Budget()
    for block in blocks:
        budget.spend(path, width, len(block))
        frame = np.zeros((len(block), width), dtype=np.uint8)
        for row, line in zip(frame, block, strict=True):
            row[: len(line)] = [character not in OFF for character in line]
        yield frame


def read_table(path: Path, options: Options) -> Recording:
    """Read rows of numbers; blank lines separate sequences; names may stand above the columns and
    before the rows.
    """
    tables, rate = _without_times(_with_names(_numbers(path)))
    first = tables[0]
    if first.values.shape[1] == 0:
        raise ValueError(f"{path} has a column of times, but no units.")
    if rate is None and _is_turned(first, path, options.time_axis):
        if len(tables) > 1:
            raise ValueError(
                f"{path} has times along its columns, so it can hold only one sequence; write one "
                "file for each."
            )
        times = times_in(first.columns)
        seconds = times is not None and (times % 1).any()  # whole numbers count bins
        turned = Table(first.values.T, columns=first.rows, rows=first.columns)
        tables, rate = [turned], rate_of(times) if times is not None and seconds else None
    names = [path.stem] if len(tables) == 1 else [f"{path.stem}[{s}]" for s in range(len(tables))]
    return Recording(
        [table.values for table in tables], "table", names, units=tables[0].columns, rate=rate
    )


def _blocks(path: Path) -> Iterator[Iterator[tuple[int, str]]]:
    """Read a text file that is not too large: blocks of lines with their numbers, which blank lines
    separate.
    """
    if path.stat().st_size > MAX_BYTES:
        raise TooLargeError(
            f"{path} has {path.stat().st_size / 1e6:.0f} MB, more than the {MAX_BYTES / 1e6:.0f} "
            "MB that are read as text."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file (or not in UTF-8).") from None
    numbered = (
        (number, line.rstrip("\n")) for number, line in enumerate(io.StringIO(text), start=1)
    )
    for blank, block in groupby(numbered, lambda line: not line[1].strip()):
        if not blank:
            yield block


def cells_in(path: Path) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Go through the blocks of a table, and through the lines of each: number and cells; comments
    are left out.
    """
    for block in _blocks(path):
        yield (
            (number, _cells(line.strip(), number, path))
            for number, line in block
            if not line.lstrip().startswith("#")
        )


def number_of(cell: str) -> float | None:
    """Return a cell as a number, or None."""
    try:
        return None if "_" in cell else float(cell)  # 1_0 is ten in Python only
    except ValueError:
        return None


def spike_columns(header: list[str]) -> tuple[int, int, float] | None:
    """Find the columns of spike times and units among named columns, and how many seconds times
    count by; else None.
    """
    scales = [seconds_of(name) for name in header]
    times = [k for k, scale in enumerate(scales) if scale is not None]
    units = [k for k, name in enumerate(header) if name.lower() in UNIT_NAMES]
    scale = scales[times[0]] if len(times) == len(units) == 1 else None
    return None if scale is None else (times[0], units[0], scale)


def _cells(line: str, number: int, path: Path) -> list[str]:
    """Split a line at commas, semicolons or tabs, or else at blanks."""
    separator = next((character for character in ",;\t" if character in line), None)
    if line.count(separator or " ") >= MAX_COLUMNS:
        raise TooLargeError(
            f"line {number} of {path} has more than {MAX_COLUMNS} columns, more than a network can "
            "have units."
        )
    return [cell.strip().strip('"') for cell in line.split(separator)]


def _numbers(path: Path) -> list[Table]:
    """Return the blocks of rows; the first one has the names of the columns."""
    header: list[str] | None = None
    tables: list[Table] = []
    named: bool | None = None  # whether a name stands before each row
    width = n_rows = 0
    for block in cells_in(path):
        values, names = (
            array("d"),
            list[str](),
        )  # eight bytes for each, not the thirty that a number in a list takes
        for number, cells in block:
            row = [number_of(cell) for cell in cells]
            if header is None and named is None and _is_header(cells, row, path):
                header = cells
                continue
            named = row[0] is None and len(row) > 1 if named is None else named
            if named and row[0] is not None:
                raise ValueError(
                    f"line {number} of {path} begins with the number {brief(cells[0])}, but the "
                    "lines before with a name."
                )
            if named:
                names.append(cells[0])
                row, cells = row[1:], cells[1:]
            if None in row:
                column = row.index(None)
                raise ValueError(
                    f"line {number} of {path} has {brief(cells[column])} in column "
                    f"{column + 1 + named}, which is not a number."
                )
            width = width or (
                len(row)
                if header is None
                else len(header) - (named and len(header) == len(row) + 1)
            )
            if len(row) != width:
                raise ValueError(
                    f"line {number} of {path} has {len(row)} values, but the lines before have "
                    f"{width}."
                )
            n_rows += 1
            check_room(n_rows, n_rows * width, path)
            values.extend(value for value in row if value is not None)
        if values:
            tables.append(
                Table(
                    np.frombuffer(values, dtype=np.float64).reshape(-1, width),
                    rows=names if named else None,
                )
            )
    if not tables:
        raise ValueError(f"{path} holds no rows of numbers.")
    if header is not None:
        corner, columns = (header[0], header[1:]) if len(header) > width else ("", header)
        tables[0] = replace(tables[0], columns=columns, corner=corner)
    return tables


def _is_header(cells: list[str], row: list[float | None], path: Path) -> bool:
    """Whether the first line names the columns; one that begins with a name may also be numbers
    with a name before them.
    """
    if None not in row:
        return False
    if (columns := spike_columns(cells)) is not None:
        more = "" if len(cells) == 2 else ", and keep no other columns"
        names = " and ".join(cells[k] for k in sorted(columns[:2]))
        raise ValueError(
            f"{path} looks like spike times (its columns are {names}); {bin_spikes_first()}{more}."
        )
    if row[0] is not None or None in row[1:] or len(row) == 1:
        return True
    corner = cells[0].lower()
    known = not corner or corner in (*UNIT_NAMES, *STEP_NAMES) or seconds_of(corner) is not None
    return known or times_in(cells[1:]) is not None


def _with_names(tables: list[Table]) -> list[Table]:
    """Take numbers for names where they are names: above columns, the numbers of units before rows,
    and a count of rows.
    """
    first = tables[0]
    values, columns = first.values, first.columns
    if columns is None:
        below = [values[1:], *(table.values for table in tables[1:])]
        if (above := _numbers_above(values[0], np.concatenate(below))) is not None:
            rows = None if first.rows is None else first.rows[1:]
            tables = [replace(first, values=values[1:], columns=above, rows=rows), *tables[1:]]
        return [table for table in tables if len(table.values)]
    if first.rows is None and len(columns) > 1:
        corner, before = columns[0], np.concatenate([table.values[:, 0] for table in tables])
        is_count = corner == "" and bool((np.diff(before) == 1).all()) and before[0] in (0, 1)
        are_units = corner.lower() in UNIT_NAMES and len(np.unique(before)) == len(before)
        if is_count or are_units:
            rows = [f"{number:g}" for number in values[:, 0]] if are_units else None
            tables = [replace(table, values=table.values[:, 1:]) for table in tables]
            tables[0] = replace(tables[0], columns=columns[1:], rows=rows, corner=corner)
    return tables


def _numbers_above(first: NDArray[Any], below: NDArray[Any]) -> list[str] | None:
    """Return a first row of rising numbers as names of columns if only 0/1 or +-1 stand below: MIDI
    numbers or times.
    """
    above = len(below) > 0 and len(first) > 2 and bool(np.all(np.diff(first) > 0))
    return (
        [f"{value:.12g}" for value in first] if above and np.isin(below, (-1, 0, 1)).all() else None
    )


def _without_times(tables: list[Table]) -> tuple[list[Table], float | None]:
    """Take a column of times off, and return the rows per second, or None where there is no such
    column.
    """
    first = tables[0]
    scales = [seconds_of(name) for name in first.columns or ()]
    time = next((k for k, scale in enumerate(scales) if scale is not None), None)
    if time is None or first.columns is None or first.rows is not None:
        return tables, None
    rate = rate_of(first.values[:, time] * (scales[time] or 1.0))
    corner, columns = first.columns[time], first.columns[:time] + first.columns[time + 1 :]
    tables = [replace(table, values=np.delete(table.values, time, axis=1)) for table in tables]
    return [replace(tables[0], columns=columns, corner=corner), *tables[1:]], rate


def rate_of(times: NDArray[Any]) -> float | None:
    """Return rows per second, from a column of times."""
    apart = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    rate = (
        float(f"{1.0 / apart:.9g}") if apart > 0 else 0.0
    )  # 0.05 s are 20 rows, not 19.999999999999982
    return rate if 0 < rate < np.inf else None


@dataclass(frozen=True)
class Table:
    """A block of numbers with what stands beside it."""

    values: NDArray[Any]  # shape (rows, columns)
    columns: list[str] | None = None  # what stands above the columns
    rows: list[str] | None = None  # what stands before the rows, where that is not a number
    corner: str = ""  # what stands above those, or above a first column that was taken off


def seconds_of(name: str) -> float | None:
    """Return how many seconds a column of this name counts by, or None if it is not a column of
    times.
    """
    match = _TIME.fullmatch(name.strip().lower())
    return None if match is None else _PER_SECOND[match[2] or "s"]


def times_in(names: list[str] | None) -> NDArray[np.float64] | None:
    """Return the times that names of columns stand for, if they are numbers that rise in equal
    steps; else None.
    """
    try:
        values = np.array([float(name) for name in names or ()])
    except ValueError:
        return None
    apart = np.diff(values)
    return (
        values
        if len(values) > 2 and apart.min() > 0 and np.ptp(apart) <= 0.01 * apart.max()
        else None
    )


def _is_turned(table: Table, path: Path, time_axis: int | None) -> bool:
    """Return whether time runs along the columns, about which names before rows and times above
    columns raise a question.
    """
    if time_axis is not None:
        return time_axis == 1
    if seconds_of(table.corner) is not None or table.corner.lower() in STEP_NAMES:
        return False
    times = times_in(table.columns)
    if table.rows is not None:
        beside = f"a name before each row, such as {brief(table.rows[0])}"
    elif times is not None and table.columns and (times % 1).any():
        beside = f"times above its columns, {table.columns[0]} to {table.columns[-1]}"
    else:
        return False
    raise ValueError(f"{path} has {beside}; {choose_time_axis()}.")


def choose_time_axis() -> str:
    """Return advice for numbers that may stand either way round."""
    return remedy(
        "give {time_axis} 1 if each column is a time step, 0 if each row is",
        "turn it so that each row is a time step",
    )
