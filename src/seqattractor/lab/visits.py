"""Who is on the page: each open page is a visit of its own, so that browsers and tabs do not disturb each other."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from seqattractor.lab.jobs import Job
from seqattractor.lab.limits import Limits, Refusal


@dataclass
class Visit:
    """One open page and the job it started last."""

    name: str
    seen: float
    job: Job | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def the_job(self) -> Job:
        """Give the job, or say that there is none."""
        if self.job is None:
            raise Refusal(409, "Nothing has been learned yet; press the button to learn.")
        return self.job

    def network_bytes(self) -> int:
        """How much memory the networks take."""
        nets = self.job.networks if self.job is not None else []
        # Copied at once: the thread that learns may add to it meanwhile.
        return sum(v.nbytes for net in nets for v in [*vars(net).values()] if isinstance(v, np.ndarray))


class Visits:
    """All visits, those seen last at the end; bounded in number, age and memory.

    Parameters
    ----------
    limits : Limits
    stop : callable
        Called with the job of a visit that is given up.
    clock : callable
        Seconds, for the age of visits.
    """

    def __init__(self, limits: Limits, stop: Callable[[Job], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._stop, self._clock = limits, stop, clock
        self._lock = threading.Lock()
        self._visits: OrderedDict[str, Visit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._visits)

    def open(self) -> Visit:
        """Begin a visit; the oldest ones give way."""
        visit = Visit(secrets.token_urlsafe(18), self._clock())
        with self._lock:
            self._visits[visit.name] = visit
            gone = self._trim()
        self._end(gone)
        return visit

    def get(self, name: str) -> Visit:
        """Find a visit by the name that the page sends along."""
        with self._lock:
            if name in self._visits:
                self._visits.move_to_end(name)  # the last to give way to others
            gone = self._trim()
            visit = self._visits.get(name)
            if visit is not None:
                visit.seen = self._clock()
        self._end(gone)
        if visit is None:
            raise Refusal(410, "The lab has forgotten this page, because it was idle for long or the lab was started again.")
        return visit

    def close(self, name: str) -> None:
        """End a visit; one that is not there has ended already."""
        with self._lock:
            visit = self._visits.pop(name, None)
        self._end([visit] if visit is not None else [])

    def _trim(self) -> list[Visit]:
        """Take out visits that are too old or too many, and forget networks beyond the memory budget, oldest first."""
        now, gone = self._clock(), []
        for name, visit in list(self._visits.items()):
            if now - visit.seen > self._limits.idle_seconds or len(self._visits) > self._limits.visits:
                gone.append(self._visits.pop(name))
        sizes = {name: visit.network_bytes() for name, visit in self._visits.items()}
        total = sum(sizes.values())
        for name, size in sizes.items():
            if total <= self._limits.network_bytes:
                break
            if size and name != next(reversed(sizes)):
                gone.append(self._visits.pop(name))
                total -= size
        return gone

    def _end(self, visits: list[Visit]) -> None:
        """Stop the jobs of visits that are gone."""
        for visit in visits:
            if visit.job is not None:
                self._stop(visit.job)
