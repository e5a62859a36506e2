"""Run trials into a study: only what is missing, each trial committed as it finishes."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from seqattractor._checks import check_count, check_flag, check_kind
from seqattractor._faces import Result
from seqattractor._progress import also_shown
from seqattractor.study.executors import Executor, in_processes, in_this_process
from seqattractor.study.grid import Grid
from seqattractor.study.protocol import Rounds, Trial, check_seed
from seqattractor.study.store import Finished, Store, describe_other_code


@dataclass(frozen=True)
class Progress:
    """How far a run is: trials that are over, those of them that failed in this run, and all."""

    done: int
    failed: int
    total: int


@dataclass(frozen=True, repr=False)
class SweepReport(Result):
    """What a run did: all its trials, those that were there before, those that this run added, and
    failed ones among these.

    Last, how many of all its trials other code than this did.
    """

    total: int
    before: int
    added: int
    failed: int
    by_other_code: int = 0

    def describe(self) -> str:
        """Count the trials."""
        failed = f", {self.failed} of them failed" if self.failed else ""
        other = f" {describe_other_code(self.by_other_code)}" if self.by_other_code else ""
        return f"{self.total} trials, {self.before} were there, {self.added} added{failed}.{other}"


def run_sweep(
    grids: Grid | Sequence[Grid],
    path: str | os.PathLike[str],
    *,
    jobs: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    progress: Callable[[Progress], None] | None = None,
    verbose: bool = False,
) -> SweepReport:
    """Do all trials of one or several grids that a study does not have yet.

    The outcome of a trial depends on its settings, the seed and its number alone: not on the
    executor, the time or interruptions.

    Parameters
    ----------
    grids : Grid or list of Grid
    path : str or path
        The study, a file; made if it does not exist.
    jobs : int
        How many processes; 1 for this one.
    dask : str, optional
        The address of a Dask scheduler, or "local" for a cluster of `jobs` workers on this machine.
    retry_failed : bool
        Repeat trials that ended with an error.
    progress : callable, optional
        Called with a `Progress` whenever trials are over.
    verbose : bool
        Show a bar: on a terminal and in a notebook; elsewhere a line now and then.

    Returns
    -------
    SweepReport

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "study.db"
    >>> grid = Grid({"network": "lookup", "n": 20, "t": [5, 10]}, trials=3)
    >>> run_sweep(grid, path).added
    6
    >>> run_sweep(grid, path).added  # nothing is missing
    0
    """
    check_kind(grids, (Grid, list, tuple), "grids", "a Grid or a list of these")
    all_grids = [grids] if isinstance(grids, Grid) else list(grids)
    for each in all_grids:
        check_kind(each, Grid, "each of the grids", "a Grid")
    check_flag(retry_failed, "retry_failed")
    with Store(path) as store, also_shown("sweep", progress, verbose) as tell:
        for grid in all_grids:
            store.add_grid(grid.as_json())
        if retry_failed:
            store.forget_failed()
        trials = Rounds((point, grid.trials) for grid in all_grids for point in grid.points())
        return run_trials(trials, store, choose_executor(jobs, dask), progress=tell)


def run_trials(
    trials: Iterable[Trial],
    store: Store,
    executor: Executor,
    *,
    current: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> SweepReport:
    """Do those of some trials that the store does not have, each once; afterwards
    ``store.get(trial)`` returns each.

    With `current`, trials that other code did or that failed are repeated.
    """
    wanted: Collection[Trial] = (
        trials if isinstance(trials, Rounds) else {trial.key: trial for trial in trials}.values()
    )
    for seed in {trial.point.seed for trial in wanted}:
        check_seed(seed)

    def is_over(trial: Trial) -> bool:
        found = store.get(trial)
        return found is not None and (not current or (found.error is None and found.by_this_code))

    todo = [trial for trial in wanted if not is_over(trial)]
    before = len(wanted) - len(todo)
    done, added, failed = before, 0, 0

    def missing() -> Iterator[Trial]:
        nonlocal done
        # Several runs on one file start at different places and skip what another has done
        # meanwhile.
        first = int(store.start_run() * 0.618 % 1 * len(todo))
        for trial in todo[first:] + todo[:first]:
            if is_over(trial):
                done += 1
            else:
                yield trial

    def tell() -> None:
        if progress is not None:
            progress(Progress(done, failed, len(wanted)))

    tell()
    if todo:
        with closing(executor(missing())) as results:
            for finished in results:
                if current:
                    check_code(finished)
                added += store.add(finished, replace=current)
                done += len(finished)
                failed += sum(result.error is not None for result in finished)
                tell()
    lost = other = 0
    for trial in wanted:
        found = store.get(trial)
        lost += found is None
        other += found is not None and found.error is None and not found.by_this_code
    if lost:
        raise OSError(
            f"{lost} trials are not in {store.path}; all others are saved. Run the same command "
            "again."
        )
    return SweepReport(len(wanted), before, added, failed, other)


def check_code(finished: Iterable[Finished]) -> None:
    """Reject trials of a worker whose code is not that of this process."""
    for each in finished:
        if not each.by_this_code:
            raise ValueError(
                f"the worker on {each.host} runs other code than this process; start it again with "
                "this code."
            )


def choose_executor(jobs: int = 1, dask: str | None = None) -> Executor:
    """Choose an executor: this process, `jobs` processes, or a Dask cluster by the address of its
    scheduler or "local".
    """
    jobs = check_count(jobs, "the number of jobs")
    if dask is not None:
        from seqattractor.study.dask_executor import on_dask

        return on_dask(dask, jobs)
    return in_this_process if jobs == 1 else in_processes(jobs)
