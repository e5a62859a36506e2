"""From weights to fields and back, exactly: Gram matrices, start fields on a grid without rounding, and learned weights."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.engine import kernels
from seqattractor.engine.kernels import AHEAD, LANES, aligned
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

Integers = NDArray[Any]
Floats = NDArray[np.float64]

WIDTHS = (np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64))
"""The integer types fields are worked on, from the quickest to the widest."""

_FLOAT32_WHOLE = 2**24  # whole numbers up to here are exact in float32
_CHUNK = 2**22  # elements of a temporary float array
_COLUMNS = 4096  # inputs whose weights are at hand at a time, for a few rows in the second cache
_FEW_CHANGES = 1 / 8  # of all inputs; with fewer, sums over patterns are quicker by changes than by BLAS


def limit_of(width: int) -> int:
    """The largest |field| that `WIDTHS[width]` may hold, with room for the two bounds beyond it."""
    return 2**61 if width == 2 else int(np.iinfo(WIDTHS[width]).max) - 1


def padded(n: int) -> int:
    """`n`, rounded up to whole SIMD lanes."""
    return -(-n // LANES) * LANES


def aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Integers:
    """An array of zeros whose rows of whole SIMD lanes begin with a cache line, so that no vector lies across two."""
    zeros: Integers = aligned(shape, dtype, np.zeros)
    return zeros


def in_bits(X: Patterns) -> NDArray[np.uint32]:
    """Patterns (n, N) of +-1 in bits, where 1 stands for -1, shape (n, padded N / 32)."""
    n, N = X.shape
    negative = np.zeros((n, padded(N)), dtype=np.bool_)
    np.less(X, 0, out=negative[:, :N])
    return np.packbits(negative, axis=1, bitorder="little").view("<u4").astype(np.uint32)


class Changes(NamedTuple):
    """What changes from one pattern to the next, from one of all +1 on, in some of the inputs."""

    first: int
    """The first of these inputs."""
    N: int
    """Their number."""
    up: NDArray[np.int16]
    """Those that go to +1, in the order of the patterns, counted from the first input."""
    down: NDArray[np.int16]
    """Those that go to -1."""
    up_starts: NDArray[np.int64]
    """Where the changes to +1 of each pattern begin, shape (n + 1,)."""
    down_starts: NDArray[np.int64]
    """Where the changes to -1 do."""


class Inputs:
    """Patterns that neurons learn from, and what changes from each to the next: listed once for all neurons.

    Parameters
    ----------
    X : ndarray of int8, shape (n, N)
    """

    def __init__(self, X: Patterns) -> None:
        self.X = X

    def __reduce__(self) -> tuple[Any, ...]:
        """Changes are listed again where this is sent to."""
        return Inputs, (self.X,)

    @cached_property
    def changes(self) -> list[Changes]:
        """All changes, of some inputs after others."""
        parts = pieces(self.X.shape[1], _COLUMNS)
        return [Changes(p.start, p.stop - p.start, *_list_changes(in_bits(self.X[:, p]))) for p in parts]

    @property
    def change_little(self) -> bool:
        """Whether so few inputs change, as in films, that sums are quicker by changes."""
        return sum(len(some.up) + len(some.down) for some in self.changes) < _FEW_CHANGES * self.X.size


def _list_changes(bits: NDArray[np.uint32]) -> tuple[Integers, Integers, Integers, Integers]:
    """The inputs that go to +1 and to -1 with each pattern, and where those of each begin in both lists."""
    starts = np.empty(len(bits) + 1, dtype=np.int64), np.empty(len(bits) + 1, dtype=np.int64)
    kernels.count_changes(bits, *starts)
    up, down = (np.empty(some[-1], dtype=np.int16) for some in starts)
    kernels.list_changes(bits, up, down)
    return up, down, *starts


def gram(X: Patterns, kind: np.dtype[Any] | None = None) -> Integers:
    """The integer Gram matrix X X^T of +-1 rows in whole SIMD lanes, shape (n, padded n), with zeros beyond n.

    It is of the narrowest integers, or of a given kind: of thousands of transitions it is by far the largest array.
    """
    n, N = X.shape
    K = aligned_zeros((n, padded(n)), narrowest(N) if kind is None else kind)
    kernels.products(K, in_bits(X), N)
    return K


class Gram:
    """The Gram matrix of some inputs for the kernels.

    Attributes
    ----------
    K : ndarray of the narrowest integers that hold it, shape (n, padded n)
    step : int
        Its largest |entry|: how far one update can move a field.
    ahead : ndarray of the same type, shape (padded n / LANES, AHEAD, LANES)
        What updates add to later fields of their LANES transitions; see `look_ahead` in csrc/tape.h.
    """

    def __init__(self, K: Integers) -> None:
        self.step = max(int(K.max(initial=1)), -int(K.min(initial=0)))
        if K.dtype != narrowest(self.step):
            K, given = aligned_zeros(K.shape, narrowest(self.step)), K
            K[:] = given
        self.K = K
        self.ahead = aligned_zeros((K.shape[1] // LANES, AHEAD, LANES), K.dtype)
        kernels.look_ahead(K, self.ahead)

    def of(self, width: int) -> tuple[Integers, ...]:
        """K and `ahead` for fields of a width."""
        return for_fields(width, self.K, self.ahead)


def for_fields(width: int, *arrays: Integers) -> tuple[Integers, ...]:
    """Gram matrices as they are added to fields of a width: no narrower than kernels are compiled for."""
    kind = WIDTHS[width] if width == 2 else None
    return tuple(array if kind is None else array.astype(kind, copy=False) for array in arrays)


def narrowest(step: int) -> np.dtype[Any]:
    """The first of `WIDTHS` that holds whole numbers up to `step`."""
    return next(kind for kind in WIDTHS if np.iinfo(kind).max >= step)


def least_width(step: int) -> int:
    """The first width that holds at least a few updates of the size `step`."""
    return next(width for width in range(len(WIDTHS)) if 8 * step <= limit_of(width))


def start_fields(weights: Floats, inputs: Inputs, theta: float = 0.0) -> Floats:
    """Start fields weights . x(t) - theta, shape (rows, n): exact, since weights are on the grid of `engine.grid`."""
    fields = np.zeros((len(weights), len(inputs.X)))
    if weights.any():
        for some in inputs.changes:
            kernels.add_start_fields(fields, weights, *some[2:], some.first, some.N)
    return fields - theta if theta else fields


def add_learned(weights: Floats, counts: Integers, inputs: Inputs, more: Integers | None = None) -> None:
    """Add counts X + more to the weights in place, for integer counts (rows, n) and integers `more` like the weights."""
    if more is None and inputs.change_little:
        counts = np.ascontiguousarray(counts, dtype=np.int64)
        for some in inputs.changes:
            kernels.add_sums(weights, counts, *some[2:], some.first, some.N)
        return
    n, N = inputs.X.shape
    rows: Any = np.flatnonzero(np.any(counts, axis=1))  # often few: most visible neurons have settled before the tape ends
    if 2 * len(rows) > len(counts):
        rows = slice(None)  # to pick most of them out would take longer
    counted = counts[rows]
    most = int(np.abs(counted).sum(axis=1).max(initial=0))
    kind: np.dtype[Any] = np.dtype(np.float32 if most < _FLOAT32_WHOLE else np.float64)
    counted = counted.astype(kind)
    for part in pieces(N, max(_CHUNK // max(n, len(weights)), 1)):
        learned: Floats = np.zeros(weights[:, part].shape) if more is None else more[:, part].astype(np.float64)
        if len(counted):
            learned[rows] += counted @ inputs.X[:, part].astype(kind)
        weights[:, part] += learned
