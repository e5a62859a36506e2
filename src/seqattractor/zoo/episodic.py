"""General sequential episodic memories: a delayed signal calls the next pattern (Karuvally et al.
2023).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax
from sklearn.utils.validation import check_is_fitted

from seqattractor._checks import check_memory, check_positive
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.rule import sign
from seqattractor.sequences import Patterns, Transitions
from seqattractor.zoo.continuous import ContinuousMemory, States

_MOST_READ_OUTS = 10_000  # from one pattern to the next


@dataclass(eq=False, repr=False)
class DelayedMemory(ContinuousMemory, OnlineMemory):
    """Features V_f that are drawn to stored patterns, and a delayed signal V_d that calls the
    successor of where they were.

    A state is [V_f, V_d], (B, 2 N). A subclass defines what the features are drawn to (`_drive`),
    and what the delayed signal follows (`_signal`).
    """

    _gains: ClassVar[tuple[str, ...]]
    """The names of further parameters, all positive."""
    _: KW_ONLY
    T_f: float = 1.0
    T_d: float = 20.0
    dt: float = 0.1
    read_out_interval: float = 5.0
    on_conflict: Literal["raise", "learn"] = "raise"

    _arrays: ClassVar[dict[str, str]] = {"patterns_": "pattern P N", "graph_": "ternary P P"}

    @abstractmethod
    def _drive(self, features: States, delayed: States) -> States:
        """Return the target of the features, (B, N)."""

    @abstractmethod
    def _signal(self, features: States) -> States:
        """Return the target of the delayed signal, (B, N)."""

    @abstractmethod
    def _strength_of_holding(self) -> float:
        """Return r, how strongly a pattern holds itself, as a share of how strongly it calls the
        next one.
        """

    def _init_learning(self, transitions: Transitions) -> None:
        self._store(transitions.inputs[:0], np.zeros((0, 0), dtype=np.int8))

    def _present(self, transitions: Transitions) -> None:
        """Store every pattern once, and an edge of the graph for each transition."""
        known = {x.tobytes(): k for k, x in enumerate(self.patterns_)}
        new = []
        for x in np.stack([transitions.inputs, transitions.targets], axis=1).reshape(
            -1, self.n_features_in_
        ):
            if x.tobytes() not in known:
                known[x.tobytes()] = len(known)
                new.append(x)
        check_memory(2 * len(known) ** 2, f"a graph of {len(known)} patterns")
        graph = np.zeros((len(known), len(known)), dtype=np.int8)
        graph[: len(self.graph_), : len(self.graph_)] = self.graph_
        for x, y in zip(transitions.inputs, transitions.targets, strict=True):
            graph[known[x.tobytes()], known[y.tobytes()]] = 1
        self._store(
            np.concatenate(
                [self.patterns_, np.array(new, dtype=np.int8).reshape(-1, self.n_features_in_)]
            ),
            graph,
        )

    def traits(self) -> Traits:
        """Return the traits: patterns are set, not learned, with a hidden unit each; it dwells."""
        return Traits(
            weights=("patterns_", "graph_"),
            stores_patterns=True,
            online=True,
            local=True,
            dwells=True,
            steps_per_pattern=self._longest_stay(),
            note=(
                "no learning: one hidden unit with fixed weights for each pattern, and an edge for "
                "each transition"
            ),
        )

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        self._check_times()
        for name in ("T_f", "T_d", *self._gains):
            check_positive(getattr(self, name), name)

    def _begin(self, cues: States) -> States:
        """Begin as if the cue had been there for long, so that the first step leaves it."""
        return np.concatenate([cues, self._signal(cues)], axis=1)

    def _velocity(self, states: States) -> States:
        features, delayed = np.hsplit(states, 2)
        of_features = (self._drive(features, delayed) - features) / float(self.T_f)
        return np.concatenate(
            [of_features, (self._signal(features) - delayed) / float(self.T_d)], axis=1
        )

    def _read_out(self, states: States) -> Patterns:
        patterns: Patterns = sign(states[:, : self.n_features_in_])
        return patterns

    def _longest_stay(self) -> int:
        """Return the largest number of read-outs from one pattern to the next."""
        # The delayed signal of the cue fades as e = exp(-t / T_d); it is left at r + e = 1 - e.
        r = min(
            self._strength_of_holding(), 0.999
        )  # patterns that are held for ever are not waited for
        longest = float(self.T_d) * np.log(2 / (1 - r)) + 5 * float(self.T_f)
        return int(min(np.ceil(longest / float(self.read_out_interval)) + 1, _MOST_READ_OUTS))

    def _length(self) -> float:
        """By what patterns are multiplied to be the columns of Xi."""
        return 1.0

    def _store(self, patterns: Patterns, graph: NDArray[np.int8]) -> None:
        self.patterns_, self.graph_ = patterns, graph
        self._ready: tuple[States, States] | None = None

    def _as_numbers(self) -> tuple[States, States]:
        """Xi^T and (Xi Phi)^T, (P, N) each, as numbers for linear algebra: the patterns, and what
        precedes each.
        """
        ready: tuple[States, States] | None = getattr(
            self, "_ready", None
        )  # a loaded network has none yet
        if ready is None:
            patterns: States = self.patterns_.astype(np.float64) * self._length()
            preceding: States = self.graph_.T.astype(np.float64) @ patterns
            ready = self._ready = (patterns, preceding)
        return ready

    def _overlaps(self, features: States, delayed: States) -> tuple[States, States]:
        """Xi^T s_f and Phi^T Xi^T V_d, (B, P) each."""
        patterns, preceding = self._as_numbers()
        return features @ patterns.T, delayed @ preceding.T


@dataclass(eq=False, repr=False)
class EpisodicMemory(DelayedMemory):
    """The general sequential episodic memory (GSEMM), with hidden units in equilibrium."""

    _gains = ("a_s", "a_c", "b_d", "gain")
    _: KW_ONLY
    a_s: float
    a_c: float
    b_d: float = 7.0
    gain: float = 1.0

    def _s_f(self, features: States) -> States:
        return features

    def _s_h(self, hidden: States) -> States:
        return hidden

    def _L_f(self, features: States) -> States:
        return np.asarray(np.sum(features**2, axis=1) / 2)

    def _L_h(self, hidden: States) -> States:
        return np.asarray(np.sum(hidden**2, axis=1) / 2)

    def energy(self, features: ArrayLike, delayed: ArrayLike) -> States:
        """Return the energy, which falls along the path of the features as long as the delayed
        signal stands still.

        With the hidden units in equilibrium, V_h = sqrt(a_s) Xi^T s_f + a_c Phi^T Xi^T V_d::

            E = [V_f . s_f - L_f] + [V_h . s_h - L_h]
                - sqrt(a_s) s_f^T Xi s_h - a_c V_d^T Xi Phi s_h
              = V_f . s_f - L_f - L_h

        Parameters
        ----------
        features, delayed : array, shape (N,) or (B, N)
            V_f and V_d.

        Returns
        -------
        ndarray, shape () or (B,)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(5, 100, rng=0)
        >>> net = sa.zoo.DenseEpisodicMemory().fit(X)
        >>> bool(net.energy(X[0], 0 * X[0]) < net.energy(sa.noise.flip(X[0], 10, rng=1), 0 * X[0]))
        True
        """
        check_is_fitted(self, "n_features_in_")
        V_f, single = self._as_rows(features, self.n_features_in_, "features")
        V_d, _ = self._as_rows(delayed, self.n_features_in_, "delayed")
        if len(V_d) != len(V_f):
            raise ValueError(
                f"there are {len(V_d)} delayed signals for {len(V_f)} features; give one for each."
            )
        E = (
            np.sum(V_f * self._s_f(V_f), axis=1)
            - self._L_f(V_f)
            - self._L_h(self._hidden(V_f, V_d))
        )
        return np.asarray(E[0] if single else E)

    def _hidden(self, features: States, delayed: States) -> States:
        """V_h in equilibrium, (B, P)."""
        held, called = self._overlaps(self._s_f(features), delayed)
        return float(np.sqrt(self.a_s)) * held + float(self.a_c) * called

    def _drive(self, features: States, delayed: States) -> States:
        drive: States = (
            float(np.sqrt(self.a_s))
            * self._s_h(self._hidden(features, delayed))
            @ self._as_numbers()[0]
        )
        return drive

    def _signal(self, features: States) -> States:
        return float(self.b_d) * self._s_f(features)

    def _strength_of_holding(self) -> float:
        return float(np.sqrt(self.a_s)) / (float(self.a_c) * float(self.b_d))


@final
@dataclass(eq=False, repr=False)
class DenseEpisodicMemory(EpisodicMemory):
    """A dense memory in continuous time, whose delayed signal calls the next pattern (DSEM;
    Karuvally et al. 2023).

    With the stored patterns as columns of Xi, the graph Phi of their order, features V_f, delayed
    signal V_d and hidden units V_h in equilibrium::

        V_h = sqrt(a_s) Xi^T V_f + a_c Phi^T Xi^T V_d
        T_f dV_f/dt = sqrt(a_s) Xi softmax(gain V_h) - V_f        T_d dV_d/dt = b_d V_f - V_d

    The features are drawn to a pattern and stay there until the delayed signal has moved the
    minimum of `energy` to the next one. The last pattern of an open sequence is held for ever.
    Patterns are read out as sign(V_f).

    Parameters
    ----------
    a_s, a_c, b_d : float
        The strengths with which patterns hold themselves and call the next, and of the delayed
        signal.
    gain : float
        Of the softmax.
    T_f, T_d : float
        The time constants of features and delayed signal.
    dt, read_out_interval : float
        The largest step of Euler's method, and the time between two steps of `recall`. A run starts
        with V_d = b_d V_f. (The authors start with V_d = 0, which holds the cue first: pass
        `activity` that state.)
    on_conflict : {"raise", "learn"}
        As in `SequenceAttractor`. Where a pattern has two successors, both are called.

    Attributes
    ----------
    patterns_ : ndarray of int8, shape (P, N)
        Xi^T, every pattern once.
    graph_ : ndarray of int8, shape (P, P)
        Phi: 1 in row mu and column nu where nu follows mu.

    Notes
    -----
    Equations and defaults are those of the authors' notes and code. Their article names a
    polynomial instead of the softmax; its exponent was not verified. Memories are set; the online
    rule for the graph in their code is not here.

    References
    ----------
    A. Karuvally, T. Sejnowski and H. Siegelmann, General sequential episodic memory model, 2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 100, rng=0)
    >>> net = sa.zoo.DenseEpisodicMemory().fit(X)
    >>> path = net.recall(sa.noise.flip(X[0], 10, rng=1), steps=16)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in path[1:]]
    [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3]
    """

    _: KW_ONLY
    a_s: float = 1.0
    a_c: float = 4.9
    read_out_interval: float = 2.0

    def _s_h(self, hidden: States) -> States:
        return np.asarray(softmax(float(self.gain) * hidden, axis=1))

    def _L_h(self, hidden: States) -> States:
        return np.asarray(logsumexp(float(self.gain) * hidden, axis=1) / float(self.gain))


@final
@dataclass(eq=False, repr=False)
class LinearEpisodicMemory(EpisodicMemory):
    """A Hopfield network in continuous time, whose delayed signal calls the next pattern (LISEM;
    Karuvally et al. 2023).

    With the stored patterns, divided by sqrt(N), as columns of Xi, the graph Phi of their order,
    features V_f, delayed signal V_d and linear hidden units V_h in equilibrium::

        V_h = sqrt(a_s) Xi^T tanh(gain V_f) + a_c Phi^T Xi^T V_d
        T_f dV_f/dt = sqrt(a_s) Xi V_h - V_f        T_d dV_d/dt = b_d tanh(gain V_f) - V_d

    A pattern is held if gain * a_s is above 1, and left if r = sqrt(a_s) / (a_c b_d) is below 1;
    where the tanh is not steep, also for an r somewhat above 1. The last pattern of an open
    sequence is held for ever.

    Parameters
    ----------
    gain : float
        Of the tanh.
    a_s, a_c, b_d, T_f, T_d, dt, read_out_interval, on_conflict
        As in `DenseEpisodicMemory`, and so are the attributes.

    Notes
    -----
    Equations are those of the authors' notes and code, where patterns are not divided by sqrt(N)
    and the delayed term has the factor a_c instead of sqrt(a_s) a_c. T_d and a_c were chosen for
    random patterns.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 400, rng=0)
    >>> net = sa.zoo.LinearEpisodicMemory().fit(X)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in net.recall(X[0], steps=16)]
    [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 0]
    """

    _: KW_ONLY
    a_s: float = 4.5
    a_c: float = 0.38

    def _length(self) -> float:
        return 1 / float(np.sqrt(self.n_features_in_))

    def _s_f(self, features: States) -> States:
        return np.tanh(float(self.gain) * features)

    def _L_f(self, features: States) -> States:
        scaled = np.abs(float(self.gain) * features)
        return np.asarray(
            np.sum(scaled + np.log1p(np.exp(-2 * scaled)) - np.log(2), axis=1) / float(self.gain)
        )  # ln cosh
