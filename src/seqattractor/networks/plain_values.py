"""Parameters and fitted values as plain JSON values; a random generator is its state."""

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
