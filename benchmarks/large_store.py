"""Time and memory of the commands that look at a study of a million trials, before and now (docs/sweeps.rst).

    python benchmarks/large_store.py --folder FOLDER [--before SRC]

makes a study there, unless it is there already, and measures each command in a process of its own: with the package of this
tree and, by turns, with that of another (SRC, its folder src). Results are kept in benchmarks/large_store.json, from which the
table is written without --folder. Trials are not done: outcomes are drawn at random, but rows are written by `Store.add`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from rst import list_table

from seqattractor import __version__
from seqattractor.report.page import Table
from seqattractor.study import Grid, Store
from seqattractor.study.protocol import Trial, code_digest
from seqattractor.study.store import Finished

HERE = Path(__file__).parent
KEPT = HERE / "large_store.json"
PAGE = HERE.parent / "docs" / "large_store.inc"
LISTS = {"network": ["attractor", "sparse"], "n": [100, 200], "m": [100, 200, 500, 1000, 2000], "flips": [5, 10]}
LARGE = Grid({**LISTS, "t": list(range(10, 510, 5))}, trials=250)
SMALL = Grid({"network": "attractor", "t": [10, 20]}, trials=3)
FEW = "small"  # the study of a few trials, whose time and memory are those of starting Python and loading packages

READ = "import sys; from seqattractor.study import read_study; print(sum(1 for _ in read_study(sys.argv[1]).finished))"
COMMANDS = {
    "sweep status, 6 trials": (FEW, ["-m", "seqattractor", "sweep", "status", "{study}"]),
    "sweep status": ("large", ["-m", "seqattractor", "sweep", "status", "{study}"]),
    "sweep status --verify": ("large", ["-m", "seqattractor", "sweep", "status", "--verify", "{study}"]),
    "sweep export, CSV": ("large", ["-m", "seqattractor", "sweep", "export", "{study}", "-o", "{folder}/{who}.csv"]),
    "sweep run --resume, nothing missing": ("large", ["-m", "seqattractor", "sweep", "run", "--resume", "-o", "{study}"]),
    "sweep plot": ("large", ["-m", "seqattractor", "sweep", "plot", "{study}", "-o", "{folder}/{who}.png"]),
    "sweep plot, 6 trials": (FEW, ["-m", "seqattractor", "sweep", "plot", "{study}", "-o", "{folder}/{who}.png"]),
    "sweep export, Parquet": ("large", ["-m", "seqattractor", "sweep", "export", "{study}", "-o", "{folder}/{who}.parquet"]),
    "read_study in Python, all trials": ("large", ["-c", READ, "{study}"]),
}
QUICK = {
    "before": ["sweep status, 6 trials"],
    "now": ["sweep status, 6 trials", "sweep status", "sweep plot, 6 trials"],
}  # the quickest of five counts
ONLY_NOW = ("sweep status --verify",)


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--only", choices=list(COMMANDS), action="append", help="Measure this command anew; the others stay.")
    options = parser.parse_args()
    if options.folder is not None:
        sources = {"now": HERE.parent / "src"} | ({"before": options.before} if options.before else {})
        measure(options.folder, sources, options.only or list(COMMANDS))
    PAGE.write_text(page(json.loads(KEPT.read_text())))


def measure(folder: Path, sources: dict[str, Path], commands: list[str]) -> None:
    """Measure commands with each of the packages, by turns, and keep what is known after each of them."""
    for name, grid in ((FEW, SMALL), ("large", LARGE)):
        if not (folder / f"{name}.db").exists():
            make_study(folder / f"{name}.db", grid)
    results = {
        "trials": len(LARGE.all_trials()),
        "points": len(LARGE.points()),
        "megabytes": round((folder / "large.db").stat().st_size / 1e6),
        "machine": {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version, "date": time.strftime("%d %B %Y")},
        "commands": json.loads(KEPT.read_text())["commands"] if KEPT.exists() else {},
    }
    for command in commands:
        study, arguments = COMMANDS[command]
        row: dict[str, dict[str, float]] = {}
        turns = [(who, turn) for turn in range(5) for who in sources if turn == 0 or command in QUICK[who]]
        for who, _ in turns:
            if who == "now" or command not in ONLY_NOW:
                places = {"study": folder / f"{study}.db", "folder": folder, "who": who}
                found = run([each.format(**places) for each in arguments], sources[who])
                row[who] = min(found, row.get(who, found), key=lambda each: each["seconds"])
                print(command, who, row[who], flush=True)
        results["commands"][command] = results["commands"].get(command, {}) | row
        KEPT.write_text(json.dumps(results, indent=1) + "\n")
    if "before" in sources and "sweep export, CSV" in commands:
        same = (folder / "before.csv").read_bytes() == (folder / "now.csv").read_bytes()
        assert same, "the tables differ"


def make_study(path: Path, grid: Grid) -> None:
    """Write a study in which all trials of a grid are over."""
    trials = drawn(grid, np.random.default_rng(0))
    with Store(path) as store:
        store.add_grid(grid.as_json())
        while some := list(islice(trials, 1000)):
            store.add(some)


def drawn(grid: Grid, rng: np.random.Generator) -> Iterator[Finished]:
    """Trials with outcomes as `run_trial` gives them, drawn at random; one in ten thousand fails."""
    versions = dict.fromkeys((point.key for point in grid.points()), f"{__version__}+{code_digest()}")
    for trial in grid.all_trials():
        failed = rng.random() < 1e-4
        outcome = None if failed else drawn_outcome(trial, rng)
        error = "MemoryError: Unable to allocate 3.1 GiB" if failed else None
        yield Finished(trial, outcome, error, float(rng.random()), "node-07", versions[trial.point.key])


def drawn_outcome(trial: Trial, rng: np.random.Generator) -> dict[str, object]:
    """An outcome: success is rarer the longer the sequence."""
    settings = {"n": 100, "t": 50} | trial.point.settings
    success = bool(rng.random() < 1 / (1 + (settings["t"] / settings["n"]) ** 4))
    return {
        "success": success,
        "retrieved": int(success),
        "tau": int(rng.integers(3)) if success else None,
        "score": 1.0 if success else float(rng.random()),
        "basin": None,
        "epochs": int(rng.integers(10, 300)),
        "converged": True,
    }


def run(arguments: list[str], source: Path) -> dict[str, float]:
    """Processor seconds, seconds on the clock and the largest memory in MB of a Python process."""
    environment = os.environ | {"PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    started = time.perf_counter()
    child = os.spawnve(os.P_NOWAIT, sys.executable, [sys.executable, *arguments], environment)
    _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(arguments)} failed")
    clock = time.perf_counter() - started
    return {
        "seconds": round(used.ru_utime + used.ru_stime, 2),
        "clock": round(clock, 2),
        "megabytes": round(used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)),
    }


def page(results: dict) -> str:
    """The table, and what was measured."""
    measured = {command: results["commands"][command] for command in COMMANDS}
    rows = [[told_as_code(command), cell(row.get("before")), cell(row["now"])] for command, row in measured.items()]
    table = Table(
        caption=f"A study of {results['trials']:,} trials at {results['points']:,} points ({results['megabytes']} MB): processor "
        "time and largest memory of each command",
        columns=["command", "all trials in memory", "now"],
        rows=rows,
    )
    machine = results["machine"]
    versions = f"Python {machine['python']} and SQLite {machine['sqlite']}"
    told = f"Measured {machine['date']} with {versions} by ``benchmarks/large_store.py``."
    return f"{list_table(table)}\n\n{told} Those with 6 trials are what starting Python and loading packages costs.\n"


def told_as_code(command: str) -> str:
    """The name of a row, with what one types as code."""
    typed, comma, rest = command.partition(",")
    return f"``{typed}``{comma}{rest}"


def cell(measured: dict[str, float] | None) -> str:
    """Time and memory."""
    return "-" if measured is None else f"{measured['seconds']:.1f} s, {measured['megabytes']:,.0f} MB"


if __name__ == "__main__":
    main()
