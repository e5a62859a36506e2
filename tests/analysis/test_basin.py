"""sa.basin_fraction: from every start, exactly on the sequence and in phase."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqattractor as sa
from quiet import fit_quietly
from strategies import sequences


class Table(sa.SequenceMemory):
    """Answers from a table of transitions and repeats others."""

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
def test_it_matches_its_definition(found, settle):
    for net in (Table(), sa.zoo.HebbianMemory()):
        fit_quietly(net, found)
        assert sa.basin_fraction(net, found, flips=0, settle=settle) == naive(net, found, settle)


def test_a_perfect_memory_has_the_basin_one():
    X = sa.datasets.random_periodic(20, 60, rng=0)
    assert sa.basin_fraction(Nearest().fit(X), X, flips=10, rng=0) == 1.0


def test_falling_back_to_the_start_passes_the_papers_criterion_but_not_this_one():
    X = sa.datasets.random_periodic(20, 60, rng=0)

    class FallsBack(Table):
        """Goes to x(1) from everything that is not exactly in its table."""

        def next_patterns(self, states, memory=None):
            return np.array([self.table.get(s.tobytes(), X[0]) for s in states], dtype=np.int8)

    net = FallsBack().fit(X)
    assert sa.retrieved(net.recall(sa.noise.flip(X[5], 10, rng=0), steps=60), X)
    assert sa.basin_fraction(net, X, flips=10, settle=25, rng=0) <= 1 / 19


def test_more_flips_make_it_smaller():
    X = sa.datasets.random_periodic(20, 40, rng=0)
    net = Nearest().fit(X)
    few, many = (sa.basin_fraction(net, X, flips=k, rng=0) for k in (2, 18))
    assert few == 1.0
    assert many < 1.0


def test_orders_above_one_are_started_from_whole_contexts():
    X = np.array(
        [[1, 1, -1, 1], [1, -1, -1, 1], [1, 1, -1, 1], [-1, 1, 1, 1], [-1, -1, 1, -1]],
        dtype=np.int8,
    )
    net = Table()
    net.order = 2
    assert sa.basin_fraction(net.fit(X), X, flips=0, settle=2) == 1.0


def test_one_seed_gives_one_answer():
    X = sa.datasets.random_periodic(20, 40, rng=0)
    net = Nearest().fit(X)
    assert sa.basin_fraction(net, X, flips=14, rng=3) == sa.basin_fraction(net, X, flips=14, rng=3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"settle": 0}, "settle must be"),
        ({"flips": -1}, "flips must be"),
        ({"flips": 99}, "0 to 40"),
    ],
)
def test_bad_numbers_are_rejected(options, words):
    X = sa.datasets.random_periodic(5, 40, rng=0)
    with pytest.raises(ValueError, match=words):
        sa.basin_fraction(Nearest().fit(X), X, **options)


def passed(net, X, cue, t, due):
    """What recall from a cue in place of X[t] goes through: the due-th stored pattern after X[t],
    each stay once, or None.
    """
    stored, at = {x.tobytes() for x in X}, X[t].tobytes()
    for state in net.recall(cue, steps=(due + 1) * net.slow_steps)[1:]:
        if state.tobytes() in stored and state.tobytes() != at:
            at, due = state.tobytes(), due - 1
        if due == 0:
            return state
    return None


@pytest.mark.parametrize(
    "net", [sa.zoo.SlowSynapseMemory(slow_steps=3), sa.zoo.MixedSequenceMemory(slow_steps=4)]
)
@pytest.mark.parametrize("flips", [0, 30, 120, 140])
def test_a_network_that_dwells_is_measured_by_what_recall_shows(net, flips):
    X = sa.datasets.random_periodic(8, 300, rng=0)
    net.fit(X)
    cues = sa.noise.flip(X[:-1], flips, rng=np.random.default_rng(1))
    ends = [passed(net, X, cue, t, 5) for t, cue in enumerate(cues)]
    right = [np.array_equal(end, X[(t + 5) % 7]) for t, end in enumerate(ends)]
    assert sa.basin_fraction(
        net, X, flips=flips, settle=5, rng=np.random.default_rng(1)
    ) == np.mean(right)
    one = [np.array_equal(passed(net, X, cue, t, 1), X[t + 1]) for t, cue in enumerate(cues)]
    assert sa.robustness_curve(
        net, X, flips=[flips], trials=7, rng=np.random.default_rng(1)
    ).rate == np.mean(one)
    if flips <= 30:
        assert all(right)
        assert all(one)


@pytest.mark.parametrize("flips", [0, 3, 12])
def test_a_network_with_a_context_is_led_to_each_start(flips):
    A, B, C = sa.datasets.random_periodic(4, 30, rng=0)[:3]
    X = np.array([A, B, A, C, A])
    net = sa.zoo.LatentPredictiveMemory(40, on_conflict="learn", random_state=0).fit(X)
    cues = sa.noise.flip(X[:-1], flips, rng=np.random.default_rng(1))
    right = {1: [], 2: []}
    for t, cue in enumerate(cues):
        latent = net.start(X[:1])
        for x in X[:t]:
            net.next_patterns(x[None], latent)
        first = net.next_patterns(cue[None], latent)
        second = net.next_patterns(first, latent)
        right[1].append(np.array_equal(first[0], X[t + 1]))
        right[2].append(np.array_equal(second[0], X[(t + 2) % 4]))
    assert np.array_equal(net.recall(cues[0], steps=1)[1], X[1]) == right[1][0]
    for settle in (1, 2):
        assert sa.basin_fraction(
            net, X, flips=flips, settle=settle, rng=np.random.default_rng(1)
        ) == np.mean(right[settle])
    assert sa.robustness_curve(
        net, X, flips=[flips], trials=4, rng=np.random.default_rng(1)
    ).rate == np.mean(right[1])
    if flips == 0:
        assert np.mean(right[1]) == net.score(X) == 1


def crossing(N):
    """A B A C A: what follows A depends on what came before."""
    A, B, C = sa.datasets.random_periodic(4, N, rng=0)[:3]
    return np.array([A, B, A, C, A])


def noting(cls):
    """The class, with a list `asked` of the states for which its networks were asked what comes
    next.
    """

    class Noting(cls):
        def next_patterns(self, states, memory=None):
            vars(self).setdefault("asked", []).append(states.copy())
            return super().next_patterns(states, memory)

    return Noting


CONTEXT = {
    "attractor": lambda: noting(sa.SequenceAttractor)(n_hidden=60, order=2, random_state=0),
    "hebbian": lambda: noting(sa.zoo.HebbianMemory)(order=2),
    "lookup": lambda: noting(sa.zoo.LookupMemory)(order=2),
}


@pytest.mark.parametrize("kind", CONTEXT)
@pytest.mark.parametrize("flips", [0, 2, 8, 30])
@pytest.mark.parametrize("closed", [False, True])
def test_a_network_that_sees_two_patterns_is_measured_by_what_recall_shows(kind, flips, closed):
    X = crossing(30)
    X = np.asarray(sa.close_loops(X, order=2)) if closed else X
    net = fit_quietly(CONTEXT[kind](), X)
    for settle in (1, 2, 5):
        net.asked = []
        measured = sa.basin_fraction(net, X, flips=flips, settle=settle, rng=1)
        cues = net.asked[0].reshape(-1, 2, 30)
        windows = np.array([X[t : t + 2] for t in range(len(X) - 2)])
        assert np.all((cues != windows).sum(axis=2) == flips)
        right = []
        for t, cue in enumerate(cues, 1):
            # After C A comes B, but only in a closed loop.
            steps = settle if closed else min(settle, len(X) - 1 - t)
            right.append(np.array_equal(net.recall(cue, steps=steps)[-1], X[(t + steps) % 4]))
        assert measured == np.mean(right)
        if flips == 0:
            assert measured == 1
    net.asked = []
    curve = sa.robustness_curve(net, X, flips=[flips], trials=3 * len(windows), rng=1)
    cues = net.asked[0].reshape(-1, 2, 30)
    assert np.all(
        (cues != np.tile(windows, (3, 1, 1))).sum(axis=(1, 2)) == flips
    )  # in the window as a whole
    assert curve.successes[0] == np.all(net.step(cues) == np.tile(X[2:], (3, 1)), axis=1).sum()


@pytest.mark.parametrize("flips", [0, 20, 120, 150])
def test_slow_synapses_are_measured_by_what_recall_shows_where_a_sequence_crosses_itself(flips):
    X = crossing(300)
    net = fit_quietly(noting(sa.zoo.SlowSynapseMemory)(slow_steps=3, on_conflict="learn"), X)
    for settle in (1, 2, 5):
        net.asked = []
        measured = sa.basin_fraction(net, X, flips=flips, settle=settle, rng=1)
        cues = net.asked[0]
        assert np.all((cues != X[:-1]).sum(axis=1) == flips)
        ends = [passed(net, X, cue, t, settle) for t, cue in enumerate(cues)]
        assert measured == np.mean(
            [np.array_equal(end, X[(t + settle) % 4]) for t, end in enumerate(ends)]
        )
    net.asked = []
    curve = sa.robustness_curve(net, X, flips=[flips], trials=8, rng=1)
    ends = [passed(net, X, cue, t % 4, 1) for t, cue in enumerate(net.asked[0])]
    assert curve.successes[0] == sum(
        np.array_equal(end, X[t % 4 + 1]) for t, end in enumerate(ends)
    )
    assert curve.rate[0] < 1  # after A it is open whether B or C comes


def test_attractors_of_a_loop_that_is_closed_for_two_patterns_are_the_stored_ones():
    X = np.asarray(sa.close_loops(crossing(40), order=2))
    net = sa.SequenceAttractor(n_hidden=80, order=2, random_state=0).fit(X)
    attractors = sa.find_attractors(net, X, starts=20, flips=2, rng=0)
    assert [a.stored for a in attractors] == [0]
    assert np.array_equal(attractors[0].patterns, X[:4])
