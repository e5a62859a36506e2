"""People's own sequences: what is read is what was drawn."""

import struct
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqattractor as sa
from own_files import FRAMES, PATTERNS, needs_ffmpeg, rejects, save_animation, save_folder
from seqattractor.io import _midi as midi
from seqattractor.io import load
from seqattractor.io._video import write_video


@pytest.mark.parametrize(
    ("name", "options"), [("a.gif", {}), ("a.webp", {"lossless": True}), ("a.png", {})]
)
def test_an_animation_is_read_frame_by_frame_with_its_rate(tmp_path, name, options):
    found = load(save_animation(tmp_path / name, **options))
    assert np.array_equal(found, PATTERNS)
    assert found.frame_shape == (12, 16)
    assert found.rate == pytest.approx(25.0)
    assert (found.kind, found.names, found.lengths.tolist()) == ("pictures", ["a"], [5])


def test_a_folder_is_sorted_naturally_and_hidden_files_and_notes_are_passed_over(tmp_path):
    names = ["f10.png", "f2.png", "f1.PNG", "f30.bmp", "f3.png"]
    folder = save_folder(tmp_path / "walk", names=names)
    (folder / ".f0.png").write_bytes(b"not a picture")
    (folder / "notes.md").write_text("about")
    assert np.array_equal(load(folder), PATTERNS[[2, 1, 4, 0, 3]])
    assert load(folder).names == ["walk"]


@needs_ffmpeg
def test_a_video_is_read_and_its_rate_is_known(tmp_path):
    big = np.repeat(np.repeat(FRAMES, 8, axis=1), 8, axis=2)
    path = tmp_path / "clip.mp4"
    write_video(path, [np.repeat(frame[..., None], 3, axis=2) for frame in big], rate=10.0)
    found = load(path, size=(12, 16), threshold=127)
    assert np.array_equal(found, PATTERNS)
    assert found.rate == pytest.approx(10.0)
    assert np.array_equal(load(path, size=(12, 16), threshold=127, frames=(1, 3)), PATTERNS[1:3])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    rejects(path, "cannot be read as a video")


def test_without_the_extra_a_video_raises_with_the_command_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    (tmp_path / "a.mp4").write_bytes(b"0")
    with pytest.raises(ValueError, match=r"seqattractor\[video\]"):
        load(tmp_path / "a.mp4")


@pytest.mark.parametrize(
    "array",
    [FRAMES, FRAMES > 0, FRAMES.astype(np.float16) / 255, np.repeat(FRAMES[..., None], 3, axis=3)],
    ids=str,
)
def test_arrays_of_frames_of_any_kind_of_number_are_read(tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    assert np.array_equal(load(tmp_path / "a.npy"), PATTERNS)


def test_an_array_of_several_sequences_and_of_columns_as_time(tmp_path):
    np.savez(tmp_path / "a.npz", frames=np.stack([FRAMES, FRAMES[::-1]]), fps=12, other=np.zeros(3))
    found = load(tmp_path / "a.npz")
    assert found.lengths.tolist() == [5, 5]
    assert np.array_equal(found[5:], PATTERNS[::-1])
    assert found.rate == 12.0
    np.savez(tmp_path / "b.npz", neural=PATTERNS.T, neural_fs=30)
    found = load(tmp_path / "b.npz", key="neural", time_axis=1)
    assert np.array_equal(found, PATTERNS)
    assert found.rate == 30.0


def test_sequences_of_patterns_without_a_shape_have_four_dimensions_in_a_file(tmp_path):
    X = sa.datasets.random_sequences(3, 5, 20, rng=0).patterns.reshape(3, -1, 1, 20)
    np.save(tmp_path / "x.npy", X)
    assert np.array_equal(sa.io.load(tmp_path / "x.npy").split(), X[:, :, 0])


def test_text_art_tables_and_names_of_columns(tmp_path):
    (tmp_path / "a.txt").write_text("#.\n..\n\n\n##\n.#\n")
    found = load(tmp_path / "a.txt")
    assert found.tolist() == [[1, -1, -1, -1], [1, 1, -1, 1]]
    assert found.kind == "text"
    (tmp_path / "a.csv").write_text("time,left,right\n0.0,0,1\n0.5,1,0\n\n0,1,1\n0.5,0,0\n")
    found = load(tmp_path / "a.csv")
    assert found.tolist() == [[-1, 1], [1, -1], [1, 1], [-1, -1]]
    assert (found.units, found.lengths.tolist(), found.rate) == (["left", "right"], [2, 2], 2.0)
    (tmp_path / "b.tsv").write_text("-1\t1\n1\t1\n")
    assert load(tmp_path / "b.tsv").tolist() == [[-1, 1], [1, 1]]
    (tmp_path / "roll.csv").write_text("60,62,64\n1,0,0\n0,1,1\n")
    assert load(tmp_path / "roll.csv").units == ["60", "62", "64"]


def test_column_names_determine_which_are_spike_times(tmp_path):
    spikes = [(0.01, "a"), (0.02, "b"), (0.13, "a"), (0.31, "c")]
    forward, backward = tmp_path / "forward.csv", tmp_path / "backward.csv"
    forward.write_text("time,unit\n" + "".join(f"{t},{u}\n" for t, u in spikes))
    backward.write_text("unit,time\n" + "".join(f"{u},{t}\n" for t, u in spikes))
    one, other = (sa.io.load(path, bin=0.1) for path in (forward, backward))
    assert one.units == other.units == ["a", "b", "c"]
    assert np.array_equal(one, other)
    for path in (forward, backward):
        with pytest.raises(
            ValueError,
            match=r"looks like spike times .* give the width of a time bin in seconds with bin",
        ):
            sa.io.load(path)


def test_units_before_times_without_names_are_not_guessed_at(tmp_path):
    (tmp_path / "s.csv").write_text("3,0.01\n1,0.02\n3,0.13\n")
    with pytest.raises(ValueError, match="as if units came before times"):
        sa.io.load(tmp_path / "s.csv", bin=0.1)
    (tmp_path / "whole.csv").write_text("0,3\n5,1\n9,3\n")  # times in whole seconds are times
    assert sa.io.load(tmp_path / "whole.csv", bin=1).shape == (10, 2)


def test_spike_times_become_a_raster_from_text_and_from_npz(tmp_path):
    (tmp_path / "s.csv").write_text("time,unit\n0.05,n10\n0.06,n2\n0.31,n2\n")
    found = load(tmp_path / "s.csv", bin=0.1)
    assert found.units == ["n2", "n10"]
    assert found.tolist() == [[1, 1], [-1, -1], [1, -1]]
    assert found.rate == pytest.approx(10.0)
    np.savez(tmp_path / "s.npz", spike_time=[0.05, 0.06, 0.31], spike_unit=[1, 0, 0], pos_x=[1.0])
    assert np.array_equal(load(tmp_path / "s.npz", bin=0.1), found)


def test_an_array_with_a_time_and_a_unit_in_each_row_is_spikes(tmp_path):
    spikes = np.array([[0.05, 10], [0.06, 2], [0.31, 2], [0.32, 2], [0.41, 10]])
    np.save(tmp_path / "s.npy", spikes)
    np.savez(tmp_path / "s.npz", spikes=spikes, position=np.zeros(7))
    found = load(tmp_path / "s.npy", bin=0.1)
    assert found.units == ["2", "10"]
    assert found.tolist() == [[1, 1], [-1, -1], [1, -1], [-1, 1]]
    assert np.array_equal(load(tmp_path / "s.npz", bin=0.1, key="spikes"), found)
    rejects(
        tmp_path / "s.npy",
        "times and units of spikes, give the width of a time bin in seconds with bin",
    )
    np.save(tmp_path / "turned.npy", spikes[:, ::-1])
    message = "the fraction 0.05 for a unit, as if units came before times; put times in the first"
    rejects(tmp_path / "turned.npy", message, bin=0.1)
    np.save(tmp_path / "wide.npy", np.zeros((4, 3)))
    rejects(
        tmp_path / "wide.npy",
        r"has the shape \(4, 3\); spikes have \(n, 2\), a time and a unit in each row",
        bin=0.1,
    )


@pytest.mark.parametrize(
    "table",
    [
        "start,end\n0,0.2\n1,1.2\n",
        "0 0.2\n1 1.2\n",
        "Stop (ms);which;Start (ms)\n200;7;0\n1200;8;1000\n",
        "start_time\tstop_time\n0\t0.2\n1\t1.2\n",
    ],
)
def test_spikes_of_any_file_are_cut_at_epochs_from_a_table_beside_it(tmp_path, table):
    (tmp_path / "s.csv").write_text("time,unit\n0.05,a\n0.15,b\n0.5,b\n1.05,b\n1.1,c\n")
    np.savez(
        tmp_path / "s.npz", times=[0.05, 0.15, 0.5, 1.05, 1.1], units=["a", "b", "b", "b", "c"]
    )
    (tmp_path / "laps.csv").write_text(table)
    for name in ("s.csv", "s.npz"):
        found = load(tmp_path / name, bin=0.1, epochs=str(tmp_path / "laps.csv"))
        assert (found.names, found.lengths.tolist(), found.units) == (
            ["laps 0", "laps 1"],
            [2, 2],
            ["a", "b", "c"],
        )
        assert found.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, 1, -1], [-1, -1, 1]]
        assert (
            "epochs" not in found.options
        )  # a cue is another recording, of which these are not the laps


def test_epochs_have_names_and_a_table_that_is_none_is_rejected(tmp_path):
    (tmp_path / "s.csv").write_text("0.05,a\n0.15,b\n1.05,b\n")
    laps = tmp_path / "laps.csv"
    laps.write_text("name,start,end\nleft,0,0.2\nright,1,1.2\n")
    assert load(tmp_path / "s.csv", bin=0.1, epochs=str(laps)).names == ["left", "right"]
    laps.write_text("0,0.2,left\n1,1.2,left\n")
    assert load(tmp_path / "s.csv", bin=0.1, epochs=str(laps)).names == ["left 0", "left 1"]
    for text, match in (
        (
            "0,0.2\n1\n",
            "line 2 of .*laps.csv has no start and end; an epoch has both, as numbers of seconds",
        ),
        ("begin,until\n0,1\n", "line 1 of .*laps.csv has no start and end"),
        ("0,0.01\n", "0 epochs|1 epochs, and none that can be used"),
        ("# nothing\n", "has no epochs; an epoch is a line with a start and an end"),
    ):
        laps.write_text(text)
        with pytest.raises(ValueError, match=match):
            load(tmp_path / "s.csv", bin=0.1, epochs=str(laps))
    rejects(
        tmp_path / "s.csv",
        "there is no file trials with the epochs of .*; give a CSV file",
        bin=0.1,
        epochs="trials",
    )


def test_several_files_share_their_notes(tmp_path):
    sa.io.write_midi(tmp_path / "low.mid", [[1, 0], [0, 1]], [50, 52])
    sa.io.write_midi(tmp_path / "high.mid", [[1, 1], [0, 1]], [54, 55])
    found = sa.io.load_all([tmp_path / "low.mid", tmp_path / "high.mid"])
    assert found.units == ["D3", "D#3", "E3", "F3", "F#3", "G3"]
    assert (found > 0).astype(int).tolist() == [
        [1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 1],
    ]


@given(
    roll=st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=1, max_size=12)
    )
)
def test_music_that_is_written_is_read_again(tmp_path_factory, roll):
    on = np.array(roll)
    on[0, 0] = on[-1, -1] = True  # notes at the ends, so that no silent step or key is lost there
    path = tmp_path_factory.mktemp("midi") / "a.mid"
    pitches = list(range(60, 60 + on.shape[1]))
    sa.io.write_midi(path, on, pitches, step=0.5, rate=4.0)
    found = load(path, step=0.5)
    assert found.units == [midi.note_name(p) for p in pitches]
    assert np.array_equal(found > 0, on)
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


@pytest.mark.parametrize(
    ("lengths", "expected"), [([2, 3], [2, 3]), ([2, 2], [5]), ([0, 5], [5]), ([[5]], [5])]
)
def test_lengths_beside_an_array_are_used_where_they_fit(tmp_path, lengths, expected):
    np.savez(tmp_path / "a.npz", patterns=PATTERNS, lengths=lengths, fps=25)
    assert load(tmp_path / "a.npz").lengths.tolist() == expected
