"""Numbers of several levels, such as grey values, as groups of +-1 units; `encoders.LevelEncoder`
is the transformer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import as_numbers, check_choice, check_count, check_number
from seqattractor.sequences._patterns import Patterns, as_signs

CODES = ("thermometer", "gray")
MOST_LEVELS = 256
CHANNELS = 3  # red, green and blue


def count_bits(n_levels: int, kind: str) -> int:
    """How many units stand for one value: L - 1 in a thermometer, the logarithm to base 2, rounded
    up, in a Gray code.
    """
    return int(n_levels) - 1 if kind == "thermometer" else (int(n_levels) - 1).bit_length()


def to_levels(values: NDArray[Any], low: Any, high: Any, n_levels: int) -> NDArray[np.int64]:
    """The nearest of the levels 0 ... L - 1, evenly spread from `low` to `high`; what lies outside
    takes the nearest end.
    """
    width = np.where(np.asarray(high) > low, np.subtract(high, low, dtype=np.float64), 1.0)
    place = (values.astype(np.float64) - low) / width * (n_levels - 1)
    return np.asarray(np.clip(np.floor(place + 0.5), 0, n_levels - 1).astype(np.int64))


def from_levels(levels: NDArray[Any], low: Any, high: Any, n_levels: int) -> NDArray[np.float64]:
    """The values of levels: `low` for 0 and `high` for L - 1, both exactly."""
    between = low + levels * np.subtract(high, low) / (n_levels - 1)
    return np.asarray(np.where(levels == n_levels - 1, high, between))


def to_bits(levels: NDArray[np.int64], n_levels: int, kind: str) -> Patterns:
    """Levels of shape (...) as units of shape (..., bits)."""
    if kind == "thermometer":
        return as_signs(levels[..., None] >= np.arange(1, n_levels))
    places = np.arange(count_bits(n_levels, kind))[::-1]  # the highest comes first
    return as_signs(((levels ^ (levels >> 1))[..., None] >> places) & 1 == 1)


def from_bits(units: NDArray[Any], n_levels: int, kind: str) -> NDArray[np.int64]:
    """Levels of units of shape (..., bits), also of those that no level has.

    A thermometer is read by counting the units that are on, so that each wrong unit costs one
    level, whichever it is. Of a Gray code each unit decides whether the next lower one counts up or
    down; a level above the highest is taken for that.
    """
    on = units > 0
    if kind == "thermometer":
        return np.asarray(on.sum(axis=-1, dtype=np.int64))
    binary = np.logical_xor.accumulate(on, axis=-1)
    levels = binary @ (1 << np.arange(on.shape[-1])[::-1])
    return np.asarray(np.minimum(levels, n_levels - 1), dtype=np.int64)


@dataclass(frozen=True)
class LevelCode:
    """How units of +-1 stand for numbers: each number takes one of a few levels, and each level is
    a group of units.

    Parameters
    ----------
    n_levels : int
        From 2 to 256, evenly spread from `low` to `high`.
    kind : {"thermometer", "gray"}
        "thermometer": n_levels - 1 units, of which as many are on as the level says; a wrong unit
        costs one level. "gray": as few units as can be, in an order in which neighbouring levels
        differ in one unit; a wrong unit may cost half of the range.
    low, high : float
        The values of the lowest and the highest level: 0 and 255 in pictures.

    Examples
    --------
    >>> code = LevelCode(4)
    >>> code.encode([0, 100, 255]).tolist()
    [[-1, -1, -1], [1, -1, -1], [1, 1, 1]]
    >>> code.decode([[1, -1, 1]])
    array([170.])
    """

    n_levels: int
    kind: str = "thermometer"
    low: float = 0.0
    high: float = 255.0

    def __post_init__(self) -> None:
        """Check everything: a code may come from a model file."""
        check_count(self.n_levels, "n_levels", 2, MOST_LEVELS)
        check_choice(self.kind, "the kind of code", CODES)
        low, high = check_number(self.low, "low"), check_number(self.high, "high")
        if not low < high:
            raise ValueError(
                f"the highest level must lie above the lowest, but low is {low:g} and high is "
                f"{high:g}."
            )
        for name, value in (("n_levels", int(self.n_levels)), ("low", low), ("high", high)):
            object.__setattr__(self, name, value)

    @property
    def n_bits(self) -> int:
        """How many units stand for one value."""
        return count_bits(self.n_levels, self.kind)

    def encode(self, values: ArrayLike) -> Patterns:
        """Turn numbers into units.

        Parameters
        ----------
        values : array of numbers, any shape
            Each takes the nearest level.

        Returns
        -------
        ndarray of int8, shape (..., n_bits)

        Examples
        --------
        >>> LevelCode(3, low=0, high=1).encode([0.4, 0.9])
        array([[ 1, -1], [ 1,  1]], dtype=int8)
        """
        array = as_numbers(values, "values")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError("values must be finite; fill or drop NaN and infinity first.")
        if (
            array.dtype == np.uint8 and array.size > 256
        ):  # pictures: a table spares eight bytes for each pixel
            table = to_levels(np.arange(256), self.low, self.high, self.n_levels)
            return to_bits(table.astype(np.int16)[array], self.n_levels, self.kind)
        return to_bits(
            to_levels(array, self.low, self.high, self.n_levels), self.n_levels, self.kind
        )

    def levels(self, units: ArrayLike) -> NDArray[np.int64]:
        """Read the levels 0 ... n_levels - 1 off units, also of groups that no level has.

        Parameters
        ----------
        units : array of +-1, shape (..., n_bits)

        Returns
        -------
        ndarray of int64, shape (...)
            In a thermometer, how many are on. A Gray code above the highest level is taken for
            that.

        Examples
        --------
        >>> LevelCode(8, "gray").levels([[1, 1, -1], [1, -1, -1]])
        array([4, 7])
        """
        array = as_numbers(units, "units")
        if array.ndim < 1 or array.shape[-1] != self.n_bits:
            raise ValueError(
                f"the last axis of units must have {self.n_bits} entries, but their shape is "
                f"{array.shape}."
            )
        return from_bits(array, self.n_levels, self.kind)

    def decode(self, units: ArrayLike) -> NDArray[np.float64]:
        """Turn units back into numbers.

        Parameters
        ----------
        units : array of +-1, shape (..., n_bits)

        Returns
        -------
        ndarray of float64, shape (...)
            The values of `levels`.

        Examples
        --------
        >>> code = LevelCode(3, low=0, high=1)
        >>> code.decode([[1, -1], [-1, 1]])  # a count: which of the two is on does not matter
        array([0.5, 0.5])
        """
        table = from_levels(np.arange(self.n_levels), self.low, self.high, self.n_levels)
        return np.asarray(table[self.levels(units)])

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters as plain values for JSON.

        Returns
        -------
        dict

        Examples
        --------
        >>> LevelCode(8).to_dict()
        {'n_levels': 8, 'kind': 'thermometer', 'low': 0.0, 'high': 255.0}
        """
        return asdict(self)


def check_code(code: Any, frame_shape: tuple[int, ...]) -> LevelCode | None:
    """Check a code, or its parameters as a table, and that the last axis of a frame has its
    units.
    """
    if code is None:
        return None
    if isinstance(code, Mapping):
        unknown = [name for name in code if name not in ("n_levels", "kind", "low", "high")]
        if unknown or "n_levels" not in code:
            raise ValueError(
                "a code has n_levels and, if they are not the usual ones, kind, low and high."
            )
        code = LevelCode(**code)
    if not isinstance(code, LevelCode):
        raise TypeError("code must be a LevelCode, or a table of its parameters.")
    if frame_shape[-1] != code.n_bits:
        raise ValueError(
            f"the last axis of a frame must have the {code.n_bits} units of a value, but the "
            f"frames have the shape {frame_shape}."
        )
    return code


def picture_shape(frame_shape: tuple[int, ...], code: LevelCode | None) -> tuple[int, int] | None:
    """Height and width of frames that are pictures: black and white, or with a code grey or in
    colour; None for all others.
    """
    values = frame_shape if code is None else frame_shape[:-1]
    if len(values) == 2 or (code is not None and len(values) == 3 and values[2] == CHANNELS):
        return values[0], values[1]
    return None
