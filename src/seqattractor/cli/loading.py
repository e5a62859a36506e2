"""Options and checks of files, shared by the commands that read people's own sequences."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.io._options import FORMATS
from seqattractor.sequences._level_code import CODES, MOST_LEVELS

if TYPE_CHECKING:
    from seqattractor.io._attached import Attached
    from seqattractor.sequences import Sequences

PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
PICTURES_ONLY = ("size", "crop", "threshold", "invert", "levels", "colour", "code", "value_range")


def parsed(
    parse: Callable[[str], Any], complaint: str
) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return a callback of an option that parses its text; of a ValueError the user sees the text
    and the complaint.
    """

    def callback(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else parse(text)
        except ValueError:
            raise click.BadParameter(f"{text!r} {complaint}", ctx, param) from None

    return callback


def _whole(text: str, least: int = 0) -> int:
    """Read a whole number without a sign."""
    if not text.isdigit() or int(text) < least:
        raise ValueError
    return int(text)


def _size(text: str) -> int | tuple[int, int] | str:
    """Read WIDTHxHEIGHT as (height, width), or the longer side."""
    if text in ("auto", "none"):
        return text
    width, *height = (_whole(part, 1) for part in text.lower().split("x"))
    if len(height) > 1:
        raise ValueError
    return (height[0], width) if height else width


def _numbers(text: str, read: Callable[[str], Any], separator: str, many: int) -> tuple[Any, ...]:
    """Read numbers, so many of them, with a separator in between."""
    values = tuple(read(part) for part in text.split(separator))
    if len(values) != many:
        raise ValueError
    return values


def _range(text: str) -> tuple[int, int | None]:
    """Read FIRST:END, where both may be missing."""
    first, end = _numbers(text, lambda part: _whole(part) if part else None, ":", 2)
    return first or 0, end


count_or_auto = parsed(
    lambda text: text if text == "auto" else _whole(text, 1),
    "must be a whole number, 1 or more, or auto.",
)
_OPTIONS = (
    click.option(
        "--format",
        "format",
        type=click.Choice(list(FORMATS)),
        help="The kind of input, where its name does not show it.",
    ),
    click.option(
        "--size",
        callback=parsed(_size, "is not a size; write 88x128 (width x height), 64, auto or none."),
        metavar="WxH|PIXELS|auto|none",
        help=(
            "Size of pictures: 88x128 (width x height), or the longer side; auto: at most 128, and "
            "at most 16,384 units."
        ),
    ),
    click.option(
        "--threshold",
        callback=parsed(
            lambda text: text if text in ("otsu", "median") else float(text),
            "is not a threshold; write a number, otsu or median.",
        ),
        metavar="NUMBER|otsu|median",
        help="Above it a unit is on; pictures have values from 0 to 255. [otsu for pictures]",
    ),
    click.option(
        "--levels",
        type=click.IntRange(2, MOST_LEVELS),
        metavar="N",
        help="Keep N levels of grey instead of black and white.",
    ),
    click.option(
        "--colour",
        "--color",
        "colour",
        is_flag=True,
        help="Keep red, green and blue, each with N levels [8].",
    ),
    click.option(
        "--code",
        type=click.Choice(CODES),
        help=(
            "How a level becomes units: thermometer, N - 1 of them, or gray, as few as can be. "
            "[thermometer]"
        ),
    ),
    click.option(
        "--value-range",
        callback=parsed(
            lambda text: _numbers(text, float, ",", 2), "does not have the form LOW,HIGH."
        ),
        metavar="LOW,HIGH",
        help=(
            "What the lowest and the highest level stand for. [0,255; in arrays of other numbers, "
            "their range]"
        ),
    ),
    click.option(
        "--invert", is_flag=True, help="Make dark on and bright off; of levels, the negative."
    ),
    click.option(
        "--frames",
        callback=parsed(_range, "does not have the form FIRST:END."),
        metavar="FIRST:END",
        help="The frames to take, counted from 0, without END.",
    ),
    click.option("--stride", type=click.IntRange(min=1), metavar="N", help="Take every Nth frame."),
    click.option(
        "--crop",
        callback=parsed(
            lambda text: _numbers(text, _whole, ",", 4),
            "does not have the form LEFT,TOP,RIGHT,BOTTOM.",
        ),
        metavar="LEFT,TOP,RIGHT,BOTTOM",
        help="The part of the picture to take, in pixels.",
    ),
    click.option(
        "--loop",
        is_flag=True,
        help="Close each sequence: its last pattern is followed by the first.",
    ),
    click.option(
        "--drop-repeats", is_flag=True, help="Drop a frame that equals the one before it."
    ),
    click.option(
        "--drop-near",
        type=click.IntRange(min=0),
        default=0,
        metavar="UNITS",
        help="Drop a frame that differs from the last one taken in at most so many units.",
    ),
    click.option(
        "--key",
        help=(
            "The array in an npz or mat file (for spikes also two: TIMES,UNITS), or what to read "
            "from an NWB file. [its units]"
        ),
    ),
    click.option(
        "--time-axis",
        type=click.IntRange(0, 1),
        help="Where time runs: 0, each row is a time step; 1, each column is (neurons x time).",
    ),
    click.option(
        "--bin",
        type=float,
        metavar="SECONDS",
        help="Read spike times, or average signals (NWB), in bins of this width.",
    ),
    click.option(
        "--step",
        type=float,
        help="Music: quarter notes per time step. [the coarsest grid that fits]",
    ),
    click.option(
        "--epochs",
        metavar="TABLE",
        help="Intervals (trials, laps), each of which is a sequence: the name of a table in an NWB "
        "file, or for other spikes a CSV file of starts and ends.",
    ),
)


def read_files(
    paths: Sequence[str | os.PathLike[str]], options: dict[str, Any], *, several: bool = True
) -> Sequences:
    """Read files as `load_all` does, or one as `load` does, in a subprocess with limited memory and
    time.
    """
    from seqattractor.io._options import Terms
    from seqattractor.io._subprocess import Bounds, load_in_subprocess

    return load_in_subprocess(
        paths, options, terms=Terms("command line"), bounds=Bounds(), several=several
    )


def read_like(
    known: Attached,
    paths: Sequence[str | os.PathLike[str]],
    wanted: dict[str, Any],
    *,
    without: Sequence[str] = (),
    several: bool = True,
) -> Sequences:
    """Read files with the options of the stored sequences, except those named in `without`;
    `wanted` options have precedence.
    """
    from seqattractor.io._load import NoPicturesError
    from seqattractor.io._options import NoEpochsError

    options = known.options | ({} if known.picture_shape is None else {"size": known.picture_shape})
    options = {name: value for name, value in options.items() if name not in without} | wanted
    try:
        return read_files(paths, options, several=several)
    except (
        NoPicturesError,
        NoEpochsError,
    ) as error:  # such as a table of units in place of the stored pictures
        unfit = PICTURES_ONLY if isinstance(error, NoPicturesError) else ("epochs",)
        if unfit[0] in without or wanted.get(unfit[0]) is not None:
            raise
    return read_like(known, paths, wanted, without=(*without, *unfit), several=several)


def parse_value(text: str) -> Any:
    """Read a number, a truth value or a list as in TOML; anything else is a word."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def parse_list(text: str) -> list[Any]:
    """Read comma-separated numbers and words; commas in brackets separate nothing."""
    return [parse_value(part.strip()) for part in re.split(r",(?![^(]*\))", text)]


def parse_setting(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise click.UsageError(f"--set needs KEY=VALUE, such as eta=0.001, but it is {text!r}.")
    return key, parse_value(value)


def check_folder(out: Path) -> None:
    """Raise unless the folder of a file to write exists."""
    if not out.parent.is_dir():
        raise ValueError(f"the folder {out.parent} does not exist; make it first.")


def check_not_read(out: Path, inputs: Sequence[Path]) -> None:
    """Raise if the result would overwrite what it is made from."""
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise ValueError(f"{out} would be written over what is read; give another name.")


def loading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `load` to a command; they arrive as keywords."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def as_options(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave, in the form that `load` takes."""
    options = {
        name: value for name, value in given.items() if value is not None and value is not False
    }
    if options.get("size") == "none":
        options["size"] = None
    return options
