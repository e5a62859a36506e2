"""Recalling sequences, and counting what is wrong: what a network does with one step after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor import noise as _noise
from seqattractor._checks import as_numbers, check_memory, is_count, say
from seqattractor.networks.hooks import Hooks
from seqattractor.networks.run import Run, led_memory
from seqattractor.sequences import Patterns, Transitions, check_patterns, check_sequences, transitions
from seqattractor.sequences._columns import check_column_names, time_first


class Recalling(Hooks):
    """A network that recalls what it has learned."""

    def step(self, state: ArrayLike) -> Patterns:
        """Give the pattern that follows a state.

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
        """Give the pattern after each of some states, each of which is a start of its own: `step` as scikit-learn calls it.

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
        states, single = self._as_states(X, "X")
        if single:
            raise ValueError("X is a single state, and predict takes a batch of them: use step, or X[None].")
        return Run(self, states.reshape(len(states), -1)).step()

    def recall(self, cue: ArrayLike, steps: int, *, noise: int = 0, rng: _noise.Seed = None) -> Patterns:
        """Let the network run from a cue.

        Parameters
        ----------
        cue : array of +-1, shape (order, N), or (B, order, N) for a batch
            The first patterns, oldest first, such as ``X[: net.order_]``. A network of order 1 also takes one pattern, (N,), and
            a batch (B, N) of more than one: (1, N) is one cue, and a batch that may be of one is (B, 1, N).
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
        >>> net = sa.zoo.LookupMemory().fit(X)
        >>> net.recall(X[0], steps=30).shape
        (31, 50)
        >>> net.recall(X[: net.order_], steps=30).shape
        (31, 50)
        >>> net.recall(sa.noise.flip(X[:4], 5, rng=1), steps=30, noise=2, rng=2).shape
        (4, 31, 50)
        """
        states, single = self._as_cues(cue)
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
        X : Sequences, array of shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
        lengths : array of shape (S,), optional

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

    def wrong_units(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Tell which units are wrong one step after each stored pattern.

        Parameters
        ----------
        X : Sequences, array of shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
        lengths : array of shape (S,), optional

        Returns
        -------
        ndarray of bool, shape (n, N)
            A row for each transition.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(40, 50, rng=0)
        >>> sa.zoo.LookupMemory().fit(X[:20]).wrong_units(X[:20]).any()
        np.False_
        """
        return self._wrong_units(self.shown(X, lengths))

    def shown(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> Transitions:
        """Check sequences that are shown to a network that has learned, and give their transitions.

        Parameters
        ----------
        X : Sequences, array of shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
        lengths : array of shape (S,), optional

        Returns
        -------
        Transitions

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(20, 50, rng=0)
        >>> sa.zoo.LookupMemory().fit(X[:10]).shown(X).targets.shape
        (19, 50)
        """
        check_is_fitted(self, "n_features_in_")
        patterns, checked = check_sequences(X, lengths, order=self.order_)
        check_patterns(patterns[:1], "X", n_features=self.n_features_in_)
        check_column_names(X, getattr(self, "feature_names_in_", None))
        return transitions(patterns, checked, self.order_)

    # -- inside -------------------------------------------------------------------------------------------------

    def _wrong_units(self, shown: Transitions) -> NDArray[np.bool_]:
        """Which units are wrong one step on, shape (n, N); the network is led to each pattern."""
        run = Run(self, shown.inputs, led_memory(self, shown))
        return np.asarray(run.step() != shown.targets)

    def _as_states(self, state: ArrayLike, name: str) -> tuple[Patterns, bool]:
        """Check one state or a batch of them and give it as (B, order, N)."""
        check_is_fitted(self, "n_features_in_")
        check_column_names(state, getattr(self, "feature_names_in_", None), f"the {name}")
        array = as_numbers(time_first(state), name)
        n, order = self.n_features_in_, self.order_
        states = array[..., None, :] if order == 1 and array.ndim in (1, 2) else array
        if states.ndim not in (2, 3) or states.shape[-2:] != (order, n) or states.size == 0:
            one = (n,) if order == 1 else (order, n)
            raise ValueError(
                f"the {name} has the shape {array.shape}, but this network takes {one}, or (batch, {', '.join(map(str, one))})"
                + ("." if order == 1 else f": the last {order} patterns, oldest first.")
            )
        return check_patterns(array.reshape(-1, n), name, shape=array.shape).reshape(-1, order, n), states.ndim == 2

    def _as_cues(self, cue: ArrayLike) -> tuple[Patterns, bool]:
        """The same for what is to be continued: X[:order] is one cue for every order, and so for order 1, too."""
        states, single = self._as_states(cue, "cue")
        return states, single or np.shape(time_first(cue)) == states.shape[1:]
