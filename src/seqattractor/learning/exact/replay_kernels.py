"""The compiled kernel of visible neurons: they learn while the codes of the hidden neurons change as a tape says."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.bits import number_of_bits
from seqattractor.learning.compiled import kernel, part
from seqattractor.learning.exact.arrays import line, slots
from seqattractor.learning.exact.flip_lanes import flip_column
from seqattractor.learning.exact.input_kernels import ROUND, turned
from seqattractor.learning.exact.kernels import NARROW, bound_of, load, room_after, silence
from seqattractor.learning.exact.lanes import AHEAD, LANES, SLOTS, add_if_room, add_weights, decide, room_for


@part
def _apply_flips(
    f: Any,
    bound: Any,
    flip: Any,
    g: Any,
    columns: Any,
    v0: Any,
    flipped: Any,
    groups: Any,
    first: int,
    last: int,
    kappa: float,
    limit: int,
) -> Any:
    """Move the fields of all slots to the codes of the next epoch: g(t) += V . (new y(t) - old y(t)).

    The weights V are `columns` of learned ones and `v0` of start weights in units that are those of g. The flips are in
    groups[first:last]. Returns the bits of slots whose integers are too narrow.
    """
    lost = 0
    for k in range(first, last):
        t = groups[k, 0]
        group = (t, groups[k, 1], groups[k, 2], groups[k, 3])
        found = flip_column(f, bound, flip, g, columns, v0, flipped, group, kappa, limit)
        lost |= found
        if found >> SLOTS:
            for slot in range(SLOTS):
                bound[slot, t] = bound_of(1 + 2 * np.int64(flip[t, slot]), g[t, slot], kappa, limit)
    return lost


@kernel
def replay_rows(
    K: Any,
    ahead: Any,
    Y: Any,
    version: Any,
    flipped: Any,
    groups: Any,
    group_start: Any,
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
    bounds: Any,
    room: Any,
    C: Any,
) -> Any:
    """Learn `rows` of V while the codes y change as the tape says, for the epochs of the tape: eqs. (8)-(9).

    Epoch e has the codes Y[version[e]] (versions, n, words of bits) with Gram matrix K[version[e]] (versions, n, padded n), given
    also as ahead[version[e]] (see `lanes.set_ahead`). They are reached from those of the epoch before by the flips
    groups[group_start[e]:group_start[e + 1]] (see `tape.Tape`). Of each row: targets x, start weights V (on the grid
    rint(V * factor) / scale, see `fields.Grid`) and, changed in place: start fields g0, fields with their bounds and room, and
    the integer weights C, to which updates are added. Rows side by side are in the same epoch. Returns errors (n_epochs,) and
    state (len(rows),).
    """
    n, n_epochs = x.shape[1], version.shape[0]
    padded, words = K.shape[2], Y.shape[2]
    f, flip, bound = slots(SLOTS, padded, fields), slots(SLOTS, padded, fields), slots(SLOTS, padded, fields)
    c, columns = slots(SLOTS, words * LANES, fields), slots(words * LANES, SLOTS, fields)
    rows_of_V, v0 = slots(SLOTS, words * LANES, V), slots(words * LANES, SLOTS, V)
    rows_of_g, g = slots(SLOTS, padded, V), slots(padded, SLOTS, V)
    flip_columns = slots(padded, SLOTS, fields)
    updated, lost = line(SLOTS, np.uint32), line(SLOTS, np.bool_)
    left, room_of_c = line(SLOTS, room), line(SLOTS, room)
    errors, row_errors = line(n_epochs, np.int64), slots(SLOTS, n_epochs, np.int64)
    state = line(rows.shape[0], np.uint8)
    any_flip = group_start[n_epochs] > group_start[0]
    for first in range(0, rows.shape[0], SLOTS):
        taken = min(SLOTS, rows.shape[0] - first)
        for slot in range(SLOTS):
            lost[slot] = slot >= taken
            if slot >= taken:
                silence(flip, bound, slot, limit)
                continue
            j = rows[first + slot]
            load(f, flip, bound, slot, fields, bounds, x, j)
            for i in range(words * LANES):
                c[slot, i] = C[j, i]
            if any_flip:
                for t in range(n):
                    rows_of_g[slot, t] = g0[j, t]
                unit = 2 / scale[j]  # a power of 2: a flip moves a code by 2
                for i in range(V.shape[1]):
                    rows_of_V[slot, i] = ((V[j, i] * factor[j] + ROUND) - ROUND) * unit
            left[slot], room_of_c[slot] = room[j], 0
        if any_flip:
            turned(rows_of_V, v0)
            turned(rows_of_g, g)
            turned(flip, flip_columns)
        quiet = up_to_date = False  # whether nobody was updated, and whether `columns` are those of c
        for e in range(n_epochs):
            for slot in range(SLOTS):
                row_errors[slot, e] = 0
            if group_start[e + 1] > group_start[e]:
                now, then = group_start[e], group_start[e + 1]
                if not up_to_date:
                    turned(c, columns)
                    up_to_date = True
                too_narrow = _apply_flips(f, bound, flip_columns, g, columns, v0, flipped, groups, now, then, kappa, limit)
                for slot in range(SLOTS):
                    left[slot] = 0
                    lost[slot] |= (too_narrow >> slot) & 1
                    if lost[slot]:
                        silence(flip, bound, slot, limit)
            elif quiet:
                continue
            quiet = True
            for base in range(0, padded, LANES):
                row = version[e] * n + base
                block = (version[e] * padded + base) // LANES * AHEAD * LANES
                decide(f, flip, bound, None, base, padded, ahead, block, updated, None, 0)
                for slot in range(taken):
                    mask = updated[slot]
                    if not mask:
                        continue
                    quiet = up_to_date = False
                    number = number_of_bits(mask)
                    if room_of_c[slot] < number:
                        room_of_c[slot] = room_for(c[slot], limit, 1)
                    room_of_c[slot] -= number
                    if not add_if_room(f, flip, slot, base, padded, K, row * padded, mask, left):
                        left[slot] = room_after(f, flip, slot, base, K, row * padded, mask, limit, step)
                    if left[slot] < 0 or room_of_c[slot] < 0:
                        lost[slot] = True
                        silence(flip, bound, slot, limit)
                        continue
                    add_weights(c, flip, slot, base, padded, Y, row * words, words, mask)
                    row_errors[slot, e] += number
        for slot in range(taken):
            if lost[slot]:
                state[first + slot] = NARROW
                continue
            j = rows[first + slot]
            room[j] = left[slot]
            for e in range(n_epochs):
                errors[e] += row_errors[slot, e]
            for s in range(padded):
                fields[j, s], bounds[j, s] = f[slot, s], bound[slot, s]
            for i in range(words * LANES):
                C[j, i] = c[slot, i]
            if any_flip:
                for t in range(n):
                    g0[j, t] = g[t, slot]
    return errors, state
