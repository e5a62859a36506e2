"""A single state on its way through two layers of threshold neurons, many steps at a time, with the answers of float64.

BLAS has little to do for one state: most of a step is spent on the way there and back. Here a kernel takes many steps. As in
`firing`, weights are whole numbers in a unit for each neuron, with sums of 30 bits, so that hardly one is left undecided. Only
weights of active inputs are added up: for inputs of -1 and 1, W x = 2 (sum of the weights where x = 1) - (sum of all).
"""

from __future__ import annotations

import numpy as np

from seqattractor.engine import kernels
from seqattractor.engine.firing import Array, Layer, States, round_layer

_MOST_WEIGHTS = 2**20  # of a layer: with more, and the few steps of most runs, to round them would take longer than it gains


class Walk:
    """A way for single states through layers that have learned.

    Parameters
    ----------
    hidden, visible : tuple of weights (neurons, inputs) and offset, (neurons,) or a number
        A neuron is active where weights . input + offset >= 0.
    silent : int
        The state of a silent hidden neuron, -1 or 0; silent visible ones are -1.

    Examples
    --------
    >>> swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> Walk((swap, 0.0), (np.eye(2), 0.0)).path(np.array([1, -1], dtype=np.int8), 3)
    array([[-1,  1],
           [ 1, -1],
           [-1,  1]], dtype=int8)
    """

    def __init__(self, hidden: tuple[Array, Array | float], visible: tuple[Array, Array | float], silent: int = -1) -> None:
        self.width = len(visible[0])
        self._layers = _rounded(*hidden, -1), _rounded(*visible, silent)

    def path(self, state: States, steps: int) -> States:
        """The states that follow a state (N,), up to so many; fewer, (k, N), if the one after them is not decided."""
        path = np.empty((steps, self.width), dtype=np.int8)
        return path[: kernels.walk(*self._layers, np.ascontiguousarray(state), path)]


def can_walk(W: Array, offset: Array | float) -> bool:
    """Whether it pays to round the weights of a layer, and they and its offset are of sizes that may be rounded."""
    return W.size <= _MOST_WEIGHTS and round_layer(W, offset, -1) is not None


def _rounded(W: Array, offset: Array | float, low: int) -> Layer:
    """A layer that can be rounded."""
    layer = round_layer(W, offset, low)
    if layer is None:
        raise ValueError("weights or offsets are too large or too small to be rounded; see can_walk.")
    return layer
