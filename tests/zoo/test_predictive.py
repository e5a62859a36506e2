"""Temporal predictive coding: one layer is the delta rule, two layers infer and learn a latent
state.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import oracle_rivals
import seqattractor as sa
from quiet import fit_quietly
from strategies import sequences

X = sa.datasets.random_periodic(12, 40, rng=0)


@settings(max_examples=40)
@given(
    found=sequences(max_n=4), rate=st.sampled_from([0.1, 0.5, 1.0, 1.5]), epochs=st.integers(1, 4)
)
def test_one_layer_is_the_delta_rule_written_transition_by_transition(found, rate, epochs):
    net = fit_quietly(
        sa.zoo.PredictiveCodingMemory(learning_rate=rate, max_epochs=epochs, tol=0.0), found
    )
    W, errors = oracle_rivals.delta_rule(
        oracle.transitions([x.tolist() for x in found]), rate, epochs
    )
    assert np.allclose(net.W_, W, rtol=0, atol=1e-9)
    for counted, (wrong, unclear) in zip(net.visible_errors_, errors, strict=True):
        assert wrong <= counted <= wrong + unclear


@settings(max_examples=15)
@given(found=sequences(max_n=4, max_t=4), seed=st.integers(0, 99), H=st.integers(1, 4))
def test_two_layers_are_those_written_index_by_index(found, seed, H):
    parameters = {
        "learning_rate": 0.3,
        "max_epochs": 2,
        "inference_steps": 5,
        "inference_rate": 0.1,
        "random_state": seed,
    }
    net = fit_quietly(sa.zoo.LatentPredictiveMemory(H, **parameters), found)
    rng = np.random.default_rng(seed)
    N = found[0].shape[1]
    start = rng.standard_normal((H, H)) / np.sqrt(H), rng.standard_normal((N, H)) / np.sqrt(H)
    W_r, W_o = oracle_rivals.two_layers(
        [x.tolist() for x in found],
        start[0].tolist(),
        start[1].tolist(),
        0.3,
        len(net.losses_),
        5,
        0.1,
    )
    assert np.allclose(net.W_r_, W_r, atol=1e-9)
    assert np.allclose(net.W_o_, W_o, atol=1e-9)


def test_one_layer_learned_to_the_end_is_the_pseudo_inverse():
    net = sa.zoo.PredictiveCodingMemory(tol=1e-20, max_epochs=5000).fit(X)
    projection = sa.zoo.PseudoInverseMemory().fit(X)
    assert np.allclose(net.W_ * np.tanh(1), projection.W_, atol=1e-6)
    assert net.converged_


def test_a_stream_of_presentations_is_the_same_as_epochs():
    whole = fit_quietly(sa.zoo.PredictiveCodingMemory(max_epochs=3), X)
    stream = sa.zoo.PredictiveCodingMemory()
    for _ in range(3):
        stream.partial_fit(X)
    assert np.allclose(stream.W_, whole.W_)
    assert np.array_equal(stream.visible_errors_, whole.visible_errors_)
    assert stream.n_iter_ == 3


@pytest.fixture(scope="module")
def latent():
    return sa.zoo.LatentPredictiveMemory(60, learning_rate=1.0, max_epochs=60, random_state=0).fit(
        X
    )


def test_two_layers_recall_a_sequence_from_a_corrupted_cue(latent):
    assert latent.score(X) == 1
    assert latent.losses_[-1] < 0.1 * latent.losses_[0]
    path = latent.recall(sa.noise.flip(X[0], 4, rng=1), steps=len(X) - 1)
    assert np.array_equal(path[1:], X[1:])


def test_two_layers_recall_batches_like_single_cues(latent):
    cues = sa.noise.flip(X[:3], 4, rng=1)
    paths = latent.recall(cues, steps=4)
    assert all(
        np.array_equal(latent.recall(cue, steps=4), path)
        for cue, path in zip(cues, paths, strict=True)
    )
    assert np.array_equal(latent.step(cues), paths[:, 1])


@settings(max_examples=15)
@given(found=sequences(max_n=4, max_t=4), seed=st.integers(0, 99), H=st.integers(1, 4))
def test_offline_recall_is_that_of_the_authors_written_index_by_index(found, seed, H):
    parameters = {
        "max_epochs": 2,
        "inference_steps": 5,
        "inference_rate": 0.1,
        "random_state": seed,
        "query": "offline",
    }
    net = fit_quietly(sa.zoo.LatentPredictiveMemory(H, **parameters), found)
    cue = found[0][0]
    fields = oracle_rivals.offline_recall(
        net.W_r_.tolist(), net.W_o_.tolist(), cue.tolist(), 5, 5, 0.1
    )
    for state, field in zip(net.recall(cue, steps=5)[1:].tolist(), fields, strict=True):
        assert all(
            unit == oracle_rivals.sign(h) or abs(h) < 1e-9
            for unit, h in zip(state, field, strict=True)
        )


def test_offline_recall_runs_on_by_itself_and_hears_only_what_it_did_not_predict(latent):
    offline = sa.zoo.LatentPredictiveMemory(60, query="offline", random_state=0).fit(X)
    assert np.array_equal(offline.W_r_, latent.W_r_)  # only recall differs
    cues = sa.noise.flip(X[:3], 4, rng=1)
    paths = offline.recall(cues, steps=6)
    assert np.array_equal(
        paths[:, 1], latent.recall(cues, steps=1)[:, 1]
    )  # the cue is inferred from either way
    assert all(
        np.array_equal(offline.recall(cue, steps=6), path)
        for cue, path in zip(cues, paths, strict=True)
    )
    memory = offline.start(cues)
    first = offline.next_patterns(cues, memory)
    heard, unheard = memory.copy(), memory.copy()
    offline.next_patterns(first, unheard)
    offline.next_patterns(sa.noise.flip(first, 8, rng=2), heard)
    assert not np.array_equal(heard, unheard)
    assert offline.score(X) == 1


def test_two_layers_are_saved_and_loaded(latent, tmp_path):
    latent.save(tmp_path / "net.npz")
    cue = sa.noise.flip(X[0], 4, rng=1)
    assert np.array_equal(
        sa.load(tmp_path / "net.npz").recall(cue, steps=20), latent.recall(cue, steps=20)
    )


def test_the_latent_state_distinguishes_successors_that_one_pattern_cannot():
    a, b, c, d, e = sa.datasets.random_sequences(1, 5, 40, rng=2)
    forks = [np.array([a, b, c]), np.array([d, b, e])]  # after b comes c or e
    net = sa.zoo.LatentPredictiveMemory(
        80, learning_rate=1.0, max_epochs=150, on_conflict="learn", random_state=0
    ).fit(forks)
    assert net.score(forks) == 1


def test_progress_is_reported_and_can_end_learning():
    reported = []
    net = fit_quietly(
        sa.zoo.PredictiveCodingMemory(),
        X,
        callback=lambda *epoch: reported.append(epoch) or epoch[0] == 2,
    )
    assert reported == [(k + 1, 0, e) for k, e in enumerate(net.visible_errors_)]
    assert net.n_iter_ == 2


@pytest.mark.parametrize(("parameters", "message"), [
    ({"n_latent": 0}, "n_latent"),
    ({"learning_rate": 2.0}, "below 2"),
    ({"learning_rate": 0.0}, "learning_rate"),
    ({"max_epochs": 0}, "max_epochs"),
    ({"tol": -1.0}, "tol"),
    ({"n_latent": 3, "inference_steps": 0}, "inference_steps"),
    ({"n_latent": 3, "inference_rate": -0.1}, "inference_rate"),
    ({"n_latent": 3, "query": "online"}, "query"),
])  # fmt: skip
def test_senseless_parameters_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        (
            sa.zoo.LatentPredictiveMemory
            if "n_latent" in parameters
            else sa.zoo.PredictiveCodingMemory
        )(**parameters).fit(X)


def test_learning_that_runs_away_is_rejected():
    net = sa.zoo.LatentPredictiveMemory(10, learning_rate=1e9, random_state=0)
    with pytest.raises(ValueError, match="diverged"), np.errstate(all="ignore"):
        net.fit(X)
