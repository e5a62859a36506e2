"""Writing patterns and recalls: what is written can be read again, and nothing half-written is left
behind.
"""

import numpy as np
import pytest
from PIL import Image

import seqattractor as sa
from own_files import needs_ffmpeg
from seqattractor.io._compose import EXTRA, GAP, LINE, MISSING, Recalled, frames_of, strip_of

DIGITS = sa.datasets.moving_digits(2, 5, size=40)
TUNE = sa.datasets.tune()


@pytest.mark.parametrize("name", ["a.npz", "a.txt", "frames"])
def test_pictures_are_read_again(tmp_path, name):
    sa.io.write(tmp_path / name, DIGITS)
    again = sa.io.load(tmp_path / name)
    assert np.array_equal(again, DIGITS)
    assert again.frame_shape == (40, 40)


@pytest.mark.parametrize("name", ["a.npz", "a.csv"])
def test_several_sequences_stay_several(tmp_path, name):
    sa.io.write(tmp_path / name, DIGITS)
    again = sa.io.load(tmp_path / name)
    assert np.array_equal(again, DIGITS)
    assert again.lengths.tolist() == [5, 5]


def test_a_tune_is_read_again_with_its_notes_and_tempo(tmp_path):
    sa.io.write(tmp_path / "a.mid", TUNE)
    again = sa.io.load(tmp_path / "a.mid")
    assert np.array_equal(again, TUNE)
    assert (again.units, again.rate, again.step) == (TUNE.units, TUNE.rate, TUNE.step)


def test_units_with_names_are_a_table_with_a_header(tmp_path):
    sa.io.write(tmp_path / "a.csv", TUNE)
    again = sa.io.load(tmp_path / "a.csv")
    assert np.array_equal(again, TUNE)
    assert again.units == TUNE.units


@pytest.mark.parametrize("name", ["a.gif", "a.webp", pytest.param("a.mp4", marks=needs_ffmpeg)])
def test_an_animation_has_a_frame_for_each_pattern(tmp_path, name):
    sa.io.write(tmp_path / name, DIGITS)
    assert len(sa.io.load(tmp_path / name, size=None)) == len(DIGITS)


def test_a_recall_shows_more_than_its_patterns(tmp_path):
    X = sa.datasets.place_cells(12)
    recall = sa.noise.flip(X, 3, rng=0)
    alone = sa.Sequences(recall, frame_shape=(16, 16))
    for name, given in (
        ("alone.gif", (alone,)),
        ("patterns.gif", (X,)),
        ("beside.gif", (recall, X)),
    ):
        sa.io.write(tmp_path / name, *given)
    widths = {}
    for path in tmp_path.glob("*.gif"):
        with Image.open(path) as picture:
            widths[path.stem] = picture.size[0]
    assert widths["alone"] == widths["patterns"]
    assert widths["beside"] > 2 * widths["patterns"]  # stored, cue and recall
    sa.io.write(tmp_path / "a.npz", recall, X, order=2)
    with np.load(tmp_path / "a.npz") as arrays:
        assert arrays["cue"].shape == (2, 16, 16)
        assert np.allclose(arrays["overlap"], 1 - 2 * 3 / 256)


def pictures(states, truth, frame_shape):
    recalled = Recalled(states, truth, 1, frame_shape)
    return [*frames_of(recalled), strip_of(recalled)]


@pytest.mark.parametrize("frame_shape", [(40, 40), (1600,)])
def test_wrong_units_have_a_legend_in_every_frame_and_a_right_recall_has_none(frame_shape):
    truth = np.asarray(DIGITS.split()[0])
    wrong = truth.copy()
    wrong[1, 0] *= -1
    for plain, marked in zip(
        pictures(truth, truth, frame_shape), pictures(wrong, truth, frame_shape), strict=True
    ):
        assert not np.isin(plain, [EXTRA, MISSING]).any()
        below = marked[-(GAP + 1 + LINE) :]
        assert {EXTRA, MISSING} <= set(below.ravel().tolist())
        assert marked.shape[1] == plain.shape[1]
        assert 0 < len(marked) - len(plain) <= LINE + GAP


@pytest.mark.parametrize(("columns", "lines"), [(1, 0), (12, 2), (30, 1)])
def test_a_narrow_film_has_its_legend_in_two_lines_and_a_tiny_one_has_none(columns, lines):
    truth = np.ones((3, 100 * columns), dtype=np.int8)
    wrong = truth.copy()
    wrong[1, 0] = -1
    plain, marked = (
        next(frames_of(Recalled(states, truth, 1, (100, columns)))) for states in (truth, wrong)
    )
    assert round((len(marked) - len(plain)) / (LINE + 4)) == lines
    assert set(marked[marked >= EXTRA].tolist()) == ({EXTRA, MISSING} if lines else set())


@pytest.mark.parametrize(
    ("name", "patterns", "words"),
    [
        ("a.doc", DIGITS, "a.doc has an unknown ending"),
        ("a.mid", DIGITS, "only notes can be written as MIDI"),
        ("a.txt", TUNE, "these units have no rows and columns"),
        ("no/where.gif", DIGITS, "the folder .* does not exist; make it first"),
        ("a.gif", [[1, 2]], r"patterns must hold only -1 and \+1"),
    ],
)
def test_what_cannot_be_written_is_rejected_with_a_sentence(tmp_path, name, patterns, words):
    with pytest.raises(ValueError, match=words):
        sa.io.write(tmp_path / name, patterns)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["a.gif", "a.png", "a.npz", pytest.param("a.mp4", marks=needs_ffmpeg), "folder"]
)
def test_an_error_in_between_leaves_what_was_there(tmp_path, monkeypatch, name):
    before = b"what was there"
    if name != "folder":
        (tmp_path / name).write_bytes(before)

    def fail(*args, **options):
        raise OSError("the disk is full")

    for place in (
        "PIL.Image.Image.save",
        "numpy.savez_compressed",
        "seqattractor.io._video.write_video",
    ):
        monkeypatch.setattr(place, fail)
    with pytest.raises(OSError, match="the disk is full"):
        sa.io.write(tmp_path / name, DIGITS)
    assert [path.name for path in tmp_path.iterdir()] == ([] if name == "folder" else [name])
    assert name == "folder" or (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("name", ["a\nb.npz", "a\x1b[31m.csv", "\x00.npz"])
def test_a_name_that_cannot_stand_in_a_sentence_is_rejected_in_one(tmp_path, name):
    path, X = f"{tmp_path}/{name}", sa.datasets.xor()
    net = sa.zoo.LookupMemory().fit(X)
    calls = [
        lambda: sa.load(path),
        lambda: sa.io.load(path),
        lambda: net.save(path),
        lambda: sa.io.write(path, X),
    ]
    for call in [*calls, lambda: sa.io.load_moving_mnist(path), lambda: sa.study.Store(path)]:
        with pytest.raises(
            ValueError, match="has a line break or another control character"
        ) as rejected:
            call()
        assert str(rejected.value).isprintable()
    assert list(tmp_path.iterdir()) == []
