"""pynapple objects in and out, with the extra `nwb`: ``pip install "seqattractor[nwb]"``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from seqattractor._checks import check_finite, check_kind, check_number, check_positive
from seqattractor.io._load import as_sequences
from seqattractor.io._options import Options
from seqattractor.io._recording import MAX_VALUES
from seqattractor.io._spikes import LABELS, Epochs, cut_signal, cut_spikes, name_epochs
from seqattractor.sequences import Sequences, check_sequences

if TYPE_CHECKING:
    from pynapple import IntervalSet, Tsd, TsdFrame, TsGroup

FINEST = 1e-9  # seconds: to these pynapple rounds times


def from_pynapple(
    data: TsGroup | Tsd | TsdFrame,
    bin_size: float | None = None,
    epochs: IntervalSet | None = None,
    *,
    threshold: float | str | None = None,
) -> Sequences:
    """Make sequences of what pynapple holds: spikes, calcium traces or behaviour, with one column
    for each unit.

    The bins are those in which pynapple counts spikes: the first begins with the epoch, and all
    whose middle lies in the epoch belong to it. What happens outside the epochs is left out. Units
    that never fire keep their columns, so that columns stand for the same units in every epoch and
    in every session.

    Parameters
    ----------
    data : pynapple.TsGroup, Tsd or TsdFrame
        Spike trains, one column per unit; or a signal, one column per trace.
    bin_size : float, optional
        Seconds. Spikes need one. A signal is averaged in each bin; without bins every sample is a
        time step.
    epochs : pynapple.IntervalSet, optional
        Each epoch (lap, trial) becomes a sequence, with the name that stands in its column ``name``
        or ``label``, if it has one. By default those of ``data.time_support``.
    threshold : float, "otsu", "median" or None
        A unit is on where its number of spikes in a bin, or its average, is above it. "otsu" and
        "median" are found for each unit, over all epochs. By default units that fired at least once
        are on; a signal of two values is cut between them, and other signals need a choice.

    Returns
    -------
    Sequences
        With `lengths`, `names` of epochs, `units` and `rate` (bins per second).

    Examples
    --------
    >>> import pynapple as nap
    >>> spikes = nap.TsGroup({3: nap.Ts([0.1, 0.4, 1.2]), 7: nap.Ts([0.6, 5.1])})
    >>> laps = nap.IntervalSet([0, 5], [1.5, 6])
    >>> X = from_pynapple(spikes, 0.5, laps)
    >>> X
    Sequences: 2 sequences of 2 to 3 patterns, 2 units, 2 frames per second
    >>> X.units, X.names, X.patterns.tolist()
    (['3', '7'], ['epoch 0', 'epoch 1'], [[1, -1], [-1, 1], [1, -1], [-1, 1], [-1, -1]])
    """
    nap = pynapple()
    check_kind(
        data, (nap.TsGroup, nap.Tsd, nap.TsdFrame), "data", "a TsGroup, Tsd or TsdFrame of pynapple"
    )
    check_kind(epochs, (nap.IntervalSet, type(None)), "epochs", "an IntervalSet of pynapple")
    width = None if bin_size is None else check_positive(bin_size, "bin_size")
    if threshold is not None and not isinstance(threshold, str):
        threshold = check_number(threshold, "threshold")
    options = Options(threshold=threshold, bin=width)
    what = f"the {type(data).__name__}"
    intervals = _epochs(data.time_support if epochs is None else epochs)
    if isinstance(data, nap.TsGroup):
        if width is None:
            raise ValueError("spikes need bins; give bin_size, in seconds.")
        keys = list(data.keys())
        if not keys:
            raise ValueError("the TsGroup is empty: it has no units.")
        trains = [np.asarray(data[key].t, dtype=np.float64) for key in keys]
        recording = cut_spikes(
            trains, [str(key) for key in keys], intervals, width, what, counts=threshold is not None
        )
    else:
        values = np.asarray(data.values).reshape(len(data), -1)
        names = (
            [str(column) for column in data.columns] if isinstance(data, nap.TsdFrame) else ["0"]
        )
        recording = cut_signal(
            np.asarray(data.t, dtype=np.float64), values, names, intervals, width, what
        )
    return as_sequences(recording, options, what)


def to_pynapple(
    X: Sequences | ArrayLike,
    *,
    rate: float | None = None,
    units: list[str] | None = None,
    start: float | ArrayLike = 0.0,
) -> TsdFrame:
    """Make a pynapple TsdFrame of sequences or of a recall: 1 where a unit is on, 0 where it is
    off, with times.

    Parameters
    ----------
    X : Sequences, array of +-1 of shape (T, N), or a list of these
        What a loader or `from_pynapple` gave, or what ``net.recall`` did.
    rate : float, optional
        Patterns per second; by default that of `X`.
    units : list of str, optional
        The names of the columns; by default those of `X`, or numbers.
    start : float or array of shape (S,)
        When each sequence begins, in seconds, such as ``laps.start``. A number is when the first
        does; the others follow with a gap of one bin, so that pynapple keeps them apart.

    Returns
    -------
    pynapple.TsdFrame
        Times are the middles of bins, as in ``TsGroup.count``. The time support has an epoch for
        each sequence, with its name.

    Examples
    --------
    >>> X = Sequences([[1, -1], [1, 1], [-1, 1]], lengths=[2, 1], units=["a", "b"], rate=10)
    >>> frame = to_pynapple(X)
    >>> frame.t, frame.values.tolist()
    (array([0.05, 0.15, 0.35]), [[1, 0], [1, 1], [0, 1]])
    >>> (from_pynapple(frame).patterns == X.patterns).all()
    np.True_
    """
    nap = pynapple()
    if isinstance(X, np.ndarray) and X.size > MAX_VALUES:  # before they are looked at one by one
        raise ValueError(
            f"X has {X.size // 10**6} million values, more than {MAX_VALUES // 10**6} million; "
            "take a part of it."
        )
    patterns, lengths = check_sequences(X, order=0)
    like = X if isinstance(X, Sequences) else Sequences(patterns, lengths)
    like = replace(
        like, rate=like.rate if rate is None else rate, units=like.units if units is None else units
    )
    if like.rate is None:
        raise ValueError(
            "to_pynapple needs to know how many patterns there are per second; give a rate."
        )
    lasting = lengths / like.rate
    if np.ndim(start):
        starts = check_finite(start, "start", "sequences")
        if starts.shape != lengths.shape:
            raise ValueError(
                f"there are {len(lengths)} sequences, but {len(starts)} times at which they start."
            )
        if (starts[1:] < (starts + lasting)[:-1]).any():
            s = int(np.flatnonzero(starts[1:] < (starts + lasting)[:-1])[0])
            raise ValueError(
                f"{like.names[s + 1]} starts before {like.names[s]} ends; write them one by one."
            )
    else:
        starts = (
            check_number(start, "start")
            + np.cumsum(lasting + 1 / like.rate)
            - lasting
            - 1 / like.rate
        )
    latest = float(np.abs([*starts, *(starts + lasting)]).max())
    if max(FINEST, np.spacing(latest)) * 100 > 1 / like.rate:
        raise ValueError(
            f"bins of {1 / like.rate:g} s, {latest:g} s from 0, are too short to be told apart; "
            "pynapple counts nanoseconds."
        )
    support = nap.IntervalSet(starts, starts + lasting, metadata={LABELS[0]: like.names})
    times = np.concatenate(
        [s + (np.arange(n) + 0.5) / like.rate for s, n in zip(starts, lengths, strict=True)]
    )
    columns = np.arange(patterns.shape[1]) if like.units is None else like.units
    return nap.TsdFrame(
        t=times, d=(patterns > 0).astype(np.int8), columns=columns, time_support=support
    )


def pynapple() -> Any:
    """Return the package, or raise with advice on how to install it."""
    try:
        return import_module("pynapple")
    except ImportError:
        raise ValueError(
            'pynapple is not installed; install it with: pip install "seqattractor[nwb]".'
        ) from None


def _epochs(intervals: Any) -> Epochs:
    """Return epochs of an IntervalSet, with the names that it has."""
    labels = next((column for column in LABELS if column in intervals.metadata_columns), None)
    names = None if labels is None else [str(label) for label in intervals[labels]]
    starts, ends = (
        np.asarray(times, dtype=np.float64) for times in (intervals.start, intervals.end)
    )
    return Epochs(starts, ends, name_epochs("epoch", names, len(starts)))
