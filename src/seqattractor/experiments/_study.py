"""A study of sweeps, to look at: how far it is, its trials and the success at each point, always in the same order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from seqattractor._faces import Result
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.experiments._contents import FORMAT
from seqattractor.experiments._grid import Grid
from seqattractor.experiments._protocol import Point
from seqattractor.experiments._run import say_other_code
from seqattractor.experiments._store import Finished, Store, finished_in, say_damage, say_format
from seqattractor.experiments._table import Row
from seqattractor.experiments._trial import DEFAULTS, OUTCOME
from seqattractor.networks._registry import REGISTRY, parameters_of

COUNTS = ("trials", "failed", "successes", "rate", "low", "high")
"""What a study says of each point beside its settings, in the order of columns."""


@dataclass(frozen=True, repr=False)
class Study(Result):
    """The trials of section 6.2 in a study file."""

    _drawn_by = "study_curves"
    path: str
    finished: list[Finished]
    """Trials that are over."""
    missing: int
    """How many trials of its grids are not there yet."""
    damaged: list[str] = field(default_factory=list)
    """The names of rows that are damaged; they count as missing."""
    notes: list[str] = field(default_factory=list)
    """Sentences: what is damaged, and whether damage could go unseen."""

    @property
    def summary(self) -> dict[str, Any]:
        """How far it is, in plain values."""
        return {
            "study": self.path,
            "trials": len(self.finished),
            "missing": self.missing,
            "failed": sum(each.error is not None for each in self.finished),
            "errors": sorted({each.error for each in self.finished if each.error is not None}),
            "by_other_code": sum(not each.by_this_code for each in self.finished),
            "seconds": sum(each.seconds for each in self.finished),
            "damaged": self.damaged,
            "notes": self.notes,
        }

    def describe(self) -> str:
        """Say how far it is, what failed, and whether other code did some of it."""
        s = self.summary
        lines = [
            f"{self.path}: {s['trials']} trials over, {s['missing']} missing, {s['failed']} failed; {s['seconds']:.0f} s of work."
        ]
        return "\n".join([*lines, *(f"failed: {error}" for error in s["errors"]), *self.caveats()])

    def caveats(self) -> list[str]:
        """Say in sentences why the rows may not be all there are, or not of one kind: damage, and trials that other code did."""
        other = sum(not each.by_this_code for each in self.finished)
        return self.notes + ([f"{say_other_code(other)} `sweep export --timing` shows which."] if other else [])

    def rows(self) -> list[Row]:
        """Give a row for each point: settings, trials, failures, and success with its 95 % interval."""
        return point_rows(self.finished)

    def varying(self) -> list[str]:
        """Give the names of the settings that differ between points."""
        rows = self.rows()
        names = [name for name in (rows[0] if rows else {}) if name not in COUNTS]
        return [name for name in names if len({repr(row[name]) for row in rows}) > 1]


def read_study(path: str | os.PathLike[str]) -> Study:
    """Look at a study of sweeps.

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
    >>> from seqattractor.experiments import run_sweep
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> report = run_sweep(Grid({"network": "lookup", "n": 20, "t": [5, 10]}, trials=3), path)
    >>> [(row["t"], row["successes"]) for row in read_study(path).rows()]
    [(5, 3), (10, 3)]
    """
    with Store(path, readonly=True) as store:
        contents = store.contents()
    finished = list(finished_in(contents))
    wanted: set[tuple[str, int]] = set()
    notes = []
    for text, _ in contents.grids:
        try:
            wanted |= {trial.key for trial in Grid.from_json(text).all_trials()}
        except ValueError as error:
            notes.append(f"{path} has a grid that this version cannot run, so that its missing trials do not count: {error}")
    if not contents.whole:
        notes.append(f"{say_damage(path, contents)} `sweep run --resume` does again what is missing.")
    if contents.rows and contents.format < FORMAT:
        notes.append(say_format(path, contents))
    return Study(str(path), finished, len(wanted - {each.trial.key for each in finished}), contents.damaged, notes)


def settings_of(point: Point) -> Row:
    """Give all settings of a point, also those at their default; M is None for networks without hidden neurons to choose.

    Examples
    --------
    >>> from seqattractor.experiments._protocol import RETRIEVAL
    >>> settings_of(Point(RETRIEVAL, {"network": "lookup", "t": 10}, seed=0))["n"]
    100
    """
    settings = DEFAULTS | point.settings
    known = settings["network"] in REGISTRY  # older files may name networks that have another name now
    if known and "n_hidden" not in parameters_of(settings["network"]):
        settings["m"] = None
    return settings | {"seed": point.seed}


def trial_rows(finished: Iterable[Finished], *, timing: bool = False) -> list[Row]:
    """Give a row for each trial, all with the same keys, ordered by settings, seed and number of the trial.

    With `timing` also seconds, host and version of the code, which differ from run to run.
    """
    pairs = []
    for each in finished:
        outcome = {name: (each.outcome or {}).get(name) for name in OUTCOME}
        times = {name: getattr(each, name) for name in ("seconds", "host", "version")} if timing else {}
        pairs.append((each.trial.point, {"trial": each.trial.number, **outcome, "error": each.error, **times}))
    return _in_order(pairs)


def point_rows(finished: Iterable[Finished]) -> list[Row]:
    """Give a row for each point: how many trials are over, failed, succeeded, and a 95 % Wilson interval of success."""
    groups: dict[str, list[Finished]] = {}
    for each in finished:
        groups.setdefault(each.trial.point.key, []).append(each)
    pairs = []
    for group in groups.values():
        outcomes = [each.outcome["success"] for each in group if each.outcome is not None]
        n, right = len(outcomes), sum(outcomes)
        rate, low, high = (right / n, *wilson_interval(right, n)) if n else (None, None, None)
        counts = (n, len(group) - n, right, rate, low, high)
        pairs.append((group[0].trial.point, dict(zip(COUNTS, counts, strict=True))))
    return _in_order(pairs)


def _in_order(pairs: Sequence[tuple[Point, Row]]) -> list[Row]:
    """Rows of settings with what was measured, ordered by the settings, parameters of networks alphabetically, and the trial."""
    settings = [settings_of(point) for point, _ in pairs]
    further = {name for row in settings for name in row} - {*DEFAULTS, "seed"}
    names = [*DEFAULTS, *sorted(further), "seed"]
    rows = [{name: each.get(name) for name in names} | more for each, (_, more) in zip(settings, pairs, strict=True)]
    return sorted(rows, key=lambda row: [_sort_key(row.get(name)) for name in (*names, "trial")])


def _sort_key(value: Any) -> tuple[int, float, str]:
    """Nothing first, then numbers by size, then words."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, (bool, int, float)):
        return (1, float(value), "")
    return (2, 0.0, str(value))
