"""Spike trains: times and units, binned to a raster in which a unit is on where it fired, or to numbers of spikes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import as_numbers, check_count, check_number, check_positive, refuse_masked
from seqattractor.encoders._bins import bins_of, n_bins_within, spike_raster

MAX_BYTES = 2**31  # of a raster


def bin_spikes(
    times: ArrayLike,
    units: ArrayLike,
    width: float,
    *,
    n_units: int | None = None,
    start: float | None = None,
    end: float | None = None,
    counts: bool = False,
) -> NDArray[Any]:
    """Bin spike times to a raster of zeros and ones, or to numbers of spikes.

    Parameters
    ----------
    times : array of shape (n,)
        In seconds, in any order.
    units : array of int, shape (n,)
        Who fired, from 0.
    width : float
        Of a bin, in seconds. A bin holds its beginning, but not its end.
    n_units : int, optional
        How many columns; by default one for each unit up to the highest.
    start : float, optional
        When the first bin begins; by default with the first spike. Spikes before it are left out.
    end : float, optional
        The bins are those whose middle lies before it, and spikes after it are left out; by default the bin of the last spike is
        the last one.
    counts : bool
        Give numbers of spikes.

    Returns
    -------
    ndarray of shape (bins, n_units)
        Of uint8, 1 where the unit fired at least once; with `counts` of int32, how often it did.

    Examples
    --------
    >>> bin_spikes([0.0, 0.9, 2.1], [0, 1, 0], 1.0)
    array([[1, 1], [0, 0], [1, 0]], dtype=uint8)
    >>> bin_spikes([5.1, 5.2, 7.9], [0, 0, 1], 1.0, start=4.0, end=6.5, counts=True)
    array([[0, 0], [2, 0], [0, 0]], dtype=int32)
    """
    bounded = start is not None and end is not None
    seconds, given = (_flat(values, name, 0 if bounded else 1) for values, name in ((times, "times"), (units, "units")))
    if len(seconds) != len(given):
        raise ValueError(f"there are {len(seconds)} times, but {len(given)} units; give one unit for each spike.")
    apart = check_positive(width, "width")
    if not np.isfinite(seconds).all() or not ((given >= 0) & (given < 2**31) & (given == np.floor(given))).all():
        raise ValueError("times must be finite numbers of seconds, and units whole numbers from 0.")
    who = given.astype(np.int64)
    highest = int(who.max(initial=-1))
    columns = highest + 1 if n_units is None else check_count(n_units, "n_units")
    if columns == 0:
        raise ValueError("there are no spikes, so n_units must tell how many units there are.")
    if highest >= columns:
        raise ValueError(f"there is a spike of unit {highest}, but n_units is {columns}; units count from 0.")
    first = float(seconds.min()) if start is None else check_number(start, "start")
    last = float(seconds.max()) if end is None else check_number(end, "end")
    if last < first:
        raise ValueError(f"the first bin begins at {first:g} s, but the last one ends at {last:g} s; nothing lies between.")
    n_bins = int(bins_of(np.array([last - first]), apart)[0]) + 1 if end is None else n_bins_within(first, last, apart)
    if n_bins * columns * (4 if counts else 1) > MAX_BYTES:
        raise ValueError(f"a raster of {n_bins} bins and {columns} units is too large; take wider bins.")
    inside = (seconds >= first) & (seconds <= last)
    return spike_raster(bins_of(seconds[inside] - first, apart), who[inside], n_bins, columns, counts=counts)


def _flat(values: ArrayLike, name: str, least: int) -> NDArray[np.float64]:
    """Check one of the two columns of a list of spikes, of which there may have to be at least one."""
    refuse_masked(values, name)
    try:
        array = as_numbers(values, name).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an array of numbers, one for each spike.") from None
    if array.ndim != 1 or array.size < least:
        raise ValueError(f"{name} must be a list with one number for each spike, at least one, but its shape is {array.shape}.")
    return array
