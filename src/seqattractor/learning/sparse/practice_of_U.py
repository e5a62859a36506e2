"""U practises alone: targets are fixed and patterns clean, so that each hidden neuron learns by itself, for growing margins.

This is eqs. (5)-(6) for one neuron after the other instead of one epoch after the other, with the same weights in the end. After
an epoch without an error a neuron raises its margin. Steps stay as they are, so that what was learned early counts for less and
less, and the weights turn towards those with the largest margin for their length, as in a support vector machine. Flipped units
change a field by a random number that grows with the length of the weights: those are the weights that bear most noise, though
none was practised.

Fields of the stored patterns are carried along (the dual form): a step costs n additions, and weights are made at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel
from seqattractor.learning.rule import field
from seqattractor.learning.sparse.arguments import with_padding
from seqattractor.learning.sparse.rows import add_multiple, next_violation
from seqattractor.learning.sparse.rule import LARGEST, RAISES, SparseSettings, SparseState, raised_margin, too_large
from seqattractor.sequences import Patterns

_WINDOW = 256  # epochs at most that are learned before they are noted


def practise_U(
    inputs: Patterns, state: SparseState, settings: SparseSettings, step: int, n_epochs: int, note: Callable[[int, int], bool]
) -> None:
    """Let U practise on the clean patterns with fixed targets.

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
    s, (n, n_in) = settings, inputs.shape
    x_b = np.column_stack([inputs, np.full(n, s.bias)]).astype(np.float64)
    # Products of whole numbers in float64 are exact and fast: no sum here comes near 2**53.
    gram = with_padding(x_b @ x_b.T, np.int32)
    fields = with_padding(field(x_b, state.U.astype(np.float64)), np.int64)
    fields[:, n:] = -(2**62)  # below every margin
    z = with_padding(state.targets.T, np.int8)
    largest, left, over = int(np.abs(fields[:, :n]).max(initial=0)), n_epochs, False
    while left and not over:
        size = min(_WINDOW, left)
        largest += size * n * step * s.active_weight * (n_in + s.bias**2)
        highest = raised_margin(max(s.margin, s.active_margin), state.raised.max(initial=0) + size)
        if max(largest, int(highest) * RAISES) >= LARGEST:
            raise too_large()
        before, raised = fields.copy(), state.raised.copy()
        rule = (s.margin, s.active_margin, step, step * s.active_weight)
        counts, errors = practise_neurons(fields, gram, z, state.raised, *rule, size)
        told = 0
        while told < size and not over:
            over = note(int(errors[told]), 0)
            told += 1
        if told < size:  # the window went further than wanted
            state.raised[:] = raised
            counts, _ = practise_neurons(before, gram, z, state.raised, *rule, told)
        state.U += (counts.astype(np.float64) @ x_b).astype(np.int64)
        left -= told


@kernel
def practise_neurons(
    fields: Any, gram: Any, z: Any, raised: Any, margin: int, active_margin: int, step: int, active_step: int, n_epochs: int
) -> tuple[Any, Any]:
    """Some epochs of eqs. (5)-(6) for each row of fields, (M, n), padded as z is; fields and `raised` are changed in place.

    Returns the sum of the steps of each neuron at each pattern, (M, n), and sum mu of each epoch.
    """
    M, n = len(z), len(gram)
    counts, errors = np.zeros((M, n), dtype=np.int64), np.zeros(n_epochs, dtype=np.int64)
    for i in range(M):
        h = fields[i]
        for e in range(n_epochs):
            least, most = margin * (RAISES + raised[i]) // RAISES, active_margin * (RAISES + raised[i]) // RAISES
            row_errors = 0
            t = next_violation(h, z[i], least, most, 0)
            while t < n:
                row_errors += 1
                change = active_step if z[i, t] else -step
                counts[i, t] += change
                add_multiple(h, change, gram[t])  # eq. (6)
                t = next_violation(h, z[i], least, most, t + 1)
            errors[e] += row_errors
            if row_errors == 0:
                raised[i] += 1
    return counts, errors
