"""Random sequences: the paper's periodic ones, and correlated and biased ones."""

from __future__ import annotations

import numpy as np

from seqattractor._checks import check_count, check_memory, check_number, say
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
