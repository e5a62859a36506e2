"""The two ways to learn by the paper's rule, by name; both give the same result."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from seqattractor._checks import check_choice


def engine_module(engine: Any) -> ModuleType:
    """Give the module that learns: the plain loop, or the exact engine (compiled, so imported only here).

    Examples
    --------
    >>> engine_module("reference").__name__
    'seqattractor.learning.reference'
    """
    if check_choice(engine, "engine", ("exact", "reference")) == "reference":
        from seqattractor.learning import reference

        return reference
    from seqattractor.learning.exact import engine as exact

    return exact
