"""From weights to fields and back, exactly: Gram matrices, start fields on a grid without rounding, and learned weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.exact import kernels, start_kernels
from seqattractor.learning.exact.arrays import LINE
from seqattractor.learning.exact.lanes import AHEAD, LANES
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

Integers = NDArray[Any]
Floats = NDArray[np.float64]

WIDTHS = (np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64))
"""The integer types fields are worked on, from the quickest to the widest."""

_FLOAT32_WHOLE = 2**24  # whole numbers up to here are exact in float32
_CHUNK = 2**22  # elements of a temporary float array
_PATTERNS = 1024  # whose changes are listed at a time, however many there are
_COLUMNS = 4096  # inputs whose weights are at hand at a time, for a few rows in the second cache


def limit_of(width: int) -> int:
    """The largest |field| that `WIDTHS[width]` may hold, with room for the two bounds beyond it."""
    return 2**61 if width == 2 else int(np.iinfo(WIDTHS[width]).max) - 1


def padded(n: int) -> int:
    """`n`, rounded up to whole SIMD lanes."""
    return -(-n // LANES) * LANES


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Integers:
    """An array of zeros whose rows of whole SIMD lanes begin with a cache line, so that no vector lies across two."""
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.zeros(size + LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + size].view(dtype).reshape(shape)


def in_bits(X: Patterns) -> NDArray[np.uint32]:
    """Patterns (n, N) of +-1 in bits, where 1 stands for -1, shape (n, padded N / 32)."""
    n, N = X.shape
    negative = np.zeros((n, padded(N)), dtype=np.bool_)
    np.less(X, 0, out=negative[:, :N])
    return np.packbits(negative, axis=1, bitorder="little").view("<u4").astype(np.uint32)


def gram(X: Patterns, kind: np.dtype[Any] | None = None) -> Integers:
    """The integer Gram matrix X X^T of +-1 rows in whole SIMD lanes, shape (n, padded n), with zeros beyond n.

    Sums of +-1 are exact in float32, in any order that BLAS adds them. It is made a few rows at a time: of thousands of
    transitions it is by far the largest array, and only the result, in the narrowest integers or of a given kind, stays.
    """
    n, N = X.shape
    K = aligned_zeros((n, padded(n)), narrowest(N) if kind is None else kind)
    for rows in pieces(n, _CHUNK // n + 1):
        sums = np.zeros((len(X[rows]), n), dtype=np.float32 if N <= _FLOAT32_WHOLE else np.float64)
        for part in pieces(N, min(_CHUNK // n + 1, _FLOAT32_WHOLE)):
            sums += X[rows, part].astype(np.float32) @ X[:, part].T.astype(np.float32)
        K[rows, :n] = sums
    return K


class Gram:
    """The Gram matrix of some inputs for the kernels.

    Attributes
    ----------
    K : ndarray of the narrowest integers that hold it, shape (n, padded n)
    step : int
        Its largest |entry|: how far one update can move a field.
    ahead : ndarray of the same type, shape (padded n / LANES, AHEAD, LANES)
        What updates add to later fields of their LANES transitions; see `lanes.set_ahead`.
    """

    def __init__(self, K: Integers) -> None:
        self.step = max(int(K.max(initial=1)), -int(K.min(initial=0)))
        if K.dtype != narrowest(self.step):
            K, given = aligned_zeros(K.shape, narrowest(self.step)), K
            K[:] = given
        self.K = K
        self.ahead = aligned_zeros((K.shape[1] // LANES, AHEAD, LANES), K.dtype)
        kernels.look_ahead(self.ahead, K)


def narrowest(step: int) -> np.dtype[Any]:
    """The first of `WIDTHS` that holds whole numbers up to `step`."""
    return next(kind for kind in WIDTHS if np.iinfo(kind).max >= step)


def least_width(step: int) -> int:
    """The first width that holds at least a few updates of the size `step`."""
    return next(width for width in range(len(WIDTHS)) if 8 * step <= limit_of(width))


class Grid:
    """A grid for each row of start weights on which sums are free of rounding, no matter in which order they are added.

    In units of eta a weight w becomes rint(w * factor) / scale with scale a power of two. The sum of a row's |w / eta| bounds
    every partial sum, and 2**51 points of the grid reach beyond it, so that float64 holds each one exactly. A field moves by
    less than 1e-12 of that bound, and results depend neither on BLAS nor on the number of threads or the size of a block.

    Parameters
    ----------
    weights : ndarray of float64, shape (m, N)
    eta : float
    """

    def __init__(self, weights: Floats, eta: float) -> None:
        _, exponent = np.frexp(np.abs(weights).sum(axis=1) / eta)
        self.scale = np.ldexp(1.0, np.minimum(51 - exponent, 900))
        self.factor = self.scale / eta

    def place(self, weights: Floats) -> Floats:
        """The weights in units of eta, moved to the grid."""
        on_grid: Floats = weights * self.factor[:, np.newaxis]
        np.rint(on_grid, out=on_grid)
        on_grid /= self.scale[:, np.newaxis]
        return on_grid


def start_fields(weights: Floats, X: Patterns, eta: float, theta: float = 0.0) -> Floats:
    """Start fields weights . x(t) - theta in units of eta, shape (rows, n), exact on the `Grid` of the weights."""
    fields = np.zeros((len(weights), len(X)))
    if weights.any():
        grid = Grid(weights, eta)
        for part in pieces(X.shape[1], _COLUMNS):
            for some in pieces(len(X), _PATTERNS):
                changes = start_kernels.list_changes(in_bits(X[some, part]))
                start_kernels.add_start_fields(
                    fields, some.start, weights, part.start, part.stop - part.start, grid.factor, grid.scale, *changes
                )
    fields -= theta / eta
    return fields


def add_learned(weights: Floats, counts: Integers, X: Patterns, eta: float, more: Integers | None = None) -> None:
    """Add eta * (counts X + more) to the weights in place, for integer counts (rows, n) and integers `more` like the weights.

    The sum of integers is exact and each weight is rounded once, so that it does not matter which updates are in which of them.
    """
    n, N = X.shape
    counted: NDArray[np.bool_] = np.any(counts, axis=1)  # often few: most visible neurons have settled before the tape ends
    if more is not None:
        for rows in pieces(len(weights), max(_CHUNK // N, 1)):
            weights[rows][~counted[rows]] += eta * more[rows][~counted[rows]]
    changed = np.flatnonzero(counted)
    most = int(np.abs(counts).sum(axis=1).max(initial=0))
    kind: np.dtype[Any] = np.dtype(np.float32 if most < _FLOAT32_WHOLE else np.float64)
    for part in pieces(N, max(_CHUNK // n, 1)):
        x: NDArray[Any] = X[:, part].astype(kind)
        for some in pieces(len(changed), max(_CHUNK // x.shape[1], 1)):
            chosen = changed[some]
            learned: Floats = (counts[chosen].astype(kind) @ x).astype(np.float64)
            if more is not None:
                learned += more[chosen, part]
            learned *= eta
            weights[chosen, part] += learned
