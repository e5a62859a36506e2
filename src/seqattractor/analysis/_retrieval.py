"""Did the network recall the sequence? The criterion of section 6.2, overlaps, and success rates
with intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import as_numbers, check_count
from seqattractor._faces import Result
from seqattractor.sequences import Patterns, check_patterns
from seqattractor.sequences._transitions import lock_row

_NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)


def retrieved(trajectory: ArrayLike, X: ArrayLike) -> bool:
    """Return whether the sequence was recalled: xi(tau + t) = x(t) for some tau >= 0 and all t =
    1..T (section 6.2).

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
        What the network did, as `recall` returns it; row 0 is the cue xi(1).
    X : array of +-1, shape (T, N)
        One sequence.

    Returns
    -------
    bool
        Whether all T patterns stand in the trajectory in order, one after the other. A trajectory
        of fewer than T rows cannot hold them; allow a few T more steps so that a network which
        wandered first can be seen to fall into the sequence.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> sa.retrieved(np.vstack([X[2], X[3], X]), X)
    True
    >>> sa.retrieved(X[::-1], X)
    False
    """
    return retrieved_at(trajectory, X) is not None


def retrieved_at(trajectory: ArrayLike, X: ArrayLike) -> int | None:
    """Return the tau of section 6.2: the smallest tau with xi(tau + t) = x(t) for all t = 1..T, or
    None.

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
    X : array of +-1, shape (T, N)

    Returns
    -------
    int or None
        The row of the trajectory at which the whole sequence begins; 0 is the cue.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> sa.analysis.retrieved_at(np.vstack([X[2], X[3], X]), X)
    2
    """
    sequence, path = _check_pair(trajectory, X)
    last = len(path) - len(sequence)
    for tau in np.flatnonzero(np.all(path[: max(last + 1, 0)] == sequence[0], axis=1)):
        if np.array_equal(path[tau : tau + len(sequence)], sequence):
            return int(tau)
    return None


def lock_on_step(trajectory: ArrayLike, truth: ArrayLike, *, order: int = 1) -> int | None:
    """Return the step at which recall locks on: every pattern from there to the end is right and in
    phase.

    This is the criterion by which commands and lab judge a recall from a given place. Section 6.2
    (`retrieved`) asks for the whole sequence in any phase, which an open sequence cannot show once
    its first pattern was corrupted.

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
        What the network did, as `recall` returns it; row 0 is the cue.
    truth : array of +-1, shape (L, N), L <= K
        What should be seen in the first L rows: the stored sequence from the place of the cue on.
    order : int
        How many rows at the beginning are the cue: the order of the network.

    Returns
    -------
    int or None
        The first row from which on all rows up to L are right. None if these are fewer than half of
        the rows after the cue: a recall that only runs into the last pattern has not followed the
        sequence.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_sequences(1, 6, 20, rng=0)
    >>> late, never = X.copy(), X.copy()
    >>> late[:2, 0] *= -1
    >>> never[:5, 0] *= -1
    >>> sa.lock_on_step(late, X), sa.lock_on_step(never, X)
    (2, None)
    """
    sequence, path = _check_pair(trajectory, truth, "truth")
    if len(sequence) > len(path):
        raise ValueError(
            f"the truth has {len(sequence)} patterns, but the trajectory has only {len(path)}."
        )
    return lock_row(path, sequence, check_count(order, "order"))


def overlap(trajectory: ArrayLike, X: ArrayLike) -> NDArray[np.float64]:
    """Return the overlap (1/N) xi(t) . x(s) of every state with every pattern.

    Parameters
    ----------
    trajectory : array of +-1, shape (K, N)
    X : array of +-1, shape (T, N)

    Returns
    -------
    ndarray, shape (K, T)
        1 where they are equal, -1 where opposite. ``overlap(...).diagonal()`` follows a recall that
        is in step with the sequence.

    Examples
    --------
    >>> overlap([[1, 1, 1, -1]], [[1, 1, 1, 1], [-1, -1, -1, -1]])
    array([[ 0.5, -0.5]])
    """
    sequence, path = _check_pair(trajectory, X)
    # Whole numbers first, one division last: equal patterns give exactly 1.
    return np.asarray(path.astype(np.float64) @ sequence.T.astype(np.float64) / path.shape[1])


@dataclass(frozen=True, repr=False)
class SuccessRate(Result):
    """Successes in a number of trials, with a 95 % Wilson interval."""

    successes: int
    trials: int

    @property
    def rate(self) -> float:
        """The fraction of successes."""
        return self.successes / self.trials

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval of the rate."""
        return wilson_interval(self.successes, self.trials)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.successes}/{self.trials} (95% interval {low:.3f} to {high:.3f})"

    def describe(self) -> str:
        """Return a sentence about how many trials succeeded."""
        low, high = self.interval
        counted = f"{self.successes} of {self.trials} trials succeeded, {self.rate:.1%}"
        return f"{counted} (95% interval {low:.1%} to {high:.1%})."

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row: successes, trials, rate and the ends of the interval."""
        low, high = self.interval
        return [
            {
                "successes": self.successes,
                "trials": self.trials,
                "rate": self.rate,
                "low": low,
                "high": high,
            }
        ]


def success_rate(outcomes: ArrayLike) -> SuccessRate:
    """Count successes.

    Parameters
    ----------
    outcomes : array of bool, shape (trials,)

    Returns
    -------
    SuccessRate

    Examples
    --------
    >>> print(success_rate([True, True, False, True]))
    3/4 (95% interval 0.301 to 0.954)
    """
    array = as_numbers(outcomes, "outcomes").ravel()
    if array.size == 0:
        raise ValueError("a success rate needs at least one trial.")
    if not np.isin(array, (0, 1)).all():
        raise ValueError("outcomes must be True or False (or 1 and 0), one for each trial.")
    return SuccessRate(int(array.sum()), array.size)


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the Wilson score interval of a binomial rate, with a confidence of 95 %.

    Parameters
    ----------
    successes, trials : int

    Returns
    -------
    low, high : float

    Examples
    --------
    >>> low, high = wilson_interval(88, 100)
    >>> f"{low:.3f} {high:.3f}"
    '0.802 0.930'
    """
    trials, successes = check_count(trials, "trials"), check_count(successes, "successes", 0)
    if successes > trials:
        raise ValueError(
            f"there must be at least one trial and no more successes than trials, not {successes} "
            f"of {trials}."
        )
    # The two solutions p of |rate - p| = z sqrt(p (1 - p) / trials); without SciPy, which takes
    # long to load.
    rate, z = successes / trials, _NORMAL_QUANTILE
    middle = (2 * trials * rate + z**2) / (2 * (trials + z**2))
    reach = z / (2 * (trials + z**2)) * sqrt(4 * trials * rate * (1 - rate) + z**2)
    return 0.0 if successes == 0 else middle - reach, 1.0 if successes == trials else middle + reach


def _check_pair(trajectory: ArrayLike, X: ArrayLike, name: str = "X") -> tuple[Patterns, Patterns]:
    """Check a sequence and a trajectory of the same network."""
    sequence = check_patterns(X, name)
    path = as_numbers(trajectory, "trajectory")
    if path.ndim == 3:
        raise ValueError(
            "the trajectory is a batch (three dimensions); give one of its trajectories at a time."
        )
    states = check_patterns(path, "trajectory")
    if states.shape[1] != sequence.shape[1]:
        raise ValueError(
            f"the trajectory has {states.shape[1]} neurons, but the patterns of {name} have "
            f"{sequence.shape[1]}."
        )
    return sequence, states
