"""Learned biases: a unit that is always +1 joins visible and hidden neurons, and its weights learn
as all others do.
"""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import oracle
import seqattractor as sa
from quiet import fit_quietly, quietly
from seqattractor.networks.registry import make_network
from seqattractor.study.trial import run_trial
from seqattractor.tasks.inspect import inspect_network
from strategies import sequences

ETA = 2.0**-10  # with this eta and such a kappa every sum is exact in float64
EPOCHS = 12
XOR = sa.datasets.xor()


def start(M, N, order, seed, scale, learn="UV", standard_U=False):
    """U, V, P and the biases as the network draws them."""
    rng = np.random.default_rng(seed)
    U, V, P = (rng.standard_normal(shape) for shape in ((M, order * N), (N, M), (M, N)))
    b = (
        10 * scale * rng.choice([-1.0, 1.0], M)
        if learn == "UV"
        else rng.standard_normal(M) * (1.0 if standard_U else scale)
    )
    c, p = rng.standard_normal(N) * scale, rng.choice([-1.0, 1.0], M)
    for i, row in enumerate(np.abs(oracle.on_grid(P))):
        largest, others = row.max(), np.sort(row)[:-1].sum()
        if largest >= others + 1 or largest + others <= 1:  # a copy of one unit, or constant
            p[i] *= largest
    U, V, P, p = (
        oracle.on_grid(U if standard_U else U * scale, ETA),
        oracle.on_grid(V * scale, ETA),
        oracle.on_grid(P),
        oracle.on_grid(p),
    )
    return U, V, P, (oracle.on_grid(b, ETA), oracle.on_grid(c, ETA), p)


@settings(max_examples=150, deadline=None)
@given(
    X=sequences(),
    M=st.integers(1, 6),
    learn=st.sampled_from(["UV", "V"]),
    scale=st.sampled_from([0.0, 1e-3]),
    target_threshold=st.sampled_from([0.0, 1.5]),
    input_threshold=st.sampled_from([0.0, 0.5]),
    kappa=st.sampled_from([1.0, 3 * ETA]),
    engine=st.sampled_from(["exact", "reference"]),
    order=st.integers(1, 3),
    seed=st.integers(0, 2**16),
)
def test_both_engines_equal_the_oracle(
    X, M, learn, scale, target_threshold, input_threshold, kappa, engine, order, seed
):
    X = [x for x in X if len(x) > order] or [np.array([[1], [-1], [1], [-1]], dtype=np.int8)]
    network = {"UV": sa.SequenceAttractor, "V": sa.FixedHiddenNetwork}[learn]
    net = network(
        M,
        kappa=kappa,
        eta=ETA,
        bias=True,
        init_scale=scale,
        max_epochs=EPOCHS,
        target_threshold=target_threshold,
        input_threshold=input_threshold,
        order=order,
        random_state=seed,
        engine=engine,
    )
    fit_quietly(net, X)
    fixed = learn == "V" and input_threshold != 0
    U, V, P, biases = start(M, X[0].shape[1], order, seed, scale, learn, standard_U=fixed)
    how = {"learn_U": learn == "UV", "biases": biases}
    pairs = oracle.transitions(X, order)
    expected = oracle.learn(
        pairs, U, V, P, kappa, ETA, EPOCHS, target_threshold, input_threshold, **how
    )
    assert net.hidden_errors_.tolist() == expected[2]
    assert net.visible_errors_.tolist() == expected[3]
    learned = net.U_, net.V_, net.hidden_bias_, net.visible_bias_
    for ours, theirs in zip(learned, (*expected[:2], *expected[4:]), strict=True):
        assert np.array_equal(ours, theirs)
    assert net.target_bias_.tolist() == biases[2].tolist()


@settings(max_examples=60, deadline=None)
@given(
    X=sequences(),
    scale=st.sampled_from([0.0, 1e-3]),
    engine=st.sampled_from(["exact", "reference"]),
    seed=st.integers(0, 2**16),
)
def test_the_network_without_hidden_neurons_equals_the_oracle(X, scale, engine, seed):
    net = sa.VisibleNetwork(
        eta=ETA, bias=True, init_scale=scale, max_epochs=EPOCHS, random_state=seed, engine=engine
    )
    fit_quietly(net, X)
    N, rng = X[0].shape[1], np.random.default_rng(seed)
    W0, c0 = (oracle.on_grid(rng.standard_normal(shape) * scale, ETA) for shape in ((N, N), N))
    W, errors, c = oracle.learn_visible(
        oracle.transitions(X), W0, 1.0, ETA, EPOCHS, biases=c0.tolist()
    )
    assert net.visible_errors_.tolist() == errors
    for ours, theirs in ((net.W_, W), (net.visible_bias_, c)):
        assert np.array_equal(ours, theirs)


@settings(max_examples=60, deadline=None)
@given(X=sequences(), M=st.integers(1, 4), order=st.integers(1, 2), seed=st.integers(0, 2**16))
def test_a_stream_of_partial_fits_is_the_plain_rule(X, M, order, seed):
    X = [x for x in X if len(x) > order] or [np.array([[1], [-1], [1]], dtype=np.int8)]
    net = sa.SequenceAttractor(M, eta=ETA, init_scale=0, order=order, bias=True, random_state=seed)
    visible = sa.VisibleNetwork(eta=ETA, init_scale=0, order=order, bias=True)
    for _ in range(3):
        net.partial_fit(X)
        visible.partial_fit(X)
    N, pairs = X[0].shape[1], oracle.transitions(X, order)
    U, V, P, biases = start(M, N, order, seed, 0.0)
    U, V, *_, b, c = oracle.learn(pairs, U, V, P, 1.0, ETA, 3, biases=biases)
    for ours, theirs in ((net.U_, U), (net.V_, V), (net.hidden_bias_, b), (net.visible_bias_, c)):
        assert np.array_equal(ours, theirs)
    W, _, c = oracle.learn_visible(pairs, np.zeros((N, order * N)), 1.0, ETA, 3, biases=[0.0] * N)
    assert np.array_equal(visible.W_, W)
    assert np.array_equal(visible.visible_bias_, c)


@settings(max_examples=50, deadline=None)
@given(
    X=sequences(), M=st.integers(1, 5), theta=st.sampled_from([0.0, 0.25]), seed=st.integers(0, 99)
)
def test_recall_follows_equations_2_and_3_with_biases(X, M, theta, seed):
    how = {"eta": ETA, "max_epochs": 4, "bias": True, "random_state": seed}
    net = fit_quietly(sa.SequenceAttractor(M, input_threshold=theta, **how), X)
    visible = fit_quietly(sa.VisibleNetwork(**how), X)
    for cue in np.vstack(X):
        biases = net.hidden_bias_, net.visible_bias_
        assert net.recall(cue, steps=3).tolist() == oracle.recall(
            net.U_, net.V_, cue, 3, theta, biases
        )
        fields = [
            oracle.dot(row, cue) + c
            for row, c in zip(visible.W_, visible.visible_bias_, strict=True)
        ]
        assert visible.step(cue).tolist() == [oracle.sign(h) for h in fields]


@given(X=sequences(), M=st.integers(1, 5), seed=st.integers(0, 99))
def test_hebbian_biases_sum_the_next_patterns(X, M, seed):
    net = fit_quietly(sa.HebbianReadoutNetwork(M, bias=True, random_state=seed), X)
    code = [
        (
            [
                oracle.sign(oracle.dot(u, x) + b)
                for u, b in zip(net.U_, net.hidden_bias_, strict=True)
            ]
            + [1],
            x_next,
        )
        for x, x_next in oracle.transitions(X)
    ]
    assert np.column_stack([net.V_, net.visible_bias_]).tolist() == oracle.hebbian(code)


def test_a_rule_of_the_users_sees_a_constant_unit():
    class Perceptron(sa.rules.Rule):
        def step(self, margin, rng):
            return margin <= 0

        def is_error(self, margin):
            return margin <= 0

    X = np.array(
        [[1, 1], [1, -1], [-1, -1], [-1, 1], [-1, 1]]
    )  # the second neuron is AND-like: it needs a bias
    net = sa.VisibleNetwork(Perceptron(), bias=True, random_state=0).fit(X)
    assert net.score(X) == 1
    assert not sa.separable(X, bias=False)
    assert net.visible_bias_.shape == (2,)


# -- what biases are for
# --------------------------------------------------------------------------------------------


def fit_xor(seed, max_epochs):
    return fit_quietly(
        sa.SequenceAttractor(n_hidden=30, bias=True, max_epochs=max_epochs, random_state=seed), XOR
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_xor_sequence_is_stored_and_recalled_and_learning_converges(seed):
    """The paper's 500 epochs are enough to store it, 1,000 for all margins to exceed kappa."""
    for max_epochs, converged in ((500, False), (1000, True)):
        net = fit_xor(seed, max_epochs)
        assert np.array_equal(net.recall(XOR[0], steps=4), XOR)
        assert net.converged_ is converged


@pytest.mark.slow
def test_1000_networks_of_30_hidden_neurons_store_the_xor_sequence_and_converge():
    nets = [fit_xor(seed, max_epochs) for seed in range(1000) for max_epochs in (500, 1000)]
    assert all(net.score(XOR) == 1 for net in nets)
    assert all(net.converged_ for net in nets[1::2])


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), start_scale=st.sampled_from([0.0, 1e-3]))
def test_no_neuron_reaches_the_margin_of_an_AND_of_two_inputs_in_500_epochs(seed, start_scale):
    """Why 500 epochs cannot converge on XOR, which no network makes from copies of its inputs alone
    (docs/biases.rst).
    """
    rng = np.random.default_rng(seed)
    x = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])[rng.permutation(4)]
    y = np.where((x == rng.choice([-1, 1], 2)).all(axis=1), 1, -1) * rng.choice([-1, 1])
    w = rng.standard_normal(3) * start_scale + np.array([0, 0, rng.choice([-10, 10]) * start_scale])
    W, errors, c = oracle.learn_visible(
        [(row.tolist(), [int(t)]) for row, t in zip(x, y, strict=True)],
        [w[:2].tolist()],
        1.0,
        1e-3,
        1000,
        biases=[w[2]],
    )
    assert 833 - 10 <= len(errors) <= 850
    assert np.all(y * (x @ np.array(W)[0] + c[0]) > 1)


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32), N=st.integers(2, 5))
def test_no_hidden_target_is_constant_or_a_copy_of_one_unit(seed, N):
    X = sa.datasets.random_sequences(1, 2, N, rng=0)
    net = fit_quietly(sa.SequenceAttractor(20, bias=True, max_epochs=1, random_state=seed), X)
    states = np.array(oracle.all_patterns(N), dtype=np.int8)
    z = net.hidden_targets(states).T
    assert not np.any(np.abs(z.sum(axis=1)) == len(states))
    assert not np.any(np.abs(z @ states) == len(states))


@pytest.mark.parametrize("seed", range(5))
def test_with_random_hidden_thresholds_learning_xor_converges(seed):
    net = sa.FixedHiddenNetwork(n_hidden=30, bias=True, random_state=seed).fit(XOR)
    assert net.converged_
    assert np.array_equal(net.recall(XOR[0], steps=4), XOR)


@settings(max_examples=30, deadline=None)
@given(N=st.integers(1, 6), M=st.integers(1, 30), seed=st.integers(0, 10**6))
def test_without_biases_a_network_is_odd_and_with_them_it_need_not_be(N, M, seed):
    X = sa.datasets.random_sequences(1, min(2**N, 8), N, rng=seed)
    odd, biased = (
        fit_quietly(sa.SequenceAttractor(M, bias=b, max_epochs=20, random_state=seed), X)
        for b in (False, True)
    )
    states = np.array(oracle.all_patterns(N), dtype=np.int8)
    zeta = odd.hidden(states)
    ties = (states @ odd.U_.T == 0).any() or (zeta @ odd.V_.T == 0).any()
    assert ties or np.array_equal(odd.step(-states), -odd.step(states))
    biased.hidden_bias_, biased.visible_bias_ = np.zeros(M), np.abs(biased.V_).sum(axis=1) + 1
    assert (biased.step(-states) == biased.step(states)).all()


def test_xor_without_biases_takes_fields_that_are_exactly_zero():
    """docs/biases.rst: sign(0) = +1 makes OR, NAND and a constant of neurons without thresholds;
    learning does not find them.
    """
    X = sa.datasets.xor()
    U = np.array([[1, 1], [-1, -1], [0, 0], [0, 1]])  # OR, NAND, a constant, and the second unit
    V = np.array([[-1, -1, 1, 0], [0, 0, 0, -1]])
    assert sa.networks.from_arrays(U, V).score(X) == 1
    for seed in range(5):
        assert (
            fit_quietly(sa.SequenceAttractor(30, init_scale=0, random_state=seed), X).score(X) < 1
        )


def test_random_numbers_without_biases_are_what_they_were():
    """Biases are drawn last: U, V and P are the same with and without them, and a seed means what
    it meant.
    """
    X = sa.datasets.random_periodic(8, 20, rng=0)
    rng = np.random.default_rng(5)
    U, V, P = (rng.standard_normal(shape) for shape in ((30, 20), (20, 30), (30, 20)))
    for bias in (False, True):
        net = fit_quietly(sa.HebbianReadoutNetwork(30, bias=bias, random_state=5), X)
        assert np.array_equal(net.U_, oracle.on_grid(U * 1e-3, 1e-3))
        assert np.array_equal(net.P_, oracle.on_grid(P))
    assert np.array_equal(
        net.hidden_bias_, oracle.on_grid(rng.standard_normal(30) * 1e-3, 1e-3)
    )  # of a fixed U: drawn as U is
    plain = fit_quietly(sa.SequenceAttractor(30, eta=2.0**-10, max_epochs=3, random_state=5), X)
    starts = (oracle.on_grid(W * 1e-3, ETA) for W in (U, V))
    expected = oracle.learn(oracle.transitions([X]), *starts, oracle.on_grid(P), 1.0, ETA, 3)
    assert np.array_equal(plain.V_, expected[1])
    assert not hasattr(plain, "hidden_bias_")
    assert not hasattr(plain, "visible_bias_")


# -- everything else follows
# ----------------------------------------------------------------------------------------


def biased_networks():
    X = sa.datasets.random_periodic(4, 8, rng=1)
    nets = (
        sa.SequenceAttractor(20, bias=True, random_state=0),
        sa.VisibleNetwork(bias=True, random_state=0),
    )
    return X, [fit_quietly(net, X) for net in nets]


def test_a_model_file_holds_the_biases(tmp_path):
    X, nets = biased_networks()
    for net in nets:
        path = tmp_path / f"{type(net).__name__}.npz"
        net.save(path)
        again = sa.load(path)
        assert again.bias is True
        assert np.array_equal(again.visible_bias_, net.visible_bias_)
        states = np.array(oracle.all_patterns(8), dtype=np.int8)
        assert np.array_equal(again.step(states), net.step(states))
        for each in (net, again):  # learning continues from the same place
            quietly(each.partial_fit, X)
        assert np.array_equal(again.visible_bias_, net.visible_bias_)


def test_biases_are_parameters_that_recall_needs():
    _, (attractor, visible) = biased_networks()
    assert attractor.n_parameters() == 2 * 20 * 8 + 20 + 8
    assert visible.n_parameters() == 8 * 8 + 8


def test_layers_and_certificates_know_the_biases():
    X, nets = biased_networks()
    states = np.array(list(itertools.product((-1, 1), repeat=8)), dtype=np.int8)
    for net in nets:
        zeta = states
        for layer in net.layers():
            zeta = layer.states(layer.fields(zeta))
        assert np.array_equal(zeta, net.step(states))
        certificate = sa.certify(net, X)
        for x, x_next, radius in zip(X[:-1], X[1:], certificate.radius, strict=True):
            near = states[
                (states != x).sum(axis=1) <= radius
            ]  # none where the transition is not even stored
            assert not len(near) or (net.step(near) == x_next).all()
        assert (certificate.radius >= 0).all()


def test_attractors_of_a_network_with_biases_are_those_of_its_own_dynamics():
    net = fit_quietly(sa.SequenceAttractor(n_hidden=30, bias=True, random_state=0), XOR)
    attractors = sa.find_attractors(
        net, XOR, starts=np.array(oracle.all_patterns(2), dtype=np.int8)
    )
    assert len(attractors) == 1
    assert attractors[0].stored == 0


def test_inspection_asks_for_biases_where_they_could_help():
    opposite = np.array(
        [[1, 1], [-1, -1], [-1, 1]], dtype=np.int8
    )  # a pattern and its opposite both call -1
    advice = {}
    for name, X in (("xor", XOR), ("opposite", opposite), ("easy", XOR[1:3])):
        net = sa.zoo.LookupMemory().fit(X)
        advice[name] = inspect_network(
            net, np.asarray(X), np.array([len(X)]), starts=5
        ).paragraphs()["Without hidden neurons"]
    assert "without biases can store this" in advice["xor"]
    assert "not even with biases" in advice["xor"]
    assert "without biases can store this" in advice["opposite"]
    assert "A network without hidden neurons can store this, with biases" in advice["opposite"]
    assert "even without biases" in advice["easy"]
    assert "with biases" not in advice["easy"]


@pytest.mark.parametrize("name", ["attractor-bias", "perceptron-bias"])
def test_networks_with_biases_have_short_names_for_grids_and_comparisons(name):
    net = make_network(name, random_state=0)
    assert net.bias is True
    outcome = quietly(
        run_trial,
        {"network": name, "n": 20, "m": 60, "t": 6, "flips": 1},
        np.random.SeedSequence(0),
    )
    assert outcome["success"]


def test_a_grid_runs_networks_with_and_without_biases():
    grid = sa.study.Grid(
        {"network": ["attractor", "lookup"], "bias": [True, False], "n": 20, "t": 6}, trials=1
    )
    settings = [point.settings for point in grid.points()]
    assert [s.get("bias") for s in settings if s["network"] == "attractor"] == [True, False]
    assert len(settings) == 3  # a network without biases has one point


@pytest.mark.parametrize("bad", [1, 0, "yes", None])
def test_anything_but_true_and_false_is_rejected(bad):
    for net in (sa.SequenceAttractor(10, bias=bad), sa.VisibleNetwork(bias=bad)):
        with pytest.raises(TypeError, match="bias must be True or False"):
            clone(net).fit(XOR)


def test_the_command_line_learns_biases(run, tmp_path):
    np.save(tmp_path / "xor.npy", XOR.patterns)
    code, out, _ = run(
        "learn", "xor.npy", "--hidden", 30, "--set", "bias=true", "-o", "xor.npz", "--json"
    )
    assert code == 0
    assert json.loads(out)["transitions_exact"] == 1
    assert sa.load(tmp_path / "xor.npz").bias is True
