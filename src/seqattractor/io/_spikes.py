"""Spikes and signals: read from files of times and units, binned, and cut at epochs into one
sequence for each lap or trial.
"""

from __future__ import annotations

import re
import warnings
from array import array
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import (
    as_numbers,
    check_count,
    check_number,
    check_positive,
    reject_masked,
)
from seqattractor.io._arrays import Arrays, open_arrays
from seqattractor.io._options import (
    FORMATS,
    NoEpochsError,
    Options,
    TooLargeError,
    bin_spikes_first,
    brief,
    brief_list,
    remedy,
)
from seqattractor.io._recording import MAX_FRAMES, MAX_VALUES, Recording, check_room
from seqattractor.io._text import MAX_COLUMNS, cells_in, number_of, seconds_of, spike_columns
from seqattractor.sequences._columns import natural_key

MAX_BYTES = 2**31  # of a raster
ON_EDGE = 1e-6  # of a bin: a time that is nearer to an edge lies on it


def bins_of(seconds: NDArray[np.float64], width: float) -> NDArray[np.int64]:
    """Return the bin, from 0, in which each time lies; a time just short of an edge lies on it, as
    0.3 / 0.1 is just below 3.
    """
    with np.errstate(over="ignore"):
        bins = np.minimum(seconds / width, 2.0**62)
    return np.floor(bins + ON_EDGE).astype(np.int64)


def n_bins_within(start: float, end: float, width: float) -> int:
    """Count the bins whose middle lies in an interval, with which the first begins: those of
    pynapple's `count`.
    """
    return int(bins_of(np.array([end - start + width / 2]), width)[0])


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
        The bins are those whose middle lies before it, and spikes after it are left out; by default
        the bin of the last spike is the last one.
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
    seconds, given = (
        _flat(values, name, 0 if bounded else 1)
        for values, name in ((times, "times"), (units, "units"))
    )
    if len(seconds) != len(given):
        raise ValueError(
            f"there are {len(seconds)} times, but {len(given)} units; give one unit for each spike."
        )
    apart = check_positive(width, "width")
    if (
        not np.isfinite(seconds).all()
        or not ((given >= 0) & (given < 2**31) & (given == np.floor(given))).all()
    ):
        raise ValueError("times must be finite numbers of seconds, and units whole numbers from 0.")
    who = given.astype(np.int64)
    highest = int(who.max(initial=-1))
    columns = highest + 1 if n_units is None else check_count(n_units, "n_units")
    if columns == 0:
        raise ValueError("there are no spikes, so n_units must give the number of units.")
    if highest >= columns:
        raise ValueError(
            f"there is a spike of unit {highest}, but n_units is {columns}; units count from 0."
        )
    first = float(seconds.min()) if start is None else check_number(start, "start")
    last = float(seconds.max()) if end is None else check_number(end, "end")
    if last < first:
        raise ValueError(
            f"the first bin begins at {first:g} s, but the last one ends at {last:g} s; nothing "
            "lies between."
        )
    n_bins = (
        int(bins_of(np.array([last - first]), apart)[0]) + 1
        if end is None
        else n_bins_within(first, last, apart)
    )
    if n_bins * columns * (4 if counts else 1) > MAX_BYTES:
        raise ValueError(
            f"a raster of {n_bins} bins and {columns} units is too large; take wider bins."
        )
    inside = (seconds >= first) & (seconds <= last)
    bins, who = bins_of(seconds[inside] - first, apart), who[inside]
    counted = np.zeros((n_bins, columns), dtype=np.int32 if counts else np.uint8)
    where = bins[bins < n_bins], who[bins < n_bins]
    if counts:
        np.add.at(counted, where, 1)
    else:
        counted[where] = 1
    return counted


def _flat(values: ArrayLike, name: str, least: int) -> NDArray[np.float64]:
    """Check one of the two columns of a list of spikes, of which there may have to be at least
    one.
    """
    reject_masked(values, name)
    try:
        array = as_numbers(values, name).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be an array of numbers, one for each spike.") from None
    if array.ndim != 1 or array.size < least:
        raise ValueError(
            f"{name} must be a list with one number for each spike, at least one, but its shape is "
            f"{array.shape}."
        )
    return array


LABELS = ("name", "label")  # columns of a table of epochs in which their names stand
EDGES = (
    re.compile(r"(?:start|begin|onset)(?:[ _]?times?)?"),
    re.compile(r"(?:end|stop|offset)(?:[ _]?times?)?"),
)
UNEVEN = 1.5  # times the usual step between samples: a longer one is a gap


@dataclass(frozen=True)
class Epochs:
    """Intervals of a recording, in seconds."""

    starts: NDArray[np.float64]
    """Shape (S,)."""
    ends: NDArray[np.float64]
    """Shape (S,)."""
    names: list[str]
    """One for each."""
    labels: list[str] | None = None
    """What stands in their column of names, or in another that was chosen; may be all the same."""

    def __iter__(self) -> Any:
        return zip(self.starts.tolist(), self.ends.tolist(), self.names, strict=True)


def name_epochs(table: str, labels: list[str] | None, count: int) -> list[str]:
    """Name epochs by their labels, with their number where two are called the same, or by the table
    that they stand in.
    """
    if labels is None:
        return [f"{table} {s}" for s in range(count)]
    return (
        labels if len(set(labels)) == count else [f"{label} {s}" for s, label in enumerate(labels)]
    )


def read_epochs(path: Path, recording: Path, column: str | None = None) -> Epochs:
    """Read a table of intervals of a recording: a start and an end in each line, and a name if
    there is one, or what stands in another `column`.

    A first line may name the columns, such as ``start,end,label`` or ``name;start (ms);stop (ms)``.
    """
    if not path.is_file():
        how = "give a CSV file with a start and an end in seconds in each line"
        raise NoEpochsError(f"there is no file {path} with the epochs of {recording}; {how}.")
    starts, ends, labels = list[float](), list[float](), list[str]()
    columns: tuple[int, int, int | None] = (0, 1, 2 if column is None else None)
    scale, wanted = 1.0, LABELS if column is None else (column.lower(),)
    for number, cells in chain.from_iterable(cells_in(path)):
        if not starts and number_of(cells[0]) is None and (named := _columns(cells, wanted)):
            columns, scale = named
            continue
        edges = [number_of(cells[k]) if k < len(cells) else None for k in columns[:2]]
        if edges[0] is None or edges[1] is None:
            raise ValueError(
                f"line {number} of {path} has no start and end; an epoch has both, as numbers of "
                "seconds."
            )
        starts.append(edges[0] * scale)
        ends.append(edges[1] * scale)
        if columns[2] is not None and columns[2] < len(cells):
            labels.append(brief(cells[columns[2]])[1:-1])
        if len(starts) > MAX_FRAMES:
            raise TooLargeError(
                f"{path} has more than {MAX_FRAMES} epochs, more than can be stored."
            )
    if not starts:
        raise ValueError(f"{path} has no epochs; an epoch is a line with a start and an end.")
    found = labels if len(labels) == len(starts) else None
    if column is not None and found is None:
        raise ValueError(
            f"{path} has no column called {brief(column)} with an entry in each line; name the "
            "columns in its first line, such as start,end,map."
        )
    names = name_epochs(path.stem, found, len(starts))
    return Epochs(np.array(starts), np.array(ends), names, found)


def _columns(
    header: list[str], labels: tuple[str, ...]
) -> tuple[tuple[int, int, int | None], float] | None:
    """Where starts, ends and labels stand by the names of columns, and how many seconds times count
    by; None if not named so.
    """
    words = [cell.lower() for cell in header]
    edges = [
        [
            (k, seconds_of(edge.sub("time", word)))
            for k, word in enumerate(words)
            if edge.match(word)
        ]
        for edge in EDGES
    ]
    found = [[(k, scale) for k, scale in edge if scale is not None] for edge in edges]
    if [len(edge) for edge in found] != [1, 1] or found[0][0][1] != found[1][0][1]:
        return None
    label = next((k for k, word in enumerate(words) if word in labels), None)
    return (found[0][0][0], found[1][0][0], label), found[0][0][1]


def cut_spikes(
    trains: list[NDArray[np.float64]],
    units: list[str],
    epochs: Epochs,
    width: float,
    what: Path | str,
    *,
    counts: bool,
) -> Recording:
    """Bin the spikes of each unit in each epoch; a unit without spikes keeps its column."""
    epochs = _of_some_length(epochs, width, what)
    _check_room(
        sum(n_bins_within(start, end, width) for start, end, _ in epochs), len(units), width, what
    )
    times = np.concatenate(trains)
    who = np.repeat(np.arange(len(trains)), [len(train) for train in trains])
    order = np.argsort(times, kind="stable")
    times, who = times[order], who[order]
    rasters = []
    for start, end, _ in epochs:
        part = slice(*np.searchsorted(times, (start, np.nextafter(end, np.inf))))
        rasters.append(
            bin_spikes(
                times[part],
                who[part],
                width,
                n_units=len(units),
                start=start,
                end=end,
                counts=counts,
            )
        )
    return Recording(rasters, "spikes", epochs.names, units=units, rate=1.0 / width, per_unit=True)


def cut_signal(
    times: NDArray[np.float64],
    values: NDArray[Any],
    units: list[str],
    epochs: Epochs,
    width: float | None,
    what: Path | str,
) -> Recording:
    """Average a signal, (n,) times in order and (n, N) values, in the bins of each epoch; without a
    width every sample counts.
    """
    if (np.diff(times) < 0).any():
        raise ValueError(
            f"the times of the samples in {what} do not run forwards; sort them first."
        )
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    rate = (
        1.0 / width if width else float(f"{1.0 / step:.6g}") if step > 0 else None
    )  # times are known to nanoseconds
    if rate is None:
        average = f"average them in bins with {_bin_option(what)}"
        raise ValueError(
            f"{what} has too few samples at different times to compute their rate; {average}."
        )
    epochs = _of_some_length(epochs, width or step, what)
    _check_room(
        sum(n_bins_within(start, end, width or step) for start, end, _ in epochs),
        len(units),
        width or step,
        what,
    )
    found = []
    for start, end, name in epochs:
        part = slice(*np.searchsorted(times, (start, np.nextafter(end, np.inf))))
        if width is None:
            found.append(_samples(times[part], values[part], step, name, what))
        else:
            n_bins = n_bins_within(start, end, width)
            found.append(
                _averages(times[part] - start, values[part], n_bins, width, (start, name), what)
            )
    return Recording(found, "traces", epochs.names, units=units, rate=rate, per_unit=True)


def _samples(
    times: NDArray[np.float64], values: NDArray[Any], step: float, name: str, what: Path | str
) -> NDArray[Any]:
    """Return all samples of an epoch, (T, N), which must follow each other without a gap."""
    gaps = np.flatnonzero(np.diff(times) > UNEVEN * step)
    if not len(times):
        raise ValueError(f"{what} has no sample in {name}; leave that out.")
    if len(gaps):
        t, longer = float(times[gaps[0]]), float(np.diff(times)[gaps[0]])
        gap = (
            f"{what} has no sample for {longer:.6g} s after {t:.6g} s, in {name}, but usually one "
            f"each {step:.6g} s"
        )
        raise ValueError(
            f"{gap}; average them in bins of a width in seconds, with {_bin_option(what)}."
        )
    return values


def _averages(
    times: NDArray[np.float64],
    values: NDArray[Any],
    n_bins: int,
    width: float,
    place: tuple[float, str],
    what: Path | str,
) -> NDArray[np.float64]:
    """Return the average of the samples of an epoch in each bin, (n_bins, N); times count from its
    start.
    """
    rows = bins_of(times, width)
    rows = rows[: np.searchsorted(rows, n_bins)]
    filled, first = np.unique(rows, return_index=True)
    if len(filled) < n_bins:
        start, name = place
        empty = int(np.setdiff1d(np.arange(n_bins), filled)[0])
        first_empty = f"between {start + empty * width:.6g} and {start + (empty + 1) * width:.6g} s"
        raise ValueError(
            f"{what} has no sample {first_empty}, in {name}; take wider bins with "
            f"{_bin_option(what)}, or other epochs."
        )
    sums = np.add.reduceat(values[: len(rows)], first, axis=0, dtype=np.float64)
    return np.asarray(sums / np.diff(first, append=len(rows))[:, None])


def _of_some_length(epochs: Epochs, width: float, what: Path | str) -> Epochs:
    """Leave out epochs without a time, or with none long enough for a bin, and warn."""
    lasting = np.isfinite(epochs.starts) & np.isfinite(epochs.ends)
    lasting[lasting] = [
        n_bins_within(s, e, width) > 0
        for s, e in zip(epochs.starts[lasting], epochs.ends[lasting], strict=True)
    ]
    if lasting.all() and len(lasting):
        return epochs
    out = np.flatnonzero(~lasting)
    short = f"shorter than half a bin of {width:g} s, or without a start or an end"
    if not len(lasting):
        raise ValueError(f"{what} has no epochs in this table; choose another.")
    if not lasting.any():
        many = f"{len(lasting)} epochs, and none that can be used"
        raise ValueError(f"{what} has {many}; all are {short}.")
    left_out = (
        f"{len(out)} of {len(lasting)} epochs of {what} were left out (the first is "
        f"{brief(epochs.names[out[0]])[1:-1]})"
    )
    warnings.warn(f"{left_out}: they are {short}.", UserWarning, stacklevel=2)
    chosen = np.flatnonzero(lasting)
    return Epochs(epochs.starts[chosen], epochs.ends[chosen], [epochs.names[s] for s in chosen])


def _check_room(n_bins: int, n_units: int, width: float, what: Path | str) -> None:
    """Reject more bins than can be stored, before memory is used for them."""
    if n_bins > MAX_FRAMES or n_bins * n_units > MAX_VALUES:
        room = f"{n_bins} bins of {width:g} s and {n_units} units, more than can be stored"
        raise TooLargeError(
            f"{what} has {room}; take wider bins with {_bin_option(what)}, or other epochs."
        )


def _bin_option(what: Path | str) -> str:
    """Name the option for the width of bins: of a file, or of an object of pynapple."""
    return remedy("{bin}") if isinstance(what, Path) else "bin_size"


Spikes = tuple[NDArray[Any], list[str], NDArray[Any]]
"""Times, the names of the units, and for each spike the place of its unit among them."""


def read_spikes(path: Path, options: Options) -> Recording:
    """Read spike times and units from a file of arrays or two columns of text, and bin them, in
    each epoch if there are some.
    """
    if options.bin is None:
        raise ValueError(f"to read spikes from {path}, {bin_spikes_first()}.")
    is_array = path.suffix.lower() in FORMATS["array"].suffixes
    times, labels, which = _from_arrays(path, options.key) if is_array else _from_text(path)
    if len(times) == 0:
        raise ValueError(f"{path} holds no spikes.")
    if times.dtype.kind not in "iuf" or not np.isfinite(times.astype(np.float64)).all():
        raise ValueError(f"the spike times in {path} are not all finite numbers.")
    seconds = times.astype(np.float64)
    if len(labels) > MAX_COLUMNS:
        raise TooLargeError(
            f"{path} names more than {MAX_COLUMNS} units, more than a network can have."
        )
    if (
        fraction := next((label for label in labels if (number_of(label) or 0.0) % 1), None)
    ) is not None:
        raise ValueError(
            f"{path} has the fraction {fraction} for a unit, as if units came before times; put "
            "times in the first column, or name the columns of a table in its first line, such as "
            "unit,time."
        )
    names = sorted(labels, key=natural_key)
    place = {name: k for k, name in enumerate(names)}
    units = np.array([place[name] for name in labels])[which]
    counts = options.threshold is not None
    if options.epochs is not None:
        trains = [seconds[units == k] for k in range(len(names))]
        return cut_spikes(
            trains, names, read_epochs(Path(options.epochs), path), options.bin, path, counts=counts
        )
    n_bins = int(bins_of(np.array([np.ptp(seconds)]), options.bin)[0]) + 1
    check_room(n_bins, n_bins * len(labels), path)
    raster = bin_spikes(seconds, units, options.bin, n_units=len(names), counts=counts)
    return Recording(
        [raster], "spikes", [path.stem], units=names, rate=1.0 / options.bin, per_unit=True
    )


def _from_arrays(path: Path, key: str | None) -> Spikes:
    """Read spike times and units: two arrays by their names, or one array (n, 2), or one cell with
    the times of each unit.
    """
    with open_arrays(path) as arrays:
        if key is not None:
            names = [part.strip() for part in key.split(",")]
            if len(names) > 2 or any(name not in arrays for name in names):
                which = "two arrays, times and units, or one array (n, 2)"
                raise ValueError(
                    f"the key must name {which}, of those in {path}: {brief_list(list(arrays))}."
                )
        elif len(arrays) == 1:
            names = list(arrays)
        else:
            names = [
                _named(list(arrays), words, path)
                for words in (("time",), ("unit", "neuron", "cell", "cluster"))
            ]
        if len(names) == 1:
            return _from_one(arrays, names[0], path)
        times, units = (arrays[name]().ravel() for name in names)
    if len(times) != len(units):
        raise ValueError(
            f"{path} has {len(times)} spike times, but {len(units)} unit numbers; they must be "
            "equally many."
        )
    return times, *_numbered(units)


def _from_one(arrays: Arrays, name: str, path: Path) -> Spikes:
    """Read an array with a time and a unit in each row, or a cell with the times of each unit,
    counted from 1 as in MATLAB.
    """
    array = arrays[name]()
    if array.dtype == object:
        trains = [np.asarray(train, dtype=np.float64) for train in array]
        units = [str(k) for k in range(1, len(trains) + 1)]
        return (
            np.concatenate([np.zeros(0), *trains]),
            units,
            np.repeat(np.arange(len(trains)), [len(train) for train in trains]),
        )
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        two = remedy("or two arrays that {key} names", "or two arrays")
        shape = f"is of type {array.dtype} and has the shape {array.shape}"
        raise ValueError(
            f"the array {brief(name)} in {path} {shape}; spikes have (n, 2), a time and a unit in "
            f"each row, {two}."
        )
    return array[:, 0], *_numbered(array[:, 1])


def _numbered(units: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
    """Return units as names and, for each spike, its place among them; whole numbers of any type
    are named alike.
    """
    whole = (
        units.dtype.kind == "f"
        and bool((units % 1 == 0).all())
        and bool((np.abs(units) < 2**53).all())
    )
    values, which = np.unique(units.astype(np.int64) if whole else units, return_inverse=True)
    return [str(value) for value in values], which.ravel()


def _named(names: list[str], words: tuple[str, ...], path: Path) -> str:
    """Return the only array whose name contains one of the words."""
    fitting = [name for name in names if any(word in name.lower() for word in words)]
    if len(fitting) != 1:
        choose = remedy(
            "name the spike times and units with {key}",
            'name the spike times and units, such as times,units, under "Name in the file"',
        )
        raise ValueError(f"{path} holds the arrays {brief_list(names)}; {choose}.")
    return fitting[0]


def _from_text(path: Path) -> Spikes:
    """Read two columns, spike times and units, which may be any words: times, names, and whose each
    spike is.

    A first line of names says which column is which; without one, times come first.
    """
    times, which = array("d"), array("q")
    names: dict[str, int] = {}
    when, who, scale = 0, 1, 1.0
    headed = False
    for number, cells in chain.from_iterable(cells_in(path)):
        if len(cells) != 2:
            raise ValueError(
                f"line {number} of {path} has {len(cells)} columns; spikes have two, a time in "
                "seconds and a unit."
            )
        if not times and not headed and (columns := spike_columns(cells)) is not None:
            (when, who, scale), headed = columns, True
            continue
        value = number_of(cells[when])
        if value is None and times:
            raise ValueError(
                f"line {number} of {path} has {brief(cells[when])} for a time, which is not a "
                "number of seconds."
            )
        if value is not None:
            times.append(value * scale)
            which.append(names.setdefault(cells[who], len(names)))
    return np.array(times), list(names), np.array(which)
