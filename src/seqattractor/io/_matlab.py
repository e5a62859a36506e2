"""MATLAB files: numbers, and cells of numbers; of version 7.3, which is HDF5, numbers only. Nothing else is decoded."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._hdf5 import Refused, open_hdf5, read_numbers
from seqattractor.io._terms import TooLargeError, brief, terms
from seqattractor.io._text import MAX_COLUMNS

HEADER = 128  # bytes: words, a version, and in which order bytes stand
MATRIX, COMPRESSED = 14, 15
CELL, OPAQUE = 1, 17  # classes of variables
LOGICAL, COMPLEX = 0x200, 0x800
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
NAMED = 2**12  # bytes of a variable in which its name stands

Element = tuple[int, memoryview]
"""What kind of data it is, and its bytes."""


def open_matlab(path: Path) -> dict[str, Callable[[], NDArray[np.generic]]]:
    """List the variables of a file; each is decoded when it is called, a cell of vectors as an array of objects."""
    with path.open("rb") as file:
        head = file.read(HEADER)
        order = {b"IM": "<", b"MI": ">"}.get(head[126:])
        version = struct.unpack(f"{order}H", head[124:126])[0] >> 8 if order else 0
        if version == 2:
            return _in_hdf5(path)
        if order is None or version != 1:
            raise ValueError(f"{path} is not a MATLAB file of version 5 or later, or it is damaged; save it again with -v7.")
        if (size := path.stat().st_size) > terms().array_bytes:
            raise TooLargeError(f"{path} has {size / 1e6:.0f} MB, more than are read; save only what is to be learned.")
        data = memoryview(file.read())
    found: dict[str, Callable[[], NDArray[np.generic]]] = {}
    for kind, body in _elements(data, order, path):
        flags, (_, second, third), _ = _described(_unpacked(kind, body, order, path, NAMED), order, path)
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


def _unpacked(kind: int, body: memoryview, order: str, path: Path, most: int | None = None) -> memoryview:
    """The bytes of a variable, or the first of them, which may be compressed."""
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
        if most is None and (len(content) != size or packed.decompress(packed.unconsumed_tail, 1) or not packed.eof):
            raise _damaged(path, "a variable in it has another size than its header promises")
    except zlib.error:
        raise _damaged(path, "a variable in it cannot be unpacked") from None
    return memoryview(content)


def _variable(kind: int, body: memoryview, order: str, path: Path, name: str) -> NDArray[np.generic]:
    """Decode a variable: numbers in its shape, or of a cell one flat array for each of its entries."""
    content = _unpacked(kind, body, order, path)
    flags, (_, sides, _), parts = _described(content, order, path)
    if flags & 0xFF != CELL:
        return _numbers(content, order, path, name)
    if (count := prod(_shape(sides, order, path))) > MAX_COLUMNS:
        raise TooLargeError(f"{path} holds a cell of {count} entries in {brief(name)}, more than a network can have units.")
    entries = [entry for kind, entry in parts if kind == MATRIX]
    if len(entries) != count:
        raise _damaged(path, f"the cell {brief(name)} does not hold as many entries as it promises")
    cells = np.empty(count, dtype=object)
    for k, entry in enumerate(entries):
        cells[k] = _numbers(entry, order, path, name).ravel() if len(entry) else np.zeros(0)
    return cells


def _described(content: memoryview, order: str, path: Path) -> tuple[int, list[memoryview], Iterator[Element]]:
    """The flags of a variable, which tell its class; flags, shape and name as bytes; and the parts that follow."""
    parts = _elements(content, order, path)
    first = [part for _, part in islice(parts, 3)]
    if len(first) < 3 or len(first[0]) != 8:
        raise _damaged(path, "a variable in it has no shape or no name")
    return struct.unpack_from(f"{order}I", first[0])[0], first, parts


def _shape(sides: memoryview, order: str, path: Path) -> tuple[int, ...]:
    """The shape of a variable."""
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
        raise ValueError(f"the variable {brief(name)} in {path} holds {kinds}; only full arrays of real numbers are read.")
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
        raise ValueError(f"{path} is a MATLAB file of version 7.3, which needs h5py; {how}.") from None
    with open_hdf5(path, "a MATLAB file") as file:
        names = [name for name, thing in file.items() if isinstance(thing, h5py.Dataset) and "MATLAB_empty" not in thing.attrs]

    def read(name: str) -> NDArray[np.generic]:
        with open_hdf5(path, "a MATLAB file") as file:
            if file[name].attrs.get("MATLAB_class") in (b"char", b"cell"):
                raise Refused(f"the variable {brief(name)} in {path} holds texts or cells; only numbers are read of version 7.3.")
            return read_numbers(file[name], name, path).T  # whose axes MATLAB writes from the last to the first

    return {name: partial(read, name) for name in names}


def _damaged(path: Path, why: str) -> ValueError:
    """The error of a file that is not what it should be."""
    return ValueError(f"{path} is damaged: {why}; save it again.")
