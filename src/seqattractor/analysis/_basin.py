"""How well stored sequences attract: from every pattern, corrupted, does the network find its place in the sequence?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count
from seqattractor.networks._base import SequenceMemory
from seqattractor.noise import Seed, as_generator, flip
from seqattractor.sequences import Patterns, check_sequences, split

__all__ = ["basin"]


def basin(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    flips: int = 10,
    settle: int = 25,
    rng: Seed = None,
) -> float:
    """Give the fraction of starts from which the network comes to the sequence, exactly and in phase.

    Every pattern of every sequence is a start: `flips` of its units are flipped, the network runs for `settle` steps, and its
    state must then equal the pattern that stands `settle` steps after the start. A sequence that ends where it began is a loop
    and goes on there. A sequence that ends elsewhere has nothing after its last pattern: starts nearer to its end than `settle`
    are judged at the last pattern.

    The criterion of section 6.2 (`retrieved`) asks for one start and any phase; a network that falls back to x(1) from everywhere
    would meet it. This one asks for all starts and the right phase.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
    lengths : array of shape (S,), optional
    flips : int
        How many units of the start are flipped; of a network of order k > 1 in each of the k patterns of the start.
    settle : int
        After how many steps the network must be on the sequence.
    rng : int, Generator or None
        Where the flips come from.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    retrieved : the paper's criterion.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(30, 100, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=500, random_state=0).fit(X)
    >>> sa.basin(net, X, flips=5, rng=1)
    1.0
    >>> sa.basin(net, X, flips=50, rng=1) < 0.5
    True
    """
    check_count(flips, "flips", 0)
    check_count(settle, "settle")
    order = int(getattr(net, "order_", 1))
    patterns, checked = check_sequences(X, lengths, order=order)
    generator = as_generator(rng)
    right = total = 0
    for sequence in split(patterns, checked):
        cues, due, wanted = _starts(sequence, order, settle)
        noisy = flip(cues.reshape(-1, cues.shape[2]), flips, generator).reshape(cues.shape)
        arrived = _run(net, noisy, due)
        right += int(np.all(arrived == wanted, axis=1).sum())
        total += len(wanted)
    return right / total


def _starts(sequence: Patterns, order: int, settle: int) -> tuple[Patterns, NDArray[np.int64], Patterns]:
    """All starts (B, order, N) of a sequence, after how many steps each is judged (B,), and what it must be then (B, N)."""
    n = len(sequence)
    newest = np.arange(order - 1, n - 1)  # the last pattern has no successor
    if np.array_equal(sequence[0], sequence[-1]):
        due = np.full(len(newest), settle, dtype=np.int64)
        wanted = (newest + settle) % (n - 1)
    else:
        wanted = np.minimum(newest + settle, n - 1)
        due = wanted - newest
    cues = np.stack([sequence[newest - order + 1 + k] for k in range(order)], axis=1)
    return cues, due, sequence[wanted]


def _run(net: SequenceMemory, cues: Patterns, due: NDArray[np.int64]) -> NDArray[Any]:
    """Where the network is after the number of steps that each start has."""
    arrived = np.empty_like(cues[:, -1])
    window = cues
    for k in range(1, int(due.max()) + 1):
        following = net.step(window[:, 0] if window.shape[1] == 1 else window)
        arrived[due == k] = following[due == k]
        window = np.concatenate([window[:, 1:], following[:, None]], axis=1)
    return arrived
