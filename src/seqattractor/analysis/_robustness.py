"""From corrupted stored patterns: `basin` asks where a network is after some steps,
`robustness_curve` after one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_counts, check_memory
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._retrieval import SuccessRate
from seqattractor.networks.base import SequenceMemory, check_learned
from seqattractor.networks.run import Run, led_memory
from seqattractor.noise import Seed, as_generator, flip
from seqattractor.sequences import Patterns, Transitions, check_sequences, split
from seqattractor.sequences._patterns import period

Ids = NDArray[np.int64]


def steps_per_pattern(net: SequenceMemory) -> int:
    """How many steps a network may take from one stored pattern to the next: more than one only if
    it dwells.
    """
    traits = net.traits()
    return int(traits.steps_per_pattern) if traits.dwells else 1


def passages(path: Patterns, X: Patterns) -> Patterns:
    """What a network that dwells went through: the stored patterns in its path, each stay once; (K,
    N) -> (k, N).

    States between two patterns, in which only some units have changed, are passed over.
    """
    return path[stays_at(path, X)]


def stays_at(path: Patterns, X: Patterns) -> list[int]:
    """The rows of a path (K, N) in which a stay at a stored pattern begins."""
    known = {x.tobytes() for x in X}
    names = [state.tobytes() for state in path]
    at = [t for t, name in enumerate(names) if name in known]
    return [t for k, t in enumerate(at) if k == 0 or names[at[k - 1]] != names[t]]


class Led:
    """A network that is led to the inputs of stored transitions, where it is let go from corrupted
    cues.

    One with a latent context has been shown the sequence up to there, clean; others start with the
    cue.
    """

    def __init__(self, net: SequenceMemory, shown: Transitions) -> None:
        self.net, self.shown, self.dwells = net, shown, net.traits().dwells
        self.memory = None if self.dwells else led_memory(net, shown)

    def arrive(self, which: Ids, cues: Patterns, due: Ids) -> Patterns:
        """Where it is when due, (B, N), from the cues (B, order * N) in place of the inputs of the
        transitions `which`, (B,).

        `due` counts steps, or, for a network that dwells, passages from one stored pattern to
        another; where it makes too few of these, a row is zero.
        """
        if self.dwells:
            return self._arrive_by_passages(which, cues, due)
        run = Run(self.net, cues, None if self.memory is None else self.memory[which])
        arrived = np.zeros((len(cues), self.net.n_features_in_), dtype=np.int8)
        for k in range(1, int(due.max()) + 1):
            following = run.step()
            arrived[due == k] = following[due == k]
        return arrived

    def _arrive_by_passages(self, which: Ids, cues: Patterns, due: Ids) -> Patterns:
        """The same for a network that dwells. A cue that is cleaned before the next pattern comes
        is not a passage.
        """
        stored = {x.tobytes(): x for x in (*self.shown.inputs, *self.shown.targets)}
        at, left = [x.tobytes() for x in self.shown.inputs[which]], due.tolist()
        run = Run(self.net, cues)
        for _ in range((int(due.max()) + 1) * steps_per_pattern(self.net)):
            for b, state in enumerate(run.step()):
                name = state.tobytes()
                if left[b] and name in stored and name != at[b]:
                    at[b], left[b] = name, left[b] - 1
        nowhere = np.zeros(self.net.n_features_in_, dtype=np.int8)
        return np.array(
            [nowhere if missing else stored[name] for name, missing in zip(at, left, strict=True)]
        )


@dataclass(frozen=True)
class Starts:
    """Every pattern of stored sequences that has a successor, as a start, and where a network
    should be after some steps.
    """

    shown: Transitions
    """The start of each, shape (n, order * N), and its successor."""
    due: Ids
    """After how many steps it is judged, shape (n,)."""
    wanted: Patterns
    """The pattern that should be there then, shape (n, N)."""

    @classmethod
    def of(
        cls,
        net: SequenceMemory,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None,
        settle: int,
    ) -> Starts:
        """Return the starts of sequences: loops continue where they end, others are judged at their
        end at the latest.
        """
        due, wanted = [], []
        for sequence in split(*check_sequences(X, lengths)):
            last = len(sequence) - 1
            newest = np.arange(net.order_ - 1, last)  # the last pattern has no successor
            round_ = period(sequence, net.order_)
            place = newest + settle if round_ else np.minimum(newest + settle, last)
            due.append(place - newest)
            wanted.append(sequence[place % round_ if round_ else place])
        return cls(net._shown(X, lengths), np.concatenate(due), np.concatenate(wanted))

    def corrupted(self, net: SequenceMemory, flips: int, rng: np.random.Generator) -> Patterns:
        """Give the starts with `flips` flipped units in each of their patterns, shape (n, order *
        N).
        """
        inputs = self.shown.inputs
        return flip(inputs.reshape(-1, net.n_features_in_), flips, rng).reshape(inputs.shape)


def basin_fraction(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    flips: int = 10,
    settle: int = 25,
    rng: Seed = None,
) -> float:
    """Return the fraction of starts from which the network comes to the sequence, exactly and in
    phase.

    Every pattern of every sequence is a start: `flips` of its units are flipped, the network runs
    for `settle` steps, and its state must then equal the pattern that stands `settle` steps after
    the start. A sequence that ends where it began is a loop and continues there; a network of order
    k > 1 only where the sequence ends with its first k patterns (`close_loops`), since it has not
    learned the transitions across the seam otherwise. A sequence that ends elsewhere has nothing
    after its last pattern: starts nearer to its end than `settle` are judged at the last pattern.

    The network runs as in `recall`. One with a latent context is first shown the sequence, clean,
    up to the start. For one that dwells at each pattern, such as `SlowSynapseMemory`, a step is a
    passage from one stored pattern to another.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
    lengths : array of shape (S,), optional
    flips : int
        How many units of the start are flipped; of a network of order k > 1 in each of the k
        patterns of the start.
    settle : int
        After how many steps the network must be on the sequence.
    rng : int, Generator or None
        Where the flips come from.

    Returns
    -------
    float
        Between 0 and 1.

    See Also
    --------
    retrieved : the paper's criterion, which asks for one start and any phase.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(30, 100, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=500, random_state=0).fit(X)
    >>> sa.basin_fraction(net, X, flips=5, rng=1)
    1.0
    >>> sa.basin_fraction(net, X, flips=50, rng=1) < 0.5
    True
    """
    check_learned(net)
    flips = check_count(flips, "flips", 0)
    settle = check_count(settle, "settle")
    starts = Starts.of(net, X, lengths, settle)
    cues = starts.corrupted(net, flips, as_generator(rng, "basin"))
    arrived = Led(net, starts.shown).arrive(np.arange(len(cues)), cues, starts.due)
    return float(np.mean(np.all(arrived == starts.wanted, axis=1)))


@dataclass(frozen=True, repr=False)
class RobustnessCurve(Result):
    """How many of the trials gave exactly the next pattern, for each number of flips."""

    _drawn_by = "robustness_with_certificate"
    flips: NDArray[np.int64]
    """Shape (K,)."""
    successes: NDArray[np.int64]
    """Shape (K,)."""
    trials: int
    """At each number of flips."""

    @property
    def rate(self) -> NDArray[np.float64]:
        """The fraction of successes, shape (K,)."""
        return np.asarray(self.successes / self.trials)

    def at(self, k: int) -> SuccessRate:
        """Give the successes of entry k with their interval."""
        return SuccessRate(
            int(self.successes[check_count(k, "k", 0, len(self.successes) - 1)]), self.trials
        )

    @property
    def half(self) -> int | None:
        """The smallest number of flips at which no more than half of the trials succeed, or
        None.
        """
        below = np.flatnonzero(self.rate <= 0.5)
        return int(self.flips[below[0]]) if below.size else None

    def describe(self) -> str:
        """Return a sentence about up to how many random flips the next pattern is right."""
        always = np.flatnonzero(np.cumprod(self.successes == self.trials))
        counted = f"({self.trials} trials at each of {len(self.flips)} numbers of flips)"
        if not always.size:
            fewest = int(self.flips[0])
            start = "even without flips" if fewest == 0 else f"with {fewest} random flips"
            return (
                f"The next pattern is right in only {self.successes[0]} of {self.trials} trials "
                f"{start} {counted}."
            )
        half = "more than half of them at every number of flips"
        if self.half is not None:
            half = f"at most half of them from {self.half} on"
        return (
            f"The next pattern is right in every trial up to {self.flips[always[-1]]} random "
            f"flips, and in {half} {counted}."
        )

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row per number of flips: successes, trials, rate and the ends of its interval."""
        return (
            {"flips": int(flips), **row}
            for k, flips in enumerate(self.flips)
            for row in self.at(k).rows()
        )

    def _named_axes(self) -> NamedAxes:
        """Along the numbers of flips."""
        low, high = np.array([self.at(k).interval for k in range(len(self.flips))]).T
        return NamedAxes(
            {
                "successes": ("flips", self.successes, "trials with exactly the next pattern"),
                "rate": ("flips", self.rate, "fraction of trials with exactly the next pattern"),
                "low": ("flips", low, "lower end of the 95 % interval of the rate"),
                "high": ("flips", high, "upper end of the 95 % interval of the rate"),
            },
            {"flips": ("flips", self.flips, "randomly flipped units")},
            {"trials": self.trials},
        )


def robustness_curve(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike],
    lengths: ArrayLike | None = None,
    *,
    flips: ArrayLike | None = None,
    trials: int = 500,
    rng: Seed = None,
) -> RobustnessCurve:
    """Measure how often one step from a corrupted stored pattern gives exactly the next one.

    A network with a latent context is first shown the sequence, clean, up to that pattern. For one
    that dwells at each pattern a step is a passage from one stored pattern to another.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N)
    lengths : array of shape (S,), optional
    flips : array of int, optional
        The numbers of flipped units to try; by default from 0 to half of the units, closer at the
        start.
    trials : int
        At each number of flips, spread evenly over the transitions.
    rng : int, Generator or None

    Returns
    -------
    RobustnessCurve

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X)
    >>> curve = sa.robustness_curve(net, X, flips=[0, 1, 30], trials=100, rng=0)
    >>> curve.successes[:2], curve.half
    (array([100, 100]), 30)
    """
    check_learned(net)
    trials = check_count(trials, "trials")
    shown = net._shown(X, lengths)
    inputs, targets, _ = shown
    units = inputs.shape[1]
    asked = _spread(units) if flips is None else check_counts(flips, "flips", 0, units)
    check_memory(10 * trials * units, f"a curve of {trials} trials")
    generator = as_generator(rng, "robustness")
    which = np.arange(trials) % len(inputs)
    one = np.ones(trials, dtype=np.int64)
    led = Led(net, shown)
    answers = (led.arrive(which, flip(inputs[which], int(k), generator), one) for k in asked)
    successes = [int(np.all(answer == targets[which], axis=1).sum()) for answer in answers]
    return RobustnessCurve(asked.astype(np.int64), np.array(successes, dtype=np.int64), trials)


def _spread(units: int) -> NDArray[np.int64]:
    """Some numbers of flips from 0 to half of the units."""
    half = max(1, units // 2)
    few, spread = np.arange(min(11, half + 1)), np.linspace(0, half, 16).round().astype(np.int64)
    return np.unique(np.concatenate([few, spread]))
