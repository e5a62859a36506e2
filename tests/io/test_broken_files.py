"""Broken and hostile files give one clear sentence, and never fill the memory."""

import os
import struct
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import seqattractor as sa
from own_files import FRAMES, needs_ffmpeg, rejects, save_animation, save_folder
from seqattractor.io import _recording as recording
from seqattractor.io import load
from seqattractor.io._options import Terms, on_terms


@pytest.mark.parametrize(
    ("name", "options"),
    [("a.gif", {}), ("a.webp", {"lossless": True}), ("a.png", {}), ("a.jpg", {})],
)
def test_a_picture_cut_anywhere_is_rejected(tmp_path, name, options):
    frames = np.random.default_rng(11).integers(0, 255, size=(4, 40, 40), dtype=np.uint8)
    if name.endswith("jpg"):
        Image.fromarray(frames[0]).save(tmp_path / name)
    else:
        save_animation(tmp_path / name, frames, **options)
    whole = (tmp_path / name).read_bytes()
    for length in (3, 20, len(whole) // 3, len(whole) // 2, len(whole) - 40):
        (tmp_path / name).write_bytes(whole[:length])
        rejects(tmp_path / name, "damaged|cut short|cannot be read")


def read_or_reject(path):
    """Reading gives patterns of +-1 or one sentence."""
    try:
        found = load(path)
    except ValueError as error:
        sentence = str(error)
    else:
        sentence = ""
        assert np.isin(found, (-1, 1)).all()
    assert "\n" not in sentence


@given(st.data())
def test_a_gif_with_wrong_bytes_is_read_or_rejected_but_never_crashes(tmp_path_factory, data):
    path = save_animation(tmp_path_factory.mktemp("gif") / "a.gif")
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    read_or_reject(path)


@given(st.data())
def test_a_midi_file_with_wrong_bytes_is_read_or_rejected_but_never_crashes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("midi") / "a.mid"
    sa.io.write_midi(path, FRAMES[0, :, :5], range(50, 55))
    raw = bytearray(path.read_bytes()[: data.draw(st.integers(0, 300))])
    for _ in range(data.draw(st.integers(0, 6))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    read_or_reject(path)


def test_an_empty_folder_a_missing_file_and_an_unknown_kind_are_rejected(tmp_path):
    (tmp_path / "empty").mkdir()
    rejects(tmp_path / "empty", "holds no pictures")
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        load(tmp_path / "none.gif")
    (tmp_path / "a.docx").write_bytes(b"x")
    rejects(tmp_path / "a.docx", "unknown kind")
    with pytest.raises(ValueError, match="nothing to load"):
        sa.io.load_all([])


@pytest.mark.parametrize("name", ["a.gif", "a.npy", "a.npz", "a.txt", "a.csv", "a.mid", "a.mp4"])
def test_a_file_without_a_byte_is_called_empty(tmp_path, name):
    (tmp_path / name).touch()
    rejects(tmp_path / name, "is empty: it has 0 bytes")


def test_a_device_or_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    rejects(tmp_path / "a.txt", "neither a file nor a folder")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_that_may_not_be_read_is_rejected(tmp_path):
    path = save_animation(tmp_path / "a.gif")
    path.chmod(0)
    rejects(path, "is not readable")


def test_mixed_sizes_are_rejected_and_a_size_brings_them_together(tmp_path):
    folder = save_folder(tmp_path / "mixed", [FRAMES[0], FRAMES[1][:, :10]])
    rejects(folder, "different sizes: frame 1 is 10x12 and frame 0 is 16x12")
    assert load(folder, size=(6, 8)).shape == (2, 48)
    one, other = (
        save_animation(tmp_path / "a.gif"),
        save_animation(tmp_path / "b.gif", FRAMES[:, :8]),
    )
    with pytest.raises(ValueError, match=r"b\.gif has frames of 16x8 pixels"):
        sa.io.load_all([one, other])


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
    rejects(tmp_path / "a.npy", "promises 10,000,000,000 bytes, but it holds 228")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("frames.npy", promise + b"\0" * 100)
    rejects(tmp_path / "a.npz", "promises")
    # A PNG header with 60,000 x 60,000 pixels and nothing behind it.
    data = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + data
    (tmp_path / "a.png").write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + chunk
        + struct.pack(">I", zlib.crc32(chunk))
        + b"\0\0\0\0IDAT\x35\xaf\x06\x1e"
    )
    rejects(tmp_path / "a.png", "promises|damaged")


def test_a_compressed_promise_of_gigabytes_is_not_unpacked(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", frames=np.zeros((50, 50)))
    with on_terms(Terms(array_bytes=1000)):
        rejects(tmp_path / "a.npz", "more than the")


def test_more_frames_than_anyone_stores_are_rejected_before_they_fill_the_memory(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(recording, "MAX_FRAMES", 3)
    rejects(save_animation(tmp_path / "a.gif"), "more than 3 frames")
    with pytest.raises(ValueError, match="more than 3"):
        load(tmp_path / "a.gif", stride=1)
    assert len(load(tmp_path / "a.gif", stride=2)) == 3


def test_a_pause_of_years_in_a_midi_file_is_rejected(tmp_path):
    track = b"\x00\x90\x3c\x40" + b"\xff\xff\xff\x7f\x80\x3c\x00" + b"\x00\xff\x2f\x00"
    (tmp_path / "a.mid").write_bytes(
        b"MThd" + struct.pack(">IHHH", 6, 0, 1, 1) + b"MTrk" + struct.pack(">I", len(track)) + track
    )
    rejects(tmp_path / "a.mid", "more than")


def test_damaged_arrays_objects_and_nan_are_rejected(tmp_path):
    np.save(tmp_path / "a.npy", FRAMES)
    whole = (tmp_path / "a.npy").read_bytes()
    for length in (5, 60, len(whole) - 1):
        (tmp_path / "a.npy").write_bytes(whole[:length])
        rejects(tmp_path / "a.npy", "cannot be read as an array")
    np.savez(tmp_path / "b.npz", frames=FRAMES)
    whole = (tmp_path / "b.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(whole[: len(whole) // 2])
    rejects(tmp_path / "b.npz", "not an npz file, or it is damaged or cut short")
    np.savez(tmp_path / "b.npz")
    rejects(tmp_path / "b.npz", "holds no arrays")
    (tmp_path / "b.npy").write_bytes(b"GIF89a and more")
    rejects(tmp_path / "b.npy", "it does not begin as an npy file does")
    np.save(tmp_path / "c.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    rejects(tmp_path / "c.npy", "cannot be read as an array")
    np.save(tmp_path / "d.npy", np.where(FRAMES > 0, np.nan, 0.0))
    rejects(tmp_path / "d.npy", "nan in frame 0")
    np.save(tmp_path / "e.npy", np.zeros(5))
    rejects(tmp_path / "e.npy", "has the shape")
    np.savez(tmp_path / "f.npz", a=FRAMES, b=FRAMES)
    rejects(tmp_path / "f.npz", "a, b; name one with key")
    rejects(tmp_path / "f.npz", "no array 'c'", key="c")
    np.save(tmp_path / "g.npy", np.arange(12.0).reshape(3, 4))
    rejects(tmp_path / "g.npy", "more than two values.*give a threshold")


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
def test_the_message_names_where_a_text_is_broken(tmp_path, name, content, match):
    (tmp_path / name).write_text(content)
    rejects(tmp_path / name, match)


def test_spikes_that_are_not_spikes_are_rejected(tmp_path):
    (tmp_path / "a.csv").write_text("0.1,a\n0.2,b,c\n")
    rejects(tmp_path / "a.csv", "line 2 .* has 3 columns", bin=0.1)
    (tmp_path / "a.csv").write_text("0.1,a\nlater,b\n")
    rejects(tmp_path / "a.csv", "line 2 .* has 'later' for a time", bin=0.1)
    (tmp_path / "a.csv").write_text("time,unit\n")
    rejects(tmp_path / "a.csv", "holds no spikes", bin=0.1)
    (tmp_path / "a.csv").write_text("0.1,a\n1e300,b\n")
    rejects(tmp_path / "a.csv", "more than", bin=0.1)
    np.savez(tmp_path / "a.npz", time=[0.1], unit=[1, 2])
    rejects(tmp_path / "a.npz", "1 spike times, but 2 unit", bin=0.1)
    rejects(tmp_path / "a.npz", "give the width of a time bin", format="spikes")


def test_bytes_that_are_no_text_are_rejected(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00\x81")
    rejects(tmp_path / "a.txt", "not a text file")


@needs_ffmpeg
@pytest.mark.parametrize(
    "content", [b"nonsense" * 100, b"#EXTM3U\n#EXTINF:1,\nfile:///etc/hostname\n"]
)
def test_a_video_that_is_none_is_rejected(tmp_path, content):
    (tmp_path / "a.mp4").write_bytes(content)
    rejects(tmp_path / "a.mp4", "cannot be read as a video")


def test_an_npz_with_two_arrays_of_one_name_is_rejected(tmp_path):
    path = tmp_path / "twice.npz"
    np.savez(path, a=np.ones((3, 4), dtype=np.int8))
    with zipfile.ZipFile(path) as archive:
        again = archive.read("a.npy")
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a.npy", again)
    with pytest.raises(ValueError, match="two of its arrays have the same name"):
        load(path)
