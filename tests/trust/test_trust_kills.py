"""Kills at any moment: no finished trial is lost, the file is whole, and the sweep that resumes
gives the same bytes.
"""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from campaign import alone, campaign

from seqattractor.study import Grid, Store, run_sweep
from seqattractor.study import study as study
from seqattractor.study import table as table

# The plain loop: workers that are killed again and again should not have to load compiled code each
# time.
PARAMETERS = {"max_epochs": 50, "engine": "reference"}
GRID = Grid(
    {"network": ["attractor", "lookup"], "n": 30, "m": 40, "t": [6, 12], "flips": 3, **PARAMETERS},
    trials=10,
    seed=4,
)
TRIALS = 40

# The command line, with something that happens when some trials are over: seen by the display of
# progress, as a person would.
ACCIDENT = """
import multiprocessing, os, signal, sys, threading
from contextlib import contextmanager
from seqattractor import _progress as display
from seqattractor.cli import main

def happen(what, which):
    if what == "main":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "ctrl-c":
        os.killpg(0, signal.SIGINT)  # a terminal sends it to all of them
    else:
        workers = sorted(child.pid for child in multiprocessing.active_children())
        os.kill(workers[which % len(workers)], signal.SIGKILL)

if __name__ == "__main__":
    # A shell lets what it starts in the background ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    what, goal, pause, which = sys.argv.pop(1).split()
    shown = display.trial_progress
    todo = [threading.Timer(float(pause), happen, (what, int(which)))]

    @contextmanager
    def trial_progress(title, *, quiet=False):
        with shown(title, quiet=quiet) as show:
            def both(progress):
                show(progress)
                if progress.done >= int(goal) and todo:
                    timer = todo.pop()
                    timer.start() if float(pause) else timer.function(*timer.args)
            yield both

    display.trial_progress = trial_progress
    main()
"""

ONE, TWO, DASK = ["--jobs", "1"], ["--jobs", "2"], ["--dask", "local", "--jobs", "2"]
KINDS = [
    ("main", TWO),
    ("worker", TWO),
    ("ctrl-c", TWO),
    ("worker", DASK),
    ("main", ONE),
    ("ctrl-c", DASK),
    ("main", TWO),
]
KINDS += [("main", DASK), ("worker", TWO), ("main", ONE)]


class Stopped(Exception):
    """A sweep that ended before it was done, with a sentence."""


def csv_of(path):
    with Store(path, readonly=True) as store:
        return table.as_csv(study.trial_rows(store, study.study_in(store)))


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    path = tmp_path_factory.mktemp("kills") / "whole.db"
    assert run_sweep(GRID, path).added == TRIALS
    return csv_of(path)


def kills(folder, uninterrupted, cases):
    """The campaign."""
    script = folder / "accident.py"
    script.write_text(ACCIDENT)
    with campaign("kills") as verdicts:
        for case in range(cases):
            what, who = KINDS[case % len(KINDS)]
            path = folder / f"{case}.db"
            with verdicts.case(f"case {case}: {what} {who}", rejections=(Stopped,), seconds=1200):
                kill_and_resume(
                    script, path, what, who, np.random.default_rng([15, case]), uninterrupted
                )
    return verdicts


@pytest.mark.parametrize("cases", [4, pytest.param(100, marks=pytest.mark.trust)])
def test_a_sweep_that_is_killed_loses_nothing_and_ends_with_the_same_bytes(
    tmp_path, uninterrupted, cases
):
    pytest.importorskip("distributed")
    alone(kills, tmp_path, uninterrupted, cases).finish(cases, keep=cases == 100)


def kill_and_resume(script, path, what, who, rng, uninterrupted):
    """Run the sweep, kill something when some trials are over, and run it again."""
    goal = int(rng.integers(1, 6))
    pause = (
        rng.uniform(0.001, 0.05) if what == "main" and rng.random() < 0.5 else 0.0
    )  # also between two commits
    settings = [
        f"--set={key}={','.join(map(str, values))}" for key, values in GRID.settings.items()
    ]
    run = [
        "sweep",
        "run",
        "-o",
        str(path),
        *settings,
        "--trials",
        str(GRID.trials),
        "--seed",
        str(GRID.seed),
        *who,
        "--json",
    ]
    sweep = subprocess.Popen(
        [sys.executable, str(script), f"{what} {goal} {pause} {rng.integers(100)}", *run],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    printed, errors = (
        sweep.communicate()
    )  # its workers hold the same pipes: this waits until they have ended, too
    assert "Traceback" not in errors, errors
    assert sweep.returncode == {"main": -signal.SIGKILL, "ctrl-c": 130, "worker": 0}[what], (
        f"exit code {sweep.returncode}: {errors}"
    )
    with Store(path, readonly=True) as store:
        contents = study.study_in(store)
        saved = table.as_csv(study.trial_rows(store, contents)).splitlines()
    assert not contents.notes, contents.notes
    assert set(saved) <= set(uninterrupted.splitlines())
    assert len(saved) > goal  # with the heading
    if what == "worker":
        report = json.loads(printed)
        assert (report["added"], report["failed"]) == (TRIALS, 0)
    assert run_sweep(GRID, path).before == len(saved) - 1, "a finished trial was done again"
    assert csv_of(path) == uninterrupted
    if what == "ctrl-c":
        assert "Every finished trial is saved" in errors
        raise Stopped(errors)
