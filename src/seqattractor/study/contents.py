"""What a study file holds, row by row: what is whole, what is damaged, and a new file of what is whole. Trials are not kept.

Every row carries a checksum of all its other values, and the list of grids one of all grids. A row that does not match is never
given to anyone; the rest of the file is.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from seqattractor.study.protocol import RETRIEVAL, Point, Protocol, is_current
from seqattractor.study.seeds import canonical, digest_of


class Stretch(NamedTuple):
    """Trials of a point with numbers in a row that the same code did, and that all failed or all did not."""

    first: int
    last: int
    version: str
    failed: bool

    @property
    def trials(self) -> int:
        """How many there are."""
        return self.last - self.first + 1


@dataclass(slots=True)
class Tally:
    """The trials of one point that are over, counted; its memory does not grow with them as long as none is left out.

    Examples
    --------
    >>> tally = Tally("retrieval", '{"network": "lookup", "t": 10}', 0)
    >>> row = {"version": "1+a", "outcome": '{"success": true}', "error": None, "seconds": 0.5}
    >>> for number in (0, 1, 2, 7):
    ...     tally.add(row | {"trial": number})
    >>> tally.trials, tally.successes, tally.below(5), tally.stretches[0]
    (4, 4, 3, Stretch(first=0, last=2, version='1+a', failed=False))
    """

    protocol: str
    settings: str
    """As JSON."""
    seed: int
    stretches: list[Stretch] = field(default_factory=list)
    successes: int = 0
    seconds: float = 0.0
    errors: list[str] = field(default_factory=list)
    """Those with which trials ended, each once."""

    def add(self, row: Any) -> None:
        """Take in a row of the table; rows come in the order of their numbers."""
        number, version, error = row["trial"], row["version"], row["error"]
        last = self.stretches[-1] if self.stretches else None
        if last is not None and last[1:] == (number - 1, version, error is not None):
            self.stretches[-1] = Stretch(last.first, number, last.version, last.failed)
        else:
            self.stretches.append(Stretch(number, number, version, error is not None))
        if error is None:
            self.successes += json.loads(row["outcome"]).get("success") is True
        elif error not in self.errors:
            self.errors.append(error)
        self.seconds += row["seconds"]

    @property
    def trials(self) -> int:
        """How many are over."""
        return sum(stretch.trials for stretch in self.stretches)

    @property
    def failed(self) -> int:
        """How many of them failed."""
        return sum(stretch.trials for stretch in self.stretches if stretch.failed)

    @property
    def by_other_code(self) -> int:
        """How many of them other code did than would do them now; of trials of section 6.2 only."""
        return sum(stretch.trials for stretch in self.stretches if not is_current(stretch.version))

    def point(self, protocol: Protocol = RETRIEVAL) -> Point:
        """The point itself."""
        return Point(protocol, json.loads(self.settings), self.seed)

    def below(self, number: int) -> int:
        """How many of the trials 0, 1, ..., number - 1 are over."""
        spans = (min(stretch.last + 1, number) - max(stretch.first, 0) for stretch in self.stretches)
        return sum(max(span, 0) for span in spans)

    def at(self, number: int) -> Stretch | None:
        """The stretch that a trial belongs to, if it is over; a damaged row may have no number at all."""
        if not isinstance(number, int):
            return None
        before = bisect_right(self.stretches, number, key=lambda stretch: stretch.first)
        found = self.stretches[before - 1] if before else None
        return found if found is not None and number <= found.last else None


class Over(Mapping[tuple[str, int], str | None]):
    """The keys of trials that are over, with the version of the code that did each; None if it failed."""

    def __init__(self, points: dict[str, Tally]) -> None:
        self._points = points

    def __getitem__(self, key: tuple[str, int]) -> str | None:
        tally = self._points.get(key[0])
        found = None if tally is None else tally.at(key[1])
        if found is None:
            raise KeyError(key)
        return None if found.failed else found.version

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for point, tally in self._points.items():
            for stretch in tally.stretches:
                yield from ((point, number) for number in range(stretch.first, stretch.last + 1))

    def __len__(self) -> int:
        return sum(tally.trials for tally in self._points.values())


def say_other_code(number: int) -> str:
    """Say that other code than this did some trials of a study."""
    return f"Other code than this did {number} of these trials."


FORMAT = 3
APPLICATION = 0x73657141  # "seqA", in the header of the file
COLUMNS = (
    *("point", "trial", "protocol", "settings", "seed", "outcome", "error", "seconds", "host", "version", "times", "finished"),
)
"""Of a trial; the checksum is over all of them."""
SELECT = f"SELECT {', '.join(COLUMNS)}, checksum FROM trials"
"""The statement that reads trials."""

_SCHEMA = """
CREATE TABLE grids (grid TEXT PRIMARY KEY, added TEXT NOT NULL, checksum TEXT NOT NULL);
CREATE TABLE study (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE trials (
    point TEXT NOT NULL,
    trial INTEGER NOT NULL,
    settings TEXT NOT NULL,
    seed INTEGER NOT NULL,
    outcome TEXT,
    error TEXT,
    seconds REAL NOT NULL,
    host TEXT NOT NULL,
    version TEXT NOT NULL,
    protocol TEXT NOT NULL,
    times TEXT,
    finished TEXT NOT NULL,
    checksum TEXT NOT NULL,
    PRIMARY KEY (point, trial),
    CHECK ((outcome IS NULL) != (error IS NULL))
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    run INTEGER PRIMARY KEY AUTOINCREMENT, started TEXT NOT NULL DEFAULT (datetime('now')), host TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS set_aside (damaged TEXT NOT NULL, found TEXT NOT NULL DEFAULT (datetime('now')));
CREATE INDEX trials_counted ON trials (protocol, point, version, error, seconds);
"""  # the index holds all that a count of trials needs, in a fifth of the size of the table
_TABLES = ("grids", "study", "trials", "runs", "set_aside")

Row = Any
"""A `sqlite3.Row`: the values of `COLUMNS`, and the checksum after them."""


@dataclass
class Contents:
    """What a study file holds."""

    empty: bool = False
    """Whether it holds nothing at all, as a new file does."""
    points: dict[str, Tally] = field(default_factory=dict)
    """What is known of the trials that are whole, by the keys of their points."""
    grids: list[tuple[str, str]] = field(default_factory=list)
    """The grids that are whole and when each was added, the oldest first."""
    damaged: list[str] = field(default_factory=list)
    """The names of rows that are damaged."""
    aside: list[str] = field(default_factory=list)
    """What stands in these rows."""
    problems: list[str] = field(default_factory=list)
    """What is wrong with the file as a whole: sentences without an end."""

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged."""
        return not (self.damaged or self.problems)

    @property
    def mended(self) -> bool:
        """Whether it can be written to as it is: it has tables, and nothing is damaged."""
        return self.whole and not self.empty

    def set_aside(self, row: Row) -> None:
        """Take note of a damaged row."""
        self.damaged.append(_name_of(row))
        self.aside.append(ascii(tuple(row)))


@dataclass(frozen=True)
class Source:
    """Where the rows of a study can be read one by one, in any order."""

    db: sqlite3.Connection
    """The study or, where its pages are damaged, a copy of all rows that can be read."""
    problem: str | None = None
    """What SQLite finds wrong with the pages of the study, in its words."""

    def close_copy(self, study: sqlite3.Connection) -> None:
        """Drop the copy, if it is one."""
        if self.db is not study:
            self.db.close()

    def rows(self, point: str | None = None, *, damaged: Callable[[Row], None] | None = None) -> Iterator[Row]:
        """Give the rows that are whole, of one point or of all, each checked as it is read, ordered by point and number.

        Rows that are damaged are given to `damaged`.
        """
        where, values = ("", ()) if point is None else ("WHERE point = ?", (point,))
        last = None
        for row in self.db.execute(f"{SELECT} {where} ORDER BY point, trial", values):
            if not is_whole(row):
                if damaged is not None:
                    damaged(row)
            elif (key := row[:2]) != last:  # a damaged page may be reached twice
                last = key
                yield row

    def counted_rows(self, point: str, tally: Tally) -> Iterator[Row]:
        """Give the rows of a point once more that were whole when they were counted, without checking them again.

        A whole row that was not counted is given, too: whoever counts can tell that the study was changed meanwhile.
        """
        if self.problem is not None:  # a number may be there twice, whole and damaged
            yield from self.rows(point)
            return
        for row in self.db.execute(f"{SELECT} WHERE point = ? ORDER BY trial", (point,)):
            if tally.at(row["trial"]) is not None or is_whole(row):
                yield row


@contextmanager
def at_one_moment(db: sqlite3.Connection) -> Iterator[None]:
    """Read a study as it is now, although another process may be writing."""
    if db.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.rollback()  # unless SQLite, after an error of its own, has done so already


def find_rows(db: sqlite3.Connection, *, copy: bool = False) -> Source | None:
    """Let SQLite check the pages of a study, and tell where its rows can be read; None for a file that holds nothing at all.

    With `copy` it is a copy in any case. Raises `sqlite3.Error` if there is no table of trials.
    """
    if not holds_anything(db):
        return None
    source = Source(db, _checked_by_sqlite(db))
    return _copied(source) if copy or source.problem is not None else source


@contextmanager
def rows_in(db: sqlite3.Connection, *, copy: bool = False) -> Iterator[Source | None]:
    """As `find_rows`, for a while: a copy goes afterwards."""
    source = find_rows(db, copy=copy)
    try:
        yield source
    finally:
        if source is not None:
            source.close_copy(db)


def holds_anything(db: sqlite3.Connection) -> bool:
    """Whether a file has tables; a new one has none."""
    return bool(_tables(db))


def _copied(source: Source) -> Source:
    """Copy all rows that can be read, damaged or not, to a temporary file that goes when it is closed."""
    names = (*COLUMNS, "checksum")
    copy = sqlite3.connect("")
    copy.row_factory, copy.text_factory = source.db.row_factory, source.db.text_factory
    try:
        with copy:
            copy.execute(f"CREATE TABLE trials ({', '.join(names)})")
            copy.executemany(f"INSERT INTO trials VALUES ({', '.join('?' * len(names))})", map(tuple, _readable(source)))
            copy.execute("CREATE INDEX trials_in_order ON trials (point, trial)")
        return Source(copy, source.problem)
    except BaseException:
        copy.close()
        raise


def read_outline(db: sqlite3.Connection, source: Source) -> Contents:
    """Read everything but the trials, inside a transaction."""
    contents = Contents()
    if source.problem is not None:
        contents.problems.append(f"SQLite finds it damaged ({source.problem}); trials that cannot be read count as missing")
    tables = _tables(db)
    contents.problems += [f"it has no table {name}" for name in _TABLES if name not in tables]
    if "grids" in tables:
        _read_grids(db, contents)
    if {"grids", "study"} <= tables:
        noted = db.execute("SELECT value FROM study WHERE name = 'grids'").fetchone()
        if noted is None or noted[0] != digest_of(sorted(grid for grid, _ in contents.grids)):
            contents.problems.append(
                "its list of grids is damaged, so that more trials may be missing than are counted; run it with its GRID file"
            )
    return contents


def read_contents(db: sqlite3.Connection, source: Source | None) -> Contents:
    """Read a study from end to end inside a transaction, and tell what is whole; trials are counted, not kept."""
    if source is None:
        return Contents(empty=True)
    contents = read_outline(db, source)
    for row in source.rows(damaged=contents.set_aside):
        tally = contents.points.get(row["point"])
        if tally is None:
            tally = contents.points[row["point"]] = Tally(row["protocol"], row["settings"], row["seed"])
        tally.add(row)
    return contents


def create_tables(db: sqlite3.Connection, source: Source | None, grids: Iterable[tuple[str, str]]) -> None:
    """Make the tables of a study inside a transaction, and fill them with what is whole in a copy of another."""
    for name in _TABLES[:3]:
        db.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in _SCHEMA.split(";"):
        db.execute(statement)
    rows = source.rows() if source is not None else ()
    db.executemany(f"INSERT INTO trials {placed(COLUMNS)}", (with_checksum(row[: len(COLUMNS)]) for row in rows))
    db.executemany(f"INSERT INTO grids {placed(('grid', 'added'))}", map(with_checksum, grids))
    note_grids(db)
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    db.execute(f"PRAGMA user_version = {FORMAT}")


def note_grids(db: sqlite3.Connection) -> None:
    """Note inside a transaction which grids there are, so that a missing one is missed."""
    grids = sorted(grid for (grid,) in db.execute("SELECT grid FROM grids"))
    db.execute("INSERT OR REPLACE INTO study VALUES ('grids', ?)", (digest_of(grids),))


def placed(columns: Sequence[str]) -> str:
    """The part of an INSERT that names columns, and the checksum after them."""
    return f"({', '.join([*columns, 'checksum'])}) VALUES ({', '.join('?' * (len(columns) + 1))})"


def with_checksum(values: Sequence[Any]) -> tuple[Any, ...]:
    """Values of a row with their checksum after them.

    Examples
    --------
    >>> with_checksum(("a", 1))[2] == with_checksum(("a", 1))[2] != with_checksum(("a", 2))[2]
    True
    """
    return (*values, digest_of(list(values)))


def is_whole(row: Row) -> bool:
    """Whether a row is as it was written, by its checksum."""
    *values, checksum = row
    try:
        return bool(checksum == digest_of(values))
    except (TypeError, ValueError):  # bytes, or infinite: nothing that we write
        return False


def _tables(db: sqlite3.Connection) -> set[str]:
    """The names of the tables of a file."""
    return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _readable(source: Source) -> Iterator[Row]:
    """All rows that can be read: from the first on, and, if a page in between cannot, also from the last on."""
    seen: set[int] = set()
    for order in ("ASC", "DESC"):
        try:
            for row in source.db.execute(f"{SELECT} ORDER BY point {order}, trial {order}"):
                content = hash(tuple(row))
                if order == "ASC" or content not in seen:
                    seen.add(content)
                    yield row
            return
        except sqlite3.OperationalError:  # a column is missing, or the file is locked
            raise
        except sqlite3.DatabaseError:  # of which SQLite has told already
            continue


def _read_grids(db: sqlite3.Connection, contents: Contents) -> None:
    """Read the grids."""
    for row in db.execute("SELECT grid, added, checksum FROM grids").fetchall():
        if is_whole(row) and _is_object(row["grid"]):
            contents.grids.append((row["grid"], row["added"]))
        else:
            contents.damaged.append(f"a grid, {_short(row['grid'])}")
            contents.aside.append(ascii(tuple(row)))
    contents.grids.sort(key=lambda pair: pair[::-1])


def _checked_by_sqlite(db: sqlite3.Connection) -> str | None:
    """What SQLite finds wrong with the pages of a file, in its words."""
    try:
        (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise
        return str(error)
    return None if found == "ok" else " ".join(found.replace("*** in database main ***", "").split())


def _is_object(text: Any) -> bool:
    """Whether this is JSON of an object, written in our way."""
    try:
        value = json.loads(text)
        return isinstance(value, dict) and canonical(value) == text
    except (TypeError, ValueError):
        return False


def _name_of(row: Row) -> str:
    """What a person may recognize a damaged trial by."""
    return f"trial {_short(row['trial'])} of the point {_short(row['point'])}, {_short(row['settings'])}"


def _short(value: Any) -> str:
    """A value of a damaged row in one line that a terminal can show."""
    text = ascii(value)
    return text if len(text) <= 100 else text[:97] + "..."
