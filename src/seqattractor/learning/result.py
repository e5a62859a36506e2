"""What learning returns, and how it tells of its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ProgressCallback = Callable[[int, int, int], bool | None]
"""Called as ``callback(epoch, hidden_errors, visible_errors)`` after each epoch, counted from 1; True stops learning."""


@dataclass(frozen=True)
class Learned:
    """Weights of a network with hidden neurons, and how learning went."""

    U: NDArray[np.float64]
    """Visible to hidden weights, shape (M, N_in)."""
    V: NDArray[np.float64]
    """Hidden to visible weights, shape (N, M)."""
    hidden_errors: NDArray[np.int64]
    """Sum of mu in each epoch, shape (n_iter,)."""
    visible_errors: NDArray[np.int64]
    """Sum of nu in each epoch, shape (n_iter,)."""
    n_iter: int
    converged: bool
    """Whether the last epoch had no error anywhere."""
    Q: NDArray[np.int64] | None = None
    """Learned feedback in units of eta, shape (M, N), if hidden targets were learned."""


@dataclass(frozen=True)
class LearnedVisible:
    """Weights of a network without hidden neurons, and how learning went."""

    W: NDArray[np.float64]
    """Weights, shape (N, N_in)."""
    errors: NDArray[np.int64]
    """Updates in each epoch, shape (n_iter,)."""
    n_iter: int
    converged: bool
