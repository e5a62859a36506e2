"""Random sequences: the paper's periodic ones, correlated and biased ones, and some that share
patterns.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_count,
    check_counts,
    check_flag,
    check_memory,
    check_number,
    say,
)
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Sequences


def random_periodic(
    T: int, N: int = 100, *, correlation: float = 0.0, bias: float = 0.0, rng: Seed = None
) -> Sequences:
    """Draw a random periodic sequence as in section 6.2: x(1), ..., x(T-1) all different, x(T) =
    x(1).

    Parameters
    ----------
    T : int
        How many patterns, with the last one, which is the first again; at least 2.
    N : int
        How many neurons.
    correlation : float
        Correlation of a unit's values in successive patterns, from 0 (independent, as in the paper)
        to below 1. The loop is not correlated where it closes.
    bias : float
        The mean activity of a unit, between -1 and 1; 0 in the paper.
    rng : int, Generator or None

    Returns
    -------
    Sequences
        One loop, of shape (T, N).

    Examples
    --------
    >>> X = random_periodic(50, 100, rng=0)
    >>> X.shape, (X[0] == X[-1]).all()
    ((50, 100), np.True_)
    """
    T, N = check_count(T, "T", 2), check_count(N, "N")
    check_memory(2 * T * N, f"a sequence of {T} patterns of {N} units")
    X = _draw([T - 1], N, correlation, bias, as_generator(rng))
    return Sequences(np.concatenate([X, X[:1]]), closed=1)


def random_sequences(
    n_sequences: int,
    T: int,
    N: int = 100,
    *,
    correlation: float = 0.0,
    bias: float = 0.0,
    rng: Seed = None,
) -> Sequences:
    """Draw several random sequences in which no pattern occurs twice.

    Parameters
    ----------
    n_sequences : int
    T : int
        How many patterns in each sequence; at least 2.
    N, correlation, bias, rng
        As in `random_periodic`.

    Returns
    -------
    Sequences
        Of shape (n_sequences * T, N).

    Examples
    --------
    >>> random_sequences(3, 10, 40, rng=0)
    Sequences: 3 sequences of 10 patterns, 40 units
    """
    n_sequences, T, N = (
        check_count(n_sequences, "n_sequences"),
        check_count(T, "T", 2),
        check_count(N, "N"),
    )
    check_memory(
        2 * n_sequences * T * N, f"a set of {n_sequences} sequences of {T} patterns of {N} units"
    )
    lengths = [T] * n_sequences
    return Sequences(
        _draw(lengths, N, correlation, bias, as_generator(rng, "sequences")), np.array(lengths)
    )


def branching(
    n_sequences: int,
    T: int,
    N: int = 100,
    *,
    shared: int,
    at: int | Sequence[int | Sequence[int]] | None = None,
    closed: bool = False,
    rng: Seed = None,
) -> Sequences:
    """Draw random sequences that all pass through the same stretch of patterns and differ before
    and after it.

    Where the stretch is left at least twice, its last pattern has several successors, and a context
    of ``shared + 1`` patterns is the least that resolves this: ``find_conflicts(X).context``. Where
    it is left once or never, because sequences end with it, the context is 1.

    Parameters
    ----------
    n_sequences : int
    T : int
        How many patterns in each sequence, at least ``shared + 2``; of a loop, with the last one,
        which is the first again.
    N : int
        How many neurons.
    shared : int
        How many consecutive patterns the stretch has. No other pattern occurs twice.
    at : int or list, optional
        The time, from 0, at which the stretch begins: in all sequences, or, as a list, in each of
        them; a list in that list for a sequence that passes the stretch several times. By default
        the middle. With 0, sequences are the arms of a T-maze and the stretch its stem, so that
        only a cue that reaches into the arm determines it; with ``T - shared``, they are ways to
        the same goal.
    closed : bool
        Whether the sequences are loops.
    rng : int, Generator or None

    Returns
    -------
    Sequences
        Of shape (n_sequences * T, N).

    Examples
    --------
    >>> from seqattractor import find_conflicts
    >>> crossing = branching(2, 12, shared=3, at=[2, 7], rng=0)
    >>> first, second = crossing.split()
    >>> (first[2:5] == second[7:10]).all(), find_conflicts(crossing).context
    (np.True_, 4)
    >>> branching(1, 21, shared=4, at=[[0, 10]], closed=True, rng=0)  # a figure of eight
    Sequences: 1 loop of 21 patterns, 100 units
    """
    n_sequences, N = check_count(n_sequences, "n_sequences"), check_count(N, "N")
    shared = check_count(shared, "shared")
    T, closed = check_count(T, "T", shared + 2), check_flag(closed, "closed")
    check_memory(
        4 * n_sequences * T * N, f"a set of {n_sequences} sequences of {T} patterns of {N} units"
    )
    places = _places((T - shared) // 2 if at is None else at, n_sequences, T, shared, closed)
    number = np.full((n_sequences, T - closed), -1)  # equal where the same pattern stands
    for row, starts in zip(number, places, strict=True):
        for start in starts:
            row[start : start + shared] = np.arange(shared)
    own = number < 0
    number[own] = shared + np.arange(own.sum())
    patterns = _draw([int(number.max()) + 1], N, 0.0, 0.0, as_generator(rng, "branching"))[number]
    if closed:
        patterns = np.concatenate([patterns, patterns[:, :1]], axis=1)
    return Sequences(patterns, closed=int(closed))


def _places(
    at: int | Sequence[int | Sequence[int]], n_sequences: int, T: int, shared: int, closed: bool
) -> list[NDArray[np.int64]]:
    """Return when each sequence comes to the shared stretch, each time from another pattern."""
    last = T - closed - shared
    if not isinstance(at, (list, tuple)) and not (isinstance(at, np.ndarray) and at.ndim):
        at = [check_count(at, "at", 0, last)] * n_sequences
    if len(at) != n_sequences:
        raise ValueError(
            f"at must be one number or a list with an entry for each of the {n_sequences} "
            f"sequences, but it has {len(at)} entries."
        )
    places = [np.sort(check_counts(each, f"at[{s}]", 0, last)) for s, each in enumerate(at)]
    for s, starts in enumerate(places):
        around = [*starts, starts[0] + T - 1] if closed else starts
        if np.any(np.diff(around) <= shared):
            raise ValueError(
                f"sequence {s} needs a pattern of its own between two passes of the {shared} "
                f"shared patterns: the places in at[{s}], {starts.tolist()}, must be at least "
                f"{shared + 1} apart{', also around the loop' if closed else ''}."
            )
    return places


def _draw(
    lengths: list[int], N: int, correlation: float, bias: float, rng: np.random.Generator
) -> Patterns:
    """Draw sequences pattern by pattern, each again as long as it equals an earlier one."""
    if not 0 <= check_number(correlation, "the correlation") < 1:
        raise ValueError(
            f"the correlation must be 0 or more and below 1, but it is {say(correlation)}."
        )
    if not -1 < check_number(bias, "the bias") < 1:
        raise ValueError(f"the bias must lie between -1 and 1, but it is {say(bias)}.")
    correlation, bias, total = float(correlation), float(bias), sum(lengths)
    if N < 60 and total > 2**N:
        raise ValueError(
            f"there are only {2**N} different patterns of {N} units, fewer than the {total} asked "
            "for."
        )
    seen: set[bytes] = set()
    rows: list[Patterns] = []
    for t in (t for length in lengths for t in range(length)):
        for _ in range(10_000):
            x = np.where(rng.random(N) < (1 + bias) / 2, 1, -1).astype(np.int8)
            if (
                t and correlation
            ):  # a unit keeps its last value with this probability, else it is drawn anew
                x = np.where(rng.random(N) < correlation, rows[-1], x)
            if x.tobytes() not in seen:
                break
        else:
            raise ValueError(
                "no new pattern turned up in 10,000 draws: with so few units, or so strong a bias "
                "or correlation, too few patterns are likely; ask for fewer or raise N."
            )
        rows.append(x)
        seen.add(x.tobytes())
    return np.array(rows, dtype=np.int8).reshape(total, N)
