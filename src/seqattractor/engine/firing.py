"""The states of threshold neurons for a batch: the answer of float64 (`rule.field`) at half the
price of float32.

A kernel adds up whole numbers of 30 bits (``csrc/firing.h``), and for four inputs at a time it
looks the sum up. A sum that is further from the threshold than what rounding took off the weights,
and than float64 itself may err, decides as float64 does. The few states with a sum nearer than that
are added up again in float64. Where weights are multiples of a power of two (whole numbers, the
dyadic weights of the sparse network), nothing is taken off, and every sum decides.

A single state takes many steps in one call of a kernel (`Walk`, ``csrc/walk.h``), since BLAS has
little to do for one state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.engine import kernels
from seqattractor.rule import field

Array = NDArray[Any]
Floats = NDArray[np.float64]
States = NDArray[np.int8]

_BITS = 30  # of the whole numbers
_MOST_WEIGHTS = (
    2**20
    # of a layer: with more, and the few steps of most runs, to round them would take longer than it
    # gains
)
_FEWEST_STATES = 64  # for fewer the rounding of W costs more than it gains
_AT_A_TIME = 1024  # states whose sums stay in the cache
_LANES = 32  # neurons are padded to a multiple of this, so that loops over them have no scalar rest


def respond(W: Array, x: Array, offset: Array | float = 0.0, silent: int = -1) -> States:
    """The states of neurons that are active, 1, where W x + offset >= 0, for a batch of inputs -1,
    0 and 1: (B, N) -> (B, M).
    """
    low = -1 if x.size and x.min() < 0 else 0
    layer = round_layer(W, offset, low) if _pays(W, x) else None
    if layer is None:
        return _by_float64(W, x, offset, silent)
    states = np.empty((len(x), len(W)), dtype=np.int8)
    for start in range(0, len(x), _AT_A_TIME):
        part = slice(start, start + _AT_A_TIME)
        doubtful = by_whole_numbers(layer, x[part], low, silent, states[part])
        if doubtful is None or len(doubtful) > len(states[part]) / 2:
            # Inputs of -1, 0 and 1, or ties everywhere: the weights are multiples of a number such
            # as 0.001.
            states[start:] = _by_float64(W, x[start:], offset, silent)
            break
        if len(doubtful):
            states[start + doubtful] = _by_float64(W, x[start + doubtful], offset, silent)
    return states


def _pays(W: Array, x: Array) -> bool:
    """Whether there are enough states, of types in which there is something to gain, and few of
    them will stay undecided.
    """
    if len(x) < _FEWEST_STATES:
        return False
    M, N = W.shape
    # A neuron is in doubt by about N units of 2**-30 of all its weights; its sum is as large as the
    # square root of N of them.
    return x.ndim == 2 and x.dtype == np.int8 and M * N**1.5 < 2.0**_BITS


def _by_float64(W: Array, x: Array, offset: Array | float, silent: int) -> States:
    """The same in plain words."""
    active = np.asarray(field(W, x) + offset >= 0)
    return (1 - silent) * active.view(np.int8) + silent  # np.where takes twenty times as long


class Layer(NamedTuple):
    """Weights in whole numbers of a unit for each neuron, for active inputs, and what their sums
    decide.
    """

    W: NDArray[np.int32]
    """Shape (N, padded M)."""
    surely: NDArray[np.int32]
    """From this sum over active inputs on a neuron is active, shape (padded M,)."""
    perhaps: NDArray[np.int32]
    """Below this sum it is silent, shape (padded M,)."""


def round_layer(W: Array, offset: Array | float, low: int) -> Layer | None:
    """Round the weights (M, N) of a layer for inputs of `low`, -1 or 0, and 1; None if the kernels
    cannot.
    """
    if W.dtype != np.float64 or not kernels.available():
        return None
    offsets = np.ascontiguousarray(np.broadcast_to(np.asarray(offset, dtype=np.float64), len(W)))
    padded = -(-len(W) // _LANES) * _LANES
    layer = Layer(
        *(
            kernels.aligned(shape, np.int32)
            for shape in ((W.shape[1], padded), (padded,), (padded,))
        )
    )
    return None if kernels.round_layer(np.ascontiguousarray(W), offsets, *layer, low) else layer


def by_whole_numbers(
    layer: Layer, x: States, low: int, silent: int, states: States
) -> NDArray[np.intp] | None:
    """Write the states (b, M) that a rounded layer gives; returns for which inputs it does not
    decide, or None if x is mixed.
    """
    doubtful = np.empty(len(x), dtype=np.uint8)
    number = kernels.respond(layer, np.ascontiguousarray(x), states, doubtful, low, silent)
    if number < 0:
        return None
    return np.flatnonzero(doubtful) if number else np.empty(0, dtype=np.intp)


class Walk(NamedTuple):
    """A way for single states through a hidden and a visible layer that have learned."""

    hidden: Layer
    visible: Layer
    width: int

    def path(self, state: States, steps: int) -> States:
        """The states that follow a state (N,), up to so many; fewer, (k, N), if the one after them
        is not decided.
        """
        path = np.empty((steps, self.width), dtype=np.int8)
        return path[: kernels.walk(self.hidden, self.visible, np.ascontiguousarray(state), path)]


def find_walk(
    hidden: tuple[Array, Array | float], visible: tuple[Array, Array | float], silent: int = -1
) -> Walk | None:
    """The walk through two layers, given by weights (neurons, inputs) and offsets, (neurons,) or a
    number.

    A neuron is active where weights . input + offset >= 0; silent hidden ones are `silent`, -1 or
    0, and silent visible ones -1. None where rounding the weights does not pay, or they are of
    sizes that cannot be rounded.

    Examples
    --------
    >>> swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> find_walk((swap, 0.0), (np.eye(2), 0.0)).path(np.array([1, -1], dtype=np.int8), 3)
    array([[-1,  1],
           [ 1, -1],
           [-1,  1]], dtype=int8)
    """
    if max(hidden[0].size, visible[0].size) > _MOST_WEIGHTS:
        return None
    first, second = round_layer(*hidden, -1), round_layer(*visible, silent)
    return None if first is None or second is None else Walk(first, second, len(visible[0]))
