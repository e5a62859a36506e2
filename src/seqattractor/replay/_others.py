"""What else is used to test replay: rank order, Bayesian decoding and hidden Markov models.

All take the events that `replay.test` takes and return one p value per event, `(1 + exceed) / (1 +
n_shuffles)`, where `exceed` counts the shuffles that score as high as the event. What is searched
(directions, maps, lines, speeds) is searched in every shuffle, too. The shuffles of an event depend
on the seed and on the place of the event in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.stats import rankdata

from seqattractor._checks import (
    as_numbers,
    check_choice,
    check_count,
    check_not_negative,
    check_positive,
)
from seqattractor.noise import Seed, as_generator
from seqattractor.replay._consensus import stretched
from seqattractor.replay._events import FEWEST_BINS
from seqattractor.replay._spikes import as_counts
from seqattractor.replay._statistic import random_orders
from seqattractor.sequences import Sequences

Events = Sequences | Sequence[ArrayLike]
Floats = NDArray[np.float64]

FEWEST_CELLS = 4
"""Events with fewer active cells have no rank order to speak of; their p value is 1."""

_LEAST_RATE = 0.1  # spikes per second: of a cell where it never fired in the laps
_LINE_ENDS = 25  # places at which a line may begin and end
_LEAST_MEAN = 1e-3  # spikes per bin of any cell in any state of a hidden Markov model


def place_fields(
    laps: Sequence[ArrayLike],
    positions: Sequence[ArrayLike],
    bin_size: float,
    *,
    n_places: int = 40,
    smoothing: float = 0.02,
) -> Floats:
    """Estimate the rate of each cell at each place: its spikes there, divided by the time there.

    Parameters
    ----------
    laps : list of S arrays of shape (T_s, N)
        Numbers of spikes per bin.
    positions : list of S arrays of shape (T_s,)
        Where the animal is in the middle of each bin, from 0 to 1 along the path.
    bin_size : float
        Of the laps, in seconds.
    n_places : int
        Equal stretches of the path.
    smoothing : float
        Standard deviation of the Gaussian that smooths spikes and times, as a fraction of the path.

    Returns
    -------
    ndarray of shape (n_places, N)
        Spikes per second.

    Examples
    --------
    >>> import numpy as np, seqattractor as sa
    >>> session = sa.datasets.recording(n_cells=40, rng=0)
    >>> laps = session.lap_counts(0.02)
    >>> starts = session.laps[:, 0]
    >>> middles = [a + 0.02 * (np.arange(len(lap)) + 0.5) for a, lap in zip(starts, laps)]
    >>> positions = [np.interp(t, session.position_times, session.position) for t in middles]
    >>> rates = sa.replay.place_fields(laps, positions, 0.02)
    >>> peaks = (rates.argmax(axis=0) + 0.5) / 40
    >>> rates.shape, bool(np.median(np.abs(peaks - session.fields[0])) < 0.05)
    ((40, 40), True)
    """
    width, n_places = check_positive(bin_size, "bin_size"), check_count(n_places, "n_places", 2)
    sigma = check_not_negative(smoothing, "smoothing") * n_places
    counts, where = as_counts(laps, "laps"), [as_numbers(each, "positions") for each in positions]
    if [len(lap) for lap in counts] != [each.size for each in where]:
        raise ValueError("positions must have one number for each bin of each lap.")
    at = np.concatenate([each.ravel() for each in where])
    if not np.isfinite(at).all() or at.min() < 0 or at.max() > 1:
        raise ValueError("positions must be numbers from 0 to 1, fractions of the path.")
    place = np.minimum((at * n_places).astype(int), n_places - 1)
    spikes = np.zeros((n_places, counts[0].shape[1]))
    np.add.at(spikes, place, np.concatenate(counts))
    seconds = width * np.bincount(place, minlength=n_places).astype(float)
    if sigma:
        spikes, seconds = (
            gaussian_filter1d(x, sigma, axis=0, mode="nearest") for x in (spikes, seconds)
        )
    return np.asarray(spikes / np.maximum(seconds, 1e-9)[:, None])


def rank_order(
    events: Events,
    places: ArrayLike,
    *,
    spikes: Literal["mean", "first"] = "mean",
    n_shuffles: int = 500,
    rng: Seed = None,
) -> Floats:
    """Test whether cells fire in the order of their place fields, or in the reverse order.

    The score is the absolute value of Spearman's correlation, over the cells that are active in the
    event, of the time of their spikes with the place of their fields (Foster and Wilson 2006; Diba
    and Buzsaki 2007). Shuffles exchange the places of these cells.

    Parameters
    ----------
    events : Sequences, or list of E arrays of shape (T_e, N)
        Numbers of spikes. Narrow bins are better here: cells that fire in the same bin are tied.
    places : array of shape (N,) or (M, N)
        The place of the field of each cell, on one map or on M maps, of which the best is taken.
        Cells without a field have NaN and are left out.
    spikes : {"mean", "first"}
        Whether the time of a cell is the mean over its spikes or that of its first spike.
    n_shuffles : int
    rng : int, Generator or None

    Returns
    -------
    ndarray of shape (E,)
        p values; 1 where fewer than 4 cells are active.

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_events={"reverse": 2, "rates": 2}, loss=0.2, rng=0)
    >>> (sa.replay.rank_order(session.event_counts(0.005), session.fields, rng=0) <= 0.05).tolist()
    [True, True, False, False]
    """
    check_choice(spikes, "spikes", ("mean", "first"))
    counts = as_counts(events, "events")
    where = np.atleast_2d(as_numbers(places, "places")).astype(float)
    if where.ndim != 2 or where.shape[1] != counts[0].shape[1]:
        raise ValueError(
            f"places must have shape (N,) or (M, N), N = {counts[0].shape[1]}, not {where.shape}."
        )
    scores = partial(rank_scores, places=where, first=spikes == "first")
    return _p_values(counts, scores, n_shuffles, rng)


def rank_scores(
    event: NDArray[Any], n_shuffles: int, rng: np.random.Generator, *, places: Floats, first: bool
) -> Floats | None:
    """The largest correlation over maps of the event and of its shuffles."""
    cells = np.flatnonzero(event.any(axis=0) & np.isfinite(places).all(axis=0))
    if len(cells) < FEWEST_CELLS:
        return None
    shown = event[:, cells]
    times = (
        (shown > 0).argmax(axis=0) if first else np.arange(len(event)) @ shown / shown.sum(axis=0)
    )
    orders = random_orders(len(cells), n_shuffles, rng)
    ranks = _standard_ranks(places[:, cells])[:, orders]
    return np.asarray(np.abs(ranks @ _standard_ranks(times[None])[0]).max(axis=0))


def _standard_ranks(values: NDArray[Any]) -> Floats:
    """Ranks in each row, with mean 0 and norm 1; all 0 where all values are tied."""
    ranks = rankdata(np.round(values, 9), axis=-1)
    ranks = ranks - ranks.mean(axis=-1, keepdims=True)
    return np.asarray(ranks / np.maximum(np.linalg.norm(ranks, axis=-1, keepdims=True), 1e-12))


def bayesian_decoding(
    events: Events,
    rates: ArrayLike,
    bin_size: float,
    *,
    shuffle: Literal["order", "cycle", "cells"] = "order",
    band: float = 0.1,
    n_shuffles: int = 500,
    rng: Seed = None,
) -> Floats:
    """Test whether the places decoded from the bins of an event lie along a line.

    The posterior of the place in each bin with spikes is that of independent Poisson cells and a
    uniform prior. The score is that of the best line, rising or falling: the sum over bins of the
    probability of places no further from the line than `band` (Davidson, Kloosterman and Wilson
    2009). Lines begin and end on the path.

    Parameters
    ----------
    events : Sequences, or list of E arrays of shape (T_e, N)
        Numbers of spikes.
    rates : array of shape (P, N) or (M, P, N)
        Spikes per second of each cell at P equal stretches of the path (`place_fields`), on one map
        or on M maps. With several maps the posterior is over the places of all, and the best line
        lies on any of them.
    bin_size : float
        Of the events, in seconds.
    shuffle : {"order", "cycle", "cells"}
        The bins in random order, the posterior of each bin rotated along the path by a random
        distance, or the place fields of the cells exchanged.
    band : float
        As a fraction of the path.
    n_shuffles : int
    rng : int, Generator or None

    Returns
    -------
    ndarray of shape (E,)
        p values; 1 where fewer than 3 bins have spikes.

    Examples
    --------
    >>> import numpy as np, seqattractor as sa
    >>> session = sa.datasets.recording(n_events={"reverse": 2, "rates": 2}, loss=0.2, rng=0)
    >>> middles = (np.arange(40)[:, None] + 0.5) / 40
    >>> rates = 20 * np.exp(-((middles - session.fields[0]) ** 2) / (2 * 0.04**2))
    >>> p = sa.replay.bayesian_decoding(session.event_counts(0.02), rates, 0.02, rng=0)
    >>> (p <= 0.05).tolist()
    [True, True, False, False]
    """
    check_choice(shuffle, "shuffle", ("order", "cycle", "cells"))
    counts, width = as_counts(events, "events"), check_positive(bin_size, "bin_size")
    fields = as_numbers(rates, "rates").astype(float)
    fields = fields[None] if fields.ndim == 2 else fields
    if (
        fields.ndim != 3
        or fields.shape[2] != counts[0].shape[1]
        or not np.isfinite(fields).all()
        or fields.min() < 0
    ):
        raise ValueError(
            "rates must be 0 or more, of shape (P, N) or (M, P, N), "
            f"N = {counts[0].shape[1]}, not {fields.shape}."
        )
    means = np.maximum(fields, _LEAST_RATE) * width
    reach = round(check_not_negative(band, "band") * fields.shape[1])
    scores = partial(line_scores, means=means, reach=reach, shuffle=shuffle)
    return _p_values(counts, scores, n_shuffles, rng)


def line_scores(
    event: NDArray[Any],
    n_shuffles: int,
    rng: np.random.Generator,
    *,
    means: Floats,
    reach: int,
    shuffle: str,
) -> Floats | None:
    """The score of the best line of the event and of its shuffles."""
    at = np.flatnonzero(event.any(axis=1))
    if len(at) < FEWEST_BINS:
        return None
    bins, P = event[at], means.shape[1]
    lines = candidate_lines((at - at[0]) / (at[-1] - at[0]), P)
    if shuffle == "cells":
        names = random_orders(event.shape[1], n_shuffles, rng)
        return np.array(
            [
                best_line(mass_near(posterior(bins[:, each], means), reach)[None], lines)[0]
                for each in names
            ]
        )
    found = posterior(bins, means)
    if shuffle == "order":
        return best_line(mass_near(found, reach)[random_orders(len(at), n_shuffles, rng)], lines)
    shifts = rng.integers(P, size=(1 + n_shuffles, len(at), 1, 1))
    shifts[0] = 0
    moved = np.take_along_axis(found[None], (np.arange(P) + shifts) % P, axis=-1)
    return best_line(mass_near(moved, reach), lines)


def posterior(bins: NDArray[Any], means: Floats) -> Floats:
    """The probability of each map and place given each bin, (n, N), (M, P, N) -> (n, M, P)."""
    log = np.einsum("tn,mpn->tmp", bins, np.log(means), optimize=True) - means.sum(axis=-1)
    weight = np.exp(log - log.max(axis=(1, 2), keepdims=True))
    return np.asarray(weight / weight.sum(axis=(1, 2), keepdims=True))


def mass_near(posterior: Floats, reach: int) -> Floats:
    """The probability of all places at most `reach` places away from each, along the last axis."""
    P = posterior.shape[-1]
    total = np.concatenate(
        [np.zeros((*posterior.shape[:-1], 1)), posterior.cumsum(axis=-1)], axis=-1
    )
    x = np.arange(P)
    return np.asarray(
        total[..., np.minimum(x + reach + 1, P)] - total[..., np.maximum(x - reach, 0)]
    )


def candidate_lines(times: Floats, n_places: int) -> NDArray[np.int64]:
    """The places of lines between any two ends at times from 0 to 1, (n,) -> (n, lines)."""
    ends = np.linspace(0, n_places - 1, min(_LINE_ENDS, n_places))
    first, last = (each.ravel() for each in np.meshgrid(ends, ends, indexing="ij"))
    moving = first != last
    first, last = first[moving], last[moving]
    return np.asarray(np.rint(first + times[:, None] * (last - first)), dtype=np.int64)


def best_line(near: Floats, lines: NDArray[np.int64]) -> Floats:
    """The largest sum along any line on any map, (V, n, M, P) and (n, lines) -> (V,)."""
    best = np.full(len(near), -np.inf)
    for m in range(near.shape[2]):
        total = np.zeros((len(near), lines.shape[1]))
        for t, x in enumerate(lines):
            total += near[:, t, m][:, x]
        best = np.maximum(best, total.max(axis=1))
    return best


def hidden_markov(
    events: Events,
    laps: Events,
    *,
    maps: ArrayLike | None = None,
    n_states: int = 30,
    max_speed: int = 6,
    n_shuffles: int = 500,
    rng: Seed = None,
) -> Floats:
    """Test whether a hidden Markov model of the laps makes the order of bins in an event likely.

    The log-likelihood of the event is compared with that of its bins in random orders. The model
    has Poisson emissions and is fitted to the laps with hmmlearn; its states begin as equal
    fractions of the laps of each map, its transitions are free. Events are faster than laps: the
    transition matrix is taken to the powers 1 to `max_speed`, forward and reversed in time, and the
    best log-likelihood counts. The rates of all states are scaled, for each event, so that on
    average they give as many spikes as the event has. (Maboudi and others, 2018, fit a model to the
    events themselves and need no laps.)

    Needs the extra ``hmm``.

    Parameters
    ----------
    events : Sequences, or list of E arrays of shape (T_e, N)
        Numbers of spikes.
    laps : Sequences, or list of S arrays of shape (T_s, N)
    maps : array of shape (S,), optional
        A label for each lap; each map gets `n_states` states.
    n_states : int
    max_speed : int
        Bins of a lap per bin of an event.
    n_shuffles : int
    rng : int, Generator or None

    Returns
    -------
    ndarray of shape (E,)
        p values; 1 where fewer than 3 bins have spikes.

    Examples
    --------
    >>> import seqattractor as sa
    >>> session = sa.datasets.recording(n_events={"forward": 2, "rates": 2}, loss=0.2, rng=0)
    >>> laps, events = session.lap_counts(0.1), session.event_counts(0.02)
    >>> p = sa.replay.hidden_markov(events, laps, rng=0)  # doctest: +SKIP
    >>> (p <= 0.05).tolist()  # doctest: +SKIP
    [True, True, False, False]
    """
    n_states, max_speed = check_count(n_states, "n_states", 2), check_count(max_speed, "max_speed")
    counts, learned = as_counts(events, "events"), as_counts(laps, "laps")
    if counts[0].shape[1] != learned[0].shape[1]:
        raise ValueError(
            f"the events have {counts[0].shape[1]} cells, but the laps have {learned[0].shape[1]}."
        )
    labels = np.zeros(len(learned), dtype=int) if maps is None else np.asarray(maps)
    if labels.shape != (len(learned),):
        raise ValueError(
            f"maps must label each of the {len(learned)} laps, but its shape is {labels.shape}."
        )
    means, matrix = _fitted(learned, labels, n_states)
    powers = [np.linalg.matrix_power(matrix, k) for k in range(1, max_speed + 1)]
    often = np.linalg.matrix_power(0.99 * matrix + 0.01 / len(matrix), 1000).mean(axis=0)
    reverse = [_reversed(power, often) for power in powers]
    scores = partial(likelihoods, means=means, often=often, matrices=np.array(powers + reverse))
    return _p_values(counts, scores, n_shuffles, rng)


def _fitted(laps: list[NDArray[Any]], maps: NDArray[Any], n_states: int) -> tuple[Floats, Floats]:
    """Mean spikes per bin in each state (K, N) and transition matrix (K, K) of a fitted model."""
    try:
        from hmmlearn.hmm import PoissonHMM
    except ImportError:
        raise ImportError(
            "hidden_markov needs hmmlearn: pip install 'seqattractor[hmm]'."
        ) from None
    chosen = [
        [lap for lap, other in zip(laps, maps, strict=True) if other == m] for m in np.unique(maps)
    ]
    means = np.concatenate(
        [np.mean([stretched(lap, n_states) for lap in some], axis=0) for some in chosen]
    )
    K = len(means)
    model = PoissonHMM(
        K, params="tl", init_params="", n_iter=50, startprob_prior=1, transmat_prior=1
    )
    model.startprob_ = np.full(K, 1 / K)
    model.transmat_ = 0.6 * np.eye(K) + 0.3 * np.eye(K, k=1) + 0.1 / K
    model.transmat_ /= model.transmat_.sum(axis=1, keepdims=True)
    model.lambdas_ = np.maximum(means, _LEAST_MEAN)
    model.fit(np.concatenate(laps).astype(np.int64), [len(lap) for lap in laps])
    matrix = np.asarray(model.transmat_) + 1e-6
    return np.maximum(model.lambdas_, _LEAST_MEAN), matrix / matrix.sum(axis=1, keepdims=True)


def _reversed(matrix: Floats, often: Floats) -> Floats:
    """The transitions of the same chain backward in time, given how often it is in each state."""
    joint = (often[:, None] * matrix).T
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def likelihoods(
    event: NDArray[Any],
    n_shuffles: int,
    rng: np.random.Generator,
    *,
    means: Floats,
    often: Floats,
    matrices: Floats,
) -> Floats | None:
    """The largest log-likelihood over transition matrices of the event and of its shuffles."""
    at = np.flatnonzero(event.any(axis=1))
    if len(at) < FEWEST_BINS:
        return None
    bins = event[at[0] : at[-1] + 1]
    scaled = means * (bins.sum() / len(bins) / (often @ means.sum(axis=1)))
    log = bins @ np.log(scaled).T - scaled.sum(axis=1)
    emission = np.exp(log - log.max(axis=1, keepdims=True))[
        random_orders(len(bins), n_shuffles, rng)
    ]
    best = np.full(1 + n_shuffles, -np.inf)
    for matrix in matrices:
        state, total = np.full(len(means), 1 / len(means)) * emission[:, 0], 0.0
        for t in range(1, len(bins)):
            norm = state.sum(axis=1, keepdims=True)
            total = total + np.log(norm[:, 0])
            state = (state / norm) @ matrix * emission[:, t]
        best = np.maximum(best, total + np.log(state.sum(axis=1)))
    return best


def _p_values(
    events: list[NDArray[Any]],
    scores: Callable[[NDArray[Any], int, np.random.Generator], Floats | None],
    n_shuffles: int,
    rng: Seed,
) -> Floats:
    """The p value of each event from its score and those of its shuffles; 1 without a score."""
    n_shuffles = check_count(n_shuffles, "n_shuffles")
    seeds = np.random.SeedSequence(as_generator(rng, "replay").integers(2**63)).spawn(len(events))
    p = np.ones(len(events))
    for e, (event, seed) in enumerate(zip(events, seeds, strict=True)):
        found = scores(event, n_shuffles, np.random.default_rng(seed))
        if found is not None:
            p[e] = (1 + np.sum(found[1:] >= found[0] - 1e-9)) / (1 + n_shuffles)
    return p
