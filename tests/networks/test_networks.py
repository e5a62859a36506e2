"""What all networks share: recall, score, streams, clear errors."""

import copy
import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.networks.registry import make_network, parameters_of

X = sa.datasets.random_periodic(9, 30, rng=0)


def trained(**parameters):
    return sa.SequenceAttractor(60, random_state=0, **parameters).fit(X)


def test_a_batch_of_cues_is_recalled_like_each_cue_alone():
    net = trained()
    cues = sa.noise.flip(X[:4], 3, rng=1)
    batch = net.recall(cues, steps=5)
    assert batch.shape == (4, 6, 30)
    for cue, path in zip(cues, batch, strict=True):
        assert np.array_equal(net.recall(cue, steps=5), path)
        assert np.array_equal(path[0], cue)
        assert np.array_equal(net.step(cue), path[1])


def test_zero_steps_give_back_the_cue():
    assert np.array_equal(trained().recall(X[0], steps=0), X[:1])


def test_noise_during_recall_flips_k_units_before_every_step():
    class Echo(sa.SequenceMemory):
        """Answers with what it sees."""

        def fit(self, X, lengths=None):
            self.transitions(X, lengths)
            return self

        def next_patterns(self, states, memory=None):
            return states.copy()

    path = Echo().fit(X).recall(X[0], steps=6, noise=2, rng=0)
    assert [int((a != b).sum()) for a, b in itertools.pairwise(path)] == [2] * 6
    assert np.array_equal(Echo().fit(X).recall(X[0], steps=6, noise=2, rng=0), path)


def test_recall_survives_a_little_noise_at_every_step():
    path = trained().recall(X[0], steps=len(X) - 1, noise=1, rng=0)
    assert np.array_equal(path, X)


@settings(max_examples=20)
@given(order=st.integers(1, 3), seed=st.integers(0, 99))
def test_a_network_of_order_k_predicts_from_the_last_k_patterns(order, seed):
    rng = np.random.default_rng(seed)
    Y = rng.choice([-1, 1], (8, 12)).astype(np.int8)
    Y[5] = Y[1]  # a repeated pattern, usually with another successor
    net = fit_quietly(
        sa.SequenceAttractor(80, order=order, on_conflict="learn", random_state=seed), Y
    )
    assert net.U_.shape == (80, 12 * order)
    assert net.V_.shape == (12, 80)
    cue = Y[:order] if order > 1 else Y[0]
    path = net.recall(cue, steps=2)
    assert path.shape == (order + 2, 12)
    assert np.array_equal(net.step(cue), path[order])
    batch = net.recall(np.stack([cue, cue]), steps=2)
    assert np.array_equal(batch[1], path)
    assert net.order_ == order
    if net.converged_:
        assert np.array_equal(net.recall(cue, steps=8 - order), Y)


def test_order_auto_takes_the_least_context_that_resolves_all_conflicts():
    Y = np.array([[1, 1, 1], [1, -1, 1], [1, 1, 1], [-1, -1, 1], [-1, 1, -1]])
    net = fit_quietly(sa.SequenceAttractor(40, order="auto", random_state=0), Y)
    assert net.order_ == sa.find_conflicts(Y).context == 2
    assert np.array_equal(net.recall(Y[:2], steps=3), Y)


def test_score_is_the_fraction_of_exact_transitions():
    net = trained()
    assert net.score(X) == 1.0
    wrong = X.copy()
    wrong[4, 0] *= -1  # spoils one target; the transition from it may or may not survive
    assert net.score(wrong) in (6 / 8, 7 / 8)


def test_a_stream_learns_what_a_fit_learns():
    stream = sa.SequenceAttractor(60, random_state=0)
    while not getattr(stream, "converged_", False):
        stream.partial_fit(X)
    batch = trained()
    assert stream.n_iter_ == batch.n_iter_
    assert np.array_equal(stream.visible_errors_, batch.visible_errors_)
    np.testing.assert_allclose(stream.U_, batch.U_, rtol=0, atol=1e-12)


def test_a_new_sequence_can_be_added_to_a_trained_network():
    Y = sa.datasets.random_periodic(6, 30, rng=7)
    net = trained()
    before = net.score(Y)
    for _ in range(500):
        net.partial_fit([X, Y])
        if net.converged_:
            break
    assert before < 1
    assert net.score([X, Y]) == 1.0
    assert sa.retrieved(net.recall(sa.noise.flip(Y[0], 2, rng=0), steps=20), Y)


def test_one_hot_and_hebbian_networks_learn_from_a_stream_too():
    A, B = sa.datasets.random_periodic(4, 200, rng=1), sa.datasets.random_periodic(4, 200, rng=2)
    for net in (sa.OneHotNetwork(), sa.zoo.HebbianMemory()):
        net.partial_fit(A)
        net.partial_fit(B)
        assert net.score([A, B]) == 1.0
    whole = sa.zoo.HebbianMemory().fit([A, B])
    assert np.array_equal(net.W_, whole.W_)


def test_pseudo_inverse_stores_independent_patterns_exactly():
    net = sa.zoo.PseudoInverseMemory().fit(X)
    assert net.score(X) == 1.0
    assert not hasattr(net, "partial_fit")  # it needs all patterns at once


def test_learning_reports_its_progress_and_stops_on_request():
    seen = []
    net = sa.SequenceAttractor(60, random_state=0, max_epochs=50)
    with pytest.warns(ConvergenceWarning):
        net.fit(X, callback=lambda *progress: seen.append(progress) or len(seen) == 3)
    assert [epoch for epoch, _, _ in seen] == [1, 2, 3]
    assert [h for _, h, _ in seen] == net.hidden_errors_.tolist()
    assert [v for _, _, v in seen] == net.visible_errors_.tolist()
    assert net.n_iter_ == 3
    assert not net.converged_


def test_verbose_prints_the_errors(capsys):
    trained(verbose=2)
    assert "epoch 1: " in capsys.readouterr().err


def test_errors_left_over_give_a_convergence_warning():
    with pytest.warns(
        ConvergenceWarning, match=r"after 1 epoch with \d+ hidden and \d+ visible errors left"
    ) as of_attractor:
        sa.SequenceAttractor(5, max_epochs=1, random_state=0).fit(X)
    with pytest.warns(
        ConvergenceWarning,
        match=r"visible errors left .*: allow more epochs \(max_epochs\) or store less",
    ) as of_visible:
        sa.VisibleNetwork(max_epochs=1, random_state=0).fit(X)
    assert (
        of_attractor[0].filename == of_visible[0].filename == __file__
    )  # where the user called fit


def test_a_conflict_is_rejected_by_name_and_can_be_learned_on_request():
    Y = np.array([[1, 1, 1], [1, -1, 1], [1, 1, 1], [-1, -1, 1]])
    with pytest.raises(
        ValueError, match=r"pattern 0 of sequence 0 occurs again as pattern 2 .* use order=2"
    ):
        sa.SequenceAttractor(10).fit(Y)
    with pytest.raises(ValueError, match="no context resolves"):
        sa.SequenceAttractor(10, order="auto").fit([Y[:2], Y[2:]])
    net = fit_quietly(
        sa.SequenceAttractor(10, on_conflict="learn", max_epochs=5, random_state=0), Y
    )
    assert not net.converged_


def test_the_network_holds_no_reference_to_the_patterns():
    net = trained()
    assert not any(np.shares_memory(v, X) for v in vars(net).values() if isinstance(v, np.ndarray))


def test_the_same_seed_gives_the_same_network():
    assert np.array_equal(trained().U_, trained().U_)
    other = sa.SequenceAttractor(60, random_state=1).fit(X)
    assert not np.array_equal(trained().U_, other.U_)


def test_a_warning_gives_only_advice_that_helps():
    with pytest.warns(
        ConvergenceWarning,
        match=r"8 of 8 transitions are not stored: use more hidden neurons or store less\.$",
    ):
        sa.HebbianReadoutNetwork(5, random_state=0).fit(X)
    with pytest.warns(ConvergenceWarning, match=r"transitions are not stored: store less\.$"):
        sa.zoo.HebbianMemory().fit(sa.datasets.random_periodic(9, 10, rng=0))


def test_initial_weights_have_standard_deviation_1e_3_not_variance():
    net = fit_quietly(sa.FixedHiddenNetwork(300, max_epochs=1, random_state=0), X)
    assert np.std(net.U_) == pytest.approx(1e-3, rel=0.05)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_hidden": 0}, ValueError, "n_hidden must be at least 1, but it is 0"),
        ({"n_hidden": 2.5}, TypeError, "n_hidden must be a whole number"),
        ({"n_jobs": "a"}, TypeError, "n_jobs must be a whole number"),
        ({"random_state": -1}, ValueError, "a seed must be 0 or more"),
        ({"eta": 0}, ValueError, "eta must be above 0"),
        ({"eta": -1e-3}, ValueError, "eta must be above 0"),
        ({"kappa": 0}, ValueError, "kappa must be above 0"),
        ({"kappa": float("nan")}, ValueError, "kappa must be finite"),
        ({"kappa": "1"}, TypeError, "kappa must be a number"),
        ({"init_scale": -1}, ValueError, "init_scale must be 0 or more"),
        ({"max_epochs": 0}, ValueError, "max_epochs must be at least 1"),
        ({"engine": "gpu"}, ValueError, "engine must be one of"),
        ({"order": 0}, ValueError, "order must be a whole number, 1 or more"),
        ({"order": 9}, ValueError, "at least 10: 9 of context and a successor"),
        ({"on_conflict": "x"}, ValueError, "on_conflict must be"),
        ({"target_threshold": None}, TypeError, "target_threshold must be a number"),
        ({"random_state": 0.5}, TypeError, "a seed is a whole number"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(parameters, error, message):
    with pytest.raises(error, match=message) as caught:
        sa.SequenceAttractor(**parameters).fit(X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda net: net.recall(X[0][:-1], steps=1),
            r"the cue has the shape \(29,\), but this network takes \(30,\)",
        ),
        (lambda net: net.recall(X[None], steps=1), r"shape \(1, 9, 30\)"),
        (lambda net: net.recall(X[:0], steps=1), r"shape \(0, 30\)"),
        (lambda net: net.recall(X[0] * 2, steps=1), r"cue must hold only -1 and.*cue\[0\] is -?2"),
        (lambda net: net.recall(X[0], steps=-1), "steps must be a whole number, 0 or more"),
        (lambda net: net.recall(X[0], steps=1, noise=31), "from 0 to 30"),
        (lambda net: net.step(X[0, 0]), "the state has the shape"),
        (lambda net: net.score(X[:, :5]), "X has 5 features, but the network is expecting 30"),
        (
            lambda net: net.partial_fit(X[:, :5]),
            "X has 5 features, but the network is expecting 30",
        ),
    ],
)
def test_bad_cues_get_one_clear_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call(trained())


@pytest.mark.parametrize("order", [1, 2])
def test_the_first_patterns_are_one_cue_whatever_the_order_is(order):
    net = sa.OneHotNetwork(order=order).fit(X)
    path = net.recall(X[: net.order_], steps=3)
    assert np.array_equal(path, X[: order + 3])
    for B in (1, 2):
        batch = np.stack([X[: net.order_]] * B)
        assert np.array_equal(net.recall(batch, steps=3), [path] * B)
        assert np.array_equal(net.step(batch), [path[order]] * B)


def test_one_row_is_one_cue_and_a_batch_of_one_has_three_dimensions():
    net = trained()
    assert net.recall(X[0], steps=2).shape == net.recall(X[:1], steps=2).shape == (3, 30)
    assert net.recall(X[:1, None], steps=2).shape == (1, 3, 30)
    assert (
        net.step(X[:1]).shape == net.predict(X[:1]).shape == (1, 30)
    )  # which go row by row, and continue nothing


def test_a_network_that_learned_nothing_raises():
    for call in (
        lambda n: n.recall(X[0], steps=1),
        lambda n: n.score(X),
        lambda n: n.save("never-written.npz"),
    ):
        with pytest.raises(NotFittedError):
            call(sa.SequenceAttractor())


@pytest.mark.parametrize(
    "net",
    [
        sa.SequenceAttractor(),
        sa.SparseSequenceAttractor(),
        sa.OneHotNetwork(),
        sa.zoo.SparseDistributedMemory(),
    ],
    ids=repr,
)
def test_what_hidden_neurons_do_is_asked_in_one_way_that_is_checked(net):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        net.hidden(X[0])
    with pytest.raises(
        ValueError, match=r"the state has the shape \(29,\), but this network takes \(30,\)"
    ):
        net.fit(X).hidden(X[0, :-1])
    assert net.hidden(X[0]).shape == net.hidden(X[:1])[0].shape
    assert not hasattr(net, "hidden_states")


def test_a_fit_that_fails_leaves_the_network_as_it_was():
    net = trained()
    names = (
        "U_",
        "V_",
        "P_",
        "hidden_errors_",
        "visible_errors_",
        "n_iter_",
        "converged_",
        "n_features_in_",
        "order_",
    )
    before, attributes = {name: copy.copy(getattr(net, name)) for name in names}, set(vars(net))

    def fail(epoch, hidden, visible):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        net.fit(sa.datasets.random_periodic(5, 30, rng=1), callback=fail)
    assert set(vars(net)) == attributes
    assert all(np.array_equal(getattr(net, name), before[name]) for name in names)


def test_a_new_fit_forgets_what_was_attached_to_the_old_one():
    net = trained()
    net.metadata_ = {"frame_shape": [4, 5]}
    net.fit(sa.datasets.random_periodic(5, 30, rng=1))
    assert not hasattr(net, "metadata_")


@pytest.mark.parametrize(
    "name",
    [name for name in sa.networks.REGISTRY if hasattr(sa.networks.network_class(name), "_present")],
)
@pytest.mark.parametrize("learned", [True, False], ids=["learned", "new"])
def test_a_partial_fit_that_is_stopped_leaves_the_network_as_it_was(name, learned, monkeypatch):
    known = parameters_of(name)
    rng = np.random.default_rng(7)
    small = {"n_hidden": 12, "n_latent": 8, "max_epochs": 3, "random_state": rng}
    net, twin = (
        make_network(name, **{k: copy.deepcopy(v) for k, v in small.items() if k in known})
        for _ in range(2)
    )
    if learned:
        net.partial_fit(X)
        twin.partial_fit(X)
    present = inspect.getattr_static(type(net), "_present")

    def stopped(self, transitions):
        present(self, transitions)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(net), "_present", stopped)
    with pytest.raises(KeyboardInterrupt):
        net.partial_fit(sa.datasets.random_periodic(5, X.shape[1], rng=1))
    monkeypatch.undo()
    assert set(vars(net)) == set(vars(twin))
    for _ in range(2):  # and it continues as if nothing had happened
        for attribute, value in vars(twin).items():
            if isinstance(value, np.ndarray):
                assert np.array_equal(getattr(net, attribute), value), attribute
        net.partial_fit(X)
        twin.partial_fit(X)


def test_a_rule_that_fails_in_the_middle_of_a_stream_leaves_the_weights_as_they_were():
    calls = []

    class Fails(sa.rules.Hebbian):
        def step(self, margin, rng):
            calls.append(1)
            if len(calls) == len(X) + 2:  # the third transition of the second presentation
                raise RuntimeError("enough")
            return super().step(margin, rng)

    net = sa.VisibleNetwork(Fails(), random_state=0).partial_fit(X)
    before = net.W_.copy()
    with pytest.raises(RuntimeError, match="enough"):
        net.partial_fit(X)
    assert np.array_equal(net.W_, before)
    assert net.n_iter_ == len(net.visible_errors_) == 1


def test_a_fit_that_fails_after_set_params_is_rolled_back():
    net = trained()
    before = net.U_.copy()
    with pytest.raises(ValueError, match="n_hidden"):
        net.set_params(n_hidden=-1).fit(X)
    assert np.array_equal(net.U_, before)
    assert net.recall(X[0], steps=2).shape == (3, X.shape[1])
