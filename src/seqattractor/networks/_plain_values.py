"""Parameters and fitted values of a network as plain JSON values, and back, for the header of a model file."""

from __future__ import annotations

from typing import Any

import numpy as np


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
