"""SlowSynapseMemory: fast synapses hold a pattern, slow ones call the next (Kleinfeld 1986;
Sompolinsky & Kanter 1986).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_not_negative
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.rule import field, hebbian, sign
from seqattractor.sequences import Patterns, Transitions

Weights = NDArray[np.float64]

MOST_STEPS = 10_000  # a run holds that many states


@final
@dataclass(eq=False, repr=False)
class SlowSynapseMemory(OnlineMemory):
    """Hebbian weights of two kinds: symmetric ones hold the state, slow asymmetric ones call the
    next pattern.

    With xi_mean the average of the state over the last `slow_steps` steps::

        xi' = sign(W_S xi + slow_weight W xi_mean)
        W_S = sum_t x(t) x(t)^T      W = sum_t x(t+1) x(t)^T

    so that the network dwells at each pattern: with lambda > 1 and orthogonal patterns for
    floor(tau (1 + 1/lambda) / 2) + 1 steps, as follows from the fields, and with random ones for
    about as long.

    Parameters
    ----------
    slow_weight : float
        lambda, by which the slow synapses outweigh the fast ones.
    slow_steps : int
        tau, the number of steps over which slow synapses average. Recall starts as if the cue had
        been there for that long.
    on_conflict : {"raise", "learn"}
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_, W_S_ : ndarray, shape (N, N)
        The slow and the fast weights.
    visible_errors_, n_iter_, converged_
        As in `HebbianMemory`.

    References
    ----------
    D. Kleinfeld, Sequential state generation by model neural networks, 1986. H. Sompolinsky and I.
    Kanter, Temporal association in asymmetric neural networks, 1986.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 400, rng=0)
    >>> net = sa.zoo.SlowSynapseMemory(slow_steps=3).fit(X)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in net.recall(X[0], steps=8)]
    [0, 1, 1, 1, 2, 2, 2, 3, 3]
    """

    _: KW_ONLY
    slow_weight: float = 2.5
    slow_steps: int = 5
    on_conflict: Literal["raise", "learn"] = "raise"

    _arrays: ClassVar[dict[str, str]] = {
        "W_": "float N N",
        "W_S_": "float N N",
        "visible_errors_": "count E",
    }
    _values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag"}

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Sum over all transitions, and over all patterns, also those with which sequences end."""
        self._init_learning(transitions)
        ends = unfinished(transitions.inputs, transitions.targets)
        self.W_S_ += hebbian(ends, ends)
        self._present(transitions)
        return self._last_errors()

    def _init_learning(self, transitions: Transitions) -> None:
        N = self.n_features_in_
        self.W_, self.W_S_ = np.zeros((N, N)), np.zeros((N, N))
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        """Add the outer products of every transition; the last pattern of a piece is held once it
        has a successor.
        """
        self.W_ = self.W_ + hebbian(transitions.inputs, transitions.targets)
        self.W_S_ = self.W_S_ + hebbian(transitions.inputs, transitions.inputs)
        self._count_errors(int(self._wrong_units(transitions).sum()))

    def start(self, states: Patterns) -> Patterns:
        """Return the last `slow_steps` states of a run, as if the cue had been there all the time:
        (B, N) -> (B, tau, N).
        """
        return np.repeat(states[:, None], self.slow_steps, axis=1)

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, N) -> (B, N); `memory` holds the last states and
        is changed.
        """
        past = remember(
            self.start(states) if memory is None else memory, states
        )  # tau times the average
        held = self.slow_steps * field(self.W_S_, states)
        return sign(held + float(self.slow_weight) * field(self.W_, past))

    def traits(self) -> Traits:
        """Return the traits: local and online, and it dwells at each pattern."""
        return Traits(
            weights=("W_", "W_S_"),
            stores_patterns=False,
            online=True,
            local=True,
            dwells=True,
            steps_per_pattern=self.slow_steps,
        )

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_not_negative(self.slow_weight, "slow_weight")
        check_count(self.slow_steps, "slow_steps", 1, MOST_STEPS)


def remember(memory: Patterns, states: Patterns) -> NDArray[np.int32]:
    """Put the newest states (B, N) into the memory, drop the oldest, and give the sum of all, (B,
    N).
    """
    memory[:, :-1] = memory[:, 1:]
    memory[:, -1] = states
    return np.asarray(memory.sum(axis=1), dtype=np.int32)


def unfinished(inputs: Patterns, targets: Patterns) -> Patterns:
    """Return the patterns that have no successor, once each, shape (k, N)."""
    known = {x.tobytes() for x in inputs}
    ends = {x.tobytes(): x for x in targets if x.tobytes() not in known}
    return np.array(list(ends.values()), dtype=np.int8).reshape(-1, targets.shape[1])
