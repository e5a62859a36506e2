"""Spike trains: times and units, binned to a raster in which a unit is on where it fired."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.io._arrays import open_arrays
from seqattractor.io._options import FORMATS, Options
from seqattractor.io._recording import Recording, check_room
from seqattractor.io._text import cells_in, number_of
from seqattractor.io._units import natural_key


def read_spikes(path: Path, options: Options) -> Recording:
    """Read spike times and units from an npz file or two columns of text, and bin them."""
    if options.bin is None:
        raise ValueError(f"to read spikes from {path}, give the width of a time bin in seconds with bin.")
    is_array = path.suffix.lower() in FORMATS["array"].suffixes
    times, labels = _from_arrays(path, options.key) if is_array else _from_text(path)
    if len(times) == 0:
        raise ValueError(f"{path} holds no spikes.")
    if times.dtype.kind not in "iuf" or not np.isfinite(times.astype(np.float64)).all():
        raise ValueError(f"the spike times in {path} are not all finite numbers.")
    seconds = times.astype(np.float64)
    n_bins = int(min(np.ptp(seconds) / options.bin, 2**62)) + 1
    names = sorted({str(label) for label in labels}, key=natural_key)
    check_room(n_bins, n_bins * len(names), path)
    index = {name: k for k, name in enumerate(names)}
    raster = bin_spikes(seconds, [index[str(label)] for label in labels], options.bin, n_units=len(names))
    return Recording([raster], "spikes", [path.stem], units=names, rate=1.0 / options.bin)


def bin_spikes(times: ArrayLike, units: ArrayLike, width: float, *, n_units: int | None = None) -> NDArray[np.uint8]:
    """Bin spike times to a raster of zeros and ones.

    Parameters
    ----------
    times : array of shape (n,)
        In seconds; the first spike opens the first bin.
    units : array of int, shape (n,)
        Who fired, from 0.
    width : float
        Of a bin, in seconds.
    n_units : int, optional
        How many columns; by default one for each unit up to the highest.

    Returns
    -------
    ndarray of uint8, shape (bins, n_units)
        1 where the unit fired at least once.

    Examples
    --------
    >>> bin_spikes([0.0, 0.9, 2.1], [0, 1, 0], 1.0)
    array([[1, 1], [0, 0], [1, 0]], dtype=uint8)
    """
    seconds, who = np.asarray(times, dtype=np.float64), np.asarray(units, dtype=np.int64)
    bins = np.floor((seconds - seconds.min()) / width).astype(np.int64)
    raster = np.zeros((int(bins.max()) + 1, n_units if n_units is not None else int(who.max()) + 1), dtype=np.uint8)
    raster[bins, who] = 1
    return raster


def _from_arrays(path: Path, key: str | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read two arrays of equal length from an npz file, spike times and units, by their names."""
    with open_arrays(path) as arrays:
        if key is not None:
            names = [part.strip() for part in key.split(",")]
            if len(names) != 2 or any(name not in arrays for name in names):
                raise ValueError(f"the key must name two arrays of {path}, times and units, out of {', '.join(arrays)}.")
        else:
            names = [_named(list(arrays), words, path) for words in (("time",), ("unit", "neuron", "cell", "cluster"))]
        times, units = (arrays[name]().ravel() for name in names)
    if len(times) != len(units):
        raise ValueError(f"{path} has {len(times)} spike times, but {len(units)} unit numbers; they must be equally many.")
    return times, units


def _named(names: list[str], words: tuple[str, ...], path: Path) -> str:
    """The only array whose name contains one of the words."""
    fitting = [name for name in names if any(word in name.lower() for word in words)]
    if len(fitting) != 1:
        raise ValueError(f"{path} holds the arrays {', '.join(names)}; say which are the spike times and units with key (--key).")
    return fitting[0]


def _from_text(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read two columns, spike times and units; units may be any words."""
    times: list[float] = []
    units: list[str] = []
    for number, cells in chain.from_iterable(cells_in(path)):
        if len(cells) != 2:
            raise ValueError(f"line {number} of {path} has {len(cells)} columns; spikes have two, a time in seconds and a unit.")
        value = number_of(cells[0])
        if value is None and times:
            raise ValueError(f"line {number} of {path} starts with {cells[0]!r}, which is not a time in seconds.")
        if value is not None:
            times.append(value)
            units.append(cells[1])
    return np.array(times), np.array(units)
