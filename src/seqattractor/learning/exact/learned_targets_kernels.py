"""The compiled kernel for learned targets: one epoch, transition by transition, since every target depends on all updates before.

What changes is whole numbers in arrays of int32 or int64, and the caller has made sure that none leaves its type. What does
not change is float64: the fields of the start weights, and the drive of the targets by P. A field is the sum of both,
rounded once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel, part


@kernel
def epoch(targets: Any, gram: Any, hidden: Any, visible: Any, feedback: Any, real: Any) -> tuple[int, int]:
    """One epoch, all in units of eta; arrays are changed in place. Returns sum mu and sum nu.

    targets (n, N) are x(t+1), gram (n, n) the products of the inputs, and there are the arrays of

    - the hidden neurons: fields of the start weights (n, M), and of what was learned (n, M), and updates made (n, M);
    - the visible neurons: start weights (M', N) on a grid on which sums are exact, the fields (n, N) that these make, weights
      learned (M', N) and codes (n, M') of -1 and 1, where M' is M, or M + 1 with a constant unit that never flips;
    - the feedback: drive of the targets by P (n, M), and Q x(t+1) for each of them (n, M).

    `real` are kappa and lambda.
    """
    _, _, updates = hidden
    _, _, learned, codes = visible
    n, n_hidden = updates.shape
    n_visible = targets.shape[1]
    step, g = np.empty(n_hidden, dtype=learned.dtype), np.empty(n_visible, dtype=learned.dtype)
    kappa, learned_feedback = real
    hidden_errors = visible_errors = 0
    for t in range(n):
        errors = _hidden_steps(t, hidden, feedback, kappa, learned_feedback, step)
        if errors:
            hidden_errors += errors
            _learn_hidden(t, gram, hidden, step)
        _renew_code(t, hidden, visible)
        errors = _visible_steps(t, targets[t], visible, kappa, g)
        if errors:
            visible_errors += errors
            for i in range(len(learned)):  # eq. (9)
                for j in range(n_visible):
                    learned[i, j] += codes[t, i] * g[j]
            _learn_feedback(t, targets, codes[t], feedback, g)
    return hidden_errors, visible_errors


@part
def _hidden_steps(t: int, hidden: Any, feedback: Any, kappa: float, learned_feedback: float, step: Any) -> int:
    """Put z_i into `step` where mu_i = 1 and 0 elsewhere, eqs. (4)-(5); returns sum mu."""
    start, learned, _ = hidden
    drive, projected = feedback
    errors = 0
    for i in range(len(step)):
        z = 1 if drive[t, i] + learned_feedback * projected[t, i] >= 0 else -1
        mu = z * (start[t, i] + learned[t, i]) <= kappa
        step[i] = z * mu
        errors += mu
    return errors


@part
def _learn_hidden(t: int, gram: Any, hidden: Any, step: Any) -> None:
    """Eq. (6) for the fields at all transitions: an update with x(t) moves that at x(s) by x(t) . x(s)."""
    _, learned, updates = hidden
    for i in range(len(step)):
        updates[t, i] += step[i]
    for s in range(len(gram)):
        product = gram[t, s]
        for i in range(len(step)):
            learned[s, i] += product * step[i]


@part
def _renew_code(t: int, hidden: Any, visible: Any) -> None:
    """The code y(t), eq. (7), and what its flips do to the fields of the visible start weights."""
    hidden_start, hidden_learned, _ = hidden
    start, start_fields, _, codes = visible
    for i in range(hidden_start.shape[1]):
        y = 1 if hidden_start[t, i] + hidden_learned[t, i] >= 0 else -1
        if y != codes[t, i]:
            codes[t, i] = y
            for j in range(start.shape[1]):
                start_fields[t, j] += 2 * y * start[i, j]


@part
def _visible_steps(t: int, x_next: Any, visible: Any, kappa: float, g: Any) -> int:
    """Put nu_j x_j(t+1) into g, eq. (8); returns sum nu."""
    _, start_fields, learned, codes = visible
    g[:] = 0
    for i in range(len(learned)):
        y = codes[t, i]
        for j in range(len(g)):
            g[j] += y * learned[i, j]
    errors = 0
    for j in range(len(g)):
        nu = x_next[j] * (start_fields[t, j] + g[j]) <= kappa
        g[j] = nu * x_next[j]
        errors += nu
    return errors


@part
def _learn_feedback(t: int, targets: Any, code: Any, feedback: Any, g: Any) -> None:
    """The update of Q for what it makes of all targets: Q x(s+1) moves by y(t) times (nu(t) x(t+1)) . x(s+1)."""
    _, projected = feedback
    for s in range(len(targets)):
        product = projected.dtype.type(0)
        for j in range(len(g)):
            product += g[j] * targets[s, j]
        for i in range(projected.shape[1]):
            projected[s, i] += code[i] * product
