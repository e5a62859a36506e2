"""Bounded waiting for a Dask cluster that may be lost, without the logs of `distributed`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

PATIENCE = 60.0  # seconds to wait for a worker, or for an answer of the scheduler

_BETWEEN = 2.0  # seconds between two questions to the scheduler; workers come and go
_LOGGERS = (
    "distributed",
    "tornado",
    "asyncio",
)  # loggers of tracebacks where one sentence is enough

_Result = TypeVar("_Result")


class ClusterLost(OSError):
    """The scheduler, or every worker, is lost."""


class Watch:
    """Checks now and then that a cluster still answers."""

    def __init__(self, client: Any, patience: float = PATIENCE) -> None:
        self.client, self.patience = client, patience
        self._threads = 1
        self._asked = -_BETWEEN
        self._last_worker = time.monotonic()

    def threads(self) -> int:
        """Return how many tasks the cluster can do at once; raise `ClusterLost` if it is gone."""
        now = time.monotonic()
        if now - self._asked >= _BETWEEN:
            threads = sum(self.ask(self._threads_of_workers).values())
            self._asked = time.monotonic()
            if threads:
                self._threads, self._last_worker = threads, self._asked
            elif self._asked - self._last_worker > self.patience:
                raise ClusterLost(
                    f"no worker has been at the Dask scheduler for {self.patience:.0f} s"
                )
        return self._threads

    def _threads_of_workers(self) -> dict[str, int]:
        """Return what `client.nthreads()` returns, but within a time."""
        threads: dict[str, int] = self.client.sync(
            self.client.scheduler.ncores, callback_timeout=self.patience
        )
        return threads

    def ask(self, question: Callable[[], _Result]) -> _Result:
        """Call a function that needs the scheduler; raise `ClusterLost` if it does not answer."""
        try:
            try:
                return question()
            # tornado's, of a message that was torn on a busy machine; the next one has its own
            # connection
            except AssertionError:
                return question()
        except (
            Exception
        ) as error:  # of many kinds: closed connections, timeouts, closed loops, cancelled futures
            raise ClusterLost(
                f"the Dask scheduler does not answer any more ({in_a_line(error)})"
            ) from error


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Silence the logs of `distributed` about lost connections."""

    def reject(record: logging.LogRecord) -> bool:
        return False

    loggers = [
        logging.getLogger(name)
        for name in list(logging.root.manager.loggerDict)
        if name.split(".")[0] in _LOGGERS
    ]
    for logger in loggers:
        logger.addFilter(reject)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(reject)


def in_a_line(error: BaseException) -> str:
    """Return the message of an error of `distributed` in one line, without the names of tasks."""
    first = next(iter(str(error).strip().splitlines()), "").rstrip(".")
    if "scheduler-connection-lost" in first:
        return "the connection to the scheduler is gone"
    return first or type(error).__name__
