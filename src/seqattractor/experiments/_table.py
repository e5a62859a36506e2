"""Rows as files: CSV or Parquet, the same bytes for the same rows."""

from __future__ import annotations

import csv
import io
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from seqattractor._files import atomic_write

Row = dict[str, Any]


def export(rows: list[Row], path: str | os.PathLike[str]) -> None:
    """Write rows as CSV or Parquet, by the ending of the file; whole or not at all.

    Parameters
    ----------
    rows : list of dict
        All with the same keys.
    path : str or path
        Ending in .csv or .parquet.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "table.csv"
    >>> export([{"t": 10, "success": True}], path)
    >>> path.read_text().splitlines()
    ['t,success', '10,true']
    """
    kind = Path(path).suffix.lower()
    if kind == ".csv":
        content = as_csv(rows)
    elif kind == ".parquet":
        content = _as_parquet(rows)
    else:
        raise ValueError(f"a table is written as .csv or .parquet, but the file is to be named {Path(path).name}.")
    with atomic_write(path) as file:
        file.write(content)


def as_csv(rows: list[Row]) -> bytes:
    r"""Give rows as CSV with a heading; nothing for None, true and false for booleans.

    Examples
    --------
    >>> as_csv([{"a": None, "b": 0.5}])
    b'a,b\n,0.5\n'
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0] if rows else [])
    for row in rows:
        writer.writerow([str(value).lower() if isinstance(value, bool) else value for value in row.values()])
    return text.getvalue().encode()


def _as_parquet(rows: list[Row]) -> bytes:
    """Rows as Parquet; needs pyarrow."""
    try:
        pyarrow, parquet = (import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
    except ImportError:
        raise ValueError("Parquet needs pyarrow; install it with: pip install 'seqattractor[parquet]', or write .csv.") from None
    columns = {name: _one_type([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


def _one_type(values: list[Any]) -> list[Any]:
    """A column of values of one type: words where a parameter is a word at one point and a number at another."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or len(kinds) <= 1:
        return [float(value) if float in kinds and value is not None else value for value in values]
    return [None if value is None else str(value) for value in values]
