"""U or V practises alone: its targets are fixed and patterns clean, so that each neuron learns by itself.

This is the rule for one neuron after the other instead of one epoch after the other, with the same weights in the end.

A visible neuron is done after its first epoch without an error, since codes do not change any more. What is left are the few
neurons whose task is hard, and these can practise for thousands of epochs in the time that a few epochs of all neurons take.

A hidden neuron raises its margin after an epoch without an error. Steps stay as they are, so that what was learned early counts
for less and less, and the weights turn towards those with the largest margin for their length, as in a support vector machine.
Flipped units change a field by a random number that grows with the length of the weights: those are the weights that bear most
noise, though none was practised. Fields of the stored patterns are carried along (the dual form): a step costs n additions, and
weights are made at the end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seqattractor.learning import kernels
from seqattractor.learning.rule import field
from seqattractor.learning.sparse.arrays import in_rows, packed
from seqattractor.learning.sparse.rule import LARGEST, RAISES, SparseSettings, SparseState, raised_margin, too_large
from seqattractor.sequences import Patterns

_WINDOW = 256  # epochs at most that are learned before they are noted


def practise_V(
    inputs: Patterns,
    targets: Patterns,
    state: SparseState,
    settings: SparseSettings,
    step: int,
    n_epochs: int,
    note: Callable[[int, int], bool],
) -> int:
    """Let V, and Q with it, practise eqs. (8)-(9); ends after the first epoch without an error.

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
    starts, active = np.append(0, np.cumsum(y.sum(axis=1))), np.nonzero(y)[1].astype(np.int32)
    largest = max(int(np.abs(state.V).max(initial=0)), settings.visible_margin)
    left, size, over = n_epochs, 1, False
    while left and not over:
        size = min(2 * size, _WINDOW, left)
        largest += size * len(inputs) * step
        if largest * state.V.shape[1] >= LARGEST:
            raise too_large()
        V, errors, wrong = state.V.copy("C"), np.zeros(size, dtype=np.int64), np.zeros(len(inputs))
        kernels.practise_V(V, targets, active, starts, errors, wrong, settings.visible_margin, step)
        told = 0
        while told < size and not over:
            over = note(0, int(errors[told])) or not errors[told]
            told += 1
        if told < size and errors[told - 1]:  # the window went further than wanted
            V[:], wrong[:] = state.V, 0
            kernels.practise_V(V, targets, active, starts, errors[:told], wrong, settings.visible_margin, step)
        state.V[:], state.Q[:], state.wrong[:] = V, V.T, wrong
        left -= told
    return left


def practise_U(
    inputs: Patterns, state: SparseState, settings: SparseSettings, step: int, n_epochs: int, note: Callable[[int, int], bool]
) -> None:
    """Let U practise eqs. (5)-(6), with margins that are raised.

    Parameters
    ----------
    inputs : ndarray of int8, shape (n, N_in)
        x(t).
    state : SparseState
        U and `raised` are changed.
    settings : SparseSettings
    step : int
        How far U moves.
    n_epochs : int
        How many.
    note : callable
        Told the errors sum mu and sum nu, which is 0, of every epoch; returning True ends the practice there.
    """
    s, (n, n_in), M = settings, inputs.shape, len(state.U)
    x_b = np.column_stack([inputs, np.full(n, s.bias)]).astype(np.float64)
    # Products of whole numbers in float64 are exact and fast: no sum here comes near 2**53.
    gram = in_rows(x_b @ x_b.T, np.int32, padded=False)
    fields = in_rows(field(x_b, state.U.astype(np.float64)), np.int64, padded=False)
    z, rule = packed(state.targets.T), (s.margin, s.active_margin, step, step * s.active_weight)
    largest, left, over = int(np.abs(fields).max(initial=0)), n_epochs, False
    while left and not over:
        size = min(_WINDOW, left)
        largest += size * n * step * s.active_weight * (n_in + s.bias**2)
        highest = raised_margin(max(s.margin, s.active_margin), state.raised.max(initial=0) + size)
        if max(largest, int(highest) * RAISES) >= LARGEST:
            raise too_large()
        before, raised = fields.copy(), state.raised.copy()
        counts, errors = np.zeros((M, n), dtype=np.int64), np.zeros(size, dtype=np.int64)
        kernels.practise_U(gram, fields, z, state.raised, counts, errors, *rule)
        told = 0
        while told < size and not over:
            over = note(int(errors[told]), 0)
            told += 1
        if told < size:  # the window went further than wanted
            state.raised[:], counts[:] = raised, 0
            kernels.practise_U(gram, before, z, state.raised, counts, errors[:told], *rule)
        state.U += (counts.astype(np.float64) @ x_b).astype(np.int64)
        left -= told
