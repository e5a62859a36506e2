"""The transitions of sequences: what networks learn from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences._patterns import Lengths, Patterns, split


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
    >>> from seqattractor.sequences import check_sequences
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
