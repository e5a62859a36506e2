"""Studies on disk: a SQLite file with one row for each trial, committed as it finishes.

Every row carries a checksum of its other values. Damaged rows are never returned; a damaged study
is read, but not written to.
"""

from __future__ import annotations

import ctypes
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Self

from seqattractor._files import named_path
from seqattractor.study.protocol import (
    RETRIEVAL,
    Outcome,
    Point,
    Protocol,
    Trial,
    canonical,
    digest_of,
    is_current,
)

_FORMAT = 4
_APPLICATION = 0x73657141  # "seqA", in the header of the file
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (run INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS grids (grid TEXT PRIMARY KEY, checksum TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trials (
    point TEXT NOT NULL,
    trial INTEGER NOT NULL,
    protocol TEXT NOT NULL,
    settings TEXT NOT NULL,
    seed INTEGER NOT NULL,
    outcome TEXT,
    error TEXT,
    seconds REAL NOT NULL,
    host TEXT NOT NULL,
    version TEXT NOT NULL,
    times TEXT,
    checksum TEXT NOT NULL,
    PRIMARY KEY (point, trial),
    CHECK ((outcome IS NULL) != (error IS NULL))
) WITHOUT ROWID;
"""
_RESULT = ("outcome", "error", "seconds", "host", "version", "times", "checksum")
_COLUMNS = {
    "trials": ("point", "trial", "protocol", "settings", "seed", *_RESULT),
    "grids": ("grid", "checksum"),
}
_NAMED = 5  # damaged rows that a message names


@dataclass(frozen=True)
class Finished:
    """A finished trial: its outcome, or the error that ended it."""

    trial: Trial
    outcome: Outcome | None
    error: str | None
    seconds: float
    host: str
    version: str
    """Version of the package and digest of its code."""
    times: dict[str, Any] | None = None
    """Seconds of its parts, if the protocol measures them."""

    @property
    def by_this_code(self) -> bool:
        """Whether the current code did it."""
        return is_current(self.version)


def describe_other_code(number: int) -> str:
    """Return the sentence that reports trials done by other code."""
    return f"Other code than this did {number} of these trials."


class Store:
    """A study file. Several processes may write to it at once; each trial is stored once.

    Rows are read one by one and checked as they are read. A damaged file can be read, without the
    rows that are damaged, but opening it for writing raises `OSError`: `copy_to` makes a study of
    the rest.

    Parameters
    ----------
    path : str or path, optional
        Created if it does not exist, unless `readonly`; without a path everything is in memory and
        is lost with the store.
    readonly : bool
        Open an existing file for reading.

    Attributes
    ----------
    problem : str or None
        What SQLite finds wrong with the pages of a file opened for reading.

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

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, readonly: bool = False
    ) -> None:
        self.path = Path(":memory:") if path is None else named_path(path)
        self.problem: str | None = None
        if readonly and not self.path.exists():
            raise ValueError(f"there is no study {self.path}; `seqattractor sweep run` makes one.")
        with self._clear_errors("be opened" if readonly else "be opened for writing"):
            self._db = self._open_to_read() if readonly else self._open_to_write()
        self._real = os.path.realpath(self.path)  # SQLite puts its log beside the target of a link
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
        """Close the file; the last process to close it merges the log into it."""
        if self._where(self._places).items() <= self._places.items():
            self._db.close()
        # SQLite would merge our log into, or delete the log of, a file that is not ours: never
        # close this connection
        else:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._db))

    def start_run(self) -> int:
        """Record that a run starts, and return its number, from 0 on."""
        with self._writing():
            run = int(self._db.execute("INSERT INTO runs DEFAULT VALUES").lastrowid or 1) - 1
        with self._clear_errors():  # so that even a copy made without the log has the grids
            self._db.execute("PRAGMA wal_checkpoint")
        return run

    def add_grid(self, grid: str) -> None:
        """Add a grid, as `Grid.as_json` writes it, so that a sweep can be resumed without its grid
        file.
        """
        with self._writing():
            self._db.execute(_insert("grids", "OR IGNORE"), _with_checksum([grid]))

    def grids(self, *, damaged: list[str] | None = None) -> list[str]:
        """Return the grids of this study; the names of damaged rows are appended to `damaged`."""
        with self._clear_errors("be read"):
            return [row["grid"] for row in _whole_rows(self._db, "grids", damaged=damaged)]

    def add(self, finished: Iterable[Finished], *, replace: bool = False) -> int:
        """Commit finished trials.

        Parameters
        ----------
        finished : iterable of Finished
        replace : bool
            Replace trials that failed or that other code did.

        Returns
        -------
        int
            How many were added or replaced.
        """
        insert = f"{_insert('trials')} ON CONFLICT DO "
        if replace:
            changed = ", ".join(f"{name} = excluded.{name}" for name in _RESULT)
            insert += f"UPDATE SET {changed} WHERE version != excluded.version OR error IS NOT NULL"
        else:
            insert += "NOTHING"
        rows = [_with_checksum(_values(each)) for each in finished]
        with self._writing():
            return self._db.executemany(insert, rows).rowcount

    def get(self, trial: Trial) -> Finished | None:
        """Return a trial if it is finished."""
        with self._clear_errors("be read"):
            for row in _whole_rows(self._db, "trials", "WHERE point = ? AND trial = ?", trial.key):
                return _finished(trial, row)
        return None

    def rows(
        self, point: str | None = None, *, damaged: list[str] | None = None
    ) -> Iterator[sqlite3.Row]:
        """Yield the rows of all trials, or of one point, ordered by point and number.

        The names of damaged rows, which are left out, are appended to `damaged`.
        """
        where, values = ("", ()) if point is None else ("WHERE point = ?", (point,))
        with self._clear_errors("be read"):
            yield from _whole_rows(self._db, "trials", where, values, damaged=damaged)

    def finished(self, protocol: Protocol = RETRIEVAL) -> Iterator[Finished]:
        """Yield all finished trials of a protocol."""
        for row in self.rows():
            if row["protocol"] == protocol.name:
                yield _finished(
                    Trial(Point(protocol, json.loads(row["settings"]), row["seed"]), row["trial"]),
                    row,
                )

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """Read the file as it is now, even if other processes write to it meanwhile."""
        with self._clear_errors("be read"), snapshot(self._db):
            yield

    def forget_failed(self) -> int:
        """Delete trials that ended with an error, so that they are done again; return how many."""
        with self._writing():
            return self._db.execute("DELETE FROM trials WHERE error IS NOT NULL").rowcount

    def copy_to(self, path: str | os.PathLike[str]) -> int:
        """Write a new study of all grids and trials that are not damaged; return how many trials it
        has.
        """
        if Path(path).exists():
            raise ValueError(f"{path} exists already; give another name.")
        with self.at_one_moment(), Store(path) as copy, copy._writing():
            _copy_rows(self._db, copy._db)
            return int(copy._db.execute("SELECT count(*) FROM trials").fetchone()[0])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Commit what is done inside, and check that all files are still there: SQLite continues to
        write to deleted ones.
        """
        self._check_in_place()
        try:
            with self._clear_errors(), self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield
        finally:
            self._check_in_place()

    def _where(self, ends: Iterable[str] = ("", "-wal", "-shm")) -> dict[str, tuple[int, int]]:
        """Return device and inode of the file, its log and the index of the log, as far as they
        exist.
        """
        found = {}
        for end in ends:
            with suppress(OSError):
                status = os.stat(f"{self._real}{end}")
                found[end] = status.st_dev, status.st_ino
        return found

    def _check_in_place(self) -> None:
        """Raise if one of the files was deleted or replaced; committed trials are saved beside
        it.
        """
        places = self._where(self._places)
        if places == self._places:
            return
        lost = next(
            f"{self._real}{end}" for end in self._places if places.get(end) != self._places[end]
        )
        names = (self.path.with_name(f"{self.path.name}.saved{number or ''}") for number in count())
        saved = next(name for name in names if not name.exists())
        try:
            with closing(sqlite3.connect(saved)) as copy:
                self._db.backup(copy)
                trials = copy.execute("SELECT count(*) FROM trials").fetchone()[0]
            rest = (
                f"every committed trial ({trials}) is in {saved}: give it that name again and run "
                "the same command."
            )
        except sqlite3.Error as error:
            saved.unlink(missing_ok=True)
            rest = (
                f"its trials could not be saved ({error}); run the same command again: it does "
                "what is missing."
            )
        if places.get("") != self._places[""]:
            for end in (
                "-wal",
                "-shm",
            ):  # SQLite would take them for the log of the file that has this name now
                if end in places and places[end] == self._places[end]:
                    Path(f"{self._real}{end}").unlink(missing_ok=True)
        raise OSError(f"{lost} was deleted or replaced while the study was being written; {rest}")

    def _open_to_write(self) -> sqlite3.Connection:
        """Open or create a study, and raise if it is damaged."""
        if self.path.is_dir():
            raise ValueError(
                f"{self.path} is a folder; give the name of a study file, such as "
                f"{self.path / 'study.db'}."
            )
        if not self.path.parent.is_dir():
            raise ValueError(f"the folder {self.path.parent} does not exist; make it first.")
        db = _connect(str(self.path))
        try:
            if _is_empty(db, self.path):
                _create(db)
            _switch_to_wal(db)
            db.execute(
                "PRAGMA synchronous = NORMAL"
            )  # a killed process loses nothing; a power cut at most the last trials
            with snapshot(db):
                damaged: list[str] = []
                problem = _page_problem(db)
                if problem is None:
                    for table in _COLUMNS:
                        for _ in _whole_rows(db, table, damaged=damaged):
                            pass
            if problem is not None or damaged:
                raise OSError(
                    f"{describe_damage(self.path, problem, damaged)} It is not written to: "
                    f"`seqattractor sweep export {self.path} -o rest.db` makes a study of the "
                    "rest, to continue with."
                )
        except BaseException:
            db.close()
            raise
        return db

    def _open_to_read(self) -> sqlite3.Connection:
        """Open a study, even in a folder where SQLite may not make its side files; what can be read
        of a damaged one.
        """
        place = self.path.resolve().as_uri()
        db = _connect(f"{place}?mode=ro", uri=True)
        try:
            try:
                empty = _is_empty(db, self.path)
            except sqlite3.OperationalError:
                if self.path.with_name(self.path.name + "-wal").exists():
                    raise
                db.close()
                db = _connect(f"{place}?immutable=1", uri=True)
                empty = _is_empty(db, self.path)
            self.problem = _page_problem(db)
            if self.problem is None and not empty:
                return db
            readable = _connect("")  # a temporary file
            _create(readable)
            if not empty:
                with readable:
                    _copy_rows(db, readable)
            db.close()
            return readable
        except BaseException:
            db.close()
            raise

    @contextmanager
    def _clear_errors(self, what: str = "be written") -> Iterator[None]:
        """Turn an error of SQLite into one sentence with the remedy."""
        try:
            yield
        except (
            sqlite3.Error,
            UnicodeDecodeError,
        ) as error:  # the latter from a message of SQLite on a damaged schema
            if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                raise OSError(
                    f"the study {self.path} cannot {what} ({error}); look for a full disk, a "
                    "read-only folder, a damaged file or another program that has it open, then "
                    "run the same command again: it does the trials that are missing."
                ) from error
            raise OSError(
                f"the study {self.path} is damaged ({error}); put a copy of it in its place, or "
                "give another name, so that its trials are done again."
            ) from error


def describe_damage(
    path: str | os.PathLike[str], problem: str | None, damaged: Sequence[str]
) -> str:
    """Describe in sentences what of a study is damaged."""
    sentences = (
        [f"{path} is damaged: SQLite finds {problem}; trials that cannot be read count as missing."]
        if problem
        else []
    )
    if n := len(damaged):
        named = "; ".join(damaged[:_NAMED]) + (f"; and {n - _NAMED} more" if n > _NAMED else "")
        rows = (
            "1 damaged row is left out and counts"
            if n == 1
            else f"{n} damaged rows are left out and count"
        )
        sentences.append(f"{path}: {rows} as missing: {named}.")
    return " ".join(sentences)


# -- rows
# --------------------------------------------------------------------------------------------------


def _values(finished: Finished) -> tuple[Any, ...]:
    """The values of a row of trials, without the checksum."""
    point = finished.trial.point
    outcome, times = (
        None if plain is None else canonical(plain) for plain in (finished.outcome, finished.times)
    )
    identity = (*finished.trial.key, point.protocol.name, canonical(point.settings), point.seed)
    return (
        *identity,
        outcome,
        finished.error,
        float(finished.seconds),
        finished.host,
        finished.version,
        times,
    )


def _finished(trial: Trial, row: sqlite3.Row) -> Finished:
    """A row of trials as an object."""
    outcome, times = (
        None if row[name] is None else json.loads(row[name]) for name in ("outcome", "times")
    )
    return Finished(
        trial, outcome, row["error"], row["seconds"], row["host"], row["version"], times
    )


def _whole_rows(
    db: sqlite3.Connection,
    table: str,
    where: str = "",
    values: tuple[Any, ...] = (),
    *,
    damaged: list[str] | None = None,
) -> Iterator[sqlite3.Row]:
    """Yield the rows of a table that match their checksums; name the others in `damaged`."""
    for row in db.execute(f"{_select(table, where)} ORDER BY 1, 2", values):
        if _is_whole(row):
            yield row
        elif damaged is not None:
            damaged.append(_name_of(row))


def _copy_rows(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Copy all whole rows that can be read: from the first on and, if a page in between cannot be
    read, from the last on.
    """
    for table in _COLUMNS:
        for order in ("1, 2", "1 DESC, 2 DESC"):
            try:
                rows = source.execute(f"{_select(table)} ORDER BY {order}")
                target.executemany(_insert(table, "OR IGNORE"), map(tuple, filter(_is_whole, rows)))
                break
            except sqlite3.OperationalError:  # a column is missing, or the file is locked
                raise
            except sqlite3.DatabaseError:  # a damaged page: `Store.problem` names it
                continue


def _select(table: str, where: str = "") -> str:
    """The statement that reads rows."""
    return f"SELECT {', '.join(_COLUMNS[table])} FROM {table} {where}"


def _insert(table: str, conflict: str = "") -> str:
    """The statement that inserts a row."""
    columns = _COLUMNS[table]
    return (
        f"INSERT {conflict} INTO {table} ({', '.join(columns)}) VALUES "
        f"({', '.join('?' * len(columns))})"
    )


def _with_checksum(values: Sequence[Any]) -> tuple[Any, ...]:
    """The values of a row, and their checksum."""
    return (*values, digest_of(list(values)))


def _is_whole(row: sqlite3.Row) -> bool:
    """Whether a row matches its checksum."""
    *values, checksum = row
    try:
        return bool(checksum == digest_of(values))
    except (TypeError, ValueError):  # bytes, or infinite: nothing that we write
        return False


def _name_of(row: sqlite3.Row) -> str:
    """What a person may recognize a damaged row by."""
    values = {name: ascii(row[name]) for name in row.keys()}  # noqa: SIM118 a Row iterates over values
    short = {name: text if len(text) <= 100 else text[:97] + "..." for name, text in values.items()}
    if "grid" in short:
        return f"a grid, {short['grid']}"
    return f"trial {short['trial']} of the point {short['point']}, {short['settings']}"


# -- SQLite
# --------------------------------------------------------------------------------------------------


def _connect(place: str, *, uri: bool = False) -> sqlite3.Connection:
    """Open a database whose text may be damaged."""
    db = sqlite3.connect(place, uri=uri, timeout=60.0)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda text: text.decode(errors="replace")
    return db


def _create(db: sqlite3.Connection) -> None:
    """Create the tables, unless another process has done so meanwhile."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
        db.execute(f"PRAGMA user_version = {_FORMAT}")


def _is_empty(db: sqlite3.Connection, path: Path) -> bool:
    """Whether a file has no tables yet; raises if it is not a study of this version."""
    try:
        with snapshot(db):  # another process may be making the very same file
            application = db.execute("PRAGMA application_id").fetchone()[0]
            version = db.execute("PRAGMA user_version").fetchone()[0]
            empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
    except sqlite3.DatabaseError as error:
        if "not a database" not in str(error):
            raise
        raise ValueError(
            f"{path} is not a study of seqattractor (it is not a SQLite file); choose another name."
        ) from None
    if empty and application == 0:
        return True
    if application != _APPLICATION:
        raise ValueError(
            f"{path} is a SQLite file, but not a study of seqattractor; choose another name."
        )
    if version != _FORMAT:
        raise ValueError(
            f"{path} was made by another version of seqattractor (format {version}, not "
            f"{_FORMAT}); use that one."
        )
    return False


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


def _page_problem(db: sqlite3.Connection) -> str | None:
    """What SQLite finds wrong with the pages of a file, in its words."""
    try:
        (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise
        return str(error)
    if "error code=522" in found:  # a short read: another program has a log open that was deleted
        raise sqlite3.OperationalError("disk I/O error")
    return (
        None if found == "ok" else " ".join(found.replace("*** in database main ***", "").split())
    )


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Read a study as it is now, although another process may be writing."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.rollback()  # unless SQLite, after an error of its own, has done so already
