"""The transitions of sequences, which networks learn from; loops, closed by repeating as much as a network looks back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.sequences._patterns import Lengths, Patterns, is_loop, split
from seqattractor.sequences._sequences import Sequences, check_sequences


class Transitions(NamedTuple):
    """Training data: transitions x(t) -> x(t+1) in the order of presentation, and how many each sequence has."""

    inputs: Patterns
    """Shape (n, order * N); with a context the last patterns side by side, oldest first."""
    targets: Patterns
    """Shape (n, N)."""
    lengths: Lengths
    """Shape (S,); they sum to n."""


def stack_context(X: NDArray[Any], order: int) -> NDArray[Any]:
    """Stack each pattern with its `order - 1` predecessors, oldest first: (T, N) -> (T - order + 1, order * N).

    Examples
    --------
    >>> stack_context(np.array([[1], [-1], [1]]), order=2)
    array([[ 1, -1], [-1,  1]])
    """
    if order == 1:
        return X
    rows = len(X) - order + 1
    return np.concatenate([X[k : k + rows] for k in range(order)], axis=1)


def transitions(X: Patterns, lengths: Lengths, order: int = 1) -> Transitions:
    """Pairs (x(t), x(t+1)) from the start to the end of each sequence, the order in which the paper learns them.

    Parameters
    ----------
    X : ndarray, shape (T, N)
    lengths : ndarray, shape (S,)
    order : int
        With ``order=k`` the input is the stack of the last k patterns, oldest first.

    Returns
    -------
    Transitions
        n = T - order * S of them.

    Examples
    --------
    >>> X, lengths = check_sequences([[1, 1], [1, -1], [-1, 1]])
    >>> inputs, targets, _ = transitions(X, lengths)
    >>> inputs.tolist(), targets.tolist()
    ([[1, 1], [1, -1]], [[1, -1], [-1, 1]])
    """
    inputs = [stack_context(x, order)[:-1] for x in split(X, lengths)]
    targets = [x[order:] for x in split(X, lengths)]
    return Transitions(
        np.ascontiguousarray(np.concatenate(inputs)), np.ascontiguousarray(np.concatenate(targets)), lengths - order
    )


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
