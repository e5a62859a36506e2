"""Recall from a corrupted cue, and what to say about it: the one place that decides whether a recall has worked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor import noise
from seqattractor._faces import Result
from seqattractor.analysis._retrieval import SuccessRate, locked_on_at, success_rate
from seqattractor.networks._base import SequenceMemory
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Sequences, close_loops, stack_context

MOST_VALUES = 2**30
MOST_AT_ONCE = 2**26  # values of trials that are recalled side by side


@dataclass(frozen=True)
class Stored:
    """Sequences that a network has learned.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 8, rng=0)
    >>> stored = Stored.of(X)
    >>> stored.period(0, order=1), stored.steps(0, 2, order=1)
    (4, 4)
    >>> bool((stored.following(0, 2, 6, order=1) == X[[2, 3, 0, 1, 2, 3]]).all())
    True
    """

    sequences: tuple[Patterns, ...]
    """Each of shape (T_s, N)."""
    closed: tuple[int, ...]
    """How many patterns at the end of each sequence repeat its beginning; 0 where it ends."""
    names: tuple[str, ...]

    @classmethod
    def of(cls, data: Sequences, order: int | None = None) -> Stored:
        """Take sequences as they are, or with loops closed for a network that sees the last `order` patterns."""
        closed = tuple((data.closed or 1 if order is None else order) if loop else 0 for loop in data.loops)
        parts = data.split() if order is None else close_loops(data, order=order).split()
        return cls(tuple(parts), closed, tuple(data.names))

    def place(self, row: int) -> tuple[int, int]:
        """Give the sequence and the frame of a row, where the sequences stand one below the other."""
        ends = np.cumsum([len(x) for x in self.sequences])
        s = int(np.searchsorted(ends, row, side="right"))
        return s, int(row - ends[s] + len(self.sequences[s]))

    def period(self, s: int, order: int) -> int | None:
        """Give the period of a loop that a network with a context of `order` patterns goes round; None where it ends."""
        closed = self.closed[s]
        return len(self.sequences[s]) - closed if closed >= order else None

    def following(self, s: int, frame: int, rows: int, order: int) -> Patterns:
        """Give the patterns from a frame on: round and round in a loop, else to the end; shape (rows or fewer, N)."""
        sequence, period = self.sequences[s], self.period(s, order)
        if period is not None:
            return sequence[(frame + np.arange(rows)) % period]
        return sequence[frame : frame + rows]

    def steps(self, s: int, frame: int, order: int) -> int:
        """Give the steps from a cue that begins at a frame to the end of the sequence, or one round of a loop; at least 1."""
        return self.period(s, order) or max(1, len(self.sequences[s]) - frame - order)

    def nearest(self, cue: Patterns) -> tuple[int, int, float]:
        """Give the place that is most like a cue of shape (order, N): sequence, frame and overlap."""
        flat = cue.reshape(-1).astype(np.float64)
        best = (0, 0, -2.0)
        for s, sequence in enumerate(self.sequences):
            overlaps = stack_context(sequence, len(cue))[:-1].astype(np.float64) @ flat / flat.size
            if overlaps.size and overlaps.max() > best[2]:
                best = (s, int(overlaps.argmax()), float(overlaps.max()))
        return best

    def nearest_names(self, states: Patterns) -> list[str]:
        """Name for each state the stored pattern that is most like it, as SEQUENCE:FRAME."""
        X = np.concatenate(self.sequences)
        rows = (states.astype(np.float32) @ X.astype(np.float32).T).argmax(axis=1)
        return ["{}:{}".format(*self.place(int(row))) for row in rows]

    def steps_made(self, order: int) -> set[bytes]:
        """Give every step of `order` + 1 successive patterns, as bytes."""
        return {x[t : t + order + 1].tobytes() for x in self.sequences for t in range(len(x) - order)}

    def last_patterns(self, order: int) -> set[bytes]:
        """Give the patterns at which sequences end, as bytes."""
        return {x[-1].tobytes() for s, x in enumerate(self.sequences) if self.period(s, order) is None}


@dataclass(frozen=True)
class Corruption:
    """How a cue is corrupted: first a part of each pattern is covered, then units are flipped.

    Examples
    --------
    >>> import seqattractor as sa
    >>> cue = sa.datasets.xor()[:1]
    >>> int((Corruption(flips=1)(cue, (2,), rng=0) != cue).sum())
    1
    """

    flips: int = 0
    """Units flipped at random in each pattern."""
    occlusion: float | tuple[tuple[int, int], ...] = 0.0
    """The fraction of the frame to cover, at a random place; or the block to cover, a range for each axis of the frame."""
    painted: tuple[int, ...] = ()
    """Units flipped by hand in the newest pattern."""

    def __call__(self, cue: Patterns, frame_shape: tuple[int, ...], rng: Seed) -> Patterns:
        """Give the corrupted cue, of the same shape (patterns, N)."""
        generator = as_generator(rng)
        if isinstance(self.occlusion, tuple):
            cue = noise.occlude(cue, frame_shape, self.occlusion)
        elif self.occlusion:
            cue = noise.occlude(cue, frame_shape, fraction=self.occlusion, rng=generator)
        corrupted = noise.flip(cue, self.flips, generator)
        corrupted[-1, list(self.painted)] *= -1
        return corrupted


@dataclass(frozen=True, repr=False)
class Recall(Result):
    """What a network recalled from a cue."""

    states: Patterns
    """The cue and what followed, shape (K, N)."""
    cue_rows: int
    """How many rows at the beginning are the cue."""
    truth: Patterns | None
    """What should be seen, shape (L, N) with L <= K: to the end of the stored sequence, or round and round in a loop."""
    nearest: list[str] | None
    """For each row the stored pattern that is most like it, as SEQUENCE:FRAME."""
    locked_on: int | None
    """The row from which on every step is a stored one, until the sequence or the recall ends."""
    tau: int | None
    """tau of section 6.2, where the whole sequence was recalled."""
    verdict: str
    """Whether it has worked, in a sentence."""

    @property
    def steps(self) -> int:
        """How many steps the network has made."""
        return len(self.states) - self.cue_rows

    @property
    def wrong(self) -> NDArray[np.int64] | None:
        """Wrong units of each row for which the truth is known, shape (L,)."""
        return None if self.truth is None else np.asarray((self.states[: len(self.truth)] != self.truth).sum(axis=1))

    @property
    def overlaps(self) -> NDArray[np.float64] | None:
        """Overlap with the truth of each row for which it is known, shape (L,)."""
        return None if self.wrong is None else 1.0 - 2.0 * self.wrong / self.states.shape[1]

    @property
    def followed(self) -> NDArray[np.float64]:
        """Overlap with what is followed, shape (K,): the truth, and stored patterns once locked on; nan where none is known."""
        overlaps = np.full(len(self.states), np.nan)
        if self.overlaps is not None:
            known = len(self.overlaps)
            overlaps[:known] = self.overlaps
            if self.locked_on is not None:
                overlaps[self.locked_on : known] = 1.0  # it may follow the sequence out of step with the truth
        return overlaps

    @property
    def exact_from(self) -> int | None:
        """The step from which on no unit is wrong, as far as the truth is known; None where the last row is wrong."""
        if self.wrong is None:
            return None
        errors = np.flatnonzero(self.wrong[self.cue_rows :])
        step = int(errors[-1]) + 2 if errors.size else 1
        return step if step <= len(self.wrong) - self.cue_rows else None

    def describe(self) -> str:
        """Say how it went."""
        return self.verdict or f"{self.steps} steps were recalled; nothing stored is known to compare them with."

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each step, 0 for the end of the cue."""
        unknown = [None] * len(self.states)
        overlaps = [*([] if self.overlaps is None else self.overlaps.tolist()), *unknown]
        wrong = [*([] if self.wrong is None else self.wrong.tolist()), *unknown]
        nearest = self.nearest or unknown
        return [
            {"step": t - self.cue_rows + 1, "overlap": overlaps[t], "wrong": wrong[t], "nearest": nearest[t]}
            for t in range(self.cue_rows - 1, len(self.states))
        ]


def recall(
    net: SequenceMemory,
    cue: Patterns,
    steps: int,
    *,
    stored: Stored | None = None,
    place: tuple[int, int] = (0, 0),
    noise: int = 0,
    rng: Seed = 0,
) -> Recall:
    """Recall from a cue and judge the outcome.

    Parameters
    ----------
    net : SequenceMemory
    cue : ndarray of +-1, shape (k, N)
        At least as many patterns as the network's context; it is given the last ones.
    steps : int
    stored : Stored, optional
        What the network has learned.
    place : (int, int)
        Sequence and frame of the first pattern of the cue, in `stored`.
    noise : int
        Units flipped before every step.
    rng : int, Generator or None

    Returns
    -------
    Recall

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)
    >>> cue = Corruption(flips=6)(X[:1], (60,), rng=1)
    >>> recall(net, cue, 20, stored=Stored.of(X))
    Recall: locked on at step 1: from there on every unit is right
    """
    order = net.order_
    if steps * net.n_features_in_ > MOST_VALUES:
        raise ValueError(f"{steps} steps of {net.n_features_in_} units are too many to keep; ask for fewer steps.")
    taken = cue[-order:]
    states = np.concatenate([cue[:-order], net.recall(taken[0] if order == 1 else taken, steps, noise=noise, rng=rng)])
    if stored is None:
        return Recall(states, len(cue), None, None, None, None, "")
    s, frame = place
    truth = stored.following(s, frame, len(states), order)
    period = stored.period(s, order)
    locked_on = _locked_on(states, stored, order, s)
    tau = locked_on_at(states, stored.sequences[s] if period is None else stored.sequences[s][: period + 1])
    verdict = _failure(states, truth) if locked_on is None else _success(states, truth, locked_on, stored, place, period)
    return Recall(states, len(cue), truth, stored.nearest_names(states), locked_on, tau, verdict)


def recall_often(
    net: SequenceMemory,
    clean: Patterns,
    corruption: Corruption,
    last: Patterns,
    steps: int,
    *,
    trials: int,
    frame_shape: tuple[int, ...],
    noise: int = 0,
    rng: Seed = 0,
) -> SuccessRate:
    """Recall again and again with other noise, and count how often the last pattern is exact.

    Parameters
    ----------
    net : SequenceMemory
    clean : ndarray of +-1, shape (order, N)
        The cue before it is corrupted.
    corruption : Corruption
    last : ndarray of +-1, shape (N,)
        The pattern that should be there after `steps`.
    steps : int
    trials : int
    frame_shape : tuple of int
    noise : int
        Units flipped before every step.
    rng : int, Generator or None

    Returns
    -------
    SuccessRate
    """
    generator = as_generator(rng)
    at_once = max(1, MOST_AT_ONCE // ((len(clean) + steps) * net.n_features_in_))
    outcomes: list[bool] = []
    while len(outcomes) < trials:
        some = range(min(at_once, trials - len(outcomes)))
        cues = np.stack([corruption(clean, frame_shape, generator) for _ in some])
        runs = net.recall(cues[:, 0] if net.order_ == 1 else cues, steps, noise=noise, rng=generator)
        outcomes += (runs[:, -1] == last).all(axis=1).tolist()
    return success_rate(outcomes)


def hidden_states(net: SequenceMemory, states: Patterns) -> Patterns | None:
    """Give the hidden state zeta that each row makes, eq. (2), without noise.

    Parameters
    ----------
    net : SequenceMemory
    states : ndarray of +-1, shape (K, N)

    Returns
    -------
    ndarray of +-1, shape (K, M), or None
        -1 where the network has not seen enough patterns yet; None for networks without hidden neurons.
    """
    if not hasattr(net, "hidden_states"):
        return None
    zeta = net.hidden_states(stack_context(states, net.order_))
    silent = np.full((net.order_ - 1, zeta.shape[1]), -1, dtype=np.int8)
    return np.concatenate([silent, np.where(zeta > 0, 1, -1).astype(np.int8)])


def _locked_on(states: Patterns, stored: Stored, order: int, s: int) -> int | None:
    """The first row from which on every step is a stored one, until a sequence or the recall ends.

    In a loop this must hold for a whole round, or for half of a recall that is too short for that: the last steps alone could be
    chance.
    """
    known, last = stored.steps_made(order), stored.last_patterns(order)
    ends = [t for t, row in enumerate(states) if row.tobytes() in last]
    stop = ends[0] if ends else len(states) - 1
    first = stop + 1
    for t in range(stop - order, -1, -1):
        if states[t : t + order + 1].tobytes() not in known:
            break
        first = t
    if ends:
        return min(first, stop)
    once_round = stored.period(s, order) or len(stored.sequences[s]) - 1
    return first if stop - first >= min(once_round, stop // 2) else None


def _success(
    states: Patterns, truth: Patterns, locked_on: int, stored: Stored, place: tuple[int, int], period: int | None
) -> str:
    """A sentence for a recall that has worked, also where it is ahead of the truth or behind."""
    if locked_on == 0:
        return "On the sequence from the start: the cue was right already."
    begin = f"Locked on at step {locked_on}"
    if np.array_equal(states[locked_on : len(truth)], truth[locked_on:]):
        return f"{begin}: from there on every unit is right."
    s, frame = place
    X = stored.sequences[s]
    places = [p for p in range(period or 0) if np.array_equal(states[locked_on : locked_on + 2], X[p : p + 2])]
    if not places or period is None:
        return f"{begin}, at another place of what was stored: from there on every step is right."
    ahead = (places[0] - (frame + locked_on)) % period
    where = f"{ahead} ahead of the truth" if ahead <= period / 2 else f"{period - ahead} behind the truth"
    return f"{begin}, {where}: from there on every unit is right."


def _failure(states: Patterns, truth: Patterns) -> str:
    """A sentence for a recall that has not worked, with where it ended up."""
    again = np.flatnonzero((states[:-1] == states[-1]).all(axis=1))
    if again.size:
        period = len(states) - 1 - int(again[-1])
        where = "it got stuck in one pattern" if period == 1 else f"it went astray into a loop of {period} patterns"
    else:
        where = "it wandered without settling"
    overlap = (states[len(truth) - 1] == truth[-1]).mean() * 2 - 1
    return f"Not recalled: {where}. The overlap with the truth was {overlap:.2f} at the end."
