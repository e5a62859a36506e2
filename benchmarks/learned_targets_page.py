"""The tables and figures of docs/learned_targets.rst, from the results of the commands that stand
there.

    python benchmarks/learned_targets_page.py OUT      # OUT has learned-targets.json and the
    studies strengths.db, few_hidden.db,
                                                       # few_flips.db and table2.db

Results are saved in benchmarks/learned_targets.json; without an argument the page is written
from them again.
"""

import json
import sys
from itertools import groupby
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from rst import list_table, named_parts

from seqattractor import plots
from seqattractor.analysis import wilson_interval
from seqattractor.paper import agreement
from seqattractor.paper.learned_targets import LATER, NAMES, TARGET
from seqattractor.paper.retrieval import COLORS
from seqattractor.paper.settings import LEARNED_FEEDBACK
from seqattractor.paper.target import Result, draw_successes
from seqattractor.report.figures import save
from seqattractor.report.page import Table
from seqattractor.study.study import read_study, settings_of

HERE = Path(__file__).parent
KEPT = HERE / "learned_targets.json"
DOCS = HERE.parent / "docs"
STUDIES = ("strengths", "few_hidden", "few_flips", "table2")
SHOWN = (60, 70, 80, 90, 100)
"""The lengths around those at which success falls: what one step gets wrong is shown for these."""

LOOKS = {
    "hidden_wrong": ("wrong hidden neurons, %", 100, ".1f"),
    "visible_wrong": ("wrong units after 1 step, %", 100, ".1f"),
    "later_wrong": (f"wrong units after {LATER} steps, %", 100, ".1f"),
    "hidden_margin": ("margin of hidden neurons", 1, ".2f"),
    "visible_margin": ("margin of visible neurons", 1, ".2f"),
    "overlap": ("overlap of codes (RMS)", 1, ".3f"),
    "changed": ("targets other than those of P, %", 100, ".1f"),
}
"""The measurements of a trial beside its success: in words, their unit, and their format."""


def main():
    if sys.argv[1:]:
        KEPT.write_text(json.dumps(collect(Path(sys.argv[1])), indent=1) + "\n")
    results = json.loads(KEPT.read_text())
    (DOCS / "learned_targets_results.inc").write_text(page(results))
    save(lambda: TARGET.figure(Result(results["table1"])), DOCS / "images" / "learned_targets.png")
    save(
        lambda: few_hidden_figure(results["few_hidden"], results["table2"]),
        DOCS / "images" / "learned_targets_few_hidden.png",
    )


def collect(folder):
    """What the commands left in a folder."""
    table1 = json.loads((folder / "learned-targets.json").read_text())
    return {"table1": table1, **{name: points(folder / f"{name}.db") for name in STUDIES}}


def points(path):
    """A row for each point of a study; unlike those of `sweep export --points` they have the
    fraction of transitions stored.
    """
    study = read_study(path)
    assert study.missing == study.summary["failed"] == 0, study.describe()
    names = {"T": "t", "M": "m", "flips": "flips", "lambda": "learned_feedback", "seed": "seed"}
    trials = sorted(
        (settings_of(each.trial.point) | each.outcome for each in study.finished),
        key=lambda row: [row[name] for name in names.values()],
    )
    return [
        dict(zip(names, values, strict=True))
        | {"trials": len(rows), "successes": sum(row["success"] for row in rows)}
        | {"stored": float(np.mean([row["score"] for row in rows]))}
        for values, rows in (
            (key, list(group))
            for key, group in groupby(
                trials, lambda row: tuple(row[name] for name in names.values())
            )
        )
    ]


def page(results):
    """All parts of the page that are results, each between two comments that
    docs/learned_targets.rst names.
    """
    result = Result(results["table1"])
    return named_parts(
        {
            "verdict": TARGET.verdict(result).sentence,
            "counts": list_table(counts(result)),
            "looks": list_table(looks(result)),
            "few_hidden": list_table(by_hidden(results["few_hidden"])),
            "few_flips": list_table(by_hidden(results["few_flips"])),
            "table2": list_table(by_hidden(results["table2"])),
            "strengths": list_table(strengths(results["strengths"])),
        }
    )


def counts(result):
    """Table 1, a row for each T."""
    pairs = list(
        zip(
            *(sorted(result.rows(targets=kind), key=lambda row: row["T"]) for kind in NAMES),
            strict=True,
        )
    )
    rows = [
        [str(a["T"]), counted(a), counted(b), f"{corrected:.2g}", str(a["paper"])]
        for (a, b), corrected in zip(pairs, corrected_p(pairs), strict=True)
    ]
    caption = (
        f"Successes of {pairs[0][0]['trials']} trials, with 95 % Wilson intervals in %, when U and "
        "V are learned."
    )
    return Table(
        ["T", *NAMES.values(), "p (Holm)", f"the paper (of {agreement.TRIALS})"], rows, caption
    )


def looks(result):
    """What one step gets wrong, a row for each T and kind of targets."""
    rows = [
        [
            str(T),
            kind,
            *(format(unit * row[look], style) for look, (_, unit, style) in LOOKS.items()),
        ]
        for T in SHOWN
        for kind in NAMES
        for row in result.rows(targets=kind, T=T)
    ]
    settings = result.data["settings"]
    start = f"From any stored pattern with {settings['flips']} of {settings['N']} units flipped"
    caption = f"{start}; margins are in lengths of the weights."
    return Table(["T", "targets", *(words for words, _, _ in LOOKS.values())], rows, caption)


def by_hidden(rows):
    """Successes with random and with learned targets for each number of hidden neurons."""
    pairs = in_pairs(rows)
    lines = [
        [
            str(a["M"]),
            *(f"{100 * row['stored']:.1f} %" for row in (a, b)),
            counted(a),
            counted(b),
            f"{p:.2g}",
        ]
        for (a, b), p in zip(pairs, corrected_p(pairs), strict=True)
    ]
    T, flips, trials = (rows[0][name] for name in ("T", "flips", "trials"))
    cue = f"the first pattern with {flips} flipped units" if flips else "the clean first pattern"
    caption = (
        f"T = {T}, {trials} trials: transitions stored, on average, and successes from {cue} with "
        "95 % Wilson intervals in %."
    )
    stored = [f"stored, {name}" for name in NAMES.values()]
    return Table(
        ["M", *stored, *(f"successes, {name}" for name in NAMES.values()), "p (Holm)"],
        lines,
        caption,
    )


def strengths(rows):
    """Successes for each lambda and T, and all T together against lambda = 0."""
    lengths, values = (sorted({row[name] for row in rows}) for name in ("T", "lambda"))
    assert values[0] == 0, "random targets to compare with"
    by = {(row["lambda"], row["T"]): row for row in rows}
    lines = []
    for value in values:
        here, there = ([by[lam, T] for T in lengths] for lam in (value, 0))
        pooled = agreement.pool([four(a, b) for a, b in zip(here, there, strict=True)])
        ratio = (
            "{:.2f} ({:.2f}–{:.2f})".format(pooled.odds_ratio, *pooled.interval) if value else "-"
        )
        successes = [row["successes"] for row in here]
        lines.append([f"{value:g}", *map(str, successes), str(sum(successes)), ratio])
    columns = ["lambda", *(f"T = {T}" for T in lengths), "together", "odds ratio to lambda = 0"]
    return Table(
        columns,
        lines,
        f"Successes of {rows[0]['trials']} trials in each cell, and pooled odds ratios with 95 % "
        "intervals.",
    )


def few_hidden_figure(clean, noisy):
    """What is stored over M without flips, and success over M with flips."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2))
    looks = (
        {"color": plots.GREY, "linestyle": "--", "marker": "s", "label": NAMES["random"]},
        {"color": COLORS["UV"], "marker": "o", "label": NAMES["learned"]},
    )
    sides = (list(zip(*in_pairs(rows), strict=True)) for rows in (clean, noisy))
    for clean_rows, noisy_rows, look in zip(*sides, looks, strict=True):
        few = [row for row in clean_rows if row["M"] <= 100]
        left.plot(
            [row["M"] for row in few],
            [100 * row["stored"] for row in few],
            markersize=4,
            linewidth=1.4,
            **look,
        )
        draw_successes(noisy_rows, "M", ax=right, **look)
    left.set(ylabel="transitions stored, %", title=told(clean))
    right.set(title=told(noisy))
    for ax in (left, right):
        ax.set_xlabel("hidden neurons M")
        ax.grid(visible=True)
    right.legend(loc="lower right")
    return figure


def told(rows):
    """Length and flips in a few words."""
    return f"T = {rows[0]['T']}, {rows[0]['flips'] or 'no'} flips"


def in_pairs(rows):
    """Rows with random and with learned targets, by M."""
    by = {(row["lambda"], row["M"]): row for row in rows}
    return [(by[0, M], by[LEARNED_FEEDBACK, M]) for M in sorted({row["M"] for row in rows})]


def corrected_p(pairs):
    """Of Fisher's exact test of each pair of rows, for the number of pairs."""
    return agreement.holm([agreement.p_value(*four(a, b)) for a, b in pairs])


def four(a, b):
    """The counts of two rows as tests take them."""
    return a["successes"], a["trials"], b["successes"], b["trials"]


def counted(row):
    """A count with its interval in percent."""
    low, high = wilson_interval(row["successes"], row["trials"])
    return f"{row['successes']} ({100 * low:.0f}–{100 * high:.0f})"


if __name__ == "__main__":
    main()
