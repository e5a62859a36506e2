"""Memories of threshold neurons: visible ones only, eq. (1), or with a hidden layer between two states, eqs. (2)-(3)."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.learning.firing import respond
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer
from seqattractor.sequences import Patterns

Weights = NDArray[np.float64]


def split_bias(weights: Weights) -> tuple[Weights, Weights]:
    """Take the biases, the last column, off some weights: (M, N + 1) -> (M, N) and (M,)."""
    return np.ascontiguousarray(weights[:, :-1]), weights[:, -1].copy()


class VisibleLayerMemory(SequenceMemory):
    """A memory whose next state is sign(W xi); with a leak xi is the sum of all states so far, older ones weighing less."""

    W_: Weights

    def start(self, states: Patterns) -> Weights | None:
        """Give what neurons still sum of the states before the cue: with a leak nothing yet, (B, order * N), and else None."""
        return np.zeros(states.shape) if self._leak else None

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Give the pattern after each state, eq. (1): (B, order * N) -> (B, N); `memory` holds the sums and is changed."""
        W, bias, _ = self._added_up()
        return respond(W, self._summed(states, memory) if self._leak else states, bias)

    def layers(self) -> tuple[Layer, ...] | None:
        """Give the one layer that there is, unless it sums earlier states, too: what it answers is not told by its input then."""
        W, bias, kappa = self._added_up()
        return None if self._leak else (Layer.of(W, bias, kappa=kappa),)

    def _summed(self, states: Patterns, memory: Any) -> Weights:
        """The states with what is left of earlier ones, s(t) = x(t) + leak s(t-1); puts it into the memory."""
        sums = np.zeros(states.shape) if memory is None else memory
        sums *= self._leak
        sums += states
        return np.asarray(sums)

    def _added_up(self) -> tuple[Weights, Any, float | None]:
        """W and biases as they are added up, and in the same units the margin that they were trained for, if they were."""
        return self.W_, 0.0, None


class HiddenLayerMemory(OnlineMemory):
    """A memory whose states go through a hidden layer. A subclass says in `_hidden_states` how hidden neurons answer."""

    V_: NDArray[Any]

    @abstractmethod
    def _hidden_states(self, states: Patterns) -> Patterns:
        """The hidden states of a batch, eq. (2): (B, order * N) -> (B, M)."""

    def hidden(self, states: ArrayLike) -> Patterns:
        """Give the state zeta of the hidden neurons, eq. (2).

        Parameters
        ----------
        states : array of +-1, shape (N,) or (B, N); with an order k > 1 (k, N) or (B, k, N)

        Returns
        -------
        ndarray of int8, shape (M,) or (B, M)
            Active neurons are +1; silent ones are 0 in `SparseSequenceAttractor`, else -1.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(8, 40, rng=0)
        >>> sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X).hidden(X).shape
        (8, 100)
        """
        batch, single = self._as_states(states, "state")
        zeta = self._hidden_states(batch.reshape(len(batch), -1))
        return zeta[0] if single else zeta

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Give the pattern after each state, eq. (3): (B, order * N) -> (B, N)."""
        return respond(self.V_, self._hidden_states(states), self._visible_bias)

    @property
    def _visible_bias(self) -> Any:
        """What visible neurons receive beside V zeta."""
        return 0.0
