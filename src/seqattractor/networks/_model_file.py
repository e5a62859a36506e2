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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._files import atomic_write

FORMAT = "seqattractor-model"
FORMAT_VERSION = 2
_WITHOUT_DIGEST = 1
_HEADER = "header.json"
_MOST_HEADER = 2**26  # bytes; names, settings and the shapes of arrays take some thousands
_NPY_HEADER = 2**16  # bytes; numpy writes 128
_MADE = (1980, 1, 1, 0, 0, 0)  # the time of every member, so that the same network gives the same bytes
# What zipfile and numpy raise on the way through an npz whose inside is broken.
DAMAGED = (zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError)


def write_model(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a model file: an npz with one .npy for each array and a JSON header that holds a digest of everything."""
    members = {f"{name}.npy": _npy_parts(array) for name, array in sorted(arrays.items())}
    full = {"format": FORMAT, "version": FORMAT_VERSION, **header}
    full["digest"] = _digest(full, members)
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, parts in {_HEADER: [json.dumps(full, indent=1).encode()], **members}.items():
            with archive.open(zipfile.ZipInfo(name, _MADE), "w", force_zip64=True) as member:
                for part in parts:
                    member.write(part)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model file; what is not one, or is damaged, gives a ValueError that says so.

    Members are stored as they are, so that nothing is larger in memory than the file is on disk.
    """
    target = Path(path)
    if not target.exists():
        raise FileNotFoundError(f"there is no model file {target}.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a model file.")
    with refusing(target):
        with zipfile.ZipFile(target) as archive:
            if _HEADER not in archive.namelist():
                raise ValueError(f"{target} is not a seqattractor model: it has no header.")
            members = {info.filename: _content(archive, info) for info in archive.infolist()}
            if len(members) < len(archive.infolist()):
                raise ValueError("two of its arrays have the same name")
        header = json.loads(members.pop(_HEADER))
        _check_header(header, target)
        digest = header.pop("digest", None)
        if header["version"] == _WITHOUT_DIGEST:
            warnings.warn(
                f"{target} was saved by seqattractor 0.1 without a digest, so that damage may go unnoticed; save it again.",
                stacklevel=3,
            )
        elif digest != _digest(header, {name: [content] for name, content in members.items()}):
            raise ValueError("its contents are not what was saved")
        header.pop("arrays", None)  # shapes, which version 1 had in the header
        return header, {name.removesuffix(".npy"): _from_npy(content) for name, content in members.items()}


class refusing:
    """A context in which anything that goes wrong becomes one sentence about a damaged file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Say what is wrong with the file, and that it is this file; interruptions pass."""
        if not isinstance(error, Exception) or str(self.path) in str(error):
            return
        if isinstance(error, zipfile.BadZipFile):
            raise ValueError(
                f"{self.path} is not a seqattractor model, or it is truncated: it cannot be opened as an npz file."
            ) from None
        why = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
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
        raise ValueError(f"{target} is not a seqattractor model.")
    if header.get("version") not in (_WITHOUT_DIGEST, FORMAT_VERSION):
        raise ValueError(
            f"{target} is a model file of version {header.get('version')!r}, but this seqattractor reads versions "
            f"{_WITHOUT_DIGEST} and {FORMAT_VERSION}; save it again with a matching release."
        )


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytearray:
    """One member of the archive, which may be as large as the file and no larger."""
    if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
        raise ValueError(f"its member {info.filename} is compressed, which model files never are")
    if info.filename == _HEADER and info.file_size > _MOST_HEADER:
        raise ValueError(f"its header has {info.file_size} bytes")
    if info.filename != _HEADER and not info.filename.endswith(".npy"):
        raise ValueError(f"it has a member {info.filename!r}")
    return bytearray(archive.read(info))


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
    return flat.reshape(shape, order="F" if by_columns else "C")


# -- parameters and fitted values as plain JSON values -----------------------------------------------------------


def to_json(value: Any, name: str) -> Any:
    """Turn a parameter or a fitted value, called `name`, into what JSON can hold; generators keep their state.

    Examples
    --------
    >>> to_json({"sizes": np.array([2, 3]), "rate": np.float64(0.5)}, "settings")
    {'sizes': [2, 3], 'rate': 0.5}
    """
    if isinstance(value, np.random.Generator):
        return {"__generator__": _plain(value.bit_generator.state)}
    plain = _plain(value)
    if isinstance(plain, (bool, int, float, str, type(None), list, dict)):
        return plain
    raise TypeError(
        f"{name} is of type {type(value).__name__}, which a model file cannot hold; set it to a number, a text or None."
    )


def _plain(value: Any) -> Any:
    """Replace numpy's numbers and arrays by Python's, also inside lists and dicts."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def from_json(value: Any) -> Any:
    """Undo `to_json`, which leaves tuples and arrays as lists.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> from_json(to_json(rng, "random_state")).random() == rng.random()
    True
    """
    if isinstance(value, dict) and "__generator__" in value:
        state = value["__generator__"]
        kind = getattr(np.random, str(state["bit_generator"]), None)
        if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
            raise TypeError("unknown random generator")
        bit_generator = kind()
        bit_generator.state = state
        return np.random.Generator(bit_generator)
    return value
