"""Where the network ends up: limit cycles and fixed points from many starts, stored ones told from spurious ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor._checks import check_count
from seqattractor._faces import Result
from seqattractor.analysis._arrival import passages
from seqattractor.analysis._retrieval import SuccessRate
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._run import Run
from seqattractor.noise import Seed, as_generator, flip
from seqattractor.sequences import Patterns, check_sequences, split, stack_context

Ids = NDArray[np.int64]
# Latent variables that agree to so many decimals are the same: real numbers hardly ever come back exactly.
_DECIMALS = 6


@dataclass(frozen=True, repr=False, eq=False)
class Attractor(Result):
    """A fixed point or a limit cycle."""

    patterns: Patterns
    """The patterns once round, shape (period, N); of a stored loop from its first pattern on."""
    starts: int
    """How many of the starts came to it."""
    stored: int | None
    """The number of the stored sequence that it is, or None: then it is spurious, or where an open sequence leads."""
    mirror_of: int | None = None
    """The number of the stored sequence of which it is the mirror image, all units inverted. A network without thresholds stores
    these too: its dynamics does not change when all signs do."""

    @property
    def period(self) -> int:
        """1 for a fixed point."""
        return len(self.patterns)

    @property
    def name(self) -> str:
        """What it is, in words."""
        if self.stored is not None:
            return f"sequence {self.stored}"
        if self.mirror_of is not None:
            return f"mirror image of sequence {self.mirror_of}"
        return "cycle" if self.period > 1 else "fixed point"

    def describe(self) -> str:
        """Say what it is, how long, and how many starts came to it."""
        return f"{self.name}, period {self.period}, reached from {self.starts} starts."


@dataclass(frozen=True, repr=False, eq=False)
class Attractors(Result):
    """Where some starts lead: a sequence of `Attractor`, the one with the most starts first.

    Attributes
    ----------
    which : ndarray of int, shape (B,)
        The attractor of each start; -1 where the run ended before anything came back.
    transient : ndarray of int, shape (B,)
        The steps from each start to its attractor; -1 where unfinished.
    reached : list of SuccessRate
        How many starts came to each stored sequence: into its loop, or, if it is open, through it to its end.
    """

    _drawn_by = "attractor_bars"
    attractors: tuple[Attractor, ...]
    which: Ids
    transient: Ids
    reached: list[SuccessRate]

    def __len__(self) -> int:
        return len(self.attractors)

    def __getitem__(self, k: int) -> Attractor:
        return self.attractors[k]

    @property
    def spurious(self) -> list[Attractor]:
        """The attractors that are not a stored loop, mirror images among them."""
        return [a for a in self.attractors if a.stored is None]

    @property
    def unfinished(self) -> int:
        """How many runs ended before anything came back."""
        return int(np.sum(self.which < 0))

    def rows(self) -> Iterable[dict[str, Any]]:
        """One row per attractor: what it is, its period, and how many starts came to it."""
        return ({"attractor": a.name, "period": a.period, "starts": a.starts} for a in self.attractors)

    def describe(self) -> str:
        """Say in a few sentences where the starts lead."""
        total = len(self.which)
        periods = [a.period for a in self.attractors]
        fixed = sum(p == 1 for p in periods)
        parts = [
            f"{total} starts end in {len(self)} attractor{'s' if len(self) != 1 else ''} "
            f"({fixed} fixed point{'s' if fixed != 1 else ''}, {len(self) - fixed} cycle{'s' if len(self) - fixed != 1 else ''})"
        ]
        done = self.transient[self.transient >= 0]
        mirrored = sum(a.mirror_of is not None for a in self.attractors)
        if mirrored:
            parts.append(f"{mirrored} of them the mirror image of a stored sequence")
        if done.size:
            parts.append(f"after a median of {np.median(done):g} steps and at most {done.max()}")
        if self.unfinished:
            parts.append(f"{self.unfinished} did not settle")
        stored = "; ".join(f"sequence {s}: {rate}" for s, rate in enumerate(self.reached[:5]))
        return ", ".join(parts) + "." + (f" Stored sequences reached: {stored}." if stored else "")


def find_attractors(
    net: SequenceMemory,
    X: ArrayLike | Sequence[ArrayLike] | None = None,
    lengths: ArrayLike | None = None,
    *,
    starts: int | ArrayLike = 200,
    flips: int | None = None,
    max_steps: int = 1000,
    rng: Seed = None,
) -> Attractors:
    """Run the network from many starts until its states come back.

    The dynamics is deterministic, so a state that has been seen before, from whichever start, leads where it led then: every
    state is computed once. The slow or latent variables of a network that has such are part of its state; real numbers among
    them count as equal if they agree to six decimals.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N), optional
        The stored sequences, to tell stored attractors from spurious ones.
    lengths : array of shape (S,), optional
    starts : int or array of +-1, shape (B, N), or (B, order, N) with a context
        The starts, or how many to draw: random patterns, or with `flips` stored ones.
    flips : int, optional
        Start from the stored patterns in turn, each with so many units flipped.
    max_steps : int
        When to give up on a start.
    rng : int, Generator or None

    Returns
    -------
    Attractors

    See Also
    --------
    basin : in phase and after a fixed number of steps.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X)
    >>> attractors = sa.find_attractors(net, X, starts=50, flips=5, rng=0)
    >>> attractors
    Attractors: 50 starts end in 1 attractor (0 fixed points, 1 cycle), after a median of 1 steps and at most 1
    >>> attractors[0].period, attractors[0].stored, (attractors[0].patterns == X[:9]).all()
    (9, 0, np.True_)
    """
    check_is_fitted(net, "n_features_in_")
    check_count(max_steps, "max_steps")
    sequences = [] if X is None else list(split(*check_sequences(X, lengths, order=net.order_)))
    states = _starts(net, sequences, starts, flips, as_generator(rng))
    graph = _Graph(net.n_features_in_, net.order_)
    first = graph.explore(net, states.reshape(len(states), -1), max_steps)
    return _summarise(graph, first, sequences, net)


class _Graph:
    """Every state that was seen, with the memory that it carries, and the state that follows it."""

    def __init__(self, n_units: int, order: int) -> None:
        self.n_units, self.order = n_units, order
        self._ids: dict[tuple[bytes, bytes], int] = {}
        self.names: list[bytes] = []
        """The patterns of each state, packed."""
        self.successor: list[int] = []

    def explore(self, net: SequenceMemory, states: Patterns, max_steps: int) -> Ids:
        """Run from all states until nothing is new; returns the number of each start."""
        run = Run(net, states)
        first, fresh = self._number(run)
        at = first[fresh]
        for _ in range(max_steps):
            if not len(fresh):
                break
            run = Run(net, run.states[fresh], None if run.memory is None else run.memory[fresh])
            run.step()
            numbers, fresh = self._number(run)
            for state, after in zip(at, numbers, strict=True):
                self.successor[state] = int(after)
            at = numbers[fresh]
        return first

    def _number(self, run: Run) -> tuple[Ids, Ids]:
        """The numbers of some states with what they carry, and the places of those not seen before, each once."""
        packed = np.packbits(run.states > 0, axis=1)
        # Adding zero makes -0.0 a 0.0; digests, because all variables at every step of every run would fill the memory.
        carried = None if run.memory is None else np.round(run.memory, _DECIMALS) + 0
        numbers, fresh = np.empty(len(packed), dtype=np.int64), []
        for k, row in enumerate(packed):
            name = row.tobytes()
            key = (name, b"" if carried is None else blake2b(carried[k].tobytes(), digest_size=16).digest())
            number = self._ids.setdefault(key, len(self.names))
            if number == len(self.names):
                self.names.append(name)
                self.successor.append(-1)
                fresh.append(k)
            numbers[k] = number
        return numbers, np.array(fresh, dtype=np.int64)

    def pattern(self, number: int) -> Patterns:
        """The newest pattern of a state."""
        width = self.n_units * self.order
        bits = np.unpackbits(np.frombuffer(self.names[number], dtype=np.uint8), count=width)[-self.n_units :]
        return np.where(bits, 1, -1).astype(np.int8)

    def next_name(self, number: int, held: frozenset[bytes]) -> bytes | None:
        """The name of the next state; of a network that dwells, of the first other one among the states `held`."""
        own, seen = self.names[number], set()
        number = self.successor[number]
        while held and number >= 0 and number not in seen and (self.names[number] == own or self.names[number] not in held):
            seen.add(number)
            number = self.successor[number]
        return self.names[number] if number >= 0 else None

    def cycles(self) -> tuple[list[list[int]], Ids, Ids]:
        """All cycles, and for each state its cycle (-1 if unknown) and its distance to it."""
        size = len(self.successor)
        cycle_of, distance = np.full(size, -2, dtype=np.int64), np.zeros(size, dtype=np.int64)
        cycles: list[list[int]] = []
        for start in range(size):
            path: list[int] = []
            place: dict[int, int] = {}
            at = start
            while at >= 0 and cycle_of[at] == -2 and at not in place:
                place[at] = len(path)
                path.append(at)
                at = self.successor[at]
            if at >= 0 and at in place:
                loop = path[place[at] :]
                cycle_of[loop] = len(cycles)
                cycles.append(loop)
                path = path[: place[at]]
            ends, steps = (-1, 0) if at < 0 else (int(cycle_of[at]), int(distance[at]))
            for back, state in enumerate(reversed(path), start=1):
                cycle_of[state], distance[state] = ends, steps + back if ends >= 0 else -1
        distance[cycle_of < 0] = -1
        return cycles, cycle_of, distance


def _summarise(graph: _Graph, first: Ids, sequences: list[Patterns], net: SequenceMemory) -> Attractors:
    """Name the cycles and count who came to them."""
    cycles, cycle_of, distance = graph.cycles()
    counts = np.bincount(cycle_of[first][cycle_of[first] >= 0], minlength=len(cycles))
    # States that only other states of the run led to belong to no start of their own: every cycle has a start.
    order = np.argsort(-counts, kind="stable")
    loops = {_loop_key(np.asarray(x[:-1])): s for s, x in reversed(list(enumerate(sequences))) if np.array_equal(x[0], x[-1])}
    stored = np.concatenate(sequences) if sequences and net.traits().dwells else None
    attractors, stored_of = [], {}
    for c in order:
        patterns = _once_round(np.array([graph.pattern(k) for k in cycles[c]]))
        s = loops.get(_loop_key(_without_stays(patterns, stored)))
        mirror = None if s is not None else loops.get(_loop_key(_without_stays(-patterns, stored)))
        stored_of[int(c)] = s
        attractors.append(Attractor(patterns if s is None else sequences[s][:-1].copy(), int(counts[c]), s, mirror))
    rank = np.empty(len(cycles) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(cycles)), -1
    held = frozenset() if stored is None else frozenset(row.tobytes() for row in np.packbits(stored > 0, axis=1))
    reached = []
    for s, x in enumerate(sequences):
        if np.array_equal(x[0], x[-1]):
            reaches = np.isin(cycle_of, [c for c, number in stored_of.items() if number == s])
        else:
            reaches = _passes_end(graph, x, net.order_, held)
        reached.append(SuccessRate(int(reaches[first].sum()), len(first)))
    return Attractors(tuple(attractors), rank[cycle_of[first]], distance[first], reached)


def _passes_end(graph: _Graph, sequence: Patterns, order: int, held: frozenset[bytes]) -> NDArray[np.bool_]:
    """Which states lead through the last transition of an open sequence."""
    before, last = (row.tobytes() for row in np.packbits(stack_context(sequence, order)[-2:] > 0, axis=1))
    todo = [k for k, name in enumerate(graph.names) if name == before and graph.next_name(k, held) == last]
    leading: dict[int, list[int]] = {}
    for state, after in enumerate(graph.successor):
        leading.setdefault(after, []).append(state)
    reaches = np.zeros(len(graph.names), dtype=bool)
    while todo:
        state = todo.pop()
        if not reaches[state]:
            reaches[state] = True
            todo.extend(leading.get(state, []))
    return reaches


def _once_round(patterns: Patterns) -> Patterns:
    """A cycle of patterns once round: its memory may take several rounds to come back."""
    n = len(patterns)
    period = next(p for p in range(1, n + 1) if n % p == 0 and np.array_equal(patterns[p:], patterns[: n - p]))
    return patterns[:period]


def _without_stays(patterns: Patterns, stored: Patterns | None) -> Patterns:
    """A cycle of a network that dwells as the stored patterns that it goes through, each stay once; of others as it is."""
    if stored is None:
        return patterns
    seen = passages(patterns, stored)
    if len(seen) > 1 and np.array_equal(seen[0], seen[-1]):
        seen = seen[:-1]  # the cycle was entered in the middle of a stay
    return _once_round(seen) if len(seen) else patterns


def _loop_key(patterns: Patterns) -> bytes:
    """A name of a cycle that does not depend on where it is entered: its least rotation, by the bytes of the patterns."""
    rows = [row.tobytes() for row in np.packbits(patterns > 0, axis=1)]
    least = min(rows)
    return min(b"".join(rows[k:] + rows[:k]) for k, row in enumerate(rows) if row == least)


def _starts(
    net: SequenceMemory, sequences: list[Patterns], starts: int | ArrayLike, flips: int | None, rng: np.random.Generator
) -> Patterns:
    """The starts as (B, order, N)."""
    N, order = net.n_features_in_, net.order_
    if not isinstance(starts, (int, np.integer)):
        return net._as_states(starts, "start")[0]
    count = check_count(starts, "starts")
    if flips is None:
        return rng.choice(np.array([-1, 1], dtype=np.int8), size=(count, order, N))
    if not sequences:
        raise ValueError("flips start from stored patterns: give the sequences X too, or leave flips out for random starts.")
    stored: Any = np.concatenate([stack_context(x, order)[:-1] for x in sequences]).reshape(-1, order, N)
    chosen = stored[np.arange(count) % len(stored)]
    return np.asarray(flip(chosen.reshape(-1, N), flips, rng).reshape(chosen.shape))
