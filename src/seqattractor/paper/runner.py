"""Run the trials of targets in processes, keep each as it finishes, and put the results together."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from seqattractor.paper.registry import get_target
from seqattractor.paper.settings import Request
from seqattractor.paper.store import TrialStore, seed_of
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
    with _workers(jobs) as work:
        for name in names:
            target = get_target(name)
            store = TrialStore(folder, target.experiment, request.seed)
            with closing(store):
                plan = [(cell, target.n_trials(request, cell)) for cell in target.cells(request)]
                _finish(name, plan, store, request, work, progress)
                outcomes = [(cell, [_finished(store, cell, k) for k in range(n)]) for cell, n in plan]
            yield name, target.result(request, outcomes)


def _finish(
    name: str,
    plan: list[tuple[Cell, int]],
    store: TrialStore,
    request: Request,
    work: Callable[[list[Job]], Iterator[tuple[Job, Outcome]]],
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
    rng = np.random.default_rng(seed_of(job.seed, job.experiment, job.cell, job.trial))
    # One thread, so that sums in the linear algebra have one order; and errors that are left are what is counted here.
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return job, get_target(job.target).trial(job.cell, rng, job.trial)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the main process, which then ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _workers(jobs: int) -> Iterator[Callable[[list[Job]], Iterator[tuple[Job, Outcome]]]]:
    """Something that does trials and gives them back as they finish: this process, or several others."""
    if jobs == 1:
        yield lambda todo: map(_run, todo)
        return
    # Workers start from scratch: a forked copy of compiled, threaded code is not safe everywhere.
    with multiprocessing.get_context("spawn").Pool(jobs, initializer=_ignore_interrupts) as pool:
        yield lambda todo: pool.imap_unordered(_run, todo)
