"""Experiments without hidden neurons: longest orbits, slow synapses, and neurons that sum their
inputs with a leak.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.linalg import hadamard

from seqattractor.analysis._attractors import find_attractors
from seqattractor.analysis._orbits import OrbitSearch, longest_orbit
from seqattractor.datasets import random_periodic
from seqattractor.networks.visible import VisibleNetwork
from seqattractor.sequences import Patterns
from seqattractor.zoo.experiments.experiment import Check, Experiment, Panel, fit_quietly
from seqattractor.zoo.slow_synapses import SlowSynapseMemory


def run_orbits(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """The longest orbits of N ``units``: found by search, learned, and looked for from every
    state.
    """
    periods, shares, nodes = [], [], []
    for N in settings["units"]:
        X = longest_orbit(N)
        net = VisibleNetwork(max_epochs=10_000, random_state=np.random.default_rng(seed)).fit(X)
        states = np.array(list(itertools.product((-1, 1), repeat=N)), dtype=np.int8)
        attractors = find_attractors(net, X, starts=states).attractors
        periods.append(float(max(attractor.period for attractor in attractors)))
        shares.append(
            max(attractor.starts for attractor in attractors if attractor.period == periods[-1])
            / len(states)
        )
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
        "numbers": {
            "ratio": float(np.mean(np.array(periods) / 2.0 ** np.array(units))),
            "share": float(min(shares)),
        },
    }


ORBITS = Experiment(
    name="orbits",
    title="The longest orbits without hidden neurons",
    network="perceptron",
    source="S. Muscinelli, W. Gerstner, J. Brea 2017",
    trial=run_orbits,
    about="For every N, a network of N neurons without hidden ones can go through all 2^N states "
    "in one loop. Such a loop is found by search, with exact arithmetic at every step; the "
    "perceptron then learns it, and every state leads into it.",
    not_verified="the authors' construction for every N, which was not at hand; "
    "the search ends at N = 4.",
    panels=(
        Panel(
            "Period of the loop",
            "neurons N",
            "steps",
            {"period": "found", "law": "2^N"},
            theory=("law",),
            points=True,
        ),
        Panel(
            "Beginnings that were tried",
            "neurons N",
            "nodes of the search",
            {"nodes": "search"},
            points=True,
        ),
    ),
    checks=(
        Check(
            "ratio",
            "period of the longest attractor, in units of 2^N",
            1.0,
            "the published theorem",
            kind="published",
        ),
        Check("share", "states from which it is reached", 1.0, "derived: all of them are on it"),
    ),
    size={"units": [2, 3, 4]},
)


def run_dwelling(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """How long slow synapses hold orthogonal patterns, for several ``strengths`` lambda of
    ``slow_steps`` tau.
    """
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
    series = {
        "orthogonal": held,
        "random": held_random,
        "box": box,
        "exponential": exponential.tolist(),
    }
    return {
        "series": {name: {"x": strengths.tolist(), "y": y} for name, y in series.items()},
        "numbers": {
            "deviation": float(np.abs(np.array(held) - box).max()),
            "random": float(np.mean(np.abs(np.array(held_random) / box - 1))),
        },
    }


def _held_for(X: Patterns, strength: float, tau: int) -> float:
    """For how many steps each pattern of a loop is held on average; the first stay begins before
    all is in step.
    """
    net = fit_quietly(SlowSynapseMemory(slow_weight=strength, slow_steps=tau), X)
    at = np.argmax(net.recall(X[0], steps=10 * tau) @ X[:-1].T.astype(np.int64), axis=1)
    return float(np.mean(np.diff(np.flatnonzero(np.diff(at)))[1:]))


DWELLING = Experiment(
    name="dwelling",
    title="Slow synapses: how long a pattern is held",
    network="slow-synapses",
    source="D. Kleinfeld 1986; H. Sompolinsky, I. Kanter 1986",
    trial=run_dwelling,
    about="Fast synapses hold a pattern, slow ones call the next. Where slow synapses average over "
    "the last tau steps, as here, a pattern is held for floor(tau (1 + 1 / lambda) / 2) + 1 steps, "
    "if patterns are orthogonal.",
    not_verified="the published times: they are for averages that fade exponentially, with the law "
    "-tau ln(1 - 1 / sqrt(lambda)), which does not hold for the average over a box that the "
    "network takes.",
    panels=(
        Panel(
            "Steps at each pattern",
            "strength of slow synapses, lambda",
            "steps",
            {
                "box": "law of the box average",
                "orthogonal": "orthogonal patterns",
                "exponential": "law of a fading average (not this network)",
                "random": "random patterns",
            },
            theory=("box", "exponential"),
            points=True,
        ),
    ),
    checks=(
        Check(
            "deviation",
            "largest deviation with orthogonal patterns, in steps",
            0.0,
            "derived from the fields",
        ),
        Check(
            "random",
            "mean relative deviation with random patterns",
            (0.0, 0.15),
            "crosstalk of order 1 / sqrt(N)",
        ),
    ),
    # At lambda for which tau (1 + 1 / lambda) / 2 is whole, fields are zero.
    size={
        "N": 1000,
        "slow_steps": 21,
        "strengths": [1.2, 1.45, 1.6, 1.9, 2.3, 2.7, 3.3, 3.9, 4.7, 5.7],
    },
    quick={"N": 400, "strengths": [1.2, 1.6, 2.3, 3.9]},
    full={"N": 4000, "networks": 10},
    averaged=True,
)


def run_leaky(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Measure for some ``leaks`` whether sequences with ``repeats`` are stored."""
    rng = np.random.default_rng(seed)
    N, T = settings["N"], settings["T"]
    series: dict[str, Any] = {}
    stored: dict[int, list[float]] = {}
    for repeats in settings["repeats"]:
        X = np.array(random_periodic(T + 1, N, rng=rng)[:-1])
        first = 1 + 2 * rng.permutation((T - 2) // 4)[:repeats]
        again = T // 2 + 1 + 2 * rng.permutation((T // 2 - 2) // 2)[:repeats]
        X[again] = X[first]
        stored[repeats] = [
            float(_is_stored(X, settings["epochs"], leak=leak)) for leak in settings["leaks"]
        ]
        series[f"leak {repeats}"] = {"x": list(settings["leaks"]), "y": stored[repeats]}
        delayed = float(_is_stored(X, settings["epochs"], order=2))
        series[f"order {repeats}"] = {
            "x": list(settings["leaks"]),
            "y": [delayed] * len(settings["leaks"]),
        }
    few = stored[settings["repeats"][0]]
    middle = [few[k] for k, leak in enumerate(settings["leaks"]) if 0.2 <= leak <= 0.6]
    return {
        "series": series,
        "numbers": {
            "without": max(values[0] for values in stored.values()),
            "one": float(np.mean(middle)),
            "order": float(
                np.mean([series[f"order {repeats}"]["y"][0] for repeats in settings["repeats"]])
            ),
        },
    }


def _is_stored(X: Patterns, epochs: int, **parameters: Any) -> bool:
    """Whether the perceptron makes every transition."""
    net = VisibleNetwork(max_epochs=epochs, on_conflict="learn", random_state=0, **parameters)
    return bool(fit_quietly(net, X).score(X) == 1)


LEAKY_PERCEPTRON = Experiment(
    name="leaky-perceptron",
    title="Neurons that sum their inputs",
    network="leaky-perceptron",
    source="P. Bressloff, J. Taylor 1992",
    trial=run_leaky,
    about="In random sequences some patterns come twice, with different successors, which no "
    "network can make that only sees the last pattern. Neurons that sum past inputs with a leak "
    "can, without the delay lines of a second past pattern.",
    not_verified="the published text, which was not at hand; sizes are ours. With one repeated "
    "pattern weights exist for any leak above 0; that they are not found with the smallest ones is "
    "a matter of the limit to epochs.",
    panels=(
        Panel(
            "Sequences with repeated patterns",
            "leak gamma",
            "sequences that are stored",
            {
                "order 1": "two past patterns",
                "order 5": "two past patterns",
                "leak 1": "one repeated pattern",
                "leak 5": "five repeated patterns",
            },
            theory=("order 1", "order 5"),
        ),
    ),
    checks=(
        Check("without", "stored without a leak", 0.0, "derived: a state calls one successor"),
        Check(
            "one",
            "stored with one repeated pattern and a leak of .2 to .6",
            1.0,
            "derived: weights always exist",
        ),
        Check(
            "order",
            "stored with two past patterns instead of a leak",
            1.0,
            "derived: linearly independent pairs",
        ),
    ),
    size={
        "N": 40,
        "T": 24,
        "repeats": [1, 5],
        "leaks": [0.0, 0.1, 0.3, 0.5, 0.7, 0.9],
        "epochs": 1000,
        "networks": 8,
    },
    quick={"leaks": [0.0, 0.5, 0.9], "networks": 3},
    full={
        "leaks": [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95],
        "epochs": 20_000,
        "networks": 50,
    },
    averaged=True,
)
