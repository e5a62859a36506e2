"""Continuous variables, such as a position or a direction, as a bump of active units on a line or a
ring.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_flag
from seqattractor.encoders._base import Encoder, check_value_range
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import as_signs


class PopulationEncoder(Encoder):
    """A population code: each number is a bump of neighbouring units that are on, on a line or a
    ring of units.

    A unit has a box for a tuning curve: it is on where the variable is near its preferred value.
    Wherever the variable is, the same number of units is on. `inverse_transform` looks for the
    place of the bump that agrees with most units; where several do, it takes the middle of them.

    Parameters
    ----------
    n_units : int
        For each feature.
    n_active : int
        How many of them are on: the width of the tuning curves. The wider, the more overlap the
        codes of near values.
    value_range : None, "common" or (low, high)
        What the units cover; what lies outside takes the nearest end. None: from the smallest to
        the largest number of each feature, "common": of all features together.
    circular : bool
        Whether `low` and `high` are the same place, as 0 and 2 pi of an angle; then `value_range`
        must be given.

    Attributes
    ----------
    low_, high_ : ndarray of float, shape (n_features,)
    n_places_ : int
        How many places a bump can take, evenly spread over the range: n_units - n_active + 1 on a
        line, n_units on a ring. A number that goes there and back changes by at most half of the
        distance between two.

    Examples
    --------
    >>> import seqattractor as sa
    >>> encoder = sa.encoders.PopulationEncoder(n_units=7, n_active=3, value_range=(0, 1))
    >>> encoder.fit_transform([[0.0], [0.5], [1.0]])
    array([[ 1,  1,  1, -1, -1, -1, -1],
           [-1, -1,  1,  1,  1, -1, -1],
           [-1, -1, -1, -1,  1,  1,  1]], dtype=int8)
    >>> encoder.inverse_transform([[1, -1, 1, 1, 1, -1, -1]])  # the first unit is wrong
    array([[0.5]])
    """

    def __init__(
        self,
        n_units: int = 32,
        *,
        n_active: int = 8,
        value_range: tuple[float, float] | Literal["common"] | None = None,
        circular: bool = False,
    ) -> None:
        self.n_units = n_units
        self.n_active = n_active
        self.value_range = value_range
        self.circular = circular

    def _check_parameters(self) -> None:
        n_units = check_count(self.n_units, "n_units", 2)
        check_count(self.n_active, "n_active", 1, n_units - 1)
        check_value_range(self.value_range, "common")
        if check_flag(self.circular, "circular") and (
            self.value_range is None or isinstance(self.value_range, str)
        ):
            raise ValueError(
                "a circular variable needs its value_range, such as (0, 2 * np.pi); its period "
                "does not follow from data."
            )

    def _learn(self, values: NDArray[Any]) -> None:
        self.low_, self.high_ = self._range(values, self.value_range)
        n_units, n_active = self._sizes()
        self.n_places_ = n_units if self.circular else n_units - n_active + 1

    def _sizes(self) -> tuple[int, int]:
        """Return how many units there are for a feature, and how many of them are on."""
        return int(self.n_units), int(self.n_active)

    def _encode(self, values: NDArray[Any]) -> Patterns:
        n_units, n_active = self._sizes()
        width = np.where(self.high_ > self.low_, self.high_ - self.low_, 1.0)
        part = (values - self.low_) / width
        if self.circular:
            place = np.floor(np.mod(part, 1.0) * self.n_places_ + 0.5) % self.n_places_
        else:
            place = np.floor(np.clip(part, 0.0, 1.0) * (self.n_places_ - 1) + 0.5)
        behind = np.mod(
            np.arange(n_units) - place[:, :, None], n_units
        )  # from the first unit of the bump on
        return as_signs(behind < n_active).reshape(len(values), -1)

    def _decode(self, groups: Patterns) -> NDArray[np.float64]:
        n_active = self._sizes()[1]
        around = (
            np.concatenate([groups, groups[:, :, : n_active - 1]], axis=2)
            if self.circular
            else groups
        )
        sums = np.cumsum(np.pad(around > 0, ((0, 0), (0, 0), (1, 0))), axis=2, dtype=np.int64)
        active = sums[:, :, n_active:] - sums[:, :, :-n_active]  # inside a bump at each place
        best = (active == active.max(axis=2, keepdims=True)).astype(np.float64)
        places = np.arange(self.n_places_)
        if self.circular:
            turn = best @ np.exp(2j * np.pi * places / self.n_places_)
            part = np.mod(np.angle(turn) / (2 * np.pi), 1.0) * (
                np.abs(turn) > 1e-9
            )  # nothing points anywhere: the beginning
            part = np.where(best.sum(axis=2) == 1, best.argmax(axis=2) / self.n_places_, part)
        else:
            part = best @ places / best.sum(axis=2) / max(self.n_places_ - 1, 1)
        return np.asarray(self.low_ * (1.0 - part) + self.high_ * part)

    def _units_per_feature(self) -> int:
        return self._sizes()[0]
