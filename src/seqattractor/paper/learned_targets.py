"""Beyond the paper: table 1 with learned hidden targets. Why should the projection P be random and
fixed?
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.variants import LearnedTargetsAttractor
from seqattractor.noise import flip
from seqattractor.paper import agreement
from seqattractor.paper.retrieval import AXES, COLORS, FIXED, counts_and_intervals
from seqattractor.paper.settings import LEARNED_FEEDBACK, LEARNING, RANDOM_SEQUENCES
from seqattractor.paper.target import (
    Cell,
    Outcome,
    Request,
    Result,
    Row,
    Target,
    count_successes,
    draw_successes,
    flat_interval,
)
from seqattractor.report.page import Table, Verdict
from seqattractor.rule import field, hidden_target
from seqattractor.sequences import Patterns
from seqattractor.study.settings import PERIODS
from seqattractor.study.trial import draw_sequences, retrieve_with

LATER = 4  # after how many steps wrong units are counted again


def retrieve_and_look(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Run a trial as in table 1, with random or learned hidden targets, and a look at the network.

    Settings are T, M, N, flips and targets, and learned_feedback if these are learned. The outcome
    is

    success
        Whether the sequence is retrieved from its first pattern with some units flipped.
    hidden_wrong
        The mean fraction of wrong hidden neurons at a stored pattern with as many units flipped.
    visible_wrong, later_wrong
        The fraction of wrong visible units one step and four steps later.
    hidden_margin, visible_margin
        The mean distance of the fields of stored patterns from 0 on the right side, in lengths of
        the neuron's weights.
    overlap
        The root mean square overlap of the hidden codes of two transitions, between 0 and 1.
    changed
        The fraction of hidden targets that are not those of P.
    """
    sequence, network, cue, look = seed.spawn(4)
    how: dict[str, Any] = {"n_jobs": 1, "random_state": np.random.default_rng(network), **LEARNING}
    if settings["targets"] == "learned":
        net: SequenceAttractor = LearnedTargetsAttractor(
            settings["M"], learned_feedback=settings["learned_feedback"], **how
        )
    else:
        net = SequenceAttractor(settings["M"], **how)
    sizes = {"n": settings["N"], "t": settings["T"], "flips": settings["flips"]}
    found = retrieve_with(net, sizes, np.random.default_rng(sequence), np.random.default_rng(cue))
    X, _ = draw_sequences(
        1, settings["T"], settings["N"], rng=np.random.default_rng(sequence)
    )  # the same again
    return {
        "success": bool(found["success"]),
        **_look(net, X, settings["flips"], np.random.default_rng(look)),
    }


def _look(
    net: SequenceAttractor, X: Patterns, flips: int, rng: np.random.Generator
) -> dict[str, float]:
    """Return the errors of a few steps, margins, the overlap of codes, and the fraction of targets
    that moved.
    """
    x, x_next = X[:-1], X[1:]
    y, z, noisy = net._hidden_states(x), net.hidden_targets(x_next), flip(x, flips, rng)
    wrong = {"hidden_wrong": float(np.mean(net._hidden_states(noisy) != y))}
    for steps in range(1, LATER + 1):
        noisy = net.next_patterns(noisy)
        wrong["visible_wrong" if steps == 1 else "later_wrong"] = float(
            np.mean(noisy != np.roll(x, -steps, axis=0))
        )  # a loop
    hidden, visible = (
        field(net.U_, x) / np.linalg.norm(net.U_, axis=1),
        field(net.V_, y) / np.linalg.norm(net.V_, axis=1),
    )
    code = y.astype(np.float64)
    overlaps = (code @ code.T / code.shape[1])[~np.eye(len(code), dtype=bool)]
    return {
        **wrong,
        "hidden_margin": float(np.mean(z * hidden)),
        "visible_margin": float(np.mean(x_next * visible)),
        "overlap": float(np.sqrt(np.mean(overlaps**2))),
        "changed": float(np.mean(z != hidden_target(net.P_, x_next))),
    }


NAMES = {"random": "random targets", "learned": "learned targets"}
LOOKS = (
    "hidden_wrong",
    "visible_wrong",
    "later_wrong",
    "hidden_margin",
    "visible_margin",
    "overlap",
    "changed",
)
"""Measurements of a trial beside its success, as `retrieve_and_look` describes them."""


class _LearnedTargets(Target):
    """Counts of table 1 for U and V with random and with learned targets, and the errors of a few
    steps.
    """

    def cells(self, request: Request) -> list[Cell]:
        periods = (
            RANDOM_SEQUENCES["table1"]["T"][1::2]
            if request.quick
            else RANDOM_SEQUENCES["table1"]["T"]
        )
        (M,) = RANDOM_SEQUENCES["table1"]["M"]
        kinds: list[Cell] = [
            {"targets": "random"},
            {"targets": "learned", "learned_feedback": LEARNED_FEEDBACK},
        ]
        return [{"T": T, "M": M, **FIXED, **kind} for kind in kinds for T in periods]

    def settings(self, request: Request) -> dict[str, Any]:
        steps = {"recall_steps": f"{PERIODS} T", "trials": request.trials}
        return {**FIXED, **LEARNING, "learned_feedback": LEARNED_FEEDBACK, **steps}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        means = {name: float(np.mean([outcome[name] for outcome in trials])) for name in LOOKS}
        paper = agreement.TABLE_1["UV"][cell["T"]]
        return [
            {key: cell[key] for key in ("T", "M", "targets")}
            | count_successes(trials)
            | means
            | {"paper": paper}
        ]

    def verdict(self, result: Result) -> Verdict:
        pairs = list(
            zip(result.rows(targets="random"), result.rows(targets="learned"), strict=True)
        )

        differ = [
            f"T = {a['T']}: {b['successes']} of {b['trials']} with learned targets, "
            f"{a['successes']} with random ones"
            for (a, b), p in zip(pairs, agreement.corrected(pairs), strict=True)
            if p < agreement.LEVEL
        ]
        cells = f" ({'; '.join(differ)})" if differ else ""
        pooled = agreement.pool(
            [(b["successes"], b["trials"], a["successes"], a["trials"]) for a, b in pairs]
        )
        totals = " and ".join(
            f"{sum(row['successes'] for row in result.rows(targets=kind))} with {name}"
            for kind, name in NAMES.items()
        )
        few = agreement.caution(max(row["trials"] for row in result.rows()))
        return Verdict(
            None,
            f"Learned targets make a difference in {len(differ)} of {len(pairs)} cells{cells}: "
            "two-sided Fisher's exact test of the counts, Holm-corrected over all cells, level "
            f"{agreement.LEVEL}. Pooled over all cells, learned against random: {pooled.words()}. "
            f"Successes in all cells together: {totals}. The paper has no such experiment.{few}",
        )

    def csv_rows(self, result: Result) -> list[Row]:
        return [flat_interval(row) for row in result.rows()]

    def tables(self, result: Result) -> list[Table]:
        rows = {name: result.rows(targets=kind) for kind, name in NAMES.items()}
        counts = [
            line
            for name, of_kind in rows.items()
            for line in counts_and_intervals(name.capitalize(), of_kind)
        ]
        counts.append(
            (f"Paper (of {agreement.TRIALS})", rows["random targets"], "{paper}".format_map)
        )
        return [Table.over("T", counts, "Successes when U and V are learned.")]

    def figure(self, result: Result) -> Figure:
        """Draw success over T, and the number of wrong units after one step and a few."""
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2))
        looks = {
            "random": {
                "color": plots.GREY,
                "linestyle": "--",
                "marker": "s",
                "label": NAMES["random"],
            },
            "learned": {"color": COLORS["UV"], "marker": "o", "label": NAMES["learned"]},
        }
        for kind, look in looks.items():
            rows = result.rows(targets=kind)
            draw_successes(rows, "T", shift=0.8 if kind == "random" else -0.8, ax=left, **look)
            T = [row["T"] for row in rows]
            for name, words in (("visible_wrong", "1 step"), ("later_wrong", f"{LATER} steps")):
                wrong = [FIXED["N"] * row[name] for row in rows]
                right.plot(T, wrong, markersize=4, linewidth=1.4, **look)
                if kind == "random":
                    right.annotate(
                        words,
                        (T[-1], wrong[-1]),
                        (6, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=9,
                    )
        right.axhline(FIXED["flips"], color=plots.ORANGE, linewidth=1.2, zorder=1.5)
        right.annotate(
            "as at the start",
            (T[0], FIXED["flips"]),
            (0, 3),
            textcoords="offset points",
            fontsize=9,
        )
        right.set(ylabel=f"wrong units of {FIXED['N']}", ylim=(0, None))
        right.grid(visible=True)
        for ax in (left, right):
            ax.set_xlabel(AXES["T"])
        left.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)
        return figure


TARGET = _LearnedTargets(
    name="learned-targets",
    title="Table 1 with learned targets",
    trial="learned_targets:retrieve_and_look",
    about="Hidden neurons learn sign(P x(t+1)) with a fixed random P. Here P becomes P + lambda "
    f"Q, where Q gets the update of V (lambda = {LEARNED_FEEDBACK}), beside fixed targets. Success "
    "as in table 1; and from every stored pattern with 10 flipped units, how many are wrong a few "
    "steps later. Learning only V has no hidden targets.",
)
