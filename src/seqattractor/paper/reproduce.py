"""Reproduce the paper into a folder: all trials in one store, the files of every target, and a
report on all of them.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from matplotlib.figure import Figure

from seqattractor.paper.settings import LEARNING
from seqattractor.paper.target import NEIGHBOURS, Outcome, Request, Result, Target, get_target
from seqattractor.report.figures import as_picture, drawn
from seqattractor.report.machine import machine_words, software_words
from seqattractor.report.page import Section, duration, render, write_files
from seqattractor.study.capacity import capacities
from seqattractor.study.executors import Executor, in_this_process
from seqattractor.study.protocol import Point, Protocol, Rounds, Trial
from seqattractor.study.run import Progress, choose_executor, run_trials
from seqattractor.study.store import Finished, Store
from seqattractor.study.table import as_csv


def reproduce(
    names: Sequence[str],
    request: Request,
    folder: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    command: str = "",
) -> list[Section]:
    """Compute targets into a folder: a .json, .csv, .png and .pdf each, and report.html on all
    finished ones.

    Every finished trial is in trials.db. `dask` is the address of a scheduler, or "local";
    `command` is the command line that the report shows. Returns the sections of the report.
    """
    started = time.perf_counter()
    sections: dict[str, Section] = {}

    def finish(target: Target, result: Result, seconds: float) -> None:
        sections[target.name] = write_target(folder, target, result, seconds)

    executor = choose_executor(jobs, dask)
    try:
        run_targets(
            names, request, folder / "trials.db", finish, executor=executor, progress=progress
        )
    finally:
        finished = [sections[name] for name in names if name in sections]
        if finished:
            missing, seconds = (
                [name for name in names if name not in sections],
                time.perf_counter() - started,
            )
            page = report_page(finished, request, command=command, seconds=seconds, missing=missing)
            write_files(folder, "report", {"html": page.encode()})
    return finished


def write_target(folder: Path, target: Target, result: Result, seconds: float) -> Section:
    """Write the .json, .csv, .png and .pdf of a target and return its section of the report."""

    def draw() -> Figure:
        return target.figure(result)

    light, pdf = drawn(draw, "png", "pdf")
    [dark] = drawn(draw, "png", dark=True)
    data = (json.dumps(result.data, indent=1) + "\n").encode()
    contents = {"json": data, "csv": as_csv(target.csv_rows(result)), "png": light, "pdf": pdf}
    files = [path.name for path in write_files(folder, target.name, contents)]
    return Section(
        target.name,
        target.title,
        target.about,
        target.verdict(result),
        pictures=[as_picture(light, dark, f"{target.title}: {target.about}")],
        tables=target.tables(result),
        animations=target.animations(result),
        files=files,
        seconds=seconds,
    )


def report_page(
    sections: Sequence[Section],
    request: Request,
    *,
    command: str,
    seconds: float,
    missing: Sequence[str] = (),
) -> str:
    """Return the page on some sections as HTML; `missing` are the names of targets that were not
    finished.
    """
    ours = [section for section in sections if section.name not in NEIGHBOURS]
    others = [section for section in sections if section.name in NEIGHBOURS]
    lead = []
    if ours:
        lead.append(f"{_agreement(ours)} targets that can be compared agree with the paper.")
    if others:
        lead.append(
            f"{_agreement(others)} experiments of other systems pass their consistency checks."
        )
    if missing:
        lead.append(f"Not finished: {', '.join(missing)}; the same command resumes.")
    if request.quick:
        lead.append("This was a quick run with few trials.")
    facts = {
        "Trials": f"{request.trials}, or fewer where a target needs fewer",
        "Seed": str(request.seed),
    }
    if ours:
        learning = ", ".join(f"{name} = {value}" for name, value in LEARNING.items())
        facts = {
            "Settings": f"{learning} (standard deviation of the initial weights: init_scale)",
            **facts,
            "Gait": str(request.gait_dir or "the drawn walker of this package"),
            "Digits": str(request.mnist_file or "scikit-learn's digits, moved by this package"),
        }
    facts |= {
        "Machine": machine_words(),
        "Time": f"{duration(seconds)}, finished {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "Software": software_words(),
    }
    lead_words = " ".join(lead)
    return render(
        "reproduce.html",
        sections=sections,
        lead=lead_words,
        command=command,
        facts=facts,
        others_only=not ours,
    )


def _agreement(sections: Sequence[Section]) -> str:
    """Return how many of some sections agree, of how many that can be compared."""
    agreements = [section.verdict.agrees for section in sections if section.verdict is not None]
    return (
        f"{sum(agrees is True for agrees in agreements)} of "
        f"{sum(agrees is not None for agrees in agreements)}"
    )


def run_targets(
    names: Sequence[str],
    request: Request,
    path: Path,
    finish: Callable[[Target, Result, float], None],
    *,
    executor: Executor = in_this_process,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """Run targets and call ``finish(target, result, seconds)`` as soon as the last trial of one is
    done.

    Results depend on `request` alone, not on the executor. Every trial is committed to the store at
    `path` as it finishes: after an interruption the same call runs only the missing ones. Trials of
    other versions of the code are run again.
    """
    # All plans first: unreadable data are reported before any work.
    plans = [_Plan(get_target(name), request) for name in names]
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store(path) as store:
        for plan in plans:
            plan.search(store, executor, progress)
        trials = [trial for plan in plans for trial in plan.missing]

        def pass_on() -> None:
            for plan in list(plans):
                if plan.is_complete(store):
                    plans.remove(plan)
                    finish(plan.target, plan.result(), plan.seconds)

        def show(news: Progress) -> None:
            if progress is not None:
                progress(news)
            pass_on()

        run_trials(trials, store, executor, current=True, progress=show)
        pass_on()  # another process may have run the last trials
        for plan in plans:
            raise plan.problem(store)


class _Plan:
    """The trials of one target, and the outcomes of those that are done."""

    def __init__(self, target: Target, request: Request) -> None:
        self.target, self.request = target, request
        experiments = target.experiments(request)
        self.cells = [
            (
                Point(Protocol(experiment, target.trial_function), cell, request.seed),
                target.n_trials(request, cell),
            )
            for experiment, cell in zip(experiments, target.cells(request), strict=True)
        ]
        self.missing = deque(Rounds(self.cells))
        self.outcomes: dict[tuple[str, int], Outcome] = {}
        self.seconds = 0.0

    def search(
        self, store: Store, executor: Executor, progress: Callable[[Progress], None] | None
    ) -> None:
        """Run the searches of the target: what they tried are cells as any others."""
        searches = self.target.searches(self.request)
        if not searches:
            return
        for search, found in zip(
            searches, capacities(searches, store, executor, progress=progress), strict=True
        ):
            self.cells += [(search.at(T), n) for T, (_, n) in found.tried.items()]
        self.missing = deque(Rounds(self.cells))

    def is_complete(self, store: Store) -> bool:
        """Collect outcomes up to the first trial that is missing, and return whether there is
        none.
        """
        while self.missing and (done := _finished(store, self.missing[0])) is not None:
            assert done.outcome is not None
            self.outcomes[self.missing.popleft().key] = done.outcome
            self.seconds += done.seconds
        return not self.missing

    def result(self) -> Result:
        """Return the result of all trials."""
        cells = [
            (point.settings, [self.outcomes[point.key, k] for k in range(n)])
            for point, n in self.cells
        ]
        return self.target.result(self.request, cells)

    def problem(self, store: Store) -> OSError:
        """Return an error with the number of missing trials and the reason for the first."""
        lost = [trial for trial in self.missing if _finished(store, trial) is None]
        there = store.get(lost[0])
        reason = (
            "it was not run"
            if there is None
            else there.error or f"other code ran it ({there.version})"
        )
        return OSError(
            f"{len(lost)} trials of {self.target.name} are missing; the first: {reason}. "
            "Finished trials are saved: run the same command again."
        )


def _finished(store: Store, trial: Trial) -> Finished | None:
    """Return a trial from the store if this code ran it without an error."""
    found = store.get(trial)
    return found if found is not None and found.by_this_code and found.outcome is not None else None
