"""Chains of single neurons: the cycles that a weight matrix makes, and how many a random permutation would."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_finite, check_number

_MOST_UNITS = 100_000


def cycle_lengths(W: ArrayLike, *, threshold: float = 0.5) -> NDArray[np.int64]:
    """Give the lengths of the closed chains of single neurons in a weight matrix.

    A link of a chain is a weight above the threshold that is the only such one out of its source and into its target. Of a
    permutation matrix these are all cycles of the permutation.

    Parameters
    ----------
    W : array, shape (n, n)
        ``W[i, j]`` leads from neuron j to neuron i.
    threshold : float

    Returns
    -------
    ndarray of int, shape (cycles,)
        In ascending order.

    Examples
    --------
    >>> cycle_lengths([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
    array([1, 2])
    """
    weights = check_finite(W, "W", "n", "n")
    if weights.shape[0] != weights.shape[1]:
        raise ValueError(f"W must be square, but it has the shape {weights.shape}.")
    strong = weights > check_number(threshold, "threshold")
    alone = strong & (strong.sum(axis=0) == 1) & (strong.sum(axis=1) == 1)[:, None]
    after = {int(j): int(i) for i, j in zip(*np.nonzero(alone), strict=True)}
    lengths = []
    while after:
        at = first = next(iter(after))
        length = 0
        while at in after:
            at, length = after.pop(at), length + 1
        if at == first:
            lengths.append(length)
    return np.sort(np.array(lengths, dtype=np.int64))


def expected_cycles(n: int, *, shortest: int = 1) -> NDArray[np.float64]:
    """Give how many cycles of each length a random permutation has on average: 1 / l of length l.

    Parameters
    ----------
    n : int
        How many elements are permuted.
    shortest : int
        Only permutations without shorter cycles count; all are equally likely. The number of cycles of length l is then
        p(n - l) / (l p(n)), where p(k) is the probability that a random permutation of k elements has no shorter one.

    Returns
    -------
    ndarray, shape (n + 1,)
        By length; those below `shortest` are 0. All of them are 0 if there is no such permutation.

    Examples
    --------
    >>> expected_cycles(4)
    array([0.        , 1.        , 0.5       , 0.33333333, 0.25      ])
    >>> expected_cycles(4, shortest=2)  # 3 pairs of pairs and 6 cycles of four
    array([0.        , 0.        , 0.66666667, 0.        , 0.66666667])
    """
    n, shortest = check_count(n, "n", 1, _MOST_UNITS), check_count(shortest, "shortest")
    p = np.zeros(n + 1)
    p[0] = 1.0
    for k in range(shortest, n + 1):
        p[k] = p[: k - shortest + 1].sum() / k  # the cycle of a given element is as long as l with probability p(k - l) / k
    expected = np.zeros(n + 1)
    lengths = np.arange(shortest, n + 1)
    if p[n]:
        expected[lengths] = p[n - lengths] / (lengths * p[n])
    return expected
