"""How much work a comparison is, roughly: multiplications counted before anything is computed, so that nobody waits unwarned.

The counts are those of plain products of weights and states. Measured on pictures of 700 to 11,000 units, the seconds that are
made of them were right up to a factor of about five.
"""

from __future__ import annotations

from dataclasses import dataclass

from seqattractor.networks.registry import parameters_of
from seqattractor.study.comparison_trial import make_prototype

MOST_WORK = 1e11
"""Multiplications in one trial: a network that nobody named and that takes more, about a minute, is left out."""
SPEED = 2e9
"""Multiplications in a second."""
LONG = 300.0
"""Seconds: who waits longer is told beforehand."""
_EPOCHS = 10  # what passes through the patterns amount to in the engines that learn in epochs
_FUNCTIONS = 4  # a function of every overlap takes longer than a product
_TRACES = 4  # and so do slow variables beside each step


@dataclass(frozen=True)
class Size:
    """How large the trials of a comparison are."""

    units: int
    """N."""
    patterns: int
    """Of all sequences together."""
    steps: int
    """Of recall, of all sequences together and at all values."""
    n_hidden: int


def work_of(name: str, size: Size) -> float:
    """Estimate the multiplications of one trial of a network under a short name.

    Examples
    --------
    >>> film = Size(units=2816, patterns=104, steps=9 * 416, n_hidden=500)
    >>> work_of("attractor", film) < work_of("pseudo-inverse", film) < MOST_WORK < work_of("slow-synapses", film)
    True
    """
    traits, known = make_prototype(name).traits(), parameters_of(name)
    if traits.stores_patterns:
        weights, each = 2 * size.units * size.patterns, _FUNCTIONS
    elif "n_hidden" in known:
        weights, each = 2 * size.units * size.n_hidden, 1
    else:
        weights, each = size.units**2, 1
    learning = size.patterns * (_EPOCHS if "max_epochs" in known else 1)
    recall = size.steps * (traits.steps_per_pattern * _TRACES if traits.dwells else 1) * each
    return float(weights * (learning + recall))
