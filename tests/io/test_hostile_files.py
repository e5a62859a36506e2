"""Files that want to hurt: rejected in a moment, and a process of its own reads what cannot be
trusted.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
import zlib

import numpy as np
import pytest
from PIL import Image

import seqattractor as sa
from hostile_files import HOSTILE
from own_files import FRAMES, PATTERNS, needs_ffmpeg, rejects, save_animation, save_folder
from seqattractor.io import load
from seqattractor.io._load import NoPicturesError
from seqattractor.io._options import Terms, TooLargeError, on_terms
from seqattractor.io._subprocess import Bounds, load_in_subprocess

IN_PYTHON = {"terms": Terms(), "bounds": Bounds()}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_rejected_in_little_memory(tmp_path, name):
    file, content, options = HOSTILE[name]
    (tmp_path / file).write_bytes(content)
    script = """
        import resource, sys
        import seqattractor as sa, PIL.Image, seqattractor.io._pictures
        def stop(event, arguments):
            if event == "subprocess.Popen":
                raise AssertionError("another program is started")
        sys.addaudithook(stop)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            sa.io.load(sys.argv[1], **eval(sys.argv[2]))
        except ValueError as error:
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
    """
    arguments = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / file), repr(options)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=300)
    kilobytes, sentence = done.stdout.strip().split(" ", 1)
    assert int(kilobytes) < 600_000
    assert str(tmp_path / file) in sentence
    assert "\n" not in sentence


FOREIGN = (
    "BLP",
    "DDS",
    "DIB",
    "EPS",
    "ICNS",
    "ICO",
    "JPEG2000",
    "MSP",
    "PCX",
    "PPM",
    "QOI",
    "SGI",
    "TGA",
    "XBM",
)


@pytest.mark.parametrize("suffix", [".png", ".gif", ".jpg", ".tif", ".webp", ".bmp"])
def test_a_picture_is_read_only_in_the_format_of_its_ending(tmp_path, suffix):
    """Whatever else Pillow could decode under this name is rejected, so that its rarer decoders are
    never reached.
    """
    Image.init()
    own = {
        ".png": "PNG",
        ".gif": "GIF",
        ".jpg": "JPEG",
        ".tif": "TIFF",
        ".webp": "WEBP",
        ".bmp": "BMP",
    }
    picture, path, tried = Image.fromarray(FRAMES[0]), tmp_path / f"frame{suffix}", 0
    for kind in (*FOREIGN, *own.values()):
        mode = {"MSP": "1", "XBM": "1", "BLP": "P"}.get(kind, "L")
        try:
            picture.convert(mode).save(path, kind)
        except (OSError, ValueError, KeyError):
            continue  # this Pillow cannot write it
        if kind == own[suffix]:
            assert load(path).shape == (1, 192)
        else:
            rejects(path, "its name does not fit what it is")
            tried += 1
    assert tried > 10


def test_a_png_with_a_wrong_bit_is_rejected_wherever_it_is(tmp_path):
    path = save_animation(tmp_path / "a.png")
    whole = path.read_bytes()
    for at in range(0, len(whole) - 12, 7):  # the end mark, of 12 bytes, holds nothing
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        rejects(path, "damaged|cut short|cannot be read")


def test_an_npz_with_a_wrong_bit_is_never_read_as_something_else(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, X=PATTERNS, lengths=[2, 3], rate=12.5)
    whole, truth = path.read_bytes(), load(path)
    rejected = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            found = load(path)
        except ValueError:
            rejected += 1
        else:
            assert np.array_equal(found.patterns, truth.patterns)
            assert (found.lengths.tolist(), found.rate) == ([2, 3], 12.5)
    assert rejected > len(whole) / 2


def test_limits_hold_for_all_frames_of_a_folder_together(tmp_path):
    folder = save_folder(tmp_path / "f")
    with on_terms(Terms(all_pixels=4096 * 4)):
        with pytest.raises(TooLargeError, match=r"frame4\.png has more than"):
            load(folder)
        assert len(load(folder, frames=(0, 4))) == 4


# -- a process of its own
# -----------------------------------------------------------------------------------------


def test_a_file_read_in_a_subprocess_is_the_same_in_all_that_is_known_about_it(tmp_path):
    sa.io.write_midi(tmp_path / "a.mid", FRAMES[0, :, :5], range(50, 55))
    (tmp_path / "b.csv").write_text("time,one,two\n0,1,0\n0.5,0,1\n1,1,1\n")
    np.savez(tmp_path / "c.npz", X=PATTERNS, lengths=[2, 3])
    for path, options in (
        (tmp_path / "a.mid", {"step": 0.5}),
        (tmp_path / "b.csv", {"loop": True}),
        (tmp_path / "c.npz", {"frames": [0, 5], "invert": True}),
        (save_animation(tmp_path / "d.gif"), {"crop": (0, 0, 7, 9)}),
    ):
        here, in_subprocess = (
            load(path, **options),
            load_in_subprocess([path], options, several=False, **IN_PYTHON),
        )
        assert (here.patterns == in_subprocess.patterns).all()
        for name in (
            "lengths",
            "frame_shape",
            "names",
            "units",
            "rate",
            "step",
            "kind",
            "closed",
            "options",
        ):
            assert np.array_equal(getattr(here, name), getattr(in_subprocess, name)), name
    both = [tmp_path / "a.mid", tmp_path / "a.mid"]
    assert (
        load_in_subprocess(both, {}, **IN_PYTHON).patterns == sa.io.load_all(both).patterns
    ).all()


@needs_ffmpeg
def test_a_video_is_read_in_a_subprocess(tmp_path):
    sa.io.write(tmp_path / "a.mp4", sa.datasets.walker(8, shrink=4))
    here, in_subprocess = (
        load(tmp_path / "a.mp4"),
        load_in_subprocess([tmp_path / "a.mp4"], {}, **IN_PYTHON),
    )
    assert (here.patterns == in_subprocess.patterns).all()
    (tmp_path / "a.avi").write_bytes((tmp_path / "a.mp4").read_bytes())
    rejects(tmp_path / "a.avi", "cannot be read as a video")


def test_errors_come_back_as_they_are(tmp_path):
    path = save_animation(tmp_path / "a.gif")
    (tmp_path / "b.csv").write_text("1,2\n3,4\n")
    for files, options, kind in (
        ([tmp_path / "none.gif"], {}, FileNotFoundError),
        ([tmp_path / "b.csv"], {"size": 9}, NoPicturesError),
        ([tmp_path / "b.csv"], {}, ValueError),
        ([path], {"no_such_option": 1}, TypeError),
        ([path], {"stride": 0}, ValueError),
        ([], {}, ValueError),
    ):
        with pytest.raises(kind) as here:
            sa.io.load_all(files, **options)
        with pytest.raises(kind) as in_subprocess:
            load_in_subprocess(files, options, **IN_PYTHON)
        assert str(here.value) == str(in_subprocess.value)


def test_a_file_that_takes_too_long_or_too_much_memory_is_named(tmp_path):
    small = save_animation(tmp_path / "a.gif")
    with pytest.raises(TooLargeError, match=r"a\.gif takes longer than 0\.0001 seconds"):
        load_in_subprocess([small], {}, terms=Terms(), bounds=Bounds(seconds=0.0001))
    np.lib.format.open_memmap(tmp_path / "big.npy", "w+", np.float64, (20_000, 10_000))
    if sys.platform == "linux":
        with pytest.raises(
            TooLargeError,
            match=r"big\.npy takes more than 1\.0 GB of memory to read; shrink it first.*--frames",
        ):
            load_in_subprocess(
                [small, tmp_path / "big.npy"],
                {},
                terms=Terms("command line"),
                bounds=Bounds(memory=10**9),
            )


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("stop", [signal.SIGINT, None])
def test_ctrl_c_and_the_time_limit_end_a_process_that_hangs(tmp_path, stop):
    (tmp_path / "PIL.py").write_text(
        "import os, time\nos.mkdir(f'reader{os.getpid()}')\ntime.sleep(3600)\n"
    )  # a decoder that hangs
    script = """
        import sys
        from seqattractor.io._options import Terms
        from seqattractor.io._subprocess import Bounds, load_in_subprocess
        sys.path.insert(0, ".")
        try:
            bounds = Bounds(seconds=float(sys.argv[1]))
            load_in_subprocess(["a.gif"], {}, terms=Terms(), bounds=bounds)
        except ValueError as error:
            print(error)
    """
    save_animation(tmp_path / "a.gif")
    command = [sys.executable, "-c", textwrap.dedent(script), "3600" if stop else "3"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tmp_path
    ) as process:
        while stop is not None and not list(tmp_path.glob("reader*")):
            time.sleep(0.01)
        if stop is not None:
            process.send_signal(stop)
        printed = process.communicate(timeout=300)[0]
    assert stop is not None or "a.gif takes longer than 3 seconds to read" in printed
    for reader in tmp_path.glob("reader*"):
        with pytest.raises(ProcessLookupError):
            os.kill(int(reader.name.removeprefix("reader")), 0)


def test_warnings_come_back(tmp_path):
    whole = save_animation(tmp_path / "a.png").read_bytes()
    none = b"acTL" + bytes(8)  # an animation of no frames
    at = whole.index(b"acTL") - 4
    (tmp_path / "a.png").write_bytes(
        whole[:at] + b"\0\0\0\x08" + none + zlib.crc32(none).to_bytes(4, "big") + whole[at + 20 :]
    )
    with pytest.warns(UserWarning, match="Invalid APNG"):
        assert load_in_subprocess([tmp_path / "a.png"], {}, **IN_PYTHON).shape == (1, 192)


# -- words and masks
# ----------------------------------------------------------------------------------------------


def test_a_sentence_offers_only_the_options_that_its_reader_has(tmp_path):
    np.savez(tmp_path / "a.npz", a=FRAMES, b=FRAMES)
    np.save(tmp_path / "b.npy", np.arange(12.0).reshape(3, 4))
    folder = save_folder(tmp_path / "mixed", [FRAMES[0], FRAMES[1][:, :10]])
    for path, option in (
        (tmp_path / "a.npz", "key"),
        (tmp_path / "b.npy", "threshold"),
        (folder, "size"),
    ):
        messages = {}
        for caller in ("python", "command line", "lab"):
            with on_terms(Terms(caller)), pytest.raises(ValueError, match=path.name) as caught:
                load(path)
            messages[caller] = str(caught.value)
        assert "--" not in messages["python"]
        assert f"--{option}" in messages["command line"]
        assert "--" not in messages["lab"]
        assert messages["python"] != messages["lab"]


MASKED = np.ma.masked_array(PATTERNS, mask=PATTERNS > 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sa.Sequences(MASKED),
        lambda: sa.binarize(MASKED),
        lambda: sa.binarize(list(MASKED)),
        lambda: sa.OneHotNetwork().fit(MASKED),
        lambda: sa.OneHotNetwork().fit([MASKED, MASKED]),
        lambda: sa.OneHotNetwork().fit(PATTERNS).recall(MASKED[0], steps=2),
        lambda: sa.OneHotNetwork().fit(PATTERNS).score(MASKED),
        lambda: sa.noise.flip(MASKED, 1, rng=0),
        lambda: sa.analysis.overlap(MASKED, PATTERNS),
        lambda: sa.io.bin_spikes(np.ma.masked_array([0.0, 1.0], [0, 1]), [0, 1], 1.0),
        lambda: sa.io.write("never.npz", MASKED),
        lambda: sa.io.write_midi("never.mid", MASKED[:, :2], [60, 61]),
    ],
)
def test_masked_values_are_rejected_wherever_patterns_come_in(call):
    with pytest.raises(ValueError, match="masked values"):
        call()


def test_a_masked_array_that_masks_nothing_is_an_array():
    assert (sa.Sequences(np.ma.masked_array(PATTERNS)) == PATTERNS).all()


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: sa.io.bin_spikes([0, 1, 2], [0, 1], 1.0), "3 times, but 2 units"),
        (lambda: sa.io.bin_spikes([], [], 1.0), "at least one"),
        (lambda: sa.io.bin_spikes(iter(()), iter(()), 1.0), "one for each spike"),
        (lambda: sa.io.bin_spikes([0.0, 1.0], [0, 1], 0), "width must be above 0"),
        (lambda: sa.io.bin_spikes([0.0, np.nan], [0, 1], 1), "finite"),
        (lambda: sa.io.bin_spikes([0.0, 1.0], [0, -1], 1), "whole numbers from 0"),
        (lambda: sa.io.bin_spikes([0.0, 1.0], [0, 5], 1, n_units=2), "a spike of unit 5"),
        (lambda: sa.io.bin_spikes([0.0, 1e90], [0, 5], 1e-90), "wider bins"),
        (
            lambda: sa.io.write_midi("never.mid", np.ones((5, 2)), iter(())),
            "one column for each pitch",
        ),
        (lambda: sa.io.write_midi("never.mid", np.ones((0, 2)), [60, 61]), "at least one row"),
        (lambda: sa.io.write_midi("never.mid", iter(()), [60]), "holds numbers"),
        (
            lambda: sa.io.write_midi("never.mid", np.ones((5, 1)), [60], step=10**9),
            "too long for a MIDI file",
        ),
        (lambda: sa.io.write_midi("never.mid", np.ones((5, 1)), None), "list of MIDI numbers"),
        (lambda: sa.io.load_all(iter(())), "nothing to load"),
        (lambda: sa.io.load_all("film.gif"), "load reads one"),
        (lambda: sa.io.load_all(memoryview(b"film.gif")), "load reads one"),
        (
            lambda: sa.io.align_units(sa.Sequences(PATTERNS[:, :1], units=["a"]), iter(())),
            "at least one name",
        ),
        (lambda: sa.Sequences(iter(())), "but it is a tuple_iterator"),
        (lambda: sa.Sequences(PATTERNS, lengths=iter(())), "lengths must be"),
        (lambda: sa.Sequences(PATTERNS, frame_shape=iter(())), "shape of a frame must be"),
        (lambda: sa.Sequences(PATTERNS, frame_shape=(1.5, 128)), "whole numbers"),
        (lambda: sa.OneHotNetwork().fit(iter(())), "but it is a tuple_iterator"),
    ],
)
def test_empty_and_uneven_arguments_are_one_sentence(call, match):
    with pytest.raises((ValueError, TypeError), match=match):
        call()


def test_small_whole_numbers_of_numpy_are_numbers(tmp_path):
    for step in (1, np.int8(1), np.float16(1)):
        sa.io.write_midi(
            tmp_path / "a.mid",
            np.ones((500, 2)),
            iter([60, np.int8(61)]),
            step=step,
            rate=np.int8(4),
        )
        found = load(tmp_path / "a.mid", step=1)
        assert (len(found), found.rate) == (500, 4.0)
