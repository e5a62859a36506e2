"""The model file: an npz of arrays with a JSON header of plain values, never pickle."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._files import atomic_write

FORMAT = "seqattractor-model"
FORMAT_VERSION = 1
_HEADER = "header.json"
# What zipfile and numpy raise on the way through an npz whose inside is broken.
DAMAGED = (zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError)


def write_model(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a model file: an npz with one .npy for each array and a JSON header."""
    shapes = {name: list(np.shape(array)) for name, array in arrays.items()}
    full = {"format": FORMAT, "version": FORMAT_VERSION, **header, "arrays": shapes}
    text = json.dumps(full, indent=1, allow_nan=True)
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        archive.writestr(_HEADER, text)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model file; what is not one, or is damaged, gives a ValueError that says so."""
    target = Path(path)
    if not target.exists():
        raise FileNotFoundError(f"there is no model file {target}.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a model file.")
    try:
        with zipfile.ZipFile(target) as archive:
            if _HEADER not in archive.namelist():
                raise ValueError(f"{target} is not a seqattractor model: it has no header.")
            header = json.loads(archive.read(_HEADER))
            _check_header(header, target)
            arrays = {n[:-4]: _read_array(archive, n) for n in archive.namelist() if n.endswith(".npy")}
            _check_arrays(header.pop("arrays", {}), arrays, target)
            return header, arrays
    except zipfile.BadZipFile:
        raise ValueError(
            f"{target} is not a seqattractor model, or it is truncated: it cannot be opened as an npz file."
        ) from None
    except (*DAMAGED, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"the model file {target} is damaged ({error or type(error).__name__}); save the model again.") from None


def _check_header(header: Any, target: Path) -> None:
    """Refuse a header that is not ours or of another version."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{target} is not a seqattractor model.")
    if header.get("version") != FORMAT_VERSION:
        raise ValueError(
            f"{target} is a model file of version {header.get('version')!r}, but this seqattractor reads version "
            f"{FORMAT_VERSION}; save it again with a matching release."
        )


def _check_arrays(shapes: dict[str, list[int]], arrays: dict[str, NDArray[Any]], target: Path) -> None:
    """Refuse a file that lacks an array which its header names, or has it in another shape."""
    for name, shape in shapes.items():
        if name not in arrays or list(arrays[name].shape) != shape:
            found = f"has the shape {arrays[name].shape}, not {tuple(shape)}" if name in arrays else "is missing"
            raise ValueError(f"the model file {target} is damaged (the array {name} {found}); save the model again.")


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read one array, never larger than the file says it is."""
    try:
        with archive.open(name) as member:
            version = np.lib.format.read_magic(member)
            read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = read_header(member)
        # A header may promise more than the file holds: compare before numpy makes room for it.
        if int(np.prod(shape, dtype=object)) * dtype.itemsize > archive.getinfo(name).file_size:
            raise ValueError("an array is shorter than its header says")
        with archive.open(name) as member:
            return np.asarray(np.lib.format.read_array(member, allow_pickle=False))
    except ValueError as error:
        raise ValueError(f"the model file {archive.filename} is damaged ({error}); save the model again.") from None


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
