"""Past the paper: all networks on the same sequences and cues, as `seqattractor compare` does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.experiments._comparison_tests import get_test
from seqattractor.experiments._comparison_trial import compare_once, make_prototype

__all__ = ["take_part"]


def take_part(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Give the same sequences and cues of a test at one value to all networks; times, which differ, are left out."""
    words = np.random.default_rng(seed).integers(2**32, size=4).tolist()
    test = get_test(settings["protocol"])
    outcomes = {}
    for name in settings["networks"]:
        outcome = compare_once(test.name, settings["value"], make_prototype(name, test.n_hidden), np.random.SeedSequence(words))
        outcomes[name] = {key: value for key, value in outcome.items() if not key.endswith("seconds")}
    return outcomes
