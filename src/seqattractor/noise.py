"""Corrupting patterns: flips of exactly k units, and occlusion of a block.

Every function takes a generator or a seed, and leaves its input alone.
"""

from __future__ import annotations

import numbers
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from seqattractor._checks import as_numbers, check_count, check_number, is_count, is_number, say
from seqattractor.sequences import Patterns, check_frame_shape, check_patterns

__all__ = ["Seed", "as_generator", "flip", "occlude"]

_LONGEST_SEED = 1000  # numpy would mix all of it
Seed = (
    int
    | Sequence[int]
    | np.random.Generator
    | np.random.RandomState
    | np.random.SeedSequence
    | None
)


def as_generator(rng: Seed, purpose: str = "") -> np.random.Generator:
    """Make a generator from a seed; a generator is used as it is, and moves on.

    Parameters
    ----------
    rng : int, list of int, Generator, RandomState, SeedSequence or None
        None is a fresh seed from the operating system.
    purpose : str
        What the random numbers are for: one seed gives a different stream for each purpose, so that
        a seed of 0 everywhere does not flip just those units of a pattern that the same numbers had
        set to +1.

    Returns
    -------
    Generator

    Examples
    --------
    >>> bool(as_generator(3).integers(10) == np.random.default_rng(3).integers(10))
    True
    """
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(2**31, size=4))
    if isinstance(rng, (np.random.Generator, np.random.BitGenerator)):
        return np.random.default_rng(rng)
    if isinstance(rng, (int, np.integer)) and rng < 0:
        raise ValueError(f"a seed must be 0 or more, but it is {say(rng)}.")
    if rng is None or isinstance(rng, np.random.SeedSequence):
        seeds = rng or np.random.SeedSequence()
    else:
        several = isinstance(rng, (list, tuple)) or (isinstance(rng, np.ndarray) and rng.ndim)
        parts: Any = rng if several else [rng]
        if len(parts) > _LONGEST_SEED or not all(
            is_number(part, numbers.Integral) and int(part) >= 0 for part in parts
        ):
            most = f"at most {_LONGEST_SEED} of these in a list"
            raise TypeError(
                f"a seed is a whole number, {most}, a numpy Generator or None, not {say(rng)}."
            )
        seeds = np.random.SeedSequence(rng)
    if purpose and rng is not None:
        key = (*seeds.spawn_key, zlib.crc32(purpose.encode()))
        seeds = np.random.SeedSequence(seeds.entropy, spawn_key=key)
    return np.random.default_rng(seeds)


def flip(x: ArrayLike, k: int, rng: Seed = None) -> Patterns:
    """Flip exactly `k` randomly chosen units of each pattern (the paper's salt-and-pepper noise).

    Parameters
    ----------
    x : array of +-1, shape (N,) or (B, N)
    k : int
        How many units to flip in each pattern, 0 to N.
    rng : int, Generator or None

    Returns
    -------
    ndarray of int8, of the shape of `x`

    Examples
    --------
    >>> x = np.ones(10, dtype=int)
    >>> int((flip(x, 3, rng=0) != x).sum())
    3
    """
    batch = _as_batch(x)
    n = batch.shape[1]
    if not is_count(k, 0) or k > n:
        raise ValueError(
            f"the number of flips must be a whole number from 0 to {n}, the number of units, but "
            f"it is {say(k)}."
        )
    k = int(k)
    noisy = batch.copy()
    if k:
        generator = as_generator(rng, "flip")
        units = np.argpartition(generator.random(batch.shape), k - 1, axis=1)[:, :k]
        np.put_along_axis(noisy, units, -np.take_along_axis(noisy, units, axis=1), axis=1)
    return noisy.reshape(np.shape(x))


def occlude(
    x: ArrayLike,
    frame_shape: int | tuple[int, ...],
    block: tuple[tuple[int, int], ...] | None = None,
    *,
    fraction: float = 0.25,
    value: int = -1,
    rng: Seed = None,
    axes: int | None = None,
) -> Patterns:
    """Cover a block of each pattern with a constant.

    Parameters
    ----------
    x : array of +-1, shape (N,) or (B, N)
    frame_shape : int or tuple of int
        The shape of one pattern; its product is N. Use ``N`` for patterns that are not pictures.
    block : tuple of (start, stop), optional
        The covered range along each axis. By default a block with the given fraction of the frame,
        placed at random.
    fraction : float
        How much of the frame a random block covers, above 0 and at most 1.
    value : {-1, 1}
        What the covered units become.
    rng : int, Generator or None
    axes : int, optional
        How many of the axes the block is cut from, from the first on; along the others everything
        is covered. By default all. Of a grey film, with the frame shape (height, width, units),
        two: a pixel is covered with all of its units.

    Returns
    -------
    ndarray of int8, of the shape of `x`

    Examples
    --------
    >>> occlude(np.ones(6, dtype=int), (2, 3), ((0, 2), (0, 1))).reshape(2, 3)
    array([[-1,  1,  1], [-1,  1,  1]], dtype=int8)
    """
    batch = _as_batch(x)
    shape = check_frame_shape(frame_shape, batch.shape[1])
    if check_number(value, "value") not in (-1, 1):
        raise ValueError(f"covered units become -1 or +1, not {say(value)}.")
    if not (isinstance(fraction, numbers.Real) and 0 < fraction <= 1):
        raise ValueError(
            f"the covered fraction must be above 0 and at most 1, but it is {say(fraction)}."
        )
    cut = shape[: len(shape) if axes is None else check_count(axes, "axes", 1, len(shape))]
    generator = as_generator(rng, "occlude")
    frames = batch.copy().reshape(-1, *shape)
    for frame in frames:
        frame[
            _slices(cut, block) if block is not None else _random_block(cut, fraction, generator)
        ] = int(value)
    return frames.reshape(np.shape(x))


def _slices(shape: tuple[int, ...], block: tuple[tuple[int, int], ...]) -> tuple[slice, ...]:
    """Check a block of (start, stop) pairs and make slices of it."""
    ends = as_numbers(block, "block")
    fits = ends.shape == (len(shape), 2) and ends.dtype.kind in "iu"
    if not fits or any(not 0 <= a < b <= n for (a, b), n in zip(ends.tolist(), shape, strict=True)):
        where = f"inside a frame of shape {shape}; give a (start, stop) for each axis."
        raise ValueError(f"the block {say(block)} does not lie {where}")
    return tuple(slice(a, b) for a, b in ends.tolist())


def _random_block(
    shape: tuple[int, ...], fraction: float, rng: np.random.Generator
) -> tuple[slice, ...]:
    """Place a block with the proportions of the frame at random."""
    side = float(fraction) ** (1 / len(shape))
    sizes = [max(1, min(n, round(n * side))) for n in shape]
    starts = [int(rng.integers(n - size + 1)) for n, size in zip(shape, sizes, strict=True)]
    return tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))


def _as_batch(x: ArrayLike) -> Patterns:
    """Return patterns as a batch; one pattern is a batch of one."""
    array = as_numbers(x, "x")
    return check_patterns(array[None] if array.ndim == 1 else array, "x", shape=array.shape)
