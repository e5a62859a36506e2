"""Sequences that go round: a loop is closed by repeating as much of its beginning as a network looks back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from seqattractor.sequences._check import check_sequences
from seqattractor.sequences._patterns import Patterns, is_loop
from seqattractor.sequences._sequences import Sequences


def close_loop(once: Patterns, order: int) -> Patterns:
    """Repeat the first `order` patterns of a sequence, given once round, at its end: (T, N) -> (T + order, N).

    Examples
    --------
    >>> close_loop(np.array([[1, 1], [1, -1], [-1, 1]]), order=2).tolist()
    [[1, 1], [1, -1], [-1, 1], [1, 1], [1, -1]]
    """
    return np.concatenate([once, np.resize(once, (order, once.shape[1]))])


def close_loops(X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, order: int) -> Sequences:
    """Let loops go on for a few patterns, so that a network that sees the last `order` patterns learns to go round.

    Parameters
    ----------
    X : Sequences, array of shape (T, N), or a list of these
    lengths : array of shape (S,), optional
    order : int
        How many patterns the network sees; with 1, a loop ends with its first pattern.

    Returns
    -------
    Sequences
        A sequence that ends with its first pattern is followed by its next ``order - 1``; others stay as they are.

    Examples
    --------
    >>> X = np.array([[1, 1], [1, -1], [-1, 1], [1, 1]], dtype=np.int8)
    >>> close_loops(X, order=2)[-2:].tolist()
    [[1, 1], [1, -1]]
    """
    data = X if isinstance(X, Sequences) and lengths is None else Sequences(*check_sequences(X, lengths, order=0))
    parts = []
    for x in data.split():
        repeated = data.closed or int(is_loop(x))
        parts.append(close_loop(x[: len(x) - repeated], order) if repeated else x)
    closed = order if all(data.loops) else 0
    return replace(data, patterns=np.concatenate(parts), lengths=np.array([len(part) for part in parts]), closed=closed)
