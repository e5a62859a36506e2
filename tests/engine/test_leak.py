"""Neurons that sum their past inputs with a leak (Bressloff & Taylor 1992):
`VisibleNetwork(leak=...)`.
"""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import oracle_local
import seqattractor as sa
from quiet import fit_quietly

DYADIC = {"init_scale": 0.0, "eta": 2.0**-6, "kappa": 0.5}  # all sums are exact
seeds = st.integers(0, 10**6)


def draw(rng, sizes, N):
    return [rng.choice(np.array([-1, 1], dtype=np.int8), size=(T, N)) for T in sizes]


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(2, 6), min_size=1, max_size=3),
    leak=st.sampled_from([0.0, 0.25, 0.5, 0.75]),
    bias=st.booleans(),
    seed=seeds,
)
def test_weights_and_recall_are_those_of_the_definition(sizes, leak, bias, seed):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(1, 6))
    sequences = draw(rng, sizes, N)
    net = fit_quietly(
        sa.VisibleNetwork(leak=leak, bias=bias, max_epochs=5, on_conflict="learn", **DYADIC),
        sequences,
    )
    W, errors = oracle_local.leaky_perceptron(
        [x.tolist() for x in sequences], leak, DYADIC["kappa"], DYADIC["eta"], 5, bias=bias
    )
    learned = np.column_stack([net.W_, net.visible_bias_]) if bias else net.W_
    assert learned.tolist() == W
    assert net.visible_errors_.tolist() == errors
    cue = rng.choice([-1, 1], size=N)
    assert net.recall(cue, steps=7).tolist() == oracle_local.leaky_recall(
        W, leak, cue.tolist(), 7, bias=bias
    )


@settings(max_examples=20)
@given(order=st.integers(1, 2), bias=st.booleans(), seed=seeds)
def test_without_a_leak_nothing_changes(order, bias, seed):
    rng = np.random.default_rng(seed)
    [X] = draw(rng, [8], 5)
    settings = {
        "order": order,
        "bias": bias,
        "max_epochs": 20,
        "on_conflict": "learn",
        "random_state": seed,
    }
    plain, still = (
        fit_quietly(sa.VisibleNetwork(**settings, **more), X) for more in ({}, {"leak": 0.0})
    )
    assert np.array_equal(plain.W_, still.W_)
    assert np.array_equal(plain.visible_errors_, still.visible_errors_)
    assert still.start(X[:1]) is None
    assert sa.analysis.supports_certificate(still)


def test_both_engines_are_the_plain_loop():
    X = sa.datasets.random_periodic(12, 30, rng=0)
    one, other = (
        sa.VisibleNetwork(leak=0.5, random_state=0, engine=engine).fit(X)
        for engine in ("exact", "reference")
    )
    assert np.array_equal(one.W_, other.W_)


@pytest.mark.parametrize("leak", [0.3, 0.5, 0.8])
def test_a_repeated_pattern_has_two_successors_without_a_delay_line(leak):
    A, B, C, D, E = sa.datasets.random_periodic(6, 50, rng=1)[:5]
    X = np.array([D, A, B, E, A, C])
    with pytest.raises(ValueError, match="occurs again"):
        sa.VisibleNetwork(random_state=0).fit(X)
    net = sa.VisibleNetwork(leak=leak, max_epochs=5000, random_state=0).fit(X)
    assert net.score(X) == 1.0
    assert np.array_equal(net.recall(D, steps=5), X)
    assert fit_quietly(sa.VisibleNetwork(on_conflict="learn", random_state=0), X).score(X) < 1


@settings(max_examples=25)
@given(seed=seeds, leak=st.sampled_from([0.25, 0.5, 0.75]))
def test_one_repeated_pattern_is_always_resolved_if_something_came_before_it(seed, leak):
    """The sums have one linear dependency, s(a) - leak s(a-1) = s(b) - leak s(b-1), and the targets
    of s(a-1) and s(b-1) are the repeated pattern both times: no neuron can be asked for signs that
    the dependency rules out.
    """
    rng = np.random.default_rng(seed)
    X = draw(rng, [6], 6)[0]
    assume(np.linalg.matrix_rank(X[:-1].astype(float)) == 5)
    a, b = sorted(rng.choice(np.arange(1, 5), size=2, replace=False))
    X[b] = X[a]
    assume(b > a + 1)  # else the pattern is its own successor
    sums = oracle_local.leaky_sums(X[:-1].tolist(), leak)
    assert all(oracle_local.is_separable(sums, X[1:, i].tolist()) for i in range(6))


def test_a_repeated_first_pattern_may_be_too_much():
    """A B A C from the start: s(2) = s(0) + leak s(1), so a neuron that is on in A and B must be on
    in C.
    """
    A, B, C = np.array([[1, 1, 1], [1, -1, 1], [-1, 1, 1]], dtype=np.int8)
    X = np.array([A, B, A, C])
    assert not sa.find_conflicts(X, leak=0.5)
    sums = oracle_local.leaky_sums(X[:-1].tolist(), 0.5)
    assert not oracle_local.is_separable(sums, X[1:, 0].tolist())
    assert fit_quietly(sa.VisibleNetwork(leak=0.5, random_state=0), X).score(X) < 1


def test_conflicts_are_those_that_a_leak_leaves():
    A, B, C, D = (
        np.array(x, dtype=np.int8)
        for x in itertools.islice(itertools.product((-1, 1), repeat=3), 4)
    )
    apart, same = [A, B, D, B, C], [[A, B, C], [A, B, D]]
    assert sa.find_conflicts(apart)
    assert not sa.find_conflicts(apart, leak=0.5)
    assert sa.find_conflicts(same, leak=0.5)[0].second == (1, 1)
    with pytest.raises(
        ValueError, match="pattern 1 of sequence 0 occurs again as pattern 1 of sequence 1"
    ):
        sa.VisibleNetwork(leak=0.5).fit(same)
    assert fit_quietly(sa.VisibleNetwork(leak=0.5, order="auto", random_state=0), apart).order_ == 1
    assert fit_quietly(sa.VisibleNetwork(order="auto", random_state=0), apart).order_ == 2


def test_what_fades_below_the_last_bit_is_a_conflict_again():
    one, two = np.array([[1, -1]], dtype=np.int8), np.array([[-1, 1]], dtype=np.int8)
    for silent_for, left in ((20, False), (80, True)):
        silence = -np.ones((silent_for, 2), dtype=np.int8)
        assert (
            bool(sa.find_conflicts([np.concatenate([x, silence, x]) for x in (one, two)], leak=0.5))
            == left
        )


def test_the_state_that_a_run_carries_is_the_sum():
    X = sa.datasets.random_periodic(10, 40, rng=0)
    net = sa.VisibleNetwork(leak=0.5, random_state=0).fit(X)
    carried = net.start(X[:1])
    for t in range(4):
        assert np.array_equal(net.next_patterns(X[t : t + 1], carried)[0], X[t + 1])
        assert carried[0].tolist() == oracle_local.leaky_sums(X[: t + 1].tolist(), 0.5)[-1]
    assert sa.find_attractors(net, X, starts=20, flips=2, rng=0)[0].stored == 0
    assert not sa.analysis.supports_certificate(net)


def test_a_leaky_network_is_saved_with_its_leak(tmp_path):
    X = sa.datasets.random_periodic(10, 40, rng=0)
    net = sa.VisibleNetwork(leak=0.4, random_state=0).fit(X)
    net.save(tmp_path / "net.npz")
    again = sa.load(tmp_path / "net.npz")
    assert np.array_equal(again.W_, net.W_)
    assert np.array_equal(again.recall(X[0], steps=12), net.recall(X[0], steps=12))


@pytest.mark.parametrize(
    ("leak", "error"),
    [(1.0, ValueError), (-0.1, ValueError), (float("nan"), ValueError), ("x", TypeError)],
)
def test_a_bad_leak_gets_one_clear_sentence(leak, error):
    with pytest.raises(error, match="leak must be"):
        sa.VisibleNetwork(leak=leak).fit(np.array([[1, 1], [1, -1]]))
    with pytest.raises(error, match="leak must be"):
        sa.find_conflicts(np.array([[1, 1], [1, -1]]), leak=leak)
