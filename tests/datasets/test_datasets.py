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


@st.composite
def branching_cases(draw):
    """Arguments of `branching`, with the places of each sequence."""
    n_sequences, shared = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    closed, passes = draw(st.booleans()), draw(st.integers(1, 3))
    T = passes * (shared + 1) + draw(st.integers(1, 8))
    room = T - closed - passes * (shared + 1) + (not closed)  # for patterns beside those needed
    each = st.lists(st.integers(0, room), min_size=passes, max_size=passes).map(sorted)
    at = [
        [extra + k * (shared + 1) for k, extra in enumerate(draw(each))] for _ in range(n_sequences)
    ]
    given = {"shared": shared, "at": at, "closed": closed, "rng": draw(st.integers(0, 999))}
    return (n_sequences, T, draw(st.integers(9, 30))), given


@settings(max_examples=200)
@given(case=branching_cases())
def test_branching_sequences_need_a_context_one_longer_than_what_they_share(case):
    (n_sequences, T, N), given = case
    X, shared = sa.datasets.branching(n_sequences, T, N, **given), given["shared"]
    passes = [
        x[start : start + shared]
        for x, starts in zip(X.split(), given["at"], strict=True)
        for start in starts
    ]
    assert all(np.array_equal(each, passes[0]) for each in passes)
    rounds = [x[: T - given["closed"]] for x in X.split()]
    different = n_sequences * len(rounds[0]) - (len(passes) - 1) * shared
    assert len(np.unique(np.concatenate(rounds), axis=0)) == different
    assert X.closed == given["closed"]
    left = sum(given["closed"] or start + shared < T for starts in given["at"] for start in starts)
    context = shared + 1 if left > 1 else 1
    assert sa.find_conflicts(X).context == context
    if X.closed:
        assert sa.find_conflicts(sa.close_loops(X, order=context)).context == context
        assert bool(sa.find_conflicts(sa.close_loops(X, order=shared))) == (context > 1)


def test_sequences_branch_in_the_middle_by_default_and_at_the_same_place_for_one_number():
    X, same = (
        sa.datasets.branching(3, 11, 40, shared=4, rng=0, **at) for at in ({}, {"at": [3, 3, 3]})
    )
    assert np.array_equal(X, same)
    assert np.array_equal(X, sa.datasets.branching(3, 11, 40, shared=4, at=np.int64(3), rng=0))
    assert not np.array_equal(X, sa.datasets.branching(3, 11, 40, shared=4, rng=1))


def test_a_network_with_that_context_takes_the_right_arm():
    maze = sa.datasets.branching(2, 12, 60, shared=3, at=0, rng=0)
    net = sa.SequenceAttractor(n_hidden=200, order="auto", random_state=0).fit(maze)
    assert net.order_ == 4
    for arm in maze.split():
        assert np.array_equal(net.recall(arm[:4], steps=8)[-8:], arm[4:])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sa.datasets.random_periodic(1, 5), "T must be at least 2, but it is 1"),
        (lambda: sa.datasets.random_periodic(5, 0), "N must be"),
        (lambda: sa.datasets.random_periodic(10, 3), "only 8 different patterns"),
        (lambda: sa.datasets.random_periodic(5, 5, correlation=1), "correlation must be"),
        (lambda: sa.datasets.random_periodic(5, 5, bias=1), "bias must lie"),
        (lambda: sa.datasets.random_periodic(30, 6, bias=0.99, rng=0), "no new pattern turned up"),
        (lambda: sa.datasets.branching(2, 4, shared=3), "T must be at least 5, but it is 4"),
        (lambda: sa.datasets.branching(2, 9, shared=3, at=7), "at must be at most 6, but it is 7"),
        (lambda: sa.datasets.branching(2, 9, shared=3, at=[1, 7]), r"at\[1\] must be .* 0 to 6"),
        (lambda: sa.datasets.branching(2, 9, shared=3, at=[1]), "each of the 2 sequences"),
        (
            lambda: sa.datasets.branching(1, 20, shared=3, at=[[1, 4]]),
            r"sequence 0 needs a pattern of its own .* at\[0\], \[1, 4\], must be at least 4 apart",
        ),
        (
            lambda: sa.datasets.branching(1, 9, shared=3, at=[[0, 5]], closed=True),
            "at least 4 apart, also around the loop",
        ),
        (lambda: sa.datasets.branching(9, 9, 3, shared=3), "only 8 different patterns"),
        (lambda: sa.datasets.toy(3), "no 3"),
    ],
)
def test_impossible_requests_get_one_clear_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
