"""Separability: verdicts with proofs that anybody can check by substitution."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import seqattractor as sa
from seqattractor.analysis import Proof
from seqattractor.analysis._exact import combine_or_separate, kernel_vector, reduce_mod_p, solve
from seqattractor.analysis._separability import holds, prove


def some_weights_do(inputs, y, largest=4):
    """The oracle: try all small whole-number weights; for up to four inputs these reach every
    threshold function.
    """
    grid = np.array(list(itertools.product(range(-largest, largest + 1), repeat=inputs.shape[1])))
    return bool(np.any(np.all((inputs.astype(int) @ grid.T >= 0) == (y > 0)[:, None], axis=0)))


def substitute(inputs, y, proof):
    """Check a proof with Python's fractions, entry by entry; returns which of the two kinds it
    is.
    """
    if proof.weights is not None:
        for x, target in zip(inputs, y, strict=True):
            field = sum(
                (Fraction(int(w)) * int(k) for w, k in zip(proof.weights, x, strict=True)),
                Fraction(proof.bias),
            )
            assert (field >= 0) == (target > 0)
        return "weights"
    assert all(k >= 0 for k in proof.combination)
    assert any(k > 0 for k, target in zip(proof.combination, y, strict=True) if target < 0)
    for unit in range(inputs.shape[1]):
        assert (
            sum(
                int(k) * int(t) * int(x)
                for k, t, x in zip(proof.combination, y, inputs[:, unit], strict=True)
            )
            == 0
        )
    if proof.allows_bias:
        assert sum(int(k) * int(t) for k, t in zip(proof.combination, y, strict=True)) == 0
    return "combination"


@st.composite
def maps(draw, most_units=4, most_rows=10):
    """A list of inputs and targets for one neuron, repeated and opposite inputs included."""
    N = draw(st.integers(1, most_units))
    n = draw(st.integers(1, most_rows))
    bits = st.lists(st.sampled_from([-1, 1]), min_size=n * (N + 1), max_size=n * (N + 1))
    table = np.array(draw(bits), dtype=np.int8).reshape(n, N + 1)
    return table[:, :N], table[:, N]


@settings(max_examples=150, deadline=None)
@given(maps())
def test_the_verdict_is_that_of_trying_all_small_weights(case):
    inputs, y = case
    proof = prove(inputs.astype(np.int64), y)
    assert (substitute(inputs, y, proof) == "weights") == some_weights_do(inputs, y)


@settings(max_examples=150, deadline=None)
@given(maps())
def test_the_exact_simplex_decides_without_floating_point(case):
    inputs, y = case
    combination, weights = combine_or_separate(y[:, None].astype(np.int64) * inputs, y < 0)
    assert (combination is None) != (weights is None)
    proof = Proof(weights, combination, 0.0)
    assert (substitute(inputs, y, proof) == "weights") == some_weights_do(inputs, y)


@settings(max_examples=150, deadline=None)
@given(maps(most_units=3))
def test_with_a_bias_the_verdict_is_that_of_trying_all_small_weights_and_biases(case):
    inputs, y = case
    seen = np.column_stack([inputs, np.ones(len(inputs), dtype=np.int8)])
    proof = prove(seen.astype(np.int64), y, bias=True)
    assert (substitute(seen, y, proof) == "weights") == some_weights_do(seen, y)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 7),
    st.integers(3, 20),
    st.sampled_from([True, False, None]),
)
def test_a_bias_is_a_unit_that_is_always_on(seed, N, T, largest_margin):
    X = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), size=(T, N))
    without = sa.separable(X, largest_margin=largest_margin)
    verdict = sa.separable(X, bias=True, largest_margin=largest_margin)
    stretched = sa.separable(np.column_stack([X, np.ones(T, dtype=np.int8)]))
    assert list(verdict.impossible) == list(stretched.impossible)
    assert set(verdict.impossible) <= set(without.impossible)
    assert verdict.verify()
    for i in range(N):
        proof, y = verdict.proof(i), X[1:, i]
        assert proof.allows_bias
        assert (substitute(X[:-1], y, proof) == "combination") == (i in verdict.impossible)
        if proof.weights is not None and np.isfinite(proof.margin):
            fields = y * (X[:-1] @ proof.weights + proof.bias)
            assert verdict.margin[i] == pytest.approx(
                float(min(fields) / max(abs(proof.weights))), rel=1e-9
            )


def test_the_margin_with_a_bias_is_the_largest_for_weights_up_to_one_whatever_the_bias():
    X = sa.datasets.random_periodic(12, 30, bias=0.4, rng=3)
    verdict, without = sa.separable(X, bias=True), sa.separable(X)
    on_and_off = np.flatnonzero(np.isfinite(verdict.margin))
    assert np.all(verdict.margin[on_and_off] >= without.margin[on_and_off] - 1e-6)
    for i in on_and_off:
        y, rng = X[1:, i], np.random.default_rng(int(i))
        for _ in range(
            50
            # LP duality, with as much weight on patterns that call +1 as on those that call -1: b
            # drops out
        ):
            share = rng.dirichlet(np.ones(len(y)))
            share = np.where(y > 0, share / share[y > 0].sum(), share / share[y < 0].sum()) / 2
            assert verdict.margin[i] <= np.abs((share * y) @ X[:-1]).sum() + 1e-6


def test_a_neuron_that_never_changes_needs_only_a_bias():
    X = np.array([[1, 1, -1], [-1, 1, -1], [-1, 1, -1]], dtype=np.int8)
    verdict = sa.separable(X, bias=True)
    for i, b in ((1, 1), (2, -1)):
        proof = verdict.proof(i)
        assert (list(proof.weights), proof.bias, proof.margin) == ([0, 0, 0], b, np.inf)
        assert "bias alone" in proof.describe()


def test_the_sentence_states_whether_biases_were_allowed():
    opposite = np.array([[1, 1], [-1, -1], [-1, 1]])  # a pattern and its opposite both call -1
    xor = sa.datasets.xor()
    assert "without hidden neurons and without biases" in sa.separable(opposite).describe()
    assert "can store this, with biases" in sa.separable(opposite, bias=True).describe()
    assert "can store this, even without biases" in sa.separable(xor[:3]).describe()
    assert "not even with biases" in sa.separable(xor, bias=True).describe()
    assert "2(N + 1) = 6" in sa.separable(xor, bias=True).describe()
    assert "No weights without a bias" in sa.separable(opposite).proof(0).describe()
    assert "No weights with a bias" in sa.separable(xor, bias=True).proof(0).describe()


@pytest.mark.slow
def test_some_random_sequences_called_impossible_are_possible_with_biases():
    """Learning agrees with proofs: where weights exist, the perceptron with biases finds
    weights.
    """
    rng, called, possible = np.random.default_rng(0), 0, 0
    while called < 297:
        X = rng.choice([-1, 1], size=(int(rng.integers(4, 16)), int(rng.integers(3, 8))))
        if sa.separable(X):
            continue
        called += 1
        verdict = sa.separable(X, bias=True)
        possible += bool(verdict)
        if verdict:
            net = sa.VisibleNetwork(
                bias=True, kappa=0.5, eta=1.0, max_epochs=100_000, init_scale=0
            ).fit(X)
            assert net.converged_
            assert net.score(X) == 1
    assert 8 <= possible <= 60  # measured: 37 of 297


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(3, 40))
def test_every_neuron_of_a_random_sequence_gets_a_proof_that_holds(seed, N, T):
    X = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), size=(T, N))
    verdict = sa.separable(X)
    kinds = [substitute(X[:-1], X[1:, i], verdict.proof(i)) for i in range(N)]
    assert [i for i, kind in enumerate(kinds) if kind == "combination"] == list(verdict.impossible)
    assert bool(verdict) == (not verdict.impossible.size)
    assert verdict.verify()


def test_xor_is_impossible_and_the_proof_is_short():
    X = sa.datasets.xor()
    verdict = sa.separable(X)
    assert list(verdict.impossible) == [0]
    assert substitute(X[:-1], X[1:, 0], verdict.proof(0)) == "combination"
    assert "No network without hidden neurons" in verdict.describe()


def test_a_neuron_that_is_always_on_needs_no_weights_at_all():
    # x and -x both call +1: only a field of zero, which sign(0) = +1 turns into +1, will do.
    inputs = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]], dtype=np.int8)
    proof = prove(inputs.astype(np.int64), np.ones(4, dtype=np.int8))
    assert list(proof.weights) == [0, 0]
    assert proof.margin == 0


def test_a_neuron_that_is_always_off_cannot_answer_a_pattern_and_its_opposite():
    inputs = np.array([[1, 1], [-1, -1]], dtype=np.int8)
    assert prove(inputs.astype(np.int64), -np.ones(2, dtype=np.int8)).weights is None


def test_a_field_of_exactly_zero_counts_as_plus_one():
    # +1 for a pattern and its opposite, -1 for a third: w.x = 0 at the first two, exactly.
    inputs = np.array([[1, 1, 1], [-1, -1, -1], [1, 1, -1]], dtype=np.int8)
    y = np.array([1, 1, -1], dtype=np.int8)
    proof = prove(inputs.astype(np.int64), y)
    assert substitute(inputs, y, proof) == "weights"
    assert proof.margin == 0


def test_two_successors_of_one_pattern_are_impossible():
    X = np.array([[1, 1], [1, -1], [1, 1], [-1, 1]])
    assert 0 in sa.separable(X).impossible


def test_the_margin_is_the_largest_and_counts_flips():
    X = sa.datasets.random_periodic(12, 30, rng=3)
    verdict = sa.separable(X, largest_margin=True)
    for i in range(0, 30, 7):
        w = verdict.proof(i).weights.astype(float)
        fields = X[1:, i] * (X[:-1] @ w) / np.abs(w).max()
        assert fields.min() == pytest.approx(verdict.margin[i], rel=1e-9)
        # LP duality: no weights do better than any combination of the signed patterns allows.
        rng = np.random.default_rng(i)
        for _ in range(200):
            share = rng.dirichlet(np.ones(len(fields)))
            assert verdict.margin[i] <= np.abs((share * X[1:, i]) @ X[:-1]).sum() + 1e-6
        flips = int(np.ceil(verdict.margin[i] / 2)) - 1
        for x, target in zip(X[:-1], X[1:, i], strict=True):
            hardest = np.argsort(-w * x * target)[:flips]
            noisy = x.copy()
            noisy[hardest] *= -1
            assert (noisy @ w >= 0) == (target > 0)


def test_independent_patterns_are_separable_whatever_their_size():
    X = sa.datasets.random_periodic(40, 600, rng=0)
    quick = sa.separable(X, largest_margin=False)
    assert quick
    assert quick.verify()
    i = 17
    assert substitute(X[:-1], X[1:, i], quick.proof(i)) == "weights"
    w = quick.proof(i).weights.astype(float)
    assert quick.margin[i] == pytest.approx((X[1:, i] * (X[:-1] @ w)).min() / np.abs(w).max())


def test_dependent_patterns_of_many_units_still_get_a_verdict():
    X = np.repeat(sa.datasets.xor(), 50, axis=1)
    verdict = sa.separable(X, largest_margin=False)
    assert list(verdict.impossible) == list(range(50))
    assert verdict.verify()
    assert substitute(X[:-1], X[1:, 99], verdict.proof(99)) == "weights"


def test_several_sequences_and_context():
    X = sa.datasets.xor()
    assert list(sa.separable([X, X]).impossible) == [0]
    assert sa.separable(X, order=2)  # with two patterns of context XOR becomes easy
    # Two sequences that share a pattern with different successors cannot both be made.
    assert not sa.separable(np.array([[1, 1], [1, -1], [1, 1], [-1, 1]]), lengths=[2, 2])


def test_random_sequences_lose_separability_at_covers_capacity():
    rng = np.random.default_rng(5)
    N = 12
    possible = dict.fromkeys((12, 48), 0)
    for n in possible:
        for _ in range(5):
            possible[n] += N - sa.separable(rng.choice([-1, 1], size=(n + 1, N))).impossible.size
    assert possible[12] > 40
    assert possible[48] == 0
    assert sa.theory.cover(2 * N, N) == pytest.approx(0.5)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_the_linear_solver_is_exact(seed, n):
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-3, 4, size=(n, n)), rng.integers(-(2**24), 2**24, size=n)
    assume(len(reduce_mod_p(A)[1]) == n)
    numerators, denominator = solve(A, b)
    assert denominator > 0
    assert np.all(A.astype(object) @ numerators == denominator * b.astype(object))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 6))
def test_a_kernel_vector_is_in_the_kernel_and_near_what_was_asked(seed, m, extra):
    rng = np.random.default_rng(seed)
    A = rng.choice([-1, 1], size=(m, m + extra))
    basis = np.linalg.svd(A.astype(float))[2][m:]
    near = rng.standard_normal(extra) @ basis
    near /= np.abs(near).max()
    v = kernel_vector(A, near)
    assert np.all(A.astype(object) @ v == 0)
    scaled = (v / max(abs(v))).astype(float)
    if np.linalg.matrix_rank(A) == m:
        assert np.abs(scaled - near / np.abs(near).max()).max() < 1e-3


def test_a_false_proof_is_not_accepted():
    inputs = np.array([[1, 1], [1, -1]], dtype=np.int64)
    y = np.array([1, -1], dtype=np.int8)
    assert holds(inputs, y, Proof(np.array([0, 1], dtype=object), None, 0.0))
    assert not holds(inputs, y, Proof(np.array([1, 0], dtype=object), None, 0.0))
    assert not holds(inputs, y, Proof(None, np.array([1, 1], dtype=object), 0.0))
    assert not holds(inputs, y, Proof(None, np.array([0, 0], dtype=object), 0.0))


@pytest.mark.parametrize("bad", [np.full((3, 2), 2), np.ones((1, 2)), np.ones(4)])
def test_bad_input_is_rejected_in_one_sentence(bad):
    with pytest.raises(ValueError, match=r"must|needs"):
        sa.separable(bad)


@pytest.mark.parametrize("n", [2, 50, 10**4, 5 * 10**7])
def test_half_of_the_assignments_of_twice_as_many_points_as_weights_can_be_made(n):
    assert sa.theory.cover(2 * n, n) == 0.5
    assert sa.theory.cover(2 * n, 0) == 0.0
    assert sa.theory.cover(n, n) == 1.0
