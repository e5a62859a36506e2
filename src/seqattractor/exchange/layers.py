"""Layers of threshold neurons as plain arrays: what the formats here take from a network and return
to it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_NOWHERE = 2**20  # no number has a bit there


class RejectedFile(ValueError):
    """What is wrong with a file, in a whole sentence that names it."""


@dataclass(frozen=True, eq=False)
class PlainLayer:
    """Neurons that are active where weights . input + offset >= 0."""

    weights: Floats
    """Shape (neurons, inputs)."""
    offset: Floats
    """Shape (neurons,)."""
    low: int
    """The state of a silent neuron, -1 or 0."""
    high: ClassVar[int] = 1
    at_zero: bool = True
    """Whether a field of exactly zero makes a neuron active, as it does in our networks but not in
    every tool.
    """

    def of_signs(self) -> PlainLayer:
        """Return the same layer for inputs of -1 and +1 instead of 0 and 1: W s = W x / 2 + W 1 /
        2.
        """
        sums = [
            math.fsum([*(row / 2), c]) for row, c in zip(self.weights, self.offset, strict=True)
        ]  # rounded once at most
        return PlainLayer(self.weights / 2, np.array(sums), self.low, self.at_zero)

    def active_at_zero(self) -> PlainLayer:
        """Return the same layer with neurons that are active at a field of exactly zero.

        Fields are whole multiples of a power of two: those above zero are at least one unit, and so
        at or above half of one.
        """
        if self.at_zero:
            return self
        unit = np.ldexp(1.0, lowest_bit(np.column_stack([self.weights, self.offset])))
        for step in (unit / 2, unit):
            lower = self.offset - step
            if np.array_equal(self.offset - lower, step):  # nothing was rounded
                return PlainLayer(self.weights, lower, self.low)
        raise ValueError(
            "it has neurons that are silent at a field of exactly 0, and biases so much larger "
            "than the smallest weights that float64 cannot lower them by less; shift them yourself "
            "and use sa.networks.from_arrays."
        )


@dataclass(frozen=True, eq=False)
class PlainNetwork:
    """One or two layers of threshold neurons, the sizes of states, and a description for the
    metadata of a file.
    """

    layers: Sequence[PlainLayer]
    n_visible: int
    order: int
    about: dict[str, Any]

    def named(self) -> dict[str, PlainLayer]:
        """Return the layers by name: hidden and visible, or visible alone."""
        return dict(zip(layer_names(self.layers), self.layers, strict=True))


def layer_names(layers: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of the layers: hidden and visible, or visible alone."""
    return ("hidden", "visible")[-len(layers) :]


def as_texts(facts: dict[str, Any]) -> dict[str, str]:
    """Return metadata as texts: JSON, except for what is a text already."""
    return {
        key: value if isinstance(value, str) else json.dumps(value) for key, value in facts.items()
    }


def digest_of(text: str, arrays: dict[str, NDArray[Any]]) -> str:
    """Return a digest of a text and of arrays, with their names, types and shapes."""
    digest = hashlib.sha256(text.encode())
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def lowest_bit(rows: Floats) -> NDArray[np.int32]:
    """Return the exponent of the lowest bit that is set in each row, shape (neurons,); 0 for a row
    of zeros.

    Examples
    --------
    >>> lowest_bit(np.array([[1.0, 12.0], [0.75, 0.0], [0.0, 0.0]]))
    array([ 0, -2,  0], dtype=int32)
    """
    fraction, exponent = np.frexp(rows)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    low = (mantissa & -mantissa).astype(np.float64)  # the lowest bit alone
    place = np.where(mantissa == 0, _NOWHERE, exponent + np.frexp(low)[1] - 54)
    lowest = place.min(axis=1)
    return np.where(lowest == _NOWHERE, 0, lowest).astype(np.int32)


def needed(package: str, what: str, extra: str) -> Any:
    """Import a package of an extra, or raise an error with the command that installs it.

    Examples
    --------
    >>> needed("no_such_package", "to_nothing()", "nothing")
    Traceback (most recent call last):
    ValueError: to_nothing() needs no_such_package, which is not installed:
    pip install "seqattractor[nothing]".
    """
    try:
        return import_module(package)
    except ImportError:
        raise ValueError(
            f"{what} needs {package.partition('.')[0]}, which is not installed: pip install "
            f'"seqattractor[{extra}]".'
        ) from None
