"""A visit for each open page, its learning job, and the threads in which jobs run in turn."""

from __future__ import annotations

import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from seqattractor.lab.choices import Chosen, is_learned, why_not_learned
from seqattractor.lab.materials import Material
from seqattractor.lab.rates import locked_on
from seqattractor.lab.recall import Cue, certified_radii
from seqattractor.lab.requests import Limits, Rejection
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Sequences, close_loops

State = Literal["waiting", "learning", "done", "stopped", "failed", "dropped"]

_MOST_RATES = 1000  # that are kept


class Outcome:
    """What networks have learned. Visits that ask for the same share it once it is complete: it
    would be the same to the last bit.

    The thread that learns appends to the lists of errors; others only read them, so no lock is
    needed.
    """

    def __init__(self, number: int) -> None:
        self.networks: list[SequenceMemory] = []
        self.scores: list[float | None] = [None for _ in range(number)]
        self.hidden: list[list[int]] = [[] for _ in range(number)]
        self.visible: list[list[int]] = [[] for _ in range(number)]
        self.radii: list[list[int] | None] | None = None
        self._rates: dict[Cue, list[int] | None] = {}
        self._computing = threading.Lock()

    @property
    def learned(self) -> list[SequenceMemory]:
        """The networks that are ready to recall."""
        return [net for net in self.networks if is_learned(net)]

    def copy(self) -> Outcome:
        """Return one with which to learn more, while others use this one."""
        outcome = Outcome(len(self.scores))
        outcome.networks, outcome.scores = deepcopy(self.networks), [*self.scores]
        outcome.hidden, outcome.visible = (
            [[*errors] for errors in both] for both in (self.hidden, self.visible)
        )
        return outcome

    def certify(self, data: Sequences) -> list[list[int] | None]:
        """Return the certified radius of each frame, for each network; computed once."""
        with self._computing:
            if self.radii is None:
                self.radii = [certified_radii(net, data) for net in self.learned]
            return self.radii

    def rates(self, material: Material, cue: Cue, limits: Limits) -> list[int] | None:
        """Return for each network how many of 100 cues like this one lock on; computed once."""
        key = replace(cue, seed=0)
        with self._computing:
            if key not in self._rates:
                if len(self._rates) >= _MOST_RATES:
                    self._rates.clear()
                self._rates[key] = locked_on(self.learned, material, cue, limits)
            return self._rates[key]


class Job:
    """The networks of one visitor while they learn one material, one after the other.

    Jobs of the same `key` learn the same; what is complete is in `shared`. It can be dropped to
    make room in memory, and is learned again when it is asked for.
    """

    def __init__(
        self,
        material: Material,
        chosen: list[Chosen],
        limits: Limits,
        *,
        key: str = "",
        shared: MutableMapping[str, Outcome] | None = None,
    ) -> None:
        self.material, self.chosen = material, chosen
        self.outcome = Outcome(len(chosen))
        self.key = key or secrets.token_hex()
        self.state: State = "waiting"
        self.note = ""
        self.turn: Future[None] | None = None
        """Its place in the queue."""
        self._limits = limits
        self._shared = {} if shared is None else shared
        self._planned = sum(8 * choice.weights(material.data) for choice in chosen)
        self._stop = threading.Event()
        self._deadline = 0.0
        self._more = 0
        self._again = False

    # -- the visitor's side
    # ---------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Return whether it learns or waits to learn."""
        return self.state in ("waiting", "learning")

    def stop(self) -> None:
        """Stop it: after the current epoch, or before it begins."""
        self._stop.set()
        if self.turn is not None and self.turn.cancel():
            self.state = "stopped"

    def prepare_to_continue(self, epochs: int) -> None:
        """Prepare another run from the weights as they are."""
        if self.running:
            raise Rejection(409, "The network is still learning; stop it first.")
        if self.state == "failed" or not self.outcome.networks:
            raise Rejection(409, "There is nothing to continue; learn first.")
        self._stop.clear()
        self._more = epochs
        self.key = secrets.token_hex()
        self.state, self.note = "waiting", ""

    @property
    def can_be_dropped(self) -> bool:
        """Return whether learning from scratch would give the same networks."""
        return self.state == "done" and not self._more

    def drop(self) -> None:
        """Free the networks."""
        self.outcome, self.state = Outcome(len(self.chosen)), "dropped"

    def prepare_to_learn_again(self) -> None:
        """Prepare to learn what was dropped."""
        self.state, self._again = "waiting", True

    @staticmethod
    def learned_again() -> Rejection:
        """Return the rejection of requests that must wait for it."""
        return Rejection(
            503, "The lab is busy: it learns your network again. Please wait a moment.", retry=1
        )

    def network_bytes(self) -> int:
        """Return how much memory its networks take, or will take once they have learned."""
        if self.state == "dropped":
            return 0
        # Copied at once: the thread that learns may add to it meanwhile.
        arrays = [
            v
            for net in self.outcome.networks
            for v in [*vars(net).values()]
            if isinstance(v, np.ndarray)
        ]
        return max(self._planned, sum(array.nbytes for array in arrays))

    def learned(self) -> list[SequenceMemory]:
        """Return the networks that are ready to recall."""
        if self.running:
            if self._again:
                raise self.learned_again()
            raise Rejection(409, "The network is still learning; wait for it or stop it.")
        if self.state == "failed":
            raise Rejection(409, self.note)
        return self.outcome.learned

    def progress(self, seen: list[int]) -> list[dict[str, Any]]:
        """Return the errors since `seen` epochs of each network, and advance `seen`."""
        news, outcome = [], self.outcome
        for k, before in enumerate(seen):
            now = len(outcome.visible[k])  # appended last, so the hidden errors are there too
            if now > before:
                hidden, visible = outcome.hidden[k][before:now], outcome.visible[k][before:now]
                news.append({"network": k, "from": before, "hidden": hidden, "visible": visible})
                seen[k] = now
        return news

    def summary(self) -> dict[str, Any]:
        """Return its state and those of its networks."""
        nets, outcome = [], self.outcome
        for choice, net, errors, score in zip(
            self.chosen, outcome.networks, outcome.visible, outcome.scores, strict=False
        ):
            values = {
                "epochs": len(errors),
                "converged": bool(getattr(net, "converged_", True)) if is_learned(net) else None,
                "right": score,
                "degree": getattr(net, "degree", None),
                "learns": choice.learns,
            }
            nets.append(values)
        return {"state": self.state, "note": self.note, "networks": nets}

    # -- the thread's side
    # ----------------------------------------------------------------------------------------

    def run(self) -> None:
        """Learn until done, stopped or out of time; never raises."""
        if self.adopt():
            return
        self.state = "learning"
        self._deadline = time.monotonic() + self._limits.seconds
        try:
            if self._more:
                self.outcome = self.outcome.copy()
            if not self.outcome.networks:
                self.outcome.networks = [
                    c.make(self.material.data, on_conflict="raise") for c in self.chosen
                ]
            for k, net in enumerate(self.outcome.networks):
                if self._ended():
                    break
                self._learn(k, net)
                self.outcome.scores[k] = net.score(self._data(k))
            if self._ended():
                self.key = secrets.token_hex()  # what it has learned is another thing
                self.state = "stopped"
            else:
                self.outcome = self._shared.setdefault(self.key, self.outcome)
                self.state = "done"
        except (ValueError, TypeError) as error:  # the library's own sentences
            self.note, self.state = why_not_learned(error, self._limits.order), "failed"
        except MemoryError:
            self.note, self.state = (
                "There is not enough memory for this network; make it smaller.",
                "failed",
            )
        except Exception as error:  # a visitor's job must never take a worker with it
            self.note, self.state = (
                f"Learning failed unexpectedly ({type(error).__name__}).",
                "failed",
            )

    def adopt(self) -> bool:
        """Take over what another job has learned, if one of the same key is complete; return
        whether there was one.
        """
        found = self._shared.get(self.key)
        if found is not None:
            self.outcome, self.state = found, "done"
        return found is not None

    def _learn(self, k: int, net: SequenceMemory) -> None:
        """Learn from scratch, or continue from the present weights, by the engine if it has a warm
        start.
        """

        def note_epoch(epoch: int, hidden: int, visible: int) -> bool:
            self.outcome.hidden[k].append(int(hidden))
            self.outcome.visible[k].append(int(visible))
            return self._ended()

        if not self.chosen[k].learns:
            return
        X = self._data(k)
        if not is_learned(net):
            with suppress(
                ConvergenceWarning
            ):  # it comes after all is done, and the page shows which errors are left
                net.fit(X, callback=note_epoch)
            return
        if not self.outcome.visible[k] or getattr(net, "converged_", True):
            return  # learned in one go, or without errors left
        settings = net.get_params(deep=False)
        if "warm_start" in settings:
            net.set_params(warm_start=True, max_epochs=self._more)
            try:
                with suppress(ConvergenceWarning):
                    net.fit(X, callback=note_epoch)
            finally:  # the network is that of the visitor's choices still
                net.set_params(**{name: settings[name] for name in ("warm_start", "max_epochs")})
            return
        for _ in range(self._more):
            if getattr(net, "converged_", True) or self._ended():
                return
            net.partial_fit(X)
            hidden = getattr(net, "hidden_errors_", [0])[-1]
            note_epoch(len(self.outcome.visible[k]) + 1, int(hidden), int(net.visible_errors_[-1]))

    def _data(self, k: int) -> Sequences:
        """Return what network `k` learns: the material, with loops closed as far as the network
        looks back.
        """
        return close_loops(
            self.material.data, order=self.chosen[k].settled_order(self.material.data)
        )

    def _ended(self) -> bool:
        """Return whether the visitor or the time limit stops it."""
        if time.monotonic() > self._deadline and not self.note:
            self.note = (
                f"The lab stops learning after {self._limits.seconds:g} s; continue, or use the "
                "library for more."
            )
        return self._stop.is_set() or bool(self.note)


@dataclass
class Visit:
    """One open page and the job it started last."""

    name: str
    seen: float
    job: Job | None = None
    under_way: Counter[str] = field(default_factory=Counter)
    """Requests that are being answered, of each kind."""
    ended: bool = False

    def the_job(self) -> Job:
        """Return the job, or raise if there is none."""
        if self.job is None:
            raise Rejection(409, "Nothing has been learned yet; press the button to learn.")
        return self.job

    @contextmanager
    def asks(self, kind: str, limits: Limits) -> Iterator[None]:
        """Count a request from its first byte to the last of the answer; reject too many at
        once.
        """
        downloads = (
            kind == "download" and self.under_way[kind] >= limits.downloads
        )  # they may take much memory
        if downloads or self.under_way.total() >= limits.requests:
            raise Rejection(
                503,
                "This page has asked for too much at once: please wait for the answers, then try "
                "again.",
                retry=1,
            )
        self.under_way[kind] += 1
        try:
            yield
        finally:
            self.under_way[kind] -= 1

    @property
    def active(self) -> bool:
        """Return whether a request or a job of it is under way."""
        return self.under_way.total() > 0 or (self.job is not None and self.job.running)


class Visits:
    """All visits, those seen last at the end; bounded in number, age and memory.

    Only visits that have nothing to lose, or were idle for a while, give way to newcomers.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._lock = threading.Lock()
        self._visits: OrderedDict[str, Visit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._visits)

    def open(self) -> Visit:
        """Begin a visit, or reject it if there are too many."""
        with self._lock:
            self._end_old()
            if len(self._visits) >= self._limits.visits:
                # A visitor who has learned nothing loses nothing: the page opens another visit when
                # it comes back.
                idle = [visit for visit in self._visits.values() if not visit.active]
                gives_way = [visit for visit in idle if visit.job is None] or [
                    visit for visit in idle if self._is_spare(visit)
                ]
                if not gives_way:
                    raise Rejection(
                        503,
                        "The lab is full: too many pages are open. Please try again in a few "
                        "minutes.",
                        retry=10,
                    )
                self._end(gives_way[0].name)
            visit = Visit(secrets.token_urlsafe(18), self._clock())
            self._visits[visit.name] = visit
        return visit

    def get(self, name: str) -> Visit:
        """Return the visit of a name."""
        with self._lock:
            self._end_old()
            if name not in self._visits:
                raise Rejection(
                    410,
                    "The lab has forgotten this page, because it was idle for long or the lab was "
                    "started again.",
                )
            self._visits.move_to_end(name)  # the last to give way to others
            visit = self._visits[name]
            visit.seen = self._clock()
            return visit

    def make_room(self, visit: Visit, job: Job) -> None:
        """Make room in memory for the networks of a visit, or reject them.

        First those networks go that can be learned again, then visits that were idle for long.
        """
        with self._lock:
            sharing: dict[str, list[Visit]] = {}  # networks that visits share are there once
            sizes: dict[str, int] = {}
            for one in self._visits.values():
                if one.job is not None and one is not visit:
                    sharing.setdefault(one.job.key, []).append(one)
                    sizes[one.job.key] = one.job.network_bytes()
            more = 0 if job.key in sharing else job.network_bytes()
            excess = sum(sizes.values()) + more - self._limits.network_bytes
            sharing.pop(job.key, None)
            for key, those in [*sharing.items()]:
                if excess > 0 and all(map(self._is_settled, those)):
                    for one in those:
                        one.the_job().drop()
                    excess -= sizes[key]
                    del sharing[key]
            for key, those in sharing.items():
                if excess > 0 and all(map(self._is_spare, those)):
                    for one in those:
                        self._end(one.name)
                    excess -= sizes[key]
        if excess > 0:
            raise Rejection(
                503,
                "The networks of other visitors fill the lab; try a smaller one, or again in a few "
                "minutes.",
                retry=5,
            )

    def close(self, name: str) -> None:
        """End a visit, unless it has ended already."""
        with self._lock:
            self._end(name)

    def stop_all(self) -> None:
        """Stop the jobs of all visits."""
        with self._lock:
            for visit in self._visits.values():
                if visit.job is not None:
                    visit.job.stop()

    def _is_settled(self, visit: Visit) -> bool:
        """Return whether the networks of a visit can be dropped without anybody's waiting for
        them.
        """
        idle = self._clock() - visit.seen > self._limits.settle_seconds
        return idle and not visit.active and visit.the_job().can_be_dropped

    def _is_spare(self, visit: Visit) -> bool:
        """Return whether a visit was idle long enough to give way."""
        return not visit.active and self._clock() - visit.seen > self._limits.spare_seconds

    def _end_old(self) -> None:
        """End visits that were idle for very long."""
        old = self._clock() - self._limits.idle_seconds
        for visit in [
            visit for visit in self._visits.values() if visit.seen < old and not visit.active
        ]:
            self._end(visit.name)

    def _end(self, name: str) -> None:
        """End a visit, if there is one of this name, and stop its job."""
        visit = self._visits.pop(name, None)
        if visit is not None:
            visit.ended = True
            if visit.job is not None:
                visit.job.stop()
