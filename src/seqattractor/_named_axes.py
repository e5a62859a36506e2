"""Numbers along named axes: what a result gives to xarray, and how rows of a table become such
arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Variable = tuple[str | tuple[str, ...], ArrayLike, str]
"""The names of the axes, the values, and what they are, in words."""


@dataclass(frozen=True)
class NamedAxes:
    """Arrays with named axes."""

    variables: Mapping[str, Variable]
    coordinates: Mapping[str, Variable] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, in single values; those that are None are left out."""

    def dataset(self) -> Any:
        """Return an ``xarray.Dataset``, whose attributes are of kinds that files can hold, too."""
        try:
            import xarray
        except ImportError:
            sentence = (
                "to_xarray() needs xarray, which is not installed: pip install "
                '"seqattractor[xarray]".'
            )
            raise ImportError(sentence) from None
        known = {name: value for name, value in self.attributes.items() if value is not None}
        plain = {
            name: int(value) if isinstance(value, bool) else value for name, value in known.items()
        }
        return xarray.Dataset(_described(self.variables), _described(self.coordinates), attrs=plain)


def _described(variables: Mapping[str, Variable]) -> dict[str, tuple[Any, Any, dict[str, str]]]:
    """Variables as xarray takes them, with their words where plots look for them."""
    return {
        name: (axes, np.asarray(values), {"long_name": words})
        for name, (axes, values, words) in variables.items()
    }


def varying(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> list[str]:
    """Return those of some columns whose values differ between rows."""
    return [name for name in names if len({repr(row[name]) for row in rows}) > 1]


def on_grid(
    rows: Sequence[Mapping[str, Any]], settings: Sequence[str], measured: Mapping[str, str]
) -> NamedAxes:
    """Return rows of a table as arrays: an axis for each setting that differs between rows, the
    first one if none does.

    `settings` are columns; those that are the same everywhere become coordinates without an axis.
    `measured` maps the other columns to their descriptions; values are NaN for combinations of
    settings without a row.
    """
    axes = varying(rows, settings) or list(settings[:1])
    values = {axis: list(dict.fromkeys(row[axis] for row in rows)) for axis in axes}
    places = {axis: {value: k for k, value in enumerate(values[axis])} for axis in axes}
    shape = tuple(len(values[axis]) for axis in axes)
    tables: dict[str, NDArray[Any]] = {
        name: np.full(shape, None, dtype=object) for name in measured
    }
    for row in rows:
        at = tuple(places[axis][row[axis]] for axis in axes)
        for name, table in tables.items():
            table[at] = row[name]
    same = {name: rows[0][name] for name in settings if rows and name not in axes}
    coordinates: dict[str, Variable] = {axis: (axis, plain(values[axis]), axis) for axis in axes}
    coordinates |= {name: ((), value, name) for name, value in same.items() if value is not None}
    return NamedAxes(
        {name: (tuple(axes), plain(table), measured[name]) for name, table in tables.items()},
        coordinates,
    )


def plain(values: ArrayLike) -> NDArray[Any]:
    """Return values of any kinds as an array of one: whole numbers, numbers with NaN where there is
    none, flags or words.
    """
    array = np.asarray(values, dtype=object)
    known = [value for value in array.ravel() if value is not None]
    if any(isinstance(value, str) for value in known):
        words = [("" if value is None else str(value)) for value in array.ravel()]
        return np.array(words).reshape(array.shape)
    if len(known) < array.size:
        numbers = [np.nan if value is None else float(value) for value in array.ravel()]
        return np.array(numbers, dtype=np.float64).reshape(array.shape)
    return np.array(array.tolist())
