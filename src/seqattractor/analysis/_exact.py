"""Linear algebra and linear programming on whole numbers: what turns a floating-point solution into
a proof.

Systems are solved modulo a prime and lifted p-adically (Dixon's method), so that the work stays in
int64 arrays and only the answer is made of long Python integers. The simplex method on whole
numbers has the last word where floating point cannot decide.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A prime below 2**31: products of two residues fit into int64.
_P = 2_147_483_629
_BITS = 24
Integers = NDArray[Any]


def kernel_vector(A: Integers, near: NDArray[np.float64]) -> Integers | None:
    """Return a whole-number vector v with A v = 0 exactly, in nearly the direction of `near`, or
    None if only zero solves it.

    `near` is a solution up to rounding, of largest entry about 1; its free coordinates are rounded
    to `_BITS` bits.
    """
    rows, columns, _ = reduce_mod_p(A)
    free = np.setdiff1d(np.arange(A.shape[1]), columns)
    if not free.size:
        return None
    v = np.zeros(A.shape[1], dtype=object)
    v[free] = rounded = np.rint(near[free] * 2.0**_BITS).astype(np.int64)
    if columns:
        right = -(A[rows][:, free].astype(np.int64) @ rounded)
        numerators, denominator = solve(A[rows][:, columns], right)
        v *= denominator
        v[columns] = numerators
    return v // max(1, math.gcd(*v))


def solve(A: Integers, b: Integers) -> tuple[Integers, int]:
    """Solve A x = b for a square matrix that is invertible modulo the prime: x = numerators /
    denominator, exactly.
    """
    inverse = reduce_mod_p(np.column_stack([A, np.eye(len(A), dtype=np.int64)]))[2][:, len(A) :]
    # Hadamard's bound on numerators and denominator (Cramer's rule), with a digit to spare, gives
    # how many digits fix x.
    bits = float(np.log2(np.maximum(np.linalg.norm(A.astype(np.float64), axis=1), 1.0)).sum())
    bits += math.log2(max(1.0, float(np.abs(b).max(initial=0)) * math.sqrt(len(b))))
    # The residual is never much larger than a row's sum of sizes, so that sums stay in int64, but
    # for huge entries.
    exact = A.astype(np.int64 if np.abs(A).sum(axis=1).max(initial=0) < 2**31 else object)
    residual, modulus, x = b, 1, np.zeros(len(b), dtype=object)
    for _ in range(math.ceil((2 * bits + 3) / math.log2(_P)) + 1):
        digit = (inverse * (residual % _P).astype(np.int64) % _P).sum(axis=1) % _P
        x += digit.astype(object) * modulus
        modulus *= _P
        residual = (residual - exact @ digit) // _P
    return _common_fraction(x, modulus, bound=2 ** math.ceil(bits + 1))


def reduce_mod_p(A: Integers) -> tuple[list[int], list[int], Integers]:
    """Pivot rows and pivot columns of A modulo the prime, and its reduced row echelon form
    (Gauss-Jordan elimination).

    The number of pivots is the rank, unless the prime divides all the largest minors: then it is
    less.
    """
    work = A.astype(np.int64) % _P
    order = np.arange(len(work))
    columns: list[int] = []
    for c in range(work.shape[1]):
        r = len(columns)
        nonzero = r + np.flatnonzero(work[r:, c])
        if not nonzero.size:
            continue
        swap = nonzero[0]
        work[[r, swap]], order[[r, swap]] = work[[swap, r]], order[[swap, r]]
        work[r] = work[r] * pow(int(work[r, c]), -1, _P) % _P
        others = np.flatnonzero(work[:, c])
        others = others[others != r]  # np.setdiff1d would cost as much as the elimination
        work[others, c:] = (work[others, c:] - work[others, c, None] * work[r, c:]) % _P
        columns.append(c)
    return order[: len(columns)].tolist(), columns, work


def _common_fraction(x: Integers, modulus: int, bound: int) -> tuple[Integers, int]:
    """Write all entries, known up to multiples of the modulus, as fractions with one denominator,
    numerators up to the bound.
    """
    numerators, denominator = np.zeros(len(x), dtype=object), 1
    for k, residue in enumerate(x):
        # Once the common denominator is known the entry is a small whole number (perhaps a negative
        # one).
        scaled = residue * denominator % modulus
        numerators[k] = scaled - modulus if scaled > modulus // 2 else scaled
        if abs(numerators[k]) > bound:
            # scaled = top / bottom (mod modulus) with both small: then scaled / modulus is nearly a
            # fraction over `bottom`.
            near = Fraction(scaled, modulus).limit_denominator(bound)
            numerators[k] = scaled * near.denominator - near.numerator * modulus
            numerators[:k] *= near.denominator
            denominator *= near.denominator
    return numerators, denominator


def combine_or_separate(
    rows: Integers, strict: NDArray[np.bool_]
) -> tuple[Integers | None, Integers | None]:
    """Find lambda >= 0 with lambda . rows = 0 and weight on a strict row, or w with rows w >= 0 and
    > 0 on the strict rows.

    Exactly one of the two exists (Motzkin's theorem of the alternative). Phase 1 of the simplex
    method with Bland's rule, which cannot cycle, on an integer tableau whose entries share one
    denominator. Rows are (n, d); returns lambda, (n,), and w, (d,), of which one is None.
    """
    n, d = rows.shape
    # rows^T lambda = 0 and strict . lambda = 1, with an artificial variable for each equation; the
    # last row holds their sum.
    tableau = np.zeros((d + 2, n + d + 2), dtype=object)
    tableau[:-1, :n] = np.vstack([rows.T, strict])
    tableau[:-1, n:-1] = np.eye(d + 1, dtype=np.int64)
    tableau[-1, :n] = tableau[:-1, :n].sum(axis=0)
    tableau[-2:, -1] = 1
    basis, denominator = list(range(n, n + d + 1)), 1
    while (entering := np.flatnonzero(tableau[-1, :n] > 0)).size:
        c = int(entering[0])
        # The row with the smallest ratio leaves, the lowest variable among equals (Bland).
        candidates = np.flatnonzero(tableau[:-1, c] > 0).tolist()
        r = min(candidates, key=lambda r: (Fraction(tableau[r, -1], tableau[r, c]), basis[r]))
        pivot, row = tableau[r, c], tableau[r].copy()
        # Bareiss: every entry stays a whole number over the common denominator `pivot`.
        tableau = (tableau * pivot - np.outer(tableau[:, c], row)) // denominator
        tableau[r] = row
        denominator, basis[r] = pivot, c
    if tableau[-1, -1] == 0:
        combination = np.zeros(n + d + 1, dtype=object)
        combination[basis] = tableau[:-1, -1]
        return combination[:n], None
    # The reduced costs of the artificial variables hold the dual solution pi: pi . column <= 0, and
    # pi . right-hand side > 0.
    return None, -(tableau[-1, n:-2] + denominator)
