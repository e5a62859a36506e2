"""One way to look at every network of threshold neurons: weights, offsets and codes of its layers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor.learning.predictive_coding import f
from seqattractor.networks import (
    DenseSequenceMemory,
    OneHotNetwork,
    PredictiveCodingMemory,
    SequenceAttractor,
    SequenceMemory,
    SparseSequenceAttractor,
    VisibleNetwork,
)
from seqattractor.sequences import Patterns

__all__ = ["Layer", "NotApplicable", "ThresholdView", "supports_certificate", "threshold_view"]

Array = NDArray[np.float64]
# Unit roundoff of float64, with room for both the network's sums and ours.
_ROUNDING = 16 * 2.0**-53


@dataclass(frozen=True)
class Layer:
    """Threshold neurons: active where weights . input + offset >= 0."""

    weights: Array
    """Shape (neurons, inputs)."""
    offset: Array
    """Shape (neurons,)."""
    low: int
    high: int
    """The states of a silent and of an active neuron: -1 and 1, or 0 and 1."""

    def fields(self, inputs: NDArray[Any]) -> Array:
        """What each neuron receives: (B, inputs) -> (B, neurons)."""
        return np.asarray(inputs.astype(np.float64) @ self.weights.T + self.offset)

    def states(self, fields: Array) -> NDArray[np.int8]:
        """The states that follow from fields."""
        return np.where(fields >= 0, self.high, self.low).astype(np.int8)

    @cached_property
    def slack(self) -> Array:
        """How far a field in floating point can be from the true one, shape (neurons,), whatever the inputs of -1, 0 and 1."""
        return self.slack_of(np.ones(self.weights.shape[1], dtype=np.int8))

    def slack_of(self, inputs: NDArray[np.int8]) -> Array:
        """The same for given inputs, shape (inputs,); 0 for whole-number weights, whose sums are exact."""
        total = np.abs(self.weights) @ np.abs(inputs).astype(np.float64) + np.abs(self.offset)
        if self._whole and total.max(initial=0.0) < 2.0**53:
            return np.zeros(len(total))
        return np.asarray(_ROUNDING * (self.weights.shape[1] + 8) * total)

    @cached_property
    def _whole(self) -> bool:
        """Whether all weights and offsets are whole numbers."""
        return bool(np.all(self.weights == np.rint(self.weights)) and np.all(self.offset == np.rint(self.offset)))


@dataclass(frozen=True)
class ThresholdView:
    """The layers of a network: hidden neurons, unless there are none, and visible ones."""

    hidden: Layer | None
    visible: Layer
    kappa: float | None
    """The margin that the first layer was trained for, if it was, in the units of that layer."""

    @property
    def n_inputs(self) -> int:
        """How many units a state has: order * N."""
        return int((self.hidden or self.visible).weights.shape[1])

    def next(self, states: Patterns) -> Patterns:
        """The patterns that follow: (B, order * N) -> (B, N)."""
        if self.hidden is not None:
            states = self.hidden.states(self.hidden.fields(states))
        return self.visible.states(self.visible.fields(states))


class NotApplicable(ValueError):
    """An analysis that does not apply to this kind of network; `supports_certificate` tells beforehand."""


def supports_certificate(net: SequenceMemory) -> bool:
    """Tell whether a trained network consists of threshold neurons that see its last patterns only, so that `certify` applies.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.

    Returns
    -------
    bool

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> sa.supports_certificate(sa.OneHotNetwork().fit(X)), sa.supports_certificate(sa.DenseSequenceMemory().fit(X))
    (True, False)
    """
    check_is_fitted(net, "n_features_in_")
    return _layers(net) is not None


def threshold_view(net: SequenceMemory) -> ThresholdView:
    """See a trained network as layers of threshold neurons.

    Weights that are multiples of a power of two, as after learning from zero, come out as whole numbers: ties are exact then.

    Parameters
    ----------
    net : SequenceMemory
        One that `supports_certificate`.

    Returns
    -------
    ThresholdView
        Its `next` is the network's own.
    """
    check_is_fitted(net, "n_features_in_")
    layers = _layers(net)
    if layers is None:
        raise NotApplicable(
            f"{type(net).__name__} is not a network of threshold neurons that sees only its last patterns, so margins and "
            "certificates do not apply to it; ask supports_certificate(net) first."
        )
    units = [_unit(layer) for layer in layers]
    # Division by a power of two rounds nothing and changes no sign.
    whole = [Layer(a.weights / unit, a.offset / unit, a.low, a.high) for a, unit in zip(layers, units, strict=True)]
    kappa = _kappa(net)
    return ThresholdView(whole[0] if len(whole) == 2 else None, whole[-1], None if kappa is None else kappa / units[0])


def _layers(net: SequenceMemory) -> list[Layer] | None:
    """The layers in the order in which a state goes through them, or None if the network is no such thing."""
    match net:
        case VisibleNetwork() if net.rule != "slow-synapses":
            return [_signs(net.W_)]
        case SparseSequenceAttractor():
            hidden = Layer(np.asarray(net.U_, dtype=np.float64), np.asarray(net.hidden_bias_, dtype=np.float64), 0, 1)
            return [hidden, _signs(net.V_)]
        case SequenceAttractor():
            return [_signs(net.U_, -float(net.input_threshold)), _signs(net.V_)]
        case OneHotNetwork():
            return [_signs(net.U_, -float(net.U_.shape[1])), _signs(net.V_, net.bias_)]
        case PredictiveCodingMemory(n_latent=None):
            return [_signs(net.W_ * f(np.ones(1)))]
        case DenseSequenceMemory(interaction="polynomial", degree=1, pseudo_inverse=False, slow_weight=None):
            W = net.successors_.T.astype(np.float64) @ net.patterns_
            if not net.self_overlap:
                np.fill_diagonal(W[:, -len(W) :], 0)
            return [_signs(W)]
    return None


def _signs(weights: NDArray[Any], offset: Any = 0.0) -> Layer:
    """A layer of -1 and +1."""
    W = np.asarray(weights, dtype=np.float64)
    return Layer(W, np.broadcast_to(np.asarray(offset, dtype=np.float64), (len(W),)), -1, 1)


def _unit(layer: Layer) -> float:
    """The power of two of which all weights and offsets are multiples, if their sums are then exact in float64; else 1."""
    numbers = np.append(layer.weights, layer.offset)
    mantissa, exponent = np.frexp(numbers[numbers != 0])
    digits = (mantissa * 2.0**53).astype(np.int64)
    lowest = int((exponent - 53 + np.log2(digits & -digits).astype(np.int64)).min(initial=0))
    largest = float((np.abs(layer.weights).sum(axis=1) + np.abs(layer.offset)).max(initial=0.0))
    return 2.0**lowest if lowest > -1000 and largest < 2.0 ** (53 + lowest) else 1.0


def _kappa(net: SequenceMemory) -> float | None:
    """The margin of networks that learn with one."""
    learns = isinstance(net, SequenceAttractor | SparseSequenceAttractor) or getattr(net, "rule", None) == "perceptron"
    return float(net.kappa) if learns and hasattr(net, "kappa") else None
