"""What an event is compared with: variants of it in which the order that replay would have is
gone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Variants = NDArray[np.bool_]
Draw = Callable[[NDArray[np.int64], int, np.random.Generator], Variants]


def cells(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> Variants:
    """The event with its cells renamed at random, (T, N) -> (n, T, N): population rates and bursts
    stay as they are.
    """
    names = rng.permuted(np.broadcast_to(np.arange(counts.shape[1]), (n, counts.shape[1])), axis=1)
    return np.ascontiguousarray((counts > 0)[:, names].transpose(1, 0, 2))


def circular(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> Variants:
    """The event with the spikes of each cell rotated in time by a shift of its own: the bursts of
    each cell stay as they are.
    """
    T, N = counts.shape
    at = (np.arange(T)[:, None] - rng.integers(T, size=(n, 1, N))) % T
    return np.take_along_axis(np.broadcast_to(counts > 0, (n, T, N)), at, axis=1)


def poisson(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> Variants:
    """The spikes dealt out again, so that each cell and each bin has as many as before.

    This is how Poisson spikes of independent cells are distributed, given these numbers, if the
    rate of each cell is its mean rate times the population rate of the bin. P values are then
    exact, as they are not where rates that are estimated from the event draw new spikes. Of +-1
    patterns each active bin counts as one spike.
    """
    bins, cells = np.nonzero(counts)
    many = counts[bins, cells].astype(np.int64)
    bins, cells = np.repeat(bins, many), np.repeat(cells, many)
    variants = np.zeros((n, *counts.shape), dtype=bool)
    dealt = rng.permuted(np.broadcast_to(cells, (n, len(cells))), axis=1)
    variants[np.arange(n)[:, None], bins, dealt] = True
    return variants


DRAWN: dict[str, Draw] = {"cells": cells, "circular": circular, "poisson": poisson}
"""Nulls that the memory has to see anew, each with the function that draws it; the null "order"
needs only one recall.
"""

WORDS = {
    "order": "the same bins in random order",
    "cells": "the same event with its cells renamed at random",
    "circular": "the same event with the spikes of each cell rotated in time by a shift of its own",
    "poisson": "Poisson spikes of independent cells, given the number of spikes of each cell and "
    "of each bin",
}
