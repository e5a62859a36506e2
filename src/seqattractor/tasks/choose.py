"""How many hidden neurons, and how many epochs, sequences need: try, and see which layer has errors left."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seqattractor import noise
from seqattractor.analysis._retrieval import locked_on_at
from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Sequences

LADDER = (25, 50, 100, 200, 400, 800, 1600, 3200)
MORE_EPOCHS = 10  # times as many, where the hidden neurons have errors left
PATIENCE = 2  # sizes to try after the first that stores everything, if recall from noise is still poor
ENOUGH = 0.9  # of the cues
CUES = 20  # in the test of recall
HORIZON = 20  # steps over which recall is judged


@dataclass(frozen=True)
class Attempt:
    """How one size did."""

    n_hidden: int
    order: int
    epochs: int
    converged: bool
    """Whether the last epoch was free of errors."""
    hidden_errors: int
    """Updates of hidden neurons in the last epoch."""
    score: float
    """The fraction of transitions without a wrong unit."""
    recalled: int
    cues: int
    """Of so many noisy cues, so many made it lock on to the sequence."""

    @property
    def merit(self) -> tuple[float, bool, int]:
        """By which attempts are compared."""
        return self.score, self.converged, self.recalled

    @property
    def enough(self) -> bool:
        """Whether everything is stored with its margin, and nearly every noisy cue brings it back."""
        return self.converged and self.score == 1.0 and self.recalled >= ENOUGH * self.cues


def choose_hidden(
    net: SequenceMemory,
    data: Sequences,
    *,
    fixed_epochs: bool = False,
    tell: Callable[[Attempt], Any] | None = None,
    callback: ProgressCallback | None = None,
) -> tuple[SequenceMemory, list[Attempt]]:
    """Learn with more and more hidden neurons until everything is stored and comes back from noisy cues.

    What is missing shows in which layer has errors left. A hidden neuron learns on its own, so where hidden neurons have not
    finished, more of them would not either: they need more epochs, as for nearly equal frames, which are hard to tell apart.
    Where only visible neurons have errors left, the hidden ones are too few.

    Parameters
    ----------
    net : SequenceMemory
        With a parameter ``n_hidden``; it is not changed.
    data : Sequences
    fixed_epochs : bool
        Whether ``max_epochs`` of the network is not to be raised.
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
    seed = int(noise.as_generator(0).integers(2**32))
    usual = epochs = int(getattr(net, "max_epochs", 1))
    most = usual if fixed_epochs else MORE_EPOCHS * usual
    attempts: list[Attempt] = []
    best, chosen = (-1.0, False, 0), net

    def learn_with(n_hidden: int, epochs: int) -> Attempt:
        nonlocal best, chosen
        settings = {"n_hidden": n_hidden} | ({"max_epochs": epochs} if hasattr(net, "max_epochs") else {})
        trial = fit_quietly(clone(net).set_params(**settings), data, callback)
        attempt = _attempt(trial, data, seed)
        attempts.append(attempt)
        if tell is not None:
            tell(attempt)
        if attempt.merit > best:
            best, chosen = attempt.merit, trial
        return attempt

    for n_hidden in LADDER:
        attempt = learn_with(n_hidden, epochs)
        if attempt.hidden_errors and epochs < most:
            attempt = learn_with(n_hidden, most)
            # The next size needs as many, unless even they were not enough.
            epochs, most = (usual, usual) if attempt.hidden_errors else (most, most)
        if attempt.enough or sum(one.score == 1.0 for one in attempts) > PATIENCE:
            break
    return chosen, attempts


def _attempt(net: SequenceMemory, data: Sequences, seed: int) -> Attempt:
    """Look at what a network has learned."""
    score = net.score(data)
    recalled = recalls_from_noise(net, data, cues=CUES, rng=seed) if score == 1 else 0
    hidden_errors = int(getattr(net, "hidden_errors_", [0])[-1])
    n_hidden: int = net.get_params(deep=False)["n_hidden"]
    return Attempt(n_hidden, net.order_, int(net.n_iter_), bool(net.converged_), hidden_errors, score, recalled, CUES)


def recalls_from_noise(net: SequenceMemory, data: Sequences, *, flips: float = 0.1, cues: int = CUES, rng: noise.Seed = 0) -> int:
    """Count the noisy cues from random places from which the network locks on to the sequence.

    Parameters
    ----------
    net : SequenceMemory
    data : Sequences
        What it has stored.
    flips : float
        The fraction of units flipped in every pattern of the cue.
    cues : int
    rng : int, Generator or None

    Returns
    -------
    int
        How many recalls locked on, as `seqattractor.locked_on_at` has it, within 20 steps or up to the end of the sequence.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> recalls_from_noise(sa.LookupMemory().fit(X), X, flips=0.05, cues=5)
    5
    """
    generator = noise.as_generator(rng)
    order, good = net.order_, 0
    sequences = data.split()
    for _ in range(cues):
        sequence = sequences[int(generator.integers(len(sequences)))]
        start = int(generator.integers(len(sequence) - order))
        steps = min(len(sequence) - order - start, HORIZON)
        clean = sequence[start : start + order]
        noisy = noise.flip(clean, round(flips * clean.shape[1]), generator)
        trajectory = net.recall(noisy[0] if order == 1 else noisy, steps)
        good += locked_on_at(trajectory, sequence[start : start + order + steps]) is not None
    return good


def fit_quietly(net: SequenceMemory, data: Sequences, callback: ProgressCallback | None) -> SequenceMemory:
    """Let a network learn; errors that are left are told elsewhere, in words of our own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(data, callback=callback)
