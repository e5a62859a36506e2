"""Compare networks on one test, with the same sequences and the same cues for all."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from seqattractor._checks import check_choice, check_count, check_kind, say
from seqattractor._progress import also_shown
from seqattractor._suggest import no_such
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.registry import (
    FAMILIES,
    ON_REQUEST,
    REGISTRY,
    network_class,
    parameters_of,
    takes_hidden,
)
from seqattractor.sequences import Sequences, check_sequences, find_conflicts
from seqattractor.sequences._transitions import ConflictError, prepare
from seqattractor.study.comparison import Comparison, Row, listed, network_row
from seqattractor.study.comparison_trial import (
    TESTS,
    ComparisonTest,
    get_test,
    make_prototype,
    make_task,
    own_data_test,
    place_of,
    rehearse,
)
from seqattractor.study.continual import REHEARSALS, rehearsals_of
from seqattractor.study.protocol import Point, Protocol, Rounds, Trial
from seqattractor.study.run import Progress, choose_executor, run_trials
from seqattractor.study.settings import OWN_AXIS
from seqattractor.study.store import Store
from seqattractor.study.trial import Task
from seqattractor.study.tuning import Tuned, tuned
from seqattractor.study.user_networks import Brought, OwnData, import_files, own_modules, why_not

COMPARISON = Protocol(
    "compare", "seqattractor.study.comparison_trial:run_comparison_trial", place_of
)
"""One network learns and recalls the sequences of a test."""

Network = str | SequenceMemory | type[SequenceMemory]
Networks = Network | Iterable[Network] | Mapping[str, SequenceMemory]


def compare(
    protocol: str | None = None,
    networks: Networks | None = None,
    *,
    data: Sequences | ArrayLike | Sequence[ArrayLike] | str | os.PathLike[str] | None = None,
    n: int | Iterable[int] | None = None,
    m: int | Iterable[int] | None = None,
    t: int | Iterable[int] | None = None,
    flips: int | str | Iterable[int | str] | None = None,
    values: Iterable[Any] | None = None,
    rehearse: str | Iterable[str | None] | None = None,
    trials: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    dask: str | None = None,
    study: str | os.PathLike[str] | None = None,
    files: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
    verbose: bool = False,
) -> Comparison:
    """Compare networks on one test or on data of yours, with the same sequences and cues for all of
    them.

    One of `n`, `m`, `t`, `flips` and `values` may be a list: this is what varies, along the axis of
    the figure. Without one it is what the test is about, such as T in "random" and the flips where
    `data` are given.

    Parameters
    ----------
    protocol : str, optional
        The test: random (the default), noise, recall-noise, correlated, multi, context, digits,
        walker or continual. Not with `data`.
    networks : list of str, SequenceMemory and classes, or dict of str to SequenceMemory, optional
        Short names, families ("paper", "ours", "rival", "yardstick") or "all", with settings that
        were tuned by one rule for all; networks that are not fitted, which take part as they are,
        in a dict under names of your choice; a class stands for a network with its defaults. By
        default a choice of those that are quick.
    data : Sequences, array of +-1 of shape (T, N), list of these, or path, optional
        Sequences of yours, the same in every trial: chance decides only on the first weights of
        networks and on the cues. Where patterns occur again with other successors, networks that
        can look back do (``order="auto"``).
    n, t : int or list, optional
        N and T, the last pattern being the first again, of random sequences.
    m : int or list, optional
        M, hidden neurons of networks under short names that have some; by default what tuning
        chose, or else what the paper takes for the task. If it varies, also of those of yours that
        have a parameter `n_hidden`.
    flips : int, str or list, optional
        Flipped units of the cue: numbers, or percentages of N such as "10%".
    values : list, optional
        Along the test's own axis; numbers are put in order, "number x length" of multi is to be
        given with easy ones first.
    rehearse : str or list, optional
        In "continual", what networks rehearse that can: "none", "self", "cues" or "patterns", as in
        their `add`. Each takes part once for each; by default all but "patterns".
    trials : int, optional
        At each value.
    seed : int
    jobs : int
        Processes; 1 for this one. Results do not depend on it; the seconds do, a little.
    dask : str, optional
        The address of a Dask scheduler, or "local" for a cluster of `jobs` workers on this machine.
    study : str or path, optional
        A file in which every trial is saved as it finishes; the same call then does only what is
        missing. Trials that other code did are done again; those of other data are other trials.
    files : list of str
        Python files with networks of your own, which join the others.
    progress : callable, optional
        Called with a `seqattractor.study.Progress` whenever trials are over.
    verbose : bool
        Show a bar: on a terminal and in a notebook; elsewhere a line now and then.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If a network of yours cannot learn and recall ten random patterns: with its class, method,
        file and line, and before any trial.

    Examples
    --------
    >>> comparison = compare("random", ["hebbian", "lookup"], values=[5, 40], trials=3)
    >>> [(row["network"], row["value"], row["successes"]) for row in comparison.rows()]
    [('hebbian', 5, 3), ('lookup', 5, 3), ('hebbian', 40, 0), ('lookup', 40, 3)]

    A question of your own, and data of your own:

    >>> compare(networks=["hebbian", "attractor"], n=50, t=10, m=[50, 100], flips="10%", trials=2)
    Comparison: 2 networks, hidden neurons M 100 to 50; down to 50: attractor
    >>> X = [[1, 1, -1, -1], [-1, 1, 1, -1], [-1, -1, 1, 1], [1, -1, -1, 1]]
    >>> compare(data=X, networks=["lookup"], flips=[0, 1], trials=2).row("lookup", 0)["successes"]
    1

    Loops that a network learns one after another:

    >>> found = compare("continual", ["perceptron"], t=6, n=50, values=[1, 3], trials=2)
    >>> [(row["network"], row["stored"]) for row in found.rows() if row["value"] == 3]
    [('perceptron (none)', 1.0), ('perceptron (self)', 3.0), ('perceptron (cues)', 3.0)]
    """
    own_data = None if data is None else read_data(data)
    test = _choose_test(protocol, own_data, n=n, m=m, t=t, flips=flips, values=values)
    each = test.trials if trials is None else check_count(trials, "trials")
    chosen = choose_networks(networks, files)
    ways = _rehearsals(rehearse, test.name)
    if ways and networks is None:
        chosen = {name: each for name, each in chosen.items() if rehearsals_of(_class_of(each))}
    if not test.values or not chosen:
        raise ValueError(
            f"a comparison needs at least one network and one value, not {len(chosen)} and "
            f"{len(test.values)}."
        )
    brought = (
        None
        if own_data is None
        else OwnData(own_data.patterns, own_data.lengths, closed=all(own_data.loops))
    )
    plan = _Plan(test, brought, seed)
    tasks = [plan.task(value) for value in plan.values]  # raises if the test cannot be made of one
    own = {name: network for name, network in chosen.items() if isinstance(network, Brought)}
    rehearse_all(own, tasks[-1].X.shape[1], elsewhere=jobs > 1 or dask is not None)
    entrants = {
        label: (network, how)
        for name, network in chosen.items()
        for label, how in _labels(name, network, ways).items()
    }
    points = {label: plan.points(*entrant) for label, entrant in entrants.items()}
    with Store(study) as store, also_shown(f"compare {test.name}", progress, verbose) as tell:
        wanted = Rounds(
            (point, each) for group in zip(*points.values(), strict=True) for point in group
        )
        run_trials(wanted, store, choose_executor(jobs, dask), current=True, progress=tell)
        by_trial = [
            {name: plan.outcomes(store, group, k) for name, group in points.items()}
            for k in range(each)
        ]
    by_value = {
        value: [{name: rows[at] for name, rows in trial.items()} for trial in by_trial]
        for at, value in enumerate(test.values)
    }
    return Comparison.of(
        test,
        by_value,
        [plan.describe(label, network) for label, (network, _) in entrants.items()],
        seed=seed,
        data=None if brought is None else brought.description | {"length": brought.length},
        certain=plan.certain(chosen),
    )


def read_data(data: Any) -> Sequences:
    """Return what a user wants to compare networks on as sequences, loops closed for as large a
    context as they need.
    """
    if isinstance(data, (str, os.PathLike)):
        from seqattractor.io._load import load

        data = load(data)
    if not isinstance(data, Sequences):
        X, lengths = check_sequences(data)
        data = Sequences(X, lengths)
    check_sequences(data)  # of at least two patterns each
    sequences: Sequences = data
    with suppress(ConflictError):  # no context resolves it: networks raise this themselves, or try
        sequences = prepare(sequences, "auto")
    return sequences


def _choose_test(protocol: str | None, data: Sequences | None, **sizes: Any) -> ComparisonTest:
    """The test that the user wants, with the sizes that the user wants."""
    if data is None:
        return get_test("random" if protocol is None else protocol).ask(**sizes)
    if protocol is not None:
        raise ValueError(
            "give a protocol or data, not both: with data of yours there is nothing to draw for "
            f"{say(protocol)}."
        )
    names = [name for name in data.names if not name.startswith("sequence ")]
    name = listed(names[:3]) if 0 < len(names) <= 3 else "your data"
    return own_data_test(data, name=name).ask(**sizes)


def rehearse_all(own: Mapping[str, Brought], n_units: int, *, elsewhere: bool) -> None:
    """Let networks that run code of the user's learn and recall a little, so that mistakes show
    before anything is computed.
    """
    for name, network in own.items():
        if elsewhere:
            _ = network.packed  # raises if it cannot be sent to workers
        if not own_modules(network.network):
            continue
        try:
            rehearse(network.network, n_units)
        except ValueError as error:
            whose = "" if str(error).startswith(name) else f"the network {name}: "
            raise ValueError(f"{whose}{error}") from error.__cause__


def _rehearsals(rehearse: str | Iterable[str | None] | None, protocol: str) -> list[str]:
    """Return what networks are to rehearse; nothing except where sequences come in turn."""
    if protocol != "continual":
        if rehearse is not None:
            raise ValueError(f"rehearse is for the protocol 'continual', not for {protocol!r}.")
        return []
    if rehearse is None:
        return [each for each in REHEARSALS if each != "patterns"]
    asked = [rehearse] if isinstance(rehearse, str) else list(rehearse)
    ways = ["none" if each is None else each for each in asked]
    for each in ways:
        check_choice(each, "rehearse", REHEARSALS)
    return list(dict.fromkeys(ways))


def _class_of(network: str | Brought) -> type[SequenceMemory]:
    """Return the class of a network."""
    return network_class(network) if isinstance(network, str) else type(network.network)


def _labels(
    name: str, network: str | Brought, ways: Sequence[str]
) -> dict[str, dict[str, str | None]]:
    """Return the names under which a network takes part, and what it rehearses under each; one that
    can rehearse nothing takes part once.
    """
    able = rehearsals_of(_class_of(network))
    if not ways or len(able) < 2:
        return {name: {}}
    return {f"{name} ({way})": {"rehearse": None if way == "none" else way} for way in ways}


class _Plan:
    """What is to be done for a test."""

    def __init__(self, test: ComparisonTest, data: OwnData | None, seed: int) -> None:
        self.test, self.data, self.seed = test, data, seed
        own, usual = OWN_AXIS[test.name], TESTS.get(test.name)
        # M is no part of a task: where it varies, the test stands at one value of its own axis.
        self.axis = own if test.varies == "m" else test.varies
        self.values = [test.sizes[own]] if test.varies == "m" else list(test.values)
        others = {name: value for name, value in test.sizes.items() if name != self.axis}
        known = {} if usual is None else usual.sizes
        self.sizes = {
            name: value
            for name, value in others.items()
            if self.axis != own or known.get(name, value) != value
        }
        self.settings: dict[str, Any] = {"test": test.name}
        if self.axis != own:
            self.settings["axis"] = self.axis
        if self.sizes:
            self.settings["sizes"] = self.sizes

    def task(self, value: Any) -> Task:
        """The sequences of some trial at a value."""
        data = {} if self.data is None else {"data": self.data}
        return make_task(self.settings | data, value, np.random.default_rng(0))

    def tuned(self, name: str) -> Tuned:
        """What was tuned of a network under a short name, for sequences like these."""
        return tuned(name, "context" if self.repeats else self.test.name)

    @cached_property
    def repeats(self) -> bool:
        """Whether data of the user's have patterns with two successors."""
        return self.data is not None and bool(find_conflicts(self.data.patterns, self.data.lengths))

    def parameters(self, name: str) -> dict[str, Any]:
        """The setting of a network under a short name: as tuned, with the M that was asked for, or
        else that of the test.
        """
        chosen = dict(self.tuned(name).parameters)
        hidden = {"n_hidden": self.test.n_hidden} if takes_hidden(name) else {}
        return chosen | hidden if self.test.m_asked else hidden | chosen

    def describe(self, label: str, network: str | Brought) -> Row:
        """The row of a network in the comparison."""
        if isinstance(network, Brought):
            return network_row(label, network.network.traits(), hidden=self.hidden(network))
        asked = "; M as asked for" if self.test.m_asked and takes_hidden(network) else ""
        return network_row(
            label,
            make_prototype(network, self.parameters(network)).traits(),
            family=REGISTRY[network].family,
            setting=f"{self.tuned(network).origin}{asked}",
            hidden=self.hidden(network),
        )

    def hidden(self, network: str | Brought) -> int | None:
        """How many hidden neurons a network gets here; one of the user's only where M varies."""
        if isinstance(network, str):
            return self.parameters(network).get("n_hidden")
        varies = self.test.varies == "m" and "n_hidden" in network.network.get_params(deep=False)
        return self.test.n_hidden if varies else None

    def points(self, network: str | Brought, how: Mapping[str, str | None]) -> list[Point]:
        """What one network has to do: a point for each value, or one for all if it learns once."""
        settings = self.settings | {"network": network, **how}
        if self.data is not None:
            settings["data"] = self.data
        places: list[dict[str, Any]] = (
            [{"values": self.values}]
            if self.test.learns_once
            else [{"value": v} for v in self.values]
        )
        parameters = self.parameters(network) if isinstance(network, str) else {}
        if self.test.varies == "m":
            (place,) = places
            sized = self.hidden(network) is not None
            each = [parameters | ({"n_hidden": m} if sized else {}) for m in self.test.values]
            places = [place | ({"parameters": one} if one else {}) for one in each]
        elif parameters:
            places = [place | {"parameters": parameters} for place in places]
        return [Point(COMPARISON, settings | place, self.seed) for place in places]

    def outcomes(self, store: Store, points: list[Point], number: int) -> list[Row]:
        """The outcomes of one network in one trial, one for each value, with their times."""
        rows: list[Row] = []
        for point in points:
            finished = store.get(Trial(point, number))
            assert finished is not None  # run_trials sees to it
            if finished.outcome is None:
                rows += [{"error": finished.error}] * (len(self.test.values) // len(points))
            else:
                rows += [
                    row | times
                    for row, times in zip(
                        finished.outcome["outcomes"], finished.times or [], strict=True
                    )
                ]
        return rows

    def certain(self, chosen: Mapping[str, str | Brought]) -> set[tuple[str, Any]]:
        """Which networks at which values do the same in every trial: without random weights, on the
        user's data as they are.

        What a network of the user's draws is not known.
        """
        if self.data is None:
            return set()
        fixed = [
            name
            for name, network in chosen.items()
            if isinstance(network, str) and "random_state" not in parameters_of(network)
        ]
        clean = [
            v
            for v in self.test.values
            if (v if self.test.varies == "flips" else self.test.sizes["flips"]) == 0
        ]
        return {(name, value) for name in fixed for value in clean}


def choose_networks(
    networks: Networks | None, files: Sequence[str] = ()
) -> dict[str, str | Brought]:
    """Return the networks of a comparison (as in `compare`, joined by those in `files`) by name, in
    a fixed order.
    """
    own = {name: Brought(network) for name, network in import_files(files).items()}
    if isinstance(networks, Mapping):
        return {
            **{name: Brought(_as_network(network)) for name, network in networks.items()},
            **own,
        }
    if networks is None:
        networks = [name for name in REGISTRY if name not in ON_REQUEST]
    single = isinstance(networks, (str, SequenceMemory)) or inspect.isclass(networks)
    named: Iterable[Any] = [networks] if single else networks
    chosen: dict[str, str | Brought] = {}
    for each in named:
        if isinstance(each, SequenceMemory) or inspect.isclass(each):
            network = _as_network(each)
            name = type(network).__name__
            if name in chosen or name in own:
                raise ValueError(
                    f"two networks are called {name}; give a dict with a name for each."
                )
            chosen[name] = Brought(network)
        else:
            known = isinstance(each, str) and (each in REGISTRY or each in own)
            chosen |= {
                name: own.get(name, name) for name in ([each] if known else _group(each, own))
            }
    return chosen | own


def _as_network(network: Any) -> SequenceMemory:
    """A network that could learn; a class stands for a network of it with its default
    parameters.
    """
    if inspect.isclass(network) and issubclass(network, SequenceMemory):
        if (why := why_not(network)) is not None:
            raise ValueError(why)
        return network()
    check_kind(
        network,
        SequenceMemory,
        "each of the networks",
        "a SequenceMemory that is not fitted, or a short name in a list",
    )
    return cast("SequenceMemory", network)


def _group(name: Any, own: Mapping[str, Brought]) -> list[str]:
    """The short names of a family, or all of them."""
    if not isinstance(name, str) or name not in ("all", *FAMILIES):
        raise ValueError(no_such("network", name, [*REGISTRY, *own], groups=[*FAMILIES, "all"]))
    return [each for each, entry in REGISTRY.items() if name in ("all", entry.family)]
