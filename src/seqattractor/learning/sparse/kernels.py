"""Compiled kernels of the sparse rule: one epoch on plain integer arrays, exactly what `rule.present` does.

A hidden neuron's fields at the n stored patterns are carried along (the dual form): `epoch_on_fields`. An update at
transition t adds a multiple of a row of the Gram matrix of the inputs, bias included. Where x(t) has flipped units, the field
is that of the clean pattern and the weights of the few flipped units, so a presentation costs their number x M instead of N x M.
`epoch_on_weights` computes every field from the weights, which is cheaper where there are far more transitions than weights.

Weights and fields are int32 or int64 arrays; the caller has made sure that no number of the coming epoch leaves its type.
V is transposed, (M, N), since a presentation reads and writes the rows of its few active neurons; it is Q, too, since both get
the same updates (`tests/test_sparse.py`). Numbers of the rule come as two vectors, `whole` and `real`, in the order of the
constants below.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel, part
from seqattractor.learning.sparse.rule import PROTOTYPE, STEP_BITS, WRONG_AVERAGING, Epoch, SparseSettings

_N_WINNERS, _BIAS, _MARGIN, _ACTIVE_MARGIN, _ACTIVE_WEIGHT, _VISIBLE_MARGIN, _LEARN_DRIVE = range(7)
_NOISE, _HIDDEN_STEP, _VISIBLE_STEP, _CHOOSING, _DRIVE_STEP, _REDRAWING = range(7, 13)
_LEARNED_FEEDBACK, _REDRAW, _REDRAW_TOLERANCE, _HOMEOSTASIS = range(4)


def settings_as_vectors(s: SparseSettings, now: Epoch) -> tuple[Any, Any]:
    """The numbers of the rule and of one epoch as the kernels take them; n_winners is negative for a choice by thresholds."""
    whole = [s.n_winners if s.winners else -s.n_winners, s.bias, s.margin, s.active_margin, s.active_weight, s.visible_margin]
    whole += [s.learn_drive, now.noise, now.hidden_step, now.visible_step, now.choosing, now.drive_step, now.redrawing]
    real = [s.learned_feedback, s.redraw, s.redraw_tolerance, now.homeostasis]
    return np.array(whole, dtype=np.int64), np.array(real, dtype=np.float64)


@kernel
def epoch_on_weights(
    inputs: Any, targets: Any, drive: Any, U: Any, Vt: Any, choice: Any, whole: Any, real: Any, rng: Any
) -> tuple[int, int]:
    """One epoch with fields from the weights, U (M, N_in + 1), Vt (M, N); all is changed in place. Returns sum mu and sum nu.

    `choice` holds what the choice of targets needs and leaves: theta (M,), Z (n, M), wrong and redrawn (n,), P (M, N_in).
    """
    n, n_in = inputs.shape
    bias = whole[_BIAS]
    length = n_in + bias * bias  # |[x; b]|^2
    h, active, order = np.empty_like(U[:, 0]), np.empty(len(U), dtype=np.int64), np.arange(n_in)
    change, g, negative, room = (
        np.empty_like(h),
        np.empty_like(Vt[0]),
        np.empty_like(U[0, :n_in]),
        _room_for_choice(Vt, choice, whole),
    )
    hidden_errors = visible_errors = 0
    for t in range(n):
        n_flipped = _draw_flips(whole[_NOISE], order, rng)
        _choose(inputs[t], targets[t], drive[t], t, choice, room, whole, real, rng)
        z = choice[1][t]
        _signs(inputs[t], negative)
        for j in range(n_flipped):
            negative[order[j]] = ~negative[order[j]]
        _project(U, negative, h)
        for i in range(len(h)):
            h[i] += bias * U[i, n_in]
        n_changed = _changes(h, z, change, whole)
        if n_changed:  # eq. (6)
            hidden_errors += n_changed
            for i in range(len(h)):
                if change[i]:
                    for j in range(n_in):
                        U[i, j] += change[i] * (2 * negative[j] + 1)
                    U[i, n_in] += change[i] * bias
                    h[i] += change[i] * length
        n_active = _active(h, active)  # eq. (7)
        errors, missed = _learn_visible(targets[t], Vt, active[:n_active], g, whole)
        if errors and whole[_CHOOSING]:
            _follow(Vt, active[:n_active], room)
        choice[2][t] += WRONG_AVERAGING * (missed - choice[2][t])
        visible_errors += errors
    return hidden_errors, visible_errors


@kernel
def epoch_on_fields(
    inputs: Any, targets: Any, drive: Any, hidden: Any, Vt: Any, choice: Any, whole: Any, real: Any, rng: Any
) -> tuple[int, int]:
    """One epoch with fields that are carried along; returns sum mu and sum nu. `choice` is that of `epoch_on_weights`.

    `hidden` holds fields (M, n), U [x(t); b]; gram (n, n), the products of the inputs, bias included; inputs_t (N_in, n), the
    inputs transposed; Ut (N_in + 1, M), the weights transposed; and counts (M, n), the sums of the changes made at each
    transition. Weights are kept up to date if there is noise in some epoch, else there are none (0, M), and counts are.
    """
    fields, gram, inputs_t, Ut, counts = hidden
    n, n_in = inputs.shape
    bias, weighted = whole[_BIAS], len(Ut) > 0
    length = n_in + bias * bias  # |[x; b]|^2
    h, active, order = np.empty_like(fields[:, 0]), np.empty(len(fields), dtype=np.int64), np.arange(n_in)
    change, g, overlap, room = np.empty_like(h), np.empty_like(Vt[0]), np.empty_like(gram[0]), _room_for_choice(Vt, choice, whole)
    hidden_errors = visible_errors = 0
    for t in range(n):
        n_flipped = _draw_flips(whole[_NOISE], order, rng)
        _choose(inputs[t], targets[t], drive[t], t, choice, room, whole, real, rng)
        z = choice[1][t]
        for i in range(len(h)):
            h[i] = fields[i, t]
        for j in range(n_flipped):
            _subtract(h, 2 * inputs[t, order[j]], Ut[order[j]])
        n_changed = _changes(h, z, change, whole)
        if n_changed:  # eq. (6)
            hidden_errors += n_changed
            overlap[:] = gram[t]  # with every [x(s); b]
            for j in range(n_flipped):
                _subtract(overlap, 2 * inputs[t, order[j]], inputs_t[order[j]])
            for i in range(len(h)):
                if change[i]:
                    _subtract(fields[i], -change[i], overlap)
                    h[i] += change[i] * length
                    if weighted:
                        for j in range(n_in):
                            Ut[j, i] += change[i] * inputs[t, j]
                        for j in range(n_flipped):
                            Ut[order[j], i] -= 2 * change[i] * inputs[t, order[j]]
                        Ut[n_in, i] += change[i] * bias
                    else:
                        counts[i, t] += change[i]
        n_active = _active(h, active)  # eq. (7)
        errors, missed = _learn_visible(targets[t], Vt, active[:n_active], g, whole)
        if errors and whole[_CHOOSING]:
            _follow(Vt, active[:n_active], room)
        choice[2][t] += WRONG_AVERAGING * (missed - choice[2][t])
        visible_errors += errors
    return hidden_errors, visible_errors


@part
def _draw_flips(most: int, order: Any, rng: Any) -> int:
    """Put 0 to `most` units to the front of `order`, drawing as `rule.flip_some` does; returns how many."""
    if most == 0:
        return 0
    n_flipped: int = rng.integers(0, most + 1)
    for j in range(n_flipped):
        other = rng.integers(j, len(order))
        order[j], order[other] = order[other], order[j]
    return n_flipped


@part
def _subtract(total: Any, factor: int, row: Any) -> None:
    """Take a multiple of a row from a sum, within its type so that this is vectorised."""
    factor = total.dtype.type(factor)
    for i in range(len(total)):
        total[i] = total.dtype.type(total[i] - total.dtype.type(factor * row[i]))


@part
def _signs(x: Any, negative: Any) -> None:
    """Set `negative` to -1 (all ones) where x is -1, else to 0."""
    for j in range(len(x)):
        negative[j] = -1 if x[j] < 0 else 0


@part
def _project(W: Any, negative: Any, out: Any) -> None:
    """Sums W x over the first inputs; where x is -1, -w is ~w + 1, so that no product is needed."""
    n_negative = 0
    for j in range(len(negative)):
        n_negative -= negative[j]
    for i in range(len(out)):
        row = W[i]
        total = out.dtype.type(0)
        for j in range(len(negative)):  # a sum that stays in its type is vectorised
            total = out.dtype.type(total + out.dtype.type(row[j] ^ negative[j]))
        out[i] = out.dtype.type(total + n_negative)


@part
def _room_for_choice(Vt: Any, choice: Any, whole: Any) -> Any:
    """Arrays for the choice of targets: scores, drives, sums, units that are +1; for P and Q their transposes and row sums.

    Transposed, sums over units go through all neurons at once. Q is V transposed at first, and `_follow` keeps it so. Last come
    the inverse lengths of P's rows. Where nothing is chosen, the arrays are empty.
    """
    M = len(Vt) if whole[_CHOOSING] or whole[_REDRAWING] else 0
    P, Q = choice[4][:M], Vt[:M]
    P_sums, Q_sums, inverse = np.empty(M, dtype=Q.dtype), np.empty(M, dtype=Q.dtype), np.empty(M)
    for i in range(M):
        P_sums[i], Q_sums[i], inverse[i] = P[i].sum(), Q[i].sum(), 1.0 / _length(P[i])
    plus = np.empty(max(P.shape[1], Q.shape[1]), dtype=np.int64)
    P_columns, Q_columns = (np.ascontiguousarray(P.T), P_sums), (np.ascontiguousarray(Q.T), Q_sums)
    return np.empty(M), np.empty(M), np.empty_like(Q_sums), plus, P_columns, Q_columns, inverse


@part
def _length(row: Any) -> float:
    """The length of a row of whole numbers, at least 1."""
    total = np.int64(0)
    for j in range(len(row)):
        total += np.int64(row[j]) * np.int64(row[j])
    return math.sqrt(total) if total > 0 else 1.0


@part
def _project_columns(columns: Any, x: Any, plus: Any, out: Any) -> None:
    """Sums W x from W transposed, and its row sums: twice the columns of units that are +1, less all; four at a time."""
    Wt, totals = columns
    n_plus = 0
    for j in range(len(x)):
        if x[j] > 0:
            plus[n_plus] = j
            n_plus += 1
    out[:] = 0
    fours = n_plus - n_plus % 4
    for k in range(0, fours, 4):
        a, b, c, d = Wt[plus[k]], Wt[plus[k + 1]], Wt[plus[k + 2]], Wt[plus[k + 3]]
        for i in range(len(out)):  # sums that stay in their type are vectorised
            left, right = out.dtype.type(a[i] + b[i]), out.dtype.type(c[i] + d[i])
            out[i] = out.dtype.type(out[i] + out.dtype.type(left + right))
    for k in range(fours, n_plus):
        _subtract(out, -1, Wt[plus[k]])
    for i in range(len(out)):
        out[i] = out.dtype.type(2 * out[i] - totals[i])


@part
def _choose(x: Any, x_next: Any, fixed: Any, t: int, choice: Any, room: Any, whole: Any, real: Any, rng: Any) -> None:
    """Choose the targets of transition t and let P and theta learn from the choice, as `rule.choose` does."""
    theta, Z, wrong, redrawn, P = choice
    score, drive, sums, plus, P_columns, Q_columns, inverse = room
    bad = whole[_REDRAWING] and wrong[t] > real[_REDRAW_TOLERANCE] * len(x_next)
    if not whole[_CHOOSING] and not bad:
        return
    if whole[_LEARN_DRIVE]:
        _project_columns(P_columns, x, plus, sums)
        for i in range(len(theta)):
            drive[i] = sums[i] * inverse[i]
    else:
        drive[:] = fixed
    if whole[_CHOOSING] and not redrawn[t]:
        if real[_LEARNED_FEEDBACK] != 0:
            _project_columns(Q_columns, x_next, plus, sums)
            for i in range(len(theta)):
                score[i] = (drive[i] - theta[i]) + real[_LEARNED_FEEDBACK] * sums[i]
        else:
            for i in range(len(theta)):
                score[i] = drive[i] - theta[i]
        _grant(score, Z[t], whole)
    if bad:
        for i in range(len(theta)):
            score[i] = (drive[i] - theta[i]) + real[_REDRAW] * rng.standard_normal()
        _grant(score, Z[t], whole)
        redrawn[t], wrong[t] = True, 0.0
    if whole[_CHOOSING]:
        mean = abs(whole[_N_WINNERS]) / len(theta)
        for i in range(len(theta)):
            theta[i] += real[_HOMEOSTASIS] * (Z[t, i] - mean)
        if whole[_LEARN_DRIVE]:
            for i in range(len(theta)):
                if Z[t, i]:
                    _approach(P[i], x, whole[_DRIVE_STEP])
                    P_columns[0][:, i] = P[i]
                    P_columns[1][i], inverse[i] = P[i].sum(), 1.0 / _length(P[i])


@part
def _approach(row: Any, x: Any, step: int) -> None:
    """Move a row of P a part of the way to x."""
    for j in range(len(row)):
        row[j] += (step * (PROTOTYPE * x[j] - np.int64(row[j]))) >> STEP_BITS


@part
def _follow(Vt: Any, active: Any, room: Any) -> None:
    """Give the feedback of active neurons the update that V got."""
    Qt, sums = room[5]
    for i in active:
        Qt[:, i] = Vt[i]
        sums[i] = Vt[i].sum()


@part
def _grant(score: Any, z: Any, whole: Any) -> None:
    """Targets from scores: the highest, or all that are not negative."""
    if whole[_N_WINNERS] > 0:
        _mark_highest(score, whole[_N_WINNERS], z)
    else:
        for i in range(len(score)):
            z[i] = score[i] >= 0


@part
def _mark_highest(score: Any, k: int, z: Any) -> None:
    """Set z to 1 at the k highest scores, of equals the first, and to 0 elsewhere."""
    best, highest = np.empty(k, dtype=np.int64), np.full(k, -np.inf)
    found = 0
    for i in range(len(score)):
        z[i] = 0
        if found == k and not score[i] > highest[k - 1]:
            continue
        place = min(found, k - 1)
        while place > 0 and score[i] > highest[place - 1]:
            highest[place], best[place] = highest[place - 1], best[place - 1]
            place -= 1
        highest[place], best[place] = score[i], i
        found = min(found + 1, k)
    for place in range(found):
        z[best[place]] = 1


@part
def _changes(h: Any, z: Any, change: Any, whole: Any) -> int:
    """The signed steps of hidden neurons with fields h and targets z, eq. (5), 0 where the margin holds; how many are not 0."""
    up, down = change.dtype.type(whole[_HIDDEN_STEP] * whole[_ACTIVE_WEIGHT]), change.dtype.type(-whole[_HIDDEN_STEP])
    most, least = change.dtype.type(whole[_ACTIVE_MARGIN]), change.dtype.type(-whole[_MARGIN])
    none = change.dtype.type(0)
    n_changed = 0
    for i in range(len(h)):
        active, silent = up if h[i] <= most else none, down if h[i] >= least else none
        change[i] = active if z[i] == 1 else silent
    for i in range(len(h)):
        n_changed += change[i] != 0
    return n_changed


@part
def _active(h: Any, active: Any) -> int:
    """List the neurons that are active; returns how many."""
    n_active = 0
    for i in range(len(h)):
        if h[i] >= 0:
            active[n_active] = i
            n_active += 1
    return n_active


@part
def _learn_visible(x_next: Any, Vt: Any, active: Any, g: Any, whole: Any) -> tuple[int, int]:
    """Teach the visible neurons x(t+1) from the active hidden ones, eqs. (8)-(9); returns sum nu and how many were wrong."""
    n_visible, margin, step = len(x_next), whole[_VISIBLE_MARGIN], whole[_VISIBLE_STEP]
    g[:] = 0
    for i in active:
        for j in range(n_visible):
            g[j] += Vt[i, j]
    wrong = errors = 0
    for j in range(n_visible):
        wrong += (g[j] >= 0) != (x_next[j] > 0)
        nu = x_next[j] * np.int64(g[j]) <= margin
        errors += nu
        g[j] = nu * step * x_next[j]
    if errors:
        for i in active:
            for j in range(n_visible):
                Vt[i, j] += g[j]
    return errors, wrong
