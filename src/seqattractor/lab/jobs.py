"""Who is on the page, and learning off the event loop: a visit for each open page, its job, and a bounded pool of threads."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqattractor.lab.choices import Chosen
from seqattractor.lab.compiled import Compiled
from seqattractor.lab.materials import Material
from seqattractor.lab.requests import Limits, Refusal, as_sentence
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Sequences, close_loops

State = Literal["waiting", "learning", "done", "stopped", "failed"]


class Job:
    """The networks of one visitor while they learn one material, one after the other.

    The thread that learns appends to the lists of errors; others only read them, so no lock is needed.
    """

    def __init__(self, material: Material, chosen: list[Chosen], limits: Limits, compiled: Compiled) -> None:
        self.material, self.chosen = material, chosen
        self.networks: list[SequenceMemory] = []
        self.scores: list[float | None] = [None for _ in chosen]
        self.hidden: list[list[int]] = [[] for _ in chosen]
        self.visible: list[list[int]] = [[] for _ in chosen]
        self.radii: list[list[int] | None] | None = None
        self.certifying = threading.Lock()
        self.state: State = "waiting"
        self.note = ""
        self.compiling = False
        """Whether it waits for code that is being compiled."""
        self._limits, self._compiled = limits, compiled
        self._stop = threading.Event()
        self._deadline = 0.0
        self._more = 0

    # -- the visitor's side ---------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether it learns or waits to learn."""
        return self.state in ("waiting", "learning")

    def stop(self) -> None:
        """Ask it to stop after the current epoch."""
        self._stop.set()

    def prepare_to_continue(self, epochs: int) -> None:
        """Make ready for another run from the weights as they are."""
        if self.running:
            raise Refusal(409, "The network is still learning; stop it first.")
        if self.state == "failed" or not self.networks:
            raise Refusal(409, "There is nothing to continue; learn first.")
        self._stop.clear()
        self._more = epochs
        self.radii = None
        self.state, self.note = "waiting", ""

    def learned(self) -> list[SequenceMemory]:
        """Give the networks that are ready to recall."""
        if self.running:
            raise Refusal(409, "The network is still learning; wait for it or stop it.")
        if self.state == "failed":
            raise Refusal(409, self.note)
        return [net for net in self.networks if is_learned(net)]

    def progress(self, seen: list[int]) -> list[dict[str, Any]]:
        """Tell what is new since `seen` epochs of each network, and move `seen` on."""
        news = []
        for k, before in enumerate(seen):
            now = len(self.visible[k])  # appended last, so the hidden errors are there too
            if now > before:
                hidden, visible = self.hidden[k][before:now], self.visible[k][before:now]
                news.append({"network": k, "from": before, "hidden": hidden, "visible": visible})
                seen[k] = now
        return news

    def summary(self) -> dict[str, Any]:
        """Tell how it stands."""
        nets = []
        for net, errors, score in zip(self.networks, self.visible, self.scores, strict=False):
            converged = bool(getattr(net, "converged_", True)) if is_learned(net) else None
            nets.append({"epochs": len(errors), "converged": converged, "right": score})
        return {"state": self.state, "note": self.note, "networks": nets}

    # -- the thread's side ----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Learn until done, stopped or out of time; never raises."""
        self.state = "learning"
        self.compiling = not all(self._compiled.covers(choice.class_name) for choice in self.chosen)
        for choice in self.chosen:
            self._compiled.wait_for(choice.class_name, self._stop.is_set)
        self.compiling = False
        self._deadline = time.monotonic() + self._limits.seconds
        try:
            if not self.networks:
                self.networks = [c.make(engine=self._engine(c), on_conflict="raise") for c in self.chosen]
            for k, net in enumerate(self.networks):
                if self._ended():
                    break
                self._learn(k, net)
                self.scores[k] = net.score(self._data(k))
            self.state = "stopped" if self._ended() else "done"
        except (ValueError, TypeError) as error:  # the library's own sentences
            self.note, self.state = as_sentence(error), "failed"
        except MemoryError:
            self.note, self.state = "There is not enough memory for this network; make it smaller.", "failed"
        except Exception as error:  # a visitor's job must never take a worker with it
            self.note, self.state = f"Learning failed unexpectedly ({type(error).__name__}).", "failed"

    def _learn(self, k: int, net: SequenceMemory) -> None:
        """Learn from scratch, or go on from where the network stands."""

        def note_epoch(epoch: int, hidden: int, visible: int) -> bool:
            self.hidden[k].append(int(hidden))
            self.visible[k].append(int(visible))
            return self._ended()

        X = self._data(k)
        if not is_learned(net):
            with suppress(ConvergenceWarning):  # it comes after all is done, and the page shows which errors are left
                net.fit(X, callback=note_epoch)
            return
        for _ in range(self._more):
            if not self.visible[k] or getattr(net, "converged_", True) or self._ended():
                return  # learned in one go, or without errors left, or stopped
            net.partial_fit(X)
            hidden = getattr(net, "hidden_errors_", [0])[-1]
            note_epoch(len(self.visible[k]) + 1, int(hidden), int(net.visible_errors_[-1]))

    def _data(self, k: int) -> Sequences:
        """What network `k` learns: the material, with loops closed as far as the network looks back."""
        return close_loops(self.material.data, order=self.chosen[k].settled_order(self.material.data))

    def _engine(self, choice: Chosen) -> str:
        """The engine for a network: the plain loop, which does the same, where the quick one could not be compiled."""
        return "exact" if self._compiled.covers(choice.class_name) else "reference"

    def _ended(self) -> bool:
        """Whether the visitor or the clock says stop."""
        if time.monotonic() > self._deadline and not self.note:
            self.note = f"The lab stops learning after {self._limits.seconds:g} s; continue, or use the library for more."
        return self._stop.is_set() or bool(self.note)


class Pool:
    """A few threads that learn, and the jobs that wait for them in order."""

    def __init__(self, limits: Limits) -> None:
        self._threads = ThreadPoolExecutor(limits.workers, thread_name_prefix="lab")
        self._limits = limits
        self._lock = threading.Lock()
        self._waiting: deque[Job] = deque()
        self._running: list[Job] = []

    def submit(self, job: Job) -> None:
        """Put a job into the queue, or refuse it if the queue is full."""
        with self._lock:
            if len(self._waiting) >= self._limits.waiting:
                raise Refusal(503, "The lab is busy: please wait a moment, then press the button again.")
            self._waiting.append(job)
        self._threads.submit(self._run_next)

    def ahead(self, job: Job) -> int:
        """How many jobs are before this one in the queue."""
        with self._lock:
            return self._waiting.index(job) if job in self._waiting else 0

    def stop(self, job: Job) -> None:
        """Stop a job, wherever it is."""
        job.stop()
        with self._lock:
            if job in self._waiting:
                self._waiting.remove(job)
                job.state = "stopped"

    def close(self) -> None:
        """Stop everything and end the threads."""
        with self._lock:
            jobs = [*self._waiting, *self._running]
        for job in jobs:
            self.stop(job)
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _run_next(self) -> None:
        """Run the job that has waited longest; stopped ones have left the queue already."""
        with self._lock:
            if not self._waiting:
                return
            job = self._waiting.popleft()
            self._running.append(job)
        try:
            job.run()
        finally:
            with self._lock:
                self._running.remove(job)


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
            self._trim()
        return visit

    def get(self, name: str) -> Visit:
        """Find a visit by the name that the page sends along."""
        with self._lock:
            if name in self._visits:
                self._visits.move_to_end(name)  # the last to give way to others
            self._trim()
            if name not in self._visits:
                raise Refusal(410, "The lab has forgotten this page, because it was idle for long or the lab was started again.")
            visit = self._visits[name]
            visit.seen = self._clock()
            return visit

    def close(self, name: str) -> None:
        """End a visit; one that is not there has ended already."""
        with self._lock:
            self._end(name)

    def _trim(self) -> None:
        """Take out visits that are too old or too many, and forget networks beyond the memory budget, oldest first."""
        now = self._clock()
        for name, visit in list(self._visits.items()):
            if now - visit.seen > self._limits.idle_seconds or len(self._visits) > self._limits.visits:
                self._end(name)
        sizes = {name: visit.network_bytes() for name, visit in self._visits.items()}
        total = sum(sizes.values())
        for name, size in sizes.items():
            if total <= self._limits.network_bytes:
                break
            if size and name != next(reversed(sizes)):
                self._end(name)
                total -= size

    def _end(self, name: str) -> None:
        """Forget a visit, if there is one of this name, and stop its job."""
        visit = self._visits.pop(name, None)
        if visit is not None and visit.job is not None:
            self._stop(visit.job)


def is_learned(net: SequenceMemory) -> bool:
    """Whether a network can recall."""
    return hasattr(net, "n_features_in_") and any(hasattr(net, name) for name in ("V_", "W_", "patterns_"))
