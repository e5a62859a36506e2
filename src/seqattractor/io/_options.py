"""How files are read: the table of formats (a new one is a file with its reader, and a line here),
options, and limits.

Options are saved with the model, so that a cue is read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from seqattractor._checks import (
    check_choice,
    check_count,
    check_flag,
    check_kind,
    check_positive,
    is_count,
    say,
)
from seqattractor.sequences._level_code import CHANNELS, CODES, MOST_LEVELS, count_bits

LEAST_COST = 4096  # pixels: a frame costs something, however small it is
LONGEST_NAME = 60
LEVELS_OF_COLOUR = 8  # by default


class Format(NamedTuple):
    """Endings of names, and where in this package the reader stands."""

    suffixes: tuple[str, ...]
    reader: str


FORMATS = {
    "pictures": Format(
        (
            ".gif",
            ".webp",
            ".png",
            ".apng",
            ".jpg",
            ".jpeg",
            ".bmp",
            ".tif",
            ".tiff",
            ".pgm",
            ".pbm",
            ".ppm",
        ),
        "_pictures:read_pictures",
    ),
    "video": Format(
        (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ogv", ".wmv"),
        "_video:read_video",
    ),
    "array": Format((".npy", ".npz", ".mat"), "_arrays:read_array"),
    "text": Format((".txt", ".asc", ".art"), "_text:read_text"),
    "table": Format((".csv", ".tsv", ".tab", ".dat"), "_text:read_table"),
    "spikes": Format((), "_spikes:read_spikes"),
    "midi": Format((".mid", ".midi"), "_midi:read_midi"),
    "nwb": Format((".nwb",), "_nwb:read_nwb"),
}


@dataclass(frozen=True)
class Options:
    """The options of `load`, checked when made."""

    format: str | None = None
    size: int | tuple[int, int] | str | None = "auto"
    threshold: float | str | None = None
    levels: int | None = None
    colour: bool = False
    code: str = "thermometer"
    value_range: tuple[float, float] | None = None
    invert: bool = False
    frames: tuple[int, int | None] | None = None
    stride: int = 1
    crop: tuple[int, int, int, int] | None = None
    loop: bool = False
    drop_repeats: bool = False
    drop_near: int = 0
    key: str | None = None
    time_axis: int | None = None
    bin: float | None = None
    step: float | None = None
    epochs: str | None = None

    def __post_init__(self) -> None:
        """Check all options; lists from a model file become tuples."""
        for name in ("size", "frames", "crop", "value_range"):
            if isinstance(value := getattr(self, name), list):
                object.__setattr__(self, name, tuple(value))
        if self.format is not None:
            check_choice(self.format, "format", tuple(FORMATS))
        size = self.size
        pair = isinstance(size, tuple) and len(size) == 2 and all(is_count(s) for s in size)
        if not (size is None or size == "auto" or is_count(size) or pair):
            raise ValueError(
                'size must be a number of pixels, (height, width), "auto" or None, but it is '
                f"{say(size)}."
            )
        if isinstance(self.threshold, str):
            check_choice(self.threshold, "a threshold that is not a number", ("otsu", "median"))
        check_count(self.stride, "stride")
        check_count(self.drop_near, "drop_near", 0)
        self._check_levels()
        self._check_ranges()
        if self.time_axis is not None:
            check_count(self.time_axis, "time_axis", 0, 1)
        if self.epochs is not None:
            check_kind(
                self.epochs,
                str,
                "epochs",
                "the name of a table or a file of intervals, such as 'trials'",
            )
        for name in ("bin", "step"):
            if (width := getattr(self, name)) is not None:
                check_positive(width, name)

    def _check_levels(self) -> None:
        """Check levels, and that options which go with levels are given only with them."""
        if self.levels is not None:
            check_count(self.levels, "levels", 2, MOST_LEVELS)
        check_flag(self.colour, "colour")
        check_choice(self.code, "code", CODES)
        coded = self.n_levels is not None
        if coded and self.threshold is not None:
            raise ValueError(
                "a threshold makes black and white, and levels make grey; give one of them."
            )
        if not coded and (self.code != CODES[0] or self.value_range is not None):
            raise ValueError(
                "a code and a value range are for levels of grey and colour; give the number of "
                "levels."
            )
        ends = (0.0, 1.0) if self.value_range is None else self.value_range
        two = (
            isinstance(ends, tuple)
            and len(ends) == 2
            and all(isinstance(end, Real) and isfinite(end) for end in ends)
        )
        if not two or not ends[0] < ends[1]:
            raise ValueError(
                f"value_range must be two numbers, (low, high), but it is {say(self.value_range)}."
            )

    def _check_ranges(self) -> None:
        """Reject an empty range of frames or an empty crop."""
        if self.frames is not None:
            first, last = self.frames if len(self.frames) == 2 else (-1, None)
            if not (is_count(first, 0) and (last is None or is_count(last, first + 1))):
                raise ValueError(
                    "frames must be a range (first, end) of frame numbers from 0, but it is "
                    f"{say(self.frames)}."
                )
        crop = (0, 0, 1, 1) if self.crop is None else self.crop
        if (
            len(crop) != 4
            or not all(is_count(c, 0) for c in crop)
            or crop[0] >= crop[2]
            or crop[1] >= crop[3]
        ):
            raise ValueError(
                f"crop must be (left, top, right, bottom) in pixels, but it is {say(crop)}."
            )

    @property
    def n_levels(self) -> int | None:
        """Return how many levels a value has; None for black and white. Colour has 8 by default."""
        return self.levels or (LEVELS_OF_COLOUR if self.colour else None)

    @property
    def units_per_pixel(self) -> int:
        """Return how many units a pixel takes."""
        bits = 1 if self.n_levels is None else count_bits(self.n_levels, self.code)
        return bits * (CHANNELS if self.colour else 1)

    def as_dict(self) -> dict[str, Any]:
        """Return the choices that differ from the defaults, as plain values for a model file."""
        defaults = {f.name: f.default for f in fields(self)}
        return {
            k: list(v) if isinstance(v, tuple) else v
            for k, v in asdict(self).items()
            if v != defaults[k]
        }


class TooLargeError(ValueError):
    """A file, or what it unpacks to, is larger than what is read."""


class NoEpochsError(ValueError):
    """Epochs were asked for that a file cannot have, or that are not there."""


@dataclass(frozen=True)
class Terms:
    """The kind of caller of `load`, and its limits of size; the defaults are those of Python."""

    caller: str = "python"
    """"python", "command line" or "lab": options are keywords, or flags, or there are none."""
    pixels: int = 2**25  # of one frame: 8K video has that many
    all_pixels: int = 2**31  # of all frames that a file makes us decode, one after the other
    array_bytes: int = 2**31  # of one array when it is unpacked
    units: int = 2**14
    """Of a picture that is shrunk because no size is given: as many as one of 128 x 128 has in
    black and white.
    """


_TERMS: ContextVar[Terms] = ContextVar("terms", default=Terms())  # noqa: B039  # frozen: nobody can change the default


def terms() -> Terms:
    """Return the terms on which files are read here and now."""
    return _TERMS.get()


@contextmanager
def on_terms(chosen: Terms) -> Iterator[None]:
    """Read files on these terms inside the block."""
    token = _TERMS.set(chosen)
    try:
        yield
    finally:
        _TERMS.reset(token)


def remedy(words: str, instead: str | None = None) -> str:
    """Return advice with {options} as the caller writes them, or `instead` for the lab, which has
    no such options.
    """
    if terms().caller == "lab" and instead is not None:
        return instead
    flags = terms().caller == "command line"
    return re.sub(
        r"\{(\w+)\}",
        lambda option: f"--{option[1].replace('_', '-')}" if flags else option[1],
        words,
    )


def shrink_it() -> str:
    """Return advice for what is too large."""
    return remedy(
        "shrink it first, or take fewer frames with {frames}",
        'shrink it first, or take fewer frames, under "Take every"',
    )


def bin_spikes_first() -> str:
    """Return advice for spike times that are given without a bin width."""
    return remedy(
        "give the width of a time bin in seconds with {bin}",
        'give the width of a time bin in seconds, under "Time bin"',
    )


def brief(text: object) -> str:
    """Quote what stands in a file for a sentence: printable, and not longer than a sentence can
    bear.
    """
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
        """Reject a frame that is too large, or one too many."""
        most, together = terms().pixels, terms().all_pixels * self.allowance
        if width * height > most:
            raise TooLargeError(
                f"{path} promises {width} x {height} pixels, more than the {most / 1e6:.0f} "
                "million that are read; shrink it."
            )
        self.spent += max(width * height, LEAST_COST) * times
        if self.spent > together:
            raise TooLargeError(
                f"{path} has more than {together / 1e6:.0f} million pixels in all its frames; "
                f"{shrink_it()}."
            )
