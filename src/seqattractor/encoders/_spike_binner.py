"""Lists of spikes as rasters: a row for each time bin, a unit for each neuron."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor._checks import check_finite, check_memory, check_number, check_positive
from seqattractor.encoders._base import Encoder
from seqattractor.sequences import Patterns, check_patterns
from seqattractor.sequences._patterns import as_signs

ON_EDGE = 1e-6  # of a bin: a time that is nearer to an edge lies on it


def bins_of(seconds: NDArray[np.float64], width: float) -> NDArray[np.int64]:
    """Return in which bin from 0 each time lies, counted from the beginning of the first.

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
    """How many bins have their middle in an interval; the first begins with it. pynapple counts spikes in the same bins."""
    return int(bins_of(np.array([end - start + width / 2]), width)[0])


def spike_raster(
    bins: NDArray[np.int64], units: NDArray[np.int64], n_bins: int, n_units: int, *, counts: bool = False
) -> NDArray[np.uint8] | NDArray[np.int32]:
    """How often, or whether, each unit fired in each bin, shape (n_bins, n_units); spikes in later bins are left out."""
    inside = bins < n_bins
    where = bins[inside], units[inside]
    if counts:
        counted = np.zeros((n_bins, n_units), dtype=np.int32)
        np.add.at(counted, where, 1)
        return counted
    raster = np.zeros((n_bins, n_units), dtype=np.uint8)
    raster[where] = 1
    return raster


class SpikeBinner(Encoder, auto_wrap_output_keys=None):  # type: ignore[call-arg]  # scikit-learn has no types
    """Bin a list of spikes: a pattern for each time bin, in which a unit is on if it fired.

    It takes arrays of shape (n_spikes, 2), a time in seconds and the number of a unit for each spike. The result has a row for
    each bin, not for each spike: in a `Pipeline` it is the first step, and cross-validation must split recordings, not spikes.

    Parameters
    ----------
    bin_size : float
        In seconds.
    start : float, optional
        Where the first bin begins, in seconds. By default at the first spike seen in `fit`.

    Attributes
    ----------
    start_ : float
    units_ : ndarray, shape (N,)
        The units seen in `fit`, in order: the columns of patterns.
    n_features_in_ : int
        Two: times and units.

    Examples
    --------
    >>> import seqattractor as sa
    >>> spikes = [[0.1, 7], [0.9, 8], [2.2, 7]]  # seconds, unit
    >>> binner = sa.encoders.SpikeBinner(bin_size=1.0, start=0.0)
    >>> binner.fit_transform(spikes)
    array([[ 1,  1], [-1, -1], [ 1, -1]], dtype=int8)
    >>> binner.inverse_transform([[-1, 1], [1, -1]])  # a spike in the middle of each bin
    array([[0.5, 8. ], [1.5, 7. ]])
    """

    def __init__(self, bin_size: float = 0.05, *, start: float | None = None) -> None:
        self.bin_size = bin_size
        self.start = start

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn which units there are, and when the first bin begins, from spikes (n_spikes, 2) in any order."""
        spikes = _spikes(X)
        check_positive(self.bin_size, "bin_size")
        self.start_ = float(spikes[:, 0].min()) if self.start is None else check_number(self.start, "start")
        self.units_ = np.unique(spikes[:, 1])
        self.n_features_in_ = 2
        return self

    def transform(self, X: ArrayLike) -> Patterns:
        """Bin spikes (n_spikes, 2) from the start to the last one: patterns of shape (bins, N)."""
        check_is_fitted(self)
        spikes = _spikes(X)
        times, who = spikes[:, 0], spikes[:, 1]
        if times.min() < self.start_:
            raise ValueError(f"a spike at {times.min():g} s comes before the start at {self.start_:g} s; give an earlier start.")
        columns = np.searchsorted(self.units_, who)
        unknown = self.units_[np.minimum(columns, len(self.units_) - 1)] != who
        if unknown.any():
            raise ValueError(f"there is a spike of unit {who[unknown][0]:g}, which was not there in fit; fit all units.")
        bins = bins_of(times - self.start_, self.bin_size)
        n_bins = int(bins.max()) + 1
        check_memory(n_bins * len(self.units_) * 3, f"a raster of {n_bins} bins and {len(self.units_)} units")
        return as_signs(spike_raster(bins, columns, n_bins, len(self.units_)) > 0)

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return spikes (n_spikes, 2), one in the middle of each bin in which a unit is on; binned again, they are the same."""
        check_is_fitted(self)
        patterns = check_patterns(X, "X")
        if patterns.shape[1] != len(self.units_):
            raise ValueError(f"X has {patterns.shape[1]} units, but SpikeBinner has seen {len(self.units_)}.")
        bins, columns = np.nonzero(patterns > 0)
        return np.stack([self.start_ + (bins + 0.5) * self.bin_size, self.units_[columns]], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns of patterns after the units."""
        check_is_fitted(self)
        return np.array([f"unit{unit:g}" for unit in self.units_], dtype=object)


def _spikes(X: ArrayLike) -> NDArray[np.float64]:
    """Check a list of spikes."""
    spikes = check_finite(X, "X", "spikes", "time and unit")
    if spikes.shape[1] != 2:
        raise ValueError(f"X must have two columns, a time in seconds and a unit, but it has {spikes.shape[1]}.")
    return spikes
