"""On which terms files are read: how large pictures and arrays may be, and which words the caller has for options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

LEAST_COST = 4096  # pixels: a frame costs something, however small it is
LONGEST_NAME = 60


class TooLargeError(ValueError):
    """A file, or what it unpacks to, is larger than what is read."""


@dataclass(frozen=True)
class Terms:
    """What a caller of `load` can do and stand; the defaults are those of Python."""

    caller: str = "python"
    """"python", "command line" or "lab": options are keywords, or flags, or there are none."""
    pixels: int = 2**25
    """Of one frame: 8K video has that many."""
    all_pixels: int = 2**31
    """Of all frames that a file makes us decode, one after the other."""
    array_bytes: int = 2**31
    """Of one array when it is unpacked."""
    units: int = 2**14
    """Of a picture that is shrunk because no size is given: as many as one of 128 x 128 has in black and white."""


_TERMS: ContextVar[Terms] = ContextVar("terms", default=Terms())  # noqa: B039  # frozen: nobody can change the default


def terms() -> Terms:
    """Give the terms on which files are read here and now."""
    return _TERMS.get()


@contextmanager
def on_terms(chosen: Terms) -> Iterator[None]:
    """Read files on these terms inside the block."""
    token = _TERMS.set(chosen)
    try:
        yield
    finally:
        _TERMS.reset(token)


def remedy(words: str, instead: str) -> str:
    """Say what to do with options in braces as the caller writes them; `instead` is for a caller who has none.

    Examples
    --------
    >>> remedy("choose some with {frames}", "leave some out")
    'choose some with frames'
    >>> with on_terms(Terms("command line")):
    ...     remedy("turn it with {time_axis}", "turn it")
    'turn it with --time-axis'
    """
    if terms().caller == "lab":
        return instead
    flags = terms().caller == "command line"
    return re.sub(r"\{(\w+)\}", lambda option: f"--{option[1].replace('_', '-')}" if flags else option[1], words)


def brief(text: object) -> str:
    """Quote what stands in a file for a sentence: printable, and not longer than a sentence can bear."""
    whole = repr(str(text)[: LONGEST_NAME + 1])
    return whole if len(str(text)) <= LONGEST_NAME else whole[:LONGEST_NAME] + "...'"


def brief_list(names: list[str]) -> str:
    """List names for a sentence; of many only the first."""
    shown = ", ".join(brief(name)[1:-1] for name in names[:8])
    return f"{shown}, and {len(names) - 8} more" if len(names) > 8 else shown or "none"


class Budget:
    """Counts the pixels that a file makes us decode, before they are decoded."""

    def __init__(self, allowance: int = 1) -> None:
        self.spent, self.allowance = 0, allowance

    def spend(self, path: Path, width: int, height: int, times: int = 1) -> None:
        """Refuse a frame that is too large, or one too many."""
        most, together = terms().pixels, terms().all_pixels * self.allowance
        if width * height > most:
            raise TooLargeError(
                f"{path} promises {width} x {height} pixels, more than the {most / 1e6:.0f} million that are read; shrink it."
            )
        self.spent += max(width * height, LEAST_COST) * times
        if self.spent > together:
            fewer = remedy("shrink it first, or take fewer frames with {frames}", "shrink it first, or take fewer frames")
            raise TooLargeError(f"{path} has more than {together / 1e6:.0f} million pixels in all its frames; {fewer}.")
