"""Exact linear algebra on small whole numbers: what turns a floating-point solution into a proof.

Systems are solved modulo a prime and lifted p-adically (Dixon's method), so that the work stays in int64 arrays and only the
answer is made of long Python integers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# A prime below 2**31: products of two residues fit into int64.
_P = 2_147_483_629
Integers = NDArray[Any]


def rank_mod_p(A: Integers) -> int:
    """A lower bound on the rank of an integer matrix (equal to it unless the prime divides all the largest minors)."""
    return len(_eliminate(A)[0])


def kernel_vector(A: Integers, near: NDArray[np.float64], bits: int = 24) -> Integers | None:
    """A whole-number vector v with A v = 0 exactly, in nearly the direction of `near`.

    Parameters
    ----------
    A : ndarray of integers, shape (m, n)
    near : ndarray, shape (n,)
        A solution up to rounding, of largest entry about 1.
    bits : int
        The free coordinates are rounded to this many bits.

    Returns
    -------
    ndarray of Python integers, shape (n,), or None
        None if the kernel holds only the zero vector.
    """
    rows, columns = _eliminate(A)
    free = np.setdiff1d(np.arange(A.shape[1]), columns)
    if not free.size:
        return None
    v = np.zeros(A.shape[1], dtype=object)
    rounded = np.rint(near[free] * 2.0**bits).astype(np.int64)
    v[free] = [int(k) for k in rounded]
    if len(columns):
        square = A[np.ix_(rows, columns)].astype(np.int64)
        right = -(A[np.ix_(rows, free)].astype(np.int64) @ rounded)
        numerators, denominator = solve(square, right)
        v *= denominator
        v[columns] = numerators
    divisor = math.gcd(*(int(k) for k in v))
    return v // divisor if divisor > 1 else v


def solve(A: Integers, b: Integers) -> tuple[Integers, int]:
    """Solve A x = b for a square matrix that is invertible modulo the prime.

    Parameters
    ----------
    A : ndarray of int64, shape (n, n)
    b : ndarray of int64, shape (n,)

    Returns
    -------
    numerators : ndarray of Python integers, shape (n,)
    denominator : int
        x = numerators / denominator, exactly; the denominator is above 0.

    Examples
    --------
    >>> numerators, denominator = solve(np.array([[2, 1], [1, -1]]), np.array([1, 1]))
    >>> [int(k) for k in numerators], denominator
    ([2, -1], 3)
    """
    inverse = _inverse_mod_p(A)
    lift = _lift(A, b, inverse, steps=_lifting_steps(A, b))
    return _common_fraction(*lift)


def _eliminate(A: Integers) -> tuple[Integers, Integers]:
    """Pivot rows and pivot columns of A modulo the prime."""
    work = A.astype(np.int64) % _P
    order = np.arange(len(work))
    columns: list[int] = []
    for c in range(work.shape[1]):
        r = len(columns)
        if r == len(work):
            break
        found = np.flatnonzero(work[r:, c])
        if not found.size:
            continue
        swap = r + int(found[0])
        work[[r, swap]], order[[r, swap]] = work[[swap, r]], order[[swap, r]]
        work[r] = work[r] * pow(int(work[r, c]), -1, _P) % _P
        below = r + 1 + np.flatnonzero(work[r + 1 :, c])
        work[below, c:] = (work[below, c:] - work[below, c, None] * work[r, c:]) % _P
        columns.append(c)
    return order[: len(columns)], np.array(columns, dtype=np.int64)


def _inverse_mod_p(A: Integers) -> Integers:
    """The inverse of A modulo the prime, by Gauss-Jordan elimination."""
    n = len(A)
    work = np.concatenate([A.astype(np.int64) % _P, np.eye(n, dtype=np.int64)], axis=1)
    for c in range(n):
        swap = c + int(np.flatnonzero(work[c:, c])[0])
        work[[c, swap]] = work[[swap, c]]
        work[c] = work[c] * pow(int(work[c, c]), -1, _P) % _P
        factors = work[:, c].copy()
        factors[c] = 0
        work[:, c:] = (work[:, c:] - factors[:, None] * work[c, c:]) % _P
    return work[:, n:]


def _lifting_steps(A: Integers, b: Integers) -> int:
    """How many p-adic digits fix the solution: Hadamard's bound on numerator and denominator (Cramer's rule)."""
    norms = np.sqrt((A.astype(np.float64) ** 2).sum(axis=1))
    bits = float(np.log2(np.maximum(norms, 1.0)).sum())
    right = math.log2(max(1.0, float(np.abs(b).max(initial=0)) * math.sqrt(len(b))))
    return math.ceil((2 * (bits + right) + 3) / math.log2(_P)) + 1


def _lift(A: Integers, b: Integers, inverse: Integers, steps: int) -> tuple[Integers, int]:
    """The solution modulo a power of the prime: each step adds one p-adic digit."""
    residual, power = b.astype(np.int64), 1
    x = np.zeros(len(b), dtype=object)
    for _ in range(steps):
        digit = (inverse * (residual % _P) % _P).sum(axis=1) % _P
        x += digit.astype(object) * power
        power *= _P
        residual = _exact_quotient(A, residual, digit)
    return x, power


def _exact_quotient(A: Integers, residual: Integers, digit: Integers) -> Integers:
    """(residual - A digit) / p, exactly, without leaving int64."""
    # Split the digit so that no product or sum exceeds int64 for entries of A below 2**20 and up to 2**26 columns.
    high, low = digit >> 16, digit & 0xFFFF
    top, bottom = A @ high, residual - A @ low
    # residual - A digit = bottom - 2**16 top; divide by p with remainders.
    return np.asarray((bottom - (top % _P) * 65_536) // _P - (top // _P) * 65_536)


def _common_fraction(x: Integers, modulus: int) -> tuple[Integers, int]:
    """Write all entries as fractions with one denominator: rational reconstruction, entry by entry."""
    denominator = 1
    bound = math.isqrt(modulus // 2)
    numerators = np.zeros(len(x), dtype=object)
    for k in range(len(x)):
        scaled = int(x[k]) * denominator % modulus
        # Once the common denominator is known the entry is a small whole number (perhaps a negative one).
        scaled = scaled - modulus if scaled > modulus // 2 else scaled
        if abs(scaled) <= bound:
            numerators[k] = scaled
            continue
        top, bottom = _reconstruct(scaled % modulus, modulus, bound)
        numerators[:k] *= bottom
        denominator *= bottom
        numerators[k] = top
    return numerators, denominator


def _reconstruct(a: int, modulus: int, bound: int) -> tuple[int, int]:
    """The fraction top / bottom = a (mod modulus) with a small top: half of Euclid's algorithm."""
    r0, r1, s0, s1 = modulus, a, 0, 1
    while r1 > bound:
        quotient = r0 // r1
        r0, r1 = r1, r0 - quotient * r1
        s0, s1 = s1, s0 - quotient * s1
    return (r1, s1) if s1 > 0 else (-r1, -s1)
