"""The methods that labs use agree with plain loops and packages, and are calibrated."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

import oracle_replay_methods as plain
import seqattractor as sa
from seqattractor.replay import _others

N_SHUFFLES = 99


def random_event(seed, bins=9, cells=8, rate=0.5):
    return np.random.default_rng(seed).poisson(rate, (bins, cells))


def orders_of(seed, n, many):
    """The order as it is and the random ones that a seed gives."""
    drawn = np.broadcast_to(np.arange(n), (many, n))
    return [np.arange(n), *np.random.default_rng(seed).permuted(drawn, axis=1)]


def fields_of(session, bin_size=0.02):
    """Place fields estimated from the laps."""
    laps = session.lap_counts(bin_size)
    where = [
        np.interp(
            start + bin_size * (np.arange(len(lap)) + 0.5), session.position_times, session.position
        )
        for (start, _), lap in zip(session.laps, laps, strict=True)
    ]
    return sa.replay.place_fields(laps, where, bin_size)


# -- the same numbers as plain loops --------------------------------------------------------------


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_rank_order_is_that_of_plain_loops_for_the_event_and_each_shuffle(seed, first):
    event, places = random_event(seed, rate=0.2), np.random.default_rng(seed + 100).random((2, 8))
    places[:, seed] = np.nan  # a cell without a field
    found = _others.rank_scores(event, 20, np.random.default_rng(seed), places=places, first=first)
    cells = np.flatnonzero(event.any(axis=0) & ~np.isnan(places[0]))
    if len(cells) < 4:
        assert found is None
        return
    for score, order in zip(found, orders_of(seed, len(cells), 20), strict=True):
        moved = places.copy()
        moved[:, cells] = places[:, cells[order]]
        assert score == pytest.approx(
            max(plain.rank_score(event, each, first) for each in moved), abs=1e-9
        )


@pytest.mark.parametrize("n_maps", [1, 2])
@pytest.mark.parametrize("shuffle", ["order", "cells"])
@pytest.mark.parametrize("seed", range(3))
def test_bayesian_decoding_is_that_of_plain_loops_for_the_event_and_each_shuffle(
    seed, shuffle, n_maps
):
    event, reach = random_event(seed, rate=0.15), 1
    rates = np.random.default_rng(seed + 100).gamma(0.5, 10.0, (n_maps, 12, 8))
    means = np.maximum(rates, 0.1) * 0.02
    rng = np.random.default_rng(seed)
    found = _others.line_scores(event, 4, rng, means=means, reach=reach, shuffle=shuffle)
    at = np.flatnonzero(event.any(axis=1))
    for score, order in zip(
        found, orders_of(seed, len(at) if shuffle == "order" else 8, 4), strict=True
    ):
        moved = event.copy()
        if shuffle == "order":
            moved[at] = event[at[order]]
        else:
            moved = event[:, order]
        assert score == pytest.approx(
            plain.line_score(moved.tolist(), rates.tolist(), 0.02, reach), abs=1e-9
        )


def test_cycles_rotate_the_posterior_of_each_bin_on_its_own():
    """Where each bin means one place, the score is how many random places lie on a line."""
    P, n = 12, 6
    found = np.zeros((n, 1, P))
    found[:, 0, 3] = 1
    rates = np.full((1, P, P), 0.1) + 1e4 * np.eye(P)[None]  # each cell fires at one place only
    event = np.zeros((n, P), dtype=int)
    event[:, 3] = 1
    means = rates * 1e-3
    scores = _others.line_scores(
        event, 50, np.random.default_rng(5), means=means, reach=0, shuffle="cycle"
    )
    shifts = np.random.default_rng(5).integers(P, size=(51, n, 1, 1))[1:, :, 0, 0]
    lines = _others.candidate_lines(np.arange(n) / (n - 1), P)
    expected = [((3 - shift) % P == lines.T).sum(axis=1).max() for shift in shifts]
    np.testing.assert_allclose(scores[1:], expected, atol=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_likelihoods_are_those_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    event, means = random_event(seed, bins=6, cells=5), rng.gamma(1.0, 0.5, (4, 5))
    matrix = rng.dirichlet(np.ones(4), 4)
    often = np.full(4, 0.25)
    found = _others.likelihoods(
        event,
        10,
        np.random.default_rng(seed),
        means=means,
        often=often,
        matrices=np.array([matrix]),
    )
    at = np.flatnonzero(event.any(axis=1))
    bins = event[at[0] : at[-1] + 1]
    scaled = means * (bins.sum() / len(bins) / means.sum(axis=1).mean())
    each = [
        plain.log_likelihood(bins[order], scaled, matrix)
        for order in orders_of(seed, len(bins), 10)
    ]
    np.testing.assert_allclose(found - found[0], np.array(each) - each[0], atol=1e-8)


# -- the same numbers as packages of others -------------------------------------------------------


def peer_data():
    """Spikes per bin and rates above the least rate."""
    rng = np.random.default_rng(0)
    event = rng.poisson(0.4, (15, 30))
    event[~event.any(axis=1), 0] = 1
    return event, rng.gamma(1.0, 8.0, (40, 30)) + 0.2


@pytest.mark.filterwarnings("ignore")
def test_the_posterior_is_that_of_replay_trajectory_classification():
    reason = "OUR DECODING IS NOT COMPARED: pip install 'seqattractor[peers]'"
    name = "replay_trajectory_classification.likelihoods.spiking_likelihood_kde"
    peer = pytest.importorskip(name, reason=reason, exc_type=ImportError)
    event, rates = peer_data()
    log = peer.combined_likelihood(event, rates * 0.02)
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    ours = _others.posterior(event, rates[None] * 0.02)[:, 0]
    np.testing.assert_allclose(ours, weight / weight.sum(axis=1, keepdims=True), atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_posterior_and_score_of_a_line_are_those_of_nelpy(monkeypatch):
    axes = pytest.importorskip("mpl_toolkits.axes_grid1")
    insets = pytest.importorskip("mpl_toolkits.axes_grid1.inset_locator")
    monkeypatch.setattr(np, "int", int, raising=False)  # nelpy 0.2.1 uses what numpy 1.24 removed,
    monkeypatch.setitem(
        sys.modules, "mpl_toolkits.axes_grid", axes
    )  # and what matplotlib 3.8 removed
    monkeypatch.setitem(sys.modules, "mpl_toolkits.axes_grid.inset_locator", insets)
    reason = "OUR DECODING IS NOT COMPARED: pip install 'seqattractor[peers]'"
    decoding = pytest.importorskip("nelpy.decoding", reason=reason, exc_type=ImportError)
    replay = pytest.importorskip("nelpy.analysis.replay", reason=reason, exc_type=ImportError)
    event, rates = peer_data()
    binned = SimpleNamespace(data=event.T, ds=0.02, lengths=np.array([len(event)]), n_epochs=1)
    theirs = decoding.decode1D(binned, rates.T)[0]
    ours = _others.posterior(event, rates[None] * 0.02)
    np.testing.assert_allclose(ours[:, 0], theirs.T, atol=1e-6)
    reach, (begin, end) = (
        3,
        (10, 30),
    )  # a line that stays so far inside that their band does not wrap around the path
    score = replay.trajectory_score_array(
        theirs, slope=(end - begin) / 14, intercept=begin, w=reach
    )
    line = np.round(begin + np.arange(15) * (end - begin) / 14).astype(int)
    near = _others.mass_near(ours, reach)
    assert near[np.arange(15), 0, line].sum() == pytest.approx(score, abs=1e-6)
    assert _others.best_line(near[None], line[:, None])[0] == pytest.approx(score, abs=1e-6)


# -- what a user is promised ----------------------------------------------------------------------


def run(method, events, seed=0):
    """p values of random places, rates or laps, which have nothing to do with the events."""
    rng = np.random.default_rng(seed)
    N = events[0].shape[1]
    if method.startswith("rank"):
        return sa.replay.rank_order(
            events, rng.random(N), spikes=method[5:], n_shuffles=N_SHUFFLES, rng=seed
        )
    if method.startswith("bayes"):
        rates = rng.gamma(0.3, 20.0, (20, N))
        return sa.replay.bayesian_decoding(
            events, rates, 0.02, shuffle=method[6:], n_shuffles=N_SHUFFLES, rng=seed
        )
    pytest.importorskip(
        "hmmlearn", reason="hmmlearn is not installed: hidden_markov IS NOT TESTED (pip install it)"
    )
    laps = [rng.poisson(0.3, (30, N)) for _ in range(3)]
    return sa.replay.hidden_markov(events, laps, n_states=6, n_shuffles=N_SHUFFLES, rng=seed)


METHODS = ["rank mean", "rank first", "bayes order", "bayes cells", "hmm"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_p_values_are_uniform_where_events_are_random(method):
    """Bins and cells that are independent and alike are exchangeable."""
    events = [random_event(k, bins=10, cells=20, rate=0.15) for k in range(600)]
    p = run(method, events)
    for level in (0.05, 0.2, 0.5):
        low, high = binom.interval(0.999, len(events), level)
        found = (p <= level + 1e-9).sum()
        assert found <= high, level
        if not method.startswith("rank"):  # ties among few cells make rank order conservative
            assert found >= low, level


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_p_values_depend_on_the_seed_and_not_on_later_events(method):
    events = [random_event(k, bins=10, cells=20, rate=0.15) for k in range(12)]
    whole = run(method, events)
    np.testing.assert_array_equal(run(method, events), whole)
    np.testing.assert_array_equal(run(method, events[:5]), whole[:5])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forward_and_reverse_replay_is_found_with_what_the_laps_give():
    session = sa.datasets.recording(
        n_events={"forward": 10, "reverse": 10, "rates": 10}, loss=0.3, rng=4
    )
    rates, events = fields_of(session), session.event_counts(0.02)
    found = {
        "rank": sa.replay.rank_order(session.event_counts(0.002), rates.argmax(axis=0), rng=0),
        "order": sa.replay.bayesian_decoding(events, rates, 0.02, rng=0),
        "cycle": sa.replay.bayesian_decoding(events, rates, 0.02, shuffle="cycle", rng=0),
        "cells": sa.replay.bayesian_decoding(
            events, rates, 0.02, shuffle="cells", n_shuffles=99, rng=0
        ),
    }
    pytest.importorskip(
        "hmmlearn", reason="hmmlearn is not installed: hidden_markov IS NOT TESTED (pip install it)"
    )
    found["hmm"] = sa.replay.hidden_markov(events, session.lap_counts(0.1), rng=0)
    for method, p in found.items():
        forward, reverse, noise = (p <= 0.05).reshape(3, 10).sum(axis=1)
        assert min(forward, reverse) >= 9, method
        assert noise <= 3, method


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_of_several_maps_the_one_that_is_replayed_is_found():
    session = sa.datasets.recording(n_events={"forward": 20}, n_laps=12, n_maps=2, loss=0.2, rng=1)
    places = (np.arange(40)[:, None, None] + 0.5) / 40
    rates = (0.2 + 30 * np.exp(-((places - session.fields) ** 2) / (2 * 0.04**2))).transpose(
        1, 0, 2
    )
    assert (
        sa.replay.rank_order(session.event_counts(0.002), session.fields, rng=0) <= 0.05
    ).mean() > 0.8
    assert (
        sa.replay.bayesian_decoding(session.event_counts(0.02), rates, 0.02, rng=0) <= 0.05
    ).mean() > 0.8
    pytest.importorskip(
        "hmmlearn", reason="hmmlearn is not installed: hidden_markov IS NOT TESTED (pip install it)"
    )
    p = sa.replay.hidden_markov(
        session.event_counts(0.02), session.lap_counts(0.1), maps=session.lap_maps, rng=0
    )
    assert (p <= 0.05).mean() > 0.8


def test_place_fields_are_spikes_divided_by_time():
    laps = [np.array([[2, 0], [0, 1], [0, 3]]), np.array([[1, 0], [0, 1]])]
    positions = [[0.1, 0.6, 0.9], [0.2, 0.7]]
    rates = sa.replay.place_fields(laps, positions, 0.5, n_places=2, smoothing=0)
    np.testing.assert_allclose(rates, [[3 / 1.0, 0], [0, 5 / 1.5]])


def test_events_with_too_few_cells_or_bins_are_no_replay():
    event = np.zeros((10, 6), dtype=int)
    event[2, 0] = event[5, 1] = 1
    events = [event, np.zeros((10, 6), dtype=int), np.zeros((0, 6), dtype=int)]
    assert sa.replay.rank_order(events, np.arange(6) / 6, rng=0).tolist() == [1, 1, 1]
    assert sa.replay.bayesian_decoding(events, np.ones((5, 6)), 0.02, rng=0).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda e: sa.replay.rank_order(e, np.arange(7)),
            r"places must have shape \(N,\) or \(M, N\), N = 8",
        ),
        (lambda e: sa.replay.rank_order(e, np.arange(8), spikes="last"), "spikes must be one of"),
        (
            lambda e: sa.replay.bayesian_decoding(e, np.ones((5, 7)), 0.02),
            "rates must be 0 or more, of shape",
        ),
        (
            lambda e: sa.replay.bayesian_decoding(e, -np.ones((5, 8)), 0.02),
            "rates must be 0 or more, of shape",
        ),
        (
            lambda e: sa.replay.bayesian_decoding(e, np.ones((5, 8)), 0.02, shuffle="bins"),
            "shuffle must be one of",
        ),
        (
            lambda e: sa.replay.hidden_markov(e, [np.ones((5, 7))]),
            "the events have 8 cells, but the laps have 7",
        ),
        (
            lambda e: sa.replay.hidden_markov(e, e, maps=[0, 1]),
            "maps must label each of the 1 laps",
        ),
        (lambda e: sa.replay.place_fields(e, [[0.5]], 0.1), "one number for each bin of each lap"),
        (
            lambda e: sa.replay.place_fields(e, [[1.5] * 9], 0.1),
            "from 0 to 1, fractions of the path",
        ),
    ],
)
def test_what_does_not_fit_is_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call([random_event(0)])
