"""Thresholds of numbers. The process that reads a file finds one without importing scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = 4096  # different whole numbers up to which each has a bin of its own
_BINS = 1024


def otsu(values: NDArray[Any]) -> float:
    """Return Otsu's threshold: the cut that leaves the least variance inside the two classes."""
    low, high = float(values.min()), float(values.max())
    if not low < high:
        raise ValueError(
            f"all values are {low:g}, so there is no threshold between dark and bright."
        )
    whole = values.dtype.kind in "biu" and high - low < _WHOLE
    if whole:
        centres = np.arange(low, high + 1)
        counts = np.bincount(values.ravel().astype(np.int64) - int(low))
    else:
        counts, edges = np.histogram(values, bins=_BINS, range=(low, high))
        centres = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)[:-1]
    above = counts.sum() - below
    sums = np.cumsum(counts * centres)
    # Between-class variance for a cut after each bin; the cut is the first bin with the largest.
    means = sums[:-1] / np.maximum(below, 1), (sums[-1] - sums[:-1]) / np.maximum(above, 1)
    cut = int(np.argmax(below * above * (means[0] - means[1]) ** 2))
    return float(centres[cut] if whole else edges[cut + 1])


def row_medians(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the median of each row of (T, N), shape (T, 1): a threshold for each frame."""
    return np.asarray(np.median(values, axis=1, keepdims=True), dtype=np.float64)
