"""`fit` and `partial_fit`, once for all networks: those that see a transition once, and those that learn in epochs."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._base import Lesson, SequenceMemory

__all__ = ["EpochMemory", "StreamMemory"]


class StreamMemory(SequenceMemory):
    """A memory that learns from scratch by `fit`, and by `partial_fit` on top of what it knows.

    A subclass says how it gets ready (`_start`) and what it does with a presentation of transitions (`_present`).
    """

    _learned: ClassVar[str]
    """The fitted attribute by which a network that has learned is told from a new one."""

    def fit(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> Self:
        """Learn sequences from scratch.

        Parameters
        ----------
        X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
            The patterns, one row a time step.
        lengths : array of shape (S,), optional
            How many rows of `X` belong to each sequence. By default `X` is one sequence.

        Returns
        -------
        self

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> sa.LookupMemory().fit(X).patterns_.shape
        (9, 50)
        """
        self._check_parameters()
        lesson = self._lesson(X, lengths)
        self._start(lesson)
        self._present(lesson)
        return self

    def partial_fit(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> Self:
        """Present the transitions of `X` once and learn from each, on top of what the network knows.

        Learning from a stream, or adding a sequence to a trained network, is a loop over `partial_fit`.

        Parameters
        ----------
        X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
            The patterns, one row a time step. Consecutive pieces of one long sequence must overlap by `order` patterns, so
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
        self._check_parameters()
        self._check_stream()
        new = not hasattr(self, self._learned)
        lesson = self._lesson(X, lengths, continuing=not new)
        if new:
            self._start(lesson)
        self._present(lesson)
        return self

    def _check_stream(self) -> None:
        """Refuse settings that cannot learn from a stream; by default all can."""

    @abstractmethod
    def _start(self, lesson: Lesson) -> None:
        """Get ready for the first presentation: what a network is before it has learned anything."""

    @abstractmethod
    def _present(self, lesson: Lesson) -> None:
        """Go once through the transitions and learn from each, on top of what is there."""


class EpochMemory(StreamMemory):
    """A memory that learns in epochs and counts its errors. A subclass also says how it learns from scratch (`_learn`)."""

    _learned = "n_iter_"
    verbose: int = 0
    n_iter_: int

    def fit(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Learn sequences from scratch.

        Parameters
        ----------
        X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
            The patterns, one row a time step.
        lengths : array of shape (S,), optional
            How many rows of `X` belong to each sequence. By default `X` is one sequence.
        callback : callable, optional
            Called as ``callback(epoch, hidden_errors, visible_errors)`` for each epoch; returning True ends learning. Without
            hidden neurons ``hidden_errors`` is 0. Rules that learn in one go do not call it.

        Returns
        -------
        self

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> sa.VisibleNetwork(random_state=0).fit(X).converged_
        True
        """
        return self._fit(X, lengths, callback, self._learn)

    def _fit(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None,
        callback: ProgressCallback | None,
        learn: Callable[[Lesson, ProgressCallback | None], tuple[int, int]],
    ) -> Self:
        """Learn from scratch by `learn` and warn of errors that are left."""
        self._check_parameters()
        left = learn(self._lesson(X, lengths), self._announce(callback))
        self._warn_if_errors_left(*left)
        return self

    @abstractmethod
    def _learn(self, lesson: Lesson, callback: ProgressCallback | None) -> tuple[int, int]:
        """Learn from scratch; returns how many hidden and visible errors are left."""

    def _warn_if_errors_left(self, hidden: int, visible: int) -> None:
        """Give scikit-learn's ConvergenceWarning if the last epoch had errors."""
        if not (hidden or visible):
            return
        settings = self.get_params(deep=False)
        remedies = [
            *(["allow more epochs (max_epochs)"] if self.n_iter_ == settings.get("max_epochs") else []),
            *(["use more hidden neurons"] if "n_hidden" in settings else []),
            "store less",
        ]
        left = f"{hidden} hidden and {visible} visible errors" if hidden else f"{visible} visible errors"
        warnings.warn(
            f"{type(self).__name__} ended after {self.n_iter_} epoch{'s' if self.n_iter_ != 1 else ''} with {left} left in "
            f"the last one; the stored sequences may not be recalled: {' or '.join(remedies)}.",
            ConvergenceWarning,
            stacklevel=4,  # of `fit`
        )

    def _announce(self, callback: ProgressCallback | None) -> ProgressCallback | None:
        """Add a line on the terminal now and then to the callback, if the user wants it."""
        verbose = self.verbose
        if not verbose:
            return callback

        def tell(epoch: int, hidden: int, visible: int) -> bool | None:
            if epoch % (1 if verbose > 1 else 50) == 0 or epoch == 1 or hidden == visible == 0:
                print(f"epoch {epoch}: {hidden} hidden errors, {visible} visible errors")
            return callback(epoch, hidden, visible) if callback is not None else None

        return tell
