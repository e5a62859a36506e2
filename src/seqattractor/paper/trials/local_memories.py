"""Small experiments of networks that learn by local rules: spike timing, and stochastic neurons with hidden ones."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from seqattractor.analysis._orbits import cycle_lengths, expected_cycles
from seqattractor.datasets import random_sequences
from seqattractor.zoo.spike_timing import SpikeTimingMemory
from seqattractor.zoo.stochastic import StochasticMemory


def run_fiete(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Let ``each`` networks organise themselves and count closed chains of neurons by their length; ``neurons``, ``steps``.

    Lengths are counted in ``bins``, of which each begins at one of the numbers given and ends before the next. All numbers are
    means: of a single network counts are so small that a few networks may all have the same.
    """
    n, each, rng = settings["neurons"], settings["each"], np.random.default_rng(seed)
    net = SpikeTimingMemory(synapses=1, competition=1, inhibition=0.1, adaptation=2)
    lengths = np.concatenate([cycle_lengths(net.self_organise(n, settings["steps"], rng=rng).W_) for _ in range(each)])
    law = expected_cycles(n)
    edges = np.array([*settings["bins"], n + 1])
    # Per length, so that bins of any width lie on the same line.
    counted = np.histogram(lengths, edges)[0] / np.diff(edges) / each
    expected = [float(law[a:b].mean()) for a, b in itertools.pairwise(edges)]
    centres = np.sqrt(edges[:-1] * (edges[1:] - 1.0)).tolist()

    def excess(low: int, high: int) -> float:
        """How many more chains of some lengths a network has than 1 / l says."""
        return float(np.sum((lengths >= low) & (lengths <= high)) / each - law[low : high + 1].sum())

    return {
        "series": {"counted": {"x": centres, "y": counted.tolist()}, "law": {"x": centres, "y": expected}},
        "numbers": {
            "in_cycles": float(lengths.sum() / (n * each)),
            "pairs": excess(2, 2),
            "middle": excess(3, 10),
            "long": excess(11, n),
        },
    }


def run_brea(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Learn A B A C A D with hidden neurons whose weights learn, with ones whose weights do not, and without any.

    ``N`` visible and ``hidden`` neurons, ``presentations``, ``points`` at which the network is tested.
    """
    draw, of_network = seed.spawn(2)
    A, B, C, D = random_sequences(1, 4, settings["N"], rng=np.random.default_rng(draw))
    X = np.array([A, B, A, C, A, D])
    every = settings["presentations"] // settings["points"]
    series: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    for name, hidden in (("learned", settings["hidden"]), ("fixed", settings["hidden"]), ("none", 0)):
        net = StochasticMemory(hidden, on_conflict="learn", random_state=np.random.default_rng(of_network))
        scores = []
        for presentation in range(settings["presentations"]):
            before = (net.U_, net.R_, net.hidden_bias_) if presentation and name == "fixed" else None
            net.partial_fit(X)
            if before is not None:
                net.U_, net.R_, net.hidden_bias_ = before
            if (presentation + 1) % every == 0:
                scores.append(net.score(X))
        series[name] = {"x": [every * (k + 1) for k in range(len(scores))], "y": scores}
        losses = net.losses_[: every * len(scores)].reshape(-1, every).mean(axis=1)
        series[f"loss {name}"] = {"x": series[name]["x"], "y": losses.tolist()}
        numbers[name] = scores[-1]
        numbers[f"loss {name}"] = float(np.mean(net.losses_[-settings["presentations"] // 5 :]))
    series["bound"] = {"x": series["none"]["x"], "y": [0.6] * len(series["none"]["x"])}
    numbers["gain"] = numbers["loss fixed"] - numbers["loss learned"]
    return {"series": series, "numbers": numbers}
