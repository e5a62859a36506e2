"""Where weights come from: a random start that can be drawn again, and whole learning steps on top of it."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TAIL = 3.6541528853610088
"""Where the tails begin in numpy's way to draw normal numbers. Those beyond are made with logarithms, whose last bit is not the
same on every machine; all others are a product of two numbers."""
_CHUNK = 2**20  # numbers that are dropped at once


@dataclass(frozen=True)
class Start:
    """An array of independent normal numbers.

    Parameters
    ----------
    shape : tuple of int
    scale : float
        Their standard deviation.
    grid : float
        A power of two of which all are made whole multiples; 0 leaves them as they are.

    Examples
    --------
    >>> Start((2, 3), scale=0.5, grid=0.25).draw(np.random.default_rng(0))
    array([[ 0.  , -0.  ,  0.25],
           [ 0.  , -0.25,  0.25]])
    """

    shape: tuple[int, ...]
    scale: float = 1.0
    grid: float = 0.0

    def draw(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw the array."""
        return self.of(rng.standard_normal(self.shape))

    def of(self, normal: NDArray[np.float64]) -> NDArray[np.float64]:
        """The array, or a part of it, from standard normal numbers, which are overwritten."""
        normal *= self.scale
        if self.grid:
            normal /= self.grid
            np.rint(normal, out=normal)
            normal *= self.grid
        return normal


@dataclass(frozen=True)
class Origin:
    """How an array came to be: as `start`, or zero, plus a whole number of steps of the size `unit`, if it learns."""

    start: Start | None = None
    unit: float | None = None


class Redrawn:
    """Standard normal numbers, drawn again from where a generator stood; the generator itself stays there.

    Parameters
    ----------
    generator : Generator
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._rng = copy.deepcopy(generator)
        self.position = 0
        self.begin()

    def begin(self, first: int | None = None, tails: NDArray[np.float64] | None = None) -> None:
        """Go on to the number `first` of the stream, and start the record of what is drawn from there.

        Numbers in the tails are replaced by `tails` if these are given, and recorded otherwise.
        """
        while first is not None and self.position < first:
            self.position += len(self._rng.standard_normal(min(_CHUNK, first - self.position)))
        self._given, self._used = tails, 0
        self._tails: list[NDArray[np.float64]] = []
        self._digest = hashlib.sha256()

    def draw(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """The next numbers."""
        numbers = self._rng.standard_normal(shape)
        flat = numbers.reshape(-1)
        self.position += flat.size
        outside = np.flatnonzero((flat >= _TAIL) | (flat <= -_TAIL))
        if self._given is not None:
            known = self._given[self._used : self._used + outside.size]
            flat[outside[: known.size]] = known
        else:
            self._tails.append(flat[outside])
        self._used += outside.size
        self._digest.update(flat.astype("<f8", copy=False).data)
        return numbers

    def is_as_recorded(self, digest: str) -> bool:
        """Whether what was drawn since `begin` has this digest, and as many numbers in the tails as were given."""
        return self._digest.hexdigest() == digest and (self._given is None or self._used == len(self._given))

    def record(self) -> tuple[str, NDArray[Any]]:
        """A digest of what was drawn since `begin`, and its numbers in the tails."""
        return self._digest.hexdigest(), np.concatenate([np.zeros(0), *self._tails])
