"""The four theorems of the paper, as properties."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import seqattractor as sa
from seqattractor import rule

vectors = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@settings(max_examples=150)
@given(N=st.integers(1, 40), T=st.integers(2, 60), seed=st.integers(0, 2**32 - 1))
def test_theorem_1_one_hidden_neuron_a_transition_makes_any_sequence(N, T, seed):
    T = min(T, 2 ** min(N, 20) + 1)
    X = sa.datasets.random_periodic(T, N, rng=seed)
    for net in (
        sa.OneHotNetwork(tolerance=0).fit(X),
        sa.OneHotNetwork().fit(X),
    ):  # the paper's, and ours
        assert net.n_hidden_ == T - 1
        assert np.array_equal(net.recall(X[0], steps=T - 1), X)


@given(N=st.integers(2, 6), T=st.integers(2, 5), seed=st.integers(0, 999))
def test_theorem_1_uses_the_weights_and_biases_of_its_proof(N, T, seed):
    X = sa.datasets.random_periodic(T, N, rng=seed)
    net = sa.OneHotNetwork(tolerance=0).fit(X)
    U, V, bias = oracle.one_hot(oracle.transitions([X]))
    assert (net.U_.tolist(), net.V_.tolist(), net.bias_.tolist()) == (U, V, bias)
    hidden, visible = net.layers()
    assert hidden.offset.tolist() == [-N] * (T - 1)
    assert visible.offset.tolist() == bias


@settings(max_examples=30)
@given(
    N=st.integers(8, 30),
    M=st.integers(20, 60),
    T=st.integers(2, 5),
    kappa=st.sampled_from([0.5, 1.0]),
    seed=st.integers(0, 9999),
)
def test_theorem_2_errors_reach_zero_and_stay_there_where_a_solution_exists(N, M, T, kappa, seed):
    """With linearly independent patterns every hidden target can be met, and so can every visible
    one by the codes if these are independent, too: a solution exists by construction, which the
    test checks by rank.
    """
    X = sa.datasets.random_periodic(T, N, rng=seed)
    net = sa.SequenceAttractor(
        M, kappa=kappa, init_scale=0, max_epochs=5000, random_state=seed, engine="reference"
    )
    inputs = X[:-1].astype(float)
    P = np.random.default_rng(seed)
    for shape in ((M, N), (N, M)):
        P.standard_normal(shape)
    codes = rule.sign(X[1:].astype(float) @ P.standard_normal((M, N)).T).astype(float)
    if np.linalg.matrix_rank(inputs) < T - 1 or np.linalg.matrix_rank(codes) < T - 1:
        return  # no solution is guaranteed
    net.fit(X)
    assert net.converged_
    assert net.score(X) == 1.0
    U, V = net.U_.copy(), net.V_.copy()
    net.partial_fit(X)  # one more presentation changes nothing
    assert (net.hidden_errors_[-1], net.visible_errors_[-1]) == (0, 0)
    assert np.array_equal(net.U_, U)
    assert np.array_equal(net.V_, V)


@settings(max_examples=200)
@given(rng=vectors, N=st.integers(1, 30), M=st.integers(1, 20), kappa=st.floats(0.01, 100))
def test_theorem_3_one_large_step_removes_the_error_of_every_hidden_and_visible_neuron(
    rng, N, M, kappa
):
    x, x_next = rng.choice([-1.0, 1.0], (2, N))
    U, V, z = rng.standard_normal((M, N)), rng.standard_normal((N, M)), rng.choice([-1.0, 1.0], M)
    y = rule.hidden_state(U, x).astype(float)
    # The proof asks for eta N > kappa - z U x; twice the bound leaves a margin for rounding.
    eta_U = 2 * (kappa + np.abs(U @ x).max()) / N
    rule.update_hidden(U, x, z, kappa=kappa, eta=eta_U)
    assert rule.update_hidden(U, x, z, kappa=kappa, eta=eta_U) == 0
    eta_V = 2 * (kappa + np.abs(V @ y).max()) / M
    rule.update_visible(V, y, x_next, kappa=kappa, eta=eta_V)
    assert rule.update_visible(V, y, x_next, kappa=kappa, eta=eta_V) == 0


@settings(max_examples=200)
@given(rng=vectors, N=st.integers(1, 15), M=st.integers(10, 60), kappa=st.floats(0.1, 10))
def test_theorem_4_perturbed_codes_within_the_bound_give_the_next_pattern(rng, N, M, kappa):
    check_theorem_4(rng, n_out=N, n_in=M, kappa=kappa)


@settings(max_examples=200)
@given(rng=vectors, N=st.integers(10, 60), M=st.integers(1, 15), kappa=st.floats(0.1, 10))
def test_theorem_4_holds_for_U_and_perturbed_patterns_too(rng, N, M, kappa):
    check_theorem_4(rng, n_out=M, n_in=N, kappa=kappa)


def check_theorem_4(rng, n_out, n_in, kappa):
    """If a neuron's margin exceeds kappa and epsilon max|w| < kappa, flips with sum |y' - y| <
    epsilon change nothing.
    """
    y, target = rng.choice([-1.0, 1.0], n_in), rng.choice([-1.0, 1.0], n_out)
    weights = np.outer(target, y) * rng.uniform(0.2, 1.0, (n_out, n_in))
    weights *= (1.01 * kappa / (target * (weights @ y)))[:, None]  # so that nu = 0, barely
    for w, wanted in zip(weights, target, strict=True):
        assert rule.heaviside(kappa - wanted * (w @ y)) == 0
        epsilon = kappa / np.abs(w).max()  # every smaller one is allowed
        flips = (
            int(np.ceil(epsilon / 2)) - 1
        )  # each flip adds 2 to sum |y' - y|, which must stay below epsilon
        assert flips >= 1, "the case tests nothing"
        strongest = np.argsort(np.abs(w))[-flips:]
        for flipped in (strongest, rng.choice(n_in, size=flips, replace=False)):
            perturbed = y.copy()
            perturbed[flipped] *= -1
            assert rule.sign(w @ perturbed) == wanted
