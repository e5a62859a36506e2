"""Whatever a user may give as sequences, brought into one array of patterns and their lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.sequences._patterns import Lengths, Patterns, check_lengths, check_patterns
from seqattractor.sequences._sequences import Sequences


def check_sequences(
    X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, order: int = 1
) -> tuple[Patterns, Lengths]:
    """Check sequences of +-1 patterns and bring them into one array.

    Parameters
    ----------
    X : Sequences, array of shape (T, N), or a list of these
        The patterns, one row per time step, all values -1 or +1.
    lengths : array of shape (S,), optional
        How many rows of `X` belong to each sequence. By default `Sequences` have lengths of their own, and an array is one
        sequence.
    order : int
        How many past patterns a prediction uses; every sequence needs one more than that.

    Returns
    -------
    X : ndarray of int8, shape (T, N)
    lengths : ndarray of int64, shape (S,)

    Examples
    --------
    >>> X, lengths = check_sequences([[[1, -1], [1, 1]], [[-1, -1], [-1, 1], [1, 1]]])
    >>> X.shape, lengths
    ((5, 2), array([2, 3]))
    """
    if _is_list_of_sequences(X):
        X, lengths = _join(X, lengths)
    if isinstance(X, Sequences):  # whose patterns were checked when it was made
        patterns, checked = X.patterns, X.lengths if lengths is None else check_lengths(lengths, len(X))
    else:
        patterns = check_patterns(X, "X")
        checked = check_lengths(lengths, len(patterns))
    short = np.flatnonzero(checked <= order)
    if short.size:
        s = int(short[0])
        which = "X" if len(checked) == 1 else f"sequence {s}"
        need = "a pattern and its successor" if order == 1 else f"{order} of context and a successor"
        raise ValueError(
            f"{which} has {checked[s]} pattern{'s' if checked[s] != 1 else ''} (n_samples={checked[s]}), "
            f"but a sequence needs at least {order + 1}: {need}."
        )
    return patterns, checked


def _is_list_of_sequences(X: Any) -> bool:
    """Tell a list of two-dimensional arrays from one array written as nested lists."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(_depth(x) == 2 for x in X)


def _depth(x: Any) -> int:
    """How deep an array or nested lists go, also where their rows differ in length."""
    if isinstance(x, (list, tuple)):
        return 1 + (_depth(x[0]) if len(x) else 0)
    return int(np.ndim(x))


def _join(X: Any, lengths: ArrayLike | None) -> tuple[NDArray[Any], list[int]]:
    """Put a list of arrays one below the other."""
    if lengths is not None:
        raise ValueError("lengths goes with one array; X is a list of arrays, whose lengths are known: leave lengths out.")
    arrays = [check_patterns(x, f"X[{s}]") if len(x) else _refuse_empty(s) for s, x in enumerate(X)]
    parts = [x.lengths.tolist() if isinstance(x, Sequences) else [len(x)] for x in X]
    widths = [a.shape[1] for a in arrays]
    for s, width in enumerate(widths):
        if width != widths[0]:
            raise ValueError(
                f"all sequences must have the same number of neurons, but X[0] has {widths[0]} and X[{s}] has {width}."
            )
    return np.concatenate(arrays), [length for part in parts for length in part]


def _refuse_empty(s: int) -> Patterns:
    """Raise for an empty sequence in a list."""
    raise ValueError(f"sequence {s} (X[{s}]) is empty; leave it out.")
