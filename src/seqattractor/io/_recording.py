"""What every reader of files hands over, sequences of frames as numbers, and how these become patterns of +-1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._options import Options
from seqattractor.io._terms import TooLargeError, remedy
from seqattractor.sequences import Patterns, binarize
from seqattractor.sequences._patterns import as_signs

MAX_FRAMES = 100_000  # in one file; more is a mistake or an attack, not a sequence to store
MAX_VALUES = 2**28  # frames x units in one file
AUTO_SIDE = 128  # pictures with a longer side are shrunk to it unless a size is given: weights grow with every pixel


@dataclass
class Recording:
    """The frames of the sequences of one file."""

    sequences: list[NDArray[Any]]
    """One array of numbers for each sequence, shape (T, *frame_shape)."""
    kind: str
    """"pictures", "array", "text", "table", "spikes", "traces" or "music"."""
    names: list[str]
    """One name per sequence."""
    units: list[str] | None = None
    """What the columns are, such as the notes of a piano roll."""
    rate: float | None = None
    """Frames per second."""
    step: float | None = None
    """Of music: how many quarter notes a frame lasts."""
    per_unit: bool = False
    """Whether a threshold that is found from the data is found for each column: neurons differ in brightness and rate."""


def check_room(n_frames: int, n_values: int, path: Path) -> None:
    """Refuse more frames or values than can be stored, before memory is used for them."""
    if n_frames > MAX_FRAMES:
        fewer = remedy("choose some with {frames} or {stride}", "leave some out")
        raise TooLargeError(f"{path} has more than {MAX_FRAMES} frames; {fewer}.")
    if n_values > MAX_VALUES:
        raise TooLargeError(
            f"{path} would take {n_values // 10**6} million units (frames x units), more than {MAX_VALUES // 10**6} million; "
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
                "(width x height); " + remedy("give a {size} to bring them to one.", "bring them to one size.")
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
    if isinstance(options.size, tuple):
        height, width = options.size
    else:
        longer = max(frame.shape)
        scale = (min(longer, AUTO_SIDE) if options.size == "auto" else options.size or longer) / longer
        height, width = (max(1, round(side * scale)) for side in frame.shape)
    if (height, width) == frame.shape:
        return frame
    check_room(1, height * width, path)
    from PIL import Image

    source = frame if frame.dtype == np.uint8 else frame.astype(np.float32)
    picture = Image.fromarray(np.ascontiguousarray(source))
    return np.asarray(picture.resize((width, height), Image.Resampling.BOX))


def otsu(values: NDArray[Any]) -> float:
    """Give Otsu's threshold: the cut that leaves the least variance inside the two classes.

    Parameters
    ----------
    values : ndarray of numbers, any shape
        With at least two different values.

    Returns
    -------
    float
        Values above it are the upper class.

    Examples
    --------
    >>> otsu(np.array([10, 12, 11, 200, 205], dtype=np.uint8))
    12.0
    """
    low, high = float(values.min()), float(values.max())
    if not low < high:
        raise ValueError(f"all values are {low:g}, so there is no threshold between dark and bright.")
    whole = values.dtype.kind in "biu" and high - low < 4096
    if whole:
        centres = np.arange(low, high + 1)
        counts = np.bincount(values.ravel().astype(np.int64) - int(low))
    else:
        counts, edges = np.histogram(values, bins=1024, range=(low, high))
        centres = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)[:-1]
    above = counts.sum() - below
    sums = np.cumsum(counts * centres)
    # Between-class variance for a cut after each bin; the cut is the first bin with the largest.
    means = sums[:-1] / np.maximum(below, 1), (sums[-1] - sums[:-1]) / np.maximum(above, 1)
    cut = int(np.argmax(below * above * (means[0] - means[1]) ** 2))
    return float(centres[cut] if whole else edges[cut + 1])


def to_patterns(recording: Recording, options: Options, path: Path | str) -> list[Patterns]:
    """Turn the sequences of one file, each (T, ...), into patterns of +-1, each (T, N), with one threshold for all, or per unit.

    Without a threshold, data with two values are cut between them, and pictures by Otsu's threshold; other numbers need a choice.
    """
    flat = [_as_numbers(values, path) for values in recording.sequences]
    if recording.per_unit and isinstance(options.threshold, str):
        thresholds = _per_unit(np.concatenate(flat), options.threshold)
        patterns = [as_signs(v > thresholds) for v in flat]
    elif options.threshold == "median":
        patterns = [as_signs(v > np.median(v, axis=1, keepdims=True)) for v in flat]
    else:
        threshold = options.threshold
        if threshold is None or threshold == "otsu":
            threshold = _choose_threshold(flat, threshold, recording.kind == "pictures", path)
        patterns = [binarize(v, float(threshold)) for v in flat]
    return [-p for p in patterns] if options.invert else patterns


def _per_unit(values: NDArray[Any], threshold: str) -> NDArray[Any]:
    """Find the threshold of each column, (N,), over all time steps (T, N); a column that never changes stays off."""
    if threshold == "median":
        return np.asarray(np.median(values, axis=0))
    return np.array([otsu(column) if column.min() < column.max() else column[0] for column in values.T])


def _as_numbers(values: NDArray[Any], path: Path | str) -> NDArray[Any]:
    """Check that values are finite numbers and flatten the frames."""
    flat = values.reshape(len(values), -1)
    if flat.dtype == np.bool_:
        return flat.astype(np.int8)
    if flat.dtype.kind not in "iuf":
        raise ValueError(f"{path} holds values of type {flat.dtype}, not numbers.")
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        t, j = (int(k) for k in np.argwhere(~np.isfinite(flat))[0])
        raise ValueError(f"{path} holds {flat[t, j]:g} in frame {t}, value {j}; fill or drop it first.")
    return flat.astype(np.float32) if flat.dtype == np.float16 else flat


def _choose_threshold(flat: list[NDArray[Any]], threshold: str | None, pictures: bool, path: Path | str) -> float:
    """Find the threshold for all frames of a file."""
    low, high = min(v.min() for v in flat), max(v.max() for v in flat)
    if low == high:
        if low in (0, 1, -1, 255):  # a blank cue, for example; one of the two values is missing
            return 0.0
        raise ValueError(f"all values in {path} are {low:g}, so there is nothing to tell apart; check the file.")
    if threshold is None and all(np.isin(v, (low, high)).all() for v in flat):
        return (float(low) + float(high)) / 2
    if threshold is None and not pictures:
        raise ValueError(
            f"{path} holds more than two values (from {low:g} to {high:g}); "
            + remedy('give a {threshold}: a number above which a unit is on, "otsu" or "median".', "make them 0 and 1 first.")
        )
    return otsu(flat[0] if len(flat) == 1 else np.concatenate([v.ravel() for v in flat]))
