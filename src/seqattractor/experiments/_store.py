"""Studies on disk: a SQLite file with one row for each trial, committed as it finishes."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from seqattractor.experiments._protocol import RETRIEVAL, Outcome, Point, Protocol, Trial
from seqattractor.experiments._seeds import canonical

_FORMAT = 2  # 1 had trials of section 6.2 only, and no times beside the seconds of a whole trial
_APPLICATION = 0x73657141  # "seqA", in the header of the file
_SCHEMA = """
CREATE TABLE IF NOT EXISTS grids (grid TEXT PRIMARY KEY, added TEXT NOT NULL DEFAULT (datetime('now')));
CREATE TABLE IF NOT EXISTS runs (
    run INTEGER PRIMARY KEY AUTOINCREMENT, started TEXT NOT NULL DEFAULT (datetime('now')), host TEXT NOT NULL
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
    protocol TEXT NOT NULL DEFAULT 'retrieval',
    times TEXT,
    finished TEXT NOT NULL DEFAULT (datetime('now')),
    PRIMARY KEY (point, trial),
    CHECK ((outcome IS NULL) != (error IS NULL))
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Finished:
    """A trial that is over: its outcome, or the error that ended it."""

    trial: Trial
    outcome: Outcome | None
    error: str | None
    seconds: float
    host: str
    version: str
    """Of the package, and the fingerprint of the code that did it."""
    times: dict[str, Any] | None = None
    """Seconds of its parts, if the protocol measures some."""

    @property
    def by_this_code(self) -> bool:
        """Whether the code that did it is the code that would do it now."""
        return self.version.rpartition("+")[2] == self.trial.point.fingerprint()


class Store:
    """A study file. Several processes may write to it at once; nothing is stored twice.

    Parameters
    ----------
    path : str or path, optional
        Made if it does not exist, unless it is only read; without one everything is in memory and goes with the store.
    readonly : bool
        Open an existing file to look at it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> trial = Trial(Point(RETRIEVAL, {"network": "lookup", "t": 10}, seed=0), 0)
    >>> with Store(path) as store:
    ...     store.add([Finished(trial, {"success": True}, None, 0.1, "here", "0")])
    ...     store.add([Finished(trial, {"success": True}, None, 0.1, "there", "0")])
    ...     [row.host for row in store.finished()]
    1
    0
    ['here']
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, readonly: bool = False) -> None:
        self.path = Path(":memory:" if path is None else path)
        if readonly and not self.path.exists():
            raise ValueError(f"there is no study {self.path}; `seqattractor sweep run` makes one.")
        with self._clear_errors("be opened" if readonly else "be opened for writing"):
            self._db = self._open_to_read() if readonly else self._open_to_write()
        self._db.row_factory = sqlite3.Row

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the last one to close it folds the log back into it."""
        self._db.close()

    def start_run(self, host: str) -> int:
        """Note that a sweep starts, and give it a number, from 0 on."""
        return int(self._write("INSERT INTO runs (host) VALUES (?)", host).lastrowid or 1) - 1

    def add_grid(self, grid: str) -> None:
        """Note what is to be done, as `Grid.as_json` writes it, so that a sweep can go on without its grid file."""
        self._write("INSERT OR IGNORE INTO grids (grid) VALUES (?)", grid)

    def grids(self) -> list[str]:
        """The grids of this study, the oldest first."""
        return [grid for (grid,) in self._read("SELECT grid FROM grids ORDER BY added, grid")]

    def add(self, finished: Iterable[Finished], *, replace: bool = False) -> int:
        """Commit trials that are over, for good.

        Parameters
        ----------
        finished : iterable of Finished
        replace : bool
            Let them replace those that other code did, or that failed.

        Returns
        -------
        int
            How many were not there yet.
        """
        rows = []
        for f in finished:
            point = f.trial.point
            outcome, times = (None if plain is None else canonical(plain) for plain in (f.outcome, f.times))
            identity = (*f.trial.key, point.protocol.name, canonical(point.settings), point.seed)
            rows.append((*identity, outcome, f.error, f.seconds, f.host, f.version, times))
        columns = "point, trial, protocol, settings, seed, outcome, error, seconds, host, version, times"
        insert = f"INSERT INTO trials ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO "
        if replace:
            changed = ", ".join(f"{name} = excluded.{name}" for name in columns.split(", ")[5:])
            insert += f"UPDATE SET {changed} WHERE version != excluded.version OR error IS NOT NULL"
        else:
            insert += "NOTHING"
        with self._clear_errors(), self._db:
            return self._db.executemany(insert, rows).rowcount

    def get(self, trial: Trial) -> Finished | None:
        """Give a trial, if it is over."""
        rows = self._read(f"{self._select} WHERE point = ? AND trial = ?", *trial.key)
        return _finished(trial, rows[0]) if rows else None

    def keys(self) -> dict[tuple[str, int], str | None]:
        """The keys of all trials that are over, with the version of the code that did each; None if it failed."""
        rows = self._read("SELECT point, trial, iif(error IS NULL, version, NULL) FROM trials")
        return {(point, number): version for point, number, version in rows}

    def finished(self, protocol: Protocol = RETRIEVAL) -> Iterator[Finished]:
        """All trials of a protocol that are over, in no order that means anything."""
        for row in self._read(f"SELECT * FROM ({self._select}) WHERE protocol = ? ORDER BY point, trial", protocol.name):
            yield _finished(Trial(Point(protocol, json.loads(row["settings"]), row["seed"]), row["trial"]), row)

    def forget_failed(self) -> int:
        """Drop trials that ended with an error, so that they are done again; returns how many."""
        return self._write("DELETE FROM trials WHERE error IS NOT NULL").rowcount

    # -- inside -------------------------------------------------------------------------------------------------

    def _read(self, statement: str, *values: Any) -> list[sqlite3.Row]:
        """All rows that a statement gives."""
        with self._clear_errors("be read"):
            return self._db.execute(statement, values).fetchall()

    def _write(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement and commit it."""
        with self._clear_errors(), self._db:
            return self._db.execute(statement, values)

    @cached_property
    def _select(self) -> str:
        """The statement that reads trials, also of files of the first format."""
        known = [row["name"] for row in self._read("PRAGMA table_info(trials)")]
        return "SELECT *" + ("" if "times" in known else f", '{RETRIEVAL.name}' AS protocol, NULL AS times") + " FROM trials"

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
                if db.execute("PRAGMA user_version").fetchone()[0] == 1:
                    db.execute("ALTER TABLE trials ADD COLUMN protocol TEXT NOT NULL DEFAULT 'retrieval'")
                    db.execute("ALTER TABLE trials ADD COLUMN times TEXT")
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


def _finished(trial: Trial, row: sqlite3.Row) -> Finished:
    """A row of the table as an object."""
    outcome, times = (None if row[name] is None else json.loads(row[name]) for name in ("outcome", "times"))
    return Finished(trial, outcome, row["error"], row["seconds"], row["host"], row["version"], times)


def _switch_to_wal(db: sqlite3.Connection) -> None:
    """Write ahead to a log, so that readers and one writer do not wait for each other."""
    deadline = time.monotonic() + 60.0
    while True:  # two processes that open a new file at once: SQLite does not wait here on its own
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _check_ours(db: sqlite3.Connection, path: Path) -> None:
    """Refuse files that are not a study, or one of a later version."""
    try:
        application = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
        empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise ValueError(f"{path} is not a study of seqattractor (it is not a SQLite file); choose another name.") from None
    if application != _APPLICATION and not (empty and application == 0):
        raise ValueError(f"{path} is a SQLite file, but not a study of seqattractor; choose another name.")
    if version > _FORMAT:
        raise ValueError(f"{path} was made by a later version of seqattractor (format {version}); update this one.")
