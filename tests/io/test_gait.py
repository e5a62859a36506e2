"""Reading gait silhouettes from a folder laid out as the OU-ISIR database."""

import numpy as np
import pytest
from PIL import Image

from seqattractor.io import load_gait
from seqattractor.io._paper_data import SILHOUETTES

FRAMES = np.random.default_rng(5).integers(0, 256, size=(6, 128, 88), dtype=np.uint8)


def write(folder, frames, first=17):
    folder.mkdir(parents=True)
    for number, frame in enumerate(frames, start=first):
        Image.fromarray(frame).save(folder / f"{number:08d}.png")


@pytest.fixture
def database(tmp_path):
    write(tmp_path / SILHOUETTES / "Seq00" / "0000008", FRAMES[:3])
    write(tmp_path / SILHOUETTES / "Seq00" / "0000031", FRAMES, first=98)
    write(tmp_path / SILHOUETTES / "Seq01" / "0000031", FRAMES[::-1], first=3)
    return tmp_path


EXPECTED = np.where(FRAMES.reshape(6, -1) > 127, 1, -1)


@pytest.mark.parametrize(
    "inside", ["", SILHOUETTES, f"{SILHOUETTES}/Seq00", f"{SILHOUETTES}/Seq00/0000031"]
)
def test_any_folder_of_the_layout_can_be_given_and_the_first_long_enough_subject_is_read(
    database, inside
):
    assert np.array_equal(load_gait(database / inside, n_frames=6), EXPECTED)


def test_the_folder_of_a_subject_chooses_it(database):
    assert np.array_equal(
        load_gait(database / SILHOUETTES / "Seq00" / "0000008", n_frames=3), EXPECTED[:3]
    )
    assert np.array_equal(load_gait(database / SILHOUETTES / "Seq01", n_frames=6), EXPECTED[::-1])


def test_frames_have_their_shape(database):
    X = load_gait(database / SILHOUETTES / "Seq01", n_frames=None)
    assert X.frame_shape == (128, 88)
    assert X.lengths.tolist() == [6]


def test_too_few_frames_are_reported(database):
    with pytest.raises(ValueError, match="has 103 frames, the longest has 6"):
        load_gait(database)


def test_a_folder_that_does_not_exist_or_holds_no_pictures_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        load_gait(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="holds no pictures"):
        load_gait(tmp_path)


def test_a_broken_picture_or_one_of_another_size_is_named(tmp_path):
    write(tmp_path / "a", FRAMES)
    (tmp_path / "a" / "00000019.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"00000019\.png cannot be read"):
        load_gait(tmp_path / "a", n_frames=6)
    write(tmp_path / "b", [FRAMES[0], FRAMES[0][:50]])
    with pytest.raises(
        ValueError,
        match=r"the frames of .*b have different sizes: frame 1 is 88x50 and frame 0 is 88x128",
    ):
        load_gait(tmp_path / "b", n_frames=2)
