"""Sequences made by our own code."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import seqattractor as sa
from quiet import fit_quietly


def can_be_made_without_hidden_neurons(X, neuron):
    """Linear programming: is there a w with w.x(t) >= 0 where the neuron is on next, and w.x(t) <=
    -1 where it is off?
    """
    inputs, on = X[:-1].astype(float), X[1:, neuron] > 0
    result = linprog(
        np.zeros(X.shape[1]),
        A_ub=np.where(on[:, None], -inputs, inputs),
        b_ub=np.where(on, 0.0, -1.0),
        bounds=(None, None),
    )
    assert result.status in (0, 2)
    return result.status == 0


@pytest.mark.parametrize(
    "X", [sa.datasets.xor(), sa.datasets.toy(1), sa.datasets.toy(2)], ids=["xor", "toy1", "toy2"]
)
def test_some_neuron_of_the_toy_sequences_is_impossible_without_hidden_neurons(X):
    assert not all(can_be_made_without_hidden_neurons(X, j) for j in range(X.shape[1]))
    assert fit_quietly(sa.VisibleNetwork(random_state=0), X).score(X) < 1


@pytest.mark.parametrize("which", [1, 2])
def test_toy_sequences_are_learned_and_recalled_with_two_of_ten_units_flipped(which):
    X = sa.datasets.toy(which)
    assert X.shape == (6, 10)
    assert not sa.find_conflicts(X)
    cues = np.array(
        [
            X[0] * np.where(np.isin(range(10), pair), -1, 1)
            for pair in itertools.combinations(range(10), 2)
        ]
    )
    recalled = []
    for seed in range(
        1000, 1005
    ):  # the sequences were chosen by their recall with seeds 0 to 11: these are others
        net = fit_quietly(sa.SequenceAttractor(n_hidden=50, random_state=seed), X)
        assert net.score(X) == 1.0
        recalled += [sa.retrieved(path, X) for path in net.recall(cues, steps=25)]
    assert np.mean(recalled) > 0.9  # all 45 pairs of flips, five networks


def test_xor_is_learned_with_thresholds_that_break_the_symmetry():
    """Without thresholds the network is odd, next(-x) = -next(x), and xor() asks for the
    contrary.
    """
    X = sa.datasets.xor()
    for seed in range(1000, 1010):  # the thresholds were chosen on seeds 0 to 4: these are others
        net = fit_quietly(
            sa.SequenceAttractor(50, input_threshold=0.5, target_threshold=1.0, random_state=seed),
            X,
        )
        assert np.array_equal(net.recall(X[0], steps=4), X)
        plain = fit_quietly(sa.SequenceAttractor(50, random_state=seed), X)
        assert np.array_equal(plain.step(-X), -plain.step(X))
        assert plain.score(X) < 1


@settings(max_examples=60)
@given(
    T=st.integers(2, 17),
    N=st.integers(4, 12),
    seed=st.integers(0, 999),
    bias=st.sampled_from([0, 0.5]),
)
def test_patterns_are_drawn_one_after_another_and_again_if_they_were_there(T, N, seed, bias):
    rng, same = np.random.default_rng(seed), np.random.default_rng(seed)
    drawn = []
    while len(drawn) < T - 1:
        x = [1 if number < (1 + bias) / 2 else -1 for number in rng.random(N)]
        drawn += [x] if x not in drawn else []
    assert sa.datasets.random_periodic(T, N, bias=bias, rng=same).patterns[:-1].tolist() == drawn
    assert rng.random() == same.random()


@settings(max_examples=40)
@given(
    T=st.integers(2, 30),
    N=st.integers(5, 30),
    seed=st.integers(0, 999),
    correlation=st.sampled_from([0, 0.5]),
)
def test_random_periodic_sequences_close_and_never_repeat(T, N, seed, correlation):
    X = sa.datasets.random_periodic(T, N, correlation=correlation, rng=seed)
    assert X.shape == (T, N)
    assert np.array_equal(X[0], X[-1])
    assert len(np.unique(X[:-1], axis=0)) == T - 1


def test_correlation_and_bias_are_what_was_asked_for():
    X = sa.datasets.random_periodic(200, 500, correlation=0.6, bias=0.3, rng=0)[:-1].astype(float)
    assert X.mean() == pytest.approx(0.3, abs=0.02)
    centred = X - 0.3
    measured = (centred[1:] * centred[:-1]).mean() / (centred**2).mean()
    assert measured == pytest.approx(0.6, abs=0.02)
    assert abs(sa.datasets.random_periodic(200, 500, rng=0).mean()) < 0.02


def test_several_sequences_share_no_pattern():
    X = sa.datasets.random_sequences(4, 8, 6, rng=0)
    assert X.lengths.tolist() == [8] * 4
    assert len(np.unique(X, axis=0)) == 32


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sa.datasets.random_periodic(1, 5), "T must be at least 2, but it is 1"),
        (lambda: sa.datasets.random_periodic(5, 0), "N must be"),
        (lambda: sa.datasets.random_periodic(10, 3), "only 8 different patterns"),
        (lambda: sa.datasets.random_periodic(5, 5, correlation=1), "correlation must be"),
        (lambda: sa.datasets.random_periodic(5, 5, bias=1), "bias must lie"),
        (lambda: sa.datasets.random_periodic(30, 6, bias=0.99, rng=0), "no new pattern turned up"),
        (lambda: sa.datasets.toy(3), "no 3"),
    ],
)
def test_impossible_requests_get_one_clear_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
