"""Seeds that depend on what a trial is, not on who runs it or when."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from seqattractor._checks import check_count

_ENCODER = json.JSONEncoder(sort_keys=True, allow_nan=False)  # made once: a study of a million rows needs it as often


def canonical(value: Any) -> str:
    """Write plain values as JSON in one way only, with sorted keys.

    Examples
    --------
    >>> canonical({"t": 10, "n": 40})
    '{"n": 40, "t": 10}'
    """
    return _ENCODER.encode(value)


def digest_of(value: Any) -> str:
    """Give a short name of plain values that depends on nothing but them."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def seed_of(seed: int, place: Any, trial: int) -> np.random.SeedSequence:
    """Give the seed of one trial.

    Parameters
    ----------
    seed : int
        The user's seed.
    place : plain JSON values
        What is tried, such as the point of a grid.
    trial : int
        The number of the trial.

    Returns
    -------
    SeedSequence
        Its spawn key is a hash of the place, and the trial.

    Examples
    --------
    >>> a, b = (seed_of(0, {"t": 10}, trial).generate_state(1) for trial in (0, 1))
    >>> bool(a == b)
    False
    """
    digest = hashlib.sha256(canonical(place).encode()).digest()
    words = np.frombuffer(digest, dtype=">u4")[:4].tolist()
    return np.random.SeedSequence(seed, spawn_key=(*words, trial))


def check_seed(seed: int) -> int:
    """Refuse seeds that a study could not keep.

    Examples
    --------
    >>> check_seed(3)
    3
    """
    if check_count(seed, "seed", 0) >= 2**63:
        raise ValueError(f"seed must be below 2**63, but it is {seed}.")
    return seed


def seed_at(seed: np.random.SeedSequence, place: Any) -> np.random.SeedSequence:
    """Give the seed that the same trial has at another place.

    Examples
    --------
    >>> there = seed_at(seed_of(7, "here", 3), "there")
    >>> there.generate_state(1) == seed_of(7, "there", 3).generate_state(1)
    array([ True])
    """
    assert isinstance(seed.entropy, int)  # as `seed_of` made it
    return seed_of(seed.entropy, place, int(seed.spawn_key[-1]))
