"""One trial of a comparison: sequences and cues that depend on the test alone, and one network that learns and recalls them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.datasets._random import random_periodic
from seqattractor.datasets._walker import walker
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.registry import make_network, parameters_of
from seqattractor.noise import flip
from seqattractor.sequences import Patterns, split
from seqattractor.study.seeds import seed_at
from seqattractor.study.settings import OWN_AXIS, as_flips
from seqattractor.study.trial import Task, draw_sequences, judge, recall_task, seeded
from seqattractor.study.user_data import OwnData
from seqattractor.study.user_errors import check_learned_sizes, check_methods, say_failure

Outcome = dict[str, Any]
"""What one network did in one trial at one value, or {"error": a sentence} if it could not take part."""


def run_comparison_trial(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Let one network take part in one trial of a test.

    The settings are ``test`` (a key of `TASKS`), ``value`` along its axis, or ``values`` for all of which the network learns
    once, ``axis`` if that is not the test's own, ``sizes`` that are not those of the test, ``data`` (the user's, for the test of
    that name), ``network`` (a short name or a network that is not fitted) and ``parameters`` of it. The seed is that of
    `place_of`, the same for all networks. Gives ``outcomes``, for each value as `compare_once` does, and their ``seconds``.
    """
    prototype = make_prototype(settings["network"], settings.get("parameters", {}), test=settings["test"])
    if "value" in settings:
        outcomes = [_once(settings, settings["value"], prototype, seed)]
    else:
        of_data, of_network = seed.spawn(2)
        cues = [seed_at(seed, place_of(settings | {"value": value})) for value in settings["values"]]
        tasks = [make_task(settings, value, np.random.default_rng(of_data)) for value in settings["values"]]
        outcomes = _take_part(prototype, list(zip(tasks, cues, strict=True)), of_network)
    seconds = [{key: each.pop(key) for key in list(each) if key.endswith("_seconds")} for each in outcomes]
    return {"outcomes": outcomes, "seconds": seconds}


def place_of(settings: dict[str, Any]) -> list[Any]:
    """What the seeds of a comparison depend on: the test with its sizes, data and value, so that all networks get the same.

    Parameters of networks are none of it: networks of all sizes get the same, too.
    """
    data = settings.get("data")
    asked = [settings[key] for key in ("axis", "sizes") if key in settings]
    digest = [] if data is None else [data["digest"] if isinstance(data, dict) else data.digest]
    return ["compare", settings["test"], *asked, *digest, *([settings["value"]] if "value" in settings else [])]


def make_task(settings: dict[str, Any], value: Any, rng: np.random.Generator) -> Task:
    """Make the sequences of a trial at a value of its axis; the settings are those of `run_comparison_trial`."""
    axis = settings.get("axis", OWN_AXIS[settings["test"]])
    of_user = {"data": settings["data"]} if "data" in settings else {}
    return TASKS[settings["test"]](rng, **settings.get("sizes", {}), **of_user, **{axis: value})


def compare_once(test: str, value: Any, prototype: SequenceMemory, seed: np.random.SeedSequence) -> Outcome:
    """Let a network that is not fitted, and stays so, learn and recall the sequences of a trial.

    Gives ``success`` (all sequences recalled), ``recalled`` (how many of them), ``in_phase`` (how many of them in phase with the
    cue; None for a network that dwells), ``sequences``, ``one_step_error`` (fraction of wrong units one step after a stored
    pattern), ``epochs`` until one had no error (0 if nothing is learned, None if there was none), ``parameters``, ``order`` (how
    many patterns it sees), ``carries`` (whether it carries a state of its own from step to step), and the times
    ``learn_seconds`` and ``recall_seconds``; or only ``error``. Sequences, network and cues have streams of their own.
    """
    return _once({"test": test}, value, prototype, seed)


def _once(settings: dict[str, Any], value: Any, prototype: SequenceMemory, seed: np.random.SeedSequence) -> Outcome:
    """Do `compare_once` with all the settings of a trial."""
    of_data, of_network, of_cue = seed.spawn(3)
    task = make_task(settings, value, np.random.default_rng(of_data))
    (outcome,) = _take_part(prototype, [(task, of_cue)], of_network)
    return outcome


def make_prototype(
    network: str | SequenceMemory, parameters: Mapping[str, Any] = MappingProxyType({}), *, test: str | None = None
) -> SequenceMemory:
    """Make the network of a short name, with parameters and with what the test gives (`GIVEN`), if it has that.

    One of the user's stays as it is, but for the parameters.
    """
    if isinstance(network, SequenceMemory):
        changed: SequenceMemory = clone(network).set_params(**parameters) if parameters else network
        return changed
    known = parameters_of(network)
    given = next((each for each in GIVEN.get(test, ()) if each.keys() <= known.keys()), {})
    return make_network(network, **parameters, **given)


def draw_cues(task: Task, order: int, rng: np.random.Generator) -> Patterns:
    """Corrupted beginnings of all sequences, (S, order, N); networks of any order get the same first patterns."""
    sequences = list(split(task.X, task.lengths))
    return np.stack([flip(np.stack([x[t] for x in sequences]), task.flips, rng) for t in range(order)], axis=1)


# -- learning and recalling -------------------------------------------------------------------------------------

_REFUSALS = (ValueError, TypeError, MemoryError)
_REHEARSED = 10  # patterns
_warm: set[type[SequenceMemory]] = set()


def rehearse(prototype: SequenceMemory, n_units: int) -> None:
    """Let a network of the user's learn and recall a few random patterns, and raise a ValueError that says what went wrong."""
    check_methods(prototype)
    task = _loop(np.random.default_rng(0), t=min(_REHEARSED, 2 ** min(n_units, 9)), n=n_units, flips=0)
    _warm.add(type(prototype))
    try:
        net = _seeded(prototype, np.random.SeedSequence(0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            net.fit(task.X, task.lengths)
        check_learned_sizes(net)
        _of_learning(net, task)
        recall_task(net, task, draw_cues(task, net.order_, np.random.default_rng(0)), np.random.default_rng(0))
    except Exception as error:
        raise ValueError(say_failure(error, prototype)) from error


def rehearse_brought(brought: Any, n_units: int) -> None:
    """Do `rehearse` in a worker, with a network (`Brought`) that has travelled there."""
    rehearse(brought.network, n_units)


def _take_part(
    prototype: SequenceMemory, tasks: list[tuple[Task, np.random.SeedSequence]], of_network: np.random.SeedSequence
) -> list[Outcome]:
    """Let a network learn the sequences of the first task once, and recall from the cues of each; refusals are results, too."""
    first = tasks[0][0]
    if type(prototype) not in _warm:  # so that no trial pays for what is imported and loaded
        _warm.add(type(prototype))
        few = Task(first.X[: min(4, int(first.lengths[0]))], np.minimum(first.lengths[:1], 4), 0)
        with suppress(Exception):  # the trial itself will tell
            _take_part(prototype, [(few, of_network)], of_network)
    net = _seeded(prototype, of_network)
    try:
        started = time.perf_counter()
        net.fit(first.X, first.lengths)
        learned = time.perf_counter()
        of_learning = _of_learning(net, first) | {"learn_seconds": learned - started}
    except _REFUSALS as error:
        return [{"error": say_failure(error, net)} for _ in tasks]
    return [_recall(net, task, of_cue) | of_learning for task, of_cue in tasks]


def _seeded(prototype: SequenceMemory, seed: np.random.SeedSequence) -> SequenceMemory:
    """A copy of a network that is not fitted, with a seed if it wants one."""
    return seeded(prototype, int(seed.generate_state(1)[0]))


def _of_learning(net: SequenceMemory, task: Task) -> Outcome:
    """What is to be told of a network that has learned, before it recalls."""
    return {
        "one_step_error": float(net.wrong_units(task.X, task.lengths).mean()),
        "epochs": _epochs(net),
        "parameters": net.n_parameters(),
        "order": net.order_,
        "carries": net.start(task.X[: net.order_].reshape(1, -1)) is not None,
    }


def _recall(net: SequenceMemory, task: Task, of_cue: np.random.SeedSequence) -> Outcome:
    """Let a network that has learned recall all sequences from their cues."""
    rng = np.random.default_rng(of_cue)
    try:
        cues = draw_cues(task, net.order_, rng)
        started = time.perf_counter()
        paths = recall_task(net, task, cues, rng)
        seconds = time.perf_counter() - started
    except _REFUSALS as error:
        return {"error": say_failure(error, net)}
    times = judge(paths, task, net)
    recalled = sum(tau is not None for tau in times)
    in_phase = sum(tau is not None and tau % _period(x) == 0 for tau, x in zip(times, split(task.X, task.lengths), strict=True))
    return {
        "success": recalled == len(times),
        "recalled": recalled,
        "in_phase": None if net.traits().dwells else in_phase,
        "sequences": len(times),
        "recall_seconds": seconds,
    }


def _period(x: Patterns) -> int:
    """After how many patterns a sequence begins again; its length if it does not."""
    return next(p for p in range(1, len(x) + 1) if np.array_equal(x[p:], x[: len(x) - p]))


def _epochs(net: SequenceMemory) -> int | None:
    """Epochs until one had no error; 0 if nothing is learned, None if none was free of errors."""
    errors = getattr(net, "visible_errors_", None)
    if errors is None:
        return int(getattr(net, "n_iter_", 0))
    total = np.asarray(errors) + np.asarray(getattr(net, "hidden_errors_", 0))
    free = np.flatnonzero(total == 0)
    return int(free[0]) + 1 if free.size else None


# -- sequences and cues -----------------------------------------------------------------------------------------


def _loop(
    rng: np.random.Generator, *, t: int = 40, n: int = 100, flips: int | str = 10, noise: int = 0, correlation: float = 0.0
) -> Task:
    """One random loop of T patterns, with the last one, which is the first again."""
    X = random_periodic(t, n, correlation=correlation, rng=rng).patterns
    return Task(X, np.array([t]), as_flips(flips, n), noise)


def _multi(rng: np.random.Generator, *, size: str, n: int = 100, flips: int | str = 10) -> Task:
    """Several random loops in one network."""
    number, length = map(int, size.split("x"))
    return Task(*draw_sequences(number, length, n, rng=rng), flips=as_flips(flips, n))


def _context(rng: np.random.Generator, *, repeated: int, n: int = 100, flips: int | str = 10) -> Task:
    """One random loop in which some patterns occur twice, each time with another successor and another predecessor.

    The first pattern, which is the cue of networks that see one pattern, occurs once. The loop ends with its first two patterns,
    so that networks that see two learn how it goes on.
    """
    period = 30
    X = random_periodic(period + 1, n, rng=rng).patterns[:-1].copy()
    if not 0 <= repeated <= period // 3:
        raise ValueError(f"0 to {period // 3} of {period} patterns can occur twice, but {repeated} are to.")
    partner: dict[int, int] = {}
    while len(partner) < 2 * repeated:
        a, b = map(int, rng.choice(np.arange(1, period), 2, replace=False))
        apart = 1 < abs(a - b) < period - 1
        # Where the neighbours of the two were a pair as well, neither successor nor predecessor would tell them apart.
        alone = partner.get(a - 1) != b - 1 and partner.get(a + 1) != b + 1
        if apart and alone and not {a, b} & partner.keys():
            partner |= {a: b, b: a}
            X[b] = X[a]
    return Task(np.concatenate([X, X[:2]]), np.array([period + 2]), flips=as_flips(flips, n))


def _digits(rng: np.random.Generator, *, flips: int) -> Task:
    """The paper's twenty sequences of moving digits, drawn anew for each trial."""
    X = moving_digits(20, 20, rng=rng)
    return Task(X.patterns, X.lengths, flips=flips, closed=False)


def _walker(rng: np.random.Generator, *, flips: int) -> Task:
    """The walking figure, every third pixel of every third row: a network without hidden neurons has N^2 weights."""
    frames = walker().frames[:, ::3, ::3]
    X = np.ascontiguousarray(frames.reshape(len(frames), -1))
    return Task(X, np.array([len(X)]), flips=flips)


def _data(rng: np.random.Generator, *, data: OwnData, flips: int) -> Task:
    """The user's own sequences, the same in every trial: chance decides only on the network and the cues."""
    return Task(data.patterns, data.lengths, flips=flips, closed=data.closed)


TASKS: Mapping[str, Callable[..., Task]] = {
    **dict.fromkeys(("random", "noise", "recall-noise", "correlated"), _loop),
    "multi": _multi,
    "context": _context,
    "digits": _digits,
    "walker": _walker,
    "data": _data,
}
"""By the name of the test: what makes its sequences, from a generator, the value of its axis and sizes."""

_LOOKS_BACK = ({"order": "auto"}, {"on_conflict": "learn"})
GIVEN: Mapping[str | None, tuple[dict[str, Any], ...]] = {"context": _LOOKS_BACK, "data": _LOOKS_BACK}
"""By the name of the test: parameters for networks under short names; each gets the first ones that it has."""
