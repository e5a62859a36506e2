"""Whole numbers in as few bytes as they need, and float64 numbers by their place in the order of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.signedinteger[Any]]
Bytes = NDArray[np.uint8]

MOST_BYTES = 4
_MAGNITUDE = 2**63 - 1


def are_small(numbers: NDArray[Any]) -> bool:
    """Whether all numbers, which may be floats, lie so far within 32 bits that their differences do, too.

    Examples
    --------
    >>> are_small(np.array([-(2.0**30), 2.0**30 - 1])), are_small(np.array([2.0**30])), are_small(np.array([np.nan]))
    (True, False, False)
    """
    return bool(numbers.min() >= -(2**30) and numbers.max() < 2**30)


def to_bytes(numbers: Whole) -> Bytes:
    """Numbers of b bytes each, shape (b, ...), the lowest byte of all of them first: high bytes are alike, and compress well.

    Examples
    --------
    >>> to_bytes(np.array([-1, 2, 300]))
    array([[255,   2,  44],
           [255,   0,   1]], dtype=uint8)
    """
    low, high = int(numbers.min()), int(numbers.max())
    b = next(b for b in range(1, MOST_BYTES + 1) if -(2 ** (8 * b - 1)) <= low and high < 2 ** (8 * b - 1))
    found = np.empty((b, *numbers.shape), dtype=np.uint8)
    for k in range(b):
        found[k] = (numbers >> (8 * k)) & 255
    return found


def from_bytes(content: Bytes) -> NDArray[np.int64]:
    """Undo `to_bytes`.

    Examples
    --------
    >>> from_bytes(to_bytes(np.array([-1, 2, 300])))
    array([ -1,   2, 300])
    """
    numbers: NDArray[np.int64] = content[-1].view(np.int8).astype(np.int64)
    for lower in content[-2::-1]:
        numbers <<= 8
        numbers |= lower
    return numbers


def divide(numbers: Whole) -> tuple[int, Whole]:
    """Divide small numbers in place, rounding down, by the largest number for which all of a row leave the same rest.

    Gives the divisor and the rest of each row.

    Examples
    --------
    >>> numbers = np.array([[3, 5, -1], [6, 8, 0]])
    >>> divide(numbers), numbers
    ((2, array([1, 0])), array([[ 1,  2, -1],
           [ 3,  4,  0]]))
    """
    divisor = 0
    for row in numbers:
        divisor = int(np.gcd.reduce(row - row[0], initial=divisor))
        if divisor == 1:
            break
    divisor = max(divisor, 1)
    rest: Whole = numbers[:, 0] % divisor
    if divisor > 1:
        numbers //= divisor
    return divisor, rest


def to_places(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """The place of each number in the order of all float64 numbers; +0 is 0, and -0 is -1.

    Examples
    --------
    >>> to_places(np.array([5e-324, 0.0, -0.0, -5e-324]))
    array([ 1,  0, -1, -2])
    """
    bits = numbers.view(np.int64)
    return np.where(bits < 0, ~(bits & _MAGNITUDE), bits)


def from_places(places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Undo `to_places`.

    Examples
    --------
    >>> from_places(to_places(np.array([1.5, -0.0, -2.5])))
    array([ 1.5, -0. , -2.5])
    """
    bits = np.where(places < 0, ~places | ~np.int64(_MAGNITUDE), places)
    return bits.view(np.float64)
