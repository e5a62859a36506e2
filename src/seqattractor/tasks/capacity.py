"""Find how long a sequence networks store: one search, or a map of them with the law that it follows."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from seqattractor._checks import check_count
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes, on_grid
from seqattractor._progress import also_shown
from seqattractor.study.capacity import Capacity, Search, capacities
from seqattractor.study.laws import Law, fit_law
from seqattractor.study.run import Progress, choose_executor
from seqattractor.study.settings import DEFAULTS, as_flips
from seqattractor.study.store import Store
from seqattractor.study.user_networks import Brought
from seqattractor.tasks.compare import Networks, choose_networks, rehearse_all

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
    """Find the longest sequence T that a network retrieves at a given rate of success, with a 95 % interval.

    Lists give a map: every combination is searched, and a law of N and M is fitted. Trials go where they are most informative.

    Parameters
    ----------
    network : str, SequenceMemory, class, list of these, or dict of str to SequenceMemory
        Short names, and networks of yours, as in `compare`: they are copied and need not be fitted.
    n, sequences : int or list
        N, and the number of sequences, all of length T.
    m : int or list, optional
        M, hidden neurons of networks under short names; by default 500. If it varies, also of those of yours that have a
        parameter `n_hidden`, which else keep their own.
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
        A file in which every trial is kept as it finishes; the same call then does only what is missing.
    files : list of str
        Python files with networks of your own, which join the others.
    progress : callable, optional
        Called with a `seqattractor.study.Progress` whenever trials are over.
    verbose : bool
        Show a bar: on a terminal and in a notebook; elsewhere a line now and then.
    **settings
        Any other setting of a trial, or parameter of the networks under short names, one value each.

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
        raise ValueError("a search decides by itself how many trials it does; max_trials limits them.")
    for key in settings:
        if key not in DEFAULTS and own.keys() == chosen.keys():
            raise ValueError(f"{key} is no setting of a trial; parameters of a network of yours are set in the network itself.")
    lists: dict[str, list[Any]] = {
        name: list(value) if isinstance(value, (list, tuple)) else [value]
        for name, value in (("n", n), ("m", m), ("sequences", sequences), ("flips", flips))
    }
    options: dict[str, Any] = {"success": success, "precision": precision, "max_trials": max_trials, "t_max": t_max}
    searches: dict[str, Search] = {}
    groups: dict[tuple[Any, Any], list[str]] = {}
    for name, *sizes in itertools.product(chosen, *lists.values()):
        given = dict(zip(lists, sizes, strict=True))
        of_network = {key: value for key, value in settings.items() if name not in own or key in DEFAULTS}
        if given["m"] is None or (name in own and len(lists["m"]) == 1):
            del given["m"]
        flipped = as_flips(given["flips"], check_count(given["n"], "n"))
        search = Search({"network": name} | given | {"flips": flipped} | of_network, seed=seed, brought=own.get(name), **options)
        if search.point.key not in searches:
            searches[search.point.key] = search
            groups.setdefault((name, sizes[-1]), []).append(search.point.key)
    rehearse_all(own, max(lists["n"]), elsewhere=jobs > 1 or dask is not None)
    executor = choose_executor(min(jobs, 4 * len(searches)), dask)
    with Store(study) as store, also_shown("capacity", progress, verbose) as tell:
        results = dict(zip(searches, capacities(list(searches.values()), store, executor, progress=tell), strict=True))
    grouped = [[results[key] for key in keys] for keys in groups.values()]
    return CapacityMap(grouped, [fit_law(group) for group in grouped])
