"""How well a memory predicts the bins of an event from each other: the statistic of `replay.test`.

From each bin of an event the memory runs freely. If the event replays what the memory has learned
at a speed of k stored patterns per bin, the state after k * d steps is the bin d bins later. So the
fit at speed k is the mean, over all pairs of active bins at most `MOST_LAGS` bins apart, of the
correlation over cells between the state after k * d steps from the earlier bin and the later bin.
Reverse replay is the same with the roles of the two exchanged.

Fits at different speeds differ for reasons that have nothing to do with order: bins of an event
resemble each other, and some cells are active in many stored patterns. Both are the same for every
order of the bins. So each fit is expressed in standard deviations from its mean over random orders,
and the score is the largest of these over speeds and directions. The same search is done in every
shuffle, so that it costs no false positives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks.base import SequenceMemory

MOST_LAGS = 8
"""How many bins apart two bins may be of which one predicts the other."""

Counts = NDArray[Any]
Active = NDArray[np.bool_]


class Pairs(NamedTuple):
    """The pairs of bins that are compared: positions a < b among the bins, and how many bins lie
    between them plus one.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    lag: NDArray[np.int64]


def pairs_of(positions: NDArray[np.int64]) -> Pairs:
    """All pairs of bins at these positions that are at most `MOST_LAGS` apart, as places in
    `positions`.
    """
    a, b = np.triu_indices(len(positions), 1)
    lag = positions[b] - positions[a]
    near = lag <= MOST_LAGS
    return Pairs(a[near], b[near], lag[near])


def predictions(memory: SequenceMemory, bins: Active, steps: int) -> Active:
    """The states after 1, 2, ... steps from each bin, (B, N) -> (B, steps, N)."""
    states = np.where(bins, 1, -1).astype(np.int8)
    return np.asarray(memory.recall(states[:, None, :], steps)[:, 1:] > 0)


def correlation(
    hits: NDArray[Any], predicted: NDArray[Any], observed: NDArray[Any], n_cells: int
) -> NDArray[np.float64]:
    """The correlation over cells of two binary patterns, from how many are on in both and in each;
    0 where it is undefined.
    """
    spread = predicted * (n_cells - predicted) * observed * (n_cells - observed)
    return np.asarray(
        (n_cells * hits - predicted * observed) / np.sqrt(np.maximum(spread, 1)) * (spread > 0)
    )


def correlations(predicted: Active, bins: Active) -> NDArray[np.float64]:
    """The correlation of every prediction with every bin, (n, steps, N) and (m, N) -> (n, steps,
    m).
    """
    n, steps, N = predicted.shape
    hits = predicted.reshape(-1, N).astype(np.float32) @ bins.T.astype(np.float32)
    on = predicted.sum(axis=-1)[..., None].astype(np.float64)
    return correlation(
        hits.reshape(n, steps, -1).astype(np.float64), on, bins.sum(axis=1).astype(np.float64), N
    )


def fits(
    table: NDArray[np.float64], orders: NDArray[np.int64], pairs: Pairs, n_speeds: int
) -> NDArray[np.float64]:
    """The fit of each order of the bins at each speed, forward at 1, 2, ..., then reverse.

    `table` (..., n, steps, n) holds the correlations of the predictions from each bin with each
    bin, `orders` is (orders, n); the result is (..., orders, 2 * n_speeds).
    """
    first, second = orders[:, pairs.a], orders[:, pairs.b]
    found = np.empty((*table.shape[:-3], len(orders), 2 * n_speeds))
    for k in range(1, n_speeds + 1):
        after = k * pairs.lag - 1
        found[..., k - 1] = table[..., first, after, second].mean(axis=-1)
        found[..., n_speeds + k - 1] = table[..., second, after, first].mean(axis=-1)
    return found


def standardised(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fits (..., orders, speeds) in standard deviations from their means over the orders; 0 where
    all orders fit alike.
    """
    spread = found.std(axis=-2, keepdims=True)
    return np.asarray(
        (found - found.mean(axis=-2, keepdims=True)) / np.where(spread > 1e-12, spread, np.inf)
    )


def random_orders(n: int, many: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The order as it is and `many` random ones, (1 + many, n)."""
    orders = np.broadcast_to(np.arange(n), (many + 1, n)).copy()
    orders[1:] = rng.permuted(orders[1:], axis=1)
    return orders


def scores_of_variants(
    memory: SequenceMemory, variants: Active, orders: NDArray[np.int64], n_speeds: int
) -> NDArray[np.float64]:
    """The scores of variants of an event, each of which the memory sees anew, (V, n, N) -> (V,)."""
    V, n, N = variants.shape
    ahead = predictions(memory, variants.reshape(V * n, N), n_speeds * min(MOST_LAGS, n - 1))
    ahead &= variants.any(axis=2).reshape(
        V * n, 1, 1
    )  # nothing is predicted from a bin without spikes
    table = np.stack(
        [correlations(*each) for each in zip(ahead.reshape(V, n, -1, N), variants, strict=True)]
    )
    found = standardised(fits(table, orders, pairs_of(np.arange(n)), n_speeds))
    return np.asarray(found[:, 0].max(axis=1))
