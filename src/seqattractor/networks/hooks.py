"""What a network says of itself: how it learns, what comes next, and what is fair to know. All else is written once for all."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, NamedTuple

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from seqattractor._checks import check_choice, is_auto, is_count, say
from seqattractor.learning.grid import held_arrays
from seqattractor.learning.problem import ProgressCallback
from seqattractor.networks.traits import Layer, Traits
from seqattractor.sequences import Patterns, Transitions


class LearnedFrom(NamedTuple):
    """What the last `fit` learned from, in numbers; the sequences themselves are not kept."""

    sequences: int
    transitions: int
    missing: int | None = None
    """How many transitions were found not to be stored; None if that was not counted, since no error was left."""


class Hooks(ABC, BaseEstimator):  # type: ignore[misc]
    """What a network has to say (`next_patterns`, and how it learns), and what it may say."""

    declared_arrays: ClassVar[dict[str, str]] = {}
    """What the class learns, for the check of model files: kind ("float", "int", "count", "pattern" of -1 and +1, "ternary" of
    -1, 0 and +1) and symbols of the shape of each array, such as ``{"U_": "float M kN"}``, and " if " with the name of a
    parameter, or " if name=word" or " if not name", behind what is only there then. A class of the user's may declare nothing:
    then it saves what its methods set."""
    declared_values: ClassVar[dict[str, str]] = {}
    """The same for single values: "number", "positive", "flag", "generator", "word" with the words there are, "count" with the
    symbol of its upper limit if there is one, "counts" for a list of them, or "size" with the symbol of a shape that it must be.
    A parameter that must fit the arrays can stand here too, such as ``{"n_hidden": "size M or auto"}``: behind " or " is a word
    that fits, too."""

    deterministic: ClassVar[bool] = False
    """Whether the same state always has the same successor, as far as `next_patterns` goes. Where a network carries nothing
    from step to step (`start`), `recall` then computes the successor of a state only once, whichever runs come to it. It holds
    for the class in whose body it stands; a subclass, which may add chance, has to say it again."""
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    order_: int
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"
    warm_start: bool = False
    _learned_from: LearnedFrom | None = None
    """What the last `fit` learned from; None if something else has changed the network since."""

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
        >>> bool((sa.zoo.LookupMemory().fit(X).next_patterns(X[:5]) == X[1:6]).all())
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

    def _continue_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int] | None:
        """Learn on top of what is there; `fit` calls this instead of `fit_transitions` with ``warm_start=True``."""
        raise TypeError(f"{type(self).__name__} does not say how it goes on learning; use warm_start=False.")

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
        >>> sa.zoo.SlowSynapseMemory(slow_steps=4).start(X[:3]).shape  # the last four states of three runs
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
        >>> sa.zoo.LookupMemory().traits().note
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
        >>> sa.zoo.LookupMemory(order=0).check_order()
        Traceback (most recent call last):
        ValueError: order must be a whole number, 1 or more, or 'auto', but it is 0.
        """
        if not is_auto(self.order) and not is_count(self.order):
            raise ValueError(f"order must be a whole number, 1 or more, or 'auto', but it is {say(self.order)}.")
        check_choice(self.on_conflict, "on_conflict", ("raise", "learn"))

    @property
    def _leak(self) -> float:
        """How much is left after a step of the sum of patterns that neurons see; 0: they see only the last `order` ones."""
        return 0.0

    def _walked_layers(self) -> tuple[Layer, Layer] | None:
        """The two layers that a state passes through, if a kernel may take long runs through them (`_walk`); by default None."""
        return None

    def _check_learned(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Refuse arrays of a model file that do not fit each other in a way that `declared_arrays` cannot say."""

    @property
    def _has_learned(self) -> bool:
        """Whether there is anything to go on from."""
        return "n_features_in_" in vars(self)

    def _fitted(self) -> dict[str, Any]:
        """What the network has learned, by the name of the attribute."""
        learned = {k: v for k, v in vars(self).items() if k.endswith("_") and not k.startswith("_")}
        return learned | {name: getattr(self, name) for name in held_arrays(self)}

    def _forget(self) -> None:
        """Drop all that was learned before, and what was attached to it."""
        for name in self._fitted():
            delattr(self, name)
        self._learned_from = None
