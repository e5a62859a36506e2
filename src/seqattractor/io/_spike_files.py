"""Files of spike times and units: two columns, two arrays, or a cell with the times of each unit; epochs from a table beside."""

from __future__ import annotations

from array import array
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.encoders._spike_binner import bins_of
from seqattractor.io._arrays import Arrays, open_arrays
from seqattractor.io._epochs import bin_spikes, cut_spikes, read_epochs
from seqattractor.io._options import FORMATS, Options, TooLargeError, brief, brief_list, remedy
from seqattractor.io._recording import Recording, check_room
from seqattractor.io._text import MAX_COLUMNS, cells_in, number_of, spike_columns
from seqattractor.sequences._columns import natural_key

Spikes = tuple[NDArray[Any], list[str], NDArray[Any]]
"""Times, the names of the units, and for each spike the place of its unit among them."""


def read_spikes(path: Path, options: Options) -> Recording:
    """Read spike times and units from a file of arrays or two columns of text, and bin them, in each epoch if there are some."""
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
    if len(labels) > MAX_COLUMNS:
        raise TooLargeError(f"{path} names more than {MAX_COLUMNS} units, more than a network can have.")
    names = sorted(labels, key=natural_key)
    place = {name: k for k, name in enumerate(names)}
    units = np.array([place[name] for name in labels])[which]
    counts = options.threshold is not None
    if options.epochs is not None:
        trains = [seconds[units == k] for k in range(len(names))]
        return cut_spikes(trains, names, read_epochs(Path(options.epochs), path), options.bin, path, counts=counts)
    n_bins = int(bins_of(np.array([np.ptp(seconds)]), options.bin)[0]) + 1
    check_room(n_bins, n_bins * len(labels), path)
    raster = bin_spikes(seconds, units, options.bin, n_units=len(names), counts=counts)
    return Recording([raster], "spikes", [path.stem], units=names, rate=1.0 / options.bin, per_unit=True)


def _from_arrays(path: Path, key: str | None) -> Spikes:
    """Read spike times and units: two arrays by their names, or one array (n, 2), or one cell with the times of each unit."""
    with open_arrays(path) as arrays:
        if key is not None:
            names = [part.strip() for part in key.split(",")]
            if len(names) > 2 or any(name not in arrays for name in names):
                which = "two arrays, times and units, or one array (n, 2)"
                raise ValueError(f"the key must name {which}, of those in {path}: {brief_list(list(arrays))}.")
        elif len(arrays) == 1:
            names = list(arrays)
        else:
            names = [_named(list(arrays), words, path) for words in (("time",), ("unit", "neuron", "cell", "cluster"))]
        if len(names) == 1:
            return _from_one(arrays, names[0], path)
        times, units = (arrays[name]().ravel() for name in names)
    if len(times) != len(units):
        raise ValueError(f"{path} has {len(times)} spike times, but {len(units)} unit numbers; they must be equally many.")
    return times, *_numbered(units)


def _from_one(arrays: Arrays, name: str, path: Path) -> Spikes:
    """Read an array with a time and a unit in each row, or a cell with the times of each unit, counted from 1 as in MATLAB."""
    array = arrays[name]()
    if array.dtype == object:
        trains = [np.asarray(train, dtype=np.float64) for train in array]
        units = [str(k) for k in range(1, len(trains) + 1)]
        return np.concatenate([np.zeros(0), *trains]), units, np.repeat(np.arange(len(trains)), [len(train) for train in trains])
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        two = remedy("or two arrays that {key} names", "or two arrays that are called times and units")
        shape = f"is of type {array.dtype} and has the shape {array.shape}"
        raise ValueError(f"the array {brief(name)} in {path} {shape}; spikes have (n, 2), a time and a unit in each row, {two}.")
    if (array[:, 1] % 1 != 0).any():
        raise ValueError(
            f"the array {brief(name)} in {path} has fractions in its second column; "
            "spikes have a time in seconds in the first and the number of a unit in the second."
        )
    return array[:, 0], *_numbered(array[:, 1])


def _numbered(units: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
    """Units as names and, for each spike, its place among them; whole numbers of any type are named alike."""
    whole = units.dtype.kind == "f" and bool((units % 1 == 0).all()) and bool((np.abs(units) < 2**53).all())
    values, which = np.unique(units.astype(np.int64) if whole else units, return_inverse=True)
    return [str(value) for value in values], which.ravel()


def _named(names: list[str], words: tuple[str, ...], path: Path) -> str:
    """The only array whose name contains one of the words."""
    fitting = [name for name in names if any(word in name.lower() for word in words)]
    if len(fitting) != 1:
        choose = remedy("say which are the spike times and units with {key}", "call them times and units")
        raise ValueError(f"{path} holds the arrays {brief_list(names)}; {choose}.")
    return fitting[0]


def _from_text(path: Path) -> Spikes:
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
