"""The options with which files are read, shared by the commands that take people's own sequences."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from seqattractor.io._options import FORMATS
from seqattractor.sequences._level_code import CODES, MOST_LEVELS

if TYPE_CHECKING:
    from seqattractor.sequences import Sequences

PATH = click.Path(path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)
PICTURES_ONLY = ("size", "crop", "threshold", "invert", "levels", "colour", "code", "value_range")


def count_or_auto(ctx: click.Context, param: click.Parameter, value: str | None) -> int | str | None:
    """Turn the word of an option into a whole number, unless it is auto."""
    if value is None or value == "auto":
        return value
    if not value.isdigit() or int(value) < 1:
        raise click.BadParameter(f"{value!r} must be a whole number, 1 or more, or auto.", ctx, param)
    return int(value)


def _size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | tuple[int, int] | str | None:
    """Turn WIDTHxHEIGHT into what `load` takes, (height, width)."""
    if value is None or value in ("auto", "none"):
        return value
    parts = value.lower().split("x")
    if len(parts) > 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{value!r} is not a size; write 88x128 (width x height), 64, auto or none.", ctx, param)
    return int(parts[0]) if len(parts) == 1 else (int(parts[1]), int(parts[0]))


def _threshold(ctx: click.Context, param: click.Parameter, value: str | None) -> float | str | None:
    """Turn the word into a number where it is one."""
    if value is None or value in ("otsu", "median"):
        return value
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a threshold; write a number, otsu or median.", ctx, param) from None


def _value_range(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Split LOW,HIGH."""
    if value is None:
        return None
    try:
        low, high = (float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} does not have the form LOW,HIGH.", ctx, param) from None
    return low, high


def _range(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, int | None] | None:
    """Split FIRST:END."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d*):(\d*)", value)
    if match is None:
        raise click.BadParameter(f"{value!r} does not have the form FIRST:END.", ctx, param)
    return int(match[1] or 0), int(match[2]) if match[2] else None


def _rectangle(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """Split LEFT,TOP,RIGHT,BOTTOM."""
    if value is None:
        return None
    if not re.fullmatch(r"\d+,\d+,\d+,\d+", value):
        raise click.BadParameter(f"{value!r} does not have the form LEFT,TOP,RIGHT,BOTTOM.", ctx, param)
    return tuple(int(part) for part in value.split(","))


_OPTIONS = (
    click.option(
        "--format", "format", type=click.Choice(list(FORMATS)), help="The kind of input, where its name does not show it."
    ),
    click.option(
        "--size",
        callback=_size,
        metavar="WxH|PIXELS|auto|none",
        help="Size of pictures: 88x128 (width x height), or the longer side; auto: at most 128, and at most 16,384 units.",
    ),
    click.option(
        "--threshold",
        callback=_threshold,
        metavar="NUMBER|otsu|median",
        help="Above it a unit is on; pictures have values from 0 to 255. [otsu for pictures]",
    ),
    click.option(
        "--levels", type=click.IntRange(2, MOST_LEVELS), metavar="N", help="Keep N levels of grey instead of black and white."
    ),
    click.option("--colour", "--color", "colour", is_flag=True, help="Keep red, green and blue, each with N levels [8]."),
    click.option(
        "--code",
        type=click.Choice(CODES),
        help="How a level becomes units: thermometer, N - 1 of them, or gray, as few as can be. [thermometer]",
    ),
    click.option(
        "--value-range",
        callback=_value_range,
        metavar="LOW,HIGH",
        help="What the lowest and the highest level stand for. [0,255; in arrays of other numbers, their range]",
    ),
    click.option("--invert", is_flag=True, help="Make dark on and bright off; of levels, the negative."),
    click.option("--frames", callback=_range, metavar="FIRST:END", help="The frames to take, counted from 0, without END."),
    click.option("--stride", type=click.IntRange(min=1), metavar="N", help="Take every Nth frame."),
    click.option(
        "--crop", callback=_rectangle, metavar="LEFT,TOP,RIGHT,BOTTOM", help="The part of the picture to take, in pixels."
    ),
    click.option("--loop", is_flag=True, help="Close each sequence: its last pattern is followed by the first."),
    click.option("--drop-repeats", is_flag=True, help="Drop a frame that equals the one before it."),
    click.option(
        "--drop-near",
        type=click.IntRange(min=0),
        default=0,
        metavar="UNITS",
        help="Drop a frame that differs from the last one kept in at most so many units.",
    ),
    click.option(
        "--key",
        help="The array in an npz or mat file (for spikes also two: TIMES,UNITS), or what to read from an NWB file. [its units]",
    ),
    click.option(
        "--time-axis",
        type=click.IntRange(0, 1),
        help="Where time runs: 0, each row is a time step; 1, each column is (neurons x time).",
    ),
    click.option(
        "--bin", type=float, metavar="SECONDS", help="Read spike times, or average signals (NWB), in bins of this width."
    ),
    click.option("--step", type=float, help="Music: quarter notes per time step. [the coarsest grid that fits]"),
)


EPOCHS = click.option(
    "--epochs",
    metavar="TABLE",
    help="Intervals (trials, laps), each of which is a sequence: the name of a table in an NWB file, or for other spikes a CSV "
    "file of starts and ends.",
)


def read_files(paths: Sequence[str | os.PathLike[str]], **options: Any) -> Sequences:
    """Read files as `load_all` does, in a process that ends with the command and may take only so much memory and time."""
    return _read(paths, options, several=True)


def read_file(path: str | os.PathLike[str], **options: Any) -> Sequences:
    """Read one file as `load` does, in such a process."""
    return _read([path], options, several=False)


def _read(paths: Sequence[str | os.PathLike[str]], options: dict[str, Any], *, several: bool) -> Sequences:
    """Read files apart; refusals speak of flags."""
    from seqattractor.io._options import Terms
    from seqattractor.io._subprocess import Bounds, load_in_subprocess

    return load_in_subprocess(paths, options, terms=Terms("command line"), bounds=Bounds(), several=several)


def load_like(
    picture_shape: tuple[int, int] | None, read: Callable[..., Sequences], known: dict[str, Any], wanted: dict[str, Any]
) -> Sequences:
    """Read as the stored sequences were read, with the options `known`, unless those that are `wanted` say otherwise."""
    from seqattractor.io._load import NoPicturesError
    from seqattractor.io._options import NoEpochsError

    size = {} if picture_shape is None else {"size": picture_shape}
    try:
        return read(**{**known, **size, **wanted})
    except NoPicturesError:  # a table or array of units will do, too, but not what was said about the stored pictures
        return read(**{k: v for k, v in known.items() if k not in PICTURES_ONLY}, **wanted)
    except NoEpochsError:
        if wanted.get("epochs") is not None:
            raise
        return load_like(picture_shape, read, {k: v for k, v in known.items() if k != "epochs"}, wanted)


def refuse_to_overwrite(out: Path, inputs: Sequence[Path]) -> None:
    """Refuse to write the result over what it is made from."""
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise ValueError(f"{out} would be written over what is read; give another name.")


def loading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `load` to a command; they arrive as keywords."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def as_options(given: dict[str, Any]) -> dict[str, Any]:
    """Keep what the user gave, in the form that `load` takes."""
    options = {name: value for name, value in given.items() if value is not None and value is not False}
    if options.get("size") == "none":
        options["size"] = None
    return options
