"""Tells people once that kernels are being compiled, however many threads and worker processes compile them."""

from __future__ import annotations

import logging
import threading
from typing import Any

_logger = logging.getLogger("seqattractor")
_unsaid: Any = threading.Lock()  # taken by whoever says it


def say_that_kernels_are_compiled() -> None:
    """Say it, if nobody has said it yet: no other thread, and no process that shares the lock."""
    if _unsaid.acquire(False):
        _logger.warning("compiling the learning kernels (once on this machine, about 10 s)")


def shared_with_workers(context: Any) -> Any:
    """Give a lock for `say_only_if_unsaid_by` in worker processes of a multiprocessing context; this process uses it, too."""
    global _unsaid
    lock = context.Lock()
    if not _unsaid.acquire(False):  # it has been said here
        lock.acquire(False)
    _unsaid = lock
    return lock


def say_only_if_unsaid_by(lock: Any) -> None:
    """In a worker: let only one of all processes with this lock say it."""
    global _unsaid
    _unsaid = lock
