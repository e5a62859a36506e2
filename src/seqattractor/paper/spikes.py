"""Networks as integrate-and-fire neurons: how long they stay on a sequence with membrane noise,
jitter and dead neurons.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from scipy.stats import binom

from seqattractor import plots
from seqattractor.datasets._random import random_periodic
from seqattractor.networks.registry import make_network
from seqattractor.networks.spiking import spiking_recall
from seqattractor.noise import flip
from seqattractor.paper.settings import RANDOM_SEQUENCES
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.report.page import Table, Verdict
from seqattractor.study.protocol import seed_of

RUNS = 24  # networks, at most
STEPS = 500  # patterns after the cue
MEMORIES: list[Cell] = [  # of the paper's network as much as it stores with ease
    {"network": "attractor", "T": 50},
    {"network": "sparse", "T": 50},
    {"network": "sparse", "T": STEPS},
]
LEVELS: dict[str, list[float]] = {
    "noise": [0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5],
    "jitter": [5e-4, 1e-3, 1.5e-3, 2e-3, 2.5e-3, 3e-3, 4e-3, 5e-3],
    "dead_hidden": [5, 10, 25, 50, 100, 150, 200, 250],
    "dead_visible": [1, 2, 5, 7, 10, 15, 20, 30],
}
"""Parameters of `spiking_recall`, one at a time."""
WORDS = {
    "noise": ("membrane noise", "of the rms distance from threshold"),
    "jitter": ("jitter", "ms (windows of 25 ms)"),
    "dead_hidden": ("dead hidden neurons", "of {M}"),
    "dead_visible": ("dead visible neurons", "of {N}"),
}
"""What is drawn, and its unit."""


def run_disturbed(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Let a network run from a cue with flipped units, with each level of each disturbance.

    Settings are network, T, M, N, flips, steps and levels. All networks of the same T get the same
    sequences and cues. The outcome has, for each disturbance, how many patterns the run stays on
    the sequence at each level, and under "none" the same without any.
    """
    assert isinstance(seed.entropy, int)  # as `seed_of` made it
    of_all = seed_of(seed.entropy, "spikes", int(seed.spawn_key[-1]))
    of_data, of_network, of_cue, *of_runs = (
        np.random.default_rng(each) for each in of_all.spawn(3 + len(settings["levels"]))
    )
    X = random_periodic(settings["T"], settings["N"], rng=of_data)
    state = int(of_network.integers(2**32))
    net = make_network(settings["network"], n_hidden=settings["M"], random_state=state).fit(X)
    cue, steps = flip(X[0], settings["flips"], rng=of_cue), settings["steps"]
    outcome = {"none": [spiking_recall(net, cue, steps).steps_on(X)]}
    for rng, (name, levels) in zip(of_runs, settings["levels"].items(), strict=True):
        outcome[name] = [
            spiking_recall(net, cue, steps, **{name: level}, rng=rng).steps_on(X)
            for level in levels
        ]
    return outcome


class _Spikes(Target):
    """How long networks stay on a sequence."""

    def cells(self, request: Request) -> list[Cell]:
        memories = MEMORIES[:2] if request.quick else MEMORIES
        sizes = {key: RANDOM_SEQUENCES[key] for key in ("N", "flips")}
        sizes |= {"M": RANDOM_SEQUENCES["table1"]["M"][0]}
        levels = {name: each[::2] if request.quick else each for name, each in LEVELS.items()}
        steps = STEPS // 5 if request.quick else STEPS
        return [{**memory, **sizes, "steps": steps, "levels": levels} for memory in memories]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return request.at_most(RUNS)

    def settings(self, request: Request) -> dict[str, Any]:
        cell = self.cells(request)[0]
        sizes = {key: cell[key] for key in ("N", "M", "flips", "steps")}
        return {**sizes, "trials": self.n_trials(request, cell)}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        levels = {"none": [0.0], **cell["levels"]}
        return [
            {"network": cell["network"], "T": cell["T"], "disturbance": name, "level": level}
            | {"trials": len(trials)}
            | _median([each[name][k] for each in trials])
            | {"stayed": sum(each[name][k] > cell["steps"] for each in trials)}
            for name, each_level in levels.items()
            for k, level in enumerate(each_level)
        ]

    def verdict(self, result: Result) -> Verdict:
        s = result.data["settings"]
        return Verdict(
            None,
            f"{s['trials']} networks each (N = {s['N']}, M = {s['M']}) store a loop of random "
            "patterns and run as integrate-and-fire neurons, a pattern every 25 ms, from a cue "
            f"with {s['flips']} flipped units for {s['steps']} patterns. "
            + " ".join(_sentence(result, name, T) for name, T in _memories(result))
            + " The paper has no such experiment.",
        )

    def tables(self, result: Result) -> list[Table]:
        """Return a table with a line for each disturbance and level."""
        memories = _memories(result)
        lines = [
            [
                _level(first["disturbance"], first["level"]),
                *(
                    f"{row['median']:.0f} ({row['low']}–{row['high']}), {row['stayed']}"
                    for name, T in memories
                    for row in result.rows(
                        network=name, T=T, disturbance=first["disturbance"], level=first["level"]
                    )
                ),
            ]
            for first in result.rows(network=memories[0][0], T=memories[0][1])
        ]
        s = result.data["settings"]
        caption = (
            "Patterns up to which runs stay on the sequence: the median, its 95 % interval, and "
            f"how many of {s['trials']} networks stay for all {s['steps'] + 1}, cue included."
        )
        return [Table(["disturbance", *(_memory(*each) for each in memories)], lines, caption)]

    def figure(self, result: Result) -> Figure:
        figure, axes = plt.subplots(2, 2, figsize=(9.0, 6.0), layout="constrained", sharey=True)
        settings = result.data["settings"]
        for ax, name in zip(axes.flat, LEVELS, strict=True):
            for (network, T), look in zip(_memories(result), LOOKS, strict=False):
                rows = result.rows(network=network, T=T, disturbance="none")
                rows += result.rows(network=network, T=T, disturbance=name)
                x = [_shown(name, row["level"]) for row in rows]
                low, middle, high = ([row[k] for row in rows] for k in ("low", "median", "high"))
                ax.plot(x, middle, label=_memory(network, T), **look)
                ax.fill_between(x, low, high, color=look["color"], alpha=0.18, linewidth=0)
            ax.axhline(settings["steps"] + 1, color=plots.GREY, linewidth=0.8, zorder=1)
            ax.set(yscale="log", xlabel=", ".join(WORDS[name]).format(**settings))
            ax.yaxis.set_major_formatter("{x:g}")
            ax.grid(visible=True)
        for ax in axes[:, 0]:
            ax.set_ylabel("patterns on the sequence")
        axes[0, 1].legend(loc="lower left", fontsize=8)
        return figure


LOOKS: list[dict[str, Any]] = [
    {"color": plots.BLUE, "marker": "s", "markersize": 9},
    {"color": plots.RED, "marker": "o", "markersize": 6.5},
    {"color": plots.ORANGE, "marker": "v", "markersize": 4, "linestyle": "--"},
]
NAMES = {"attractor": "the paper's network", "sparse": "sparse network"}


def _median(steps: list[int]) -> Row:
    """Return the median and its 95 % interval between two of the values, as a part of a row."""
    ranked = sorted(steps)
    # So many values may be left out at either end; with few values none.
    outside = int(binom.ppf(0.025, len(ranked), 0.5))
    out = max(outside - 1, 0)
    return {"median": float(np.median(ranked)), "low": ranked[out], "high": ranked[-1 - out]}


def _memories(result: Result) -> list[tuple[str, int]]:
    """Return the networks with the lengths of their sequences."""
    return [(row["network"], row["T"]) for row in result.rows(disturbance="none")]


def _memory(network: str, T: int) -> str:
    """Return a network and the length of its sequence in words."""
    return f"{NAMES[network]}, T = {T}"


def _level(name: str, level: float) -> str:
    """Return a disturbance and its level in words."""
    if name == "none":
        return "none"
    return f"{WORDS[name][0]} {_shown(name, level):g}{' ms' if name == 'jitter' else ''}"


def _shown(name: str, level: float) -> float:
    """Return a level as people read it: jitter in milliseconds."""
    return 1e3 * level if name == "jitter" else level


def _sentence(result: Result, network: str, T: int) -> str:
    """Describe up to which levels one network stays on its sequence."""

    def reach(name: str) -> str:
        most = None
        rows = result.rows(network=network, T=T, disturbance=name)
        for row in rows:
            if row["stayed"] < row["trials"] / 2:
                break
            most = row["level"]
        if most is None:
            return f"less than {_shown(name, rows[0]['level']):g}"
        return f"up to {_shown(name, most):g}"

    [calm] = result.rows(network=network, T=T, disturbance="none")
    return (
        f"{_memory(network, T)[0].upper()}{_memory(network, T)[1:]}: {calm['stayed']} of "
        f"{calm['trials']} stay on the sequence to the end without a disturbance; at least half "
        f"do with membrane noise of {reach('noise')} of the root mean square distance from "
        f"threshold, jitter of {reach('jitter')} ms, {reach('dead_hidden')} dead hidden neurons, "
        f"or {reach('dead_visible')} dead visible ones."
    )


TARGET = _Spikes(
    name="spikes",
    title="Integrate-and-fire neurons",
    trial="spikes:run_disturbed",
    about="Learned networks run as leaky integrate-and-fire neurons in continuous time, with noise "
    "on their membranes, jitter of their spikes, or dead neurons, until they have lost the "
    "sequence: until a state has an overlap below 0.5 with the pattern that is due, or a larger "
    "one with another.",
)
