"""OnlineMemory: memories that learn one transition at a time, in streams (`partial_fit`) and in
epochs (`fit`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._unchanged import unchanged_by_failure
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks import rehearsal
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Patterns, Transitions

Weights = NDArray[np.float64]
WayBack = Callable[[Patterns, Patterns], Patterns]


class OnlineMemory(SequenceMemory):
    """A memory that begins empty (`_init_learning`), and to which every presentation of transitions
    adds (`_present`).

    A memory that counts its errors calls `_no_errors_yet` in `_init_learning` and `_count_errors`
    in `_present`: then `fit` repeats presentations until one has no error, up to `max_epochs`
    times.
    """

    _rehearses: ClassVar[bool] = False
    """Whether learning changes only what is not stored yet, so that sequences can be rehearsed."""
    _leads_in: ClassVar[bool] = False
    """Whether `add` puts lead-ins before open sequences that the network is to replay itself, and
    lead-outs after them where needed; not where the weights tell first patterns anyway.
    """

    max_epochs: int | Literal["auto"]
    hidden_errors_: NDArray[np.int64]
    visible_errors_: NDArray[np.int64]
    n_iter_: int
    converged_: bool

    @abstractmethod
    def _init_learning(self, transitions: Transitions) -> None:
        """Initialise the network before the first presentation, of these transitions."""

    @abstractmethod
    def _present(self, transitions: Transitions) -> None:
        """Learn from each transition in turn, on top of what was learned before."""

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Learn from scratch; networks with a faster way to the same end override this."""
        self._init_learning(transitions)
        return self._present_epochs(transitions, callback)

    def _resume(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Present the transitions up to `max_epochs` more times."""
        return self._present_epochs(transitions, self._counting_on(callback))

    def _present_epochs(
        self, transitions: Transitions, callback: ProgressCallback | None
    ) -> tuple[int, int] | None:
        """Present the transitions until an epoch has no error; once if errors are not counted."""
        if "visible_errors_" not in vars(self):
            self._present(transitions)
            return None
        for epoch in range(1, int(self.max_epochs) + 1):
            self._present(transitions)
            if (callback is not None and callback(epoch, *self._last_errors())) or self._is_done():
                break
        return self._last_errors()

    def _is_done(self) -> bool:
        """Return whether more epochs would be of no use."""
        return self.converged_

    def partial_fit(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None
    ) -> Self:
        """Present the transitions of `X` once, in order, and update the weights after each.

        This is the online rule, for streams. It protects nothing that was learned before: every
        update that `X` needs may undo what earlier sequences need, and transitions that are not
        presented again are overwritten. After ``fit(A)`` and as many ``partial_fit(B)`` as store B
        (20 random patterns of 100 units each, 500 hidden neurons), the share of A's transitions
        that are right falls from 1 to 0 in `SequenceAttractor`. To add a sequence, `fit` all of
        them, or with the three-factor rule call ``partial_fit([A, B])`` until ``score([A, B])`` is
        1; with the sparse rule that need not end. If a presentation fails or is interrupted, the
        network is rolled back.

        With the three-factor rule (`SequenceAttractor`, `VisibleNetwork` without a leak) a loop
        over the same sequences is what `fit` does: errors and weights are equal bit for bit, ties
        included.

        Parameters
        ----------
        X, lengths
            As in `fit`. Consecutive pieces of one long sequence must overlap by `order` patterns.

        Returns
        -------
        self
            A network that counts its errors appends those of this presentation to those of earlier
            epochs.

        Examples
        --------
        >>> import seqattractor as sa
        >>> A = sa.datasets.random_periodic(20, 100, rng=0)
        >>> B = sa.datasets.random_periodic(20, 100, rng=1)
        >>> net = sa.SequenceAttractor(n_hidden=500, random_state=0).fit(A)
        >>> while net.score(B) < 1:
        ...     net = net.partial_fit(B)
        >>> net.score(A)
        0.0
        """
        with unchanged_by_failure(self, in_place=True):
            self.check_parameters()
            new = not self._has_learned
            transitions = self.transitions(X, lengths, continuing=not new)
            if new:
                self._init_learning(transitions)
            self._present(transitions)
            self._learned_from = None
            rehearsal.forget_saved(self)
        return self

    def add(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        rehearse: rehearsal.Rehearse | None = "self",
        callback: ProgressCallback | None = None,
    ) -> rehearsal.Added:
        """Learn new sequences, and what was learned before together with them, which is rehearsed.

        Both are learned from scratch, as by `fit`: on top of the present weights it takes longer
        and the basins come out smaller. If learning fails or is interrupted,
        or the new sequences conflict with earlier ones, the network is rolled back.

        Parameters
        ----------
        X, lengths
            As in `fit`. Consecutive pieces of one long sequence must overlap by `order` patterns.
        rehearse : {"self", "cues", "patterns"} or None
            Where the earlier sequences come from. "self": the network replays them, started by its
            own weights (`seqattractor.networks.self_replay`); nothing is saved beside the weights.
            The sparse network also learns what leads into each open sequence, so that its first
            pattern is found again: `order` transitions more. If it would go on after the last
            pattern, it learns where the sequence ends: one more.
            "cues": the first pattern of each is saved with a digest, and the network recalls the
            rest, which is rehearsed if the digest is right. "patterns": all patterns are saved.
            None: nothing is rehearsed, and the new sequences are presented alone, as by
            `partial_fit`, until they are stored; once, by networks that cannot rehearse.
        callback : callable, optional
            As in `fit`. It is not called where new sequences are presented alone.

        Returns
        -------
        Added
            What was rehearsed, what is stored and what is lost, and how full the memory is.

        Examples
        --------
        >>> import seqattractor as sa
        >>> loops = [sa.datasets.random_periodic(20, 100, rng=k) for k in range(5)]
        >>> net = sa.SparseSequenceAttractor(n_hidden=200, random_state=0)
        >>> for X in loops:
        ...     added = net.add(X)
        >>> len(added.rehearsed), added.lost, [net.score(X) for X in loops]
        (4, [], [1.0, 1.0, 1.0, 1.0, 1.0])
        """
        return rehearsal.add(self, X, lengths, rehearse, callback)

    def _synapses(self) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
        """Return the incoming and outgoing weights of every neuron that learns, shapes (M, order *
        N) and (M, N); networks trained for margins define it.
        """
        raise NotImplementedError

    def _way_back(self) -> WayBack:
        """Return a function of some states, (B, order * N), and a pattern to which they lead, (N,):
        the states from which the weights say that the pattern was learned.
        """
        raise NotImplementedError

    def _counting_on(self, callback: ProgressCallback | None) -> ProgressCallback | None:
        """Return a callback that counts further epochs from those before."""
        before = getattr(self, "n_iter_", 0)
        return (
            None
            if callback is None
            else lambda epoch, hidden, visible: callback(before + epoch, hidden, visible)
        )

    def _last_errors(self) -> tuple[int, int]:
        """Hidden and visible errors of the last epoch."""
        hidden = getattr(self, "hidden_errors_", None)
        return (0 if hidden is None else int(hidden[-1])), int(self.visible_errors_[-1])

    def _count_errors(self, visible: int, hidden: int | None = None) -> None:
        """Append the errors of one more presentation."""
        self._add_epochs(np.array([visible]), None if hidden is None else np.array([hidden]))

    def _add_epochs(
        self, visible: NDArray[np.int64], hidden: NDArray[np.int64] | None = None
    ) -> None:
        """Append the errors of some more epochs."""
        self.visible_errors_ = np.append(self.visible_errors_, visible)
        if hidden is not None:
            self.hidden_errors_ = np.append(self.hidden_errors_, hidden)
        self.n_iter_ += len(visible)
        self.converged_ = not any(self._last_errors())

    def _no_errors_yet(self, *, hidden: bool = False) -> None:
        """Start counting."""
        self.visible_errors_ = np.zeros(0, dtype=np.int64)
        if hidden:
            self.hidden_errors_ = np.zeros(0, dtype=np.int64)
        self.n_iter_ = 0


def split_bias(weights: Weights) -> tuple[Weights, Weights]:
    """Split off the biases, the last column of some weights: (M, N + 1) -> (M, N) and (M,)."""
    return np.ascontiguousarray(weights[:, :-1]), weights[:, -1].copy()


def pseudo_inverse(weights: Weights, ridge: float = 0.1) -> Weights:
    """Return what z, (B, M), is multiplied by to find states x, (B, N), whose fields U x have the
    signs of z: U (U'U + ridge * mean of its diagonal)^-1, shape (M, N).
    """
    gram = weights.T @ weights
    gram[np.diag_indices_from(gram)] += ridge * np.trace(gram) / len(gram)
    return np.asarray(np.linalg.solve(gram, weights.T).T)
