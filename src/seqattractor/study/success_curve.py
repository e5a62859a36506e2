"""What a few trials at several lengths tell about success against length: a Bayesian curve, and where to try next."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_number, say

Floats = NDArray[np.float64]

_STEP = 0.006  # of log T, but no less than half a pattern
_WIDTHS = np.geomspace(0.003, 0.6, 11)  # steep curves, too: one with fewer widths would put their end too low, and be sure of it
_LAPSES = np.array([0.0, 0.01, 0.03, 0.1, 0.3])
_LAPSE_PRIOR = np.array([0.5, 0.2, 0.15, 0.1, 0.05])


class SuccessCurve:
    """Beliefs about the probability of success at length T, a logistic curve in log T that falls from 1 - lapse to 0::

        p(T) = (1 - lapse) / (1 + (T / T_half) ** (1 / width))

    The three numbers have a prior on a grid (T_half and width even in their logarithms, most weight on a lapse of 0), and
    trials turn it into a posterior.

    Parameters
    ----------
    success : float
        The rate of success that a capacity is asked for, between 0 and 1.
    t_max : int
        The greatest length that can be tried.

    Examples
    --------
    >>> curve = SuccessCurve(0.5, t_max=1000)
    >>> curve.learn([50, 200], successes=[20, 0], trials=[20, 20])
    >>> low, middle, high = curve.capacity()
    >>> 50 < low < middle < high < 200
    True
    """

    def __init__(self, success: float, t_max: int) -> None:
        if not 0 < check_number(success, "the rate of success") < 1:
            raise ValueError(f"the rate of success must lie between 0 and 1, but it is {say(success)}.")
        success, t_max = float(success), check_count(t_max, "the greatest length", 3)
        self.success, self.t_max = success, t_max
        halves = _lengths(t_max)
        half, width, lapse = (axis.ravel() for axis in np.meshgrid(halves, _WIDTHS, _LAPSES, indexing="ij"))
        self._half, self._width, self._lapse = half, width, lapse
        prior = np.gradient(halves)[:, None, None] * np.ones((len(_WIDTHS), 1)) * _LAPSE_PRIOR
        self._log_weight = np.log(prior.ravel())
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = success / (1 - lapse - success)
            # Where even the shortest sequence fails too often, the capacity is 1 pattern: nothing.
            self._capacity = np.where(odds > 0, np.maximum(half - width * np.log(np.where(odds > 0, odds, 1.0)), 0.0), 0.0)
        self._order = np.argsort(self._capacity, kind="stable")

    def learn(self, T: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> None:
        """Take trials in.

        Parameters
        ----------
        T, successes, trials : arrays of shape (k,)
            Lengths, and how many of how many trials succeeded at each.
        """
        lengths, right, all_ = (np.atleast_1d(np.asarray(a, dtype=np.float64)) for a in (T, successes, trials))
        p = self._rates(lengths)
        self._log_weight = self._log_weight + right @ np.log(p) + (all_ - right) @ np.log1p(-p)

    def rate(self, T: ArrayLike) -> Floats:
        """Give the expected probability of success at some lengths, shape (k,)."""
        return self._rates(np.atleast_1d(np.asarray(T, dtype=np.float64))) @ self._weights()

    def capacity(self, confidence: float = 0.95) -> tuple[float, float, float]:
        """Give the length up to which success is at least the rate asked for: ends of an interval, and the median between.

        Parameters
        ----------
        confidence : float

        Returns
        -------
        low, median, high : float
        """
        below = np.cumsum(self._weights()[self._order])
        at = np.searchsorted(below, [(1 - confidence) / 2, 0.5, (1 + confidence) / 2]).clip(max=len(below) - 1)
        low, median, high = np.exp(self._capacity[self._order][at]).tolist()
        return low, median, high

    def best_length(self, largest: int) -> int:
        """Give the length at which one more trial is expected to leave the least uncertainty about the capacity.

        Parameters
        ----------
        largest : int
            No longer than this.

        Returns
        -------
        int
        """
        weights = self._weights()
        likely = weights > 1e-6 * weights.max()  # the others make no difference, but work
        weights, capacity = weights[likely], self._capacity[likely]
        half = self._half[likely]
        order = np.argsort(half, kind="stable")
        ends = half[order][np.searchsorted(np.cumsum(weights[order]), [0.005 * weights.sum(), 0.995 * weights.sum()])]
        wide = 3 * float(weights @ self._width[likely])
        candidates = np.exp(np.linspace(ends[0] - wide, ends[1] + wide, 30))
        candidates = np.unique(np.round(candidates).clip(2, min(largest, self.t_max)))
        p = self._rates(candidates, likely)
        left = np.zeros(len(candidates))
        for chance in (p, 1 - p):
            joint = chance * weights
            total = joint.sum(axis=1)
            left += joint @ capacity**2 - (joint @ capacity) ** 2 / total
        return int(candidates[np.argmin(left)])

    def _rates(self, lengths: Floats, some: Any = ...) -> Floats:
        """The probability of success at each length for all curves of the grid, or some; kept off 0 and 1: (k, curves)."""
        z = (np.log(lengths)[:, None] - self._half[some]) / self._width[some]
        return np.asarray((1 - self._lapse[some]) / (1 + np.exp(np.clip(z, -40, 40)))).clip(1e-6, 1 - 1e-6)

    def _weights(self) -> Floats:
        """The posterior of the curves."""
        weights = np.exp(self._log_weight - self._log_weight.max())
        return np.asarray(weights / weights.sum())


def _lengths(t_max: int) -> Floats:
    """Logarithms of lengths from 2 to e times the greatest, near enough to each other for the steepest curve; shape (k,)."""
    last = np.log(t_max) + 1.0
    whole = np.log(np.arange(2.0, 0.5 / _STEP, 0.5))
    return np.append(whole[whole < last], np.arange(max(np.log(2.0), np.log(0.5 / _STEP)), last, _STEP))
