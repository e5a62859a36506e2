"""Figures 1 and 4: two toy sequences that no network without hidden neurons can make, and that
networks with them retrieve.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.analysis._retrieval import retrieved
from seqattractor.analysis._separability import separable
from seqattractor.datasets._small import toy
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.visible import VisibleNetwork
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING, TOY
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target, count_successes
from seqattractor.report.page import Table, Verdict
from seqattractor.study.settings import PERIODS
from seqattractor.study.statistics import side


def train_perceptron(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Figure 1: train a perceptron and run it from the first pattern; or, with "proof", prove that
    there are no weights.
    """
    if "proof" in settings:
        return _prove(settings["proof"])
    X = toy(settings["sequence"])
    net = VisibleNetwork(
        random_state=np.random.default_rng(seed), engine="exact", n_jobs=1, **LEARNING
    ).fit(X)
    trajectory = net.recall(X[0], steps=PERIODS * len(X))
    return {
        "success": retrieved(trajectory, X),
        "fewest_errors": int(net.visible_errors_.min()),
        "converged": bool(net.converged_),
        "trajectory": trajectory[: len(X)].tolist(),
    }


def _prove(sequence: int) -> dict[str, Any]:
    """Return the neurons that no weights can drive, even with biases, and a proof in integers for
    the first of them.
    """
    answer = separable(toy(sequence), bias=True)
    combination = answer.proof(int(answer.impossible[0])).combination
    assert combination is not None  # since the neuron is impossible
    return {
        "impossible": (answer.impossible + 1).tolist(),
        "combination": [int(k) for k in combination],
    }


def retrieve_toy(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Figure 4: train a network with hidden neurons and retrieve the sequence from a corrupted
    cue.
    """
    rng = np.random.default_rng(seed)
    X = toy(settings["sequence"])
    net = SequenceAttractor(
        settings["M"], random_state=rng, engine="exact", n_jobs=1, **LEARNING
    ).fit(X)
    trajectory = net.recall(flip(X[0], settings["flips"], rng=rng), steps=PERIODS * len(X))
    return {
        "success": retrieved(trajectory, X),
        "learned": net.score(X) == 1.0,
        "trajectory": trajectory[: 2 * len(X) - 1].tolist(),
    }


class _Figure1(Target):
    """Figure 1."""

    def cells(self, request: Request) -> list[Cell]:
        return [{"sequence": 1}, {"sequence": 2}, {"proof": 1}, {"proof": 2}]

    def n_trials(self, request: Request, cell: Cell) -> int:
        return 1 if "proof" in cell else request.trials

    def result(self, request: Request, outcomes: list[tuple[Cell, list[Outcome]]]) -> Result:
        proofs = {cell["proof"]: trials[0] for cell, trials in outcomes if "proof" in cell}
        trained = {cell["sequence"]: trials for cell, trials in outcomes if "sequence" in cell}
        rows = [
            {
                "sequence": number,
                "trials": len(trials),
                "converged": sum(outcome["converged"] for outcome in trials),
                "successes": sum(outcome["success"] for outcome in trials),
                "fewest_errors_in_an_epoch": min(outcome["fewest_errors"] for outcome in trials),
                "impossible_neurons": proofs[number]["impossible"],
                "proof_for_the_first_of_them": proofs[number]["combination"],
            }
            for number, trials in trained.items()
        ]
        trajectories = {
            number: np.array(trials[0]["trajectory"]) for number, trials in trained.items()
        }
        settings = {"N": TOY["N"], **LEARNING, "trials": request.trials, "seed": request.seed}
        return Result({"settings": settings, "rows": rows}, {"trajectories": trajectories})

    def verdict(self, result: Result) -> Verdict:
        rows = result.rows()
        proofs = "; ".join(
            f"sequence {row['sequence']}: {len(row['impossible_neurons'])} of {TOY['N']} neurons "
            "impossible"
            for row in rows
        )
        return Verdict(
            all(row["impossible_neurons"] and not row["converged"] for row in rows),
            "As in the paper, neither sequence can be made without hidden neurons, not even with "
            f"biases. Proof by linear programming: {proofs}. The perceptron rule reached zero "
            f"errors in {sum(row['converged'] for row in rows)} of "
            f"{sum(row['trials'] for row in rows)} runs.",
        )

    def tables(self, result: Result) -> list[Table]:
        columns = {
            "": "Sequence {sequence}",
            "impossible neurons": "{neurons}",
            "lambda(t) for the first": "{impossible_neurons[0]}: ({proof})",
            "perceptron converged": "{converged} of {trials}",
            "fewest errors in an epoch": "{fewest_errors_in_an_epoch}",
        }
        lists = {"neurons": "impossible_neurons", "proof": "proof_for_the_first_of_them"}
        rows = [
            row | {name: ", ".join(map(str, row[key])) for name, key in lists.items()}
            for row in result.rows()
        ]
        caption = (
            "Proof: for neuron i, the sum over t of lambda(t) x_i(t+1) x(t) is the zero vector, no "
            "lambda is below 0, and one is above 0 where x_i(t+1) = -1. Any weights w would make "
            "that sum of products with w positive. The sum over t of lambda(t) x_i(t+1) is zero, "
            "too, so that a bias does not help."
        )
        return [Table.of(rows, columns, caption)]

    def figure(self, result: Result) -> Figure:
        figure, axes = plt.subplots(2, 2, figsize=(6.0, 6.6))
        for (above, below), (number, trajectory) in zip(
            axes.T, sorted(result.extra["trajectories"].items()), strict=True
        ):
            X = toy(number)
            plots.raster(X, title=f"sequence {number}, $x(t)$", ax=above)
            plots.raster(
                trajectory, title="recalled (dots: wrong units)", wrong=trajectory != X, ax=below
            )
        for ax in axes.flat:
            ax.set(xlabel="time", ylabel="neuron")
        return figure


class _Figure4(Target):
    """Figure 4."""

    def cells(self, request: Request) -> list[Cell]:
        return [{"sequence": number, "M": TOY["M"], "flips": TOY["flips"]} for number in (1, 2)]

    def settings(self, request: Request) -> dict[str, Any]:
        return {**TOY, **LEARNING, "recall_steps": f"{PERIODS} T", "trials": request.trials}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        learned = sum(outcome["learned"] for outcome in trials)
        return [{"sequence": cell["sequence"], "learned": learned} | count_successes(trials)]

    def extra(self, outcomes: list[tuple[Cell, list[Outcome]]]) -> dict[str, Any]:
        shown = {}
        for cell, trials in outcomes:
            X = toy(cell["sequence"])
            trajectories = [np.array(outcome["trajectory"]) for outcome in trials]
            shown[cell["sequence"]] = max(
                trajectories, key=lambda path: np.mean(path[: len(X)] == X)
            )
        return {"shown": shown}

    def verdict(self, result: Result) -> Verdict:
        rows = result.rows()
        counts = " and ".join(f"{row['successes']} of {row['trials']}" for row in rows)
        usual = all(
            side(row["successes"], row["trials"]) >= 0 for row in rows
        )  # else chance does not explain so few
        shown = all(row["successes"] for row in rows)
        learned = " and ".join(f"{row['learned']}" for row in rows)
        return Verdict(
            usual if shown or not usual else None,  # a few trials without a success are not enough
            f"With hidden neurons {learned} of {rows[0]['trials']} networks make every transition "
            f"of sequences 1 and 2, and {counts} retrieve them from two flipped units; the paper "
            "shows one retrieval of each, and the figure here the cleanest of ours. That counts "
            "as agreement unless the exact binomial test shows a success rate below one half.",
        )

    def tables(self, result: Result) -> list[Table]:
        columns = {
            "": "Sequence {sequence}",
            "every transition learned": "{learned} of {trials}",
            "retrieved": "{successes} of {trials}",
            "95 % interval": "{percent[0]:.0f}–{percent[1]:.0f} %",
        }
        rows = [{**row, "percent": [100 * end for end in row["interval"]]} for row in result.rows()]
        return [Table.of(rows, columns)]

    def figure(self, result: Result) -> Figure:
        figure, axes = plt.subplots(1, 2, figsize=(9.0, 4.0))
        for ax, (number, trajectory) in zip(
            axes, sorted(result.extra["shown"].items()), strict=True
        ):
            X = toy(number)
            in_step = np.concatenate([X, X[1:]])[: len(trajectory)]
            plots.raster(
                trajectory,
                title=f"sequence {number} (dots: wrong units)",
                wrong=trajectory != in_step,
                ax=ax,
            )
            ax.set(xlabel="time, two periods", ylabel="neuron")
        return figure


FIGURE_1 = _Figure1(
    name="fig1",
    title="Figure 1",
    trial="toy:train_perceptron",
    about="Two sequences of ten neurons in the spirit of the paper's, whose own pictures are not "
    "part of its text. A network of visible neurons only is trained on each by the perceptron rule "
    "with the paper's margin and rate, and a linear program looks for weights, neuron by neuron, "
    "or proves in whole numbers that there are none.",
)
FIGURE_4 = _Figure4(
    name="fig4",
    title="Figure 4",
    trial="toy:retrieve_toy",
    about="The sequences of figure 1 in a network with M = 50 hidden neurons, started from the "
    "first pattern with two of ten units flipped. The paper shows one retrieval of each; here "
    "fresh networks and flips are drawn for every trial.",
)
