"""Experiments with local rules: spike timing with competing synapses, and stochastic neurons of
which some are hidden.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.datasets import random_sequences
from seqattractor.zoo.experiments.experiment import Check, Experiment, Panel
from seqattractor.zoo.spike_timing import SpikeTimingMemory
from seqattractor.zoo.stochastic import StochasticMemory


def cycle_lengths(W: NDArray[np.float64]) -> list[int]:
    """Return the lengths of the closed chains of single neurons in weights (n, n)."""
    strong = W > 0.5  # a link is the only such weight out of its source and into its target
    alone = strong & (strong.sum(axis=0) == 1) & (strong.sum(axis=1) == 1)[:, None]
    after = {int(j): int(i) for i, j in zip(*np.nonzero(alone), strict=True)}
    lengths = []
    while after:
        at = first = next(iter(after))
        length = 0
        while at in after:
            at, length = after.pop(at), length + 1
        if at == first:
            lengths.append(length)
    return sorted(lengths)


def run_fiete(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Let ``each`` networks organise themselves, and count closed chains by length in ``bins``."""
    n, each, rng = settings["neurons"], settings["each"], np.random.default_rng(seed)
    net = SpikeTimingMemory(synapses=1, competition=1, inhibition=0.1, adaptation=2)
    lengths = np.concatenate(
        [cycle_lengths(net.self_organise(n, settings["steps"], rng=rng).W_) for _ in range(each)]
    )
    law = np.append(0.0, 1 / np.arange(1, n + 1))  # as a random permutation has on average
    edges = np.array([*settings["bins"], n + 1])
    # Per length, so that bins of any width lie on the same line.
    counted = np.histogram(lengths, edges)[0] / np.diff(edges) / each
    expected = [float(law[a:b].mean()) for a, b in itertools.pairwise(edges)]
    centres = np.sqrt(edges[:-1] * (edges[1:] - 1.0)).tolist()

    def excess(low: int, high: int) -> float:
        """Return how many more chains of some lengths a network has than a random permutation."""
        return float(
            np.sum((lengths >= low) & (lengths <= high)) / each - law[low : high + 1].sum()
        )

    return {
        "series": {
            "counted": {"x": centres, "y": counted.tolist()},
            "law": {"x": centres, "y": expected},
        },
        "numbers": {
            "in_cycles": float(lengths.sum() / (n * each)),
            "pairs": excess(2, 2),
            "middle": excess(3, 10),
            "long": excess(11, n),
        },
    }


FIETE = Experiment(
    name="fiete",
    title="Chains that organise themselves",
    network="fiete",
    source="I. Fiete, W. Senn, C. Wang, R. Hahnloser 2010",
    trial=run_fiete,
    about="Neurons that fire by chance, spike timing, and synapses that compete: the weights "
    "become closed chains of single neurons. By the published law a network has 1 / l chains of "
    "length l, as a random permutation does.",
    not_verified="the original equations; ours are those of a later program. Chains of two neurons "
    "do not come about here, though the law has one in every second network: two neurons that call "
    "each other grow and shrink by turns. As about a tenth of the neurons is in no chain, the "
    "other lengths meet the law only roughly: in 80 networks of 20 neurons, chains of 11 and more "
    "were 0.2 per network fewer than it says (of 0.67), and those of 3 to 10 were 0.26 more (of "
    "1.43). That it does not depend on time constants was not tested.",
    panels=(
        Panel(
            "Closed chains",
            "length l",
            "chains of this length per network",
            {"counted": "network", "law": "1 / l"},
            theory=("law",),
            log="x",
            points=True,
        ),
    ),
    checks=(
        Check(
            "in_cycles",
            "neurons in closed chains",
            (0.7, 1.0),
            "that weights become close to permutations",
        ),
        Check(
            "middle",
            "chains of 3 to 10 neurons beyond 1 / l, per network",
            0.0,
            "the published law",
            0.1,
            kind="published",
        ),
        Check(
            "long",
            "chains of 11 and more neurons beyond 1 / l, per network",
            0.0,
            "the published law",
            0.1,
            kind="published",
        ),
        Check(
            "pairs",
            "chains of 2 neurons beyond 1 / l, per network",
            0.0,
            "the published law",
            0.1,
            kind="published",
        ),
    ),
    size={
        "neurons": 30,
        "steps": 10_000,
        "each": 4,
        "bins": [2, 3, 4, 6, 9, 14, 21],
        "networks": 12,
    },
    quick={"neurons": 20, "steps": 6000, "each": 4, "bins": [2, 3, 4, 6, 9, 14], "networks": 5},
    full={"neurons": 60, "steps": 40_000, "bins": [2, 3, 4, 6, 9, 14, 21, 31, 45], "networks": 20},
    averaged=True,
)


def run_brea(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Learn A B A C A D with hidden neurons that learn, with ones that do not, and without any."""
    draw, of_network = seed.spawn(2)
    A, B, C, D = random_sequences(1, 4, settings["N"], rng=np.random.default_rng(draw))
    X = np.array([A, B, A, C, A, D])
    every = settings["presentations"] // settings["points"]
    series: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    for name, hidden in (
        ("learned", settings["hidden"]),
        ("fixed", settings["hidden"]),
        ("none", 0),
    ):
        net = StochasticMemory(
            hidden, on_conflict="learn", random_state=np.random.default_rng(of_network)
        )
        scores = []
        for presentation in range(settings["presentations"]):
            before = (
                (net.U_, net.R_, net.hidden_bias_) if presentation and name == "fixed" else None
            )
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


BREA = Experiment(
    name="brea",
    title="Stochastic neurons, visible and hidden",
    network="brea",
    source="J. Brea, W. Senn, J.-P. Pfister 2013",
    trial=run_brea,
    about="A sequence in which one pattern has three different successors, A B A C A D. What comes "
    "next is not in the visible neurons: hidden ones must remember it, and learn to by a local "
    "rule with one factor for all.",
    not_verified="formulas and figures: only the abstract was at hand. Sizes are ours.",
    panels=(
        Panel(
            "A pattern with three successors",
            "presentations",
            "transitions that are right",
            {
                "learned": "hidden neurons learn",
                "fixed": "hidden neurons stay as drawn",
                "none": "no hidden neurons",
                "bound": "at most without hidden neurons",
            },
            theory=("bound",),
        ),
        Panel(
            "How unlikely the sequence is",
            "presentations",
            "-ln p per neuron and step",
            {
                "loss learned": "hidden neurons learn",
                "loss fixed": "hidden neurons stay as drawn",
                "loss none": "no hidden neurons",
            },
            log="y",
        ),
    ),
    checks=(
        Check(
            "learned",
            "transitions right with hidden neurons that learn",
            (0.9, 1.0),
            "that the sequence is learned",
        ),
        Check(
            "none",
            "transitions right without hidden neurons",
            (None, 0.6),
            "derived: A can call only one of three",
        ),
        Check(
            "gain",
            "what learning of hidden neurons saves, -ln p per neuron and step",
            (0.0, None),
            "the abstract's claim",
        ),
    ),
    size={"N": 12, "hidden": 20, "presentations": 400, "points": 20, "networks": 6},
    quick={"presentations": 400, "points": 10, "networks": 3},
    full={"N": 30, "hidden": 30, "presentations": 5000, "points": 50, "networks": 20},
    averaged=True,
)
