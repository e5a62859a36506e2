"""How many hidden neurons does this need? Found by trying."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seqattractor import noise
from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import check_sequences, split

LADDER = (25, 50, 100, 200, 400, 800, 1600, 3200)
PATIENCE = 2  # sizes to try after the first that stores everything, if recall from noise is still poor
ENOUGH = 0.9  # of the cues
HORIZON = 20  # steps after which recall is judged


@dataclass(frozen=True)
class Attempt:
    """What came of one size."""

    n_hidden: int
    epochs: int
    converged: bool
    """Whether the last epoch was free of errors."""
    score: float
    """The fraction of transitions without a wrong unit."""
    recalled: int
    cues: int
    """Of so many noisy cues, so many ended at the right pattern."""

    @property
    def enough(self) -> bool:
        """Whether everything is stored with its margin, and nearly every noisy cue brings it back."""
        return self.converged and self.score == 1.0 and self.recalled >= ENOUGH * self.cues


def choose_hidden(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    flips: float = 0.1,
    cues: int = 20,
    rng: noise.Seed = 0,
    tell: Callable[[Attempt], Any] | None = None,
    callback: ProgressCallback | None = None,
) -> tuple[SequenceMemory, list[Attempt]]:
    """Learn with more and more hidden neurons until everything is stored and comes back from noisy cues.

    Parameters
    ----------
    net : SequenceMemory
        With a parameter ``n_hidden``; it is not changed.
    X, lengths
        The sequences, as for `fit`.
    flips : float
        Which fraction of the units of a cue is flipped in the test of recall.
    cues : int
        How many cues, from random places of the sequences.
    rng : int, Generator or None
    tell : callable, optional
        Called with each `Attempt`.
    callback : callable, optional
        For `fit`.

    Returns
    -------
    net : SequenceMemory
        The smallest network of the sizes 25, 50, 100, ..., 3200 that learns without an error left and recalls from 9 of 10
        cues; if none of them does, the one that stores most transitions and recalls best.
    attempts : list of Attempt

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 40, rng=0)
    >>> net, attempts = choose_hidden(sa.SequenceAttractor(random_state=0), X)
    >>> net.n_hidden == attempts[-1].n_hidden, net.score(X)
    (True, 1.0)
    """
    patterns, checked = check_sequences(X, lengths)
    seed = noise.as_generator(rng).integers(2**32)
    attempts: list[Attempt] = []
    best: tuple[tuple[float, bool, int], SequenceMemory] | None = None
    after = 0
    for n_hidden in LADDER:
        trial = clone(net).set_params(n_hidden=n_hidden)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # an attempt may fail; the chosen one speaks for itself
            trial.fit(patterns, checked, callback=callback)
        score = trial.score(patterns, checked)
        recalled = recalls_from_noise(trial, patterns, checked, flips=flips, cues=cues, rng=int(seed)) if score == 1 else 0
        attempts.append(Attempt(n_hidden, int(trial.n_iter_), bool(trial.converged_), score, recalled, cues))
        if tell is not None:
            tell(attempts[-1])
        merit = score, attempts[-1].converged, recalled
        if best is None or merit > best[0]:
            best = merit, trial
        after += score == 1.0
        if attempts[-1].enough or after > PATIENCE:
            break
    assert best is not None
    return best[1], attempts


def recalls_from_noise(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    flips: float = 0.1,
    cues: int = 20,
    rng: noise.Seed = 0,
) -> int:
    """Count the noisy cues from random places after which the network is at the right pattern some steps later.

    Parameters
    ----------
    net : SequenceMemory
    X, lengths
        The stored sequences.
    flips : float
        The fraction of units flipped in every pattern of the cue.
    cues : int
    rng : int, Generator or None

    Returns
    -------
    int
        How many of the cues led, after at most 20 steps or at the end of the sequence, to the stored pattern.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> recalls_from_noise(sa.LookupMemory().fit(X), X, flips=0.05, cues=5)
    5
    """
    patterns, checked = check_sequences(X, lengths, order=net.order_)
    generator = noise.as_generator(rng)
    order, good = net.order_, 0
    sequences = list(split(patterns, checked))
    for _ in range(cues):
        sequence = sequences[int(generator.integers(len(sequences)))]
        start = int(generator.integers(len(sequence) - order))
        steps = min(len(sequence) - order - start, HORIZON)
        clean = sequence[start : start + order]
        noisy = noise.flip(clean, round(flips * clean.shape[1]), generator)
        trajectory = net.recall(noisy[0] if order == 1 else noisy, steps)
        good += bool(np.array_equal(trajectory[-1], sequence[start + order - 1 + steps]))
    return good
