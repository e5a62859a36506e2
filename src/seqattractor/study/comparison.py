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
from seqattractor.study.comparison_tests import ComparisonTest, get_test
from seqattractor.study.conclusion import Row, conclusion, description, ends, listed
from seqattractor.study.settings import as_flips
from seqattractor.study.table import as_csv

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
        """Say which network gets furthest."""
        values = self.settings["values"]
        held = {n["network"]: self.reach(n["network"]) for n in self.networks}
        furthest = max(held.values(), key=lambda value: -1 if value is None else values.index(value))
        best = listed([name for name, value in held.items() if value == furthest])
        answer = "no network holds any value" if furthest is None else f"{ends(values)} to {furthest}: {best}"
        several = f"{len(held)} network{'s' if len(held) != 1 else ''}"
        return f"Comparison: {several}, {self.settings['axis']} {values[0]} to {values[-1]}; {answer}"

    def describe(self) -> str:
        """Say how far each network comes, fairly to all of them."""
        return description(self)

    def conclusion(self) -> str:
        """Say only what the statistics support: where exact tests decide, and which networks differ, after Holm's correction.

        Returns
        -------
        str

        Examples
        --------
        >>> import seqattractor as sa
        >>> comparison = sa.compare("random", ["hebbian", "lookup"], values=[5, 40], trials=6)
        >>> print(comparison.conclusion().split(". ")[2])
        By the exact binomial test (p < 0.05, each network taken by itself): hebbian succeeds in more than half of all trials up
        to 5 and in less than half from 40 on; lookup in more than half at every value
        """
        return conclusion(self)

    def rows(self) -> list[Row]:
        """Give the results as rows of a table, one for each value and network, with the sizes N, M, T and flips of each."""
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
        """Give the results of one network at one value."""
        values = self.settings["values"]
        if not any(row["network"] == network for row in self.networks if isinstance(network, str)) or not _among(value, values):
            names = ", ".join(row["network"] for row in self.networks)
            raise ValueError(f"there are results of {names} at {values}, but none of {say(network)} at {say(value)}.")
        return next(row for row in self.results if row["network"] == network and row["value"] == value)

    def reach(self, network: str) -> Any:
        """Give the hardest value that a network holds with all easier ones, in at least half of the trials; None if none."""
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


def _among(value: Any, values: Sequence[Any]) -> bool:
    """Whether a value is one of the values; an array is none."""
    return isinstance(value, (str, int, float, np.number)) and value in values


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
        "recalled": _mean([outcome["recalled"] / outcome["sequences"] for outcome in done]),
        "one_step_error": _mean([outcome["one_step_error"] for outcome in done]),
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
    """Median times of one network at one value, or None where they were not kept."""
    times = {key: [outcome[key] for outcome in outcomes if key in outcome] for key in ("learn_seconds", "recall_seconds")}
    return {key: median(each) if each else None for key, each in times.items()}


def _mean(numbers: Sequence[float]) -> float | None:
    """The mean, or None of nothing."""
    return sum(numbers) / len(numbers) if numbers else None
