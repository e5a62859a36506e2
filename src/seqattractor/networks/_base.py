"""SequenceMemory: what every network can do. A network says how it learns and what comes next; the rest stands here, once."""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
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
from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._declared import check_fitted
from seqattractor.networks._model_file import from_json, to_json, write_model
from seqattractor.networks._run import Run, led_memory
from seqattractor.networks._traits import Layer, Traits
from seqattractor.sequences import Patterns, Transitions, check_patterns, check_sequences, transitions
from seqattractor.sequences._transitions import check_no_conflicts, conflicts


def check_learned(net: Any) -> None:
    """Refuse what is not a network, or has not learned anything.

    Examples
    --------
    >>> check_learned("x")
    Traceback (most recent call last):
    TypeError: net must be a network that has learned, such as SequenceAttractor().fit(X), but it is 'x'.
    """
    check_kind(net, SequenceMemory, "net", "a network that has learned, such as SequenceAttractor().fit(X)")
    check_is_fitted(net, "n_features_in_")


class SequenceMemory(ABC, BaseEstimator):  # type: ignore[misc]
    """A network that stores sequences of +-1 patterns and recalls them from a cue.

    A network of your own derives from this class and says two things: how it learns (`fit_transitions`), and what comes next
    (`next_patterns`). It then has `fit`, `step`, `recall`, `score` and `save`, loads with `sa.load`, and can be analysed and
    compared like those of this package. Further methods can be written where they apply: `start` for slow or latent variables,
    `layers` for certificates, `traits` for what is fair to know. Parameters are assigned in ``__init__`` and checked in
    `check_parameters`; what is learned goes into attributes that end in ``_`` (arrays and plain values are saved with the model).

    Attributes
    ----------
    n_features_in_ : int
        N, the number of visible neurons.
    order_ : int
        How many past patterns the network looks at.
    metadata_ : dict
        Anything that should travel with the model file, such as the shape of a frame; plain JSON values.

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

    _of_users: ClassVar[dict[str, type[SequenceMemory]]] = {}
    """Classes from outside this package, which `sa.load` must know by name."""

    declared_arrays: ClassVar[dict[str, str]] = {}
    """What the class learns, for the check of model files: kind ("float", "int", "count", "pattern" of -1 and +1, "ternary" of
    -1, 0 and +1) and symbols of the shape of each array, such as ``{"U_": "float M kN"}``. Behind " if " stands a parameter, or
    "name=word", without which it is not there. A class of the user's may declare nothing: then it saves what its methods set."""
    declared_values: ClassVar[dict[str, str]] = {}
    """The same for single values: "number", "positive", "flag", "generator", "word" with the words there are, "count" with the
    symbol of its upper limit if there is one, or "size" with the symbol of a shape that it must be. A parameter that must fit
    the arrays can stand here too, such as ``{"n_hidden": "size M or auto"}``: behind " or " is a word that fits, too."""

    n_features_in_: int
    order_: int
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__module__.startswith("seqattractor."):
            SequenceMemory._of_users[cls.__name__] = cls

    # -- what a network says ------------------------------------------------------------------------------------

    @abstractmethod
    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Give the pattern after each state.

        Parameters
        ----------
        states : ndarray of int8, shape (B, order * N)
            The last `order` patterns side by side, oldest first.
        memory : ndarray of shape (B, ...) or None
            What `start` gave, as the steps since then have changed it; to be changed in place. Without one a run starts here.

        Returns
        -------
        ndarray of int8, shape (B, N)
            Of -1 and +1.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> bool((sa.LookupMemory().fit(X).next_patterns(X[:5]) == X[1:6]).all())
        True
        """

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int] | None:
        """Learn from scratch; `fit` calls this with checked data.

        Parameters
        ----------
        transitions : Transitions
            ``inputs`` (n, order * N), ``targets`` (n, N) and ``lengths`` (S,), the number of transitions of each sequence.
        callback : callable, optional
            To be called as ``callback(epoch, hidden_errors, visible_errors)`` after each epoch; True ends learning.

        Returns
        -------
        tuple of int, optional
            Hidden and visible errors that are left; `fit` warns of them.

        Examples
        --------
        >>> import seqattractor as sa
        >>> class Shy(sa.SequenceMemory):
        ...     def next_patterns(self, states, memory=None):
        ...         return states
        >>> Shy().fit(sa.datasets.xor())
        Traceback (most recent call last):
        TypeError: Shy does not say how it learns; write fit_transitions(self, transitions, callback=None), or a fit that calls
        self.transitions(X, lengths) first.
        """
        raise TypeError(
            f"{type(self).__name__} does not say how it learns; write fit_transitions(self, transitions, callback=None), or a "
            "fit that calls self.transitions(X, lengths) first."
        )

    def start(self, states: Patterns) -> NDArray[Any] | None:
        """Give the slow or latent variables with which a run starts; by default a network has none.

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
        >>> sa.SlowSynapseMemory(slow_steps=4).start(X[:3]).shape  # the last four states of three runs
        (3, 4, 50)
        """
        return None

    def layers(self) -> tuple[Layer, ...] | None:
        """Give the layers of threshold neurons that a state passes through, for margins and certificates; None if there are none.

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
        """Tell what is fair to know beside the results of this network; by default nothing is said.

        Returns
        -------
        Traits

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.LookupMemory().traits().note
        'no network: a table of all patterns, searched for the nearest'
        """
        return Traits()

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense; `fit` calls this first. By default there is nothing to refuse.

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.SequenceAttractor(n_hidden=0).check_parameters()
        Traceback (most recent call last):
        ValueError: n_hidden must be at least 1, but it is 0.
        """

    def check_order(self) -> None:
        """Refuse an `order` or `on_conflict` that makes no sense; every network has them.

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.LookupMemory(order=0).check_order()
        Traceback (most recent call last):
        ValueError: order must be a whole number, 1 or more, or 'auto', but it is 0.
        """
        if not is_auto(self.order) and not is_count(self.order):
            raise ValueError(f"order must be a whole number, 1 or more, or 'auto', but it is {say(self.order)}.")
        check_choice(self.on_conflict, "on_conflict", ("raise", "learn"))

    # -- learning -----------------------------------------------------------------------------------------------

    def fit(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, callback: ProgressCallback | None = None
    ) -> Self:
        """Learn sequences from scratch. If it fails, the network is as it was before.

        Parameters
        ----------
        X : Sequences, array of +-1 of shape (T, N), or a list of arrays of shape (T_s, N)
            The patterns, one row per time step.
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
        with self._unchanged_by_failure():
            self.check_parameters()
            self._forget()
            transitions = self.transitions(X, lengths)
            left = self.fit_transitions(transitions, self._announcing(callback))
        self._warn_of_errors(left, transitions)
        return self

    def transitions(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, continuing: bool = False
    ) -> Transitions:
        """Check sequences that are to be learned, settle N and the order, and refuse conflicts.

        Parameters
        ----------
        X : Sequences, array of +-1 of shape (T, N), or a list of arrays of shape (T_s, N)
        lengths : array of shape (S,), optional
        continuing : bool
            A network that has learned before keeps its N and its order.

        Returns
        -------
        Transitions

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.LookupMemory().transitions(sa.datasets.xor()).inputs.shape
        (4, 2)
        """
        self.check_order()
        order = self.order_ if check_flag(continuing, "continuing") else self.order
        patterns, checked = check_sequences(X, lengths, order=1 if is_auto(order) else int(order))
        if continuing:
            check_patterns(patterns[:1], "X", n_features=self.n_features_in_)
        if is_auto(order):
            ambiguous = conflicts(patterns, checked)
            if ambiguous.context is None:
                raise ValueError(ambiguous.describe())
            order = ambiguous.context
        if self.on_conflict == "raise":
            check_no_conflicts(patterns, checked, int(order))
        self.n_features_in_ = patterns.shape[1]
        self.order_ = int(order)
        return transitions(patterns, checked, self.order_)

    # -- recall -------------------------------------------------------------------------------------------------

    def step(self, state: ArrayLike) -> Patterns:
        """Give the pattern that follows a state.

        Parameters
        ----------
        state : array of +-1, shape (N,), or (B, N) for a batch
            For a network of order k > 1 the last k patterns, oldest first: (k, N), or (B, k, N).

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

    def recall(self, cue: ArrayLike, steps: int, *, noise: int = 0, rng: _noise.Seed = None) -> Patterns:
        """Let the network run from a cue.

        Parameters
        ----------
        cue : array of +-1, shape (N,), or (B, N) for a batch
            For a network of order k > 1 the first k patterns, oldest first: (k, N), or (B, k, N).
        steps : int
            How many patterns to recall.
        noise : int
            How many randomly chosen units of the newest pattern are flipped before every step.
        rng : int, Generator or None
            Where the noise comes from.

        Returns
        -------
        ndarray of int8, shape (order + steps, N) or (B, order + steps, N)
            The cue, then what the network answered (before the noise of the next step).

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> net = sa.LookupMemory().fit(X)
        >>> net.recall(X[0], steps=30).shape
        (31, 50)
        >>> net.recall(sa.noise.flip(X[:4], 5, rng=1), steps=30, noise=2, rng=2).shape
        (4, 31, 50)
        """
        states, single = self._as_states(cue, "cue")
        if not is_count(steps, 0):
            raise ValueError(f"steps must be a whole number, 0 or more, but it is {say(steps)}.")
        if not is_count(noise, 0) or noise > states.shape[2]:
            n = states.shape[2]
            raise ValueError(f"noise must be a whole number from 0 to {n}, the number of units, but it is {say(noise)}.")
        generator = _noise.as_generator(rng, "recall")
        order = states.shape[1]
        check_memory(len(states) * (order + int(steps)) * states.shape[2], f"a recall of {steps} steps")
        trajectory = np.empty((len(states), order + int(steps), states.shape[2]), dtype=np.int8)
        trajectory[:, :order] = states
        run = Run(self, states.reshape(len(states), -1))
        for t in range(order, order + int(steps)):
            trajectory[:, t] = run.step(noise, generator)
        return trajectory[0] if single else trajectory

    def score(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> float:
        """Give the fraction of transitions x(t) -> x(t+1) that the network makes without a wrong unit.

        A network whose answer depends on what came before is shown every sequence from its start.

        Parameters
        ----------
        X : Sequences, array of shape (T, N), or a list of arrays of shape (T_s, N)
        lengths : array of shape (S,), optional

        Returns
        -------
        float

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(21, 50, rng=0)
        >>> net = sa.LookupMemory().fit(X[:11])  # 10 of the 20 transitions
        >>> net.score(X[:11]), net.score(X) < 1
        (1.0, True)
        """
        return float(np.mean(~self.wrong_units(X, lengths).any(axis=1)))

    def wrong_units(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Tell which units are wrong one step after each stored pattern.

        Parameters
        ----------
        X : Sequences, array of shape (T, N), or a list of arrays of shape (T_s, N)
        lengths : array of shape (S,), optional

        Returns
        -------
        ndarray of bool, shape (n, N)
            A row for each transition.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(40, 50, rng=0)
        >>> sa.LookupMemory().fit(X[:20]).wrong_units(X[:20]).any()
        np.False_
        """
        return self._wrong_units(self.shown(X, lengths))

    def shown(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> Transitions:
        """Check sequences that are shown to a network that has learned, and give their transitions.

        Parameters
        ----------
        X : Sequences, array of shape (T, N), or a list of arrays of shape (T_s, N)
        lengths : array of shape (S,), optional

        Returns
        -------
        Transitions

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> sa.LookupMemory().fit(X[:10]).shown(X).targets.shape
        (19, 50)
        """
        check_learned(self)
        patterns, checked = check_sequences(X, lengths, order=self.order_)
        check_patterns(patterns[:1], "X", n_features=self.n_features_in_)
        return transitions(patterns, checked, self.order_)

    def n_parameters(self) -> int:
        """Count the parameters that a trained network needs for recall.

        Returns
        -------
        int

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.HebbianMemory().fit(sa.datasets.random_periodic(4, 30, rng=0)).n_parameters()
        900
        """
        check_learned(self)
        names = self.traits().weights
        if names is None:
            names = tuple(k for k, v in self._fitted().items() if isinstance(v, np.ndarray) and not k.endswith("errors_"))
        return sum(int(np.asarray(getattr(self, name)).size) for name in names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to one file, whole or not at all; `sa.load` brings it back.

        Parameters
        ----------
        path : str or path
            The name of the file, an npz with a JSON header (no pickle).

        Examples
        --------
        >>> import tempfile, pathlib, seqattractor as sa
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
        >>> sa.OneHotNetwork().fit(sa.datasets.xor()).save(path)
        >>> sa.load(path)
        OneHotNetwork()
        """
        check_learned(self)
        from seqattractor import __version__

        fitted = self._fitted()
        arrays = {k: v for k, v in fitted.items() if isinstance(v, np.ndarray)}
        values = {k: to_json(v, k) for k, v in fitted.items() if k not in arrays}
        parameters = {k: to_json(v, k) for k, v in self.get_params(deep=False).items()}
        as_loaded = [{k: from_json(v) for k, v in part.items()} for part in (parameters, values)]
        try:  # what could not be loaded is not saved
            check_fitted(self, as_loaded[0], as_loaded[1], arrays)
        except (TypeError, ValueError) as error:
            raise type(error)(f"this {type(self).__name__} cannot be saved: {str(error).rstrip('.')}.") from None
        header = {"class": type(self).__name__, "parameters": parameters, "values": values, "seqattractor": __version__}
        write_model(path, header, arrays)

    # -- inside -------------------------------------------------------------------------------------------------

    def _fitted(self) -> dict[str, Any]:
        """What the network has learned, by the name of the attribute."""
        return {k: v for k, v in vars(self).items() if k.endswith("_") and not k.startswith("_")}

    def _forget(self) -> None:
        """Drop all that was learned before, and what was attached to it."""
        for name in self._fitted():
            delattr(self, name)

    def _wrong_units(self, shown: Transitions) -> NDArray[np.bool_]:
        """Which units are wrong one step on, shape (n, N); the network is led to each pattern."""
        run = Run(self, shown.inputs, led_memory(self, shown))
        return np.asarray(run.step() != shown.targets)

    @contextmanager
    def _unchanged_by_failure(self, *, in_place: bool = False) -> Iterator[None]:
        """Put all attributes back if learning fails, is interrupted, or its callback raises; random generators too.

        Learning on top of what is there may change arrays in place: then their contents are put back as well.
        """
        before = dict(vars(self))
        arrays = [(value, value.copy()) for value in before.values() if in_place and isinstance(value, np.ndarray)]
        generators = [value.bit_generator for value in before.values() if isinstance(value, np.random.Generator)]
        states = [generator.state for generator in generators]
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            for array, content in arrays:
                array[...] = content
            for generator, state in zip(generators, states, strict=True):
                generator.state = state
            raise

    def _warn_of_errors(self, left: tuple[int, int] | None, transitions: Transitions) -> None:
        """Issue scikit-learn's ConvergenceWarning if errors are left, and say what they mean for what was to be stored."""
        if left is None or not any(left):
            return
        epochs = int(getattr(self, "n_iter_", 1))
        hidden, visible = left
        words = f"{hidden} hidden and {visible} visible errors" if hidden else f"{visible} visible errors"
        missing = int(self._wrong_units(transitions).any(axis=1).sum())
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

    def _remedies(self) -> list[str]:
        """What to try where errors are left."""
        settings = self.get_params(deep=False)
        return [
            *(["allow more epochs (max_epochs)"] if getattr(self, "n_iter_", 1) == settings.get("max_epochs") else []),
            *(["use more hidden neurons"] if "n_hidden" in settings else []),
            "store less",
        ]

    def _announcing(self, callback: ProgressCallback | None) -> ProgressCallback | None:
        """Let the callback also print a line now and then, if the user wants it (`verbose`)."""
        verbose = getattr(self, "verbose", 0)
        verbose = int(verbose) if isinstance(verbose, bool) else check_count(verbose, "verbose", 0)
        if not verbose:
            return callback

        def tell(epoch: int, hidden: int, visible: int) -> bool | None:
            if epoch % (1 if verbose > 1 else 50) == 0 or epoch == 1 or hidden == visible == 0:
                print(f"epoch {epoch}: {hidden} hidden errors, {visible} visible errors", file=sys.stderr)
            return callback(epoch, hidden, visible) if callback is not None else None

        return tell

    def _as_states(self, state: ArrayLike, name: str) -> tuple[Patterns, bool]:
        """Check one state or a batch of them and give it as (B, order, N)."""
        check_learned(self)
        array = as_numbers(state, name)
        n, order = self.n_features_in_, self.order_
        one = (n,) if order == 1 else (order, n)
        single = array.ndim == len(one)
        right_depth = single or array.ndim == len(one) + 1
        if not right_depth or array.shape[-len(one) :] != one or array.size == 0:
            raise ValueError(
                f"the {name} has the shape {array.shape}, but this network takes {one}, or (batch, {', '.join(map(str, one))})"
                + ("." if order == 1 else f": the last {order} patterns, oldest first.")
            )
        return check_patterns(array.reshape(-1, n), name, shape=array.shape).reshape(-1, order, n), single
