"""The test of replay: does an event follow what a memory has learned better than its shuffles
do?
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from seqattractor._checks import check_choice, check_count, check_kind, check_number
from seqattractor._faces import Result, plural
from seqattractor.engine.exact.workers import count_jobs
from seqattractor.io._pynapple import pynapple
from seqattractor.networks.base import SequenceMemory, check_learned
from seqattractor.noise import Seed, as_generator
from seqattractor.replay._nulls import DRAWN, WORDS
from seqattractor.replay._spikes import as_counts, check_same_cells
from seqattractor.replay._statistic import (
    MOST_LAGS,
    correlation,
    correlations,
    fits,
    pairs_of,
    predictions,
    random_orders,
    scores_of_orders,
    scores_of_variants,
    standardised,
)
from seqattractor.sequences import Sequences
from seqattractor.study.executors import process_pool

if TYPE_CHECKING:
    from pynapple import IntervalSet

    from seqattractor.replay._spikes import Spikes

FEWEST_BINS = 3
"""Events with fewer active bins are not tested."""

_TOGETHER = 50  # events whose bins are recalled in one batch
_VARIANTS = 2**25  # values of recalled states that are held at a time
ORDERS = 100  # random orders of each variant of an event, in which its score is expressed


@dataclass(frozen=True, repr=False, eq=False)
class ReplayTest(Result):
    """Scores and p values of candidate events, one entry per event.

    Attributes
    ----------
    scores : ndarray of shape (E,)
        How well predicted and observed bins agree at the best speed, in standard deviations above
        the mean of random orders of the bins, each at its own best speed; NaN where an event has
        too few active bins.
    p_values : ndarray of shape (E,)
        ``(1 + exceed) / (1 + n_shuffles)``, where `exceed` counts the shuffles that score as high
        or higher. 1 where an event has too few active bins.
    speeds : ndarray of int, shape (E,)
        The best speed, in stored patterns per bin of the event; negative for reverse order. 0 where
        an event has too few active bins.
    null_means, null_sds : ndarray of shape (E,)
        Of the scores of the shuffles of each event.
    followed : ndarray of int, shape (E,), or None
        Which of the given sequences the event follows.
    starts : ndarray of int, shape (E,), or None
        At which pattern of that sequence the first bin of the event lies.
    null : {"order", "cells", "circular", "poisson"}
        What the shuffles are.
    n_shuffles : int
    memory : str
        The memory that was asked, or how many.
    names : list of str
        Of the sequences that events can follow.
    events : list of ndarray of bool, shape (bins, N)
        The active cells of each event.
    expected : list of ndarray of float, shape (bins, N)
        What is recalled for each bin at the best speed: the fraction of all predictions in which
        the cell is on. Each memory predicts from each active bin up to 8 bins before (after, if
        the speed is negative).

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_events={"reverse": 3, "rates": 3}, loss=0.2, rng=0)
    >>> laps = sa.replay.consensus(session.lap_counts(0.1))
    >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
    >>> sa.replay.test(net, session.event_counts(0.02), rng=0)
    ReplayTest: 3 of 6 events are replay at a false discovery rate of 5 %: 0 forward and 3 reverse
    """

    _drawn_by = "replay_scores"
    scores: NDArray[np.float64]
    p_values: NDArray[np.float64]
    speeds: NDArray[np.int64]
    null_means: NDArray[np.float64]
    null_sds: NDArray[np.float64]
    followed: NDArray[np.int64] | None
    starts: NDArray[np.int64] | None
    null: str
    n_shuffles: int
    memory: str
    names: list[str]
    events: list[NDArray[np.bool_]] = field(repr=False)
    expected: list[NDArray[np.float64]] = field(repr=False)

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Which events have enough active bins to be tested, shape (E,)."""
        return ~np.isnan(self.scores)

    @property
    def q_values(self) -> NDArray[np.float64]:
        """The p values adjusted for the number of events by Benjamini and Hochberg, shape (E,)."""
        adjusted = np.ones(len(self.p_values))
        if self.tested.any():
            adjusted[self.tested] = false_discovery_control(self.p_values[self.tested])
        return adjusted

    def significant(self, rate: float = 0.05) -> NDArray[np.bool_]:
        """Return which events are replay if at most this fraction of them may be false
        (Benjamini-Hochberg).

        Parameters
        ----------
        rate : float
            The false discovery rate.

        Returns
        -------
        ndarray of bool, shape (E,)

        Examples
        --------
        >>> import seqattractor as sa
        >>> session = sa.datasets.recording(n_events={"forward": 3, "rates": 3}, loss=0.2, rng=0)
        >>> laps = sa.replay.consensus(session.lap_counts(0.1))
        >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
        >>> sa.replay.test(net, session.event_counts(0.02), rng=0).significant().tolist()
        [False, True, True, False, False, False]
        """
        return self.tested & (self.q_values <= check_number(rate, "rate"))

    def rows(self) -> Iterable[dict[str, Any]]:
        """Return a row for each event."""
        q_values = self.q_values
        for e in range(len(self.scores)):
            row: dict[str, Any] = {
                "event": e,
                "bins": len(self.events[e]),
                "score": float(self.scores[e]),
                "p": float(self.p_values[e]),
                "q": float(q_values[e]),
                "speed": int(self.speeds[e]),
                "null_mean": float(self.null_means[e]),
                "null_sd": float(self.null_sds[e]),
            }
            if self.followed is not None and self.starts is not None:
                known = self.tested[e]
                row["follows"] = self.names[self.followed[e]] if known else None
                row["from_pattern"] = int(self.starts[e]) if known else None
            yield row

    def to_pynapple(self, epochs: IntervalSet) -> IntervalSet:
        """Return the events as an IntervalSet with the result of each in its metadata.

        Parameters
        ----------
        epochs : pynapple.IntervalSet
            When each event begins and ends. Metadata that it has are kept.

        Returns
        -------
        pynapple.IntervalSet
            With ``p``, ``q``, ``score`` and ``speed`` of each event and, if they are known,
            ``follows`` (the sequence; "" if not tested) and ``from_pattern`` (-1 if not tested).

        Examples
        --------
        >>> import seqattractor as sa
        >>> session = sa.datasets.recording(n_events={"reverse": 3}, loss=0.2, rng=0)
        >>> laps = sa.replay.consensus(session.lap_counts(0.1))
        >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
        >>> recorded = session.to_pynapple()
        >>> options = {"epochs": recorded["events"], "bin_size": 0.02, "rng": 0}
        >>> tested = sa.replay.test(net, recorded["units"], **options)
        >>> found = tested.to_pynapple(recorded["events"])
        >>> len(found[found["q"] <= 0.05])
        3
        """
        nap = pynapple()
        check_kind(epochs, nap.IntervalSet, "epochs", "an IntervalSet of pynapple")
        if len(epochs) != len(self.scores):
            n, given = len(self.scores), len(epochs)
            raise ValueError(f"{n} events were tested, but there are {given} epochs.")
        kept = {name: epochs.get_info(name) for name in epochs.metadata_columns}
        return nap.IntervalSet(epochs.start, epochs.end, metadata=kept | self.columns())

    def columns(self) -> dict[str, Any]:
        """Return what a table of the events gets for each of them, by the names of columns.

        Returns
        -------
        dict of ndarray of shape (E,)
            As described in `to_pynapple`.

        Examples
        --------
        >>> import seqattractor as sa
        >>> session = sa.datasets.recording(n_events={"reverse": 3}, loss=0.2, rng=0)
        >>> laps = sa.replay.consensus(session.lap_counts(0.1))
        >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
        >>> list(sa.replay.test(net, session.event_counts(0.02), rng=0).columns())
        ['p', 'q', 'score', 'speed']
        """
        found: dict[str, Any] = {"p": self.p_values, "q": self.q_values, "score": self.scores}
        found["speed"] = self.speeds
        if self.followed is not None and self.starts is not None:
            names = np.array(self.names, dtype=object)
            found["follows"] = np.where(self.tested, names[self.followed], "")
            found["from_pattern"] = np.where(self.tested, self.starts, -1)
        return found

    def describe(self) -> str:
        """Describe how many events are replay, and what may and may not be concluded from it."""
        n, found = int(self.tested.sum()), self.significant()
        if not n:
            return f"No event was tested: none has {FEWEST_BINS} bins with spikes."
        forward = int((found & (self.speeds > 0)).sum())
        alone = int((self.p_values[self.tested] <= 0.05).sum())
        short = len(self.scores) - n
        text = (
            f"{found.sum()} of {n} events are replay at a false discovery rate of 5 %: {forward} "
            f"forward and {found.sum() - forward} reverse. One by one, {alone} of {n} have p <= "
            f"0.05, where {0.05 * n:.3g} are expected by chance. The null is {WORDS[self.null]} "
            f"({self.n_shuffles} shuffles of each event; the search over speeds and directions is "
            "repeated in each of them). "
        )
        if short:
            text += (
                f"Not tested, with fewer than {FEWEST_BINS} active bins: {plural(short, 'event')}. "
            )
        return text + (
            "A small p value means that the bins of an event follow each other in the order that "
            f"{self.memory} learned, better than this null explains. It shows neither what the "
            "animal did or thought, nor that the sequence was learned in these laps; and a large "
            "one does not show that there is no replay: short events with few spikes are often "
            "missed."
        )


def test(
    memory: SequenceMemory | Sequence[SequenceMemory],
    events: Spikes,
    *,
    n_shuffles: int = 500,
    null: str = "order",
    max_speed: int = 7,
    sequences: Sequences | None = None,
    epochs: IntervalSet | None = None,
    bin_size: float | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    rng: Seed = None,
) -> ReplayTest:
    """Test whether candidate events replay what a memory has learned.

    The memory runs freely from each bin of an event, and what it recalls after k steps is compared
    with the following bins, forward and reverse, for all speeds k up to `max_speed`, over the cells
    that are off in the bin it started from. The score is
    how much better they agree at the best speed and direction than in random orders of the bins,
    and the p value the fraction of shuffles of the same event that reach it with the same search.

    Parameters
    ----------
    memory : SequenceMemory, or list of them
        A network of order 1 that has learned the sequences in question, best of all their
        `consensus`. Of several networks, such as one from each of eight random states, the
        predictions are averaged, which finds more events.
    events : Sequences, list of E arrays of shape (bins, N), or pynapple.TsGroup
        Numbers of spikes, or +-1 patterns, of the same cells in the same order; or spikes, with
        `epochs` and `bin_size`. The statistic asks only whether a cell is on in a bin, as +-1
        patterns say; the null "poisson" takes numbers of spikes if they are known.
    n_shuffles : int
        Of each event.
    null : {"order", "cells", "circular", "poisson"}
        "order": the same bins in another order. "cells": the cells are renamed. "circular": the
        spikes of each cell are rotated in time. "poisson": Poisson spikes of independent cells,
        given the number of spikes of each cell and of each bin, so that bursts of the population
        remain and those of single cells do not: where cells fire in bursts, take another null. The
        last three take longer, since the memory runs from every shuffle.
    max_speed : int
        The highest speed that is tried, in stored patterns per bin.
    sequences : Sequences, optional
        What the memory has learned, to find out which of the sequences an event follows, and where
        it starts.
    epochs : pynapple.IntervalSet, optional
        When each event begins and ends, if `events` is a TsGroup. One that is too short for a bin
        is not tested, but has its entry.
    bin_size : float, optional
        Seconds, if `events` is a TsGroup.
    n_jobs : int, optional
        The number of processes; -1 takes all cores. Results do not depend on it.
    progress : callable, optional
        Called as ``progress(done, total)`` after every few events.
    rng : int, Generator or None

    Returns
    -------
    ReplayTest

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_events={"reverse": 3, "rates": 3}, loss=0.2, rng=0)
    >>> laps = sa.replay.consensus(session.lap_counts(0.1))
    >>> net = sa.SequenceAttractor(400, max_epochs=3000, random_state=0).fit(laps)
    >>> tested = sa.replay.test(net, session.event_counts(0.02), sequences=laps, rng=0)
    >>> (tested.p_values <= 0.05).tolist(), (tested.speeds[:3] < 0).tolist()
    ([True, True, True, False, False, False], [True, True, True])
    """
    memories: list[Any] = list(memory) if isinstance(memory, (list, tuple)) else [memory]
    if not memories:
        raise ValueError("memory is an empty list; give at least one network that has learned.")
    for each in memories:
        check_learned(each)
        if each.order_ != 1:
            raise ValueError(
                f"the memory looks at {each.order_} patterns at a time; replay runs at another "
                "speed than the laps, so that only a network of order 1 can be asked."
            )
    n_shuffles, max_speed = (
        check_count(n_shuffles, "n_shuffles"),
        check_count(max_speed, "max_speed"),
    )
    check_choice(null, "null", tuple(WORDS))
    check_kind(sequences, (Sequences, NoneType), "sequences", "Sequences, such as a consensus")
    counts = as_counts(events, "events", epochs=epochs, bin_size=bin_size)
    for each in memories:
        check_same_cells(each, counts[0].shape[1], events, sequences)
    N = memories[0].n_features_in_
    if sequences is not None and sequences.shape[1] != N:
        raise ValueError(f"sequences have {sequences.shape[1]} cells, the memory {N}.")
    seeds = np.random.SeedSequence(as_generator(rng, "replay").integers(2**63)).spawn(len(counts))
    stored = [] if sequences is None else [part > 0 for part in sequences.split()]
    some = partial(
        _test_some, memories, n_shuffles=n_shuffles, null=null, n_speeds=max_speed, stored=stored
    )
    chunks = [
        (counts[at : at + _TOGETHER], seeds[at : at + _TOGETHER])
        for at in range(0, len(counts), _TOGETHER)
    ]
    found: list[_Found] = []
    for part in _done(some, chunks, min(count_jobs(n_jobs), len(chunks))):
        found += part
        if progress is not None:
            progress(len(found), len(counts))
    return ReplayTest(
        scores=np.array([each.score for each in found]),
        p_values=np.array([each.p for each in found]),
        speeds=np.array([each.speed for each in found], dtype=np.int64),
        null_means=np.array([each.null_mean for each in found]),
        null_sds=np.array([each.null_sd for each in found]),
        followed=np.array([each.followed for each in found], dtype=np.int64) if stored else None,
        starts=np.array([each.start for each in found], dtype=np.int64) if stored else None,
        null=null,
        n_shuffles=n_shuffles,
        memory=_named(memories),
        names=[] if sequences is None else sequences.names,
        events=[each > 0 for each in counts],
        expected=[each.expected for each in found],
    )


def _named(memories: list[SequenceMemory]) -> str:
    """What was asked: one memory by its class, of several also how many there are."""
    kinds = ", ".join(dict.fromkeys(type(memory).__name__ for memory in memories))
    return kinds if len(memories) == 1 else f"{len(memories)} memories ({kinds})"


@dataclass(frozen=True)
class _Found:
    """What was found of one event."""

    score: float
    p: float
    speed: int
    null_mean: float
    null_sd: float
    expected: NDArray[np.float64]
    followed: int = 0
    start: int = 0


def _done(
    some: Callable[..., list[_Found]], chunks: list[Any], jobs: int
) -> Iterator[list[_Found]]:
    """The results of all chunks of events, in their order."""
    if jobs == 1:
        yield from (some(*chunk) for chunk in chunks)
        return
    with process_pool(jobs) as pool:
        yield from pool.map(some, *zip(*chunks, strict=True))


def _test_some(
    memories: list[SequenceMemory],
    events: list[NDArray[Any]],
    seeds: list[np.random.SeedSequence],
    *,
    n_shuffles: int,
    null: str,
    n_speeds: int,
    stored: list[NDArray[np.bool_]],
) -> list[_Found]:
    """Test some events; the active bins of all of them are recalled in one batch."""
    active = [np.flatnonzero(each.any(axis=1)) for each in events]
    long = max((min(MOST_LAGS, int(at[-1] - at[0])) for at in active if len(at)), default=0)
    shown = np.concatenate([each[at] > 0 for each, at in zip(events, active, strict=True)])
    steps = n_speeds * max(long, 1)
    ahead = (
        predictions(memories, shown, steps)
        if len(shown)
        else np.empty((len(memories), 0, steps, shown.shape[1]), dtype=bool)
    )
    found, first = [], 0
    for event, at, seed in zip(events, active, seeds, strict=True):
        predicted = ahead[:, first : first + len(at)]
        first += len(at)
        rng = np.random.default_rng(seed)
        found.append(
            _test_one(memories, event, at, predicted, rng, n_shuffles, null, n_speeds, stored)
        )
    return found


def _test_one(
    memories: list[SequenceMemory],
    event: NDArray[Any],
    at: NDArray[np.int64],
    predicted: NDArray[np.bool_],
    rng: np.random.Generator,
    n_shuffles: int,
    null: str,
    n_speeds: int,
    stored: list[NDArray[np.bool_]],
) -> _Found:
    """Test one event with active bins `at`, from which the memories predict (K, len(at), steps,
    N).
    """
    pairs = pairs_of(at)
    if len(at) < FEWEST_BINS or not len(pairs.a):
        return _Found(np.nan, 1.0, 0, np.nan, np.nan, np.zeros(event.shape))
    bins = event[at] > 0
    table = correlations(predicted, bins)
    orders = random_orders(len(at), n_shuffles, rng)
    found = fits(table, orders, pairs, n_speeds)
    best = int(np.argmax(standardised(found, 0)[0]))
    speed = best + 1 if best < n_speeds else n_speeds - best - 1
    scores = scores_of_orders(found)
    if null != "order":
        whole = event[at[0] : at[-1] + 1]
        orders = random_orders(len(whole), ORDERS, rng)
        part = max(1, _VARIANTS // (len(memories) * whole.size * n_speeds * MOST_LAGS))
        drawn = [
            DRAWN[null](whole, min(part, n_shuffles - k), rng) for k in range(0, n_shuffles, part)
        ]
        each = [
            scores_of_variants(memories, some, orders, n_speeds)
            for some in (whole[None] > 0, *drawn)
        ]
        scores = np.concatenate(each)
    own, others = scores[0], scores[1:]
    exceed = int((others >= own - 1e-9).sum())
    expected = _expected(predicted, at, speed, event.shape)
    followed, start = _place(event, at, speed, stored) if stored else (0, 0)
    p = (1 + exceed) / (1 + n_shuffles)
    return _Found(
        float(own), p, speed, float(others.mean()), float(others.std()), expected, followed, start
    )


def _expected(
    predicted: NDArray[np.bool_], at: NDArray[np.int64], speed: int, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    """The fraction of all predictions for each bin at this speed in which each cell is on."""
    pairs = pairs_of(at)
    source, target = (pairs.a, pairs.b) if speed > 0 else (pairs.b, pairs.a)
    expected, each = np.zeros(shape), predicted.mean(axis=0)
    np.add.at(expected, at[target], each[source, abs(speed) * pairs.lag - 1])
    many = np.bincount(at[target], minlength=len(expected))
    return np.asarray(expected / np.maximum(many, 1)[:, None])


def _place(
    event: NDArray[Any], at: NDArray[np.int64], speed: int, stored: list[NDArray[np.bool_]]
) -> tuple[int, int]:
    """Which stored sequence the event follows at its speed, and at which of its patterns the first
    active bin lies.
    """
    bins = (event[at] > 0).astype(np.float64)
    N = bins.shape[1]
    shift = speed * (at - at[0])
    best, place = -np.inf, (0, 0)
    for s, patterns in enumerate(stored):
        hits = patterns.astype(np.float64) @ bins.T
        fits = correlation(
            hits, patterns.sum(axis=1)[:, None].astype(float), bins.sum(axis=1), N
        )  # (T, bins)
        t = np.arange(len(patterns))[:, None] + shift
        inside = (t >= 0) & (t < len(patterns))
        each = np.where(inside, fits[np.clip(t, 0, len(patterns) - 1), np.arange(len(at))], 0).mean(
            axis=1
        )
        if each.max() > best:
            best, place = float(each.max()), (s, int(each.argmax()))
    return place
