"""Small sequences that no network without hidden neurons can make (section 3 of the paper)."""

from __future__ import annotations

import numpy as np

from seqattractor.sequences import Patterns

__all__ = ["toy", "xor"]


def xor() -> Patterns:
    """Give the sequence of section 3: its first neuron would have to compute XOR.

    Returns
    -------
    ndarray of int8, shape (5, 2)
        The last pattern is the first again.

    Examples
    --------
    >>> xor().T
    array([[ 1,  1, -1, -1,  1], [ 1, -1,  1, -1,  1]], dtype=int8)
    """
    return np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1]], dtype=np.int8)
