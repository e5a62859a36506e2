"""SpikeTimingMemory: spike-timing-dependent plasticity, and synapses that compete (Fiete, Senn,
Wang & Hahnloser 2010).

States are 0 and 1, with adaptation y:
x_i(t) = 1 where sum_j W_ij x_j(t-1) + b_i(t) - beta sum_j x_j(t-1) - alpha y_i(t) > 0.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_count,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
)
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Transitions

Floats = NDArray[np.float64]


@final
@dataclass(eq=False, repr=False)
class SpikeTimingMemory(OnlineMemory):
    """Excitatory neurons that learn who fires next, with a limit to what goes into and out of each
    (Fiete et al. 2010).

    A synapse grows when its target fires one step after its source, and shrinks when it fires one
    step before. Where the weights into a neuron, or out of it, exceed a limit together, all of
    these shrink. `fit` drives the neurons with the patterns (+1 is a burst), and what is learned
    then runs by itself. `self_organise` shows nothing at all: neurons that fire by chance are
    enough for the weights to become chains that close.

    It is a memory for chains, in which every neuron has one time to fire. Of random patterns with 5
    of 100 active units only a part is stored, and where half of the units are active, not even a
    loop of three patterns.

    Parameters
    ----------
    synapses : float
        m, the limit to the weights into a neuron, and to those out of it, in units of the largest
        weight.
    competition : float
        epsilon, how strongly synapses shrink beyond the limit.
    eta : float
        The step of all weights, of which the largest is 1.
    inhibition : float
        beta, by which each active neuron inhibits all.
    adaptation, adaptation_steps : float
        alpha, by which a neuron that has fired is less ready to fire, and tau, the steps in which
        that fades, 1 or more.
    max_epochs : int
        How often the sequences are presented at most; learning ends when all transitions are
        stored.
    on_conflict, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (N, N)
        From 0 to 1; ``W_[i, j]`` leads from j to i.
    n_iter_ : int
        Presentations, or steps of `self_organise`.

    References
    ----------
    I. R. Fiete, W. Senn, C. Z. H. Wang and R. H. R. Hahnloser, Spike-time-dependent plasticity and
    heterosynaptic competition organize networks to produce long scale-free sequences of neural
    activity, 2010. The formulas are those of a later program based on it. Its use as a memory of
    given patterns is ours.

    Examples
    --------
    >>> import seqattractor as sa
    >>> loop = np.arange(13) % 12  # one neuron after the other
    >>> X = 2 * np.roll(np.eye(12, dtype=np.int8), 1, axis=0)[loop] - 1
    >>> net = sa.zoo.SpikeTimingMemory(synapses=1).fit(X)
    >>> net.score(X), int((net.W_ > 0.5).sum())
    (1.0, 12)
    """

    _: KW_ONLY
    synapses: float = 10.0
    competition: float = 0.2
    eta: float = 0.1
    inhibition: float = 0.5
    adaptation: float = 0.0
    adaptation_steps: float = 4.0
    max_epochs: int = 100
    on_conflict: Literal["raise", "learn"] = "raise"
    verbose: int = 0

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {"W_": "float N N"}
    _values: ClassVar[dict[str, str]] = {"n_iter_": "count"}
    # Local, with competition between the synapses of one neuron.
    _traits = Traits(
        weights=("W_",),
        stores_patterns=False,
        online=True,
        local=True,
        note="for chains, in which each neuron fires once",
    )

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Present the transitions until all are stored."""
        self._init_learning(transitions)
        wrong = 1
        while wrong and self.n_iter_ < int(self.max_epochs):
            self._present(transitions)
            wrong = int(self._wrong_units(transitions).sum())
            if callback is not None and callback(self.n_iter_, 0, wrong):
                break
        return 0, wrong

    def _init_learning(self, transitions: Transitions) -> None:
        self.W_ = np.zeros((self.n_features_in_, self.n_features_in_))
        self.n_iter_ = 0

    def _present(self, transitions: Transitions) -> None:
        """Drive the neurons with each pattern and its successor."""
        W = self.W_.copy()
        for before, after in zip(transitions.inputs > 0, transitions.targets > 0, strict=True):
            update(W, before.astype(np.float64), after.astype(np.float64), **self._rates())
        self.W_ = W
        self.n_iter_ += 1

    def self_organise(
        self, n_units: int, steps: int, *, drive: float = 0.02, rng: Seed = None
    ) -> Self:
        """Let a new network of `n_units` neurons run and learn, with nothing shown to it.

        Weights begin evenly distributed up to twice the limit divided by `n_units`. For chains of
        single neurons take ``synapses=1``, adaptation, and little inhibition, so that several
        chains can be active at once.

        Parameters
        ----------
        n_units : int
        steps : int
        drive : float
            The probability with which a neuron fires by chance in a step.
        rng : int, Generator or None
            For the initial weights and the drive.

        Returns
        -------
        self
            With `W_` learned, ready to recall.

        Examples
        --------
        >>> import seqattractor as sa
        >>> net = sa.zoo.SpikeTimingMemory(synapses=1, competition=1, inhibition=0.05, adaptation=5)
        >>> W = net.self_organise(20, 5000, rng=1).W_
        >>> bool(((W > 0.5).sum(axis=0) == 1).sum() > 10)  # most neurons call one other
        True
        """
        self.check_parameters()
        n, steps = check_count(n_units, "n_units"), check_count(steps, "steps")
        if not 0 <= check_number(drive, "drive") <= 1:
            raise ValueError(f"drive must be a probability, from 0 to 1, but it is {drive}.")
        check_memory(40 * n**2, f"a network of {n} neurons")
        chance = as_generator(rng, "self-organise")
        W = np.minimum(chance.random((n, n)) * 2 * float(self.synapses) / n, 1.0)
        np.fill_diagonal(W, 0.0)
        x, y, rates = np.zeros(n), np.zeros(n), self._rates()
        for _ in range(steps):
            fires = (self._received(W, x, y) > 0) | (chance.random(n) < drive)
            before, x = x, fires.astype(np.float64)
            update(W, before, x, **rates)
        self._forget()
        self.W_, self.n_iter_, self.n_features_in_, self.order_ = W, steps, n, 1
        return self

    def start(self, states: Patterns) -> Floats | None:
        """Return the adaptation before the cue, zeros, (B, N); None where neurons do not adapt."""
        return np.zeros(states.shape) if self.adaptation else None

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, N) -> (B, N); `memory` holds the adaptation and
        is changed.
        """
        y = self.start(states) if memory is None else memory
        return np.where(
            self._received(self.W_, (states > 0).astype(np.float64), y) > 0, 1, -1
        ).astype(np.int8)

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_positive(self.synapses, "synapses")
        check_not_negative(self.competition, "competition")
        check_positive(self.eta, "eta")
        check_not_negative(self.inhibition, "inhibition")
        check_not_negative(self.adaptation, "adaptation")
        if check_number(self.adaptation_steps, "adaptation_steps") < 1:
            raise ValueError(
                f"adaptation_steps must be 1 or more, but it is {self.adaptation_steps}."
            )
        check_count(self.max_epochs, "max_epochs")

    def _rates(self) -> dict[str, float]:
        return {
            "eta": float(self.eta),
            "competition": float(self.competition),
            "synapses": float(self.synapses),
        }

    def _received(self, W: Floats, x: Floats, y: Floats | None) -> Floats:
        """Return the input of neurons one step after the activities x, (..., n) -> (..., n); the
        adaptation y is changed.
        """
        received = x @ W.T - float(self.inhibition) * x.sum(axis=-1, keepdims=True)
        if y is not None:
            y += (x - y) / float(self.adaptation_steps)
            received -= float(self.adaptation) * y
        return np.asarray(received)


def update(
    W: Floats, before: Floats, after: Floats, *, eta: float, competition: float, synapses: float
) -> None:
    """Change W by two successive states; weights beyond the limit m at either end shrink."""
    W += eta * (np.outer(after, before) - np.outer(before, after))
    beyond = np.maximum(W.sum(axis=1) - synapses, 0.0)[:, None] + np.maximum(
        W.sum(axis=0) - synapses, 0.0
    )
    W -= eta * competition * beyond
    np.clip(W, 0.0, 1.0, out=W)
    np.fill_diagonal(W, 0.0)
