"""SparseRateMemory: rate neurons with a Hebbian rule that is nonlinear in the patterns (Gillett, Pereira & Brunel 2020)."""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from seqattractor._checks import check_positive
from seqattractor.noise import Seed
from seqattractor.zoo.continuous import States
from seqattractor.zoo.rate_hebbian import RateMemory


@final
class SparseRateMemory(RateMemory):
    """Rate neurons whose Hebbian rule sees only whether a unit is active in a pattern (Gillett, Pereira & Brunel 2020).

    As `HebbianRateMemory`, with J_ij = (A / K) c_ij sum_mu f(xi_i^{mu+1}) g(xi_j^mu) and step functions of the patterns::

        f(x) = q_f if x >= x_f else -(1 - q_f)        g(x) = q_g if x >= x_g else -(1 - q_g)

    The model is made for normal patterns, of which the thresholds x_f = x_g = 1.645 let 5 % of the units count as active; it
    takes q_g = .95, the share of silent units, so that g has the mean 0. A pattern of +-1 says itself which units are active: any
    threshold above -1 and up to +1 does the same, and 0 is used. `q_g` should be the share of -1 in the patterns, 1/2 for random
    ones. With q_f above it, a pattern calls the active units of the next one more strongly than it keeps the others silent. A run
    starts with the rates r = phi(f(cue)). Patterns are read out as in `HebbianRateMemory`.

    Parameters
    ----------
    A : float
        The strength of the weights; 14 for the authors' sparse normal patterns. With 4, q_f = q_g = 1/2 would be the bilinear
        rule.
    q_f, q_g : float
        The weights of active units, above 0 and below 1.
    theta, sigma, connectivity, tau, dt, read_out_interval, on_conflict, random_state
        As in `HebbianRateMemory`.

    Attributes
    ----------
    J_, mask_, patterns_, n_features_in_, order_
        As in `HebbianRateMemory`.

    See Also
    --------
    HebbianRateMemory : with the bilinear rule.

    Notes
    -----
    Equations, theta = .07 and sigma = .05 are those of the authors' published code, which has q_f = .8. That half of the units
    are active here, as in our other data, is far from the sparse patterns for which they show that the rule gives sparse rates
    and a larger capacity; their figures 4 and 5 are not reproduced here.

    References
    ----------
    M. Gillett, U. Pereira and N. Brunel, Characteristics of sequential activity in networks with temporally asymmetric Hebbian
    learning, 2020.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_sequences(1, 5, 400, rng=0)
    >>> net = sa.zoo.SparseRateMemory().fit(X)
    >>> [int((state == X.patterns).all(axis=1).argmax()) for state in net.recall(X[0], steps=4)]
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        *,
        A: float = 4.0,
        q_f: float = 0.6,
        q_g: float = 0.5,
        theta: float = 0.07,
        sigma: float = 0.05,
        connectivity: float = 1.0,
        tau: float = 10.0,
        dt: float = 1.0,
        read_out_interval: float = 10.0,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
    ) -> None:
        self.A = A
        self.q_f = q_f
        self.q_g = q_g
        self.theta = theta
        self.sigma = sigma
        self.connectivity = connectivity
        self.tau = tau
        self.dt = dt
        self.read_out_interval = read_out_interval
        self.on_conflict = on_conflict
        self.random_state = random_state

    def _f(self, patterns: States) -> States:
        return _step(patterns, float(self.q_f))

    def _g(self, patterns: States) -> States:
        return _step(patterns, float(self.q_g))

    def _check_rule(self) -> None:
        for name in ("q_f", "q_g"):
            if check_positive(getattr(self, name), name) >= 1:
                raise ValueError(f"{name} must be below 1, but it is {getattr(self, name):g}.")


def _step(patterns: States, q: float) -> States:
    """Give q for active units, -(1 - q) for silent ones."""
    return np.where(patterns >= 0, q, q - 1)
