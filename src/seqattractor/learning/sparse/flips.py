"""Noise on x(t), in compiled code: the units that `rule.flip_some` flips, from the same random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.compiled import part

_ALL = np.uint64(2**32 - 1)


@part
def draw_flips(most: int, order: Any, rng: Any) -> int:
    """Put 0 to `most` units to the front of `order`, drawing as `rule.flip_some` does; returns how many.

    rng.integers(j, N) takes 32 random bits, and others where these would not be fair (Lemire 2019); for a single unit that is
    left it takes none. Numba allocates an array for each call, so all bits of a presentation are drawn at once.
    """
    if most == 0:
        return 0
    n_flipped: int = rng.integers(0, most + 1)
    words = rng.integers(0, 2**32 - 1, min(n_flipped, len(order) - 1), np.uint32, True)
    used = 0
    for j in range(len(words)):
        span, scaled, fair = np.uint64(len(order) - j), np.uint64(0), False
        while not fair:
            word = words[used] if used < len(words) else rng.integers(0, 2**32 - 1, 1, np.uint32, True)[0]
            used += 1
            scaled = np.uint64(word) * span
            rest = scaled & _ALL
            fair = bool(rest >= span or rest >= (_ALL + np.uint64(1) - span) % span)
        other = j + np.int64(scaled >> np.uint64(32))
        order[j], order[other] = order[other], order[j]
    return n_flipped


@part
def split_by_sign(x: Any, units: Any, count: int, plus: Any, minus: Any) -> tuple[int, int]:
    """List those of the first units that are +1 in x, and those that are -1; returns how many. No branch: none is foreseen."""
    n_plus = n_minus = 0
    for k in range(count):
        unit = units[k]
        is_plus = x[unit] > 0
        plus[n_plus], minus[n_minus] = unit, unit
        n_plus += is_plus
        n_minus += not is_plus
    return n_plus, n_minus
