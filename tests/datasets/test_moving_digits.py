"""Digits that move over a canvas and bounce off its walls."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqattractor.datasets import moving_digits
from seqattractor.datasets._moving_digits import wandering


def successors_are_unique(X):
    after = {}
    for s in X.split():
        for a, b in pairwise(s):
            if after.setdefault(a.tobytes(), b.tobytes()) != b.tobytes():
                return False
    return True


def test_it_has_the_size_of_the_papers_moving_digits():
    X = moving_digits()
    assert X.shape == (20 * 20, 64 * 64)
    assert X.dtype == np.int8
    assert set(np.unique(X)) == {-1, 1}
    assert X.lengths.tolist() == [20] * 20
    assert 0.03 < (X > 0).mean() < 0.09


def test_the_same_seed_gives_the_same_sequences_and_another_seed_others():
    a, b, c = (moving_digits(3, 6, rng=s) for s in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_it_has_the_shape_of_its_frames():
    X = moving_digits(2, 3, size=48)
    assert X.frame_shape == (48, 48)
    assert X.shape == (6, 48 * 48)
    assert X.lengths.tolist() == [3, 3]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_digit_stays_on_the_canvas_and_moves_a_tenth_of_it_or_bounces(seed):
    path = wandering(60, np.random.default_rng(seed))
    assert path.min() >= 0
    assert path.max() <= 1
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert steps.max() <= 0.1 + 1e-12
    free = ~((path[1:] % 1 == 0) | (path[:-1] % 1 == 0)).any(axis=1)
    assert np.allclose(steps[free], 0.1)


def test_sequences_with_a_conflict_are_drawn_again():
    # One small dot on a small canvas: nearly every second sequence would meet a frame with another
    # successor.
    dot = np.ones((1, 2, 2))
    for seed in range(5):
        X = moving_digits(4, 4, size=8, n_digits=1, digits=dot, rng=seed)
        assert successors_are_unique(X)


def test_an_impossible_wish_ends_with_one_sentence_instead_of_never():
    with pytest.raises(ValueError, match="fewer or shorter"):
        moving_digits(40, 20, size=4, n_digits=1, digits=np.ones((1, 2, 2)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_sequences": 0}, "n_sequences"),
        ({"rng": -1}, "a seed must be 0 or more"),
        ({"length": 1}, "length"),
        ({"n_digits": 0}, "n_digits"),
        ({"size": 28}, "size"),
        ({"digits": np.ones((3, 3))}, "shape"),
        ({"digits": np.zeros((1, 3, 3))}, "dark"),
    ],
)
def test_bad_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        moving_digits(**arguments)


def test_a_number_of_sequences_that_is_no_whole_number_is_rejected():
    with pytest.raises(TypeError, match=r"n_sequences must be a whole number, but it is 1\.5"):
        moving_digits(1.5)
