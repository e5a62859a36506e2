"""Find how long a sequence networks store: one search, or a map of them with the law that it follows."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes, on_grid
from seqattractor._progress import also_shown
from seqattractor.experiments._capacity import Capacity, Search, capacities
from seqattractor.experiments._laws import Law, fit_law
from seqattractor.experiments._run import Progress, choose_executor
from seqattractor.experiments._settings import as_flips
from seqattractor.experiments._store import Store

_MEASURED = {
    "success": "rate of success that was asked for",
    "t": "longest sequence that is retrieved at that rate",
    "low": "lower end of its 95 % interval",
    "high": "upper end of its 95 % interval",
    "at_least": "whether even the longest sequences that were allowed are retrieved",
    "trials": "trials",
    "law": "what the fitted law says",
}
"""What a search finds, beside its settings."""


@dataclass(frozen=True, repr=False)
class CapacityMap(Result):
    """Capacities of every combination of networks and sizes, and laws that they follow."""

    _drawn_by = "capacity_map"
    groups: list[list[Capacity]]
    """Capacities to which one law may apply: those of one network at one level of flips."""
    laws: list[Law | None]
    """The law of each group, None where there are too few for a fit."""

    def describe(self) -> str:
        """Say every capacity, and the laws."""
        lines = []
        for group, law in zip(self.groups, self.laws, strict=True):
            lines += [each.describe() for each in group] + ([f"Law: {law}."] if law is not None else [])
        return "\n".join(lines)

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each capacity: settings, capacity and interval, and what the law says."""
        pairs = [(row, law) for group, law in zip(self.groups, self.laws, strict=True) for each in group for row in each.rows()]
        keys = list(dict.fromkeys(key for row, _ in pairs for key in row))
        return [{key: row.get(key) for key in keys} | {"law": law and round(law(row), 1)} for row, law in pairs]

    def _named_axes(self) -> NamedAxes:
        """Along the settings that differ between searches."""
        rows = self.rows()
        return on_grid(rows, [name for name in rows[0] if name not in _MEASURED], _MEASURED)


def capacity(
    network: str | list[str] = "attractor",
    *,
    n: int | list[int] = 100,
    m: int | list[int] = 500,
    sequences: int | list[int] = 1,
    flips: int | str | list[int | str] = 10,
    success: float = 0.95,
    precision: float = 0.1,
    max_trials: int = 200,
    t_max: int = 2000,
    seed: int = 0,
    jobs: int = 1,
    dask: str | None = None,
    study: str | os.PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    verbose: bool = False,
    **settings: Any,
) -> CapacityMap:
    """Find the longest sequence T that a network retrieves at a given rate of success, with a 95 % interval.

    Lists give a map: every combination is searched, and a law of N and M is fitted. Trials go where they are most informative.

    Parameters
    ----------
    network : str or list
        Short names of networks.
    n, m, sequences : int or list
        N, M, and the number of sequences, all of length T.
    flips : int, str or list
        Flipped units in the cue: a number, or a percentage of N such as "10%".
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
        A file in which every trial is kept as it finishes; the same call then does only what is missing.
    progress : callable, optional
        Called with a `seqattractor.experiments.Progress` whenever trials are over.
    verbose : bool
        Show a bar: on a terminal and in a notebook; elsewhere a line now and then.
    **settings
        Any other setting of a trial or parameter of the networks, one value each.

    Returns
    -------
    CapacityMap

    Examples
    --------
    >>> capacity("hebbian", n=30, flips=1, max_trials=20)
    CapacityMap: hebbian, N = 30, 1 flip: T = 6 (1 to 31), 20 trials
    """
    given: tuple[Any, ...] = (network, n, m, sequences, flips)
    options: dict[str, Any] = {"success": success, "precision": precision, "max_trials": max_trials, "t_max": t_max}
    searches: dict[str, Search] = {}
    groups: dict[tuple[Any, Any], list[str]] = {}
    for combination in itertools.product(*(value if isinstance(value, list) else [value] for value in given)):
        search = Search(_settings(*combination) | settings, seed=seed, **options)
        if search.point.key not in searches:
            searches[search.point.key] = search
            groups.setdefault((combination[0], combination[-1]), []).append(search.point.key)
    executor = choose_executor(min(jobs, 4 * len(searches)), dask)
    with Store(study) as store, also_shown("capacity", progress, verbose) as tell:
        results = dict(zip(searches, capacities(list(searches.values()), store, executor, progress=tell), strict=True))
    grouped = [[results[key] for key in keys] for keys in groups.values()]
    return CapacityMap(grouped, [fit_law(group) for group in grouped])


def _settings(network: str, n: int, m: int, sequences: int, flips: int | str) -> dict[str, Any]:
    """The settings of one search."""
    return {"network": network, "n": n, "m": m, "sequences": sequences, "flips": as_flips(flips, n)}
