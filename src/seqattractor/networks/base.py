"""SequenceMemory: what every network can do. A network defines how it learns and which pattern
comes next.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from seqattractor import noise as _noise
from seqattractor._checks import (
    as_numbers,
    check_choice,
    check_count,
    check_flag,
    check_kind,
    check_memory,
    is_auto,
    is_count,
    say,
)
from seqattractor._progress import epoch_progress, print_line
from seqattractor._unchanged import unchanged_by_failure
from seqattractor.engine.grid import held_arrays
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks import card, model_file
from seqattractor.networks import exporting as _export
from seqattractor.networks.run import Run, led_memory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.sequences import Patterns, Transitions, check_patterns, check_sequences
from seqattractor.sequences import transitions as split_transitions
from seqattractor.sequences._columns import check_column_names, column_names, time_first
from seqattractor.sequences._patterns import pieces
from seqattractor.sequences._transitions import check_no_conflicts, find_conflicts


class LearnedFrom(NamedTuple):
    """The numbers of sequences and transitions that the last `fit` learned from, and of those not
    stored if counted.
    """

    sequences: int
    transitions: int
    missing: int | None = None


class SequenceMemory(ABC, BaseEstimator):  # type: ignore[misc]
    """A network that stores sequences of +-1 patterns and recalls them from a cue.

    A network of your own derives from this class and defines how it learns (`fit_transitions`) and
    which pattern comes next (`next_patterns`). It then has `fit`, `step`, `recall`, `score` and
    `save`, loads with `sa.load`, and can be analysed and compared like those of this package.
    Optional methods: `start` for slow or latent variables, `layers` for certificates, `traits` for
    facts that a comparison should list. Parameters are assigned in ``__init__`` and checked in
    `check_parameters`; fitted attributes end in ``_`` (arrays and plain values are saved with the
    model).

    Attributes
    ----------
    n_features_in_ : int
        N, the number of visible neurons.
    feature_names_in_ : ndarray of str, shape (N,)
        The names of the columns, if the network learned from a frame whose columns have names.
    order_ : int
        How many past patterns the network looks at.
    metadata_ : dict
        Anything that should be saved with the model, such as the shape of a frame; plain JSON
        values.

    Examples
    --------
    A memory that answers with the successor of the stored pattern nearest to the state:

    >>> import numpy as np, seqattractor as sa
    >>> class Nearest(sa.SequenceMemory):
    ...     def fit_transitions(self, transitions, callback=None):
    ...         self.inputs_, self.targets_ = transitions.inputs, transitions.targets
    ...     def next_patterns(self, states, memory=None):
    ...         return self.targets_[np.argmax(states.astype(int) @ self.inputs_.T, axis=1)]
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.retrieved(Nearest().fit(X).recall(sa.noise.flip(X[0], 5, rng=1), steps=40), X)
    True
    """

    deterministic: ClassVar[bool] = False
    """Whether the same state always has the same successor in `next_patterns`. If a network also
    carries nothing from step to step (`start`), `recall` computes the successor of a state only
    once. The flag counts only in the class in whose body it is set; a subclass, which may add
    noise, has to set it again.
    """
    _arrays: ClassVar[dict[str, str]] = {}
    """The fitted arrays of a class of this package, for the check of model files: kind ("float",
    "int", "count", "pattern" of -1 and +1, "ternary" of -1, 0 and +1) and symbols of the shape,
    such as ``{"U_": "float M kN"}``, followed by " if parameter" or " if not parameter" where the
    array is optional.
    """
    _values: ClassVar[dict[str, str]] = {}
    """The same for single values: "number", "positive", "flag", "generator", "word" with the words,
    "count" with the symbol of its upper limit, "counts" for a list, or "size" with the symbol of a
    shape that it must equal. A parameter that must fit the arrays can be listed here, too, such as
    ``{"n_hidden": "size M or auto"}``.
    """
    _traits: ClassVar[Traits] = Traits()
    """What `traits` returns, if that depends on no parameter."""
    _of_users: ClassVar[dict[str, type[SequenceMemory]]] = {}
    """Classes from outside this package, which `sa.load` finds by name."""
    _usual_epochs: ClassVar[int] = 0
    """The number of epochs that ``max_epochs="auto"`` stands for."""

    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"
    warm_start: bool = False
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    order_: int
    _hidden_states: Callable[[Patterns], Patterns]
    """Eq. (2): (B, order * N) -> (B, M); only networks with a hidden layer define it."""
    _learned_from: LearnedFrom | None = None
    """None if something else has changed the network since the last `fit`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__module__.startswith("seqattractor."):
            SequenceMemory._of_users[cls.__name__] = cls

    # -- what a network defines ---------------------------------------------------------------

    @abstractmethod
    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state.

        Parameters
        ----------
        states : ndarray of int8, shape (B, order * N)
            The last `order` patterns side by side, oldest first.
        memory : ndarray of shape (B, ...) or None
            What `start` returned, as changed by the steps since then; to be changed in place. None
            starts a run.

        Returns
        -------
        ndarray of int8, shape (B, N)
            Of -1 and +1.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> bool((sa.zoo.LookupMemory().fit(X).next_patterns(X[:5]) == X[1:6]).all())
        True
        """

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Learn from scratch; `fit` calls this with checked data.

        Parameters
        ----------
        transitions : Transitions
            ``inputs`` (n, order * N), ``targets`` (n, N) and ``lengths`` (S,), the number of
            transitions of each sequence.
        callback : callable, optional
            To be called as ``callback(epoch, hidden_errors, visible_errors)`` after each epoch;
            True ends learning.

        Returns
        -------
        tuple of int, optional
            Hidden and visible errors that are left; `fit` warns of them.

        Examples
        --------
        >>> import seqattractor as sa
        >>> net = sa.zoo.LookupMemory()
        >>> net.fit_transitions(net.transitions(sa.datasets.xor()))
        >>> net.counts_
        array([1, 1, 1, 1])
        """
        raise TypeError(
            f"{type(self).__name__} does not define how it learns; write fit_transitions(self, "
            "transitions, callback=None), or a fit that calls self.transitions(X, lengths) first."
        )

    def _resume(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Continue learning; `fit` calls this instead of `fit_transitions` with
        ``warm_start=True``.
        """
        raise TypeError(f"{type(self).__name__} cannot continue learning; use warm_start=False.")

    def start(self, states: Patterns) -> NDArray[Any] | None:
        """Return the slow or latent variables with which a run starts; by default a network has
        none.

        Parameters
        ----------
        states : ndarray of int8, shape (B, order * N)

        Returns
        -------
        ndarray of shape (B, ...) or None
            A row for each run.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> net = sa.zoo.SlowSynapseMemory(slow_steps=4)
        >>> net.start(X[:3]).shape  # the last four states of three runs
        (3, 4, 50)
        """
        return None

    def layers(self) -> tuple[Layer, ...] | None:
        """Return the layers of threshold neurons that a state passes through, or None if the
        network has none.

        Returns
        -------
        tuple of Layer, or None

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.OneHotNetwork().fit(sa.datasets.xor()).layers()[0]
        Layer(4 threshold neurons, 2 inputs, states -1 and 1)
        """
        return None

    def traits(self) -> Traits:
        """Return the traits of the network that a comparison lists beside its results.

        Returns
        -------
        Traits

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.zoo.LookupMemory().traits().note
        'no network: a table of all patterns, searched for the nearest'
        """
        return self._traits

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense; `fit` calls this first.

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.SequenceAttractor(n_hidden=0).check_parameters()
        Traceback (most recent call last):
        ValueError: n_hidden must be at least 1, but it is 0.
        """

    @property
    def _leak(self) -> float:
        """The fraction of the summed input that is left after a step; 0: neurons see only the last
        `order` patterns.
        """
        return 0.0

    def _check_learned(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Raise an error if arrays of a model file do not fit each other in a way that `_arrays`
        cannot express.
        """

    # -- learning -----------------------------------------------------------------------------

    def fit(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Learn sequences, from scratch or with ``warm_start=True`` on top of what was learned
        before.

        If learning fails or is interrupted, the network is rolled back.

        Parameters
        ----------
        X : Sequences, array of +-1 of shape (T, N), a list of arrays of shape (T_s, N), or array of
        shape (S, T, N)
            The patterns, one row per time step. An array of three dimensions is S sequences of
            equal length; frames (T, height, width) must be flattened first, ``X.reshape(len(X),
            -1)``. Frames of pandas, polars and pynapple, tensors of torch and arrays of xarray are
            accepted, and so are True and False, or 1 and 0 without other values, for +1 and -1. A
            memory-mapped array of int8 (``np.load(path, mmap_mode="r")``) stays on disk.
        lengths : array of shape (S,), optional
            How many rows of `X` belong to each sequence. By default `X` is one sequence.
        callback : callable, optional
            Called as ``callback(epoch, hidden_errors, visible_errors)`` after each epoch; returning
            True ends learning. Without hidden neurons ``hidden_errors`` is 0. Networks that learn
            in one go do not call it.

        Returns
        -------
        self

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> errors = []
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0)
        >>> keep = lambda epoch, hidden, visible: errors.append((hidden, visible))
        >>> net = net.fit(X, callback=keep)
        >>> len(errors) == net.n_iter_, errors[-1]
        (True, (0, 0))
        """
        resuming = bool(self.warm_start) and self._has_learned
        with unchanged_by_failure(self, in_place=resuming):
            self.check_parameters()
            if not resuming:
                self._forget()
            transitions = self.transitions(X, lengths, continuing=resuming)
            learn = self._resume if resuming else self.fit_transitions
            with self._announced(callback) as report:
                left = learn(transitions, report)
            missing = self._count_missing(transitions) if left is not None and any(left) else None
        self._learned_from = LearnedFrom(
            len(transitions.lengths), len(transitions.targets), missing
        )
        if left is not None and missing is not None:
            self._warn_of_errors(left, missing, len(transitions.targets))
        return self

    def transitions(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        continuing: bool = False,
    ) -> Transitions:
        """Check sequences that are to be learned, set N and the order, and reject conflicts.

        Parameters
        ----------
        X, lengths
            As in `fit`.
        continuing : bool
            Whether N and the order stay as they are.

        Returns
        -------
        Transitions

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.zoo.LookupMemory().transitions(sa.datasets.xor()).inputs.shape
        (4, 2)
        """
        self._check_order()
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
        return split_transitions(patterns, checked, self.order_)

    def _check_order(self) -> None:
        """Raise an error if `order` or `on_conflict` makes no sense."""
        if not is_auto(self.order) and not is_count(self.order):
            raise ValueError(
                f"order must be a whole number, 1 or more, or 'auto', but it is {say(self.order)}."
            )
        check_choice(self.on_conflict, "on_conflict", ("raise", "learn"))

    @property
    def _has_learned(self) -> bool:
        return "n_features_in_" in vars(self)

    def _fitted(self) -> dict[str, Any]:
        """Return the fitted attributes by name."""
        learned = {k: v for k, v in vars(self).items() if k.endswith("_") and not k.startswith("_")}
        return learned | {name: getattr(self, name) for name in held_arrays(self)}

    def _forget(self) -> None:
        """Delete all fitted attributes."""
        for name in self._fitted():
            delattr(self, name)
        self._learned_from = None

    def _count_missing(self, transitions: Transitions) -> int:
        """Return the number of transitions that are not stored."""
        inputs, targets, _ = transitions
        if self.start(inputs[:1]) is not None:  # what follows depends on all that came before
            return int(self._wrong_units(transitions).any(axis=1).sum())
        missing = 0
        for part in pieces(len(inputs), 2**12):
            some = Transitions(inputs[part], targets[part], np.array([len(inputs[part])]))
            missing += int(self._wrong_units(some).any(axis=1).sum())
        return missing

    def _warn_of_errors(self, left: tuple[int, int], missing: int, n: int) -> None:
        """Warn as scikit-learn does of errors that are left, and of transitions that are not
        stored.
        """
        epochs = int(getattr(self, "n_iter_", 1))
        hidden, visible = left
        words = (
            f"{hidden} hidden and {visible} visible errors"
            if hidden
            else f"{visible} visible errors"
        )
        stored = (
            f"{missing} of {n} transitions {'is' if missing == 1 else 'are'} not stored"
            if missing
            else "every transition is right, but not with its full margin, "
            "so that recall from noise may fail"
        )
        warnings.warn(
            f"{type(self).__name__} ended after {epochs} epoch{'s' if epochs != 1 else ''} with "
            f"{words} left in the last one; {stored}: {' or '.join(self._remedies())}.",
            ConvergenceWarning,
            stacklevel=3,  # of `fit`
        )

    @property
    def _epoch_limit(self) -> int:
        """The largest number of epochs, or 0 if there is none."""
        most: Any = getattr(self, "max_epochs", None)
        return self._usual_epochs if is_auto(most) else int(most) if is_count(most) else 0

    def _remedies(self) -> list[str]:
        """Return what to try where errors are left: nothing that a search for `n_hidden` has
        tried.
        """
        settings = self.get_params(deep=False)
        searched = is_auto(settings.get("n_hidden"))
        raised = searched and is_auto(settings.get("max_epochs"))
        ended = (
            "max_epochs" in settings
            and getattr(self, "n_iter_", 1) >= (self._epoch_limit or np.inf)
            and not raised
        )
        return [
            *(["allow more epochs (max_epochs)"] if ended else []),
            *(["use more hidden neurons"] if "n_hidden" in settings and not searched else []),
            *([f"let it see more of the past (order={self.order_ + 1})"] if searched else []),
            "store less",
        ]

    @contextmanager
    def _announced(self, callback: ProgressCallback | None) -> Iterator[ProgressCallback | None]:
        """Return a callback that also shows a bar or prints lines if `verbose` is set."""
        verbose = getattr(self, "verbose", 0)
        verbose = int(verbose) if isinstance(verbose, bool) else check_count(verbose, "verbose", 0)
        if not verbose:
            yield callback
            return

        def line(epoch: int, hidden: int, visible: int) -> None:
            print_line(f"epoch {epoch}: {hidden} hidden errors, {visible} visible errors")

        most = 0 if is_auto(getattr(self, "n_hidden", None)) else self._epoch_limit
        with (
            epoch_progress(most or None, stays=True) if verbose == 1 else nullcontext(line) as show
        ):

            def report(epoch: int, hidden: int, visible: int) -> bool | None:
                show(epoch, hidden, visible)
                return callback(epoch, hidden, visible) if callback is not None else None

            yield report

    # -- recall -------------------------------------------------------------------------------

    def step(self, state: ArrayLike) -> Patterns:
        """Return the pattern that follows a state.

        Parameters
        ----------
        state : array of +-1, shape (N,), or (B, N) for a batch
            For a network of order k the last k patterns, oldest first: (k, N), or (B, k, N).

        Returns
        -------
        ndarray of int8, shape (N,) or (B, N)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.xor()
        >>> sa.OneHotNetwork().fit(X).step(X[0]), X[1]
        (array([ 1, -1], dtype=int8), array([ 1, -1], dtype=int8))
        """
        states, single = self._as_states(state, "state")
        following = Run(self, states.reshape(len(states), -1)).step()
        return following[0] if single else following

    def predict(self, X: ArrayLike) -> Patterns:
        """Return the pattern after each state of a batch: `step` as scikit-learn calls it.

        Parameters
        ----------
        X : array of +-1, shape (n, N)
            For a network of order k > 1 windows of its last k patterns, oldest first: (n, k, N).

        Returns
        -------
        ndarray of int8, shape (n, N)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> bool((sa.zoo.LookupMemory().fit(X).predict(X[:-1]) == X[1:]).all())
        True
        """
        _states, single = self._as_states(X, "X")
        if single:
            raise ValueError(
                "X is a single state, and predict takes a batch of them: use step, or X[None]."
            )
        return self.step(X)

    def recall(
        self, cue: ArrayLike, steps: int, *, noise: int = 0, rng: _noise.Seed = None
    ) -> Patterns:
        """Let the network run from a cue.

        Parameters
        ----------
        cue : array of +-1, shape (order, N), or (B, order, N) for a batch
            The first patterns, oldest first, such as ``X[: net.order_]``. A network of order 1 also
            takes one pattern, (N,), and a batch (B, N) of more than one: (1, N) is one cue, and a
            batch that may be of one is (B, 1, N).
        steps : int
            How many patterns to recall.
        noise : int
            How many randomly chosen units of the newest pattern are flipped before every step.
        rng : int, Generator or None
            The source of the noise.

        Returns
        -------
        ndarray of int8, shape (order + steps, N) or (B, order + steps, N)
            The cue, then the answers of the network (before the noise of the next step).

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> net = sa.zoo.LookupMemory().fit(X)
        >>> net.recall(X[: net.order_], steps=30).shape
        (31, 50)
        >>> net.recall(sa.noise.flip(X[:4], 5, rng=1), steps=30, noise=2, rng=2).shape
        (4, 31, 50)
        """
        states, single = self._as_cues(cue)
        B, order, N = states.shape
        if not is_count(steps, 0):
            raise ValueError(f"steps must be a whole number, 0 or more, but it is {say(steps)}.")
        if not is_count(noise, 0) or noise > N:
            raise ValueError(
                f"noise must be a whole number from 0 to {N}, the number of units, but it is "
                f"{say(noise)}."
            )
        generator = _noise.as_generator(rng, "recall")
        check_memory(B * (order + int(steps)) * N, f"a recall of {steps} steps")
        trajectory = np.empty((B, order + int(steps), N), dtype=np.int8)
        trajectory[:, :order] = states
        run = Run(self, states.reshape(B, -1))
        for t in range(order, order + int(steps)):
            trajectory[:, t] = run.step(noise, generator)
        return trajectory[0] if single else trajectory

    @available_if(lambda net: hasattr(net, "_hidden_states") and getattr(net, "n_hidden", 1) != 0)  # type: ignore[untyped-decorator]
    def hidden(self, states: ArrayLike) -> Patterns:
        """Return the state zeta of the hidden neurons, eq. (2), of a network with a hidden layer.

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

    def score(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> float:
        """Return the fraction of transitions x(t) -> x(t+1) that the network makes without a wrong
        unit.

        A network whose answer depends on what came before is shown every sequence from its start.

        Parameters
        ----------
        X, lengths
            As in `fit`.

        Returns
        -------
        float

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(21, 50, rng=0)
        >>> net = sa.zoo.LookupMemory().fit(X[:11])  # 10 of the 20 transitions
        >>> net.score(X[:11]), net.score(X) < 1
        (1.0, True)
        """
        return float(np.mean(~self.wrong_units(X, lengths).any(axis=1)))

    def wrong_units(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None
    ) -> NDArray[np.bool_]:
        """Return which units are wrong one step after each stored pattern.

        Parameters
        ----------
        X, lengths
            As in `fit`.

        Returns
        -------
        ndarray of bool, shape (n_transitions, N)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(40, 50, rng=0)
        >>> sa.zoo.LookupMemory().fit(X[:20]).wrong_units(X[:20]).any()
        np.False_
        """
        return self._wrong_units(self._shown(X, lengths))

    def _shown(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None
    ) -> Transitions:
        """Return the transitions of sequences that are shown to a network that has learned."""
        check_is_fitted(self, "n_features_in_")
        patterns, checked = check_sequences(X, lengths, order=self.order_)
        check_patterns(patterns[:1], "X", n_features=self.n_features_in_)
        check_column_names(X, getattr(self, "feature_names_in_", None))
        return split_transitions(patterns, checked, self.order_)

    def _wrong_units(self, shown: Transitions) -> NDArray[np.bool_]:
        """Return which units are wrong one step on, shape (n, N); the network is led to each
        pattern.
        """
        run = Run(self, shown.inputs, led_memory(self, shown))
        return np.asarray(run.step() != shown.targets)

    def _as_states(self, state: ArrayLike, name: str) -> tuple[Patterns, bool]:
        """Return one state or a batch of them as (B, order, N), and whether it is a single one."""
        check_is_fitted(self, "n_features_in_")
        check_column_names(state, getattr(self, "feature_names_in_", None), f"the {name}")
        array = as_numbers(time_first(state), name)
        n, order = self.n_features_in_, self.order_
        states = array[..., None, :] if order == 1 and array.ndim in (1, 2) else array
        if states.ndim not in (2, 3) or states.shape[-2:] != (order, n) or states.size == 0:
            one = (n,) if order == 1 else (order, n)
            raise ValueError(
                f"the {name} has the shape {array.shape}, but this network takes {one}, or "
                f"(batch, {', '.join(map(str, one))})"
                + ("." if order == 1 else f": the last {order} patterns, oldest first.")
            )
        checked = check_patterns(array.reshape(-1, n), name, shape=array.shape)
        return checked.reshape(-1, order, n), states.ndim == 2

    def _as_cues(self, cue: ArrayLike) -> tuple[Patterns, bool]:
        """Return the same for cues: X[:order] is a single one."""
        states, single = self._as_states(cue, "cue")
        return states, single or np.shape(time_first(cue)) == states.shape[1:]

    # -- saving, exporting, showing -----------------------------------------------------------

    def n_parameters(self) -> int:
        """Count the parameters that a trained network needs for recall.

        Returns
        -------
        int

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.zoo.HebbianMemory().fit(sa.datasets.random_periodic(4, 30, rng=0)).n_parameters()
        900
        """
        check_is_fitted(self, "n_features_in_")
        names = self.traits().weights
        if names is None:
            arrays = [k for k, v in self._fitted().items() if isinstance(v, np.ndarray)]
            names = tuple(k for k in arrays if not k.endswith(("errors_", "names_in_")))
        return sum(int(np.asarray(getattr(self, name)).size) for name in names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file atomically; `sa.load` reads it.

        Parameters
        ----------
        path : str or path
            The name of the file, an npz with all arrays as they are and a JSON header (no pickle).

        Examples
        --------
        >>> import tempfile, pathlib, seqattractor as sa
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
        >>> sa.OneHotNetwork().fit(sa.datasets.xor()).save(path)
        >>> sa.load(path)
        OneHotNetwork()
        """
        check_is_fitted(self, "n_features_in_")
        model_file.write_model(path, *model_file.contents(self))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file for other tools atomically, in the format that its suffix
        names.

        Parameters
        ----------
        path : str or path
            ``.safetensors`` holds the same as ``.npz``, the model file of `save`, for any network.
            ``.onnx`` and ``.nir`` hold the layers of networks of threshold neurons
            (`seqattractor.networks.to_onnx`, ``to_nir``). `sa.load` reads all of them but ``.nir``
            files, which ``sa.networks.from_nir(nir.read(path))`` does.

        Examples
        --------
        >>> import tempfile, pathlib, seqattractor as sa
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
        >>> sa.OneHotNetwork().fit(sa.datasets.xor()).export(path)
        >>> sa.load(path)
        OneHotNetwork()
        """
        _export.export(self, path)

    def _repr_html_inner(self) -> str:
        return card.html(self) + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # not with scikit-learn's set_config(display="text")
            bundle["text/html"] = card.html(self) + bundle["text/html"]
        return bundle


def check_learned(net: Any) -> None:
    """Raise an error if `net` is not a network, or has not learned anything."""
    check_kind(
        net, SequenceMemory, "net", "a network that has learned, such as SequenceAttractor().fit(X)"
    )
    check_is_fitted(net, "n_features_in_")
