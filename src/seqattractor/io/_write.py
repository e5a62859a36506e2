"""Writing patterns or a recall: as GIF, WebP or video with truth, cue and recall side by side, as a
strip, or as data.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count
from seqattractor._files import atomic_write, named_path
from seqattractor.io import _compose as compose
from seqattractor.io import _midi as midi
from seqattractor.io import _video as video
from seqattractor.io._compose import Recalled
from seqattractor.sequences import Patterns, Sequences, check_patterns, unbinarize
from seqattractor.sequences._columns import pitches_of

if TYPE_CHECKING:
    from PIL.Image import Image

DEFAULT_RATE = 8.0  # frames per second
SLOWEST, FASTEST = 2.0, 25.0  # what a GIF can show and an eye can follow


def write(
    path: str | os.PathLike[str],
    patterns: ArrayLike,
    truth: ArrayLike | None = None,
    *,
    order: int | None = None,
) -> None:
    """Write patterns, or a recall beside what should have come, in the form that the name asks for,
    whole or not at all.

    Parameters
    ----------
    path : str or path
        ``.gif``, ``.webp`` and ``.mp4`` show truth, cue and recall side by side, of grey and colour
        films also the errors (a GIF has 256 colours in a frame, the others have all); ``.png``,
        ``.pdf`` and ``.svg`` are a strip; ``.npz`` holds the arrays ``truth``, ``cue``, ``recall``
        and ``overlap``; ``.mid``, ``.csv`` and ``.txt`` hold the recall; a name without an ending
        is a folder of PNG frames.
    patterns : Sequences, or array of +-1 of shape (K, N)
        Sequences to show to others, or what ``net.recall`` gave.
    truth : Sequences, or array of +-1 of shape (L, N), optional
        What should have come; wrong units are marked. The shape of frames, their rate and the names
        of units are those of `patterns`, or of `truth` where `patterns` has none.
    order : int, optional
        How many patterns at the beginning are the cue. By default 1 beside a truth, and 0 without.

    Examples
    --------
    >>> import tempfile, pathlib, seqattractor as sa
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write(folder / "tune.mid", sa.datasets.tune())
    >>> X = sa.datasets.xor()
    >>> write(folder / "xor.csv", sa.OneHotNetwork().fit(X).recall(X[0], steps=4), X)
    >>> (folder / "xor.csv").read_text().split()
    ['1,1', '1,0', '0,1', '0,0', '1,1']
    """
    states = check_patterns(patterns, "patterns")
    known = (
        None
        if truth is None
        else check_patterns(truth, "truth", n_features=states.shape[1])[: len(states)]
    )
    like = next((x for x in (patterns, truth) if isinstance(x, Sequences)), Sequences(states))
    cue = check_count(order, "order", 0) if order is not None else int(known is not None)
    lengths = patterns.lengths if isinstance(patterns, Sequences) else None
    about = (like.frame_shape, like.rate, like.units, like.step, like.kind)
    write_recall(path, Recalled(states, known, cue, *about, lengths=lengths, code=like.code))


def write_recall(path: str | os.PathLike[str], recalled: Recalled) -> None:
    """Write a recall as `write` does, with everything about it in one object."""
    target = named_path(path)
    check_writable(target, recalled)
    _WRITERS[target.suffix.lower()](target, recalled)


def check_writable(path: Path, recalled: Recalled) -> None:
    """Raise, before anything is written, if the name and the kind of data do not fit."""
    suffix = path.suffix.lower()
    if suffix not in _WRITERS:
        known = ", ".join(s[1:] for s in _WRITERS if s)
        raise ValueError(
            f"{path} has an unknown ending; known are {known}, and none at all for a folder of "
            "frames."
        )
    if suffix == ".mid":
        _pitches(recalled)
    if suffix in (".txt", "") and recalled.picture_shape is None:
        raise ValueError(
            f"{path} would hold pictures, but these units have no rows and columns; write csv, "
            "npz, png or gif."
        )
    if suffix == ".txt" and recalled.code is not None:
        raise ValueError(
            f"{path} would be text art, in black and white, but these pictures are not; write gif, "
            "png or npz."
        )
    if suffix == ".mp4":
        video.ffmpeg()
    if suffix == "" and path.exists():
        raise ValueError(f"{path} exists already; give the name of a new folder for the frames.")
    if not path.parent.is_dir():
        raise ValueError(f"the folder {path.parent} does not exist; make it first.")


def _write_animation(path: Path, recalled: Recalled) -> None:
    """Write a GIF or WebP that runs for ever, with a longer stay on the cue and on the end."""
    from PIL import Image as pil

    pictures = [_image(frame) for frame in compose.frames_of(recalled)]
    moment = round(1000 / _rate(recalled))
    stays = [moment] * len(pictures)
    stays[0] = stays[-1] = max(moment, 800)
    kind = path.suffix[1:].upper()
    more = {"optimize": False, "disposal": 1} if kind == "GIF" else {"lossless": True}
    if (
        kind == "GIF"
    ):  # which has 256 colours in a frame; those of black and white have their palette already
        pictures = [
            p if p.mode == "P" else p.quantize(256, dither=pil.Dither.NONE) for p in pictures
        ]
    with atomic_write(path) as file:
        pictures[0].save(
            file, kind, save_all=True, append_images=pictures[1:], duration=stays, loop=0, **more
        )


def _write_strip(path: Path, recalled: Recalled) -> None:
    """Write one picture with frames over time."""
    with atomic_write(path) as file:
        _image(compose.strip_of(recalled)).save(file, format="PNG")


def _write_figure(path: Path, recalled: Recalled) -> None:
    """Write the same picture as a page of PDF or SVG, pixel by pixel, 96 of them to an inch."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    picture = compose.strip_of(recalled)
    picture = compose.RGB[picture] if picture.ndim == 2 else picture
    height, width = picture.shape[:2]
    figure = Figure(figsize=(width / 96, height / 96))
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.imshow(picture, interpolation="none", aspect="auto")
    kind = path.suffix.lower().removeprefix(".")
    # No date and no random names: the same recall is the same file.
    with atomic_write(path) as file, rc_context({"svg.hashsalt": "recall"}):
        figure.savefig(
            file, format=kind, metadata={"CreationDate": None} if kind == "pdf" else {"Date": None}
        )


def _write_video(path: Path, recalled: Recalled) -> None:
    """Write a video of the same pictures as the GIF."""
    frames = [
        compose.RGB[frame] if frame.ndim == 2 else frame for frame in compose.frames_of(recalled)
    ]
    with tempfile.TemporaryDirectory() as folder, atomic_write(path) as file:
        part = (
            Path(folder) / path.name
        )  # ffmpeg goes back to the beginning of what it writes, so it needs a name
        video.write_video(part, frames, _rate(recalled))
        file.write(part.read_bytes())


def _write_arrays(path: Path, recalled: Recalled) -> None:
    """Write all arrays as zeros and ones in the shape of frames, or as the values that units stand
    for, with the overlaps.
    """
    arrays = {"recall": _values(recalled, recalled.recall)}
    if recalled.order:
        arrays["cue"] = _values(recalled, recalled.recall[: recalled.order])
    if recalled.truth is not None:
        arrays |= {"truth": _values(recalled, recalled.truth), "overlap": recalled.overlaps}
    if recalled.value_errors is not None:
        arrays["error"] = recalled.value_errors
    if recalled.rate:
        arrays["rate"] = np.array(recalled.rate)
    if recalled.lengths is not None:
        arrays["lengths"] = recalled.lengths
    with atomic_write(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _values(recalled: Recalled, states: Patterns) -> NDArray[Any]:
    """Return what units stand for: 0 and 1, or with a code values, as whole numbers where they are
    those of pictures.
    """
    if recalled.code is None:
        return unbinarize(states, recalled.frame_shape)
    values = recalled.values(states)
    return (
        np.round(values).astype(np.uint8)
        if (recalled.code.low, recalled.code.high) == (0.0, 255.0)
        else values
    )


def _write_table(path: Path, recalled: Recalled) -> None:
    """Write the recall as rows of zeros and ones, with the names of the units if they have some,
    and the times of spikes.
    """
    seconds = recalled.seconds if recalled.units else None
    lines = (
        [",".join(recalled.units)]
        if recalled.units and not all(u.isdigit() for u in recalled.units)
        else []
    )
    if seconds is not None:
        lines = [",".join(["time", *(recalled.units or ())])]
    ends = set() if recalled.lengths is None else set(np.cumsum(recalled.lengths)[:-1].tolist())
    for t, values in enumerate(
        _values(recalled, recalled.recall).reshape(len(recalled.recall), -1)
    ):
        lines += [""] if t in ends else []  # a blank line separates sequences
        time = [] if seconds is None else [f"{t * seconds:.9g}"]
        lines.append(",".join([*time, *(f"{value:.6g}" for value in values.tolist())]))
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


def _write_text(path: Path, recalled: Recalled) -> None:
    """Write the recall as text art."""
    frames = recalled.recall.reshape(-1, *recalled.frame_shape)
    blocks = (
        "\n".join("".join("#" if value > 0 else "." for value in row) for row in frame)
        for frame in frames
    )
    with atomic_write(path) as file:
        file.write(("\n\n".join(blocks) + "\n").encode())


def _write_music(path: Path, recalled: Recalled) -> None:
    """Write the recall as a MIDI file."""
    midi.write_midi(
        path, recalled.recall, _pitches(recalled), step=recalled.step or 1.0, rate=recalled.rate
    )


def _write_folder(path: Path, recalled: Recalled) -> None:
    """Write the recall as a folder of PNG frames."""
    from PIL import Image

    if recalled.code is None:
        frames = list(unbinarize(recalled.recall, recalled.frame_shape, high=255))
    else:
        frames = [compose.shade(recalled, state) for state in recalled.recall]
    digits = len(str(len(frames) - 1))
    part = path.with_name(
        f".{path.name[:40]}.{secrets.token_hex(8)}.part"
    )  # known before it is made, as in `atomic_write`
    try:
        part.mkdir()
        for t, frame in enumerate(frames):
            Image.fromarray(frame).save(part / f"frame{t:0{digits}}.png")
        part.rename(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _image(picture: compose.Picture) -> Image:
    """Return a picture with the palette, or in red, green and blue."""
    from PIL import Image as pil

    image = pil.fromarray(picture)
    if picture.ndim == 2:
        image.putpalette(compose.PALETTE)
    return image


def _rate(recalled: Recalled) -> float:
    """Return the frames per second of an animation."""
    moments = min(len(recalled.recall), compose.MAX_MOMENTS)
    rate = (recalled.rate or DEFAULT_RATE) * moments / len(recalled.recall)
    return min(max(rate, SLOWEST), FASTEST)


def _pitches(recalled: Recalled) -> list[int]:
    """Return the MIDI numbers of the units, which must be their names."""
    pitches = pitches_of(recalled.units or [])
    if recalled.kind not in ("music", "table") or not pitches:
        raise ValueError(
            "only notes can be written as MIDI: learn from MIDI, or from a table whose columns are "
            "named by notes (C4, or 60)."
        )
    return pitches


_WRITERS: dict[str, Callable[[Path, Recalled], None]] = {
    ".gif": _write_animation,
    ".webp": _write_animation,
    ".png": _write_strip,
    ".pdf": _write_figure,
    ".svg": _write_figure,
    ".mp4": _write_video,
    ".npz": _write_arrays,
    ".csv": _write_table,
    ".mid": _write_music,
    ".txt": _write_text,
    "": _write_folder,
}
