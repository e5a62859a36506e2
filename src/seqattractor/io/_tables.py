"""Tables: CSV or TSV with a row for each time step and a column for each unit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Options
from seqattractor.io._recording import Recording, check_room
from seqattractor.io._text import read_utf8

TIME_NAMES = ("time", "t", "seconds", "time_s", "time (s)")


def read_table(path: Path, options: Options) -> Recording:
    """Read rows of numbers; blank lines separate sequences; there may be a first row of names and a column of times."""
    header, blocks = _blocks(path)
    header, blocks = _numbers_as_names(header, blocks)
    sequences = [np.array(block) for block in blocks]
    check_room(sum(len(s) for s in sequences), sum(s.size for s in sequences), path)
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


def read_text_columns(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read two columns, spike times and units; units may be any words."""
    times: list[float] = []
    units: list[str] = []
    for number, line in enumerate(read_utf8(path).splitlines(), start=1):
        cells = _cells(line)
        if not cells or line.lstrip().startswith("#"):
            continue
        if len(cells) != 2:
            raise ValueError(f"line {number} of {path} has {len(cells)} columns; spikes have two, a time in seconds and a unit.")
        value = _number(cells[0])
        if value is None and times:
            raise ValueError(f"line {number} of {path} starts with {cells[0]!r}, which is not a time in seconds.")
        if value is not None:
            times.append(value)
            units.append(cells[1])
    return np.array(times), np.array(units)


def _blocks(path: Path) -> tuple[list[str] | None, list[list[list[float]]]]:
    """The names of the columns, if there are, and the blocks of rows."""
    header: list[str] | None = None
    blocks: list[list[list[float]]] = [[]]
    width = 0
    for number, line in enumerate(read_utf8(path).splitlines(), start=1):
        cells = _cells(line)
        if not cells:
            if blocks[-1]:
                blocks.append([])
            continue
        if line.lstrip().startswith("#"):
            continue
        row = [_number(cell) for cell in cells]
        if not width and None in row and header is None:
            header, width = cells, len(cells)
            continue
        if None in row:
            column = row.index(None)
            raise ValueError(f"line {number} of {path} has {cells[column]!r} in column {column + 1}, which is not a number.")
        width = width or len(row)
        if len(row) != width:
            raise ValueError(f"line {number} of {path} has {len(row)} values, but the lines before have {width}.")
        blocks[-1].append([value for value in row if value is not None])
    blocks = [block for block in blocks if block]
    if not blocks:
        raise ValueError(f"{path} holds no rows of numbers.")
    return header, blocks


def _numbers_as_names(
    header: list[str] | None, blocks: list[list[list[float]]]
) -> tuple[list[str] | None, list[list[list[float]]]]:
    """Take a first row of rising whole numbers above rows of 0/1 or +-1 as names: the MIDI numbers over a piano roll."""
    first, rest = np.array(blocks[0][0]), [row for block in blocks for row in block][1:]
    rising = len(first) > 2 and bool(np.all(np.diff(first) > 0)) and bool(np.all(first == np.floor(first)))
    if header is not None or not rising or not rest or not np.isin(np.array(rest), (-1, 0, 1)).all():
        return header, blocks
    blocks[0] = blocks[0][1:]
    return [f"{value:.0f}" for value in first], [block for block in blocks if block]


def _cells(line: str) -> list[str]:
    """Split a line at commas, semicolons or tabs, or else at blanks."""
    line = line.strip()
    if not line:
        return []
    for separator in (",", ";", "\t"):
        if separator in line:
            return [cell.strip().strip('"') for cell in line.split(separator)]
    return re.split(r"\s+", line)


def _number(cell: str) -> float | None:
    """A cell as a number, or None."""
    try:
        return float(cell)
    except ValueError:
        return None


def _rate(times: NDArray[Any]) -> float | None:
    """Rows per second, from a column of times."""
    apart = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return 1.0 / apart if apart > 0 else None
