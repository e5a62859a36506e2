"""What the two rate networks of Gillett, Pereira & Brunel share: rates, asymmetric Hebbian weights, and the read-out."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_memory, check_number, check_positive
from seqattractor.learning.rule import hebbian
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Transitions
from seqattractor.zoo.continuous import ContinuousMemory, States


class RateMemory(ContinuousMemory, OnlineMemory):
    """Rates r with tau dr/dt = -r + phi(J r) and J_ij = (A / K) c_ij sum_mu f(xi_i^{mu+1}) g(xi_j^mu).

    A subclass says what f and g are. A state is r, (B, N).
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

    @abstractmethod
    def _f(self, patterns: States) -> States:
        """What a pattern is to the neuron that receives a synapse."""

    @abstractmethod
    def _g(self, patterns: States) -> States:
        """What a pattern is to the neuron that a synapse comes from."""

    @abstractmethod
    def _check_rule(self) -> None:
        """Refuse parameters of f and g that make no sense."""

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
        """Add the outer product of every transition; every pattern is kept once, for the read-out."""
        self.J_ = self.J_ + self._weights(transitions.inputs.astype(np.float64), transitions.targets.astype(np.float64))
        shown = np.stack([transitions.inputs, transitions.targets], axis=1).reshape(-1, self.n_features_in_)
        kept = {x.tobytes(): x for x in (*self.patterns_, *shown)}
        self.patterns_ = np.array(list(kept.values()), dtype=np.int8)

    def traits(self) -> Traits:
        """Tell what is fair to know: online and local weights, but the read-out knows the patterns."""
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
        """Refuse parameters that make no sense."""
        self._check_times()
        for name in ("A", "sigma", "tau"):
            check_positive(getattr(self, name), name)
        check_number(self.theta, "theta")
        if check_positive(self.connectivity, "connectivity") > 1:
            raise ValueError(f"connectivity must be at most 1, every neuron to every other, but it is {self.connectivity:g}.")
        self._check_rule()

    # -- inside -------------------------------------------------------------------------------------------------

    def _weights(self, patterns: States, successors: States) -> States:
        """What some transitions add to J, for patterns of any real numbers, (n, N) each."""
        K = float(self.connectivity) * self.n_features_in_
        return np.asarray(float(self.A) / K * self.mask_ * hebbian(self._g(patterns), self._f(successors)), dtype=np.float64)

    def _phi(self, currents: States) -> States:
        """The rate at a current, from 0 to 1."""
        from scipy.special import ndtr

        return np.asarray(ndtr((currents - float(self.theta)) / float(self.sigma)))

    def _begin(self, cues: States) -> States:
        return self._phi(self._f(cues))

    def _velocity(self, states: States) -> States:
        return (self._phi(states @ self.J_.T) - states) / float(self.tau)

    def _read_out(self, states: States) -> Patterns:
        """The stored pattern whose correlation with the rates is largest."""
        keys = self.patterns_ - self.patterns_.mean(axis=1, keepdims=True)
        lengths = np.linalg.norm(keys, axis=1, keepdims=True)
        keys = keys / np.where(lengths > 0, lengths, 1)  # a pattern of equal entries is like nothing
        return np.asarray(self.patterns_[np.argmax(states @ keys.T, axis=1)])
