"""Spike trains: times and units, binned to a raster in which a unit is on where it fired, or to numbers of spikes."""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import as_numbers, check_count, check_number, check_positive, refuse_masked
from seqattractor.encoders._bins import bins_of, n_bins_within, spike_raster
from seqattractor.io._arrays import open_arrays
from seqattractor.io._options import FORMATS, Options
from seqattractor.io._recording import Recording, check_room
from seqattractor.io._terms import TooLargeError, brief, brief_list, remedy
from seqattractor.io._text import MAX_COLUMNS, cells_in, number_of, spike_columns
from seqattractor.io._units import natural_key

MAX_BYTES = 2**31  # of a raster


def read_spikes(path: Path, options: Options) -> Recording:
    """Read spike times and units from an npz file or two columns of text, and bin them."""
    if options.bin is None:
        how = remedy("give the width of a time bin in seconds with {bin}", "bin them first")
        raise ValueError(f"to read spikes from {path}, {how}.")
    is_array = path.suffix.lower() in FORMATS["array"].suffixes
    times, labels, which = _from_arrays(path, options.key) if is_array else _from_text(path)
    if len(times) == 0:
        raise ValueError(f"{path} holds no spikes.")
    if times.dtype.kind not in "iuf" or not np.isfinite(times.astype(np.float64)).all():
        raise ValueError(f"the spike times in {path} are not all finite numbers.")
    seconds = times.astype(np.float64)
    n_bins = int(bins_of(np.array([np.ptp(seconds)]), options.bin)[0]) + 1
    if len(labels) > MAX_COLUMNS:
        raise TooLargeError(f"{path} names more than {MAX_COLUMNS} units, more than a network can have.")
    check_room(n_bins, n_bins * len(labels), path)
    names = sorted(labels, key=natural_key)
    place = {name: k for k, name in enumerate(names)}
    units = np.array([place[name] for name in labels])[which]
    raster = bin_spikes(seconds, units, options.bin, n_units=len(names), counts=options.threshold is not None)
    return Recording([raster], "spikes", [path.stem], units=names, rate=1.0 / options.bin, per_unit=True)


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


def _from_arrays(path: Path, key: str | None) -> tuple[NDArray[Any], list[str], NDArray[Any]]:
    """Read two arrays of equal length from an npz file, by their names: spike times, and units as names and their places."""
    with open_arrays(path) as arrays:
        if key is not None:
            names = [part.strip() for part in key.split(",")]
            if len(names) != 2 or any(name not in arrays for name in names):
                raise ValueError(f"the key must name two arrays of {path}, times and units, out of {brief_list(list(arrays))}.")
        else:
            names = [_named(list(arrays), words, path) for words in (("time",), ("unit", "neuron", "cell", "cluster"))]
        times, units = (arrays[name]().ravel() for name in names)
    if len(times) != len(units):
        raise ValueError(f"{path} has {len(times)} spike times, but {len(units)} unit numbers; they must be equally many.")
    values, which = np.unique(units, return_inverse=True)
    return times, [str(value) for value in values], which.ravel()


def _named(names: list[str], words: tuple[str, ...], path: Path) -> str:
    """The only array whose name contains one of the words."""
    fitting = [name for name in names if any(word in name.lower() for word in words)]
    if len(fitting) != 1:
        choose = remedy("say which are the spike times and units with {key}", "call them times and units")
        raise ValueError(f"{path} holds the arrays {brief_list(names)}; {choose}.")
    return fitting[0]


def _from_text(path: Path) -> tuple[NDArray[Any], list[str], NDArray[Any]]:
    """Read two columns, spike times and units, which may be any words: times, names, and whose each spike is.

    A first line of names says which column is which; without one, times come first.
    """
    times, which = array("d"), array("q")
    names: dict[str, int] = {}
    when, who, scale = 0, 1, 1.0
    headed = False
    for number, cells in chain.from_iterable(cells_in(path)):
        if len(cells) != 2:
            raise ValueError(f"line {number} of {path} has {len(cells)} columns; spikes have two, a time in seconds and a unit.")
        if not times and not headed and (columns := spike_columns(cells)) is not None:
            (when, who, scale), headed = columns, True
            continue
        value = number_of(cells[when])
        if value is None and times:
            raise ValueError(f"line {number} of {path} has {brief(cells[when])} for a time, which is not a number of seconds.")
        if value is not None:
            times.append(value * scale)
            which.append(names.setdefault(cells[who], len(names)))
    if not headed:
        _refuse_swapped(path, np.array(times), list(names))
    return np.array(times), list(names), np.array(which)


def _refuse_swapped(path: Path, times: NDArray[Any], names: list[str]) -> None:
    """Refuse two columns without names of which the first looks like units and the second like times."""
    others = [number_of(name) for name in names[:1000]]
    if len(times) > 2 and (times == np.floor(times)).all() and any(value is not None and value % 1 for value in others):
        raise ValueError(
            f"{path} has whole numbers in its first column and fractions in its second, as if units came before times; "
            "write a first line with the names of the columns, such as unit,time, or put times first."
        )
