"""Compiled kernels of the exact engine: loops over epochs and transitions on plain integer arrays, nothing else.

One call learns some epochs for some rows (neurons). A row sees only its integer fields f(t) = sum_s c(s) K(t, s), where c(s)
counts its signed updates and K is the Gram matrix of its inputs; an update at t adds +-K[t] to the row of fields (SIMD).
The test of a margin is (f ^ flip) <= bound, with flip = 0 for a target +1 and -1 for a target -1, since f ^ -1 = -f - 1.
Before every update `room` says how many more cannot leave the integer type of the fields; a row that runs out of room is left
as it was and reported as NARROW, so that it can be done again in a wider type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel, part
from seqattractor.learning.exact.lanes import LANES, add_lanes, add_signed, add_weights, next_violation, room_for

RUNNING, SETTLED, NARROW = 0, 1, 2  # state of a row: goes on; had an epoch without update; needs a wider integer

_BIGGEST = float(2**62)
_ROUND = 1.5 * 2.0**52  # (a + _ROUND) - _ROUND is a rounded to an integer, as np.rint does it, for |a| < 2**51


@part
def _threshold(z: int, h0: float, kappa: float) -> Any:
    """The largest integer k such that the margin is violated at z * n = k, asking the rule itself: eqs. (5), (8)."""
    k = np.floor(kappa - z * h0)
    for _ in range(2):  # the line above was rounded
        if kappa - z * (h0 + z * (k + 1)) >= 0:
            k += 1
    for _ in range(2):
        if kappa - z * (h0 + z * k) < 0:
            k -= 1
    return np.int64(min(max(k, -_BIGGEST), _BIGGEST))


@part
def _bound(z: int, h0: float, kappa: float, limit: int) -> Any:
    """The bound of the test (f ^ flip) <= bound, cut to what the type of f can hold."""
    exact = kappa - z * h0
    k = np.int64(0)
    sure = abs(h0) + kappa < 2**30
    if sure:
        k = np.int64(np.floor(exact))
        sure = bool(h0 == 0 or 1e-6 < exact - k < 1 - 1e-6)  # rounding of `exact` cannot have crossed an integer
    if not sure:
        k = _threshold(z, h0, kappa)
    return min(max(k + (np.int64(z) >> 1), -limit - 2), limit + 1)


@kernel
def set_bounds(bound: Any, flip: Any, z: Any, h0: Any, kappa: float, limit: int) -> None:
    """Write the tests of all rows for targets z and start fields h0; padding is never violated."""
    for i in range(z.shape[0]):
        for t in range(z.shape[1]):
            bound[i, t] = _bound(z[i, t], h0[i, t], kappa, limit)
            flip[i, t] = z[i, t] >> 1
        for t in range(z.shape[1], bound.shape[1]):
            bound[i, t], flip[i, t] = -limit - 2, 0


@part
def _grown(flips: Any, needed: int) -> Any:
    """The array of flips, made longer if `needed` rows do not fit."""
    if needed <= flips.shape[0]:
        return flips
    longer = np.empty((2 * needed, flips.shape[1]), flips.dtype)
    for k in range(flips.shape[0]):
        for column in range(flips.shape[1]):
            longer[k, column] = flips[k, column]
    return longer


@part
def _record_flips(
    flips: Any, used: int, epoch: int, row: int, z: Any, before: Any, n_before: int, after: Any, n_after: int
) -> Any:
    """Append (epoch, t, row, new code) for each t where the code changed: wrong before or after, but not both."""
    a = b = 0
    while a < n_before or b < n_after:
        if b == n_after or (a < n_before and before[a] < after[b]):
            t, code = before[a], z[before[a]]  # wrong in the last epoch, right now
            a += 1
        elif a == n_before or after[b] < before[a]:
            t, code = after[b], -z[after[b]]
            b += 1
        else:
            a += 1
            b += 1
            continue
        flips[used, 0], flips[used, 1], flips[used, 2], flips[used, 3] = epoch, t, row, code
        used += 1
    return used


@part
def _load(f: Any, a: Any, b: Any, fields: Any, flip: Any, bound: Any, i: int) -> None:
    """Copy row i to where it is worked on: in the nearest cache, and without harm if it turns out to be NARROW."""
    for s in range(f.shape[0]):
        f[s], a[s], b[s] = fields[i, s], flip[i, s], bound[i, s]


@kernel
def learn_rows(
    K: Any,
    step: int,
    limit: int,
    rows: Any,
    z: Any,
    h0: Any,
    fields: Any,
    flip: Any,
    bound: Any,
    room: Any,
    counts: Any,
    wrong: Any,
    n_epochs: int,
) -> Any:
    """Learn `rows` on fixed inputs for some epochs: eqs. (5)-(7) for U, or the margin perceptron.

    K (n, padded) is the Gram matrix, `step` its largest entry, `limit` what the integer type of the fields holds. Of each row:
    targets z, start fields h0, the test (flip, bound) and, changed in place, fields, room, update counts and wrong (whether
    the code differs from z). Returns errors (n_epochs,), state (len(rows),) and the flips of codes (epoch, t, row, new code).
    """
    n, padded = z.shape[1], K.shape[1]
    f, a, b = np.empty(padded, fields.dtype), np.empty(padded, fields.dtype), np.empty(padded, fields.dtype)
    added = np.empty(n, np.int32)
    before, after = np.empty(n, np.int64), np.empty(n, np.int64)
    errors, row_errors = np.zeros(n_epochs, np.int64), np.zeros(n_epochs, np.int64)
    state = np.zeros(rows.shape[0], np.uint8)
    flips, used = np.empty((256, 4), np.int32), 0
    for r in range(rows.shape[0]):
        i = rows[r]
        _load(f, a, b, fields, flip, bound, i)
        n_before = 0
        for t in range(n):
            added[t] = 0
            before[n_before] = t
            n_before += wrong[i, t]
        start_used, ended, left = used, 0, room[i]
        for e in range(n_epochs):
            n_after = updates = 0
            t = next_violation(f, a, b, 0)
            while t < n:
                if left < 1:
                    left = room_for(f, limit, step)
                    if left < 1:
                        state[r] = NARROW
                        break
                left -= 1
                add_signed(f, K, t * padded, z[i, t])  # eq. (6)
                added[t] += 1
                updates += 1
                after[n_after] = t  # eq. (7): is the code wrong? (Where no update was, it is z.)
                n_after += (h0[i, t] + np.float64(f[t]) >= 0) != (z[i, t] > 0)
                t = next_violation(f, a, b, t + 1)
            if state[r] == NARROW:
                break
            flips = _grown(flips, used + n_before + n_after)
            used = _record_flips(flips, used, e, i, z[i], before, n_before, after, n_after)
            before, after, n_before = after, before, n_after
            row_errors[e] = updates
            ended = e + 1
            if updates == 0:
                state[r] = SETTLED
                break
        if state[r] == NARROW:
            used = start_used
            continue
        room[i] = left
        for s in range(padded):
            fields[i, s] = f[s]
        for e in range(ended):
            errors[e] += row_errors[e]
        for t in range(n):
            counts[i, t] += added[t]
        for k in range(start_used, used):
            wrong[i, flips[k, 1]] = flips[k, 3] != z[i, flips[k, 1]]
    return errors, state, flips[:used]


@part
def _apply_flips(
    f: Any, b: Any, g: Any, c: Any, v0: Any, unit: float, z: Any, flipped: Any, groups: Any, kappa: float, limit: int
) -> Any:
    """Move the fields of a row to the codes of the next epoch: g(t) += V . (new y(t) - old y(t)); False if too narrow."""
    for group in range(groups.shape[0]):
        t = groups[group, 0]
        change, start_change = np.int64(0), 0.0
        for k in range(groups[group, 1], groups[group, 2]):  # to +1
            change += c[flipped[k]]
            start_change += v0[flipped[k]]
        for k in range(groups[group, 2], groups[group, 3]):  # to -1
            change -= c[flipped[k]]
            start_change -= v0[flipped[k]]
        value = np.int64(f[t]) + 2 * change
        if abs(value) > limit:
            return False
        f[t] = value
        g[t] += start_change * unit
        b[t] = _bound(z[t], g[t], kappa, limit)
    return True


@kernel
def replay_rows(
    K: Any,
    Y: Any,
    version: Any,
    flipped: Any,
    groups: Any,
    group_start: Any,
    ended: bool,
    step: int,
    limit: int,
    kappa: float,
    rows: Any,
    x: Any,
    V: Any,
    factor: Any,
    scale: Any,
    g0: Any,
    fields: Any,
    flip: Any,
    bound: Any,
    room: Any,
    counts: Any,
    C: Any,
) -> Any:
    """Learn `rows` of V while the codes y change as the tape says, for the epochs of the tape: eqs. (8)-(9).

    Epoch e has the codes Y[version[e]] (versions, n, words of bits) with Gram matrix K[version[e]] (versions, n, padded n),
    reached from those of the epoch before by the flips groups[group_start[e]:group_start[e + 1]] (see `tape.Tape`). Of each
    row: targets x, start weights V (on the grid rint(V * factor) / scale, see `fields.Grid`) and, changed in place: start
    fields g0, fields with their test (flip, bound) and room, and the updates: added to the integer weights C as long as flips
    may come, only counted in `counts` once the tape has `ended`. Returns errors (n_epochs,) and state (len(rows),).
    """
    n, n_epochs = x.shape[1], version.shape[0]
    padded, words = K.shape[2], Y.shape[2]
    f, a, b = np.empty(padded, fields.dtype), np.empty(padded, fields.dtype), np.empty(padded, fields.dtype)
    c, v0 = np.zeros(words * LANES, fields.dtype), np.empty(V.shape[1])
    g, added = np.empty(n), np.empty(n, np.int32)
    errors, row_errors = np.zeros(n_epochs, np.int64), np.zeros(n_epochs, np.int64)
    state = np.zeros(rows.shape[0], np.uint8)
    any_flip = group_start[n_epochs] > group_start[0]
    weights_needed = any_flip or not ended
    for r in range(rows.shape[0]):
        j = rows[r]
        _load(f, a, b, fields, flip, bound, j)
        if weights_needed:
            for i in range(words * LANES):
                c[i] = C[j, i]
        for t in range(n):
            g[t], added[t] = g0[j, t], 0
        if any_flip:
            for i in range(V.shape[1]):
                v0[i] = (V[j, i] * factor[j] + _ROUND) - _ROUND
        left, quiet = room[j], False
        for e in range(n_epochs):
            row_errors[e] = 0
            if group_start[e + 1] > group_start[e]:
                now = groups[group_start[e] : group_start[e + 1]]
                if not _apply_flips(f, b, g, c, v0, 2 / scale[j], x[j], flipped, now, kappa, limit):
                    state[r] = NARROW
                    break
                left = 0
            elif quiet:
                continue
            row = version[e] * n
            t = next_violation(f, a, b, 0)
            while t < n:
                if left < 1:
                    left = room_for(f, limit, step)
                    if weights_needed:
                        left = min(left, room_for(c, limit, 1))
                    if left < 1:
                        state[r] = NARROW
                        break
                left -= 1
                add_signed(f, K, (row + t) * padded, x[j, t])  # eq. (9), seen by the fields
                if weights_needed:
                    add_weights(c, Y, (row + t) * words, x[j, t])  # eq. (9), seen by the weights
                else:
                    added[t] += 1
                row_errors[e] += 1
                t = next_violation(f, a, b, t + 1)
            if state[r] == NARROW:
                break
            quiet = row_errors[e] == 0
        if state[r] == NARROW:
            continue
        if quiet and ended:
            state[r] = SETTLED
        for e in range(n_epochs):
            errors[e] += row_errors[e]
        room[j] = left
        for s in range(padded):
            fields[j, s], bound[j, s] = f[s], b[s]
        for t in range(n):
            counts[j, t] += added[t]
            g0[j, t] = g[t]
        if weights_needed:
            for i in range(words * LANES):
                C[j, i] = c[i]
    return errors, state


@kernel
def add_rows(f: Any, K: Any, rows: Any) -> None:
    """Only the additions of updates, to the rows of f in turn: what `learn_rows` could reach if it never had to look or wait."""
    padded = K.shape[1]
    for r in range(rows.shape[0]):
        start, offset = (r % f.shape[0]) * padded, rows[r] * padded
        for s in range(0, padded, LANES):
            add_lanes(f, start + s, K, offset + s, -(r & 1))
