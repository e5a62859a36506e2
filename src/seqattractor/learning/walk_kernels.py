"""The compiled kernel of a single state on its way through a hidden and a visible layer, one step after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel, part

UNDECIDED = -1
_ROWS = 4  # added at once, so that sums are loaded and stored less often


@part
def _fire(W: Any, surely: Any, perhaps: Any, on: Any, number: int, sums: Any, fires: Any) -> Any:
    """Put the neurons that fire when the inputs on[:number] do into `fires`; returns how many do, or UNDECIDED.

    W is of shape (inputs, neurons). A neuron fires from the sum `surely` on, and does not below `perhaps`.
    """
    neurons = surely.shape[0]
    for j in range(neurons):
        sums[j] = 0
    together = number // _ROWS * _ROWS
    for k in range(0, together, _ROWS):
        a, b, c, d = on[k], on[k + 1], on[k + 2], on[k + 3]
        for j in range(neurons):
            sums[j] += W[a, j] + W[b, j] + W[c, j] + W[d, j]
    for k in range(together, number):
        for j in range(neurons):
            sums[j] += W[on[k], j]
    undecided = 0
    for j in range(neurons):
        undecided |= (sums[j] >= perhaps[j]) != (sums[j] >= surely[j])
    if undecided:
        return UNDECIDED
    fired = 0
    for j in range(neurons):
        fires[fired] = j
        fired += sums[j] >= surely[j]
    return fired


@kernel
def walk(
    U: Any, hidden_surely: Any, hidden_perhaps: Any, V: Any, visible_surely: Any, visible_perhaps: Any, state: Any, path: Any
) -> int:
    """Let a state (N,) of -1 and 1 go on, and write the states that follow into path (steps, N), eqs. (2) and (3).

    Of each layer: weights (inputs, neurons) and sums as in `_fire`. Returns the number of steps before one that is not decided.
    """
    hidden_sums, visible_sums = np.empty(U.shape[1], U.dtype), np.empty(V.shape[1], V.dtype)
    zeta, xi = np.empty(U.shape[1] + 1, np.int64), np.empty(max(V.shape[1], U.shape[0]) + 1, np.int64)
    active = 0
    for k in range(state.shape[0]):
        xi[active] = k
        active += state[k] > 0
    for step in range(path.shape[0]):
        hidden = _fire(U, hidden_surely, hidden_perhaps, xi, active, hidden_sums, zeta)
        if hidden == UNDECIDED:
            return step
        active = _fire(V, visible_surely, visible_perhaps, zeta, hidden, visible_sums, xi)
        if active == UNDECIDED:
            return step
        for k in range(path.shape[1]):
            path[step, k] = -1
        for k in range(active):
            path[step, xi[k]] = 1
    return len(path)
