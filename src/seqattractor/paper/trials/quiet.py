"""Fitting where something may be left over, as experiments at the edge of what can be stored do."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from sklearn.exceptions import ConvergenceWarning

from seqattractor.networks.base import SequenceMemory

Memory = TypeVar("Memory", bound=SequenceMemory)


def fit_quietly(net: Memory, X: Any) -> Memory:
    """Fit a network and leave unsaid that not all is learned."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(X)
