"""Checks of parameters that the networks share, each with one clear sentence."""

from __future__ import annotations

import numbers
from types import ModuleType
from typing import Any

import numpy as np

__all__ = [
    "check_choice",
    "check_count",
    "check_not_negative",
    "check_number",
    "check_positive",
    "engine_module",
]


def check_count(value: Any, name: str, least: int = 1) -> int:
    """Check a whole number."""
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


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Check one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, but it is {value!r}.")
    return value


def engine_module(engine: Any) -> ModuleType:
    """Give the module that learns: the plain loop, or the exact engine (compiled, so imported only here)."""
    if check_choice(engine, "engine", ("exact", "reference")) == "reference":
        from seqattractor.learning import reference

        return reference
    from seqattractor.learning import engine as exact

    return exact
