"""Learning sequences: data are checked, a failure leaves the network as it was, and errors that are left are told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from seqattractor._checks import check_count, check_flag, is_auto, is_count
from seqattractor._progress import epoch_progress, say_line
from seqattractor._unchanged import unchanged_by_failure
from seqattractor.learning.problem import ProgressCallback
from seqattractor.networks.hooks import Hooks, LearnedFrom
from seqattractor.sequences import Transitions, check_patterns, check_sequences, transitions
from seqattractor.sequences._columns import check_column_names, column_names
from seqattractor.sequences._patterns import pieces
from seqattractor.sequences._transitions import check_no_conflicts, find_conflicts


class Fitting(Hooks):
    """A network that learns sequences of +-1 patterns."""

    def fit(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, callback: ProgressCallback | None = None
    ) -> Self:
        """Learn sequences, from scratch or with ``warm_start=True`` from what there is. If it fails, the network is as before.

        Parameters
        ----------
        X : Sequences, array of +-1 of shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
            The patterns, one row per time step. An array of three dimensions is S sequences of equal length; frames (T, height,
            width) must be flattened first, ``X.reshape(len(X), -1)``. Frames of pandas, polars and pynapple, tensors of torch and
            arrays of xarray will do as well, and so will True and False, or 1 and 0 without other values, for +1 and -1. A
            memory-mapped array of int8 (``np.load(path, mmap_mode="r")``) stays on disk.
        lengths : array of shape (S,), optional
            How many rows of `X` belong to each sequence. By default `X` is one sequence.
        callback : callable, optional
            Called as ``callback(epoch, hidden_errors, visible_errors)`` after each epoch; returning True ends learning. Without
            hidden neurons ``hidden_errors`` is 0. Networks that learn nothing do not call it.

        Returns
        -------
        self

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> errors = []
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0)
        >>> net = net.fit(X, callback=lambda epoch, hidden, visible: errors.append((hidden, visible)))
        >>> len(errors) == net.n_iter_, errors[-1]
        (True, (0, 0))
        """
        goes_on = bool(self.warm_start) and self._has_learned
        with unchanged_by_failure(self, in_place=goes_on):
            self.check_parameters()
            if not goes_on:
                self._forget()
            transitions = self.transitions(X, lengths, continuing=goes_on)
            learn = self._continue_transitions if goes_on else self.fit_transitions
            with self._announced(callback) as tell:
                left = learn(transitions, tell)
            missing = self._missing(left, transitions)
        self._conclude(left, transitions, missing)
        return self

    def transitions(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, continuing: bool = False
    ) -> Transitions:
        """Check sequences that are to be learned, settle N and the order, and refuse conflicts.

        Parameters
        ----------
        X : Sequences, array of +-1 of shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
        lengths : array of shape (S,), optional
        continuing : bool
            A network that has learned before keeps its N and its order.

        Returns
        -------
        Transitions

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.zoo.LookupMemory().transitions(sa.datasets.xor()).inputs.shape
        (4, 2)
        """
        self.check_order()
        order = self.order_ if check_flag(continuing, "continuing") else self.order
        patterns, checked = check_sequences(X, lengths, order=1 if is_auto(order) else int(order))
        if continuing:
            check_patterns(patterns[:1], "X", n_features=self.n_features_in_)
            check_column_names(X, getattr(self, "feature_names_in_", None))
        if is_auto(order):
            ambiguous = find_conflicts(patterns, checked, leak=self._leak)
            context = ambiguous.context if ambiguous else 1
            if context is None:
                raise ValueError(ambiguous.describe())
            order = context
        if self.on_conflict == "raise":
            check_no_conflicts(patterns, checked, int(order), self._leak)
        self.n_features_in_ = patterns.shape[1]
        self.order_ = int(order)
        if not continuing and (names := column_names(X)) is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return transitions(patterns, checked, self.order_)

    # -- inside -------------------------------------------------------------------------------------------------

    def _missing(self, left: tuple[int, int] | None, transitions: Transitions) -> int | None:
        """How many transitions are not stored, counted where errors are left; fails where the network cannot recall."""
        return self._count_missing(transitions) if left is not None and any(left) else None

    def _conclude(self, left: tuple[int, int] | None, transitions: Transitions, missing: int | None) -> None:
        """Note what was learned from; warn as scikit-learn does if errors are left, and say what they mean for what is stored."""
        self._learned_from = LearnedFrom(len(transitions.lengths), len(transitions.targets), missing)
        if left is None or missing is None:
            return
        epochs = int(getattr(self, "n_iter_", 1))
        hidden, visible = left
        words = f"{hidden} hidden and {visible} visible errors" if hidden else f"{visible} visible errors"
        stored = (
            f"{missing} of {len(transitions.targets)} transitions {'is' if missing == 1 else 'are'} not stored"
            if missing
            else "every transition is right, but not with its full margin, so that recall from noise may fail"
        )
        warnings.warn(
            f"{type(self).__name__} ended after {epochs} epoch{'s' if epochs != 1 else ''} with {words} left in "
            f"the last one; {stored}: {' or '.join(self._remedies())}.",
            ConvergenceWarning,
            stacklevel=3,  # of `fit`
        )

    def _count_missing(self, transitions: Transitions) -> int:
        """How many transitions are not stored."""
        inputs, targets, _ = transitions
        if self.start(inputs[:1]) is not None:  # what follows depends on all that came before
            return int(self._wrong_units(transitions).any(axis=1).sum())
        parts = [Transitions(inputs[part], targets[part], np.array([len(inputs[part])])) for part in pieces(len(inputs), 2**12)]
        return sum(int(self._wrong_units(part).any(axis=1).sum()) for part in parts)

    def _remedies(self) -> list[str]:
        """What to try where errors are left."""
        settings = self.get_params(deep=False)
        return [
            *(["allow more epochs (max_epochs)"] if getattr(self, "n_iter_", 1) >= settings.get("max_epochs", np.inf) else []),
            *(["use more hidden neurons"] if "n_hidden" in settings else []),
            "store less",
        ]

    @property
    def _most_epochs(self) -> int | None:
        """After how many epochs learning ends at the latest, as far as that is settled."""
        most: Any = getattr(self, "max_epochs", None)
        return int(most) if is_count(most) else None

    @contextmanager
    def _announced(self, callback: ProgressCallback | None) -> Iterator[ProgressCallback | None]:
        """Let the callback also show a bar, or print lines, if the user wants it (`verbose`)."""
        verbose = getattr(self, "verbose", 0)
        verbose = int(verbose) if isinstance(verbose, bool) else check_count(verbose, "verbose", 0)
        if not verbose:
            yield callback
            return

        def line(epoch: int, hidden: int, visible: int) -> None:
            say_line(f"epoch {epoch}: {hidden} hidden errors, {visible} visible errors")

        with epoch_progress(self._most_epochs, stays=True) if verbose == 1 else nullcontext(line) as show:

            def tell(epoch: int, hidden: int, visible: int) -> bool | None:
                show(epoch, hidden, visible)
                return callback(epoch, hidden, visible) if callback is not None else None

            yield tell
