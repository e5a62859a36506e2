"""The parts of a page as plain values, rendered by `templates/` into one file that needs nothing
else, with data escaped.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from seqattractor import __version__
from seqattractor._files import atomic_write

Line = tuple[str, Sequence[Mapping[str, Any]], Callable[[Mapping[str, Any]], str]]
"""A line of a table: its label, its rows, and a function that formats a row."""


@dataclass(frozen=True)
class Table:
    """A table: the first column of each row is its heading."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    @classmethod
    def of(
        cls, rows: Iterable[Mapping[str, Any]], columns: Mapping[str, str], caption: str = ""
    ) -> Table:
        """Return a table with a line for each row: `columns` maps headings to templates that are
        formatted with the row.
        """
        return cls(
            list(columns),
            [[text.format_map(row) for text in columns.values()] for row in rows],
            caption,
        )

    @classmethod
    def over(
        cls,
        key: str,
        lines: Iterable[Line],
        caption: str = "",
        *,
        heading: str | None = None,
        column: str = "{}",
    ) -> Table:
        """Return a table with a column for each value of `key`, and "-" where a line has no row
        with that value.
        """
        shown = [(label, {row[key]: show(row) for row in rows}) for label, rows, show in lines]
        values = sorted({value for _, cells in shown for value in cells})
        columns = [key if heading is None else heading, *map(column.format, values)]
        return cls(
            columns,
            [[label, *(cells.get(value, "-") for value in values)] for label, cells in shown],
            caption,
        )


@dataclass(frozen=True)
class Animation:
    """An animation."""

    gif: bytes
    caption: str
    width: int  # in CSS pixels


@dataclass(frozen=True)
class Verdict:
    """The agreement of a result with the paper, with a description."""

    agrees: bool | None  # None where the paper gives nothing to compare with
    sentence: str


@dataclass(frozen=True)
class Picture:
    """A figure drawn for light and for dark pages, as PNGs; `seqattractor.report.figures.picture`
    makes one.
    """

    light: bytes
    dark: bytes
    words: str  # the alternative text
    width: int
    height: int  # in CSS pixels


@dataclass(frozen=True)
class Section:
    """A part of a page under a title of its own."""

    name: str  # the anchor of the section, a plain word
    title: str
    about: str = ""
    verdict: Verdict | None = None
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    animations: Sequence[Animation] = ()
    files: Sequence[str] = ()  # names of files with the same content, beside the page
    seconds: float = 0.0


def render(template: str, **values: Any) -> str:
    """Return a page as HTML, from the name of a file in `templates/` and its values."""
    return _environment().get_template(template).render(version=__version__, **values)


@cache
def _environment() -> Environment:
    """Return the templates, with autoescape, and an error for undefined values."""
    environment = Environment(
        loader=PackageLoader("seqattractor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["embedded"] = _embedded
    environment.filters["duration"] = duration
    return environment


def _embedded(content: bytes, kind: str) -> str:
    """Return a picture as a data URL."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def duration(seconds: float) -> str:
    """Format seconds."""
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def write_files(folder: Path, name: str, contents: Mapping[str, bytes]) -> list[Path]:
    """Write FOLDER/<name>.<kind> for the content of each kind, every file atomically, and return
    the paths.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        with atomic_write(path) as file:
            file.write(content)
    return paths
