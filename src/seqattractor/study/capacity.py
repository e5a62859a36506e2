"""How long a sequence a network stores: a search that spends its trials where they matter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from seqattractor._checks import check_count, check_positive
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes
from seqattractor.analysis._retrieval import wilson_interval
from seqattractor.study.executors import Executor
from seqattractor.study.grid import Grid
from seqattractor.study.protocol import Point, Trial
from seqattractor.study.run import Progress, check_code
from seqattractor.study.store import Finished, Store
from seqattractor.study.study import settings_of
from seqattractor.study.success_curve import SuccessCurve
from seqattractor.study.user_networks import Brought

_BATCH = 4  # trials at one length before the next is chosen; fixed, so that a result does not depend on the number of workers
_SURE = 0.98  # of the curve, for an interval of 95 %: true curves are not quite of the assumed shape
_STAND_IN = "lookup"  # has no parameters that a grid could set: what is left to check are the settings of the trial
_FIRST_REACH = 32  # the longest sequence to start with; from then on twice the longest that was retrieved


@dataclass(frozen=True, repr=False)
class Capacity(Result):
    """The longest sequence that a network retrieves at a given rate."""

    _drawn_by = "capacity_curve"
    settings: dict[str, Any]
    """All settings of its trials, without t."""
    success: float
    """The rate asked for."""
    t: int
    """The largest T with at least that rate; 1 if there is none."""
    low: int
    high: int
    """A 95 % interval of it."""
    trials: int
    at_least: bool
    """Whether even the longest sequences that were allowed are retrieved, so that the true one is larger."""
    tried: dict[int, tuple[int, int]]
    """Successes and trials at each length."""
    curve: SuccessCurve
    """What the trials tell about success at any length."""

    def describe(self) -> str:
        """Say the capacity and its interval."""
        s = self.settings
        hidden = f", M = {s['m']}" if s["m"] is not None else ""
        several = f", {s['sequences']} sequences" if s["sequences"] > 1 else ""
        length = f"at least {self.t}" if self.at_least else f"{self.t} ({self.low} to {self.high})"
        flips = f"{s['flips']} flip{'' if s['flips'] == 1 else 's'}"
        none = " (no length reaches this rate)" if self.t < 2 else ""
        return f"{s['network']}, N = {s['n']}{hidden}{several}, {flips}: T = {length}{none}, {self.trials} trials."

    def rows(self) -> list[dict[str, Any]]:
        """Give it as a row: settings, capacity and interval."""
        names = ("success", "t", "low", "high", "at_least", "trials")
        return [self.settings | {name: getattr(self, name) for name in names}]

    def _named_axes(self) -> NamedAxes:
        """Along the lengths that were tried; the capacity itself is an attribute."""
        right, n = np.array(list(self.tried.values()), dtype=np.int64).reshape(-1, 2).T
        low, high = np.array([wilson_interval(*counts) for counts in self.tried.values()]).reshape(-1, 2).T
        found = {name: getattr(self, name) for name in ("success", "at_least")}
        found |= {"capacity": self.t, "capacity_low": self.low, "capacity_high": self.high}
        return NamedAxes(
            {
                "successes": ("t", right, "trials that succeeded"),
                "trials": ("t", n, "trials"),
                "rate": ("t", right / n, "fraction of successes"),
                "low": ("t", low, "lower end of the 95 % interval of the rate"),
                "high": ("t", high, "upper end of the 95 % interval of the rate"),
            },
            {"t": ("t", list(self.tried), "patterns of the sequence")},
            self.settings | found,
        )


@dataclass(eq=False, repr=False)
class Search:
    """One search for a capacity: asks for trials, is told their outcomes, and knows when it has enough.

    Parameters
    ----------
    settings : dict
        Of the trials, without t.
    success : float
        The rate of success asked for.
    seed : int
    precision : float
        It ends when the ends of the interval differ by this fraction,
    max_trials : int
        or after this many trials.
    t_max : int
        The longest sequence to try.
    brought : Brought, optional
        A network of the user's, which the settings then call by a name of its own; "m" is set where the settings have it.

    Examples
    --------
    >>> from seqattractor.study.executors import do_trial
    >>> search = Search({"network": "hebbian", "n": 30, "flips": 1}, max_trials=20)
    >>> while not search.over:
    ...     for trial in search.next_trials():
    ...         search.tell(do_trial(trial))
    >>> search.result().trials
    20
    """

    settings: dict[str, Any]
    _: KW_ONLY
    success: float = 0.95
    seed: int = 0
    precision: float = 0.1
    max_trials: int = 200
    t_max: int = 5000
    brought: Brought | None = None

    def __post_init__(self) -> None:
        self.precision, self.max_trials = check_positive(self.precision, "precision"), check_count(self.max_trials, "max_trials")
        self.point = self._point(self.settings)
        self.curve = SuccessCurve(self.success, self.t_max)
        self.tried: Counter[int] = Counter()
        self.right: Counter[int] = Counter()
        self.over = False
        self._length = 0
        self._batch: list[bool] = []
        self._waiting = 0

    def _point(self, settings: dict[str, Any]) -> Point:
        """Check settings, and give the point that they are."""
        own = self.brought
        (point,) = Grid(settings | ({"network": _STAND_IN} if own else {}), seed=self.seed).points()
        if own is None:
            return point
        hidden = {"m": settings["m"]} if "m" in settings and "n_hidden" in own.description["parameters"] else {}
        return Point(point.protocol, point.settings | hidden | {"network": own.description}, point.seed, {"network": own})

    @property
    def n_trials(self) -> int:
        """How many trials it has been told of."""
        return self.tried.total()

    def next_trials(self) -> list[Trial]:
        """Ask for the next trials, all of one length; nothing while some of the last are still out."""
        if self._waiting:
            return []
        reach = max([_FIRST_REACH, *(2 * t for t, right in self.right.items() if right)])
        self._length = self._open_end() or self.curve.best_length(reach)
        point = self._point(self.settings | {"t": self._length})
        self._batch, self._waiting = [], min(_BATCH, self.max_trials - self.n_trials)
        return [Trial(point, self.tried[self._length] + k) for k in range(self._waiting)]

    def tell(self, finished: Finished) -> None:
        """Take in a trial that is over; once the last of a batch is there, learn from it."""
        if finished.outcome is None:
            raise ValueError(f"a trial with sequences of {self._length} patterns failed: {finished.error}")
        self._batch.append(finished.outcome["success"])
        self._waiting -= 1
        if self._waiting:
            return
        right, n = sum(self._batch), len(self._batch)
        self.curve.learn([self._length], [right], [n])
        self.tried[self._length] += n
        self.right[self._length] += right
        low, _, high = self._interval()
        self.over = self._narrow(low, high) or low >= self.t_max or self.n_trials >= self.max_trials

    def _interval(self) -> tuple[float, float, float]:
        """The interval of the capacity and the median, with the ends moved outwards to lengths that were tried.

        Between a length with a success and one with a failure only the assumed shape of the curve says where success ends; a
        steep one may end anywhere.
        """
        low, median, high = self.curve.capacity(_SURE)
        below = max((t for t in self.tried if t <= low and self.right[t]), default=1)
        above = min((t - 1 for t, n in self.tried.items() if t > high and self.right[t] < n), default=math.floor(high))
        # An end within a pattern of a length that was tried stays where it is.
        return low if below == math.floor(low) else below, median, high if above == math.floor(high) else above

    def _narrow(self, low: float, high: float) -> bool:
        """Whether an interval is as narrow as was asked for."""
        return high <= low * (1 + self.precision) or int(low) == int(high)

    def _open_end(self) -> int | None:
        """A length to try where the curve is known well enough, and the interval is wide only since its ends were not tried."""
        low, _, high = self.curve.capacity(_SURE)
        below, _, above = self._interval()
        if not self.tried or not self._narrow(low, high) or self._narrow(below, above):
            return None
        end = math.floor(low) if low / below >= above / high else math.floor(high) + 1
        return min(max(end, 2), self.t_max)

    def result(self) -> Capacity:
        """What is known."""
        low, median, high = self._interval()
        settings = settings_of(self.point)
        settings.pop("t")
        if self.brought is not None:
            settings["network"] = self.settings["network"]
        return Capacity(
            settings,
            self.success,
            min(math.floor(median), self.t_max),
            min(math.floor(low), self.t_max),
            min(math.ceil(high), self.t_max),
            self.n_trials,
            low >= self.t_max,
            {t: (self.right[t], n) for t, n in sorted(self.tried.items())},
            self.curve,
        )


def capacities(
    searches: Sequence[Search], store: Store, executor: Executor, *, progress: Callable[[Progress], None] | None = None
) -> list[Capacity]:
    """Run searches side by side. Trials of this code that the study has are not done again.

    Parameters
    ----------
    searches : sequence of Search
    store : Store
        Where trials are kept.
    executor : Executor
    progress : callable, optional
        Told of trials that are over, and of how many there may be at most.

    Returns
    -------
    list of Capacity
        In the order of the searches; it does not depend on the executor.
    """
    owner: dict[tuple[str, int], Search] = {}

    def wanted() -> Iterator[Trial | None]:
        while not all(search.over for search in searches):
            asked = False
            for search in searches:
                for trial in [] if search.over else search.next_trials():
                    asked = True
                    known = store.get(trial)
                    if known is not None and known.error is None and known.by_this_code:
                        search.tell(known)
                    else:
                        owner[trial.key] = search
                        yield trial
            if not asked:
                yield None  # all wait for trials that are out

    store.start_run("capacity")
    with closing(executor(wanted())) as results:
        for finished in results:
            check_code(finished)
            store.add(finished, replace=True)
            for each in finished:
                owner.pop(each.trial.key).tell(each)
            if progress is not None:
                most = sum(s.n_trials if s.over else s.max_trials for s in searches)
                progress(Progress(sum(s.n_trials for s in searches), 0, most))
    store.kept_on_disk()  # says so if the file was damaged, deleted or replaced
    return [search.result() for search in searches]
