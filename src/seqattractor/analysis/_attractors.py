"""Where the network ends up: limit cycles and fixed points from many starts, stored and spurious
ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from seqattractor._checks import check_count, check_memory
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._retrieval import SuccessRate
from seqattractor.analysis._robustness import passages
from seqattractor.networks.base import SequenceMemory, check_learned
from seqattractor.networks.run import Run, names_of
from seqattractor.noise import Seed, as_generator, flip
from seqattractor.sequences import Patterns, check_sequences, split, stack_context
from seqattractor.sequences._patterns import period

Ids = NDArray[np.int64]
# Latent variables that agree to this many decimals are the same: real numbers hardly ever come back
# exactly.
_DECIMALS = 6


@dataclass(frozen=True, repr=False, eq=False)
class Attractor(Result):
    """A fixed point or a limit cycle."""

    _drawn_by = "raster"
    patterns: Patterns
    """The patterns of one round, shape (period, N); of a stored loop from its first pattern on."""
    starts: int
    """How many of the starts came to it."""
    stored: int | None
    """The number of the stored sequence that it is, or None: then it is spurious, or where an open
    sequence leads.
    """
    mirror_of: int | None = None
    """The number of the stored sequence of which it is the mirror image, all units inverted. A
    network without thresholds and biases stores these too: its dynamics is the same with all signs
    reversed.
    """

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.patterns, dtype=dtype, copy=copy)

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
        """Return what it is, how long, and how many starts came to it."""
        return f"{self.name}, period {self.period}, reached from {self.starts} starts."

    def _named_axes(self) -> NamedAxes:
        """The patterns of one round."""
        return NamedAxes(
            {"patterns": (("time", "unit"), self.patterns, "patterns of one round")},
            attributes={
                "name": self.name,
                "starts": self.starts,
                "stored": self.stored,
                "mirror_of": self.mirror_of,
            },
        )


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
        How many starts came to each stored sequence, at any time and in any phase: into its loop,
        or, if it is open, through its last transition, wherever they joined it.
    loops : list of bool
        Whether each stored sequence is a loop.
    """

    _drawn_by = "attractor_bars"
    attractors: tuple[Attractor, ...]
    which: Ids
    transient: Ids
    reached: list[SuccessRate]
    loops: list[bool]

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
        return (
            {"attractor": a.name, "period": a.period, "starts": a.starts} for a in self.attractors
        )

    def _named_axes(self) -> NamedAxes:
        """Attractors, starts and stored sequences; the patterns of an attractor are in its own
        `to_xarray`.
        """
        each = self.attractors
        return NamedAxes(
            {
                "period": ("attractor", [a.period for a in each], "patterns of one round"),
                "starts": ("attractor", [a.starts for a in each], "starts that came to it"),
                "which": (
                    "start",
                    self.which,
                    "attractor of each start; -1 where the run ended before",
                ),
                "transient": (
                    "start",
                    self.transient,
                    "steps to the attractor; -1 where the run ended before",
                ),
                "reached": (
                    "sequence",
                    [rate.successes for rate in self.reached],
                    "starts that came to the stored sequence",
                ),
                "loop": ("sequence", self.loops, "whether the stored sequence is a loop"),
            },
            {"name": ("attractor", [a.name for a in each], "what it is")},
        )

    def describe(self) -> str:
        """Return a few sentences about where the starts lead."""
        total = len(self.which)
        fixed = sum(a.period == 1 for a in self.attractors)
        kinds = {"attractor": len(self), "fixed point": fixed, "cycle": len(self) - fixed}
        every, points, cycles = (f"{n} {kind}{'s' if n != 1 else ''}" for kind, n in kinds.items())
        parts = [f"{total} starts end in {every} ({points}, {cycles})"]
        done = self.transient[self.transient >= 0]
        mirrored = sum(a.mirror_of is not None for a in self.attractors)
        if mirrored:
            parts.append(f"{mirrored} of them the mirror image of a stored sequence")
        if done.size:
            middle = f"{np.median(done):g} step{'' if np.median(done) == 1 else 's'}"
            parts.append(f"after a median of {middle} and at most {done.max()}")
        if self.unfinished:
            parts.append(f"{self.unfinished} did not settle")
        return ", ".join(parts) + "." + self._about_stored()

    def _about_stored(self) -> str:
        """How many starts came to stored sequences, and what that means."""
        counts = [
            f"{rate.successes} of {rate.trials} starts came "
            f"{'into the loop' if loop else 'through the end'} of sequence {s}"
            for s, (rate, loop) in enumerate(zip(self.reached[:5], self.loops, strict=False))
        ]
        if not counts:
            return ""
        more = f", and {len(self.reached) - 5} more sequences" if len(self.reached) > 5 else ""
        often = " (one may lead into another)" if len(counts) > 1 and not all(self.loops) else ""
        return f" At any time and in any phase, {', '.join(counts)}{more}{often}."


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

    The dynamics is deterministic, so a state that has been seen before, from whichever start, leads
    where it led then: every state is computed once. The slow or latent variables of a network that
    has such are part of its state; real numbers among them count as equal if they agree to six
    decimals.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : array of +-1, shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S, T, N),
    optional
        The stored sequences, to distinguish stored attractors from spurious ones.
    lengths : array of shape (S,), optional
    starts : int or array of +-1, shape (B, N), or (B, order, N) with a context
        The starts, or how many to draw: random patterns, or with `flips` stored ones.
    flips : int, optional
        Start from the stored patterns in turn, each with this many units flipped.
    max_steps : int
        When to give up on a start.
    rng : int, Generator or None

    Returns
    -------
    Attractors

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X)
    >>> attractors = sa.find_attractors(net, X, starts=50, flips=5, rng=0)
    >>> attractors
    Attractors: 50 starts end in 1 attractor (0 fixed points, 1 cycle), after a median of 1 step
    and at most 1
    >>> attractors[0].period, attractors[0].stored, (attractors[0].patterns == X[:9]).all()
    (9, 0, np.True_)
    """
    check_learned(net)
    max_steps = check_count(max_steps, "max_steps")
    flips = None if flips is None else check_count(flips, "flips", 0)
    sequences = [] if X is None else list(split(*check_sequences(X, lengths, order=net.order_)))
    graph = _Graph(
        net, _starts(net, sequences, starts, flips, as_generator(rng, "attractors")), max_steps
    )
    return _summarise(graph, sequences)


class _Graph:
    """Every state that was seen, with the memory that it carries, and the state that follows it.

    It is explored from all starts, (B, order * N), until nothing is new or after `max_steps`.
    """

    def __init__(self, net: SequenceMemory, starts: Patterns, max_steps: int) -> None:
        self.net = net
        self._ids: dict[tuple[bytes, bytes], int] = {}
        self.names: list[bytes] = []
        """The patterns of each state, packed."""
        self.successor: list[int] = []
        run = Run(net, starts)
        self.first, fresh = self._number(run)
        """The number of each start."""
        at = self.first[fresh]
        for _ in range(max_steps):
            if not len(fresh):
                break
            run = Run(net, run.states[fresh], None if run.memory is None else run.memory[fresh])
            run.step()
            numbers, fresh = self._number(run)
            for state, after in zip(at, numbers.tolist(), strict=True):
                self.successor[state] = after
            at = numbers[fresh]

    def _number(self, run: Run) -> tuple[Ids, Ids]:
        """The numbers of some states with what they carry, and the places of those not seen before,
        each once.
        """
        names = names_of(run.states)
        # Adding zero makes -0.0 a 0.0; digests, because all variables at every step of every run
        # would fill the memory.
        carried = None if run.memory is None else np.round(run.memory, _DECIMALS) + 0
        numbers, fresh = np.empty(len(names), dtype=np.int64), []
        for k, name in enumerate(names):
            key = (
                name,
                b"" if carried is None else blake2b(carried[k].tobytes(), digest_size=16).digest(),
            )
            number = self._ids.setdefault(key, len(self.names))
            if number == len(self.names):
                self.names.append(name)
                self.successor.append(-1)
                fresh.append(k)
            numbers[k] = number
        return numbers, np.array(fresh, dtype=np.int64)

    def patterns(self, numbers: list[int]) -> Patterns:
        """The newest pattern of each of some states, (n, N)."""
        packed = np.frombuffer(b"".join(self.names[k] for k in numbers), dtype=np.uint8).reshape(
            len(numbers), -1
        )
        N = self.net.n_features_in_
        bits = np.unpackbits(packed, axis=1, count=N * self.net.order_)[:, -N:]
        return np.where(bits, 1, -1).astype(np.int8)

    def next_name(self, number: int, held: frozenset[bytes]) -> bytes | None:
        """The name of the next state; of a network that dwells, of the first other one among the
        states `held`.
        """
        own, seen = self.names[number], set()
        number = self.successor[number]
        while (
            held
            and number >= 0
            and number not in seen
            and (self.names[number] == own or self.names[number] not in held)
        ):
            seen.add(number)
            number = self.successor[number]
        return self.names[number] if number >= 0 else None

    def cycles(self) -> tuple[list[list[int]], Ids, Ids]:
        """All cycles, and for each state its cycle and its distance to it; both are -1 where the
        run ended before.
        """
        # The last entry stands for what follows a state numbered -1: nothing known. -2 is not
        # visited yet.
        cycle_of, distance = np.full(len(self.names) + 1, -2), np.full(len(self.names) + 1, -1)
        cycle_of[-1] = -1
        cycles: list[list[int]] = []
        for start in range(len(self.names)):
            at, place = start, dict[int, int]()
            while cycle_of[at] == -2 and at not in place:
                place[at] = len(place)
                at = self.successor[at]
            path = list(place)
            if at in place:
                path, loop = path[: place[at]], path[place[at] :]
                cycle_of[loop], distance[loop] = len(cycles), 0
                cycles.append(loop)
            for state in reversed(path):
                cycle_of[state], distance[state] = (
                    cycle_of[at],
                    distance[at] + 1 if cycle_of[at] >= 0 else -1,
                )
                at = state
        return cycles, cycle_of[:-1], distance[:-1]


def _summarise(graph: _Graph, sequences: list[Patterns]) -> Attractors:
    """Name the cycles and count who came to them."""
    cycles, cycle_of, distance = graph.cycles()
    ends = cycle_of[graph.first]
    counts = np.bincount(ends[ends >= 0], minlength=len(cycles))
    order = np.argsort(-counts, kind="stable")
    rounds = [period(x, graph.net.order_) for x in sequences]
    loops = {
        _loop_key(x[: rounds[s]]): s for s, x in reversed(list(enumerate(sequences))) if rounds[s]
    }
    stored = np.concatenate(sequences) if sequences and graph.net.traits().dwells else None
    attractors = []
    for c in order:
        patterns = _once_round(graph.patterns(cycles[c]))
        s = loops.get(_loop_key(_without_stays(patterns, stored)))
        mirror = None if s is not None else loops.get(_loop_key(_without_stays(-patterns, stored)))
        attractors.append(
            Attractor(
                patterns if s is None else sequences[s][: rounds[s]].copy(),
                int(counts[c]),
                s,
                mirror,
            )
        )
    rank = np.append(np.argsort(order), -1)
    held = frozenset() if stored is None else frozenset(names_of(stored))
    reached = [
        sum(a.starts for a in attractors if a.stored == s)
        if rounds[s]
        else int(_passes_end(graph, x, held)[graph.first].sum())
        for s, x in enumerate(sequences)
    ]
    rates = [SuccessRate(count, len(ends)) for count in reached]
    return Attractors(
        tuple(attractors),
        rank[ends],
        distance[graph.first],
        rates,
        [once is not None for once in rounds],
    )


def _passes_end(graph: _Graph, sequence: Patterns, held: frozenset[bytes]) -> NDArray[np.bool_]:
    """Which states lead through the last transition of an open sequence."""
    before, last = names_of(stack_context(sequence, graph.net.order_)[-2:])
    passes = np.array(
        [name == before and graph.next_name(k, held) == last for k, name in enumerate(graph.names)]
        + [False]
    )
    # Look 1, 2, 4, ... steps ahead; the last entry is what follows a state numbered -1: nothing
    # known.
    ahead = np.array([*graph.successor, -1])
    for _ in range(len(ahead).bit_length()):
        passes, ahead = passes | passes[ahead], ahead[ahead]
    return passes


def _once_round(patterns: Patterns) -> Patterns:
    """One round of a cycle of patterns: its memory may take several rounds to come back."""
    n = len(patterns)
    period = next(
        p for p in range(1, n + 1) if n % p == 0 and np.array_equal(patterns[p:], patterns[: n - p])
    )
    return patterns[:period]


def _without_stays(patterns: Patterns, stored: Patterns | None) -> Patterns:
    """A cycle of a network that dwells as the stored patterns that it goes through, each stay once;
    of others as it is.
    """
    if stored is None:
        return patterns
    seen = passages(patterns, stored)
    if len(seen) > 1 and np.array_equal(seen[0], seen[-1]):
        seen = seen[:-1]  # the cycle was entered in the middle of a stay
    return _once_round(seen) if len(seen) else patterns


def _loop_key(patterns: Patterns) -> bytes:
    """A name of a cycle that does not depend on where it is entered: its smallest rotation, by the
    bytes of the patterns.
    """
    rows = names_of(patterns)
    least = min(rows)
    return min(b"".join(rows[k:] + rows[:k]) for k, row in enumerate(rows) if row == least)


def _starts(
    net: SequenceMemory,
    sequences: list[Patterns],
    starts: int | ArrayLike,
    flips: int | None,
    rng: np.random.Generator,
) -> Patterns:
    """The starts as (B, order * N)."""
    N, order = net.n_features_in_, net.order_
    if not np.isscalar(starts):
        given = net._as_states(starts, "start")[0]
        return given.reshape(len(given), -1)
    count = check_count(starts, "starts")
    check_memory(10 * count * order * N, f"a search from {count} starts")
    if flips is None:
        return rng.choice(np.array([-1, 1], dtype=np.int8), size=(count, order * N))
    if not sequences:
        raise ValueError(
            "flips start from stored patterns: give the sequences X too, or leave flips out for "
            "random starts."
        )
    stored = np.concatenate([stack_context(x, order)[:-1] for x in sequences])
    chosen = stored[np.arange(count) % len(stored)]
    return flip(chosen.reshape(-1, N), flips, rng).reshape(chosen.shape)
