"""Beyond the paper: all networks on the same sequences and cues, as `seqattractor compare` does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.networks.registry import parameters_of
from seqattractor.study.comparison_trial import compare_once, make_prototype
from seqattractor.study.tuning import tuned

M = 500  # hidden neurons, as in section 6.2


def settings_of(name: str, protocol: str) -> dict[str, Any]:
    """Give the setting of a network as tuned, with M hidden neurons where tuning chose no other number."""
    hidden = {"n_hidden": M} if "n_hidden" in parameters_of(name) else {}
    return {**hidden, **tuned(name, protocol).parameters}


def compare_networks(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Give the same sequences and cues of a test at one value to all networks; times, which differ, are left out."""
    words = np.random.default_rng(seed).integers(2**32, size=4).tolist()
    outcomes = {}
    for name in settings["networks"]:
        prototype = make_prototype(name, settings_of(name, settings["protocol"]), test=settings["protocol"])
        outcome = compare_once(settings["protocol"], settings["value"], prototype, np.random.SeedSequence(words))
        outcomes[name] = {key: value for key, value in outcome.items() if not key.endswith("seconds")}
    return outcomes
