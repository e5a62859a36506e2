"""As sleep would: replay and learning alternate step by step, each step one local update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.analysis._robustness import basin_fraction
from seqattractor.datasets._random import random_periodic
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.paper.nights import BASIN, T
from seqattractor.paper.settings import RANDOM_SEQUENCES
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.report.page import Table, Verdict
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import as_signs

Learner = SparseSequenceAttractor | SequenceAttractor

RUNS = 10  # at most
STEPS = 20  # of a run from the weights of one neuron
SURE = 0.9  # of the neurons of each layer have at least half their margin
MOST_SHOWN = 60  # times that the new sequence is presented
MOST_UNSURE = 2000  # unsure steps in a row, after which nothing is replayed any more
NETWORKS = {"sparse": "sparse network without noise", "attractor": "the paper's network"}
# Network, sequences stored and weights from which runs start: replayed transitions for each new
# one; None is `add`.
NIGHTS: dict[tuple[str, int, str], tuple[int | None, ...]] = {
    ("sparse", 5, "incoming"): (0, 1, 5, 10, 20, None),
    ("sparse", 5, "outgoing"): (5, 10, 20),
    ("sparse", 10, "incoming"): (10, 20, None),
    ("attractor", 1, "incoming"): (0, 1, 5, 10, None),
    ("attractor", 2, "incoming"): (5, 10, None),
}


def replay_steps(
    net: Learner, rng: np.random.Generator, start: str = "incoming"
) -> Iterator[tuple[Patterns, bool]]:
    """Yield transitions, shape (2, N), that a network makes by itself while it may be learning, and
    whether it is sure of them.

    Runs start from the signs of the incoming or outgoing weights of one hidden neuron after
    another, in random order. The first step of a run may begin at a noisy version of a stored
    pattern.
    """
    while True:
        for i in rng.permutation(net.n_hidden_):
            state = as_signs((net.U_[i] if start == "incoming" else net.V_[:, i]) >= 0)
            for _ in range(STEPS):
                at, shares = state[None], []
                for layer in net.layers():
                    fields = layer.fields(at)
                    shares.append(float((np.abs(fields) >= (layer.kappa or 0.0) / 2).mean()))
                    at = layer.states(fields)
                yield np.stack([state, at[0]]), min(shares) >= SURE
                state = at[0]


def learn_in_sleep(
    net: Learner, x: Patterns, replays: int, rng: np.random.Generator, start: str = "incoming"
) -> dict[str, int]:
    """Present a new sequence until it is stored, with some replayed transitions before each of its
    own. Each is one call of `partial_fit`, with two patterns.
    """
    replayed = replay_steps(net, rng, start)
    count = {"replayed": 0, "unsure": 0, "presented": 0}
    for _ in range(MOST_SHOWN):
        for t in range(len(x) - 1):
            left, unsure = replays, 0
            while left and unsure < MOST_UNSURE:
                transition, sure = next(replayed)
                if sure:
                    net.partial_fit(transition)
                left, unsure = (left - 1, 0) if sure else (left, unsure + 1)
                count["replayed" if sure else "unsure"] += 1
            net.partial_fit(x[t : t + 2])
            count["presented"] += 1
        if net.score(x) == 1:
            break
    return count


def sleep(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Store some loops in one batch, and then a new one while the network sleeps.

    Settings are network, stored, replays (None for `add`), T, M, N, flips and, if they are
    outgoing weights, start. The outcome is

    kept, new
        Earlier sequences that are exact, and whether the new one is.
    attract
        How many of the exact ones, with the new one, are reached from at least 90 % of the cues.
    replayed, unsure, presented
        Replayed transitions that were learned, those that were not since the network was unsure,
        and presentations of a new transition; 0 with `add`.
    """
    of_loops, of_network, of_replay, of_cues = (
        np.random.default_rng(each) for each in seed.spawn(4)
    )
    *earlier, new = (
        random_periodic(settings["T"], settings["N"], rng=of_loops).patterns
        for _ in range(settings["stored"] + 1)
    )
    net: Learner
    if settings["network"] == "sparse":
        net = SparseSequenceAttractor(settings["M"], noise=0, random_state=of_network)
    else:
        net = SequenceAttractor(settings["M"], random_state=of_network)
    net.fit(earlier)
    count = {"replayed": 0, "unsure": 0, "presented": 0}
    if settings["replays"] is None:
        net.add(new)
    else:
        count = learn_in_sleep(
            net, new, settings["replays"], of_replay, settings.get("start", "incoming")
        )
    exact = [x for x in (*earlier, new) if net.score(x) == 1]
    basins = [basin_fraction(net, x, flips=settings["flips"], rng=of_cues) for x in exact]
    is_new = net.score(new) == 1
    return {
        "kept": len(exact) - is_new,
        "new": bool(is_new),
        "attract": sum(basin >= BASIN for basin in basins),
        **count,
    }


class _Sleep(Target):
    """What is left of earlier sequences, against the replayed transitions for each new one."""

    def cells(self, request: Request) -> list[Cell]:
        sizes = {"T": T, "M": RANDOM_SEQUENCES["table1"]["M"][0]}
        sizes |= {key: RANDOM_SEQUENCES[key] for key in ("N", "flips")}
        return [
            {"network": network, "stored": stored, "replays": replays, **sizes}
            | ({"start": start} if start != "incoming" else {})
            for (network, stored, start), each in NIGHTS.items()
            for replays in each
            if not (request.quick and (replays or 0) > 5)
        ]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return request.at_most(RUNS)

    def settings(self, request: Request) -> dict[str, Any]:
        [cell, *_] = self.cells(request)
        sizes = {key: cell[key] for key in ("N", "M", "T", "flips")}
        rule = {"basin": BASIN, "steps": STEPS, "sure": SURE, "most_shown": MOST_SHOWN}
        return sizes | rule | {"trials": request.at_most(RUNS)}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        return [
            {key: cell[key] for key in ("network", "stored", "replays")}
            | {"start": cell.get("start", "incoming")}
            | {"trials": len(trials)}
            | {key: float(np.mean([each[key] for each in trials])) for key in MEANS}
            | {
                "all": sum(each["kept"] == cell["stored"] and each["new"] for each in trials),
                "all_attract": sum(each["attract"] == cell["stored"] + 1 for each in trials),
            }
        ]

    def verdict(self, result: Result) -> Verdict:
        s = result.data["settings"]
        each = []
        for name, rows in _cases(result).items():
            steps = ", ".join(
                f"{row['replays']} (earlier ones exact {row['kept']:.1f}, new one "
                f"{row['new']:.0%}, steps {_steps(row):.0f})"
                for row in rows
                if row["replays"] is not None
            )
            text = f"{name[0].upper()}{name[1:]}, replayed transitions for each new one: {steps}"
            for row in rows:
                if row["replays"] is None:
                    text += f"; with add: {row['kept']:.1f} and {row['new']:.0%}"
            each.append(f"{text}.")
        return Verdict(
            None,
            f"Loops of {s['T'] - 1} random patterns (N = {s['N']}, M = {s['M']}), "
            f"{s['trials']} run{'s' if s['trials'] != 1 else ''} each, means. {' '.join(each)} The "
            "paper has no such experiment.",
        )

    def tables(self, result: Result) -> list[Table]:
        lines = [
            [
                name,
                "add" if row["replays"] is None else str(row["replays"]),
                f"{row['kept']:.1f} of {row['stored']}",
                f"{row['new']:.0%}",
                f"{row['all']} of {row['trials']}",
                f"{row['all_attract']} of {row['trials']}",
                "-" if row["replays"] is None else f"{_steps(row):.0f}",
                "-" if row["replays"] is None else f"{row['unsure']:.0f}",
            ]
            for name, rows in _cases(result).items()
            for row in rows
        ]
        columns = ["sequences", "replayed for each new transition", "earlier ones exact"]
        columns += ["new one exact", "all exact", "all with a basin", "learning steps"]
        columns += ["steps not learned"]
        s = result.data["settings"]
        caption = (
            f"Sequences that are stored before, and a new one; means of {s['trials']} runs. A "
            "learning step is one transition, replayed or new. With a basin: at least "
            f"{s['basin']:.0%} of the patterns with {s['flips']} flipped units lead to each "
            "sequence."
        )
        return [Table(columns, lines, caption)]

    def figure(self, result: Result) -> Figure:
        figure, ax = plt.subplots(figsize=(6.0, 4.6), layout="constrained")
        looks: tuple[dict[str, Any], ...] = (
            {"color": plots.RED, "marker": "o"},
            {"color": plots.RED, "marker": "v", "linestyle": ":"},
            {"color": plots.ORANGE, "marker": "s", "linestyle": "--"},
            {"color": plots.BLUE, "marker": "o"},
            {"color": plots.GREEN, "marker": "s", "linestyle": "--"},
        )
        for (name, rows), look in zip(_cases(result).items(), looks, strict=True):
            steps = [row for row in rows if row["replays"] is not None]
            ax.plot(
                [row["replays"] for row in steps],
                [100 * row["kept"] / row["stored"] for row in steps],
                label=name,
                **look,
            )
        ax.set(
            xlabel="replayed transitions for each new one",
            ylabel="earlier sequences exact, %",
            ylim=(-4, 104),
        )
        ax.grid(visible=True)
        figure.legend(loc="outside upper center", fontsize=8)
        return figure


MEANS = ("kept", "new", "attract", "replayed", "unsure", "presented")


def _cases(result: Result) -> dict[str, list[Row]]:
    """Return the rows of each network, number of stored sequences and start, by their names."""
    cases = dict[str, list[Row]]()
    for row in result.rows():
        name = f"{NETWORKS[row['network']]}, {row['stored']} + 1 sequences"
        if row["start"] == "outgoing":
            name += ", from outgoing weights"
        cases.setdefault(name, []).append(row)
    return cases


def _steps(row: Row) -> float:
    """Return the number of learning steps."""
    return float(row["replayed"] + row["presented"])


TARGET = _Sleep(
    name="sleep",
    title="As sleep would: step by step",
    trial="sleep:sleep",
    about="A network that has stored some loops learns a new one. Before each transition of the "
    "new one it makes some steps by itself, started by the weights of one of its neurons, and "
    "learns each of them by one local update if it is sure of it: if 90 % of the neurons of each "
    "layer have at least half of their margin. Beside it add, which replays first and learns "
    "afterwards.",
)
