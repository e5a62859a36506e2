"""What a page consists of, as plain values: whoever has something to show makes these, and the templates render them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table: the first column of each row is its heading."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@dataclass(frozen=True)
class Animation:
    """A moving picture."""

    gif: bytes
    caption: str
    width: int
    """In CSS pixels."""


@dataclass(frozen=True)
class Verdict:
    """Whether a result agrees with the paper, in plain words."""

    agrees: bool | None
    """None where the paper gives nothing to compare with."""
    sentence: str


@dataclass(frozen=True)
class Picture:
    """A figure drawn for light and for dark pages, as PNGs; `seqattractor.report.figures.picture` makes one."""

    light: bytes
    dark: bytes
    words: str
    """What stands for the figure where it cannot be seen."""
    width: int
    height: int
    """In CSS pixels."""


@dataclass(frozen=True)
class Section:
    """A part of a page under a title of its own."""

    name: str
    """The anchor of the section, a plain word."""
    title: str
    about: str = ""
    verdict: Verdict | None = None
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    animations: Sequence[Animation] = ()
    files: Sequence[str] = ()
    """Names of files with the same content, beside the page."""
    seconds: float = 0.0
