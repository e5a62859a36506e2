"""One entry for people's own sequences: `load` reads a file or a folder, `load_all` several into one set."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from seqattractor.io import _arrays as arrays
from seqattractor.io import _midi as midi
from seqattractor.io import _pictures as pictures
from seqattractor.io import _spikes as spikes
from seqattractor.io import _tables as tables
from seqattractor.io import _text as text
from seqattractor.io import _video as video
from seqattractor.io._options import Options
from seqattractor.io._recording import Recording
from seqattractor.io._threshold import to_patterns
from seqattractor.sequences import Patterns, split
from seqattractor.sequences._loops import close_loop, is_loop

__all__ = ["align_units", "close_loops", "load", "load_all"]

Reader = Callable[[Path, Options], Recording]

_READERS: dict[str, tuple[tuple[str, ...], Reader]] = {
    "pictures": (pictures.SUFFIXES, pictures.read_pictures),
    "video": (video.SUFFIXES, video.read_video),
    "array": (arrays.SUFFIXES, arrays.read_array),
    "text": (text.SUFFIXES, text.read_text),
    "table": (tables.SUFFIXES, tables.read_table),
    "midi": (midi.SUFFIXES, midi.read_midi),
    "spikes": ((), spikes.read_spikes),
}


class NoPicturesError(ValueError):
    """A size or a crop was given for a file without pictures."""


def load(path: str | os.PathLike[str], **options: Any) -> Bunch:
    r"""Read sequences from a file or a folder as patterns of +-1.

    Parameters
    ----------
    path : path
        An animated GIF, WebP or PNG; a folder of pictures, which are sorted naturally; a video (needs the extra ``video``); an
        npy or npz file with patterns (T, N), frames (T, height, width) or several sequences of frames (S, T, height, width);
        text art with blank lines between frames (txt); a CSV or TSV table with a row for each time step; a MIDI file, read as a
        piano roll; or, with `bin`, an npz file or two columns of text with spike times in seconds and units.
    format : {"pictures", "video", "array", "text", "table", "spikes", "midi"}, optional
        By default it follows from the name of the file.
    size : int, (height, width), "auto" or None
        Pixels of the longer side, or both sides. "auto" (the default) shrinks pictures with a side above 128 to that; None never.
    threshold : float, "otsu", "median" or None
        A unit is on where the value is above it; pictures have values from 0 to 255. "otsu" finds one threshold for the whole
        file, "median" takes that of each frame. By default values of two kinds are cut between them, pictures by Otsu's
        threshold, and other numbers need a choice.
    invert : bool
        Make on what was off: for dark figures on a bright page.
    frames : (first, end), optional
        Which frames to take, as in a slice; the end may be None.
    stride : int
        Take every so many-th frame.
    crop : (left, top, right, bottom), optional
        The rectangle of the picture to take, in pixels.
    loop : bool
        Close the sequence: x(T) = x(1).
    drop_repeats : bool
        Drop a pattern that equals the one before it.
    key : str, optional
        The name of the array in an npz file; for spikes two, ``"times,units"``. An array with a twin ``<key>_shape`` is taken as
        bit-packed and unpacked to that shape.
    time_axis : {0, 1}, optional
        Which axis of an array or a table is time, where it is not the first; of several sequences, 1 by default.
    bin : float, optional
        The width of a time bin in seconds; makes a raster of spike times.
    step : float, optional
        Of music: quarter notes in a time step. By default the coarsest grid on which the notes start.

    Returns
    -------
    Bunch
        ``X`` (T, N) int8 and ``lengths`` (S,), ``frame_shape`` (its product is N), ``names`` of the sequences, ``units`` (names
        of the columns, or None), ``rate`` (frames in a second, or None), ``step`` (of music), ``kind`` ("pictures", "array",
        "text", "table", "spikes" or "music"), ``closed`` (how many patterns at the end repeat the beginning) and ``options``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "blinker.txt"
    >>> _ = path.write_text("...\n###\n...\n\n.#.\n.#.\n.#.\n")
    >>> blinker = load(path, loop=True)
    >>> blinker.X.shape, blinker.frame_shape, blinker.kind
    ((3, 9), (3, 3), 'text')
    """
    target = Path(path)
    try:
        chosen = Options(**options)
    except TypeError as error:
        raise TypeError(f"load has no such option ({error}).") from None
    if not target.exists():
        raise FileNotFoundError(f"there is no file or folder {target}.")
    if not (target.is_file() or target.is_dir()):
        raise ValueError(f"{target} is neither a file nor a folder.")
    if target.is_file() and target.stat().st_size == 0:
        raise ValueError(f"{target} is empty: it has 0 bytes.")
    try:
        recording = _reader(target, chosen)(target, chosen)
    except PermissionError:
        raise ValueError(f"{target} may not be read; check its permissions.") from None
    return _as_bunch(recording, chosen, target)


def load_all(paths: Sequence[str | os.PathLike[str]], **options: Any) -> Bunch:
    r"""Read several files with the same options, to be stored in one network.

    Parameters
    ----------
    paths : list of paths
    **options
        As in `load`.

    Returns
    -------
    Bunch
        As `load` gives it. Columns that have names (notes, neurons) are brought into line: a unit that a file lacks is off there.

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
    if not paths:
        raise ValueError("there is nothing to load: give at least one file or folder.")
    parts = [load(path, **options) for path in paths]
    if all(part.units is not None for part in parts):
        units = _union([part.units for part in parts])
        parts = [align_units(part, units) for part in parts]
    first = parts[0]
    for path, part in zip(paths, parts, strict=True):
        if part.frame_shape != first.frame_shape:
            raise ValueError(
                f"{path} has frames of {_shape(part.frame_shape)}, but {paths[0]} has {_shape(first.frame_shape)}; "
                "sequences in one network must have one size: give a size."
            )
    joined = Bunch(**first)
    joined.X = np.concatenate([part.X for part in parts])
    joined.lengths = np.concatenate([part.lengths for part in parts])
    joined.names = [name for part in parts for name in part.names]
    joined.kind = first.kind if all(part.kind == first.kind for part in parts) else "array"
    return joined


def close_loops(data: Bunch, order: int) -> Bunch:
    """Repeat the first `order` patterns at the end of each sequence, so that a network with that context goes round for ever.

    Parameters
    ----------
    data : Bunch
        As `load` gives it, with or without ``loop=True``.
    order : int
        1 gives what ``loop=True`` gives: x(T) = x(1).

    Returns
    -------
    Bunch
        With the attribute ``closed`` set to `order`.

    Examples
    --------
    >>> X = np.array([[1, 1], [1, -1], [-1, 1]], dtype=np.int8)
    >>> close_loops(Bunch(X=X, lengths=np.array([3]), closed=0), 2).X.tolist()
    [[1, 1], [1, -1], [-1, 1], [1, 1], [1, -1]]
    """
    parts = [close_loop(x[: len(x) - data.closed], order) for x in split(data.X, data.lengths)]
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    return Bunch(**{**data, "X": np.concatenate(parts), "lengths": lengths, "closed": order})


def align_units(part: Bunch, units: Sequence[str]) -> Bunch:
    """Bring the named columns of loaded sequences into a given order.

    Parameters
    ----------
    part : Bunch
        As `load` gives it. Without named columns it stays as it is.
    units : list of str
        The names, in the order of the columns of the result; a unit that `part` lacks is off there.

    Returns
    -------
    Bunch

    Examples
    --------
    >>> part = Bunch(X=np.array([[1, -1]], dtype=np.int8), units=["C4", "D4"], names=["tune"])
    >>> align_units(part, ["B3", "C4", "D4"]).X
    array([[-1,  1, -1]], dtype=int8)
    """
    if part.units is None or list(part.units) == list(units):
        return part
    place = {name: k for k, name in enumerate(units)}
    unknown = [name for name in part.units if name not in place]
    used = [name for name in unknown if (part.X[:, part.units.index(name)] > 0).any()]
    if used:
        raise ValueError(
            f"{part.names[0]} has the unit {used[0]!r}, which is not among those of the network ({units[0]} to {units[-1]})."
        )
    X = np.full((len(part.X), len(units)), -1, dtype=np.int8)
    for column, name in enumerate(part.units):
        if name in place:
            X[:, place[name]] = part.X[:, column]
    return Bunch(**{**part, "X": X, "units": list(units), "frame_shape": (len(units),)})


def _reader(path: Path, options: Options) -> Reader:
    """Choose who reads this."""
    if path.is_dir():
        if options.format not in (None, "pictures"):
            raise ValueError(f"{path} is a folder; only pictures are read from folders.")
        return pictures.read_folder
    if options.format is not None:
        return _READERS[options.format][1]
    suffix = path.suffix.lower()
    if options.bin is not None and suffix in (*arrays.SUFFIXES, *tables.SUFFIXES, *text.SUFFIXES):
        return spikes.read_spikes
    for suffixes, reader in _READERS.values():
        if suffix in suffixes:
            return reader
    known = ", ".join(s[1:] for suffixes, _ in _READERS.values() for s in suffixes)
    raise ValueError(
        f"{path} is of an unknown kind; known are folders and {known}; or say the format (on the command line --format)."
    )


def _as_bunch(recording: Recording, options: Options, path: Path) -> Bunch:
    """Make patterns of a recording and tell about it."""
    flat = recording.sequences[0].ndim == 2
    if flat:
        if options.crop is not None or options.size not in ("auto", None):
            raise NoPicturesError(f"size and crop are for pictures, but {path} has none; leave them out.")
        recording.sequences = [_pick(s, options, path) for s in recording.sequences]
    patterns = to_patterns(
        recording.sequences, options.threshold, invert=options.invert, pictures=recording.kind == "pictures", where=str(path)
    )
    if options.drop_repeats:
        patterns = [_without_repeats(p) for p in patterns]
    if options.loop:  # a sequence that ends where it began is closed already
        patterns = [p[:-1] if is_loop(p) else p for p in patterns]
    data = Bunch(
        X=np.concatenate(patterns),
        lengths=np.array([len(p) for p in patterns], dtype=np.int64),
        frame_shape=tuple(int(n) for n in recording.sequences[0].shape[1:]),
        names=recording.names,
        units=recording.units,
        rate=recording.rate / options.stride if recording.rate else None,
        step=recording.step * options.stride if recording.step else None,
        kind=recording.kind,
        closed=0,
        options=options.as_dict(),
    )
    return close_loops(data, 1) if options.loop else data


def _pick(values: NDArray[Any], options: Options, path: Path) -> NDArray[Any]:
    """Take the wanted rows."""
    first, end = options.frames or (0, None)
    picked = values[first : end : options.stride]
    if not len(picked):
        raise ValueError(f"{path} has {len(values)} frames, none of them in the chosen range.")
    return picked


def _without_repeats(X: Patterns) -> Patterns:
    """Drop each pattern that equals the one before it."""
    new = np.ones(len(X), dtype=bool)
    new[1:] = (X[1:] != X[:-1]).any(axis=1)
    return X[new]


def _union(lists: list[list[str]]) -> list[str]:
    """All names in natural order; of notes, all keys from the lowest to the highest."""
    names = {name for names in lists for name in names}
    pitches = [midi.pitch_of(name) for name in names if not name.isdigit()]
    known = [pitch for pitch in pitches if pitch is not None]
    if known and len(known) == len(names):
        return [midi.note_name(pitch) for pitch in range(min(known), max(known) + 1)]
    if all(part == lists[0] for part in lists):
        return lists[0]
    return sorted(names, key=pictures.natural_key)


def _shape(shape: tuple[int, ...]) -> str:
    """A frame's shape in words."""
    return f"{shape[0]} units" if len(shape) == 1 else f"{shape[1]}x{shape[0]} pixels (width x height)"
