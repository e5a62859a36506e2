"""The two ways to learn by the paper's rule, by name; both give the same result.

A module of its own, so that only networks that learn by an engine import one: the fingerprint of a trial follows imports.
"""

from __future__ import annotations

from types import ModuleType

from seqattractor.learning.fallback import usable

FEW = 4
"""Transitions below which a presentation by the plain loop takes less than the exact engine needs to begin and to end."""


def engine_module(engine: str, *, learned_targets: bool = False) -> ModuleType:
    """Give the module that learns: the plain loop, or the exact engine if its kernels can be called.

    With learned targets it is `learn_with_feedback` that does it, in a module of its own for the exact engine.

    Examples
    --------
    >>> engine_module("reference").__name__
    'seqattractor.learning.reference'
    """
    if usable(engine) == "reference":
        from seqattractor.learning import reference

        return reference
    if learned_targets:
        from seqattractor.learning.exact import learned_targets as exact_feedback

        return exact_feedback
    from seqattractor.learning.exact import engine as exact

    return exact


def presenting_engine(engine: str, n: int) -> str:
    """Which engine presents n transitions once, where one is chosen for learning in epochs.

    Examples
    --------
    >>> presenting_engine("exact", 1), presenting_engine("exact", 1000)
    ('reference', 'exact')
    """
    return engine if n >= FEW else "reference"
