"""The tables and figures of docs/capacity.rst, from the results of `seqattractor reproduce capacity`.

    seqattractor reproduce capacity --out OUT [--quick] [--trials 10] [--jobs 2]
    python benchmarks/capacity_page.py OUT/capacity.json

The results are kept in benchmarks/capacity.json; without an argument the page is written from them again. Where there is no hour
for the full version, a part of it does, with one trial in a cell:

    python benchmarks/capacity_page.py --reduced OUT [--jobs 2]

Where the code of one network has changed, its cells are run again, and take the place of the kept ones:

    python benchmarks/capacity_page.py --again control one-hot --study FILE [--jobs 2]
"""

import argparse
import json
from pathlib import Path

from rst import list_table, named_parts

from seqattractor.paper import capacity
from seqattractor.paper.capacity import FULL, TARGET
from seqattractor.paper.reproduce import reproduce
from seqattractor.paper.target import Request, Result
from seqattractor.report.figures import save
from seqattractor.study.protocol import Point, Protocol, Rounds, Trial
from seqattractor.study.run import choose_executor, run_trials
from seqattractor.study.store import Store

HERE = Path(__file__).parent
KEPT = HERE / "capacity.json"
DOCS = HERE.parent / "docs"
TABLES = ("lengths", "flips", "control", "ablations", "limits", "digits")
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=KEPT)
    parser.add_argument("--reduced", type=Path, metavar="OUT", help="run a part of the full version in this folder first")
    parser.add_argument("--again", nargs="+", default=[], metavar="NAME", help="run these parts or networks of the full version")
    parser.add_argument("--study", type=Path, help="where trials of --again are kept")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.reduced is not None:
        capacity.FULL = REDUCED
        reproduce(["capacity"], Request(trials=1), options.reduced, jobs=options.jobs)
        options.results = options.reduced / "capacity.json"
    if options.again:
        KEPT.write_text(json.dumps(renewed(options.again, options.study, options.jobs), indent=1) + "\n")
    text = options.results.read_text()
    KEPT.write_text(text)
    result = Result(json.loads(text))
    (DOCS / "capacity_results.inc").write_text(page(result))
    save(lambda: TARGET.figure(result), DOCS / "images" / "capacity_success.png")
    for word, (_, draw) in TARGET.more_figures(result).items():
        save(draw, DOCS / "images" / f"capacity_{word}.png")


def renewed(names, study, jobs):
    """The kept results with some parts or networks of the full version run again, with the seeds that the whole of it has."""
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
                done = [store.get(Trial(points[number], k)).outcome for k in range(TARGET.n_trials(request, cell))]
                rows += TARGET.rows(cell, done)
            else:
                rows += [row for row in kept["rows"] if all(row.get(name) == value for name, value in cell.items())]
    return {"settings": {**TARGET.settings(request), "seed": request.seed}, "rows": rows}


def page(result):
    """The sentence, where it comes from, and all tables, each between two comments that docs/capacity.rst names."""
    parts = {"verdict": TARGET.verdict(result).sentence, "source": source(result)}
    parts |= {name: list_table(table) for name, table in zip(TABLES, TARGET.tables(result), strict=True)}
    return named_parts(parts)


def source(result):
    """Which command gave the results, with how many trials."""
    s, most = result.data["settings"], {}
    for row in result.data["rows"]:
        most.setdefault(row["part"], []).append(row["trials"])
    counts = ", ".join(f"{part} {min(n)}" if min(n) == max(n) else f"{part} {min(n)} to {max(n)}" for part, n in most.items())
    commands = {size(FULL): "seqattractor reproduce capacity", size(REDUCED): "benchmarks/capacity_page.py --reduced OUT"}
    command = commands.get(size(s), "seqattractor reproduce capacity --quick")
    return (
        f"``{command}``, seed {s['seed']}: N = {s['N']}, M = {s['M']}, {s['flips']} flips. Trials in a cell: {counts}."
    )


def size(sizes):
    """What tells versions of the target apart."""
    return sizes["N"], sizes["M"], *sizes["ablation_lengths"]


if __name__ == "__main__":
    main()
