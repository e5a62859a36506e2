"""The score of an event is what plain loops compute, and its p values are exact."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import oracle_replay as oracle
import seqattractor as sa
from seqattractor.replay._nulls import DRAWN


def random_network(rng, n_cells, n_hidden):
    """A network with random weights, and one step of it in plain loops on 0 and 1."""
    U, V = rng.normal(size=(n_hidden, n_cells)), rng.normal(size=(n_cells, n_hidden))

    def fires(weights, inputs):
        return [sum(w * x for w, x in zip(row, inputs, strict=True)) >= 0 for row in weights]

    def step(state):
        hidden = fires(U, [1 if on else -1 for on in state])
        return [int(on) for on in fires(V, [1 if on else -1 for on in hidden])]

    return sa.networks.from_arrays(U, V), step


def seed_of(event, events, rng):
    """The generator of one event of a test with this seed."""
    first = sa.noise.as_generator(rng, "replay").integers(2**63)
    return np.random.default_rng(np.random.SeedSequence(first).spawn(events)[event])


def orders_of(n, many, rng):
    """The order as it is, and random ones."""
    return [list(range(n)), *rng.permuted(np.tile(np.arange(n), (many, 1)), axis=1).tolist()]


def by_hand(steps, event, rng, n_shuffles, max_speed, null):
    """What `sa.replay.test` finds of an event: fits of the event itself, and scores of shuffles."""
    times = [t for t, row in enumerate(event) if row.any()]
    longest = max_speed * oracle.LAGS
    bins = (event[times] > 0).astype(int).tolist()
    ahead = [[oracle.runs(step, row, longest) for row in bins] for step in steps]
    orders = orders_of(len(times), n_shuffles, rng)
    fits = oracle.fits(ahead, bins, times, orders, max_speed)
    if null == "order":
        return fits, oracle.scores(fits)
    whole = event[times[0] : times[-1] + 1]
    orders = orders_of(len(whole), 100, rng)
    found = []
    for variant in (whole > 0, *DRAWN[null](whole, n_shuffles, rng)):
        rows = variant.astype(int).tolist()
        silent = [[0] * len(rows[0])] * longest
        ahead = [
            [oracle.runs(step, row, longest) if any(row) else silent for row in rows]
            for step in steps
        ]
        each = oracle.fits(ahead, rows, range(len(rows)), orders, max_speed)
        found.append(oracle.scores(each)[0])
    return fits, found


def check(seed, null, most_bins):
    rng = np.random.default_rng(seed)
    n_cells, max_speed, n_shuffles = (int(rng.integers(low, 9)) for low in (3, 1, 3))
    several = [random_network(rng, n_cells, int(rng.integers(1, 8))) for _ in range(seed % 3 + 1)]
    nets, steps = map(list, zip(*several, strict=True))
    density = rng.uniform(0.1, 0.7)
    lengths = rng.integers(3, most_bins, rng.integers(1, 4)).tolist()
    events = [rng.poisson(density, (length, n_cells)) for length in lengths]
    options = {"null": null, "n_shuffles": n_shuffles, "max_speed": max_speed, "rng": seed}
    tested = sa.replay.test(nets if len(nets) > 1 else nets[0], events, **options)
    for e, event in enumerate(events):
        times = np.flatnonzero(event.any(axis=1))
        if len(times) < 3:
            assert not tested.tested[e]
            continue
        draw = seed_of(e, len(events), seed)
        fits, (own, *others) = by_hand(steps, event, draw, n_shuffles, max_speed, null)
        assert tested.scores[e] == pytest.approx(own, abs=1e-9)
        assert tested.p_values[e] == pytest.approx(oracle.p_value(own, others), abs=1e-9)
        assert tested.null_means[e] == pytest.approx(np.mean(others), abs=1e-9)
        assert tested.null_sds[e] == pytest.approx(np.std(others), abs=1e-9)
        speed = tested.speeds[e]
        column = speed - 1 if speed > 0 else max_speed - speed - 1
        alone = [[row[column]] for row in fits]
        assert oracle.best_fits(alone)[0] == pytest.approx(oracle.best_fits(fits)[0], abs=1e-9)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1))
def test_scores_and_p_values_are_those_of_plain_loops(seed):
    check(seed, "order", 13)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(DRAWN)))
def test_so_are_those_of_the_nulls_that_the_network_sees_anew(seed, null):
    check(seed, null, 7)


def test_p_values_of_events_without_order_are_uniform():
    """Bins drawn independently of each other come in any order with the same probability."""
    rng = np.random.default_rng(3)
    net, _ = random_network(rng, 20, 30)
    events = [rng.poisson(0.2, (12, 20)) for _ in range(800)]
    p = sa.replay.test(net, events, n_shuffles=19, max_speed=3, rng=4).p_values
    assert set(np.round(p * 20, 9)) <= set(range(1, 21))
    for level in (0.05, 0.1, 0.25, 0.5, 0.75, 0.95):
        low, high = binom.ppf([1e-4, 1 - 1e-4], len(p), level)
        assert low <= (p <= level + 1e-9).sum() <= high


def test_independent_cells_pass_no_more_often_than_the_level_where_spikes_are_dealt_out_again():
    """Given the spikes of each cell and bin, every way to deal them out is equally probable."""
    rng = np.random.default_rng(7)
    net, _ = random_network(rng, 15, 20)
    rates = [np.outer(rng.gamma(1, 1, 8), rng.gamma(1, 0.25, 15)) for _ in range(400)]
    events = [rng.poisson(each) for each in rates]
    tested = sa.replay.test(net, events, null="poisson", n_shuffles=19, max_speed=2, rng=8)
    p = tested.p_values[tested.tested]
    assert len(p) > 300
    for level in (0.05, 0.1, 0.25, 0.5):
        assert (p <= level + 1e-9).sum() <= binom.ppf(1 - 1e-4, len(p), level)


@given(st.integers(0, 2**32 - 1))
def test_spikes_that_are_dealt_out_again_are_as_many_in_each_bin_and_of_each_cell(seed):
    rng = np.random.default_rng(seed)
    event = rng.poisson(rng.uniform(0.05, 1), rng.integers(1, 9, 2))
    drawn = DRAWN["poisson"](event, 5, rng).astype(int)
    for axis in (1, 2):  # two spikes of one cell in one bin are one activity
        many = event.sum(axis=axis - 1)
        active = drawn.sum(axis=axis)
        assert (active <= many).all()
        assert (active[:, many <= 1] == many[many <= 1]).all()
        assert (active[:, many > 0] > 0).all()


def test_p_values_adjusted_for_the_number_of_events_are_those_of_benjamini_and_hochberg():
    rng = np.random.default_rng(5)
    net, _ = random_network(rng, 15, 20)
    events = [rng.poisson(0.2, (int(rng.integers(1, 12)), 15)) for _ in range(40)]
    tested = sa.replay.test(net, events, n_shuffles=30, rng=6)
    assert 0 < tested.tested.sum() < 40
    expected = oracle.benjamini_hochberg(tested.p_values[tested.tested].tolist())
    assert tested.q_values[tested.tested] == pytest.approx(expected, abs=1e-12)
    assert (tested.q_values[~tested.tested] == 1).all()
    assert (tested.significant(0.3) == (tested.tested & (tested.q_values <= 0.3))).all()
