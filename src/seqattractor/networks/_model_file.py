"""The model file: an npz of arrays with a JSON header of plain values and a digest of both, never pickle."""

from __future__ import annotations

import hashlib
import io
import json
import os
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_memory
from seqattractor._files import atomic_write, named_path
from seqattractor.networks._compact import is_part, most_bytes, pack_arrays, unpack_arrays, unpacked_size
from seqattractor.networks._origins import Origin
from seqattractor.networks._packed_array import NotDrawnAlike

FORMAT = "seqattractor-model"
FORMAT_VERSION = 3
_WITHOUT_DIGEST, _WHOLE_ARRAYS = 1, 2  # older versions that can be read
_HEADER = "header.json"
_MOST_HEADER = 2**22  # bytes; settings take some thousands, the names of many sequences and units some hundred thousands
_MOST_DIRECTORY = 2**20  # bytes; a network has some ten arrays, of a hundred bytes each
_MOST_WORDS = 300  # characters of what is said about a damaged file
_NPY_HEADER = 2**16  # bytes; numpy writes 128
_ZIP_END, _ZIP64_END = 22, 76  # bytes; the second with its pointer
# What zipfile and numpy raise on the way through an npz whose inside is broken.
DAMAGED = (zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError)
_MADE = (1980, 1, 1, 0, 0, 0)  # the time of every member, so that the same network gives the same bytes


def write_model(
    path: str | os.PathLike[str],
    header: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    origins: dict[str, Origin] | None = None,
    generator: np.random.Generator | None = None,
) -> None:
    """Write a model file: an npz with one .npy for each array or part of one, and a JSON header with a digest of everything.

    Arrays are packed if `origins` are given. Their parts are compressed, or not if the file would be so small that it could not
    be told from one that asks for too much memory.
    """
    whole: tuple[dict[str, Any], dict[str, NDArray[Any]], dict[str, NDArray[Any]]] = ({"forms": {}}, arrays, {})
    packed = whole if origins is None else pack_arrays(arrays, origins, generator)
    with atomic_write(path) as file:
        for (entries, kept, parts), compression in (
            (packed, zipfile.ZIP_DEFLATED),
            (packed, zipfile.ZIP_STORED),
            (whole, zipfile.ZIP_STORED),
        ):
            file.seek(0)
            file.truncate()
            _write_archive(file, {**header, **entries}, kept, parts, compression)
            if unpacked_size(entries["forms"], {**kept, **parts}) <= most_bytes(file.seek(0, os.SEEK_END)):
                break


def _write_archive(
    file: IO[bytes], header: dict[str, Any], kept: dict[str, NDArray[Any]], parts: dict[str, NDArray[Any]], compression: int
) -> None:
    """Write the archive; parts are compressed as is said."""
    members = {f"{name}.npy": _npy_parts(array) for name, array in sorted({**kept, **parts}.items())}
    full = {"format": FORMAT, "version": FORMAT_VERSION, **header}
    full["digest"] = _digest(full, members)
    text = json.dumps(full, indent=1).encode()
    if len(text) > _MOST_HEADER:
        raise ValueError(
            f"settings and metadata_ take {len(text)} bytes, and a model file holds {_MOST_HEADER}; keep less there."
        )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, contents in {_HEADER: [text], **members}.items():
            info = zipfile.ZipInfo(name, _MADE)
            info.compress_type = compression if name.removesuffix(".npy") in parts else zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as member:
                for content in contents:
                    member.write(content)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model file; what is not one, or is damaged, gives a ValueError that says so.

    Only parts of arrays may be compressed, and what everything takes in memory is known, and bounded by `most_bytes`, before
    anything is unpacked.
    """
    target = named_path(path)
    check_model_file(target)
    with target.open("rb") as file, refusing(target):
        members = _members(file, target)
        header = json.loads(members.pop(_HEADER))
        _check_header(header, target)
        digest = header.pop("digest", None)
        with_digest = header["version"] != _WITHOUT_DIGEST
        if digest != (_digest(header, {name: [content] for name, content in members.items()}) if with_digest else None):
            raise ValueError("its contents are not what was saved")
        arrays = {name.removesuffix(".npy"): _from_npy(content) for name, content in members.items()}
        if not with_digest and header["arrays"] != {name: list(array.shape) for name, array in arrays.items()}:
            raise ValueError("its arrays are not those that its header names")
        if header["version"] == FORMAT_VERSION:
            _check_size(unpacked_size(header["forms"], arrays), os.fstat(file.fileno()).st_size, target)
            arrays = _unpacked(header, arrays, target)
    if not with_digest:
        warnings.warn(
            f"{target} was saved by seqattractor 0.1 without a digest, so that damage may go unnoticed; save it again.",
            stacklevel=3,
        )
    return header, arrays


def check_model_file(target: Path) -> None:
    """Refuse what is not a file that could be read to its end."""
    if not target.exists():
        raise FileNotFoundError(f"there is no model file {target}; `seqattractor learn` or `net.save` makes one.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a model file.")
    if not target.is_file():  # a pipe or a device may never end
        raise OSError(f"{target} is not a regular file, so that it cannot be a model file.")


def _unpacked(header: dict[str, Any], members: dict[str, NDArray[Any]], target: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file of today."""
    try:
        return unpack_arrays(header, members)
    except NotDrawnAlike:
        raise Refused(
            f"{target} holds weights that begin with random numbers of numpy {str(header.get('numpy'))[:20]!r}, and numpy "
            f"{np.__version__} draws other ones here; load it where it was saved, and save it with compact=False."
        ) from None


class Refused(ValueError):
    """What is wrong with a file, in a whole sentence that names it."""


class refusing:
    """A context in which anything that goes wrong becomes one sentence about a damaged file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Say what is wrong with the file, and that it is this file; interruptions pass."""
        if not isinstance(error, Exception):
            return
        if isinstance(error, Refused):
            raise ValueError(str(error)) from None
        if isinstance(error, zipfile.BadZipFile):
            raise ValueError(
                f"{self.path} is not a seqattractor model, or it is truncated: it cannot be opened as an npz file."
            ) from None
        why = " ".join((str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}").split())
        why = why if len(why) <= _MOST_WORDS else f"{why[:_MOST_WORDS]}..."
        raise ValueError(f"the model file {self.path} is damaged ({why}); save the model again.") from None


def _digest(header: dict[str, Any], members: dict[str, list[Any]]) -> str:
    """A digest of the header, without its own digest, and of all arrays, each given in parts."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, parts in sorted(members.items()):
        digest.update(f"{name} {sum(memoryview(part).nbytes for part in parts)} ".encode())
        for part in parts:
            digest.update(part)
    return digest.hexdigest()


def _check_header(header: Any, target: Path) -> None:
    """Refuse a header that is not ours or of another version."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise Refused(f"{target} is not a seqattractor model.")
    version = header.get("version")
    if type(version) is not int or version not in (_WITHOUT_DIGEST, _WHOLE_ARRAYS, FORMAT_VERSION):
        raise Refused(
            f"{target} is a model file of version {repr(version)[:20]}, but this seqattractor reads versions "
            f"{_WITHOUT_DIGEST} to {FORMAT_VERSION}; save it again with a matching release."
        )


def _members(file: IO[bytes], target: Path) -> dict[str, bytearray]:
    """What is in the archive, by name. Sizes are checked first: only parts of arrays may be larger than they are in the file."""
    size = os.fstat(file.fileno()).st_size
    _check_directory(file, size)
    with zipfile.ZipFile(file) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        if _HEADER not in infos:
            raise Refused(
                f"{target} is not a seqattractor model: it has no header; `seqattractor learn` makes models of sequences."
            )
        if len(infos) < len(archive.infolist()):
            raise ValueError("two of its members have the same name")
        for name, info in infos.items():
            if name != _HEADER and not name.endswith(".npy"):
                raise ValueError(f"it has a member {name!r}")
            if info.compress_type == zipfile.ZIP_DEFLATED and is_part(name.removesuffix(".npy")):
                continue
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise ValueError(f"its member {name!r} is compressed, which only parts of arrays may be")
        if infos[_HEADER].file_size > _MOST_HEADER:
            raise ValueError(f"its header has {infos[_HEADER].file_size} bytes")
        if sum(info.compress_size for info in infos.values()) > size:
            raise ValueError("its members lie one over the other")
        _check_size(sum(info.file_size for info in infos.values()), size, target)
        return {name: _content(archive, info) for name, info in infos.items()}


def _check_size(n_bytes: int, file_size: int, target: Path) -> None:
    """Refuse a file that would take much more memory than it has bytes, or more than there is."""
    if n_bytes > most_bytes(file_size):
        raise ValueError(f"it would take {n_bytes} bytes of memory, too much for a file of {file_size}")
    try:
        check_memory(n_bytes, "it")
    except ValueError:
        raise Refused(
            f"{target} holds a network that takes {n_bytes / 2**30:.3g} GiB of memory, which is more than there is."
        ) from None


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytearray:
    """What is in a member, which must not be more or less than the directory says, whatever is unpacked."""
    with archive.open(info) as member:
        content = bytearray(member.read(info.file_size))  # no more is unpacked than is asked for
        if len(content) != info.file_size or member.read(1):
            raise ValueError(f"its member {info.filename!r} has not the size that is said")
        return content


def _check_directory(file: IO[bytes], size: int) -> None:
    """Refuse a file that does not end as a zip does, or whose directory is so long that reading it takes much memory."""
    file.seek(max(0, size - _ZIP64_END - _ZIP_END))
    tail = file.read()
    end, longer = tail[-_ZIP_END:], tail[:-_ZIP_END]
    if not end.startswith(b"PK\x05\x06"):
        raise zipfile.BadZipFile
    length = int.from_bytes(end[12:16], "little")
    if longer[-20:].startswith(b"PK\x06\x07"):  # the longer end of archives beyond 4 GB, and a pointer to it
        length = int.from_bytes(longer[-36:-28], "little")
    if length > _MOST_DIRECTORY:
        raise ValueError(f"its directory has {length} bytes")


def _npy_parts(array: NDArray[Any]) -> list[Any]:
    """An array in numpy's own format, as its header and its bytes, which are not copied."""
    whole = np.ascontiguousarray(array)
    if whole.dtype.kind not in "biuf":
        raise TypeError(f"a model file holds arrays of numbers, not of {whole.dtype}.")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(whole))
    return [header.getvalue(), whole.reshape(-1).view(np.uint8)]


def _from_npy(content: bytearray) -> NDArray[Any]:
    """An array of numbers whose header promises what is there; it lies in the bytes that were read."""
    buffer = io.BytesIO(content[:_NPY_HEADER])
    version = np.lib.format.read_magic(buffer)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read_header(buffer)
    size = len(content) - buffer.tell()
    if dtype.kind not in "biuf" or int(np.prod(shape, dtype=object)) * dtype.itemsize != size:
        raise ValueError(f"an array of {dtype} and shape {shape} does not fit its {size} bytes")
    flat = np.frombuffer(content, dtype, offset=buffer.tell())
    array = flat.reshape(shape, order="F" if by_columns else "C")
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="))  # of a machine with the other order of bytes
