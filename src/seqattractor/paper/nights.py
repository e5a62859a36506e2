"""Fast and slow: a store with one neuron per transition learns by day, and a compact network takes
over by replay at night what the store has learned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.analysis._attractors import find_attractors
from seqattractor.analysis._robustness import basin_fraction
from seqattractor.datasets._random import random_periodic
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.paper.settings import RANDOM_SEQUENCES
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.report.page import Table, Verdict
from seqattractor.sequences import Patterns
from seqattractor.sequences._transitions import close_loop

T = 21  # of a loop of 20 patterns
BASIN = 0.9  # of the cues of a stored sequence lead to it, at least
MEMORIES = {
    "store": "store alone",
    "both": "both",
    "self": "compact network alone, self-replay",
    "none": "compact network alone, no rehearsal",
}
# Memory, hidden neurons of the compact network, sequences a day, days, and runs at most.
LIVES: tuple[tuple[str, int, int, int, int], ...] = (
    ("store", 0, 20, 8, 20),
    ("both", 500, 20, 3, 20),
    ("both", 1000, 5, 17, 20),
    ("both", 1000, 20, 5, 20),
    ("both", 2000, 20, 8, 3),
    ("self", 500, 20, 3, 3),
    ("self", 900, 20, 3, 3),
    ("none", 500, 20, 3, 20),
)
QUICK_DAYS = 2


def live(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Learn some sequences each day, sleep, and test all sequences so far in the morning.

    Settings are memory, M, a_day, days, T, N and flips. The memory is

    store
        A `OneHotNetwork`, which is presented each sequence once.
    both
        The store learns by day. At night it replays the sequences, a compact network learns them by
        ``add(..., rehearse="self")``, and the store is cleared.
    self, none
        The compact network alone learns each sequence when it comes, by ``add`` with self-replay or
        without rehearsal.

    The outcome has lists with an entry for each night:

    exact
        How many sequences have every transition right.
    stored
        How many of these are also reached from at least 90 % of the cues with flipped units.
    store_neurons, compact_neurons
        Hidden neurons of the store in the evening, and of the compact network.
    replayed
        Sequences that the store has replayed exactly.
    """
    of_loops, of_network, of_cues = (np.random.default_rng(each) for each in seed.spawn(3))
    compact = SparseSequenceAttractor(settings["M"] or 1, random_state=of_network)
    store, memory = OneHotNetwork(), settings["memory"]
    learned: list[Patterns] = []
    outcome = dict[str, list[int]]()
    for _ in range(settings["days"]):
        day = [
            random_periodic(settings["T"], settings["N"], rng=of_loops).patterns
            for _ in range(settings["a_day"])
        ]
        learned += day
        replayed: list[Patterns] = []
        for x in day:
            if memory in ("store", "both"):
                store.partial_fit(x)
            else:
                compact.add(x, rehearse="self" if memory == "self" else None)
        store_neurons = store.n_hidden_ if memory in ("store", "both") else 0
        if memory == "both":
            replayed = replay_of(store)
            compact.add(replayed)
            store = OneHotNetwork()
        exact, stored = _test(
            store if memory == "store" else compact, learned, settings["flips"], of_cues
        )
        row = {
            "exact": exact,
            "stored": stored,
            "store_neurons": store_neurons,
            "compact_neurons": 0 if memory == "store" else settings["M"],
            "replayed": len({_name(x) for x in replayed} & {_name(x) for x in day}),
        }
        for name, value in row.items():
            outcome.setdefault(name, []).append(value)
    return outcome


def replay_of(store: OneHotNetwork) -> list[Patterns]:
    """Return the loops of a store. Each of its hidden neurons is a transition, so that a run from
    the incoming weights of any of them is on a stored sequence from the first step.
    """
    found = find_attractors(store, starts=store.U_).attractors
    return [close_loop(each.patterns, 1) for each in found]


def _test(
    net: SequenceMemory, learned: list[Patterns], flips: int, rng: np.random.Generator
) -> tuple[int, int]:
    """Return how many sequences are exact, and how many of these attract."""
    exact = [x for x in learned if net.score(x) == 1]
    return len(exact), sum(basin_fraction(net, x, flips=flips, rng=rng) >= BASIN for x in exact)


def _name(x: Patterns) -> frozenset[bytes]:
    """Return a name of a loop, wherever it begins."""
    return frozenset(row.tobytes() for row in x)


class _Nights(Target):
    """What is stored after each night, and in how many hidden neurons."""

    def cells(self, request: Request) -> list[Cell]:
        sizes = {"T": T} | {key: RANDOM_SEQUENCES[key] for key in ("N", "flips")}
        return [
            {"memory": memory, "M": M, "a_day": a_day, **sizes}
            | {"days": min(days, QUICK_DAYS) if request.quick else days, "runs": runs}
            for memory, M, a_day, days, runs in LIVES
            if not (request.quick and M > 500)
        ]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return request.at_most(cell["runs"])

    def settings(self, request: Request) -> dict[str, Any]:
        [cell, *_] = self.cells(request)
        return {key: cell[key] for key in ("N", "T", "flips")} | {"basin": BASIN}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        return [
            {key: cell[key] for key in ("memory", "M", "a_day")}
            | {"night": k + 1, "learned": (k + 1) * cell["a_day"], "trials": len(trials)}
            | {key: float(np.mean([each[key][k] for each in trials])) for key in MEANS}
            | {"low": min(each["stored"][k] for each in trials)}
            | {"high": max(each["stored"][k] for each in trials)}
            | {"all_stored": sum(each["stored"][k] == (k + 1) * cell["a_day"] for each in trials)}
            for k in range(cell["days"])
        ]

    def verdict(self, result: Result) -> Verdict:
        s = result.data["settings"]
        each = " ".join(_words(rows) for rows in _lives(result))
        return Verdict(
            None,
            f"Loops of {s['T'] - 1} random patterns (N = {s['N']}). A loop is stored if every "
            f"transition is right and at least {s['basin']:.0%} of its patterns with {s['flips']} "
            f"flipped units lead to it. {each} {_saving(_lives(result))} The paper has no such "
            "experiment.",
        )

    def tables(self, result: Result) -> list[Table]:
        lines = []
        for rows in _lives(result):
            full, last = rows[_full(rows) - 1] if _full(rows) else None, rows[-1]
            lines.append(
                [
                    MEMORIES[last["memory"]],
                    str(last["M"] or "-"),
                    str(last["a_day"]),
                    str(last["trials"]),
                    f"{_full(rows)} of {len(rows)}",
                    f"{full['learned']}" if full else "0",
                    f"{_neurons(full)}" if full else "-",
                    f"{_neurons(full) / full['learned']:.1f}" if full else "-",
                    f"{last['stored']:.1f} of {last['learned']}",
                ]
            )
        columns = ["memory", "M", "a day", "runs", "nights", "sequences", "hidden neurons"]
        columns += ["for each sequence", "stored at the end"]
        caption = (
            "Nights after which all sequences so far are stored in every run, these sequences, the "
            "hidden neurons of both parts in all, and what is stored after the last night (mean). "
            f"A sequence has {result.data['settings']['T'] - 1} transitions."
        )
        return [Table(columns, lines, caption)]

    def figure(self, result: Result) -> Figure:
        """Draw what is stored after each night, and the hidden neurons that are needed for it."""
        figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
        most = max(row["learned"] for row in result.rows())
        left.plot([0, most], [0, most], color=plots.GREY, linewidth=0.8, linestyle=":")
        for rows in _lives(result):
            last = rows[-1]
            look = LOOKS[last["memory"], last["M"], last["a_day"]]
            x, y = ([row[key] for row in rows] for key in ("learned", "stored"))
            left.plot(x, y, label=_label(last), markersize=5, linewidth=1.4, **look)
            left.fill_between(
                x,
                [row["low"] for row in rows],
                [row["high"] for row in rows],
                color=look["color"],
                alpha=0.15,
                linewidth=0,
            )
            for row in rows[: _full(rows)]:
                right.plot(
                    row["learned"],
                    _neurons(row),
                    **{**look, "linestyle": ""},
                    markersize=5 if row is not rows[_full(rows) - 1] else 8,
                )
        transitions = result.data["settings"]["T"] - 1
        ends = np.array([0, most])
        right.plot(ends, transitions * ends, color=plots.GREY, linewidth=0.8)
        right.plot(ends, transitions * ends / 2, color=plots.GREY, linewidth=0.8, linestyle=":")
        for per_neuron in (1, 2):
            right.annotate(
                f"{per_neuron} per neuron",
                (most, transitions * most / per_neuron),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                annotation_clip=False,
            )
        left.set(xlabel="sequences learned", ylabel="sequences stored")
        right.set(xlabel="sequences, all stored in every run", ylabel="hidden neurons in all")
        for ax in (left, right):
            ax.grid(visible=True)
            ax.set(xlim=(0, None), ylim=(0, None))
        right.set_xlim(0, most)
        figure.legend(loc="outside upper center", ncols=2, fontsize=8)
        return figure


MEANS = ("exact", "stored", "store_neurons", "compact_neurons", "replayed")
LOOKS: dict[tuple[str, int, int], dict[str, Any]] = {
    ("store", 0, 20): {"color": plots.GREY, "marker": "d", "linestyle": "--"},
    ("both", 500, 20): {"color": plots.RED, "marker": "o"},
    ("both", 1000, 5): {"color": plots.ORANGE, "marker": "s"},
    ("both", 1000, 20): {"color": plots.RED, "marker": "s"},
    ("both", 2000, 20): {"color": plots.RED, "marker": "^"},
    ("self", 500, 20): {"color": plots.BLUE, "marker": "o", "markerfacecolor": "none"},
    ("self", 900, 20): {"color": plots.BLUE, "marker": "s", "markerfacecolor": "none"},
    ("none", 500, 20): {"color": plots.GREEN, "marker": "v"},
}


def _lives(result: Result) -> list[list[Row]]:
    """Return the rows of each cell."""
    lives = dict[tuple[str, int, int], list[Row]]()
    for row in result.rows():
        lives.setdefault((row["memory"], row["M"], row["a_day"]), []).append(row)
    return list(lives.values())


def _full(rows: list[Row]) -> int:
    """Return after how many nights all sequences so far are stored in every run."""
    whole = [row["all_stored"] == row["trials"] for row in rows]
    return whole.index(False) if False in whole else len(whole)


def _neurons(row: Row) -> int:
    """Return the hidden neurons of both parts."""
    return int(row["store_neurons"] + row["compact_neurons"])


def _label(row: Row) -> str:
    """Return the name of a memory with its size."""
    size = f", M = {row['M']}" if row["M"] else ""
    return f"{MEMORIES[row['memory']]}{size}, {row['a_day']} a day"


def _words(rows: list[Row]) -> str:
    """Describe one memory in a sentence."""
    first, last, nights = rows[0], rows[-1], _full(rows)
    runs = f"{last['trials']} run{'' if last['trials'] == 1 else 's'}"
    name = _label(last)
    text = f"{name[0].upper()}{name[1:]} ({runs}): "
    if not nights:
        text += "not all are stored after the first night"
    else:
        row = rows[nights - 1]
        text += (
            f"all are stored after {nights} night{'' if nights == 1 else 's'} "
            f"({row['learned']} sequences) in every run"
        )
        if last["memory"] == "store":
            text += f", with {_neurons(row)} hidden neurons"
        elif last["memory"] == "both":
            text += (
                f", with {_neurons(row)} hidden neurons, {round(first['store_neurons'])} of them "
                f"in the store (the store alone would have {row['learned'] * (T - 1)})"
            )
    if nights < len(rows):
        text += (
            f"; after night {len(rows)} {last['stored']:.1f} of {last['learned']} are stored "
            f"(mean; {last['low']} to {last['high']}), {last['exact']:.1f} exactly"
        )
    return text + "."


def _saving(lives: list[list[Row]]) -> str:
    """Describe which memories need fewer hidden neurons than one per transition."""
    each = {
        _label(rows[0]): _neurons(rows[_full(rows) - 1]) / rows[_full(rows) - 1]["learned"]
        for rows in lives
        if _full(rows) and rows[0]["memory"] != "store"
    }
    fewer = [f"{name} ({n:.1f})" for name, n in each.items() if n < T - 1]
    more = [f"{name} ({n:.1f})" for name, n in each.items() if n >= T - 1]
    text = f"The store alone has {T - 1} hidden neurons for each sequence"
    if fewer:
        text += f"; fewer have {', '.join(fewer)}"
    if more:
        text += f"; as many or more have {', '.join(more)}"
    return text + "."


TARGET = _Nights(
    name="nights",
    title="Fast and slow",
    trial="nights:live",
    about="By day a store with one hidden neuron per transition learns loops of 20 random patterns "
    "in one shot. At night it replays them, started by its own neurons; a compact sparse network "
    "learns them together with what it replays by itself; and the store is cleared. Beside it the "
    "store alone, and the compact network alone, which learns each sequence when it comes.",
)
