"""NWB files (neurodata without borders): spikes, calcium traces and behaviour. Needs the extra
`nwb`.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_finite, check_kind
from seqattractor._files import named_path, written_by_name
from seqattractor.io._hdf5 import BadFileError, open_hdf5, read_numbers
from seqattractor.io._options import (
    Options,
    TooLargeError,
    bin_spikes_first,
    brief,
    brief_list,
    remedy,
)
from seqattractor.io._recording import MAX_FRAMES, Recording
from seqattractor.io._spikes import LABELS, Epochs, cut_signal, cut_spikes, name_epochs
from seqattractor.io._text import MAX_COLUMNS

AXES = ("x", "y", "z")


class Spikes(NamedTuple):
    """A table of units."""

    units: list[str]
    trains: list[NDArray[np.float64]]
    """Spike times in seconds, one array for each unit."""


class Signal(NamedTuple):
    """A time series."""

    units: list[str]
    times: NDArray[np.float64]
    """Seconds, shape (n,)."""
    values: NDArray[Any]
    """Shape (n, N)."""


def read_nwb(path: Path, options: Options) -> Recording:
    """Read the units or a time series of an NWB file, cut at the epochs of a table."""
    found, epochs = _gather(path, options)
    if isinstance(found, Signal):
        times = found.times
        return cut_signal(
            times,
            found.values,
            found.units,
            epochs or Epochs(times[:1], times[-1:], [path.stem]),
            options.bin,
            path,
        )
    if options.bin is None:
        raise ValueError(f"to read spikes from {path}, {bin_spikes_first()}.")
    times = np.concatenate(found.trains)
    if not len(times):
        raise ValueError(f"{path} holds no spikes.")
    if not np.isfinite(times).all():
        raise ValueError(f"the spike times in {path} are not all finite numbers.")
    whole = Epochs(times.min(keepdims=True), times.max(keepdims=True), [path.stem])
    return cut_spikes(
        found.trains,
        found.units,
        epochs or whole,
        options.bin,
        path,
        counts=options.threshold is not None,
    )


def _gather(path: Path, options: Options) -> tuple[Spikes | Signal, Epochs | None]:
    """Read what the options choose: spikes or a signal, and epochs."""
    with _things(path) as things:
        table = None if options.epochs is None else _table(things, options.epochs, path)
        place = _choose(things, options.key, path)
        read = _spikes if _has_spikes(things[place]) else _signal
        return read(things[place], place, path), table


def read_nwb_epochs(path: Path, name: str, column: str | None = None) -> Epochs:
    """Read the intervals of a table of an NWB file, all of them, with the labels in a column."""
    with _things(path) as things:
        return _table(things, name, path, column)


@contextmanager
def _things(path: Path) -> Iterator[dict[str, Any]]:
    """Open an NWB file, and provide what is in it by its place."""
    NWBHDF5IO = _pynwb().NWBHDF5IO
    # What pynwb says about versions and styles is of no use to a reader of sequences.
    with open_hdf5(path, "NWB") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with NWBHDF5IO(file=file, mode="r", load_namespaces=True) as reader:
            objects = reader.read().objects.values()
            found = ((reader.manager.get_builder(thing).path, thing) for thing in objects)
            yield {place.removeprefix("root/"): x for place, x in sorted(found, key=itemgetter(0))}


def _pynwb() -> Any:
    """Return the package, or raise with advice on how to install it."""
    try:
        return import_module("pynwb")
    except ImportError:
        install = 'pip install "seqattractor[nwb]"'
        raise ValueError(f"NWB files need pynwb; install it with: {install}.") from None


def _table(things: dict[str, Any], name: str, path: Path, column: str | None = None) -> Epochs:
    """Return the intervals of the table of that name."""
    place = _find(things, _is_intervals, name, "table of intervals", "{epochs}", path)
    return _epochs(things[place], place, path, column)


def _has_spikes(thing: Any) -> bool:
    """Return whether an object is a table of units with spike times."""
    return "spike_times" in getattr(thing, "colnames", ()) and hasattr(
        thing["spike_times"], "target"
    )


def _is_intervals(thing: Any) -> bool:
    """Return whether an object is a table of intervals, such as trials."""
    return {"start_time", "stop_time"} <= set(getattr(thing, "colnames", ()))


def _is_signal(thing: Any) -> bool:
    """Return whether an object is a time series with one or two axes."""
    return hasattr(thing, "timestamps") and len(getattr(thing.data, "shape", ())) in (1, 2)


def _is_recording(thing: Any) -> bool:
    """Return whether sequences can be made of an object."""
    return _has_spikes(thing) or _is_signal(thing)


def _choose(things: dict[str, Any], key: str | None, path: Path) -> str:
    """Return where the units or the time series stand that the user means."""
    if key is not None:
        return _find(things, _is_recording, key, "units or time series", "{key}", path)
    for kind in (_has_spikes, _is_signal):
        places = [place for place, thing in things.items() if kind(thing)]
        if len(places) == 1:
            return places[0]
        if places:
            choose = remedy("choose one with {key}", 'choose one, under "Name in the file"')
            raise BadFileError(f"{path} holds {brief_list(places)}; {choose}.")
    raise BadFileError(f"{path} holds neither spikes nor a time series with one or two axes.")


def _find(
    things: dict[str, Any],
    kind: Callable[[Any], bool],
    name: str,
    what: str,
    option: str,
    path: Path,
) -> str:
    """Return the place of the only thing of a kind that ends with a name, or stands below it."""
    places = [place for place, thing in things.items() if kind(thing)]
    wanted = name.strip("/")
    fitting = [place for place in places if f"/{place}".endswith(f"/{wanted}")]
    fitting = fitting or [place for place in places if f"/{wanted}/" in f"/{place}/"]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        choose = remedy("give more of its place with " + option, "give more of its place")
        raise BadFileError(
            f"{path} holds {len(fitting)} things called {brief(name)}: {brief_list(fitting)}; "
            f"{choose}."
        )
    raise BadFileError(
        f"{path} holds no {what} called {brief(name)}; there are: {brief_list(places)}."
    )


def _spikes(table: Any, place: str, path: Path) -> Spikes:
    """Return the spike times of each unit, by the numbers that the units have in the file."""
    index = table["spike_times"]
    ids, ends = (
        read_numbers(x.data, place, path).astype(np.int64).tolist() for x in (table.id, index)
    )
    times = read_numbers(index.target.data, place, path).astype(np.float64)
    if len(ids) > MAX_COLUMNS:
        raise TooLargeError(
            f"{path} names more than {MAX_COLUMNS} units, more than a network can have."
        )
    edges = [0, *ends]
    if not ends or len(set(ids)) != len(ends) or edges != sorted(edges) or edges[-1] > len(times):
        raise BadFileError(
            f"{path} is damaged: {brief(place)} does not assign spikes to units; save it again."
        )
    return Spikes(
        [str(unit) for unit in ids], [times[a:b] for a, b in zip(edges, ends, strict=False)]
    )


def _signal(series: Any, place: str, path: Path) -> Signal:
    """Return a time series in the unit of measurement that the file names, with its times."""
    values = read_numbers(series.data, place, path)
    values = values.reshape(len(values), -1)
    scale, shift = float(series.conversion or 1.0), float(series.offset or 0.0)
    values = values if (scale, shift) == (1.0, 0.0) else values * scale + shift
    if series.timestamps is not None:
        times = read_numbers(series.timestamps, place, path).astype(np.float64)
    else:
        times = float(series.starting_time or 0.0) + np.arange(len(values)) / float(series.rate)
    if not values.size or times.shape != values.shape[:1] or not np.isfinite(times).all():
        raise BadFileError(
            f"{path} has {len(values)} samples in {brief(place)}, but not a time for each of them."
        )
    return Signal(_columns(series, values.shape[1], place, path), times, values)


def _columns(series: Any, count: int, place: str, path: Path) -> list[str]:
    """Return what the columns of a series are called: cells and electrodes by their numbers, axes
    of space by letters.
    """
    region = getattr(series, "rois", getattr(series, "electrodes", None))
    if region is not None:
        rows, ids = (
            read_numbers(x, place, path).astype(np.int64)
            for x in (region.data, region.table.id.data)
        )
        if len(rows) == count:
            return [str(unit) for unit in ids[rows]]
    if hasattr(series, "reference_frame") and count <= len(AXES):
        return list(AXES[:count])
    return [str(column) for column in range(count)]


def _epochs(table: Any, place: str, path: Path, wanted: str | None = None) -> Epochs:
    """Return the intervals of a table, named by its column of names or labels or by a wanted one,
    or by the table.
    """
    starts, ends = (
        read_numbers(table[name].data, place, path).astype(np.float64)
        for name in ("start_time", "stop_time")
    )
    if starts.ndim != 1 or starts.shape != ends.shape:
        raise BadFileError(
            f"{path} is damaged: {brief(place)} does not have an end for each start; save it again."
        )
    if len(starts) > MAX_FRAMES:
        raise TooLargeError(
            f"{path} has {len(starts)} intervals in {brief(place)}, more than can be stored."
        )
    column = next(
        (
            name
            for name in (LABELS if wanted is None else (wanted,))
            if name in table.colnames and len(table[name].data) == len(starts)
        ),
        None,
    )
    if wanted is not None and column is None:
        raise BadFileError(
            f"{brief(place)} of {path} has no column called {brief(wanted)}; it has "
            f"{brief_list(table.colnames)}."
        )
    labels = None if column is None else [brief(str(x))[1:-1] for x in table[column].data[:]]
    names = name_epochs(place.rpartition("/")[2], labels, len(starts))
    return Epochs(starts, ends, names, labels)


def write_intervals(
    path: str | os.PathLike[str],
    session: str | os.PathLike[str],
    intervals: ArrayLike,
    columns: Mapping[str, ArrayLike],
    *,
    name: str = "replay",
    about: str = "candidate events, tested for replay by seqattractor",
) -> None:
    """Write a copy of an NWB file with one more table of intervals, with the extra ``nwb``.

    Parameters
    ----------
    path : path
        The file to write.
    session : path
        The NWB file to copy.
    intervals : array of shape (E, 2)
        Starts and ends in seconds; an ``IntervalSet`` has them as ``values``.
    columns : dict from names to arrays of shape (E,)
        The other columns of the table, numbers or text, such as ``tested.columns()`` of a
        `replay.test`.
    name : str
        Of the new table.
    about : str
        What the table holds, for those who open it.

    Examples
    --------
    >>> columns = {"p": [0.002, 0.41]}
    >>> intervals = [(3.1, 3.3), (4.0, 4.2)]
    >>> write_intervals("tested.nwb", "session.nwb", intervals, columns)  # doctest: +SKIP
    """
    target, source = named_path(path), named_path(session)
    edges = check_finite(intervals, "intervals", "E", "2")
    if edges.shape[1] != 2:
        raise ValueError(f"intervals must have the shape (E, 2), but it is {edges.shape}.")
    check_kind(columns, Mapping, "columns", "a dict from names to arrays")
    for text in (name, about, *columns):
        check_kind(text, str, "name, about and the names of columns", "text")
    values = {"start_time": edges[:, 0], "stop_time": edges[:, 1]}
    values |= {column: np.asarray(each) for column, each in columns.items()}
    for column, each in values.items():
        if each.shape != (len(edges),):
            wrong = f"the column {brief(column)} has the shape {each.shape}"
            raise ValueError(f"{wrong}, but there are {len(edges)} intervals.")
    if target.exists() and target.samefile(source):
        raise ValueError(f"{target} is the session itself; give the copy another name.")
    pynwb, common = _pynwb(), import_module("hdmf.common")
    data = []
    for column, each in values.items():
        data.append(common.VectorData(name=column, description=column, data=_plain(each)))
    table = pynwb.epoch.TimeIntervals(name=name, description=about, columns=data)
    with _things(source) as things:  # its structure is checked, and it stays as it is
        if any(place.rpartition("/")[2] == name for place in things):
            raise BadFileError(f"{source} has a {brief(name)} already; choose another name.")
    with written_by_name(target, ".nwb") as part:
        shutil.copyfile(source, part)
        part.chmod(0o600)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pynwb.NWBHDF5IO(str(part), "a", load_namespaces=True) as file:
                copy = file.read()
                copy.add_time_intervals(table)
                file.write(copy, cache_spec=False)


def _plain(column: NDArray[Any]) -> NDArray[Any] | list[str]:
    """Numbers as they are, and anything else as text."""
    return column if column.dtype.kind in "biuf" else [str(value) for value in column]
