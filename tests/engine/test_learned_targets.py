"""Learned targets: the projection that gives hidden neurons their targets learns by the update of
V.
"""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from test_biases import start as start_with_biases

import oracle
import seqattractor as sa
from quiet import fit_quietly, quietly
from seqattractor import rule
from seqattractor.engine import reference
from seqattractor.engine.exact import engine as exact
from seqattractor.engine.problem import Feedback, Problem
from seqattractor.networks.registry import make_network
from seqattractor.study.trial import run_trial
from strategies import sequences

ETA = 2.0**-10  # with this eta and such a kappa every sum is exact in float64
EPOCHS = 12
KINDS = {"random": sa.SequenceAttractor, "learned": sa.LearnedTargetsAttractor}
LAMBDAS = [0.0, 0.02, 0.3, 5.0]


def start(M, N, order, seed, scale, bias):
    """U, V, P and the biases as the network draws them."""
    U, V, P, biases = start_with_biases(M, N, order, seed, scale)
    return U, V, P, biases if bias else None


# -- the rule
# --------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(
    X=sequences(),
    M=st.integers(1, 6),
    order=st.integers(1, 2),
    learned_feedback=st.sampled_from(LAMBDAS),
    bias=st.booleans(),
    scale=st.sampled_from([0.0, 1e-3]),
    target_threshold=st.sampled_from([0.0, 1.5]),
    input_threshold=st.sampled_from([0.0, 0.5]),
    kappa=st.sampled_from([1.0, 3 * ETA]),
    engine=st.sampled_from(["exact", "reference"]),
    seed=st.integers(0, 2**16),
)
def test_both_engines_equal_the_oracle(
    X,
    M,
    order,
    learned_feedback,
    bias,
    scale,
    target_threshold,
    input_threshold,
    kappa,
    engine,
    seed,
):
    X = [x for x in X if len(x) > order] or [np.array([[1], [-1], [1]], dtype=np.int8)]
    net = sa.LearnedTargetsAttractor(
        M,
        learned_feedback=learned_feedback,
        kappa=kappa,
        eta=ETA,
        bias=bias,
        init_scale=scale,
        max_epochs=EPOCHS,
        target_threshold=target_threshold,
        input_threshold=input_threshold,
        order=order,
        random_state=seed,
        engine=engine,
    )
    fit_quietly(net, X)
    U, V, P, biases = start(M, X[0].shape[1], order, seed, scale, bias)
    thresholds = target_threshold, input_threshold
    how = {"biases": biases, "lam": learned_feedback}
    expected = oracle.learn(
        oracle.transitions(X, order), U, V, P, kappa, ETA, EPOCHS, *thresholds, **how
    )
    assert net.hidden_errors_.tolist() == expected[2]
    assert net.visible_errors_.tolist() == expected[3]
    learned = [net.U_, net.V_, *([net.hidden_bias_, net.visible_bias_] if bias else [])]
    for ours, theirs in zip(learned, (*expected[:2], *expected[4:-1]), strict=True):
        assert np.array_equal(ours, theirs)
    assert np.array_equal(net.Q_ * ETA, expected[-1])  # whole numbers, whatever the start


@settings(max_examples=25)
@given(
    T=st.integers(3, 40),
    N=st.integers(10, 40),
    M=st.integers(1, 80),
    learned_feedback=st.sampled_from(LAMBDAS),
    bias=st.booleans(),
    eta=st.sampled_from([1e-3, 0.07, 2.0**-6]),
    seed=st.integers(0, 2**16),
)
def test_the_kernel_makes_the_updates_of_the_plain_loop(T, N, M, learned_feedback, bias, eta, seed):
    """From random weights and with steps that are no power of two, at the sizes that people use."""
    X = sa.datasets.random_periodic(T, N, rng=seed)
    how = {"learned_feedback": learned_feedback, "bias": bias, "eta": eta, "max_epochs": 25}
    plain, compiled = (
        fit_quietly(sa.LearnedTargetsAttractor(M, engine=engine, random_state=seed, **how), X)
        for engine in ("reference", "exact")
    )
    assert np.array_equal(plain.hidden_errors_, compiled.hidden_errors_)
    assert np.array_equal(plain.visible_errors_, compiled.visible_errors_)
    assert np.array_equal(plain.Q_, compiled.Q_)
    for name in ("U_", "V_", *(("hidden_bias_", "visible_bias_") if bias else ())):
        np.testing.assert_allclose(
            getattr(plain, name), getattr(compiled, name), rtol=1e-11, atol=1e-14
        )


@settings(max_examples=40)
@given(
    X=sequences(),
    M=st.integers(1, 6),
    learned_feedback=st.sampled_from(LAMBDAS),
    seed=st.integers(0, 2**16),
)
def test_Q_is_what_V_has_learned(X, M, learned_feedback, seed):
    """Feedback synapses are learned on their own, and end as the transpose of what V learned."""
    N = X[0].shape[1]
    rng = np.random.default_rng(seed)
    U, V, Q = rng.standard_normal((M, N)), rng.standard_normal((N, M)), np.zeros((M, N))
    V0 = V.copy()
    for _ in range(3):
        for x, x_next in oracle.transitions(X):
            x, x_next = np.array(x, dtype=np.float64), np.array(x_next, dtype=np.float64)
            z = rule.learned_target(rng.standard_normal(M), Q, x_next, learned_feedback)
            rule.learn_transition(U, V, x, x_next, z, kappa=1.0, eta=0.25, Q=Q)
    np.testing.assert_allclose(Q.T, V - V0, atol=1e-12)


@pytest.mark.parametrize("engine", ["exact", "reference"])
@settings(max_examples=25)
@given(
    X=sequences(),
    M=st.integers(1, 6),
    scale=st.sampled_from([0.0, 1e-3]),
    bias=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_without_feedback_targets_are_those_of_P(engine, X, M, scale, bias, seed):
    how = {
        "eta": ETA,
        "init_scale": scale,
        "bias": bias,
        "max_epochs": EPOCHS,
        "random_state": seed,
        "engine": engine,
    }
    fixed = fit_quietly(sa.SequenceAttractor(M, **how), X)
    none = fit_quietly(sa.LearnedTargetsAttractor(M, learned_feedback=0, **how), X)
    assert np.array_equal(fixed.hidden_errors_, none.hidden_errors_)
    assert np.array_equal(fixed.visible_errors_, none.visible_errors_)
    assert np.array_equal(fixed.U_, none.U_)
    assert np.array_equal(fixed.V_, none.V_)
    x_next = np.vstack(X)
    assert np.array_equal(fixed.hidden_targets(x_next), none.hidden_targets(x_next))


def test_the_start_is_that_of_random_targets():
    """Nothing more is drawn: U, V and P of a seed are the same for both kinds of targets."""
    X = sa.datasets.random_periodic(8, 20, rng=0)
    rng = np.random.default_rng(5)
    U, V, P = (rng.standard_normal(shape) for shape in ((30, 20), (20, 30), (30, 20)))
    net = sa.LearnedTargetsAttractor(30, random_state=5).fit(X)
    assert np.array_equal(net.P_, oracle.on_grid(P))
    np.testing.assert_allclose(net.V_, oracle.on_grid(1e-3 * V, 1e-3) + 1e-3 * net.Q_.T, rtol=1e-12)
    steps = (net.U_ - oracle.on_grid(1e-3 * U, 1e-3)) / 1e-3
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)


def test_learning_continues_from_what_was_learned():
    """The engines take the feedback of before, so that ten epochs are six and then four, also for
    wide integers.
    """
    X = sa.datasets.random_periodic(12, 15, rng=3).patterns
    rng = np.random.default_rng(0)
    drive = rule.target_drive(rng.standard_normal((20, 15)), X[1:])
    ends = []
    for module in (reference, exact):
        for pieces in ((10,), (6, 4), (6, 10**10)):
            U, V, Q = np.zeros((20, 15)), np.zeros((15, 20)), np.zeros((20, 15), dtype=np.int64)
            for epochs in pieces:
                stop = (
                    min(epochs, 4) if epochs > 10 else epochs
                )  # so many epochs could be, that int32 would not be enough
                feedback = Feedback(drive, Q, 0.3)
                problem = Problem(
                    X[:-1], X[1:], V=V, U=U, kappa=1.0 / ETA, feedback=feedback, max_epochs=epochs
                )
                learned = module.learn(problem, callback=lambda e, *_, stop=stop: e == stop)
                U, V, Q = learned.U, learned.V, learned.Q
            ends.append((U, V, Q))
    assert ends[0][2].any()
    for end in ends[1:]:
        assert all(np.array_equal(ours, theirs) for ours, theirs in zip(end, ends[0], strict=True))


@pytest.mark.parametrize("engine", ["exact", "reference"])
def test_a_callback_can_end_learning(engine):
    X = sa.datasets.random_periodic(10, 20, rng=0)
    seen = []

    def stop(epoch, hidden, visible):
        seen.append((hidden, visible))
        return epoch == 3

    how = {"random_state": 0, "engine": engine}
    stopped = quietly(sa.LearnedTargetsAttractor(30, **how).fit, X, callback=stop)
    short = fit_quietly(sa.LearnedTargetsAttractor(30, max_epochs=3, **how), X)
    assert stopped.n_iter_ == 3
    assert seen == list(
        zip(short.hidden_errors_.tolist(), short.visible_errors_.tolist(), strict=True)
    )
    assert np.array_equal(stopped.U_, short.U_)
    assert np.array_equal(stopped.Q_, short.Q_)


# -- a network with learned targets
# ---------------------------------------------------------------------------------------


def learned_network(**parameters):
    X = sa.datasets.random_periodic(9, 8, rng=1)
    return X, fit_quietly(
        sa.LearnedTargetsAttractor(20, learned_feedback=0.1, random_state=0, **parameters), X
    )


@pytest.mark.parametrize("bias", [False, True])
def test_hidden_neurons_learn_the_targets_of_the_learned_projection(bias):
    X = sa.datasets.random_periodic(30, 60, rng=2)
    net = sa.LearnedTargetsAttractor(150, learned_feedback=0.1, bias=bias, random_state=2).fit(X)
    assert net.converged_
    targets = net.hidden_targets(X[1:])
    drive = X[1:] @ (net.P_ + net.learned_feedback * net.Q_).T + (net.target_bias_ if bias else 0.0)
    assert np.array_equal(targets, np.where(drive >= 0, 1, -1))
    assert np.array_equal(net.hidden(X[:-1]), targets)
    of_P = X[1:] @ net.P_.T + (net.target_bias_ if bias else 0.0)
    assert not np.array_equal(targets, np.where(of_P >= 0, 1, -1))  # they did change
    activity = sa.hidden_activity(net, X)
    assert activity.follows_P == 1


def test_recall_and_certificates_depend_on_U_and_V_alone():
    X, net = learned_network()
    states = np.array(oracle.all_patterns(8), dtype=np.int8)
    for x, following in zip(states, net.step(states), strict=True):
        assert following.tolist() == oracle.step(net.U_, net.V_, x.tolist())
    other = fit_quietly(sa.SequenceAttractor(20, random_state=0), X)
    other.U_, other.V_ = net.U_, net.V_
    assert np.array_equal(other.step(states), net.step(states))
    assert np.array_equal(sa.certify(other, X).radius, sa.certify(net, X).radius)
    assert net.n_parameters() == 2 * 20 * 8


@pytest.mark.parametrize("bias", [False, True])
def test_a_model_file_holds_the_feedback(tmp_path, bias):
    _, net = learned_network(bias=bias)
    net.save(tmp_path / "model.npz")
    again = sa.load(tmp_path / "model.npz")
    assert again.learned_feedback == 0.1
    assert np.array_equal(again.Q_, net.Q_)
    more = sa.datasets.random_periodic(7, 8, rng=5)
    for each in (net, again):  # learning continues from the same place
        quietly(each.partial_fit, more)
    assert np.array_equal(again.Q_, net.Q_)
    assert np.array_equal(again.U_, net.U_)


def test_learned_targets_are_copied_by_clone():
    _, net = learned_network()
    twin = clone(net)
    assert twin.learned_feedback == 0.1
    assert not hasattr(twin, "Q_")


def test_negative_feedback_is_rejected():
    with pytest.raises(ValueError, match="learned_feedback must be 0 or more"):
        sa.LearnedTargetsAttractor(10, learned_feedback=-0.1).fit(sa.datasets.xor())


def test_a_cluster_is_rejected_since_U_cannot_learn_ahead_of_V():
    net = sa.LearnedTargetsAttractor(10)
    with pytest.raises(ValueError, match="learned targets cannot be learned on a cluster"):
        net.fit_on_cluster(None, sa.datasets.xor())


def test_the_short_name_runs_in_grids_and_comparisons():
    net = make_network("attractor-learned-targets", random_state=0)
    assert type(net) is sa.LearnedTargetsAttractor
    point = {"network": "attractor-learned-targets", "n": 20, "m": 60, "t": 6, "flips": 1}
    assert quietly(run_trial, point, np.random.SeedSequence(0))["success"]


def test_the_command_line_learns_targets(run, tmp_path):
    np.save(tmp_path / "x.npy", sa.datasets.random_periodic(8, 20, rng=0).patterns)
    how = (
        "--hidden",
        40,
        "--network",
        "attractor-learned-targets",
        "--set",
        "learned_feedback=0.05",
    )
    code, out, _ = run("learn", "x.npy", *how, "-o", "x.npz", "--json")
    assert code == 0
    assert json.loads(out)["transitions_exact"] == 1
    net = sa.load(tmp_path / "x.npz")
    assert net.learned_feedback == 0.05


@pytest.mark.slow
def test_learned_targets_store_what_random_ones_store():
    """T = 50 of Table 1, where every network of the paper succeeds: 20 fresh trials."""
    successes = 0
    for trial in range(20):
        rng = np.random.default_rng([50, trial, 8])
        X = sa.datasets.random_periodic(50, 100, rng=rng)
        net = sa.LearnedTargetsAttractor(500, random_state=rng).fit(X)
        successes += sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng), steps=200), X)
    assert successes >= 19


@pytest.mark.slow
def test_learned_targets_matter_where_hidden_neurons_are_few():
    """T = 80 without noise: with 60 hidden neurons V is the bottleneck, and learned targets make
    its task easier.
    """
    stored = dict.fromkeys(KINDS, 0)
    for trial in range(20):
        X = sa.datasets.random_periodic(80, 100, rng=[80, trial, 9])
        for targets in stored:
            stored[targets] += fit_quietly(KINDS[targets](60, random_state=trial), X).score(X) == 1
    assert stored["random"] <= 3
    assert stored["learned"] >= 15


@pytest.mark.slow
def test_learned_targets_do_not_move_table_1():
    """T = 80, M = 500, 10 flips, where success falls: in 60 fresh pairs neither kind of targets is
    far ahead.
    """
    successes = dict.fromkeys(KINDS, 0)
    for trial in range(60):
        X = sa.datasets.random_periodic(80, 100, rng=[80, trial, 10])
        cue = sa.noise.flip(X[0], 10, rng=trial)
        for targets in successes:
            net = fit_quietly(KINDS[targets](500, random_state=trial), X)
            successes[targets] += sa.retrieved(net.recall(cue, steps=320), X)
    assert all(15 <= k <= 50 for k in successes.values())
    assert -25 < successes["learned"] - successes["random"] < 15  # three standard errors are 16
