"""The settings with which networks take part in comparisons, each the best of a few tried by one
rule (benchmarks/tune.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from seqattractor.networks.registry import parameters_of

RESULTS = Path(__file__).with_name("tuning.json")
"""By network and protocol: the settings that were tried, the default first, and the successes of
each at every step reached.
"""

TRIALS = 3
"""On each rung of the ladder that a setting climbs until it fails twice on one."""


@dataclass(frozen=True)
class Tuned:
    """The setting of a network under a short name, and how it came about."""

    parameters: Mapping[str, Any]
    """Those that were tuned; all others are the defaults."""
    origin: str
    """In words."""


def tuned(name: str, protocol: str) -> Tuned:
    """Return the setting of a network for a protocol: that for repeated patterns in "context", else
    that for random sequences.
    """
    of_network = _results().get(name)
    if of_network is None:
        return Tuned({}, "default, not tuned")
    tried = of_network["context" if protocol == "context" else "random"]
    best = tried[choose(tried)]
    setting = describe_setting(name, best["parameters"])
    why = f"best of {len(tried)} tried"
    if len(tried) == 1:
        why = "no failure in tuning" if never_failed(best) else "nothing to tune"
    return Tuned(
        best["parameters"], f"{setting if setting == 'default' else f'tuned: {setting}'}, {why}"
    )


def never_failed(setting: Mapping[str, Any]) -> bool:
    """Whether a setting succeeded in all trials, so that none can be better."""
    return all(successes == TRIALS for successes in setting["successes"])


def choose(tried: Sequence[Mapping[str, Any]]) -> int:
    """Return the place of the setting with the most successes; of equals the first."""
    totals = [sum(each["successes"]) for each in tried]
    return totals.index(max(totals))


def describe_setting(name: str, parameters: Mapping[str, Any]) -> str:
    """Name the parameters that differ from the defaults."""
    usual = parameters_of(name)
    changed = {key: value for key, value in parameters.items() if usual[key] != value}
    return ", ".join(f"{key}={value}" for key, value in changed.items()) or "default"


@cache
def _results() -> dict[str, Any]:
    """What was measured."""
    found: dict[str, Any] = json.loads(RESULTS.read_text())
    return found
