"""The degree that a dense memory needs for its patterns, and the one from which on a higher one changes nothing."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

MOST_DEGREE = 1000
_OVERLAPS = 4_000_000  # that are held at a time


def least_degree(keys: Patterns, least: int = 2) -> int:
    """Give the least degree, from `least` on, at which no stored pattern drowns in the others.

    A stored pattern calls its successor with weight 1, and another one, at an overlap m with it, calls its own with |m|^degree.
    At the degree given here the weights of all others add up to at most 1/2, for every pattern: then every transition is
    right, whatever the others call, and half of the field is to spare for flipped units. The more alike the patterns are, the
    higher it is: 2 to 5 do for random ones, pictures need dozens.

    Parameters
    ----------
    keys : ndarray of int8, shape (P, order * N)
        Patterns with a successor; one that stands there twice counts once.
    least : int

    Returns
    -------
    int
        At most `MOST_DEGREE`, where patterns are too much alike for any.

    Examples
    --------
    >>> least_degree(np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, -1, -1, -1, -1]], dtype=np.int8))  # |m| is at most 1/7
    2
    """
    each = keys[[*{x.tobytes(): k for k, x in enumerate(keys)}.values()]].astype(np.float32)
    for rows in pieces(len(each), _OVERLAPS // len(each) + 1):
        # A neuron does not see its own unit, so the overlap that it sees may be a little larger.
        m = np.minimum(1.0, (np.abs(each[rows] @ each.T, dtype=np.float64) + 1) / max(1, each.shape[1] - 1))
        m[np.arange(len(m)), np.arange(rows.start, rows.stop)] = 0.0
        least = _least_degree_of(m, least)
    return least


def _least_degree_of(m: NDArray[np.float64], low: int) -> int:
    """The least degree, from `low` on, at which the weights m^degree of each row add up to at most 1/2."""

    def is_enough(degree: int) -> bool:
        return bool((m**degree).sum(axis=1).max() <= 0.5)

    if is_enough(low):
        return low
    high = MOST_DEGREE
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def decisive_degree(degree: int, units: int, patterns: int) -> int:
    """Give a degree, not above this one, that gives every sum of +-u^degree over the patterns the same sign.

    Overlaps u of up to `units` are all odd or all even. From some degree on the largest that does not cancel outweighs all
    smaller ones together, so that higher degrees, whose powers would vanish, can only change a sign by being odd or even.

    Examples
    --------
    >>> decisive_degree(3, 100, 500), decisive_degree(1001, 2, 3)
    (3, 1)
    """
    enough = 1 if units <= 2 else math.ceil(math.log(2 * patterns) / math.log(units / (units - 2)))
    return degree if degree <= enough else enough + (degree - enough) % 2
