"""Measured robustness beside the certified one: how often is the next pattern right after random flips?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count
from seqattractor._faces import Result
from seqattractor.analysis._arrival import Led
from seqattractor.analysis._retrieval import SuccessRate
from seqattractor.networks._base import SequenceMemory
from seqattractor.noise import Seed, as_generator, flip


@dataclass(frozen=True, repr=False)
class RobustnessCurve(Result):
    """How many of some trials gave exactly the next pattern, for each number of flips."""

    _drawn_by = "robustness_with_certificate"
    flips: NDArray[np.int64]
    """Shape (K,)."""
    successes: NDArray[np.int64]
    """Shape (K,)."""
    trials: int
    """At each number of flips."""

    @property
    def rate(self) -> NDArray[np.float64]:
        """The fraction of successes, shape (K,)."""
        return np.asarray(self.successes / self.trials)

    def at(self, k: int) -> SuccessRate:
        """Give the successes of entry k with their interval."""
        return SuccessRate(int(self.successes[k]), self.trials)

    @property
    def half(self) -> int | None:
        """The least number of flips at which no more than half of the trials succeed, or None."""
        below = np.flatnonzero(self.rate <= 0.5)
        return int(self.flips[below[0]]) if below.size else None

    def describe(self) -> str:
        """Say up to how many random flips the next pattern is right."""
        always = np.flatnonzero(np.cumprod(self.successes == self.trials))
        sure = f"in every trial up to {self.flips[always[-1]]} random flips" if always.size else "never in all trials"
        half = (
            "more than half of them at every number of flips"
            if self.half is None
            else f"at most half of them from {self.half} on"
        )
        return f"The next pattern is right {sure}, and in {half} ({self.trials} trials at each of {len(self.flips)} numbers)."

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row per number of flips: successes, trials, rate and the ends of its interval."""
        return ({"flips": int(flips), **row} for k, flips in enumerate(self.flips) for row in self.at(k).rows())


def robustness_curve(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    flips: ArrayLike | None = None,
    trials: int = 500,
    rng: Seed = None,
) -> RobustnessCurve:
    """Measure how often one step from a corrupted stored pattern gives exactly the next one.

    A network with a latent context is first shown the sequence, clean, up to that pattern. For one that dwells at each pattern a
    step is a passage from one stored pattern to another.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
    lengths : array of shape (S,), optional
    flips : array of int, optional
        The numbers of flipped units to try; by default from 0 to half of the units, closer at the start.
    trials : int
        At each number of flips, spread evenly over the transitions.
    rng : int, Generator or None

    Returns
    -------
    RobustnessCurve

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X)
    >>> curve = sa.robustness_curve(net, X, flips=[0, 1, 30], trials=100, rng=0)
    >>> curve.successes[:2], curve.half
    (array([100, 100]), 30)
    """
    check_count(trials, "trials")
    shown = net.shown(X, lengths)
    inputs, targets = shown.inputs, shown.targets
    units = inputs.shape[1]
    asked = _spread(units) if flips is None else np.atleast_1d(np.asarray(flips))
    if asked.ndim != 1 or asked.dtype.kind not in "iu" or asked.min(initial=0) < 0 or asked.max(initial=0) > units:
        raise ValueError(f"flips must be whole numbers from 0 to {units}, the number of units, but they are {flips!r}.")
    generator = as_generator(rng)
    which = np.arange(trials) % len(inputs)
    one = np.ones(trials, dtype=np.int64)
    led = Led(net, shown)
    answers = (led.arrive(which, flip(inputs[which], int(k), generator), one) for k in asked)
    successes = [int(np.all(answer == targets[which], axis=1).sum()) for answer in answers]
    return RobustnessCurve(asked.astype(np.int64), np.array(successes, dtype=np.int64), trials)


def _spread(units: int) -> NDArray[np.int64]:
    """Some numbers of flips from 0 to half of the units."""
    half = max(1, units // 2)
    few, spread = np.arange(min(11, half + 1)), np.linspace(0, half, 16).round().astype(np.int64)
    return np.unique(np.concatenate([few, spread]))
