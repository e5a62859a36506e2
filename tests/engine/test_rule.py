"""The package computes the paper's equations, to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import seqattractor as sa
from quiet import fit_quietly
from seqattractor import rule
from strategies import sequences

ETA = 2.0**-10  # with this eta and such a kappa every sum is exact in float64
EPOCHS = 12


def initial_weights(M, N, order, seed, scale, standard_U=False):
    """U, V and P as the network draws them."""
    rng = np.random.default_rng(seed)
    U, V, P = (rng.standard_normal(shape) for shape in ((M, order * N), (N, M), (M, N)))
    return (
        oracle.on_grid(U if standard_U else U * scale, ETA),
        oracle.on_grid(V * scale, ETA),
        oracle.on_grid(P),
    )


@settings(max_examples=150)
@given(
    X=sequences(),
    M=st.integers(1, 6),
    learn=st.sampled_from(["UV", "V"]),
    scale=st.sampled_from([0.0, 1e-3]),
    target_threshold=st.sampled_from([0.0, 1.5]),
    input_threshold=st.sampled_from([0.0, 0.5]),
    kappa=st.sampled_from([1.0, 3 * ETA]),
    seed=st.integers(0, 2**16),
)
def test_the_plain_loop_equals_the_oracle(
    X, M, learn, scale, target_threshold, input_threshold, kappa, seed
):
    network = {"UV": sa.SequenceAttractor, "V": sa.FixedHiddenNetwork}[learn]
    net = network(
        M,
        kappa=kappa,
        eta=ETA,
        init_scale=scale,
        max_epochs=EPOCHS,
        target_threshold=target_threshold,
        input_threshold=input_threshold,
        random_state=seed,
        engine="reference",
    )
    fit_quietly(net, X)
    U, V, P = initial_weights(
        M, X[0].shape[1], 1, seed, scale, standard_U=learn == "V" and input_threshold != 0
    )
    expected = oracle.learn(
        oracle.transitions(X),
        U,
        V,
        P,
        kappa,
        ETA,
        EPOCHS,
        target_threshold,
        input_threshold,
        learn_U=learn == "UV",
    )
    assert net.hidden_errors_.tolist() == expected[2]
    assert net.visible_errors_.tolist() == expected[3]
    assert np.array_equal(net.U_, expected[0])
    assert np.array_equal(net.V_, expected[1])


@settings(max_examples=60)
@given(
    X=sequences(max_n=4),
    M=st.integers(1, 5),
    eta=st.sampled_from([1e-3, 0.1, 0.3]),
    seed=st.integers(0, 99),
)
def test_a_margin_of_exactly_kappa_is_an_error_whatever_eta_is(X, M, eta, seed):
    """0.1 is no float: added up ten times it is not 1. In units of eta the sums are whole and the
    tie is seen.
    """
    net = sa.SequenceAttractor(
        M, eta=eta, kappa=3 * eta, init_scale=0, max_epochs=8, random_state=seed, engine="reference"
    )
    fit_quietly(net, X)
    _, _, P = initial_weights(M, X[0].shape[1], 1, seed, 0.0)
    N = X[0].shape[1]
    zeros = np.zeros((M, N)), np.zeros((N, M))
    whole = oracle.learn(oracle.transitions(X), *zeros, P, kappa=3, eta=1, epochs=8)
    assert net.hidden_errors_.tolist() == whole[2]
    assert net.visible_errors_.tolist() == whole[3]


@settings(max_examples=60)
@given(X=sequences(), M=st.integers(1, 4), order=st.integers(1, 2), seed=st.integers(0, 2**16))
def test_a_stream_of_partial_fits_is_the_plain_rule_on_the_weights(X, M, order, seed):
    X = [x for x in X if len(x) > order] or [np.array([[1], [-1], [1]], dtype=np.int8)]
    net = sa.SequenceAttractor(M, eta=ETA, init_scale=0, order=order, random_state=seed)
    for _ in range(3):
        net.partial_fit(X)
    N = X[0].shape[1]
    _, _, P = initial_weights(M, N, order, seed, 0.0)
    U, V, hidden, visible = oracle.learn(
        oracle.transitions(X, order), np.zeros((M, order * N)), np.zeros((N, M)), P, 1.0, ETA, 3
    )
    n = len(
        hidden
    )  # the oracle stops after an epoch without an error; the stream continues and changes nothing
    assert net.hidden_errors_.tolist()[:n] == hidden
    assert net.visible_errors_.tolist()[:n] == visible
    assert np.array_equal(net.U_, U)
    assert np.array_equal(net.V_, V)


@settings(max_examples=60)
@given(X=sequences(), scale=st.sampled_from([0.0, 1e-3]), seed=st.integers(0, 2**16))
def test_the_visible_perceptron_equals_the_oracle(X, scale, seed):
    net = sa.VisibleNetwork(
        eta=ETA, init_scale=scale, max_epochs=EPOCHS, random_state=seed, engine="reference"
    )
    fit_quietly(net, X)
    N = X[0].shape[1]
    W0 = oracle.on_grid(np.random.default_rng(seed).standard_normal((N, N)) * scale, ETA)
    W, errors = oracle.learn_visible(oracle.transitions(X), W0, 1.0, ETA, EPOCHS)
    assert net.visible_errors_.tolist() == errors
    assert np.array_equal(net.W_, W)


@given(X=sequences())
def test_hebbian_weights_equal_the_oracle(X):
    net = fit_quietly(sa.zoo.HebbianMemory(), X)
    assert net.W_.tolist() == oracle.hebbian(oracle.transitions(X))


@given(X=sequences(), M=st.integers(1, 5), seed=st.integers(0, 99))
def test_hebbian_V_sums_the_products_of_hidden_states_and_next_patterns(X, M, seed):
    net = fit_quietly(sa.HebbianReadoutNetwork(M, random_state=seed), X)
    pairs = [
        ([oracle.sign(oracle.dot(u, x)) for u in net.U_], x_next)
        for x, x_next in oracle.transitions(X)
    ]
    assert net.V_.tolist() == oracle.hebbian(pairs)


@settings(max_examples=50)
@given(
    X=sequences(), M=st.integers(1, 5), theta=st.sampled_from([0.0, 0.25]), seed=st.integers(0, 99)
)
def test_recall_follows_equations_2_and_3(X, M, theta, seed):
    net = fit_quietly(
        sa.SequenceAttractor(
            M, eta=ETA, max_epochs=4, input_threshold=theta, random_state=seed, engine="reference"
        ),
        X,
    )
    cues = np.vstack(X)
    batch = net.recall(cues, steps=3)
    assert batch.shape == (len(cues), 4, cues.shape[1])
    for cue, path in zip(cues, batch, strict=True):
        assert path.tolist() == oracle.recall(net.U_, net.V_, cue, 3, theta)
        assert np.array_equal(net.recall(cue, steps=3), path)


def test_sign_of_zero_is_plus_one_and_heaviside_of_zero_is_one():
    assert rule.sign(np.array([-0.5, 0.0, 0.5])).tolist() == [-1, 1, 1]
    assert rule.heaviside(np.array([-0.5, 0.0, 0.5])).tolist() == [0, 1, 1]


@settings(max_examples=50)
@given(
    X=sequences(), M=st.integers(1, 5), theta=st.sampled_from([0.0, 0.25]), seed=st.integers(0, 99)
)
def test_networks_compute_equations_1_to_4_as_the_rule_writes_them(X, M, theta, seed):
    exact = {"eta": ETA, "init_scale": 0, "max_epochs": 4, "random_state": seed}
    net = fit_quietly(
        sa.SequenceAttractor(M, input_threshold=theta, target_threshold=theta, **exact), X
    )
    visible_only = fit_quietly(sa.VisibleNetwork(**exact), X)
    for x in np.vstack(X):
        zeta = rule.hidden_state(net.U_, x, theta)
        assert np.array_equal(net.hidden(x), zeta)
        assert np.array_equal(net.step(x), rule.visible_state(net.V_, zeta))
        assert np.array_equal(net.hidden_targets(x[None])[0], rule.hidden_target(net.P_, x, theta))
        assert np.array_equal(visible_only.step(x), rule.next_visible_only(visible_only.W_, x))
