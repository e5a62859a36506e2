"""People's own sequences: what is read is what was drawn, and broken files give one clear sentence."""

import os
import struct
import sys
import zipfile
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import seqattractor as sa
from seqattractor.datasets import midi, recording
from seqattractor.datasets.threshold import otsu
from seqattractor.datasets.video import write_video

RNG = np.random.default_rng(11)
FRAMES = np.where(RNG.random((5, 12, 16)) < 0.4, 255, 0).astype(np.uint8)
PATTERNS = np.where(FRAMES.reshape(5, -1) > 127, 1, -1)
load = sa.datasets.load
needs_ffmpeg = pytest.mark.skipif(find_spec("imageio_ffmpeg") is None, reason="the extra video is not installed")


def save_animation(path, frames=FRAMES, **options):
    pictures = [Image.fromarray(frame) for frame in frames]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=40, loop=0, **options)
    return path


def save_folder(folder, frames=FRAMES, names=None):
    folder.mkdir()
    for k, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / (names[k] if names else f"frame{k}.png"))
    return folder


# -- what is read ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "options"), [("a.gif", {}), ("a.webp", {"lossless": True}), ("a.png", {})])
def test_an_animation_is_read_frame_by_frame_with_its_rate(tmp_path, name, options):
    found = load(save_animation(tmp_path / name, **options))
    assert np.array_equal(found.X, PATTERNS)
    assert found.frame_shape == (12, 16)
    assert found.rate == pytest.approx(25.0)
    assert (found.kind, found.names, found.lengths.tolist()) == ("pictures", ["a"], [5])


def test_a_folder_is_sorted_naturally_and_hidden_files_and_notes_are_passed_over(tmp_path):
    names = ["f10.png", "f2.png", "f1.PNG", "f30.bmp", "f3.png"]
    folder = save_folder(tmp_path / "walk", names=names)
    (folder / ".f0.png").write_bytes(b"not a picture")
    (folder / "notes.md").write_text("about")
    assert np.array_equal(load(folder).X, PATTERNS[[2, 1, 4, 0, 3]])
    assert load(folder).names == ["walk"]


@needs_ffmpeg
def test_a_video_is_read_and_its_rate_is_known(tmp_path):
    big = np.repeat(np.repeat(FRAMES, 8, axis=1), 8, axis=2)
    path = tmp_path / "clip.mp4"
    write_video(path, [np.repeat(frame[..., None], 3, axis=2) for frame in big], rate=10.0)
    found = load(path, size=(12, 16), threshold=127)
    assert np.array_equal(found.X, PATTERNS)
    assert found.rate == pytest.approx(10.0)
    assert np.array_equal(load(path, size=(12, 16), threshold=127, frames=(1, 3)).X, PATTERNS[1:3])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    says(path, "cannot be read as a video")


def test_without_the_extra_a_video_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    (tmp_path / "a.mp4").write_bytes(b"0")
    with pytest.raises(ValueError, match=r"seqattractor\[video\]"):
        load(tmp_path / "a.mp4")


@pytest.mark.parametrize(
    "array", [FRAMES, FRAMES > 0, FRAMES.astype(np.float16) / 255, np.repeat(FRAMES[..., None], 3, axis=3)], ids=str
)
def test_arrays_of_frames_of_any_kind_of_number_are_read(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    assert np.array_equal(load(tmp_path / "a.npy").X, PATTERNS)


def test_an_array_of_several_sequences_and_of_columns_as_time(tmp_path):
    np.savez(tmp_path / "a.npz", frames=np.stack([FRAMES, FRAMES[::-1]]), fps=12, other=np.zeros(3))
    found = load(tmp_path / "a.npz")
    assert found.lengths.tolist() == [5, 5]
    assert np.array_equal(found.X[5:], PATTERNS[::-1])
    assert found.rate == 12.0
    np.savez(tmp_path / "b.npz", neural=PATTERNS.T, neural_fs=30)
    found = load(tmp_path / "b.npz", key="neural", time_axis=1)
    assert np.array_equal(found.X, PATTERNS)
    assert found.rate == 30.0


def test_a_bit_packed_array_beside_its_shape_is_unpacked(tmp_path):
    packed = np.packbits(FRAMES.reshape(5, -1) > 0, axis=1)
    np.savez(tmp_path / "a.npz", frames=packed, frames_shape=FRAMES.shape)
    assert np.array_equal(load(tmp_path / "a.npz").X, PATTERNS)


def test_text_art_tables_and_names_of_columns(tmp_path):
    (tmp_path / "a.txt").write_text("#.\n..\n\n\n##\n.#\n")
    found = load(tmp_path / "a.txt")
    assert found.X.tolist() == [[1, -1, -1, -1], [1, 1, -1, 1]]
    assert found.kind == "text"
    (tmp_path / "a.csv").write_text("time,left,right\n0.0,0,1\n0.5,1,0\n\n0,1,1\n0.5,0,0\n")
    found = load(tmp_path / "a.csv")
    assert found.X.tolist() == [[-1, 1], [1, -1], [1, 1], [-1, -1]]
    assert (found.units, found.lengths.tolist(), found.rate) == (["left", "right"], [2, 2], 2.0)
    (tmp_path / "b.tsv").write_text("-1\t1\n1\t1\n")
    assert load(tmp_path / "b.tsv").X.tolist() == [[-1, 1], [1, 1]]
    (tmp_path / "roll.csv").write_text("60,62,64\n1,0,0\n0,1,1\n")
    assert load(tmp_path / "roll.csv").units == ["60", "62", "64"]


def test_spike_times_become_a_raster_from_text_and_from_npz(tmp_path):
    (tmp_path / "s.csv").write_text("time,unit\n0.05,n10\n0.06,n2\n0.31,n2\n")
    found = load(tmp_path / "s.csv", bin=0.1)
    assert found.units == ["n2", "n10"]
    assert found.X.tolist() == [[1, 1], [-1, -1], [1, -1]]
    assert found.rate == pytest.approx(10.0)
    np.savez(tmp_path / "s.npz", spike_time=[0.05, 0.06, 0.31], spike_unit=[1, 0, 0], pos_x=[1.0])
    assert np.array_equal(load(tmp_path / "s.npz", bin=0.1).X, found.X)


def test_several_files_share_their_notes(tmp_path):
    sa.datasets.write_midi(tmp_path / "low.mid", [[1, 0], [0, 1]], [50, 52])
    sa.datasets.write_midi(tmp_path / "high.mid", [[1, 1], [0, 1]], [54, 55])
    found = sa.datasets.load_all([tmp_path / "low.mid", tmp_path / "high.mid"])
    assert found.units == ["D3", "D#3", "E3", "F3", "F#3", "G3"]
    assert (found.X > 0).astype(int).tolist() == [
        [1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 1],
    ]


@given(
    roll=st.integers(1, 6).flatmap(lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=12))
)
def test_music_that_is_written_is_read_again(tmp_path_factory, roll):
    on = np.array(roll)
    on[0, 0] = on[-1, -1] = True  # notes at the ends, so that no silent step or key is lost there
    path = tmp_path_factory.mktemp("midi") / "a.mid"
    pitches = list(range(60, 60 + on.shape[1]))
    sa.datasets.write_midi(path, on, pitches, step=0.5, rate=4.0)
    found = load(path, step=0.5)
    assert found.units == [midi.note_name(p) for p in pitches]
    assert np.array_equal(found.X > 0, on)
    assert found.rate == pytest.approx(4.0)


def test_a_midi_file_with_running_status_tempo_drums_and_two_tracks_is_understood():
    tempo = b"\x00\xff\x51\x03\x0b\x71\xb0\x00\xff\x2f\x00"  # 750,000 microseconds
    notes = (
        b"\x00\xc0\x05"  # program change: one data byte
        b"\x00\x90\x3c\x40"  # C4 on
        b"\x60\x3c\x00"  # off by velocity 0, with running status, after 96 ticks
        b"\x00\x99\x24\x40"  # a drum
        b"\x00\xf0\x03\x01\x02\xf7"  # system exclusive
        b"\x00\x90\x40\x40"  # E4 on, never ended
        b"\x81\x40\xff\x2f\x00"  # end of track after 192 ticks
    )
    tracks = b"".join(b"MTrk" + struct.pack(">I", len(t)) + t for t in (tempo, notes))
    score = midi.parse_midi(b"MThd" + struct.pack(">IHHH", 6, 1, 2, 96) + tracks)
    assert score.notes == [midi.Note(60, 0, 96), midi.Note(64, 96, 288)]
    assert (score.ticks, score.tempo) == (96, 750_000)


# -- options --------------------------------------------------------------------------------------------------------


def test_frames_stride_crop_size_loop_and_repeats_do_what_they_say(tmp_path):
    path = save_animation(tmp_path / "a.png")
    assert np.array_equal(load(path, frames=(1, 4)).X, PATTERNS[1:4])
    assert np.array_equal(load(path, stride=2).X, PATTERNS[::2])
    assert load(path, stride=2).rate == pytest.approx(12.5)
    assert np.array_equal(load(path, crop=(2, 1, 9, 5)).X, np.where(FRAMES[:, 1:5, 2:9].reshape(5, -1) > 0, 1, -1))
    assert np.array_equal(load(path, loop=True).X, np.vstack([PATTERNS, PATTERNS[:1]]))
    assert np.array_equal(load(path, invert=True).X, -PATTERNS)
    assert load(path, size=(6, 8)).frame_shape == (6, 8)
    assert load(path, size=8).frame_shape == (6, 8)
    np.save(tmp_path / "twice.npy", np.repeat(FRAMES, 2, axis=0))
    assert np.array_equal(load(tmp_path / "twice.npy", drop_repeats=True).X, PATTERNS)


def test_large_pictures_are_shrunk_unless_told_otherwise(tmp_path):
    Image.fromarray(np.kron(FRAMES[0], np.ones((20, 20), np.uint8))).save(tmp_path / "a.png")
    assert load(tmp_path / "a.png").frame_shape == (96, 128)
    assert load(tmp_path / "a.png", size=None).frame_shape == (240, 320)


def test_a_sequence_that_is_closed_already_is_not_closed_twice(tmp_path):
    np.save(tmp_path / "a.npy", np.concatenate([FRAMES, FRAMES[:1]]))
    assert len(load(tmp_path / "a.npy", loop=True).X) == 6


def test_thresholds_fixed_otsu_and_median(tmp_path):
    grey = np.array([[[10, 20], [200, 210]], [[10, 12], [14, 220]]], dtype=np.uint8)
    np.save(tmp_path / "a.npy", grey)
    assert load(tmp_path / "a.npy", threshold=205).X.tolist() == [[-1, -1, -1, 1], [-1, -1, -1, 1]]
    assert load(tmp_path / "a.npy", threshold="otsu").X.tolist() == [[-1, -1, 1, 1], [-1, -1, -1, 1]]
    assert load(tmp_path / "a.npy", threshold="median").X.tolist() == [[-1, -1, 1, 1], [-1, -1, 1, 1]]


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
    assert np.array_equal(load(tmp_path / "a.png").X[0].reshape(4, 4), expected)


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
    ],
    ids=str,
)
def test_an_option_that_makes_no_sense_is_one_sentence(tmp_path, options):
    path = save_animation(tmp_path / "a.gif")
    with pytest.raises(ValueError, match=r"^[^\n]+\.$"):
        load(path, **options)
    with pytest.raises(TypeError, match="option"):
        load(path, colour=True)


# -- broken files ---------------------------------------------------------------------------------------------------


def says(path, match, **options):
    """The file is refused with one sentence that names it."""
    with pytest.raises(ValueError, match=match) as caught:
        load(path, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert str(path) in sentence


@pytest.mark.parametrize(("name", "options"), [("a.gif", {}), ("a.webp", {"lossless": True}), ("a.png", {}), ("a.jpg", {})])
def test_a_picture_cut_anywhere_is_refused(tmp_path, name, options):
    frames = RNG.integers(0, 255, size=(4, 40, 40), dtype=np.uint8)
    if name.endswith("jpg"):
        Image.fromarray(frames[0]).save(tmp_path / name)
    else:
        save_animation(tmp_path / name, frames, **options)
    whole = (tmp_path / name).read_bytes()
    for kept in (0, 3, 20, len(whole) // 3, len(whole) // 2, len(whole) - 40):
        (tmp_path / name).write_bytes(whole[:kept])
        says(tmp_path / name, "damaged|cut short|cannot be read")


def read_or_refuse(path):
    """Reading gives patterns of +-1 or one sentence."""
    try:
        found = load(path)
    except ValueError as error:
        sentence = str(error)
    else:
        sentence = ""
        assert np.isin(found.X, (-1, 1)).all()
    assert "\n" not in sentence


@given(st.data())
def test_a_gif_with_wrong_bytes_is_read_or_refused_but_never_crashes(tmp_path_factory, data):
    path = save_animation(tmp_path_factory.mktemp("gif") / "a.gif")
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    read_or_refuse(path)


@given(st.data())
def test_a_midi_file_with_wrong_bytes_is_read_or_refused_but_never_crashes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("midi") / "a.mid"
    sa.datasets.write_midi(path, FRAMES[0, :, :5], range(50, 55))
    raw = bytearray(path.read_bytes()[: data.draw(st.integers(0, 300))])
    for _ in range(data.draw(st.integers(0, 6))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    read_or_refuse(path)


def test_an_empty_folder_a_missing_file_and_an_unknown_kind_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    says(tmp_path / "empty", "holds no pictures")
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        load(tmp_path / "none.gif")
    (tmp_path / "a.docx").write_bytes(b"x")
    says(tmp_path / "a.docx", "unknown kind")
    with pytest.raises(ValueError, match="nothing to load"):
        sa.datasets.load_all([])


def test_a_device_or_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    says(tmp_path / "a.txt", "neither a file nor a folder")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    path = save_animation(tmp_path / "a.gif")
    path.chmod(0)
    says(path, "may not be read")


def test_mixed_sizes_are_refused_and_a_size_brings_them_together(tmp_path):
    folder = save_folder(tmp_path / "mixed", [FRAMES[0], FRAMES[1][:, :10]])
    says(folder, "different sizes: frame 1 is 10x12 and frame 0 is 16x12")
    assert load(folder, size=(6, 8)).X.shape == (2, 48)
    one, other = save_animation(tmp_path / "a.gif"), save_animation(tmp_path / "b.gif", FRAMES[:, :8])
    with pytest.raises(ValueError, match=r"b\.gif has frames of 16x8 pixels"):
        sa.datasets.load_all([one, other])


def test_a_broken_frame_of_a_folder_is_named(tmp_path):
    folder = save_folder(tmp_path / "f")
    (folder / "frame3.png").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"frame3\.png"):
        load(folder)


def header_of_npy(shape, dtype="<f8"):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (117 - len(text)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def test_a_header_that_promises_ten_gigabytes_is_not_believed(tmp_path):
    promise = header_of_npy((1250, 1_000_000))
    (tmp_path / "a.npy").write_bytes(promise + b"\0" * 100)
    says(tmp_path / "a.npy", "promises 10,000,000,000 bytes, but it holds 228")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("frames.npy", promise + b"\0" * 100)
    says(tmp_path / "a.npz", "promises")
    # A PNG header with 60,000 x 60,000 pixels and nothing behind it.
    data = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    import zlib

    chunk = b"IHDR" + data
    (tmp_path / "a.png").write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + chunk
        + struct.pack(">I", zlib.crc32(chunk))
        + b"\0\0\0\0IDAT\x35\xaf\x06\x1e"
    )
    says(tmp_path / "a.png", "promises|damaged")


def test_a_compressed_promise_of_gigabytes_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("seqattractor.datasets.arrays.MAX_BYTES", 1000)
    np.savez_compressed(tmp_path / "a.npz", frames=np.zeros((50, 50)))
    says(tmp_path / "a.npz", "more than the")


def test_more_frames_than_anyone_stores_are_refused_before_they_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "MAX_FRAMES", 3)
    says(save_animation(tmp_path / "a.gif"), "more than 3 frames")
    with pytest.raises(ValueError, match="more than 3"):
        load(tmp_path / "a.gif", stride=1)
    assert len(load(tmp_path / "a.gif", stride=2).X) == 3


def test_a_pause_of_years_in_a_midi_file_is_refused(tmp_path):
    track = b"\x00\x90\x3c\x40" + b"\xff\xff\xff\x7f\x80\x3c\x00" + b"\x00\xff\x2f\x00"
    (tmp_path / "a.mid").write_bytes(b"MThd" + struct.pack(">IHHH", 6, 0, 1, 1) + b"MTrk" + struct.pack(">I", len(track)) + track)
    says(tmp_path / "a.mid", "more than")


def test_damaged_arrays_objects_and_nan_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", FRAMES)
    whole = (tmp_path / "a.npy").read_bytes()
    for kept in (0, 5, 60, len(whole) - 1):
        (tmp_path / "a.npy").write_bytes(whole[:kept])
        says(tmp_path / "a.npy", "cannot be read as an array")
    np.savez(tmp_path / "b.npz", frames=FRAMES)
    whole = (tmp_path / "b.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(whole[: len(whole) // 2])
    says(tmp_path / "b.npz", "not an npz file, or it is cut short")
    np.save(tmp_path / "c.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    says(tmp_path / "c.npy", "cannot be read as an array")
    np.save(tmp_path / "d.npy", np.where(FRAMES > 0, np.nan, 0.0))
    says(tmp_path / "d.npy", "nan in frame 0")
    np.save(tmp_path / "e.npy", np.zeros(5))
    says(tmp_path / "e.npy", "has the shape")
    np.savez(tmp_path / "f.npz", a=FRAMES, b=FRAMES)
    says(tmp_path / "f.npz", "a, b; say which one with key")
    says(tmp_path / "f.npz", "no array 'c'", key="c")
    np.save(tmp_path / "g.npy", np.arange(12.0).reshape(3, 4))
    says(tmp_path / "g.npy", "more than two values.*give a threshold")
    np.savez(tmp_path / "h.npz", frames=np.zeros((3, 9), np.uint8), frames_shape=[3, 10, 10])
    says(tmp_path / "h.npz", "does not fit the shape")


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.csv", "1,0\n1\n", "line 2 .* has 1 values"),
        ("a.csv", "1,0\n1,x\n", "line 2 .* has 'x' in column 2"),
        ("a.csv", "\n\n", "no rows"),
        ("a.csv", "1,0\n3,0\n", "more than two values"),
        ("a.txt", "", "is empty"),
        ("a.txt", "##\n##\n\n##\n", "frame 1 .* has 1 lines"),
        ("a.mid", "MThd", "no MIDI header"),
    ],
)
def test_broken_text_says_where(tmp_path, name, content, match):
    (tmp_path / name).write_text(content)
    says(tmp_path / name, match)


def test_spikes_that_are_not_spikes_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("0.1,a\n0.2,b,c\n")
    says(tmp_path / "a.csv", "line 2 .* has 3 columns", bin=0.1)
    (tmp_path / "a.csv").write_text("0.1,a\nlater,b\n")
    says(tmp_path / "a.csv", "line 2 .* starts with 'later'", bin=0.1)
    (tmp_path / "a.csv").write_text("time,unit\n")
    says(tmp_path / "a.csv", "holds no spikes", bin=0.1)
    (tmp_path / "a.csv").write_text("0.1,a\n1e300,b\n")
    says(tmp_path / "a.csv", "more than", bin=0.1)
    np.savez(tmp_path / "a.npz", time=[0.1], unit=[1, 2])
    says(tmp_path / "a.npz", "1 spike times, but 2 unit", bin=0.1)
    says(tmp_path / "a.npz", "give the width of a time bin", format="spikes")


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00\x81")
    says(tmp_path / "a.txt", "not a text file")


@needs_ffmpeg
@pytest.mark.parametrize("content", [b"", b"nonsense" * 100, b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n"])
def test_a_video_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "a.mp4").write_bytes(content)
    says(tmp_path / "a.mp4", "cannot be read as a video")
