"""How long a sequence a network stores: a search that spends its trials where they matter."""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import check_count, check_number, check_positive, say
from seqattractor._faces import Result
from seqattractor._progress import also_shown
from seqattractor.study.compare import Networks, choose_networks, rehearse_all
from seqattractor.study.executors import Executor
from seqattractor.study.grid import Grid
from seqattractor.study.protocol import Point, Trial
from seqattractor.study.run import Progress, check_code, choose_executor
from seqattractor.study.settings import DEFAULTS, as_flips
from seqattractor.study.store import Finished, Store
from seqattractor.study.study import settings_of
from seqattractor.study.trial import network_of
from seqattractor.study.user_networks import Brought
from seqattractor.theory import Limit, limits

Floats = NDArray[np.float64]

_STEP = 0.006  # of log T, but no less than half a pattern
_WIDTHS = np.geomspace(
    0.003, 0.6, 11
)  # steep curves, too: one with fewer widths would put their end too low, and be sure of it
_LAPSES = np.array([0.0, 0.01, 0.03, 0.1, 0.3])
_LAPSE_PRIOR = np.array([0.5, 0.2, 0.15, 0.1, 0.05])


class SuccessCurve:
    """Beliefs about the probability of success at length T, a logistic curve in log T that falls
    from 1 - lapse to 0::

        p(T) = (1 - lapse) / (1 + (T / T_half) ** (1 / width))

    The three numbers have a prior on a grid (T_half and width even in their logarithms, most weight
    on a lapse of 0), and trials turn it into a posterior. `success` is the rate asked for, `t_max`
    the greatest length that can be tried. Without `lapses` only curves that begin at 1 count: too
    few trials to exclude lapses of a twentieth would leave a capacity at 95 % without a lower end.
    """

    def __init__(self, success: float, t_max: int, *, lapses: bool = True) -> None:
        if not 0 < check_number(success, "the rate of success") < 1:
            raise ValueError(
                f"the rate of success must lie between 0 and 1, but it is {say(success)}."
            )
        success, t_max = float(success), check_count(t_max, "the greatest length", 3)
        self.success, self.t_max = success, t_max
        halves, some = _lengths(t_max), len(_LAPSES) if lapses else 1
        half, width, lapse = (
            axis.ravel() for axis in np.meshgrid(halves, _WIDTHS, _LAPSES[:some], indexing="ij")
        )
        self._half, self._width, self._lapse = half, width, lapse
        prior = (
            np.gradient(halves)[:, None, None] * np.ones((len(_WIDTHS), 1)) * _LAPSE_PRIOR[:some]
        )
        self._log_weight = np.log(prior.ravel())
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = success / (1 - lapse - success)
            # Where even the shortest sequence fails too often, the capacity is 1 pattern: nothing.
            self._capacity = np.where(
                odds > 0, np.maximum(half - width * np.log(np.where(odds > 0, odds, 1.0)), 0.0), 0.0
            )
        self._order = np.argsort(self._capacity, kind="stable")

    def learn(self, T: ArrayLike, successes: ArrayLike, trials: ArrayLike) -> None:
        """Update the beliefs by trials: lengths, and how many of how many trials succeeded at each;
        shapes (k,).
        """
        lengths, right, all_ = (
            np.atleast_1d(np.asarray(a, dtype=np.float64)) for a in (T, successes, trials)
        )
        p = self._rates(lengths)
        self._log_weight = self._log_weight + right @ np.log(p) + (all_ - right) @ np.log1p(-p)

    def rate(self, T: ArrayLike) -> Floats:
        """Return the expected probability of success at some lengths, shape (k,)."""
        return self._rates(np.atleast_1d(np.asarray(T, dtype=np.float64))) @ self._weights()

    def capacity(self, confidence: float = 0.95) -> tuple[float, float, float]:
        """Return the length up to which success is at least the rate asked for: low end of an
        interval, median, high end.
        """
        below = np.cumsum(self._weights()[self._order])
        at = np.searchsorted(below, [(1 - confidence) / 2, 0.5, (1 + confidence) / 2]).clip(
            max=len(below) - 1
        )
        low, median, high = np.exp(self._capacity[self._order][at]).tolist()
        return low, median, high

    def best_length(self, largest: int) -> int:
        """Return the length, up to `largest`, at which one more trial is expected to leave the
        least uncertainty.
        """
        weights = self._weights()
        likely = weights > 1e-6 * weights.max()  # the others make no difference, but work
        weights, capacity = weights[likely], self._capacity[likely]
        half = self._half[likely]
        order = np.argsort(half, kind="stable")
        ends = half[order][
            np.searchsorted(
                np.cumsum(weights[order]), [0.005 * weights.sum(), 0.995 * weights.sum()]
            )
        ]
        wide = 3 * float(weights @ self._width[likely])
        candidates = np.exp(np.linspace(ends[0] - wide, ends[1] + wide, 30))
        candidates = np.unique(np.round(candidates).clip(2, min(largest, self.t_max)))
        p = self._rates(candidates, likely)
        left = np.zeros(len(candidates))
        for chance in (p, 1 - p):
            joint = chance * weights
            total = joint.sum(axis=1)
            left += joint @ capacity**2 - (joint @ capacity) ** 2 / total
        return int(candidates[np.argmin(left)])

    def _rates(self, lengths: Floats, some: Any = ...) -> Floats:
        """The probability of success at each length for all curves of the grid, or some; never 0 or
        1: (k, curves).
        """
        z = (np.log(lengths)[:, None] - self._half[some]) / self._width[some]
        return np.asarray((1 - self._lapse[some]) / (1 + np.exp(np.clip(z, -40, 40)))).clip(
            1e-6, 1 - 1e-6
        )

    def _weights(self) -> Floats:
        """The posterior of the curves."""
        weights = np.exp(self._log_weight - self._log_weight.max())
        return np.asarray(weights / weights.sum())


def _lengths(t_max: int) -> Floats:
    """Logarithms of lengths from 2 to e times the greatest, near enough to each other for the
    steepest curve; shape (k,).
    """
    last = np.log(t_max) + 1.0
    whole = np.log(np.arange(2.0, 0.5 / _STEP, 0.5))
    return np.append(
        whole[whole < last], np.arange(max(np.log(2.0), np.log(0.5 / _STEP)), last, _STEP)
    )


_SYMBOLS = {"n": "N", "m": "M", "sequences": "S"}


@dataclass(frozen=True)
class PowerLaw:
    """T = factor * N^a * M^b * S^c."""

    factor: float
    exponents: dict[str, tuple[float, float]]
    """Exponent and its standard error, by the name of the setting."""
    spread: float
    """The typical ratio between a capacity and the law, less 1."""

    def __call__(self, settings: dict[str, Any]) -> float:
        """The capacity by the law."""
        return float(
            self.factor * math.prod(settings[name] ** a for name, (a, _) in self.exponents.items())
        )

    def __str__(self) -> str:
        parts = [f"{_SYMBOLS[name]}^({a:.2f} ± {e:.2f})" for name, (a, e) in self.exponents.items()]
        unresolved = [
            _SYMBOLS[name] for name, (a, e) in self.exponents.items() if abs(a) < 1.96 * e
        ]
        caveat = (
            f" (these capacities do not resolve the exponent of {' and '.join(unresolved)})"
            if unresolved
            else ""
        )
        return (
            f"T = {self.factor:.3g} * {' * '.join(parts)}, to within "
            f"{_percent(self.spread)}{caveat}"
        )


@dataclass(frozen=True)
class SaturatingLaw:
    """T = a N / (1 + c N / M): growing with M until the visible neurons set the limit a N; 1/T is
    linear in 1/N and 1/M.
    """

    a: tuple[float, float]
    c: tuple[float, float]
    """With their standard errors."""
    spread: float

    def __call__(self, settings: dict[str, Any]) -> float:
        """The capacity by the law."""
        n, m = settings["n"], settings["m"]
        return float(self.a[0] * n / (1 + self.c[0] * n / m))

    def __str__(self) -> str:
        (a, da), (c, dc) = self.a, self.c
        return (
            f"T = ({a:.3f} ± {da:.3f}) N / (1 + ({c:.2f} ± {dc:.2f}) N / M), to within "
            f"{_percent(self.spread)}"
        )


Law = PowerLaw | SaturatingLaw


def _percent(spread: float) -> str:
    """A spread in whole percent, never rounded down to none."""
    return f"{max(spread, 0.01):.0%}"


def fit_law(capacities: Sequence[Capacity]) -> Law | None:
    """Fit laws to capacities and return the one that explains them better, by Akaike's criterion.

    This is a power law in those of N, M and the number of sequences that vary, or, where N and M
    vary alone, one that saturates, if both its parts differ from zero. Capacities that are lower
    bounds, or 1, are left out; None if there are too few for a fit: a law needs two more of them
    than it has numbers.
    """
    good = [c for c in capacities if not c.at_least and c.t > 1]
    names = [name for name in _SYMBOLS if len({c.settings[name] for c in good}) > 1]
    if (
        not names
        or len(good) < len(names) + 3
        or any(c.settings[name] is None for c in good for name in names)
    ):
        return None
    T = np.array([c.t for c in good], dtype=np.float64)
    # An interval of +-1.96 standard errors of log T; no capacity counts more than one that is known
    # to 2 %.
    sigma = np.array([max(math.log(c.high / max(c.low, 1)) / 3.92, 0.02) for c in good])
    laws: list[tuple[float, Law]] = [_power(good, names, T, sigma)]
    if names == ["n", "m"]:
        laws.append(_saturating(good, T, sigma))
    return min(laws, key=lambda pair: pair[0])[1]


def _power(
    good: Sequence[Capacity], names: list[str], T: Floats, sigma: Floats
) -> tuple[float, Law]:
    """A power law, and its criterion."""
    A = np.array([[1.0, *(math.log(c.settings[name]) for name in names)] for c in good])
    values, errors = _least_squares(A, np.log(T), sigma)
    spread, criterion = _quality(A @ values, T, sigma, len(values))
    exponents = {
        name: (float(values[k]), float(errors[k])) for k, name in enumerate(names, start=1)
    }
    return criterion, PowerLaw(math.exp(values[0]), exponents, spread)


def _saturating(good: Sequence[Capacity], T: Floats, sigma: Floats) -> tuple[float, Law]:
    """A law that saturates, and its criterion: 1/T = (1/a) / N + (c/a) / M."""
    A = np.array([[1.0 / c.settings["n"], 1.0 / c.settings["m"]] for c in good])
    values, errors = _least_squares(A, 1 / T, sigma / T)
    if np.any(
        values <= 1.96 * errors
    ):  # a part that may as well be zero: then nothing is seen to saturate
        return math.inf, SaturatingLaw((0.0, 0.0), (0.0, 0.0), math.inf)
    spread, criterion = _quality(-np.log(A @ values), T, sigma, len(values))
    relative = errors / values
    a, c = 1 / values[0], values[1] / values[0]
    return criterion, SaturatingLaw(
        (float(a), float(a * relative[0])), (float(c), float(c * np.hypot(*relative))), spread
    )


def _least_squares(A: Floats, y: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """Weighted least squares: values and standard errors, larger where the scatter exceeds
    `sigma`.
    """
    weighted = A / sigma[:, None]
    values, *_ = np.linalg.lstsq(weighted, y / sigma, rcond=None)
    scale = max(1.0, float(np.sum(((y - A @ values) / sigma) ** 2)) / (len(y) - len(values)))
    return values.astype(np.float64), np.sqrt(np.diag(np.linalg.inv(weighted.T @ weighted)) * scale)


def _quality(log_law: Floats, T: Floats, sigma: Floats, n_values: int) -> tuple[float, float]:
    """The typical ratio to the law, less 1, and Akaike's criterion."""
    residuals = np.log(T) - log_law
    return math.expm1(float(np.sqrt(np.mean(residuals**2)))), float(
        np.sum((residuals / sigma) ** 2)
    ) + 2 * n_values


@dataclass(frozen=True, repr=False)
class CapacityMap(Result):
    """Capacities of every combination of networks and sizes, and laws that they follow."""

    _drawn_by = "capacity_map"
    groups: list[list[Capacity]]
    """Capacities to which one law may apply: those of one network at one level of flips."""
    laws: list[Law | None]
    """The law of each group, None where there are too few for a fit."""

    def describe(self) -> str:
        """Describe every capacity, and the laws."""
        lines = []
        for group, law in zip(self.groups, self.laws, strict=True):
            lines += [each.describe() for each in group] + (
                [f"Law: {law}."] if law is not None else []
            )
        return "\n".join(lines)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each capacity: settings, capacity and interval, and the prediction of
        the law.
        """
        pairs = [
            (row, law)
            for group, law in zip(self.groups, self.laws, strict=True)
            for each in group
            for row in each.rows()
        ]
        keys = list(dict.fromkeys(key for row, _ in pairs for key in row))
        return [
            {key: row.get(key) for key in keys} | {"law": law and round(law(row), 1)}
            for row, law in pairs
        ]


def measure_capacity(
    network: Networks = "attractor",
    *,
    n: int | list[int] = 100,
    m: int | list[int] | None = None,
    sequences: int | list[int] = 1,
    flips: int | str | list[int | str] = "10%",
    success: float = 0.95,
    precision: float = 0.1,
    max_trials: int = 200,
    t_max: int = 2000,
    seed: int = 0,
    jobs: int = 1,
    dask: str | None = None,
    study: str | os.PathLike[str] | None = None,
    files: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    verbose: bool = False,
    **settings: Any,
) -> CapacityMap:
    """Find the longest sequence T that a network retrieves at a given rate of success, with a 95 %
    interval.

    Lists give a map: every combination is searched, and a law of N and M is fitted. Trials go where
    they are most informative.

    Parameters
    ----------
    network : str, SequenceMemory, class, list of these, or dict of str to SequenceMemory
        Short names, and networks of yours, as in `compare`: they are copied and need not be fitted.
    n, sequences : int or list
        N, and the number of sequences, all of length T.
    m : int or list, optional
        M, hidden neurons of networks under short names; by default 500. If it varies, also of those
        of yours that have a parameter `n_hidden`, which else have their own.
    flips : int, str or list
        Flipped units in the cue: a percentage of N such as "10%", or a number.
    success : float
        The rate asked for, between 0 and 1.
    precision : float
        A search ends when the ends of its interval differ by this fraction,
    max_trials : int
        or after this many trials.
    t_max : int
        The longest sequence to try.
    seed : int
    jobs : int
        Processes; 1 for this one.
    dask : str, optional
        The address of a Dask scheduler, or "local" for a cluster of `jobs` workers on this machine.
    study : str or path, optional
        A file in which every trial is saved as it finishes; the same call then does only what is
        missing.
    files : list of str
        Python files with networks of your own, which join the others.
    progress : callable, optional
        Called with a `seqattractor.study.Progress` whenever trials are over.
    verbose : bool
        Show a bar: on a terminal and in a notebook; elsewhere a line now and then.
    **settings
        Any other setting of a trial, or parameter of the networks under short names, one value
        each.

    Returns
    -------
    CapacityMap

    Examples
    --------
    >>> measure_capacity("hebbian", n=30, flips=1, max_trials=20)
    CapacityMap: hebbian, N = 30, 1 flip: T = 6 (1 to 31), 20 trials

    A network with settings of your own:

    >>> import seqattractor as sa
    >>> found = measure_capacity(sa.SequenceAttractor(60, kappa=0.5), n=20, max_trials=4)
    >>> found.rows()[0]["network"], found.rows()[0]["m"], found.rows()[0]["flips"]
    ('SequenceAttractor', 60, 2)
    """
    chosen = choose_networks(network, files)
    own = {name: each for name, each in chosen.items() if isinstance(each, Brought)}
    if "trials" in settings:
        raise ValueError(
            "a search decides by itself how many trials it does; max_trials limits them."
        )
    for key in settings:
        if key not in DEFAULTS and own.keys() == chosen.keys():
            raise ValueError(
                f"{key} is no setting of a trial; parameters of a network of yours are set in the "
                "network itself."
            )
    lists: dict[str, list[Any]] = {
        name: list(value) if isinstance(value, (list, tuple)) else [value]
        for name, value in (("n", n), ("m", m), ("sequences", sequences), ("flips", flips))
    }
    options: dict[str, Any] = {
        "success": success,
        "precision": precision,
        "max_trials": max_trials,
        "t_max": t_max,
    }
    searches: dict[str, Search] = {}
    groups: dict[tuple[Any, Any], list[str]] = {}
    for name, *sizes in itertools.product(chosen, *lists.values()):
        given = dict(zip(lists, sizes, strict=True))
        of_network = {
            key: value for key, value in settings.items() if name not in own or key in DEFAULTS
        }
        if given["m"] is None or (name in own and len(lists["m"]) == 1):
            del given["m"]
        flipped = as_flips(given["flips"], check_count(given["n"], "n"))
        search = Search(
            {"network": name} | given | {"flips": flipped} | of_network,
            seed=seed,
            brought=own.get(name),
            **options,
        )
        if search.point.key not in searches:
            searches[search.point.key] = search
            groups.setdefault((name, sizes[-1]), []).append(search.point.key)
    rehearse_all(own, max(lists["n"]), elsewhere=jobs > 1 or dask is not None)
    executor = choose_executor(min(jobs, 4 * len(searches)), dask)
    with Store(study) as store, also_shown("capacity", progress, verbose) as tell:
        results = dict(
            zip(
                searches,
                capacities(list(searches.values()), store, executor, progress=tell),
                strict=True,
            )
        )
    grouped = [[results[key] for key in keys] for keys in groups.values()]
    return CapacityMap(grouped, [fit_law(group) for group in grouped])


# trials at one length before the next is chosen; fixed, so that a result does not depend on the
# number of workers
_BATCH = 4
_SURE = (
    0.98  # of the curve, for an interval of 95 %: true curves are not quite of the assumed shape
)
# has no parameters that a grid could set: what is left to check are the settings of the trial
_STAND_IN = "lookup"
_FIRST_REACH = (
    32  # the longest sequence to start with; from then on twice the longest that was retrieved
)


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
    """Whether even the longest sequences that were allowed are retrieved, so that the true one is
    larger.
    """
    tried: dict[int, tuple[int, int]]
    """Successes and trials at each length."""
    curve: SuccessCurve
    """Beliefs about success at any length after the trials."""
    limits: list[Limit] = field(default_factory=list)
    """What theory says about networks of this kind and size, on random patterns."""

    def describe(self) -> str:
        """Describe the capacity and its interval."""
        s = self.settings
        hidden = f", M = {s['m']}" if s["m"] is not None else ""
        several = f", {s['sequences']} sequences" if s["sequences"] > 1 else ""
        length = f"at least {self.t}" if self.at_least else f"{self.t} ({self.low} to {self.high})"
        flips = f"{s['flips']} flip{'' if s['flips'] == 1 else 's'}"
        none = " (no length reaches this rate)" if self.t < 2 else ""
        return (
            f"{s['network']}, N = {s['n']}{hidden}{several}, {flips}: T = {length}{none}, "
            f"{self.trials} trials."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return it as a row: settings, capacity and interval."""
        names = ("success", "t", "low", "high", "at_least", "trials")
        return [self.settings | {name: getattr(self, name) for name in names}]


@dataclass(eq=False, repr=False)
class Search:
    """One search for a capacity: asks for trials, takes their outcomes, and ends when it has
    enough.

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
        A network of the user's, which the settings then call by a name of its own; "m" is set where
        the settings have it.

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
        self.precision, self.max_trials = (
            check_positive(self.precision, "precision"),
            check_count(self.max_trials, "max_trials"),
        )
        self.point = self._point(self.settings)
        self.curve = SuccessCurve(self.success, self.t_max)
        self.tried: Counter[int] = Counter()
        self.right: Counter[int] = Counter()
        self.over = False
        self._length = 0
        self._batch: list[bool] = []
        self._waiting = 0

    def at(self, length: int) -> Point:
        """Return the point of the trials at a length."""
        return self._point(self.settings | {"t": length})

    def _point(self, settings: dict[str, Any]) -> Point:
        """Check settings, and give the point that they are."""
        own = self.brought
        (point,) = Grid(settings | ({"network": _STAND_IN} if own else {}), seed=self.seed).points()
        if own is None:
            return point
        hidden = (
            {"m": settings["m"]}
            if "m" in settings and "n_hidden" in own.description["parameters"]
            else {}
        )
        return Point(point.protocol, point.settings | hidden | {"network": own}, point.seed)

    @property
    def n_trials(self) -> int:
        """How many trials have finished."""
        return self.tried.total()

    def next_trials(self) -> list[Trial]:
        """Ask for the next trials, all of one length; nothing while some of the last are still
        out.
        """
        if self._waiting:
            return []
        reach = max([_FIRST_REACH, *(2 * t for t, right in self.right.items() if right)])
        self._length = self._open_end() or self.curve.best_length(reach)
        point = self.at(self._length)
        self._batch, self._waiting = [], min(_BATCH, self.max_trials - self.n_trials)
        return [Trial(point, self.tried[self._length] + k) for k in range(self._waiting)]

    def tell(self, finished: Finished) -> None:
        """Take in a trial that is over; once the last of a batch is there, learn from it."""
        if finished.outcome is None:
            raise ValueError(
                f"a trial with sequences of {self._length} patterns failed: {finished.error}"
            )
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
        """The interval of the capacity and the median, with the ends moved outwards to lengths that
        were tried.

        Between a length with a success and one with a failure only the assumed shape of the curve
        determines its end; a steep one may end anywhere.
        """
        low, median, high = self.curve.capacity(_SURE)
        below = max((t for t in self.tried if t <= low and self.right[t]), default=1)
        above = min(
            (t - 1 for t, n in self.tried.items() if t > high and self.right[t] < n),
            default=math.floor(high),
        )
        # An end within a pattern of a length that was tried stays where it is.
        return (
            low if below == math.floor(low) else below,
            median,
            high if above == math.floor(high) else above,
        )

    def _narrow(self, low: float, high: float) -> bool:
        """Whether an interval is as narrow as was asked for."""
        return high <= low * (1 + self.precision) or int(low) == int(high)

    def _open_end(self) -> int | None:
        """A length to try where the curve is known well enough, and the interval is wide only since
        its ends were not tried.
        """
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
            self._limits(),
        )

    def _limits(self) -> list[Limit]:
        """What theory says, if patterns are random."""
        settings = dict(self.point.settings)
        given = DEFAULTS | settings
        if given["correlation"] or given["pattern_bias"]:
            return []
        if self.brought is not None:
            settings["network"] = self.brought.network
        net = network_of(settings, np.random.default_rng(self.seed))
        return limits(net, given["n"], sequences=given["sequences"], success=self.success)


def capacities(
    searches: Sequence[Search],
    store: Store,
    executor: Executor,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> list[Capacity]:
    """Run searches side by side. Trials of this code that the study has are not done again.

    Parameters
    ----------
    searches : sequence of Search
    store : Store
        Where trials are saved.
    executor : Executor
    progress : callable, optional
        Called with how many trials are over, and how many there may be at most.

    Returns
    -------
    list of Capacity
        In the order of the searches; the same with any executor.
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

    with closing(executor(wanted())) as results:
        for finished in results:
            check_code(finished)
            store.add(finished, replace=True)
            for each in finished:
                owner.pop(each.trial.key).tell(each)
            if progress is not None:
                most = sum(s.n_trials if s.over else s.max_trials for s in searches)
                progress(Progress(sum(s.n_trials for s in searches), 0, most))
    return [search.result() for search in searches]
