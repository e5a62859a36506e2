"""The result of a comparison: rows, times separate from them, and texts that are the same for the
same seed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from seqattractor._checks import check_flag, say
from seqattractor._faces import Result
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.networks.traits import Traits
from seqattractor.study.comparison_trial import ComparisonTest, get_test
from seqattractor.study.settings import as_flips
from seqattractor.study.statistics import LEVEL, decide, differences
from seqattractor.study.table import as_csv

Row = dict[str, Any]


def ends(values: Sequence[Any]) -> str:
    """Whether values go "up" or "down" as they grow harder."""
    numbers = all(isinstance(value, (int, float)) for value in values)
    return "down" if numbers and values[-1] < values[0] else "up"


def _decided(comparison: Comparison) -> str:
    """Where exact tests decide whether a network succeeds in more than half of all trials."""
    values = comparison.settings["values"]
    groups: dict[str, list[str]] = {}
    for name in comparison.taking_part():
        found = decide([comparison.row(name, value) for value in values])
        parts = [] if found.most is None else [f"more {ends(values)} to {found.most}"]
        parts += [] if found.fails_from is None else [f"less from {found.fails_from} on"]
        groups.setdefault(" and ".join(parts) or "undecided", []).append(name)
    words = "; ".join(f"{listed(names)}: {sides}" for sides, names in groups.items())
    test = f"exact binomial test, p < {LEVEL}, each network by itself"
    return f"Success in more or less than half of all trials ({test}): {words}." if words else ""


def _differences(comparison: Comparison) -> str:
    """Which networks recall more than which others, trial by trial."""
    trials, names = comparison.settings["trials"], comparison.taking_part()
    # At the other values a network has one trial, since all would be the same.
    values = [
        v
        for v in comparison.settings["values"]
        if all(comparison.row(name, v)["trials"] == trials for name in names)
    ]
    if len(names) < 2 or not values:
        return ""
    pairs = differences(
        {name: [comparison.row(name, value)["by_trial"] for value in values] for name in names}
    )
    test = f"exact sign test with Holm's correction, number of pairs: {len(pairs)}"
    least = min(1.0, len(pairs) * 2.0 ** (1 - trials))
    if least >= LEVEL:
        return (
            f"Too few trials ({trials}) to find a difference between networks: even one in every "
            f"trial would have p = {least:.2g} ({test}). Give more trials, or fewer networks."
        )
    beaten: dict[str, list[str]] = {}
    for pair in pairs:
        if pair.p < LEVEL:
            beaten.setdefault(pair.better, []).append(pair.worse)
    if not beaten:
        return (
            f"Trial by trial no two networks are shown to differ (smallest p = {pairs[0].p:.2g}, "
            f"{test})."
        )
    words = "; ".join(
        f"{better} more often than {listed(worse)}" for better, worse in beaten.items()
    )
    return (
        f"Trial by trial, these succeed (p < {LEVEL}, {test}): {words}. No other difference is "
        "shown."
    )


def _same_data(comparison: Comparison) -> str:
    """What chance decides where the sequences are the user's."""
    if comparison.settings["data"] is None:
        return ""
    return (
        "The sequences are the same in all trials; only the first weights and the cues differ, so "
        "that intervals and tests are about these sequences and not about others. A network "
        "without random weights has one trial, and no interval, where no unit is flipped: all "
        "others would repeat it."
    )


def _tuning(networks: Sequence[Row]) -> str:
    """Which networks do not have their default settings, and how theirs came about."""
    named = [n for n in networks if n["family"] != "yours"]
    tuned = [
        f"{n['network']} ({n['setting'].removeprefix('tuned: ')})"
        for n in named
        if n["setting"].startswith("tuned: ")
    ]
    if not named:
        return ""
    others = "; all others have their defaults" if len(tuned) < len(named) else ""
    chosen = f"{listed(tuned)}{others}" if tuned else "the defaults were best"
    return f"Settings were tuned by one rule for all, on other sequences: {chosen}."


def _ranking(comparison: Comparison, networks: Sequence[Row], who: str) -> str:
    """The hardest value that each network holds, the best first."""
    values, names = comparison.settings["values"], comparison.taking_part()
    groups: dict[Any, list[str]] = {}
    for name in (network["network"] for network in networks if network["network"] in names):
        groups.setdefault(comparison.reach(name), []).append(name)
    if not groups:
        return ""
    ranked = sorted(
        groups, key=lambda value: -1 if value is None else values.index(value), reverse=True
    )
    parts = [
        f"{listed(groups[v])} {'none' if v is None else f'{ends(values)} to {v}'}" for v in ranked
    ]
    return f"Values held by {who}: {'; '.join(parts)}."


def _notes(networks: Sequence[Row]) -> str:
    """The notes of networks on themselves."""
    notes: dict[str, list[str]] = {}
    for network in networks:
        if network["note"]:
            notes.setdefault(network["note"], []).append(network["network"])
    words = "; ".join(f"{listed(names)} ({note})" for note, names in notes.items())
    return f"Notes: {words}." if words else ""


def _forgetting(comparison: Comparison) -> str:
    """What is stored and what is left of the first sequence, where they come one after another."""
    if not comparison.in_turn:
        return ""
    value = comparison.settings["values"][-1]
    rows = [comparison.row(name, value) for name in comparison.taking_part()]
    parts = [
        f"{row['network']} {row['stored']:.3g}, {row['first']:.0%}, {row['bits_saved']:,}"
        for row in rows
        if row["stored"] is not None
    ]
    after = f"After the last sequence, at {value} {comparison.settings['axis']}"
    return (
        f"{after}, with every transition right (mean number), transitions of the first that are "
        f"right, bits saved beside the weights: {'; '.join(parts)}."
        if parts
        else ""
    )


def _not_taking_part(comparison: Comparison) -> str:
    """The networks that raised an error, and the first of each."""
    errors: dict[str, str] = {}
    for row in comparison.results:
        if row["error"] is not None:
            errors.setdefault(row["network"], row["error"])
    return " ".join(
        f"{network} could not take part everywhere: {error}" for network, error in errors.items()
    )


def listed(names: Sequence[str]) -> str:
    """Names with commas and an and."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def network_row(
    name: str,
    traits: Traits,
    *,
    family: str = "yours",
    setting: str = "as given",
    hidden: int | None = None,
) -> Row:
    """Describe a network that takes part: its family, how its setting came about, its hidden
    neurons, and its traits.
    """
    row = {
        "network": name,
        "family": family,
        "setting": setting,
        "hidden": hidden,
        **asdict(traits),
    }
    del row["weights"]
    return row


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Results of all networks on one test.

    The same seed gives the same settings, networks and results with any executor; only the seconds
    differ from run to run.
    """

    _drawn_by = "comparison_curves"
    settings: dict[str, Any]
    """The test: protocol, title, axis, setting and criterion (in words), values, trials, n_hidden,
    seed; which setting varies, and the sizes of the others; of data of the user's a digest and
    their numbers.
    """
    networks: list[Row]
    """For each network its name, family, how its setting came about, its hidden neurons, and
    whether it stores patterns, learns online and locally, dwells; with a note.
    """
    results: list[Row]
    """For each value and network: successes and their interval, those in phase with the cue,
    sequences recalled, one-step error, epochs, parameters, and how many patterns it sees. Of
    sequences one after another also how many are stored, the fraction of transitions of the first
    that are right, and the bits saved beside the weights.
    """
    seconds: list[Row]
    """Median seconds to learn and to recall, for each value and network."""

    @classmethod
    def of(
        cls,
        test: ComparisonTest,
        outcomes: Mapping[Any, Sequence[Mapping[str, Row]]],
        networks: list[Row],
        *,
        seed: int,
        data: Mapping[str, Any] | None = None,
        certain: Collection[tuple[str, Any]] = (),
    ) -> Comparison:
        """Put trials together: for each value and trial the outcomes of the networks, and a row
        for each network.

        Where the outcome of a network at a value is `certain`, since further trials only repeat the
        first, that one counts, without an interval.
        """
        settings = {
            "protocol": test.name,
            "title": test.title,
            "axis": test.axis,
            "setting": test.setting,
            "criterion": test.criterion,
            "values": list(outcomes),
            "trials": len(next(iter(outcomes.values()))),
            "n_hidden": test.n_hidden,
            "seed": seed,
            "varies": test.varies,
            "sizes": {name: value for name, value in test.sizes.items() if name != test.varies},
            "data": None if data is None else dict(data),
        }
        results, seconds = [], []
        for value, each in outcomes.items():
            for name in (network["network"] for network in networks):
                of_network = [outcome[name] for outcome in each]
                summary = (
                    _certain(of_network[0]) if (name, value) in certain else _summary(of_network)
                )
                if test.name == "continual":
                    summary |= _in_turn(of_network)
                results.append({"value": value, "network": name, **summary})
                seconds.append({"value": value, "network": name, **_times(of_network)})
        return cls(settings, networks, results, seconds)

    @property
    def several(self) -> bool:
        """Whether trials have several sequences, so that a part of them can be recalled."""
        data = self.settings.get("data")
        return bool(data["sequences"] > 1 if data else get_test(self.settings["protocol"]).several)

    @property
    def in_turn(self) -> bool:
        """Whether networks learn sequences one after another."""
        return bool(self.settings["protocol"] == "continual")

    def __repr__(self) -> str:
        """Name the network that gets furthest."""
        values = self.settings["values"]
        held = {n["network"]: self.reach(n["network"]) for n in self.networks}
        furthest = max(
            held.values(), key=lambda value: -1 if value is None else values.index(value)
        )
        best = listed([name for name, value in held.items() if value == furthest])
        answer = (
            "no network holds any value"
            if furthest is None
            else f"{ends(values)} to {furthest}: {best}"
        )
        several = f"{len(held)} network{'s' if len(held) != 1 else ''}"
        return (
            f"Comparison: {several}, {self.settings['axis']} {values[0]} to {values[-1]}; {answer}"
        )

    def describe(self) -> str:
        """Describe in a paragraph how far each network comes, and what the statistics support."""
        s = self.settings
        intro = (
            f"{s['title']}: {s['setting']}. Trials at each value of the {s['axis']}: "
            f"{s['trials']}, with the same sequences and cues for every network. A sequence is "
            f"recalled if {s['criterion']}. A network holds a value if it succeeds in at least "
            "half of the trials there and at all easier values."
        )
        learning = [n for n in self.networks if not n["stores_patterns"]]
        storing = [n for n in self.networks if n["stores_patterns"]]
        few = (
            f"With so few trials ({s['trials']} per value) only gross differences can show."
            if s["trials"] < 10
            else ""
        )
        sentences = [
            intro,
            _tuning(learning + storing),
            _ranking(self, learning, "networks that learn weights"),
            _ranking(self, storing, "memories that store the patterns themselves"),
            _forgetting(self),
            *self._supported(),
            _notes(learning + storing),
            few,
        ]
        return " ".join(filter(None, sentences))

    def conclusion(self) -> str:
        """Describe only what the statistics support: where exact tests decide, and which networks
        differ by Holm's correction.

        Examples
        --------
        >>> import seqattractor as sa
        >>> comparison = sa.compare("random", ["hebbian", "lookup"], values=[5, 40], trials=6)
        >>> print(comparison.conclusion().partition("by itself): ")[2])
        hebbian: more up to 5 and less from 40 on; lookup: more up to 40. Trial by trial, these
        succeed (p < 0.05, exact sign test with Holm's correction, number of pairs: 1):
        lookup more often than hebbian. No other difference is shown.
        """
        s = self.settings
        trials = (
            f"{s['trials']} trial{'s' if s['trials'] != 1 else ''} at each value of the {s['axis']}"
        )
        intro = (
            f"{s['title']}: {s['setting']}. {trials}, with the same sequences and cues for every "
            "network."
        )
        return " ".join(filter(None, [intro, *self._supported()]))

    def _supported(self) -> list[str]:
        """What the statistics support, and what limits it."""
        return [_decided(self), _differences(self), _same_data(self), _not_taking_part(self)]

    def taking_part(self) -> list[str]:
        """Return the names of the networks that did at least one trial."""
        done = {row["network"] for row in self.results if row["parameters"] is not None}
        return [n["network"] for n in self.networks if n["network"] in done]

    def rows(self) -> list[Row]:
        """Return the results as rows of a table, one for each value and network, with the sizes N,
        M, T and flips of each.
        """
        kinds = {
            n["network"]: {k: v for k, v in n.items() if k not in ("network", "note", "hidden")}
            for n in self.networks
        }
        hidden = {n["network"]: n["hidden"] for n in self.networks}
        protocol = self.settings["protocol"]
        return [
            {
                "protocol": protocol,
                **row,
                **kinds[row["network"]],
                **self._sizes(row["value"], hidden[row["network"]]),
            }
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
        return {
            "N": n,
            "M": None if hidden is None else given["m"],
            "T": given["t"],
            "flips": flips,
        }

    def row(self, network: str, value: Any) -> Row:
        """Return the results of one network at one value."""
        for row in self.results if isinstance(value, (str, int, float, np.number)) else ():
            if isinstance(network, str) and (row["network"], row["value"]) == (network, value):
                return row
        names = ", ".join(row["network"] for row in self.networks)
        asked = f"{say(network)} at {say(value)}"
        raise ValueError(
            f"there are results of {names} at {self.settings['values']}, but none of {asked}."
        )

    def reach(self, network: str) -> Any:
        """Return the hardest value that a network holds with all easier ones, in at least half of
        the trials; None if none.
        """
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
        """Write everything as JSON; without times (`timing`) the text is the same for the same
        seed.
        """
        check_flag(timing, "timing")
        data = {
            "settings": self.settings,
            "networks": self.networks,
            "rows": self.results,
            "conclusion": self.conclusion(),
        }
        data["description"] = self.describe()
        if timing:
            data["seconds"] = self.seconds
        return json.dumps(data, indent=1, allow_nan=False) + "\n"

    def to_csv(self, *, timing: bool = False) -> str:
        """Write a line for each value and network as CSV, with `timing` also the seconds."""
        check_flag(timing, "timing")
        rows = (
            [row | times for row, times in zip(self.rows(), self.seconds, strict=True)]
            if timing
            else self.rows()
        )
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
        "by_trial": "".join(
            "x" if "error" in outcome else str(int(outcome["success"])) for outcome in outcomes
        ),
        "in_phase": _in_phase(done),
        "recalled": sum(outcome["recalled"] / outcome["sequences"] for outcome in done) / len(done)
        if done
        else None,
        "one_step_error": sum(outcome["one_step_error"] for outcome in done) / len(done)
        if done
        else None,
        "epochs": median(reached) if reached else None,
        "without_error": len(reached),
        "parameters": max((outcome["parameters"] for outcome in done), default=None),
        "order": max((outcome["order"] for outcome in done), default=None),
        "error": errors[0] if errors else None,
    }


def _in_turn(outcomes: Sequence[Row]) -> Row:
    """Return what only sequences one after another have: how many are stored, which fraction of
    transitions is left of the first, and what is saved beside the weights.
    """
    done = [outcome for outcome in outcomes if "error" not in outcome]
    return {
        **{
            key: sum(each[key] for each in done) / len(done) if done else None
            for key in ("stored", "first")
        },
        "bits_saved": max((each["bits_saved"] for each in done), default=None),
    }


def _certain(outcome: Row) -> Row:
    """The results of one network at one value where every trial is the same: one counts, and there
    is no interval.
    """
    summary = _summary([outcome])
    rate = float(summary["successes"])
    return summary | {"low": rate, "high": rate}


def _in_phase(done: Sequence[Row]) -> int | None:
    """In how many trials all sequences were recalled in phase with their cues; None for a network
    that dwells.
    """
    if any(outcome["in_phase"] is None for outcome in done):
        return None
    return sum(bool(outcome["in_phase"] == outcome["sequences"]) for outcome in done)


def _times(outcomes: Sequence[Row]) -> Row:
    """Median times of one network at one value, or None where they were not measured."""
    times = {
        key: [outcome[key] for outcome in outcomes if key in outcome]
        for key in ("learn_seconds", "recall_seconds")
    }
    return {key: median(each) if each else None for key, each in times.items()}
