"""An experiment with another system: a trial that returns series and numbers, the panels of its
figure, and its checks.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqattractor.networks.base import SequenceMemory

Memory = TypeVar("Memory", bound=SequenceMemory)
Trial = Callable[[dict[str, Any], np.random.SeedSequence], dict[str, Any]]
"""Called with settings and a seed; returns ``{"series": {key: {"x": [...], "y": [...]}}, "numbers":
{key: float}}``.
"""


@dataclass(frozen=True)
class Panel:
    """A part of the figure: some of the series that a trial returns, with their labels."""

    title: str
    x: str
    y: str
    series: Mapping[str, str]
    """Labels by the keys of the series; several with the same label share a line of the legend."""
    theory: Sequence[str] = ()
    """Keys of series that are theory or published numbers, drawn in grey."""
    log: Literal["", "x", "y", "xy"] = ""
    points: bool = False
    """Whether points are not joined by a line."""


@dataclass(frozen=True)
class Check:
    """A consistency check: a number of ours beside what was published, claimed in words or can be
    derived.
    """

    key: str
    """Of the number that a trial returns."""
    words: str
    expected: float | tuple[float | None, float | None]
    """The expected value, or both ends of a range; None leaves an end open."""
    source: str
    """Where that comes from."""
    tolerance: float = 0.0
    """How far from `expected` the mean may be; twice its standard error is added."""
    kind: Literal["published", "expected", "prototype"] = "expected"
    """Whether the authors published the law, formula, theorem or number; or they claim it in words,
    or it follows from the equations; or it is only the result of a prototype of ours, which does
    not count.
    """

    def agrees(self, ours: Sequence[float]) -> bool:
        """Return whether our numbers, one for each trial, agree."""
        (low, high), slack = self.ends, self.tolerance + 2 * standard_error(ours)
        return (low is None or low - slack <= mean(ours)) and (
            high is None or mean(ours) <= high + slack
        )

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Both ends of the expected range."""
        return self.expected if isinstance(self.expected, tuple) else (self.expected, self.expected)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment with a system, at a size that runs in a minute, with consistency checks."""

    name: str
    """As on the command line."""
    title: str
    source: str
    """The publication."""
    network: str = ""
    """The short name under which its memory takes part in comparisons."""
    trial: Trial
    about: str
    """One or two sentences for the report."""
    not_verified: str
    """What could not be checked against a source, in a sentence."""
    panels: tuple[Panel, ...]
    checks: tuple[Check, ...]
    size: Mapping[str, Any] = field(default_factory=dict)
    """Of the usual run: settings of the trial, and `networks`, the number of trials."""
    quick: Mapping[str, Any] = field(default_factory=dict)
    """Smaller settings for --quick."""
    full: Mapping[str, Any] = field(default_factory=dict)
    """Larger settings for --full."""
    averaged: bool = False
    """Whether the figure shows means over all networks; else it shows the first network."""


def standard_error(numbers: Sequence[float]) -> float:
    """Return the standard error of the mean; 0 for a single number."""
    return stdev(numbers) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.0


def fit_quietly(net: Memory, X: Any) -> Memory:
    """Fit a network without a warning if not all is learned, as happens at the edge of what can be
    stored.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return net.fit(X)
