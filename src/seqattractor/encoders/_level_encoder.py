"""Numbers of several levels, such as grey values and colours, in several units each."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_choice, check_count
from seqattractor.encoders._base import Encoder, check_value_range
from seqattractor.sequences import Patterns
from seqattractor.sequences._level_code import (
    CODES,
    MOST_LEVELS,
    count_bits,
    from_bits,
    from_levels,
    to_bits,
    to_levels,
)
from seqattractor.sequences._level_code import LevelCode as LevelCode


class LevelEncoder(Encoder):
    """Numbers as one of a few levels, and each level as a group of binary units: grey values,
    colours, traces.

    Parameters
    ----------
    n_levels : int
        From 2 to 256. A number takes the nearest level, so that it changes by at most half of the
        distance between two.
    code : {"thermometer", "gray"}
        "thermometer": n_levels - 1 units for a number, of which as many are on as the level says.
        It is read by counting, so that a wrong unit costs one level, whichever it is. "gray": the
        binary logarithm of n_levels, rounded up; neighbouring levels differ in one unit, but a
        wrong unit may cost half of the range.
    value_range : None, "common" or (low, high)
        From where to where the levels are spread evenly; what lies outside takes the nearest end.
        None: from the smallest to the largest number of each feature, "common": of all features
        together; for pictures (0, 255).

    Attributes
    ----------
    low_, high_ : ndarray of float, shape (n_features,)
    code_ : LevelCode or None
        The code, where all features have the same range; `Sequences` take it, and are then drawn
        and written in grey or colour.
    frame_shape_ : tuple of int
        Of what was seen in `fit`: frames may have several axes, such as (height, width, 3).

    Examples
    --------
    >>> import seqattractor as sa
    >>> frames = np.array([[[0, 90], [180, 255]]])  # one grey picture of 2 x 2 pixels
    >>> encoder = sa.encoders.LevelEncoder(4, value_range=(0, 255))
    >>> X = encoder.fit_transform(frames)
    >>> X
    array([[-1, -1, -1,  1, -1, -1,  1,  1, -1,  1,  1,  1]], dtype=int8)
    >>> encoder.inverse_transform(sa.noise.flip(X, 1, rng=0))
    array([[[  0.,  85.], [255., 255.]]])

    Frames in colour take three groups for each pixel:

    >>> encoder.fit_transform(np.zeros((5, 2, 2, 3))).shape
    (5, 36)
    """

    def __init__(
        self,
        n_levels: int = 8,
        *,
        code: Literal["thermometer", "gray"] = "thermometer",
        value_range: tuple[float, float] | Literal["common"] | None = None,
    ) -> None:
        self.n_levels = n_levels
        self.code = code
        self.value_range = value_range

    def _check_parameters(self) -> None:
        check_count(self.n_levels, "n_levels", 2, MOST_LEVELS)
        check_choice(self.code, "code", CODES)
        check_value_range(self.value_range, "common")

    def _learn(self, values: NDArray[Any]) -> None:
        self.low_, self.high_ = self._range(values, self.value_range)
        shared = self.value_range is not None and self.low_[0] < self.high_[0]
        self.code_ = (
            LevelCode(int(self.n_levels), self.code, float(self.low_[0]), float(self.high_[0]))
            if shared
            else None
        )

    def _encode(self, values: NDArray[Any]) -> Patterns:
        n_levels = int(self.n_levels)
        return to_bits(
            to_levels(values, self.low_, self.high_, n_levels), n_levels, self.code
        ).reshape(len(values), -1)

    def _decode(self, groups: Patterns) -> NDArray[np.float64]:
        n_levels = int(self.n_levels)
        return from_levels(from_bits(groups, n_levels, self.code), self.low_, self.high_, n_levels)

    def _units_per_feature(self) -> int:
        return count_bits(self.n_levels, self.code)

    def _endings(self) -> list[str]:
        return [
            f"_{k}" for k in range(1, self._units_per_feature() + 1)
        ]  # unit k of a thermometer is on from level k on
