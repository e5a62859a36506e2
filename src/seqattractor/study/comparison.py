"""The result of a comparison: rows, times apart from them, and texts that are the same for the same seed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from types import MappingProxyType
from typing import Any

import numpy as np

from seqattractor._checks import check_flag, say
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes, Variable, on_grid, plain
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.networks.traits import Traits
from seqattractor.study.comparison_trial import ComparisonTest, get_test
from seqattractor.study.settings import as_flips
from seqattractor.study.statistics import LEVEL, Decided, decide, differences
from seqattractor.study.table import as_csv

Row = dict[str, Any]


def ends(values: Sequence[Any]) -> str:
    """Whether values go "up" or "down" as they grow harder."""
    numbers = all(isinstance(value, (int, float)) for value in values)
    return "down" if numbers and values[-1] < values[0] else "up"


def _decided(comparison: Any) -> str:
    """Where exact tests decide whether a network succeeds in more than half of all trials."""
    values = comparison.settings["values"]
    groups: dict[str, list[str]] = {}
    for name in _taking_part(comparison):
        found = decide([comparison.row(name, value) for value in values])
        groups.setdefault(_halves(found, values), []).append(name)
    undecided = groups.pop("", [])
    parts = [f"{listed(names)} {words}" for words, names in groups.items()]
    if parts:
        first = next(iter(groups.values()))
        verb = "succeeds" if len(first) == 1 else "succeed"
        parts[0] = (
            parts[0].replace(f"{listed(first)} in", f"{listed(first)} {verb} in", 1).replace("half", "half of all trials", 1)
        )
    if undecided:
        parts.append(f"for {listed(undecided)} it decides at no value")
    return f"By the exact binomial test (p < {LEVEL}, each network taken by itself): {'; '.join(parts)}." if parts else ""


def _halves(found: Decided, values: Sequence[Any]) -> str:
    """What was decided of one network, in words."""
    if found.most == values[-1]:
        return "in more than half at every value" if len(values) > 1 else f"in more than half at {values[0]}"
    if found.fails_from == values[0]:
        return "in less than half at every value" if len(values) > 1 else f"in less than half at {values[0]}"
    parts = [] if found.most is None else [f"in more than half {ends(values)} to {found.most}"]
    parts += [] if found.fails_from is None else [f"in less than half from {found.fails_from} on"]
    return " and ".join(parts)


def _differences(comparison: Any) -> str:
    """Which networks recall more than which others, trial by trial."""
    trials, values = comparison.settings["trials"], comparison.settings["values"]
    names = _taking_part(comparison)
    whole = [value for value in values if all(comparison.row(name, value)["trials"] == trials for name in names)]
    if len(names) < 2 or not whole:
        return ""
    pairs = differences({name: [comparison.row(name, value)["by_trial"] for value in whole] for name in names})
    test = f"exact sign test, corrected by Holm for {len(pairs)} pair{'s' if len(pairs) != 1 else ''}"
    least = min(1.0, len(pairs) * 2.0 ** (1 - trials))
    if least >= LEVEL:
        return (
            f"{trials} trial{'s' if trials != 1 else ''} cannot tell networks apart: even a difference in every trial would have "
            f"p = {least:.2g} ({test}). Give more trials, or fewer networks."
        )
    beaten: dict[str, list[str]] = {name: [] for name in names}
    for pair in pairs:
        if pair.p < LEVEL:
            beaten[pair.better].append(pair.worse)
    groups: dict[tuple[str, ...], list[str]] = {}
    for better in names:
        if beaten[better]:
            groups.setdefault(tuple(name for name in names if name in beaten[better]), []).append(better)
    told = [f"{listed(better)} more often than {listed(worse)}" for worse, better in groups.items()]
    if not told:
        return f"Trial by trial no two networks are shown to differ (smallest p = {pairs[0].p:.2g}, {test})."
    others = sum(pair.p >= LEVEL for pair in pairs)
    rest = f" For the other {others} pairs no difference is shown." if others > 1 else ""
    rest = " For the other pair no difference is shown." if others == 1 else rest
    return f"Trial by trial, these succeed (p < {LEVEL}, {test}): {'; '.join(told)}.{rest}"


def _same_data(comparison: Any) -> str:
    """What chance decides where the sequences are the user's, and of what the intervals therefore speak."""
    if comparison.settings.get("data") is None:
        return ""
    return (
        "The sequences are the same in all trials; only the first weights and the cues differ, so that intervals and tests speak "
        "of these sequences and not of others. A network without random weights has one trial, and no interval, where no unit is "
        "flipped: all others would repeat it."
    )


def _settings(networks: Sequence[Row]) -> str:
    """Which networks do not have their default settings, and how theirs came about."""
    named = [n for n in networks if n["family"] != "yours"]
    tuned = [f"{n['network']} ({n['setting'].removeprefix('tuned: ')})" for n in named if n["setting"].startswith("tuned: ")]
    if not named:
        return ""
    text = "Settings were tuned by one rule for all, on other sequences"
    if not tuned:
        return f"{text}; the defaults were best."
    others = "" if len(tuned) == len(named) else "; all others have their defaults"
    return f"{text}: {listed(tuned)}{others}."


def _ranking(comparison: Any, networks: Sequence[Row], who: str) -> str:
    """Who holds how much, the best first."""
    values = comparison.settings["values"]
    groups: dict[Any, list[str]] = {}
    for name in (network["network"] for network in networks):
        if _took_part(comparison, name):
            groups.setdefault(comparison.reach(name), []).append(name + _again(comparison, name))
    if not groups:
        return ""
    ranked = sorted(groups, key=lambda value: -1 if value is None else values.index(value), reverse=True)
    parts = []
    for value in ranked:
        held = "none of these values" if value is None else f"{ends(values)} to {value}"
        end = " (the end of the test)" if value == values[-1] else ""
        parts.append(f"{listed(groups[value])} {'holds' if len(groups[value]) == 1 else 'hold'} {held}{end}")
    return f"{who}: {'; '.join(parts)}."


def _again(comparison: Any, network: str) -> str:
    """At which harder values a network succeeds again after one that it does not hold, in brackets."""
    values = comparison.settings["values"]
    held = comparison.reach(network)
    beyond = values if held is None else values[values.index(held) + 1 :]
    again = [str(value) for value in beyond if comparison.holds(network, value)]
    return f" (and again at {listed(again)})" if again else ""


_CARRIED = {"leaky-perceptron": "sums that fade", "clone-hmm": "clones of every pattern", "scaffold": "labels of places"}
_CARRIED |= dict.fromkeys(("rnn", "predictive-2", "brea"), "hidden or latent neurons")
"""What a network carries from step to step, if not rates, currents or traces."""


def _contexts(comparison: Any) -> str:
    """Where patterns are repeated: who tells them apart, and by what."""
    if comparison.settings.get("varies") != "repeated" or not any(comparison.settings["values"]):
        return ""
    hardest = comparison.settings["values"][-1]
    ways: dict[str, list[str]] = {}
    failed: dict[str, list[str]] = {}
    for row in comparison.results:
        if row["value"] == hardest and row["parameters"] is not None:
            found = ways if comparison.holds(row["network"], hardest) else failed
            found.setdefault(_looks_back(row), []).append(row["network"])
    sentences = []
    if ways:
        told = "; ".join(f"by {way}: {listed(names)}" for way, names in ways.items())
        sentences.append(f"{hardest} repeated {'patterns are' if hardest != 1 else 'pattern is'} told apart {told}.")
    if failed:
        told = "; ".join(f"with {way}: {listed(names)}" for way, names in failed.items())
        sentences.append(f"Not in half of the trials, {told}.")
    return " ".join(sentences)


def _looks_back(row: Row) -> str:
    """By what a network knows of earlier patterns."""
    if row["order"] > 1:
        return f"delay lines (order {row['order']})"
    if row["carries"]:
        return _CARRIED.get(row["network"], "rates, currents or traces that outlast a pattern")
    return "nothing that looks back"


def _phases(comparison: Any) -> str:
    """Who recalls loops in another phase than that of the cue; a scaffold goes round its labels from any of them."""
    values = comparison.settings["values"]
    late = {}
    for name in (network["network"] for network in comparison.networks):
        rows = [comparison.row(name, value) for value in values]
        if all(row["in_phase"] is not None for row in rows):
            late[name] = sum(row["successes"] - row["in_phase"] for row in rows)
    shifted = {name: count for name, count in late.items() if count}
    text = ""
    if shifted:
        told = ", ".join(f"{name} ({count})" for name, count in shifted.items())
        text = f"Trials, over all values, that succeed in another phase than that of the cue: {told}."
    if shifted.get("scaffold"):
        text += (
            " For scaffold this says little: its labels go round by themselves, from a wrong one as well as from the right one; "
            "only what is in phase shows that it knew the cue."
        )
    return text


def _partly(comparison: Any) -> str:
    """Where several sequences are stored: how many of them each network recalls."""
    if not comparison.several:
        return ""
    value = comparison.settings["values"][-1]
    rows = [row for row in comparison.results if row["value"] == value and row["recalled"] is not None]
    groups: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: -row["recalled"]):
        groups.setdefault(f"{100 * row['recalled']:.0f} %", []).append(row["network"])
    told = "; ".join(f"{share} by {listed(names)}" for share, names in groups.items())
    return f"A trial succeeds only if all its sequences are recalled; of the sequences at {value} are recalled: {told}."


def _price(comparison: Any, learning: Sequence[Row], storing: Sequence[Row]) -> str:
    """What it costs to keep the patterns, beside what the networks that learn have."""
    value = comparison.settings["values"][-1]
    kept, weights = (
        [p for n in networks if (p := comparison.row(n["network"], value)["parameters"]) is not None]
        for networks in (storing, learning)
    )
    if not kept:
        return ""
    text = (
        "These need little or no learning because they keep every pattern, most of them with a unit of its own, and grow with "
        f"what they store: at {value} they hold {_range(kept)} numbers, entries of +-1 where only patterns are kept"
    )
    if weights:
        text += f". The networks that learn have {_range(weights)} real weights, whatever they store"
    return text + "."


def _range(numbers: Sequence[int]) -> str:
    """The least and the largest number."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _conditions(networks: Sequence[Row]) -> str:
    """Which of them learn in a way that neurons could."""
    names = [n["network"] for n in networks]
    sentences = []
    not_local = [n["network"] for n in networks if n["online"] is False or n["local"] is False]
    if not_local:
        sentences.append(f"Not learned online by local rules: {listed(not_local)}.")
    unknown = [n["network"] for n in networks if n["online"] is None or n["local"] is None or n["stores_patterns"] is None]
    if unknown:
        sentences.append(f"Not stated for {listed(unknown)}: whether learning is online and local, or patterns are stored.")
    dwelling = [n["network"] for n in networks if n["dwells"]]
    if dwelling:
        stays = "stays" if len(dwelling) == 1 else "stay"
        sentences.append(
            f"{listed(dwelling)} {stays} at each pattern for several steps; every stay counts once, and states between two "
            "patterns are passed over."
        )
    if "sparse" in names:
        sentences.append("sparse learns from patterns that it corrupts itself, so that few of its epochs are free of errors.")
    return " ".join(sentences)


def _notes(networks: Sequence[Row]) -> str:
    """What networks say of themselves."""
    notes: dict[str, list[str]] = {}
    for network in networks:
        if network["note"]:
            notes.setdefault(network["note"], []).append(network["network"])
    told = "; ".join(f"{listed(names)} ({note})" for note, names in notes.items())
    return f"What is to be known of them: {told}." if told else ""


def _not_taking_part(comparison: Any) -> str:
    """The networks that raised or were left out, and why."""
    refused: dict[str, str] = {}
    for row in comparison.results:
        if row["error"] is not None:
            refused.setdefault(row["network"], row["error"])
    told = [f"{network} could not take part everywhere: {error}" for network, error in refused.items()]
    left_out = comparison.settings.get("left_out")
    if left_out:
        are = "was" if len(left_out) == 1 else "were"
        told.append(f"{listed(left_out)} {are} left out, since a trial of this size would take a minute or more.")
    return " ".join(told)


def _taking_part(comparison: Any) -> list[str]:
    """The names of the networks that did at least one trial."""
    return [n["network"] for n in comparison.networks if _took_part(comparison, n["network"])]


def _took_part(comparison: Any, network: str) -> bool:
    """Whether a network did at least one trial."""
    return any(row["parameters"] is not None for row in comparison.results if row["network"] == network)


def listed(names: Sequence[str]) -> str:
    """Names with commas and an and."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_MEASURED = {
    "trials": "trials",
    "successes": "trials in which everything was recalled",
    "low": "lower end of the 95 % interval of the rate of success",
    "high": "upper end of the 95 % interval of the rate of success",
    "in_phase": "trials in which everything was recalled in phase with the cue",
    "recalled": "mean fraction of sequences that were recalled",
    "one_step_error": "mean fraction of wrong units after one step from stored patterns",
    "epochs": "median of epochs until learning made no error",
    "parameters": "parameters",
    "order": "past patterns that the network sees",
}
"""What is given to xarray of the results, and what it is."""


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Results of all networks on one test.

    The same seed gives the same settings, networks and results, whoever computed them; only the seconds differ from run to run.
    """

    _drawn_by = "comparison_curves"
    settings: dict[str, Any]
    """The test: protocol, title, axis, setting and criterion (in words), values, trials, n_hidden, seed; which setting varies,
    and the sizes of the others; who was left out; of data of the user's a digest and their numbers."""
    networks: list[Row]
    """For each network its name, family, how its setting came about, its hidden neurons, and whether it stores patterns, learns
    online and locally, dwells; with a note."""
    results: list[Row]
    """For each value and network: successes and their interval, those in phase with the cue, sequences recalled, one-step error,
    epochs, parameters, how many patterns it sees and whether it carries a state of its own."""
    seconds: list[Row]
    """Median seconds to learn and to recall, for each value and network."""

    @classmethod
    def of(
        cls,
        test: ComparisonTest,
        outcomes: Mapping[Any, Sequence[Mapping[str, Row]]],
        described: Mapping[str, Traits],
        *,
        seed: int,
        n_hidden: int,
        families: Mapping[str, str] = MappingProxyType({}),
        settings: Mapping[str, str] = MappingProxyType({}),
        hidden: Mapping[str, int] = MappingProxyType({}),
        data: Mapping[str, Any] | None = None,
        certain: Collection[tuple[str, Any]] = (),
        left_out: Sequence[str] = (),
    ) -> Comparison:
        """Put trials together: for each value and trial the networks' outcomes as `compare_once` gives them, and their traits.

        Networks without a family are the user's; `settings` say in words how those of a network came about, and `hidden` how many
        hidden neurons it has. Where the outcome of a network at a value is `certain`, since further trials only repeat the first,
        that one counts, without an interval.
        """
        of_test = {
            "protocol": test.name,
            "title": test.title,
            "axis": test.axis,
            "setting": test.setting,
            "criterion": test.criterion,
            "values": list(outcomes),
            "trials": len(next(iter(outcomes.values()))),
            "n_hidden": n_hidden,
            "seed": seed,
            "varies": test.varies,
            "sizes": {name: value for name, value in test.sizes.items() if name != test.varies},
            "data": None if data is None else dict(data),
            "left_out": list(left_out),
        }
        networks = [
            {
                "network": name,
                "family": families.get(name, "yours"),
                "setting": settings.get(name, "as given"),
                "hidden": hidden.get(name),
                **asdict(traits),
            }
            for name, traits in described.items()
        ]
        for told in networks:
            del told["weights"]
        results, seconds = [], []
        for value, each in outcomes.items():
            for name in described:
                of_network = [outcome[name] for outcome in each]
                told = _certain(of_network[0]) if (name, value) in certain else _summary(of_network)
                results.append({"value": value, "network": name, **told})
                seconds.append({"value": value, "network": name, **_times(of_network)})
        return cls(of_test, networks, results, seconds)

    @property
    def several(self) -> bool:
        """Whether trials have several sequences, so that a part of them can be recalled."""
        data = self.settings.get("data")
        return bool(data["sequences"] > 1 if data else get_test(self.settings["protocol"]).several)

    def __repr__(self) -> str:
        """Name the network that gets furthest."""
        values = self.settings["values"]
        held = {n["network"]: self.reach(n["network"]) for n in self.networks}
        furthest = max(held.values(), key=lambda value: -1 if value is None else values.index(value))
        best = listed([name for name, value in held.items() if value == furthest])
        answer = "no network holds any value" if furthest is None else f"{ends(values)} to {furthest}: {best}"
        several = f"{len(held)} network{'s' if len(held) != 1 else ''}"
        return f"Comparison: {several}, {self.settings['axis']} {values[0]} to {values[-1]}; {answer}"

    def describe(self) -> str:
        """Describe in a paragraph how far each network comes."""
        s = self.settings
        intro = (
            f"{s['title']}: {s['setting']}. Trials at each value of the {s['axis']}: {s['trials']}, with the same sequences and "
            f"cues for every network. A sequence is recalled if {s['criterion']}. A network holds a value if it succeeds in at "
            "least half of the trials there and at all easier values."
        )
        learning = [n for n in self.networks if not n["stores_patterns"]]
        storing = [n for n in self.networks if n["stores_patterns"]]
        sentences = [
            intro,
            _same_data(self),
            _settings(learning + storing),
            _ranking(self, learning, "Networks that learn weights"),
            _ranking(self, storing, "Memories that keep the patterns themselves"),
            _partly(self),
            _price(self, learning, storing),
            _contexts(self),
            _phases(self),
            _decided(self),
            _differences(self),
            _conditions(learning + storing),
            _notes(learning + storing),
            _not_taking_part(self),
        ]
        if s["trials"] < 10:
            sentences.append(f"With so few trials ({s['trials']} per value) only gross differences can show.")
        return " ".join(filter(None, sentences))

    def conclusion(self) -> str:
        """Describe only what the statistics support: where exact tests decide, and which networks differ by Holm's correction.

        Examples
        --------
        >>> import seqattractor as sa
        >>> comparison = sa.compare("random", ["hebbian", "lookup"], values=[5, 40], trials=6)
        >>> print(comparison.conclusion().split(". ")[2])
        By the exact binomial test (p < 0.05, each network taken by itself): hebbian succeeds in more than half of all trials up
        to 5 and in less than half from 40 on; lookup in more than half at every value
        """
        s = self.settings
        trials = f"{s['trials']} trial{'s' if s['trials'] != 1 else ''} at each value of the {s['axis']}"
        sentences = [
            f"{s['title']}: {s['setting']}.",
            f"{trials}, with the same sequences and cues for every network.",
            _decided(self),
            _differences(self),
            _same_data(self),
            _not_taking_part(self),
        ]
        return " ".join(filter(None, sentences))

    def rows(self) -> list[Row]:
        """Return the results as rows of a table, one for each value and network, with the sizes N, M, T and flips of each."""
        kinds = {n["network"]: {k: v for k, v in n.items() if k not in ("network", "note", "hidden")} for n in self.networks}
        hidden = {n["network"]: n.get("hidden") for n in self.networks}
        protocol = self.settings["protocol"]
        return [
            {"protocol": protocol, **row, **kinds[row["network"]], **self._sizes(row["value"], hidden[row["network"]])}
            for row in self.results
        ]

    def _sizes(self, value: Any, hidden: int | None) -> Row:
        """N, M, T and flips at a value, as far as each is one number."""
        varies, data = self.settings.get("varies"), self.settings.get("data") or {}
        of_data = {"n": data.get("units"), "t": data.get("length")}
        given = of_data | {"m": hidden} | self.settings.get("sizes", {}) | {varies: value}
        n, flips = given["n"], given.get("flips")
        if n is not None and flips is not None:
            flips = as_flips(flips, n)
        return {"N": n, "M": None if hidden is None else given["m"], "T": given["t"], "flips": flips}

    def _named_axes(self) -> NamedAxes:
        """Networks and values of the test."""
        grid = on_grid(self.results, ["network", "value"], _MEASURED, always=True)
        families = {told["network"]: told["family"] for told in self.networks}
        values, axis = self.settings["values"], self.settings["axis"]
        coordinates: dict[str, Variable] = {
            **grid.coordinates,
            "value": ("value", plain(values), axis),
            "family": ("network", [families[name] for name in families], "who stands for the network"),
        }
        told = {name: value for name, value in self.settings.items() if name != "values"}
        return replace(grid, coordinates=coordinates, attributes=told)

    def row(self, network: str, value: Any) -> Row:
        """Return the results of one network at one value."""
        for row in self.results if isinstance(value, (str, int, float, np.number)) else ():
            if isinstance(network, str) and (row["network"], row["value"]) == (network, value):
                return row
        names = ", ".join(row["network"] for row in self.networks)
        asked = f"{say(network)} at {say(value)}"
        raise ValueError(f"there are results of {names} at {self.settings['values']}, but none of {asked}.")

    def reach(self, network: str) -> Any:
        """Return the hardest value that a network holds with all easier ones, in at least half of the trials; None if none."""
        held = None
        for value in self.settings["values"]:
            if not self.holds(network, value):
                break
            held = value
        return held

    def holds(self, network: str, value: Any) -> bool:
        """Whether a network succeeds in at least half of the trials at a value."""
        row = self.row(network, value)
        return bool(row["successes"] >= row["trials"] / 2)

    def to_json(self, *, timing: bool = False) -> str:
        """Write everything as JSON; without times (`timing`) the text is the same for the same seed."""
        check_flag(timing, "timing")
        data = {"settings": self.settings, "networks": self.networks, "rows": self.results, "conclusion": self.conclusion()}
        data["description"] = self.describe()
        if timing:
            data["seconds"] = self.seconds
        return json.dumps(data, indent=1, allow_nan=False) + "\n"

    def to_csv(self, *, timing: bool = False) -> str:
        """Write a line for each value and network as CSV, with `timing` also the seconds."""
        check_flag(timing, "timing")
        rows = [row | times for row, times in zip(self.rows(), self.seconds, strict=True)] if timing else self.rows()
        return as_csv(rows).decode()


def _summary(outcomes: Sequence[Row]) -> Row:
    """The results of one network at one value."""
    done = [outcome for outcome in outcomes if "error" not in outcome]
    errors = sorted({outcome["error"] for outcome in outcomes if "error" in outcome})
    successes = sum(outcome["success"] for outcome in done)
    low, high = wilson_interval(successes, len(outcomes))
    reached = [outcome["epochs"] for outcome in done if outcome["epochs"] is not None]
    return {
        "trials": len(outcomes),
        "successes": successes,
        "low": low,
        "high": high,
        "by_trial": "".join("x" if "error" in outcome else str(int(outcome["success"])) for outcome in outcomes),
        "in_phase": _in_phase(done),
        "recalled": sum(outcome["recalled"] / outcome["sequences"] for outcome in done) / len(done) if done else None,
        "one_step_error": sum(outcome["one_step_error"] for outcome in done) / len(done) if done else None,
        "epochs": median(reached) if reached else None,
        "without_error": len(reached),
        "parameters": max((outcome["parameters"] for outcome in done), default=None),
        "order": max((outcome["order"] for outcome in done), default=None),
        "carries": any(outcome["carries"] for outcome in done) if done else None,
        "error": errors[0] if errors else None,
    }


def _certain(outcome: Row) -> Row:
    """The results of one network at one value where every trial is the same: one counts, and there is no interval."""
    told = _summary([outcome])
    rate = float(told["successes"])
    return told | {"low": rate, "high": rate}


def _in_phase(done: Sequence[Row]) -> int | None:
    """In how many trials all sequences were recalled in phase with their cues; None for a network that dwells."""
    if any(outcome["in_phase"] is None for outcome in done):
        return None
    return sum(bool(outcome["in_phase"] == outcome["sequences"]) for outcome in done)


def _times(outcomes: Sequence[Row]) -> Row:
    """Median times of one network at one value, or None where they were not measured."""
    times = {key: [outcome[key] for outcome in outcomes if key in outcome] for key in ("learn_seconds", "recall_seconds")}
    return {key: median(each) if each else None for key, each in times.items()}
