"""Learning rules and constraints that are passed in: against oracles written index by index."""

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import oracle
import oracle_own_learning
import seqattractor as sa
from every_network import all_states
from quiet import fit_quietly, quietly
from strategies import sequences

R, C = sa.rules, sa.constraints
X = sa.datasets.random_periodic(8, 40, rng=0)
RULES = {
    ("three-factor",): R.ThreeFactor(),
    ("soft margin", 0.5): R.SoftMargin(),
    ("soft margin", 0.07): R.SoftMargin(0.07),
    ("adatron", 1.1): R.Adatron(),
    ("adatron", 1.5): R.Adatron(aim=1.5),
    ("hebbian",): R.Hebbian(),
    ("stochastic", 0.1): R.Stochastic(),
    ("stochastic", 2): R.Stochastic(temperature=2),
}
CONSTRAINTS = {
    ("dilution", 0.2): C.Dilution(0.2),
    ("dilution", 0.6): C.Dilution(0.6),
    ("dale", 0.8): C.Dale(excitatory=0.8),
    ("dale", 0.3): C.Dale(0.3),
    ("levels", 2, 1.5): C.Levels(2, 1.5),
    ("levels", 4, 3.0): C.Levels(bits=4),
    ("bounded", 0.7): C.Bounded(0.7),
    ("bounded", 3.0): C.Bounded(),
    ("decay", 0.01): C.Decay(0.01),
    ("decay", 0.3): C.Decay(0.3),
}
rules = st.sampled_from(sorted(RULES))
constraints = st.lists(
    st.sampled_from(sorted(CONSTRAINTS)), max_size=3, unique_by=lambda each: each[0]
)


class OwnH(R.Rule):
    """The paper's rule, which the package cannot know to be it."""


def weights(net):
    names = ("U_", "V_", "W_", "hidden_bias_", "visible_bias_")
    return {name: getattr(net, name) for name in names if hasattr(net, name)}


def assert_equal(one, other):
    """The same weights and errors, bit for bit."""
    for name, array in weights(one).items():
        np.testing.assert_array_equal(array, getattr(other, name))
    for name in ("hidden_errors_", "visible_errors_"):
        if hasattr(one, name):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


# -- the paper's rule ------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    found=sequences(),
    cls=st.sampled_from([sa.SequenceAttractor, sa.FixedHiddenNetwork, sa.VisibleNetwork]),
    bias=st.booleans(),
    order=st.integers(1, 2),
    kappa=st.sampled_from([0.3, 1.0, 2.5]),
    eta=st.sampled_from([1e-3, 0.07, 0.3]),
    theta=st.sampled_from([0.0, 0.4]),
    scale=st.sampled_from([0.0, 1e-3, 0.3]),
    seed=st.integers(0, 999),
)
def test_the_papers_rule_is_the_same_however_it_is_passed(
    found, cls, bias, order, kappa, eta, theta, scale, seed
):
    given = {
        "bias": bias,
        "order": order,
        "kappa": kappa,
        "eta": eta,
        "init_scale": scale,
        "max_epochs": 30,
    }
    if cls is not sa.VisibleNetwork:
        given |= {"n_hidden": 5, "input_threshold": theta}
    found = [x for x in found if len(x) > order] or [np.ones((3, 4), dtype=np.int8)]
    nets = [
        fit_quietly(cls(**given, random_state=seed, **how), found)
        for how in (
            {},
            {"engine": "reference"},
            {"rule": R.ThreeFactor(), "constraints": []},
            {"rule": OwnH()},
            {"constraints": [C.Bounded(1e6)]},
        )
    ]
    for other in nets[1:]:
        assert_equal(nets[0], other)


def test_the_engine_that_learns_is_shown():
    assert sa.SequenceAttractor(rule=R.ThreeFactor(), constraints=[]).engine_ == "exact"
    assert sa.SequenceAttractor(engine="reference").engine_ == "reference"
    assert sa.VisibleNetwork(leak=0.5).engine_ == "reference"
    obey = [C.Dilution(0.5), C.Levels(3)]
    net = fit_quietly(sa.SequenceAttractor(10, max_epochs=5, constraints=obey), X)
    assert net.engine_ == "exact"
    for how in (
        {"rule": OwnH()},
        {"rule": R.Hebbian()},
        {"rule": (R.ThreeFactor(), R.Hebbian())},
        {"rule": OwnH(), "constraints": obey},
        {"engine": "reference", "constraints": obey},
    ):
        net = fit_quietly(sa.SequenceAttractor(10, max_epochs=5, **how), X)
        assert net.engine_ == "reference"
        assert "reference, a plain loop" in net._repr_html_()


# -- the kernel ----------------------------------------------------------------------------------


@settings(max_examples=80)
@given(
    found=sequences(),
    chosen=st.lists(
        st.sampled_from(sorted(CONSTRAINTS)), min_size=1, max_size=4, unique_by=lambda each: each[0]
    ),
    cls=st.sampled_from([sa.SequenceAttractor, sa.FixedHiddenNetwork, sa.VisibleNetwork]),
    bias=st.booleans(),
    order=st.integers(1, 2),
    kappa=st.sampled_from([0.1, 1.0, 2.5]),
    eta=st.sampled_from([1e-3, 0.07, 0.3]),
    theta=st.sampled_from([0.0, 0.4]),
    M=st.integers(1, 70),
    seed=st.integers(0, 999),
)
def test_under_constraints_the_kernel_learns_as_the_plain_loop_does(
    found, chosen, cls, bias, order, kappa, eta, theta, M, seed
):
    how = {"bias": bias, "order": order, "kappa": kappa, "eta": eta, "max_epochs": 12}
    if cls is not sa.VisibleNetwork:
        how |= {"n_hidden": M, "input_threshold": theta}
    how["constraints"] = [CONSTRAINTS[each] for each in chosen]
    found = [x for x in found if len(x) > order] or [np.ones((3, 4), dtype=np.int8)]
    compiled, plain = (
        fit_quietly(cls(engine=engine, random_state=seed, **how), found)
        for engine in ("exact", "reference")
    )
    assert (compiled.engine_, plain.engine_) == ("exact", "reference")
    assert_equal(compiled, plain)
    for name, array in weights(compiled).items():  # zeros have no sign
        assert array.tobytes() == getattr(plain, name).tobytes()


def test_a_constraint_of_ones_own_is_for_the_kernel_too():
    class Ring(C.Constraint):
        """Synapses from neurons nearby only."""

        def bounds(self, shape, unit, cells, rng):
            far = np.abs(np.subtract.outer(np.arange(shape[0]), np.arange(shape[1]))) > 30
            return np.where(far, 0, -np.inf), np.where(far, 0, np.inf)

        def decay(self):
            return 1e-4

    nets = [
        fit_quietly(sa.VisibleNetwork(constraints=[Ring()], random_state=0, engine=engine), X)
        for engine in ("exact", "reference")
    ]
    assert nets[0].engine_ == "exact"
    assert_equal(*nets)
    assert nets[0].W_[0, 31:].any() == np.False_


# -- against the oracle ----------------------------------------------------------------------------


@settings(max_examples=200)
@given(
    found=sequences(min_n=2),
    which=st.tuples(rules, rules),
    chosen=constraints,
    bias=st.booleans(),
    order=st.integers(1, 2),
    kappa=st.sampled_from([0.3, 1.0]),
    eta=st.sampled_from([0.01, 0.04]),  # larger ones are too much for the AdaTron
    theta=st.sampled_from([0.0, 0.4]),
    M=st.integers(1, 5),
    fixed=st.booleans(),
    seed=st.integers(0, 999),
)
def test_every_rule_and_constraint_learns_as_written_index_by_index(
    found, which, chosen, bias, order, kappa, eta, theta, M, fixed, seed
):
    found = [x for x in found if len(x) > order] or [np.ones((3, 4), dtype=np.int8)]
    N = found[0].shape[1]
    rng = np.random.default_rng(seed)
    scale = 0.1
    U = oracle.in_steps(
        rng.standard_normal((M, order * N)) * (1 if fixed and theta else scale), eta
    )
    V = oracle.in_steps(rng.standard_normal((N, M)) * scale, eta)
    P = oracle.in_steps(rng.standard_normal((M, N)), 1.0)
    p = np.zeros(M)
    cls = sa.FixedHiddenNetwork if fixed else sa.SequenceAttractor
    net = fit_quietly(
        cls(
            M,
            rule=(RULES[which[0]], RULES[which[1]]),
            constraints=[CONSTRAINTS[each] for each in chosen],
            **{"kappa": kappa, "eta": eta, "input_threshold": theta, "bias": bias, "order": order},
            **{"init_scale": scale, "max_epochs": 7, "random_state": seed},
        ),
        found,
    )
    if bias:  # as they were drawn
        start = fit_quietly(
            cls(
                M,
                input_threshold=theta,
                bias=True,
                order=order,
                init_scale=scale,
                max_epochs=1,
                eta=eta,
                random_state=seed,
                rule=Nothing(),
            ),
            found,
        )
        U = np.column_stack([U, oracle.in_steps(start.hidden_bias_, eta)])
        V = np.column_stack([V, oracle.in_steps(start.visible_bias_, eta)])
        p = start.target_bias_
    U, V, errors = oracle_own_learning.learn(
        oracle.transitions([x.tolist() for x in found], order),
        U.tolist(),
        V.tolist(),
        None if fixed else lambda x: [oracle.sign(oracle.dot(P[i], x) + p[i]) for i in range(M)],
        kappa=float(oracle.in_steps(kappa, eta)),
        rules=which,
        constraints=chosen,
        seed=np.random.default_rng(seed).integers(2**62, size=4),
        epochs=7,
        N=N,
        theta=float(oracle.in_steps(theta, eta)),
        bias=bias,
    )
    assert np.column_stack([net.hidden_errors_, net.visible_errors_]).tolist() == [
        list(each) for each in errors
    ]
    hidden, visible = (net.U_, net.V_)
    if bias:
        hidden = np.column_stack([hidden, net.hidden_bias_])
        visible = np.column_stack([visible, net.visible_bias_])
    np.testing.assert_array_equal(hidden, np.array(U) * eta)
    np.testing.assert_array_equal(visible, np.array(V) * eta)


class Nothing(R.Rule):
    """Learns nothing, and calls nothing an error."""

    def step(self, margin, rng):
        return np.zeros(len(margin))

    def is_error(self, margin):
        return np.zeros(len(margin), dtype=bool)


@given(
    found=sequences(),
    rule=rules,
    chosen=constraints,
    kappa=st.sampled_from([0.3, 1.0]),
    seed=st.integers(0, 999),
)
def test_so_does_a_network_without_hidden_neurons(found, rule, chosen, kappa, seed):
    N = found[0].shape[1]
    W = oracle.in_steps(np.random.default_rng(seed).standard_normal((N, N)) * 0.1, 0.07)
    net = fit_quietly(
        sa.VisibleNetwork(
            RULES[rule],
            constraints=[CONSTRAINTS[each] for each in chosen],
            **{
                "kappa": kappa,
                "eta": 0.07,
                "init_scale": 0.1,
                "max_epochs": 7,
                "random_state": seed,
            },
        ),
        found,
    )
    _, W, errors = oracle_own_learning.learn(
        oracle.transitions([x.tolist() for x in found]),
        None,
        W.tolist(),
        None,
        kappa=float(oracle.in_steps(kappa, 0.07)),
        rules=(rule, rule),
        constraints=chosen,
        seed=np.random.default_rng(seed).integers(2**62, size=4),
        epochs=7,
        N=N,
    )
    assert net.visible_errors_.tolist() == [visible for _, visible in errors]
    np.testing.assert_array_equal(net.W_, np.array(W) * 0.07)


# -- what constraints promise ----------------------------------------------------------------------


def test_constraints_hold_after_every_presentation_and_together():
    together = [C.Dilution(0.4), C.Dale(0.7), C.Levels(3, limit=2.0)]
    net = sa.SequenceAttractor(60, constraints=together, bias=True, order=2, random_state=0)
    missing = signs = None
    for _ in range(8):
        net.partial_fit(X)
        for W in (net.U_, net.V_):
            unit = net.kappa / np.sqrt(W.shape[1])
            levels = W / (2.0 * unit / 3)
            np.testing.assert_allclose(levels, np.rint(levels), atol=1e-3)
            assert np.abs(W).max() <= 2.0 * unit * (1 + 1e-3)
            assert not ((W > 0).any(axis=0) & (W < 0).any(axis=0)).any()
        zero = [W == 0 for W in (net.U_, net.V_)]
        missing = zero if missing is None else [a & b for a, b in zip(missing, zero, strict=True)]
        signs = np.sign(net.U_.sum(axis=0))
    for W in missing:  # those that never were anything else
        assert 0.5 < W.mean() < 0.95
    # One neuron has the same sign in all patterns that another neuron sees.
    first, second = signs[: X.shape[1]], signs[X.shape[1] :]
    assert (first * second >= 0).all()
    assert (first * second > 0).any()


@given(bits=st.integers(2, 20), limit=st.floats(0.1, 9.0), kappa=st.floats(0.1, 3.0))
def test_levels_are_as_many_as_bits_allow_and_all_are_reached(bits, limit, kappa):
    most, high = 2 ** (bits - 1) - 1, limit * kappa / 2
    net = sa.VisibleNetwork(
        R.Hebbian(),
        constraints=[C.Levels(bits, limit)],
        **{"kappa": kappa, "eta": high / 5, "random_state": 0},
    )
    for _ in range(20):
        net.partial_fit(np.ones((2, 4), dtype=np.int8))
    np.testing.assert_allclose(net.W_.max(), high, rtol=1e-7 * most)
    levels = net.W_ / net.W_.max() * most
    np.testing.assert_allclose(levels, np.rint(levels), atol=1e-9 * most)


def test_constraints_of_ones_own_are_checked():
    for low, high in ((1.0, 2.0), (-np.ones(3), 1.0), (np.nan, 1.0), (-np.ones((2, 40, 40)), 1)):
        bounds = lambda self, *args, both=(low, high): both  # noqa: E731
        bad = type("Bad", (C.Constraint,), {"bounds": bounds})
        with pytest.raises(ValueError, match=r"Bad.bounds must return|broadcast"):
            sa.VisibleNetwork(constraints=[bad()]).fit(X)


def test_which_synapses_exist_depends_on_the_seed_alone(tmp_path):
    def exists(**how):
        net = fit_quietly(
            sa.SequenceAttractor(30, max_epochs=3, constraints=[C.Dilution(0.3)], **how), X
        )
        return net, net.V_ != 0

    net, first = exists(random_state=1)
    assert np.array_equal(first, exists(random_state=1)[1])
    assert not np.array_equal(first, exists(random_state=2)[1])
    net.save(tmp_path / "net.npz")
    other = sa.datasets.random_periodic(12, 40, rng=5)
    on, again = (each.partial_fit(other) for each in (net, sa.load(tmp_path / "net.npz")))
    assert_equal(on, again)
    assert not (on.V_ != 0)[~first].any()
    assert on.get_params()["constraints"] == [C.Dilution(0.3)]
    assert again.get_params()["constraints"] == (C.Dilution(0.3),)


def test_a_random_generator_gives_every_fit_other_synapses():
    rng = np.random.default_rng(0)
    net = sa.VisibleNetwork(constraints=[C.Dilution(0.3)], random_state=rng, max_epochs=3)
    first = fit_quietly(net, X).W_ != 0
    assert not np.array_equal(first, fit_quietly(net, X).W_ != 0)


@pytest.mark.parametrize("kind", ["hebbian", "three-factor", "soft margin", "sparse"])
@settings(max_examples=60)
@given(
    size=st.tuples(st.integers(2, 6), st.integers(2, 6)),
    chosen=constraints,
    bias=st.booleans(),
    method=st.sampled_from(["count", "tight", "exact"]),
    seed=st.integers(0, 10**6),
)
def test_no_flips_within_a_certified_radius_change_what_a_constrained_network_does(
    kind, size, chosen, bias, method, seed
):
    T, N = size
    found = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), (T, N))
    obey = [CONSTRAINTS[each] for each in chosen]
    how = {"max_epochs": 30, "on_conflict": "learn", "random_state": seed}
    if kind == "sparse":
        net = sa.SparseSequenceAttractor(12, constraints=obey, noise=int(bias), **how)
    else:
        rule = next(RULES[each] for each in sorted(RULES) if each[0] == kind)
        net = sa.SequenceAttractor(7, rule=rule, constraints=obey, bias=bias, eta=0.05, **how)
    try:
        net = fit_quietly(net, found)
    except ValueError:  # where chance has left the sparse network no synapse of a sign
        reject()
    certificate = sa.certify(net, found, method=method)
    states = all_states(N)
    answers = net.step(states)
    for x, radius, breaking, theorem in zip(
        found[:-1], certificate.radius, certificate.breaking, certificate.theorem_4, strict=True
    ):
        flips = (states != x).sum(axis=1)
        wrong = flips[(answers != net.step(x)).any(axis=1)]
        fewest = wrong.min(initial=N + 1)
        if radius >= 0:
            assert theorem <= radius < fewest <= breaking


# -- rules of one's own ----------------------------------------------------------------------------


def test_a_rule_sees_margins_in_units_of_kappa_of_all_neurons_of_a_layer():
    def seen(unit):
        margins = []

        class Watch(R.Rule):
            def step(self, margin, rng):
                margins.append(margin.copy())
                return super().step(margin, rng)

        sizes = {"kappa": unit, "eta": unit / 1000, "init_scale": unit / 1000}
        sa.SequenceAttractor(80, rule=Watch(), random_state=0, **sizes).fit(X)
        return margins

    one, four = seen(1.0), seen(4.0)
    assert {len(margin) for margin in one} == {80, 40}
    assert np.array_equal(np.concatenate(one), np.concatenate(four))


def test_what_a_rule_of_ones_own_answers_is_checked():
    for method, answer, why in (
        ("step", 1.0, "of shape \\(30,\\)"),
        ("step", np.zeros((30, 1)), "shape \\(30, 1\\)"),
        ("step", np.full(30, np.nan), "not finite"),
        ("step", np.array(["x"] * 30), "<U1"),
        ("step", None, "object"),
        ("is_error", False, "of shape"),
    ):
        bad = type("Bad", (R.Rule,), {method: lambda self, *args, answer=answer: answer})
        net = sa.SequenceAttractor(30, rule=bad(), random_state=0)
        with pytest.raises(ValueError, match=f"Bad.{method} must return a number.*{why}"):
            net.fit(X)
        assert not hasattr(net, "n_features_in_")


def test_a_rule_that_runs_away_is_rejected_and_changes_nothing():
    class Runaway(R.Rule):
        def step(self, margin, rng):
            return 1e6 * margin

    net = sa.SequenceAttractor(30, random_state=0).fit(X)
    before = {name: array.copy() for name, array in weights(net).items()}
    net.set_params(rule=Runaway(), warm_start=True)
    with pytest.raises(ValueError, match=r"too large|not finite|more than"):
        net.fit(X)
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(net, name), array)
    fresh = sa.VisibleNetwork(rule=Runaway(), random_state=0)
    with pytest.raises(ValueError, match=r"too large|not finite|more than"):
        fresh.fit(X)


def test_an_error_in_a_rule_rolls_the_network_back():
    class Breaks(R.Rule):
        def step(self, margin, rng):
            if len(margin) == 40:
                raise RuntimeError("no more")
            return super().step(margin, rng)

    net = sa.SequenceAttractor(30, random_state=0).fit(X)
    before = {name: array.copy() for name, array in weights(net).items()}
    net.rule = Breaks()
    with pytest.raises(RuntimeError, match="no more"):
        net.partial_fit(X[::-1])
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(net, name), array)
    assert not hasattr(net, "learning_seed_")


def test_a_file_holds_rules_of_the_package_and_no_others(tmp_path):
    path = tmp_path / "net.npz"
    for rule in (*RULES.values(), (R.ThreeFactor(), R.Hebbian()), None):
        net = fit_quietly(sa.SequenceAttractor(10, rule=rule, max_epochs=3, random_state=0), X)
        net.save(path)
        assert sa.load(path).rule == rule
        assert sa.load(path).engine_ == net.engine_
    net = fit_quietly(sa.VisibleNetwork(rule=OwnH(), random_state=0), X)
    path.unlink()
    with pytest.raises(
        TypeError, match=r"no file can hold rule of the class OwnH.*set rule to None"
    ):
        net.save(path)
    assert not path.exists()
    net.set_params(rule=None).save(path)
    assert sa.load(path).score(X) == 1


@pytest.mark.parametrize(
    ("parameters", "error", "why"),
    [
        ({"rule": "magic"}, ValueError, "there is no rule 'magic'; the rules are Adatron"),
        ({"rule": "SoftMargn(1)"}, ValueError, "did you mean 'SoftMargin'"),
        ({"rule": "SoftMargin("}, ValueError, "must be written as in"),
        ({"rule": "SoftMargin(x=1)"}, ValueError, "takes numbers for width"),
        ({"rule": "Hebbian(1)"}, ValueError, "takes nothing"),
        ({"rule": "SoftMargin(-1)"}, ValueError, "width must be above 0"),
        ({"rule": "S" * 10**6}, ValueError, "must be written as in"),
        ({"rule": "Dale(0.8)"}, ValueError, "there is no rule"),
        ({"rule": ""}, ValueError, "must be written as in"),
        ({"rule": "Hebbian and"}, ValueError, "must be written as in"),
        ({"rule": "Hebbian and Hebbian and Hebbian"}, ValueError, "(there are 3|one rule)"),
        ({"rule": ()}, ValueError, "there are 0"),
        ({"rule": 3}, TypeError, "rule must be an object"),
        ({"rule": lambda W, x, y: 0}, TypeError, "rule must be an object"),
        ({"rule": R.Hebbian}, TypeError, "rule must be an object"),
        ({"rule": (R.Hebbian(),) * 3}, ValueError, "there are 3"),
        ({"rule": C.Dale()}, TypeError, "rule must be an object"),
        ({"constraints": 3}, TypeError, "constraints must be a list"),
        ({"constraints": C.Dale()}, TypeError, "constraints must be a list"),
        ({"constraints": [C.Dale]}, TypeError, "constraints must be a list"),
        ({"constraints": [R.Hebbian()]}, TypeError, "constraints must be a list"),
        ({"constraints": [C.Dale(), C.Dale(0.2)]}, ValueError, "Dale is there twice"),
        ({"constraints": "Dilution"}, ValueError, "takes numbers for connected"),
        ({"constraints": "Dilution(0.2), Dale"}, ValueError, "must be written as in"),
    ],
)
@pytest.mark.parametrize("cls", [sa.SequenceAttractor, sa.VisibleNetwork, sa.FixedHiddenNetwork])
def test_what_is_no_rule_or_no_constraint_is_rejected(cls, parameters, error, why):
    net = cls(**parameters)
    with pytest.raises(error, match=why) as caught:
        net.fit(X)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("make", "bad"),
    [
        (R.SoftMargin, [0, -1, float("nan"), "x", None, True, 10**400]),
        (R.Adatron, [1, 0.5, float("inf"), None]),
        (R.Stochastic, [0, -0.1, float("nan"), [1]]),
        (C.Dilution, [0, -0.1, 1.1, float("nan"), "x"]),
        (C.Dale, [-0.1, 1.1, float("nan"), None]),
        (C.Levels, [1, 0, 25, 2.5, "x", True]),
        (C.Bounded, [0, -1, float("inf"), None]),
        (C.Decay, [0, 1, -0.5, float("nan"), "x"]),
    ],
)
def test_numbers_that_make_no_sense_are_rejected(make, bad):
    for value in bad:
        with pytest.raises((ValueError, TypeError), match="must"):
            make(value)


@pytest.mark.parametrize("cls", [sa.HebbianReadoutNetwork, sa.LearnedTargetsAttractor])
def test_networks_with_a_rule_of_their_own_take_no_other(cls):
    for how in ({"rule": R.SoftMargin()}, {"constraints": [C.Dilution(0.5)]}):
        with pytest.raises(ValueError, match="learns by a rule of its own"):
            cls(10, **how).fit(X)


def test_a_cluster_learns_by_the_papers_rule_only():
    with pytest.raises(ValueError, match="a cluster learns by the paper's rule"):
        sa.SequenceAttractor(10, rule=R.SoftMargin()).fit_on_cluster(None, X)


def test_a_pair_of_rules_needs_two_layers():
    with pytest.raises(ValueError, match="rule must be one rule or None"):
        sa.VisibleNetwork((R.Hebbian(), R.Hebbian())).fit(X)


def test_layers_name_the_margin_they_were_trained_for_where_a_rule_has_one():
    for rule, trained in ((None, True), (R.SoftMargin(), True), (R.Hebbian(), False)):
        for net in (
            sa.SequenceAttractor(30, rule=rule, max_epochs=3, random_state=0),
            sa.VisibleNetwork(rule, max_epochs=3, random_state=0),
        ):
            assert {layer.kappa is not None for layer in fit_quietly(net, X).layers()} == {trained}
    net = fit_quietly(sa.SequenceAttractor(30, rule=(R.Hebbian(), R.Adatron()), max_epochs=3), X)
    assert [layer.kappa for layer in net.layers()] == [None, 1000]
    assert net.traits().local
    assert sa.SequenceAttractor(rule=OwnH()).traits().local is None


# -- where networks are taken ----------------------------------------------------------------------


def test_rules_and_constraints_take_part_in_comparisons_capacities_and_sweeps(tmp_path):
    soft = sa.SequenceAttractor(100, rule=R.SoftMargin(), constraints=[C.Dilution(0.8)])
    own = sa.SequenceAttractor(100, rule=OwnH())
    paper = sa.SequenceAttractor(100)
    networks = {"soft": soft, "own": own, "paper": paper}
    comparison = sa.compare("random", networks, values=[5, 12], trials=2)
    for T in (5, 12):
        rows = [comparison.row(name, T)["successes"] for name in ("own", "paper")]
        assert rows[0] == rows[1]
    assert comparison.row("soft", 5)["successes"] == 2
    capacity = sa.measure_capacity(own, n=20, max_trials=4)
    assert capacity.rows()
    grid = sa.study.Grid(
        {
            **{"network": "attractor", "n": 30, "m": 60, "t": 6},
            "rule": [R.SoftMargin(0.2), None],
            "constraints": [None, [C.Dilution(0.9), C.Dale()], "Levels(8)"],
        },
        trials=1,
    )
    assert sa.study.run_sweep(grid, tmp_path / "study.db").added == 6
    assert sa.study.run_sweep(grid, tmp_path / "study.db").added == 0
    assert sa.study.Grid.from_json(grid.as_json()).as_json() == grid.as_json()
    with pytest.raises(TypeError, match="OwnH"):
        sa.study.Grid({"network": "attractor", "rule": OwnH()})


def test_they_go_with_a_search_for_hidden_neurons_and_with_rehearsal():
    net = sa.SequenceAttractor("auto", rule=R.SoftMargin(), random_state=0).fit(X)
    assert net.score(X) == 1
    assert net.n_hidden_ in (25, 50, 100, 200)
    net = sa.SequenceAttractor(100, rule=R.SoftMargin(), random_state=0)
    other = sa.datasets.random_periodic(8, 40, rng=7)
    net.add(X, rehearse="cues")
    quietly(net.add, other, rehearse="cues")
    assert (net.score(X), net.score(other)) == (1, 1)


# -- the sparse rule -------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    chosen=constraints,
    size=st.tuples(st.integers(3, 12), st.integers(4, 70), st.integers(9, 70)),
    how=st.fixed_dictionaries(
        {
            "order": st.integers(1, 2),
            "noise": st.sampled_from(["auto", 0, 3]),
            "clean_first": st.booleans(),
            "code": st.sampled_from(["winners", "thresholds"]),
        }
    ),
    seed=st.integers(0, 999),
)
def test_the_sparse_rule_has_constraints_in_both_engines(chosen, size, how, seed):
    T, N, M = size
    found = sa.datasets.random_periodic(T + 2, N, rng=seed)
    how |= {"max_epochs": 12, "on_conflict": "learn", "random_state": seed}
    obey = [CONSTRAINTS[each] for each in chosen]
    try:
        compiled, plain = (
            fit_quietly(
                sa.SparseSequenceAttractor(M, constraints=obey, engine=engine, **how), found
            )
            for engine in ("exact", "reference")
        )
    except ValueError:  # where chance has left no synapse of a sign
        reject()
    assert (compiled.engine_, plain.engine_) == ("exact", "reference")
    for name in ("U_", "V_", "P_", "theta_", "hidden_bias_", "hidden_errors_", "visible_errors_"):
        np.testing.assert_array_equal(getattr(compiled, name), getattr(plain, name))


def test_synapses_of_the_sparse_network_obey_after_every_presentation(tmp_path):
    obey = [C.Dilution(0.8), C.Dale(0.5), C.Levels(4, limit=2.0)]
    net = sa.SparseSequenceAttractor(80, constraints=obey, random_state=0, max_epochs=60)
    for _ in range(5):
        net.partial_fit(X)
        for W, active in ((net.U_, X.shape[1]), (net.V_, net.n_winners_)):
            limit = 2.0 * net.kappa / np.sqrt(active)
            levels = W / limit * 7
            np.testing.assert_allclose(levels, np.rint(levels), atol=0.1)  # in whole units
            assert 0 < np.abs(W).max() <= limit * 1.01
            assert not ((W > 0).any(axis=0) & (W < 0).any(axis=0)).any()
    missing = net.V_ == 0
    net.save(tmp_path / "net.npz")
    loaded = sa.load(tmp_path / "net.npz")
    assert loaded.constraints == tuple(obey)
    np.testing.assert_array_equal(net.partial_fit(X).V_, loaded.partial_fit(X).V_)
    assert missing.mean() > 0.15


def test_the_sparse_network_learns_under_constraints():
    found = sa.datasets.random_periodic(40, 60, rng=1)
    for obey in ([C.Dilution(0.9)], [C.Levels(4)], [C.Bounded(), C.Decay(1e-6)]):
        net = sa.SparseSequenceAttractor(100, constraints=obey, random_state=0, max_epochs=200)
        net = fit_quietly(net, found)
        assert net.score(found) == 1, obey
        assert sa.certify(net, found).radius.min() >= 0


def test_constraints_under_which_nothing_can_be_stored_are_named():
    net = sa.SparseSequenceAttractor(50, constraints=[C.Dale(excitatory=1)])
    with pytest.raises(ValueError, match="no synapse of V could be negative"):
        net.fit(X)
    with pytest.raises(TypeError, match="constraints must be a list of constraints"):
        sa.SparseSequenceAttractor(50, constraints=3).fit(X)
