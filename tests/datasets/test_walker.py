"""The drawn walking figure."""

import numpy as np
import pytest

from seqattractor.datasets import walker


@pytest.fixture(scope="module")
def X():
    return walker()


def test_it_has_the_size_of_the_papers_gait_sequence(X):
    assert X.shape == (104, 88 * 128)
    assert X.dtype == np.int8
    assert set(np.unique(X)) == {-1, 1}


def test_it_is_a_closed_loop_of_103_distinct_frames(X):
    assert len(np.unique(X[:103], axis=0)) == 103
    assert np.array_equal(X[103], X[0])


def test_it_is_the_same_every_time(X):
    assert np.array_equal(walker(), X)


def test_it_has_the_shape_of_its_frames(X):
    assert X.frame_shape == (128, 88)
    assert X.lengths.tolist() == [104]
    assert (X.kind, X.closed) == ("pictures", 1)


def test_every_frame_shows_one_figure_that_stands_on_the_ground_inside_the_frame(X):
    from scipy.ndimage import label

    for frame in (X > 0).reshape(-1, 128, 88):
        assert label(frame, structure=np.ones((3, 3)))[1] == 1
        assert np.flatnonzero(frame.any(axis=1)).max() in (124, 125)
        assert not frame[0].any()
        assert not frame[:, [0, -1]].any()


def test_it_moves_smoothly_and_both_legs_swing(X):
    frames = (X > 0).reshape(-1, 128, 88)
    changed = (X[1:] != X[:-1]).sum(axis=1)
    assert changed.min() > 100
    assert changed.max() < 1000
    # three strides make six steps: the width of the lower legs has six maxima around the loop
    width = np.array(
        [np.ptp(np.flatnonzero(f[100:].any(axis=0))) for f in frames[:103]], dtype=float
    )
    assert np.argmax(np.abs(np.fft.rfft(width))[1:]) + 1 == 6


@pytest.mark.parametrize(("n_frames", "shrink"), [(8, 4), (34, 2), (103, 4), (103, 1)])
def test_fewer_and_smaller_frames_are_still_a_loop_of_distinct_ones(n_frames, shrink):
    X = walker(n_frames, shrink=shrink)
    assert X.shape == (n_frames + 1, 128 * 88 // shrink**2)
    assert X.frame_shape == (128 // shrink, 88 // shrink)
    assert X.closed == 1
    assert len(np.unique(X, axis=0)) == n_frames


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_frames": 104}, "has 103 frames, fewer than the 104"),
        ({"n_frames": 0}, "at least 1"),
        ({"shrink": 3}, "shrink must be"),
    ],
)
def test_frames_that_there_are_not_are_rejected(given, words):
    with pytest.raises(ValueError, match=words):
        walker(**given)
