"""Beyond the paper: how much the sparse rule stores, beside the paper's rule and memories that keep the patterns themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.experiments._trial import Task, judge, recall_task, retrieve_with
from seqattractor.networks._attractor import SequenceAttractor
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._dense import DenseSequenceMemory
from seqattractor.networks._one_hot import OneHotNetwork
from seqattractor.networks._sparse import SparseSequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING

N, M = 100, 500
DIGITS: dict[str, Any] = {"stored": [20, 40, 80, 120, 160], "T": 20, "M": 1000, "flips": 300, "trials": 2}

NETWORKS: dict[str, Callable[[int, np.random.Generator], SequenceMemory]] = {
    "sparse": lambda M, rng: SparseSequenceAttractor(M, random_state=rng),
    "convergent": lambda M, rng: SparseSequenceAttractor(M, noise=0, random_state=rng),
    "paper": lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING),
    "one-hot": lambda M, rng: OneHotNetwork(),
    "dense": lambda M, rng: DenseSequenceMemory(interaction="exponential"),
}
"""How each is made."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "everything": {},
    "no bias": {"bias": 0},
    "no noise while learning": {"noise": 0},
    "constant learning rates": {"decay": False},
    "no homeostasis": {"homeostasis": 0.0},
    "no redraw": {"redraw": 0.0},
    "no learned feedback": {"learned_feedback": 0.0},
    "P random and fixed, from x(t)": {"learned_drive": False},
    "P random and fixed, no learned feedback": {"learned_drive": False, "learned_feedback": 0.0},
    "P random and fixed, from x(t+1), no learned feedback": {"target_from": "next", "learned_feedback": 0.0},
    "thresholds instead of winners": {"code": "thresholds"},
    "larger steps of active neurons": {"active_weight": 3},
    "2 winners": {"n_winners": 2},
    "5 winners": {"n_winners": 5},
    "10 winners": {"n_winners": 10},
}
"""Parameters of the sparse network with which a part of its rule is switched off or changed."""


def store_sequences(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Store a random sequence: success by section 6.2 and the basin; or, where `part` is "digits", moving digits.

    Settings are part, network (a key of `NETWORKS`) or options (of `ABLATIONS`), T and flips, or stored.
    """
    rng = np.random.default_rng(seed)  # one stream for sequence, network and cue
    if settings["part"] == "digits":
        return _store_digits(NETWORKS[settings["network"]](DIGITS["M"], rng), settings["stored"], rng)
    if settings["part"] == "ablation":
        net: SequenceMemory = SparseSequenceAttractor(M, random_state=rng, **ABLATIONS[settings["options"]])
    else:
        net = NETWORKS[settings["network"]](M, rng)
    sizes = {"n": N, "t": settings["T"], "flips": settings["flips"], "measure_basin": True}
    outcome = retrieve_with(net, sizes, rng, rng)
    return {key: outcome[key] for key in ("success", "basin")}


def _store_digits(net: SequenceMemory, stored: int, rng: np.random.Generator) -> dict[str, Any]:
    """Store sequences of moving digits; in how many are all frames recalled without a wrong pixel?"""
    X = moving_digits(stored, length=DIGITS["T"], rng=rng)
    task = Task(X.patterns, X.lengths, DIGITS["flips"], closed=False)
    net.fit(X)
    cues = flip(np.stack([x[0] for x in X.split()]), task.flips, rng=rng)
    return {"recalled": sum(time is not None for time in judge(recall_task(net, task, cues[:, None], rng), task, net))}
