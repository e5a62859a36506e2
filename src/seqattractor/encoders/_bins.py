"""Spike times into time bins: the one place where spikes are counted into a raster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def bin_numbers(seconds: NDArray[np.float64], start: float, width: float) -> NDArray[np.int64]:
    """The number of the bin of each time: bin k lasts from start + k width up to, but not including, start + (k + 1) width."""
    return np.floor((seconds - start) / width).astype(np.int64)


def spike_raster(bins: NDArray[np.int64], units: NDArray[np.int64], n_bins: int, n_units: int) -> NDArray[np.uint8]:
    """Zeros and ones of shape (n_bins, n_units): 1 where the unit fired at least once.

    Examples
    --------
    >>> spike_raster(np.array([0, 2, 2]), np.array([1, 0, 0]), 3, 2).tolist()
    [[0, 1], [0, 0], [1, 0]]
    """
    raster = np.zeros((n_bins, n_units), dtype=np.uint8)
    raster[bins, units] = 1
    return raster
