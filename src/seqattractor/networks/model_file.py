"""The model file: an npz of arrays with a JSON header of plain values and a digest of both, never
pickle.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_memory, is_count
from seqattractor._files import atomic_write, named_path
from seqattractor.exchange.layers import RejectedFile
from seqattractor.networks.own_learning import as_text

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

FORMAT = "seqattractor-model"
FORMAT_VERSION = 1
_HEADER = "header.json"
_MOST_HEADER = (
    2**22
    # bytes; settings take some thousands, the names of many sequences and units some hundred
    # thousands
)
_MOST_DIRECTORY = 2**20  # bytes; a network has some ten arrays, of a hundred bytes each
_ZIP_END = 22  # bytes
_MOST_WORDS = 300  # characters of a reason for which a file is rejected
# What zipfile and numpy raise on the way through an npz whose inside is broken.
DAMAGED = (zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError)
_SCALARS = bool | int | float | str | None | np.random.Generator
_ATTACHED = {
    "attached_patterns_": "bits A N/8",
    "learning_seed_": "count L",
    "rehearsal_cues_": "pattern R kN",
    "rehearsal_steps_": "count R",
    "rehearsal_digests_": "bits R D",
    "rehearsal_patterns_": "pattern RT N",
    "rehearsal_lengths_": "count R",
}
_EVERYBODY = ("n_features_in_", "feature_names_in_", "order_", "metadata_", *_ATTACHED)
_DTYPES = {
    "float": ("f8",),
    "int": ("i4", "i8"),
    "count": ("i4", "i8"),
    "pattern": ("i1",),
    "ternary": ("i1",),
    "bits": ("u1",),
}
_LARGEST = 2**63  # of whole numbers, beside seeds; no size, count or setting comes near it
_MADE = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # the time of every member, so that the same network gives the same bytes


def contents(net: SequenceMemory) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file holds of a network: a header of plain values, and arrays."""
    from seqattractor import __version__

    fitted = net._fitted()
    arrays = {
        k: v for k, v in fitted.items() if isinstance(v, np.ndarray) and k != "feature_names_in_"
    }
    values = {k: to_json(v, k) for k, v in fitted.items() if k not in arrays}
    parameters = {k: to_json(v, k) for k, v in net.get_params(deep=False).items()}
    as_loaded = [{k: from_json(v) for k, v in part.items()} for part in (parameters, values)]
    try:  # what could not be loaded is not saved
        check_fitted(net, as_loaded[0], as_loaded[1], arrays)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"this {type(net).__name__} cannot be saved: {str(error).rstrip('.')}."
        ) from None
    header = {
        "class": type(net).__name__,
        "parameters": parameters,
        "values": values,
        "seqattractor": __version__,
    }
    return header, arrays


def write_model(
    path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write a model file: an npz with one .npy for each array, and a JSON header with a digest of
    everything.
    """
    members = {f"{name}.npy": _as_npy(array) for name, array in sorted(arrays.items())}
    full = {"format": FORMAT, "version": FORMAT_VERSION, **header}
    full["digest"] = _digest(full, members)
    text = json.dumps(full, indent=1).encode()
    if len(text) > _MOST_HEADER:
        raise ValueError(
            f"settings and metadata_ take {len(text)} bytes, and a model file holds "
            f"{_MOST_HEADER}; shorten them."
        )
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in {_HEADER: text, **members}.items():
            with archive.open(zipfile.ZipInfo(name, _MADE), "w", force_zip64=True) as member:
                member.write(content)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model file, or raise a ValueError that names it and its fault."""
    target = named_path(path)
    check_model_file(target)
    with rejecting(target):
        members = _members(target)
        header = json.loads(members.pop(_HEADER))
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise RejectedFile(f"{target} is not a seqattractor model.")
        version = header.get("version")
        if type(version) is not int or version != FORMAT_VERSION:
            raise RejectedFile(
                f"{target} is a model file of version {repr(version)[:20]}, but this seqattractor "
                f"reads version {FORMAT_VERSION}; save it again with a matching release."
            )
        if header.pop("digest", None) != _digest(header, members):
            raise ValueError("its contents are not what was saved")
        return header, {
            name.removesuffix(".npy"): _from_npy(content) for name, content in members.items()
        }


def check_model_file(target: Path) -> None:
    """Raise an error unless a path is that of a regular file."""
    if not target.exists():
        raise FileNotFoundError(
            f"there is no model file {target}; `seqattractor learn` or `net.save` makes one."
        )
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a model file.")
    if not target.is_file():  # a pipe or a device may never end
        raise OSError(f"{target} is not a regular file, so that it cannot be a model file.")


@contextmanager
def rejecting(path: Path) -> Iterator[None]:
    """Turn any error in reading a file into one sentence about it; interruptions pass."""
    try:
        yield
    except RejectedFile:
        raise
    except zipfile.BadZipFile:
        raise RejectedFile(
            f"{path} is not a seqattractor model, or it is truncated: it cannot be opened as an "
            "npz file."
        ) from None
    except Exception as error:
        why = " ".join(
            (
                str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            ).split()
        )
        why = why if len(why) <= _MOST_WORDS else f"{why[:_MOST_WORDS]}..."
        raise RejectedFile(
            f"the model file {path} is damaged ({why}); save the model again."
        ) from None


def _digest(header: dict[str, Any], members: dict[str, bytes]) -> str:
    """Return a digest of the header, without its own digest, and of all members."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, content in sorted(members.items()):
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def _members(path: Path) -> dict[str, bytes]:
    """Read the members of the archive, by name, after a check of their sizes."""
    _check_directory(path)
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        if _HEADER not in infos:
            raise RejectedFile(
                f"{path} is not a seqattractor model: it has no header; `seqattractor learn` makes "
                "models of sequences."
            )
        if len(infos) < len(archive.infolist()):
            raise ValueError("two of its members have the same name")
        for name, info in infos.items():
            if name != _HEADER and not name.endswith(".npy"):
                raise ValueError(f"it has a member {name!r}")
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                # Otherwise the size of the file would not bound the memory that it takes.
                raise ValueError(f"its member {name!r} is compressed")
        if infos[_HEADER].file_size > _MOST_HEADER:
            raise ValueError(f"its header has {infos[_HEADER].file_size} bytes")
        if (total := sum(info.file_size for info in infos.values())) > path.stat().st_size:
            raise ValueError("its members overlap")
        try:
            check_memory(2 * total, "it")
        except ValueError:
            raise RejectedFile(
                f"{path} holds a network that takes {total / 2**30:.3g} GiB of memory, which is "
                "more than there is."
            ) from None
        return {name: archive.read(info) for name, info in infos.items()}


def _check_directory(path: Path) -> None:
    """Reject a file that does not end as a zip does, or whose directory would take much memory to
    read.
    """
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _ZIP_END))
        end = file.read()
    if not end.startswith(b"PK\x05\x06"):
        raise zipfile.BadZipFile
    if (length := int.from_bytes(end[12:16], "little")) > _MOST_DIRECTORY:
        raise ValueError(f"its directory has {length} bytes")


def _as_npy(array: NDArray[Any]) -> bytes:
    """Return an array in numpy's own format."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def _from_npy(content: bytes) -> NDArray[Any]:
    """Return an array in numpy's own format in the byte order of this machine."""
    array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


# -- what a file may hold ---------------------------------------------------------------------


def check_fitted(
    net: SequenceMemory,
    parameters: dict[str, Any],
    values: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
) -> None:
    """Raise an error if a network cannot have learned these values and arrays."""
    net._check_order()
    net.check_parameters()
    if type(net).__module__.startswith("seqattractor."):
        for name, value in parameters.items():
            if not net._values.get(name, "").startswith("counts"):
                _check_plain(name, value)
    N, order = (
        check_count(values.get("n_features_in_"), "n_features_in_"),
        check_count(values.get("order_"), "order_"),
    )
    if net.order not in ("auto", order):
        raise ValueError(f"order_ is {order}, but order is {net.order}")
    for name in (*values, *arrays):
        if not _may_learn(type(net), name):
            raise ValueError(f"a {type(net).__name__} has no {name!r}")
    sizes = {"N": N, "kN": N * order, "N/8": -(-N // 8)}
    for name, array in arrays.items():
        _check_array(name, array, (net._arrays | _ATTACHED).get(name), sizes)
    for name, value in values.items():
        if name != "feature_names_in_":
            _check_plain(name, value)
        elif (
            not isinstance(value, list)
            or len(value) != N
            or not all(isinstance(word, str) for word in value)
        ):
            raise ValueError("feature_names_in_ does not name every unit")
    for name, what in net._arrays.items():
        condition = what.partition(" if ")[2]
        parameter, unless = condition.removeprefix("not "), condition.startswith("not ")
        wanted = not condition or bool(parameters.get(parameter)) != unless
        if wanted and name not in arrays:
            raise ValueError(f"the array {name} is missing")
        if name in arrays and not wanted:
            raise ValueError(f"it has {name}, but {parameter} is {'set' if unless else 'not set'}")
    for name, kind in net._values.items():
        if name.endswith("_") and name not in values:
            raise ValueError(f"{name} is missing")
        _check_value(
            name, values[name] if name.endswith("_") else parameters.get(name), kind, sizes
        )
    net._check_learned(arrays)


def _may_learn(cls: type[SequenceMemory], name: str) -> bool:
    """Return whether a class may have a fitted attribute of this name: a listed one, or for users'
    classes one that their code names.
    """
    if name in (*_EVERYBODY, *cls._arrays, *cls._values):
        return True
    fitted = name.endswith("_") and not name.startswith("_") and not hasattr(cls, name)
    of_user = not cls.__module__.startswith("seqattractor.")
    return fitted and of_user and name in _names_in_code(cls)


def _names_in_code(cls: type[SequenceMemory]) -> set[str]:
    """Return the names of attributes in the methods of a class, such as W_ in ``self.W_ = ...``."""
    members = [
        inspect.unwrap(getattr(each, "__func__", each))
        for base in cls.__mro__
        for each in vars(base).values()
    ]
    members += [f for each in members if isinstance(each, property) for f in (each.fget, each.fset)]
    waiting = [each.__code__ for each in members if inspect.isfunction(each)]
    names: set[str] = set()
    while waiting:
        code = waiting.pop()
        names.update(code.co_names)
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
    return names


def _check_plain(name: str, value: Any) -> None:
    """Raise an error unless a value is a finite number, a text, None or a generator; metadata may
    nest them.
    """
    if name == "metadata_":
        if not isinstance(value, dict | None):
            raise ValueError("metadata_ is not a table of names and values")
    elif not isinstance(value, _SCALARS):
        raise ValueError(f"{name} is {value!r}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}")
    elif isinstance(value, int) and abs(value) >= _LARGEST and name != "random_state":
        raise ValueError(f"{name} is larger than any number that is used here")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "count": lambda value: is_count(value, 0),
    "size": lambda value: is_count(value, 0),
    "counts": lambda value: isinstance(value, list | tuple) and all(is_count(one) for one in value),
    "number": _is_number,
    "positive": lambda value: _is_number(value) and value > 0,
    "flag": lambda value: isinstance(value, bool),
    "generator": lambda value: isinstance(value, np.random.Generator),
}


def _check_value(name: str, value: Any, what: str, sizes: dict[str, int]) -> None:
    """Check the kind of one value, and that it fits the arrays."""
    what, _, word = what.partition(" or ")
    if word and value == word:
        return
    kind, *rest = what.split()
    right = value in rest if kind == "word" else _KINDS[kind](value)
    if right and kind == "size" and sizes.setdefault(rest[0], value) != value:
        raise ValueError(f"{name} is {value}, but {rest[0]} is {sizes[rest[0]]}")
    if not right or (kind == "count" and rest and value > sizes.get(rest[0], value)):
        raise ValueError(f"{name} is {value!r}")


def _check_array(name: str, array: NDArray[Any], what: str | None, sizes: dict[str, int]) -> None:
    """Check the kind, shape and entries of one array; `sizes` holds the dimensions found so far, by
    their symbols.
    """
    if array.dtype.kind not in "biuf":
        raise ValueError(f"the array {name} is of {array.dtype}, and not of numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"the array {name} has entries that are not finite")
    if what is None:
        return
    kind, *symbols = what.partition(" if ")[0].split()
    if array.dtype.str[1:] not in _DTYPES[kind] or array.ndim != len(symbols):
        raise ValueError(f"the array {name} is of {array.dtype} and shape {array.shape}")
    for symbol, size in zip(symbols, array.shape, strict=True):
        if sizes.setdefault(symbol, size) != size:
            raise ValueError(
                f"the array {name} has the shape {array.shape}, but {symbol} is {sizes[symbol]}"
            )
        if size == 0:
            raise ValueError(f"the array {name} is empty")
    if kind in ("pattern", "ternary") and (array.min() < -1 or array.max() > 1):
        raise ValueError(f"the array {name} has entries other than -1, 0 and +1")
    if kind == "pattern" and not array.all():
        raise ValueError(f"the array {name} has entries of 0")
    if kind == "count" and array.min() < 0:
        raise ValueError(f"the array {name} has entries below 0")


# -- values as JSON ---------------------------------------------------------------------------


def to_json(value: Any, name: str) -> Any:
    """Turn a parameter or a fitted value, called `name`, into what JSON can hold."""
    if isinstance(value, np.random.Generator):
        if not isinstance(value.bit_generator, np.random.PCG64):
            raise TypeError(
                f"{name} must be made by numpy.random.default_rng, so that a model file can hold "
                "it."
            )
        return {"__generator__": value.bit_generator.state}
    plain = _plain(as_text(value, name))
    if isinstance(plain, (bool, int, float, str, type(None), list, dict)):
        return plain
    raise TypeError(
        f"{name} is of type {type(value).__name__}, which a model file cannot hold; set it to a "
        "number, a text or None."
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
    """Undo `to_json`, which leaves tuples and arrays as lists."""
    if isinstance(value, dict) and "__generator__" in value:
        bit_generator, state = np.random.PCG64(), value["__generator__"]
        bit_generator.state = state
        if state["state"]["inc"] % 2 != 1:  # it would repeat itself soon
            raise ValueError("the state of its random generator is invalid")
        return np.random.Generator(bit_generator)
    return value
