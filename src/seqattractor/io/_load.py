"""One entry for people's own sequences: `load` reads a file or a folder, `load_all` several into
one set.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_kind, say
from seqattractor._files import named_path
from seqattractor._suggest import no_such
from seqattractor.io._options import FORMATS, NoEpochsError, Options, remedy
from seqattractor.io._recording import Recording, to_patterns
from seqattractor.sequences import Patterns, Sequences
from seqattractor.sequences._columns import natural_key, note_name, pitches_of
from seqattractor.sequences._level_code import CHANNELS
from seqattractor.sequences._patterns import is_loop
from seqattractor.sequences._transitions import close_loop

if TYPE_CHECKING:
    from seqattractor.io._spikes import Epochs

MOST_UNITS = 2**20


class NoPicturesError(ValueError):
    """A size or a crop was given for a file without pictures."""


def load(path: str | os.PathLike[str], **options: Any) -> Sequences:
    r"""Read sequences from a file or a folder as patterns of +-1. (Saved networks are read by
    `seqattractor.load`.)

    Parameters
    ----------
    path : path
        An animated GIF, WebP or PNG; a folder of pictures, in natural order; a video (needs the
        extra ``video``); an npy, npz or MATLAB file (version 7.3 needs the extra ``nwb``) with
        patterns (T, N), frames (T, height, width) or several sequences of frames (S, T, height,
        width), or with an array ``lengths`` beside them; text art with blank lines between frames
        (txt); a CSV or TSV table with a row for each time step; a MIDI file, read as a piano roll;
        with `bin`, spike times in seconds and units, as two columns of text, an array (n, 2), two
        arrays of a file, or a MATLAB cell with the times of each unit; or an NWB file with spikes,
        calcium traces or behaviour (needs the extra ``nwb``). The ending of a file decides how it
        is read, and sizes are checked before anything is decoded. Files are read in this process:
        let the command line or the lab, which read in a subprocess with limits, read files that you
        do not trust.
    format : {"pictures", "video", "array", "text", "table", "spikes", "midi", "nwb"}, optional
        By default it follows from the name of the file.
    size : int, (height, width), "auto" or None
        Pixels of the longer side, or both sides. "auto" (the default) shrinks pictures with a side
        above 128 to that, and those in grey or colour to at most 16,384 units; None never.
    threshold : float, "otsu", "median" or None
        A unit is on where the value is above it; pictures have values from 0 to 255. "otsu" finds
        one threshold for the whole file, "median" one for each frame; of spikes and NWB files both
        find one for each unit. By default values of two kinds are cut between them, pictures by
        Otsu's threshold, a unit with spikes in a bin is on, and other numbers need a choice.
    levels : int, optional
        From 2 to 256 levels of grey instead of black and white; each pixel becomes a group of units
        (see `code`).
    colour : bool
        Keep red, green and blue, each with so many levels; 8 by default.
    code : {"thermometer", "gray"}
        How levels become units: see `encoders.LevelCode`.
    value_range : (low, high), optional
        Values between which levels are spread: by default 0 and 255 for pictures, the smallest and
        the largest value of arrays.
    invert : bool
        Exchange on and off, bright and dark: for dark figures on a bright page.
    frames : (first, end), optional
        Which frames to take, as in a slice; the end may be None.
    stride : int
        Take every n-th frame.
    crop : (left, top, right, bottom), optional
        The rectangle of the picture to take, in pixels.
    loop : bool
        Close the sequence: x(T) = x(1).
    drop_repeats : bool
        Drop a pattern that equals the one before it.
    drop_near : int
        Drop a pattern that differs from the last one taken in at most so many units.
    key : str, optional
        The name of the array in an npz or mat file; for spikes also two, ``"times,units"``. In an
        NWB file the table of units or the time series, such as ``"position"`` or
        ``"ophys/DfOverF"``; by default the units, or the only series.
    time_axis : {0, 1}, optional
        Which axis of an array or a table is time: 1 for neurons x time. By default 0 (of several
        sequences their first axis); names before rows and times for columns need a choice.
    bin : float, optional
        The width of a time bin in seconds; makes a raster of spike times, and averages the time
        series of an NWB file, of which otherwise every sample is a time step.
    step : float, optional
        Of music: quarter notes per time step. By default the coarsest grid on which the notes
        start.
    epochs : str, optional
        Intervals, each of which becomes a sequence: of an NWB file the name of a table in it, such
        as ``"trials"``; of other spikes a CSV file with a start and an end in seconds in each line,
        and optionally a name. By default the whole recording is one. See `from_pynapple` for the
        bins of an epoch.

    Returns
    -------
    Sequences

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "blinker.txt"
    >>> _ = path.write_text("...\n###\n...\n\n.#.\n.#.\n.#.\n")
    >>> load(path, loop=True)
    Sequences: 1 loop of 3 patterns, 3 x 3 pixels
    """
    target = named_path(path)
    known = [option.name for option in fields(Options)]
    for option in options:
        if option not in known:
            raise TypeError(no_such("option", option, known))
    chosen = Options(**options)
    if not target.exists():
        raise FileNotFoundError(f"there is no file or folder {target}.")
    if not (target.is_file() or target.is_dir()):
        raise ValueError(f"{target} is neither a file nor a folder.")
    if target.is_file() and target.stat().st_size == 0:
        raise ValueError(f"{target} is empty: it has 0 bytes.")
    try:
        recording = _read(target, chosen)
    except PermissionError:
        raise ValueError(f"{target} is not readable; check its permissions.") from None
    if (
        chosen.epochs is not None and _format(target, chosen) != "nwb"
    ):  # a file of epochs belongs to one recording, not to cues
        chosen = replace(chosen, epochs=None)
    return as_sequences(recording, chosen, target)


def load_all(paths: Iterable[str | os.PathLike[str]], **options: Any) -> Sequences:
    r"""Read several files with the same options, to be stored in one network.

    Parameters
    ----------
    paths : list of paths
    **options
        As in `load`.

    Returns
    -------
    Sequences
        Columns that have names (notes, neurons) are brought into line: a unit that a file lacks is
        off there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, rows in (("a", "0,1\n1,1"), ("b", "1,0\n0,0")):
    ...     _ = (folder / f"{name}.csv").write_text(rows)
    >>> both = load_all([folder / "a.csv", folder / "b.csv"])
    >>> both.names, both.lengths
    (['a', 'b'], array([2, 2]))
    """
    if not isinstance(paths, Iterable) or isinstance(
        paths, (str, bytes, bytearray, memoryview, np.ndarray)
    ):
        raise TypeError(f"load_all reads a list of files, but it got {say(paths)}; load reads one.")
    files = list(paths)
    return join(files, [load(path, **options) for path in files])


def join(paths: Sequence[str | os.PathLike[str]], parts: list[Sequences]) -> Sequences:
    """Join sequences of several files into one set."""
    if not parts:
        raise ValueError("there is nothing to load: give at least one file or folder.")
    named = [part.units for part in parts if part.units is not None]
    if len(named) == len(parts):
        parts = [align_units(part, all_units(named)) for part in parts]
    first = parts[0]
    for path, part in zip(paths, parts, strict=True):
        if part.frame_shape != first.frame_shape:
            raise ValueError(
                f"{path} has frames of {_shape(part.frame_shape)}, but {paths[0]} has "
                f"{_shape(first.frame_shape)}; "
                + remedy("sequences in one network must have one size: give a {size}.")
            )
        if part.code != first.code:
            how = remedy("give one {value_range} for all")
            raise ValueError(
                f"{path} has other levels than {paths[0]}, because its values have another range; "
                f"{how}."
            )
    return replace(
        first,
        patterns=np.concatenate([part.patterns for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
        names=[name for part in parts for name in part.names],
        kind=first.kind if all(part.kind == first.kind for part in parts) else "array",
    )


def align_units(part: Sequences, units: Sequence[str]) -> Sequences:
    """Bring the named columns of loaded sequences into a given order.

    Parameters
    ----------
    part : Sequences
        Without named columns they stay as they are.
    units : list of str
        The names, in the order of the columns of the result; a unit that `part` lacks is off there.

    Returns
    -------
    Sequences

    Examples
    --------
    >>> part = Sequences([[1, -1]], units=["C4", "D4"])
    >>> align_units(part, ["B3", "C4", "D4"]).patterns
    array([[-1,  1, -1]], dtype=int8)
    """
    check_kind(part, Sequences, "part", "Sequences, as loaders give them")
    check_kind(units, Iterable, "units", "a list of names")
    units = list(islice(units, MOST_UNITS + 1))
    if len(units) > MOST_UNITS:
        raise ValueError(f"there are more than {MOST_UNITS} units, more than a network can have.")
    if part.units is None or list(part.units) == units:
        return part
    if not units:
        raise ValueError(
            "there are no units to bring the columns into line with; give at least one name."
        )
    columns = dict(zip(part.units, part.patterns.T, strict=True))
    used = [name for name, x in columns.items() if name not in units and (x > 0).any()]
    if used:
        raise ValueError(
            f"{part.names[0]} has the unit {used[0]!r}, which is not among those of the network "
            f"({units[0]} to {units[-1]})."
        )
    off = np.full(len(part), -1, dtype=np.int8)
    X = np.column_stack([columns.get(name, off) for name in units])
    return replace(part, patterns=X, units=units, frame_shape=(len(units),))


def all_units(lists: list[list[str]]) -> list[str]:
    """Return all names in natural order; of notes, all keys from the lowest to the highest."""
    names = {name for names in lists for name in names}
    pitches = pitches_of(names)
    if pitches and not any(name.isdigit() for name in names):
        return [note_name(pitch) for pitch in range(min(pitches), max(pitches) + 1)]
    if all(part == lists[0] for part in lists):
        return lists[0]
    return sorted(names, key=natural_key)


def _read(path: Path, options: Options) -> Recording:
    """Read a file or a folder with the reader of its format, which is imported when it is
    needed.
    """
    name = _format(path, options)
    if options.epochs is not None and name not in ("nwb", "spikes"):
        spikes = remedy("give {bin} for spikes, or leave {epochs} out")
        raise NoEpochsError(
            f"{path} is read as neither spikes nor NWB, and only these have epochs; {spikes}."
        )
    module, _, function = FORMATS[name].reader.partition(":")
    recording: Recording = getattr(import_module(f"seqattractor.io.{module}"), function)(
        path, options
    )
    return recording


def read_intervals(path: Path, options: Options, column: str | None = None) -> Epochs:
    """Read the epochs of a recording, all of them: also those that are too short for a bin.

    Their labels are those of a `column`, or of the one with their names.
    """
    name, module = _format(path, options), "seqattractor.io."
    if name == "nwb":
        found: Epochs = import_module(f"{module}_nwb").read_nwb_epochs(path, options.epochs, column)
    else:
        table = Path(options.epochs or "")
        found = import_module(f"{module}_spikes").read_epochs(table, path, column)
    return found


def _format(path: Path, options: Options) -> str:
    """As what a file or a folder is read."""
    if path.is_dir() and options.format not in (None, "pictures"):
        raise ValueError(f"{path} is a folder; only pictures are read from folders.")
    suffix = path.suffix.lower()
    by_name = (
        "pictures"
        if path.is_dir()
        else next((name for name, known in FORMATS.items() if suffix in known.suffixes), None)
    )
    if options.bin is not None and by_name in ("array", "text", "table"):
        by_name = "spikes"
    name = options.format or by_name
    if name is None:
        known = ", ".join(s[1:] for kind in FORMATS.values() for s in kind.suffixes)
        raise ValueError(
            f"{path} is of an unknown kind; known are folders and {known}; "
            f"{remedy('or give the {format}')}."
        )
    return name


def as_sequences(recording: Recording, options: Options, path: Path | str) -> Sequences:
    """Turn a recording into patterns with their metadata; `path` names it in messages."""
    if recording.sequences[0].ndim == 2:
        if options.crop is not None or options.size not in ("auto", None):
            raise NoPicturesError(
                f"size and crop are for pictures, but {path} has none; leave them out."
            )
        if options.n_levels is not None:
            table = (
                "leave them out (sa.encoders.LevelEncoder gives the columns of a table several "
                "levels)"
            )
            raise NoPicturesError(
                f"levels and colour are for pictures, but {path} has none; "
                f"{remedy(table, 'choose black and white')}."
            )
        recording.sequences = [_pick(s, options, path) for s in recording.sequences]
    if options.colour and recording.sequences[0].shape[3:] != (CHANNELS,):
        raise NoPicturesError(f"{path} has no colours; choose levels of grey instead.")
    patterns, code = to_patterns(recording, options, path)
    if code is not None and recording.value_range is None:  # a cue is read with the same levels
        options = replace(options, value_range=(code.low, code.high))
    if options.drop_repeats or options.drop_near:
        patterns = [without_repeats(p, options.drop_near) for p in patterns]
    if options.loop:  # a sequence that ends where it began is closed already
        patterns = [p if is_loop(p) else close_loop(p, 1) for p in patterns]
    return Sequences(
        np.concatenate(patterns),
        np.array([len(p) for p in patterns]),
        frame_shape=(
            *map(int, recording.sequences[0].shape[1:]),
            *(() if code is None else (code.n_bits,)),
        ),
        names=recording.names,
        units=recording.units,
        rate=recording.rate / options.stride if recording.rate else None,
        step=recording.step * options.stride if recording.step else None,
        kind=recording.kind,
        closed=int(options.loop),
        options=options.as_dict(),
        code=code,
    )


def without_repeats(patterns: Patterns, near: int) -> Patterns:
    """Leave out every pattern that differs from the last one taken in at most so many units."""
    taken = [0]
    for t in range(1, len(patterns)):
        if np.count_nonzero(patterns[t] != patterns[taken[-1]]) > near:
            taken.append(t)
    return patterns[taken]


def _pick(values: NDArray[Any], options: Options, path: Path | str) -> NDArray[Any]:
    """Take the rows that the options choose."""
    first, end = options.frames or (0, None)
    picked = values[first : end : options.stride]
    if not len(picked):
        raise ValueError(f"{path} has {len(values)} frames, none of them in the chosen range.")
    return picked


def _shape(shape: tuple[int, ...]) -> str:
    """Return a frame's shape in words."""
    return (
        f"{shape[0]} units" if len(shape) == 1 else f"{shape[1]}x{shape[0]} pixels (width x height)"
    )
