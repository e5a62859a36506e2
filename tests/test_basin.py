"""sa.basin: from every start, exactly on the sequence and in phase."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqattractor as sa
from quiet import fit_quietly
from strategies import sequences


class Table(sa.SequenceMemory):
    """Answers from a table of transitions and repeats what it does not know."""

    def fit(self, X, lengths=None):
        inputs, targets, _ = self.transitions(X, lengths)
        self.table = {x.tobytes(): y for x, y in zip(inputs, targets, strict=True)}
        return self

    def next_patterns(self, states, memory=None):
        n = self.n_features_in_
        return np.array([self.table.get(s.tobytes(), s[-n:]) for s in states], dtype=np.int8)


class Nearest(Table):
    """Answers with what followed the nearest stored pattern."""

    def fit(self, X, lengths=None):
        self.inputs, self.targets, _ = self.transitions(X, lengths)
        return self

    def next_patterns(self, states, memory=None):
        return self.targets[np.argmax(states.astype(int) @ self.inputs.T, axis=1)]


def naive(net, found, settle):
    """The definition, start by start, without flips."""
    right = total = 0
    for X in found:
        loop = np.array_equal(X[0], X[-1])
        for t in range(len(X) - 1):
            steps = settle if loop else min(settle, len(X) - 1 - t)
            wanted = X[(t + steps) % (len(X) - 1)] if loop else X[t + steps]
            right += np.array_equal(net.recall(X[t], steps=steps)[-1], wanted)
            total += 1
    return right / total


@given(found=sequences(), settle=st.integers(1, 9))
def test_it_is_what_its_definition_says(found, settle):
    for net in (Table(), sa.HebbianMemory()):
        fit_quietly(net, found)
        assert sa.basin(net, found, flips=0, settle=settle) == naive(net, found, settle)


def test_a_perfect_memory_has_the_basin_one():
    X = sa.datasets.random_periodic(20, 60, rng=0)
    assert sa.basin(Nearest().fit(X), X, flips=10, rng=0) == 1.0


def test_a_network_that_always_falls_back_to_the_start_passes_the_papers_criterion_but_not_this_one():
    X = sa.datasets.random_periodic(20, 60, rng=0)

    class FallsBack(Table):
        """Goes to x(1) from everything that is not exactly in its table."""

        def next_patterns(self, states, memory=None):
            return np.array([self.table.get(s.tobytes(), X[0]) for s in states], dtype=np.int8)

    net = FallsBack().fit(X)
    assert sa.retrieved(net.recall(sa.noise.flip(X[5], 10, rng=0), steps=60), X)
    assert sa.basin(net, X, flips=10, settle=25, rng=0) <= 1 / 19


def test_more_flips_make_it_smaller():
    X = sa.datasets.random_periodic(20, 40, rng=0)
    net = Nearest().fit(X)
    few, many = (sa.basin(net, X, flips=k, rng=0) for k in (2, 18))
    assert few == 1.0
    assert many < 1.0


def test_orders_above_one_are_started_from_whole_contexts():
    X = np.array([[1, 1, -1, 1], [1, -1, -1, 1], [1, 1, -1, 1], [-1, 1, 1, 1], [-1, -1, 1, -1]], dtype=np.int8)
    net = Table()
    net.order = 2
    assert sa.basin(net.fit(X), X, flips=0, settle=2) == 1.0


def test_one_seed_gives_one_answer():
    X = sa.datasets.random_periodic(20, 40, rng=0)
    net = Nearest().fit(X)
    assert sa.basin(net, X, flips=14, rng=3) == sa.basin(net, X, flips=14, rng=3)


@pytest.mark.parametrize(
    ("options", "words"), [({"settle": 0}, "settle must be"), ({"flips": -1}, "flips must be"), ({"flips": 99}, "0 to 40")]
)
def test_bad_numbers_are_refused(options, words):
    X = sa.datasets.random_periodic(5, 40, rng=0)
    with pytest.raises(ValueError, match=words):
        sa.basin(Nearest().fit(X), X, **options)
