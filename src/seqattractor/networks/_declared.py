"""What a model file may hold: the arrays and values that a class declares, of the kinds and shapes that fit each other."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count
from seqattractor.networks._base import SequenceMemory

_KINDS = {"float": "f", "int": "iu", "pattern": "i", "bits": "u"}
_ATTACHED = {"attached_patterns_": "bits T N/8"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*_")


def check_fitted(net: SequenceMemory, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
    """Refuse what a network of this class cannot have learned.

    Parameters
    ----------
    net : SequenceMemory
        Not fitted; its class declares its arrays (`SequenceMemory.declared_arrays`) and values.
    arrays, values : dict
        By the name of the attribute.
    """
    N, order = check_count(values.get("n_features_in_"), "n_features_in_"), check_count(values.get("order_"), "order_")
    for name, value in values.items():
        _check_name(net, name, net.declared_values)
        _check_value(name, value)
    sizes = {"N": N, "kN": N * order, "N/8": -(-N // 8)}
    for name, array in arrays.items():
        _check_name(net, name, net.declared_arrays)
        _check_array(name, array, (net.declared_arrays | _ATTACHED).get(name), sizes)
    if missing := [n for n, what in net.declared_arrays.items() if n not in arrays and not what.endswith("?")]:
        raise ValueError(f"the array {missing[0]} is missing")


def _check_name(net: SequenceMemory, name: str, declared: Any) -> None:
    """A class of the package declares its names; one of the user's sets what it likes, but no method and nothing private."""
    everybody = ("n_features_in_", "order_", "metadata_", "attached_patterns_")
    allowed = name in (*everybody, *declared) if declared else _NAME.fullmatch(name) and not hasattr(type(net), name)
    if not allowed:
        raise ValueError(f"a {type(net).__name__} has no {name!r}")


def _check_value(name: str, value: Any) -> None:
    """Values are finite numbers, words, nothing, or a generator; metadata may nest them."""
    if name == "metadata_":
        if not isinstance(value, dict | None):
            raise ValueError("metadata_ is not a table of names and values")
    elif not isinstance(value, bool | int | float | str | None | np.random.Generator):
        raise ValueError(f"{name} is {value!r}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}")


def _check_array(name: str, array: NDArray[Any], what: str | None, sizes: dict[str, int]) -> None:
    """The kind, the shape and the entries of one array; `sizes` holds the dimensions known so far, by their symbols."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"the array {name} has entries that are not finite")
    if what is None:
        return
    kind, *symbols = what.removesuffix(" ?").split()
    if array.dtype.kind not in _KINDS[kind] or array.ndim != len(symbols):
        raise ValueError(f"the array {name} is of {array.dtype} and shape {array.shape}")
    for symbol, size in zip(symbols, array.shape, strict=True):
        if sizes.setdefault(symbol, size) != size:
            raise ValueError(f"the array {name} has the shape {array.shape}, but {symbol} is {sizes[symbol]}")
    if kind == "pattern" and array.size and np.abs(array.astype(np.int16)).max() > 1:
        raise ValueError(f"the array {name} has entries other than -1, 0 and +1")
