"""Scaffold memory: labels that step on by themselves, exactly as defined; where it reads out, and
where it finds a cue.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_scaffold
import seqattractor as sa
from quiet import fit_quietly
from strategies import any_sequences

X = sa.datasets.random_periodic(21, 60, rng=0)


def readout(net, T):
    """What is read off the labels 0 to T - 1: W_sp times the hidden codes, which W_pg makes of the
    phases.
    """
    first = np.cumsum(net.periods_) - net.periods_
    drive = net.W_pg_[:, first + np.arange(T)[:, None] % net.periods_].sum(axis=2).T
    codes = (
        np.where(drive >= 0, 1.0, -1.0)
        if net.code == "sign"
        else np.maximum(drive - net.threshold, 0)
    )
    return np.where(codes @ net.W_sp_.T >= 0, 1, -1)


@settings(max_examples=40, deadline=None)
@given(
    found=any_sequences(max_t=4, max_sequences=2),
    M=st.integers(1, 4),
    code=st.sampled_from(["sign", "relu"]),
    cue=st.sampled_from(["ridge", "pinv", "hebb"]),
    periods=st.sampled_from(["auto", (2, 3, 5), (11,)]),
    query=st.sampled_from(["offline", "recalled"]),
    seed=st.integers(0, 10**6),
)
def test_recall_follows_the_definition(found, M, code, cue, periods, query, seed):
    rng = np.random.default_rng(seed)
    settings_ = {"code": code, "threshold": 0.25, "cue": cue, "ridge": 2.0}
    net = sa.zoo.ScaffoldMemory(
        M, periods=periods, query=query, on_conflict="learn", random_state=rng, **settings_
    )
    fit_quietly(net, found)
    true = oracle_scaffold.Scaffold(
        [x.tolist() for x in found], net.W_pg_.tolist(), net.periods_.tolist(), **settings_
    )
    for W, exact in ((net.W_sp_, true.W_sp), (net.W_ps_, true.W_ps)):
        np.testing.assert_allclose(W, np.array(exact, dtype=float), rtol=1e-5, atol=1e-7)
    start = rng.choice([-1, 1], found[0].shape[1])
    path = net.recall(start, steps=4)[1:]
    for answer, fields in zip(path.tolist(), true.recall(start.tolist(), 4, query), strict=False):
        assert all(
            unit == (1 if h >= 0 else -1) or abs(h) < 1e-9
            for unit, h in zip(answer, fields, strict=True)
        )


def test_patterns_are_read_out_exactly_up_to_as_many_as_hidden_neurons_and_hardly_beyond():
    for code in ("sign", "relu"):
        for T, exact in ((40, True), (60, True), (84, False)):
            Y = np.array(sa.datasets.random_periodic(T + 1, 50, rng=T)[:-1])
            net = fit_quietly(
                sa.zoo.ScaffoldMemory(60, code=code, random_state=1), np.concatenate([Y, Y[:1]])
            )
            right = (readout(net, T) == Y).all(axis=1).mean()
            assert right == 1 if exact else right < 0.2


def test_recall_runs_on_by_itself_as_long_as_nobody_interferes():
    net = sa.zoo.ScaffoldMemory(100, random_state=0).fit(X)
    assert net.converged_
    cue = sa.noise.flip(X[3], 6, rng=1)
    path = net.recall(cue, steps=200)
    assert sa.retrieved(path, X)
    net.W_ps_ = np.zeros_like(net.W_ps_)  # nothing is read any more
    state, memory = X[3:4], np.array([[3, *X[3]]])
    for t in range(4, 60):
        state = net.next_patterns(state, memory)
        assert np.array_equal(state[0], X[t % 20])


def test_a_pattern_that_was_not_predicted_is_read_again_and_with_recalled_queries_every_one():
    net = sa.zoo.ScaffoldMemory(100, random_state=0).fit(X)
    memory = net.start(X[:1])
    net.next_patterns(X[:1], memory)
    assert np.array_equal(net.next_patterns(sa.noise.flip(X[10:11], 3, rng=1), memory)[0], X[11])
    net.set_params(query="recalled")
    assert sa.retrieved(net.recall(X[0], steps=60, noise=3, rng=0), X)


def test_a_pattern_with_two_successors_is_recognised_by_its_place():
    A, B, C = X[:3]
    net = sa.zoo.ScaffoldMemory(80, on_conflict="learn", random_state=0).fit([A, B, A, C, A])
    assert net.score([A, B, A, C, A]) == 1
    path = net.recall(B, steps=8)  # after B the label of A is the second one
    assert [
        next(name for name, x in zip("ABC", (A, B, C), strict=True) if np.array_equal(x, state))
        for state in path
    ] == list("BACABACAB")
    with pytest.raises(ValueError, match="occurs again"):
        sa.zoo.ScaffoldMemory(80).fit([A, B, A, C, A])


def test_each_sequence_has_its_own_labels_closed_ones_repeat_and_open_ones_stay_at_their_end():
    loop, other, line = (
        X,
        sa.datasets.random_periodic(8, 60, rng=5),
        sa.datasets.random_periodic(7, 60, rng=6)[:-1],
    )
    net = sa.zoo.ScaffoldMemory(200, random_state=0).fit([loop, line, other])
    assert net.ends_.tolist() == [19, 25, 32]
    assert net.goes_to_.tolist() == [0, 25, 26]
    assert net.score([loop, line, other]) == 1
    assert sa.retrieved(net.recall(loop[0], steps=50), loop)
    assert sa.retrieved(net.recall(other[2], steps=50), other)
    path = net.recall(line[0], steps=9)
    assert np.array_equal(path[:6], line)
    assert (path[6:] == line[-1]).all()
    joined = sa.zoo.ScaffoldMemory(200, random_state=0).fit(
        [loop, np.concatenate([line, loop[4:5]])]
    )
    assert np.array_equal(
        joined.recall(line[0], steps=8)[6:], loop[4:7]
    )  # the end of a line is a pattern of the loop


@pytest.mark.parametrize(("parameters", "message"), [
    ({"periods": (4, 6)}, "no common divisor"),
    ({"periods": (2, 3)}, "20 labels are needed, but periods=.2, 3. have 6"),
    ({"periods": (3000, 4001)}, "at most 10000000"),
    ({"periods": ()}, "'auto' or some whole numbers"),
    ({"periods": "many"}, "'auto' or some whole numbers"),
    ({"periods": (2.5, 3)}, "'auto' or some whole numbers"),
    ({"code": "tanh"}, "code"),
    ({"cue": "none"}, "cue"),
    ({"ridge": 0.0}, "ridge"),
    ({"query": "never"}, "query"),
    ({"n_hidden": 0}, "n_hidden"),
])  # fmt: skip
def test_senseless_parameters_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        sa.zoo.ScaffoldMemory(**parameters).fit(X)


def test_it_is_saved_and_loaded_with_its_periods_and_a_file_whose_periods_do_not_fit_is_rejected(
    tmp_path,
):
    net = sa.zoo.ScaffoldMemory(50, periods=(7, 9), random_state=0).fit(X)
    net.save(tmp_path / "net.npz")
    again = sa.load(tmp_path / "net.npz")
    assert list(again.periods) == [7, 9]
    assert np.array_equal(again.recall(X[0], steps=30), net.recall(X[0], steps=30))
    assert np.array_equal(sa.load(tmp_path / "net.npz").fit(X).W_sp_, net.W_sp_)
    for wrong, message in (
        ([7, 8], "sum to 15"),
        ([4, 12], "no common divisor"),
        ([0, 16], "whole numbers"),
    ):
        net.periods_ = np.array(wrong)
        with pytest.raises(ValueError, match=message):
            net.save(tmp_path / "wrong.npz")
