"""Rate neurons with temporally asymmetric Hebbian rules, and their mean-field theory (Gillett, Pereira & Brunel 2020)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_finite, check_memory, check_number, check_positive
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import hebbian
from seqattractor.sequences import Patterns, Transitions
from seqattractor.zoo.continuous import ContinuousMemory, States


class RateMemory(ContinuousMemory, OnlineMemory):
    """Rates r with tau dr/dt = -r + phi(J r) and J_ij = (A / K) c_ij sum_mu f(xi_i^{mu+1}) g(xi_j^mu).

    A subclass may replace f and g, which are bilinear here. A state is r, (B, N).
    """

    A: float
    theta: float
    sigma: float
    connectivity: float
    tau: float
    random_state: Seed
    J_: States
    mask_: NDArray[np.int8]
    patterns_: Patterns

    _arrays: ClassVar[dict[str, str]] = {"J_": "float N N", "mask_": "ternary N N", "patterns_": "pattern P N"}

    def _f(self, patterns: States) -> States:
        """Return the factor of a pattern at the neuron that receives a synapse: the pattern itself in the bilinear rule."""
        return patterns

    def _g(self, patterns: States) -> States:
        """Return the factor of a pattern at the neuron from which a synapse comes."""
        return patterns

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw which neurons are connected, and start from zero weights."""
        N = self.n_features_in_
        check_memory(17 * N * N, f"a network of {N} neurons")
        c = float(self.connectivity)
        # Without chance no generator is asked for: a fully connected network is the same for any random_state.
        mask = np.ones((N, N), dtype=bool) if c == 1 else as_generator(self.random_state, "connections").random((N, N)) < c
        np.fill_diagonal(mask, False)
        self.mask_, self.J_ = mask.astype(np.int8), np.zeros((N, N))
        self.patterns_ = transitions.inputs[:0]

    def _present(self, transitions: Transitions) -> None:
        """Add the outer product of every transition; every pattern is stored once, for the read-out."""
        self.J_ = self.J_ + self._weights(transitions.inputs.astype(np.float64), transitions.targets.astype(np.float64))
        shown = np.stack([transitions.inputs, transitions.targets], axis=1).reshape(-1, self.n_features_in_)
        stored = {x.tobytes(): x for x in (*self.patterns_, *shown)}
        self.patterns_ = np.array(list(stored.values()), dtype=np.int8)

    def traits(self) -> Traits:
        """Return the traits: online and local weights, but the read-out knows the patterns."""
        return Traits(
            weights=("J_", "patterns_"),
            stores_patterns=True,
            online=True,
            local=True,
            dwells=True,
            steps_per_pattern=int(min(np.ceil(2 * float(self.tau) / float(self.read_out_interval)), 10_000)),
            note="rates are mixtures of several patterns; the read-out answers with the stored pattern they are most like",
        )

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        self._check_times()
        for name in ("A", "sigma", "tau"):
            check_positive(getattr(self, name), name)
        check_number(self.theta, "theta")
        if check_positive(self.connectivity, "connectivity") > 1:
            raise ValueError(f"connectivity must be at most 1, every neuron to every other, but it is {self.connectivity:g}.")

    def _weights(self, patterns: States, successors: States) -> States:
        """Return the part of J from some transitions, for patterns of any real numbers, (n, N) each."""
        K = float(self.connectivity) * self.n_features_in_
        return np.asarray(float(self.A) / K * self.mask_ * hebbian(self._g(patterns), self._f(successors)), dtype=np.float64)

    def _phi(self, currents: States) -> States:
        """Return the rate at a current, from 0 to 1."""
        from scipy.special import ndtr

        return np.asarray(ndtr((currents - float(self.theta)) / float(self.sigma)))

    def _begin(self, cues: States) -> States:
        return self._phi(self._f(cues))

    def _velocity(self, states: States) -> States:
        return (self._phi(states @ self.J_.T) - states) / float(self.tau)

    def _read_out(self, states: States) -> Patterns:
        """Return the stored pattern whose correlation with the rates is largest."""
        keys = self.patterns_ - self.patterns_.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(keys, axis=1, keepdims=True)
        keys = keys / np.where(lengths > 0, lengths, 1)  # a pattern of equal entries is like nothing
        return np.asarray(self.patterns_[np.argmax(states @ keys.T, axis=1)])


@final
@dataclass(eq=False, repr=False)
class HebbianRateMemory(RateMemory):
    """Rate neurons that pass through a sequence, about one pattern per time constant (Gillett, Pereira & Brunel 2020).

    ::

        tau dr_i/dt = -r_i + phi(sum_j J_ij r_j)        phi(x) = (1 + erf((x - theta) / (sqrt(2) sigma))) / 2
        J_ij = (A / K) c_ij sum_mu xi_i^{mu+1} xi_j^mu

    with c_ij = 1 for a share c of all pairs, 0 for the others and for i = j, and K = c N. The model is made for normal patterns;
    +-1 are used as they are, with the same mean, 0, and variance, 1. A run starts with the rates r = phi(cue).

    Nothing keeps the rates at one pattern: overlaps with neighbouring patterns grow and fade together, and a quarter of the units
    and more would be wrong if patterns were read out by the sign of r - mean(r). As the authors tell recall by the correlation of
    r with each pattern, the read-out here is the stored pattern with the largest correlation. `activity` gives the rates
    themselves.

    Parameters
    ----------
    A : float
        The strength of the weights.
    theta, sigma : float
        Threshold and width of the transfer function phi.
    connectivity : float
        c, the share of pairs of neurons that are connected; `random_state` draws them if it is below 1.
    tau, dt : float
        The time constant, 10 ms in the paper, and the largest step of Euler's method.
    read_out_interval : float
        The time between two steps of `recall`: tau, the pace of the sequence. It varies, so that repeats count once.
    on_conflict, random_state
        As in `SequenceAttractor`.

    Attributes
    ----------
    J_ : ndarray, shape (N, N)
        The weights.
    mask_ : ndarray of int8, shape (N, N)
        c_ij.
    patterns_ : ndarray of int8, shape (P, N)
        Every pattern once; only the read-out needs them.
    n_features_in_, order_ : int

    See Also
    --------
    rate_capacity : how many patterns for each connection such a network of many neurons can pass through.

    Notes
    -----
    Equations and parameters are those of the authors' published code, there with N = 40,000 and a connectivity of .005. At N =
    100 overlaps fluctuate by 1 / sqrt(N): open sequences of up to four patterns are read out in order more often than not. Short
    loops are not: their first pattern comes round while the others are still there, and the rates end in a mixture of all.

    References
    ----------
    M. Gillett, U. Pereira and N. Brunel, Characteristics of sequential activity in networks with temporally asymmetric Hebbian
    learning, 2020.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_sequences(1, 5, 400, rng=0)
    >>> net = sa.zoo.HebbianRateMemory().fit(X)
    >>> [int((state == X.patterns).all(axis=1).argmax()) for state in net.recall(X[0], steps=4)]
    [0, 1, 2, 3, 4]
    """

    _: KW_ONLY
    A: float = 1.0
    theta: float = 0.22
    sigma: float = 0.1
    connectivity: float = 1.0
    tau: float = 10.0
    dt: float = 1.0
    read_out_interval: float = 10.0
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None


@final
@dataclass(eq=False, repr=False)
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
        As in `HebbianRateMemory`, and so are the attributes.

    Notes
    -----
    Equations, theta = .07 and sigma = .05 are those of the authors' published code, which has q_f = .8. That half of the units
    are active here is far from the sparse patterns for which they show sparse rates and a larger capacity.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_sequences(1, 5, 400, rng=0)
    >>> net = sa.zoo.SparseRateMemory().fit(X)
    >>> [int((state == X.patterns).all(axis=1).argmax()) for state in net.recall(X[0], steps=4)]
    [0, 1, 2, 3, 4]
    """

    _: KW_ONLY
    A: float = 4.0
    q_f: float = 0.6
    q_g: float = 0.5
    theta: float = 0.07
    sigma: float = 0.05
    connectivity: float = 1.0
    tau: float = 10.0
    dt: float = 1.0
    read_out_interval: float = 10.0
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None

    def _f(self, patterns: States) -> States:
        return _step(patterns, float(self.q_f))

    def _g(self, patterns: States) -> States:
        return _step(patterns, float(self.q_g))

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        super().check_parameters()
        for name in ("q_f", "q_g"):
            if check_positive(getattr(self, name), name) >= 1:
                raise ValueError(f"{name} must be below 1, but it is {getattr(self, name):g}.")


def _step(patterns: States, q: float) -> States:
    """Return q for active units, -(1 - q) for silent ones."""
    return np.where(patterns >= 0, q, q - 1)


_DT = 0.01  # of tau
_MOST = 10**8  # overlaps to compute


def rate_capacity(theta: float = 0.22, sigma: float = 0.1) -> float:
    """Return the largest load at which rate neurons with the bilinear Hebbian rule pass through a sequence (Gillett et al. 2020).

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
    """Return the overlaps of the rates with each pattern of a sequence, as time goes on, for many neurons (Gillett et al. 2020).

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
