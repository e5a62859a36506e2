"""Beyond the paper: its network beside the other sequence memories, on the same sequences and cues."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from seqattractor.networks.registry import REGISTRY, parameters_of
from seqattractor.paper.target import Cell, Outcome, Request, Result, Target
from seqattractor.report.comparison_view import comparison_tables
from seqattractor.report.figures import comparison_figure
from seqattractor.report.page import Table, Verdict
from seqattractor.study.compare import default_networks
from seqattractor.study.comparison import Comparison, network_row
from seqattractor.study.comparison_trial import compare_once, get_test, make_prototype
from seqattractor.study.tuning import tuned

M = 500  # hidden neurons, as in section 6.2


def settings_of(name: str, protocol: str) -> dict[str, Any]:
    """Return the tuned setting of a network, with M hidden neurons unless tuning chose another number."""
    hidden = {"n_hidden": M} if "n_hidden" in parameters_of(name) else {}
    return {**hidden, **tuned(name, protocol).parameters}


def compare_networks(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Run all networks on the same sequences and cues of a test at one value; times, which differ, are left out."""
    words = np.random.default_rng(seed).integers(2**32, size=4).tolist()
    outcomes = {}
    for name in settings["networks"]:
        prototype = make_prototype(name, settings_of(name, settings["protocol"]), test=settings["protocol"])
        trial = {"test": settings["protocol"], "value": settings["value"]}
        outcome = compare_once(trial, prototype, np.random.SeedSequence(words))
        outcomes[name] = {key: value for key, value in outcome.items() if not key.endswith("seconds")}
    return outcomes


TRIALS = 10
VALUES: dict[str, tuple[Any, ...]] = {
    "random": (10, 20, 40, 50, 60, 70, 80, 100, 150, 200),
    "noise": (0, 10, 20, 30, 40),
    "recall-noise": (0, 2, 5, 10, 20),
    "correlated": (0.0, 0.4, 0.7, 0.9),
    "multi": ("5x5", "5x10", "2x50", "10x10", "20x10"),
}
QUICK: dict[str, tuple[Any, ...]] = {"random": (10, 40, 70)}
LEFT_OUT_QUICKLY = ("sparse", "slow-synapses", "mixed")  # these take a second or more per trial


class _ComparisonTarget(Target):
    """All networks on the protocols that need no minutes per trial."""

    def cells(self, request: Request) -> list[Cell]:
        wanted = QUICK if request.quick else VALUES
        networks = [name for name in default_networks() if not (request.quick and name in LEFT_OUT_QUICKLY)]
        return [
            {"protocol": protocol, "value": value, "networks": networks}
            for protocol, values in wanted.items()
            for value in values
        ]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return request.at_most(2 if request.quick else TRIALS)

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        comparisons: list[Comparison] = []
        for protocol in dict.fromkeys(cell["protocol"] for cell, _ in outcomes):
            test = get_test(protocol)
            parameters = {name: settings_of(name, protocol) for name in outcomes[0][0]["networks"]}
            trials = {cell["value"]: each for cell, each in outcomes if cell["protocol"] == protocol}
            networks = [
                network_row(
                    name,
                    make_prototype(name, each).traits(),
                    family=REGISTRY[name].family,
                    setting=tuned(name, protocol).origin,
                    hidden=each.get("n_hidden"),
                )
                for name, each in parameters.items()
            ]
            comparisons.append(Comparison.of(test, trials, networks, seed=request.seed, n_hidden=M))
        data = {
            "settings": {"protocols": [one.settings for one in comparisons], "networks": comparisons[0].networks},
            "rows": [{"protocol": one.settings["protocol"], **row} for one in comparisons for row in one.results],
            "conclusions": [one.describe() for one in comparisons],
        }
        return Result(data, {"comparisons": comparisons})

    def verdict(self, result: Result) -> Verdict:
        return Verdict(None, result.data["conclusions"][0])

    def figure(self, result: Result) -> Figure:
        return comparison_figure(result.extra["comparisons"])

    def tables(self, result: Result) -> list[Table]:
        tables = []
        for k, (one, words) in enumerate(zip(result.extra["comparisons"], result.data["conclusions"], strict=True)):
            first, second = comparison_tables(one)
            tables += [Table(first.columns, first.rows, first.caption if k == 0 else words), second]
        return tables


TARGET = _ComparisonTarget(
    name="comparison",
    title="The other sequence memories",
    trial="comparison:compare_networks",
    about="The paper's network beside asymmetric Hebbian, slow-synapse, pseudo-inverse and perceptron networks, temporal "
    "predictive coding, dense associative memories and a look-up table. Every trial gives all of them the same sequences "
    "and the same corrupted cues. The command seqattractor compare does this with more trials, on moving digits and the "
    "walker, and with a network of your own.",
)
