"""What a model file may hold: what its class declares, of kinds and shapes that fit each other."""

from __future__ import annotations

import dis
import inspect
import math
from collections.abc import Iterator
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, is_count

if TYPE_CHECKING:
    from seqattractor.networks.base import SequenceMemory

_SCALARS = bool | int | float | str | None | np.random.Generator
_EVERYBODY = ("n_features_in_", "feature_names_in_", "order_", "metadata_", "attached_patterns_")
_ATTACHED = {"attached_patterns_": "bits A N/8"}
_DTYPES = {"float": ("f8",), "int": ("i4", "i8"), "count": ("i4", "i8"), "pattern": ("i1",), "ternary": ("i1",), "bits": ("u1",)}
_LARGEST = 2**63  # of whole numbers, beside seeds; no size, count or setting comes near it


def check_fitted(
    net: SequenceMemory, parameters: dict[str, Any], values: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Refuse what a network of this class cannot have learned with its parameters.

    Parameters
    ----------
    net : SequenceMemory
        With these parameters. Its class declares its arrays (`SequenceMemory.declared_arrays`) and values.
    parameters, values, arrays : dict
        By the name of the attribute, as they are in a model file.
    """
    net._check_order()
    net.check_parameters()
    if type(net).__module__.startswith("seqattractor."):
        for name, value in parameters.items():
            if not net.declared_values.get(name, "").startswith("counts"):
                _check_plain(name, value)
    N, order = check_count(values.get("n_features_in_"), "n_features_in_"), check_count(values.get("order_"), "order_")
    if net.order not in ("auto", order):
        raise ValueError(f"order_ is {order}, but order is {net.order}")
    allowed = _names(type(net))
    for name in (*values, *arrays):
        if name not in allowed:
            remedy = "" if declares(type(net)) else "; no method of the class sets it, and the class does not declare it"
            raise ValueError(f"a {type(net).__name__} has no {name!r}{remedy}")
    sizes = {"N": N, "kN": N * order, "N/8": -(-N // 8)}
    for name, array in arrays.items():
        _check_array(name, array, (net.declared_arrays | _ATTACHED).get(name), sizes)
    for name, value in values.items():
        if name != "feature_names_in_":
            _check_plain(name, value)
        elif not isinstance(value, list) or len(value) != N or not all(isinstance(word, str) for word in value):
            raise ValueError("feature_names_in_ does not name every unit")
    for name, what in net.declared_arrays.items():
        condition = what.partition(" if ")[2]
        parameter, _, value = condition.removeprefix("not ").partition("=")
        unset = condition.startswith("not ")
        set_to = parameters.get(parameter)
        wanted = not condition or (set_to == value if value else bool(set_to) != unset)
        if (name in arrays) != wanted:
            differs = f"is not {value!r}" if value else "is set" if unset else "is not set"
            raise ValueError(f"the array {name} is missing" if wanted else f"it has {name}, but {parameter} {differs}")
    for name, kind in net.declared_values.items():
        if name.endswith("_") and name not in values:
            raise ValueError(f"{name} is missing")
        _check_value(name, values[name] if name.endswith("_") else parameters.get(name), kind, sizes)
    net._check_learned(arrays)


def declares(cls: type[SequenceMemory]) -> bool:
    """Whether a class says what it learns; all classes of this package do."""
    return bool(cls.declared_arrays or cls.declared_values) or cls.__module__.startswith("seqattractor.")


@cache
def _names(cls: type[SequenceMemory]) -> frozenset[str]:
    """The attributes that networks of a class may learn; a class that declares none has those that its own code sets."""
    if declares(cls):
        return frozenset((*_EVERYBODY, *cls.declared_arrays, *(name for name in cls.declared_values if name.endswith("_"))))
    learned = (name for name in _set_by(cls) if name.endswith("_") and not name.startswith("_") and not hasattr(cls, name))
    return frozenset((*_EVERYBODY, *learned))


def _set_by(cls: type[SequenceMemory]) -> Iterator[str]:
    """The attributes that the methods of a class and of its bases assign, as in ``self.W_ = ...``."""
    members = [member for base in cls.__mro__ for member in vars(base).values()]
    waiting: list[CodeType] = []
    for member in members:
        parts = (member.fget, member.fset) if isinstance(member, property) else (getattr(member, "__func__", member),)
        waiting += [inspect.unwrap(part).__code__ for part in parts if inspect.isfunction(part)]
    while waiting:
        code = waiting.pop()
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
        yield from (step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR")


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
