"""V practises alone: codes are fixed and clean, so that each visible neuron learns by itself until it has no error left.

This is eqs. (8)-(9) for one neuron after the other instead of one epoch after the other, with the same weights in the end. A
neuron is done after its first epoch without an error, since codes do not change any more. What is left are the few neurons whose
task is hard, and these can practise for thousands of epochs in the time that a few epochs of all neurons take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel
from seqattractor.learning.rule import field
from seqattractor.learning.sparse.rule import LARGEST, SparseSettings, SparseState, too_large
from seqattractor.sequences import Patterns

_WINDOW = 256  # epochs at most that are learned before they are noted


def practise(
    inputs: Patterns,
    targets: Patterns,
    state: SparseState,
    settings: SparseSettings,
    step: int,
    n_epochs: int,
    note: Callable[[int, int], bool],
) -> int:
    """Let V, and Q with it, practise on the clean patterns with fixed codes; ends after the first epoch without an error.

    Parameters
    ----------
    inputs, targets : ndarray of int8, shapes (n, N_in) and (n, N)
        x(t) and x(t+1).
    state : SparseState
        V, Q and `wrong` are changed.
    settings : SparseSettings
    step : int
        How far V moves.
    n_epochs : int
        How many, at most.
    note : callable
        Told the errors sum mu, which is 0, and sum nu of every epoch; returning True ends the practice there.

    Returns
    -------
    int
        How many epochs were not needed.
    """
    x_b = np.column_stack([inputs, np.full(len(inputs), settings.bias)])
    # Products of whole numbers in float64 are exact and fast: no sum here comes near 2**53.
    y = field(state.U.astype(np.float64), x_b) >= 0  # eq. (7)
    first, active = np.append(0, np.cumsum(y.sum(axis=1))), np.nonzero(y)[1]
    largest = max(int(np.abs(state.V).max(initial=0)), settings.visible_margin)
    left, size, over = n_epochs, 1, False
    while left and not over:
        size = min(2 * size, _WINDOW, left)
        largest += size * len(inputs) * step
        if largest * state.V.shape[1] >= LARGEST:
            raise too_large()
        before = state.V.copy()
        errors, wrong = practise_rows(first, active, targets, state.V, settings.visible_margin, step, size)
        told = 0
        while told < size and not over:
            over = note(0, int(errors[told])) or not errors[told]
            told += 1
        if told < size and errors[told - 1]:  # the window went further than wanted
            state.V[:] = before
            _, wrong = practise_rows(first, active, targets, state.V, settings.visible_margin, step, told)
        state.Q[:], state.wrong[:] = state.V.T, wrong
        left -= told
    return left


@kernel
def practise_rows(first: Any, active: Any, targets: Any, V: Any, margin: int, step: int, n_epochs: int) -> tuple[Any, Any]:
    """Some epochs of eqs. (8)-(9) for each row of V, (N, M), which is changed in place.

    `active[first[t] : first[t + 1]]` are the active hidden neurons of transition t. Returns sum nu of each epoch, and for each
    transition how many visible neurons were wrong in the last epoch.
    """
    errors, wrong = np.zeros(n_epochs, dtype=np.int64), np.zeros(len(targets), dtype=np.float64)
    x = np.empty(len(targets), dtype=np.int64)
    for j in range(len(V)):
        v = V[j]
        for t in range(len(x)):
            x[t] = targets[t, j]
        for e in range(n_epochs):
            row_errors = 0
            for t in range(len(x)):
                g = np.int64(0)
                for a in range(first[t], first[t + 1]):
                    g += v[active[a]]
                if x[t] * g <= margin:  # eq. (8)
                    row_errors += 1
                    if e == n_epochs - 1:
                        wrong[t] += (g >= 0) != (x[t] > 0)
                    for a in range(first[t], first[t + 1]):
                        v[active[a]] += step * x[t]  # eq. (9)
            if row_errors == 0:
                break
            errors[e] += row_errors
    return errors, wrong
