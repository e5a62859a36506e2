"""Reading a saved network, also one that was saved when several models still shared a class."""

from __future__ import annotations

import inspect
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._model_file import from_json, read_model, refusing
from seqattractor.networks._registry import package_class

_KINDS = {"float": "f", "int": "iu", "pattern": "i", "bits": "u"}
_ATTACHED = {"attached_patterns_": "bits T N/8"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*_")


def load(path: str | os.PathLike[str]) -> SequenceMemory:
    """Read a network that was saved with `SequenceMemory.save`.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    SequenceMemory
        Of the class that was saved, ready to recall or to go on learning.

    Examples
    --------
    >>> import tempfile, pathlib, seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
    >>> sa.OneHotNetwork().fit(X).save(path)
    >>> sa.load(path).score(X)
    1.0
    """
    header, arrays = read_model(path)
    with refusing(Path(path)):
        name, parameters = _of_today(str(header["class"]), {k: from_json(v) for k, v in header["parameters"].items()})
        values = {k: from_json(v) for k, v in header["values"].items()}
        cls = package_class(name) or SequenceMemory._of_users.get(name)
        if cls is None:
            raise ValueError(
                f"{path} holds a network of class {name!r}, which is not known here; import the module that defines it first."
            )
        net = cls(**parameters)
        net.check_parameters()
        check_fitted(net, arrays, values)
        for attribute, value in {**values, **arrays}.items():
            setattr(net, attribute, value)
    return net


def _of_today(name: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The class and the parameters of a model of version 0.1, in which a parameter chose between models of one class."""
    split = {
        "VisibleNetwork": {
            "hebbian": "HebbianMemory",
            "pseudo-inverse": "PseudoInverseMemory",
            "slow-synapses": "SlowSynapseMemory",
        }.get(str(parameters.get("rule"))),
        "DenseSequenceMemory": "MixedSequenceMemory" if parameters.get("slow_weight") is not None else None,
        "PredictiveCodingMemory": "LatentPredictiveMemory" if parameters.get("n_latent") is not None else None,
    }
    if name not in split:
        return name, parameters
    of_today = split[name] or name
    cls = package_class(of_today)
    assert cls is not None
    known = inspect.signature(cls).parameters
    return of_today, {k: v for k, v in parameters.items() if k in known and not (k == "init_scale" and v is None)}


# -- what a file may hold: what the class declares, of kinds and shapes that fit each other ---------------------


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
    declared = _declared_arrays(net)
    for name, array in arrays.items():
        _check_name(net, name, declared)
        _check_array(name, array, (declared | _ATTACHED).get(name), sizes)
    if missing := [n for n, what in declared.items() if n not in arrays and not what.endswith("?")]:
        raise ValueError(f"the array {missing[0]} is missing")


def _declared_arrays(net: SequenceMemory) -> dict[str, str]:
    """What the class declares, with "... if PARAMETER" settled by the parameters of the network."""
    given = net.get_params(deep=False)
    split = {name: what.partition(" if ") for name, what in net.declared_arrays.items()}
    return {name: what for name, (what, _, switch) in split.items() if not switch or given[switch]}


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
