"""Arrays: npy and npz files with frames, patterns, or spike times. A header that promises too much is not believed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Options
from seqattractor.io._recording import Recording, check_room, collect_frames
from seqattractor.networks._model_file import DAMAGED
from seqattractor.sequences import split

MAX_BYTES = 2**31
RATE_NAMES = ("rate", "fps", "fs")
BESIDE = ("lengths", *RATE_NAMES)  # what may stand beside the array of sequences


def read_array(path: Path, options: Options) -> Recording:
    """Read frames (T, height, width), patterns (T, N), or several sequences (S, T, height, width) of numbers."""
    with _open(path) as members:
        name, array = _choose(members, options.key, path)
        rate = _rate(members, name)
        lengths = members.read("lengths") if "lengths" in members.names else None
    array = _grey(array)
    if not 2 <= array.ndim <= 4:
        raise ValueError(
            f"the array {name!r} in {path} has the shape {array.shape}; sequences have the shape (time, units), "
            "(time, height, width) or (sequences, time, height, width)."
        )
    several = array.ndim == 4
    if options.time_axis is not None:
        array = np.moveaxis(array, options.time_axis, 1 if several else 0)
    if 0 in array.shape:
        raise ValueError(f"the array {name!r} in {path} is empty: its shape is {array.shape}.")
    sequences = list(array) if several else _split(array, lengths)
    if array.ndim > 2:
        sequences = [collect_frames(frames, options, path) for frames in sequences]
    check_room(sum(len(s) for s in sequences), sum(s.size for s in sequences), path)
    names = [f"{path.stem}[{s}]" for s in range(len(sequences))] if len(sequences) > 1 or several else [path.stem]
    return Recording(sequences, "pictures" if array.ndim > 2 else "array", names, rate=rate)


def read_columns(path: Path, key: str | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read two arrays of equal length from an npz file, spike times and units, by their names."""
    with _open(path) as members:
        if key is not None:
            names = [part.strip() for part in key.split(",")]
            if len(names) != 2 or any(name not in members.names for name in names):
                raise ValueError(f"the key must name two arrays of {path}, times and units, out of {', '.join(members.names)}.")
        else:
            names = [_named(members, words, path) for words in (("time",), ("unit", "neuron", "cell", "cluster"))]
        times, units = (members.read(name).ravel() for name in names)
    if len(times) != len(units):
        raise ValueError(f"{path} has {len(times)} spike times, but {len(units)} unit numbers; they must be equally many.")
    return times, units


def _named(members: _Members, words: tuple[str, ...], path: Path) -> str:
    """The only array whose name contains one of the words."""
    names = [name for name in members.names if any(word in name.lower() for word in words)]
    if len(names) != 1:
        raise ValueError(
            f"{path} holds the arrays {', '.join(members.names)}; say which are the spike times and units with key (--key)."
        )
    return names[0]


class _Members:
    """The arrays of a file by name, each read when it is asked for."""

    def __init__(self, path: Path, archive: zipfile.ZipFile | None) -> None:
        self._path, self._archive = path, archive
        self.names = [n[:-4] for n in archive.namelist() if n.endswith(".npy")] if archive else [path.stem]

    def read(self, name: str) -> NDArray[Any]:
        """Give one array."""
        if self._archive is None:
            with self._path.open("rb") as file:
                return _read(file, self._path.stat().st_size, self._path)
        member = f"{name}.npy"
        with self._archive.open(member) as stream:
            return _read(stream, self._archive.getinfo(member).file_size, self._path)


@contextmanager
def _open(path: Path) -> Iterator[_Members]:
    """Open an npy or npz file; every way in which it can be broken is one ValueError."""
    try:
        if path.suffix.lower() == ".npy":
            yield _Members(path, None)
            return
        with zipfile.ZipFile(path) as archive:
            yield _Members(path, archive)
    except zipfile.BadZipFile:
        raise ValueError(f"{path} is not an npz file, or it is cut short.") from None
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged ({error or type(error).__name__}); save it again.") from None


def _read(stream: IO[bytes], size: int, path: Path) -> NDArray[Any]:
    """Read one array after comparing what its header promises with what the file holds."""
    try:
        version = _magic(stream)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(stream)
        promised = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if promised > size:
            raise ValueError(f"its header promises {promised:,} bytes, but it holds {size:,}")
        if promised > MAX_BYTES:
            raise ValueError(f"its {promised / 1e9:.1f} GB are more than the {MAX_BYTES / 1e9:.1f} GB that are read")
        stream.seek(0)
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
    except (ValueError, SyntaxError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} cannot be read as an array: {reason.rstrip('.')}.") from None


def _magic(stream: IO[bytes]) -> tuple[int, int]:
    """The version of an npy file, which stands at its beginning."""
    try:
        return np.lib.format.read_magic(stream)
    except ValueError:
        raise ValueError("it does not begin as an npy file does") from None


def _choose(members: _Members, key: str | None, path: Path) -> tuple[str, NDArray[Any]]:
    """The array that holds the sequences, unpacked where it is bit-packed beside its shape."""
    names = members.names
    if key is not None and key not in names:
        raise ValueError(f"{path} has no array {key!r}; it holds {', '.join(names) or 'none'}.")
    if key is None:
        usual = [n for n in names if n in ("X", "frames", "recall")]
        candidates = usual or [n for n in names if not n.endswith("_shape") and n not in BESIDE]
        if len(candidates) != 1:
            raise ValueError(
                f"{path} holds the arrays {', '.join(names)}; say which one with key (on the command line --key)."
                if names
                else f"{path} holds no arrays."
            )
        key = candidates[0]
    array = members.read(key)
    twin = f"{key}_shape"
    return key, _unpack(array, members.read(twin), path, key) if twin in names else array


def _split(array: NDArray[Any], lengths: NDArray[Any] | None) -> list[NDArray[Any]]:
    """The sequences of an array (T, ...), where the file holds lengths that belong to it."""
    if lengths is None or lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        return [array]
    belong = bool((lengths > 0).all()) and int(lengths.sum()) == len(array)
    return list(split(array, lengths.astype(np.int64))) if belong else [array]


def _unpack(packed: NDArray[Any], shape: NDArray[Any], path: Path, name: str) -> NDArray[Any]:
    """Undo np.packbits(frames.reshape(T, -1), axis=1), given the shape of the frames."""
    full = tuple(int(s) for s in shape.ravel())
    bits = int(np.prod(full[1:], dtype=object))
    whole = packed.dtype == np.uint8 and packed.ndim == 2 and len(full) > 1
    if not (whole and packed.shape == (full[0], -(-bits // 8))):
        raise ValueError(f"the array {name!r} in {path} does not fit the shape {full} that stands beside it.")
    return np.unpackbits(packed, axis=1, count=bits).reshape(full)


def _rate(members: _Members, name: str) -> float | None:
    """The frame rate, where the file names one: fps, rate, fs or <name>_fs."""
    for candidate in (f"{name}_fs", f"{name}_rate", *RATE_NAMES):
        if (
            candidate in members.names
            and (value := members.read(candidate)).size == 1
            and value.dtype.kind in "iuf"
            and value.ravel()[0] > 0
        ):
            return float(value.ravel()[0])
    return None


def _grey(array: NDArray[Any]) -> NDArray[Any]:
    """Make colour frames (T, height, width, 3 or 4) grey."""
    if array.ndim == 4 and array.shape[3] in (3, 4) and array.dtype == np.uint8:
        return np.asarray(array[..., :3] @ np.array([0.299, 0.587, 0.114], dtype=np.float32))
    return array[..., 0] if array.ndim == 4 and array.shape[3] == 1 else array
