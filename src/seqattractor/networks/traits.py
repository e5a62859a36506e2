"""The traits of a network that are listed beside its results, and its layers of threshold
neurons.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.rule import field, heaviside

Array = NDArray[np.float64]
# Unit roundoff of float64, with headroom for both the network's sums and ours.
_ROUNDING = 16 * 2.0**-53


class NotApplicable(ValueError):
    """A method does not apply to this kind of network; see `supports_certificate`.

    Parameters
    ----------
    message : str

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> sa.certify(sa.zoo.LookupMemory().fit(X), X)
    Traceback (most recent call last):
    seqattractor.networks.traits.NotApplicable: LookupMemory is not a network of threshold neurons
    that sees only its last patterns, so margins and certificates do not apply to it;
    ask supports_certificate(net) first.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


@dataclass(frozen=True)
class Traits:
    """What kind of memory a network is; None where that is unknown.

    Parameters
    ----------
    weights : tuple of str, optional
        The fitted arrays that recall needs; by default all except the records of learning
        (``..._errors_``).
    stores_patterns : bool, optional
        Whether the patterns themselves are the weights, with a unit for each.
    online : bool, optional
        Whether it learns from one transition at a time, without any other.
    local : bool, optional
        Whether every weight changes by the activity at its two ends.
    dwells : bool
        Whether it stays at each pattern for several steps, so that repeated states count once.
    steps_per_pattern : int
        How many steps it may take from one stored pattern to the next before it counts as stuck, if
        it dwells.
    note : str
        Anything else to list.

    Examples
    --------
    >>> import seqattractor as sa
    >>> sa.zoo.PseudoInverseMemory().traits().local
    False
    """

    weights: tuple[str, ...] | None = None
    stores_patterns: bool | None = None
    online: bool | None = None
    local: bool | None = None
    dwells: bool = False
    steps_per_pattern: int = 1
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Layer:
    """Threshold neurons: a neuron is active where weights . input + offset >= 0.

    Parameters
    ----------
    weights : ndarray, shape (neurons, inputs)
    offset : ndarray, shape (neurons,)
    low, high : int
        The states of a silent and of an active neuron: -1 and 1, or 0 and 1.
    kappa : float or None
        The margin that the layer was trained for, if it was.
    rounded : bool
        Whether the network itself computes its sums otherwise, such as from products with the
        activity of a neuron. They may then differ from these even where these are exact, so
        rounding counts against every neuron.

    Examples
    --------
    >>> layer = Layer.of([[1, 1], [1, -1]], offset=-2)
    >>> layer.states(layer.fields(np.array([[1, 1]], dtype=np.int8)))
    array([[ 1, -1]], dtype=int8)
    """

    weights: Array
    offset: Array
    low: int = -1
    high: int = 1
    kappa: float | None = None
    rounded: bool = False

    @classmethod
    def of(cls, weights: ArrayLike, offset: ArrayLike = 0.0, **options: Any) -> Layer:
        """Make a layer of arrays of any type; one offset may do for all neurons."""
        W = np.asarray(weights, dtype=np.float64)
        return cls(W, np.broadcast_to(np.asarray(offset, dtype=np.float64), (len(W),)), **options)

    def __repr__(self) -> str:
        neurons, inputs = self.weights.shape
        return (
            f"Layer({neurons} threshold neurons, {inputs} inputs, states {self.low} and "
            f"{self.high})"
        )

    def fields(self, inputs: NDArray[Any]) -> Array:
        """Return the field of each neuron.

        Parameters
        ----------
        inputs : ndarray, shape (B, inputs)

        Returns
        -------
        ndarray, shape (B, neurons)

        Examples
        --------
        >>> Layer.of([[1, 1]], offset=-2).fields(np.array([[1, 1], [1, -1]]))
        array([[ 0.],
               [-2.]])
        """
        return np.asarray(field(self.weights, inputs) + self.offset)

    def states(self, fields: Array) -> NDArray[np.int8]:
        """Return the states that follow from fields.

        Parameters
        ----------
        fields : ndarray, shape (B, neurons)

        Returns
        -------
        ndarray of int8, shape (B, neurons)

        Examples
        --------
        >>> Layer.of([[1, 1]], low=0).states(np.array([[0.0], [-0.5]]))
        array([[1],
               [0]], dtype=int8)
        """
        return np.where(heaviside(fields), self.high, self.low).astype(np.int8)

    @cached_property
    def slack(self) -> Array:
        """A bound of the rounding error of each field, shape (neurons,), for any inputs of -1, 0
        and 1.
        """
        return self.slack_of(np.ones(self.weights.shape[1], dtype=np.int8))

    def slack_of(self, inputs: NDArray[np.int8]) -> Array:
        """Bound how far a field in floating point can be from the true one for given inputs.

        Parameters
        ----------
        inputs : ndarray of int8, shape (inputs,)

        Returns
        -------
        ndarray, shape (neurons,)
            0 for whole-number weights, whose sums are exact, unless they are `rounded`.

        Examples
        --------
        >>> Layer.of([[1, 2], [3, 4]]).slack_of(np.array([1, -1], dtype=np.int8))
        array([0., 0.])
        """
        total = np.abs(self.weights) @ np.abs(inputs).astype(np.float64) + np.abs(self.offset)
        if self._whole and total.max(initial=0.0) < 2.0**53:
            return np.zeros(len(total))
        return np.asarray(_ROUNDING * (self.weights.shape[1] + 8) * total)

    @cached_property
    def _whole(self) -> bool:
        """Whether all weights and offsets are whole numbers, and are what the network itself adds
        up.
        """
        return not self.rounded and bool(
            np.all(self.weights == np.rint(self.weights))
            and np.all(self.offset == np.rint(self.offset))
        )
