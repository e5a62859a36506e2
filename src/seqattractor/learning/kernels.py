"""Compiled kernels of the exact engine: loops over epochs and transitions on plain integer arrays, nothing else.

One call learns some epochs for some rows (neurons). A row sees only its integer fields f(t) = sum_s c(s) K(t, s), where c(s)
counts its signed updates and K is the Gram matrix of its inputs; an update at t adds +-K[t] to the row of fields (SIMD).
Fields are stored as int64 and worked on in the integer type of K. Before every update `room` says how many more cannot leave
this type; a row that runs out of room is left untouched and reported, so that it can be done again in a wider type.

Every kernel is in this one file, because numba's cache on disk looks only at the file of the kernel it loads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, njit, types

__all__ = ["LANES", "NARROW", "RUNNING", "SETTLED", "flip_codes", "learn_rows", "replay_rows", "sort_flips"]

LANES = 32  # fields are padded to a multiple of this, so that no loop has a scalar rest
RUNNING, SETTLED, NARROW = (
    0,
    1,
    2,
)  # state of a row: goes on; had an epoch without update; needs a wider integer

_BIGGEST = float(2**62)


def _violations_code(typingctx: Any, f: Any, flip: Any, bound: Any, start: Any) -> Any:
    """Bit k says whether (f ^ flip)[start + k] <= bound[start + k], for the LANES fields from start on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = ir.VectorType(context.get_data_type(f.dtype), LANES)
        loaded = []
        for kind, value in zip(signature.args[:3], args[:3], strict=True):
            first = context.make_array(kind)(context, builder, value).data
            here = builder.bitcast(builder.gep(first, [args[3]]), lanes.as_pointer())
            loaded.append(builder.load(here, align=f.dtype.bitwidth // 8))
        hit = builder.icmp_signed("<=", builder.xor(loaded[0], loaded[1]), loaded[2])
        return builder.bitcast(hit, ir.IntType(LANES))

    return types.uint32(f, flip, bound, types.int64), codegen


_violations: Any = extending.intrinsic(_violations_code)


def _lowest_bit_code(typingctx: Any, mask: Any) -> Any:
    """Position of the lowest bit that is set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.cttz(args[0], ir.Constant(ir.IntType(1), 1)), ir.IntType(64))

    return types.int64(types.uint32), codegen


_lowest_bit: Any = extending.intrinsic(_lowest_bit_code)


@njit(nogil=True, inline="always")
def _next_violation(f: Any, flip: Any, bound: Any, start: int) -> Any:
    """The first t >= start whose margin is violated, or len(f)."""
    if start >= f.shape[0]:
        return f.shape[0]
    base = start & ~(LANES - 1)
    mask = np.uint32(_violations(f, flip, bound, base) & np.uint32(0xFFFFFFFF << (start - base)))
    while mask == 0:
        base += LANES
        if base >= f.shape[0]:
            return f.shape[0]
        mask = _violations(f, flip, bound, base)
    return base + _lowest_bit(mask)


def _add_lanes_code(typingctx: Any, f: Any, start: Any, rows: Any, offset: Any, sign: Any) -> Any:
    """Add sign * rows.flat[offset:offset + LANES] to f[start:start + LANES]; sign is 0 for plus and -1 for minus."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, bits = context.get_data_type(f.dtype), f.dtype.bitwidth
        lanes = ir.VectorType(kind, LANES)
        there = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        here = builder.gep(context.make_array(signature.args[2])(context, builder, args[2]).data, [args[3]])
        there = builder.bitcast(there, lanes.as_pointer())
        narrow = ir.VectorType(context.get_data_type(rows.dtype), LANES)
        change = builder.load(builder.bitcast(here, narrow.as_pointer()), align=rows.dtype.bitwidth // 8)
        if rows.dtype.bitwidth < bits:
            change = builder.sext(change, lanes)
        one = builder.insert_element(
            ir.Constant(lanes, ir.Undefined), builder.trunc(args[4], kind), ir.Constant(ir.IntType(32), 0)
        )
        minus = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
        change = builder.sub(builder.xor(change, minus), minus)  # the two's complement of change if minus is -1
        builder.store(builder.add(builder.load(there, align=bits // 8), change), there, align=bits // 8)
        return context.get_dummy_value()

    return types.void(f, types.int64, rows, types.int64, types.int64), codegen


_add_lanes: Any = extending.intrinsic(_add_lanes_code)


@njit(nogil=True, inline="always")
def _add_signed(f: Any, rows: Any, offset: int, z: int) -> None:
    """Add z * (the row at the flat position `offset` of `rows`) to f, without a branch on the unforeseeable sign z."""
    sign = np.int64(z) >> 1
    for s in range(0, f.shape[0], LANES):
        _add_lanes(f, s, rows, offset + s, sign)


@njit(nogil=True)
def _room(f: Any, limit: int, step: int) -> Any:
    """How many updates of at most `step` each keep every |f| <= limit."""
    highest, lowest = np.int64(f[0]), np.int64(f[0])
    for s in range(f.shape[0]):
        highest = max(highest, np.int64(f[s]))
        lowest = min(lowest, np.int64(f[s]))
    return (limit - max(highest, -lowest)) // step


@njit(nogil=True)
def _threshold(z: int, h0: float, kappa: float) -> Any:
    """The largest integer k such that the margin is violated at z * n = k: kappa - z * (h0 + n) >= 0, eqs. (5), (8)."""
    exact = kappa - z * h0
    k = np.floor(exact)
    if h0 == 0 or (1e-6 < exact - k < 1 - 1e-6 and abs(h0) + kappa < 2**30):
        return k
    for _ in range(2):  # `exact` was rounded and is close to an integer: ask the rule itself
        if kappa - z * (h0 + z * (k + 1)) >= 0:
            k += 1
    for _ in range(2):
        if kappa - z * (h0 + z * k) < 0:
            k -= 1
    return k


@njit(nogil=True, inline="always")
def _bound(z: int, h0: float, kappa: float, limit: int) -> Any:
    """The bound of the test (f ^ flip) <= bound, with flip = -1 for z = -1 (f ^ -1 = -f - 1); cut to what f can hold."""
    k = min(max(_threshold(z, h0, kappa), -_BIGGEST), _BIGGEST)
    return min(max(np.int64(k) + (np.int64(z) >> 1), -limit - 2), limit + 1)


@njit(nogil=True)
def _load(f: Any, flip: Any, bound: Any, i: int, fields: Any, z: Any, h0: Any, kappa: float, limit: int) -> Any:
    """Bring row i into the working arrays; False if it does not fit the integer type."""
    n = fields.shape[1]
    most = np.int64(0)
    for t in range(n):
        most = max(most, abs(fields[i, t]))
        f[t] = fields[i, t]
        flip[t] = z[i, t] >> 1
    for t in range(n):
        bound[t] = _bound(z[i, t], h0[i, t], kappa, limit)
    for t in range(n, f.shape[0]):  # padding: never violated
        f[t], flip[t], bound[t] = 0, 0, -limit - 2
    return most <= limit


@njit(nogil=True)
def _grown(flips: Any, needed: int) -> Any:
    """The array of flips, made longer if `needed` rows do not fit."""
    if needed <= flips.shape[0]:
        return flips
    longer = np.empty((2 * needed, flips.shape[1]), flips.dtype)
    longer[: flips.shape[0]] = flips
    return longer


@njit(nogil=True)
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


@njit(nogil=True, cache=True)
def learn_rows(
    K: Any,
    step: int,
    limit: int,
    kappa: float,
    rows: Any,
    z: Any,
    h0: Any,
    fields: Any,
    counts: Any,
    wrong: Any,
    n_epochs: int,
) -> Any:
    """Learn `rows` on fixed inputs for some epochs: eqs. (5)-(7) for U, or the margin perceptron.

    K (n, padded) is the Gram matrix, `step` its largest entry, `limit` what its integer type holds. Of each row: targets z,
    start fields h0 and, changed in place, integer fields, update counts and wrong (whether the code differs from z).
    Returns errors (n_epochs,), state (len(rows),) and the flips of codes (epoch, t, row, new code).
    """
    n = fields.shape[1]
    f, flip, bound = (
        np.empty(K.shape[1], K.dtype),
        np.empty(K.shape[1], K.dtype),
        np.empty(K.shape[1], K.dtype),
    )
    added = np.empty(n, np.int32)
    before, after = np.empty(n, np.int64), np.empty(n, np.int64)
    errors, row_errors = np.zeros(n_epochs, np.int64), np.zeros(n_epochs, np.int64)
    state = np.zeros(rows.shape[0], np.uint8)
    flips, used = np.empty((256, 4), np.int32), 0
    for r in range(rows.shape[0]):
        i = rows[r]
        if not _load(f, flip, bound, i, fields, z, h0, kappa, limit):
            state[r] = NARROW
            continue
        n_before = 0
        for t in range(n):
            added[t] = 0
            if wrong[i, t]:
                before[n_before] = t
                n_before += 1
        start_used, ended = used, 0
        room = _room(f, limit, step)
        for e in range(n_epochs):
            n_after = updates = 0
            t = _next_violation(f, flip, bound, 0)
            while t < n:
                if room < 1:
                    room = _room(f, limit, step)
                    if room < 1:
                        state[r] = NARROW
                        break
                room -= 1
                _add_signed(f, K, t * K.shape[1], z[i, t])  # eq. (6)
                added[t] += 1
                updates += 1
                after[n_after] = t  # eq. (7): is the code wrong? (Where no update was, it is z.)
                n_after += (h0[i, t] + np.float64(f[t]) >= 0) != (z[i, t] > 0)
                t = _next_violation(f, flip, bound, t + 1)
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
        for e in range(ended):
            errors[e] += row_errors[e]
        for t in range(n):
            fields[i, t] = f[t]
            counts[i, t] += added[t]
        for k in range(start_used, used):
            wrong[i, flips[k, 1]] = flips[k, 3] != z[i, flips[k, 1]]
    return errors, state, flips[:used]


@njit(nogil=True)
def _apply_flips(
    f: Any,
    bound: Any,
    g: Any,
    c: Any,
    j: int,
    V: Any,
    factor: float,
    scale: float,
    x: Any,
    flips: Any,
    start: int,
    end: int,
    kappa: float,
    limit: int,
) -> Any:
    """Move the fields of row j to the codes of the next epoch: g(t) += V . (new y(t) - old y(t)); False if too narrow."""
    k = start
    while k < end:
        t = flips[k, 1]
        change, start_change = np.int64(0), 0.0
        while k < end and flips[k, 1] == t:
            i, code = flips[k, 2], flips[k, 3]
            change += code * np.int64(c[i])
            start_change += code * np.rint(V[j, i] * factor)
            k += 1
        value = np.int64(f[t]) + 2 * change
        if abs(value) > limit:
            return False
        f[t] = value
        g[t] += 2 * start_change / scale
        bound[t] = _bound(x[j, t], g[t], kappa, limit)
    return True


@njit(nogil=True, cache=True)
def replay_rows(
    K: Any,
    Y: Any,
    version: Any,
    flips: Any,
    flip_start: Any,
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
    counts: Any,
    C: Any,
) -> Any:
    """Learn `rows` of V while the codes y change as the tape says, for the epochs of the tape: eqs. (8)-(9).

    Epoch e has the codes Y[version[e]] (versions, n, padded M) with Gram matrix K[version[e]] (versions, n, padded n), reached
    from those of the epoch before by flips[flip_start[e]:flip_start[e + 1]]. Of each row: targets x, start weights V (on the grid
    rint(V * factor) / scale, see `fields.Grid`) and, changed in place: start fields g0, integer fields, and the updates: added
    to the integer weights C as long as flips may come, only counted in `counts` once the tape has `ended`.
    Returns errors (n_epochs,) and state (len(rows),).
    """
    n, M, n_epochs = fields.shape[1], C.shape[1], version.shape[0]
    padded = K.shape[2]
    f, flip, bound = np.empty(padded, K.dtype), np.empty(padded, K.dtype), np.empty(padded, K.dtype)
    c = np.zeros(Y.shape[2], K.dtype)
    g, added = np.empty(n), np.empty(n, np.int32)
    errors, row_errors = np.zeros(n_epochs, np.int64), np.zeros(n_epochs, np.int64)
    state = np.zeros(rows.shape[0], np.uint8)
    any_flip = flip_start[n_epochs] > flip_start[0]
    weights_needed = any_flip or not ended
    for r in range(rows.shape[0]):
        j = rows[r]
        if not _load(f, flip, bound, j, fields, x, g0, kappa, limit):
            state[r] = NARROW
            continue
        for t in range(n):
            g[t], added[t] = g0[j, t], 0
        room = _room(f, limit, step)
        if weights_needed:
            most = np.int32(0)
            for i in range(M):
                most = max(most, abs(C[j, i]))
                c[i] = C[j, i]
            if most > limit:
                state[r] = NARROW
                continue
            room = min(room, _room(c, limit, 1))
        quiet = False
        for e in range(n_epochs):
            row_errors[e] = 0
            if flip_start[e + 1] > flip_start[e]:
                if not _apply_flips(
                    f, bound, g, c, j, V, factor[j], scale[j], x, flips, flip_start[e], flip_start[e + 1], kappa, limit
                ):
                    state[r] = NARROW
                    break
                room = 0
            elif quiet:
                continue
            v = version[e]
            t = _next_violation(f, flip, bound, 0)
            while t < n:
                if room < 1:
                    room = _room(f, limit, step)
                    if weights_needed:
                        room = min(room, _room(c, limit, 1))
                    if room < 1:
                        state[r] = NARROW
                        break
                room -= 1
                _add_signed(f, K, (v * n + t) * padded, x[j, t])  # eq. (9), seen by the fields
                if weights_needed:
                    _add_signed(c, Y, (v * n + t) * Y.shape[2], x[j, t])  # eq. (9), seen by the weights
                else:
                    added[t] += 1
                row_errors[e] += 1
                t = _next_violation(f, flip, bound, t + 1)
            if state[r] == NARROW:
                break
            quiet = row_errors[e] == 0
        if state[r] == NARROW:
            continue
        if quiet and ended:
            state[r] = SETTLED
        for e in range(n_epochs):
            errors[e] += row_errors[e]
        for t in range(n):
            fields[j, t] = f[t]
            counts[j, t] += added[t]
            g0[j, t] = g[t]
        if weights_needed:
            for i in range(M):
                C[j, i] = c[i]
    return errors, state


@njit(nogil=True, cache=True)
def sort_flips(flips: Any, n: int, n_epochs: int) -> Any:
    """Sort flips (epoch, t, row, code) by epoch and t; returns them and where each epoch starts (n_epochs + 1,)."""
    place = np.zeros(n_epochs * n + 1, np.int64)
    for k in range(flips.shape[0]):
        place[flips[k, 0] * n + flips[k, 1] + 1] += 1
    for key in range(n_epochs * n):
        place[key + 1] += place[key]
    starts = np.empty(n_epochs + 1, np.int64)
    for e in range(n_epochs + 1):
        starts[e] = place[e * n]
    out = np.empty_like(flips)
    for k in range(flips.shape[0]):
        key = flips[k, 0] * n + flips[k, 1]
        out[place[key]] = flips[k]
        place[key] += 1
    return out, starts


@njit(nogil=True, cache=True)
def flip_codes(K: Any, codes: Any, flips: Any) -> None:
    """Apply flips (sorted by t) to the codes (M, padded n) and to their Gram matrix K (n, padded n), in place."""
    n = K.shape[0]
    k = 0
    while k < flips.shape[0]:
        t = flips[k, 1]
        while k < flips.shape[0] and flips[k, 1] == t:
            i, code = flips[k, 2], flips[k, 3]
            own = K[t, t]
            if code > 0:
                for s in range(K.shape[1]):
                    K[t, s] += 2 * codes[i, s]
            else:
                for s in range(K.shape[1]):
                    K[t, s] -= 2 * codes[i, s]
            K[t, t] = own
            codes[i, t] = code
            k += 1
        for s in range(n):
            K[s, t] = K[t, s]
