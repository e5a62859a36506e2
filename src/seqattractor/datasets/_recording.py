"""Generated recordings of place cells with candidate events of known kind: the ground truth for
tests of replay.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_count,
    check_kind,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
    say,
)
from seqattractor._faces import Result
from seqattractor._files import written_by_name
from seqattractor.io._spikes import bin_spikes
from seqattractor.noise import Seed, as_generator

KINDS = ("forward", "reverse", "partial", "shuffled", "rates", "population bursts", "cell bursts")
REPLAY = KINDS[:3]
"""The kinds of events that are replay; the others must not be found."""

_TICK = 0.001  # seconds: spikes are drawn in steps of this length
_BASELINE = 0.2  # spikes per second of every cell, anywhere
_WIDTH = 0.04  # standard deviation of a place field, as a fraction of the path
_STRETCH = 0.02  # seconds: what is shuffled in a shuffled event
_MOST = 1_000_000  # laps, or events of a kind: hours of work
_PAUSE = 0.5  # seconds between laps and between events

Counts = NDArray[Any]


@dataclass(frozen=True, repr=False, eq=False)
class GeneratedRecording(Result):
    """Spikes of place cells in laps and in candidate events, with what is true of each.

    Attributes
    ----------
    times, cells : ndarray of shape (n,)
        When each spike was fired, in seconds, and by which cell.
    laps : ndarray of shape (n_laps, 2)
        Start and end of each lap, in seconds.
    lap_maps : ndarray of int, shape (n_laps,)
        The map that each lap belongs to.
    events : ndarray of shape (E, 2)
        Start and end of each candidate event, in seconds.
    kinds : list of str, E of them
        What each event is: "forward", "reverse" and "partial" are replay; "shuffled", "rates",
        "population bursts" and "cell bursts" are not.
    event_maps : ndarray of int, shape (E,)
        The map that each event is drawn from.
    speeds : ndarray of shape (E,)
        How many times faster than a lap each event runs; negative for reverse replay, 0 where
        nothing is replayed.
    position_times, position : ndarray of shape (P,)
        Where the animal is during laps, from 0 to 1 along the path.
    fields : ndarray of shape (n_maps, n_cells)
        The middle of each place field, from 0 to 1 along the path.

    Examples
    --------
    >>> recording(n_cells=30, n_laps=2, n_events=3, rng=0).kinds.count("reverse")
    3
    """

    times: NDArray[np.float64]
    cells: NDArray[np.int64]
    laps: NDArray[np.float64]
    lap_maps: NDArray[np.int64]
    events: NDArray[np.float64]
    kinds: list[str]
    event_maps: NDArray[np.int64]
    speeds: NDArray[np.float64]
    position_times: NDArray[np.float64] = field(repr=False)
    position: NDArray[np.float64] = field(repr=False)
    fields: NDArray[np.float64] = field(repr=False)

    @property
    def is_replay(self) -> NDArray[np.bool_]:
        """Whether each event is replay, shape (E,)."""
        return np.array([kind in REPLAY for kind in self.kinds], dtype=bool)

    def lap_counts(self, bin_size: float = 0.1) -> list[Counts]:
        """Return the numbers of spikes in the bins of each lap, arrays of shape (bins, cells).

        Parameters
        ----------
        bin_size : float
            Seconds.

        Returns
        -------
        list of ndarray of int32, shape (bins, cells)

        Examples
        --------
        >>> [lap.shape[1] for lap in recording(n_cells=30, n_laps=2, rng=0).lap_counts(0.1)]
        [30, 30]
        """
        return self._counts(self.laps, bin_size)

    def event_counts(self, bin_size: float = 0.02) -> list[Counts]:
        """Return the numbers of spikes in the bins of each event, arrays of shape (bins, cells).

        Parameters
        ----------
        bin_size : float
            Seconds.

        Returns
        -------
        list of ndarray of int32, shape (bins, cells)

        Examples
        --------
        >>> len(recording(n_cells=30, n_laps=2, n_events=3, rng=0).event_counts()) == 3 * len(KINDS)
        True
        """
        return self._counts(self.events, bin_size)

    def _counts(self, intervals: NDArray[np.float64], bin_size: float) -> list[Counts]:
        """Numbers of spikes in the bins of each interval."""
        width, n_cells = check_positive(bin_size, "bin_size"), self.fields.shape[1]
        counted = []
        for start, end in intervals:
            part = slice(*np.searchsorted(self.times, [start, end]))
            given = {"n_units": n_cells, "start": float(start), "end": float(end)}
            counted.append(
                bin_spikes(self.times[part], self.cells[part], width, **given, counts=True)
            )
        return counted

    def describe(self) -> str:
        """Describe how many laps and events of which kinds there are."""
        each = {kind: self.kinds.count(kind) for kind in KINDS if kind in self.kinds}
        listed = ", ".join(f"{number} {kind}" for kind, number in each.items()) or "none"
        maps = "" if len(self.fields) == 1 else f" on {len(self.fields)} maps"
        return (
            f"{len(self.times)} spikes of {self.fields.shape[1]} place cells in {len(self.laps)} "
            f"laps{maps} and {len(self.events)} candidate events. The events are: {listed}."
        )

    def rows(self) -> Iterable[dict[str, Any]]:
        """Return a row for each event: start, end, kind, map and speed."""
        each = zip(self.events, self.kinds, self.event_maps, self.speeds, strict=True)
        return [
            {
                "start": float(start),
                "end": float(end),
                "kind": kind,
                "map": int(m),
                "speed": float(speed),
            }
            for (start, end), kind, m, speed in each
        ]

    def to_pynapple(self) -> dict[str, Any]:
        """Return the recording as pynapple objects, with the extra `nwb`.

        Returns
        -------
        dict
            ``units`` (TsGroup), ``laps`` and ``events`` (IntervalSets with the columns ``map``, and
            ``kind``) and ``position`` (Tsd).

        Examples
        --------
        >>> session = recording(n_cells=30, n_laps=2, n_events=3, rng=0)
        >>> session.to_pynapple()["laps"].shape  # doctest: +SKIP
        (2, 2)
        """
        import pynapple as nap

        trains = {
            cell: nap.Ts(self.times[self.cells == cell]) for cell in range(self.fields.shape[1])
        }
        events = {"kind": self.kinds, "map": self.event_maps}
        return {
            "units": nap.TsGroup(trains),
            "laps": nap.IntervalSet(*self.laps.T, metadata={"map": self.lap_maps}),
            "events": nap.IntervalSet(*self.events.T, metadata=events)
            if len(self.events)
            else None,
            "position": nap.Tsd(t=self.position_times, d=self.position),
        }

    def write_nwb(self, path: str | os.PathLike[str]) -> None:
        """Write the recording to an NWB file, with the extra `nwb`: units, position, and the tables
        ``laps`` and ``events``.

        Parameters
        ----------
        path : str or path

        Examples
        --------
        >>> recording(n_cells=30, n_laps=2, rng=0).write_nwb("session.nwb")  # doctest: +SKIP
        """
        from pynwb import NWBHDF5IO, NWBFile
        from pynwb.behavior import Position, SpatialSeries
        from pynwb.epoch import TimeIntervals

        began = datetime(2026, 1, 1, tzinfo=UTC)
        session = NWBFile(
            "Generated place cells (seqattractor.datasets.recording)", "generated", began
        )
        for cell in range(self.fields.shape[1]):
            session.add_unit(spike_times=self.times[self.cells == cell])
        series = SpatialSeries(
            name="position",
            data=self.position,
            timestamps=self.position_times,
            reference_frame="fraction of the path",
        )
        behavior = session.create_processing_module("behavior", "position of the animal")
        behavior.add(Position(spatial_series=series))
        laps = TimeIntervals(name="laps", description="from one end of the path to the other")
        laps.add_column("map", "the map of the lap")
        for (start, end), m in zip(self.laps, self.lap_maps, strict=True):
            laps.add_interval(start_time=start, stop_time=end, map=int(m))
        session.add_time_intervals(laps)
        if len(self.events):
            events = TimeIntervals(name="events", description="candidate events")
            events.add_column("kind", "what the event is")
            events.add_column("map", "the map that it is drawn from")
            for row in self.rows():
                events.add_interval(
                    start_time=row["start"], stop_time=row["end"], kind=row["kind"], map=row["map"]
                )
            session.add_time_intervals(events)
        with written_by_name(path, ".nwb") as part, NWBHDF5IO(str(part), "w") as file:
            file.write(session)


def recording(
    n_cells: int = 60,
    n_laps: int = 6,
    n_events: int | Mapping[str, int] = 20,
    *,
    n_maps: int = 1,
    shared: float = 0.0,
    compression: Sequence[float] = (10.0, 20.0),
    loss: float = 0.45,
    jitter: float = 0.0,
    peak_rate: float = 30.0,
    rng: Seed = None,
) -> GeneratedRecording:
    """Generate a recording of place cells: laps along a path, then candidate events of known kind.

    The animal needs 3.5 to 5 s for a lap, at a speed that changes by up to 40 %. Each cell has one
    place field on each map and fires more or less than usual in each lap. Events last as long as
    the lap that they replay, divided by the compression. They cover 60 to 100 % of the path;
    partial ones 30 to 50 %, forward or reverse.

    Parameters
    ----------
    n_cells : int
    n_laps : int
        At least 1; with several maps they alternate.
    n_events : int or dict of str to int
        How many events of each kind, or of some kinds. Events that are not replay have the mean
        rates of a forward event. "shuffled": a forward event whose stretches of 20 ms come in
        random order, without a rest that is shorter. "rates": constant rates. "population bursts":
        all cells wax and wane together. "cell bursts": each cell fires within 25 ms (standard
        deviation) of a random time of its own.
    n_maps : int
        How many independent arrangements of place fields (environments, or arms of a maze) there
        are.
    shared : float
        The fraction of the path, from its start, that all maps have in common: with 2 maps, a
        figure of eight.
    compression : (float, float)
        How many times faster than a lap events run, least and most.
    loss : float
        The fraction of spikes that are missing in events.
    jitter : float
        Standard deviation of the times of spikes in events, in seconds.
    peak_rate : float
        Of a typical cell in the middle of its place field, in spikes per second.
    rng : int, Generator or None

    Returns
    -------
    GeneratedRecording

    Examples
    --------
    >>> session = recording(n_cells=40, n_laps=4, n_events={"forward": 5, "rates": 5}, rng=0)
    >>> session.laps.shape, session.kinds.count("forward"), int(session.is_replay.sum())
    ((4, 2), 5, 5)
    """
    n_cells = check_count(n_cells, "n_cells")
    n_laps = check_count(n_laps, "n_laps", 1, _MOST)
    n_maps = check_count(n_maps, "n_maps", 1, _MOST)
    wanted = _check_events(n_events)
    shared, loss = (
        check_number(value, name) for value, name in ((shared, "shared"), (loss, "loss"))
    )
    for value, name in ((shared, "shared"), (loss, "loss")):
        if not 0 <= value < 1:
            raise ValueError(
                f"{name} must be a fraction from 0 to below 1, but it is {say(value)}."
            )
    fast = np.asarray(compression, dtype=float).reshape(-1)
    if fast.shape != (2,) or not 0 < fast[0] <= fast[1] < np.inf:
        raise ValueError(
            f"compression must be (least, most), both above 0, but it is {say(compression)}."
        )
    jitter, peak_rate = check_not_negative(jitter, "jitter"), check_positive(peak_rate, "peak_rate")
    check_memory((50_000 + 24 * n_maps) * n_cells, f"laps of {n_cells} cells")
    draw = _Animal(as_generator(rng, "recording"), n_cells, n_maps, shared, peak_rate)

    lap_maps = np.arange(n_laps) % n_maps
    event_maps: list[int] = []
    laps, events, kinds, speeds = [], [], [], []
    spikes: list[tuple[NDArray[np.float64], NDArray[np.int64]]] = []
    where: list[tuple[NDArray[Any], NDArray[np.float64]]] = []
    now = 0.0
    for m in lap_maps.tolist():
        position = draw.lap()
        rates = draw.rates(position, m) * draw.rng.lognormal(0, 0.5, n_cells)
        spikes.append(draw.spikes(rates, now))
        where.append((now + _TICK * np.arange(0, len(position), 20), position[::20]))
        laps.append((now, now + _TICK * len(position)))
        now = laps[-1][1] + _PAUSE
    for kind in (kind for kind, number in wanted.items() for _ in range(number)):
        on, factor = int(draw.rng.integers(n_maps)), float(draw.rng.uniform(*fast))
        rates, sign = draw.event(kind, on, factor)
        spikes.append(draw.spikes(rates * (1 - loss), now, jitter))
        events.append((now, now + _TICK * len(rates)))
        kinds.append(kind)
        event_maps.append(on)
        speeds.append(sign * factor)
        now = events[-1][1] + _PAUSE
    times, cells = (np.concatenate(column) for column in zip(*spikes, strict=True))
    order = np.argsort(times, kind="stable")
    position_times, position = (np.concatenate(column) for column in zip(*where, strict=True))
    return GeneratedRecording(
        times[order],
        cells[order],
        np.array(laps),
        lap_maps,
        np.array(events).reshape(-1, 2),
        kinds,
        np.array(event_maps, dtype=np.int64),
        np.array(speeds),
        position_times,
        position,
        draw.fields,
    )


def _check_events(n_events: int | Mapping[str, int]) -> dict[str, int]:
    """How many events of each kind."""
    check_kind(
        n_events,
        (int, np.integer, Mapping),
        "n_events",
        "a number, or a dict from kinds to numbers",
    )
    wanted = dict(n_events) if isinstance(n_events, Mapping) else dict.fromkeys(KINDS, n_events)
    for kind in wanted:
        if kind not in KINDS:
            raise ValueError(
                f"n_events has the unknown kind {say(kind)}; kinds are {', '.join(KINDS)}."
            )
    each = wanted.items()
    return {kind: check_count(n, f"n_events[{kind!r}]", 0, _MOST) for kind, n in each}


class _Animal:
    """Draws laps, rates, events and spikes."""

    def __init__(
        self, rng: np.random.Generator, n_cells: int, n_maps: int, shared: float, peak_rate: float
    ) -> None:
        self.rng = rng
        fields = [rng.permutation(np.linspace(0, 1, n_cells)) for _ in range(n_maps)]
        common = fields[0] < shared  # these cells have their field on the stretch that maps share
        rest = np.sort(fields[0][~common])
        self.fields = np.array([fields[0], *(np.where(common, fields[0], 0.0) for _ in fields[1:])])
        for m in range(1, n_maps):
            self.fields[m, ~common] = rng.permutation(rest)
        self.peaks = peak_rate * rng.lognormal(0, 0.4, (n_maps, n_cells))
        self.peaks[:, common] = self.peaks[0, common]

    def lap(self) -> NDArray[np.float64]:
        """The position along the path at each tick of a lap, from 0 to 1."""
        return self.course(round(self.rng.uniform(3.5, 5.0) / _TICK))

    def course(self, ticks: int) -> NDArray[np.float64]:
        """A way from 0 to 1 in so many ticks at a speed that changes."""
        speed = np.interp(np.linspace(0, 5, ticks), np.arange(6), self.rng.uniform(0.6, 1.4, 6))
        way = np.cumsum(speed)
        return np.asarray((way - way[0]) / max(way[-1] - way[0], 1e-12))

    def rates(self, position: NDArray[np.float64], m: int) -> NDArray[np.float64]:
        """Spikes per second at each position, (ticks, cells)."""
        near = np.exp(-((position[:, None] - self.fields[m]) ** 2) / (2 * _WIDTH**2))
        return np.asarray(self.peaks[m] * near + _BASELINE)

    def event(self, kind: str, m: int, factor: float) -> tuple[NDArray[np.float64], int]:
        """The rates of an event at each tick, (ticks, cells), and the sign of its speed, 0 if it is
        no replay.
        """
        rng = self.rng
        covered = rng.uniform(0.3, 0.5) if kind == "partial" else rng.uniform(0.6, 1.0)
        ticks = max(4, round(rng.uniform(3.5, 5.0) * covered / factor / _TICK))
        position = rng.uniform(0, 1 - covered) + covered * self.course(ticks)
        backward = kind == "reverse" or (kind == "partial" and rng.random() < 0.5)
        rates = self.rates(position[::-1] if backward else position, m)
        mean = rates.mean(axis=0)
        if kind in REPLAY:
            return rates, -1 if backward else 1
        if kind == "shuffled":
            width = round(_STRETCH / _TICK)
            # Only whole stretches: a shorter one would shift those behind it against the bins.
            whole = max(ticks - ticks % width, width)
            stretches = [rates[at : at + width] for at in range(0, whole, width)]
            return np.concatenate([stretches[k] for k in rng.permutation(len(stretches))]), 0
        if kind == "population bursts":
            gain = np.interp(np.arange(ticks), np.linspace(0, ticks, 7), rng.gamma(0.7, 1 / 0.7, 7))
            return gain[:, None] * mean, 0
        if kind == "cell bursts":
            bump = np.exp(
                -(
                    ((np.arange(ticks)[:, None] - rng.uniform(0, ticks, len(mean))) * _TICK / 0.025)
                    ** 2
                )
                / 2
            )
            return mean * ticks * bump / bump.sum(axis=0), 0
        return np.broadcast_to(mean, rates.shape), 0

    def spikes(
        self, rates: NDArray[np.float64], start: float, jitter: float = 0.0
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Poisson spikes: times and cells."""
        tick, cell = np.nonzero(self.rng.random(rates.shape) < rates * _TICK)
        times = start + _TICK * (tick + self.rng.random(len(tick)))
        return times + jitter * self.rng.standard_normal(len(tick)), cell
