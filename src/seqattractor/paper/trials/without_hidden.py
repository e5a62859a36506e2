"""Small experiments of networks without hidden neurons: longest orbits, slow synapses, and leaky sums."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.linalg import hadamard

from seqattractor.analysis._attractors import find_attractors
from seqattractor.analysis._orbits import OrbitSearch, longest_orbit
from seqattractor.datasets import random_periodic
from seqattractor.networks.visible import VisibleNetwork
from seqattractor.paper.trials.quiet import fit_quietly
from seqattractor.sequences import Patterns
from seqattractor.zoo.slow_synapses import SlowSynapseMemory


def run_orbits(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """The longest orbits of N ``units``: found by search, learned, and looked for from every state."""
    periods, shares, nodes = [], [], []
    for N in settings["units"]:
        X = longest_orbit(N)
        net = VisibleNetwork(max_epochs=10_000, random_state=np.random.default_rng(seed)).fit(X)
        states = np.array(list(itertools.product((-1, 1), repeat=N)), dtype=np.int8)
        attractors = find_attractors(net, X, starts=states).attractors
        periods.append(float(max(attractor.period for attractor in attractors)))
        shares.append(max(attractor.starts for attractor in attractors if attractor.period == periods[-1]) / len(states))
        search = OrbitSearch(N, node_limit=100_000)
        search.complete([(1,) * N])
        nodes.append(float(search.nodes))
    units = list(settings["units"])
    return {
        "series": {
            "period": {"x": units, "y": periods},
            "law": {"x": units, "y": [float(2**N) for N in units]},
            "nodes": {"x": units, "y": nodes},
        },
        "numbers": {"ratio": float(np.mean(np.array(periods) / 2.0 ** np.array(units))), "share": float(min(shares))},
    }


def run_dwelling(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """How long slow synapses hold orthogonal patterns, for several ``strengths`` lambda of ``slow_steps`` tau."""
    rng = np.random.default_rng(seed)
    tau = settings["slow_steps"]
    X = hadamard(16)[:8][:, rng.permutation(16)].astype(np.int8)
    random = random_periodic(9, settings["N"], rng=rng)
    held, held_random, box = [], [], []
    for strength in settings["strengths"]:
        held.append(_held_for(np.concatenate([X, X[:1]]), strength, tau))
        held_random.append(_held_for(np.asarray(random), strength, tau))
        box.append(float(int(tau * (1 + 1 / strength) / 2) + 1))
    strengths = np.array(settings["strengths"])
    exponential = -tau * np.log(1 - 1 / np.sqrt(strengths))
    series = {"orthogonal": held, "random": held_random, "box": box, "exponential": exponential.tolist()}
    return {
        "series": {name: {"x": strengths.tolist(), "y": y} for name, y in series.items()},
        "numbers": {
            "deviation": float(np.abs(np.array(held) - box).max()),
            "random": float(np.mean(np.abs(np.array(held_random) / box - 1))),
        },
    }


def _held_for(X: Patterns, strength: float, tau: int) -> float:
    """For how many steps each pattern of a loop is held on average; the first stay begins before all is in step."""
    net = fit_quietly(SlowSynapseMemory(slow_weight=strength, slow_steps=tau), X)
    at = np.argmax(net.recall(X[0], steps=10 * tau) @ X[:-1].T.astype(np.int64), axis=1)
    return float(np.mean(np.diff(np.flatnonzero(np.diff(at)))[1:]))


def run_leaky(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Whether a random sequence with repeated patterns is stored, for several ``leaks``; ``N``, ``T``, ``repeats``, ``epochs``.

    The first ``repeats`` patterns but one come again, at random places of the second half, after other patterns than before.
    """
    rng = np.random.default_rng(seed)
    N, T = settings["N"], settings["T"]
    series: dict[str, Any] = {}
    stored: dict[int, list[float]] = {}
    for repeats in settings["repeats"]:
        X = np.array(random_periodic(T + 1, N, rng=rng)[:-1])
        first = 1 + 2 * rng.permutation((T - 2) // 4)[:repeats]
        again = T // 2 + 1 + 2 * rng.permutation((T // 2 - 2) // 2)[:repeats]
        X[again] = X[first]
        stored[repeats] = [float(_is_stored(X, settings["epochs"], leak=leak)) for leak in settings["leaks"]]
        series[f"leak {repeats}"] = {"x": list(settings["leaks"]), "y": stored[repeats]}
        delayed = float(_is_stored(X, settings["epochs"], order=2))
        series[f"order {repeats}"] = {"x": list(settings["leaks"]), "y": [delayed] * len(settings["leaks"])}
    few = stored[settings["repeats"][0]]
    middle = [few[k] for k, leak in enumerate(settings["leaks"]) if 0.2 <= leak <= 0.6]
    return {
        "series": series,
        "numbers": {
            "without": max(values[0] for values in stored.values()),
            "one": float(np.mean(middle)),
            "order": float(np.mean([series[f"order {repeats}"]["y"][0] for repeats in settings["repeats"]])),
        },
    }


def _is_stored(X: Patterns, epochs: int, **parameters: Any) -> bool:
    """Whether the perceptron makes every transition."""
    net = VisibleNetwork(max_epochs=epochs, on_conflict="learn", random_state=0, **parameters)
    return bool(fit_quietly(net, X).score(X) == 1)
