"""Certificates: what is promised holds for every set of flips, and the exact number is the exact
number.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.analysis._breaking_sets import breaking_set, smallest_breaking_set
from seqattractor.analysis._certificate_bound import Transition, flip_radius, sets_above
from seqattractor.analysis._threshold_view import Layer, threshold_view
from seqattractor.analysis._work import Work


def network(kind, weights, N, M, seed):
    """A network with random weights: whole, or multiples of 1/1024 (many ties) or 0.1 (ties up to
    rounding), or normal.
    """
    rng = np.random.default_rng(seed)

    def draw(*shape):
        whole = rng.integers(-3, 4, size=shape).astype(float)
        return {
            "whole": whole,
            "binary": whole / 1024,
            "tenths": whole * 0.1,
            "normal": rng.standard_normal(shape),
        }[weights]

    bias = kind.endswith("with biases")
    if kind.startswith("visible"):
        net = sa.VisibleNetwork(bias=bias)
        net.W_ = draw(N, N)
    elif kind == "sparse":
        net = sa.SparseSequenceAttractor(n_hidden=M)
        net.U_, net.hidden_bias_, net.V_ = draw(M, N), draw(M), draw(N, M)
    else:
        net = sa.SequenceAttractor(n_hidden=M, input_threshold=float(draw(1)[0]), bias=bias)
        net.U_, net.V_ = draw(M, N), draw(N, M)
    if bias:
        net.hidden_bias_, net.visible_bias_ = draw(M), draw(N)
    net.n_features_in_, net.order_ = N, 1
    x = rng.choice(np.array([-1, 1], dtype=np.int8), size=N)
    return net, np.array([x, net.step(x)])


def fewest_breaking_flips(net, X):
    """The oracle: step the network from all 2**N corruptions of the first pattern."""
    N = X.shape[1]
    masks = np.array(list(itertools.product((1, -1), repeat=N)), dtype=np.int8)
    # Sums that are zero but for rounding may come out differently in a batch and alone: both must
    # be right.
    wrong = np.any(net.step(X[0] * masks) != X[1], axis=1) | [
        np.any(net.step(X[0] * mask) != X[1]) for mask in masks
    ]
    flips = (masks < 0).sum(axis=1)
    return int(flips[wrong].min()) if wrong.any() else N + 1


def never_ties_but_for_rounding(which):
    """Where sums can be zero up to rounding the promise stays on the safe side of exact: 0.1 + 0.2
    - 0.3, and silent neurons.
    """
    return which[1] in ("whole", "binary") or (which[1] == "normal" and which[0] != "sparse")


networks = st.tuples(
    st.sampled_from(
        ["attractor", "attractor with biases", "sparse", "visible", "visible with biases"]
    ),
    st.sampled_from(["whole", "binary", "tenths", "normal"]),
    st.integers(1, 8),
    st.integers(1, 7),
    st.integers(0, 10**6),
)


@settings(max_examples=250)
@given(networks, st.sampled_from(["count", "tight"]))
def test_no_set_of_certified_flips_ever_breaks_a_transition(which, method):
    net, X = network(*which)
    certificate = sa.certify(net, X, method=method)
    truth = fewest_breaking_flips(net, X)
    assert certificate.radius[0] < truth
    if certificate.radius[0] >= 0:
        assert truth <= certificate.breaking[0]
        assert certificate.theorem_4[0] <= certificate.radius[0]
    else:  # only where the answer itself hangs on rounding
        assert which[1] == "tenths"


@settings(max_examples=120)
@given(networks)
def test_the_exact_certificate_is_the_brute_force_number(which):
    net, X = network(*which)
    certificate = sa.certify(net, X, method="exact")
    truth = fewest_breaking_flips(net, X)
    assert certificate.radius[0] < truth
    if never_ties_but_for_rounding(which):
        assert certificate.radius[0] == truth - 1
        assert certificate.breaking[0] == truth
        assert certificate.exact[0]


@pytest.mark.parametrize("node_limit", [0, 8])
def test_a_limit_of_nodes_only_leaves_the_bracket_wider(node_limit):
    X = sa.datasets.random_periodic(8, 40, rng=0)
    net = sa.SequenceAttractor(n_hidden=150, random_state=0).fit(X)
    X = X[3:5]
    tight = sa.certify(net, X)
    assert not tight.exact.all()
    limited, again = (sa.certify(net, X, method="exact", node_limit=node_limit) for _ in range(2))
    assert np.all(tight.radius <= limited.radius)
    assert np.all(limited.radius < limited.breaking)
    assert np.all(limited.breaking <= tight.breaking)
    np.testing.assert_array_equal(limited.radius, again.radius)
    np.testing.assert_array_equal(limited.breaking, again.breaking)


@settings(max_examples=40)
@given(networks)
def test_the_programs_alone_find_the_brute_force_number(which):
    net, X = network(*which)
    view = threshold_view(net)
    assume(view.hidden is not None and never_ties_but_for_rounding(which))
    radius, units = smallest_breaking_set(Transition.each(view, X[:1], X[1:2])[0], radius=0)
    truth = fewest_breaking_flips(net, X)
    assert radius == truth - 1
    assert (len(units) == 0) == (truth == X.shape[1] + 1)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 7), st.booleans())
def test_one_neuron_withstands_exactly_its_radius(seed, n, whole):
    rng = np.random.default_rng(seed)
    weights = (
        rng.integers(-3, 4, size=(1, n)).astype(float) if whole else rng.standard_normal((1, n))
    )
    layer = Layer(weights, np.array([float(rng.integers(-2, 3))]), -1, 1)
    x = rng.choice(np.array([-1, 1], dtype=np.int8), size=(1, n))
    radius = int(flip_radius(layer, x, layer.fields(x))[0, 0])
    masks = np.array(list(itertools.product((1, -1), repeat=n)), dtype=np.int8)
    changed = layer.states(layer.fields(x * masks))[:, 0] != layer.states(layer.fields(x))[0, 0]
    flips = (masks < 0).sum(axis=1)
    assert radius == (flips[changed].min() - 1 if changed.any() else n)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 4))
def test_all_sets_with_a_large_sum_are_listed(seed, n, r):
    rng = np.random.default_rng(seed)
    r = min(r, n)
    values = rng.integers(0, 6, size=n).astype(float)
    need = float(rng.integers(0, 12))
    listed = {tuple(sorted(s)) for s in sets_above(values, need, r, 10**6).tolist()}
    assert listed == {
        s for s in itertools.combinations(range(n), r) if values[list(s)].sum() >= need
    }
    assert sets_above(values, 0.0, r, 0) is None


@pytest.fixture(scope="module")
def trained():
    X = sa.datasets.random_periodic(16, 50, rng=0)
    return sa.SequenceAttractor(n_hidden=120, random_state=0).fit(X), X


@pytest.fixture(scope="module")
def certificate(trained):
    return sa.certify(*trained)


def test_random_and_adversarial_attacks_within_the_radius_fail(trained, certificate):
    net, X = trained
    rng = np.random.default_rng(1)
    assert certificate.radius.min() >= 1
    for t, r in enumerate(certificate.radius):
        noisy = sa.noise.flip(np.repeat(X[t][None], 400, axis=0), int(r), rng)
        assert np.all(net.step(noisy) == X[t + 1])
        # An adversary who follows the gradient of each visible neuron's field through the hidden
        # margins.
        h = X[t] @ net.U_.T
        harm = -(X[t + 1][:, None] * net.V_) @ (
            (np.sign(h) / np.abs(h))[:, None] * -np.sign(h)[:, None] * net.U_ * X[t]
        )
        for order in (np.argsort(-harm, axis=1), np.argsort(harm, axis=1)):
            states = np.repeat(X[t][None], len(order), axis=0)
            np.put_along_axis(
                states, order[:, :r], -np.take_along_axis(states, order[:, :r], axis=1), axis=1
            )
            assert np.all(net.step(states) == X[t + 1])


def test_every_breaking_set_breaks(trained, certificate):
    net, X = trained
    for t, units in enumerate(certificate.breaking_sets):
        assert len(units) == certificate.breaking[t] > certificate.radius[t]
        noisy = X[t].copy()
        noisy[units] *= -1
        assert np.any(net.step(noisy) != X[t + 1])


def test_tight_promises_no_less_than_counting_and_both_beat_theorem_4(trained, certificate):
    count, tight = sa.certify(*trained, method="count"), certificate
    assert np.all(tight.radius >= count.radius)
    assert np.all(count.radius >= count.theorem_4)
    assert tight.radius.sum() > count.theorem_4.sum()


def test_recall_with_certified_noise_before_every_step_never_errs(trained, certificate):
    net, X = trained
    r = int(certificate.sequence_radius[0])
    path = net.recall(X[0], steps=5 * 15, noise=r, rng=3)
    assert np.array_equal(path[1:], np.tile(X[1:], (5, 1)))


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize(
    "net", [sa.zoo.HebbianMemory(), sa.SequenceAttractor(n_hidden=80, random_state=0)]
)
def test_certified_noise_before_every_step_never_errs_though_flips_stay_in_the_window(net, order):
    X = np.asarray(sa.close_loops(sa.datasets.random_periodic(4, 30, rng=0), order=order))
    net = clone(net).set_params(order=order).fit(X)
    certificate = sa.certify(net, X)
    truth = np.array([X[t % 3] for t in range(order + 400)])
    assert certificate.sequence_radius[0] >= 3
    path = net.recall(X[:order], steps=400, noise=int(certificate.sequence_radius[0]), rng=3)
    assert np.array_equal(path, truth)
    # What one step withstands is no promise for every step: flips of several steps add up.
    assert certificate.radius.min() > certificate.sequence_radius[0]
    path = net.recall(X[:order], steps=400, noise=int(certificate.radius.min()), rng=3)
    assert not np.array_equal(path, truth)
    assert (
        f"up to {certificate.sequence_radius[0]} flips before each step" in certificate.describe()
    )
    assert f"in a window of {order} patterns" in certificate.describe()


def test_an_adversary_with_the_noise_radius_in_each_pattern_of_the_window_fails():
    X = sa.datasets.random_periodic(6, 30, rng=0)
    net = sa.SequenceAttractor(n_hidden=80, random_state=0, order=2).fit(X)
    certificate = sa.certify(net, X)
    rng = np.random.default_rng(0)
    assert certificate.noise_radius.min() >= 1
    for t, r in zip(certificate.time, certificate.noise_radius, strict=True):
        window = np.repeat(X[None, t - 1 : t + 1], 400, axis=0)
        assert np.all(
            net.step(sa.noise.flip(window.reshape(-1, 30), int(r), rng).reshape(window.shape))
            == X[t + 1]
        )
        # The flips of a set that breaks the transition, as many in each pattern as are promised to
        # be harmless.
        units = certificate.breaking_sets[t - 1]
        state = X[t - 1 : t + 1].copy()
        for pattern in (0, 1):
            state[pattern, units[units // 30 == pattern][:r] % 30] *= -1
        assert np.all(net.step(state) == X[t + 1])


def test_theorem_4_follows_from_kappa_and_the_largest_weight(trained):
    net, X = trained
    promised = sa.certify(net, X, method="count", attack=False).theorem_4
    r = int(promised[0])
    assert 2 * r * np.abs(net.U_).max() < net.kappa <= 2 * (r + 1) * np.abs(net.U_).max()
    loose = sa.SequenceAttractor(n_hidden=150, random_state=0, max_epochs=1)
    assert np.all(sa.certify(fit_quietly(loose, X), X, method="count", attack=False).theorem_4 == 0)


def test_the_construction_of_theorem_1_withstands_nothing():
    X = sa.datasets.random_periodic(12, 30, rng=0)
    certificate = sa.certify(sa.OneHotNetwork(tolerance=0).fit(X), X)
    assert np.all(certificate.radius == 0)
    assert np.all(certificate.breaking == 1)


def test_without_hidden_neurons_the_number_is_exact():
    X = sa.datasets.random_periodic(10, 60, rng=0)
    certificate = sa.certify(sa.VisibleNetwork(random_state=0).fit(X), X)
    assert certificate.exact.all()
    assert certificate.radius.min() >= 1


def test_a_sparse_network_is_certified_with_its_bias_and_its_zeros():
    X = sa.datasets.random_periodic(30, 60, rng=0)
    net = fit_quietly(sa.SparseSequenceAttractor(n_hidden=150, random_state=0, max_epochs=100), X)
    certificate = sa.certify(net, X)
    rng = np.random.default_rng(0)
    assert certificate.radius.max() >= 1
    for t, r in enumerate(certificate.radius):
        if r >= 0:
            assert np.all(
                net.step(sa.noise.flip(np.repeat(X[t][None], 200, axis=0), int(r), rng)) == X[t + 1]
            )


def test_transitions_that_are_not_made_are_marked():
    X = sa.datasets.random_periodic(10, 40, rng=0)
    net = sa.SequenceAttractor(n_hidden=80, random_state=0).fit(X)
    other = X.copy()
    other[5, 3] *= -1
    certificate = sa.certify(net, other)
    assert certificate.radius[4] == -1
    assert certificate.breaking[4] == 0
    assert certificate.margin[4] < 0
    assert certificate.sequence_radius[0] == -1
    assert "pattern 4 of sequence 0" in certificate.describe()


def test_several_sequences_and_a_context_are_distinguished():
    A, B = sa.datasets.random_periodic(8, 30, rng=0), sa.datasets.random_periodic(6, 30, rng=1)
    net = sa.SequenceAttractor(n_hidden=80, random_state=0, order=2).fit([A, B])
    certificate = sa.certify(net, [A, B])
    assert certificate.n_inputs == 60
    assert list(certificate.sequence) == [0] * 6 + [1] * 4
    assert list(certificate.time) == [1, 2, 3, 4, 5, 6, 1, 2, 3, 4]
    assert len(certificate.sequence_radius) == 2
    assert certificate.radius.min() >= 0


def test_what_was_trained_longer_withstands_more():
    X = sa.datasets.random_periodic(10, 60, rng=0)
    weak = fit_quietly(sa.SequenceAttractor(n_hidden=150, random_state=0, kappa=0.01), X)
    strong = sa.SequenceAttractor(n_hidden=150, random_state=0, kappa=1.0).fit(X)
    assert sa.certify(strong, X).radius.min() > sa.certify(weak, X).radius.min()


def test_measured_robustness_is_perfect_within_the_certificate_and_falls_beyond(
    trained, certificate
):
    net, X = trained
    least = int(certificate.radius.min())
    curve = sa.robustness_curve(net, X, flips=[0, least, 25], trials=300, rng=0)
    assert curve.successes[0] == curve.successes[1] == 300
    assert curve.rate[2] < 0.1
    assert curve.half == 25
    assert str(curve.at(0)).startswith("300/300")
    assert sa.robustness_curve(net, X, trials=20, rng=0).flips[-1] == 25


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda net, X: sa.certify(net, X, method="quick"), "method must be one of"),
        (lambda net, X: sa.certify(net, X[:, :10]), "10 features"),
        (lambda net, X: sa.certify(net, X[:1]), "at least 2"),
        (lambda net, X: sa.robustness_curve(net, X, flips=[51]), "from 0 to 50"),
    ],
)
def test_bad_input_is_rejected_in_one_sentence(trained, call, words):
    with pytest.raises(ValueError, match=words):
        call(*trained)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "rival", [sa.zoo.PredictiveCodingMemory(), sa.zoo.DenseSequenceMemory(degree=1)]
)
def test_rivals_that_are_threshold_neurons_are_certified_exactly(rival, order):
    X = sa.datasets.random_periodic(4, 16 // order, rng=3)
    net = fit_quietly(clone(rival).set_params(order=order), X)
    certificate = sa.certify(net, X)
    truth = [
        fewest_breaking_flips_of_a_window(net, X[t : t + order], X[t + order])
        for t in range(4 - order)
    ]
    assert max(truth) > 1
    np.testing.assert_array_equal(certificate.radius, np.array(truth) - 1)
    np.testing.assert_array_equal(certificate.breaking, truth)


def fewest_breaking_flips_of_a_window(net, window, target):
    """Try all sets of flips in the last patterns (order, N), the small ones first."""
    for r in range(window.size + 1):
        sets = list(itertools.combinations(range(window.size), r))
        states = np.repeat(window.reshape(1, -1), len(sets), axis=0)
        for state, units in zip(states, sets, strict=True):
            state[list(units)] *= -1
        if np.any(net.recall(states.reshape(-1, *window.shape), steps=1)[:, -1] != target):
            return r
    return window.size + 1


def test_networks_without_thresholds_are_rejected():
    X = sa.datasets.xor()
    with pytest.raises(sa.networks.NotApplicable, match="not a network of threshold neurons"):
        sa.certify(sa.zoo.LookupMemory().fit(X), X)


@pytest.mark.slow
def test_trained_networks_keep_their_promises_under_all_corruptions():
    rng = np.random.default_rng(20)
    for _ in range(60):
        N, M, T = int(rng.integers(6, 12)), int(rng.integers(5, 40)), int(rng.integers(3, 12))
        X = sa.datasets.random_periodic(T, N, rng=rng)
        seed = int(rng.integers(10**6))
        kinds = [
            sa.SequenceAttractor(n_hidden=M, random_state=seed, max_epochs=100),
            sa.SequenceAttractor(
                n_hidden=M, random_state=seed, max_epochs=100, init_scale=0.0, eta=2.0**-10
            ),
            sa.SequenceAttractor(
                n_hidden=M, random_state=seed, max_epochs=50, kappa=0.05, input_threshold=0.5
            ),
            sa.SparseSequenceAttractor(n_hidden=M, random_state=seed, max_epochs=60),
        ]
        net = fit_quietly(kinds[int(rng.integers(4))], X)
        certificate = sa.certify(net, X)
        for t in range(T - 1):
            truth = fewest_breaking_flips(net, X[t : t + 2])
            assert certificate.radius[t] < truth
            assert certificate.radius[t] < 0 or truth <= certificate.breaking[t]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["paper", "walker"])
def test_certificates_come_in_time(kind):
    """For N=100, M=500, T=70 in 2 s and for the walker (N=11264, M=200) in 20 s of one core."""
    import time

    X = sa.datasets.random_periodic(70, 100, rng=0) if kind == "paper" else sa.datasets.walker()
    net = sa.SequenceAttractor(n_hidden=500 if kind == "paper" else 200, random_state=0).fit(X)
    start = time.process_time()
    certificate = sa.certify(net, X)
    assert time.process_time() - start < (2 if kind == "paper" else 20)
    assert certificate.radius.min() >= 1


@pytest.mark.parametrize("limit", [1.0, 1e6, 3e7])
def test_a_search_that_ends_early_proves_less_and_nothing_wrong(limit):
    X = sa.datasets.random_periodic(12, 200, rng=0)
    net = sa.SequenceAttractor(n_hidden=300, random_state=0).fit(X)
    full, short, again = (
        sa.certify(net, X),
        sa.certify(net, X, work_limit=limit),
        sa.certify(net, X, work_limit=limit),
    )
    assert (short.radius <= full.radius).all()
    assert (short.breaking >= full.breaking).all()
    assert short.radius.sum() < full.radius.sum() or short.breaking.sum() > full.breaking.sum()
    assert list(short.rows()) == list(again.rows())  # work is counted, not timed
    for t, units in enumerate(short.breaking_sets):
        cue = X[t].copy()
        cue[units] *= -1
        assert len(units) == short.breaking[t]
        assert (net.step(cue) != X[t + 1]).any()


def test_an_attack_on_a_robust_network_stays_within_its_work_limit():
    """Flips by the hundred are needed here: each exchange of two of them tries many thousands of
    sets.
    """
    X = sa.datasets.random_periodic(20, 1200, rng=0)
    view = threshold_view(sa.SequenceAttractor(n_hidden=300, random_state=0).fit(X))
    transition = Transition.each(view, X[:1], X[1:2])[0]
    done = {}
    for limit in (1e8, 5e8, 1e12):
        work = Work(limit)
        units = breaking_set(transition, at_least=1, work=work)
        done[limit] = limit - work.left
        assert len(units) > 50
    assert done[1e8] < 2e8
    assert done[5e8] < 1e9 < done[1e12]
