"""Where the kernels cannot be called, plain numpy learns the same, after one warning.

A module of its own, since the sparse network uses no engine of `engines`.
"""

from __future__ import annotations

import warnings
from functools import cache

from seqattractor.engine import kernels


def usable(engine: str) -> str:
    """Give the engine that learns here: the given one, or the plain loop if the kernels cannot be called.

    Examples
    --------
    >>> usable("reference")
    'reference'
    """
    return "exact" if engine == "exact" and has_kernels() else "reference"


def has_kernels() -> bool:
    """Whether the kernels can be called; warns once in a process if they cannot."""
    if not kernels.available():
        _warn()
    return kernels.available()


@cache
def _warn() -> None:
    """Warn of how slow it will be."""
    warnings.warn(kernels.why_unavailable(), RuntimeWarning, stacklevel=2)
