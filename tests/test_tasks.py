"""Learning and recalling as a person does it, without terminal and browser: what follows a place, and what has worked."""

import numpy as np
import pytest

import seqattractor as sa
from seqattractor.tasks.learn import ConflictError, learn, prepare, quick_certificate
from seqattractor.tasks.recall import Corruption, Stored, hidden_states, recall, recall_often

LOOP = sa.datasets.random_periodic(9, 40, rng=0)  # eight patterns, then the first again
OPEN = sa.Sequences(LOOP[:-1], names=["open"])
BOTH = sa.Sequences(np.concatenate([LOOP, -LOOP[2:6]]), lengths=[9, 4], names=["loop", "line"])


# -- what is stored -----------------------------------------------------------------------------------------------------


def test_a_loop_goes_round_and_an_open_sequence_ends():
    stored = Stored.of(BOTH)
    assert [stored.place(row) for row in (0, 8, 9, 12)] == [(0, 0), (0, 8), (1, 0), (1, 3)]
    assert [stored.period(s, 1) for s in (0, 1)] == [8, None]
    assert np.array_equal(stored.following(0, 6, 5, 1), LOOP[[6, 7, 0, 1, 2]])
    assert np.array_equal(stored.following(1, 2, 5, 1), -LOOP[4:6])
    assert (stored.steps(0, 3, 1), stored.steps(1, 1, 1), stored.steps(1, 3, 1)) == (8, 2, 1)


def test_a_loop_goes_round_only_as_far_as_it_is_closed():
    assert Stored.of(LOOP).period(0, 2) is None
    closed = Stored.of(LOOP, order=2)
    assert closed.period(0, 2) == 8
    assert [len(x) for x in Stored.of(BOTH, order=3).sequences] == [11, 4]
    assert Stored.of(BOTH, order=3).closed == (3, 0)


def test_the_nearest_place_is_that_of_the_whole_context():
    stored = Stored.of(BOTH)
    cue = sa.noise.flip(LOOP[3:5], 4, rng=0)
    s, frame, overlap = stored.nearest(cue)
    assert (s, frame) == (0, 3)
    assert overlap == pytest.approx(1 - 2 * 4 / 40)
    assert stored.nearest_names(-LOOP[2:4]) == ["1:0", "1:1"]


# -- recall -------------------------------------------------------------------------------------------------------------


class Scripted:
    """A network that answers with given states."""

    order_ = 1

    def __init__(self, states):
        self.states = np.asarray(states, dtype=np.int8)
        self.n_features_in_ = self.states.shape[1]

    def recall(self, cue, steps, *, noise, rng):
        return np.concatenate([cue[None], self.states[:steps]])


def outcome_of(states, cue, data=LOOP, place=(0, 0)):
    return recall(Scripted(states), np.asarray(cue)[None], len(states), stored=Stored.of(data), place=place)


def test_a_recall_that_was_right_from_the_start():
    outcome = outcome_of(LOOP[np.arange(1, 20) % 8], LOOP[0])
    assert (outcome.locked_on, outcome.exact_from, outcome.tau) == (0, 1, 0)
    assert "right already" in outcome.verdict
    assert outcome.wrong.tolist() == [0] * 20


def test_a_recall_that_locks_on_later_says_when():
    states = LOOP[np.arange(1, 20) % 8].copy()
    states[0, 0] *= -1
    cue = sa.noise.flip(LOOP[0], 7, rng=0)
    outcome = outcome_of(states, cue)
    assert (outcome.locked_on, outcome.exact_from, outcome.tau) == (2, 2, 8)
    assert repr(outcome) == "Recall: locked on at step 2: from there on every unit is right"
    assert [row["wrong"] for row in outcome.rows()][:3] == [7, 1, 0]
    assert outcome.followed[0] == outcome.overlaps[0] == pytest.approx(1 - 2 * 7 / 40)


def test_a_recall_out_of_step_says_how_far_it_is_ahead_or_behind():
    cue = sa.noise.flip(LOOP[0], 7, rng=0)
    ahead = outcome_of(LOOP[np.arange(4, 24) % 8], cue)
    assert "3 ahead of the truth" in ahead.verdict
    assert ahead.exact_from is None
    assert ahead.followed[1:].tolist() == [1.0] * 20
    assert "2 behind the truth" in outcome_of(LOOP[np.arange(7, 27) % 8], cue).verdict


def test_a_recall_that_fails_says_where_it_ended():
    wrong = sa.noise.flip(LOOP[:3], 20, rng=1)
    stuck = outcome_of(np.repeat(wrong[:1], 20, axis=0), LOOP[0])
    assert stuck.locked_on is stuck.tau is stuck.exact_from is None
    assert "stuck in one pattern" in stuck.verdict
    assert "a loop of 3 patterns" in outcome_of(wrong[np.arange(21) % 3], LOOP[0]).verdict
    assert "wandered without settling" in outcome_of(sa.datasets.random_periodic(20, 40, rng=9)[:15], LOOP[0]).verdict


def test_a_loop_must_be_followed_for_a_whole_round():
    states = sa.datasets.random_periodic(31, 40, rng=9).patterns[:30].copy()
    states[-5:] = LOOP[1:6]  # chance, or a start
    assert outcome_of(states, LOOP[0]).locked_on is None


def test_an_open_sequence_is_followed_to_its_end():
    states = np.concatenate([OPEN[5:], sa.noise.flip(OPEN[:3], 20, rng=0)])
    outcome = outcome_of(states, sa.noise.flip(OPEN[4], 5, rng=0), OPEN, place=(0, 4))
    assert (outcome.locked_on, outcome.exact_from, len(outcome.truth)) == (1, 1, 4)
    assert np.isnan(outcome.followed[4:]).all()
    assert [row["overlap"] for row in outcome.rows()[4:]] == [None] * 3


def test_without_anything_stored_there_is_no_verdict():
    outcome = recall(Scripted(LOOP), LOOP[:1], 5)
    assert outcome.truth is outcome.nearest is outcome.locked_on is outcome.overlaps is outcome.exact_from is None
    assert "nothing stored is known" in outcome.describe()


def test_what_would_not_fit_into_memory_is_refused():
    with pytest.raises(ValueError, match="ask for fewer steps"):
        recall(Scripted(LOOP), LOOP[:1], 2**26)


def test_a_cue_is_covered_then_flipped_then_painted():
    X = sa.datasets.walker(4, shrink=4)
    rng = np.random.default_rng(3)
    expected = sa.noise.flip(sa.noise.occlude(X[:2], X.frame_shape, fraction=0.3, rng=rng), 9, rng)
    expected[-1, [5, 6]] *= -1
    assert np.array_equal(Corruption(9, 0.3, (5, 6))(X[:2], X.frame_shape, 3), expected)
    block = Corruption(0, ((0, 8), (0, 22)))(X[:1], X.frame_shape, 0)
    assert np.array_equal(block, sa.noise.occlude(X[:1], X.frame_shape, ((0, 8), (0, 22))))


def test_trials_are_counted_whether_they_run_side_by_side_or_not(monkeypatch):
    net = sa.SequenceAttractor(n_hidden=60, random_state=0).fit(LOOP)
    arguments = (net, LOOP[:1], Corruption(12), LOOP[5], 5)
    at_once = recall_often(*arguments, trials=30, frame_shape=(40,), rng=0)
    monkeypatch.setattr("seqattractor.tasks.recall.MOST_AT_ONCE", 1)
    assert recall_often(*arguments, trials=30, frame_shape=(40,), rng=0) == at_once
    assert 0 < at_once.successes < 30


@pytest.mark.parametrize("order", [1, 2])
def test_hidden_states_are_those_of_the_network(order):
    data = sa.close_loops(LOOP, order=order)
    net = sa.SequenceAttractor(n_hidden=30, order=order, random_state=0).fit(data)
    zeta = hidden_states(net, data.patterns)
    assert zeta.shape == (len(data), 30)
    assert (zeta[: order - 1] == -1).all()
    assert np.array_equal(zeta[order - 1], net.hidden(data[0] if order == 1 else data[:2]))
    assert hidden_states(sa.LookupMemory().fit(LOOP), LOOP.patterns) is None


# -- learning -----------------------------------------------------------------------------------------------------------


def test_loops_are_closed_as_far_as_the_context_needs():
    crossing = sa.datasets.place_cells(20, "eight")
    with pytest.raises(ConflictError, match="different successor") as refused:
        prepare(crossing, 1)
    assert refused.value.context == 2
    assert prepare(crossing, "auto").closed == prepare(crossing, 2).closed == 2
    with pytest.raises(ValueError, match="only one pattern"):
        prepare(sa.Sequences([[1, -1]]))


def test_what_was_learned_is_told_with_what_is_wrong_about_it():
    learned = learn(LOOP, "attractor", {"n_hidden": 60, "random_state": 0})
    assert learned.score == 1.0
    assert learned.attempts == []
    assert learned.warnings == []
    certificate = sa.certify(learned.net, LOOP, method="count", attack=False)
    assert learned.radius == certificate.radius.min() > 0
    assert f"is proven to withstand any {learned.radius} wrong unit" in learned.describe()
    poor = learn(sa.datasets.random_periodic(60, 30, rng=0), "attractor", {"n_hidden": 5, "max_epochs": 2, "random_state": 0})
    assert "learning stopped after 2 epochs" in poor.warnings[0]
    assert "are stored without a wrong unit" in poor.warnings[1]


def test_progress_and_attempts_are_told_while_learning():
    epochs, attempts = [], []
    learned = learn(LOOP, progress=lambda *now: epochs.append(now), tell=attempts.append, parameters={"random_state": 0})
    assert attempts == learned.attempts
    assert len(epochs) == sum(attempt.epochs for attempt in attempts)


def test_a_certificate_is_asked_for_where_it_applies_and_is_quick():
    net = sa.SequenceAttractor(n_hidden=30, random_state=0).fit(LOOP)
    assert quick_certificate(net, LOOP, 10**6) is not None
    assert quick_certificate(net, LOOP, 10) is None
    assert quick_certificate(sa.DenseSequenceMemory().fit(LOOP), LOOP, 10**6) is None
