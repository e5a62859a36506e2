"""What a pattern and a sequence are: rows of +-1, one row per time step; from frames of numbers to
patterns, and back.

Several sequences stand one below the other in one array, with ``lengths`` beside it, as in
hmmlearn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import MOST, as_numbers, check_count, check_number, is_count, say
from seqattractor.sequences._columns import time_first

_PIECE = 2**22  # entries of an array that are looked at together

Patterns = NDArray[np.int8]
Lengths = NDArray[np.int64]


def check_patterns(
    X: Any, name: str = "X", *, n_features: int | None = None, shape: tuple[int, ...] | None = None
) -> Patterns:
    """Check that `X` is a two-dimensional array of patterns and return it as int8 of +-1, shape (T,
    N).

    For every numeric type alike: -1 and +1 are taken as they are; True and False, or 1 and 0 in an
    array without other values, stand for +1 and -1; all else is an error. A message names the place
    of a wrong value in an array of the given `shape`, that of the user's input.
    """
    if X is None:
        raise TypeError(
            f"{name} is missing: it must be an array of -1 and +1 with two dimensions (time, "
            "neurons)."
        )
    array = as_numbers(time_first(X), name)
    if array.ndim != 2 and array.size:
        flatten = (
            f"{name}.reshape(len({name}), -1) flattens frames, and "
            f"{name}.reshape(*{name}.shape[:2], -1) those of several films"
        )
        hint = flatten if array.ndim > 2 else "one row per time step, one column per neuron"
        raise ValueError(
            f"{name} must have two dimensions (time, neurons), but its shape is {array.shape}. "
            f"Reshape your data: {hint}."
        )
    if array.ndim != 2 or array.shape[0] == 0:
        raise ValueError(
            f"{name} is empty: it has 0 sample(s) (shape={array.shape}) while a minimum of 1 is "
            "required."
        )
    if array.shape[1] == 0:
        raise ValueError(
            f"{name} has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        )
    if n_features is not None and array.shape[1] != check_count(n_features, "n_features"):
        raise ValueError(
            f"{name} has {array.shape[1]} features, but the network is expecting {n_features} "
            "features as input, as many as the patterns that it learned."
        )
    return _as_patterns(array, name, array.shape if shape is None else shape)


def pieces(total: int, size: int) -> Iterator[slice]:
    """Cut range(total) into slices of at most `size`, so that long sequences can be gone through a
    piece at a time.
    """
    return (slice(start, min(start + size, total)) for start in range(0, total, max(size, 1)))


def as_items(X: NDArray[Any]) -> NDArray[np.void]:
    """Return each pattern as one item, of its bits, shape (T,): items are equal and in order as the
    patterns are.

    For `np.unique`, in which numpy may make a TypeError of a Ctrl-C with ``axis=0``, and nothing at
    all while it makes a type of ``np.void``.
    """
    bits = np.ascontiguousarray(
        np.concatenate([np.packbits(X[part] > 0, axis=1) for part in pieces(len(X), 2**14)])
    )
    return bits.view(f"V{bits.shape[1]}").ravel()


def row_overlaps(states: Patterns, truth: Patterns) -> NDArray[np.float64]:
    """Overlap of each row with the one beside it, shape (T,): 1 where all units are equal, -1 where
    all are reversed.
    """
    return np.asarray(1.0 - 2.0 * (states != truth).sum(axis=1) / states.shape[1])


def _as_patterns(array: NDArray[Any], name: str, shape: tuple[int, ...]) -> Patterns:
    """Patterns by the rule of `check_patterns`; a wrong entry is named by its place in an array of
    that shape.
    """
    if array.dtype == np.bool_:
        return as_signs(array)
    rows = _PIECE // max(array.shape[1], 1) + 1
    as_it_is = array.dtype == np.int8 and array.flags.c_contiguous
    # A copy too large for memory fails here, before the array is read.
    patterns = np.ascontiguousarray(array) if as_it_is else np.empty(array.shape, dtype=np.int8)
    for part in pieces(len(array), rows):  # an array on disk is read through, never held as a whole
        wrong = (array[part] != 1) & (array[part] != -1)
        if wrong.any():
            break
        if not as_it_is:
            patterns[part] = array[part]
    else:
        return patterns
    first = part.start * array.shape[1] + int(np.argmax(wrong))
    value = array.flat[first]
    if value == 0 and np.all((array == 0) | (array == 1)):
        return as_signs(array == 1)
    place = ", ".join(str(k) for k in np.unravel_index(first, shape))
    kind = "NaN" if np.isnan(value) else "inf" if np.isinf(value) else f"{value:g}"
    convert = f"sa.binarize({name}, threshold=...)"
    if len(shape) > 2:  # which binarize would take for frames
        convert = f"[sa.binarize(x, threshold=...) for x in {name}]"
    raise ValueError(
        f"{name} must hold only -1 and +1, or only 0 and 1, but {name}[{place}] is {kind}; convert "
        f"your data with {convert}."
    )


def check_lengths(lengths: ArrayLike | None, n_rows: int) -> Lengths:
    """Check that lengths are positive whole numbers that sum to the number of rows."""
    if lengths is None:
        return np.array([n_rows], dtype=np.int64)
    array = as_numbers(lengths, "lengths")
    if (
        array.ndim != 1
        or array.size == 0
        or array.dtype.kind not in "iuf"
        or not np.all(array == np.floor(array))
    ):
        raise ValueError(
            f"lengths must be a list of whole numbers, one per sequence, but it is {say(lengths)}."
        )
    if np.any(array < 1):
        s = int(np.flatnonzero(array < 1)[0])
        raise ValueError(
            f"every sequence needs a positive length, but lengths[{s}] is {array[s]:g}."
        )
    if (
        total := sum(map(float, array))
    ) != n_rows:  # in floats: the sum of small or huge integers could wrap
        raise ValueError(f"lengths sum to {total:g}, but X has {n_rows} rows; they must be equal.")
    return array.astype(np.int64)


def check_frame_shape(frame_shape: int | Iterable[int] | None, n_units: int) -> tuple[int, ...]:
    """Check that a frame of this shape, by default a row, has as many units as a pattern."""
    n_units = check_count(n_units, "n_units", 0)
    sides = as_numbers(n_units if frame_shape is None else frame_shape, "the shape of a frame")
    if (
        sides.ndim > 1
        or sides.dtype.kind not in "iuf"
        or not np.all(np.isfinite(sides))
        or np.any(sides != np.floor(sides))
    ):
        raise ValueError(
            f"the shape of a frame must be whole numbers, but it is {say(frame_shape)}."
        )
    shape = tuple(int(side) for side in np.atleast_1d(sides))
    if min(shape, default=0) < 1:
        raise ValueError(f"the sides of a frame must be 1 or more, but its shape is {say(shape)}.")
    if prod(shape) != n_units:
        raise ValueError(
            f"a frame of shape {say(shape)} has {say(prod(shape))} units, but the patterns have "
            f"{n_units}."
        )
    return shape


def split(X: NDArray[Any], lengths: Lengths) -> Iterator[NDArray[Any]]:
    """Go through the sequences of `X`, each of shape (T_s, N)."""
    start = 0
    for length in lengths:
        yield X[start : start + length]
        start += length


def is_loop(x: Patterns) -> bool:
    """Whether a sequence (T, N) ends with its first pattern."""
    return len(x) > 1 and bool(np.array_equal(x[0], x[-1]))


def period(x: Patterns, order: int) -> int | None:
    """After how many patterns a sequence (T, N) goes round for a network that sees the last `order`
    of them; None if it ends.

    It is a loop if it ends with its first `order` patterns (`close_loops`): then the network has
    learned every transition of it.
    """
    return (
        len(x) - order
        if len(x) > order and np.array_equal(x[:order], x[len(x) - order :])
        else None
    )


def binarize(frames: ArrayLike, threshold: float | None = None) -> Patterns:
    """Turn numbers into +-1 patterns, one row per frame.

    Parameters
    ----------
    frames : array of shape (T, ...), for example (T, height, width)
        Numbers or booleans. NaN is an error. Of several sequences, (S, T, N), give one at a time:
        ``[binarize(x) for x in X]``.
    threshold : float, optional
        Values above it become +1, all others -1. By default the middle between the smallest and the
        largest value.

    Returns
    -------
    X : ndarray of int8, shape (T, N)
        N is the number of values in a frame.

    See Also
    --------
    unbinarize : the way back.

    Examples
    --------
    >>> binarize([[0, 255], [200, 10]], threshold=127)
    array([[-1,  1], [ 1, -1]], dtype=int8)
    """
    array = as_numbers(frames, "frames")
    if threshold is not None:
        threshold = check_number(threshold, "the threshold")
    if array.ndim < 2 or array.size == 0:
        raise ValueError(
            "frames must have the shape (time, ...) with at least one value, but its shape is "
            f"{array.shape}."
        )
    array = array.reshape(len(array), -1)
    if array.dtype == np.bool_:
        array = array.astype(np.int8)
    if array.dtype.kind == "f" and np.isnan(array).any():
        t, j = (int(k) for k in np.argwhere(np.isnan(array))[0])
        raise ValueError(f"frames hold a NaN (frame {t}, value {j}); fill or drop it first.")
    if threshold is None:
        threshold = (float(array.min()) + float(array.max())) / 2
    return as_signs(array > threshold)


def as_signs(on: NDArray[np.bool_]) -> Patterns:
    """Return +1 where a unit is on and -1 elsewhere, without an array of larger numbers in
    between.
    """
    return np.where(on, np.int8(1), np.int8(-1))


def unbinarize(
    X: ArrayLike, frame_shape: tuple[int, ...] | None = None, *, low: float = 0, high: float = 1
) -> NDArray[Any]:
    """Turn +-1 patterns back into frames: -1 becomes `low`, +1 becomes `high`.

    Parameters
    ----------
    X : array of shape (T, N)
    frame_shape : tuple of int, optional
        The shape of one frame; its product is N. By default frames stay flat.
    low, high : number

    Returns
    -------
    frames : ndarray, shape (T, ...), uint8 where `low` and `high` fit

    Examples
    --------
    >>> unbinarize([[-1, 1, 1, -1]], (2, 2), high=255)
    array([[[  0, 255], [255,   0]]], dtype=uint8)
    """
    patterns = check_patterns(X)
    shape = check_frame_shape(frame_shape, patterns.shape[1])
    check_number(low, "low")
    check_number(high, "high")
    frames = np.where(
        patterns > 0, *(v if is_count(v, -MOST) else float(v) for v in (high, low))
    ).reshape(len(patterns), *shape)
    fits = all(float(v).is_integer() and 0 <= v <= 255 for v in (low, high))
    return frames.astype(np.uint8) if fits else frames
