"""Rows as files: CSV or Parquet, the same bytes for the same rows."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from seqattractor._files import atomic_write

Row = dict[str, Any]


def export(rows: Iterable[Row], path: str | os.PathLike[str]) -> int:
    """Write rows with the same keys as CSV or Parquet, by the ending of the file, whole or not at
    all; return their number.

    CSV is written row by row; for Parquet, where a column has one type, all values are in memory.
    """
    kind = Path(path).suffix.lower()
    if kind not in _WRITERS:
        raise ValueError(
            "a table is written as .csv or .parquet, but the file is to be named "
            f"{Path(path).name}."
        )
    with atomic_write(path) as file:
        return _WRITERS[kind](rows, file)


def as_csv(rows: Iterable[Row]) -> bytes:
    """Return rows as CSV with a heading; nothing for None, true and false for booleans."""
    file = io.BytesIO()
    _write_csv(rows, file)
    return file.getvalue()


def _write_csv(rows: Iterable[Row], file: IO[bytes]) -> int:
    """Write rows as CSV, one after the other; return their number."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    number = 0
    for number, row in enumerate(rows, 1):
        if number == 1:
            writer.writerow(row)
        writer.writerow(
            [str(value).lower() if isinstance(value, bool) else value for value in row.values()]
        )
    if not number:
        writer.writerow([])
    text.detach()  # which leaves the file open
    return number


def _write_parquet(rows: Iterable[Row], file: IO[bytes]) -> int:
    """Write rows as Parquet, which needs pyarrow; return their number."""
    try:
        pyarrow, parquet = (import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise ValueError(
            "Parquet needs pyarrow; install it with: pip install 'seqattractor[parquet]', or write "
            ".csv."
        ) from None
    columns: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            columns.setdefault(name, []).append(value)
    for name, values in columns.items():
        kinds = set(map(type, values)) - {type(None)}
        if len(kinds) > 1 and kinds != {
            int,
            float,
        }:  # a parameter is a word at one point and a number at another
            columns[name] = [None if value is None else str(value) for value in values]
    parquet.write_table(pyarrow.table(columns), file, row_group_size=10_000)
    return max(map(len, columns.values()), default=0)


_WRITERS: dict[str, Callable[[Iterable[Row], IO[bytes]], int]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
}
