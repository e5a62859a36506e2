"""Rows as files: CSV or Parquet, the same bytes for the same rows."""

from __future__ import annotations

import csv
import io
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from seqattractor._files import atomic_write

Row = dict[str, Any]


_GROUP = 10_000  # rows of a Parquet file whose values are in memory at once


def export(rows: Iterable[Row], path: str | os.PathLike[str]) -> int:
    """Write rows as CSV or Parquet, by the ending of the file; whole or not at all, and a few rows at a time.

    Parameters
    ----------
    rows : iterable of dict
        All with the same keys. They are gone through once. For Parquet, where a column has one type, their values wait in a
        temporary file until the types of all are known.
    path : str or path
        Ending in .csv or .parquet.

    Returns
    -------
    int
        How many rows there are.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> export([{"t": 10, "success": True}], path)
    1
    >>> path.read_text().splitlines()
    ['t,success', '10,true']
    """
    kind = Path(path).suffix.lower()
    if kind not in _WRITERS:
        raise ValueError(f"a table is written as .csv or .parquet, but the file is to be named {Path(path).name}.")
    with atomic_write(path) as file:
        return _WRITERS[kind](rows, file)


def as_csv(rows: Iterable[Row]) -> bytes:
    r"""Give rows as CSV with a heading; nothing for None, true and false for booleans.

    Examples
    --------
    >>> as_csv([{"a": None, "b": 0.5}])
    b'a,b\n,0.5\n'
    """
    file = io.BytesIO()
    _write_csv(rows, file)
    return file.getvalue()


def _write_csv(rows: Iterable[Row], file: IO[bytes]) -> int:
    """Write rows as CSV, one after the other; gives their number."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    number = 0
    for number, row in enumerate(rows, 1):
        if number == 1:
            writer.writerow(row)
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row.values()])
    if not number:
        writer.writerow([])
    text.detach()  # which leaves the file open
    return number


def _write_parquet(rows: Iterable[Row], file: IO[bytes]) -> int:
    """Write rows as Parquet, a group of them after the other; needs pyarrow. Gives their number."""
    try:
        pyarrow, parquet = (import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise ValueError("Parquet needs pyarrow; install it with: pip install 'seqattractor[parquet]', or write .csv.") from None
    types: dict[type | None, Any] = {
        bool: pyarrow.bool_(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        str: pyarrow.string(),
        None: pyarrow.null(),
    }
    number = 0
    found: dict[str, set[type]] = {}
    with TemporaryFile() as waiting:
        for columns in _in_columns(rows):
            number += len(next(iter(columns.values()), []))
            for name, values in columns.items():
                found.setdefault(name, set()).update(map(type, values))
            pickle.dump(columns, waiting)
        kinds = {name: _one_kind(kinds - {type(None)}) for name, kinds in found.items()}
        schema = pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()])
        waiting.seek(0)
        with parquet.ParquetWriter(file, schema) as writer:
            for _ in range(0, number, _GROUP):
                columns = pickle.load(waiting)
                alike = {name: [_as_kind(value, kinds[name]) for value in values] for name, values in columns.items()}
                writer.write_table(pyarrow.table(alike, schema))
    return number


def _in_columns(rows: Iterable[Row]) -> Iterator[dict[str, list[Any]]]:
    """The values of each column, of a group of rows after the other."""
    remaining = iter(rows)
    for first in remaining:
        columns = {name: [value] for name, value in first.items()}
        del first  # no row is kept
        for row in islice(remaining, _GROUP - 1):
            for name, values in columns.items():
                values.append(row[name])
        yield columns


_WRITERS: dict[str, Callable[[Iterable[Row], IO[bytes]], int]] = {".csv": _write_csv, ".parquet": _write_parquet}


def _one_kind(kinds: set[type]) -> type | None:
    """A type for values of these types: words where a parameter is a word at one point and a number at another; None if none."""
    if len(kinds) <= 1:
        return next(iter(kinds), None)
    return float if kinds == {int, float} else str


def _as_kind(value: Any, kind: type | None) -> Any:
    """A value in a column of one type."""
    return value if value is None or kind is None else kind(value)
