"""Studies on disk: a SQLite file with one row for each trial, committed as it finishes."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from seqattractor.experiments._grid import Grid, Point, Trial
from seqattractor.experiments._seeds import canonical

__all__ = ["Finished", "Store"]

_FORMAT = 1
_APPLICATION = 0x73657141  # "seqA", in the header of the file
_SCHEMA = """
CREATE TABLE IF NOT EXISTS grids (
    grid TEXT PRIMARY KEY,
    added TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE TABLE IF NOT EXISTS runs (
    run INTEGER PRIMARY KEY AUTOINCREMENT,
    started TEXT NOT NULL DEFAULT (datetime('now')),
    host TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS trials (
    point TEXT NOT NULL,
    trial INTEGER NOT NULL,
    settings TEXT NOT NULL,
    seed INTEGER NOT NULL,
    outcome TEXT,
    error TEXT,
    seconds REAL NOT NULL,
    host TEXT NOT NULL,
    version TEXT NOT NULL,
    finished TEXT NOT NULL DEFAULT (datetime('now')),
    PRIMARY KEY (point, trial),
    CHECK ((outcome IS NULL) != (error IS NULL))
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Finished:
    """A trial that is over: what it found, or the error that ended it."""

    trial: Trial
    outcome: dict[str, Any] | None
    error: str | None
    seconds: float
    host: str
    version: str


class Store:
    """A study file. Several processes may write to it at once; nothing is stored twice.

    Parameters
    ----------
    path : str or path
        Made if it does not exist, unless it is only read.
    readonly : bool
        Open an existing file to look at it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> trial = Trial(Point({"network": "lookup", "t": 10}, seed=0), 0)
    >>> with Store(path) as store:
    ...     store.add([Finished(trial, {"success": True}, None, 0.1, "here", "0")])
    ...     store.add([Finished(trial, {"success": True}, None, 0.1, "there", "0")])
    ...     [row.host for row in store.finished()]
    1
    0
    ['here']
    """

    def __init__(self, path: str | os.PathLike[str], *, readonly: bool = False) -> None:
        self.path = Path(path)
        if readonly and not self.path.exists():
            raise ValueError(f"there is no study {self.path}; `seqattractor sweep run` makes one.")
        with self._clear_errors("be opened" if readonly else "be opened for writing"):
            self._db = self._open_to_read() if readonly else self._open_to_write()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the last one to close it folds the log back into it."""
        self._db.close()

    def start_run(self, host: str) -> int:
        """Note that a sweep starts, and give it a number, from 0 on."""
        with self._clear_errors(), self._db:
            number = self._db.execute("INSERT INTO runs (host) VALUES (?)", (host,)).lastrowid
        return int(number or 1) - 1

    def add_grid(self, grid: Grid) -> None:
        """Note what is to be done, so that a sweep can go on without its grid file."""
        with self._clear_errors(), self._db:
            self._db.execute("INSERT OR IGNORE INTO grids (grid) VALUES (?)", (grid.as_json(),))

    def grids(self) -> list[Grid]:
        """The grids of this study, the oldest first."""
        with self._clear_errors("be read"):
            rows = self._db.execute("SELECT grid FROM grids ORDER BY added, grid").fetchall()
        tables = [json.loads(grid) for (grid,) in rows]
        return [Grid(t["settings"], trials=t["trials"], seed=t["seed"], only=t["only"]) for t in tables]

    def add(self, finished: Iterable[Finished]) -> int:
        """Commit trials that are over, for good; returns how many were not there yet."""
        rows = [
            (
                *f.trial.key,
                canonical(f.trial.point.settings),
                f.trial.point.seed,
                None if f.outcome is None else canonical(f.outcome),
                f.error,
                f.seconds,
                f.host,
                f.version,
            )
            for f in finished
        ]
        insert = (
            "INSERT OR IGNORE INTO trials (point, trial, settings, seed, outcome, error, seconds, host, version) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        with self._clear_errors(), self._db:
            return self._db.executemany(insert, rows).rowcount

    def has(self, trial: Trial) -> bool:
        """Tell whether a trial is over."""
        with self._clear_errors("be read"):
            found = self._db.execute("SELECT 1 FROM trials WHERE point = ? AND trial = ?", trial.key).fetchone()
        return found is not None

    def keys(self) -> set[tuple[str, int]]:
        """The keys of all trials that are over."""
        with self._clear_errors("be read"):
            return set(self._db.execute("SELECT point, trial FROM trials").fetchall())

    def finished(self) -> Iterator[Finished]:
        """All trials that are over, in no order that means anything."""
        columns = "settings, seed, trial, outcome, error, seconds, host, version"
        with self._clear_errors("be read"):
            rows = self._db.execute(f"SELECT {columns} FROM trials ORDER BY point, trial").fetchall()
        for settings, seed, number, outcome, error, *provenance in rows:
            trial = Trial(Point(json.loads(settings), seed), number)
            yield Finished(trial, None if outcome is None else json.loads(outcome), error, *provenance)

    def forget_failed(self) -> int:
        """Drop trials that ended with an error, so that they are done again; returns how many."""
        with self._clear_errors(), self._db:
            return self._db.execute("DELETE FROM trials WHERE error IS NOT NULL").rowcount

    # -- inside -------------------------------------------------------------------------------------------------

    def _open_to_write(self) -> sqlite3.Connection:
        """Open or make a study."""
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder; give the name of a study file, such as {self.path / 'study.db'}.")
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder {self.path.parent} does not exist; make it first.")
        # Another process may be writing, or making the very same file: wait for it.
        db = sqlite3.connect(self.path, timeout=60.0)
        try:
            _check_ours(db, self.path)
            _switch_to_wal(db)
            db.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing; a power cut at most the last trials
            with db:
                db.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {_APPLICATION}")
                db.execute(f"PRAGMA user_version = {_FORMAT}")
        except BaseException:
            db.close()
            raise
        return db

    def _open_to_read(self) -> sqlite3.Connection:
        """Open a study that is there; also from a folder in which SQLite may not make its side files."""
        place = self.path.resolve().as_uri()
        db = sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=60.0)
        try:
            _check_ours(db, self.path)
        except sqlite3.OperationalError:
            db.close()
            if self.path.with_name(self.path.name + "-wal").exists():
                raise
            db = sqlite3.connect(f"{place}?immutable=1", uri=True)
            _check_ours(db, self.path)
        return db

    @contextmanager
    def _clear_errors(self, what: str = "be written") -> Iterator[None]:
        """Say in one sentence what SQLite could not do."""
        try:
            yield
        except sqlite3.Error as error:
            raise OSError(
                f"the study {self.path} cannot {what} ({error}); every trial that was committed is kept. "
                "Look for a full disk, a read-only folder or a damaged file, then run the same command again."
            ) from error


def _switch_to_wal(db: sqlite3.Connection) -> None:
    """Write ahead to a log, so that readers and one writer do not wait for each other."""
    deadline = time.monotonic() + 60.0
    while True:  # two processes that open a new file at once: SQLite does not wait by itself here
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Refuse files that are no study, or one of a later version."""
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise ValueError(f"{path} is not a study of seqattractor (it is no SQLite file); choose another name.") from None
    if application != _APPLICATION and not (empty and application == 0):
        raise ValueError(f"{path} is a SQLite file, but not a study of seqattractor; choose another name.")
    if version > _FORMAT:
        raise ValueError(f"{path} was made by a later version of seqattractor (format {version}); update this one.")
