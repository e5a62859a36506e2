"""Compare networks on one test, with the same sequences and the same cues for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqattractor._checks import check_count, check_kind
from seqattractor._progress import also_shown
from seqattractor._suggest import no_such
from seqattractor.experiments._comparison import Comparison
from seqattractor.experiments._comparison_tests import ComparisonTest, get_test
from seqattractor.experiments._comparison_trial import TASKS, make_prototype, place_of
from seqattractor.experiments._conclusion import Row
from seqattractor.experiments._protocol import Point, Protocol, Rounds, Trial
from seqattractor.experiments._run import Progress, choose_executor, run_trials
from seqattractor.experiments._store import Store
from seqattractor.experiments._user_networks import Brought, import_files
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._registry import FAMILIES, REGISTRY, parameters_of

COMPARISON = Protocol("compare", "seqattractor.experiments._comparison_trial:run_comparison_trial", place_of)
"""One network learns and recalls the sequences of a test."""


def compare(
    protocol: str = "random",
    networks: Iterable[str] | Mapping[str, SequenceMemory] | None = None,
    *,
    values: Iterable[Any] | None = None,
    trials: int | None = None,
    n_hidden: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    dask: str | None = None,
    study: str | os.PathLike[str] | None = None,
    files: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    verbose: bool = False,
) -> Comparison:
    """Compare networks on one test, with the same sequences and cues for all of them.

    Parameters
    ----------
    protocol : str
        The test: random, noise, recall-noise, correlated, multi, context, digits or walker.
    networks : list of str, or dict of str to SequenceMemory, optional
        Short names, families ("paper", "ours", "rival", "yardstick") or "all"; or networks that are not fitted, under names of
        your choice, which take part as they are. By default a choice of those that are quick.
    values : list, optional
        Along the axis of the test; numbers are put in order, "number x length" of multi is to be given with easy ones first.
    trials : int, optional
        At each value.
    n_hidden : int, optional
        Hidden neurons of networks under short names that have some; by default what the paper takes for the task.
    seed : int
    jobs : int
        Processes; 1 for this one. Results do not depend on it; the seconds do, a little.
    dask : str, optional
        The address of a Dask scheduler, or "local" for a cluster of `jobs` workers on this machine.
    study : str or path, optional
        A file in which every trial is kept as it finishes; the same call then does only what is missing. Trials that other
        code did are done again.
    files : list of str
        Python files with networks of your own, which join the others.
    progress : callable, optional
        Called with a `seqattractor.experiments.Progress` whenever trials are over.
    verbose : bool
        Show a bar: on a terminal and in a notebook; elsewhere a line now and then.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> comparison = compare("random", ["hebbian", "lookup"], values=[5, 40], trials=3)
    >>> [(row["network"], row["value"], row["successes"]) for row in comparison.rows()]
    [('hebbian', 5, 3), ('lookup', 5, 3), ('hebbian', 40, 0), ('lookup', 40, 3)]
    """
    test = get_test(protocol)
    chosen = choose_networks(networks, files)
    along = _along(test, values)
    each = test.trials if trials is None else check_count(trials, "trials")
    if not along or not chosen:
        raise ValueError(f"a comparison needs at least one network and one value, not {len(chosen)} and {len(along)}.")
    hidden = test.n_hidden if n_hidden is None else check_count(n_hidden, "n_hidden")
    own = {name: network for name, network in chosen.items() if isinstance(network, Brought)}
    if jobs > 1 or dask is not None:
        for network in own.values():
            _ = network.packed  # refuses what cannot be sent to workers, before there are any
    points = {name: _points(test, along, network, hidden, seed) for name, network in chosen.items()}
    with Store(study) as store, also_shown(f"compare {test.name}", progress, verbose) as tell:
        wanted = Rounds((point, each) for group in zip(*points.values(), strict=True) for point in group)
        run_trials(wanted, store, choose_executor(jobs, dask), current=True, progress=tell)
        by_trial = [{name: _outcomes(store, group, k, along) for name, group in points.items()} for k in range(each)]
    by_value = {value: [{name: rows[at] for name, rows in trial.items()} for trial in by_trial] for at, value in enumerate(along)}
    described = {name: (own[name].network if name in own else make_prototype(name)).traits() for name in chosen}
    families = {name: REGISTRY[name].family for name in chosen if name not in own}
    return Comparison.of(test, by_value, described, seed=seed, n_hidden=hidden, families=families)


def default_networks() -> list[str]:
    """Give the short names of the networks that are compared where none are named."""
    return [name for name, entry in REGISTRY.items() if entry.by_default]


def choose_networks(
    networks: Iterable[str] | Mapping[str, SequenceMemory] | None, files: Sequence[str] = ()
) -> dict[str, str | Brought]:
    """Give the networks of a comparison by their names, in a fixed order: short names, and networks of the user's.

    Parameters
    ----------
    networks : as in `compare`
    files : list of str
        Files whose networks join the others.

    Returns
    -------
    dict of str to str or Brought
    """
    own = {name: Brought(network) for name, network in import_files(files).items()}
    if isinstance(networks, Mapping):
        for network in networks.values():
            check_kind(
                network, SequenceMemory, "each of the networks", "a SequenceMemory that is not fitted, or a short name in a list"
            )
        return {**{name: Brought(network) for name, network in networks.items()}, **own}
    named = [networks] if isinstance(networks, str) else default_networks() if networks is None else networks
    chosen = [each for name in named for each in ([name] if _is_among(name, own) else _group(name, own))]
    return {name: own.get(name, name) for name in [*chosen, *own]}


def _is_among(name: Any, own: Mapping[str, Brought]) -> bool:
    """Whether this is the name of one network."""
    return isinstance(name, str) and (name in REGISTRY or name in own)


def _group(name: Any, own: Mapping[str, Brought]) -> list[str]:
    """The short names of a family, or all of them."""
    if not isinstance(name, str) or name not in ("all", *FAMILIES):
        raise ValueError(no_such("network", name, [*REGISTRY, *own], groups=[*FAMILIES, "all"]))
    return [each for each, entry in REGISTRY.items() if name in ("all", entry.family)]


def _along(test: ComparisonTest, values: Iterable[Any] | None) -> list[Any]:
    """The values of a comparison, each once, after a check that the test can be made of each."""
    if values is None:
        return list(test.values)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    along = list(dict.fromkeys(test.easy_first(plain)))
    for value in along:
        TASKS[test.name](value, np.random.default_rng(0))
    return along


def _points(test: ComparisonTest, along: list[Any], network: str | Brought, n_hidden: int, seed: int) -> list[Point]:
    """What one network has to do: a point for each value, or one for all if it learns once."""
    brought = network if isinstance(network, Brought) else None
    settings: dict[str, Any] = {"test": test.name, "network": brought.description if brought else network}
    if isinstance(network, str) and "n_hidden" in parameters_of(network):
        settings["n_hidden"] = n_hidden
    places = [{"values": along}] if test.learns_once else [{"value": value} for value in along]
    return [Point(COMPARISON, settings | place, seed, brought) for place in places]


def _outcomes(store: Store, points: list[Point], number: int, along: list[Any]) -> list[Row]:
    """The outcomes of one network in one trial, one for each value, with their times."""
    rows: list[Row] = []
    for point in points:
        finished = store.get(Trial(point, number))
        assert finished is not None  # run_trials sees to it
        if finished.outcome is None:
            rows += [{"error": finished.error}] * (len(along) // len(points))
        else:
            rows += [row | times for row, times in zip(finished.outcome["outcomes"], finished.times or [], strict=True)]
    return rows
