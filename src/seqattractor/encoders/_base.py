"""The base class of encoders: numbers in and patterns of +-1 out, names of the units, and the way
back.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from seqattractor._checks import LARGEST, as_array, check_memory, check_number, reject_masked, say
from seqattractor._unchanged import unchanged_by_failure
from seqattractor.sequences import Patterns, check_patterns

_BYTES = 17  # for each unit while it is made


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class of the encoders: each number of a row becomes a group of units, side by side."""

    n_features_in_: int
    frame_shape_: tuple[int, ...]

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from data what the code needs: thresholds, or the range of values.

        Parameters
        ----------
        X : array of numbers, shape (T, n_features) or frames (T, height, width, ...)
        y : None
            Not used.

        Returns
        -------
        self

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.encoders.LevelEncoder(3).fit([[0.0], [1.0]]).high_
        array([1.])
        """
        with unchanged_by_failure(self):
            self._check_parameters()
            values, self.frame_shape_ = self._numbers(X, reset=True)
            self._learn(values)
        return self

    def transform(self, X: ArrayLike) -> Patterns:
        """Turn numbers into patterns.

        Parameters
        ----------
        X : array of numbers, shape (T, n_features) or frames of the shape seen in `fit`

        Returns
        -------
        ndarray of int8, shape (T, N)
            Patterns of +-1, the units of each feature side by side.

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.encoders.LevelEncoder(3).fit_transform([[0.0], [0.6], [1.0]])
        array([[-1, -1], [ 1, -1], [ 1,  1]], dtype=int8)
        """
        check_is_fitted(self)
        values = self._numbers(X, reset=False)[0]
        units = values.size * self._units_per_feature()
        check_memory(_BYTES * units, f"{len(values)} patterns of {units // len(values)} units")
        with np.errstate(over="ignore"):  # what lies far outside a narrow range takes its end
            return self._encode(values)

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Turn patterns, also corrupted ones, back into numbers.

        Parameters
        ----------
        X : array of +-1, shape (T, N)

        Returns
        -------
        ndarray of float64, shape (T, n_features), or (T, height, width, ...) where `fit` saw frames

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.encoders.LevelEncoder(3).fit([[0.0], [1.0]]).inverse_transform([[1, -1], [-1, 1]])
        array([[0.5], [0.5]])
        """
        check_is_fitted(self)
        patterns = check_patterns(X, "X")
        groups = self.n_features_in_ * self._units_per_feature()
        if patterns.shape[1] != groups:
            raise ValueError(
                f"X has {patterns.shape[1]} units, but {type(self).__name__} makes {groups} of the "
                "features that it has seen."
            )
        values = self._decode(patterns.reshape(len(patterns), self.n_features_in_, -1))
        return values.reshape(len(patterns), *self.frame_shape_)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Name the units after the features that they stand for.

        Parameters
        ----------
        input_features : list of str, optional
            By default the names seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str, shape (N,)

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.encoders.LevelEncoder(3).fit([[0.0], [1.0]]).get_feature_names_out(["speed"])
        array(['speed_1', 'speed_2'], dtype=object)
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        endings = self._endings()
        return np.array([f"{name}{ending}" for name in names for ending in endings], dtype=object)

    # -- hooks of each encoder
    # ----------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        """Check the parameters."""
        raise NotImplementedError

    def _learn(self, values: NDArray[Any]) -> None:
        """Set what is learned from values (T, n_features)."""
        raise NotImplementedError

    def _encode(self, values: NDArray[Any]) -> Patterns:
        """Return values (T, n_features) as patterns (T, N)."""
        raise NotImplementedError

    def _decode(self, groups: Patterns) -> NDArray[np.float64]:
        """Patterns (T, n_features, units) as values (T, n_features)."""
        raise NotImplementedError

    def _endings(self) -> list[str]:
        """Return what is added to the name of a feature for each of its units."""
        return [f"_{k}" for k in range(self._units_per_feature())]

    def _units_per_feature(self) -> int:
        """Return how many units a feature has."""
        return 1

    # -- shared by all
    # ----------------------------------------------------------------------------------------------

    def _numbers(self, X: ArrayLike, *, reset: bool) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Check numbers as scikit-learn does; frames are flattened, and their shape is given,
        too.
        """
        reject_masked(X, "X")
        array = as_array(X, "X") if isinstance(X, (list, tuple)) else X
        shape = tuple(array.shape[1:]) if getattr(array, "ndim", 2) > 2 else None  # type: ignore[union-attr]  # an array has one
        if shape is not None:
            if not reset and shape != self.frame_shape_:
                raise ValueError(
                    f"X has frames of shape {shape}, but in fit they had the shape "
                    f"{self.frame_shape_}."
                )
            array = np.asarray(array).reshape(len(np.asarray(array)), -1)
        try:
            values = np.asarray(validate_data(self, array, reset=reset, dtype="numeric"))
        except (TypeError, ValueError) as error:
            raise type(error)(_in_a_sentence(str(error))) from None
        except OverflowError:
            raise ValueError("X has a number that is too large.") from None
        if values.dtype.kind in "bf":
            values = values.astype(np.int8 if values.dtype == np.bool_ else np.float64)
        if values.dtype.kind == "f" and not (np.abs(values) <= LARGEST).all():
            raise ValueError(f"X must hold numbers between {-LARGEST:g} and {LARGEST:g}.")
        return values, shape or values.shape[1:]

    def _range(
        self, values: NDArray[Any], value_range: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the lowest and the highest value of each feature: given, that of all features
        together, or each its own.
        """
        n = values.shape[1]
        if value_range is None:
            return values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)
        low, high = (values.min(), values.max()) if isinstance(value_range, str) else value_range
        return np.full(n, low, dtype=np.float64), np.full(n, high, dtype=np.float64)

    def __sklearn_tags__(self) -> Any:
        """Declare to scikit-learn that patterns are int8, whatever the numbers are."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def check_value_range(value_range: Any, *words: str) -> None:
    """Check None, one of the words, or two numbers of which the second is larger."""
    if value_range is None or (isinstance(value_range, str) and value_range in words):
        return
    pair = isinstance(value_range, (tuple, list, np.ndarray)) and np.shape(value_range) == (2,)
    choices = ", ".join(["None", *map(repr, words)])
    if not pair:
        raise ValueError(
            f"value_range must be {choices} or two numbers (low, high), but it is "
            f"{say(value_range)}."
        )
    low, high = (check_number(end, "an end of value_range") for end in value_range)
    if not low < high:
        raise ValueError(
            f"value_range must be (low, high) with low below high, but it is {say(value_range)}."
        )


def _in_a_sentence(message: str) -> str:
    """Return a message of scikit-learn without the data and without advice on classifiers."""
    first = message.splitlines()[0].rstrip(":.")
    return (
        f"{first}. Reshape your data: one row per time step, one column per feature."
        if "Reshape" in message
        else f"{first}."
    )
