"""The simplex method on whole numbers: slow, but never wrong. The last word where floating point cannot decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]


def combine_or_separate(rows: Integers, strict: NDArray[np.bool_]) -> tuple[Integers | None, Integers | None]:
    """Find lambda >= 0 with lambda . rows = 0 and weight on a strict row, or w with rows w >= 0 and > 0 on the strict rows.

    Exactly one of the two exists (Motzkin's theorem of the alternative). Phase 1 of the simplex method with Bland's rule,
    which cannot cycle, on an integer tableau whose entries share one denominator.

    Parameters
    ----------
    rows : ndarray of integers, shape (n, d)
    strict : ndarray of bool, shape (n,)

    Returns
    -------
    combination : ndarray of Python integers, shape (n,), or None
    weights : ndarray of Python integers, shape (d,), or None

    Examples
    --------
    >>> combine_or_separate(np.array([[1, 0], [-1, 0]]), np.array([True, False]))
    (array([1, 1], dtype=object), None)
    """
    n, d = rows.shape
    tableau, basis = _start(rows, strict)
    denominator = 1
    while True:
        entering = np.flatnonzero(tableau[-1, :n] > 0)
        if not entering.size:
            break
        c = int(entering[0])
        candidates = np.flatnonzero(tableau[:-1, c] > 0)
        r = _leaving(tableau, basis, candidates, c)
        pivot = tableau[r, c]
        column = tableau[:, c].copy()
        kept = tableau[r].copy()
        # Bareiss: every entry stays a whole number over the common denominator `pivot`.
        tableau = (tableau * pivot - np.outer(column, kept)) // denominator
        tableau[r] = kept
        denominator, basis[r] = pivot, c
    if tableau[-1, -1] == 0:
        combination = np.zeros(n, dtype=object)
        for r, c in enumerate(basis):
            if c < n:
                combination[c] = tableau[r, -1]
        return combination, None
    # The reduced costs of the artificial variables hold the dual solution pi: pi . column <= 0, and pi . right-hand side > 0.
    pi = tableau[-1, n : n + d + 1] + denominator
    return None, -pi[:d]


def _start(rows: Integers, strict: NDArray[np.bool_]) -> tuple[Integers, list[int]]:
    """The phase-1 tableau of rows^T lambda = 0, strict . lambda = 1, with an artificial variable for each equation."""
    n, d = rows.shape
    tableau = np.zeros((d + 2, n + d + 2), dtype=object)
    tableau[:d, :n] = rows.T.astype(object)
    tableau[d, :n] = strict.astype(int).astype(object)
    for i in range(d + 1):
        tableau[i, n + i] = 1
    tableau[d, -1] = 1
    tableau[-1, :n] = tableau[: d + 1, :n].sum(axis=0)
    tableau[-1, -1] = 1
    return tableau, list(range(n, n + d + 1))


def _leaving(tableau: Integers, basis: list[int], candidates: Integers, c: int) -> int:
    """The row of the least ratio, of the lowest variable among equals (Bland)."""
    best = int(candidates[0])
    for r in map(int, candidates[1:]):
        difference = tableau[r, -1] * tableau[best, c] - tableau[best, -1] * tableau[r, c]
        if difference < 0 or (difference == 0 and basis[r] < basis[best]):
            best = r
    return best
