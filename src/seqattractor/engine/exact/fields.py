"""From weights to fields and back, exactly: Gram matrices, start fields on a grid without rounding,
and learned weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.engine import kernels
from seqattractor.engine.kernels import AHEAD, LANES, aligned
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

Integers = NDArray[Any]
Floats = NDArray[np.float64]

WIDTHS = (np.dtype(np.int16), np.dtype(np.int32))
"""The integer types of fields. Weights whose fields need more are rejected by `engine.grid`."""

_FLOAT32_WHOLE = 2**24  # whole numbers up to here are exact in float32
_CHUNK = 2**22  # elements of a temporary float array
_COLUMNS = 4096  # inputs whose weights are at hand at a time, for a few rows in the second cache


def limit_of(kind: np.dtype[Any]) -> int:
    """The largest |field| that one of `WIDTHS` may hold, with headroom for the two bounds beyond
    it.
    """
    return int(np.iinfo(kind).max) - 1


def narrowest(largest: int) -> np.dtype[Any]:
    """The first of `WIDTHS` that holds whole numbers up to this size."""
    return next(kind for kind in WIDTHS if limit_of(kind) >= largest)


def padded(n: int) -> int:
    """`n`, rounded up to whole SIMD lanes."""
    return -(-n // LANES) * LANES


def in_bits(X: Patterns) -> NDArray[np.uint32]:
    """Patterns (n, N) of +-1 in bits, where 1 stands for -1, shape (n, padded N / 32)."""
    n, N = X.shape
    negative = np.zeros((n, padded(N)), dtype=np.bool_)
    np.less(X, 0, out=negative[:, :N])
    return np.packbits(negative, axis=1, bitorder="little").view("<u4").astype(np.uint32)


def gram(X: Patterns, kind: np.dtype[Any] | None = None) -> Integers:
    """The integer Gram matrix X X^T of +-1 rows in whole SIMD lanes, shape (n, padded n), with
    zeros beyond n.

    It is of the narrowest integers, or of a given type: of thousands of transitions it is by far
    the largest array.
    """
    n, N = X.shape
    K: Integers = aligned((n, padded(n)), narrowest(N) if kind is None else kind, np.zeros)
    x: Any = X.astype(np.float32 if N <= _FLOAT32_WHOLE else np.float64)
    for rows in pieces(n, max(_CHUNK // n, 1)):
        K[rows, :n] = x[rows] @ x.T
    return K


class Gram:
    """The Gram matrix of some inputs (n, N) for the kernels, in the narrowest integers, shape (n,
    padded n).
    """

    def __init__(self, X: Patterns) -> None:
        self.K = gram(X)
        self.step = X.shape[1]
        """The largest |entry|: how far one update can move a field."""
        self.ahead = aligned((self.K.shape[1] // LANES, AHEAD, LANES), self.K.dtype, np.zeros)
        """What updates add to later fields of their LANES transitions; see `look_ahead` in
        csrc/tape.h.
        """
        kernels.look_ahead(self.K, self.ahead)


def start_fields(weights: Floats, X: Patterns, theta: float = 0.0) -> Floats:
    """Start fields weights . x(t) - theta, shape (rows, n): exact, since weights are on the grid of
    `engine.grid`.
    """
    fields = np.zeros((len(weights), len(X)))
    if weights.any():
        for part in pieces(X.shape[1], _COLUMNS):
            kernels.add_start_fields(
                fields, weights, in_bits(X[:, part]), part.start, part.stop - part.start
            )
    return fields - theta if theta else fields


def add_learned(
    weights: Floats, counts: Integers, X: Patterns, more: Integers | None = None
) -> None:
    """Add counts X + more to the weights in place, for integer counts (rows, n) and integers `more`
    like the weights.
    """
    n, N = X.shape
    rows: Any = np.flatnonzero(
        np.any(counts, axis=1)
    )  # often few: most visible neurons have settled before the tape ends
    if 2 * len(rows) > len(counts):
        rows = slice(None)  # to pick most of them out would take longer
    counted = counts[rows]
    most = int(np.abs(counted).sum(axis=1).max(initial=0))
    kind: np.dtype[Any] = np.dtype(np.float32 if most < _FLOAT32_WHOLE else np.float64)
    counted = counted.astype(kind)
    for part in pieces(N, max(_CHUNK // max(n, len(weights)), 1)):
        if more is not None:
            weights[:, part] += more[:, part]
        if len(counted):
            weights[rows, part] += counted @ X[:, part].astype(kind)
