"""From grey values to +-1: a fixed threshold, Otsu's, or the median of each frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Patterns, binarize


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
        counts = np.bincount((values.ravel().astype(np.int64) - int(low)), minlength=len(centres)).astype(np.float64)
    else:
        counts, edges = np.histogram(values, bins=1024, range=(low, high))
        counts, centres = counts.astype(np.float64), (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)[:-1]
    above = counts.sum() - below
    sums = np.cumsum(counts * centres)
    # Between-class variance for a cut after each bin; the cut is the first bin with the largest.
    means = sums[:-1] / np.maximum(below, 1), (sums[-1] - sums[:-1]) / np.maximum(above, 1)
    cut = int(np.argmax(below * above * (means[0] - means[1]) ** 2))
    return float(centres[cut] if whole else edges[cut + 1])


def to_patterns(
    sequences: list[NDArray[Any]], threshold: float | str | None, *, invert: bool, pictures: bool, where: str
) -> list[Patterns]:
    """Turn sequences of one file, each (T, ...), into patterns of +-1, each (T, N), with one threshold for all.

    Without a threshold, data with two values are cut between them, and pictures by Otsu's threshold; other numbers need a choice.
    """
    flat = [_as_numbers(values, where) for values in sequences]
    if threshold == "median":
        patterns = [np.where(v > np.median(v, axis=1, keepdims=True), 1, -1).astype(np.int8) for v in flat]
    else:
        if threshold is None or threshold == "otsu":
            threshold = _choose(flat, threshold, pictures, where)
        patterns = [binarize(v, float(threshold)) for v in flat]
    return [-p for p in patterns] if invert else patterns


def _as_numbers(values: NDArray[Any], where: str) -> NDArray[Any]:
    """Check that values are finite numbers and flatten the frames."""
    flat = values.reshape(len(values), -1)
    if flat.dtype == np.bool_:
        return flat.astype(np.int8)
    if flat.dtype.kind not in "iuf":
        raise ValueError(f"{where} holds values of type {flat.dtype}, not numbers.")
    if flat.dtype.kind == "f" and not np.isfinite(flat).all():
        t, j = (int(k) for k in np.argwhere(~np.isfinite(flat))[0])
        raise ValueError(f"{where} holds {flat[t, j]:g} in frame {t}, value {j}; fill or drop it first.")
    return flat.astype(np.float32) if flat.dtype == np.float16 else flat


def _choose(flat: list[NDArray[Any]], threshold: str | None, pictures: bool, where: str) -> float:
    """Find the threshold for all frames of a file."""
    low, high = min(v.min() for v in flat), max(v.max() for v in flat)
    if low == high:
        if low in (0, 1, -1, 255):  # a blank cue, for example; one of the two values is missing
            return 0.0
        raise ValueError(
            f"all values in {where} are {low:g}, so there is nothing to tell apart; check the file or the threshold."
        )
    if threshold is None and all(np.isin(v, (low, high)).all() for v in flat):
        return (float(low) + float(high)) / 2
    if threshold is None and not pictures:
        raise ValueError(
            f"{where} holds more than two values (from {low:g} to {high:g}); "
            'give a threshold: a number above which a unit is on, "otsu" or "median".'
        )
    return otsu(np.concatenate([v.ravel() for v in flat]))
