"""Threads that advance blocks of neurons; the kernels hold no lock, so Ctrl-C gets through between
two blocks.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from inspect import currentframe
from queue import SimpleQueue
from signal import SIGINT, getsignal, signal
from threading import current_thread, main_thread
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

from threadpoolctl import ThreadpoolController

from seqattractor._checks import is_count, say

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def count_jobs(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` stands for: None is 1, -1 all cores, -2 all but one.

    Examples
    --------
    >>> count_jobs(None), count_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral):
        raise TypeError(f"n_jobs must be a whole number or None, not {say(n_jobs)}.")
    if n_jobs == 0:
        raise ValueError(
            "n_jobs must not be 0; use a number of threads, -1 for all cores, or None for one."
        )
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    if not is_count(abs(int(n_jobs))):
        raise ValueError(
            f"n_jobs must be a number of threads that can be counted, but it is {say(n_jobs)}."
        )
    return int(n_jobs) if n_jobs > 0 else max(cores + 1 + int(n_jobs), 1)


def call_uninterrupted(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function and let Ctrl-C wait until it has returned.

    Python handles signals in the main thread only, so that there is nothing to do in others.
    """
    handler = getsignal(SIGINT)
    if not callable(handler) or current_thread() is not main_thread():
        return function(*arguments)
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)

    signal(
        SIGINT, note
    )  # what came earlier is handled first, so that nothing raises between here and `try`
    try:
        return function(*arguments)
    finally:
        signal(SIGINT, handler)
        if noted:
            handler(SIGINT, currentframe())


@cache
def _blas() -> ThreadpoolController:
    """The linear algebra libraries of this process; looking for them takes a few milliseconds."""
    return ThreadpoolController()


class Workers:
    """A pool of `n_jobs` threads; with one job the work is done in the calling thread."""

    def __init__(self, n_jobs: int | None) -> None:
        self._jobs = count_jobs(n_jobs)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        call_uninterrupted(self._begin)
        return self

    def _begin(self) -> None:
        """Limit other threads, and start the pool."""
        self._open.enter_context(
            _blas().limit(limits=1, user_api="blas")
        )  # the blocks are the parallel work
        self._pool = ThreadPoolExecutor(self._jobs) if self._jobs > 1 else None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        call_uninterrupted(self._end)

    def _end(self) -> None:
        """Wait for blocks that are under way, and undo the rest."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            # freed here: Python drops a Ctrl-C that comes while it clears weak references to
            # threads
            self._pool = None
        self._open.close()

    def run(self, work: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
        """Apply `work` to each item and return the results in order.

        A Ctrl-C in the Python code of futures would leave their locks as they should never be: it
        comes while we wait in C.
        """
        if self._pool is None:
            return [work(item) for item in items]
        ended: SimpleQueue[Future[_Result]] = SimpleQueue()
        futures = call_uninterrupted(self._submit, work, items, ended)
        for _ in futures:
            ended.get()
        return call_uninterrupted(lambda: [future.result() for future in futures])

    def _submit(
        self, work: Callable[[_Item], _Result], items: Iterable[_Item], ended: Any
    ) -> list[Future[_Result]]:
        """Give work to the pool; each future comes into a queue when it has ended."""
        assert self._pool is not None
        futures = [self._pool.submit(work, item) for item in items]
        for future in futures:
            future.add_done_callback(ended.put)
        return futures
