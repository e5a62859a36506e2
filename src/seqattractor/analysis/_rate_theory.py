"""Mean-field theory of the rate networks of Gillett, Pereira & Brunel: overlaps in time, and the capacity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_finite, check_memory, check_number, check_positive

_DT = 0.01  # of tau
_MOST = 10**8  # overlaps to compute


def rate_capacity(theta: float = 0.22, sigma: float = 0.1) -> float:
    """Give the largest load at which rate neurons with the bilinear Hebbian rule pass through a sequence (Gillett et al. 2020).

    The network is that of `HebbianRateMemory` with A = 1, normal patterns, many neurons and many, but not all, connections. A
    weak overlap with a pattern gives the next one an overlap G times as large, with u the variance of the currents, which all
    patterns share: ``G = exp(-theta^2 / 2 (u + sigma^2)) / sqrt(2 pi (u + sigma^2))``. It survives for G = 1; the larger solution
    u gives the load ``alpha_c = u / M`` with ``M = E[phi(z sqrt(u))^2]``, the mean squared rate for a standard normal z.

    Parameters
    ----------
    theta, sigma : float
        Threshold and width of the transfer function phi.

    Returns
    -------
    float
        Patterns for each connection of a neuron; 0 where no sequence is recalled at any load.

    See Also
    --------
    HebbianRateMemory : the network.
    rate_overlaps : the course of recall.

    References
    ----------
    M. Gillett, U. Pereira and N. Brunel, Characteristics of sequential activity in networks with temporally asymmetric Hebbian
    learning, 2020.

    Examples
    --------
    >>> round(rate_capacity(theta=0.22, sigma=0.1), 3)
    0.473
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq
    from scipy.special import ndtr

    theta, sigma = check_number(theta, "theta"), check_positive(sigma, "sigma")
    # G falls with u + sigma^2 above theta^2, and is below 1 at 1 / (2 pi) if theta is not 0.
    least, most = max(theta**2, 1e-12), 1 / (2 * math.pi)
    if least >= most or _gain(least, theta) <= 1:
        return 0.0
    u = (most if theta == 0 else float(brentq(lambda w: _gain(w, theta) - 1, least, most, xtol=1e-15))) - sigma**2
    if u <= 0:
        return 0.0

    def squared_rate(z: float) -> float:
        return float(ndtr((z * math.sqrt(u) - theta) / sigma) ** 2 * math.exp(-z * z / 2) / math.sqrt(2 * math.pi))

    return u / float(quad(squared_rate, -12, 12, points=[max(-11.0, min(11.0, theta / math.sqrt(u)))], epsabs=1e-12)[0])


def rate_overlaps(
    n_patterns: int, times: ArrayLike, *, first: float, theta: float = 0.22, sigma: float = 0.1
) -> NDArray[np.float64]:
    """Give the overlaps of the rates with each pattern of a sequence, as time goes on, for many neurons (Gillett et al. 2020).

    With q_l = mean of xi^l r over neurons, normal patterns and few of them for each connection::

        tau dq_l/dt = -q_l + G q_{l-1}       G = exp(-theta^2 / 2 (R^2 + sigma^2)) / sqrt(2 pi (R^2 + sigma^2))

    where R^2, the variance of the currents, is the sum of q_l^2 over all patterns but the last, which calls none.

    Parameters
    ----------
    n_patterns : int
        P.
    times : array, shape (n,)
        In units of tau, rising, from 0 on.
    first : float
        q of the first pattern at time 0; the others are 0.
    theta, sigma : float
        Threshold and width of the transfer function phi.

    Returns
    -------
    ndarray, shape (n, P)

    See Also
    --------
    rate_capacity : with many patterns for each connection.

    Examples
    --------
    >>> q = rate_overlaps(8, np.arange(8), first=0.4)
    >>> q.argmax(axis=1)  # one pattern per time constant
    array([0, 1, 2, 3, 4, 5, 6, 7])
    """
    n_patterns, sigma = check_count(n_patterns, "n_patterns"), check_positive(sigma, "sigma")
    theta, wanted = check_number(theta, "theta"), check_finite(times, "times", "n")
    if wanted[0] < 0 or np.any(np.diff(wanted) < 0):
        raise ValueError("times must rise, from 0 on.")
    if wanted[-1] * n_patterns > _MOST * _DT:
        raise ValueError(
            f"n_patterns times the last of the times must be at most {_MOST * _DT:g}, but it is {wanted[-1] * n_patterns:g}."
        )
    check_memory(8 * n_patterns * (len(wanted) + 4), f"the overlaps with {n_patterns} patterns")
    q = np.zeros(n_patterns)
    q[0] = check_number(first, "first")
    path, now = [], 0.0
    for time in wanted:
        steps = max(1, math.ceil((time - now) / _DT))
        for _ in range(steps):
            gain = _gain(float(np.sum(q[:-1] ** 2)) + sigma**2, theta)
            q = q + (time - now) / steps * (gain * np.concatenate([[0.0], q[:-1]]) - q)
        path.append(q)
        now = time
    return np.array(path)


def _gain(variance: float, theta: float) -> float:
    """G, by what an overlap is multiplied from one pattern to the next, for currents with this variance, sigma^2 included."""
    return math.exp(-(theta**2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
