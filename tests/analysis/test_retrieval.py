"""Section 6.2: when a retrieval counts, and how sure a rate is."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import seqattractor as sa
from quiet import quietly
from seqattractor.sequences import split
from seqattractor.study.trial import Task, draw_sequences, judge, recall_task, retrieval_times

patterns = st.integers(0, 3).map(lambda k: [[1, 1], [1, -1], [-1, 1], [-1, -1]][k])


@given(
    path=st.lists(patterns, min_size=1, max_size=12), X=st.lists(patterns, min_size=1, max_size=4)
)
def test_retrieved_means_the_whole_sequence_in_order_at_some_time(path, X):
    assert sa.retrieved(path, X) == oracle.retrieved(path, X)


@given(
    path=st.lists(patterns, min_size=1, max_size=12), X=st.lists(patterns, min_size=1, max_size=3)
)
def test_retrieved_at_is_the_first_time(path, X):
    tau = sa.analysis.retrieved_at(path, X)
    starts = [s for s in range(len(path) - len(X) + 1) if path[s : s + len(X)] == X]
    assert tau == (starts[0] if starts else None)


def test_the_sequence_may_end_with_the_last_row_of_the_trajectory():
    X = sa.datasets.xor()
    assert sa.analysis.retrieved_at(np.vstack([-X[1:2], X]), X) == 1
    assert not sa.retrieved(X[:-1], X)


def test_overlap_of_equal_patterns_is_exactly_one():
    X = np.random.default_rng(0).choice([-1, 1], (5, 7))
    assert (sa.overlap(X, X).diagonal() == 1).all()
    assert sa.overlap(X, X).shape == (5, 5)


@given(trials=st.integers(1, 400), data=st.data())
def test_wilson_interval_contains_the_rate_and_solves_its_equation(trials, data):
    successes = data.draw(st.integers(0, trials))
    low, high = sa.analysis.wilson_interval(successes, trials)
    rate = successes / trials
    assert 0 <= low <= rate <= high <= 1
    for p in (low, high):  # the score statistic is z at both ends
        if 0 < p < 1:
            assert abs(rate - p) == pytest.approx(
                1.959964 * np.sqrt(p * (1 - p) / trials), rel=1e-5
            )


@pytest.mark.parametrize("trials", [1, 2, 7, 40, 1000])
def test_wilson_interval_is_its_closed_form(trials):
    z = NormalDist().inv_cdf(0.975)
    for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
        p, w = successes / trials, z * z / trials
        centre, half = (
            (p + w / 2) / (1 + w),
            z * np.sqrt(p * (1 - p) / trials + w / (4 * trials)) / (1 + w),
        )
        assert sa.analysis.wilson_interval(successes, trials) == pytest.approx(
            (centre - half, centre + half), abs=1e-12
        )


def test_success_rate_counts():
    rate = sa.success_rate([True, False, True, True])
    assert (rate.successes, rate.trials, rate.rate) == (3, 4, 0.75)
    assert rate.interval == sa.analysis.wilson_interval(3, 4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sa.success_rate([]), "at least one trial"),
        (lambda: sa.analysis.wilson_interval(3, 2), "3 of 2"),
        (lambda: sa.retrieved(np.ones((2, 3, 4)), np.ones((3, 4))), "batch"),
        (
            lambda: sa.retrieved(np.ones((2, 3)), np.ones((3, 4))),
            "trajectory has 3 neurons, but the patterns of X have 4",
        ),
        (lambda: sa.success_rate([True, np.nan]), "True or False"),
    ],
)
def test_what_makes_no_sense_is_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rows_of_the_cue_do_not_count_as_recall_that_failed():
    X = sa.datasets.random_sequences(1, 10, 20, rng=0).patterns
    path = X.copy()
    path[:6, 0] *= -1  # a cue of six corrupted patterns, and everything after it is right
    assert sa.lock_on_step(path, X, order=6) == 6
    assert sa.lock_on_step(path, X) is None
    path[:9, 0] = -X[:9, 0]
    assert sa.lock_on_step(path, X, order=6) is None  # one of four frames
    with pytest.raises(ValueError, match="order must be at least 1"):
        sa.lock_on_step(path, X, order=0)


@given(
    seed=st.integers(0, 2**32 - 1),
    sequences=st.integers(1, 3),
    flips=st.integers(0, 4),
    periods=st.integers(1, 4),
)
def test_a_run_that_ends_early_is_judged_as_the_whole_run(seed, sequences, flips, periods):
    rng = np.random.default_rng(seed)
    task = Task(*draw_sequences(sequences, 6, 12, rng=rng), flips, periods=periods)
    net = sa.SequenceAttractor(14, max_epochs=20, random_state=seed)
    quietly(net.fit, task.X, task.lengths)
    cues = np.stack([sa.noise.flip(x[:1], flips, rng=rng) for x in split(task.X, task.lengths)])
    whole = judge(recall_task(net, task, cues, rng), task, net)
    right = ~net.wrong_units(task.X, task.lengths).any(axis=1)
    assert retrieval_times(net, task, cues, rng, right) == whole
