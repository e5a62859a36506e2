"""What every reader of files hands over, sequences of frames as numbers, and how these become
patterns of +-1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Options, TooLargeError, bin_spikes_first, remedy, terms
from seqattractor.sequences import LevelCode, Patterns, binarize
from seqattractor.sequences._patterns import as_signs
from seqattractor.sequences._thresholds import otsu, row_medians

MAX_FRAMES = 100_000  # in one file; more is a mistake or an attack, not a sequence to store
MAX_VALUES = 2**28  # frames x units in one file
# pictures with a longer side are shrunk to it unless a size is given: weights grow with every pixel
AUTO_SIDE = 128


@dataclass
class Recording:
    """The frames of the sequences of one file."""

    sequences: list[NDArray[Any]]
    """One array of numbers for each sequence, shape (T, *frame_shape); of colour (T, height, width,
    3).
    """
    kind: str  # "pictures", "array", "text", "table", "spikes", "traces" or "music"
    names: list[str]  # one name per sequence
    units: list[str] | None = None  # what the columns are, such as the notes of a piano roll
    rate: float | None = None  # frames per second
    step: float | None = None  # of music: how many quarter notes a frame lasts
    per_unit: bool = False
    """Whether a threshold that is found from the data is found for each column: neurons differ in
    brightness and rate.
    """
    value_range: tuple[float, float] | None = None
    """The lowest and the highest value that there can be, where the kind of file fixes them."""


def check_room(n_frames: int, n_values: int, path: Path) -> None:
    """Reject more frames or values than can be stored, before memory is used for them."""
    if n_frames > MAX_FRAMES:
        fewer = remedy("choose some with {frames} or {stride}", 'choose some, under "Take every"')
        raise TooLargeError(f"{path} has more than {MAX_FRAMES} frames; {fewer}.")
    if n_values > MAX_VALUES:
        raise TooLargeError(
            f"{path} would take {n_values // 10**6} million units (frames x units), more than "
            f"{MAX_VALUES // 10**6} million; choose fewer frames or a smaller size."
        )


def collect_frames(frames: Iterable[NDArray[Any]], options: Options, path: Path) -> NDArray[Any]:
    """Pick, crop and resize pictures as they come, shape (T, height, width), in colour (T, height,
    width, 3).
    """
    start, stop = options.frames or (0, None)
    taken: list[NDArray[Any]] = []
    # One frame more than allowed is enough to know that there are too many.
    for frame in islice(frames, start, stop, options.stride):
        shaped = _resize(_crop(frame, options, path), options, path)
        if taken and shaped.shape != taken[0].shape:
            raise ValueError(
                f"the frames of {path} have different sizes: frame {len(taken)} is {_by(shaped)} "
                f"and frame 0 is {_by(taken[0])} "
                "(width x height); "
                + remedy("give a {size} to bring them to one.", "bring them to one size.")
            )
        taken.append(shaped)
        check_room(
            len(taken),
            len(taken) * shaped.shape[0] * shaped.shape[1] * options.units_per_pixel,
            path,
        )
    if not taken:
        raise ValueError(f"{path} has no frame{'s in the chosen range' if options.frames else ''}.")
    return np.stack(taken)


def _by(frame: NDArray[Any]) -> str:
    """Return a size in the words of pictures: width x height."""
    return f"{frame.shape[1]}x{frame.shape[0]}"


def _crop(frame: NDArray[Any], options: Options, path: Path) -> NDArray[Any]:
    """Cut out the rectangle."""
    if options.crop is None:
        return frame
    left, top, right, bottom = options.crop
    if right > frame.shape[1] or bottom > frame.shape[0]:
        raise ValueError(
            f"the crop {left},{top},{right},{bottom} (left, top, right, bottom) does not lie "
            f"inside the frames of {path}, which are {_by(frame)}."
        )
    return frame[top:bottom, left:right]


def _resize(frame: NDArray[Any], options: Options, path: Path) -> NDArray[Any]:
    """Resize a frame by averaging areas."""
    height, width = _size(frame.shape[:2], options)
    if (height, width) == frame.shape[:2]:
        return frame
    check_room(1, height * width * options.units_per_pixel, path)
    from PIL import Image

    def resized(source: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(
            Image.fromarray(np.ascontiguousarray(source)).resize(
                (width, height), Image.Resampling.BOX
            )
        )

    if frame.dtype == np.uint8:
        return resized(frame)
    source = frame.astype(np.float32)  # of which Pillow resizes one channel at a time
    return (
        resized(source)
        if source.ndim == 2
        else np.stack([resized(channel) for channel in np.moveaxis(source, 2, 0)], axis=2)
    )


def _size(shape: tuple[int, ...], options: Options) -> tuple[int, int]:
    """Height and width to which a picture is brought.

    By default neither a side nor the number of units goes above that of a black and white picture
    of 128 x 128, so that grey and colour do not make larger networks.
    """
    if isinstance(options.size, tuple):
        return options.size
    longer = max(shape)
    if options.size == "auto" and options.n_levels is not None:
        scale = min(
            1.0,
            AUTO_SIDE / longer,
            (terms().units / (shape[0] * shape[1] * options.units_per_pixel)) ** 0.5,
        )
        height, width = (
            max(1, int(side * scale + 1e-9)) for side in shape
        )  # rounded down: not one unit more
    else:
        most = isqrt(terms().units)
        wanted = min(longer, most) if isinstance(options.size, str) else options.size or longer
        scale = wanted / longer
        height, width = (max(1, round(side * scale)) for side in shape)
    return height, width


def to_patterns(
    recording: Recording, options: Options, path: Path | str
) -> tuple[list[Patterns], LevelCode | None]:
    """Turn the sequences of one file, each (T, ...), into patterns of +-1, each (T, N), with a
    threshold or a code.

    Without a threshold, data with two values are cut between them, and pictures by Otsu's
    threshold; other numbers need a choice.
    """
    flat = [_as_numbers(values, path) for values in recording.sequences]
    if options.n_levels is None:
        return _by_threshold(flat, recording, options, path), None
    low, high = options.value_range or recording.value_range or _range_of(flat, path)
    code = LevelCode(options.n_levels, options.code, low, high)
    return [
        code.encode(_negative(v, low + high) if options.invert else v).reshape(len(v), -1)
        for v in flat
    ], code


def _negative(values: NDArray[Any], ends: float) -> NDArray[Any]:
    """Bright for dark: values mirrored in the middle of a range, the ends of which have this
    sum.
    """
    return ~values if values.dtype == np.uint8 and ends == 255 else ends - values


def _range_of(flat: list[NDArray[Any]], path: Path | str) -> tuple[float, float]:
    """Return the lowest and the highest value of a file, between which levels are spread."""
    low, high = (float(end) for end in (min(v.min() for v in flat), max(v.max() for v in flat)))
    if low == high:
        choose = remedy("give a {value_range}", "check the file")
        raise ValueError(
            f"all values in {path} are {low:g}, so levels cannot be spread between them; {choose}."
        )
    return low, high


def _by_threshold(
    flat: list[NDArray[Any]], recording: Recording, options: Options, path: Path | str
) -> list[Patterns]:
    """Cut values at a threshold: patterns in black and white."""
    if recording.per_unit and isinstance(options.threshold, str):
        thresholds = _per_unit(np.concatenate(flat), options.threshold)
        patterns = [as_signs(v > thresholds) for v in flat]
    elif options.threshold == "median":
        patterns = [as_signs(v > row_medians(v)) for v in flat]
    else:
        threshold = options.threshold
        if threshold is None or threshold == "otsu":
            threshold = _choose_threshold(flat, threshold, recording.kind == "pictures", path)
        patterns = [binarize(v, float(threshold)) for v in flat]
    return [-p for p in patterns] if options.invert else patterns


def _per_unit(values: NDArray[Any], threshold: str) -> NDArray[Any]:
    """Find the threshold of each column, (N,), over all time steps (T, N); a column that never
    changes stays off.
    """
    if threshold == "median":
        return np.asarray(np.median(values, axis=0))
    return np.array(
        [otsu(column) if column.min() < column.max() else column[0] for column in values.T]
    )


def _as_numbers(values: NDArray[Any], path: Path | str) -> NDArray[Any]:
    """Check that values are finite numbers and flatten the frames."""
    flat = values.reshape(len(values), -1)
    if flat.dtype == np.bool_:
        return flat.astype(np.int8)
    if flat.dtype.kind not in "iuf":
        raise ValueError(f"{path} holds values of type {flat.dtype}, not numbers.")
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        t, j = (int(k) for k in np.argwhere(~np.isfinite(flat))[0])
        raise ValueError(
            f"{path} holds {flat[t, j]:g} in frame {t}, value {j}; fill or drop it first."
        )
    return flat.astype(np.float32) if flat.dtype == np.float16 else flat


def _choose_threshold(
    flat: list[NDArray[Any]], threshold: str | None, pictures: bool, path: Path | str
) -> float:
    """Find the threshold for all frames of a file."""
    low, high = min(v.min() for v in flat), max(v.max() for v in flat)
    if low == high:
        if low in (0, 1, -1, 255):  # a blank cue, for example; one of the two values is missing
            return 0.0
        raise ValueError(
            f"all values in {path} are {low:g}, so there is nothing to distinguish; check the file."
        )
    if threshold is None and all(np.isin(v, (low, high)).all() for v in flat):
        return (float(low) + float(high)) / 2
    if threshold is None and not pictures:
        choose = remedy(
            'give a {threshold}: a number above which a unit is on, "otsu" or "median"',
            'choose one, under "Cut at"',
        )
        spikes = (
            f"; if these are times and units of spikes, {bin_spikes_first()}"
            if flat[0].shape[1] == 2
            else ""
        )
        raise ValueError(
            f"{path} holds more than two values (from {low:g} to {high:g}); {choose}{spikes}."
        )
    return otsu(flat[0] if len(flat) == 1 else np.concatenate([v.ravel() for v in flat]))
