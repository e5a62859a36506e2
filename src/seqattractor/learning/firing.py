"""The states of threshold neurons for a large batch: the answer of float64 (`rule.field`) nearly at the price of float32.

Each row of W is rounded to whole numbers in a unit of its own, a power of two so coarse that every sum of them stays below 2**24.
Float32 adds such numbers without rounding, in whatever order BLAS takes them. What is wrong with a sum is therefore only what
rounding took off the weights, and for each neuron that is at most a known number. A sum further than this from the threshold, and
further than float64 itself may err, decides as float64 does. The few states with a sum nearer than that are added up again in
float64. Where weights are multiples of a power of two (whole numbers, the dyadic weights of the sparse network), nothing is taken
off, and every sum decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.rule import field

Array = NDArray[Any]
Floats = NDArray[np.float64]
States = NDArray[np.int8]
Flags = NDArray[np.bool_]

_BITS = 24  # of the whole numbers that float32 holds
_FEWEST_STATES = 256  # for fewer the rounding of W costs more than it gains
_AT_A_TIME = 1024  # states whose sums stay in the cache


def respond(W: Array, x: Array, offset: Array | float = 0.0, silent: int = -1) -> States:
    """The states of neurons that are active, 1, where W x + offset >= 0, for a batch of inputs -1, 0 and 1: (B, N) -> (B, M)."""
    return (1 - silent) * _is_active(W, x, offset).view(np.int8) + silent  # np.where takes twenty times as long


def _is_active(W: Array, x: Array, offset: Array | float) -> Flags:
    """Whether each neuron receives W x + offset >= 0, shape (B, M)."""
    if not (_pays(W, x) and x.min() >= -1 and x.max() <= 1 and is_ordinary(W) and is_ordinary(offset)):
        return _by_float64(W, x, offset)
    offsets = np.broadcast_to(np.asarray(offset, dtype=np.float64), len(W))
    rounded = round_weights(W, offsets)
    active = np.empty((len(x), len(W)), dtype=np.bool_)
    for start in range(0, len(x), _AT_A_TIME):
        some = x[start : start + _AT_A_TIME]
        active[start : start + _AT_A_TIME], doubtful = by_float32(rounded, some)
        if len(doubtful) > len(some) / 2:  # ties everywhere: the weights are multiples of a number such as 0.001
            active[start:] = _by_float64(W, x[start:], offset)
            break
        if len(doubtful):
            active[start + doubtful] = _by_float64(W, some[doubtful], offset)
    return active


def _pays(W: Array, x: Array) -> bool:
    """Whether there are enough states, of types in which there is something to gain, and few of them will stay undecided."""
    if len(x) < _FEWEST_STATES:
        return False
    M, N = W.shape
    # A neuron is in doubt by about N units of 2**-24 of all its weights; its sum is as large as the square root of N of them.
    return x.ndim == 2 and x.dtype == np.int8 and W.dtype == np.float64 and M * N**1.5 < 2.0**_BITS


def is_ordinary(values: Array | float) -> bool:
    """Whether numbers can be multiplied by the units of others without leaving the range of float64."""
    size = np.abs(values)
    return bool(np.all((size == 0) | ((size > 1e-100) & (size < 1e100))))


def _by_float64(W: Array, x: Array, offset: Array | float) -> Flags:
    """The same in plain words."""
    return np.asarray(field(W, x) + offset >= 0)


class Rounded(NamedTuple):
    """Weights in whole numbers, and what their sums decide."""

    W: NDArray[np.float32]
    """Shape (M, N)."""
    surely: NDArray[np.float32]
    """From this sum on a neuron is active, shape (M,)."""
    perhaps: NDArray[np.float32]
    """Below this sum it is silent, shape (M,)."""


def round_weights(W: Floats, offset: Floats) -> Rounded:
    """Round weights to whole numbers in a unit for each row."""
    whole, surely, perhaps = (array.astype(np.float32) for array in whole_weights(W, offset, _BITS))
    return Rounded(whole, surely, perhaps)


def whole_weights(W: Floats, offset: Floats, bits: int) -> tuple[Floats, Floats, Floats]:
    """Weights (M, N) rounded to whole numbers in a unit for each row, so that all sums of them are below 2**bits.

    Beside them the sums, (M,), from which on a neuron is surely active, and below which it is surely silent, in whole numbers.
    """
    inputs = W.shape[1]
    largest_sum = np.abs(W).sum(axis=1) * (1 + inputs * 2.0 ** (1 - bits))  # rounding may add half a unit for each weight
    exponent = bits - np.frexp(largest_sum)[1]
    unit = np.ldexp(1.0, exponent)  # to multiply by a power of two rounds nothing, and is much sooner done than np.ldexp
    scaled, threshold = W * unit[:, None], -offset * unit
    whole = np.rint(scaled)
    lost = np.abs(scaled - whole).sum(axis=1)
    # What float64 may err by in adding up terms, here and in `field`, twice over. Whole numbers it adds without an error.
    rounding = 2.0**-51 * (inputs + 8) * (2.0**bits + np.abs(threshold))
    doubt = np.where(lost > 0, lost + rounding, 0.0)
    surely, perhaps = (np.clip(np.ceil(bound), -(2.0**bits), 2.0**bits) for bound in (threshold + doubt, threshold - doubt))
    return whole, surely, perhaps


def by_float32(rounded: Rounded, x: States) -> tuple[Flags, NDArray[np.intp]]:
    """What the rounded weights say of some states, (b, M), and in which states they do not decide for every neuron."""
    sums = x.astype(np.float32) @ rounded.W.T
    active: Flags = sums >= rounded.surely
    if np.array_equal(rounded.surely, rounded.perhaps):
        return active, np.empty(0, dtype=np.intp)
    return active, np.flatnonzero(np.any((sums >= rounded.perhaps) != active, axis=1))
