"""The model file: an npz of arrays with a JSON header of plain values and a digest of both, never pickle."""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import math
import os
import zipfile
import zlib
from pathlib import Path
from types import CodeType
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_memory, is_count
from seqattractor._files import atomic_write, named_path

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

FORMAT = "seqattractor-model"
FORMAT_VERSION = 1
_HEADER = "header.json"
_MOST_HEADER = 2**22  # bytes; settings take some thousands, the names of many sequences and units some hundred thousands
_MOST_DIRECTORY = 2**20  # bytes; a network has some ten arrays, of a hundred bytes each
_MOST_WORDS = 300  # characters of what is said about a damaged file
_NPY_HEADER = 2**16  # bytes; numpy writes 128
_ZIP_END, _ZIP64_END = 22, 76  # bytes; the second with its pointer
# What zipfile and numpy raise on the way through an npz whose inside is broken.
DAMAGED = (zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError)
_SCALARS = bool | int | float | str | None | np.random.Generator
_EVERYBODY = ("n_features_in_", "feature_names_in_", "order_", "metadata_", "attached_patterns_")
_ATTACHED = {"attached_patterns_": "bits A N/8"}
_DTYPES = {"float": ("f8",), "int": ("i4", "i8"), "count": ("i4", "i8"), "pattern": ("i1",), "ternary": ("i1",), "bits": ("u1",)}
_LARGEST = 2**63  # of whole numbers, beside seeds; no size, count or setting comes near it
_MADE = (1980, 1, 1, 0, 0, 0)  # the time of every member, so that the same network gives the same bytes


def contents(net: SequenceMemory) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file holds of a network: a header of plain values, and arrays."""
    from seqattractor import __version__

    fitted = net._fitted()
    arrays = {k: v for k, v in fitted.items() if isinstance(v, np.ndarray) and k != "feature_names_in_"}
    values = {k: to_json(v, k) for k, v in fitted.items() if k not in arrays}
    parameters = {k: to_json(v, k) for k, v in net.get_params(deep=False).items()}
    as_loaded = [{k: from_json(v) for k, v in part.items()} for part in (parameters, values)]
    try:  # what could not be loaded is not saved
        check_fitted(net, as_loaded[0], as_loaded[1], arrays)
    except (TypeError, ValueError) as error:
        raise type(error)(f"this {type(net).__name__} cannot be saved: {str(error).rstrip('.')}.") from None
    header = {"class": type(net).__name__, "parameters": parameters, "values": values, "seqattractor": __version__}
    return header, arrays


def write_model(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a model file: an npz with one .npy for each array, as it is, and a JSON header with a digest of everything."""
    members = {f"{name}.npy": _npy_parts(array) for name, array in sorted(arrays.items())}
    full = {"format": FORMAT, "version": FORMAT_VERSION, **header}
    full["digest"] = _digest(full, members)
    text = json.dumps(full, indent=1).encode()
    if len(text) > _MOST_HEADER:
        raise ValueError(
            f"settings and metadata_ take {len(text)} bytes, and a model file holds {_MOST_HEADER}; keep less there."
        )
    with atomic_write(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, contents in {_HEADER: [text], **members}.items():
            with archive.open(zipfile.ZipInfo(name, _MADE), "w", force_zip64=True) as member:
                for content in contents:
                    member.write(content)


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a model file; what is not one, or is damaged, gives a ValueError that says so.

    Nothing in it may be compressed, so that its size bounds the memory that it takes.
    """
    target = named_path(path)
    check_model_file(target)
    with target.open("rb") as file, refusing(target):
        members = _members(file, target)
        header = json.loads(members.pop(_HEADER))
        _check_header(header, target)
        if header.pop("digest", None) != _digest(header, {name: [content] for name, content in members.items()}):
            raise ValueError("its contents are not what was saved")
        return header, {name.removesuffix(".npy"): _from_npy(content) for name, content in members.items()}


def check_model_file(target: Path) -> None:
    """Refuse what is not a file that could be read to its end."""
    if not target.exists():
        raise FileNotFoundError(f"there is no model file {target}; `seqattractor learn` or `net.save` makes one.")
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder, not a model file.")
    if not target.is_file():  # a pipe or a device may never end
        raise OSError(f"{target} is not a regular file, so that it cannot be a model file.")


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
    if type(version) is not int or version != FORMAT_VERSION:
        raise Refused(
            f"{target} is a model file of version {repr(version)[:20]}, but this seqattractor reads version {FORMAT_VERSION}; "
            "save it again with a matching release."
        )


def _members(file: IO[bytes], target: Path) -> dict[str, bytearray]:
    """What is in the archive, by name. Sizes are checked first: members lie in the file as they are, and side by side."""
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
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise ValueError(f"its member {name!r} is compressed")
        if infos[_HEADER].file_size > _MOST_HEADER:
            raise ValueError(f"its header has {infos[_HEADER].file_size} bytes")
        if (total := sum(info.file_size for info in infos.values())) > size:
            raise ValueError("its members lie one over the other")
        try:
            check_memory(total, "it")
        except ValueError:
            raise Refused(
                f"{target} holds a network that takes {total / 2**30:.3g} GiB of memory, which is more than there is."
            ) from None
        return {name: _content(archive, info) for name, info in infos.items()}


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


# -- what a file may hold ---------------------------------------------------------------------


def check_fitted(
    net: SequenceMemory, parameters: dict[str, Any], values: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Raise an error if a network of this class cannot have learned these values and arrays with its parameters.

    Parameters
    ----------
    net : SequenceMemory
        With these parameters. Its class lists its arrays and values (`SequenceMemory._arrays`, `_values`).
    parameters, values, arrays : dict
        By the name of the attribute, as they are in a model file.
    """
    net._check_order()
    net.check_parameters()
    if type(net).__module__.startswith("seqattractor."):
        for name, value in parameters.items():
            if not net._values.get(name, "").startswith("counts"):
                _check_plain(name, value)
    N, order = check_count(values.get("n_features_in_"), "n_features_in_"), check_count(values.get("order_"), "order_")
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
        elif not isinstance(value, list) or len(value) != N or not all(isinstance(word, str) for word in value):
            raise ValueError("feature_names_in_ does not name every unit")
    for name, what in net._arrays.items():
        condition = what.partition(" if ")[2]
        parameter, _, value = condition.removeprefix("not ").partition("=")
        unset = condition.startswith("not ")
        set_to = parameters.get(parameter)
        wanted = not condition or (set_to == value if value else bool(set_to) != unset)
        if (name in arrays) != wanted:
            differs = f"is not {value!r}" if value else "is set" if unset else "is not set"
            raise ValueError(f"the array {name} is missing" if wanted else f"it has {name}, but {parameter} {differs}")
    for name, kind in net._values.items():
        if name.endswith("_") and name not in values:
            raise ValueError(f"{name} is missing")
        _check_value(name, values[name] if name.endswith("_") else parameters.get(name), kind, sizes)
    net._check_learned(arrays)


def _may_learn(cls: type[SequenceMemory], name: str) -> bool:
    """Whether networks of a class may have a fitted attribute of this name: listed, or for users' classes in their code."""
    if name in (*_EVERYBODY, *cls._arrays, *cls._values):
        return True
    fitted = name.endswith("_") and not name.startswith("_") and not hasattr(cls, name)
    return fitted and not cls.__module__.startswith("seqattractor.") and name in _names_in_code(cls)


def _names_in_code(cls: type[SequenceMemory]) -> set[str]:
    """The names of attributes in the methods of a class and its bases, such as W_ in ``self.W_ = ...``."""
    members = [inspect.unwrap(getattr(each, "__func__", each)) for base in cls.__mro__ for each in vars(base).values()]
    members += [part for each in members if isinstance(each, property) for part in (each.fget, each.fset)]
    waiting = [each.__code__ for each in members if inspect.isfunction(each)]
    names: set[str] = set()
    while waiting:
        code = waiting.pop()
        names.update(code.co_names)
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
    return names


def _check_plain(name: str, value: Any) -> None:
    """Values are finite numbers, words, nothing, or a generator; metadata may nest them."""
    if name == "metadata_":
        if not isinstance(value, dict | None):
            raise ValueError("metadata_ is not a table of names and values")
    elif not isinstance(value, _SCALARS):
        raise ValueError(f"{name} is {value!r}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}")
    elif isinstance(value, int) and abs(value) >= _LARGEST and name != "random_state":
        raise ValueError(f"{name} is larger than any number that is used here")


def _check_value(name: str, value: Any, what: str, sizes: dict[str, int]) -> None:
    """The kind of one value, and that it fits the arrays."""
    what, _, word = what.partition(" or ")
    if word and value == word:
        return
    kind, *rest = what.split()
    match kind:
        case "count" | "size":
            right = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        case "counts":
            right = isinstance(value, list | tuple) and all(is_count(one) for one in value)
        case "number":
            right = isinstance(value, int | float) and not isinstance(value, bool)
        case "positive":
            right = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        case "flag":
            right = isinstance(value, bool)
        case "word":
            right = value in rest
        case "generator":
            right = isinstance(value, np.random.Generator)
        case _:
            raise TypeError(f"there is no kind of values {kind!r}")
    if right and kind == "size" and sizes.setdefault(rest[0], value) != value:
        raise ValueError(f"{name} is {value}, but {rest[0]} is {sizes[rest[0]]}")
    if not right or (kind == "count" and rest and value > sizes.get(rest[0], value)):
        raise ValueError(f"{name} is {value!r}")


def _check_array(name: str, array: NDArray[Any], what: str | None, sizes: dict[str, int]) -> None:
    """The kind, the shape and the entries of one array; `sizes` holds the dimensions known so far, by their symbols."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"the array {name} has entries that are not finite")
    if what is None:
        return
    kind, *symbols = what.partition(" if ")[0].split()
    if array.dtype.str[1:] not in _DTYPES[kind] or array.ndim != len(symbols):
        raise ValueError(f"the array {name} is of {array.dtype} and shape {array.shape}")
    for symbol, size in zip(symbols, array.shape, strict=True):
        if sizes.setdefault(symbol, size) != size:
            raise ValueError(f"the array {name} has the shape {array.shape}, but {symbol} is {sizes[symbol]}")
        if size == 0:
            raise ValueError(f"the array {name} is empty")
    if kind in ("pattern", "ternary") and (array.min() < -1 or array.max() > 1):
        raise ValueError(f"the array {name} has entries other than -1, 0 and +1")
    if kind == "pattern" and not array.all():
        raise ValueError(f"the array {name} has entries of 0")
    if kind == "count" and array.min() < 0:
        raise ValueError(f"the array {name} has entries below 0")


# -- values as JSON: a random generator is its state ------------------------------------------


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
        _check_state(state)
        bit_generator = getattr(np.random, state["bit_generator"])()
        bit_generator.state = state
        return np.random.Generator(bit_generator)
    return value


def _check_state(state: dict[str, Any]) -> None:
    """Refuse states that numpy takes without a look: places outside of an array, and numbers that would repeat for ever."""
    kind, inner = state["bit_generator"], state["state"]
    match kind:
        case "PCG64" | "PCG64DXSM":
            right = inner["inc"] % 2 == 1
        case "MT19937":
            right = 0 <= inner["pos"] <= len(inner["key"]) == 624 and any(inner["key"])
        case "Philox":
            right = 0 <= state["buffer_pos"] <= len(state["buffer"]) == 4
        case _:
            right = kind == "SFC64"
    if not right:
        raise ValueError("the state of its random generator is none that there can be")
