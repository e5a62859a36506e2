"""The tables of held-out cases in docs/sparse.rst: the defaults of the sparse network over sizes,
loads and kinds of patterns.

    python benchmarks/held_out.py --study held_out.db [--jobs 2]

The seed is used nowhere else: defaults were chosen on other sequences and networks. The study keeps
the trials, so that the script can be stopped and resumes; results are saved in
benchmarks/held_out.json, from which tables are written without --study. With --loads 1.5 2 only the
cases with so many transitions for each hidden neuron are run and take the place of kept ones, and
with --sizes 100,1000 200,2000 and --kinds correlated only these networks and patterns, after a
change of defaults that concerns no others.
"""

import argparse
import json
from pathlib import Path

from rst import list_table, named_parts

from seqattractor.report.page import Table
from seqattractor.study import Grid, read_study, run_sweep
from seqattractor.study.settings import DEFAULTS

HERE = Path(__file__).parent
KEPT = HERE / "held_out.json"
PAGE = HERE.parent / "docs" / "held_out_results.inc"
SEED = 20261117
N, RATIOS, LOADS = (50, 100, 200), (2, 5, 10), (0.2, 0.5, 1.0, 1.5, 2.0)
KINDS = {
    "random": ("Random patterns", {}),
    "biased": ("Biased patterns, with a mean activity of 0.5 instead of 0", {"pattern_bias": 0.5}),
    "correlated": ("Patterns with a correlation of 0.5 with the last one", {"correlation": 0.5}),
}
ALWAYS = {"network": "sparse", "measure_basin": True}
LARGE = {"n": 200, "m": 1000, "t": 2000, "flips": 20}
"""The one large case that is tried with many networks."""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--study", type=Path)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--large-trials", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--loads", type=float, nargs="*", default=LOADS)
    parser.add_argument(
        "--sizes",
        type=size,
        nargs="*",
        metavar="N,M",
        default=[(n, ratio * n) for n in N for ratio in RATIOS],
    )
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), default=list(KINDS))
    options = parser.parse_args()
    if options.study is not None:
        grids = [
            grid
            for (kind, n, m), grid in cases(options.trials, options.loads).items()
            if kind in options.kinds and (n, m) in options.sizes
        ]
        if options.large_trials:
            grids.append(Grid({**ALWAYS, **LARGE}, trials=options.large_trials, seed=SEED))
        run_sweep(
            grids,
            options.study,
            jobs=options.jobs,
            progress=lambda p: print(p.done, "of", p.total, flush=True),
        )
        rows = {
            tuple(row[key] for key in ("kind", "n", "m", "t")): row
            for row in json.loads(KEPT.read_text()) + results(options.study)
        }
        KEPT.write_text(json.dumps([rows[key] for key in sorted(rows)], indent=1) + "\n")
    PAGE.write_text(page(json.loads(KEPT.read_text())))


def size(text):
    """N and M from "N,M"."""
    n, m = text.split(",")
    return int(n), int(m)


def cases(trials, loads=LOADS):
    """A grid for each kind of patterns and size."""
    return {
        (kind, n, ratio * n): Grid(
            {
                **ALWAYS,
                **settings,
                "n": n,
                "m": ratio * n,
                "t": [lengths(ratio * n, load) for load in loads],
                "flips": n // 10,
            },
            trials=trials,
            seed=SEED,
        )
        for kind, (_, settings) in KINDS.items()
        for n in N
        for ratio in RATIOS
    }


def lengths(m, load):
    """T with so many transitions for each hidden neuron; the last pattern is the first again."""
    return round(load * m) + 1


def results(study):
    """A row for each case: settings, trials, successes, mean basin, mean fraction of transitions
    that are made.
    """
    found = {}
    for each in read_study(study).finished:
        if each.error is not None:
            raise RuntimeError(f"a trial failed: {each.error}")
        s = DEFAULTS | each.trial.point.settings
        kind = next(
            kind
            for kind, (_, given) in KINDS.items()
            if _patterns(s) == _patterns(DEFAULTS | given)
        )
        row = found.setdefault((kind, s["n"], s["m"], s["t"]), [])
        row.append(each.outcome)
    return [
        {
            **dict(zip(("kind", "n", "m", "t"), key, strict=True)),
            "trials": len(rows),
            "successes": sum(row["success"] for row in rows),
            "basin": sum(row["basin"] for row in rows) / len(rows),
            "made": sum(row["score"] for row in rows) / len(rows),
        }
        for key, rows in sorted(found.items())
    ]


def _patterns(settings):
    """What kind of patterns some settings ask for."""
    return settings["pattern_bias"], settings["correlation"]


def page(rows):
    """A table for each kind of patterns, and the large case."""
    found = {(row["kind"], row["n"], row["m"], row["t"]): row for row in rows}
    parts = {}
    for kind, (title, _) in KINDS.items():
        table = Table(
            caption=f"{title}: basin, N/10 flips in every start ({networks(rows, kind)} a cell)",
            columns=["N, M", *(f"T/M = {load:g}" for load in LOADS)],
            rows=[
                [
                    f"{n}, {ratio * n}",
                    *(
                        cell(found.get((kind, n, ratio * n, lengths(ratio * n, load))))
                        for load in LOADS
                    ),
                ]
                for n in N
                for ratio in RATIOS
            ],
        )
        parts[kind] = list_table(table)
    large = found.get(("random", LARGE["n"], LARGE["m"], LARGE["t"]))
    if large:
        parts["large"] = (
            f"N = {LARGE['n']}, M = {LARGE['m']}, T = {LARGE['t']}, {LARGE['flips']} flips: "
            f"{large['successes']} of {large['trials']} networks succeed, and the mean basin is "
            f"{large['basin']:.3f}."
        )
    return named_parts(parts)


def networks(rows, kind):
    """How many networks the cells of a table have."""
    counts = sorted(
        {row["trials"] for row in rows if row["kind"] == kind and row["t"] != LARGE["t"]}
    )
    few = "1 network" if counts[-1] == 1 else f"{counts[-1]} networks"
    return few if len(counts) == 1 else f"{counts[0]} to {few}"


def cell(row):
    """A basin, and how many transitions are made where not all are."""
    if row is None:
        return "-"
    made = "" if row["made"] == 1 else f" ({row['made']:.3f} made)"
    return f"{row['basin']:.3f}{made}"


if __name__ == "__main__":
    main()
