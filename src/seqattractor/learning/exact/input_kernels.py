"""Compiled kernels of inputs: their products; and start fields and learned weights from what changes between patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.bits import count_differences, lowest_bit, number_of_bits
from seqattractor.learning.compiled import kernel, part
from seqattractor.learning.exact.arrays import line, slots
from seqattractor.learning.exact.flip_lanes import add_column, add_columns, turn
from seqattractor.learning.exact.lanes import LANES, SLOTS, without_lowest_bit

ROUND = 1.5 * 2.0**52  # (a + ROUND) - ROUND is a rounded to an integer, as np.rint does it, for |a| < 2**51


@part
def turned(rows: Any, columns: Any) -> None:
    """Write an array (SLOTS, width) as columns (width, SLOTS); the width is a multiple of SLOTS."""
    for first in range(0, rows.shape[1], SLOTS):
        turn(rows, rows.shape[1], first, columns)


@kernel
def multiply(K: Any, bits: Any, N: int) -> None:
    """Write the Gram matrix (n, padded n) of patterns in bits (n, words): N less twice the units in which two of them differ."""
    n, words = bits.shape
    columns, everywhere, unlike = slots(words, n, bits), line(words, bits), line(n, np.int64)
    for word in range(words):
        everywhere[word] = ~np.uint32(0)
        for t in range(n):
            columns[word, t] = bits[t, word]
    for t in range(n):
        count_differences(columns, bits[t], everywhere, unlike, n)
        for s in range(n):
            K[t, s] = N - 2 * unlike[s]


@kernel
def list_changes(bits: Any) -> Any:
    """The inputs that go to +1 and to -1 with each pattern, from one of all +1: two lists and where each t starts in them.

    Patterns are given in bits (n, words), where 1 stands for -1; there are at most 2**15 inputs.
    """
    n, words = bits.shape
    starts = slots(n + 1, 2, np.int64)
    last = line(words, bits)
    for t in range(n):
        starts[t + 1, 0], starts[t + 1, 1] = starts[t, 0], starts[t, 1]
        for word in range(words):
            now = bits[t, word]
            starts[t + 1, 0] += number_of_bits(last[word] & ~now)
            starts[t + 1, 1] += number_of_bits(now & ~last[word])
            last[word] = now
    up, down = line(starts[n, 0], np.int16), line(starts[n, 1], np.int16)
    for word in range(words):
        last[word] = 0
    for t in range(n):
        to_up, to_down = starts[t, 0], starts[t, 1]
        for word in range(words):
            now = bits[t, word]
            to_plus, to_minus = last[word] & ~now, now & ~last[word]
            last[word] = now
            while to_plus:
                up[to_up] = LANES * word + lowest_bit(to_plus)
                to_plus = without_lowest_bit(to_plus)
                to_up += 1
            while to_minus:
                down[to_down] = LANES * word + lowest_bit(to_minus)
                to_minus = without_lowest_bit(to_minus)
                to_down += 1
    return up, down, starts


@kernel
def add_start_fields(
    fields: Any, weights: Any, first: int, N: int, factor: Any, scale: Any, up: Any, down: Any, starts: Any
) -> None:
    """Add the fields of weights[:, first:first + N] on their grid to fields (m, n), for patterns given by changes.

    On the grid weights are whole numbers, and sums of them are exact in any order.
    """
    m, n = fields.shape
    width = -(-N // SLOTS) * SLOTS
    rows, columns = slots(SLOTS, width, starts), slots(width, SLOTS, starts)
    total = slots(1, SLOTS, starts)
    for row in range(0, m, SLOTS):
        some = min(SLOTS, m - row)
        for slot in range(some):
            for i in range(N):
                rows[slot, i] = np.int64((weights[row + slot, first + i] * factor[row + slot] + ROUND) - ROUND)
        turned(rows, columns)
        for slot in range(SLOTS):
            total[0, slot] = 0
        for i in range(N):
            add_column(total, 0, columns, i, False)
        for t in range(n):
            add_columns(total, columns, up, starts[t, 0], starts[t + 1, 0], 2)
            add_columns(total, columns, down, starts[t, 1], starts[t + 1, 1], -2)
            for slot in range(some):
                fields[row + slot, t] += np.float64(total[0, slot]) / scale[row + slot]


@kernel
def add_sums(weights: Any, first: int, N: int, counts: Any, eta: float, up: Any, down: Any, starts: Any) -> None:
    """Add eta * (counts X) to weights[:, first:first + N], for whole numbers `counts` (m, n) and patterns given by changes.

    An input keeps its new value from a change to the next one. So each change adds or takes away twice the sum of all counts from
    its pattern on.
    """
    m, n = counts.shape
    columns, total, twice = slots(N, SLOTS, starts), slots(1, SLOTS, starts), slots(1, SLOTS, starts)
    for row in range(0, m, SLOTS):
        some = min(SLOTS, m - row)
        for i in range(N):
            for slot in range(SLOTS):
                columns[i, slot] = 0
        for slot in range(SLOTS):
            total[0, slot] = 0
        for t in range(n - 1, -1, -1):
            for slot in range(some):
                total[0, slot] += counts[row + slot, t]
                twice[0, slot] = 2 * total[0, slot]
            for k in range(starts[t, 0], starts[t + 1, 0]):
                add_column(columns, up[k], twice, 0, False)
            for k in range(starts[t, 1], starts[t + 1, 1]):
                add_column(columns, down[k], twice, 0, True)
        for slot in range(some):
            for i in range(N):
                weights[row + slot, first + i] += eta * np.float64(columns[i, slot] + total[0, slot])
