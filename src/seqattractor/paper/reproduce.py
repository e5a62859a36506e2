"""The paper again in one folder: trials through the one engine into one store, files of every target, and a report on all."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from seqattractor.paper.settings import LEARNING
from seqattractor.paper.target import NEIGHBOURS, Outcome, Request, Result, Target, get_target
from seqattractor.report.page import Section, write_files
from seqattractor.report.reproduce_page import reproduce_page, write_section
from seqattractor.study.executors import Executor, Trials, in_this_process
from seqattractor.study.protocol import Point, Protocol, Rounds, Trial
from seqattractor.study.run import Progress, choose_executor, run_trials
from seqattractor.study.store import Finished, Store

Finish = Callable[[Target, Result, float], None]
"""Called as ``finish(target, result, seconds)``, with the seconds that the trials took."""

Bar = Callable[[str], Callable[[Progress], None]]
"""Called with the name of a target; gives what is called with its progress."""


def reproduce(
    names: Sequence[str],
    request: Request,
    folder: Path,
    *,
    jobs: int = 1,
    dask: str | None = None,
    bar: Bar | None = None,
    command: str = "",
) -> list[Section]:
    """Compute targets into a folder: for each a .json, .csv, .png and .pdf, and report.html on all that are finished.

    Each of the paper's neighbours also has an .html, a page of its own.

    Parameters
    ----------
    names : sequence of str
        Of targets, in the order of the report.
    request : Request
    folder : Path
        Made if it does not exist; trials.db in it holds every finished trial.
    jobs : int
        Processes; 1 for this one.
    dask : str, optional
        The address of a Dask scheduler, or "local".
    bar : callable, optional
        Shows the progress of each target.
    command : str
        The command line that gives this report again.

    Returns
    -------
    list of Section
        What the report shows on each target.
    """
    started = time.perf_counter()
    sections: dict[str, Section] = {}

    def finish(target: Target, result: Result, seconds: float) -> None:
        section = Section(
            target.name,
            target.title,
            target.about,
            target.verdict(result),
            tables=target.tables(result),
            animations=target.animations(result),
            seconds=seconds,
        )
        sections[target.name] = write_section(
            folder,
            section,
            data=result.data,
            rows=target.csv_rows(result),
            draw=lambda: target.figure(result),
            more=target.more_figures(result),
        )
        if target.name in NEIGHBOURS:  # one page per system
            _write_page(folder, target.name, [sections[target.name]], request, command=command, seconds=seconds)

    try:
        run_targets(names, request, folder / "trials.db", finish, executor=choose_executor(jobs, dask), bar=bar)
    finally:
        finished = [sections[name] for name in names if name in sections]
        if finished:
            missing, seconds = [name for name in names if name not in sections], time.perf_counter() - started
            _write_page(folder, "report", finished, request, command=command, seconds=seconds, missing=missing)
    return finished


def _write_page(folder: Path, name: str, sections: Sequence[Section], request: Request, **told: Any) -> None:
    """Write FOLDER/<name>.html on some sections."""
    facts = _facts(request, neighbours_only=all(section.name in NEIGHBOURS for section in sections))
    page = reproduce_page(sections, facts=facts, quick=request.quick, neighbours=NEIGHBOURS, **told)
    write_files(folder, name, {"html": page.encode()})


def _facts(request: Request, *, neighbours_only: bool) -> dict[str, str]:
    """What was asked for, in words; settings and data of the paper only where they play a part."""
    asked = {"Trials": f"{request.trials}, or fewer where a target needs fewer", "Seed": str(request.seed)}
    if neighbours_only:
        return asked
    learning = ", ".join(f"{name} = {value}" for name, value in LEARNING.items())
    return {
        "Settings": f"{learning} (standard deviation of the initial weights: init_scale)",
        **asked,
        "Gait": str(request.gait_dir or "the drawn walker of this package"),
        "Digits": str(request.mnist_file or "scikit-learn's digits, moved by this package"),
    }


def run_targets(
    names: Sequence[str],
    request: Request,
    path: Path,
    finish: Finish,
    *,
    executor: Executor = in_this_process,
    bar: Bar | None = None,
) -> None:
    """Run targets and hand over each result as soon as its last trial is there.

    Results depend on `request` alone, not on who does the trials. Every trial is committed to the store at `path` as it
    finishes: after an interruption the same call does only what is missing. Trials that other code did are done again.

    Parameters
    ----------
    names : sequence of str
    request : Request
    path : Path
        The store, a file; made with its folder if it does not exist.
    finish : callable
    executor : Executor
        Does the trials.
    bar : callable, optional
        Shows the progress of each target.
    """
    # All plans first: data that cannot be read is seen before any work.
    plans = [_Plan(get_target(name), request, finish, bar) for name in names]
    path.parent.mkdir(parents=True, exist_ok=True)
    with Store(path) as store:
        for plan in plans:
            plan.note(plan.trials, store, partly=False)

        def watched(trials: Trials) -> Generator[list[Finished], None, None]:
            """Do trials as `executor` does; when it is asked for more, those that it gave are in the store."""
            with closing(executor(trials)) as batches:
                for batch in batches:
                    yield batch
                    for plan in plans:
                        plan.note([finished.trial for finished in batch], store)

        run_trials([trial for plan in plans for trial in plan.trials], store, watched, current=True)
        for plan in plans:
            plan.note(plan.trials, store)  # another process may have done a part of it
            plan.check_complete(store)


class _Plan:
    """The trials of one target, and the outcomes of those that are done."""

    def __init__(self, target: Target, request: Request, finish: Finish, bar: Bar | None) -> None:
        self.target, self.request, self.finish, self.bar = target, request, finish, bar
        self.cells = [
            (Point(Protocol(experiment, target.trial_function), cell, request.seed), target.n_trials(request, cell))
            for experiment, cell in zip(target.experiments(request), target.cells(request), strict=True)
        ]
        self.trials = Rounds(self.cells)
        self.missing = {trial.key: trial for trial in self.trials}
        self.outcomes: dict[tuple[str, int], Outcome] = {}
        self.seconds = 0.0
        self.show: Callable[[Progress], None] | None = None

    def note(self, trials: Iterable[Trial], store: Store, *, partly: bool = True) -> None:
        """Take note of those of some trials that are in the store now, and hand the result over when it is complete.

        The progress is shown, unless it is only a part that was there before: a bar tells the speed from its first trial on.
        """
        before = len(self.missing)
        for trial in trials:
            there = store.get(trial) if trial.key in self.missing else None
            if there is not None and there.by_this_code and there.outcome is not None:
                del self.missing[trial.key]
                self.outcomes[trial.key] = there.outcome
                self.seconds += there.seconds
        if len(self.missing) == before or (self.missing and not partly):
            return
        if self.bar is not None:
            self.show = self.show or self.bar(self.target.name)
            self.show(Progress(len(self.outcomes), 0, len(self.trials)))
        if not self.missing:
            cells = [(point.settings, [self.outcomes[point.key, k] for k in range(n)]) for point, n in self.cells]
            self.finish(self.target, self.target.result(self.request, cells), self.seconds)

    def check_complete(self, store: Store) -> None:
        """Refuse to end while something is missing."""
        for trial in self.missing.values():
            there = store.get(trial)
            problem = "nobody did it" if there is None else there.error or f"other code did it ({there.version})"
            raise OSError(
                f"{len(self.missing)} trials of {self.target.name} are missing; the first: {problem}. "
                "What is finished is kept: run the same command again."
            )
