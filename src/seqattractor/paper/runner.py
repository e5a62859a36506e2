"""Run the trials of targets in processes, keep each as it finishes, and put the results together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from seqattractor.experiments._executors import process_pool
from seqattractor.experiments._seeds import seed_of
from seqattractor.paper.registry import get_target
from seqattractor.paper.settings import Request
from seqattractor.paper.store import TrialStore
from seqattractor.paper.target import Cell, Outcome, Result

__all__ = ["Progress", "run_targets"]

Progress = Callable[[str, int, int], None]
"""Called as ``progress(experiment, finished, total)``."""


@dataclass(frozen=True)
class Job:
    """One trial that is still to do; `target` is any target of its experiment."""

    target: str
    experiment: str
    cell: Cell
    trial: int
    seed: int


Work = Callable[[list[Job]], Iterator[tuple[Job, Outcome]]]
"""Does trials and gives each back as it finishes, in any order."""


def run_targets(
    names: Sequence[str],
    request: Request,
    folder: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[tuple[str, Result]]:
    """Run targets one after the other and give each result as soon as it is there.

    Results depend on `request` alone, not on `jobs`. Finished trials are kept in `folder`; after an interruption the
    same call does only what is missing.

    Parameters
    ----------
    names : sequence of str
    request : Request
    folder : Path
        Where finished trials are kept.
    jobs : int
        How many processes.
    progress : callable, optional
        Called as ``progress(experiment, finished, total)`` after every trial.
    """
    # All plans first: data that cannot be read is found before any work is done.
    plans = {name: _plan(name, request) for name in names}
    with _workers(jobs) as work:
        for name, plan in plans.items():
            target = get_target(name)
            store = TrialStore(folder, target.experiment, request.seed)
            with closing(store):
                _finish(name, plan, store, request, work, progress)
                outcomes = [(cell, [_finished(store, cell, k) for k in range(n)]) for cell, n in plan]
            yield name, target.result(request, outcomes)


def _plan(name: str, request: Request) -> list[tuple[Cell, int]]:
    """The cells of a target, each with its number of trials."""
    target = get_target(name)
    return [(cell, target.n_trials(request, cell)) for cell in target.cells(request)]


def _finish(
    name: str,
    plan: list[tuple[Cell, int]],
    store: TrialStore,
    request: Request,
    work: Work,
    progress: Progress | None,
) -> None:
    """Do all trials of a target that are not in the store yet."""
    experiment = get_target(name).experiment
    # First trial of every cell, then the second: after the first round the time left is known.
    rounds = range(max((n for _, n in plan), default=0))
    todo = [
        Job(name, experiment, cell, k, request.seed) for k in rounds for cell, n in plan if k < n and store.get(cell, k) is None
    ]
    total = sum(n for _, n in plan)
    done = total - len(todo)
    if progress is not None:
        progress(name, done, total)
    for job, outcome in work(todo):
        store.put(job.cell, job.trial, outcome)
        done += 1
        if progress is not None:
            progress(name, done, total)


def _finished(store: TrialStore, cell: Cell, trial: int) -> Outcome:
    """An outcome that must be there by now."""
    outcome = store.get(cell, trial)
    assert outcome is not None
    return outcome


def _run(job: Job) -> tuple[Job, Outcome]:
    """Do one trial; runs in a worker."""
    rng = np.random.default_rng(seed_of(job.seed, [job.experiment, job.cell], job.trial))
    # One thread, so that sums in the linear algebra have one order; and errors that are left are what is counted here.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return job, get_target(job.target).trial(job.cell, rng, job.trial)


@contextmanager
def _workers(jobs: int) -> Iterator[Work]:
    """Something that does trials and gives them back as they finish: this process, or several others when needed."""
    pool: ProcessPoolExecutor | None = None
    with ExitStack() as stack:

        def work(todo: list[Job]) -> Iterator[tuple[Job, Outcome]]:
            nonlocal pool
            if jobs == 1 or not todo:
                yield from map(_run, todo)
                return
            if pool is None:
                pool = stack.enter_context(process_pool(jobs))
            yield from _in_pool(pool, todo)

        yield work


def _in_pool(pool: ProcessPoolExecutor, todo: list[Job]) -> Iterator[tuple[Job, Outcome]]:
    """Do trials in other processes, in any order."""
    try:
        for future in as_completed([pool.submit(_run, job) for job in todo]):
            yield future.result()
    except BrokenProcessPool:
        raise OSError(
            "a worker process died (out of memory, or killed); what is finished is kept: run the same command again, perhaps "
            "with fewer jobs."
        ) from None
