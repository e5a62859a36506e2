"""A picture of state space: the plane in which the stored patterns spread most (principal components)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Projection", "principal_plane"]


@dataclass(frozen=True)
class Projection:
    """An affine map to a few coordinates."""

    mean: NDArray[np.float64]
    """Shape (N,)."""
    axes: NDArray[np.float64]
    """Orthonormal rows, shape (k, N)."""
    explained: NDArray[np.float64]
    """The part of the variance along each axis, shape (k,)."""

    def __call__(self, states: ArrayLike) -> NDArray[np.float64]:
        """Give the coordinates of states: (..., N) -> (..., k)."""
        return np.asarray((np.asarray(states, dtype=np.float64) - self.mean) @ self.axes.T)


def principal_plane(X: ArrayLike, k: int = 2) -> Projection:
    """Find the `k` directions in which some states spread most.

    Parameters
    ----------
    X : array of shape (T, N)
        Visible patterns or hidden states.
    k : int

    Returns
    -------
    Projection
        Of fewer than `k` axes if the states span less.

    Examples
    --------
    >>> plane = principal_plane([[1, 1, 1], [-1, -1, -1], [1, 1, -1]])
    >>> plane([[1, 1, 1], [-1, -1, -1]]).shape, plane.explained.sum().round(6)
    ((2, 2), np.float64(1.0))
    """
    states = np.asarray(X, dtype=np.float64)
    if states.ndim != 2 or len(states) < 2:
        raise ValueError(f"a plane needs at least two states as rows, but the shape is {states.shape}.")
    mean = states.mean(axis=0)
    _, sizes, axes = np.linalg.svd(states - mean, full_matrices=False)
    variance = sizes**2
    total = variance.sum()
    rank = int(np.sum(sizes > 1e-10 * max(1.0, float(sizes.max(initial=0.0)))))
    keep = max(1, min(k, rank))
    # The sign of an axis is arbitrary: make its largest entry positive, so that pictures do not flip between machines.
    flips = np.sign(axes[np.arange(keep), np.abs(axes[:keep]).argmax(axis=1)])
    return Projection(mean, axes[:keep] * flips[:, None], variance[:keep] / total if total else np.zeros(keep))
