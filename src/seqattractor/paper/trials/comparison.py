"""Past the paper: all networks on the same sequences and cues, as `seqattractor compare` does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.experiments._compare import chosen_networks, compare_once, get_protocol

__all__ = ["take_part"]


def take_part(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Give the same sequences and cues of a protocol at one value to all networks; times, which differ, are left out."""
    test = get_protocol(settings["protocol"])
    words = np.random.default_rng(seed).integers(2**32, size=4).tolist()
    networks = chosen_networks(settings["networks"], test.n_hidden)
    outcomes = compare_once(test, settings["value"], networks, np.random.SeedSequence(words))
    return {name: {k: v for k, v in each.items() if not k.endswith("seconds")} for name, each in outcomes.items()}
