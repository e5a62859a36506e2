"""Small experiments of scaffolds, sparse distributed memory, and hidden Markov models with clones."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np

from seqattractor.datasets import random_periodic
from seqattractor.noise import flip
from seqattractor.paper.trials.quiet import fit_quietly
from seqattractor.sequences import Patterns
from seqattractor.zoo.clones import CloneStructuredMemory
from seqattractor.zoo.scaffold import ScaffoldMemory
from seqattractor.zoo.sparse_distributed import SparseDistributedMemory

# By the number of patterns: how often a first prototype, written apart from this code, found the label of a cue with 10 of 100
# units flipped, with 500 hidden neurons and modules of 31 and 33 phases (3 networks each).
_PROTOTYPE_LABELS = {
    "pinv": {70: 0.97, 100: 0.03, 150: 0.69, 200: 0.64, 300: 0.42, 500: 0.20, 700: 0.12},
    "ridge": {70: 1.00, 100: 0.99, 150: 0.91, 200: 0.76, 300: 0.45, 500: 0.20, 700: 0.08},
}
# And how many transitions a prototype of sparse distributed memory made, with 10 of 500 hidden neurons active.
_PROTOTYPE_STEPS = {20: 1.00, 30: 0.98, 50: 0.88, 70: 0.62}
_PROTOTYPE_BASIN = {20: 0.89, 30: 0.68, 50: 0.10, 70: 0.0}


def run_scaffold(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Read-out and labels found from noisy cues for several numbers of patterns, ``T``; N = 100, M = 500.

    ``just_beyond`` are further numbers, above M, for the read-out alone.
    """
    rng = np.random.default_rng(seed)
    M, counts = 500, list(settings["T"])
    exact: dict[int, float] = {}
    found: dict[Literal["pinv", "ridge"], list[float]] = {"pinv": [], "ridge": []}
    for T in counts:
        X = random_periodic(T + 1, 100, rng=rng)
        flipped = flip(X[:-1], 10, rng=rng)
        for cue, shares in found.items():
            net = fit_quietly(ScaffoldMemory(M, periods=(31, 33), cue=cue, random_state=rng), X)
            shares.append(float(np.mean(net.labels_of(flipped) == np.arange(T))))
        exact[T] = _read_out_exactly(net, X[:-1])
    for T in settings["just_beyond"]:
        X = random_periodic(T + 1, 100, rng=rng)
        net = fit_quietly(ScaffoldMemory(M, periods=(31, 33), random_state=rng), X)
        exact[T] = _read_out_exactly(net, X[:-1])
    series: dict[str, Any] = {
        "exact": {"x": sorted(exact), "y": [exact[T] for T in sorted(exact)]},
        "M": {"x": [M, M], "y": [0.0, 1.0]},
    }
    deviations = []
    for cue, shares in found.items():
        told = [_PROTOTYPE_LABELS[cue][T] for T in counts]
        series |= {f"found {cue}": {"x": counts, "y": shares}, f"prototype {cue}": {"x": counts, "y": told}}
        deviations += [abs(a - b) for a, b in zip(shares, told, strict=True)]
    return {
        "series": series,
        "numbers": {
            "up_to_M": min(share for T, share in exact.items() if T <= M),
            "beyond": exact[max(exact)],
            "deviation": float(np.mean(deviations)),
        },
    }


def _read_out_exactly(net: ScaffoldMemory, patterns: Patterns) -> float:
    """The share of the patterns that W_sp reads off the hidden codes of their labels, 0, 1, 2 and so on."""
    first = np.cumsum(net.periods_) - net.periods_
    drive = net.W_pg_[:, first + np.arange(len(patterns))[:, None] % net.periods_].sum(axis=2).T
    read = np.where(np.where(drive >= 0, 1.0, -1.0) @ net.W_sp_.T >= 0, 1, -1)
    return float((read == patterns).all(axis=1).mean())


def run_sdm(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Transitions that are exact, and cues with 10 flips that are right 25 steps on, for several ``T``; N = 100, M = 500."""
    rng = np.random.default_rng(seed)
    steps, basin = [], []
    for T in settings["T"]:
        X = random_periodic(T + 1, 100, rng=rng)
        net = fit_quietly(SparseDistributedMemory(500, n_active=10, random_state=rng), X)
        steps.append(net.score(X))
        at = rng.integers(0, T, settings["cues"])
        end = net.recall(flip(X[at], 10, rng=rng), steps=25)[:, -1]
        basin.append(float((end == X[(at + 25) % T]).all(axis=1).mean()))
    told_steps, told_basin = ([table[T] for T in settings["T"]] for table in (_PROTOTYPE_STEPS, _PROTOTYPE_BASIN))
    series = {"steps": steps, "basin": basin, "prototype steps": told_steps, "prototype basin": told_basin}
    return {
        "series": {name: {"x": list(settings["T"]), "y": y} for name, y in series.items()},
        "numbers": {"steps": float(np.mean(np.array(steps) - told_steps)), "basin": float(np.mean(np.array(basin) - told_basin))},
    }


def run_clones(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Transitions predicted in a random walk over few patterns, for several numbers of ``clones``; ``patterns``, ``T``.

    Without clones the best prediction is the most frequent successor of each pattern.
    """
    rng = np.random.default_rng(seed)
    patterns = random_periodic(settings["patterns"] + 1, 50, rng=rng)
    walk = rng.integers(0, settings["patterns"], settings["T"])
    walk = np.append(walk, walk[0])
    scores = [
        fit_quietly(CloneStructuredMemory(clones, on_conflict="learn", random_state=rng), patterns[walk]).score(patterns[walk])
        for clones in settings["clones"]
    ]
    pairs = Counter(zip(walk[:-1].tolist(), walk[1:].tolist(), strict=True))
    most = [max(count for (a, _), count in pairs.items() if a == pattern) for pattern in np.unique(walk[:-1])]
    bound = sum(most) / settings["T"]
    return {
        "series": {
            "predicted": {"x": list(settings["clones"]), "y": scores},
            "bound": {"x": list(settings["clones"]), "y": [bound] * len(scores)},
        },
        "numbers": {"one": scores[0] - bound, "most": scores[-1]},
    }
