"""Compiled kernel of start fields: from one pattern to the next only the inputs count that change."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.bits import lowest_bit
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
def list_changes(bits: Any) -> Any:
    """The inputs that go to +1 and to -1 with each pattern, from one of all +1: two lists and where each t starts in them.

    Patterns are given in bits (n, words), where 1 stands for -1.
    """
    n, words = bits.shape
    up, down = np.empty(n * words * LANES, np.int32), np.empty(n * words * LANES, np.int32)
    starts = slots(n + 1, 2, np.int64)
    last = line(words, np.uint32)
    to_up = to_down = np.int64(0)
    for t in range(n):
        for word in range(words):
            now = bits[t, word]
            changed = now ^ last[word]
            last[word] = now
            while changed:
                bit = lowest_bit(changed)
                changed = without_lowest_bit(changed)
                up[to_up] = down[to_down] = LANES * word + bit
                is_minus = (now >> np.uint32(bit)) & np.uint32(1)
                to_up += 1 - np.int64(is_minus)
                to_down += np.int64(is_minus)
        starts[t + 1, 0], starts[t + 1, 1] = to_up, to_down
    return up[:to_up], down[:to_down], starts


@kernel
def add_start_fields(
    fields: Any, first_t: int, weights: Any, first: int, N: int, factor: Any, scale: Any, up: Any, down: Any, starts: Any
) -> None:
    """Add the fields of weights[:, first:first + N] on their grid to fields[:, first_t:], for patterns given by changes.

    On the grid weights are whole numbers, and sums of them are exact in any order.
    """
    m, n = fields.shape[0], starts.shape[0] - 1
    width = -(-N // SLOTS) * SLOTS
    rows, columns = slots(SLOTS, width, starts), slots(width, SLOTS, np.int64)
    total = slots(1, SLOTS, np.int64)
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
                fields[row + slot, first_t + t] += np.float64(total[0, slot]) / scale[row + slot]
