"""Rate networks that are trained by least squares (innate training, PINning), and BCPNN as a
network of rates.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_trained_rates as oracle
import seqattractor as sa
from quiet import fit_quietly
from seqattractor.zoo.columns import slot_averages
from seqattractor.zoo.experiments.trained_rates import persistence_times
from seqattractor.zoo.innate import Wiring, run_innate
from seqattractor.zoo.pinned import run_pinning

CASES = settings(max_examples=30, deadline=None)


# -- recursive least squares
# ------------------------------------------------------------------------------------


@CASES
@given(seed=st.integers(0, 2**32 - 1), N=st.integers(1, 6), steps=st.integers(1, 8))
def test_pinning_is_what_the_plain_loop_does(seed, N, steps):
    rng = np.random.default_rng(seed)
    plastic = np.sort(rng.choice(N, rng.integers(1, N + 1), replace=False))
    J, x, drive, wanted = (rng.normal(size=size) for size in ((N, N), N, (steps, N), (steps, N)))
    P = np.eye(len(plastic)) / rng.uniform(0.5, 5)
    expected = oracle.pinning(J, plastic, drive, wanted, P, x, tau=10.0)
    states = run_pinning(J, plastic, drive, wanted, P, x, 10.0)
    for ours, truth in zip((J, P, states), expected, strict=True):
        np.testing.assert_allclose(ours, truth, rtol=1e-9, atol=1e-9)


@CASES
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 7),
    steps=st.integers(1, 8),
    every=st.integers(1, 3),
)
def test_innate_training_is_what_the_plain_loop_does(seed, n, steps, every):
    rng = np.random.default_rng(seed)
    there = rng.random((n, n)) < 0.6
    np.fill_diagonal(there, False)
    counts, K = there.sum(axis=1), max(1, there.sum(axis=1).max())
    weights, sources = np.zeros((n, K)), np.zeros((n, K), dtype=np.int64)
    for i in range(n):
        sources[i, : counts[i]] = np.flatnonzero(there[i])
        weights[i, : counts[i]] = rng.normal(size=counts[i])
    W = [
        [None if not there[i, j] else weights[i, list(sources[i]).index(j)] for j in range(n)]
        for i in range(n)
    ]
    drive, wanted, x = (
        rng.normal(size=(steps, n)),
        rng.uniform(-1, 1, (steps, n)),
        rng.normal(size=n),
    )
    n_plastic = int(rng.integers(0, n + 1))
    expected, rates = oracle.innate(
        W,
        n_plastic,
        drive,
        wanted,
        [np.eye(counts[i]) for i in range(n_plastic)],
        x,
        every,
        tau=10.0,
    )
    P = np.tile(np.eye(K), (n_plastic, 1, 1))
    found = run_innate(Wiring(weights, sources, counts), drive, wanted, P, x, 10.0, every)
    np.testing.assert_allclose(found, rates, rtol=1e-9, atol=1e-9)
    for i in range(n):
        truth = [expected[i][j] for j in sources[i, : counts[i]]]
        np.testing.assert_allclose(weights[i, : counts[i]], truth, rtol=1e-9, atol=1e-9)


def test_least_squares_of_a_fixed_task_come_to_ridge_regression():
    # A unit that does not feed back: its weights after all samples are those of ridge regression
    # around the first ones.
    rng = np.random.default_rng(0)
    r, f, w, P = rng.normal(size=(50, 4)), rng.normal(size=50), rng.normal(size=4), np.eye(4) / 2.0
    ridge = w + np.linalg.solve(r.T @ r + 2.0 * np.eye(4), r.T @ (f - r @ w))
    for inputs, target in zip(r, f, strict=True):
        P, change = oracle.recursive_least_squares(P, inputs, inputs @ w - target)
        w = w + np.array(change)
    np.testing.assert_allclose(w, ridge, rtol=1e-9)


# -- PINning
# --------------------------------------------------------------------------------------------------


def test_a_pinned_network_learns_and_its_weights_moved_only_where_they_may():
    X = sa.datasets.random_periodic(6, 60, rng=0)
    half, none = (
        fit_quietly(sa.zoo.PinnedRateMemory(0.5, max_epochs=e, random_state=3), X) for e in (100, 1)
    )
    assert half.converged_
    assert half.score(X) == 1
    assert sa.retrieved(half.recall(X[0], steps=12), X)
    moved = np.any(half.J_ != none.J_, axis=0)
    assert 0 < moved.sum() <= 30


def test_a_pinned_network_separates_several_open_sequences():
    rng = np.random.default_rng(1)
    A, B = (rng.choice(np.array([-1, 1], dtype=np.int8), size=(4, 80)) for _ in range(2))
    net = fit_quietly(sa.zoo.PinnedRateMemory(random_state=0), [A, B])
    for X in (A, B):
        np.testing.assert_array_equal(net.recall(X[0], steps=3), X)


# -- innate training
# --------------------------------------------------------------------------------------------


def test_practice_tames_chaos():
    # Without practice paths that begin a little apart go their own ways; with it they come together
    # again.
    X = sa.datasets.random_periodic(10, 30, rng=2)
    cues, apart = np.stack([sa.noise.flip(X[0], 1, rng=seed) for seed in range(10)]), []
    for fraction in (0.6, 0.0):
        net = fit_quietly(
            sa.zoo.InnateTrajectoryMemory(
                150, plastic_fraction=fraction, trials=20, random_state=0
            ),
            X,
        )
        distance = np.abs(net.activity(cues, steps=9) - net.activity(X[0], steps=9)).mean(
            axis=(0, 2)
        )
        apart.append(distance[5:].mean())
    assert apart[0] < 0.5 * apart[1]


def test_noise_on_what_it_answers_does_not_reach_an_innate_network():
    X = sa.datasets.random_periodic(5, 30, rng=0)
    net = fit_quietly(sa.zoo.InnateTrajectoryMemory(100, trials=5, random_state=0), X)
    quiet, noisy = net.recall(X[0], steps=4), net.recall(X[0], steps=4, noise=3, rng=1)
    np.testing.assert_array_equal(quiet[1:], noisy[1:])


# -- columns
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_averages_of_traces_are_those_of_the_differential_equation(n, closed):
    ours = slot_averages(n, 10.0, 12.0, 3.0, closed=closed)
    for average, truth in zip(
        ours, oracle.trace_averages(n, 10.0, 12.0, 3.0, closed, dt=0.01), strict=True
    ):
        np.testing.assert_allclose(average, truth, atol=1e-3)


@pytest.mark.parametrize("g_a", [0.8, 1.5])
def test_columns_are_held_for_the_time_that_the_theory_predicts(g_a):
    X = np.kron(np.eye(6), np.ones(6)) * 2 - 1  # every pattern has a group of units of its own
    X = np.vstack([X, X[:1]]).astype(np.int8)
    net = sa.zoo.BayesianColumnMemory(36, g_a=g_a, tau_a=100.0, dt=0.2, read_out_interval=1.0).fit(
        X
    )
    path = net.recall(X[0], steps=900)
    at = (path[:, None] == X[:-1]).all(axis=2).argmax(axis=1)
    changes = np.flatnonzero(np.diff(at))
    held = np.diff(changes)[1:4]
    assert np.all(np.diff(at[changes + 1]) % 6 == 1)
    np.testing.assert_allclose(held, persistence_times(net, X)[0], rtol=0.03)


def test_columns_recall_in_order_from_a_corrupted_cue_and_several_sequences():
    sequences = [sa.datasets.random_periodic(6, 60, rng=seed).patterns for seed in range(2)]
    net = sa.zoo.BayesianColumnMemory().fit(sequences)
    for X in sequences:
        path = net.recall(sa.noise.flip(X[0], 6, rng=0), steps=60)
        seen = [int(k) for state in path[1:] for k in np.flatnonzero((state == X[:-1]).all(axis=1))]
        assert len(seen) == 60
        order = [k for k, before in zip(seen[1:], seen[:-1], strict=True) if k != before]
        assert order[:6] == [1, 2, 3, 4, 5, 0] or order[:5] == [1, 2, 3, 4, 0]


def test_too_weak_adaptation_holds_a_pattern_for_ever():
    X = sa.datasets.random_periodic(5, 50, rng=0)
    net = sa.zoo.BayesianColumnMemory(g_a=0.1).fit(X)
    assert np.isinf(persistence_times(net, X)).all()
    assert (net.recall(X[0], steps=100) == X[0]).all()


# -- all three
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bcpnn", "innate", "pinning"])
def test_the_same_seed_gives_the_same_network_and_a_file_brings_it_back(name, tmp_path):
    X = sa.datasets.random_periodic(4, 30, rng=0)
    small = {"innate": {"n_hidden": 60, "trials": 3}, "pinning": {"max_epochs": 5}}.get(name, {})
    seeds = {} if name == "bcpnn" else {"random_state": 5}
    one, two = (fit_quietly(sa.networks.make_network(name, **small, **seeds), X) for _ in range(2))
    one.save(tmp_path / "net.npz")
    path = one.recall(X[:3], steps=6)
    np.testing.assert_array_equal(path, two.recall(X[:3], steps=6))
    np.testing.assert_array_equal(path, sa.load(tmp_path / "net.npz").recall(X[:3], steps=6))
    assert one.activity(X[0], steps=2).shape[0] == 3
