"""Arrays: npy, npz and MATLAB files with frames, patterns, or spike times. Sizes are checked before
memory is used.
"""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._hdf5 import BadFileError, open_hdf5, read_numbers
from seqattractor.io._options import Options, TooLargeError, brief, brief_list, remedy, terms
from seqattractor.io._pictures import BRIGHTNESS
from seqattractor.io._recording import Recording, check_room, collect_frames
from seqattractor.io._text import MAX_COLUMNS, UNIT_NAMES, choose_time_axis, rate_of, seconds_of
from seqattractor.networks.model_file import DAMAGED
from seqattractor.sequences import split

HEADER = 128  # bytes: words, a version, and in which order bytes stand
MATRIX, COMPRESSED = 14, 15
CELL, OPAQUE = 1, 17  # classes of variables
LOGICAL, COMPLEX = 0x200, 0x800
STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
CLASSES = {
    6: "f8",
    7: "f4",
    8: "i1",
    9: "u1",
    10: "i2",
    11: "u2",
    12: "i4",
    13: "u4",
    14: "i8",
    15: "u8",
}
NAMED = 2**12  # bytes of a variable in which its name stands

Element = tuple[int, memoryview]  # what kind of data it is, and its bytes


def open_matlab(path: Path) -> dict[str, Callable[[], NDArray[np.generic]]]:
    """List the variables of a file; each is decoded when it is called, a cell of vectors as an
    array of objects.
    """
    with path.open("rb") as file:
        head = file.read(HEADER)
        order = {b"IM": "<", b"MI": ">"}.get(head[126:])
        version = struct.unpack(f"{order}H", head[124:126])[0] >> 8 if order else 0
        if version == 2:
            return _in_hdf5(path)
        if order is None or version != 1:
            raise ValueError(
                f"{path} is not a MATLAB file of version 5 or later, or it is damaged; save it "
                "again with -v7."
            )
        if (size := path.stat().st_size) > terms().array_bytes:
            raise TooLargeError(
                f"{path} has {size / 1e6:.0f} MB, more than are read; save only what is to be "
                "learned."
            )
        data = memoryview(file.read())
    found: dict[str, Callable[[], NDArray[np.generic]]] = {}
    for kind, body in _elements(data, order, path):
        flags, (_, second, third), _ = _described(
            _unpacked(kind, body, order, path, NAMED), order, path
        )
        name = bytes(second if flags & 0xFF == OPAQUE else third).decode("latin-1")
        if name in found:
            raise _damaged(path, f"two of its variables are called {brief(name)}")
        if name:  # what has none belongs to objects
            found[name] = partial(_variable, kind, body, order, path, name)
    return found


def _elements(data: memoryview, order: str, path: Path) -> Iterator[Element]:
    """Go through the parts of a file or of a variable."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise _damaged(path, "it is cut short")
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # at most four bytes, in the place of the size
            start, kind, size, step = at + 4, kind & 0xFFFF, kind >> 16, 8
        else:
            start, step = at + 8, 8 + size + (0 if kind == COMPRESSED else -size % 8)
        if start + size > len(data) or (step == 8 and size > 4):
            raise _damaged(path, "it is cut short")
        yield kind, data[start : start + size]
        at += step


def _unpacked(
    kind: int, body: memoryview, order: str, path: Path, most: int | None = None
) -> memoryview:
    """Return the bytes of a variable, or the first of them, which may be compressed."""
    if kind == MATRIX:
        return body
    if kind != COMPRESSED:
        raise _damaged(path, f"it holds data of the unknown kind {kind}")
    packed = zlib.decompressobj()
    try:
        start = packed.decompress(body, 8)
        inner, size = struct.unpack(f"{order}II", start) if len(start) == 8 else (0, 0)
        if inner != MATRIX:
            raise _damaged(path, "a variable in it cannot be unpacked")
        if most is None and size > terms().array_bytes:
            raise TooLargeError(f"{path} unpacks to {size / 1e6:.0f} MB, more than are read.")
        content = packed.decompress(packed.unconsumed_tail, min(size, most or size) or 1)
        if most is None and (
            len(content) != size or packed.decompress(packed.unconsumed_tail, 1) or not packed.eof
        ):
            raise _damaged(path, "a variable in it has another size than its header promises")
    except zlib.error:
        raise _damaged(path, "a variable in it cannot be unpacked") from None
    return memoryview(content)


def _variable(
    kind: int, body: memoryview, order: str, path: Path, name: str
) -> NDArray[np.generic]:
    """Decode a variable: numbers in its shape, or of a cell one flat array for each of its
    entries.
    """
    content = _unpacked(kind, body, order, path)
    flags, (_, sides, _), parts = _described(content, order, path)
    if flags & 0xFF != CELL:
        return _numbers(content, order, path, name)
    if (count := prod(_shape(sides, order, path))) > MAX_COLUMNS:
        raise TooLargeError(
            f"{path} holds a cell of {count} entries in {brief(name)}, more than a network can "
            "have units."
        )
    entries = [entry for kind, entry in parts if kind == MATRIX]
    if len(entries) != count:
        raise _damaged(path, f"the cell {brief(name)} does not hold as many entries as it promises")
    cells = np.empty(count, dtype=object)
    for k, entry in enumerate(entries):
        cells[k] = _numbers(entry, order, path, name).ravel() if len(entry) else np.zeros(0)
    return cells


def _described(
    content: memoryview, order: str, path: Path
) -> tuple[int, list[memoryview], Iterator[Element]]:
    """Return the flags of a variable, with its class; flags, shape and name as bytes; and the parts
    that follow.
    """
    parts = _elements(content, order, path)
    first = [part for _, part in islice(parts, 3)]
    if len(first) < 3 or len(first[0]) != 8:
        raise _damaged(path, "a variable in it has no shape or no name")
    return struct.unpack_from(f"{order}I", first[0])[0], first, parts


def _shape(sides: memoryview, order: str, path: Path) -> tuple[int, ...]:
    """Return the shape of a variable."""
    shape = np.frombuffer(sides, f"{order}i4").tolist() if len(sides) % 4 == 0 else []
    if not 2 <= len(shape) <= 32 or min(shape) < 0:
        raise _damaged(path, "a variable in it has no shape")
    return tuple(shape)


def _numbers(content: memoryview, order: str, path: Path, name: str) -> NDArray[np.generic]:
    """Decode an array of real numbers, which may be stored in fewer bytes than they have."""
    flags, (_, sides, _), parts = _described(content, order, path)
    dtype = CLASSES.get(flags & 0xFF)
    if dtype is None or flags & COMPLEX:
        kinds = "complex numbers" if dtype else "texts, structures, objects or sparse numbers"
        raise ValueError(
            f"the variable {brief(name)} in {path} holds {kinds}; only full arrays of real numbers "
            "are read."
        )
    dtype, shape = "?" if flags & LOGICAL else dtype, _shape(sides, order, path)
    words = " x ".join(map(str, shape))
    if prod(shape) * np.dtype(dtype).itemsize > terms().array_bytes:
        raise TooLargeError(f"{path} holds {words} values in {brief(name)}, more than are read.")
    kind, values = next(parts, (0, memoryview(b"")))
    if prod(shape) == 0:
        return np.zeros(shape, dtype)
    if kind not in STORED or len(values) != prod(shape) * np.dtype(STORED[kind]).itemsize:
        raise _damaged(path, f"{brief(name)} promises {words} values, but does not hold so many")
    return np.frombuffer(values, order + STORED[kind]).astype(dtype).reshape(shape, order="F")


def _in_hdf5(path: Path) -> dict[str, Callable[[], NDArray[np.generic]]]:
    """List the arrays of numbers of a file of version 7.3."""
    try:
        import h5py
    except ImportError:
        how = 'save it again with -v7, or: pip install "seqattractor[nwb]"'
        raise ValueError(
            f"{path} is a MATLAB file of version 7.3, which needs h5py; {how}."
        ) from None
    with open_hdf5(path, "a MATLAB file") as file:
        names = [
            name
            for name, thing in file.items()
            if isinstance(thing, h5py.Dataset) and "MATLAB_empty" not in thing.attrs
        ]

    def read(name: str) -> NDArray[np.generic]:
        with open_hdf5(path, "a MATLAB file") as file:
            if file[name].attrs.get("MATLAB_class") in (b"char", b"cell"):
                raise BadFileError(
                    f"the variable {brief(name)} in {path} holds texts or cells; of version 7.3 "
                    "only numbers are read."
                )
            return read_numbers(
                file[name], name, path
            ).T  # whose axes MATLAB writes from the last to the first

    return {name: partial(read, name) for name in names}


def _damaged(path: Path, why: str) -> ValueError:
    """Return the error of a file that is not what it should be."""
    return ValueError(f"{path} is damaged: {why}; save it again.")


RATE_NAMES = ("rate", "fps", "fs")
Arrays = dict[str, Callable[[], NDArray[Any]]]  # each is read when it is asked for
BESIDE = ("lengths", *RATE_NAMES)  # what may stand beside the array of sequences


def read_array(path: Path, options: Options) -> Recording:
    """Read frames (T, height, width), patterns (T, N), or several sequences (S, T, height, width)
    of numbers.
    """
    with open_arrays(path) as arrays:
        name, array = _choose(arrays, options.key, path)
        rate = _rate(arrays, name)
        lengths = _flat(arrays["lengths"]()) if "lengths" in arrays else None
        times = _times_beside(arrays, name) if array.ndim == 2 else {}
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"the array {brief(name)} in {path} holds values of type {array.dtype}, not numbers."
        )
    value_range = BRIGHTNESS if array.dtype == np.uint8 else None
    array = _in_colour(array, name, path) if options.colour else _grey(array)
    if not 2 <= array.ndim <= 4 + options.colour:
        raise ValueError(
            f"the array {brief(name)} in {path} has the shape {array.shape}; sequences have the "
            "shape (time, units), (time, height, width) or (sequences, time, height, width)."
        )
    several = array.ndim == 4 + options.colour
    if options.time_axis is not None:
        array = np.moveaxis(array, options.time_axis, 1 if several else 0)
    elif along := [
        other for other, seconds in times.items() if len(array) != len(seconds) == array.shape[1]
    ]:
        raise ValueError(
            f"{path} has an entry of {brief(along[0])} for each column of {brief(name)}; "
            f"{choose_time_axis()}."
        )
    if 0 in array.shape:
        raise ValueError(f"the array {brief(name)} in {path} is empty: its shape is {array.shape}.")
    if several:
        check_room(len(array), 0, path)
    sequences = list(array) if several else _split(array, lengths)
    if array.ndim > 2:
        sequences = [collect_frames(frames, options, path) for frames in sequences]
    check_room(sum(len(s) for s in sequences), sum(s.size for s in sequences), path)
    names = (
        [f"{path.stem}[{s}]" for s in range(len(sequences))]
        if len(sequences) > 1 or several
        else [path.stem]
    )
    kind = "pictures" if array.ndim > 2 else "array"
    rate = rate or next(
        (rate_of(seconds) for seconds in times.values() if len(seconds) == len(sequences[0])), None
    )
    return Recording(sequences, kind, names, rate=rate, value_range=value_range)


@contextmanager
def open_arrays(path: Path) -> Iterator[Arrays]:
    """Open an npy, npz or MATLAB file; every way in which it can be broken is one ValueError."""
    if path.suffix.lower() == ".mat":
        yield open_matlab(path)
        return
    try:
        if path.suffix.lower() == ".npy":
            yield {path.stem: partial(_read, lambda: path.open("rb"), path.stat().st_size, path)}
            return
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            if len({m.filename for m in members}) < len(members):
                raise ValueError(
                    f"{path} is damaged (two of its arrays have the same name); save it again."
                )
            _check_directory(path, archive)
            yield {
                m.filename[:-4]: partial(_read, partial(archive.open, m), m.file_size, path)
                for m in members
            }
    except zipfile.BadZipFile:
        raise ValueError(
            f"{path} is not an npz file, or it is damaged or cut short; save it again."
        ) from None
    except (*DAMAGED, OSError) as error:  # a damaged offset may point outside the file
        if isinstance(error, (FileNotFoundError, PermissionError, MemoryError)):
            raise
        raise ValueError(f"{path} is damaged ({_reason(error)}); save it again.") from None


def _check_directory(path: Path, archive: zipfile.ZipFile) -> None:
    """Compare the directory of a zip with the rest of it: of its parts only the arrays have a
    checksum of their own.
    """
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2**16 - 22))
        _, _, end = file.read().rpartition(
            b"PK\x05\x06"
        )  # the end record: 4 bytes about disks, then how many there are
    count = int.from_bytes(end[6:8], "little")
    if count not in (0xFFFF, len(archive.infolist())):
        raise ValueError(
            f"{path} is damaged: it should hold {count} arrays, but holds "
            f"{len(archive.infolist())}; save it again."
        )
    for (
        info
    ) in archive.infolist():  # a damaged name differs from the one that stands before the array
        archive.open(info).close()


def _read(opened: Callable[[], IO[bytes]], size: int, path: Path) -> NDArray[Any]:
    """Read one array after comparing what its header promises with what the file holds."""
    with opened() as stream:
        try:
            if stream.read(6) != np.lib.format.MAGIC_PREFIX:
                raise ValueError("it does not begin as an npy file does")
            stream.seek(0)
            version = np.lib.format.read_magic(stream)
            header = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = header(stream)
            promised, most = int(np.prod(shape, dtype=object)) * dtype.itemsize, terms().array_bytes
            if dtype.itemsize == 0 or any(side < 0 for side in shape):
                raise ValueError(
                    f"its header promises values of type {dtype.str} in the shape {shape}"
                )
            if promised > size:
                raise ValueError(f"its header promises {promised:,} bytes, but it holds {size:,}")
            if promised > most:
                raise TooLargeError(
                    f"{path} unpacks to {promised / 1e6:.0f} MB, more than the {most / 1e6:.0f} MB "
                    "that are read."
                )
            stream.seek(0)
            array = np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
            while stream.read(2**20):  # to the end, where a zip compares the checksum
                pass
            return array
        except TooLargeError:
            raise
        except (
            ValueError,
            SyntaxError,
            TypeError,
            tokenize.TokenError,
            OverflowError,
            RecursionError,
        ) as error:
            raise ValueError(f"{path} cannot be read as an array: {_reason(error)}.") from None


def _reason(error: BaseException) -> str:
    """Return the first line of the message of an error, or the name of its class."""
    if isinstance(error, OSError):  # "[Errno 22] Invalid argument" helps nobody
        return "its directory points outside the file"
    return (
        str(error).strip().splitlines()[0].rstrip(".")[:200]
        if str(error).strip()
        else type(error).__name__
    )


def _choose(arrays: Arrays, key: str | None, path: Path) -> tuple[str, NDArray[Any]]:
    """Find the array that holds the sequences."""
    if key is not None and key not in arrays:
        raise ValueError(f"{path} has no array {key!r}; it holds {brief_list(list(arrays))}.")
    if key is None:
        if arrays and all(name.endswith("_") for name in arrays):  # as fitted attributes are called
            raise ValueError(
                f"{path} looks like a model, which has learned already; `seqattractor recall "
                f"{path.name}` uses it."
            )
        usual = [n for n in arrays if n in ("X", "frames", "recall")]
        candidates = usual or [n for n in arrays if n not in BESIDE]
        named = [n for n in candidates if seconds_of(n) is None and n.lower() not in UNIT_NAMES]
        candidates = named if len(named) == 1 else candidates
        if not arrays:
            raise ValueError(f"{path} holds no arrays.")
        if len(candidates) != 1:
            choose = remedy(
                "name one with {key}, and for spike times give also {bin}",
                'name one, under "Name in the file"',
            )
            raise ValueError(f"{path} holds the arrays {brief_list(list(arrays))}; {choose}.")
        key = candidates[0]
    return key, arrays[key]()


def _times_beside(arrays: Arrays, chosen: str) -> dict[str, NDArray[Any]]:
    """Return the times in seconds that stand beside an array of units, by the names of their
    arrays.
    """
    scales = {
        name: scale for name in arrays if name != chosen and (scale := seconds_of(name)) is not None
    }
    found = {name: _flat(arrays[name]()) for name in scales}
    return {
        name: times * scales[name]
        for name, times in found.items()
        if times.ndim == 1 and times.dtype.kind in "iuf"
    }


def _flat(array: NDArray[Any]) -> NDArray[Any]:
    """Return a row or a column as a list: in MATLAB there is nothing else."""
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def _split(array: NDArray[Any], lengths: NDArray[Any] | None) -> list[NDArray[Any]]:
    """Return the sequences of an array (T, ...), where the file holds lengths that belong to it."""
    if lengths is None or lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        return [array]
    belong = bool(((lengths > 0) & (lengths <= len(array))).all()) and int(
        lengths.sum(dtype=object)
    ) == len(array)
    return list(split(array, lengths.astype(np.int64))) if belong else [array]


def _rate(arrays: Arrays, name: str) -> float | None:
    """Return the frame rate, where the file names one: fps, rate, fs or <name>_fs."""
    for candidate in (f"{name}_fs", f"{name}_rate", *RATE_NAMES):
        value = arrays[candidate]().ravel() if candidate in arrays else np.zeros(0)
        if value.size == 1 and value.dtype.kind in "iuf" and 0 < value[0] < np.inf:
            return float(value[0])
    return None


def _in_colour(array: NDArray[Any], name: str, path: Path) -> NDArray[Any]:
    """Frames (T, height, width, 3), or several sequences of them, without a fourth channel, the
    transparency.
    """
    if array.ndim in (4, 5) and array.shape[-1] in (3, 4):
        return array[..., :3]
    raise ValueError(
        f"the array {brief(name)} in {path} has the shape {array.shape}; frames in colour have "
        "(time, height, width, 3). "
        + remedy("Without {colour}, {levels} makes it grey.", "Read it in grey.")
    )


def _grey(array: NDArray[Any]) -> NDArray[Any]:
    """Make colour frames (T, height, width, 3 or 4) grey."""
    if array.ndim == 4 and array.shape[3] in (3, 4) and array.dtype == np.uint8:
        weights, grey = (
            np.array([0.299, 0.587, 0.114], dtype=np.float32),
            np.empty(array.shape[:3], dtype=np.float32),
        )
        for t, frame in enumerate(array):  # one by one: in between a value takes four bytes
            grey[t] = frame[..., :3] @ weights
        return grey
    return array[..., 0] if array.ndim == 4 and array.shape[3] == 1 else array
