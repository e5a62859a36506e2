"""Data files of every format, whole, damaged, renamed and hostile: read as what they are, or
rejected with a sentence.

What "wrong" means depends on the format. A whole file must give what was written. A PNG and an npz
have checksums: whatever is damaged, they must give that or nothing. The other formats have none:
there a damaged file may give other patterns, but they are patterns of +-1 whose shapes fit.
"""

import io
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import seqattractor as sa
from hostile_files import HOSTILE, tiff_loop
from nwb_files import empty_session, with_epochs, with_spikes, write_session
from own_files import FRAMES, PATTERNS
from seqattractor.io._options import FORMATS, Terms
from seqattractor.io._subprocess import Bounds, load_in_subprocess
from seqattractor.io._video import ffmpeg, write_video

sys.path.insert(0, str(Path(__file__).parent))
from campaign import alone, campaign

FULL = 5_000
SUFFIXES = [suffix for known in FORMATS.values() for suffix in known.suffixes]
SAME = [  # endings of one and the same format
    *(
        {".png", ".apng"},
        {".jpg", ".jpeg"},
        {".tif", ".tiff"},
        {".pgm", ".pbm", ".ppm"},
        {".txt", ".asc", ".art"},
    ),
    *(
        {".csv", ".tsv", ".tab", ".dat"},
        {".mid", ".midi"},
        {".mp4", ".m4v", ".mov"},
        {".mkv", ".webm"},
        {".mpg", ".mpeg"},
    ),
]
CHECKED = (".png", ".apng", ".npz")
BINARY = {
    *FORMATS["pictures"].suffixes,
    *FORMATS["video"].suffixes,
    *FORMATS["array"].suffixes,
    *FORMATS["nwb"].suffixes,
}


@dataclass(frozen=True)
class Control:
    """A whole file, and what it holds."""

    suffix: str
    content: bytes
    truth: Any
    lengths: list[int]
    options: dict[str, Any] = field(default_factory=dict)


def controls(folder, *, video):
    """A whole file of every ending that we read."""
    large = FRAMES.repeat(8, axis=1).repeat(8, axis=2)  # blocks that survive lossy formats
    found = []
    for suffix in FORMATS["pictures"].suffixes:
        several = suffix in (".gif", ".webp", ".png", ".apng", ".tif", ".tiff")
        kind = {".apng": "PNG", ".pgm": "PPM", ".pbm": "PPM", ".ppm": "PPM"}.get(
            suffix
        ) or Image.registered_extensions()[suffix]
        pictures = [
            Image.fromarray(frame)
            for frame in (FRAMES if suffix not in (".jpg", ".jpeg") else large)
        ]
        pictures = [picture.convert("1") for picture in pictures] if suffix == ".pbm" else pictures
        more = {"save_all": True, "append_images": pictures[1:]} if several else {}
        file = io.BytesIO()
        pictures[0].save(file, kind, **more, **({"lossless": True} if suffix == ".webp" else {}))
        found.append(
            _control(suffix, file.getvalue(), PATTERNS if several else PATTERNS[:1], size=(12, 16))
        )
    if video:
        write_video(folder / "v.mp4", [np.stack([frame] * 3, axis=2) for frame in large], 25)
        found += [
            control for suffix in FORMATS["video"].suffixes for control in _video(folder, suffix)
        ]
    for array in (
        PATTERNS.astype(np.int8),
        FRAMES,
        FRAMES > 0,
        PATTERNS.astype(np.float64),
        PATTERNS.astype(">f4"),
    ):
        file = io.BytesIO()
        np.save(file, array)
        found.append(_control(".npy", file.getvalue(), PATTERNS))
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, X=PATTERNS, lengths=[2, 3], rate=12.5)
        found.append(_control(".npz", file.getvalue(), PATTERNS, lengths=[2, 3]))
    art = "\n\n".join(
        "\n".join("".join(".#"[int(v > 0)] for v in row) for row in frame) for frame in FRAMES
    ).encode()
    found += [_control(suffix, art, PATTERNS) for suffix in FORMATS["text"].suffixes]
    for suffix in FORMATS["table"].suffixes:
        comma = "\t" if suffix in (".tsv", ".tab") else ","
        rows = [comma.join(str(int(v > 0)) for v in row[:20]) for row in PATTERNS]
        names = comma.join(f"n{k}" for k in range(20))
        table = "\n".join([names, *rows[:2], "", *rows[2:]]).encode()
        found.append(_control(suffix, table, PATTERNS[:, :20], lengths=[2, 3]))
    times, units = np.nonzero(PATTERNS[:, :9] > 0)
    seconds = np.where(
        times > 0, times * 0.1 + 0.05, 0.0
    )  # the first opens the first bin, the others lie in the middle
    spikes = "\n".join(f"{t:.3f},{u}" for t, u in zip(seconds, units, strict=True)).encode()
    truth = np.where(
        sa.io.bin_spikes(times, np.unique(units, return_inverse=True)[1], 1.0) > 0, 1, -1
    )
    found.append(_control(".csv", spikes, truth, bin=0.1))
    file = io.BytesIO()
    np.savez(file, times=seconds, units=units)
    found.append(_control(".npz", file.getvalue(), truth, bin=0.1))
    sa.io.write_midi(folder / "a.mid", PATTERNS[:, :12], range(50, 62))
    played = sa.io.load(folder / "a.mid", step=1)
    first = int(np.argmax((PATTERNS[:, :12] > 0).any(axis=0)))
    assert (played == PATTERNS[:, first : first + played.shape[1]]).all()
    found += [
        _control(suffix, (folder / "a.mid").read_bytes(), played.patterns, step=1)
        for suffix in FORMATS["midi"].suffixes
    ]
    session = with_spikes(
        empty_session(), {int(unit): seconds[units == unit] for unit in np.unique(units)}
    )
    write_session(folder / "a.nwb", with_epochs(session, laps=[(0.0, 0.1 * len(truth))]))
    found.append(_control(".nwb", (folder / "a.nwb").read_bytes(), truth, bin=0.1, epochs="laps"))
    return found


def _control(suffix, content, truth, *, lengths=None, **options):
    """A whole file of one or several sequences."""
    return Control(suffix, content, truth, lengths or [len(truth)], options)


def _video(folder, suffix):
    """The film in another container, where this ffmpeg can write it."""
    codec = {
        ".ogv": "libtheora",
        ".webm": "libvpx",
        ".wmv": "wmv2",
        ".mpg": "mpeg1video",
        ".mpeg": "mpeg1video",
    }.get(suffix, "mpeg4")
    path = folder / f"w{suffix}"
    best = "10" if codec == "libtheora" else "2"
    command = [
        ffmpeg(),
        "-v",
        "error",
        "-y",
        "-i",
        str(folder / "v.mp4"),
        "-c:v",
        codec,
        "-q:v",
        best,
        "-g",
        "1",
        str(path),
    ]
    made = subprocess.run(command, capture_output=True, check=False).returncode == 0
    return (
        [_control(suffix, path.read_bytes(), PATTERNS, size=(12, 16), threshold=127)]
        if made
        else []
    )


def damage(rng, whole, others):
    """One kind of damage: cut, wrong bytes, a piece of another file, bytes lost, doubled or zeroed,
    nonsense.
    """
    content, kind = (
        whole.content,
        rng.choice(
            ["cut", "flip", "bit", "splice", "lose", "double", "zero", "nonsense", "append"]
        ),
    )
    at, end = sorted(int(k) for k in rng.integers(0, len(content), 2))
    raw = bytearray(content)
    if kind == "flip":
        for k in rng.integers(0, len(raw), int(rng.integers(1, 8))):
            raw[k] = int(rng.integers(256))
    elif kind == "bit":
        raw[at] ^= 1 << int(rng.integers(8))
    other = others[int(rng.integers(len(others)))].content
    made = {
        "cut": content[:at],
        "splice": content[:at] + other[int(rng.integers(len(other))) :],
        "lose": content[:at] + content[end:],
        "double": content[:end] + content[at:],
        "zero": content[:at] + bytes(end - at) + content[end:],
        "nonsense": content[: min(at, 40)] + rng.bytes(int(rng.integers(1, 400))),
        "append": content + rng.bytes(int(rng.integers(1, 100))),
    }
    return str(kind), made.get(str(kind), bytes(raw))


def read(path, options, in_subprocess):
    """Read a file here or in a process of its own; a rejection must name it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if in_subprocess:
                return load_in_subprocess(
                    [path],
                    options,
                    terms=Terms(),
                    bounds=Bounds(seconds=100, memory=2**30),
                    several=False,
                )
            return sa.io.load(path, **options)
    except (ValueError, TypeError) as error:
        if str(path) not in str(error):
            raise RuntimeError(f"the sentence does not name the file: {error}") from None
        raise


def check_patterns(found):
    """Whatever a file may hold: patterns of +-1 whose shapes fit."""
    assert found.patterns.dtype == np.int8
    assert np.isin(found.patterns, (-1, 1)).all()
    assert found.lengths.sum() == len(found.patterns)
    assert np.prod(found.frame_shape) == found.shape[1]
    assert len(found.names) == len(found.lengths)


def check_truth(found, *truths):
    """What one of these files holds, and nothing else."""
    assert any(
        found.shape == truth.truth.shape
        and (found.patterns == truth.truth).all()
        and found.lengths.tolist() == truth.lengths
        for truth in truths
    ), f"other patterns, {found.shape}, {found.lengths.tolist()}"


def related(one, other):
    """Whether two endings mean the same format."""
    return one == other or any(one in family and other in family for family in SAME)


def try_case(case, folder, pool, in_subprocess, verdicts):
    """One case: a whole file, a damaged one, one under another name, a folder, or a hostile one."""
    rng = np.random.default_rng([14, case])
    draw = rng.random()
    if draw < 0.06:
        names = sorted(HOSTILE)
        name = names[int(rng.integers(len(names)))]
        file, content, options = HOSTILE[name]
        path, changed = folder / file, draw < 0.02
        kind, content = (
            damage(rng, Control(path.suffix, content, None, []), pool)
            if changed
            else ("whole", content)
        )
        path.write_bytes(content)
        with verdicts.case(f"case {case}: {name}, {kind}"):
            check_patterns(read(path, options, in_subprocess))
            assert changed, "a hostile file was read"
        return path
    if draw < 0.09:
        return try_folder(case, folder / "frames", pool, in_subprocess, verdicts)
    # Videos start a program for every case: they get a smaller share.
    videos = [c for c in pool if c.suffix in FORMATS["video"].suffixes]
    others = [c for c in pool if c.suffix not in FORMATS["video"].suffixes]
    chosen = videos if videos and rng.random() < 0.03 else others
    whole = chosen[int(rng.integers(len(chosen)))]
    if draw < 0.19:
        path = folder / f"a{whole.suffix}"
        path.write_bytes(whole.content)
        with verdicts.case(f"case {case}: a whole {whole.suffix}"):
            try:
                found = read(path, whole.options, in_subprocess)
            except (ValueError, TypeError) as error:
                raise AssertionError(f"a whole file is rejected: {error}") from None
            check_patterns(found)
            check_truth(found, whole)
    elif draw < 0.34:
        suffix = SUFFIXES[int(rng.integers(len(SUFFIXES)))]
        if suffix in FORMATS["video"].suffixes and not videos:
            suffix = ".png"
        path = folder / f"a{suffix}"
        path.write_bytes(whole.content)
        options = {
            k: v
            for k, v in whole.options.items()
            if k == "size" and suffix in FORMATS["pictures"].suffixes
        }
        with verdicts.case(f"case {case}: {whole.suffix} called {suffix}"):
            found = read(
                path, whole.options if related(suffix, whole.suffix) else options, in_subprocess
            )
            check_patterns(found)
            if related(suffix, whole.suffix):
                check_truth(found, whole)
            assert related(suffix, whole.suffix) or not {suffix, whole.suffix} & BINARY, (
                "it was read in another format than that of its name"
            )
    else:
        kind, content = damage(rng, whole, others)
        path = folder / f"a{whole.suffix}"
        path.write_bytes(content)
        with verdicts.case(f"case {case}: {whole.suffix}, {kind}"):
            found = read(path, whole.options, in_subprocess)
            check_patterns(found)
            if whole.suffix in CHECKED:
                check_truth(found, *(c for c in pool if c.suffix == whole.suffix))
    return path


def try_folder(case, folder, pool, in_subprocess, verdicts):
    """A folder of frames, of which one is damaged: all are read as they were, or the damaged one is
    named.
    """
    rng = np.random.default_rng([14, case, 1])
    folder.mkdir(exist_ok=True)
    for k, frame in enumerate(FRAMES):
        Image.fromarray(frame).save(folder / f"frame{k}.png")
    bad = folder / f"frame{rng.integers(len(FRAMES))}.png"
    kind, content = damage(rng, Control(".png", bad.read_bytes(), None, []), pool)
    bad.write_bytes(content)
    with verdicts.case(f"case {case}: a folder of PNG with {bad.name}, {kind}"):
        found = read(folder, {}, in_subprocess)
        check_patterns(found)
        check_truth(found, Control("", b"", PATTERNS, [5]))
    return bad


def data_files(folder, cases):
    """The campaign."""
    full = cases == FULL
    pool = controls(folder, video=full and find_spec("imageio_ffmpeg") is not None)
    (folder / "cases").mkdir()
    with campaign("data files") as verdicts:
        for case in range(cases):
            try_case(
                case, folder / "cases", pool, case % (10 if full else 50) == 0, verdicts
            ).unlink()
    return verdicts


@pytest.mark.parametrize("cases", [300, pytest.param(FULL, marks=pytest.mark.trust)])
def test_data_files_are_read_as_what_they_are_or_rejected(tmp_path, cases):
    verdicts = alone(data_files, tmp_path, cases)
    verdicts.finish(cases, keep=cases == FULL)
    assert verdicts.largest_memory < 2**30


def test_a_tiff_whose_pages_go_round_is_read_once(tmp_path):
    (tmp_path / "a.tif").write_bytes(tiff_loop())
    assert sa.io.load(tmp_path / "a.tif").shape == (2, 16)
    assert sa.io.load(tmp_path / "a.tif", stride=10**9).shape == (1, 16)
