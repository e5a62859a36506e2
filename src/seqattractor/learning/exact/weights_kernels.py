"""Compiled kernels of the weights form: integer weights of LANES neurons at once, four transitions at a time.

In a group of four transitions a unit has one of 16 *kinds*, its four states. Units of one kind enter the four fields with the
same signs, and are changed by the same amount by whatever updates the four make. So the weights are gone through twice per group,
not eight times: once to add up those of each kind, from which all four fields follow, and once to add what each kind has learned.
An update moves the fields of the rest of its group by the overlap x(s) . x(t). (Groups of five to eight were no faster.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.bits import number_of_bits
from seqattractor.learning.compiled import kernel, part
from seqattractor.learning.exact.lanes import LANES
from seqattractor.learning.exact.weights_lanes import (
    GROUP,
    KINDS,
    add_multiple,
    add_to_rows,
    fields_of_sums,
    learned_by_kind,
    scale_fields,
    states_of_lanes,
    sum_rows,
    test_lanes,
    unsure_lanes,
)

COARSE_AT_ONCE = 8
"""Coarse start weights whose sum fits into 16 bits."""


@kernel
def sort_by_kind(x: Any, bits: Any, begin: int, end: int, units: Any, first: Any, overlap: Any) -> None:
    """Sort the units of the groups from `begin` to `end` by their kind; beyond the last pattern states count as -1.

    For patterns x (n, N) of -1 and +1, also given as bits (n, words), writes of each group: units (groups, N), their numbers in
    the order of their kinds, first (groups, KINDS + 1), where each kind begins, and overlap (groups, GROUP, GROUP), x(s) . x(t).
    """
    n, N = x.shape
    kind, place = np.empty(N, np.uint8), np.empty(KINDS, np.int64)
    for g in range(begin, end):
        size = min(GROUP, n - g * GROUP)
        kind[:] = 0
        for s in range(size):
            for k in range(N):
                kind[k] |= np.uint8(x[g * GROUP + s, k] > 0) << s
        place[:] = 0
        for k in range(N):
            place[kind[k]] += 1
        first[g, 0] = 0
        for p in range(KINDS):
            many = place[p]
            place[p] = first[g, p]
            first[g, p + 1] = first[g, p] + many
        for k in range(N):
            units[g, place[kind[k]]] = k
            place[kind[k]] += 1
        overlap[g] = 0
        for s in range(size):
            for t in range(s, size):
                differ = 0
                for word in range(bits.shape[1]):
                    differ += number_of_bits(bits[g * GROUP + s, word] ^ bits[g * GROUP + t, word])
                overlap[g, s, t] = N - 2 * differ


@part
def _sums_by_kind(sums: Any, rows: Any, units: Any, g: int, first: Any, at_once: int) -> None:
    """Add up the rows of the units of each kind in group g."""
    N = units.shape[1]
    for p in range(KINDS):
        sum_rows(sums, p, rows, units, g * N + first[g, p], g * N + first[g, p + 1], at_once)


@part
def _fields_in_full(start_fields: Any, sums: Any, start: Any, theta: float, units: Any, g: int, first: Any) -> None:
    """Write the start fields of group g."""
    _sums_by_kind(sums, start, units, g, first, start.shape[0])
    fields_of_sums(sums, start_fields, theta)


@kernel
def learn_lanes(
    C: Any,
    wide: Any,
    at_once: int,
    start: Any,
    coarse: Any,
    unit: float,
    guard: Any,
    theta: float,
    kappa: float,
    units: Any,
    first: Any,
    overlap: Any,
    targets: Any,
    column: int,
    neurons: int,
    codes: Any,
) -> Any:
    """Let a block of neurons learn some transitions once: eqs. (5)-(7), or (8)-(9). Returns the number of updates.

    C (N, LANES) are its integer weights, changed in place; `wide` is an empty array of the type of its fields, and `at_once` the
    number of weights whose sum fits into the type of C. The start weights (N, LANES) are in units of eta, as are theta and kappa,
    and on their `Grid`; there are no rows if all are zero. Start fields are first made of coarse start weights, whole numbers of
    `unit`, if there are any, and in full only where a margin is as near to kappa, or a field to 0, as the guard (1, LANES).
    Units come sorted by kind (`sort_by_kind`). The neurons have the columns from `column` on of the targets (n, ...), and of the
    codes, which are written if there are any columns.
    """
    n, N = targets.shape[0], units.shape[1]
    sums, fields = np.zeros((KINDS, LANES), wide.dtype), np.zeros((GROUP, LANES), wide.dtype)
    coarse_sums, coarse_fields = np.zeros((KINDS, LANES), np.int32), np.zeros((GROUP, LANES), np.int32)
    start_sums, start_fields = np.zeros((KINDS, LANES)), np.full((GROUP, LANES), -theta)
    change, learned = np.zeros((GROUP, LANES), C.dtype), np.zeros((KINDS, LANES), C.dtype)
    z, y = (
        np.zeros((1, LANES), np.int8),
        np.empty((1, LANES), np.int8),
    )  # a target of 0, where there is no neuron, is never learned
    ones = np.ones((1, LANES), np.int8)
    errors = 0
    for g in range(first.shape[0]):
        _sums_by_kind(sums, C, units, g, first, at_once)
        fields_of_sums(sums, fields, 0)
        rough = coarse.shape[0] > 0
        if rough:
            _sums_by_kind(coarse_sums, coarse, units, g, first, COARSE_AT_ONCE)
            fields_of_sums(coarse_sums, coarse_fields, 0)
            scale_fields(start_fields, coarse_fields, unit, theta)
        elif start.shape[0]:
            _fields_in_full(start_fields, start_sums, start, theta, units, g, first)
        change[:] = 0
        updates = 0
        for s in range(min(GROUP, n - g * GROUP)):
            t = g * GROUP + s
            for i in range(neurons):
                z[0, i] = targets[t, column + i]
            if rough and unsure_lanes(guard, z, start_fields, fields, s, kappa):
                _fields_in_full(start_fields, start_sums, start, theta, units, g, first)
                rough = False
            learn = test_lanes(change, z, start_fields, fields, s, kappa)
            if learn:
                updates += number_of_bits(learn)
                for later in range(s, GROUP):
                    add_multiple(fields, later, change, s, overlap[g, s, later])  # eqs. (6), (9), seen by the fields
            if codes.shape[1]:
                if rough and unsure_lanes(guard, ones, start_fields, fields, s, 0.0):
                    _fields_in_full(start_fields, start_sums, start, theta, units, g, first)
                    rough = False
                states_of_lanes(y, s, start_fields, fields)
                for i in range(neurons):
                    codes[t, column + i] = y[0, i]
        if updates:
            errors += updates
            learned_by_kind(learned, change)
            for p in range(KINDS):  # eqs. (6), (9), seen by the weights
                add_to_rows(C, units, g * N + first[g, p], g * N + first[g, p + 1], learned, p)
    return errors
