"""How well a memory predicts the bins of an event from each other: the statistic of `replay.test`.

From each bin of an event the memory runs freely. If the event replays what the memory has learned
at a speed of k stored patterns per bin, the state after k * d steps is the bin d bins later. So the
fit at speed k is the mean, over all pairs of active bins at most `MOST_LAGS` bins apart, of the
correlation between the state after k * d steps from the earlier bin and the later bin, over the
cells that are off in the earlier bin: that a burst outlasts a bin is no prediction. Reverse replay
is the same with the roles of the two exchanged. Of several memories the mean correlation counts.

Fits at different speeds differ for reasons that have nothing to do with order: bins of an event
resemble each other, and some cells are active in many stored patterns. Both are the same for every
order of the bins. So each fit is expressed in standard deviations from its mean over random orders,
and the largest of these over speeds and directions is searched for in every order. How large it
becomes by chance depends on how alike the fits at different speeds are, which is another thing in
events whose cells fire together than in shuffles of theirs whose cells do not. So the score is the
largest, expressed in turn in standard deviations from its mean over the random orders.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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


def predictions(memories: list[SequenceMemory], bins: Active, steps: int) -> Active:
    """The states of each memory after 1, 2, ... steps from each bin, (B, N) -> (K, B, steps, N)."""
    states = np.where(bins, 1, -1).astype(np.int8)[:, None, :]
    return np.array([memory.recall(states, steps)[:, 1:] > 0 for memory in memories])


def correlation(
    hits: NDArray[Any], predicted: NDArray[Any], observed: NDArray[Any], n_cells: Any
) -> NDArray[np.float64]:
    """The correlation over cells of two binary patterns, from how many are on in both and in each;
    0 where it is undefined.
    """
    spread = predicted * (n_cells - predicted) * observed * (n_cells - observed)
    return np.asarray(
        (n_cells * hits - predicted * observed) / np.sqrt(np.maximum(spread, 1)) * (spread > 0)
    )


def correlations(predicted: Active, bins: Active) -> NDArray[np.float64]:
    """The correlation of the predictions from every bin with every bin, averaged over memories,
    over the cells that are off in the bin that predicts, (K, n, steps, N) and (n, N) -> (n, steps,
    n).
    """
    *shape, N = predicted.shape
    new = predicted & ~bins[:, None]
    hits = new.reshape(-1, N).astype(np.float32) @ bins.T.astype(np.float32)
    on = new.sum(axis=-1)[..., None].astype(np.float64)
    off = (~bins).astype(np.float64)
    each = correlation(
        hits.reshape(*shape, -1).astype(np.float64),
        on,
        (off @ bins.T)[:, None],
        off.sum(axis=1)[:, None, None],
    )
    return np.asarray(each.mean(axis=0))


def fits(
    table: NDArray[np.float64], orders: NDArray[np.int64], pairs: Pairs, n_speeds: int
) -> NDArray[np.float64]:
    """The fit of each order of the bins at each speed, forward at 1, 2, ..., then reverse.

    `table` (..., n, steps, n) holds the correlations of the predictions from each bin with each
    bin, `orders` is (orders, n); the result is (..., orders, 2 * n_speeds).
    """
    *shape, n, steps, _ = table.shape
    flat = np.ascontiguousarray(table.reshape(-1, n * steps * n).T)
    first, second = orders[:, pairs.a], orders[:, pairs.b]
    size = len(orders), len(flat)
    ends = np.arange(size[0] + 1) * len(pairs.a)
    share = np.full(first.size, 1 / len(pairs.a))
    found = []
    for source, target in ((first, second), (second, first)):
        for k in range(1, n_speeds + 1):
            places = (source * steps + k * pairs.lag - 1) * n + target
            found.append(csr_array((share, places.ravel(), ends), shape=size) @ flat)
    return np.moveaxis(np.array(found), (0, 1), (-1, -2)).reshape(*shape, size[0], 2 * n_speeds)


def standardised(found: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """Values in standard deviations from their means along the axis of orders; 0 where they are the
    same in all orders.
    """
    spread = found.std(axis=axis, keepdims=True)
    return np.asarray(
        (found - found.mean(axis=axis, keepdims=True)) / np.where(spread > 1e-12, spread, np.inf)
    )


def scores_of_orders(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of each order from its fits, (..., orders, speeds) -> (..., orders)."""
    return standardised(standardised(found, -2).max(axis=-1), -1)


def random_orders(n: int, many: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The order as it is and `many` random ones, (1 + many, n)."""
    orders = np.broadcast_to(np.arange(n), (many + 1, n)).copy()
    orders[1:] = rng.permuted(orders[1:], axis=1)
    return orders


def scores_of_variants(
    memories: list[SequenceMemory], variants: Active, orders: NDArray[np.int64], n_speeds: int
) -> NDArray[np.float64]:
    """The scores of variants of an event, each seen anew by the memories, (V, n, N) -> (V,)."""
    V, n, N = variants.shape
    ahead = predictions(memories, variants.reshape(V * n, N), n_speeds * min(MOST_LAGS, n - 1))
    ahead &= variants.any(axis=2).reshape(
        -1, 1, 1
    )  # nothing is predicted from a bin without spikes
    each = ahead.reshape(len(memories), V, n, -1, N).swapaxes(0, 1)
    table = np.stack([correlations(*pair) for pair in zip(each, variants, strict=True)])
    return scores_of_orders(fits(table, orders, pairs_of(np.arange(n)), n_speeds))[:, 0]
