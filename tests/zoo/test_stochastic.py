"""Visible and hidden neurons that fire by chance (Brea, Senn & Pfister 2013)."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import oracle_local
import seqattractor as sa
from quiet import fit_quietly
from seqattractor.zoo.stochastic import StochasticNeurons

seeds = st.integers(0, 10**6)


def all_weights(net):
    """The weights of all neurons, visible ones first, as the definition has them."""
    if not net.n_hidden:
        return np.column_stack([net.W_, net.visible_bias_])
    to_visible, to_hidden = (net.W_, net.V_, net.visible_bias_), (net.U_, net.R_, net.hidden_bias_)
    return np.concatenate([np.column_stack(to_visible), np.column_stack(to_hidden)])


@settings(max_examples=40)
@given(N=st.integers(1, 4), H=st.integers(0, 3), T=st.integers(2, 6), seed=seeds)
def test_a_presentation_changes_weights_by_the_definition(N, H, T, seed):
    rng = np.random.default_rng(seed)
    W, X, draws = (
        rng.standard_normal((N + H, N + H + 1)),
        rng.integers(0, 2, (T, N)).astype(float),
        rng.random((T - 1, H)),
    )
    rates = {"eta": 0.3, "trace": 0.6}
    expected = W.tolist()
    total, baseline = oracle_local.stochastic_learning(
        expected,
        X.tolist(),
        draws.tolist(),
        N,
        beta=0.7,
        baseline=-0.4,
        baseline_rate=0.05,
        **rates,
    )
    neurons = StochasticNeurons(W.copy(), N, 0.7, -0.4)
    _, likelihood = neurons.learn(X, draws, **rates)
    np.testing.assert_allclose(neurons.W, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose([likelihood, neurons.baseline], [total, baseline], rtol=1e-9)


@settings(max_examples=25)
@given(N=st.integers(1, 4), H=st.integers(0, 3), seed=seeds)
def test_fit_and_recall_are_those_of_the_definition(N, H, seed):
    rng = np.random.default_rng(seed)
    sequences = [rng.choice(np.array([-1, 1], dtype=np.int8), size=(T, N)) for T in (4, 3)]
    options = {"max_epochs": 4, "tol": 0, "on_conflict": "learn", "random_state": seed}
    net = fit_quietly(sa.zoo.StochasticMemory(H, **options), sequences)
    chance = np.random.default_rng(seed)
    W = np.zeros((N + H, N + H + 1))
    W[N:] = chance.standard_normal((H, N + H + 1)) * 3 / np.sqrt(N + H)
    W, baseline, losses = W.tolist(), float(np.log(0.5)), []
    for _ in range(4):
        total = 0.0
        for x in sequences:
            draws = chance.random((len(x) - 1, H)).tolist()
            of_x, baseline = oracle_local.stochastic_learning(
                W,
                (x > 0).astype(int).tolist(),
                draws,
                N,
                beta=1,
                eta=0.05,
                trace=0.5,
                baseline=baseline,
                baseline_rate=0.05,
            )
            total += of_x
        losses.append(-total / (5 * N))
    np.testing.assert_allclose(all_weights(net), W, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(net.losses_, losses)
    cue = rng.choice([-1, 1], size=N)
    path, nearest = oracle_local.stochastic_recall(W, cue.tolist(), N, 8)
    assume(nearest > 1e-9)
    assert net.recall(cue, steps=8).tolist() == path


def test_without_hidden_neurons_one_transition_is_a_step_up_the_gradient_of_logistic_regression():
    rng = np.random.default_rng(0)
    X = rng.choice(np.array([-1, 1], dtype=np.int8), size=(30, 6))
    net = fit_quietly(
        sa.zoo.StochasticMemory(0, beta=1.3, eta=1e-7, max_epochs=1, on_conflict="learn"), X
    )

    def likelihood(W):
        u = 1.3 * ((X[:-1] > 0) @ W[:, :-1].T + W[:, -1])
        return -np.logaddexp(0, -np.where(X[1:] > 0, u, -u)).sum()

    small, moved = 1e-6, all_weights(net) / 1e-7  # from zero weights
    for i, j in np.ndindex(*moved.shape):
        step = np.zeros_like(moved)
        step[i, j] = small
        assert moved[i, j] == pytest.approx(
            (likelihood(step) - likelihood(-step)) / (2 * small), rel=1e-4, abs=1e-4
        )


def test_without_hidden_neurons_it_comes_to_rest_where_logistic_regression_has_its_optimum():
    rng = np.random.default_rng(1)
    X = rng.choice(
        np.array([-1, 1], dtype=np.int8), size=(80, 4)
    )  # far too many transitions to be separable
    active = (X > 0).astype(float)
    fits = [
        LogisticRegression(C=1e8, tol=1e-10, max_iter=10_000).fit(active[:-1], active[1:, i])
        for i in range(4)
    ]
    best = np.array([[*fit.coef_[0], fit.intercept_[0]] for fit in fits])
    net = fit_quietly(
        sa.zoo.StochasticMemory(0, eta=0.01, max_epochs=300, tol=0, on_conflict="learn"), X
    )
    np.testing.assert_allclose(all_weights(net), best, atol=0.15)
    rest = fit_quietly(sa.zoo.StochasticMemory(0, eta=1e-7, max_epochs=1, on_conflict="learn"), X)
    start = all_weights(rest) / 1e-7
    rest.W_, rest.visible_bias_ = best[:, :-1].copy(), best[:, -1].copy()
    rest.partial_fit(X)
    assert np.abs((all_weights(rest) - best) / 1e-7).max() < 1e-3 * np.abs(start).max()


@pytest.mark.parametrize("seed", range(3))
def test_hidden_neurons_remember_what_no_visible_state_shows(seed):
    A, B, C, D = sa.datasets.random_sequences(1, 4, 12, rng=seed)
    X = np.array([A, B, A, C, A, D])
    options = {"max_epochs": 1000, "on_conflict": "learn", "random_state": seed}
    net = fit_quietly(sa.zoo.StochasticMemory(30, **options), X)
    assert net.score(X) == 1.0
    assert np.array_equal(net.recall(A, steps=5), X)
    perceptron = sa.VisibleNetwork(on_conflict="learn", engine="reference", max_epochs=100)
    for visible in (
        sa.zoo.StochasticMemory(0, **options | {"max_epochs": 100}),
        perceptron,
        sa.zoo.HebbianMemory(on_conflict="learn"),
    ):
        assert (
            fit_quietly(visible, X).score(X) <= 3 / 5
        )  # A has three successors, and a visible state can call only one


@pytest.mark.parametrize("seed", range(3))
def test_hidden_weights_that_learn_do_better_than_fixed_ones(seed):
    """The same network with the same chance, where weights to hidden neurons are put back after
    every presentation.
    """
    A, B, C = sa.datasets.random_sequences(1, 3, 10, rng=seed)
    X = np.array([A, B, A, C])
    options = {"max_epochs": 1, "on_conflict": "learn", "random_state": seed}
    learned, fixed = (fit_quietly(sa.zoo.StochasticMemory(15, **options), X) for _ in range(2))
    U, R, b = fixed.U_, fixed.R_, fixed.hidden_bias_
    for _ in range(500):
        learned.partial_fit(X)
        fixed.partial_fit(X)
        fixed.U_, fixed.R_, fixed.hidden_bias_ = U, R, b
    assert np.mean(learned.losses_[-100:]) < np.mean(fixed.losses_[-100:])
    assert not np.allclose(learned.U_, U)


def test_chance_comes_from_the_seed_alone_and_recall_has_none():
    X = sa.datasets.random_periodic(6, 20, rng=0)
    one, other = (
        fit_quietly(sa.zoo.StochasticMemory(10, max_epochs=20, random_state=3), X) for _ in range(2)
    )
    assert np.array_equal(all_weights(one), all_weights(other))
    assert np.array_equal(one.recall(X[0], steps=9), one.recall(X[0], steps=9))
    assert np.array_equal(one.sample(X[0], steps=9, rng=1), other.sample(X[0], steps=9, rng=1))
    assert not np.array_equal(one.sample(X[0], steps=9, rng=1), one.sample(X[0], steps=9, rng=2))


def test_neurons_fire_as_often_as_their_probability_predicts():
    X = sa.datasets.random_periodic(6, 8, rng=0)
    net = fit_quietly(sa.zoo.StochasticMemory(0, max_epochs=20), X)
    u = (X[0] > 0) @ net.W_.T + net.visible_bias_
    fired = (net.sample(np.repeat(X[:1], 4000, axis=0), steps=1, rng=0)[:, 1] > 0).mean(axis=0)
    assert np.abs(fired - [oracle_local.logistic(h) for h in u]).max() < 5 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("n_hidden", [0, 7])
def test_a_saved_network_continues_learning_where_it_was(n_hidden, tmp_path):
    X = sa.datasets.random_periodic(6, 20, rng=0)
    net = fit_quietly(sa.zoo.StochasticMemory(n_hidden, max_epochs=10, random_state=0), X)
    net.save(tmp_path / "net.npz")
    again = sa.load(tmp_path / "net.npz")
    assert np.array_equal(all_weights(again.partial_fit(X)), all_weights(net.partial_fit(X)))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_hidden": -1}, "n_hidden must be"),
        ({"beta": 0}, "beta must be above 0"),
        ({"trace": 1.0}, "trace must be from 0 to below 1"),
        ({"tol": -1}, "tol must be 0 or more"),
        ({"eta": 1e300}, "eta must lie"),
        ({"eta": 1e99, "beta": 1e9}, "learning diverged: the weights are not finite; lower eta"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        sa.zoo.StochasticMemory(**parameters).fit(sa.datasets.random_periodic(6, 8, rng=0))
