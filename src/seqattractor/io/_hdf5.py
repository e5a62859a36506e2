"""HDF5 files, whose structure and sizes are checked before anything is read; links to other files
are rejected.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from math import prod
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import TooLargeError, brief, terms

BEGINNING = b"\x89HDF\r\n\x1a\n"
HEAP = b"GCOL\1\0\0\0"  # how a heap of texts begins; its size follows
MAX_SEARCHED = 2**30  # bytes of a file in which heaps are looked for, which takes about a second
MAX_OBJECTS = 2**16  # groups and datasets: a recording has hundreds, or some thousands


class BadFileError(ValueError):
    """A message of ours about a file, distinguished from the errors of libraries."""


@contextmanager
def open_hdf5(path: Path, what: str) -> Iterator[Any]:
    """Open a file whose structure is in order as an h5py.File; every error of a library becomes one
    sentence.

    Inside the block, raise `BadFileError` for a message of your own. `what` names the expected kind
    of file in messages.
    """
    with path.open("rb") as start:
        head = start.read(512 + len(BEGINNING))  # before which MATLAB writes words of its own
        if BEGINNING not in (head[: len(BEGINNING)], head[512:]):
            raise ValueError(
                f"{path} cannot be read as {what}: it is damaged, or its name does not fit what it "
                "is; save it again."
            )
        if _runs_in_place(start):
            raise ValueError(
                f"{path} is damaged: a heap of texts in it has no end; save or download it again."
            )
    h5py = import_module("h5py")
    try:
        with h5py.File(path, "r") as file:
            _check_structure(file, h5py, path)
            yield file
    except BadFileError as error:
        raise ValueError(str(error)) from None
    except (TooLargeError, MemoryError):
        raise
    except Exception as error:  # libraries raise errors of any kind on damaged files
        reason = brief(" ".join(f"{type(error).__name__}: {error}".split()))[1:-1]
        raise ValueError(
            f"{path} cannot be read as {what}: it is damaged, or of an unknown version ({reason})."
        ) from None


def _runs_in_place(file: IO[bytes]) -> bool:
    """Whether a heap has free space of size 0, in which HDF5 goes round for ever: zeros where a
    download was cut, for example.
    """
    with mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        heap = data.find(HEAP, 0, MAX_SEARCHED)
        while heap >= 0:
            (size,) = struct.unpack_from("<Q", data, heap + 8) if heap + 16 <= len(data) else (0,)
            at, end = heap + 16, min(heap + size, len(data))
            while at + 16 <= end:
                number, _, _, used = struct.unpack_from("<HHIQ", data, at)
                if number == 0 and used == 0:
                    return True
                at += used if number == 0 else 16 + (used + 7) // 8 * 8
            heap = data.find(HEAP, heap + 1, MAX_SEARCHED)
    return False


def read_numbers(data: Any, name: str, path: Path) -> NDArray[Any]:
    """Read an array of numbers whose size is in order; `data` is a dataset, or an array of a
    library that looks like one.
    """
    dtype = getattr(data, "dtype", np.dtype(object))
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
        raise BadFileError(
            f"{path} holds values of type {brief(dtype)[1:-1]} in {brief(name)}, not numbers."
        )
    parts = [
        getattr(data, "chunks", None) or (),
        data.shape,
    ]  # a part that was packed together is unpacked as a whole
    if (
        max(prod(int(n) for n in shape) for shape in parts) * max(dtype.itemsize, 8)
        > terms().array_bytes
    ):
        raise TooLargeError(
            f"{path} holds {' x '.join(map(str, data.shape))} values in {brief(name)}, more than "
            "are read."
        )
    return np.asarray(data[...] if hasattr(data, "id") else data)


def _check_structure(file: Any, h5py: Any, path: Path) -> None:
    """Look at all links and datasets of a file: nothing may lead out of it, and there may not be
    too many.
    """
    pending, seen = [file], {_address(file, h5py)}
    while pending:
        group = pending.pop()
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise _leads_out(path, f"{group.name}/{name}", link.filename)
            if isinstance(
                link, h5py.SoftLink
            ):  # to something inside, which is looked at where it stands
                continue
            found = group[name]
            if (address := _address(found, h5py)) in seen:
                continue
            seen.add(address)
            if len(seen) > MAX_OBJECTS:
                raise TooLargeError(
                    f"{path} has more than {MAX_OBJECTS} groups and arrays, more than are read."
                )
            if isinstance(found, h5py.Group):
                pending.append(found)
            elif isinstance(found, h5py.Dataset):
                outside = [source[0] for source in found.external or ()]
                outside += (
                    [source.file_name for source in found.virtual_sources()]
                    if found.is_virtual
                    else []
                )
                if outside:
                    raise _leads_out(path, found.name, outside[0])


def _address(thing: Any, h5py: Any) -> int:
    """Return where an object stands in its file; two names of it have the same address."""
    return int(h5py.h5o.get_info(thing.id).addr)


def _leads_out(path: Path, place: str, target: object) -> BadFileError:
    """Return the error of a file that takes data from elsewhere."""
    there = brief(str(place).replace("//", "/"))
    return BadFileError(
        f"{path} takes {there} from another file, {brief(target)}; only what a file holds itself "
        "is read: export it."
    )
