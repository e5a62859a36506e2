"""The two ways to learn by the paper's rule, by name; both give the same result.

A module of its own, so that only networks that learn by an engine import one: the fingerprint of a trial follows imports.
"""

from __future__ import annotations

from types import ModuleType


def engine_module(engine: str) -> ModuleType:
    """Give the module that learns: the plain loop, or the exact engine (compiled, so imported only here).

    Examples
    --------
    >>> engine_module("reference").__name__
    'seqattractor.learning.reference'
    """
    if engine == "reference":
        from seqattractor.learning import reference

        return reference
    from seqattractor.learning.exact import engine as exact

    return exact
