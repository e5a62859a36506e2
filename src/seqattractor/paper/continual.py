"""Sequences one after another: how many a network has stored after each, with what it rehearses."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.analysis._robustness import basin_fraction
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.datasets._random import random_periodic, random_sequences
from seqattractor.networks.registry import make_network, parameters_of
from seqattractor.paper.settings import DIGITS, RANDOM_SEQUENCES
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target
from seqattractor.plots._continual import draw_continual
from seqattractor.report.page import Table, Verdict
from seqattractor.sequences import Patterns
from seqattractor.study.continual import learn_in_turn
from seqattractor.study.protocol import seed_of

RUNS = 20  # at most
T = 21  # of a loop of 20 patterns
CUES = 3  # from each pattern
BASIN = 0.9  # of the cues of a stored sequence lead to it, at least
SEQUENCES = {"sparse": 45, "one-hot": 45, "lookup": 45, "attractor": 6}
"""How many are learned, by the short name of the network."""
REHEARSALS = {
    "sparse": ("self", "cues", None),
    "one-hot": (None,),
    "lookup": (None,),
    "attractor": ("self", "cues", None),
}
FEW = {"sparse": 4, "one-hot": 4, "lookup": 4, "attractor": 2}  # for a quick run

LIMITS: dict[str, Cell] = {
    "loops": {},
    "open sequences": {"open": True},
    "loops, correlation 0.5": {"correlation": 0.5},
    "loops, correlation 0.8": {"correlation": 0.8},
}
"""Kinds of sequences that a small sparse network learns, some of which are hard to replay."""
SMALL = {"M": 100, "T": 11, "sequences": 16}  # of 10 transitions each
LIMIT_REHEARSALS = ("self", "patterns")

LONG: dict[str, Cell] = {
    "open sequences of 20 transitions": {"open": True, "M": 500, "T": T, "sequences": 40},
    "moving digits, 20 frames": {
        "pictures": DIGITS["shape"][0],
        "M": DIGITS["M"],
        "T": DIGITS["T"],
        "N": DIGITS["shape"][0] * DIGITS["shape"][1],
        "sequences": 12,
    },
}
"""Kinds of sequences that a large sparse network learns, which are tested without noise only."""
LONG_REHEARSALS = ("self", "cues")
LONG_RUNS = 3  # at most


def learn_and_test(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Let a network learn sequences one after another, and test all so far after each.

    Settings are network, rehearse, sequences, T, M, N and flips; of other sequences than random
    loops also their kind, and open, correlation or pictures. All networks get the same sequences
    and cues. The outcome has lists with an entry for each number of sequences learned:

    exact
        How many have every transition right.
    stored
        How many of these are also reached from at least 90 % of the cues with flipped units.
    basin
        The mean fraction of such cues that lead to their sequence. With exact_only neither is
        tested.
    first
        The fraction of transitions of the first sequence that are right.
    bits_saved, parameters
        What is saved beside the weights, and how many weights there are.
    """
    assert isinstance(seed.entropy, int)  # as `seed_of` made it
    of_all = seed_of(seed.entropy, "continual", int(seed.spawn_key[-1]))
    of_data, of_network, of_cues = (np.random.default_rng(each) for each in of_all.spawn(3))
    found = _draw(settings, of_data)
    sizes = {"n_hidden": settings["M"], "random_state": int(of_network.integers(2**32))}
    known = parameters_of(settings["network"])
    net = make_network(
        settings["network"], **{name: value for name, value in sizes.items() if name in known}
    )
    outcome = dict[str, list[Any]]()
    for k, bits in enumerate(learn_in_turn(net, found, settings["rehearse"]), start=1):
        exact = np.array([net.score(x) == 1 for x in found[:k]])
        row: dict[str, Any] = {"exact": int(exact.sum())}
        if not settings.get("exact_only"):
            basins = np.array(
                [
                    [
                        basin_fraction(net, x, flips=settings["flips"], rng=of_cues)
                        for _ in range(CUES)
                    ]
                    for x in found[:k]
                ]
            ).mean(axis=1)
            row["stored"] = int((exact & (basins >= BASIN)).sum())
            row["basin"] = float(basins.mean())
        row["first"] = float(net.score(found[0]))
        row["bits_saved"] = bits
        row["parameters"] = net.n_parameters()
        for name, value in row.items():
            outcome.setdefault(name, []).append(value)
    return outcome


def _draw(settings: dict[str, Any], rng: np.random.Generator) -> list[Patterns]:
    """Draw the sequences."""
    n, T, N = (settings[key] for key in ("sequences", "T", "N"))
    if "pictures" in settings:
        return moving_digits(n, T, settings["pictures"], rng=rng).split()
    if settings.get("open"):
        return [random_sequences(1, T, N, rng=rng).patterns for _ in range(n)]
    correlation = settings.get("correlation", 0.0)
    return [random_periodic(T, N, correlation=correlation, rng=rng).patterns for _ in range(n)]


NAMES = {
    "sparse": "sparse network",
    "one-hot": "one-hot network, M neurons",
    "lookup": "look-up table",
    "attractor": "the paper's network",
}
HOW = {
    "self": "self-replay",
    "cues": "cues",
    "patterns": "all patterns saved",
    None: "no rehearsal",
}
LOOKS: dict[str, dict[str, Any]] = {
    "self-replay": {"color": plots.RED, "marker": "o"},
    "cues": {"color": plots.BLUE, "marker": "s", "linestyle": "--"},
    "no rehearsal": {"color": plots.GREEN, "marker": "v"},
    NAMES["one-hot"]: {"color": plots.GREY, "marker": "d"},
    NAMES["lookup"]: {"color": plots.GREY, "marker": "p", "linestyle": ":"},
}


class _Continual(Target):
    """What is stored, what is left of the first sequence and what is saved beside the weights, for
    each number of sequences learned.
    """

    def cells(self, request: Request) -> list[Cell]:
        sizes = {key: RANDOM_SEQUENCES[key] for key in ("N", "flips")}
        sequences = FEW if request.quick else SEQUENCES
        large = [
            {"network": name, "rehearse": rehearse, "sequences": sequences[name], "T": T}
            | {"M": RANDOM_SEQUENCES["table1"]["M"][0], **sizes}
            for name, rehearsals in REHEARSALS.items()
            for rehearse in rehearsals
        ]
        few = {"sequences": FEW["sparse"]} if request.quick else {}
        limits = [
            {"network": "sparse", "rehearse": rehearse, "kind": kind, **SMALL, **sizes, **more}
            for kind, more in LIMITS.items()
            for rehearse in LIMIT_REHEARSALS
        ]
        long = [
            {"network": "sparse", "rehearse": rehearse, "kind": kind, **sizes, "exact_only": True}
            | more
            for kind, more in LONG.items()
            for rehearse in LONG_REHEARSALS
        ]
        return large + [each | few for each in (*limits, *long)]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return request.at_most(LONG_RUNS if cell.get("kind") in LONG else RUNS)

    def settings(self, request: Request) -> dict[str, Any]:
        cell = self.cells(request)[0]
        sizes = {key: cell[key] for key in ("N", "M", "T", "flips")}
        cues = {"cues": CUES * (T - 1), "basin": BASIN}
        return sizes | cues | {"trials": self.n_trials(request, cell)}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        rows = []
        for k in range(cell["sequences"]):
            each = [{key: values[k] for key, values in trial.items()} for trial in trials]
            row = {"network": cell["network"], "rehearse": cell["rehearse"]}
            row |= {"kind": cell.get("kind", ""), "learned": k + 1, "trials": len(trials)}
            row |= {key: float(np.mean([t[key] for t in each])) for key in MEANS if key in each[0]}
            row["all_right"] = sum(t["exact"] > k for t in each)
            row |= {key: max(t[key] for t in each) for key in ("bits_saved", "parameters")}
            if "stored" in each[0]:
                row["low"] = min(t["stored"] for t in each)
                row["high"] = max(t["stored"] for t in each)
                row["all_stored"] = sum(t["stored"] > k for t in each)
                row["all_exact"] = sum(t["exact"] > k and t["basin"] >= BASIN for t in each)
            rows.append(row)
        return rows

    def verdict(self, result: Result) -> Verdict:
        s = result.data["settings"]
        runs = f"{s['trials']} run{'s' if s['trials'] != 1 else ''}"
        each = " ".join(
            _words(_memory(name, rehearse), _curve(result, name, rehearse))
            for name, rehearsals in REHEARSALS.items()
            for rehearse in rehearsals
        )
        return Verdict(
            None,
            f"Loops of {s['T'] - 1} random patterns (N = {s['N']}, M = {s['M']}) one after "
            f"another, {runs} each. A loop is stored if every transition is right and at least "
            f"{s['basin']:.0%} of {s['cues']} cues with {s['flips']} flipped units lead to it. "
            f"{each} The paper has no such experiment.",
        )

    def tables(self, result: Result) -> list[Table]:
        """Return a table with a line for each network and rehearsal."""
        lines = [
            [
                _memory(name, rehearse),
                *(str(reach(rows, key, share)) for key in REACHED for share in (1.0, 0.5)),
                f"{rows[-1]['stored']:.1f} of {rows[-1]['learned']}",
                f"{100 * rows[-1]['first']:.0f} %",
                f"{rows[-1]['bits_saved']:,}",
                f"{rows[-1]['parameters']:,}",
            ]
            for name, rehearsals in REHEARSALS.items()
            for rehearse in rehearsals
            for rows in [_curve(result, name, rehearse)]
        ]
        columns = ["all stored, every run", "all stored, half of the runs"]
        columns += ["all right, every run", "all right, half of the runs"]
        columns += ["stored at the end", "transitions of the first", "bits saved", "numbers"]
        s = result.data["settings"]
        caption = (
            "Up to how many sequences all are stored in the runs, and up to how many all have "
            f"every transition right and a mean basin of at least {s['basin']:.0%}; after the last "
            "one the sequences stored (mean), the transitions of the first one that are right, the "
            "bits saved beside the weights, and the numbers that recall needs."
        )
        return [Table(["memory", *columns], lines, caption), _limits(result), _long(result)]

    def figure(self, result: Result) -> Figure:
        figure, axes = plt.subplots(2, 3, figsize=(10.5, 6.0), layout="constrained")
        panels = ([name for name in REHEARSALS if name != "attractor"], ["attractor"])
        for row, names in zip(axes, panels, strict=True):
            curves = {
                HOW[rehearse] if name in REHEARSING else NAMES[name]: _curve(result, name, rehearse)
                for name in names
                for rehearse in REHEARSALS[name]
            }
            draw_continual(row, curves, LOOKS)
            row[0].set_title(NAMES["sparse" if "sparse" in names else "attractor"], loc="left")
        axes[0, 1].legend(loc="center", fontsize=8)
        return figure


REHEARSING = [name for name, each in REHEARSALS.items() if len(each) > 1]
MEANS = ("exact", "stored", "basin", "first")
REACHED = ("all_stored", "all_exact")


def _curve(result: Result, name: str, rehearse: str | None, kind: str = "") -> list[Row]:
    """Return the rows of one network with one rehearsal."""
    return result.rows(network=name, rehearse=rehearse, kind=kind)


def _limits(result: Result) -> Table:
    """Return how many sequences of each kind a small network has stored."""
    caption = (
        f"Sequences of {SMALL['T'] - 1} transitions in a sparse network with {SMALL['M']} hidden "
        "neurons"
    )
    return _kinds(result, list(LIMITS), LIMIT_REHEARSALS, 4, caption)


def _long(result: Result) -> Table:
    """Return how many long open sequences and films a larger network has stored."""
    sizes = " and ".join(f"{each['M']} ({kind})" for kind, each in LONG.items())
    caption = f"Long open sequences in sparse networks, with hidden neurons: {sizes}"
    return _kinds(result, list(LONG), LONG_REHEARSALS, 10, caption)


def _kinds(
    result: Result, kinds: list[str], rehearsals: tuple[str, ...], step: int, caption: str
) -> Table:
    """Return how many sequences of some kinds have every transition right, after every few."""
    curves = {
        (kind, rehearse): rows
        for kind in kinds
        for rehearse in rehearsals
        if (rows := _curve(result, "sparse", rehearse, kind))
    }
    most = max(map(len, curves.values()))
    shown = range(min(step, most), most + 1, min(step, most))
    lines = [
        [
            kind,
            HOW[rehearse],
            str(rows[0]["trials"]),
            *(f"{rows[k - 1]['exact']:.1f}" if k <= len(rows) else "–" for k in shown),
            f"{rows[-1]['exact']:.1f} of {rows[-1]['learned']}",
            str(reach(rows, "all_right", 1.0)),
        ]
        for (kind, rehearse), rows in curves.items()
    ]
    columns = ["sequences", "rehearsal", "runs", *(f"of {k}" for k in shown)]
    columns += ["at the end", "all, in every run"]
    caption += (
        ": how many have every transition right (mean number) of those learned so far, and up to "
        "how many all have in every run."
    )
    return Table(columns, lines, caption)


def reach(rows: list[Row], key: str, share: float) -> int:
    """Return up to how many sequences, with all smaller numbers, a share of the runs counts in
    `key`.
    """
    reached = 0
    for row in rows:
        if row[key] < share * row["trials"]:
            break
        reached = row["learned"]
    return reached


def _memory(name: str, rehearse: str | None) -> str:
    """Return a network and what it rehearses, if it can, in words."""
    return f"{NAMES[name]}, {HOW[rehearse]}" if name in REHEARSING else NAMES[name]


def _words(memory: str, rows: list[Row]) -> str:
    """Describe one network with one rehearsal in a sentence."""
    last, every, half = rows[-1], reach(rows, "all_stored", 1.0), reach(rows, "all_stored", 0.5)
    saved = (
        f", with {last['bits_saved']:,} bits saved beside the weights" if last["bits_saved"] else ""
    )
    more = f" and up to {half} in half of them" if half > every else ""
    return (
        f"{memory[0].upper()}{memory[1:]}: all stored up to {every} in every run{more}; of "
        f"{last['learned']}, {last['stored']:.1f} are "
        f"({last['low']} to {last['high']}), and {last['first']:.0%} of the first one's "
        f"transitions are right{saved}."
    )


TARGET = _Continual(
    name="continual",
    title="One sequence after another",
    trial="continual:learn_and_test",
    about="Networks learn loops of 20 random patterns one after another, rehearsing what they "
    "replay by themselves, what they recall from saved cues, or nothing. After each loop all "
    "are tested: how many are stored, what is left of the first one, and what is saved beside the "
    "weights. Beside them memories that have a neuron or a row of a table for each transition.",
)
