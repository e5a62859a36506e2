"""A consensus is what laps have in common at each fraction of their length."""

import numpy as np
import pytest

import seqattractor as sa


def test_equal_laps_are_their_own_consensus():
    lap = np.eye(6, dtype=int)
    found = sa.replay.consensus([lap, lap])
    assert ((found.patterns > 0) == lap).all()
    assert (found.names, found.kind, found.units) == (["consensus"], "spikes", None)


def test_spikes_of_one_lap_of_three_are_left_out_and_those_of_two_kept():
    laps = [np.eye(6, dtype=int) for _ in range(3)]
    laps[0][0, 5] = 1
    for lap in laps[:2]:
        lap[3, 0] = 1
    patterns = sa.replay.consensus(laps, threshold=0.5).patterns > 0
    assert not patterns[0, 5]
    assert patterns[3, 0]


def test_laps_of_different_length_are_laid_over_each_other():
    slow, fast = np.repeat(np.eye(8, dtype=int), 2, axis=0), np.eye(8, dtype=int)
    found = sa.replay.consensus([slow, fast], n_bins=8, threshold=0.4)
    assert ((found.patterns > 0) == np.eye(8)).all()


def test_each_map_has_a_sequence_of_its_own():
    one, other = np.eye(5, dtype=int), np.eye(5, dtype=int)[::-1]
    found = sa.replay.consensus([one, other, one], maps=["a", "b", "a"])
    assert found.names == ["map a", "map b"]
    assert ((found.split()[1] > 0) == other).all()


def test_a_pattern_that_comes_back_at_once_stands_there_once():
    a, b, c = np.eye(3, dtype=int)
    found = sa.replay.consensus([np.array([a, a, b, a, c])])
    assert ((found.patterns > 0) == np.array([a, c])).all()
    assert not sa.find_conflicts(found)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"laps": []}, "there are no laps"),
        ({"laps": [np.zeros((5, 3))]}, "the consensus of the 1 laps never changes"),
        ({"maps": [1]}, "maps must label each of the 2 laps"),
        ({"n_bins": 1}, "n_bins"),
        ({"epochs": 1}, "epochs and bin_size go with a TsGroup"),
    ],
)
def test_bad_input_gets_a_sentence(change, match):
    options = {"laps": [np.eye(4), np.eye(4)]} | change
    with pytest.raises((ValueError, TypeError), match=match):
        sa.replay.consensus(options.pop("laps"), **options)
