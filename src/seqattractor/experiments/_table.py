"""A study as a table: one row for each trial or for each point, always in the same order."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from seqattractor._files import atomic_write
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.experiments._protocol import Point
from seqattractor.experiments._store import Finished
from seqattractor.experiments._trial import DEFAULTS, OUTCOME
from seqattractor.networks._registry import parameters_of

Row = dict[str, Any]
TIMING = ("seconds", "host", "version")


def settings_of(point: Point) -> Row:
    """Give all settings of a point, also those at their default; M is None for networks without hidden neurons to choose.

    Examples
    --------
    >>> from seqattractor.experiments._protocol import RETRIEVAL
    >>> settings_of(Point(RETRIEVAL, {"network": "lookup", "t": 10}, seed=0))["n"]
    100
    """
    settings = DEFAULTS | point.settings
    if "n_hidden" not in parameters_of(settings["network"]):
        settings["m"] = None
    return settings | {"seed": point.seed}


def trial_rows(finished: Iterable[Finished], *, timing: bool = False) -> list[Row]:
    """Give a row for each trial, all with the same keys, ordered by settings, seed and number of the trial.

    With `timing` also seconds, host and version of the code, which differ from run to run.
    """
    pairs = [(settings_of(each.trial.point), each) for each in finished]
    names = _setting_names(settings for settings, _ in pairs)
    rows = []
    for settings, each in pairs:
        row = {name: settings.get(name) for name in names} | {"trial": each.trial.number}
        row |= {name: (each.outcome or {}).get(name) for name in OUTCOME} | {"error": each.error}
        if timing:
            row |= {name: getattr(each, name) for name in TIMING}
        rows.append(row)
    return sorted(rows, key=lambda row: [_sort_key(row[name]) for name in (*names, "trial")])


def point_rows(finished: Iterable[Finished]) -> list[Row]:
    """Give a row for each point: how many trials are over, failed, succeeded, and a 95 % Wilson interval of success."""
    groups: dict[str, list[Finished]] = {}
    for each in finished:
        groups.setdefault(each.trial.point.key, []).append(each)
    settings = [settings_of(group[0].trial.point) for group in groups.values()]
    names = _setting_names(settings)
    rows = []
    for of_point, group in zip(settings, groups.values(), strict=True):
        outcomes = [each.outcome["success"] for each in group if each.outcome is not None]
        n, right = len(outcomes), sum(outcomes)
        low, high = wilson_interval(right, n) if n else (None, None)
        counts = {"trials": n, "failed": len(group) - n, "successes": right, "rate": right / n if n else None}
        rows.append({name: of_point.get(name) for name in names} | counts | {"low": low, "high": high})
    return sorted(rows, key=lambda row: [_sort_key(row[name]) for name in names])


def varying(rows: list[Row]) -> list[str]:
    """Give the names of the settings that differ between rows.

    Examples
    --------
    >>> varying([{"network": "lookup", "n": 10, "trial": 0}, {"network": "lookup", "n": 20, "trial": 1}])
    ['n']
    """
    measured = {*OUTCOME, *TIMING, "trial", "error", "trials", "failed", "successes", "rate", "low", "high"}
    names = [name for name in (rows[0] if rows else {}) if name not in measured]
    return [name for name in names if len({repr(row[name]) for row in rows}) > 1]


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


def _setting_names(settings: Iterable[Row]) -> list[str]:
    """The names of settings in the order of columns: those of trials, parameters of networks by the alphabet, the seed."""
    further = {name for row in settings for name in row} - {*DEFAULTS, "seed"}
    return [*DEFAULTS, *sorted(further), "seed"]


def _sort_key(value: Any) -> tuple[int, float, str]:
    """Nothing first, then numbers by size, then words."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, (bool, int, float)):
        return (1, float(value), "")
    return (2, 0.0, str(value))
