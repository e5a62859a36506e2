"""Checks of numbers and words that users give, each with one clear sentence."""

from __future__ import annotations

import numbers
import sys
from typing import Any

import numpy as np


def refuse_masked(values: Any, name: str) -> None:
    """Refuse an array with masked values, also as a row of lists: they would be taken for values that were measured.

    Examples
    --------
    >>> refuse_masked(np.ma.masked_equal([1, -1], -1), "X")
    Traceback (most recent call last):
    ValueError: X has masked values, and a pattern has a value for every unit; fill them first, as in X.filled(-1).
    """
    ma = sys.modules.get("numpy.ma")  # without it there is no masked array, and it takes a while to import
    if ma is None:
        return
    if isinstance(values, (list, tuple)):
        for part in values:
            if isinstance(part, (list, tuple, ma.MaskedArray)):
                refuse_masked(part, name)
    elif isinstance(values, ma.MaskedArray) and ma.is_masked(values):
        raise ValueError(
            f"{name} has masked values, and a pattern has a value for every unit; fill them first, as in {name}.filled(-1)."
        )


def is_count(value: Any, least: int = 1) -> bool:
    """Whether a value is a whole number, at least `least`; True and False do not count."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least


def check_count(value: Any, name: str, least: int = 1) -> int:
    """Check a whole number, at least `least`.

    Examples
    --------
    >>> check_count(0, "n_hidden")
    Traceback (most recent call last):
    ValueError: n_hidden must be at least 1, but it is 0.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, but it is {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, but it is {value}.")
    return int(value)


def check_number(value: Any, name: str) -> float:
    """Check a finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, but it is {value!r}.")
    if not np.isfinite(float(value)):
        raise ValueError(f"{name} must be finite, but it is {value}.")
    return float(value)


def check_positive(value: Any, name: str) -> float:
    """Check a finite number above zero."""
    if check_number(value, name) <= 0:
        raise ValueError(f"{name} must be above 0, but it is {value}.")
    return float(value)


def check_not_negative(value: Any, name: str) -> float:
    """Check a finite number, zero or more."""
    if check_number(value, name) < 0:
        raise ValueError(f"{name} must be 0 or more, but it is {value}.")
    return float(value)


def check_flag(value: Any, name: str) -> bool:
    """Check True or False.

    Examples
    --------
    >>> check_flag(1, "bias")
    Traceback (most recent call last):
    TypeError: bias must be True or False, but it is 1.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, but it is {value!r}.")
    return bool(value)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Check one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, but it is {value!r}.")
    return value
