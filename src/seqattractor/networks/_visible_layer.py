"""What networks without hidden neurons share: one layer of threshold neurons, eq. (1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.rule import next_visible_only
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._layers import Layer
from seqattractor.sequences import Patterns


class VisibleLayerMemory(SequenceMemory):
    """A memory whose next state is sign(W xi)."""

    W_: NDArray[np.float64]

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Give the pattern after each state, eq. (1): (B, order * N) -> (B, N)."""
        return next_visible_only(self.W_, states)

    def layers(self) -> tuple[Layer, ...]:
        """Give the one layer that there is."""
        return (Layer.of(self.W_, kappa=self._margin),)

    @property
    def _margin(self) -> float | None:
        """The margin that W was trained for, if it was."""
        return None
