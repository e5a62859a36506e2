"""Rate neurons with temporally asymmetric Hebbian rules, and their mean-field theory (Gillett,
Pereira & Brunel 2020).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, final

import numpy as np

from seqattractor._checks import check_memory, check_number, check_positive
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import hebbian
from seqattractor.sequences import Patterns, Transitions
from seqattractor.zoo.continuous import ContinuousMemory, States


@dataclass(eq=False, repr=False)
class RateMemory(ContinuousMemory, OnlineMemory):
    """Rates r with tau dr/dt = -r + phi(J r) and J_ij = (A / K) c_ij sum_mu f(xi_i^{mu+1})
    g(xi_j^mu).

    A subclass may replace f and g, which are bilinear here. A state is r, (B, N).
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

    _arrays: ClassVar[dict[str, str]] = {
        "J_": "float N N",
        "mask_": "ternary N N",
        "patterns_": "pattern P N",
    }

    def _f(self, patterns: States) -> States:
        """Return the factor of a pattern at the neuron that receives a synapse: the pattern itself
        in the bilinear rule.
        """
        return patterns

    def _g(self, patterns: States) -> States:
        """Return the factor of a pattern at the neuron from which a synapse comes."""
        return patterns

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw which neurons are connected, and start from zero weights."""
        N = self.n_features_in_
        check_memory(17 * N * N, f"a network of {N} neurons")
        c = float(self.connectivity)
        # Without chance no generator is asked for: a fully connected network is the same for any
        # random_state.
        mask = (
            np.ones((N, N), dtype=bool)
            if c == 1
            else as_generator(self.random_state, "connections").random((N, N)) < c
        )
        np.fill_diagonal(mask, False)
        self.mask_, self.J_ = mask.astype(np.int8), np.zeros((N, N))
        self.patterns_ = transitions.inputs[:0]

    def _present(self, transitions: Transitions) -> None:
        self.J_ = self.J_ + self._weights(
            transitions.inputs.astype(np.float64), transitions.targets.astype(np.float64)
        )
        shown = np.stack([transitions.inputs, transitions.targets], axis=1).reshape(
            -1, self.n_features_in_
        )
        stored = {x.tobytes(): x for x in (*self.patterns_, *shown)}
        self.patterns_ = np.array(list(stored.values()), dtype=np.int8)

    def traits(self) -> Traits:
        """Return the traits: online and local weights, but the read-out has the patterns."""
        return Traits(
            weights=("J_", "patterns_"),
            stores_patterns=True,
            online=True,
            local=True,
            dwells=True,
            steps_per_pattern=int(
                min(np.ceil(2 * float(self.tau) / float(self.read_out_interval)), 10_000)
            ),
            note=(
                "rates are mixtures of several patterns; the read-out answers with the stored "
                "pattern they are most like"
            ),
        )

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        self._check_times()
        for name in ("A", "sigma", "tau"):
            check_positive(getattr(self, name), name)
        check_number(self.theta, "theta")
        if check_positive(self.connectivity, "connectivity") > 1:
            raise ValueError(
                "connectivity must be at most 1, every neuron to every other, but it is "
                f"{self.connectivity:g}."
            )

    def _weights(self, patterns: States, successors: States) -> States:
        """Return the part of J from some transitions, for patterns of any real numbers, (n, N)
        each.
        """
        K = float(self.connectivity) * self.n_features_in_
        return np.asarray(
            float(self.A) / K * self.mask_ * hebbian(self._g(patterns), self._f(successors)),
            dtype=np.float64,
        )

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
        keys = keys / np.where(
            lengths > 0, lengths, 1
        )  # a pattern of equal entries is like nothing
        return np.asarray(self.patterns_[np.argmax(states @ keys.T, axis=1)])


@final
class HebbianRateMemory(RateMemory):
    """Rate neurons that pass through a sequence, about one pattern per time constant (Gillett,
    Pereira & Brunel 2020).

    ::

        tau dr_i/dt = -r_i + phi(sum_j J_ij r_j)
        phi(x) = (1 + erf((x - theta) / (sqrt(2) sigma))) / 2
        J_ij = (A / K) c_ij sum_mu xi_i^{mu+1} xi_j^mu

    with c_ij = 1 for a share c of all pairs, 0 for the others and for i = j, and K = c N. The model
    is made for normal patterns; +-1 are used as they are, with the same mean, 0, and variance, 1.
    A run starts with the rates r = phi(cue).

    Overlaps with neighbouring patterns grow and fade together: the read-out is the stored pattern
    with the largest correlation with r, by which the authors judge recall; `activity` gives the
    rates themselves.

    Parameters
    ----------
    A : float
        The strength of the weights.
    theta, sigma : float
        Threshold and width of the transfer function phi.
    connectivity : float
        c, the share of pairs of neurons that are connected; `random_state` draws them if it is
        below 1.
    tau, dt : float
        The time constant, 10 ms in the paper, and the largest step of Euler's method.
    read_out_interval : float
        The time between two steps of `recall`: tau, the pace of the sequence. It varies, so that
        repeats count once.
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

    Notes
    -----
    Equations and parameters are those of the authors' published code, there with N = 40,000 and a
    connectivity of .005. At N = 100 open sequences of up to four patterns are read out in order
    more often than not; the rates of short loops end in a mixture of all patterns.

    References
    ----------
    M. Gillett, U. Pereira and N. Brunel, Characteristics of sequential activity in networks with
    temporally asymmetric Hebbian learning, 2020.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_sequences(1, 5, 400, rng=0)
    >>> net = sa.zoo.HebbianRateMemory().fit(X)
    >>> [int((state == X.patterns).all(axis=1).argmax()) for state in net.recall(X[0], steps=4)]
    [0, 1, 2, 3, 4]
    """


@final
@dataclass(eq=False, repr=False)
class SparseRateMemory(RateMemory):
    """Rate neurons whose Hebbian rule sees only whether a unit is active in a pattern (Gillett,
    Pereira & Brunel 2020).

    As `HebbianRateMemory`, with J_ij = (A / K) c_ij sum_mu f(xi_i^{mu+1}) g(xi_j^mu) and step
    functions of the patterns::

        f(x) = q_f if x >= x_f else -(1 - q_f)        g(x) = q_g if x >= x_g else -(1 - q_g)

    The model is made for normal patterns, of which thresholds of 1.645 let 5 % of the units count
    as active; for patterns of +-1 the threshold is 0. `q_g` should be the share of silent units,
    1/2 for random patterns, so that g has the mean 0. With q_f above it, a pattern calls the active
    units of the next one more strongly than it silences the others. A run starts with r =
    phi(f(cue)).

    Parameters
    ----------
    A : float
        The strength of the weights; 14 for the authors' sparse normal patterns. With 4, q_f = q_g =
        1/2 would be the bilinear rule.
    q_f, q_g : float
        The weights of active units, above 0 and below 1.
    theta, sigma, connectivity, tau, dt, read_out_interval, on_conflict, random_state
        As in `HebbianRateMemory`, and so are the attributes.

    Notes
    -----
    Equations, theta = .07 and sigma = .05 are those of the authors' published code, which has q_f =
    .8, q_g = .95 and sparse patterns; for these they show a larger capacity.

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
