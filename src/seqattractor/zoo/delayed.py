"""What networks with a delayed signal share: stored patterns, the graph of their order, a fast and a slow variable per unit."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_memory, check_positive
from seqattractor.learning.rule import sign
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.sequences import Patterns, Transitions
from seqattractor.zoo.continuous import ContinuousMemory, States

_MOST_READ_OUTS = 10_000  # from one pattern to the next


class DelayedMemory(ContinuousMemory, OnlineMemory):
    """Features V_f that are drawn to stored patterns, and a delayed signal V_d that calls the successor of where they were.

    A state is [V_f, V_d], (B, 2 N). A subclass says what the features are drawn to (`_drive`), and what the delayed signal
    follows (`_signal`).
    """

    T_f: float
    T_d: float
    patterns_: Patterns
    graph_: NDArray[np.int8]
    _ready: tuple[States, States] | None

    _arrays: ClassVar[dict[str, str]] = {"patterns_": "pattern P N", "graph_": "ternary P P"}

    @abstractmethod
    def _drive(self, features: States, delayed: States) -> States:
        """What the features are drawn to, (B, N)."""

    @abstractmethod
    def _signal(self, features: States) -> States:
        """What the delayed signal follows, (B, N)."""

    @abstractmethod
    def _strength_of_holding(self) -> float:
        """r, how strongly a pattern holds itself, as a share of how strongly it calls the next one."""

    def _init_learning(self, transitions: Transitions) -> None:
        """Start with nothing stored."""
        self._store(transitions.inputs[:0], np.zeros((0, 0), dtype=np.int8))

    def _present(self, transitions: Transitions) -> None:
        """Keep every pattern once, with a hidden unit, and an edge of the graph for each transition."""
        known = {x.tobytes(): k for k, x in enumerate(self.patterns_)}
        new = []
        for x in np.stack([transitions.inputs, transitions.targets], axis=1).reshape(-1, self.n_features_in_):
            if x.tobytes() not in known:
                known[x.tobytes()] = len(known)
                new.append(x)
        check_memory(2 * len(known) ** 2, f"a graph of {len(known)} patterns")
        graph = np.zeros((len(known), len(known)), dtype=np.int8)
        graph[: len(self.graph_), : len(self.graph_)] = self.graph_
        for x, y in zip(transitions.inputs, transitions.targets, strict=True):
            graph[known[x.tobytes()], known[y.tobytes()]] = 1
        self._store(np.concatenate([self.patterns_, np.array(new, dtype=np.int8).reshape(-1, self.n_features_in_)]), graph)

    def traits(self) -> Traits:
        """Tell what is fair to know: patterns are set, not learned, with a hidden unit each; it dwells."""
        return Traits(
            weights=("patterns_", "graph_"),
            stores_patterns=True,
            online=True,
            local=True,
            dwells=True,
            steps_per_pattern=self._longest_stay(),
            note="no learning: one hidden unit with fixed weights for each pattern, and an edge for each transition",
        )

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        self._check_times()
        check_positive(self.T_f, "T_f")
        check_positive(self.T_d, "T_d")
        self._check_gains()

    @abstractmethod
    def _check_gains(self) -> None:
        """Refuse gains that make no sense."""

    # -- inside -------------------------------------------------------------------------------------------------

    def _begin(self, cues: States) -> States:
        """As if the cue had been there for long, so that the network goes on at once."""
        return np.concatenate([cues, self._signal(cues)], axis=1)

    def _velocity(self, states: States) -> States:
        features, delayed = np.hsplit(states, 2)
        return np.concatenate(
            [(self._drive(features, delayed) - features) / float(self.T_f), (self._signal(features) - delayed) / float(self.T_d)],
            axis=1,
        )

    def _read_out(self, states: States) -> Patterns:
        patterns: Patterns = sign(states[:, : self.n_features_in_])
        return patterns

    def _longest_stay(self) -> int:
        """How many read-outs from one pattern to the next, at most.

        It takes longest at the start, where the delayed signal of the cue is there in full and fades as e = exp(-t / T_d): the
        next pattern is left when r + e = 1 - e. Later it takes `escape_time`. The passage takes a few T_f.
        """
        r = min(self._strength_of_holding(), 0.999)  # patterns that are held for ever are not waited for
        longest = float(self.T_d) * np.log(2 / (1 - r)) + 5 * float(self.T_f)
        return int(min(np.ceil(longest / float(self.read_out_interval)) + 1, _MOST_READ_OUTS))

    def _length(self) -> float:
        """By what patterns are multiplied to be the columns of Xi."""
        return 1.0

    def _store(self, patterns: Patterns, graph: NDArray[np.int8]) -> None:
        """Keep patterns and the graph of their order."""
        self.patterns_, self.graph_, self._ready = patterns, graph, None

    def _as_numbers(self) -> tuple[States, States]:
        """Xi^T and (Xi Phi)^T, (P, N) each, as numbers for linear algebra: the patterns, and what precedes each."""
        ready: tuple[States, States] | None = getattr(self, "_ready", None)  # a loaded network has none yet
        if ready is None:
            patterns: States = self.patterns_.astype(np.float64) * self._length()
            preceding: States = self.graph_.T.astype(np.float64) @ patterns
            ready = self._ready = (patterns, preceding)
        return ready

    def _overlaps(self, features: States, delayed: States) -> tuple[States, States]:
        """Xi^T s_f and Phi^T Xi^T V_d, (B, P) each."""
        patterns, preceding = self._as_numbers()
        return features @ patterns.T, delayed @ preceding.T


def softmax(fields: States) -> States:
    """The softmax over the last axis; fields may be large."""
    shares: Any = np.exp(fields - fields.max(axis=-1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=-1, keepdims=True))
