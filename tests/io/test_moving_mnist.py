"""Reading Moving MNIST from the user's own files."""

import numpy as np
import pytest

from seqattractor.io import load_moving_mnist

MOVING = np.random.default_rng(3).integers(
    0, 256, size=(20, 5, 64, 64), dtype=np.uint8
)  # time first


def test_moving_mnist_is_read_time_first_as_in_the_download(tmp_path):
    np.save(tmp_path / "mnist_test_seq.npy", MOVING)
    X = load_moving_mnist(tmp_path / "mnist_test_seq.npy", n_sequences=4)
    assert X.lengths.tolist() == [20] * 4
    expected = np.where(MOVING[:, :4].swapaxes(0, 1).reshape(80, 4096) > 127, 1, -1)
    assert np.array_equal(X, expected)


def test_moving_mnist_is_read_sequences_first_too(tmp_path):
    np.savez(tmp_path / "moving.npz", frames=MOVING.swapaxes(0, 1))
    X = load_moving_mnist(tmp_path / "moving.npz", n_sequences=5)
    assert np.array_equal(X[:20], np.where(MOVING[:, 0].reshape(20, -1) > 127, 1, -1))
    assert X.frame_shape == (64, 64)


def test_a_sequence_whose_frames_have_two_successors_is_left_out(tmp_path):
    spoiled = MOVING.copy()
    spoiled[7, 0] = spoiled[3, 0]
    np.save(tmp_path / "seq.npy", spoiled)
    X = load_moving_mnist(tmp_path / "seq.npy", n_sequences=4)
    assert np.array_equal(X[:20], np.where(MOVING[:, 1].reshape(20, -1) > 127, 1, -1))


def test_bad_files_are_named_in_one_sentence(tmp_path):
    text = tmp_path / "text.npy"
    text.write_text("hello")
    flat = tmp_path / "flat.npy"
    np.save(flat, np.zeros(9))
    for path, words in [
        (tmp_path / "none", "there is no file"),
        (text, "cannot be read"),
        (flat, "the shape"),
    ]:
        with pytest.raises(ValueError, match=words):
            load_moving_mnist(path)


def test_too_few_sequences_or_frames_are_named(tmp_path):
    np.save(tmp_path / "seq.npy", MOVING)
    with pytest.raises(ValueError, match="5 usable sequences"):
        load_moving_mnist(tmp_path / "seq.npy")
    with pytest.raises(ValueError, match="20 frames"):
        load_moving_mnist(tmp_path / "seq.npy", 2, 30)
