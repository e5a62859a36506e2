"""A study of sweeps as a result: how complete it is, its trials and the success at each point,
always in the same order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from seqattractor._checks import is_count
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes, on_grid, varying
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.networks.registry import REGISTRY, takes_hidden
from seqattractor.study.grid import Grid
from seqattractor.study.protocol import RETRIEVAL, Point, Rounds, is_current
from seqattractor.study.settings import DEFAULTS, OUTCOME
from seqattractor.study.store import Finished, Store, describe_damage, describe_other_code
from seqattractor.study.table import Row

COUNTS = {
    "trials": "trials that are over and did not fail",
    "failed": "trials that failed",
    "successes": "trials that succeeded",
    "rate": "fraction of successes",
    "low": "lower end of the 95 % interval of the rate",
    "high": "upper end of the 95 % interval of the rate",
}
"""The columns of a study's table of points beside their settings, and what they mean."""


@dataclass
class PointCounts:
    """How many trials of one point are over."""

    point: Point
    trials: int = 0
    failed: int = 0
    successes: int = 0


@dataclass(frozen=True, repr=False)
class Study(Result):
    """The trials of section 6.2 in a study file, counted; damaged rows count as missing."""

    _drawn_by = "study_curves"
    path: str
    trials: int
    """How many are over."""
    missing: int
    """How many trials of its grids are not there yet."""
    failed: int
    errors: list[str]
    """The errors with which trials ended, each once."""
    by_other_code: int
    seconds: float
    damaged: list[str]
    """The names of damaged rows."""
    notes: list[str]
    """Sentences: what is damaged."""
    points: list[PointCounts]
    """The counts of each point, ordered by settings and seed."""

    @property
    def summary(self) -> dict[str, Any]:
        """The counts of the whole study, as plain values."""
        counts = {
            each.name: getattr(self, each.name) for each in fields(self) if each.name != "points"
        }
        return {"study": counts.pop("path"), **counts}

    @property
    def finished(self) -> Iterator[Finished]:
        """The finished trials, read from the file one by one."""
        with Store(self.path, readonly=True) as store:
            yield from store.finished()

    def describe(self) -> str:
        """Describe how complete it is, what failed, and whether other code did some of it."""
        counts = (
            f"{self.trials} trials over, {self.missing} missing, {self.failed} failed; "
            f"{self.seconds:.0f} s of work."
        )
        return "\n".join(
            [
                f"{self.path}: {counts}",
                *(f"failed: {error}" for error in self.errors),
                *self.caveats(),
            ]
        )

    def caveats(self) -> list[str]:
        """Return sentences on damage and on trials that other code did."""
        other = self.by_other_code
        return self.notes + (
            [f"{describe_other_code(other)} `sweep export --timing` shows which."] if other else []
        )

    def rows(self) -> list[Row]:
        """Return a row for each point: settings, trials, failures, and success with its 95 %
        interval.
        """
        return [settings | _counts(counts) for counts, settings in _with_settings(self.points)]

    def varying(self) -> list[str]:
        """Return the names of the settings that differ between points."""
        rows = self.rows()
        return varying(rows, _settings_in(rows))

    def _named_axes(self) -> NamedAxes | None:
        """Along the settings that differ between points."""
        rows = self.rows()
        grid = on_grid(rows, _settings_in(rows), COUNTS) if rows else None
        return grid and replace(
            grid, attributes={"path": self.path, "missing_trials": self.missing}
        )


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study of sweeps and check every row.

    Parameters
    ----------
    path : str or path
        A file that `run_sweep` made.

    Returns
    -------
    Study

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from seqattractor.study import run_sweep
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> report = run_sweep(Grid({"network": "lookup", "n": 20, "t": [5, 10]}, trials=3), path)
    >>> [(row["t"], row["successes"]) for row in read_study(path).rows()]
    [(5, 3), (10, 3)]
    >>> sum(trial.outcome["success"] for trial in read_study(path).finished)
    6
    """
    with Store(path, readonly=True) as store:
        return study_in(store)


def study_in(store: Store) -> Study:
    """Read an open study, as `read_study` does."""
    points: dict[str, PointCounts] = {}
    errors: set[str] = set()
    damaged: list[str] = []
    by_other_code, seconds = 0, 0.0
    with store.at_one_moment():
        wanted, notes = _wanted_by(store.grids(damaged=damaged), store.path)
        missing = sum(wanted.values())
        for row in store.rows(damaged=damaged):
            if row["protocol"] != RETRIEVAL.name:
                continue
            key = row["point"]
            if key not in points:
                points[key] = PointCounts(
                    Point(RETRIEVAL, json.loads(row["settings"]), row["seed"])
                )
            counts = points[key]
            counts.trials += 1
            if row["error"] is None:
                counts.successes += json.loads(row["outcome"]).get("success") is True
            else:
                counts.failed += 1
                errors.add(row["error"])
            by_other_code += not is_current(row["version"])
            seconds += row["seconds"]
            missing -= 0 <= row["trial"] < wanted.get(key, 0)
    if damage := describe_damage(store.path, store.problem, damaged):
        notes.append(
            f"{damage} `sweep export -o rest.db` makes a study of the rest, which `sweep run "
            "--resume` completes."
        )
    return Study(
        path=str(store.path),
        trials=sum(each.trials for each in points.values()),
        missing=missing,
        failed=sum(each.failed for each in points.values()),
        errors=sorted(errors),
        by_other_code=by_other_code,
        seconds=seconds,
        damaged=damaged,
        notes=notes,
        points=_in_order(list(points.values())),
    )


def trial_rows(store: Store, study: Study, *, timing: bool = False) -> Iterator[Row]:
    """Yield a row for each trial of an open study, all with the same keys, ordered by settings,
    seed and number of the trial.

    Hold `Store.at_one_moment` around `study_in` and this, if others may write to it. `timing` adds
    seconds, host and version of the code, which differ from run to run.
    """
    names = ("error", "seconds", "host", "version") if timing else ("error",)
    for counts, settings in _with_settings(study.points):
        for row in store.rows(counts.point.key):
            outcome = json.loads(row["outcome"] or "{}")
            measured = {name: outcome.get(name) for name in OUTCOME}
            yield settings | {
                "trial": row["trial"],
                **measured,
                **{name: row[name] for name in names},
            }


def settings_of(point: Point) -> Row:
    """Return all settings of a point, with defaults; M is None for networks without hidden neurons
    to choose.
    """
    settings = DEFAULTS | point.settings
    own = getattr(settings["network"], "description", settings["network"])
    if isinstance(own, dict):  # a network of the user's
        hidden = point.settings.get("m", own["parameters"].get("n_hidden"))
        settings |= {
            "network": own["class"].rpartition(".")[2].rpartition(":")[2],
            "m": hidden if is_count(hidden) else None,
        }
    elif not _has_hidden(settings["network"]):
        settings["m"] = None
    return settings | {"seed": point.seed}


@cache
def _has_hidden(network: str) -> bool:
    """Whether a network has hidden neurons to choose, or is not known."""
    return network not in REGISTRY or takes_hidden(network)


def _wanted_by(grids: list[str], path: Path) -> tuple[dict[str, int], list[str]]:
    """How many trials of each point grids ask for, and a note on each grid that cannot be run."""
    wanted: list[tuple[Point, int]] = []
    notes = []
    for text in grids:
        try:
            grid = Grid.from_json(text)
            wanted += [(point, grid.trials) for point in grid.points()]
        except ValueError as error:
            notes.append(
                f"{path} has a grid that this version cannot run, so that its missing trials do "
                f"not count: {error}"
            )
    return {point.key: number for point, number in Rounds(wanted).points}, notes


def _with_settings(points: Sequence[PointCounts]) -> Iterator[tuple[PointCounts, Row]]:
    """Points with all their settings, which have the same names everywhere, parameters of networks
    alphabetically.
    """
    further = {name for counts in points for name in counts.point.settings} - {*DEFAULTS, "seed"}
    names = [*DEFAULTS, *sorted(further), "seed"]
    for counts in points:
        settings = settings_of(counts.point)
        yield counts, {name: settings.get(name) for name in names}


def _settings_in(rows: Sequence[Row]) -> list[str]:
    """The settings in rows of points."""
    return [name for name in (rows[0] if rows else {}) if name not in COUNTS]


def _counts(counts: PointCounts) -> Row:
    """The columns `COUNTS` of a point, with a 95 % Wilson interval of success."""
    n, right = counts.trials - counts.failed, counts.successes
    rate, low, high = (right / n, *wilson_interval(right, n)) if n else (None, None, None)
    return dict(zip(COUNTS, (n, counts.failed, right, rate, low, high), strict=True))


def _in_order(points: list[PointCounts]) -> list[PointCounts]:
    """Points ordered by their settings."""
    places = {
        counts.point.key: list(map(_sort_key, settings.values()))
        for counts, settings in _with_settings(points)
    }
    return sorted(points, key=lambda counts: (places[counts.point.key], counts.point.key))


def _sort_key(value: Any) -> tuple[int, float, str]:
    """Nothing first, then numbers by size, then words."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, (bool, int, float)):
        return (1, float(value), "")
    return (2, 0.0, str(value))
