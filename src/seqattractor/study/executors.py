"""Executors do trials: this process, other processes of this machine, or a Dask cluster. All give
the same results.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import islice
from multiprocessing import resource_tracker
from typing import Any

from threadpoolctl import threadpool_limits

from seqattractor import __version__
from seqattractor._children import safe_path
from seqattractor.study.protocol import Trial, code_digest
from seqattractor.study.store import Finished

Trials = Iterator[Trial | None]
"""Trials to do; None means that there are none now, but may be when more have come back."""

Executor = Callable[[Trials], Generator[list[Finished], None, None]]
"""Takes trials when it has room for them and gives them back, finished, in any order."""

_QUEUE = 4  # tasks that wait for each worker, so that none stands idle
_TOGETHER = 4  # trials in a task where they are short: to hand one over takes about a millisecond
_SHORT = 0.05  # seconds
_STARTS = 20  # how often workers may die as they start, before a sweep gives up
_GIVE_UP = 5  # a trial in which, alone, this many workers died is recorded as failed

HOW_TO_START = (
    'In a script of your own, start workers below `if __name__ == "__main__":`; or use one job '
    "without Dask, which needs none."
)


def do_trial(trial: Trial) -> Finished:
    """Do one trial, here and now; an error becomes part of the result."""
    _one_thread()
    started = time.perf_counter()
    outcome, error, times = None, None, None
    try:
        outcome = trial.run()
        times = outcome.pop("seconds", None)
    except Exception as problem:  # whatever it is, the other trials continue
        error = _describe_error(problem, trial)
    return Finished(
        trial, outcome, error, time.perf_counter() - started, platform.node(), _version(), times
    )


def _describe_error(problem: Exception, trial: Trial) -> str:
    """What went wrong, and in a network of the user's, where."""
    from seqattractor.study.user_networks import Brought, describe_failure  # slow to import

    network = trial.point.settings.get("network")
    if isinstance(network, Brought):
        return describe_failure(problem, network.network)
    return f"{type(problem).__name__}: {problem}".strip()


def do_trials(trials: list[Trial]) -> list[Finished]:
    """Do trials one after the other."""
    return [do_trial(trial) for trial in trials]


def _version() -> str:
    """The version of this package, and the digest of the code that trials run."""
    return f"{__version__}+{code_digest()}"


def died(trial: Trial) -> Finished:
    """Give up a trial in which workers die again and again."""
    error = "the worker processes that did this trial died every time (out of memory, or killed)"
    return Finished(trial, None, error, 0.0, platform.node(), _version())


def in_this_process(trials: Trials) -> Generator[list[Finished], None, None]:
    """Do trials one after the other, here."""
    while (trial := next(trials, None)) is not None:
        yield [do_trial(trial)]


def in_processes(jobs: int) -> Executor:
    """Do trials in `jobs` processes; if one dies, the trials that were under way are done again,
    one by one.
    """

    def run(trials: Trials) -> Generator[list[Finished], None, None]:
        while lost := (yield from _until_one_dies(trials, jobs, _QUEUE * jobs)):
            again, deaths = deque(lost), Counter[tuple[str, int]]()
            while again:  # one at a time, so that it is clear in which one a worker dies
                for trial in (yield from _until_one_dies(_emptied(again), 1, 1)):
                    deaths[trial.key] += 1
                    if deaths[trial.key] < _GIVE_UP:
                        again.append(trial)
                    else:
                        yield [died(trial)]

    return run


def _emptied(queue: deque[Trial]) -> Iterator[Trial]:
    """Take trials out of a queue until it is empty."""
    while queue:
        yield queue.popleft()


def _until_one_dies(
    trials: Trials, jobs: int, most: int
) -> Generator[list[Finished], None, list[Trial]]:
    """Do trials in a pool of processes, with up to `most` tasks pending; tasks have several trials
    if these are short.

    If a worker dies the pool is gone: returns the trials that were pending.
    """
    pending: dict[Future[list[Finished]], list[Trial]] = {}
    lost: list[Trial] = []
    size = 1
    with process_pool(jobs) as pool:
        while True:
            plenty = True
            while not lost and plenty and len(pending) < most:
                task = [trial for trial in islice(trials, size) if trial is not None]
                plenty = len(task) == size
                if task:
                    try:
                        with _masked_ctrl_c():  # this may start a worker
                            pending[pool.submit(do_trials, task)] = task
                    except BrokenProcessPool:
                        lost += task
            if not pending:
                return lost
            results: list[Finished] = []
            # Once a worker has died, all that is pending ends, in an error or, if it was done
            # already, in a result.
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                task = pending.pop(future)
                try:
                    results += future.result()
                except BrokenProcessPool:
                    lost += task
            short = all(each.seconds < _SHORT for each in results)
            size = _TOGETHER if most > 1 and plenty and short else 1
            yield results


@contextmanager
def process_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes that are up, and that end with this one, however it ends."""
    # Workers start from scratch: a forked copy of threaded code is not safe everywhere.
    context = multiprocessing.get_context("spawn")
    for _ in range(_STARTS):
        there, here = context.Pipe(duplex=False)
        with without_ctrl_c():  # this may start a process that tracks locks
            pool = ProcessPoolExecutor(
                jobs, mp_context=context, initializer=_start_worker, initargs=(there,)
            )
        try:
            # A worker that dies before it has a trial is not a trial's fault.
            with without_ctrl_c():
                ready = [pool.submit(os.getpid) for _ in range(jobs)]
            wait(ready)
            with without_ctrl_c():
                last = pool.submit(os.getpid)
            last.result()
            yield pool
            pool.shutdown()
            return
        except BrokenProcessPool:
            continue
        finally:
            # the workers see it and go; after an error nobody waits for trials that nobody wants
            here.close()
            pool.shutdown(cancel_futures=True)
            there.close()
    raise OSError(f"{_STARTS} times, worker processes died as they started. {HOW_TO_START}")


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Start processes to which, from their first moment on, Ctrl-C means nothing: it is for this
    one alone.

    Threads that are started inside pass this on to the processes that they start.
    """
    if hasattr(signal, "pthread_sigmask"):
        with safe_path():
            resource_tracker.ensure_running()  # the thread that starts it would get Ctrl-C again
    with _masked_ctrl_c():
        yield


@contextmanager
def _masked_ctrl_c() -> Iterator[None]:
    """Do the same while the tracker of multiprocessing runs; to ask it every time would take longer
    than all else here.
    """
    if not hasattr(signal, "pthread_sigmask"):
        with safe_path():
            yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with safe_path():
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker(there: Any) -> None:
    """Get a worker ready: Ctrl-C is for the parent (also where it cannot be blocked), and a worker
    ends with the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        try:
            there.recv()
        except (EOFError, OSError):
            os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    _one_thread()


@cache
def _one_thread() -> None:
    """Let linear algebra in this process use one thread, so that its sums have one order and
    workers do not crowd.
    """
    threadpool_limits(limits=1)
