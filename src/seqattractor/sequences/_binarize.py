"""From frames of numbers to patterns of +-1, and back."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.sequences._patterns import Patterns, check_frame_shape, check_patterns


def binarize(frames: ArrayLike, threshold: float | None = None) -> Patterns:
    """Turn numbers into +-1 patterns, one row per frame.

    Parameters
    ----------
    frames : array of shape (T, ...), for example (T, height, width)
        Numbers or booleans. NaN is refused.
    threshold : float, optional
        Values above it become +1, all others -1. By default the middle between the smallest and the largest value.

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
    try:
        array = np.asarray(frames)
    except ValueError:
        raise ValueError("the frames differ in size; every frame must have the same shape.") from None
    if threshold is not None and not (isinstance(threshold, numbers.Real) and np.isfinite(threshold)):
        raise ValueError(f"the threshold must be a finite number, but it is {threshold!r}.")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"frames must be an array of numbers, not of {array.dtype}.")
    if array.ndim < 2 or array.size == 0:
        raise ValueError(f"frames must have the shape (time, ...) with at least one value, but its shape is {array.shape}.")
    array = array.reshape(len(array), -1)
    if array.dtype == np.bool_:
        array = array.astype(np.int8)
    if array.dtype.kind == "f" and np.isnan(array).any():
        t, j = (int(k) for k in np.argwhere(np.isnan(array))[0])
        raise ValueError(f"frames hold a NaN (frame {t}, value {j}); fill or drop it first.")
    if threshold is None:
        threshold = (float(array.min()) + float(array.max())) / 2
    return np.where(array > threshold, 1, -1).astype(np.int8)


def unbinarize(X: ArrayLike, frame_shape: tuple[int, ...] | None = None, *, low: float = 0, high: float = 1) -> NDArray[Any]:
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
    N = patterns.shape[1]
    shape = check_frame_shape(N if frame_shape is None else frame_shape, N)
    frames = np.where(patterns > 0, high, low).reshape(len(patterns), *shape)
    fits = all(float(v).is_integer() and 0 <= v <= 255 for v in (low, high))
    return frames.astype(np.uint8) if fits else frames
