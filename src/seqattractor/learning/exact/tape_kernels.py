"""Compiled kernels that keep the tape: sorting flips of codes and applying them to the codes and their Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel, part
from seqattractor.learning.exact.arrays import copy, line, slots
from seqattractor.learning.exact.lanes import set_ahead

_BITS = 32  # of a word of codes


@kernel
def sort_flips(flips: Any, n: int, n_epochs: int) -> Any:
    """Sort flips (epoch, t, row, code) by epoch, t and code (+1 first).

    Returns their rows, groups (t, start, start of those to -1, end) of one epoch and t each, and where the groups of each epoch
    start (n_epochs + 1,).
    """
    keys = 2 * n_epochs * n
    place = line(keys + 1, np.int32)
    for k in range(flips.shape[0]):
        place[2 * (flips[k, 0] * n + flips[k, 1]) + (flips[k, 3] < 0) + 1] += 1
    for key in range(keys):
        place[key + 1] += place[key]
    used = 0
    for key in range(0, keys, 2):
        used += place[key + 2] > place[key]
    groups, group_start = slots(used, 4, np.int64), line(n_epochs + 1, np.int64)
    used = 0
    for e in range(n_epochs):
        group_start[e] = used
        for t in range(n):
            key = 2 * (e * n + t)
            if place[key + 2] > place[key]:
                groups[used, 0], groups[used, 1], groups[used, 2], groups[used, 3] = t, place[key], place[key + 1], place[key + 2]
                used += 1
    group_start[n_epochs] = used
    flipped = line(flips.shape[0], flips)
    for k in range(flips.shape[0]):
        key = 2 * (flips[k, 0] * n + flips[k, 1]) + (flips[k, 3] < 0)
        flipped[place[key]] = flips[k, 2]
        place[key] += 1
    return flipped, groups, group_start


@kernel
def play(
    K: Any,
    codes: Any,
    bits: Any,
    flipped: Any,
    groups: Any,
    group_start: Any,
    version: Any,
    K_versions: Any,
    ahead_versions: Any,
    bit_versions: Any,
) -> None:
    """Apply the flips of some epochs to the codes (see `_flip_codes`) and write each version of K, with `set_ahead`, and bits."""
    for e in range(version.shape[0]):
        changes = group_start[e + 1] > group_start[e]
        if changes:
            _flip_codes(K, codes, bits, flipped, groups[group_start[e] : group_start[e + 1]])
        if changes or e == 0:
            copy(K_versions, version[e] * K.size, K, 0, K.size)
            set_ahead(ahead_versions[version[e]], K)
            copy(bit_versions, version[e] * bits.size, bits, 0, bits.size)


@part
def _flip_codes(K: Any, codes: Any, bits: Any, flipped: Any, groups: Any) -> None:
    """Apply groups of flips to the codes (M, padded n), their bits (n, words) and their Gram matrix K, in place."""
    for group in range(groups.shape[0]):
        t = groups[group, 0]
        own = K[t, t]
        for k in range(groups[group, 1], groups[group, 3]):
            i, code = flipped[k], 1 if k < groups[group, 2] else -1
            for s in range(K.shape[1]):
                K[t, s] += 2 * code * codes[i, s]
            codes[i, t] = code
            bits[t, i // _BITS] ^= np.uint32(1) << np.uint32(i % _BITS)
        K[t, t] = own
        for s in range(K.shape[0]):
            K[s, t] = K[t, s]
