"""The tests on which all networks are compared: sequences and cues along an axis that grows harder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqattractor.analysis._retrieval import retrieved
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.datasets._random import random_periodic
from seqattractor.datasets._walker import FRAME_SHAPE, walker
from seqattractor.experiments._trial import draw_sequences
from seqattractor.noise import flip
from seqattractor.sequences import Lengths, Patterns, split

__all__ = ["DWELL", "PROTOCOLS", "Protocol", "Task", "count_recalled", "passages"]

PERIODS = 4
"""How many times the length of a loop a network may run before it must have shown the whole loop (section 6.2)."""
DWELL = 1
"""A network that dwells may take this many times its own memory for each step of the sequence."""


@dataclass(frozen=True)
class Task:
    """Sequences to store and cues to recall them from."""

    X: Patterns
    """Shape (T, N)."""
    lengths: Lengths
    flips: int
    """Flipped units in each pattern of a cue."""
    noise: int = 0
    """Flipped units before every step of recall."""
    closed: bool = True
    """Whether every sequence is a loop, so that a network which wandered first may still fall into it."""

    def __post_init__(self) -> None:
        n = self.X.shape[1]
        if not (0 <= self.flips <= n and 0 <= self.noise <= n):
            raise ValueError(f"there are {n} units to flip, but {max(self.flips, self.noise)} are to be flipped; give 0 to {n}.")

    def cues(self, order: int, rng: np.random.Generator) -> Patterns:
        """Corrupted beginnings of all sequences, (S, order, N); networks of any order get the same first patterns."""
        sequences = list(split(self.X, self.lengths))
        return np.stack([flip(np.stack([x[t] for x in sequences]), self.flips, rng) for t in range(order)], axis=1)

    @property
    def steps(self) -> int:
        """How long to recall."""
        longest = int(self.lengths.max())
        return PERIODS * longest if self.closed else longest - 1


@dataclass(frozen=True)
class Protocol:
    """A test along one axis."""

    name: str
    title: str
    axis: str
    """What differs, in words."""
    values: tuple[Any, ...]
    """Along the axis, easy ones first."""
    make: Callable[[Any, np.random.Generator], Task]
    setting: str
    """What stays the same, in words."""
    n_hidden: int = 500
    trials: int = 20
    """By default."""
    one_lesson: bool = False
    """Whether only cues and noise differ along the axis, so that a network learns once for all values of a trial."""

    def parse(self, text: str) -> Any:
        """Read a value from the command line."""
        try:
            if self.name == "multi":
                number, _, length = text.lower().partition("x")
                return f"{int(number)}x{int(length)}"
            return float(text) if self.name == "correlated" else int(text)
        except ValueError:
            example = self.values[0]
            raise ValueError(f"a value of the protocol {self.name!r} looks like {example}, but this is {text!r}.") from None

    def easy_first(self, values: Sequence[Any]) -> Sequence[Any]:
        """Put values in the order in which the test grows harder; for multi, whose values are no numbers, that is the user's."""
        return values if self.name == "multi" else sorted(values)


def _random(T: int, rng: np.random.Generator) -> Task:
    """One random loop of T patterns, with the last one, which is the first again."""
    return Task(random_periodic(T, 100, rng=rng), np.array([T]), flips=10)


def _noise(flips: int, rng: np.random.Generator) -> Task:
    """More and more flips of the cue."""
    return Task(random_periodic(40, 100, rng=rng), np.array([40]), flips=flips)


def _recall_noise(noise: int, rng: np.random.Generator) -> Task:
    """Flips before every step."""
    return Task(random_periodic(40, 100, rng=rng), np.array([40]), flips=10, noise=noise)


def _correlated(correlation: float, rng: np.random.Generator) -> Task:
    """Successive patterns that resemble each other."""
    return Task(random_periodic(40, 100, correlation=correlation, rng=rng), np.array([40]), flips=10)


def _multi(size: str, rng: np.random.Generator) -> Task:
    """Several random loops in one network."""
    number, length = map(int, size.split("x"))
    X, lengths = draw_sequences(number, length, 100, rng=rng)
    return Task(X, lengths, flips=10)


def _digits(flips: int, rng: np.random.Generator) -> Task:
    """The paper's twenty sequences of moving digits, drawn anew for each trial."""
    X, lengths = moving_digits(20, 20, random_state=rng)
    return Task(X, lengths, flips=flips, closed=False)


def _walker(flips: int, rng: np.random.Generator) -> Task:
    """The walking figure, every third pixel of every third row: a network without hidden neurons has N^2 weights."""
    frames = walker().reshape(-1, *FRAME_SHAPE)[:, ::3, ::3]
    X = np.ascontiguousarray(frames.reshape(len(frames), -1))
    return Task(X, np.array([len(X)]), flips=flips)


PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "random",
            "Length of a random sequence",
            "period length T",
            (10, 20, 30, 40, 50, 60, 70, 80, 100, 150, 200, 300),
            _random,
            "one random periodic sequence of N = 100 units, 10 of them flipped in the cue (section 6.2 of the paper)",
        ),
        Protocol(
            "noise",
            "Corrupted cues",
            "flipped units of the cue",
            (0, 5, 10, 15, 20, 25, 30, 35, 40),
            _noise,
            "one random periodic sequence of T = 40 patterns of N = 100 units",
            one_lesson=True,
        ),
        Protocol(
            "recall-noise",
            "Noise during recall",
            "flipped units before every step",
            (0, 1, 2, 4, 6, 8, 10, 15, 20),
            _recall_noise,
            "one random periodic sequence of T = 40 patterns of N = 100 units, 10 of them flipped in the cue",
            one_lesson=True,
        ),
        Protocol(
            "correlated",
            "Correlated patterns",
            "correlation of successive patterns",
            (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9),
            _correlated,
            "one periodic sequence of T = 40 patterns of N = 100 units, 10 of them flipped in the cue",
        ),
        Protocol(
            "multi",
            "Many sequences in one network",
            "number x length of the sequences",
            ("2x10", "5x5", "5x10", "10x5", "2x50", "5x20", "10x10", "20x5", "10x20", "20x10"),
            _multi,
            "periodic random sequences of N = 100 units, 10 of them flipped in each cue; all must be recalled",
        ),
        Protocol(
            "digits",
            "Moving digits",
            "flipped pixels of the cue",
            (0, 100, 300, 600, 1000),
            _digits,
            "20 sequences of 20 frames of 64 x 64 pixels; all frames after the cue must be exact",
            n_hidden=1000,
            trials=3,
            one_lesson=True,
        ),
        Protocol(
            "walker",
            "A walking figure",
            "flipped pixels of the cue",
            (0, 50, 100, 230, 350, 450),
            _walker,
            "one loop of 103 silhouettes of 43 x 30 pixels",
            n_hidden=200,
            trials=3,
            one_lesson=True,
        ),
    )
}


def passages(path: Patterns, X: Patterns) -> Patterns:
    """What a network that dwells went through: the stored patterns in its path, each stay once.

    States between two patterns, in which some units have gone on and others have not, are passed over.
    """
    known = {x.tobytes() for x in X}
    names = [state.tobytes() for state in path]
    at = [t for t, name in enumerate(names) if name in known]
    kept = [t for k, t in enumerate(at) if k == 0 or names[at[k - 1]] != names[t]]
    return path[kept]


def count_recalled(paths: Patterns, task: Task, order: int, *, dwells: bool) -> int:
    """How many sequences were recalled, for paths of shape (S, order + steps, N).

    A loop is recalled if all its patterns appear in order somewhere in the path (section 6.2), an open sequence if what
    follows the cue is what follows in the sequence, both without a wrong unit.
    """
    sequences = split(task.X, task.lengths)
    return sum(_recalled(path, x, task, order, dwells) for path, x in zip(paths, sequences, strict=True))


def _recalled(path: Patterns, x: Patterns, task: Task, order: int, dwells: bool) -> bool:
    """Whether one sequence was recalled."""
    if task.closed:
        seen = passages(path, task.X) if dwells else path
        return len(seen) > 0 and retrieved(seen, x)
    told = path[order:]
    if dwells:
        told = passages(told, task.X)
        if len(told) and np.array_equal(told[0], x[0]):
            told = told[1:]  # it cleaned the cue before it went on
    return np.array_equal(told[: len(x) - order], x[order:])
