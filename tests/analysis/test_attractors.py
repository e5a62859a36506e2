"""Attractors and hidden activity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import seqattractor as sa


class Table(sa.SequenceMemory):
    """A memory with a given successor for every state: the dynamics can be anything."""

    def fit(self, X, lengths=None):
        self.transitions(X, lengths)
        return self

    def next_patterns(self, states, memory=None):
        return np.array([self.table[tuple(state)] for state in states], dtype=np.int8)


def random_table(N, seed, order=1):
    rng = np.random.default_rng(seed)
    net = Table()
    net.n_features_in_, net.order_ = N, order
    states = list(itertools.product((-1, 1), repeat=N * order))
    net.table = {s: rng.choice([-1, 1], size=N) for s in states}
    return net, np.array(states, dtype=np.int8)


def walk(net, state):
    """The oracle: step until a state comes back; returns the transient and the set of states on the
    cycle.
    """
    N, seen, path = net.n_features_in_, {}, []
    while tuple(state) not in seen:
        seen[tuple(state)] = len(path)
        path.append(tuple(state))
        state = np.concatenate([state[N:], net.table[tuple(state)]])
    start = seen[tuple(state)]
    return start, path[start:]


@settings(max_examples=60)
@given(st.integers(1, 6), st.integers(0, 10**6))
def test_cycles_transients_and_basins_are_those_of_a_plain_walk(N, seed):
    net, states = random_table(N, seed)
    found = sa.find_attractors(net, starts=states)
    for k, state in enumerate(states):
        transient, cycle = walk(net, state)
        assert found.transient[k] == transient
        own = found[int(found.which[k])]
        assert {tuple(p) for p in own.patterns} == set(cycle)
        assert own.period == len(cycle)
        following = np.roll(own.patterns, -1, axis=0)
        assert np.array_equal(net.next_patterns(own.patterns), following)
    assert sum(a.starts for a in found) == len(states)
    assert [a.starts for a in found] == sorted((a.starts for a in found), reverse=True)
    assert found.unfinished == 0


@settings(max_examples=20)
@given(st.integers(1, 3), st.integers(0, 10**6))
def test_with_a_context_the_state_is_the_stack(N, seed):
    net, states = random_table(N, seed, order=2)
    found = sa.find_attractors(net, starts=states.reshape(-1, 2, N))
    for k, state in enumerate(states):
        transient, cycle = walk(net, state)
        assert found.transient[k] == transient
        assert found[int(found.which[k])].period == len(cycle)


@settings(max_examples=30)
@given(st.integers(2, 6), st.integers(0, 10**6))
def test_an_open_sequence_is_reached_by_starts_that_pass_its_end(N, seed):
    net, states = random_table(N, seed)
    path = [states[seed % len(states)]]
    while len({tuple(p) for p in path}) == len(path) and len(path) < 4:
        path.append(net.table[tuple(path[-1])].astype(np.int8))
    X = np.array(path)
    if len(X) < 2 or np.array_equal(X[0], X[-1]):
        return
    found = sa.find_attractors(net, X, starts=states)

    def passes(state):
        for _ in range(len(states) + 1):
            after = net.table[tuple(state)]
            if np.array_equal(state, X[-2]) and np.array_equal(after, X[-1]):
                return True
            state = after
        return False

    assert found.reached[0].successes == sum(passes(s) for s in states)


def test_stored_loops_are_distinguished_from_each_other_and_from_spurious_ones():
    A, B = sa.datasets.random_periodic(8, 60, rng=0), sa.datasets.random_periodic(6, 60, rng=1)
    net = sa.SequenceAttractor(n_hidden=150, random_state=0).fit([A, B])
    found = sa.find_attractors(net, [A, B], starts=60, flips=4, rng=0)
    stored = {a.stored: a for a in found.attractors if a.stored is not None}
    assert set(stored) == {0, 1}
    assert np.array_equal(stored[0].patterns, A[:-1])
    assert np.array_equal(stored[1].patterns, B[:-1])
    assert found.reached[0].successes == stored[0].starts
    assert (
        sum(r.successes for r in found.reached)
        + sum(a.starts for a in found.spurious)
        + found.unfinished
        == 60
    )
    assert "sequence 1" in found.describe()


def test_the_mirror_image_of_a_stored_loop_is_recognised():
    X = sa.datasets.random_periodic(8, 60, rng=0)
    net = sa.SequenceAttractor(n_hidden=150, random_state=0).fit(X)
    found = sa.find_attractors(net, X, starts=-X[:1])
    assert found[0].stored is None
    assert found[0].mirror_of == 0
    assert found[0].name == "mirror image of sequence 0"
    assert {p.tobytes() for p in found[0].patterns} == {(-x).tobytes() for x in X}
    assert found.spurious == list(found.attractors)


def test_a_fixed_point_has_period_one():
    net, _ = random_table(2, 0)
    net.table = dict.fromkeys(net.table, np.array([1, -1]))
    found = sa.find_attractors(net, starts=10, rng=0)
    assert len(found) == 1
    assert found[0].period == 1
    assert found.transient.max() <= 1


def test_runs_that_are_cut_short_are_unfinished():
    X = sa.datasets.random_periodic(30, 40, rng=0)
    net = sa.OneHotNetwork().fit(X)
    found = sa.find_attractors(net, X, starts=X[:1], max_steps=5)
    assert found.unfinished == 1
    assert found.which[0] == found.transient[0] == -1
    assert len(found) == 0
    assert "did not settle" in found.describe()


def test_bad_starts_are_rejected_in_one_sentence():
    X = sa.datasets.random_periodic(6, 20, rng=0)
    net = sa.OneHotNetwork().fit(X)
    with pytest.raises(ValueError, match="give the sequences X too"):
        sa.find_attractors(net, flips=2)
    with pytest.raises(ValueError, match="start"):
        sa.find_attractors(net, starts=np.ones((3, 19)))
    with pytest.raises(ValueError, match="starts must be at least 1"):
        sa.find_attractors(net, starts=0)


@pytest.mark.parametrize(
    "net", [sa.zoo.SlowSynapseMemory(slow_steps=3), sa.zoo.MixedSequenceMemory(slow_steps=4)]
)
def test_a_network_that_dwells_is_followed_with_its_slow_variables(net):
    X, opened = (
        sa.datasets.random_periodic(6, 900, rng=0),
        sa.datasets.random_periodic(5, 900, rng=1)[:4],
    )
    net.fit([X, opened])
    attractors = sa.find_attractors(net, [X, opened], starts=np.concatenate([X[:-1], opened[:-1]]))
    loop = next(a for a in attractors if a.stored == 0)
    assert np.array_equal(loop.patterns, X[:-1])
    assert loop.starts == 5
    assert [rate.successes for rate in attractors.reached] == [5, 3]
    assert attractors.unfinished == 0


def test_latent_variables_come_back_up_to_rounding():
    X = sa.datasets.random_periodic(10, 50, rng=0)
    net = sa.zoo.LatentPredictiveMemory(random_state=0).fit(X)
    attractors = sa.find_attractors(net, X, starts=20, flips=2, rng=0)
    assert [(a.stored, a.starts, a.period) for a in attractors] == [(0, 20, 9)]


def test_the_same_pattern_with_another_context_is_another_state():
    A, B, C = sa.datasets.random_periodic(4, 30, rng=0)[:3]
    net = sa.zoo.LatentPredictiveMemory(40, on_conflict="learn", random_state=0).fit(
        [A, B, A, C, A]
    )
    attractors = sa.find_attractors(net, starts=[A], max_steps=3)
    path = net.recall(A, steps=3)
    assert np.array_equal(path[[1, 3]], [B, C])
    assert attractors.unfinished == 1  # A came back, but with another context


def test_hidden_codes_follow_p_and_hold_the_next_pattern():
    X = sa.datasets.random_periodic(15, 40, rng=0)
    net = sa.SequenceAttractor(n_hidden=200, random_state=0).fit(X)
    activity = sa.hidden_activity(net, X)
    assert np.array_equal(np.where(activity.active, 1, -1), net.hidden(X[:-1]))
    assert activity.follows_P == 1
    assert activity.decoded_by_P > 0.95
    assert np.allclose(activity.overlap.diagonal(), 1)
    assert activity.sparseness.mean() == pytest.approx(activity.rate.mean())
    assert activity.selectivity.max() <= 1
    untrained = sa.hidden_activity(sa.FixedHiddenNetwork(n_hidden=200, random_state=0).fit(X), X)
    assert untrained.follows_P is None


def test_one_hot_codes_are_as_sparse_as_can_be():
    X = sa.datasets.random_periodic(15, 40, rng=0)
    activity = sa.hidden_activity(sa.OneHotNetwork().fit(X), X)
    assert np.array_equal(activity.active, np.eye(14, dtype=bool))
    assert activity.idle.size == 0
    assert activity.n_codes == 14
    assert "14 different codes" in activity.describe()
    with pytest.raises(sa.networks.NotApplicable, match="no hidden neurons"):
        sa.hidden_activity(sa.zoo.HebbianMemory().fit(X[:3]), X[:3])
