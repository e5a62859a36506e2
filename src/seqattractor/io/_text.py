"""Text files: text art, with a block of lines for each frame, and tables, with a row for each time step and a column per unit."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Options
from seqattractor.io._recording import Recording, check_room, collect_frames
from seqattractor.io._terms import Budget, TooLargeError, brief, remedy

OFF = " .·-_0"  # these characters are off in text art, all others on
TIME_NAMES = ("time", "t", "seconds", "time_s", "time (s)")
SPIKE_TIME_NAMES = (*TIME_NAMES, "times", "spike_time", "spike_times", "spike time", "timestamp")
UNIT_NAMES = ("id", *(word + end for word in ("unit", "neuron", "cell", "cluster") for end in ("", "s", "_id", " id")))
MAX_BYTES = 2**26
MAX_COLUMNS = 2**20


def read_text(path: Path, options: Options) -> Recording:
    """Read text art: a frame is a block of lines, blank lines separate the frames, and an empty row is written with dots."""
    blocks: list[list[str]] = []
    for block in _blocks(path):
        blocks.append([line.rstrip() for _, line in block])
        check_room(len(blocks), 0, path)
    if not blocks:
        raise ValueError(f"{path} is empty; text art has a block of lines for each frame, with blank lines between.")
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
    """Go through the frames of text art, each of shape (lines, width); one long line makes all frames wide."""
    budget = Budget()
    for block in blocks:
        budget.spend(path, width, len(block))
        frame = np.zeros((len(block), width), dtype=np.uint8)
        for row, line in zip(frame, block, strict=True):
            row[: len(line)] = [character not in OFF for character in line]
        yield frame


def read_table(path: Path, options: Options) -> Recording:
    """Read rows of numbers; blank lines separate sequences; there may be a first row of names and a column of times."""
    header, sequences = _numbers_as_names(*_numbers(path))
    rate = None
    if header is not None and (time := next((k for k, n in enumerate(header) if n.lower() in TIME_NAMES), None)) is not None:
        rate = _rate(sequences[0][:, time])
        sequences = [np.delete(s, time, axis=1) for s in sequences]
        header = header[:time] + header[time + 1 :]
    if sequences[0].shape[1] == 0:
        raise ValueError(f"{path} has a column of times, but no units.")
    if options.time_axis == 1:
        if len(sequences) > 1 or header is not None:
            raise ValueError(f"{path} has times along its columns, so it can hold neither names nor several sequences.")
        sequences = [sequences[0].T]
    names = [path.stem] if len(sequences) == 1 else [f"{path.stem}[{s}]" for s in range(len(sequences))]
    return Recording(sequences, "table", names, units=header, rate=rate)


def _blocks(path: Path) -> Iterator[Iterator[tuple[int, str]]]:
    """Read a text file that is not too large: blocks of lines with their numbers, which blank lines separate."""
    if path.stat().st_size > MAX_BYTES:
        raise TooLargeError(
            f"{path} has {path.stat().st_size / 1e6:.0f} MB, more than the {MAX_BYTES / 1e6:.0f} MB that are read as text."
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file (or not in UTF-8).") from None
    numbered = ((number, line.rstrip("\n")) for number, line in enumerate(io.StringIO(text), start=1))
    for blank, block in groupby(numbered, lambda line: not line[1].strip()):
        if not blank:
            yield block


def cells_in(path: Path) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """Go through the blocks of a table, and through the lines of each: number and cells; comments are left out."""
    for block in _blocks(path):
        yield ((number, _cells(line.strip(), number, path)) for number, line in block if not line.lstrip().startswith("#"))


def number_of(cell: str) -> float | None:
    """A cell as a number, or None."""
    try:
        return None if "_" in cell else float(cell)  # 1_0 is ten in Python only
    except ValueError:
        return None


def spike_columns(header: list[str]) -> tuple[int, int] | None:
    """Find the columns of spike times and units among two named columns; None if these are not their names.

    Examples
    --------
    >>> spike_columns(["unit", "time (s)"]), spike_columns(["time", "neuron_1"])
    ((1, 0), None)
    """
    names = [name.lower() for name in header]
    places = [[k for k, name in enumerate(names) if name in known] for known in (SPIKE_TIME_NAMES, UNIT_NAMES)]
    return (places[0][0], places[1][0]) if len(names) == 2 and all(len(found) == 1 for found in places) else None


def _cells(line: str, number: int, path: Path) -> list[str]:
    """Split a line at commas, semicolons or tabs, or else at blanks."""
    separator = next((character for character in ",;\t" if character in line), None)
    if line.count(separator or " ") >= MAX_COLUMNS:
        raise TooLargeError(f"line {number} of {path} has more than {MAX_COLUMNS} columns, more than a network can have units.")
    return [cell.strip().strip('"') for cell in line.split(separator)]


def _numbers(path: Path) -> tuple[list[str] | None, list[NDArray[Any]]]:
    """The names of the columns, if there are, and the blocks of rows."""
    header: list[str] | None = None
    sequences = []
    width = 0
    n_rows = 0
    for block in cells_in(path):
        values = array("d")  # eight bytes for each, not the thirty that a number in a list takes
        for number, cells in block:
            row = [number_of(cell) for cell in cells]
            if None in row and not width:
                if spike_columns(cells) is not None:
                    how = remedy("give the width of a time bin in seconds with {bin}", "bin them first")
                    raise ValueError(f"{path} looks like spike times (its columns are {' and '.join(cells)}); {how}.")
                header, width = cells, len(cells)
                continue
            if None in row:
                column = row.index(None)
                raise ValueError(
                    f"line {number} of {path} has {brief(cells[column])} in column {column + 1}, which is not a number."
                )
            width = width or len(row)
            if len(row) != width:
                raise ValueError(f"line {number} of {path} has {len(row)} values, but the lines before have {width}.")
            n_rows += 1
            check_room(n_rows, n_rows * width, path)
            values.extend(value for value in row if value is not None)
        if values:
            sequences.append(np.frombuffer(values, dtype=np.float64).reshape(-1, width))
    if not sequences:
        raise ValueError(f"{path} holds no rows of numbers.")
    return header, sequences


def _numbers_as_names(header: list[str] | None, sequences: list[NDArray[Any]]) -> tuple[list[str] | None, list[NDArray[Any]]]:
    """Take a first row of rising whole numbers above rows of 0/1 or +-1 as names: the MIDI numbers over a piano roll."""
    first, rest = sequences[0][0], [sequences[0][1:], *sequences[1:]]
    rising = len(first) > 2 and bool(np.all(np.diff(first) > 0)) and bool(np.all(first == np.floor(first)))
    values = np.concatenate(rest)
    if header is not None or not rising or not len(values) or not np.isin(values, (-1, 0, 1)).all():
        return header, sequences
    return [f"{value:.0f}" for value in first], [rows for rows in rest if len(rows)]


def _rate(times: NDArray[Any]) -> float | None:
    """Rows per second, from a column of times."""
    apart = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return 1.0 / apart if apart > 0 else None
