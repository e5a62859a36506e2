"""Studies on disk: a SQLite file with one row for each trial, committed as it finishes."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any, Self

from seqattractor._files import named_path
from seqattractor.study.contents import (
    APPLICATION,
    COLUMNS,
    FORMAT,
    SELECT,
    Contents,
    Source,
    at_one_moment,
    create_tables,
    find_rows,
    holds_anything,
    is_whole,
    note_grids,
    placed,
    read_contents,
    read_outline,
    rows_in,
    with_checksum,
)
from seqattractor.study.protocol import RETRIEVAL, Outcome, Point, Protocol, Trial, is_current
from seqattractor.study.seeds import canonical
from seqattractor.study.tally import Over, Tally

_NAMED = 5  # damaged rows that a sentence names


@dataclass(frozen=True)
class Finished:
    """A trial that is over: its outcome, or the error that ended it."""

    trial: Trial
    outcome: Outcome | None
    error: str | None
    seconds: float
    host: str
    version: str
    """Of the package, and the digest of the code that did it."""
    times: dict[str, Any] | None = None
    """Seconds of its parts, if the protocol measures some."""

    @property
    def by_this_code(self) -> bool:
        """Whether the code that did it is the code that would do it now."""
        return is_current(self.version)


class Store:
    """A study file. Several processes may write to it at once; nothing is stored twice.

    Rows that are damaged are never given: each is checked as it is read, and none is kept, so that a store needs memory for its
    points, not for its trials. A file that is opened for writing is mended first: damaged rows are set aside, with a warning that
    names them, so that their trials count as missing and are done again.

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
        self.path = Path(":memory:") if path is None else named_path(path)
        self._readonly = readonly
        self._source: Source | None = None
        if readonly and not self.path.exists():
            raise ValueError(f"there is no study {self.path}; `seqattractor sweep run` makes one.")
        with self._clear_errors("be opened" if readonly else "be opened for writing"):
            self._db = self._open_to_read() if readonly else self._open_to_write()
        self._real = os.path.realpath(self.path)  # SQLite puts its log beside what a link leads to
        self._places = {} if readonly or path is None else self._where()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        try:
            if kind is None:
                self._check_in_place()
        finally:
            self.close()

    def close(self) -> None:
        """Close the file; the last one to close it folds the log back into it."""
        if self._source is not None:
            self._source.close_copy(self._db)
        if self._where(self._places).items() <= self._places.items():
            self._db.close()
        else:  # SQLite would fold our log into, or delete that of, a file that is not ours: this connection is never closed
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._db))

    def start_run(self, host: str) -> int:
        """Note that a sweep starts, and give it a number, from 0 on."""
        with self._writing():
            run = int(self._db.execute("INSERT INTO runs (host) VALUES (?)", (host,)).lastrowid or 1) - 1
        with self._clear_errors():  # so that also a copy that is made without the log knows its grids, and what it lacks
            self._db.execute("PRAGMA wal_checkpoint")
        return run

    def add_grid(self, grid: str) -> None:
        """Note what is to be done, as `Grid.as_json` writes it, so that a sweep can go on without its grid file."""
        with self._writing():
            self._db.execute(f"INSERT OR IGNORE INTO grids {placed(('grid', 'added'))}", with_checksum((grid, _now())))
            note_grids(self._db)

    def grids(self) -> list[str]:
        """The grids of this study, the oldest first."""
        return [grid for grid, _ in self.outline().grids]

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
        insert = f"INSERT INTO trials {placed(COLUMNS)} ON CONFLICT DO "
        if replace:
            changed = ", ".join(f"{name} = excluded.{name}" for name in (*COLUMNS[5:], "checksum"))
            insert += f"UPDATE SET {changed} WHERE version != excluded.version OR error IS NOT NULL"
        else:
            insert += "NOTHING"
        rows = [with_checksum(_values(each)) for each in finished]
        with self._writing():
            return self._db.executemany(insert, rows).rowcount

    def get(self, trial: Trial) -> Finished | None:
        """Give a trial, if it is over."""
        with self._clear_errors("be read"):
            row = self._db.execute(f"{SELECT} WHERE point = ? AND trial = ?", trial.key).fetchone()
        return _finished(trial, row) if row is not None and is_whole(row) else None

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Read the file as it is now, whatever other processes write to it meanwhile."""
        with self._clear_errors("be read"), at_one_moment(self._db):
            yield

    def outline(self) -> Contents:
        """All that the file holds but its trials, none of which is read."""
        with self.at_one_moment():
            return read_outline(self._db, Source(self._db)) if holds_anything(self._db) else Contents(empty=True)

    def contents(self) -> Contents:
        """All that the file holds now, with its trials counted by point, and what of it is damaged."""
        with self.at_one_moment():
            return read_contents(self._db, self._rows())

    def keys(self) -> Mapping[tuple[str, int], str | None]:
        """The keys of all trials that are over, with the version of the code that did each; None if it failed."""
        return Over(self.contents().points)

    def finished(self, protocol: Protocol = RETRIEVAL) -> Iterator[Finished]:
        """All trials of a protocol that are over, each read when it is asked for, in no order that means anything."""
        with self._clear_errors("be read"):
            source = self._rows()
            for row in source.rows() if source is not None else ():
                if row["protocol"] == protocol.name:
                    yield _finished(Trial(Point(protocol, json.loads(row["settings"]), row["seed"]), row["trial"]), row)

    def rows_of(self, tally: Tally) -> Iterator[sqlite3.Row]:
        """The rows of a point that `contents` has counted, each read when it is asked for, in the order of their numbers."""
        with self._clear_errors("be read"):
            source = self._rows()
            yield from source.counted_rows(tally.point().key, tally) if source is not None else ()

    def has_more_rows_than(self, number: int) -> bool:
        """Whether there are more trials than so many, damaged or not."""
        with self._clear_errors("be read"):
            found = holds_anything(self._db) and self._db.execute(f"{SELECT} LIMIT 1 OFFSET ?", (number,)).fetchone()
            return bool(found)

    def count_by_point(self, protocol: Protocol) -> Iterator[sqlite3.Row]:
        """Let SQLite count the trials of each point by version and error, unchecked, with their smallest and largest numbers."""
        counts = "count(*) AS trials, sum(seconds) AS seconds, min(trial) AS smallest, max(trial) AS largest"
        groups = f"SELECT point, version, error, {counts} FROM ({SELECT}) WHERE protocol = ? GROUP BY point, version, error"
        settings = "(SELECT settings FROM trials WHERE trials.point = groups.point LIMIT 1) AS settings"
        with self._clear_errors("be read"):
            yield from self._db.execute(f"SELECT *, {settings} FROM ({groups}) AS groups", (protocol.name,))

    def count_below(self, number: int, point: str, version: str, error: str | None) -> int:
        """Let SQLite count those trials of one point, version and error whose numbers are 0, 1, ..., number - 1, unchecked."""
        which = "point = ? AND version = ? AND error IS ? AND trial BETWEEN 0 AND ? - 1"
        with self._clear_errors("be read"):
            return int(
                self._db.execute(f"SELECT count(*) FROM trials WHERE {which}", (point, version, error, number)).fetchone()[0]
            )

    def forget_failed(self) -> int:
        """Drop trials that ended with an error, so that they are done again; returns how many."""
        with self._writing():
            return self._db.execute("DELETE FROM trials WHERE error IS NOT NULL").rowcount

    def kept_on_disk(self) -> Mapping[tuple[str, int], str | None]:
        """What `keys` gives to someone who opens the file anew: what this process wrote may not be there any more."""
        if not self._places:
            return self.keys()
        self._check_in_place()
        with Store(self.path, readonly=True) as again:
            return again.keys()

    # -- inside -------------------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Commit what is done inside, and see that all files are still there: SQLite goes on writing to deleted ones."""
        self._check_in_place()
        try:
            with self._clear_errors(), self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield
        finally:
            self._check_in_place()

    def _where(self, ends: Iterable[str] = ("", "-wal", "-shm")) -> dict[str, tuple[int, int]]:
        """What tells the file, its log and the index of the log from others of the same names, as far as they are there."""
        found = {}
        for end in ends:
            with suppress(OSError):
                status = os.stat(f"{self._real}{end}")
                found[end] = status.st_dev, status.st_ino
        return found

    def _check_in_place(self) -> None:
        """Stop if the file, its log or the index of the log was deleted or replaced; what is committed is saved beside it."""
        places = self._where(self._places)
        if places == self._places:
            return
        lost = next(f"{self._real}{end}" for end in self._places if places.get(end) != self._places[end])
        saved = _free_name(self.path, "saved")
        try:
            with closing(sqlite3.connect(saved)) as copy:
                self._db.backup(copy)
                trials = copy.execute("SELECT count(*) FROM trials").fetchone()[0]
            kept = f"every committed trial ({trials}) is in {saved}: give it that name again and run the same command."
        except sqlite3.Error as error:
            saved.unlink(missing_ok=True)
            kept = f"its trials could not be saved ({error}); run the same command again: it does what is missing."
        if places.get("") != self._places[""]:
            for end in ("-wal", "-shm"):  # SQLite would take them for the log of the file that has this name now
                if end in places and places[end] == self._places[end]:
                    with suppress(OSError):
                        os.unlink(f"{self._real}{end}")
        raise OSError(f"{lost} was deleted or replaced while the study was being written; {kept}")

    def _rows(self) -> Source | None:
        """Where rows are read; the pages of a file that is only read are checked before the first, others when it is opened."""
        if self._source is None:
            self._source = find_rows(self._db) if self._readonly else Source(self._db)
        return self._source

    def _open_to_write(self) -> sqlite3.Connection:
        """Open or make a study, and mend it if it needs it."""
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder; give the name of a study file, such as {self.path / 'study.db'}.")
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder {self.path.parent} does not exist; make it first.")
        db = self._connect_to_write()
        try:
            db.execute("BEGIN")  # others may write while a study is read that turns out to be whole
            with rows_in(db) as source:
                mended = read_contents(db, source).mended
            if not mended:
                db.rollback()
                db.execute("BEGIN IMMEDIATE")
                db = self._mend(db)
            db.commit()
        except BaseException:
            db.close()
            raise
        return db

    def _connect_to_write(self) -> sqlite3.Connection:
        """Connect to a study that may not be there yet; waits for other processes that write, or make the very same file."""
        db = _connect(str(self.path))
        try:
            _check_ours(db, self.path)
            _switch_to_wal(db)
            db.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing; a power cut at most the last trials
        except BaseException:
            db.close()
            raise
        return db

    def _mend(self, db: sqlite3.Connection) -> sqlite3.Connection:
        """Make tables of what is whole: in the same file, or, where its pages are damaged, in a new one of the same name."""
        kept = None
        with rows_in(db, copy=True) as source:
            contents = read_contents(db, source)
            if contents.mended:  # by another process
                return db
            try:
                create_tables(db, source, contents.grids)
                db.executemany("INSERT INTO set_aside (damaged) VALUES (?)", ((row,) for row in contents.aside))
                sound = db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
            except sqlite3.DatabaseError as error:
                if contents.whole or _cannot_write(error):
                    raise
                sound = False
            if not sound:
                db.rollback()
                db.close()
                kept = self._start_anew(source, contents)
                db = self._connect_to_write()
        if not contents.whole:
            where = "in its table set_aside" if kept is None else f"in {kept}"
            warnings.warn(f"{say_damage(self.path, contents)} What was damaged is kept {where}.", stacklevel=4)
        return db

    def _start_anew(self, source: Source | None, contents: Contents) -> Path:
        """Put a new file of what is whole in the place of one whose pages are damaged; gives the name that that has now."""
        target = self.path.resolve()  # a link still leads to the study afterwards
        kept, part = _free_name(target, "damaged"), _free_name(target, "part")
        try:
            with closing(_connect(str(part))) as db, db:
                db.execute("BEGIN IMMEDIATE")
                create_tables(db, source, contents.grids)
            shutil.copymode(target, part)
            for end in ("-wal", "-shm", ""):  # of another process that has it open, which then sees that it was replaced
                beside = target.with_name(target.name + end)
                if beside.exists():
                    os.replace(beside, kept.with_name(kept.name + end))
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return kept

    def _open_to_read(self) -> sqlite3.Connection:
        """Open a study that is there; also from a folder in which SQLite may not make its side files."""
        place = self.path.resolve().as_uri()
        db = _connect(f"{place}?mode=ro", uri=True)
        try:
            _check_ours(db, self.path)
        except sqlite3.OperationalError:
            db.close()
            if self.path.with_name(self.path.name + "-wal").exists():
                raise
            db = _connect(f"{place}?immutable=1", uri=True)
            _check_ours(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _clear_errors(self, what: str = "be written") -> Iterator[None]:
        """Say in one sentence what SQLite could not do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "no such" not in str(error):
                raise OSError(
                    f"the study {self.path} cannot {what} ({error}); look for a full disk, a read-only folder, a damaged "
                    "file or another program that has it open, then run the same command again: it does the trials that are "
                    "missing."
                ) from error
            raise self._is_damaged(error) from error
        except sqlite3.Error as error:
            raise self._is_damaged(error) from error

    def _is_damaged(self, error: sqlite3.Error) -> OSError:
        """The sentence for a file of which nothing can be used."""
        return OSError(
            f"the study {self.path} is damaged ({error}); put a copy of it in its place, or give another name, so that its "
            "trials are done again."
        )


def say_damage(path: str | os.PathLike[str], contents: Contents) -> str:
    """Say in sentences what of a study is damaged."""
    told = [f"{path} is damaged: {problem}." for problem in contents.problems]
    if n := len(contents.damaged):
        named = "; ".join(contents.damaged[:_NAMED]) + (f"; and {n - _NAMED} more" if n > _NAMED else "")
        rows = "1 damaged row is left out and counts" if n == 1 else f"{n} damaged rows are left out and count"
        told.append(f"{path}: {rows} as missing: {named}.")
    return " ".join(told)


def _values(finished: Finished) -> tuple[Any, ...]:
    """The values of a row, in the order of `COLUMNS`."""
    point = finished.trial.point
    outcome, times = (None if plain is None else canonical(plain) for plain in (finished.outcome, finished.times))
    identity = (*finished.trial.key, point.protocol.name, canonical(point.settings), point.seed)
    by = (float(finished.seconds), finished.host, finished.version)
    return (*identity, outcome, finished.error, *by, times, _now())


def _finished(trial: Trial, row: Any) -> Finished:
    """A row of the table as an object."""
    outcome, times = (None if row[name] is None else json.loads(row[name]) for name in ("outcome", "times"))
    return Finished(trial, outcome, row["error"], row["seconds"], row["host"], row["version"], times)


def _now() -> str:
    """The time, as SQLite writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


def _free_name(path: Path, kind: str) -> Path:
    """A name beside a file that is not taken."""
    names = (path.with_name(f"{path.name}.{kind}{number or ''}") for number in count())
    return next(name for name in names if not name.exists())


def _connect(place: str, *, uri: bool = False) -> sqlite3.Connection:
    """Open a database whose text may be damaged."""
    db = sqlite3.connect(place, uri=uri, timeout=60.0)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda text: text.decode(errors="replace")
    return db


def _cannot_write(error: sqlite3.DatabaseError) -> bool:
    """Whether the disk, and not what stands in the file, is at fault."""
    words = ("full", "readonly", "locked", "unable to open", "I/O")
    return isinstance(error, sqlite3.OperationalError) and any(word in str(error) for word in words)


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
        with at_one_moment(db):  # another process may be making the very same file
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
            empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        raise ValueError(f"{path} is not a study of seqattractor (it is not a SQLite file); choose another name.") from None
    if application != APPLICATION and not (empty and application == 0):
        raise ValueError(f"{path} is a SQLite file, but not a study of seqattractor; choose another name.")
    if version > FORMAT:
        raise ValueError(f"{path} was made by a later version of seqattractor (format {version}); update this one.")
