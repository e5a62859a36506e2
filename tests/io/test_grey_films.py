"""Films in grey and colour with binary neurons: read, written, learned, recalled, and remembered by
model files.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import seqattractor as sa
from films import grey_film, save_film
from own_files import needs_ffmpeg, rejects
from seqattractor.io._attached import attach, attached
from seqattractor.sequences import LevelCode

GREY, COLOUR = grey_film(), grey_film(colour=True)


def nearest_level(values, n_levels):
    """The nearest of the levels from 0 to 255, by looking at all of them."""
    levels = np.linspace(0, 255, n_levels)
    return levels[np.abs(values[..., None] - levels).argmin(axis=-1)]


@pytest.fixture(params=["grey", "colour"])
def film(request, tmp_path):
    """A film as a file, its frames, and the options with which it is read."""
    frames, options = {
        "grey": (GREY, {"levels": 8}),
        "colour": (COLOUR, {"levels": 5, "colour": True}),
    }[request.param]
    return save_film(tmp_path / "film.webp", frames), frames, options


# -- reading
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["thermometer", "gray"])
def test_every_pixel_takes_the_nearest_level(film, code):
    path, frames, options = film
    X = sa.io.load(path, **options, code=code)
    n_levels = options["levels"]
    bits = n_levels - 1 if code == "thermometer" else 3
    assert X.frame_shape == (*frames.shape[1:], bits)
    assert X.code == LevelCode(n_levels, code)
    assert np.allclose(X.values, nearest_level(frames.astype(float), n_levels))
    assert X.picture_shape == (16, 16)
    assert f"{n_levels} levels of" in X.describe()
    assert np.array_equal(
        X.patterns,
        sa.encoders.LevelEncoder(n_levels, code=code, value_range=(0, 255)).fit_transform(frames),
    )


def test_folders_arrays_and_videos_are_read_in_grey_and_colour_too(tmp_path):
    (tmp_path / "frames").mkdir()
    for t, frame in enumerate(COLOUR):
        Image.fromarray(frame).save(tmp_path / "frames" / f"{t}.png")
    np.save(tmp_path / "a.npy", COLOUR)
    np.save(tmp_path / "several.npy", np.stack([COLOUR, COLOUR]))
    expected = nearest_level(COLOUR.astype(float), 4)
    for name in ("frames", "a.npy"):
        assert np.allclose(sa.io.load(tmp_path / name, levels=4, colour=True).values, expected)
    assert sa.io.load(tmp_path / "several.npy", levels=4, colour=True).lengths.tolist() == [12, 12]
    assert sa.io.load(tmp_path / "a.npy", colour=True).code == LevelCode(
        8
    )  # levels of colour, by default
    assert sa.io.load(tmp_path / "a.npy", levels=4).frame_shape == (16, 16, 3)  # grey


@needs_ffmpeg
def test_a_video_is_read_in_colour(tmp_path):
    still = np.zeros((32, 32, 3), dtype=np.uint8)
    still[:16], still[16:] = (250, 10, 10), (10, 10, 250)
    patterns = sa.encoders.LevelEncoder(2, value_range=(0, 255)).fit_transform(
        np.stack([still] * 3)
    )
    sa.io.write(
        tmp_path / "a.mp4", sa.Sequences(patterns, frame_shape=(32, 32, 3, 1), code=LevelCode(2))
    )
    values = sa.io.load(tmp_path / "a.mp4", levels=2, colour=True, size=None).values
    assert len(values) == 3
    height, width = values.shape[1:3]
    assert values[0, height // 4, width // 2].tolist() == [255, 0, 0]
    assert values[0, 3 * height // 4, width // 2].tolist() == [0, 0, 255]


def test_numbers_of_any_range_become_levels_and_the_range_is_remembered(tmp_path):
    frames = GREY / 10.0 - 3
    np.save(tmp_path / "a.npy", frames)
    X = sa.io.load(tmp_path / "a.npy", levels=6)
    assert (X.code.low, X.code.high) == (frames.min(), frames.max())
    np.save(tmp_path / "part.npy", frames[:2])
    again = sa.io.load(tmp_path / "part.npy", **X.options)
    assert np.array_equal(again, X[:2])
    np.save(tmp_path / "dim.npy", frames / 2)
    with pytest.raises(ValueError, match="another range; give one value_range for all"):
        sa.io.load_all([tmp_path / "a.npy", tmp_path / "dim.npy"], levels=6)
    np.save(tmp_path / "still.npy", np.ones((2, 3, 3)))
    rejects(tmp_path / "still.npy", "levels cannot be spread", levels=3)


def test_the_negative_is_the_negative(film):
    path, frames, options = film
    values = sa.io.load(path, **options, invert=True).values
    assert np.allclose(values, nearest_level(255.0 - frames, options["levels"]))


@pytest.mark.parametrize(
    ("options", "units"),
    [({"levels": 8}, 7), ({"colour": True}, 21), ({"levels": 256, "code": "gray"}, 8)],
)
def test_a_picture_is_shrunk_until_it_has_no_more_units_than_in_black_and_white(
    tmp_path, options, units
):
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (150, 300, 3), dtype=np.uint8)).save(
        tmp_path / "a.png"
    )
    X = sa.io.load(tmp_path / "a.png", **options)
    height, width = X.picture_shape
    assert X.shape[1] == height * width * units <= 128 * 128
    assert (height + 1) * (width + 1) * units > 128 * 128 or width == 128
    assert sa.io.load(tmp_path / "a.png", **options, size=20).picture_shape == (10, 20)


def test_what_has_no_pictures_or_colours_is_rejected_with_a_sentence(tmp_path):
    (tmp_path / "a.csv").write_text("0,1\n1,0\n")
    (tmp_path / "a.txt").write_text("#.\n.#\n")
    np.save(tmp_path / "a.npy", GREY)
    rejects(tmp_path / "a.csv", "levels and colour are for pictures", levels=4)
    rejects(tmp_path / "a.txt", "has no colours", colour=True)
    rejects(tmp_path / "a.npy", r"frames in colour have \(time, height, width, 3\)", colour=True)


# -- writing
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.npz", "frames"])
def test_what_is_written_is_read_again(film, tmp_path, name):
    path, _, options = film
    X = sa.io.load(path, **options)
    sa.io.write(tmp_path / name, X)
    again = sa.io.load(tmp_path / name, **options)
    assert np.array_equal(again, X)


def test_animations_show_the_pixels_in_their_greys_and_colours(film, tmp_path):
    path, _, options = film
    X = sa.io.load(path, **options)
    for name in ("a.gif", "a.webp"):
        sa.io.write(tmp_path / name, X)
        with Image.open(tmp_path / name) as animation:
            assert animation.n_frames == len(X)
            animation.seek(3)
            picture = np.asarray(animation.convert("RGB"))
        shown = picture[
            30 : 30 + 192 : 12, 8 : 8 + 192 : 12
        ]  # below the title, twelve pixels for one
        expected = np.round(X.values[3]).astype(int)
        assert np.array_equal(
            shown, expected if shown.shape == expected.shape else np.stack([expected] * 3, axis=2)
        )


def test_a_recall_has_a_panel_of_errors_beside_it_orange_where_too_bright(tmp_path):
    encoder = sa.encoders.LevelEncoder(5, value_range=(0, 255))
    X = sa.Sequences(
        encoder.fit_transform(np.full((3, 4, 4), 128)), frame_shape=(4, 4, 4), code=encoder.code_
    )
    recalled = np.array(X)
    recalled[2, :4] = 1  # the first pixel is too bright, the second too dark
    recalled[2, 4:8] = -1
    sa.io.write(tmp_path / "a.webp", recalled, X)
    with Image.open(tmp_path / "a.webp") as animation:
        animation.seek(2)
        picture = np.asarray(animation.convert("RGB")).astype(int)
    right = picture[30:, -8 - 192 :]
    for column, sign in ((20, 1), (70, -1)):
        red, _, blue = right[20, column]
        assert sign * (red - blue) > 50
    assert right[20, 120].tolist() == [0, 0, 0]
    sa.io.write(tmp_path / "a.npz", recalled, X)
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["recall"].shape == (3, 4, 4)
        assert arrays["error"].tolist() == [0, 0, pytest.approx(2 * 127.5 / 16)]
    with pytest.raises(ValueError, match="text art"):
        sa.io.write(tmp_path / "a.txt", X)
    sa.io.write(tmp_path / "a.csv", X)
    assert set((tmp_path / "a.csv").read_text().replace("\n", ",").strip(",").split(",")) == {"128"}


def test_sequences_are_drawn_in_grey_and_colour(film):
    path, frames, options = film
    X = sa.io.load(path, **options)
    picture = X.plot(n_frames=3).images[0].get_array()
    first = np.asarray(picture)[:16, :16]
    expected = X.values[0] / 255
    assert np.allclose(first[..., :3] if frames.ndim == 4 else first, expected)


# -- the command line and model files
# -------------------------------------------------------------------------------------


def test_a_film_is_learned_and_recalled_on_the_command_line(run, film, tmp_path):
    path, frames, options = film
    flags = ["--levels", options["levels"], *(["--colour"] if "colour" in options else [])]
    code, out, _ = run("learn", path, *flags, "--loop", "--hidden", 60, "-o", "m.npz")
    assert code == 0, out
    known = attached(sa.load("m.npz"))
    assert known.code == LevelCode(options["levels"])
    assert known.picture_shape == (16, 16)
    flips = known.sequences.shape[1] // 10
    code, out, _ = run("recall", "m.npz", "--flips", flips, "-o", "r.gif", "-o", "r.npz", "--json")
    report = json.loads(out)
    assert code == 0
    assert report["value_error"][0] > 5
    assert max(report["value_error"][1:]) == 0
    assert {Path(name).name for name in report["written"]} == {"r.gif", "r.gif-strip.png", "r.npz"}
    with np.load("r.npz") as arrays:
        assert (
            np.abs(arrays["recall"][1:12].astype(int) - frames[1:]).max()
            <= 255 / (options["levels"] - 1) / 2 + 1
        )
    Image.fromarray(frames[4]).resize((40, 40)).save(
        "cue.png"
    )  # a cue of another size is read as the film was
    code, out, _ = run("recall", "m.npz", "--cue", "cue.png", "--occlude", "0:4,0:16")
    assert code == 0
    assert "nearest to frame 4 of film" in out
    assert "mean error of the values: " in out
    code, out, _ = run("inspect", "m.npz", "--effort", "0.01", "--json")
    assert code == 0
    assert json.loads(out)["score"] == 1.0


def test_what_covers_a_pixel_covers_all_of_its_units(tmp_path):
    X = sa.io.load(save_film(tmp_path / "film.webp", COLOUR), levels=4, colour=True)
    covered = sa.noise.occlude(X[0], X.frame_shape, ((0, 16), (0, 8)), axes=2).reshape(
        X.frame_shape
    )
    assert (covered[:, :8] == -1).all()
    assert np.array_equal(covered[:, 8:], X.frames[0, :, 8:])
    some = sa.noise.occlude(
        np.ones(16 * 16 * 9), X.frame_shape, fraction=0.25, axes=2, rng=3
    ).reshape(16, 16, 9)
    assert (some == -1).any(axis=2).sum() == (some == -1).all(axis=2).sum() == 64


def test_a_model_remembers_the_code_and_an_old_one_has_none(tmp_path):
    X = sa.io.load(save_film(tmp_path / "film.webp", GREY), levels=3, code="gray")
    net = sa.zoo.LookupMemory(on_conflict="learn").fit(X)
    attach(net, X)
    net.save(tmp_path / "m.npz")
    again = attached(sa.load(tmp_path / "m.npz"))
    assert again.sequences.code == again.code == X.code
    assert np.array_equal(again.sequences.values, X.values)
    del net.metadata_["code"]  # as in a file of an older version
    net.save(tmp_path / "old.npz")
    assert attached(sa.load(tmp_path / "old.npz")).code is None


def test_a_code_that_does_not_fit_the_frames_is_rejected():
    for code in (LevelCode(4), {"n_levels": 4}):
        with pytest.raises(
            ValueError, match="the last axis of a frame must have the 3 units of a value"
        ):
            sa.Sequences(np.ones((2, 8)), frame_shape=(2, 2, 2), code=code)
    assert sa.Sequences(
        np.ones((2, 12)), frame_shape=(2, 2, 3), code={"n_levels": 4}
    ).values.shape == (2, 2, 2)
