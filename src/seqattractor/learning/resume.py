"""Going on from learned weights, in such a way that it is the same as learning all epochs at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from seqattractor.learning.reference import in_units
from seqattractor.learning.result import Learned, LearnedVisible
from seqattractor.sequences import Patterns

_Result = TypeVar("_Result", Learned, LearnedVisible)


def resume(learner: Callable[..., _Result], *patterns: Patterns, kappa: float, eta: float, **options: Any) -> _Result:
    """Let a learner go on from the weights that are there, in units of eta.

    Weights that are whole multiples of eta are taken as such (`reference.in_units`). From zero weights learning epochs in several
    goes is then the same as in one, bit for bit, whatever kappa and eta are. Other weights are rounded when they are divided by
    eta and multiplied again, by 1e-16 of their size.

    Parameters
    ----------
    learner : callable
        `learn`, `learn_visible` or `learn_with_feedback` of the plain loop or the exact engine.
    patterns : ndarray
        What it learns.
    kappa, eta, options
        As the learner takes them. The weights (U, V or W) are not overwritten, except a U that does not learn.

    Returns
    -------
    Learned or LearnedVisible
        With the epochs of this run alone.

    Examples
    --------
    >>> import numpy as np
    >>> from seqattractor.learning.reference import learn_visible
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> once = learn_visible(X[:-1], X[1:], W=np.zeros((3, 3)), kappa=1.0, eta=0.3, max_epochs=1)
    >>> once.errors, resume(learn_visible, X[:-1], X[1:], W=once.W, kappa=1.0, eta=0.3, max_epochs=50).errors
    (array([6]), array([2, 0]))
    """
    learns_U = options.get("learn_U", True)  # a fixed U and its threshold stay in their own units
    names = [name for name in ("U", "V", "W") if name in options and (learns_U or name != "U")]
    units = {name: in_units(options[name], eta) for name in names}
    if learns_U and "input_threshold" in options:
        units["input_threshold"] = options["input_threshold"] / eta
    learned = learner(*patterns, **{**options, **units, "kappa": kappa / eta, "eta": 1.0})
    return replace(learned, **{name: getattr(learned, name) * eta for name in names})
