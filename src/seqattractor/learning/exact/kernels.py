"""Compiled kernels of the exact engine: loops over epochs and transitions on plain integer arrays, nothing else.

One call learns some epochs for some rows (neurons). A row sees only its integer fields f(t) = sum_s c(s) K(t, s), where c(s)
counts its signed updates and K is the Gram matrix of its inputs; an update at t adds +-K[t] to the row of fields (SIMD).
The test of a margin is (f <= bound) != (flip < 0), with flip = 0 for a target +1 and -1 for a target -1.

Rows are worked on side by side, each in a slot of its own: LANES transitions at a time, first all decide, SLOTS in turns
(`lanes`) or, where there are many updates, all at once (`column_lanes`); then each adds what was decided for it. Before it
does, `room` says how many updates cannot leave the integer type of the fields; a row that runs out of room is left as it was and
reported as NARROW, so that it can be done again in a wider type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.bits import lowest_bit, number_of_bits
from seqattractor.learning.compiled import kernel, part
from seqattractor.learning.exact.arrays import copy, line, slots
from seqattractor.learning.exact.column_lanes import ROWS, decide_columns, set_twice
from seqattractor.learning.exact.lanes import (
    AHEAD,
    LANES,
    SLOTS,
    add_if_room,
    add_updates,
    count,
    decide,
    room_for,
    set_ahead,
    without_lowest_bit,
)

RUNNING, SETTLED, NARROW = 0, 1, 2  # state of a row: goes on; had an epoch without update; needs a wider integer

_EMPTY = -1  # a slot without a row
_MANY = 3 * ROWS  # updates of ROWS rows at LANES transitions; with more of them in the last epoch, `decide_columns` is faster
_BIGGEST = float(2**62)


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
def bound_of(z: Any, h0: float, kappa: float, limit: int) -> Any:
    """The bound of the test (f <= bound) != (z < 0), cut to what makes a difference to |f| <= limit."""
    exact = kappa - z * h0
    k = np.int64(0)
    sure = abs(h0) + kappa < 2**30
    if sure:
        k = np.int64(np.floor(exact))
        sure = bool(h0 == 0 or 1e-6 < exact - k < 1 - 1e-6)  # rounding of `exact` cannot have crossed an integer
    if not sure:
        k = _threshold(z, h0, kappa)
    cut: Any = min(max(k, -limit - 1), limit)
    return cut ^ (np.int64(z) >> 1)  # for z = -1: f >= -k, which is f > -k - 1 = k ^ -1


@part
def _edge(h0: float, change: int, limit: int) -> Any:
    """After an update by `change` the code of eq. (7) is -1 if and only if f <= edge was true before it; cut as a bound is."""
    k = np.ceil(-h0) - 1 - change
    if k < -limit:
        return np.int64(-limit - 1)
    return np.int64(k) if k < limit else np.int64(limit)


@kernel
def set_bounds(bound: Any, z: Any, h0: Any, kappa: float, limit: int) -> None:
    """Write the bounds of all rows for targets z and start fields h0; padding is never violated."""
    for i in range(z.shape[0]):
        for t in range(z.shape[1]):
            bound[i, t] = bound_of(z[i, t], h0[i, t], kappa, limit)
        for t in range(z.shape[1], bound.shape[1]):
            bound[i, t] = -limit - 1


@part
def load(f: Any, flip: Any, bound: Any, slot: int, fields: Any, bounds: Any, z: Any, i: int) -> None:
    """Copy row i into a slot: in the nearest cache, and without harm if it turns out to be NARROW."""
    for s in range(f.shape[1]):
        f[slot, s], bound[slot, s] = fields[i, s], bounds[i, s]
    for t in range(z.shape[1]):
        flip[slot, t] = z[i, t] >> 1


@part
def silence(flip: Any, bound: Any, slot: int, limit: int) -> None:
    """Let a slot have no violation ever."""
    for s in range(flip.shape[1]):
        flip[slot, s], bound[slot, s] = 0, -limit - 1


@part
def room_after(f: Any, flip: Any, slot: int, base: int, K: Any, row: int, updates: int, limit: int, step: int) -> Any:
    """Add updates to a row that seems to have no room; returns for how many more it has room, -1 if integers are too narrow."""
    left = np.int64(0)
    while updates:
        left = room_for(f[slot], limit, step)
        if left < 1:
            return -1
        # Perhaps there is no room for all of them at their worst, but one by one, as they are.
        later: Any = np.uint32(0) if left >= number_of_bits(updates) else without_lowest_bit(updates)
        now = np.uint32(updates ^ later)
        add_updates(f, flip, slot, base, f.shape[1], K, row, now)
        left -= number_of_bits(now)
        updates = later
    return left


@part
def _grown(flips: Any, needed: int) -> Any:
    """The array of flips, made longer if `needed` rows do not fit."""
    if needed <= flips.shape[0]:
        return flips
    longer = slots(2 * needed, flips.shape[1], flips)
    for k in range(flips.shape[0]):
        for column in range(flips.shape[1]):
            longer[k, column] = flips[k, column]
    return longer


@part
def _record_flips(flips: Any, used: int, epoch: int, base: int, row: int, z: Any, changed: int, wrong: int) -> Any:
    """Append (epoch, t, row, new code) for each bit of `changed`, t - base: the code is z, or -z where it is wrong."""
    while changed:
        bit = lowest_bit(changed)
        changed = without_lowest_bit(changed)
        t = base + bit
        code = -z[row, t] if (wrong >> np.uint32(bit)) & np.uint32(1) else z[row, t]
        flips[used, 0], flips[used, 1], flips[used, 2], flips[used, 3] = epoch, t, row, code
        used += 1
    return used


@part
def _without_narrow(flips: Any, used: int, rows: Any, state: Any, n_rows: int) -> Any:
    """The flips of rows that are not NARROW."""
    narrow = line(n_rows, np.bool_)
    for r in range(rows.shape[0]):
        narrow[rows[r]] = state[r] == NARROW
    kept = 0
    for k in range(used):
        for column in range(4):
            flips[kept, column] = flips[k, column]
        kept += not narrow[flips[k, 2]]
    return flips[:kept]


@part
def _turn(slot: int, flip: Any, bound: Any, edge: Any, minus: Any, bounds: Any, edges: Any) -> None:
    """Write bounds and edges of a slot as columns, and whether its targets are -1 as bits."""
    bit = np.uint64(1) << np.uint64(slot)
    for s in range(flip.shape[1]):
        bounds[s, slot], edges[s, slot] = bound[slot, s], edge[slot, s]
        minus[s] = minus[s] | bit if flip[slot, s] < 0 else minus[s] & ~bit


@kernel
def look_ahead(ahead: Any, K: Any) -> None:
    """`set_ahead` for a Gram matrix (n, padded n)."""
    set_ahead(ahead, K)


@kernel
def learn_rows(
    K: Any,
    ahead: Any,
    step: int,
    limit: int,
    rows: Any,
    z: Any,
    h0: Any,
    fields: Any,
    bounds: Any,
    room: Any,
    counts: Any,
    wrong: Any,
    n_epochs: int,
) -> Any:
    """Learn `rows` on fixed inputs for some epochs: eqs. (5)-(7) for U, or the margin perceptron.

    K (n, padded) is the Gram matrix, given also as `ahead` (see `lanes.set_ahead`), `step` its largest entry, `limit` what the
    integer type of the fields holds. Of each row: targets z, start fields h0, bounds and, changed in place, fields, room, update
    counts and wrong (bits: whether the code differs from z). If `wrong` has no rows, nobody asks for codes. A slot whose row is
    done takes the next one, so that rows side by side need not be in the same epoch. Returns errors (n_epochs,), state
    (len(rows),) and the flips of codes (epoch, t, row, new code).
    """
    n, padded, words = z.shape[1], K.shape[1], K.shape[1] // LANES
    f, flip = slots(ROWS, padded, fields), slots(ROWS, padded, fields)
    bound, edge = slots(ROWS, padded, fields), slots(ROWS, padded, fields)
    minus, turned, found = line(padded, np.uint64), slots(LANES, ROWS, fields), slots(LANES, ROWS, np.uint8)
    bound_columns, edge_columns = slots(padded, ROWS, fields), slots(padded, ROWS, fields)
    many, is_new, twice = line(words, np.int64), line(ROWS, np.bool_), slots(padded, 2 * LANES, fields)
    added, now_wrong = slots(ROWS, padded, counts), slots(ROWS, words, wrong)
    updated, wrong_here = line(ROWS, wrong), line(ROWS, wrong)
    place, left, epoch, updates = line(ROWS, room), line(ROWS, room), line(ROWS, room), line(ROWS, room)
    errors, row_errors = line(n_epochs, np.int64), slots(n_epochs, ROWS, np.int64)
    state = line(rows.shape[0], np.uint8)
    zero: Any = np.int64(0)  # a literal 0 would have numba compile every part twice that is called with what starts there
    flips, used = slots(256, 4, np.int32), zero
    with_codes, any_narrow, any_new = wrong.shape[0] > 0, False, True
    set_twice(twice, K)
    for slot in range(ROWS):
        silence(flip, bound, slot, limit)
        is_new[slot] = True
    taken = busy = zero
    while busy or taken < rows.shape[0]:
        while busy < ROWS and taken < rows.shape[0]:
            slot, i = busy, rows[taken]
            load(f, flip, bound, slot, fields, bounds, z, i)
            for t in range(n):
                edge[slot, t] = _edge(h0[i, t], z[i, t] * K[t, t], limit) if with_codes else (-limit - 1) ^ flip[slot, t]
                added[slot, t] = 0
            is_new[slot] = any_new = True
            if with_codes:
                for word in range(words):
                    now_wrong[slot, word] = wrong[i, word]
            place[slot], left[slot], epoch[slot] = taken, room[i], 0
            taken += 1
            busy += 1
        flips = _grown(flips, used + busy * n)
        for slot in range(busy):
            updates[slot] = 0
        for base in range(0, padded, LANES):
            word = base // LANES
            if many[word] > _MANY:
                for slot in range(ROWS if any_new else 0):
                    if is_new[slot]:
                        _turn(slot, flip, bound, edge, minus, bound_columns, edge_columns)
                        is_new[slot] = False
                any_new = False
                decide_columns(f, base, twice, minus, bound_columns, edge_columns, turned, found, updated, wrong_here)
            else:
                for first in range(0, busy, SLOTS):
                    start = first * padded + base
                    decide(f, flip, bound, edge, start, padded, ahead, base * AHEAD, updated, wrong_here, first)
            for slot in range(busy):
                mask = updated[slot]
                if mask and not add_if_room(f, flip, slot, base, padded, K, base * padded, mask, left):
                    left[slot] = room_after(f, flip, slot, base, K, base * padded, mask, limit, step)
                    if left[slot] < 0:
                        state[place[slot]], any_narrow, place[slot] = NARROW, True, _EMPTY
                        silence(flip, bound, slot, limit)
                        is_new[slot], any_new = True, True
            total = zero
            for slot in range(busy):
                count(added, slot * padded + base, updated[slot])
                updates[slot] += number_of_bits(updated[slot])
                total += number_of_bits(updated[slot])
            many[word] = total
            for slot in range(busy):
                changed = now_wrong[slot, word] ^ wrong_here[slot]
                if changed and place[slot] != _EMPTY:
                    used = _record_flips(flips, used, epoch[slot], base, rows[place[slot]], z, changed, wrong_here[slot])
                    now_wrong[slot, word] = wrong_here[slot]
        any_done = any_narrow
        for slot in range(busy):
            row_errors[epoch[slot], slot] = updates[slot]
            epoch[slot] += 1
            any_done |= updates[slot] == 0 or epoch[slot] == n_epochs
        slot = zero
        while any_done and slot < busy:
            r = place[slot]
            if r != _EMPTY:
                if updates[slot] and epoch[slot] < n_epochs:
                    slot += 1
                    continue
                i = rows[r]
                state[r] = RUNNING if updates[slot] else SETTLED
                room[i] = left[slot]
                for s in range(padded):
                    fields[i, s] = f[slot, s]
                for e in range(epoch[slot]):
                    errors[e] += row_errors[e, slot]
                for t in range(n):
                    counts[i, t] += added[slot, t]
                if with_codes:
                    for word in range(words):
                        wrong[i, word] = now_wrong[slot, word]
            busy -= 1  # the last slot takes the place of the one that is done
            for numbers in (f, flip, bound, edge):
                copy(numbers, slot * padded, numbers, busy * padded, padded)
            copy(added, slot * padded, added, busy * padded, padded)
            copy(now_wrong, slot * words, now_wrong, busy * words, words)
            for e in range(epoch[busy]):
                row_errors[e, slot] = row_errors[e, busy]
            place[slot], left[slot], epoch[slot], updates[slot] = place[busy], left[busy], epoch[busy], updates[busy]
            silence(flip, bound, busy, limit)
            is_new[slot] = is_new[busy] = any_new = True
    if any_narrow:
        return errors, state, _without_narrow(flips, used, rows, state, fields.shape[0])
    return errors, state, flips[:used]


@kernel
def add_all(f: Any, flip: Any, K: Any, blocks: Any) -> None:
    """Only the additions, of all LANES updates of some blocks of transitions to the rows of f in turn: nothing is decided."""
    padded, all_of_them = K.shape[1], ~np.uint32(0)
    for k in range(blocks.shape[0]):
        base = blocks[k] * LANES
        add_updates(f, flip, k % f.shape[0], base, padded, K, base * padded, all_of_them)
