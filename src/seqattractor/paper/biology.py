"""How much is stored and how well it attracts under the constraints of biology: which synapses
there are, their signs and bits, low activity, no common clock, noise and delays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.constraints import Constraint, Dale, Dilution, Levels
from seqattractor.datasets._random import random_periodic
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.dynamics import Dynamics
from seqattractor.networks.run import Run
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING, RANDOM_SEQUENCES
from seqattractor.paper.target import (
    Cell,
    Outcome,
    Request,
    Result,
    Row,
    Target,
    count_successes,
    flat_interval,
)
from seqattractor.report.page import Table, Verdict
from seqattractor.sequences import Patterns
from seqattractor.study.capacity import Search, SuccessCurve
from seqattractor.study.protocol import Point, Protocol, seed_of
from seqattractor.study.trial import retrieve_with

Ends = tuple[float, float, float]
"""A value and the ends of its interval."""

SUCCESS = 0.95
TRIALS = 52  # of each search
FIXED = 50  # of each other cell

NETWORKS = {"attractor": "the paper's rule", "sparse": "the sparse rule"}
CONSTRAINTS: dict[str, list[float]] = {
    "none": [1.0],
    "dilution": [0.5, 0.2, 0.1],
    "bits": [4, 3, 2],
    "dale": [0.5, 0.8, 1.0],
    "activity": [0.2, 0.05, 0.02],
}
"""What is changed before learning: the fraction of synapses that exist, the bits of each, the
fraction of excitatory neurons, and the fraction of units that are active in a pattern.
"""
DYNAMICS: dict[str, dict[float | str, dict[str, Any]]] = {
    "paper's": {0: {}},
    "missed": {q: {"update": round(1 - q, 2)} for q in (0.02, 0.05, 0.1, 0.2)},
    "temperature": {heat: {"temperature": heat} for heat in (0.2, 0.4, 0.6, 0.8, 1.0)},
    "delays": {f"{a} to {b}": {"delay": (a, b)} for a, b in ((0, 1), (0, 2), (1, 2))},
    "missed, delays": {q: {"update": round(1 - q, 2), "delay": (1, 2)} for q in (0.1, 0.2, 0.4)},
}
"""What is changed after learning, in recall alone."""
SEQUENTIAL = {"one by one": {0: {"update": "random"}}}
"""Its steps take long, so that only its basin is measured."""

FULL: dict[str, Any] = {
    "N": RANDOM_SEQUENCES["N"],
    "M": RANDOM_SEQUENCES["table1"]["M"][0],
    "flips": RANDOM_SEQUENCES["flips"],
    "t_max": {"attractor": 200, "sparse": 1500},
    "basin_at": {"attractor": 20, "sparse": 100},
    "lengths": {"attractor": [10, 20, 40, 60, 80], "sparse": [50, 100, 200, 400]},
}
QUICK: dict[str, Any] = {
    "N": 40,
    "M": 60,
    "flips": 4,
    "t_max": {"attractor": 40, "sparse": 60},
    "basin_at": {"attractor": 6, "sparse": 10},
    "lengths": {"attractor": [6, 12], "sparse": [10, 20]},
}
AT_A_PATTERN = 0.5  # a state with a larger overlap is at a stored pattern, others are between two
FORWARD = (1, 2)  # patterns from one passage to the next
SETTLE, FOLLOWED, STARTS, STEADY = 25, 100, 20, 10
"""Of recall under other dynamics: passages before it is judged, passages in order that are then
asked for at most, and for a basin the number of starts and of passages in order at the end.
"""


# -- trials
# --------------------------------------------------------------------------------------------------


def recall_constrained(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Run a trial of the part that `settings` name.

    Settings are part, network, kind, value, t, N, M and flips. The same number of a trial has the
    same sequence and the same start weights for all constraints and networks.

    success
        In the parts "length" and "basin", whether the sequence was retrieved, section 6.2.
    basin
        In the part "basin", the fraction of all patterns with flipped units from which the network
        is exactly on the sequence and in phase after 25 steps.
    followed, steady
        In the part "dynamics", for each of them whether the sequence was followed (`follows`), and
        with "with_basin" the fraction of starts with flipped units from which it is in the end.
    """
    assert isinstance(seed.entropy, int)  # as `seed_of` made it
    activity = settings["value"] if settings["kind"] == "activity" else 0.5
    of_all = seed_of(seed.entropy, ["biology", settings["t"], activity], int(seed.spawn_key[-1]))
    data, weights, cues = (np.random.default_rng(each) for each in of_all.spawn(3))
    net = _network(settings, weights)
    if settings["part"] != "dynamics":
        sizes = {
            "n": settings["N"],
            "t": settings["t"],
            "flips": settings["flips"],
            "pattern_bias": 2 * activity - 1,
            "measure_basin": settings["part"] == "basin",
        }
        found = retrieve_with(net, sizes, data, cues)
        return {key: found[key] for key in ("success", "basin")}
    X = random_periodic(settings["t"], settings["N"], rng=data).patterns
    net.fit(X)
    starts = flip(X[cues.integers(len(X) - 1, size=STARTS)], settings["flips"], cues)
    cue = flip(X[0], settings["flips"], cues)
    outcome: dict[str, list[Any]] = {"followed": [], "steady": []}
    for _, _, how in dynamics_of(settings["with_basin"]):
        run = Dynamics(net, **how, random_state=np.random.default_rng(of_all.spawn(1)[0]))
        if settings["with_basin"]:
            outcome["steady"].append(_steady(run, X, starts))
        if "random" not in how.values():
            outcome["followed"].append(follows(run, X, cue))
    return outcome


def dynamics_of(with_basin: bool) -> list[tuple[str, Any, dict[str, Any]]]:
    """Return the dynamics of a trial, each with its kind and its value."""
    kinds: dict[str, Any] = DYNAMICS | (SEQUENTIAL if with_basin else {})
    return [(kind, value, how) for kind, each in kinds.items() for value, how in each.items()]


def _network(settings: dict[str, Any], rng: np.random.Generator) -> SequenceMemory:
    """Return the network of a trial, unfitted."""
    kind, value = settings["kind"], settings["value"]
    kinds: dict[str, Any] = {
        "dilution": Dilution,
        "bits": lambda bits: Levels(bits=int(bits)),
        "dale": Dale,
    }
    constraints: list[Constraint] = [kinds[kind](value)] if kind in kinds else []
    more: dict[str, Any] = {"constraints": constraints} if constraints else {}
    if settings["network"] == "sparse":
        return SparseSequenceAttractor(settings["M"], random_state=rng, **more)
    return SequenceAttractor(settings["M"], random_state=rng, n_jobs=1, **LEARNING, **more)


def follows(net: Dynamics, X: Patterns, cue: Patterns) -> bool:
    """Return whether a network passes through a loop in order, once it had time to settle.

    A state is at a stored pattern if no more than a quarter of its units differ. Repeats count
    once, states between two patterns are passed over, and one pattern may be left out.
    """
    L, N = len(X) - 1, X.shape[1]
    stored, passage = X[:-1].astype(np.float32), _passage(net)
    wanted = min(L, FOLLOWED)
    run, at, in_order = Run(net, cue[None]), -1, 0
    for t in range(int(passage * (SETTLE + wanted) * 1.5)):
        overlaps = stored @ run.step()[0]
        k = int(np.argmax(overlaps))
        if k == at or overlaps[k] < AT_A_PATTERN * N:
            continue
        in_order = in_order + 1 if (k - at) % L in FORWARD else 0
        at = k
        if in_order >= wanted:
            return True
        if t > SETTLE * passage and not in_order:
            return False
    return False


def _steady(net: Dynamics, X: Patterns, starts: Patterns) -> float:
    """Return the fraction of starts from which a network passes through the loop in order at the
    end.
    """
    L, N = len(X) - 1, X.shape[1]
    steps = int(_passage(net) * (SETTLE + STEADY) * 1.2)
    paths = net.recall(starts[:, None], steps)
    overlaps = paths.astype(np.float32) @ X[:-1].T.astype(np.float32)
    right = 0
    for each in overlaps:
        at = np.argmax(each, axis=1)[each.max(axis=1) >= AT_A_PATTERN * N]
        passed = at[np.append(True, np.diff(at) != 0)] if len(at) else at
        last = passed[-STEADY - 1 :]
        right += len(last) > STEADY and bool(np.isin(np.diff(last) % L, FORWARD).all())
    return right / len(starts)


def _passage(net: Dynamics) -> float:
    """Return about how many steps it may take from one pattern to the next."""
    missed = 1.0 if isinstance(net.update, str) else float(net.update)
    return net.traits().steps_per_pattern / missed


# -- cells, rows, sentence, tables
# --------------------------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class _LongestStored(Search):
    """A search among trials of this page; it makes all the trials that it may."""

    def _point(self, settings: dict[str, Any]) -> Point:
        return Point(Protocol("biology", TARGET.trial_function), settings, self.seed)

    def _narrow(self, low: float, high: float) -> bool:
        return False

    def _limits(self) -> list[Any]:
        return []  # of theory, for networks of the registry


def constraints_of(network: str) -> list[tuple[str, float]]:
    """Return the kinds and values that are tried with a network.

    Hidden neurons of 0 and 1 that only excite could make no visible unit -1.
    """
    pairs = [(kind, value) for kind, values in CONSTRAINTS.items() for value in values]
    return [pair for pair in pairs if (network, *pair) != ("sparse", "dale", 1.0)]


class _Biology(Target):
    """T at 95 % and the basin against every constraint and dynamics, for two rules."""

    def cells(self, request: Request) -> list[Cell]:
        s = sizes_of(request)
        basins = [
            _settings(s, network, kind, value) | {"part": "basin", "t": s["basin_at"][network]}
            for network in NETWORKS
            for kind, value in constraints_of(network)
        ]
        return basins + [
            _settings(s, network, "none", 1.0)
            | {"part": "dynamics", "t": T, "with_basin": s["basin_at"][network] == T}
            for network in NETWORKS
            for T in s["lengths"][network]
        ]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return request.at_most(FIXED)

    def searches(self, request: Request) -> list[Search]:
        s = sizes_of(request)
        return [
            _LongestStored(
                _settings(s, network, kind, value) | {"part": "length"},
                success=SUCCESS,
                seed=request.seed,
                max_trials=request.at_most(TRIALS),
                t_max=s["t_max"][network],
            )
            for network in NETWORKS
            for kind, value in constraints_of(network)
        ]

    def settings(self, request: Request) -> dict[str, Any]:
        chosen = {"success": SUCCESS, "settle": SETTLE, "followed": FOLLOWED, "starts": STARTS}
        return sizes_of(request) | chosen | {"at_a_pattern": AT_A_PATTERN}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        same = {key: cell[key] for key in ("part", "network", "kind", "value")} | {"T": cell["t"]}
        if cell["part"] != "dynamics":
            basins = [each["basin"] for each in trials] if cell["part"] == "basin" else None
            return [same | _counted([each["success"] for each in trials]) | _mean(basins)]
        rows = []
        for k, (kind, value, _) in enumerate(dynamics_of(cell["with_basin"])):
            followed = [each["followed"][k] for each in trials if k < len(each["followed"])]
            steady = [each["steady"][k] for each in trials] if cell["with_basin"] else None
            place = same | {"kind": kind, "value": value}
            rows.append(place | _counted(followed or None, len(trials)) | _mean(steady))
        return rows

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        result = super().result(request, outcomes)
        result.data["rows"] += longest_of(result)
        return result

    def verdict(self, result: Result) -> Verdict:
        s = result.data["settings"]
        text = (
            f"N = {s['N']}, M = {s['M']}, {s['flips']} flips. T at {s['success']:.0%}: "
            + "; ".join(
                f"{words} {_length(one)}"
                for name, words in NETWORKS.items()
                for one in result.rows(part="longest", network=name, kind="none")
            )
            + ". "
        )
        return Verdict(None, text + "The paper names such constraints as open questions.")

    def csv_rows(self, result: Result) -> list[Row]:
        flat = [flat_interval(row) for row in result.rows()]
        columns = list(dict.fromkeys(key for row in flat for key in row))
        return [{key: row.get(key) for key in columns} for row in flat]

    def tables(self, result: Result) -> list[Table]:
        """Return a table of what is changed before learning, and one of what is changed after."""
        return [
            _table(result, list(CONSTRAINTS), "length", "Constraints under which networks learn."),
            _table(
                result,
                [*DYNAMICS, *SEQUENTIAL],
                "dynamics",
                "Dynamics of networks that learned without constraints.",
            ),
        ]

    def figure(self, result: Result) -> Figure:
        s = result.data["settings"]
        figure, axes = plt.subplots(4, 4, figsize=(11.0, 10.0), layout="constrained")
        blocks = (
            (axes[:2], "none", [kind for kind in CONSTRAINTS if kind != "none"]),
            (axes[2:], "paper's", [kind for kind in DYNAMICS if kind != "paper's"]),
        )
        for (lengths, basins), baseline, kinds in blocks:
            for top, bottom, kind in zip(lengths, basins, kinds, strict=True):
                _draw(result, top, bottom, baseline, kind)
                top.set_title(TITLES[kind], loc="left", fontsize="medium")
            lengths[0].set_ylabel(f"T at {s['success']:.0%}")
            basins[0].set_ylabel(f"basin at T = {', '.join(map(str, s['basin_at'].values()))}")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), ncols=2, loc="outside upper center")
        return figure


TITLES = {
    "none": "no constraint",
    "dilution": "synapses that exist",
    "bits": "bits of a synapse",
    "dale": "excitatory neurons",
    "activity": "active units of a pattern",
    "paper's": "all at once",
    "missed": "updates missed",
    "temperature": "temperature",
    "delays": "delays",
    "missed, delays": "missed, delays of 1 to 2",
    "one by one": "one after another",
}
WITH = {
    "dilution": "{} of the synapses",
    "bits": "{} bits",
    "dale": "{} excitatory neurons",
    "activity": "{} active units",
    "missed": "{} missed",
    "temperature": "a temperature of {}",
    "delays": "delays of {}",
    "missed, delays": "{} missed",
}
LOOKS: dict[str, dict[str, Any]] = {
    "attractor": {"color": plots.BLUE, "marker": "o"},
    "sparse": {"color": plots.RED, "marker": "s"},
}


def sizes_of(request: Request) -> dict[str, Any]:
    """Return the sizes of networks and sequences."""
    return QUICK if request.quick else FULL


def _settings(s: dict[str, Any], network: str, kind: str, value: float) -> Cell:
    """Return the settings of a trial; patterns of low activity have fewer flips."""
    active = value if kind == "activity" else 0.5
    flips = max(1, round(s["flips"] * active / 0.5))
    place = {"network": network, "kind": kind, "value": value}
    return place | {"N": s["N"], "M": s["M"], "flips": flips}


def _counted(outcomes: list[bool] | None, trials: int = 0) -> Row:
    """Return the number of trials, and successes with their interval if these were counted."""
    if outcomes is None:
        return {"trials": trials, "successes": None, "interval": [None, None]}
    return count_successes([{"success": each} for each in outcomes])


def _mean(values: list[float] | None) -> Row:
    """Return the mean basin with a 95 % interval, if it was measured."""
    if values is None:
        return dict.fromkeys(("basin", "basin_low", "basin_high"))
    mean = float(np.mean(values))
    error = 1.96 * float(np.std(values)) / len(values) ** 0.5
    ends = {"basin_low": max(mean - error, 0.0), "basin_high": min(mean + error, 1.0)}
    return {"basin": mean} | ends


def longest_of(result: Result) -> list[Row]:
    """Return, for every network and whatever was changed, the length up to which 95 % succeed: the
    median and a 95 % interval of logistic curves in log T that fit the trials.

    "below" and "at_least" are the shortest and the longest sequence that was tried, if the curve
    ends beyond them.
    """
    s = result.data["settings"]
    groups: dict[tuple[str, str, Any], list[Row]] = {}
    for row in result.rows():
        if row["part"] in ("length", "dynamics") and row["successes"] is not None:
            groups.setdefault((row["network"], row["kind"], row["value"]), []).append(row)
    found = []
    for (network, kind, value), rows in groups.items():
        lengths, right, trials = ([row[key] for row in rows] for key in COUNTS)
        curve = SuccessCurve(s["success"], s["t_max"][network], lapses=False)
        curve.learn(lengths, right, trials)
        low, median, high = curve.capacity()
        first, last = min(lengths), max(lengths)
        found.append(
            {"part": "longest", "network": network, "kind": kind, "value": value, "T": None}
            | {"t95": int(median), "low": int(low), "high": int(np.ceil(high))}
            | {"below": first if median < first else None}
            | {"at_least": last if median >= last else None}
            | {"trials": sum(trials)}
        )
    return found


COUNTS = ("T", "successes", "trials")


def _length(one: Row) -> str:
    """Format a longest length with its interval."""
    if one["below"] is not None:
        return f"below {one['below']}"
    if one["at_least"] is not None:
        return f"at least {one['at_least']}"
    return f"{one['t95']} ({one['low']} to {one['high']})"


def _value(kind: str, value: Any) -> str:
    """Format what a constraint or dynamics is set to."""
    if kind in ("none", "paper's", "one by one"):
        return "–"
    shares = ("dilution", "dale", "activity", "missed", "missed, delays")
    return f"{100 * value:.0f} %" if kind in shares else str(value)


def _measured(result: Result, network: str, kind: str, value: Any) -> tuple[str, str]:
    """Return the longest length and the basin of a network, each "-" where it was not measured."""
    lengths = result.rows(part="longest", network=network, kind=kind, value=value)
    basin = _basin_of(result, network, kind, value)
    shown = "{:.2f} ({:.2f} to {:.2f})".format(*basin) if basin is not None else "-"
    return _length(lengths[0]) if lengths else "-", shown


def paragraphs(result: Result) -> dict[str, str]:
    """Return a paragraph for each kind of constraint and of dynamics, made from the numbers."""
    s = result.data["settings"]
    found = {}
    for kinds, baseline in ((CONSTRAINTS, "none"), (DYNAMICS | SEQUENTIAL, "paper's")):
        for kind in kinds:
            if kind == baseline:
                continue
            about = [
                _about(result, name, kind, (baseline, s["basin_at"][name])) for name in NETWORKS
            ]
            found[kind] = " ".join(each for each in about if each) or "Not measured."
    return found


def _about(result: Result, network: str, kind: str, beside: tuple[str, int]) -> str:
    """Describe what one kind does to a network, beside a baseline and at a length for basins."""
    baseline, at = beside
    values = list(dict.fromkeys(row["value"] for row in result.rows(network=network, kind=kind)))
    places = [(kind, value) for value in values]
    lengths = [
        (place, row)
        for place in places
        for row in result.rows(part="longest", network=network, kind=place[0], value=place[1])
    ]
    [before] = result.rows(part="longest", network=network, kind=baseline)
    words, sentence = NETWORKS[network], ""
    if lengths:
        each = [
            f"{_length(row)} with {WITH[kind].format(_value(*place))}" for place, row in lengths
        ]
        sentence = (
            f"{words[0].upper()}{words[1:]}: T at {result.data['settings']['success']:.0%} is "
            f"{_joined(each)}, and {_length(before)} without."
        )
    basins = [
        (place, basin)
        for place in places
        if (basin := _basin_of(result, network, *place)) is not None
    ]
    base = _basin_of(result, network, baseline, before["value"])
    if basins and base is not None:
        each = [f"{basin[0]:.2f}" for _, basin in basins]
        whose = "the" if lengths else f"{words[0].upper()}{words[1:]}: the"
        space = " " if lengths else ""
        sentence += (
            f"{space}{whose[0].upper()}{whose[1:]} basin at T = {at} is {_joined(each)}, and "
            f"{base[0]:.2f} without."
        )
    return sentence


def _joined(words: list[str]) -> str:
    """Join words by commas and a last "and"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _table(result: Result, kinds: list[str], part: str, caption: str) -> Table:
    """Return lengths and basins of both networks, with a line for each value."""
    s = result.data["settings"]
    values: dict[str, list[Any]] = {kind: [] for kind in kinds}
    for row in result.rows():
        if row["kind"] in values and row["value"] not in values[row["kind"]]:
            values[row["kind"]].append(row["value"])
    lines = [
        [TITLES[kind], _value(kind, value)]
        + [text for name in NETWORKS for text in _measured(result, name, kind, value)]
        for kind in kinds
        for value in values[kind]
    ]
    columns = [
        heading
        for name, words in NETWORKS.items()
        for heading in (f"{words}: T at {s['success']:.0%}", f"basin at T = {s['basin_at'][name]}")
    ]
    return Table(["what is changed", "to", *columns], lines, caption)


def _draw(result: Result, lengths: Axes, basins: Axes, baseline: str, kind: str) -> None:
    """Draw lengths and basins of both networks against the values of one kind.

    Triangles are ends of what was tried: the length is above, or below.
    """
    s = result.data["settings"]
    values = [row["value"] for row in result.rows(part="longest", kind=kind)]
    places = [(baseline, row["value"]) for row in result.rows(part="longest", kind=baseline)][:1]
    places += [(kind, value) for value in dict.fromkeys(values)]
    for k, (name, words) in enumerate(NETWORKS.items()):
        look = LOOKS[name] | {"markersize": 4, "linewidth": 1.2, "capsize": 2}
        for ax, find in ((lengths, _longest), (basins, _basin_of)):
            found = [(x, find(result, name, *place)) for x, place in enumerate(places)]
            drawn = [(x + 0.06 * (2 * k - 1), *ends) for x, ends in found if ends is not None]
            if not drawn:
                continue
            x, middle, low, high = np.array(drawn, dtype=np.float64).T
            error = np.maximum([middle - low, high - middle], 0)
            ax.errorbar(x, middle, error, label=words, **look)
            ends = np.isnan(low)  # of what was tried
            for some, marker in ((ends & (high == middle), "^"), (ends & (high != middle), "v")):
                ax.plot(x[some], middle[some], marker, color=look["color"], markersize=8)
    for ax in (lengths, basins):
        labels = [_value(*place) for place in places]
        ax.set_xticks(range(len(places)), ["none", *labels[1:]], fontsize="small")
        ax.set_xlim(-0.4, len(places) - 0.6)
        ax.grid(visible=True)
    lengths.set_yscale("log")
    lengths.set_ylim(3, 2 * max(s["t_max"].values()))
    basins.set_ylim(-0.04, 1.04)


def _longest(result: Result, network: str, kind: str, value: Any) -> Ends | None:
    """Return a longest length and its interval; at an end of what was tried the lower end is NaN,
    and the upper one, too, if the length is below.
    """
    for one in result.rows(part="longest", network=network, kind=kind, value=value):
        if one["below"] is not None:
            return one["below"], np.nan, np.nan
        if one["at_least"] is not None:
            return one["at_least"], np.nan, one["at_least"]
        return one["t95"], one["low"], one["high"]
    return None


def _basin_of(result: Result, network: str, kind: str, value: Any) -> Ends | None:
    """Return the mean basin of a network and its interval."""
    at = result.data["settings"]["basin_at"][network]
    for row in result.rows(network=network, kind=kind, value=value, T=at):
        if row["basin"] is not None:
            return row["basin"], row["basin_low"], row["basin_high"]
    return None


TARGET = _Biology(
    name="biology",
    title="Under the constraints of biology",
    trial="biology:recall_constrained",
    about="Random loops, learned under constraints on synapses or with few active units, by the "
    "paper's rule and by the sparse rule, or learned without and recalled while neurons miss "
    "updates, fire by chance or answer late. T at 95 % is the length up to which 95 % of the "
    "trials succeed from a cue with flipped units. The basin is the fraction of such cues, from "
    "all patterns of a loop of one length, from which the network comes to the sequence.",
)
