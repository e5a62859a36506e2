"""What networks with a hidden layer share: visible neurons drive hidden ones, which drive the next visible state."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.learning.rule import sign
from seqattractor.networks._fitting import EpochMemory
from seqattractor.sequences import Patterns

__all__ = ["HiddenLayerMemory"]


class HiddenLayerMemory(EpochMemory):
    """A memory that learns weights to and from a hidden layer. A subclass says in `_hidden` how hidden neurons answer."""

    V_: NDArray[np.floating[Any]]

    def hidden(self, states: ArrayLike) -> Patterns:
        """Give the state zeta of the hidden neurons, eq. (2).

        Parameters
        ----------
        states : array of +-1, shape (N,) or (B, N); with an order k > 1 (k, N) or (B, k, N)

        Returns
        -------
        ndarray of int8, shape (M,) or (B, M)
            Active neurons are +1; silent ones are -1 in `SequenceAttractor` and 0 in `SparseSequenceAttractor`.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(8, 40, rng=0)
        >>> sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X).hidden(X).shape
        (8, 100)
        """
        batch, single = self._as_states(states, "state")
        zeta = self._hidden(batch.reshape(len(batch), -1))
        return zeta[0] if single else zeta

    @abstractmethod
    def _hidden(self, states: Patterns) -> Patterns:
        """The hidden states of a batch, eq. (2): (B, order * N) -> (B, M)."""

    def _next(self, states: Patterns) -> Patterns:
        return sign(self._hidden(states).astype(np.float64) @ self.V_.T)  # eq. (3)
