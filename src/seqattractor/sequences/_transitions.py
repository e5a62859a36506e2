"""What follows what: the transitions that networks learn from, closed loops, and patterns with two
different successors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_memory, check_not_negative
from seqattractor._faces import Result
from seqattractor.sequences._patterns import Lengths, Patterns, as_items, is_loop, split
from seqattractor.sequences._sequences import Sequences, check_sequences

LOCKED_ON = "locked on: every frame from there to the end right and in phase"
"""The criterion in words, for everything that counts by it."""


def lock_row(path: Patterns, truth: Patterns, cue_rows: int = 1) -> int | None:
    """Return the first row from which on a path (K, N) equals the truth (L, N), L <= K, up to the
    truth's end.

    None if these are fewer than half of the rows after the cue: a recall that only runs into the
    last pattern has not followed the sequence.
    """
    wrong = np.flatnonzero(np.any(path[: len(truth)] != truth, axis=1))
    first = int(wrong[-1]) + 1 if wrong.size else 0
    return first if 2 * (first - cue_rows) <= len(truth) - cue_rows else None


class Transitions(NamedTuple):
    """Training data: transitions x(t) -> x(t+1) in the order of presentation, and how many each
    sequence has.
    """

    inputs: Patterns
    """Shape (n, order * N); with a context the last patterns side by side, oldest first."""
    targets: Patterns
    """Shape (n, N)."""
    lengths: Lengths
    """Shape (S,); they sum to n."""


def stack_context(X: NDArray[Any], order: int) -> NDArray[Any]:
    """Stack each pattern with its `order - 1` predecessors, oldest first: (T, N) -> (T - order + 1,
    order * N).
    """
    if order == 1:
        return X
    rows = len(X) - order + 1
    return np.concatenate([X[k : k + rows] for k in range(order)], axis=1)


def sum_context(inputs: Patterns, lengths: Lengths, leak: float) -> NDArray[np.float64]:
    """Sum each input with all before it in its sequence, s(t) = x(t) + leak s(t-1): (n, width) ->
    (n, width).
    """
    sums = inputs.astype(np.float64)
    for s in split(sums, lengths):
        for t in range(1, len(s)):
            s[t] += leak * s[t - 1]
    return sums


def transitions(X: Patterns, lengths: Lengths, order: int = 1) -> Transitions:
    """Return the pairs (x(t), x(t+1)) of each sequence in order, as the paper learns them; n = T -
    order * S of them.

    They are copies, except those of one sequence on disk (`numpy.memmap`), which stay there.
    """
    if order == 1 and len(lengths) == 1 and is_on_disk(X):
        return Transitions(X[:-1], X[1:], lengths - order)
    inputs = [stack_context(x, order)[:-1] for x in split(X, lengths)]
    targets = [x[order:] for x in split(X, lengths)]
    return Transitions(
        np.ascontiguousarray(np.concatenate(inputs)),
        np.ascontiguousarray(np.concatenate(targets)),
        lengths - order,
    )


def rejoin(transitions: Transitions) -> list[Patterns]:
    """The sequences that transitions of order 1 are made of, for networks that are shown whole
    sequences.
    """
    inputs, targets = (split(part, transitions.lengths) for part in transitions[:2])
    return [np.concatenate([x, x_next[-1:]]) for x, x_next in zip(inputs, targets, strict=True)]


def is_on_disk(X: NDArray[Any]) -> bool:
    """Whether an array is, or shows a part of, a file that is mapped into memory."""
    base: Any = X
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, np.memmap)


def close_loop(once: Patterns, order: int) -> Patterns:
    """Repeat the first `order` patterns of a sequence, given as one round, at its end: (T, N) -> (T
    + order, N).
    """
    return np.concatenate([once, np.resize(once, (order, once.shape[1]))])


def close_loops(
    X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, order: int
) -> Sequences:
    """Continue loops for a few patterns, so that a network that sees the last `order` patterns
    learns to go round.

    Parameters
    ----------
    X : Sequences, array of shape (T, N), or a list of these
    lengths : array of shape (S,), optional
    order : int
        How many patterns the network sees; with 1, a loop ends with its first pattern.

    Returns
    -------
    Sequences
        A sequence that ends with its first pattern is followed by its next ``order - 1``; others
        stay as they are.

    Examples
    --------
    >>> X = np.array([[1, 1], [1, -1], [-1, 1], [1, 1]], dtype=np.int8)
    >>> close_loops(X, order=2)[-2:].tolist()
    [[1, 1], [1, -1]]
    """
    order = check_count(order, "order")
    data = (
        X
        if isinstance(X, Sequences) and lengths is None
        else Sequences(*check_sequences(X, lengths, order=0))
    )
    parts = []
    for x in data.split():
        repeated = data.closed or int(is_loop(x))
        check_memory(order * x.shape[1], f"a loop with {order} patterns more")
        parts.append(close_loop(x[: len(x) - repeated], order) if repeated else x)
    closed = order if all(data.loops) else 0
    return replace(
        data,
        patterns=np.concatenate(parts),
        lengths=np.array([len(part) for part in parts]),
        closed=closed,
    )


class Place(NamedTuple):
    """Where a pattern stands: the number of the sequence and of the pattern in it, from 0."""

    sequence: int
    t: int


@dataclass(frozen=True)
class Conflict:
    """A pattern that stands at two places with different successors."""

    pattern: Patterns = field(repr=False)
    """The pattern, shape (N,)."""
    first: Place
    second: Place


class Conflicts(Result, tuple[Conflict, ...]):
    """All conflicts of a set of sequences; empty, and so false, where there is none."""

    context: int | None
    """The smallest number of stacked past patterns that resolves all conflicts (1 where there is
    none), or None where none does that is shorter than the shortest sequence.
    """
    shortest: int
    """The number of patterns in the shortest sequence."""
    names: tuple[str, ...]
    """The names of the sequences, as `describe` uses them."""

    def __new__(
        cls, conflicts: Iterable[Conflict], context: int | None, shortest: int, names: Iterable[str]
    ) -> Conflicts:
        """Make the list of conflicts, with the context that resolves them."""
        self = super().__new__(cls, conflicts)
        self.context = context
        self.shortest = shortest
        self.names = tuple(names)
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        """What copies are made of: a tuple by itself forgets the context."""
        return tuple(self), self.context, self.shortest, self.names

    def rows(self) -> Iterable[dict[str, int]]:
        """One row per conflict: the two places at which the pattern stands."""
        names = ("sequence", "time", "other_sequence", "other_time")
        return (dict(zip(names, (*each.first, *each.second), strict=True)) for each in self)

    def describe(self) -> str:
        """Describe in one sentence what conflicts and which context would resolve it."""
        if not self:
            return "Every pattern has one successor."
        first, second = self[0].first, self[0].second
        rest = len(self) - 1
        more = f" (and {rest} more such pattern{'s' if rest > 1 else ''})" if rest else ""
        remedy = (
            f"a context of {self.context} patterns resolves all conflicts: use "
            f"order={self.context}."
            if self.context is not None
            else "no context resolves this that fits into the shortest sequence, "
            f"of {self.shortest} patterns: drop or change one of them."
        )
        return (
            f"pattern {first.t} of {self.names[first.sequence]} occurs again as pattern {second.t} "
            f"of {self.names[second.sequence]} with a different successor{more}, so that no "
            f"network can predict it; {remedy}"
        )


def find_conflicts(
    X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, leak: float = 0.0
) -> Conflicts:
    """Find every pattern that has two different successors.

    Parameters
    ----------
    X : Sequences, array of shape (T, N), a list of arrays of shape (T_s, N), or array of shape (S,
        T, N)
        `Conflicts.describe` uses the names of `Sequences`.
    lengths : array of shape (S,), optional
    leak : float
        For a network that sums its past inputs (``VisibleNetwork(leak=...)``): only patterns that
        come after the same past count then, as far back as float64 resolves.

    Returns
    -------
    Conflicts
        A sequence with one `Conflict` for each such pattern, in order of first appearance, and the
        attribute `context`: the smallest number of stacked past patterns that resolves all of them.
        It is false where there is none.

    Examples
    --------
    >>> X = [[1, 1], [1, -1], [1, 1], [-1, 1]]
    >>> clashes = find_conflicts(X)
    >>> clashes[0].first, clashes[0].second, clashes.context
    (Place(sequence=0, t=0), Place(sequence=0, t=2), 2)
    >>> find_conflicts([[1, 1], [1, -1], [-1, 1]])
    Conflicts: every pattern has one successor
    >>> find_conflicts(X, leak=0.5)  # the first pattern comes after nothing, the third after two
    Conflicts: every pattern has one successor
    """
    names = X.names if isinstance(X, Sequences) and lengths is None else None
    return _conflicts(*check_sequences(X, lengths), leak=check_leak(leak), names=names)


def check_leak(leak: float) -> float:
    """Reject a leak with which sums would grow without end, or change their sign."""
    if check_not_negative(leak, "leak") >= 1:
        raise ValueError(
            f"leak must be below 1, or what neurons sum never fades, but it is {leak}."
        )
    return float(leak)


def check_no_conflicts(
    X: Patterns,
    lengths: Lengths,
    order: int = 1,
    leak: float = 0.0,
    names: Sequence[str] | None = None,
) -> None:
    """Raise a ValueError that names the first conflict which a context of `order` patterns, or a
    sum with a leak, leaves; `names` are those of the sequences.
    """
    found = _conflicts(X, lengths, order, leak, names)
    if found:
        seen = "" if order == 1 else f"with a context of {order} patterns "
        raise ValueError(f"{seen}{found.describe()}")


def without_conflicts(sequences: Iterable[Patterns]) -> Iterator[Patterns]:
    """Yield the sequences that can be stored together: those that give no frame a second
    successor.
    """
    successors: dict[bytes, bytes] = {}
    for sequence in sequences:
        extended = dict(successors)
        if all(
            extended.setdefault(now, after) == after
            for now, after in pairwise(frame.tobytes() for frame in sequence)
        ):
            successors = extended
            yield sequence


def _conflicts(
    X: Patterns,
    lengths: Lengths,
    order: int = 1,
    leak: float = 0.0,
    names: Sequence[str] | None = None,
) -> Conflicts:
    """Find the conflicts that remain with a context of `order` patterns, summed with a leak."""
    numbers = _number_patterns(X)
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    index = np.concatenate([np.arange(length) for length in lengths])
    has_successor = np.ones(len(X), dtype=bool)
    has_successor[np.cumsum(lengths) - 1] = False
    shortest = int(lengths.min())
    contexts = _Contexts(numbers, index, np.flatnonzero(has_successor))
    position, group = (
        contexts.clashes(order)
        if order < len(X)
        else (np.zeros(0, np.int64), np.zeros(0, np.int64))
    )
    context = contexts.least() if len(position) or order > 1 else 1
    if leak and len(position):
        position, group = _clashes_of_sums(X, lengths, order, leak, numbers)
    found = tuple(
        Conflict(
            X[first].copy(), *(Place(int(sequence[t]), int(index[t])) for t in (first, second))
        )
        for first, second in _pairs(numbers, position, group)
    )
    return Conflicts(
        found,
        context if context < shortest else None,
        shortest,
        names or [f"sequence {s}" for s in range(len(lengths))],
    )


class _Contexts:
    """The contexts of some patterns, each named by a number: equal contexts have equal numbers.

    Contexts of 1, 2, 4, ... patterns are named once, the longer by two shorter ones; those of any
    other length are put together of these. So a context of thousands of patterns, as a long silence
    needs, takes no longer to find than a short one to try.
    """

    def __init__(
        self, names: NDArray[np.int64], index: NDArray[np.int64], position: NDArray[np.int64]
    ) -> None:
        self.names, self.index, self.position = names, index, position
        self.doubled = [names]

    def _of_length(self, length: int) -> NDArray[np.int64]:
        """Numbers of the contexts that end at each pattern, shape (T,); where one would begin too
        early it means nothing.
        """
        while 2 ** len(self.doubled) <= length:
            half = 2 ** (len(self.doubled) - 1)
            self.doubled.append(self._joined(self.doubled[-1], self.doubled[-1], half))
        numbers, done = None, 0
        for level, ranks in enumerate(self.doubled):
            if length >> level & 1:
                numbers = ranks if numbers is None else self._joined(numbers, ranks, done)
                done += 2**level
        assert numbers is not None
        return numbers

    def _joined(
        self, newer: NDArray[np.int64], older: NDArray[np.int64], apart: int
    ) -> NDArray[np.int64]:
        """Number the contexts of which the newer part has `apart` patterns."""
        before = np.zeros_like(older)
        before[apart:] = older[: len(older) - apart]
        return np.asarray(
            np.unique(newer * len(newer) + before, return_inverse=True)[1], dtype=np.int64
        ).ravel()

    def clashes(self, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places whose context of this length occurs with different successors, and the numbers
        of these contexts.
        """
        position = self.position[
            self.index[self.position] >= length - 1
        ]  # the context must lie inside the sequence
        group = self._of_length(length)[position]
        clash = _clashing(group, self.names[position + 1])
        return position[clash], group[clash]

    def least(self) -> int:
        """The least length without a clash: a longer context never has one where a shorter one has
        none.
        """
        high = 1
        while len(self.clashes(high)[0]):
            high *= 2
        low = high // 2 + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if len(self.clashes(middle)[0]) else (low, middle)
        return high


def _number_patterns(X: Patterns) -> NDArray[np.int64]:
    """Return equal patterns equal numbers, shape (T,)."""
    return np.asarray(np.unique(as_items(X), return_inverse=True)[1], dtype=np.int64).ravel()


def _clashes_of_sums(
    X: Patterns, lengths: Lengths, order: int, leak: float, names: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places where sums with a leak are equal and successors are not, and the numbers of these
    sums.
    """
    inputs, _, counts = transitions(X, lengths, order)
    position = np.concatenate(
        [
            np.arange(order - 1, T - 1) + end - T
            for T, end in zip(lengths, np.cumsum(lengths), strict=True)
        ]
    )
    sums = np.ascontiguousarray(sum_context(inputs, counts, leak))
    rows = sums.view(f"V{sums.itemsize * sums.shape[1]}").ravel()
    group = np.asarray(np.unique(rows, return_inverse=True)[1], dtype=np.int64).ravel()
    clash = _clashing(group, names[position + 1])
    return position[clash], group[clash]


def _clashing(group: NDArray[np.int64], successor: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the positions whose group has more than one successor."""
    _, first, number = np.unique(group, return_index=True, return_inverse=True)
    clashes = np.zeros(len(first), dtype=np.bool_)
    clashes[number[successor != successor[first][number]]] = True
    return clashes[number]


def _pairs(
    names: NDArray[np.int64], position: NDArray[np.int64], group: NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """For each clashing group: its first place and the first later place with another successor."""
    order = np.argsort(
        group, kind="stable"
    )  # places of one group stand together then, and in their own order
    groups = (
        np.split(position[order], np.flatnonzero(np.diff(group[order])) + 1) if len(group) else []
    )
    for places in sorted(groups, key=lambda places: int(places[0])):
        yield places[0], places[names[places + 1] != names[places[0] + 1]][0]


class ConflictError(ValueError):
    """Patterns with two successors, which the context does not distinguish."""

    def __init__(self, sentence: str, context: int | None) -> None:
        super().__init__(sentence)
        self.context = context
        """The context that would, if there is one."""


def prepare(data: Sequences, order: int | Literal["auto"] = 1) -> Sequences:
    """Close loops with as many patterns as the context needs; raise `ConflictError` where that does
    not resolve all conflicts.
    """
    for name, length in zip(data.names, data.lengths, strict=True):
        if length < 2:
            raise ValueError(
                f"{name} has only one pattern, but a sequence needs at least two: a pattern and "
                "its successor."
            )
    ambiguous = find_conflicts(data)
    context = ambiguous.context
    if data.closed:
        wanted = context if order == "auto" else order
        while wanted is not None and wanted > data.closed:
            data = close_loops(data, order=wanted)
            context = find_conflicts(data).context
            wanted = context if order == "auto" else wanted
    if context is None or (order != "auto" and context > order):
        raise ConflictError(ambiguous.describe(), context)
    return data
