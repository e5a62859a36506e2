"""Figures 1 and 4: the two toy sequences without and with hidden neurons."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.analysis._retrieval import retrieved
from seqattractor.analysis._separability import separable
from seqattractor.datasets._small import toy
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.visible import VisibleNetwork
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING
from seqattractor.study.settings import PERIODS


def train_perceptron(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Figure 1: train a perceptron from a random start and run it from the first pattern; or, with "proof", ask for weights."""
    if "proof" in settings:
        return _prove(settings["proof"])
    X = toy(settings["sequence"])
    net = VisibleNetwork("perceptron", random_state=np.random.default_rng(seed), engine="exact", n_jobs=1, **LEARNING).fit(X)
    trajectory = net.recall(X[0], steps=PERIODS * len(X))
    return {
        "success": retrieved(trajectory, X),
        "fewest_errors": int(net.visible_errors_.min()),
        "converged": bool(net.converged_),
        "trajectory": trajectory[: len(X)].tolist(),
    }


def _prove(sequence: int) -> dict[str, Any]:
    """The neurons that no weights can drive, not even with biases, and a proof in whole numbers for the first of them."""
    answer = separable(toy(sequence), bias=True)
    combination = answer.proof(int(answer.impossible[0])).combination
    assert combination is not None  # since the neuron is impossible
    return {"impossible": (answer.impossible + 1).tolist(), "combination": [int(k) for k in combination]}


def retrieve_toy(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Figure 4: train a network with hidden neurons and retrieve the sequence from a corrupted cue."""
    rng = np.random.default_rng(seed)
    X = toy(settings["sequence"])
    net = SequenceAttractor(settings["M"], random_state=rng, engine="exact", n_jobs=1, **LEARNING).fit(X)
    trajectory = net.recall(flip(X[0], settings["flips"], rng=rng), steps=PERIODS * len(X))
    return {
        "success": retrieved(trajectory, X),
        "learned": net.score(X) == 1.0,
        "trajectory": trajectory[: 2 * len(X) - 1].tolist(),
    }
