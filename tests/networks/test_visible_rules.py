"""Networks without hidden neurons: Hebbian, slow synapses, and rules that a user brings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import oracle_rivals
import seqattractor as sa
from quiet import fit_quietly
from strategies import sequences

X = sa.datasets.random_periodic(6, 60, rng=0)
WIDE = sa.datasets.random_periodic(6, 800, rng=0)  # so wide that patterns hardly disturb each other


def some_states(draw_from, n, count=4):
    return np.random.default_rng(draw_from).choice(np.array([-1, 1], dtype=np.int8), (count, n))


@given(found=sequences(), seed=st.integers(0, 99))
def test_the_hebbian_network_is_the_one_written_index_by_index(found, seed):
    net = fit_quietly(sa.zoo.HebbianMemory(), found)
    W = oracle_rivals.hebbian(oracle.transitions([x.tolist() for x in found]))
    assert net.W_.tolist() == W
    for state in some_states(seed, found[0].shape[1]):
        assert net.step(state).tolist() == oracle_rivals.next_visible(W, state.tolist())


@given(
    found=sequences(),
    seed=st.integers(0, 99),
    lam=st.sampled_from([0, 0.5, 1, 2.5, 4]),
    tau=st.integers(1, 4),
)
def test_slow_synapses_are_those_written_index_by_index(found, seed, lam, tau):
    net = fit_quietly(sa.zoo.SlowSynapseMemory(slow_weight=lam, slow_steps=tau), found)
    cues = some_states(seed, found[0].shape[1])
    paths = net.recall(cues, steps=7)
    for cue, path in zip(cues, paths, strict=True):
        assert path.tolist() == oracle_rivals.slow_synapses(
            oracle.transitions([x.tolist() for x in found]), cue.tolist(), 7, lam, tau
        )
        assert net.step(cue).tolist() == path[1].tolist()


def test_slow_synapses_hold_every_pattern_for_some_steps_and_then_continue():
    net = sa.zoo.SlowSynapseMemory(slow_weight=2.5, slow_steps=5).fit(WIDE)
    path = net.recall(WIDE[0], steps=40)
    visited = [int(np.flatnonzero((WIDE[:-1] == state).all(axis=1))[0]) for state in path]
    # lambda k / tau > 1 + lambda (1 - k / tau) from k = 4 on: four steps at each pattern
    assert visited[:21] == [0, *np.repeat([1, 2, 3, 4, 0], 4)]


def test_the_last_pattern_of_an_open_sequence_is_held():
    open_ended = WIDE[:4]
    net = sa.zoo.SlowSynapseMemory().fit(open_ended)
    path = net.recall(open_ended[0], steps=40)
    assert np.array_equal(path[-1], open_ended[-1])
    assert np.array_equal(path[-5], open_ended[-1])


@pytest.mark.parametrize(("name", "value"), [("slow_weight", -1), ("slow_steps", 0)])
def test_senseless_slow_synapses_are_rejected(name, value):
    with pytest.raises(ValueError, match=name):
        sa.zoo.SlowSynapseMemory(**{name: value}).fit(X)


def test_slow_synapses_learn_from_a_stream():
    whole = sa.zoo.SlowSynapseMemory().fit(X)
    stream = sa.zoo.SlowSynapseMemory().partial_fit(X[:4]).partial_fit(X[3:])
    assert np.array_equal(stream.W_, whole.W_)
    assert np.array_equal(stream.W_S_, whole.W_S_)


def test_slow_synapses_are_saved_and_loaded(tmp_path):
    net = sa.zoo.SlowSynapseMemory().fit(X)
    net.save(tmp_path / "net.npz")
    cue = sa.noise.flip(X[1], 6, rng=1)
    assert np.array_equal(
        sa.load(tmp_path / "net.npz").recall(cue, steps=12), net.recall(cue, steps=12)
    )


# -- a rule of one's own
# ----------------------------------------------------------------------------------------


class OwnThreeFactor(sa.rules.Rule):
    """The paper's rule as a user would write it."""

    def step(self, margin, rng):
        return np.where(margin <= 1, 1, 0)

    def is_error(self, margin):
        return margin <= 1


def test_the_papers_rule_passed_by_a_user_is_the_built_in_perceptron():
    own = sa.VisibleNetwork(rule=OwnThreeFactor(), random_state=0).fit(X)
    built_in = sa.VisibleNetwork(random_state=0).fit(X)
    assert (own.engine_, built_in.engine_) == ("reference", "exact")
    assert np.array_equal(own.W_, built_in.W_)
    assert np.array_equal(own.visible_errors_, built_in.visible_errors_)
    assert own.converged_
    assert own.score(X) == 1


def test_a_rule_of_ones_own_learns_from_a_stream_and_reports_its_progress():
    seen = []
    fitted = sa.VisibleNetwork(rule=OwnThreeFactor(), init_scale=0).fit(
        X, callback=lambda *epoch: seen.append(epoch)
    )
    stream = sa.VisibleNetwork(rule=OwnThreeFactor(), init_scale=0)
    while not getattr(stream, "converged_", False):
        stream.partial_fit(X)
    assert np.array_equal(stream.W_, fitted.W_)
    assert seen == [(k + 1, 0, e) for k, e in enumerate(fitted.visible_errors_)]


def test_a_callback_that_returns_true_ends_a_rule_of_ones_own():
    net = fit_quietly(
        sa.VisibleNetwork(rule=OwnThreeFactor()), X, callback=lambda epoch, *_: epoch == 2
    )
    assert net.n_iter_ == 2
    assert not net.converged_
