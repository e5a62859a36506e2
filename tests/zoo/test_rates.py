"""Networks in continuous time: against plain loops, and against what is known of each model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import oracle_rates
import seqattractor as sa
from seqattractor.networks import make_network
from seqattractor.zoo.experiments.rate_memories import escape_time, rate_capacity, rate_overlaps

NAMES = ("gillett", "gillett-sparse", "gsemm-dense", "gsemm-linear", "eden")
X = sa.datasets.random_periodic(5, 100, rng=0)


def draw_case(seed):
    """A few short sequences of few units, a real-valued cue, and a number of read-outs."""
    rng = np.random.default_rng(seed)
    N = int(rng.integers(2, 7))
    sequences = [
        rng.choice(np.array([-1, 1], dtype=np.int8), (int(rng.integers(2, 5)), N))
        for _ in range(int(rng.integers(1, 3)))
    ]
    return (
        rng,
        sequences,
        oracle.transitions([x.tolist() for x in sequences], 1),
        rng.normal(size=N),
        int(rng.integers(1, 5)),
    )


def number(rng, low, high):
    """A number that is drawn between two others."""
    return float(rng.uniform(low, high))


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_rates_follow_the_equations(seed):
    rng, sequences, pairs, cue, steps = draw_case(seed)
    shared = {
        "A": number(rng, 0.5, 4),
        "theta": number(rng, -0.3, 0.3),
        "sigma": number(rng, 0.05, 0.5),
        "connectivity": float(rng.choice([1.0, 0.6])),
        "tau": number(rng, 2, 20),
        "on_conflict": "learn",
        "random_state": seed,
    }
    q_f, q_g = number(rng, 0.2, 0.9), number(rng, 0.2, 0.9)
    for net, q in (
        (sa.zoo.HebbianRateMemory(**shared), (None, None)),
        (sa.zoo.SparseRateMemory(q_f=q_f, q_g=q_g, **shared), (q_f, q_g)),
    ):
        net.set_params(dt=1.0, read_out_interval=3.0).fit(sequences)
        assert not net.mask_.diagonal().any()
        J = oracle_rates.rate_weights(
            pairs, net.A, net.connectivity * len(cue), net.mask_.tolist(), *q
        )
        np.testing.assert_allclose(net.J_, J, rtol=1e-12, atol=1e-12)
        start = cue if q[0] is None else [oracle_rates.step_function(x, q_f) for x in cue]
        r = [oracle_rates.phi(x, net.theta, net.sigma) for x in start]
        path = [r]
        for _ in range(steps):
            path.append(oracle_rates.rates(J, path[-1], net.theta, net.sigma, net.tau, 1.0, 3))
        np.testing.assert_allclose(net.activity(cue, steps), path, rtol=1e-9, atol=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_features_and_delayed_signals_follow_the_equations(seed):
    rng, sequences, pairs, cue, steps = draw_case(seed)
    shared = {name: number(rng, 0.2, 2) for name in ("a_s", "a_c", "T_f")} | {
        "T_d": number(rng, 2, 20)
    }
    other = {"b_d": number(rng, 0.5, 2), "gain": number(rng, 0.5, 2)}
    times = {"dt": 0.1, "read_out_interval": 0.4, "on_conflict": "learn"}
    beta = number(rng, 1, 5)
    delayed = rng.normal(size=len(cue))
    for net, kind in (
        (sa.zoo.DynamicEnergyMemory(beta=beta, **shared, **times), "eden"),
        (sa.zoo.DenseEpisodicMemory(**shared, **other, **times), "dense"),
        (sa.zoo.LinearEpisodicMemory(**shared, **other, **times), "linear"),
    ):
        net.fit(sequences)
        v, d, path = cue.tolist(), delayed.tolist(), [cue]
        for _ in range(steps):
            if kind == "eden":
                v, d = oracle_rates.eden(pairs, v, d, beta=beta, **shared, dt=0.1, steps=4)
            else:
                v, d = oracle_rates.gsemm(pairs, kind, v, d, **shared, **other, dt=0.1, steps=4)
            path.append(v)
        found = net.activity(cue, steps, state=np.concatenate([cue, delayed]))
        np.testing.assert_allclose(found, path, rtol=1e-9, atol=1e-12)
        if kind != "eden":
            a_s, a_c, gain = shared["a_s"], shared["a_c"], other["gain"]
            energy = oracle_rates.gsemm_energy(
                pairs, kind, cue.tolist(), delayed.tolist(), a_s, a_c, gain
            )
            assert net.energy(cue, delayed) == pytest.approx(energy, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_recall_is_read_out_of_the_activity(name):
    net = make_network(name).fit(X)
    cues = sa.noise.flip(X[:3], 10, rng=1)
    path, activity = net.recall(cues, steps=6), net.activity(cues, steps=6)
    assert activity.shape == (3, 7, 100)
    if not name.startswith("gillett"):  # there the stored pattern that is most alike is read out
        assert np.array_equal(np.where(activity[:, 1:] >= 0, 1, -1), path[:, 1:])
    for b in range(3):
        assert np.allclose(net.activity(cues[b], steps=6), activity[b])


@pytest.mark.parametrize("name", NAMES)
def test_noise_at_every_step_changes_the_activity_of_the_flipped_units_only(name):
    net = make_network(name).fit(X)
    states = X[:2].copy()
    memory = net.start(states)
    states = net.next_patterns(states, memory)
    noisy, expected = sa.noise.flip(states, 3, rng=0), memory.copy()
    flipped = noisy != states
    expected[:, :100][flipped] = net.start(noisy)[:, :100][flipped]
    assert (flipped.sum(axis=1) == 3).all()
    net.next_patterns(noisy, memory)
    net.next_patterns(noisy, expected)  # of which no unit differs from what is shown
    assert np.array_equal(memory, expected)


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_learns_what_a_fit_learns(name):
    A, B = sa.datasets.random_periodic(4, 40, rng=1), sa.datasets.random_periodic(5, 40, rng=2)
    whole, stream = make_network(name).fit([A, B]), make_network(name).partial_fit(A).partial_fit(B)
    for array in (name for name, value in vars(whole).items() if isinstance(value, np.ndarray)):
        np.testing.assert_allclose(
            getattr(stream, array), getattr(whole, array), rtol=1e-12, atol=1e-15
        )


def visited(net, path):
    """The numbers of the stored patterns nearest to each state of a path, each stay once."""
    nearest = np.argmax(path @ net.patterns_.T.astype(float), axis=1)
    return nearest[np.append(True, np.diff(nearest) != 0)].tolist()


# -- features and a delayed signal
# ------------------------------------------------------------------------------


def test_each_of_two_cycles_is_visited_from_a_cue_with_a_quarter_erased():
    """The authors' own experiment: cycles of 3 and 4 memories, V_d = 0 at the start, and a cue with
    its last quarter erased.
    """
    cycles = [
        sa.datasets.random_periodic(4, 100, rng=0),
        sa.datasets.random_periodic(5, 100, rng=1),
    ]
    net = sa.zoo.DenseEpisodicMemory().fit(cycles)
    for cue, cycle in ((1, [0, 1, 2]), (3, [3, 4, 5, 6])):
        erased = net.patterns_[cue].astype(float)
        erased[75:] = 0
        seen = visited(
            net, net.activity(erased, steps=80, state=np.concatenate([erased, np.zeros(100)]))
        )
        at = cycle.index(cue)
        assert len(seen) > 2 * len(cycle)
        assert seen == [cycle[(at + k) % len(cycle)] for k in range(len(seen))]


@pytest.mark.parametrize("cls", [sa.zoo.DenseEpisodicMemory, sa.zoo.LinearEpisodicMemory])
def test_the_energy_falls_while_the_delayed_signal_stands_still(cls):
    rng = np.random.default_rng(0)
    net = cls(T_d=1e12, dt=0.01, read_out_interval=0.05).fit(X)
    for _ in range(5):
        features, delayed = rng.normal(size=(2, 100))
        path = net.activity(features, steps=100, state=np.concatenate([features, delayed]))
        energy = net.energy(path, np.broadcast_to(delayed, path.shape))
        assert np.all(np.diff(energy) <= 1e-9 * np.abs(energy[1:]))
        assert energy[-1] < energy[0] - 1


@pytest.mark.parametrize("r", [0.3, 0.5, 0.7])
def test_eden_stays_at_each_pattern_for_its_escape_time(r):
    loop = sa.datasets.random_periodic(9, 400, rng=0)
    net = sa.zoo.DynamicEnergyMemory(a_s=r, a_c=1.0, beta=400, T_d=20, read_out_interval=0.1).fit(
        loop
    )
    nearest = np.argmax(net.activity(loop[0], steps=2500) @ loop[:-1].T.astype(float), axis=1)
    stays = (
        0.1 * np.diff(np.flatnonzero(np.diff(nearest)))[1:]
    )  # the first one is longer: its delayed signal was there in full
    assert len(stays) >= 5
    # The passage takes one or two T_f; overlaps of 1 / sqrt(N) between patterns make some stays
    # longer and others shorter.
    assert 0 < stays.mean() - escape_time(r, 20) < 2.5


@pytest.mark.parametrize(
    ("cls", "held"),
    [
        (sa.zoo.DynamicEnergyMemory, {"a_s": 1.5}),
        (sa.zoo.DenseEpisodicMemory, {"a_c": 0.1}),
        (sa.zoo.LinearEpisodicMemory, {"a_c": 0.2, "gain": 5.0}),
    ],
)
def test_a_pattern_that_holds_itself_more_strongly_than_it_calls_is_held_for_ever(cls, held):
    wide = sa.datasets.random_periodic(5, 400, rng=0)
    path = cls(**held).fit(wide).recall(wide[2], steps=60)
    assert (path == wide[2]).all()


@pytest.mark.parametrize("name", ["gsemm-dense", "gsemm-linear", "eden"])
def test_an_open_sequence_ends_at_its_last_pattern(name):
    net = make_network(name).fit(X[:4])
    path = net.recall(X[0], steps=80)
    assert visited(net, path) == [0, 1, 2, 3]
    assert (path[-1] == X[3]).all()
    assert net.score(X[:4]) == 1.0


@pytest.mark.parametrize(("name", "T"), [("gsemm-dense", 30), ("eden", 30), ("gsemm-linear", 5)])
def test_a_loop_is_retrieved_from_a_noisy_cue_as_often_as_it_is_stored(name, T):
    loop = sa.datasets.random_periodic(T, 200, rng=3)
    net = make_network(name).fit(loop)
    path = net.recall(sa.noise.flip(loop[0], 20, rng=4), steps=T * net.traits().steps_per_pattern)
    seen = visited(net, path)
    assert len(seen) > T
    assert seen == [k % (T - 1) for k in range(len(seen))]


# -- rates
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theta", "sigma", "alpha"), [(0.22, 0.1, 0.473), (0.2, 0.05, 0.441), (0, 0.1, 0.336)]
)
def test_the_capacity_of_rate_neurons_is_that_of_the_theory(theta, sigma, alpha):
    assert rate_capacity(theta, sigma) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize(("theta", "sigma"), [(0.5, 0.1), (0.22, 0.5), (-0.5, 0.1)])
def test_there_is_no_capacity_where_overlaps_always_fade(theta, sigma):
    assert rate_capacity(theta, sigma) == 0


@pytest.mark.parametrize("connectivity", [1.0, 0.25])
def test_rates_pass_normal_patterns_at_the_pace_of_the_mean_field(connectivity):
    """Peaks in order, one per tau, with the overlaps that the theory gives for many neurons."""
    N, P = 1600, 8
    xi = np.random.default_rng(0).normal(size=(P, N))
    few = sa.datasets.random_periodic(3, N, rng=0)
    net = sa.zoo.HebbianRateMemory(
        connectivity=connectivity, dt=0.5, read_out_interval=1.0, random_state=0
    ).fit(few)
    net.J_ = (
        net.A / (connectivity * N) * net.mask_ * (xi[1:].T @ xi[:-1])
    )  # the rule for normal patterns, which fit does not take
    q = net.activity(xi[0], steps=70) @ xi.T / N
    times = net.read_out_interval * np.arange(71)
    theory = rate_overlaps(P, times / net.tau, q[0, 0], net.theta, net.sigma)
    # A dozen overlaps of 1 / sqrt(N) or, with crosstalk, 1 / sqrt(K).
    assert np.abs(q - theory).max() < 4 / np.sqrt(connectivity * N)
    peaks = times[q[:, :-1].argmax(axis=0)]
    assert np.all(np.diff(peaks) > 0)
    assert np.all(np.abs(np.diff(peaks) - net.tau) < 0.5 * net.tau)


def test_rates_of_pm1_patterns_are_read_out_in_order():
    open_one = sa.datasets.random_sequences(1, 5, 1000, rng=1)
    for cls in (sa.zoo.HebbianRateMemory, sa.zoo.SparseRateMemory):
        net = cls().fit(open_one)
        assert visited(net, net.recall(open_one[0], steps=6).astype(float)) == [0, 1, 2, 3, 4]


def test_a_short_loop_ends_in_a_mixture_of_all_its_patterns():
    """Nothing holds the rates at one pattern, and where the first one comes round again, all are
    there at once.
    """
    loop = sa.datasets.random_periodic(4, 1000, rng=0)
    net = sa.zoo.HebbianRateMemory().fit(loop)
    late = net.activity(loop[0], steps=40)[-5:]
    correlation = np.corrcoef(np.concatenate([late, loop[:-1]]))[:5, 5:]
    assert np.ptp(late, axis=0).max() < 1e-3
    assert correlation.min() > 0.4


def test_the_nonlinear_rule_is_the_bilinear_one_for_units_that_count_alike():
    bilinear, nonlinear = (
        sa.zoo.HebbianRateMemory(A=1).fit(X),
        sa.zoo.SparseRateMemory(A=4, q_f=0.5, q_g=0.5).fit(X),
    )
    np.testing.assert_allclose(nonlinear.J_, bilinear.J_, rtol=1e-12)


# -- what makes no sense
# ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("eden", {"dt": 0}, "dt must be above 0"),
        ("eden", {"dt": 1e-9}, "read_out_interval must be at most 10000 steps"),
        ("eden", {"T_d": -1}, "T_d must be above 0"),
        ("eden", {"beta": 0}, "beta must be above 0"),
        ("eden", {"a_c": 0}, "a_c must be above 0"),
        ("gsemm-dense", {"b_d": 0}, "b_d must be above 0"),
        ("gsemm-linear", {"gain": 0}, "gain must be above 0"),
        ("gillett", {"connectivity": 1.5}, "connectivity must be at most 1"),
        ("gillett", {"sigma": 0}, "sigma must be above 0"),
        ("gillett", {"theta": float("nan")}, "theta must be finite"),
        ("gillett-sparse", {"q_f": 1}, "q_f must be below 1"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        make_network(name, **parameters).fit(X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda net: net.activity(X[0][:5], 3),
            r"the cue has the shape \(5,\), but this network takes \(100,\)",
        ),
        (lambda net: net.activity(X[0] * np.nan, 3), "the cue must hold finite numbers"),
        (lambda net: net.activity(X[0], -1), "steps must be at least 0"),
        (lambda net: net.activity(X[0], 3, state=np.zeros(5)), r"the state has the shape \(5,\)"),
        (lambda net: net.activity(X[:2], 3, state=np.zeros(200)), "there are 1 states for 2 cues"),
        (lambda net: net.energy(X[0], X[:2]), "there are 2 delayed signals for 1 features"),
        (
            lambda net: net.set_params(dt=50.0, read_out_interval=5e4).recall(X[0], 3),
            "grows without bound; lower dt",
        ),
    ],
)
def test_bad_calls_get_one_clear_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call(sa.zoo.DenseEpisodicMemory().fit(X))
