"""Beyond the paper: table 1 with learned hidden targets. Why should the projection P be random and fixed?"""

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from seqattractor import plots
from seqattractor.paper import agreement
from seqattractor.paper.retrieval import AXES, COLORS, FIXED
from seqattractor.paper.settings import LEARNED_FEEDBACK, LEARNING, RANDOM_SEQUENCES
from seqattractor.paper.target import Cell, Outcome, Request, Result, Row, Target, count_successes, draw_successes, flat_interval
from seqattractor.paper.trials.learned_targets import LATER
from seqattractor.report.page import Table, Verdict
from seqattractor.study.settings import PERIODS

NAMES = {"random": "random targets", "learned": "learned targets"}
LOOKS = {
    "hidden_wrong": ("wrong hidden neurons, %", 100, ".1f"),
    "visible_wrong": ("wrong units after 1 step, %", 100, ".1f"),
    "later_wrong": (f"wrong units after {LATER} steps, %", 100, ".1f"),
    "hidden_margin": ("margin of hidden neurons", 1, ".2f"),
    "visible_margin": ("margin of visible neurons", 1, ".2f"),
    "overlap": ("overlap of codes (RMS)", 1, ".3f"),
    "changed": ("targets other than those of P, %", 100, ".1f"),
}
"""What a trial tells beside its success: in words, what it is multiplied by, and how it is written."""


class LearnedTargets(Target):
    """Counts of table 1 for U and V with random and with learned targets, and what one step gets wrong."""

    def cells(self, request: Request) -> list[Cell]:
        """Every T with both kinds of targets; a quick look takes every second T."""
        periods = RANDOM_SEQUENCES["table1"]["T"][1::2] if request.quick else RANDOM_SEQUENCES["table1"]["T"]
        (M,) = RANDOM_SEQUENCES["table1"]["M"]
        kinds: list[Cell] = [{"targets": "random"}, {"targets": "learned", "learned_feedback": LEARNED_FEEDBACK}]
        return [{"T": T, "M": M, **FIXED, **kind} for kind in kinds for T in periods]

    def settings(self, request: Request) -> dict[str, Any]:
        """Those of section 6.2, and lambda."""
        steps = {"recall_steps": f"{PERIODS} T", "trials": request.trials}
        return {**FIXED, **LEARNING, "learned_feedback": LEARNED_FEEDBACK, **steps}

    def rows(self, cell: Cell, trials: list[Outcome]) -> list[Row]:
        """Count the successes, and average the rest."""
        means = {name: float(np.mean([outcome[name] for outcome in trials])) for name in LOOKS}
        paper = agreement.TABLE_1["UV"][cell["T"]]
        return [{key: cell[key] for key in ("T", "M", "targets")} | count_successes(trials) | means | {"paper": paper}]

    def verdict(self, result: Result) -> Verdict:
        """In which cells does it matter whether targets are learned, and does it over all of them?"""
        pairs = list(zip(_of(result, "random"), _of(result, "learned"), strict=True))
        differing = [
            f"T = {a['T']}: {b['successes']} of {b['trials']} with learned targets, {a['successes']} with random ones"
            for a, b in agreement.differing(pairs)
        ]
        pooled = agreement.pool([(b["successes"], b["trials"], a["successes"], a["trials"]) for a, b in pairs])
        totals = " and ".join(f"{sum(row['successes'] for row in _of(result, kind))} with {NAMES[kind]}" for kind in NAMES)
        cells = f" ({'; '.join(differing)})" if differing else ""
        return Verdict(
            None,
            f"Learned targets make a difference in {len(differing)} of {len(pairs)} cells{cells}: two-sided Fisher's exact test "
            f"of the counts, Holm-corrected over all cells, level {agreement.LEVEL}. Pooled over all cells, learned against "
            f"random: {pooled.words()}. Successes in all cells together: {totals}. The paper has no such experiment."
            + agreement.caution(max(row["trials"] for row in result.rows())),
        )

    def csv_rows(self, result: Result) -> list[Row]:
        """The rows with both ends of the interval."""
        return [flat_interval(row) for row in result.rows()]

    def tables(self, result: Result) -> list[Table]:
        """Counts, and what one step gets wrong, one column for each T."""
        counts, looks = [], []
        for kind, name in NAMES.items():
            rows = _of(result, kind)
            counts += [
                [f"{name.capitalize()} (of {rows[0]['trials']})", *(str(row["successes"]) for row in rows)],
                ["95 % interval, %", *("{:.0f}–{:.0f}".format(*(100 * end for end in row["interval"])) for row in rows)],
            ]
        counts.append([f"Paper (of {agreement.TRIALS})", *(str(row["paper"]) for row in rows)])
        for look, (words, unit, style) in LOOKS.items():
            for kind, name in NAMES.items():
                looks.append([f"{words}, {name}", *(format(unit * row[look], style) for row in _of(result, kind))])
        columns = ["T", *(str(row["T"]) for row in rows)]
        start = f"From any stored pattern with {FIXED['flips']} of {FIXED['N']} units flipped"
        return [
            Table(columns, counts, "Successes when U and V are learned."),
            Table(columns, looks, f"{start}; margins are in lengths of the weights."),
        ]

    def figure(self, result: Result) -> Figure:
        """Success over T, and how many units are wrong after one step."""
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2))
        looks = {
            "random": {"color": plots.GREY, "linestyle": "--", "marker": "s", "label": NAMES["random"]},
            "learned": {"color": COLORS["UV"], "marker": "o", "label": NAMES["learned"]},
        }
        for kind, look in looks.items():
            rows = _of(result, kind)
            draw_successes(rows, "T", shift=0.8 if kind == "random" else -0.8, ax=left, **look)
            T = [row["T"] for row in rows]
            for name, words in (("visible_wrong", "1 step"), ("later_wrong", f"{LATER} steps")):
                wrong = [FIXED["N"] * row[name] for row in rows]
                right.plot(T, wrong, markersize=4, linewidth=1.4, **look)
                if kind == "random":
                    right.annotate(words, (T[-1], wrong[-1]), (6, 0), textcoords="offset points", va="center", fontsize=9)
        right.axhline(FIXED["flips"], color=plots.ORANGE, linewidth=1.2, zorder=1.5)
        right.annotate("as at the start", (T[0], FIXED["flips"]), (0, 3), textcoords="offset points", fontsize=9)
        right.set(ylabel=f"wrong units of {FIXED['N']}", ylim=(0, None))
        right.grid(visible=True)
        for ax in (left, right):
            ax.set_xlabel(AXES["T"])
        left.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.0)
        return figure


def _of(result: Result, kind: str) -> list[Row]:
    """The rows of one kind of targets, by T."""
    return sorted(result.rows(targets=kind), key=lambda row: int(row["T"]))


TARGET = LearnedTargets(
    name="learned-targets",
    title="Table 1 with learned targets",
    trial="learned_targets:retrieve_and_look",
    about="Hidden neurons learn to say sign(P x(t+1)) with a fixed random P. Here P becomes P + lambda Q, where Q gets the "
    f'update of V (targets="learned", lambda = {LEARNED_FEEDBACK}), beside fixed targets. Success as in table 1; and from every '
    "stored pattern with 10 flipped units, how many are wrong a few steps later. Learning only V has no hidden targets.",
)
