"""How well stored sequences attract: from every pattern, corrupted, does the network find its place in the sequence?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count
from seqattractor.analysis._arrival import Led
from seqattractor.networks._base import SequenceMemory
from seqattractor.noise import Seed, as_generator, flip
from seqattractor.sequences import Patterns, check_sequences, split, stack_context


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

    The network runs as in `recall`. One with a latent context is first shown the sequence, clean, up to the start. For one that
    dwells at each pattern, such as `SlowSynapseMemory`, a step is a passage from one stored pattern to another.

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
    shown = net.shown(X, lengths)
    generator = as_generator(rng)
    cues, due, wanted = [], [], []
    for sequence in split(*check_sequences(X, lengths)):
        starts = stack_context(sequence, net.order_)[:-1].reshape(-1, net.n_features_in_)
        cues.append(flip(starts, flips, generator).reshape(-1, shown.inputs.shape[1]))
        steps, place = _due(sequence, net.order_, settle)
        due.append(steps)
        wanted.append(sequence[place])
    every = np.arange(len(shown.inputs))
    arrived = Led(net, shown).arrive(every, np.concatenate(cues), np.concatenate(due))
    return float(np.mean(np.all(arrived == np.concatenate(wanted), axis=1)))


def _due(sequence: Patterns, order: int, settle: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """After how many steps each start of a sequence is judged, and which pattern it must be then; shape (starts,) each."""
    n = len(sequence)
    newest = np.arange(order - 1, n - 1)  # the last pattern has no successor
    if np.array_equal(sequence[0], sequence[-1]):
        return np.full(len(newest), settle, dtype=np.int64), (newest + settle) % (n - 1)
    place = np.minimum(newest + settle, n - 1)
    return place - newest, place
