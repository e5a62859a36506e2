"""Spike times into time bins: the one place where spikes are counted into a raster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ON_EDGE = 1e-6  # of a bin: a time that is nearer to an edge lies on it


def bins_of(seconds: NDArray[np.float64], width: float) -> NDArray[np.int64]:
    """Tell in which bin from 0 each time lies, counted from the beginning of the first.

    A time that falls short of an edge by less than a millionth of a bin lies on it: 0.3 / 0.1 is a little less than 3.

    Examples
    --------
    >>> bins_of(np.array([0.0, 0.29, 0.3]), 0.1)
    array([0, 2, 3])
    """
    with np.errstate(over="ignore"):
        bins = np.minimum(seconds / width, 2.0**62)
    return np.floor(bins + ON_EDGE).astype(np.int64)


def n_bins_within(start: float, end: float, width: float) -> int:
    """How many bins have their middle in an interval; the first begins with it. pynapple counts spikes in the same bins.

    Examples
    --------
    >>> n_bins_within(0.0, 2.0, 0.5), n_bins_within(0.0, 2.2, 0.5), n_bins_within(0.0, 2.3, 0.5)
    (4, 4, 5)
    """
    return int(bins_of(np.array([end - start + width / 2]), width)[0])


def spike_raster(
    bins: NDArray[np.int64], units: NDArray[np.int64], n_bins: int, n_units: int, *, counts: bool = False
) -> NDArray[np.uint8] | NDArray[np.int32]:
    """How often, or whether, each unit fired in each bin, shape (n_bins, n_units); spikes in later bins are left out.

    Examples
    --------
    >>> spike_raster(np.array([0, 2, 2]), np.array([1, 0, 0]), 3, 2).tolist()
    [[0, 1], [0, 0], [1, 0]]
    >>> spike_raster(np.array([0, 2, 2]), np.array([1, 0, 0]), 3, 2, counts=True).tolist()
    [[0, 1], [0, 0], [2, 0]]
    """
    inside = bins < n_bins
    where = bins[inside], units[inside]
    if counts:
        counted = np.zeros((n_bins, n_units), dtype=np.int32)
        np.add.at(counted, where, 1)
        return counted
    raster = np.zeros((n_bins, n_units), dtype=np.uint8)
    raster[where] = 1
    return raster
