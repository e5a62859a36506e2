"""Tests of replay on a recording: laps read and cross-validated, learned, and events tested."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from seqattractor import __version__
from seqattractor._faces import Result, plural
from seqattractor.io._load import read_intervals
from seqattractor.io._options import Options
from seqattractor.io._spikes import Epochs
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.replay import CrossValidation, ReplayTest, consensus, cross_validate, test
from seqattractor.replay._events import FEWEST_BINS, ORDERS
from seqattractor.replay._nulls import WORDS
from seqattractor.replay._statistic import MOST_LAGS
from seqattractor.sequences import Sequences

THRESHOLD = 0.5  # of the consensus
LAP_SHUFFLES = 200
EPOCHS = 3000

T = TypeVar("T")
Pair = tuple[T, T]
"""Of laps and of events."""

Read = Callable[[Path, dict[str, Any]], Sequences]
"""Reads a file with the options of `io.load`."""

Bar = Callable[[str, str], AbstractContextManager[Callable[[int, int], None]]]
"""Provides a bar of progress, given its title and what it counts."""


@dataclass(frozen=True)
class Recorded:
    """Laps and candidate events of a session, in bins."""

    session: Path
    laps: Sequences
    events: Sequences
    intervals: NDArray[np.float64]
    """Starts and ends of the events in seconds, shape (E, 2)."""
    tables: Pair[str]
    """What laps and events are called in the session, or their files."""
    bins: Pair[float]
    """Seconds: of laps and of events."""
    maps: list[str] | None = None
    """The map of each lap, if they have several."""


@dataclass(frozen=True, repr=False, eq=False)
class ReplayAnalysis(Result):
    """All that was found about replay in a session."""

    recorded: Recorded
    learned: Sequences
    """The consensus of the laps."""
    nets: list[SequenceAttractor]
    """Alike but for their random states; asked together."""
    laps: CrossValidation
    events: ReplayTest
    max_speed: int
    seed: int

    def describe(self) -> str:
        """Describe what was found in the laps and in the events."""
        return f"Laps: {self.laps.describe()}\nEvents: {self.events.describe()}"

    def rows(self) -> Iterable[dict[str, Any]]:
        """Return a row for each event, with its time."""
        for row, (start, end) in zip(self.events.rows(), self.recorded.intervals, strict=True):
            yield {"event": row["event"], "start": float(start), "end": float(end), **row}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; what does not exist is None."""
        names = ("memory", "other_laps", "rates", "shuffled")
        laps = {name: float(getattr(self.laps, name).mean()) for name in names}
        return {
            "session": str(self.recorded.session),
            "laps": {**laps, "rows": list(self.laps.rows())},
            "events": [
                {k: None if v != v else v for k, v in row.items()}  # NaN is no JSON
                for row in self.rows()
            ],
            "replay": int(self.events.significant().sum()),
            "description": self.describe(),
            "methods": self.methods(),
        }

    def methods(self) -> str:
        """Return the paragraph for a paper, with every number that a reader must know."""
        return " ".join([*self._data(), *self._networks(), *self._tests()])

    def _data(self) -> list[str]:
        """Cells, laps, events and bins."""
        (lap_table, event_table), (wide, narrow) = self.recorded.tables, self.recorded.bins
        laps, events = self.recorded.laps.lengths, self.recorded.events.lengths
        N, maps = self.recorded.laps.shape[1], self.recorded.maps
        each = "" if maps is None else f" of each of the {plural(len(set(maps)), 'map')}"
        return [
            f"Spikes of {plural(N, 'unit')} in {self.recorded.session.name} were put into "
            f"{_ms(wide)} in {plural(len(laps), 'lap')} ({lap_table}; {_range(laps)} bins each) "
            f"and in {_ms(narrow)} in {plural(len(events), 'candidate event')} "
            f"({event_table}; {_range(events)} bins each).",
            "A unit was on in a bin in which it fired at least once.",
            "Laps were averaged at equal fractions of their length; a unit was on in the consensus "
            f"where it was on in more than {THRESHOLD:.3g} of the laps{each} on average "
            f"({len(self.learned)} patterns).",
        ]

    def _networks(self) -> list[str]:
        """The networks, and how well they have learned."""
        net, last = self.nets[0], self.seed + len(self.nets) - 1
        given = net.get_params()
        chosen = ("order", "kappa", "eta", "init_scale", "bias", "max_epochs")
        settings = ", ".join(f"{name} = {given[name]}" for name in chosen)
        each = "" if len(self.nets) == 1 else f" to {last}"
        done = sum(other.converged_ for other in self.nets)
        epochs = np.array([other.n_iter_ for other in self.nets])
        right = min(other.score(self.learned) for other in self.nets)
        text = (
            f"{plural(len(self.nets), 'network')} of {net.n_features_in_} visible and "
            f"{net.n_hidden_} hidden threshold neurons (SequenceAttractor, {settings}, "
            f"random_state = {self.seed}{each}) learned the consensus in {_range(epochs)} epochs, "
            f"{done} of {len(self.nets)} without an error left; each stores at least "
            f"{100 * right:.1f} % of the transitions."
        )
        return [text if len(self.nets) == 1 else f"{text} Their correlations were averaged."]

    def _tests(self) -> list[str]:
        """Cross-validation and the test, with speeds, lags, null, shuffles and corrections."""
        found = self.events
        tested, short = int(found.tested.sum()), int((~found.tested).sum())
        orders = "" if found.null == "order" else f" ({ORDERS} of each event and of each shuffle)"
        return [
            "Cross-validation: each lap was left out in turn, a new network learned the consensus "
            f"of the others, and each bin was predicted from the bin "
            f"before it; p values from {self.laps.n_shuffles} random orders of the bins of a lap.",
            "Test: from each bin with spikes each network ran freely, and its state after k d "
            f"steps was correlated with the bin d bins later (d = 1 to {MOST_LAGS}) over the units "
            "that were off in the bin it started from, forward and in reverse, for speeds of "
            f"k = 1 to {self.max_speed} stored patterns per bin. The mean correlation at each "
            "speed and direction was expressed in standard deviations from its mean over random "
            "orders of the bins; the score is the largest of these, expressed in standard "
            f"deviations from its mean over the same orders{orders}.",
            f"Null: {WORDS[found.null]}, {found.n_shuffles} shuffles of each event, each with the "
            "same search over speeds and directions; p = (1 + number of shuffles that score as "
            f"high) / (1 + {found.n_shuffles}).",
            f"{_untested(short)}The p values of {plural(tested, 'event')} were adjusted by "
            "Benjamini and Hochberg (q), and events with q <= 0.05 called replay.",
            f"seqattractor {__version__}, seed {self.seed}.",
        ]


def read_session(
    session: Path,
    tables: Pair[str],
    bins: Pair[float],
    read: Read,
    column_of_maps: str | None = None,
) -> Recorded:
    """Read laps and candidate events of a session.

    The tables of laps and of events are those of an NWB file, for other files CSV files of epochs;
    `bins` are seconds in laps and in events. A column of the laps may name the map of each.
    """
    parts = []
    for epochs, width in zip(tables, bins, strict=True):
        parts.append(read(session, {"epochs": epochs, "bin": width}))
    laps, found = parts
    if laps.kind != "spikes":
        raise ValueError(f"{session} was read as {laps.kind}, but replay is tested on spikes.")
    if laps.units != found.units:
        raise ValueError(f"the laps and the events of {session} have different units.")
    table = read_intervals(session, Options(epochs=tables[1], bin=bins[1]))
    intervals = np.column_stack([table.starts, table.ends])[_used(table, found)]
    maps = None
    if column_of_maps is not None:
        options = Options(epochs=tables[0], bin=bins[0])
        used = _used(read_intervals(session, options), laps)
        labels = read_intervals(session, options, column_of_maps).labels or []
        maps = [labels[k] for k in used]
    return Recorded(session, laps, found, intervals, tables, bins, maps)


def _used(table: Epochs, parts: Sequences) -> list[int]:
    """Which epochs of a table were read: those that are long enough for a bin."""
    place = {name: k for k, name in enumerate(table.names)}
    return [place[name] for name in parts.names]


def analyse_replay(
    recorded: Recorded,
    *,
    n_hidden: int,
    n_networks: int,
    null: str,
    n_shuffles: int,
    max_speed: int,
    seed: int,
    n_jobs: int | None,
    bar: Bar,
    say: Callable[[str], None],
) -> ReplayAnalysis:
    """Cross-validate the laps, learn their consensus, and test the events; each result is said."""
    given: dict[str, Any] = {"max_epochs": EPOCHS, "on_conflict": "learn"}
    nets = [SequenceAttractor(n_hidden, random_state=seed + k, **given) for k in range(n_networks)]
    common: dict[str, Any] = {"maps": recorded.maps, "threshold": THRESHOLD}
    options = common | {"n_shuffles": LAP_SHUFFLES, "rng": seed}
    with bar("cross-validation", "laps") as shown:
        laps = cross_validate(recorded.laps, nets[0], progress=shown, **options)
    say(f"Laps: {laps.describe()}")
    learned = consensus(recorded.laps, **common)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the methods say how it ended
        for net in nets:
            net.fit(learned)
    with bar("testing", "events") as shown:
        tested = test(
            nets,
            recorded.events,
            n_shuffles=n_shuffles,
            null=null,
            max_speed=max_speed,
            sequences=learned,
            n_jobs=n_jobs,
            progress=shown,
            rng=seed,
        )
    say(f"Events: {tested.describe()}")
    return ReplayAnalysis(recorded, learned, nets, laps, tested, max_speed, seed)


def _ms(seconds: float) -> str:
    """The width of bins in words."""
    return f"bins of {1000 * seconds:g} ms"


def _range(lengths: NDArray[np.int64]) -> str:
    """The least and the largest number, or the one that all are."""
    low, high = lengths.min(), lengths.max()
    return f"{low}" if low == high else f"{low} to {high}"


def _untested(short: int) -> str:
    """A sentence on events that are too short, if there are any."""
    were = "was" if short == 1 else "were"
    each = f"{plural(short, 'event')} with fewer than {FEWEST_BINS} bins with spikes {were}"
    return f"{each} not tested. " if short else ""
