"""SequenceMemory: what every network can do. Subclasses say how they learn and what comes next."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from seqattractor import noise as _noise
from seqattractor._checks import is_count
from seqattractor.networks._model_file import read_model, write_model
from seqattractor.networks._plain_values import from_json, to_json
from seqattractor.networks._traits import Traits
from seqattractor.sequences import Lengths, Patterns, check_patterns, check_sequences, transitions
from seqattractor.sequences._successors import check_no_conflicts, conflicts

__all__ = ["Lesson", "SequenceMemory", "load"]


class Lesson(NamedTuple):
    """What a network learns from: transitions x(t) -> x(t+1) in the paper's order, and how many each sequence has."""

    inputs: Patterns  # (n, order * N)
    targets: Patterns  # (n, N)
    lengths: Lengths  # (S,), which sum to n


class SequenceMemory(ABC, BaseEstimator):  # type: ignore[misc]
    """A network that stores sequences of +-1 patterns and recalls them from a cue.

    A subclass implements `fit` and `_next`; it then has `step`, `recall`, `score` and `save`, can be loaded with `sa.load`,
    and takes part in every comparison. Parameters are assigned in ``__init__`` and checked in `fit`; what is learned goes into
    attributes that end in ``_`` (arrays and plain values are saved with the model).

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
    A memory that answers with the stored pattern nearest to the cue, one step on:

    >>> import numpy as np, seqattractor as sa
    >>> class Nearest(sa.SequenceMemory):
    ...     def fit(self, X, lengths=None):
    ...         self.inputs_, self.targets_ = self._transitions(X, lengths)
    ...         return self
    ...     def _next(self, states):
    ...         return self.targets_[np.argmax(states.astype(int) @ self.inputs_.T, axis=1)]
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.retrieved(Nearest().fit(X).recall(sa.noise.flip(X[0], 5, rng=1), steps=40), X)
    True
    """

    _classes: ClassVar[dict[str, type[SequenceMemory]]] = {}

    n_features_in_: int
    order_: int
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        SequenceMemory._classes[cls.__name__] = cls

    # -- what a subclass gives ----------------------------------------------------------------------------------

    @abstractmethod
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
        """

    @abstractmethod
    def _next(self, states: Patterns) -> Patterns:
        """The pattern after each state: (B, order * N) -> (B, N)."""

    # -- what it gets -------------------------------------------------------------------------------------------

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
        following = self._next(states.reshape(len(states), -1))
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
            raise ValueError(f"steps must be a whole number, 0 or more, but it is {steps!r}.")
        generator = _noise.as_generator(rng)
        order = states.shape[1]
        trajectory = np.empty((len(states), order + int(steps), states.shape[2]), dtype=np.int8)
        trajectory[:, :order] = states
        window = states.copy()
        memory = self._start_recall(window)
        for t in range(order, order + int(steps)):
            if noise:
                window[:, -1] = _noise.flip(window[:, -1], noise, generator)
            following = self._recall_step(window.reshape(len(window), -1), memory)
            trajectory[:, t] = following
            window = np.concatenate([window[:, 1:], following[:, None]], axis=1)
        return trajectory[0] if single else trajectory

    def score(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> float:
        """Give the fraction of transitions x(t) -> x(t+1) that the network makes without a wrong unit.

        A network whose answer depends on what came before is shown every sequence from its start.

        Parameters
        ----------
        X : array of shape (T, N), or a list of arrays of shape (T_s, N)
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
        return float(np.mean(~self._wrong_units(self._shown(X, lengths)).any(axis=1)))

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
        check_is_fitted(self, "n_features_in_")
        from seqattractor import __version__

        fitted = {k: v for k, v in vars(self).items() if k.endswith("_") and not k.startswith("_")}
        arrays = {k: v for k, v in fitted.items() if isinstance(v, np.ndarray)}
        values = {k: to_json(v, k) for k, v in fitted.items() if k not in arrays}
        parameters = {k: to_json(v, k) for k, v in self.get_params(deep=False).items()}
        header = {
            "class": type(self).__name__,
            "parameters": parameters,
            "values": values,
            "seqattractor": __version__,
        }
        write_model(path, header, arrays)

    # -- for subclasses -----------------------------------------------------------------------------------------

    def _start_recall(self, window: Patterns) -> Any:
        """Make what a network with slow variables carries from step to step; nothing by default."""
        return None

    def _recall_step(self, states: Patterns, memory: Any) -> Patterns:
        """One step of recall; networks with slow variables use and change `memory`."""
        return self._next(states)

    def _wrong_units(self, shown: Lesson) -> NDArray[np.bool_]:
        """Which units are wrong one step on, shape (n, N)."""
        return np.asarray(self._next(shown.inputs) != shown.targets)

    def _shown(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None) -> Lesson:
        """Check sequences that are shown to a network that has learned, and give their transitions."""
        check_is_fitted(self, "n_features_in_")
        patterns, checked = check_sequences(X, lengths, order=self.order_)
        check_patterns(patterns[:1], "X", n_features=self.n_features_in_)
        return Lesson(*transitions(patterns, checked, self.order_), checked - self.order_)

    def _traits(self) -> Traits:
        """What is fair to know beside its results; by default nothing is said."""
        return Traits()

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense; by default there are none."""

    def _transitions(
        self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None, *, continuing: bool = False
    ) -> tuple[Patterns, Patterns]:
        """Check the sequences, settle N and the order, refuse conflicts, and give inputs (n, order * N) and targets (n, N).

        With `continuing` a network that has learned before keeps its N and its order.
        """
        lesson = self._lesson(X, lengths, continuing=continuing)
        return lesson.inputs, lesson.targets

    def _lesson(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None, *, continuing: bool = False) -> Lesson:
        """Do what `_transitions` does, and also say which transitions belong to which sequence."""
        order = self.order_ if continuing else self.order
        if order != "auto" and not is_count(order):
            raise ValueError(f"order must be a whole number, 1 or more, or 'auto', but it is {order!r}.")
        if self.on_conflict not in ("raise", "learn"):
            raise ValueError(f"on_conflict must be 'raise' or 'learn', but it is {self.on_conflict!r}.")
        patterns, checked = check_sequences(X, lengths, order=1 if order == "auto" else int(order))
        if continuing:
            check_patterns(patterns[:1], "X", n_features=self.n_features_in_)
        if order == "auto":
            found = conflicts(patterns, checked)
            if found.context is None:
                raise ValueError(found.describe())
            order = found.context
        if self.on_conflict == "raise":
            check_no_conflicts(patterns, checked, int(order))
        self.n_features_in_ = patterns.shape[1]
        self.order_ = int(order)
        return Lesson(*transitions(patterns, checked, self.order_), checked - self.order_)

    def _as_states(self, state: ArrayLike, name: str) -> tuple[Patterns, bool]:
        """Check one state or a batch of them and give it as (B, order, N)."""
        check_is_fitted(self, "n_features_in_")
        array: NDArray[Any] = np.asarray(state)
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


def load(path: str | os.PathLike[str]) -> SequenceMemory:
    """Read a network that was saved with `SequenceMemory.save`.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    SequenceMemory
        Of the class that was saved, ready to recall or to learn on.

    Examples
    --------
    >>> import tempfile, pathlib, seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.npz"
    >>> sa.OneHotNetwork().fit(X).save(path)
    >>> sa.load(path).score(X)
    1.0
    """
    header, arrays = read_model(path)
    name = header.get("class")
    if name not in SequenceMemory._classes:
        raise ValueError(
            f"{path} holds a network of class {name!r}, which is not known here; import the module that defines it first."
        )
    try:
        parameters = {k: from_json(v) for k, v in header["parameters"].items()}
        values = {k: from_json(v) for k, v in header["values"].items()}
        net = SequenceMemory._classes[name](**parameters)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the header of {path} is damaged ({error}); save the model again.") from None
    for attribute, value in {**values, **arrays}.items():
        setattr(net, attribute, value)
    return net
