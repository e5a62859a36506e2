"""Sequences that go round: a loop is closed by repeating as much of its beginning as a network looks back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from seqattractor.sequences._patterns import Lengths, Patterns, split

__all__ = ["close_loop", "close_loops", "is_loop"]


def is_loop(x: Patterns) -> bool:
    """Whether a sequence (T, N) ends with its first pattern."""
    return len(x) > 1 and bool(np.array_equal(x[0], x[-1]))


def close_loop(once: Patterns, order: int) -> Patterns:
    """Repeat the first `order` patterns of a sequence, given once round, at its end: (T, N) -> (T + order, N).

    Examples
    --------
    >>> close_loop(np.array([[1, 1], [1, -1], [-1, 1]]), order=2).tolist()
    [[1, 1], [1, -1], [-1, 1], [1, 1], [1, -1]]
    """
    return np.concatenate([once, np.resize(once, (order, once.shape[1]))])


def close_loops(X: Patterns, lengths: ArrayLike, order: int) -> tuple[Patterns, Lengths]:
    """Let loops go on for a few patterns, so that a network that sees the last `order` patterns learns to go round.

    Parameters
    ----------
    X : ndarray of int8, shape (T, N)
    lengths : array of shape (S,)
    order : int
        With 1, nothing has to be added.

    Returns
    -------
    X, lengths
        A sequence that ends with its first pattern is followed by its next ``order - 1``; others, and loops that are no longer
        than `order`, stay as they are.

    Examples
    --------
    >>> X = np.array([[1, 1], [1, -1], [-1, 1], [1, 1]], dtype=np.int8)
    >>> close_loops(X, [4], order=2)[0][-2:].tolist()
    [[1, 1], [1, -1]]
    """
    sequences = split(X, np.asarray(lengths, dtype=np.int64))
    parts = [close_loop(x[:-1], order) if len(x) > order and is_loop(x) else x for x in sequences]
    return np.concatenate(parts), np.array([len(part) for part in parts], dtype=np.int64)
