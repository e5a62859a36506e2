"""The options of `load` do what the docs promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from own_files import FRAMES, PATTERNS, save_animation
from seqattractor.encoders._threshold_encoder import otsu
from seqattractor.io import load


def test_frames_stride_crop_size_loop_and_repeats_work_as_documented(tmp_path):
    path = save_animation(tmp_path / "a.png")
    assert np.array_equal(load(path, frames=(1, 4)), PATTERNS[1:4])
    assert np.array_equal(load(path, stride=2), PATTERNS[::2])
    assert load(path, stride=2).rate == pytest.approx(12.5)
    assert np.array_equal(
        load(path, crop=(2, 1, 9, 5)), np.where(FRAMES[:, 1:5, 2:9].reshape(5, -1) > 0, 1, -1)
    )
    assert np.array_equal(load(path, loop=True), np.vstack([PATTERNS, PATTERNS[:1]]))
    assert np.array_equal(load(path, invert=True), -PATTERNS)
    assert load(path, size=(6, 8)).frame_shape == (6, 8)
    assert load(path, size=8).frame_shape == (6, 8)
    np.save(tmp_path / "twice.npy", np.repeat(FRAMES, 2, axis=0))
    assert np.array_equal(load(tmp_path / "twice.npy", drop_repeats=True), PATTERNS)


def test_nearly_equal_frames_can_be_left_out(tmp_path):
    X = np.ones((5, 20), dtype=np.int8)
    X[1, :2] = X[2, :4] = X[3, :5] = X[4, :12] = -1  # 2, 4, 5 and 12 units from the first
    np.save(tmp_path / "slow.npy", X)
    assert np.array_equal(
        load(tmp_path / "slow.npy", drop_near=3), X[[0, 2, 4]]
    )  # compared with the last one taken
    assert np.array_equal(load(tmp_path / "slow.npy", drop_near=2), X[[0, 2, 4]])
    assert np.array_equal(load(tmp_path / "slow.npy", drop_near=1), X[[0, 1, 2, 4]])
    with pytest.raises(ValueError, match="drop_near must be at least 0"):
        load(tmp_path / "slow.npy", drop_near=-1)


def test_large_pictures_are_shrunk_unless_size_is_none(tmp_path):
    Image.fromarray(np.kron(FRAMES[0], np.ones((20, 20), np.uint8))).save(tmp_path / "a.png")
    assert load(tmp_path / "a.png").frame_shape == (96, 128)
    assert load(tmp_path / "a.png", size=None).frame_shape == (240, 320)


def test_a_size_beyond_all_memory_is_rejected_before_a_frame_is_enlarged(tmp_path):
    path = save_animation(tmp_path / "a.png")
    with pytest.raises(ValueError, match="would take 10000 million units"):
        load(path, size=(100_000, 100_000))


def test_a_sequence_that_is_closed_already_is_not_closed_twice(tmp_path):
    np.save(tmp_path / "a.npy", np.concatenate([FRAMES, FRAMES[:1]]))
    assert len(load(tmp_path / "a.npy", loop=True)) == 6


def test_thresholds_fixed_otsu_and_median(tmp_path):
    grey = np.array([[[10, 20], [200, 210]], [[10, 12], [14, 220]]], dtype=np.uint8)
    np.save(tmp_path / "a.npy", grey)
    assert load(tmp_path / "a.npy", threshold=205).tolist() == [[-1, -1, -1, 1], [-1, -1, -1, 1]]
    assert load(tmp_path / "a.npy", threshold="otsu").tolist() == [[-1, -1, 1, 1], [-1, -1, -1, 1]]
    assert load(tmp_path / "a.npy", threshold="median").tolist() == [[-1, -1, 1, 1], [-1, -1, 1, 1]]


@given(st.lists(st.integers(0, 255), min_size=2, max_size=40).filter(lambda v: len(set(v)) > 1))
def test_otsu_leaves_the_least_variance_inside_the_two_classes(values):
    array = np.array(values, dtype=np.uint8)

    def inside(cut):
        low, high = array[array <= cut].astype(float), array[array > cut].astype(float)
        return low.var() * len(low) + high.var() * len(high)

    best = min(inside(cut) for cut in set(values) - {max(values)})
    assert inside(otsu(array)) == pytest.approx(best, abs=1e-6)


def test_transparent_pixels_are_seen_on_a_white_page(tmp_path):
    picture = np.zeros((4, 4, 4), np.uint8)
    picture[1:3, 1:3, 3] = 255  # a black square, opaque
    Image.fromarray(picture).save(tmp_path / "a.png")
    expected = np.ones((4, 4))
    expected[1:3, 1:3] = -1
    assert np.array_equal(load(tmp_path / "a.png")[0].reshape(4, 4), expected)


@pytest.mark.parametrize(
    "options",
    [
        {"format": "film"},
        {"size": (0, 4)},
        {"size": "big"},
        {"threshold": "mean"},
        {"stride": 0},
        {"frames": (3, 3)},
        {"crop": (4, 0, 2, 2)},
        {"crop": (0, 0, 99, 2)},
        {"frames": (9, None)},
        {"time_axis": 7},
        {"bin": -1.0},
        {"step": 0},
        {"levels": 1},
        {"levels": 300},
        {"levels": 8.5},
        {"levels": 8, "threshold": "otsu"},
        {"colour": "yes"},
        {"code": "gray"},
        {"levels": 8, "code": "binary"},
        {"levels": 8, "value_range": (1, 1)},
        {"value_range": (0, 1)},
    ],
    ids=str,
)
def test_an_option_that_makes_no_sense_is_one_sentence(tmp_path, options):
    path = save_animation(tmp_path / "a.gif")
    with pytest.raises((TypeError, ValueError), match=r"^[^\n]+\.$"):
        load(path, **options)
    with pytest.raises(TypeError, match="option"):
        load(path, no_such_option=True)
