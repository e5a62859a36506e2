"""Checks of numbers, words and arrays that users give, each with one clear sentence."""

from __future__ import annotations

import numbers
import os
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 2**62
"""The largest whole number that is counted with: sums with another one still fit into 64 bits."""
LARGEST = 1e100
"""The largest size of a parameter that is not whole, and its inverse the smallest: no sum or
product of a few overflows.
"""

_STEPS = 2.0**40


def say(value: Any) -> str:
    """Write a value in a sentence: on one line, and not longer than a line."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    if is_number(value, numbers.Integral) and abs(int(value)) >= 10**40:
        digits = (
            int(abs(int(value)).bit_length() * 0.30102999566398120) + 1
        )  # Python does not write very large ones
        return f"a number of {digits} digits"
    try:
        text = " ".join(repr(value).split())
    except (
        Exception
    ):  # a huge fraction has no decimal form, and users' objects may have none at all
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def is_number(value: Any, kind: type = numbers.Real) -> bool:
    """Return whether a value is a number; True, False and times, which numpy calls integers, are
    none.
    """
    return isinstance(value, kind) and not isinstance(value, (bool, np.timedelta64))


def reject_masked(values: Any, name: str) -> None:
    """Reject an array with masked values, also as a row of lists: they would be taken for values
    that were measured.
    """
    ma = sys.modules.get(
        "numpy.ma"
    )  # without it there is no masked array, and it takes a while to import
    if ma is None:
        return
    if isinstance(values, (list, tuple)):
        for part in values:
            if isinstance(part, (list, tuple, ma.MaskedArray)):
                reject_masked(part, name)
    elif isinstance(values, ma.MaskedArray) and ma.is_masked(values):
        raise ValueError(f"{name} has masked values; fill them first, as in {name}.filled(-1).")


def is_count(value: Any, least: int = 1) -> bool:
    """Whether a value is a whole number, at least `least` and not beyond counting; True and False
    do not count.
    """
    return is_number(value, numbers.Integral) and least <= int(value) <= MOST


def is_auto(value: Any) -> bool:
    """Whether a value is the word "auto"; an array of words is not."""
    return isinstance(value, str) and value == "auto"


def check_count(value: Any, name: str, least: int = 1, most: int = MOST) -> int:
    """Check a whole number, at least `least` and at most `most`."""
    if not is_number(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, but it is {say(value)}.")
    if int(value) < least:
        raise ValueError(f"{name} must be at least {least}, but it is {say(int(value))}.")
    if int(value) > most:
        raise ValueError(f"{name} must be at most {most}, but it is {say(int(value))}.")
    return int(value)


def check_count_or_auto(value: Any, name: str) -> int | None:
    """Check a whole number, 1 or more, or the word "auto", for which it gives None."""
    if is_auto(value):
        return None
    if not is_number(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number or 'auto', but it is {say(value)}.")
    return check_count(value, name)


def check_number(value: Any, name: str) -> float:
    """Check a finite number, at most `LARGEST` in size."""
    if not is_number(value):
        raise TypeError(f"{name} must be a number, but it is {say(value)}.")
    try:
        number = float(value)
    except OverflowError:
        number = 10 * LARGEST
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, but it is {value}.")
    if abs(number) > LARGEST:
        raise ValueError(
            f"{name} must lie between {-LARGEST:g} and {LARGEST:g}, but it is {say(value)}."
        )
    return number


def check_positive(value: Any, name: str) -> float:
    """Check a finite number above zero."""
    number = check_number(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be above 0, but it is {say(value)}.")
    if number < 1 / LARGEST:
        raise ValueError(f"{name} must be at least {1 / LARGEST:g}, but it is {number:g}.")
    return number


def check_not_negative(value: Any, name: str) -> float:
    """Check a finite number, zero or more."""
    number = check_number(value, name)
    if number < 0:
        raise ValueError(f"{name} must be 0 or more, but it is {say(value)}.")
    if 0 < number < 1 / LARGEST:
        raise ValueError(f"{name} must be 0, or at least {1 / LARGEST:g}, but it is {number:g}.")
    return number


def check_in_steps(eta: float, **parameters: float) -> None:
    """Reject parameters that are too many learning steps: what is learned is counted in whole steps
    of eta.
    """
    for name, value in parameters.items():
        if abs(float(value)) > _STEPS * float(eta):
            steps = f"{_STEPS:g} learning steps, which are eta = {float(eta):g} each"
            raise ValueError(f"{name} must be at most {steps}, but it is {float(value):g}.")


def check_flag(value: Any, name: str) -> bool:
    """Check True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, but it is {say(value)}.")
    return bool(value)


def check_kind(value: Any, kind: type | tuple[type, ...], name: str, source: str) -> None:
    """Reject a value of another class; `source` describes the right one."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {source}, but it is {say(value)}.")


def as_array(value: Any, name: str) -> NDArray[Any]:
    """Return a user's value as an array; raise for values that no array of numbers can hold."""
    if hasattr(value, "toarray"):
        raise TypeError(
            f"{name} is a sparse matrix; patterns of +-1 have no zeros, so pass a dense array "
            "instead."
        )
    reject_masked(value, name)
    try:
        array: NDArray[Any] = np.asarray(_readable(value))
    except OverflowError:
        raise ValueError(f"{name} has a number that is too large.") from None
    except (TypeError, ValueError):
        raise ValueError(
            f"the rows of {name} differ in length, so that they make no array."
        ) from None
    return array


def _readable(value: Any) -> Any:
    """A tensor of torch as one that numpy can read: without its gradient, on this processor, of a
    type that numpy has.
    """
    if type(value).__module__.partition(".")[0] != "torch" or not hasattr(value, "detach"):
        return value
    here = value.detach().cpu()
    return here.double() if str(here.dtype) == "torch.bfloat16" else here


def as_numbers(value: Any, name: str) -> NDArray[Any]:
    """Return a user's value as an array of real numbers: booleans, whole numbers or floats."""
    array = as_array(value, name)
    if array.dtype == object or array.dtype.kind in "USVmM":
        try:
            with np.errstate(all="ignore"):
                array = (
                    array.astype(np.float64)
                    if array.dtype.kind not in "mM"
                    else array.astype(object).astype(np.float64)
                )
        except (TypeError, ValueError):
            if not array.ndim:
                kind = (
                    say(value)
                    if isinstance(value, (str, bytes, np.ndarray))
                    else f"a {type(value).__name__}"
                )
                raise TypeError(f"{name} must be an array of numbers, but it is {kind}.") from None
            first = say(array.flat[0]) if array.size else "none"
            raise TypeError(
                f"{name} must be an array of numbers; it has entries of another type, such as "
                f"{first}."
            ) from None
        except OverflowError:
            raise ValueError(f"{name} has a number that is too large.") from None
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers.")
    return array


def check_finite(value: Any, name: str, *axes: str) -> NDArray[np.float64]:
    """Check an array of finite numbers with these axes, none of them empty."""
    array = as_numbers(value, name).astype(np.float64)
    if array.ndim != len(axes) or not array.size:
        raise ValueError(
            f"{name} must be numbers of shape ({', '.join(axes)}), but the shape is {array.shape}."
        )
    if not (np.abs(array) <= LARGEST).all():
        raise ValueError(f"{name} must be finite, and not beyond {LARGEST:g}.")
    return array


def check_counts(values: Any, name: str, least: int, most: int) -> NDArray[np.int64]:
    """Check a list of whole numbers, each from `least` to `most`, shape (n,)."""
    array = as_numbers(values, name)
    wrong = f"{name} must be whole numbers from {least} to {most}, but they are {say(values)}."
    if array.ndim > 1 or array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        raise ValueError(wrong)
    array = np.atleast_1d(array)
    if (
        not array.size
        or np.any(array != np.floor(array))
        or array.min() < least
        or array.max() > most
    ):
        raise ValueError(wrong)
    return array.astype(np.int64)


class NotEnoughMemoryError(ValueError):
    """What is asked for needs more memory than there is."""


def check_memory(n_bytes: int, what: str) -> None:
    """Reject what needs more memory than there is, before any of it is taken."""
    if n_bytes > _memory():
        size = f"{n_bytes / 2**40:.3g} TiB" if n_bytes >= 2**40 else f"{n_bytes / 2**30:.3g} GiB"
        raise NotEnoughMemoryError(
            f"there is not enough memory for {what}: it needs {size}; ask for less."
        )


def _memory() -> float:
    """Return how many bytes this process may have: all that the machine has, or less if it is
    bounded.
    """
    try:
        import resource

        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, AttributeError, OSError, ValueError):  # other systems
        return float("inf")
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return there if limit == resource.RLIM_INFINITY else min(there, limit)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Check one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, choices))}, but it is {say(value)}."
        )
    return value
