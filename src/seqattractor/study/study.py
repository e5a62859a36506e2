"""A study of sweeps, to look at: how far it is, its trials and the success at each point, always in the same order."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from seqattractor._checks import is_count
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes, on_grid, varying
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.networks.registry import REGISTRY, parameters_of
from seqattractor.study.contents import Contents, Tally, say_other_code
from seqattractor.study.grid import Grid
from seqattractor.study.protocol import RETRIEVAL, Point, Rounds, is_current
from seqattractor.study.settings import DEFAULTS, OUTCOME
from seqattractor.study.store import Finished, Store, say_damage
from seqattractor.study.table import Row

CHECKED_UP_TO = 20_000
"""Rows up to which a look at a study checks every one."""


def look_at(path: str | os.PathLike[str]) -> StudyCounts:
    """Look at a study: a small one is checked row by row and given as a `Study`, the rows of a larger one are only counted.

    Where counting stumbles over damage, the rows of a larger one are checked, too.
    """
    with Store(path, readonly=True) as store:
        try:
            if store.has_more_rows_than(CHECKED_UP_TO):
                return count_in(store)
        except (OSError, AttributeError, TypeError, ValueError):
            pass  # what stands there is none of ours: the reading below tells what is damaged
        return study_in(store)


def count_in(store: Store) -> StudyCounts:
    """Count the rows of a study, and say that they were not checked."""
    notes: list[str] = []
    trials = failed = by_other_code = 0
    seconds = 0.0
    errors: set[str] = set()
    with store.at_one_moment():
        contents = store.outline()
        wanted = wanted_by(contents, store.path, notes)
        missing = sum(wanted.values())
        for row in store.count_by_point(RETRIEVAL):
            asked, number, version, error = wanted.get(row["point"], 0), row["trials"], row["version"], row["error"]
            trials += number
            seconds += row["seconds"]
            by_other_code += 0 if is_current(version) else number
            all_asked = row["smallest"] >= 0 and row["largest"] < asked
            missing -= number if all_asked else store.count_below(asked, row["point"], version, error)
            if error is not None:
                failed += number
                errors.add(error)
    if not contents.whole:
        notes.append(say_damage(store.path, contents))
    notes.append(
        f"The {trials} rows of {store.path} were counted, not checked: damage does not show. `sweep status --verify` checks "
        "every row and shows the success at each point; run, export and plot always check."
    )
    return StudyCounts(
        path=str(store.path),
        trials=trials,
        missing=missing,
        failed=failed,
        errors=sorted(errors),
        by_other_code=by_other_code,
        seconds=seconds,
        damaged=contents.damaged,
        notes=notes,
    )


COUNTS = {
    "trials": "trials that are over and did not fail",
    "failed": "trials that failed",
    "successes": "trials that succeeded",
    "rate": "fraction of successes",
    "low": "lower end of the 95 % interval of the rate",
    "high": "upper end of the 95 % interval of the rate",
}
"""What a study says of each point beside its settings, in the order of columns, and in words."""


@dataclass(frozen=True, repr=False)
class StudyCounts(Result):
    """How far a study is: trials of section 6.2 that are over, failed or missing."""

    path: str
    trials: int
    """How many are over."""
    missing: int
    """How many trials of its grids are not there yet."""
    failed: int
    errors: list[str]
    """Those with which trials ended, each once."""
    by_other_code: int
    seconds: float
    damaged: list[str]
    """The names of rows that are damaged; they count as missing."""
    notes: list[str]
    """Sentences: what is damaged, and whether damage could go unseen."""

    @property
    def summary(self) -> dict[str, Any]:
        """How far it is, in plain values."""
        counts = {each.name: getattr(self, each.name) for each in fields(StudyCounts)}
        return {"study": counts.pop("path"), **counts}

    def describe(self) -> str:
        """Say how far it is, what failed, and whether other code did some of it."""
        counts = f"{self.trials} trials over, {self.missing} missing, {self.failed} failed; {self.seconds:.0f} s of work."
        return "\n".join([f"{self.path}: {counts}", *(f"failed: {error}" for error in self.errors), *self.caveats()])

    def caveats(self) -> list[str]:
        """Say in sentences why the rows may not be all there are, or not of one kind: damage, and trials that other code did."""
        other = self.by_other_code
        return self.notes + ([f"{say_other_code(other)} `sweep export --timing` shows which."] if other else [])


@dataclass(frozen=True, repr=False)
class Study(StudyCounts):
    """The trials of section 6.2 in a study file, all of them checked and none of them kept."""

    _drawn_by = "study_curves"
    points: list[Tally]
    """What is known of the trials of each point, ordered by settings and seed."""

    @property
    def finished(self) -> Iterator[Finished]:
        """The trials that are over, read from the file one by one as they are asked for."""
        with Store(self.path, readonly=True) as store:
            yield from store.finished()

    def rows(self) -> list[Row]:
        """Give a row for each point: settings, trials, failures, and success with its 95 % interval."""
        return [settings | _counts(tally) for tally, settings in _with_settings(self.points)]

    def varying(self) -> list[str]:
        """Give the names of the settings that differ between points."""
        rows = self.rows()
        return varying(rows, _settings_in(rows))

    def _named_axes(self) -> NamedAxes | None:
        """Along the settings that differ between points."""
        rows = self.rows()
        grid = on_grid(rows, _settings_in(rows), COUNTS) if rows else None
        return grid and replace(grid, attributes={"path": self.path, "missing_trials": self.missing})


def read_study(path: str | os.PathLike[str]) -> Study:
    """Look at a study of sweeps: every row is read and checked.

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
    """Look at an open study, as `read_study` does."""
    contents = store.contents()
    notes: list[str] = []
    wanted = wanted_by(contents, store.path, notes)
    over = {key: tally for key, tally in contents.points.items() if tally.protocol == RETRIEVAL.name}
    tallies = over.values()
    if not contents.whole:
        notes.append(f"{say_damage(store.path, contents)} `sweep run --resume` does again what is missing.")
    return Study(
        path=str(store.path),
        trials=sum(tally.trials for tally in tallies),
        missing=sum(number - (over[key].below(number) if key in over else 0) for key, number in wanted.items()),
        failed=sum(tally.failed for tally in tallies),
        errors=sorted({error for tally in tallies for error in tally.errors}),
        by_other_code=sum(tally.by_other_code for tally in tallies),
        seconds=sum(tally.seconds for tally in tallies),
        damaged=contents.damaged,
        notes=notes,
        points=[over[key] for key in _in_order(over)],
    )


def wanted_by(contents: Contents, path: Path, notes: list[str]) -> dict[str, int]:
    """How many trials of each point the grids of a study ask for; a grid that cannot be run adds a note."""
    wanted: list[tuple[Point, int]] = []
    for text, _ in contents.grids:
        try:
            grid = Grid.from_json(text)
            wanted += [(point, grid.trials) for point in grid.points()]
        except ValueError as error:
            notes.append(f"{path} has a grid that this version cannot run, so that its missing trials do not count: {error}")
    return {point.key: number for point, number in Rounds(wanted).points}


def settings_of(point: Point) -> Row:
    """Give all settings of a point, also those at their default; M is None for networks without hidden neurons to choose.

    Examples
    --------
    >>> from seqattractor.study.protocol import RETRIEVAL
    >>> settings_of(Point(RETRIEVAL, {"network": "lookup", "t": 10}, seed=0))["n"]
    100
    """
    settings = DEFAULTS | point.settings
    if isinstance(own := settings["network"], dict):  # the description of a network of the user's
        hidden = point.settings.get("m", own["parameters"].get("n_hidden"))
        settings |= {"network": own["class"].rpartition(".")[2].rpartition(":")[2], "m": hidden if is_count(hidden) else None}
    elif not _has_hidden(settings["network"]):
        settings["m"] = None
    return settings | {"seed": point.seed}


@cache
def _has_hidden(network: str) -> bool:
    """Whether a network has hidden neurons to choose; older files may name networks that have another name now."""
    return network not in REGISTRY or "n_hidden" in parameters_of(network)


class TrialRows(Iterable[Row]):
    """A row for each trial of an open study, all with the same keys, ordered by settings, seed and number of the trial.

    They are read as they are asked for, each time anew, and those that were damaged when they were counted are left out; hold
    `Store.at_one_moment` around counting and reading.

    Parameters
    ----------
    store : Store
    study : Study
        As `study_in` gives it.
    timing : bool
        Add seconds, host and version of the code, which differ from run to run.

    Examples
    --------
    >>> from seqattractor.study.executors import do_trial
    >>> with Store() as store:
    ...     _ = store.add([do_trial(trial) for trial in Grid({"network": "lookup", "n": 20, "t": [9, 5]}, trials=2).all_trials()])
    ...     [(row["t"], row["trial"], row["success"]) for row in TrialRows(store, study_in(store))]
    [(5, 0, True), (5, 1, True), (9, 0, True), (9, 1, True)]
    """

    def __init__(self, store: Store, study: Study, *, timing: bool = False) -> None:
        self._store, self._study, self._timing = store, study, timing

    def __iter__(self) -> Iterator[Row]:
        names = ("error", "seconds", "host", "version") if self._timing else ("error",)
        for tally, settings in _with_settings(self._study.points):
            found = 0
            for row in self._store.rows_of(tally):
                found += 1
                outcome = json.loads(row["outcome"] or "{}")
                measured = {name: outcome.get(name) for name in OUTCOME}
                yield settings | {"trial": row["trial"], **measured, **{name: row[name] for name in names}}
            if found != tally.trials:
                raise OSError(f"{self._study.path} was changed while it was read; run the same command again.")


def _with_settings(points: Sequence[Tally]) -> Iterator[tuple[Tally, Row]]:
    """Points with all their settings, which have the same names everywhere, parameters of networks alphabetically."""
    further = {name for tally in points for name in json.loads(tally.settings)} - {*DEFAULTS, "seed"}
    names = [*DEFAULTS, *sorted(further), "seed"]
    for tally in points:
        settings = settings_of(tally.point())
        yield tally, {name: settings.get(name) for name in names}


def _settings_in(rows: Sequence[Row]) -> list[str]:
    """The settings in rows of points."""
    return [name for name in (rows[0] if rows else {}) if name not in COUNTS]


def _counts(tally: Tally) -> Row:
    """How many trials of a point are over, failed, succeeded, and a 95 % Wilson interval of success."""
    n, right = tally.trials - tally.failed, tally.successes
    rate, low, high = (right / n, *wilson_interval(right, n)) if n else (None, None, None)
    return dict(zip(COUNTS, (n, tally.failed, right, rate, low, high), strict=True))


def _in_order(points: dict[str, Tally]) -> list[str]:
    """The keys of points, ordered by their settings."""
    rows = _with_settings(list(points.values()))
    places = {key: [_sort_key(value) for value in row.values()] for key, (_, row) in zip(points, rows, strict=True)}
    return sorted(points, key=lambda key: (places[key], key))


def _sort_key(value: Any) -> tuple[int, float, str]:
    """Nothing first, then numbers by size, then words."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, (bool, int, float)):
        return (1, float(value), "")
    return (2, 0.0, str(value))
