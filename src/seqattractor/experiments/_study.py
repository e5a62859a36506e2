"""A study of sweeps, to look at: how far it is, and the success at each point."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from seqattractor._faces import Result
from seqattractor.experiments._grid import Grid
from seqattractor.experiments._store import Finished, Store
from seqattractor.experiments._table import Row, point_rows, varying


@dataclass(frozen=True, repr=False)
class Study(Result):
    """The trials of section 6.2 in a study file."""

    _drawn_by = "study_curves"
    path: str
    finished: list[Finished]
    """Trials that are over."""
    missing: int
    """How many trials of its grids are not there yet."""

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
        }

    def describe(self) -> str:
        """Say how far it is, what failed, and whether other code did some of it."""
        s = self.summary
        lines = [
            f"{self.path}: {s['trials']} trials over, {s['missing']} missing, {s['failed']} failed; {s['seconds']:.0f} s of work."
        ]
        lines += [f"failed: {error}" for error in s["errors"]]
        if other := s["by_other_code"]:
            lines.append(f"{other} of these trials were done by other code than this; `sweep export --timing` shows which.")
        return "\n".join(lines)

    def rows(self) -> list[Row]:
        """Give a row for each point: settings, trials, failures, and success with its 95 % interval."""
        return point_rows(self.finished)

    def varying(self) -> list[str]:
        """Give the names of the settings that differ between points."""
        return varying(self.rows())


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
        wanted = {trial.key for grid in store.grids() for trial in Grid.from_json(grid).all_trials()}
        finished = list(store.finished())
    return Study(str(path), finished, len(wanted - {each.trial.key for each in finished}))
