"""Experiments with scaffolds, sparse distributed memory, and hidden Markov models with clones."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import numpy as np

from seqattractor.datasets import random_periodic
from seqattractor.noise import flip
from seqattractor.sequences import Patterns
from seqattractor.zoo.clones import CloneStructuredMemory
from seqattractor.zoo.experiments.experiment import Check, Experiment, Panel, fit_quietly
from seqattractor.zoo.scaffold import ScaffoldMemory
from seqattractor.zoo.sparse_distributed import SparseDistributedMemory

_PROTOTYPE = "a first prototype of ours, independent of this code"
# By the number of patterns: how often a first prototype, independent of this code, found the label
# of a cue with 10 of 100 units flipped, with 500 hidden neurons and modules of 31 and 33 phases (3
# networks each).
_PROTOTYPE_LABELS = {
    "pinv": {70: 0.97, 100: 0.03, 150: 0.69, 200: 0.64, 300: 0.42, 500: 0.20, 700: 0.12},
    "ridge": {70: 1.00, 100: 0.99, 150: 0.91, 200: 0.76, 300: 0.45, 500: 0.20, 700: 0.08},
}
# And how many transitions a prototype of sparse distributed memory made, with 10 of 500 hidden
# neurons active.
_PROTOTYPE_STEPS = {20: 1.00, 30: 0.98, 50: 0.88, 70: 0.62}
_PROTOTYPE_BASIN = {20: 0.89, 30: 0.68, 50: 0.10, 70: 0.0}


def run_scaffold(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Measure the read-out for ``T`` and ``just_beyond`` patterns, and labels of noisy cues."""
    rng = np.random.default_rng(seed)
    M, counts = 500, list(settings["T"])
    exact: dict[int, float] = {}
    found: dict[Literal["pinv", "ridge"], list[float]] = {"pinv": [], "ridge": []}
    for T in counts:
        X = random_periodic(T + 1, 100, rng=rng)
        flipped = flip(X[:-1], 10, rng=rng)
        for cue, shares in found.items():
            net = fit_quietly(ScaffoldMemory(M, periods=(31, 33), cue=cue, random_state=rng), X)
            shares.append(float(np.mean(net._labels_of(flipped) == np.arange(T))))
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
        before = [_PROTOTYPE_LABELS[cue][T] for T in counts]
        series |= {
            f"found {cue}": {"x": counts, "y": shares},
            f"prototype {cue}": {"x": counts, "y": before},
        }
        deviations += [abs(a - b) for a, b in zip(shares, before, strict=True)]
    return {
        "series": series,
        "numbers": {
            "up_to_M": min(share for T, share in exact.items() if T <= M),
            "beyond": exact[max(exact)],
            "deviation": float(np.mean(deviations)),
        },
    }


def _read_out_exactly(net: ScaffoldMemory, patterns: Patterns) -> float:
    """The share of the patterns that W_sp reads off the hidden codes of their labels, 0, 1, 2 and
    so on.
    """
    first = np.cumsum(net.periods_) - net.periods_
    drive = net.W_pg_[:, first + np.arange(len(patterns))[:, None] % net.periods_].sum(axis=2).T
    read = np.where(np.where(drive >= 0, 1.0, -1.0) @ net.W_sp_.T >= 0, 1, -1)
    return float((read == patterns).all(axis=1).mean())


SCAFFOLD = Experiment(
    name="scaffold",
    title="Scaffolds",
    network="scaffold",
    source="S. Sharma, S. Chandra, I. Fiete 2022 (MESH); S. Chandra et al. 2025 (Vector-HaSH)",
    trial=run_scaffold,
    about="Patterns hang on labels that step on by themselves. Reading them off is exact as long "
    "as there are no more patterns than hidden neurons, M = 500; finding the label of a noisy cue "
    "is what limits recall where there are more patterns than units, N = 100. With few patterns "
    "more than M most are still read out; at T = 700 hardly any is. At T = N a pseudo-inverse is "
    "at its worst.",
    not_verified="the published figures, which are for as many units as states and two-dimensional "
    "modules; the grey lines of the second panel are a first prototype of ours.",
    panels=(
        Panel(
            "Reading out",
            "patterns T",
            "patterns read out exactly",
            {"exact": "network", "M": "T = M"},
            theory=("M",),
        ),
        Panel(
            "Finding the place of a cue with 10 flips",
            "patterns T",
            "cues whose label is found",
            {
                "prototype pinv": "prototype, pseudo-inverse",
                "found pinv": "pseudo-inverse",
                "prototype ridge": "prototype, ridge",
                "found ridge": "ridge regression",
            },
            theory=("prototype pinv", "prototype ridge"),
            log="x",
        ),
    ),
    checks=(
        Check(
            "up_to_M",
            "patterns read out exactly up to T = M, at least",
            1.0,
            "derived: a pseudo-inverse of M codes is exact",
        ),
        Check(
            "beyond",
            "patterns read out exactly at T = 700",
            (0.0, 0.05),
            _PROTOTYPE,
            kind="prototype",
        ),
        Check(
            "deviation",
            "mean deviation of the labels found",
            (0.0, 0.05),
            _PROTOTYPE,
            kind="prototype",
        ),
    ),
    size={"T": [70, 100, 150, 200, 300, 500, 700], "just_beyond": [520, 550, 600], "networks": 3},
    quick={"T": [70, 100, 300, 500, 700], "just_beyond": [550], "networks": 1},
    full={"networks": 20},
    averaged=True,
)


def run_sdm(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Transitions that are exact, and cues with 10 flips that are right 25 steps on, for several
    ``T``; N = 100, M = 500.
    """
    rng = np.random.default_rng(seed)
    steps, basin = [], []
    for T in settings["T"]:
        X = random_periodic(T + 1, 100, rng=rng)
        net = fit_quietly(SparseDistributedMemory(500, n_active=10, random_state=rng), X)
        steps.append(net.score(X))
        at = rng.integers(0, T, settings["cues"])
        end = net.recall(flip(X[at], 10, rng=rng), steps=25)[:, -1]
        basin.append(float((end == X[(at + 25) % T]).all(axis=1).mean()))
    prototype_steps, prototype_basin = (
        [table[T] for T in settings["T"]] for table in (_PROTOTYPE_STEPS, _PROTOTYPE_BASIN)
    )
    series = {
        "steps": steps,
        "basin": basin,
        "prototype steps": prototype_steps,
        "prototype basin": prototype_basin,
    }
    return {
        "series": {name: {"x": list(settings["T"]), "y": y} for name, y in series.items()},
        "numbers": {
            "steps": float(np.mean(np.array(steps) - prototype_steps)),
            "basin": float(np.mean(np.array(basin) - prototype_basin)),
        },
    }


SDM = Experiment(
    name="sdm",
    title="Sparse distributed memory",
    network="sdm",
    source="P. Kanerva 1988",
    trial=run_sdm,
    about="The paper's architecture with fixed random addresses and Hebbian weights, N = 100 and M "
    "= 500: the lower yardstick for what learning is worth.",
    not_verified="the formulas, which are from general knowledge of the book, and any published "
    "number; the grey lines are a first prototype of ours.",
    panels=(
        Panel(
            "What is stored",
            "patterns T",
            "fraction",
            {
                "prototype steps": "prototype, transitions",
                "steps": "exact transitions",
                "prototype basin": "prototype, cues",
                "basin": "cues with 10 flips, right 25 steps on",
            },
            theory=("prototype steps", "prototype basin"),
        ),
    ),
    checks=(
        Check(
            "steps",
            "exact transitions beyond those of the prototype",
            0.0,
            _PROTOTYPE,
            0.05,
            kind="prototype",
        ),
        Check(
            "basin",
            "right cues beyond those of the prototype",
            0.0,
            _PROTOTYPE,
            0.06,
            kind="prototype",
        ),
    ),
    size={"T": [20, 30, 50, 70], "cues": 100, "networks": 20},
    quick={"cues": 50, "networks": 5},
    full={"cues": 500, "networks": 100},
    averaged=True,
)


def run_clones(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Measure transitions predicted in a random walk, for several numbers of ``clones``."""
    rng = np.random.default_rng(seed)
    patterns = random_periodic(settings["patterns"] + 1, 50, rng=rng)
    walk = rng.integers(0, settings["patterns"], settings["T"])
    walk = np.append(walk, walk[0])
    scores = [
        fit_quietly(
            CloneStructuredMemory(clones, on_conflict="learn", random_state=rng), patterns[walk]
        ).score(patterns[walk])
        for clones in settings["clones"]
    ]
    pairs = Counter(zip(walk[:-1].tolist(), walk[1:].tolist(), strict=True))
    most = [
        max(count for (a, _), count in pairs.items() if a == pattern)
        for pattern in np.unique(walk[:-1])
    ]
    bound = sum(most) / settings["T"]
    return {
        "series": {
            "predicted": {"x": list(settings["clones"]), "y": scores},
            "bound": {"x": list(settings["clones"]), "y": [bound] * len(scores)},
        },
        "numbers": {"one": scores[0] - bound, "most": scores[-1]},
    }


CLONE_HMM = Experiment(
    name="clone-hmm",
    title="Hidden Markov models with clones",
    network="clone-hmm",
    source="D. George et al. 2021",
    trial=run_clones,
    about="A random walk over few patterns, so that each comes several times with different "
    "successors. With clones of each pattern a hidden Markov model learns which time it is; "
    "without, it only learns the most frequent successor.",
    not_verified="the published experiments, which are walks through rooms with actions.",
    panels=(
        Panel(
            "Repeated patterns",
            "clones of each pattern",
            "transitions predicted",
            {"predicted": "model", "bound": "most frequent successor"},
            theory=("bound",),
            log="x",
        ),
    ),
    checks=(
        Check(
            "one",
            "predicted with one clone beyond the most frequent successor",
            0.0,
            "derived",
            1e-9,
        ),
        Check(
            "most",
            "predicted with the most clones",
            (0.95, 1.0),
            "as many clones as places are enough",
        ),
    ),
    size={"patterns": 10, "T": 40, "clones": [1, 2, 3, 5, 10], "networks": 10},
    quick={"clones": [1, 3, 10], "networks": 3},
    full={"patterns": 20, "T": 150, "clones": [1, 2, 3, 5, 10, 20], "networks": 20},
    averaged=True,
)
