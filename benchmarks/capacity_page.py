"""The tables and figures of docs/capacity.rst, from the results of `seqattractor reproduce
capacity`.

    seqattractor reproduce capacity --out OUT [--quick] [--trials 10] [--jobs 2]
    python benchmarks/capacity_page.py OUT/capacity.json

Results are saved in benchmarks/capacity.json; without an argument the page is written from them
again. Where there is no hour for the full version, a part of it does, with one trial in a cell:

    python benchmarks/capacity_page.py --reduced OUT [--jobs 2]

Where the code of one network has changed, its cells are run again, and take the place of the kept
ones:

    python benchmarks/capacity_page.py --again control one-hot --study FILE [--jobs 2]
"""

import argparse
import json
from functools import partial
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from rst import list_table, named_parts

from seqattractor import plots
from seqattractor.analysis._lost_starts import ENDS, FIRST_STEPS
from seqattractor.paper import capacity
from seqattractor.paper.capacity import FULL, TARGET
from seqattractor.paper.reproduce import reproduce
from seqattractor.paper.target import Request, Result
from seqattractor.plots._analysis import END_COLORS
from seqattractor.report.figures import save
from seqattractor.study.protocol import Point, Protocol, Rounds, Trial
from seqattractor.study.run import choose_executor, run_trials
from seqattractor.study.store import Store

HERE = Path(__file__).parent
KEPT = HERE / "capacity.json"
DOCS = HERE.parent / "docs"
TABLES = ("lengths", "flips", "control", "ablations", "limits")
"""Names of the tables of the target, in its order."""

REDUCED = FULL | {
    "lengths": [100, 300, 500, 700, 800, 900, 1000, 1100, 1200],
    "paper_up_to": 100,
    "control_lengths": [80, 100],
    "cue_lengths": [70, 200],
    "cue_flips": [10, 20, 30],
    "ablation_lengths": [800],
    "inside_lengths": [100, 500, 800, 1000, 1200],
    "digits": FULL["digits"] | {"stored": [20], "paper": [20], "trials": 1},
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="?", type=Path, default=KEPT)
    parser.add_argument(
        "--reduced",
        type=Path,
        metavar="OUT",
        help="run a part of the full version in this folder first",
    )
    parser.add_argument(
        "--again",
        nargs="+",
        default=[],
        metavar="NAME",
        help="run these parts or networks of the full version",
    )
    parser.add_argument("--study", type=Path, help="where trials of --again are kept")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.reduced is not None:
        capacity.FULL = REDUCED
        reproduce(["capacity"], Request(trials=1), options.reduced, jobs=options.jobs)
        options.results = options.reduced / "capacity.json"
    if options.again:
        KEPT.write_text(
            json.dumps(renewed(options.again, options.study, options.jobs), indent=1) + "\n"
        )
    text = options.results.read_text()
    KEPT.write_text(text)
    result = Result(json.loads(text))
    (DOCS / "capacity_results.inc").write_text(page(result))
    for name, draw in FIGURES.items():
        save(partial(draw, result), DOCS / "images" / f"capacity_{name}.png")


def renewed(names, study, jobs):
    """The kept results with some parts or networks of the full version run again, with the seeds
    that the whole of it has.
    """
    request, kept = Request(), json.loads(KEPT.read_text())
    cells = list(zip(TARGET.cells(request), TARGET.experiments(request), strict=True))
    trial = f"seqattractor.paper.{TARGET.trial}"
    points = {
        number: Point(Protocol(experiment, trial), cell, request.seed)
        for number, (cell, experiment) in enumerate(cells)
        if cell["part"] in names or cell.get("network") in names
    }
    trials = Rounds((point, TARGET.n_trials(request, point.settings)) for point in points.values())
    with Store(study) as store:
        run_trials(trials, store, choose_executor(jobs, None), current=True)
        rows = []
        for number, (cell, _) in enumerate(cells):
            if number in points:
                done = [
                    store.get(Trial(points[number], k)).outcome
                    for k in range(TARGET.n_trials(request, cell))
                ]
                rows += TARGET.rows(cell, done)
            else:
                rows += [
                    row
                    for row in kept["rows"]
                    if all(row.get(name) == value for name, value in cell.items())
                ]
    return {"settings": {**TARGET.settings(request), "seed": request.seed}, "rows": rows}


def page(result):
    """The sentence, where it comes from, and all tables, each between two comments that
    docs/capacity.rst names.
    """
    parts = {"verdict": TARGET.verdict(result).sentence, "source": source(result)}
    parts |= {
        name: list_table(table) for name, table in zip(TABLES, TARGET.tables(result), strict=True)
    }
    return named_parts(parts)


def source(result):
    """Which command gave the results, with how many trials."""
    s, most = result.data["settings"], {}
    for row in result.data["rows"]:
        most.setdefault(row["part"], []).append(row["trials"])
    counts = ", ".join(
        f"{part} {min(n)}" if min(n) == max(n) else f"{part} {min(n)} to {max(n)}"
        for part, n in most.items()
    )
    commands = {
        size(FULL): "seqattractor reproduce capacity",
        size(REDUCED): "benchmarks/capacity_page.py --reduced OUT",
    }
    command = commands.get(size(s), "seqattractor reproduce capacity --quick")
    return (
        f"``{command}``, seed {s['seed']}: N = {s['N']}, M = {s['M']}, {s['flips']} flips. Trials "
        f"in a cell: {counts}."
    )


def size(sizes):
    """What tells versions of the target apart."""
    return sizes["N"], sizes["M"], *sizes["ablation_lengths"]


def ablation_figure(result):
    """Draw the basin with one thing changed, a panel for each length, with the successes beside the
    bars.
    """
    names, lengths = (
        list(result.data["settings"]["ablations"]),
        result.data["settings"]["ablation_lengths"],
    )
    size = (3.4 + 2.6 * len(lengths), 0.6 + 0.3 * len(names))
    figure, axes = plt.subplots(
        1, len(lengths), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    for ax, T in zip(axes[0], lengths, strict=True):
        rows = [result.rows(part="ablation", options=name, T=T)[0] for name in names]
        basins = [100 * row["basin"] for row in rows]
        ax.barh(names, basins, color=[plots.BLUE] + [plots.GREY] * (len(rows) - 1), height=0.7)
        ax.axvline(basins[0], color=plots.BLUE, linewidth=1, linestyle=":")
        for place, row in enumerate(rows):
            ax.text(103, place, f"{row['successes']}/{row['trials']}", va="center", fontsize=8)
        ax.set(
            xlim=(0, 122),
            xticks=[0, 25, 50, 75, 100],
            xlabel="basin, %; beside it success",
            title=f"T = {T}",
        )
        ax.grid(axis="x")
    axes[0, 0].set_ylim(len(names) - 0.5, -0.5)
    return figure


def inside_figure(result):
    """Draw first steps, ends of lost starts, proven and measured flips, and curves of
    robustness.
    """
    s, rows = result.data["settings"], result.rows(part="inside")
    T = [row["T"] for row in rows]
    figure, ((first, ends), (proven, curves)) = plt.subplots(
        2, 2, figsize=(10.4, 7.2), layout="constrained"
    )
    counts = np.array([row["counts"] for row in rows], dtype=float)
    share = 100 * counts / counts.sum(axis=(1, 2), keepdims=True)
    for k, (name, color) in enumerate(
        zip(FIRST_STEPS, (plots.BLUE, plots.ORANGE, plots.GREEN, plots.RED), strict=True)
    ):
        if k:
            first.plot(
                T,
                share[:, k].sum(axis=1),
                "o-",
                markersize=4,
                color=color,
                label=f"{name}: all starts",
            )
        words = "lost although right" if not k else f"{name}: lost"
        first.plot(T, share[:, k, 1:].sum(axis=1), "--", linewidth=1.2, color=color, label=words)
    first.set(
        ylabel=f"starts with {s['flips']} flips, %",
        title="hidden neurons in the first step",
        ylim=(0, None),
    )
    lost = share[:, :, 1:].sum(axis=1)
    ends.stackplot(
        T, *lost.T, labels=ENDS[1:], colors=[END_COLORS[end] for end in ENDS[1:]], alpha=0.85
    )
    ends.set(
        ylabel=f"starts with {s['flips']} flips, %", title="where lost starts end", ylim=(0, None)
    )
    flips = np.array(s["robust_flips"], dtype=float)
    for rate, words, marker, color in (
        (0.5, "half", "o-", plots.BLUE),
        (0.95, "95 %", "s-", plots.GREEN),
    ):
        falling = [np.minimum.accumulate(row["right"]) for row in rows]
        borne = [
            np.interp(-rate, -each, flips) for each in falling
        ]  # np.interp wants rising values
        proven.plot(
            T,
            borne,
            marker,
            markersize=4,
            color=color,
            label=f"{words} of the steps right, random flips",
        )
    proven.plot(
        T,
        [row["radius"] for row in rows],
        "D-",
        markersize=4,
        color=plots.ORANGE,
        label="proven for any flips, mean",
    )
    proven.plot(
        T,
        [row["least_radius"] for row in rows],
        ":",
        color=plots.ORANGE,
        label="proven for any flips, least",
    )
    proven.set(ylabel="flipped units", title="flips that a step withstands", ylim=(0, None))
    for k, row in enumerate(rows):
        shade = mpl.colormaps["viridis"](0.9 * k / max(len(rows) - 1, 1))
        curves.plot(
            flips,
            [100 * x for x in row["right"]],
            "o-",
            markersize=3,
            color=shade,
            label=f"T = {row['T']}",
        )
    for ax, place in (
        (first, "upper left"),
        (ends, "upper left"),
        (proven, "upper right"),
        (curves, "lower left"),
    ):
        legend_and_grid(ax, place)
        ax.set_xlabel("period length T")
    curves.set(
        xlabel="random flips",
        ylabel="next pattern exact, %",
        title="one step from a stored pattern",
        ylim=(-4, 104),
    )
    return figure


def legend_and_grid(ax, place):
    """Add a small legend and a grid."""
    ax.legend(fontsize=8, loc=place)
    ax.grid(visible=True)


FIGURES = {"success": TARGET.figure, "ablations": ablation_figure, "inside": inside_figure}


if __name__ == "__main__":
    main()
