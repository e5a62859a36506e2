"""One way to look at every network of threshold neurons: its layers, in whole numbers where they
are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks.base import SequenceMemory, check_learned
from seqattractor.networks.traits import Layer
from seqattractor.networks.traits import NotApplicable as NotApplicable
from seqattractor.sequences import Patterns


@dataclass(frozen=True)
class ThresholdView:
    """The layers of a network: hidden neurons, unless there are none, and visible ones; and what
    the network itself answers.
    """

    hidden: Layer | None
    visible: Layer
    answer: Callable[[Patterns], Patterns]
    """The network's own next patterns: where a sum is zero up to rounding, the layers may come to
    another answer.
    """

    @property
    def first(self) -> Layer:
        """The layer that sees the input."""
        return self.hidden or self.visible

    @property
    def n_inputs(self) -> int:
        """How many units a state has: order * N."""
        return int(self.first.weights.shape[1])

    def visible_fields(self, states: Patterns) -> NDArray[np.float64]:
        """What the visible neurons receive: (B, order * N) -> (B, N)."""
        return self.visible.fields(
            states if self.hidden is None else self.hidden.states(self.hidden.fields(states))
        )

    def next(self, states: Patterns) -> Patterns:
        """The patterns that follow: (B, order * N) -> (B, N)."""
        return self.visible.states(self.visible_fields(states))


def supports_certificate(net: SequenceMemory) -> bool:
    """Return whether a trained network consists of threshold neurons that see its last patterns
    only, as `certify` needs.

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
    >>> nets = sa.OneHotNetwork().fit(X), sa.zoo.LookupMemory().fit(X)
    >>> [sa.analysis.supports_certificate(net) for net in nets]
    [True, False]
    """
    check_learned(net)
    return net.layers() is not None


def threshold_view(net: SequenceMemory) -> ThresholdView:
    """See a trained network as layers of threshold neurons.

    Weights that are multiples of a power of two, as after learning from zero, come out as whole
    numbers: ties are exact then, if these are the numbers that the network itself adds up
    (`Layer.rounded`). `next` of the view is the network's own, but for sums that are zero up to
    rounding.
    """
    check_learned(net)
    layers = net.layers()
    if layers is None:
        raise NotApplicable(
            f"{type(net).__name__} is not a network of threshold neurons that sees only its last "
            "patterns, so margins and certificates do not apply to it; ask "
            "supports_certificate(net) first."
        )
    units = [_unit(layer) for layer in layers]
    # Division by a power of two rounds nothing and changes no sign.
    whole = [
        replace(
            a,
            weights=a.weights / unit,
            offset=a.offset / unit,
            kappa=None if a.kappa is None else a.kappa / unit,
        )
        for a, unit in zip(layers, units, strict=True)
    ]
    return ThresholdView(whole[0] if len(whole) == 2 else None, whole[-1], net.next_patterns)


def _unit(layer: Layer) -> float:
    """The power of two of which all weights and offsets are multiples, if their sums are then exact
    in float64; else 1.
    """
    if layer.rounded:
        return 1.0
    numbers = np.append(layer.weights, layer.offset)
    mantissa, exponent = np.frexp(numbers[numbers != 0])
    digits = (mantissa * 2.0**53).astype(np.int64)
    lowest = int((exponent - 53 + np.log2(digits & -digits).astype(np.int64)).min(initial=0))
    largest = float((np.abs(layer.weights).sum(axis=1) + np.abs(layer.offset)).max(initial=0.0))
    return 2.0**lowest if lowest > -1000 and largest < 2.0 ** (53 + lowest) else 1.0
