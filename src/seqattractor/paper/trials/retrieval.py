"""Section 6.2 and appendix F: does a network retrieve a random periodic sequence from a corrupted first pattern?"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.paper.settings import LEARNING
from seqattractor.study.trial import retrieve_with


def retrieve_sequence(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """One trial of tables 1 and 2; settings are T, M, N, flips and learn.

    "bias" is there where there are biases, and "distinct" if the period is not T - 1. By the text of section 6.2 a sequence x(1),
    ..., x(T) has T - 1 distinct patterns, since x(T) = x(1). "distinct" is another number of them, after which x(1) comes again:
    T if "period length T" is taken at its word.

    Examples
    --------
    >>> retrieve_sequence({"T": 5, "M": 60, "N": 40, "flips": 2, "learn": "UV"}, np.random.SeedSequence(0))
    {'success': True}
    """
    return {"success": _retrieves(settings, seed, bias=settings.get("bias", False))}


def retrieve_with_sparse_inputs(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """One trial of appendix F, as `retrieve_sequence`, with hidden states sign(U x - theta)."""
    return {"success": _retrieves(settings, seed, input_threshold=_theta(settings))}


def retrieve_with_sparse_targets(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """One trial of appendix F, as `retrieve_sequence`, with hidden targets sign(P x(t+1) - theta)."""
    return {"success": _retrieves(settings, seed, target_threshold=_theta(settings))}


def _theta(settings: dict[str, Any]) -> float:
    """The threshold; settings count it in standard deviations of the projection of a pattern by standard normal weights."""
    return float(settings["theta"] * sqrt(settings["N"]))


def _retrieves(settings: dict[str, Any], seed: np.random.SeedSequence, **parameters: float) -> bool:
    """Whether the paper's network retrieves its sequence; one stream of random numbers serves sequence, network and cue."""
    rng = np.random.default_rng(seed)
    how = {"learn": settings["learn"], "engine": "exact", "n_jobs": 1, "random_state": rng, **LEARNING, **parameters}
    length = settings.get("distinct", settings["T"] - 1) + 1  # with the last pattern, which is the first again
    sizes = {"n": settings["N"], "t": length, "flips": settings["flips"]}
    return bool(retrieve_with(SequenceAttractor(settings["M"], **how), sizes, rng, rng)["success"])
