"""Events that replay a sequence are found, with direction, speed and place; others are not."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import seqattractor as sa

N, T = 40, 40


def track(seed, n_maps=1):
    """Sequences in which three cells are on at a time and one after the other goes off."""
    rng = np.random.default_rng(seed)
    maps = []
    for _ in range(n_maps):
        cells = rng.permutation(N)
        maps.append(np.array([np.isin(np.arange(N), cells[t : t + 3]) for t in range(T - 2)]))
    X = np.concatenate(maps)
    return sa.Sequences(np.where(X, 1, -1), [T - 2] * n_maps)


def part(X, sequence, start, bins, speed):
    """An event: the sequence from one of its patterns on, so many patterns per bin."""
    return (X.split()[sequence][start + speed * np.arange(bins)] > 0).astype(int)


@pytest.fixture(scope="module")
def learned():
    X = track(0, 2)
    return sa.zoo.LookupMemory().fit(X), X


@pytest.mark.parametrize("speed", [1, 2, 3, -1, -2, -3])
@pytest.mark.parametrize("sequence", [0, 1])
def test_direction_speed_sequence_and_start_of_an_event_are_found(learned, sequence, speed):
    net, X = learned
    event = part(X, sequence, 5 if speed > 0 else 33, 9, speed)
    found = sa.replay.test(net, [event], sequences=X, n_shuffles=200, rng=0)
    assert found.p_values[0] == pytest.approx(1 / 201)
    assert found.speeds[0] == speed
    assert (found.followed[0], found.starts[0]) == (sequence, 5 if speed > 0 else 33)
    [row] = found.rows()
    assert (row["follows"], row["from_pattern"]) == (X.names[sequence], found.starts[0])


def test_an_event_that_is_replay_is_recalled_from_its_bins(learned):
    net, X = learned
    event = part(X, 0, 3, 8, 2)
    [expected] = sa.replay.test(net, [event], rng=0, n_shuffles=50).expected
    assert not expected[0].any()  # there is no bin before it
    assert (expected[1:] == event[1:]).all()
    missed = event.copy()
    missed[0] = 0
    missed[0, X.split()[1][20] > 0] = 1  # a bin of another sequence predicts something else
    [expected] = sa.replay.test(net, [missed], rng=0, n_shuffles=50).expected
    for b in range(2, 8):
        assert (expected[b, event[b] > 0] >= (b - 1) / b - 1e-12).all()
        assert expected[b].sum() == pytest.approx(3)


def test_silent_bins_between_active_ones_keep_the_time(learned):
    net, X = learned
    event = part(X, 0, 2, 12, 2)
    event[[3, 4, 8]] = 0
    found = sa.replay.test(net, [event], sequences=X, n_shuffles=100, rng=0)
    assert (found.speeds[0], found.starts[0]) == (2, 2)
    around = np.concatenate([np.zeros((3, N)), event, np.zeros((5, N))])
    again = sa.replay.test(net, [around], sequences=X, n_shuffles=100, rng=0)
    assert again.p_values == found.p_values
    assert again.scores == found.scores


def test_events_that_are_too_short_or_silent_are_named_and_not_tested(learned):
    net, X = learned
    two = part(X, 0, 2, 2, 1)
    events = [np.zeros((5, N)), two, np.zeros((0, N)), part(X, 0, 2, 10, 2)]
    found = sa.replay.test(net, events, sequences=X, n_shuffles=100, rng=0)
    assert found.tested.tolist() == [False, False, False, True]
    assert np.isnan(found.scores[:3]).all()
    assert found.p_values[:3].tolist() == found.q_values[:3].tolist() == [1, 1, 1]
    assert found.significant().tolist() == [False, False, False, True]
    assert "Not tested, with fewer than 3 active bins: 3 events." in found.describe()
    assert [row.get("follows") for row in found.rows()][:3] == [None] * 3
    nothing = sa.replay.test(net, events[:3], n_shuffles=10, rng=0)
    assert nothing.describe().startswith("No event was tested: none has 3 bins")
    assert not nothing.significant().any()


def test_results_depend_neither_on_processes_nor_on_chunks(learned, monkeypatch):
    net, X = learned
    rng = np.random.default_rng(1)
    events = [rng.poisson(0.1, (int(rng.integers(2, 12)), N)) for _ in range(57)]
    options = {"n_shuffles": 20, "rng": 7, "sequences": X}
    calls = []
    found = sa.replay.test(net, events, progress=lambda *n: calls.append(n), **options)
    assert calls == [(50, 57), (57, 57)]
    first = sa.replay.test(net, events[:5], **options)
    assert np.array_equal(first.scores, found.scores[:5], equal_nan=True)
    two = sa.replay.test(net, events, n_jobs=2, **options)
    monkeypatch.setattr("seqattractor.replay._events._TOGETHER", 3)
    threes = sa.replay.test(net, events, **options)
    for other in (two, threes):
        for name in ("scores", "p_values", "speeds", "null_means", "followed", "starts"):
            assert np.array_equal(getattr(other, name), getattr(found, name), equal_nan=True), name


@pytest.mark.parametrize("null", ["order", "cells", "circular", "poisson"])
def test_every_null_finds_replay_and_says_what_it_is(learned, null):
    net, X = learned
    events = [part(X, 0, 2, 10, 2), part(X, 1, 30, 10, -2)]
    found = sa.replay.test(net, events, null=null, n_shuffles=60, rng=0)
    assert (found.p_values <= 0.05).all()
    assert (found.null, found.n_shuffles) == (null, 60)
    assert "2 of 2 events are replay" in found.describe()


@pytest.mark.parametrize("null", ["order", "cells", "circular", "poisson"])
def test_that_bursts_outlast_a_bin_is_no_prediction(null):
    still = sa.networks.from_arrays(np.eye(N), np.eye(N))  # every state is its own successor
    event = np.repeat(np.eye(N, dtype=int)[:6], 3, axis=0)
    found = sa.replay.test(still, [event], null=null, n_shuffles=40, rng=0)
    assert (found.p_values[0], found.scores[0]) == (1, 0)


def test_several_memories_are_asked_together(learned):
    net, X = learned
    event = part(X, 0, 2, 10, 2)
    options = {"sequences": X, "n_shuffles": 60, "rng": 0}
    alone, one = (sa.replay.test(memory, [event], **options) for memory in (net, [net]))
    assert (one.scores, one.memory) == (alone.scores, "LookupMemory")
    other = sa.zoo.LookupMemory().fit(sa.Sequences(X.split()[1]))  # which does not know this event
    both = sa.replay.test([net, net, other], [event], **options)
    assert (both.p_values[0], both.speeds[0], both.memory) == (
        1 / 61,
        2,
        "3 memories (LookupMemory)",
    )
    assert (both.expected[0] >= alone.expected[0] * 2 / 3 - 1e-12).all()  # what two of them recall
    assert "in the order that 3 memories (LookupMemory) learned" in both.describe()
    with pytest.raises(ValueError, match="memory is an empty list"):
        sa.replay.test([], [event])
    with pytest.raises(ValueError, match="only a network of order 1"):
        sa.replay.test([net, sa.zoo.LookupMemory(order=2).fit(X)], [event])


def test_what_can_be_given_means_the_same(learned):
    net, _ = learned
    rng = np.random.default_rng(2)
    events = [rng.poisson(0.3, (9, N)) for _ in range(4)]
    signs = [np.where(event > 0, 1, -1) for event in events]
    together = sa.Sequences(np.concatenate(signs), [9] * 4)
    forms = (events, signs, together)
    first, *others = (sa.replay.test(net, form, n_shuffles=20, rng=0) for form in forms)
    for other in others:
        assert other.scores.tolist() == first.scores.tolist()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"events": []}, "there are no events"),
        ({"events": np.zeros((5, N))}, r"but it is one array; give \[events\]"),
        ({"events": [np.zeros(5)]}, r"events\[0\] must be an array \(bins, cells\)"),
        ({"events": [np.zeros((5, N)), np.zeros((5, 3))]}, r"events\[1\] has 3 cells"),
        ({"events": [np.zeros((5, 3))]}, "events have 3 cells, but the memory has learned"),
        ({"events": [np.full((5, N), -2)]}, "negative numbers of spikes"),
        ({"null": "time"}, "null"),
        ({"n_shuffles": 0}, "n_shuffles"),
        ({"max_speed": 0}, "max_speed"),
    ],
)
def test_bad_input_gets_a_sentence(learned, change, match):
    net, X = learned
    options = {"events": [part(X, 0, 2, 9, 1)], "n_shuffles": 10, "rng": 0} | change
    with pytest.raises(ValueError, match=match):
        sa.replay.test(net, **options)


def test_a_memory_that_looks_further_back_cannot_be_asked():
    X = track(1)
    net = sa.zoo.LookupMemory(order=2).fit(X)
    with pytest.raises(ValueError, match="only a network of order 1"):
        sa.replay.test(net, [part(X, 0, 2, 9, 1)])
    with pytest.raises(NotFittedError):
        sa.replay.test(sa.zoo.LookupMemory(), [part(X, 0, 2, 9, 1)])
