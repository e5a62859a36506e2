"""Memories that learn one transition at a time: `partial_fit`, and a `fit` that repeats presentations until none has an error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Transitions


class OnlineMemory(SequenceMemory):
    """A memory that is what it was told so far: it begins empty, and every presentation of transitions adds to it."""

    @abstractmethod
    def begin(self, transitions: Transitions) -> None:
        """Get ready for the first presentation: what a network is before it has learned anything.

        Parameters
        ----------
        transitions : Transitions
            Those that will be presented first.
        """

    @abstractmethod
    def present(self, transitions: Transitions) -> None:
        """Go once through the transitions and learn from each, on top of what is there.

        Parameters
        ----------
        transitions : Transitions
        """

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int] | None:
        """Begin, and see the transitions once."""
        self.begin(transitions)
        self.present(transitions)
        return None

    def partial_fit(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> Self:
        """Present the transitions of `X` once and learn from each, on top of what the network knows.

        Learning from a stream, or adding a sequence to a trained network, is a loop over `partial_fit`. If it fails or is
        interrupted, the network is as it was before.

        With the three-factor rule (`SequenceAttractor`, `VisibleNetwork`) a loop over the same sequences is what `fit` does: from
        zero weights (``init_scale=0``) errors and weights are equal bit for bit, whatever kappa and eta are, ties included. From
        random ones they are equal up to rounding of the weights, which are multiplied by eta after each presentation here and
        once in `fit`; a field would have to come as near to kappa as that for an error to be counted differently.

        Parameters
        ----------
        X : Sequences, array of +-1 of shape (T, N), or a list of arrays of shape (T_s, N)
            The patterns, one row per time step. Consecutive pieces of one long sequence must overlap by `order` patterns, so
            that no transition is missed.
        lengths : array of shape (S,), optional
            How many rows of `X` belong to each sequence.

        Returns
        -------
        self
            A network that counts its errors appends those of this presentation to those of earlier epochs.

        Examples
        --------
        >>> import seqattractor as sa
        >>> A, B = sa.datasets.random_periodic(8, 40, rng=0), sa.datasets.random_periodic(8, 40, rng=1)
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(A)
        >>> while net.score([A, B]) < 1:
        ...     net = net.partial_fit([A, B])
        """
        with self._unchanged_by_failure(in_place=True):
            self.check_parameters()
            new = not self._fitted()
            transitions = self.transitions(X, lengths, continuing=not new)
            if new:
                self.begin(transitions)
            self.present(transitions)
        return self


class EpochMemory(OnlineMemory):
    """A memory that learns in epochs and counts its errors."""

    max_epochs: int | Literal["auto"]
    hidden_errors_: NDArray[np.int64]
    visible_errors_: NDArray[np.int64]
    n_iter_: int
    converged_: bool

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int] | None:
        """Begin, and present the transitions until an epoch has no error; networks with a faster way to the same end take it."""
        self.begin(transitions)
        while self.n_iter_ < int(self.max_epochs) and not (self.n_iter_ and self.converged_):
            self.present(transitions)
            hidden, visible = self._last_errors()
            if callback is not None and callback(self.n_iter_, hidden, visible):
                break
        return self._last_errors()

    def _last_errors(self) -> tuple[int, int]:
        """Hidden and visible errors of the last epoch."""
        hidden = getattr(self, "hidden_errors_", None)
        return (0 if hidden is None else int(hidden[-1])), int(self.visible_errors_[-1])

    def _count_errors(self, visible: int, hidden: int | None = None) -> None:
        """Note the errors of one more presentation."""
        self.visible_errors_ = np.append(self.visible_errors_, visible)
        if hidden is not None:
            self.hidden_errors_ = np.append(self.hidden_errors_, hidden)
        self.n_iter_ += 1
        self.converged_ = not (visible or hidden)

    def _no_errors_yet(self, *, hidden: bool = False) -> None:
        """Start counting."""
        self.visible_errors_ = np.zeros(0, dtype=np.int64)
        if hidden:
            self.hidden_errors_ = np.zeros(0, dtype=np.int64)
        self.n_iter_ = 0
