"""What every reader of files hands over: sequences of frames as numbers, before they become patterns of +-1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Options

MAX_FRAMES = 100_000  # in one file; more is a mistake or an attack, not a sequence to store
MAX_VALUES = 2**28  # frames x units in one file
AUTO_SIDE = 128  # pictures with a longer side are shrunk to it unless a size is given: weights grow with every pixel


@dataclass
class Recording:
    """The frames of the sequences of one file."""

    sequences: list[NDArray[Any]]
    """One array of numbers for each sequence, shape (T, *frame_shape)."""
    kind: str
    """"pictures", "array", "text", "table", "spikes" or "music"."""
    names: list[str]
    """One name per sequence."""
    units: list[str] | None = None
    """What the columns are, such as the notes of a piano roll."""
    rate: float | None = None
    """Frames per second."""
    step: float | None = None
    """Of music: how many quarter notes a frame lasts."""


def check_room(n_frames: int, n_values: int, path: Path) -> None:
    """Refuse more frames or values than can be stored, before memory is used for them."""
    if n_frames > MAX_FRAMES:
        raise ValueError(f"{path} has more than {MAX_FRAMES} frames; choose some with frames or stride.")
    if n_values > MAX_VALUES:
        raise ValueError(
            f"{path} would take {n_values / 1e6:.0f} million units (frames x units), more than {MAX_VALUES / 1e6:.0f} million; "
            "choose fewer frames or a smaller size."
        )


def collect_frames(frames: Iterable[NDArray[Any]], options: Options, path: Path) -> NDArray[Any]:
    """Pick, crop and resize grey pictures as they come, shape (T, height, width)."""
    start, stop = options.frames or (0, None)
    taken: list[NDArray[Any]] = []
    # One frame more than allowed is enough to know that there are too many.
    for frame in islice(frames, start, stop, options.stride):
        shaped = _resize(_crop(frame, options, path), options, path)
        if taken and shaped.shape != taken[0].shape:
            raise ValueError(
                f"the frames of {path} have different sizes: frame {len(taken)} is {_by(shaped)} and frame 0 is {_by(taken[0])} "
                "(width x height); give a size to bring them to one."
            )
        taken.append(shaped)
        check_room(len(taken), len(taken) * taken[0].size, path)
    if not taken:
        raise ValueError(f"{path} has no frame{'s in the chosen range' if options.frames else ''}.")
    return np.stack(taken)


def _by(frame: NDArray[Any]) -> str:
    """A size in the words of pictures: width x height."""
    return f"{frame.shape[1]}x{frame.shape[0]}"


def _crop(frame: NDArray[Any], options: Options, path: Path) -> NDArray[Any]:
    """Cut out the rectangle."""
    if options.crop is None:
        return frame
    left, top, right, bottom = options.crop
    if right > frame.shape[1] or bottom > frame.shape[0]:
        raise ValueError(
            f"the crop {left},{top},{right},{bottom} (left, top, right, bottom) does not lie inside the frames of {path}, "
            f"which are {_by(frame)}."
        )
    return frame[top:bottom, left:right]


def _resize(frame: NDArray[Any], options: Options, path: Path) -> NDArray[Any]:
    """Resize a frame by averaging areas."""
    height, width = frame.shape
    if isinstance(options.size, tuple):
        target = options.size
    else:
        side = AUTO_SIDE if options.size == "auto" else options.size
        if side is None or (options.size == "auto" and max(height, width) <= AUTO_SIDE):
            return frame
        scale = side / max(height, width)
        target = max(1, round(height * scale)), max(1, round(width * scale))
    if target == (height, width):
        return frame
    check_room(1, target[0] * target[1], path)
    from PIL import Image

    source = frame if frame.dtype == np.uint8 else frame.astype(np.float32)
    picture = Image.fromarray(np.ascontiguousarray(source))
    return np.asarray(picture.resize((target[1], target[0]), Image.Resampling.BOX))
