"""Threads that serve visits in turn, one piece of work of a visit at a time, so that no visitor can
keep others waiting.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from seqattractor.lab.requests import Rejection

T = TypeVar("T")


@dataclass(eq=False)
class _Task:
    """Work that waits, and where its outcome goes."""

    work: Callable[[], Any]
    kind: str
    future: Future[Any] = field(default_factory=Future)


class Turns:
    """Threads that serve visits in turn; at most `waiting` pieces of work may wait."""

    def __init__(self, threads: int, *, waiting: int) -> None:
        self._most = waiting
        self._changed = threading.Condition()
        self._waiting: OrderedDict[str, deque[_Task]] = (
            OrderedDict()
        )  # the visit whose turn is next comes first
        self._at_work: set[str] = set()
        self._closed = False
        # Daemons: their work cannot be interrupted, and the end of the lab should not wait for it.
        self._threads = [
            threading.Thread(target=self._serve, name=f"lab-{k}", daemon=True)
            for k in range(threads)
        ]

    def submit(self, visit: str, work: Callable[[], T], *, newest: str = "") -> Future[T]:
        """Queue work; cancel the future when the outcome is not needed any more.

        Of work of the kind `newest` only the newest is wanted: it replaces one that still waits,
        which is rejected.
        """
        task = _Task(work, newest)
        with self._changed:
            queue = self._waiting.get(visit, deque())
            older = [t for t in queue if newest and t.kind == newest]
            if self._closed:
                raise Rejection(503, "The lab is being closed.")
            if sum(map(len, self._waiting.values())) - len(older) >= self._most:
                raise Rejection(
                    503, "The lab is busy: please wait a moment, then try again.", retry=2
                )
            self._waiting.setdefault(visit, queue).append(task)
            self._changed.notify()
            for thread in self._threads:
                if thread.ident is None:
                    thread.start()
        task.future.add_done_callback(lambda future: self._forget(visit, task))
        for old in older:
            if old.future.set_running_or_notify_cancel():
                old.future.set_exception(
                    Rejection(409, "A newer request of this page took the place of this one.")
                )
        return task.future

    def ahead(self, future: Future[Any] | None) -> int:
        """Return how many visits are before the one whose work this is."""
        with self._changed:
            for k, queue in enumerate(self._waiting.values()):
                if any(task.future is future for task in queue):
                    return k
            return 0

    def close(self) -> None:
        """Reject what waits, and let each thread end after its present work, without waiting for
        that.
        """
        with self._changed:
            self._closed = True
            waiting = [task.future for queue in self._waiting.values() for task in queue]
            self._waiting.clear()
            self._changed.notify_all()
        for future in waiting:
            if future.set_running_or_notify_cancel():
                future.set_exception(Rejection(503, "The lab is being closed."))

    @property
    def at_work(self) -> bool:
        """Return whether a thread is at work."""
        return bool(self._at_work)

    def _forget(self, visit: str, task: _Task) -> None:
        """Remove a task that is done, cancelled or replaced from the queue, if it is still
        there.
        """
        with self._changed:
            queue = self._waiting.get(visit, deque())
            if task in queue:
                queue.remove(task)
            if not queue:
                self._waiting.pop(visit, None)

    def _take(self) -> tuple[str, _Task] | None:
        """Wait for the first visit that has something to do and nothing under way; afterwards it is
        the last in turn.
        """
        with self._changed:
            while not self._closed:
                for visit, queue in self._waiting.items():
                    if visit not in self._at_work:
                        task = queue.popleft()
                        self._at_work.add(visit)
                        self._waiting.move_to_end(visit)
                        if not queue:
                            del self._waiting[visit]
                        return visit, task
                self._changed.wait()
        return None

    def _serve(self) -> None:
        """Do one task after the other."""
        while (taken := self._take()) is not None:
            visit, task = taken
            if task.future.set_running_or_notify_cancel():  # else it was cancelled
                try:
                    task.future.set_result(task.work())
                except BaseException as error:  # it belongs to the one who waits for the outcome
                    task.future.set_exception(error)
            del taken, task  # else the outcome stays in memory until there is something else to do
            with self._changed:
                self._at_work.remove(visit)
                self._changed.notify()
