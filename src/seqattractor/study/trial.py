"""The one trial of section 6.2: draw sequences, let a network learn them, retrieve each from a
corrupted cue.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from seqattractor._checks import check_kind
from seqattractor.analysis._retrieval import retrieved_at
from seqattractor.analysis._robustness import basin_fraction, passages, steps_per_pattern
from seqattractor.datasets._random import random_periodic, random_sequences
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.registry import make_network, parameters_of, takes_hidden
from seqattractor.networks.run import goes_by_state, states_along
from seqattractor.noise import flip
from seqattractor.sequences import Lengths, Patterns, split
from seqattractor.sequences._transitions import lock_row
from seqattractor.study.settings import DEFAULTS, PERIODS


def run_trial(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Do one trial of section 6.2.

    Parameters
    ----------
    settings : dict
        Those of `DEFAULTS` that differ, and parameters of the network: ``network`` a short name, or
        a network that is not fitted, which has its own parameters, M included unless it is given;
        ``n`` N, ``m`` M, ``t`` T (with the last pattern, which is the first again), ``sequences``
        how many of them, ``flips`` of units in each cue, ``recall_noise`` flips before every step
        of recall, ``correlation`` and ``pattern_bias`` of the patterns, ``periods`` how many T
        steps recall may take, ``measure_basin`` whether to measure the basin too.
    seed : SeedSequence
        Sequences, network and noise have streams of their own.

    Returns
    -------
    dict
        success
            Whether every sequence was retrieved.
        retrieved
            How many were.
        tau
            The longest time until a sequence that was retrieved started; None if none was.
        score
            The fraction of transitions that are made without a wrong unit.
        basin
            As `seqattractor.basin`, if asked for.
        epochs, converged
            Of learning, if the network learns in epochs.

    Examples
    --------
    >>> outcome = run_trial({"network": "one-hot", "n": 20, "t": 8}, np.random.SeedSequence(0))
    >>> outcome["success"], outcome["tau"]
    (True, 0)
    """
    check_kind(settings, dict, "settings", "a dict of settings by name")
    check_kind(seed, np.random.SeedSequence, "seed", "a numpy SeedSequence")
    data, network, noise = (np.random.default_rng(child) for child in seed.spawn(3))
    return retrieve_with(network_of(settings, network), settings, data, noise)


def network_of(settings: dict[str, Any], rng: np.random.Generator) -> SequenceMemory:
    """Return the network that the settings of a trial describe, not fitted."""
    given = DEFAULTS | settings
    if isinstance(given["network"], SequenceMemory):
        net = seeded(given["network"], int(rng.integers(2**32)))
        if "m" in settings:
            net.set_params(n_hidden=settings["m"])
        return net
    parameters = {key: value for key, value in settings.items() if key not in DEFAULTS}
    known = parameters_of(given["network"])
    if takes_hidden(given["network"]):
        parameters["n_hidden"] = given["m"]
    if "random_state" in known:
        parameters["random_state"] = rng
    return make_network(given["network"], **parameters)


def seeded(prototype: SequenceMemory, seed: int) -> SequenceMemory:
    """Return a copy of a network that is not fitted, with a seed if it wants one and has none."""
    net: SequenceMemory = clone(prototype)
    if net.get_params(deep=False).get("random_state", 0) is None:
        net.set_params(random_state=seed)
    return net


def retrieve_with(
    net: SequenceMemory,
    settings: dict[str, Any],
    data: np.random.Generator,
    noise: np.random.Generator,
    *,
    learn: Callable[[SequenceMemory, Patterns], Any] | None = None,
) -> dict[str, Any]:
    """Do `run_trial` with a network that is not fitted yet; the settings name neither it nor its
    parameters.

    One sequence may be learned in another way than by `fit`: by ``learn(net, X)``.
    """
    given = DEFAULTS | settings
    drawn = draw_sequences(
        given["sequences"],
        given["t"],
        given["n"],
        correlation=given["correlation"],
        bias=given["pattern_bias"],
        rng=data,
    )
    task = Task(*drawn, given["flips"], given["recall_noise"], periods=given["periods"])
    if learn is None:
        net.fit(task.X, task.lengths)
    else:
        learn(net, task.X)
    cues = np.stack([flip(x[: net.order_], task.flips, noise) for x in split(task.X, task.lengths)])
    right: NDArray[np.bool_] = ~np.any(net.wrong_units(task.X, task.lengths), axis=1)
    times = retrieval_times(net, task, cues, noise, right)
    retrieved = [tau for tau in times if tau is not None]
    return {
        "success": len(retrieved) == len(times),
        "retrieved": len(retrieved),
        "tau": max(retrieved, default=None),
        "score": float(np.mean(right)),
        "basin": basin_fraction(net, task.X, task.lengths, flips=task.flips, rng=noise)
        if given["measure_basin"]
        else None,
        "epochs": int(net.n_iter_) if hasattr(net, "n_iter_") else None,
        "converged": bool(net.converged_) if hasattr(net, "converged_") else None,
    }


@dataclass(frozen=True)
class Task:
    """Sequences to store and how they are to be recalled."""

    X: Patterns
    """Shape (T, N)."""
    lengths: Lengths
    flips: int
    """Flipped units in each pattern of a cue."""
    noise: int = 0
    """Flipped units before every step of recall."""
    closed: bool = True
    """Whether every sequence is a loop, so that a network which wandered first may still fall into
    it.
    """
    periods: int = PERIODS
    """How many times the length of the longest sequence recall of loops may take."""

    def __post_init__(self) -> None:
        n = self.X.shape[1]
        if not (0 <= self.flips <= n and 0 <= self.noise <= n):
            raise ValueError(
                f"there are {n} units to flip, but {max(self.flips, self.noise)} are to be "
                f"flipped; give 0 to {n}."
            )

    @property
    def steps(self) -> int:
        """How long to recall."""
        longest = int(self.lengths.max())
        return self.periods * longest if self.closed else longest - 1


def recall_task(
    net: SequenceMemory, task: Task, cues: Patterns, rng: np.random.Generator
) -> Patterns:
    """Run a fitted network from cues of shape (S, order, N), and return paths of shape (S, order +
    steps, N).

    A network that dwells may take the length of its own memory for each step of the sequence.
    """
    return net.recall(cues, steps=task.steps * steps_per_pattern(net), noise=task.noise, rng=rng)


def retrieval_times(
    net: SequenceMemory,
    task: Task,
    cues: Patterns,
    rng: np.random.Generator,
    right: NDArray[np.bool_],
) -> list[int | None]:
    """Run a network from cues and `judge` it, as long as it takes; `right` marks the transitions of
    X that it makes.

    Without noise a shorter run is the beginning of a longer one, and a loop is retrieved when it is
    shown for the first time: where all loops are shown within one period, the network need not run
    on. `_times_on_loops` needs to see even less.
    """
    if not task.closed or task.noise or net.traits().dwells:
        return judge(recall_task(net, task, cues, rng), task, net)
    sequences = list(split(task.X, task.lengths))
    if (
        net.order_ == 1
        and goes_by_state(net, cues[:, 0])
        and all(np.array_equal(x[0], x[-1]) for x in sequences)
    ):
        made = np.split(right, np.cumsum(task.lengths - 1)[:-1])
        loops = [x if np.all(of_x) else None for x, of_x in zip(sequences, made, strict=True)]
        return _times_on_loops(net, task, cues[:, 0], loops)
    if task.periods > 1:
        first = replace(task, periods=1)
        times = judge(recall_task(net, first, cues, rng), first, net)
        if None not in times:
            return times
    return judge(recall_task(net, task, cues, rng), task, net)


def _times_on_loops(
    net: SequenceMemory, task: Task, cues: Patterns, loops: list[Patterns | None]
) -> list[int | None]:
    """Do the same for a network that goes by its state alone; a loop is None if one of its
    transitions is made wrong.

    Such a loop cannot be shown. Any other one is shown from its first pattern on, from wherever a
    run comes to it; and a run that comes back to a state outside of it goes round there for ever.
    """
    phases = [
        {} if x is None else {state.tobytes(): phase for phase, state in enumerate(x[:-1])}
        for x in loops
    ]
    rows = 1 + task.steps
    seen: list[set[bytes]] = [set() for _ in loops]
    times: list[int | None] = [None] * len(loops)
    under_way = [s for s, x in enumerate(loops) if x is not None]
    for row, states in enumerate(states_along(net, cues, task.steps)):
        for s in list(under_way):
            T, state = int(task.lengths[s]), states[s].tobytes()
            if state in phases[s]:
                tau = row + -phases[s][state] % (T - 1)
                times[s] = tau if tau + T <= rows else None
            if state in phases[s] or state in seen[s] or row + T >= rows:
                under_way.remove(s)
            seen[s].add(state)
        if not under_way:
            break
    return times


def judge(paths: Patterns, task: Task, net: SequenceMemory) -> list[int | None]:
    """Return when each sequence was retrieved without a wrong unit, or None; paths have the shape
    (S, order + steps, N).

    A loop is retrieved if all its patterns appear in order somewhere in the path: the time is the
    tau of section 6.2. An open sequence is retrieved, at 0, if recall locks on at its first step:
    every pattern after the cue is right and in phase.
    """
    sequences = list(split(task.X, task.lengths))
    return [_judge_one(path, x, task, net) for path, x in zip(paths, sequences, strict=True)]


def _judge_one(path: Patterns, x: Patterns, task: Task, net: SequenceMemory) -> int | None:
    """When one sequence was retrieved."""
    dwells = net.traits().dwells
    if task.closed:
        seen = passages(path, task.X) if dwells else path
        return retrieved_at(seen, x) if len(seen) else None
    cue, rest = path[: net.order_], path[net.order_ :]
    if dwells:
        rest = passages(rest, task.X)
        if len(rest) and np.array_equal(rest[0], x[0]):
            rest = rest[1:]  # it cleaned the cue first
    if len(rest) < len(x) - net.order_:
        return None
    row = lock_row(np.concatenate([cue, rest]), x, net.order_)
    return 0 if row is not None and row <= net.order_ else None


def draw_sequences(
    n_sequences: int,
    T: int,
    N: int,
    *,
    correlation: float = 0.0,
    bias: float = 0.0,
    rng: np.random.Generator,
) -> tuple[Patterns, Lengths]:
    """Draw periodic sequences, x(T) = x(1), in which no pattern occurs twice otherwise: X of shape
    (n_sequences * T, N), lengths.

    Correlation and bias are those of `seqattractor.datasets.random_periodic`, whose sequence this
    is for one.
    """
    if n_sequences == 1:
        X = random_periodic(T, N, correlation=correlation, bias=bias, rng=rng).patterns
    else:
        open_ones = random_sequences(
            n_sequences, T - 1, N, correlation=correlation, bias=bias, rng=rng
        )
        X = np.concatenate([np.concatenate([x, x[:1]]) for x in open_ones.split()])
    return X, np.full(n_sequences, T, dtype=np.int64)
