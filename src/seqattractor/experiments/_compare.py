"""All networks on one test, with the same sequences and the same cues for all."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from seqattractor.experiments._comparison import Comparison
from seqattractor.experiments._executors import process_pool
from seqattractor.experiments._protocols import DWELL, PROTOCOLS, Protocol, Task, count_recalled
from seqattractor.experiments._seeds import seed_of
from seqattractor.experiments._user_networks import import_files
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._registry import NAMES, make_network
from seqattractor.networks._traits import n_parameters, traits

__all__ = ["DEFAULT_NETWORKS", "Outcome", "chosen_networks", "compare", "compare_once", "get_protocol"]

DEFAULT_NETWORKS = (
    "attractor",
    "attractor-V",
    "sparse",
    "hebbian",
    "slow-synapses",
    "pseudo-inverse",
    "perceptron",
    "predictive",
    "dense",
    "dense-3",
    "dense-exponential",
    "dense-pseudo-inverse",
    "modern-hopfield",
    "mixed",
    "one-hot",
    "lookup",
)
"""Compared where none are named; predictive-2 is left to those who ask for it, since it takes minutes a trial."""

Outcome = dict[str, Any]
"""What one network did in one trial, or {"error": a sentence} if it could not take part."""

Progress = Callable[[int, int], None]
"""Called as ``progress(finished, total)``, counting trials."""


def compare(
    protocol: str = "random",
    networks: Sequence[str] | Mapping[str, SequenceMemory] | None = None,
    *,
    values: Sequence[Any] | None = None,
    trials: int | None = None,
    n_hidden: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    files: Sequence[str] = (),
    progress: Progress | None = None,
) -> Comparison:
    """Compare networks on one test, with the same sequences and cues for all of them.

    Parameters
    ----------
    protocol : str
        A key of `seqattractor.experiments.protocols.PROTOCOLS`: random, noise, recall-noise, correlated, multi, digits, walker.
    networks : list of str, or dict of str to SequenceMemory, optional
        Names, or networks that are not fitted with names of your choice. By default all of this package, and all classes of
        your own that derive from `SequenceMemory` and can be made without arguments.
    values : list, optional
        Along the axis of the protocol; numbers are put in order, "number x length" of multi is to be given with easy ones first.
    trials : int, optional
        At each value.
    n_hidden : int, optional
        Hidden neurons of networks of this package that have some; by default what the paper takes for the task.
    seed : int
    jobs : int
        Processes. What is found does not depend on it; the seconds do, a little.
    files : list of str
        Python files with networks of your own, which join the others.
    progress : callable, optional
        Called as ``progress(finished, total)``.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> found = compare("random", ["hebbian", "lookup"], values=[5, 40], trials=3)
    >>> [(row["network"], row["value"], row["successes"]) for row in found.rows]
    [('hebbian', 5, 3), ('lookup', 5, 3), ('hebbian', 40, 0), ('lookup', 40, 3)]
    """
    test = get_protocol(protocol)
    prototypes = chosen_networks(networks, n_hidden or test.n_hidden, files)
    along = tuple(dict.fromkeys(test.values if values is None else test.easy_first(values)))
    each = test.trials if trials is None else trials
    if each < 1 or not along or not prototypes:
        raise ValueError(
            f"a comparison needs at least one network, one value and one trial, not {len(prototypes)}, {len(along)} and {each}."
        )
    together = [along] if test.one_lesson else [(value,) for value in along]
    todo = [_Job(protocol, some, number, seed) for number in range(each) for some in together]
    outcomes: dict[tuple[Any, int], dict[str, Outcome]] = {}
    for job, found in _results(todo, prototypes, jobs, [str(f) for f in files]):
        outcomes |= {(value, job.number): outcome for value, outcome in found.items()}
        if progress is not None:
            progress(len(outcomes), each * len(along))
    ordered = {value: [outcomes[value, number] for number in range(each)] for value in along}
    described = {name: traits(net) for name, net in prototypes.items()}
    return Comparison.of(test, ordered, described, seed=seed, n_hidden=n_hidden or test.n_hidden)


def get_protocol(name: str) -> Protocol:
    """Give a protocol by its name.

    Examples
    --------
    >>> get_protocol("noise").axis
    'flipped units of the cue'
    """
    if name not in PROTOCOLS:
        raise ValueError(f"there is no protocol {name!r}; the protocols are {', '.join(PROTOCOLS)}.")
    return PROTOCOLS[name]


def chosen_networks(
    networks: Sequence[str] | Mapping[str, SequenceMemory] | None, n_hidden: int, files: Sequence[str] = ()
) -> dict[str, SequenceMemory]:
    """Make the networks of a comparison, none fitted, in a fixed order.

    Parameters
    ----------
    networks : as in `compare`
    n_hidden : int
        For networks of this package that have hidden neurons.
    files : list of str
        Files whose networks join the others.

    Returns
    -------
    dict of str to SequenceMemory
    """
    from_files = import_files(files)
    if isinstance(networks, Mapping):
        return {**networks, **from_files}
    own = from_files
    names = list(DEFAULT_NETWORKS) + list(own) if networks is None else [*networks, *from_files]
    chosen: dict[str, SequenceMemory] = {}
    for name in names:
        if name not in NAMES and name not in own:
            known = ", ".join([*NAMES, *own])
            raise ValueError(f"there is no network {name!r}; the networks are {known}.")
        chosen[name] = own[name] if name in own else make_network(name)
        if name not in own and "n_hidden" in chosen[name].get_params():
            chosen[name].set_params(n_hidden=n_hidden)
    return chosen


def compare_once(
    test: Protocol, value: Any, prototypes: Mapping[str, SequenceMemory], seed: np.random.SeedSequence
) -> dict[str, Outcome]:
    """Do one trial: draw sequences and cues once, and let every network learn and recall them.

    Parameters
    ----------
    test : Protocol
    value : of the axis
    prototypes : dict of str to SequenceMemory
        Not fitted; they stay so.
    seed : SeedSequence
        Sequences, networks and cues have streams of their own; all networks get the same.

    Returns
    -------
    dict of str to dict
        For each network what it did: ``success`` (all sequences recalled), ``recalled`` (how many of them), ``sequences``,
        ``one_step_error`` (fraction of wrong units one step after a stored pattern), ``epochs`` until one had no error (0 if
        nothing is learned, None if there was none), ``parameters``, and the times ``learn_seconds`` and ``recall_seconds``.
    """
    of_data, of_network, of_cue = seed.spawn(3)
    task = test.make(value, np.random.default_rng(of_data))
    return _trial({value: (task, of_cue)}, prototypes, of_network)[value]


Tasks = Mapping[Any, tuple[Task, np.random.SeedSequence]]
"""For each value of an axis the task, and the seed of its cues; all tasks have the same sequences."""


def _trial(
    tasks: Tasks, prototypes: Mapping[str, SequenceMemory], of_network: np.random.SeedSequence
) -> dict[Any, dict[str, Outcome]]:
    """Let every network learn once and recall from the cues of every value: outcomes by value, then by network."""
    state = int(of_network.generate_state(1)[0])
    found: dict[Any, dict[str, Outcome]] = {value: {} for value in tasks}
    for name, net in prototypes.items():
        for value, outcome in _take_part(net, tasks, state).items():
            found[value][name] = outcome
    return found


def _take_part(prototype: SequenceMemory, tasks: Tasks, state: int) -> dict[Any, Outcome]:
    """Let one network learn and recall; a refusal is part of the result."""
    net: SequenceMemory = clone(prototype)
    if net.get_params().get("random_state", 0) is None:
        net.set_params(random_state=state)
    lesson, _ = next(iter(tasks.values()))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # errors that are left are counted below
            started = time.perf_counter()
            net.fit(lesson.X, lesson.lengths)
            learned = time.perf_counter()
        of_lesson = {
            "one_step_error": float(net._wrong_units(net._shown(lesson.X, lesson.lengths)).mean()),
            "epochs": _epochs(net),
            "parameters": n_parameters(net),
            "learn_seconds": learned - started,
        }
    except _REFUSALS as error:
        return dict.fromkeys(tasks, _refusal(error))
    return {value: _recall(net, task, of_cue) | of_lesson for value, (task, of_cue) in tasks.items()}


def _recall(net: SequenceMemory, task: Task, of_cue: np.random.SeedSequence) -> Outcome:
    """Let a network that has learned recall all sequences from their cues."""
    rng = np.random.default_rng(of_cue)
    dwells = traits(net).dwells
    steps = task.steps * (DWELL * int(getattr(net, "slow_steps", 1)) if dwells else 1)
    try:
        cues = task.cues(net.order_, rng)
        started = time.perf_counter()
        paths = net.recall(cues if net.order_ > 1 else cues[:, 0], steps=steps, noise=task.noise, rng=rng)
        done = time.perf_counter()
    except _REFUSALS as error:
        return _refusal(error)
    recalled = count_recalled(paths, task, net.order_, dwells=dwells)
    return {
        "success": recalled == len(task.lengths),
        "recalled": recalled,
        "sequences": len(task.lengths),
        "recall_seconds": done - started,
    }


_REFUSALS = (ValueError, TypeError, MemoryError)


def _refusal(error: BaseException) -> Outcome:
    """The outcome of a network that could not take part."""
    return {"error": str(error) or type(error).__name__}


def _epochs(net: SequenceMemory) -> int | None:
    """Epochs until one had no error; 0 if nothing is learned, None if none was free of errors."""
    errors = getattr(net, "visible_errors_", None)
    if errors is None:
        return int(getattr(net, "n_iter_", 0))
    total = np.asarray(errors) + np.asarray(getattr(net, "hidden_errors_", 0))
    free = np.flatnonzero(total == 0)
    return int(free[0]) + 1 if free.size else None


# -- who does it ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Job:
    """One trial at one value, or at several for which a network learns once."""

    protocol: str
    values: tuple[Any, ...]
    number: int
    seed: int


def _results(
    todo: Sequence[_Job], prototypes: Mapping[str, SequenceMemory], jobs: int, files: Sequence[str]
) -> Iterator[tuple[_Job, dict[Any, dict[str, Outcome]]]]:
    """Do all trials, here or in other processes, and give each as it is over."""
    if jobs == 1:
        with threadpool_limits(limits=1):  # as in the workers: sums in one order, fair times
            _warm_up(prototypes)
            yield from ((job, _do(job, prototypes)) for job in todo)
        return
    try:
        sent = pickle.dumps(dict(prototypes))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(f"a network cannot be sent to other processes ({error}); {_AT_THE_TOP}") from None
    with process_pool(jobs) as pool:
        ready = {pool.submit(_do_there, job, tuple(files), sent): job for job in todo}
        try:
            for future in as_completed(ready):
                yield ready[future], future.result()
        except BrokenProcessPool:
            raise OSError(f"a worker process died (out of memory, or killed); {_AT_THE_TOP}") from None


_AT_THE_TOP = (
    'in a script of your own, compare below `if __name__ == "__main__":`, '
    "with networks that it defines at its top; or use one job."
)


def _warm_up(prototypes: Mapping[str, SequenceMemory]) -> None:
    """Let each network learn something small once, so that no trial pays for compiling."""
    small = PROTOCOLS["random"].make(4, np.random.default_rng(0))
    for net in prototypes.values():
        _take_part(net, {4: (small, np.random.SeedSequence(0))}, 0)


def _do(job: _Job, prototypes: Mapping[str, SequenceMemory]) -> dict[Any, dict[str, Outcome]]:
    """Do one trial."""
    test = get_protocol(job.protocol)
    seeds = {value: seed_of(job.seed, ["compare", job.protocol, value], job.number) for value in job.values}
    if not test.one_lesson:
        return {value: compare_once(test, value, prototypes, seed) for value, seed in seeds.items()}
    of_data, of_network = seed_of(job.seed, ["compare", job.protocol], job.number).spawn(2)
    tasks = {value: (test.make(value, np.random.default_rng(of_data)), seed) for value, seed in seeds.items()}
    return _trial(tasks, prototypes, of_network)


def _do_there(job: _Job, files: tuple[str, ...], sent: bytes) -> dict[Any, dict[str, Outcome]]:
    """Do one trial in a worker."""
    return _do(job, _received(files, sent))


@cache
def _received(files: tuple[str, ...], sent: bytes) -> dict[str, SequenceMemory]:
    """Unpack the networks in a worker, once, ready to take part; the user's files must be known before anything of them."""
    import_files(files)
    try:
        prototypes: dict[str, SequenceMemory] = pickle.loads(sent)
    except (AttributeError, ImportError) as error:
        raise ValueError(f"a worker process does not know a network ({error}); {_AT_THE_TOP}") from None
    _warm_up(prototypes)
    return prototypes
