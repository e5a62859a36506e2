"""Compiled kernels of the sparse rule: one epoch on plain integer arrays, exactly what `rule.present` does.

With noise every presentation is new, so fields are computed from the weights: `epoch_on_weights`. Without noise a hidden
neuron sees only its fields at the n stored patterns, so it is enough to carry those (the dual form): `epoch_on_fields`. An
update at transition t then adds a row of the Gram matrix of the inputs, bias included, and no weight of U is touched.

Weights and fields are int32 or int64 arrays; the caller has made sure that no number of the coming epoch leaves its type.
V is transposed, (M, N), since a presentation reads and writes the rows of its few active neurons. Numbers of the rule come as
two vectors, `whole` and `real`, in the order of the constants below.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.compiled import inlined, kernel, part
from seqattractor.learning.sparse.rule import AVERAGING, WRONG_AVERAGING, SparseSettings

_N_WINNERS, _BIAS, _NOISE, _MARGIN, _ACTIVE_MARGIN, _ACTIVE_WEIGHT, _VISIBLE_MARGIN = range(7)
_HOMEOSTASIS_EPOCHS, _REDRAW_EPOCHS, _TARGET_EPOCHS, _EPOCH, _HIDDEN_STEP, _VISIBLE_STEP = range(7, 13)
_FEEDBACK, _HOMEOSTASIS, _REDRAW, _REDRAW_TOLERANCE = range(4)


def settings_as_vectors(s: SparseSettings, *, epoch: int, hidden_step: int, visible_step: int) -> tuple[Any, Any]:
    """The numbers of the rule and of one epoch as the kernels take them; n_winners is negative for a choice by thresholds."""
    whole = [s.n_winners if s.winners else -s.n_winners, s.bias, s.noise, s.margin, s.active_margin, s.active_weight]
    whole += [s.visible_margin, s.homeostasis_epochs, s.redraw_epochs, s.target_epochs, epoch, hidden_step, visible_step]
    real = [s.feedback, s.homeostasis, s.redraw, s.redraw_tolerance]
    return np.array(whole, dtype=np.int64), np.array(real, dtype=np.float64)


@kernel
def epoch_on_weights(
    inputs: Any, targets: Any, drive: Any, U: Any, Vt: Any, choice: Any, whole: Any, real: Any, rng: Any
) -> tuple[int, int]:
    """One epoch with noise, U (M, N_in + 1), Vt (M, N); all is changed in place. Returns sum mu and sum nu.

    `choice` holds what the choice of targets needs and leaves: theta, average (M,), Z (n, M), wrong and kept (n,).
    """
    n, n_in = inputs.shape
    theta, average, Z, wrong, redrawn = choice
    bias, noise = whole[_BIAS], whole[_NOISE]
    length = n_in + bias * bias  # |[x; b]|^2
    h, score, active = np.empty_like(U[:, 0]), np.empty(len(theta)), np.empty(len(theta), dtype=np.int64)
    g, order, negative = np.empty_like(Vt[0]), np.arange(n_in), np.empty_like(U[0, :n_in])
    hidden_errors = visible_errors = 0
    for t in range(n):
        for j in range(n_in):
            negative[j] = -1 if inputs[t, j] < 0 else 0
        _flip_some(negative, noise, order, rng)
        _fields(U, negative, bias, h)
        _choose_targets(drive[t], theta, average, h, Z[t], score, redrawn[t], whole, real)
        if _redrawn(drive[t], theta, Z[t], score, wrong[t], targets.shape[1], whole, real, rng):
            redrawn[t], wrong[t] = True, 0.0
        _rise_with_use(theta, Z[t], whole, real)
        n_active = 0
        for i in range(len(h)):
            change = _change(h[i], Z[t, i], whole)
            if change:  # eq. (6)
                hidden_errors += 1
                for j in range(n_in):
                    U[i, j] += change * (2 * negative[j] + 1)
                U[i, n_in] += change * bias
            if h[i] + change * length >= 0:  # eq. (7)
                active[n_active] = i
                n_active += 1
        errors, missed = _learn_visible(targets[t], Vt, active[:n_active], g, whole)
        wrong[t] += WRONG_AVERAGING * (missed - wrong[t])
        visible_errors += errors
    return hidden_errors, visible_errors


@kernel
def epoch_on_fields(
    gram: Any, targets: Any, drive: Any, fields: Any, counts: Any, Vt: Any, choice: Any, whole: Any, real: Any, rng: Any
) -> tuple[int, int]:
    """One epoch without noise. fields (M, n) are U [x(t); b], counts (M, n) sum the changes made at each transition.

    gram (n, n) are the products of the inputs, bias included. Returns sum mu and sum nu.
    """
    n_hidden, n = fields.shape
    theta, average, Z, wrong, redrawn = choice
    score, active, g = np.empty(n_hidden), np.empty(n_hidden, dtype=np.int64), np.empty_like(Vt[0])
    h = np.empty_like(fields[:, 0])
    hidden_errors = visible_errors = 0
    for t in range(n):
        for i in range(n_hidden):
            h[i] = fields[i, t]
        _choose_targets(drive[t], theta, average, h, Z[t], score, redrawn[t], whole, real)
        if _redrawn(drive[t], theta, Z[t], score, wrong[t], targets.shape[1], whole, real, rng):
            redrawn[t], wrong[t] = True, 0.0
        _rise_with_use(theta, Z[t], whole, real)
        n_active = 0
        for i in range(n_hidden):
            change = _change(h[i], Z[t, i], whole)
            if change:  # eq. (6)
                hidden_errors += 1
                counts[i, t] += change
                for s in range(n):
                    fields[i, s] += change * gram[t, s]
            if fields[i, t] >= 0:  # eq. (7)
                active[n_active] = i
                n_active += 1
        errors, missed = _learn_visible(targets[t], Vt, active[:n_active], g, whole)
        wrong[t] += WRONG_AVERAGING * (missed - wrong[t])
        visible_errors += errors
    return hidden_errors, visible_errors


@part
def _flip_some(negative: Any, most: int, order: Any, rng: Any) -> None:
    """Flip 0 to `most` units, drawing as `rule.flip_some` does."""
    if most == 0:
        return
    for j in range(rng.integers(0, most + 1)):
        other = rng.integers(j, len(order))
        unit = order[other]
        order[other] = order[j]
        order[j] = unit
        negative[unit] = ~negative[unit]


@part
def _fields(U: Any, negative: Any, bias: int, h: Any) -> None:
    """Fields h = U [x; b]; `negative` is -1 (all ones) where x is -1, else 0: there -u is ~u + 1, so the sum needs no product."""
    n_in = len(negative)
    n_negative = 0
    for j in range(n_in):
        n_negative -= negative[j]
    for i in range(len(h)):
        row = U[i]
        total = h.dtype.type(0)
        for j in range(n_in):  # a sum that stays in its type is vectorised
            total = h.dtype.type(total + h.dtype.type(row[j] ^ negative[j]))
        h[i] = h.dtype.type(total + n_negative + bias * row[n_in])


@part
def _choose_targets(
    drive: Any, theta: Any, average: Any, h: Any, z: Any, score: Any, redrawn: bool, whole: Any, real: Any
) -> None:
    """Choose z (changed in place) while targets are not frozen."""
    if whole[_EPOCH] >= whole[_TARGET_EPOCHS]:
        return
    for i in range(len(theta)):
        above = h[i] / whole[_MARGIN] - average[i]
        score[i] = (drive[i] - theta[i]) + real[_FEEDBACK] * above
        average[i] += AVERAGING * above
    if not redrawn:
        _grant(score, z, whole)


@part
def _redrawn(drive: Any, theta: Any, z: Any, score: Any, wrong: float, n_visible: int, whole: Any, real: Any, rng: Any) -> bool:
    """Choose z by chance if on average too many visible neurons were wrong; says whether it did."""
    if not whole[_HOMEOSTASIS_EPOCHS] <= whole[_EPOCH] < whole[_REDRAW_EPOCHS] or wrong <= real[_REDRAW_TOLERANCE] * n_visible:
        return False
    for i in range(len(theta)):
        score[i] = (drive[i] - theta[i]) + real[_REDRAW] * rng.standard_normal()
    _grant(score, z, whole)
    return True


@part
def _rise_with_use(theta: Any, z: Any, whole: Any, real: Any) -> None:
    """Homeostasis: thresholds of the chosen rise, all others fall a little."""
    epoch, fade = whole[_EPOCH], whole[_HOMEOSTASIS_EPOCHS]
    if epoch < fade:
        strength = real[_HOMEOSTASIS] * (1.0 - epoch / fade)
        mean = abs(whole[_N_WINNERS]) / len(theta)
        for i in range(len(theta)):
            theta[i] += strength * (z[i] - mean)


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


@inlined
def _change(h: int, z: int, whole: Any) -> int:
    """The signed step of a hidden neuron with field h and target z, eq. (5); 0 if its margin holds."""
    if z == 1:
        return whole[_HIDDEN_STEP] * whole[_ACTIVE_WEIGHT] if h <= whole[_ACTIVE_MARGIN] else 0
    return -whole[_HIDDEN_STEP] if -h <= whole[_MARGIN] else 0


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
