"""On above a threshold, off below: a unit for each number."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_choice, check_number
from seqattractor.encoders._base import Encoder
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import as_signs
from seqattractor.sequences._thresholds import otsu, row_medians


class ThresholdEncoder(Encoder):
    """Units that are on where a number is above a threshold: one unit for each number.

    Parameters
    ----------
    threshold : float, "otsu" or "median"
        "otsu" finds the cut that leaves the least variance on its two sides; "median" has as many
        numbers above as below.
    per : {"all", "column", "row"}
        What has a threshold of its own: all numbers together, each column (a neuron whose activity
        has a scale of its own), or each row (a frame; it is found anew in every frame that is
        transformed, and only "median" does it). A threshold that is a number is the same for all.

    Attributes
    ----------
    threshold_ : ndarray of float, shape (n_features,)
        Without meaning for ``per="row"``.
    low_, high_ : ndarray of float, shape (n_features,)
        The mean of the numbers that were off, and of those that were on, in `fit`, taken where a
        threshold is shared; these are what `inverse_transform` gives, so that data with two values
        come back exactly.

    Examples
    --------
    >>> import seqattractor as sa
    >>> encoder = sa.encoders.ThresholdEncoder().fit([[10, 200], [12, 205], [11, 11]])
    >>> encoder.threshold_
    array([12., 12.])
    >>> encoder.inverse_transform(encoder.transform([[0, 255]]))
    array([[ 11. , 202.5]])
    """

    def __init__(
        self,
        threshold: float | Literal["otsu", "median"] = "otsu",
        *,
        per: Literal["all", "column", "row"] = "all",
    ) -> None:
        self.threshold = threshold
        self.per = per

    def _check_parameters(self) -> None:
        if isinstance(self.threshold, str):
            check_choice(self.threshold, "threshold", ("otsu", "median"))
        else:
            check_number(self.threshold, "threshold")
        check_choice(self.per, "per", ("all", "column", "row"))
        if self.per == "row" and self.threshold != "median":
            raise ValueError(
                'only the "median" is found for each row; use per="all" or per="column".'
            )

    def _learn(self, values: NDArray[Any]) -> None:
        parts = self._shared(values)
        self.threshold_ = self._spread([self._find(part) for part in parts], values)
        sides = self._shared(self._is_on(values))
        self.low_ = self._spread(
            [_mean(part, ~on) for part, on in zip(parts, sides, strict=True)], values
        )
        self.high_ = self._spread(
            [_mean(part, on) for part, on in zip(parts, sides, strict=True)], values
        )

    def _shared(self, array: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the parts of an array (T, n_features) in which numbers share a threshold."""
        return np.split(array, array.shape[1], axis=1) if self.per == "column" else [array]

    def _find(self, part: NDArray[Any]) -> float:
        """Return the threshold for numbers that share one."""
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        if self.threshold == "median":
            return float(np.median(part))
        if self.per == "column" and part.min() == part.max():
            return float(part.min())  # a neuron that never changes is off
        return otsu(part)

    def _spread(self, found: list[float], values: NDArray[Any]) -> NDArray[np.float64]:
        """Return one number for each column, of which those that share one have the same."""
        return np.broadcast_to(np.array(found, dtype=np.float64), values.shape[1]).copy()

    def _is_on(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        return np.asarray(values > (row_medians(values) if self.per == "row" else self.threshold_))

    def _encode(self, values: NDArray[Any]) -> Patterns:
        return as_signs(self._is_on(values))

    def _decode(self, groups: Patterns) -> NDArray[np.float64]:
        return np.where(groups[:, :, 0] > 0, self.high_, self.low_)

    def _endings(self) -> list[str]:
        return [""]


def _mean(part: NDArray[Any], chosen: NDArray[np.bool_]) -> float:
    """Return the mean of the chosen numbers, or of all where none is chosen."""
    return float(np.mean(part[chosen] if chosen.any() else part, dtype=np.float64))
