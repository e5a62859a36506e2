"""The one trial of section 6.2: draw sequences, let a network learn them, retrieve each from a corrupted cue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from seqattractor._checks import check_kind
from seqattractor.analysis._retrieval import retrieved_at
from seqattractor.analysis._robustness import basin_fraction, passages, steps_per_pattern
from seqattractor.datasets._random import random_periodic, random_sequences
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.registry import make_network, parameters_of
from seqattractor.noise import flip
from seqattractor.sequences import Lengths, Patterns, split
from seqattractor.sequences._transitions import lock_row
from seqattractor.study.settings import DEFAULTS, PERIODS


def run_trial(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Do one trial of section 6.2.

    Parameters
    ----------
    settings : dict
        Those of `DEFAULTS` that differ, and parameters of the network: ``network`` a short name, or a network that is not fitted,
        which keeps its own parameters, M included unless it is given; ``n`` N, ``m`` M, ``t`` T (with the last pattern, which is
        the first again), ``sequences`` how many of them, ``flips`` of units in each cue, ``recall_noise`` flips before every step
        of recall, ``correlation`` and ``pattern_bias`` of the patterns, ``periods`` how many T steps recall may take,
        ``measure_basin`` whether to measure the basin too.
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
    given = DEFAULTS | settings
    if isinstance(given["network"], SequenceMemory):
        net = seeded(given["network"], int(network.integers(2**32)))
        if "m" in settings:
            net.set_params(n_hidden=settings["m"])
        return retrieve_with(net, settings, data, noise)
    parameters = {key: value for key, value in settings.items() if key not in DEFAULTS}
    known = parameters_of(given["network"])
    if "n_hidden" in known:
        parameters["n_hidden"] = given["m"]
    if "random_state" in known:
        parameters["random_state"] = network
    return retrieve_with(make_network(given["network"], **parameters), settings, data, noise)


def seeded(prototype: SequenceMemory, seed: int) -> SequenceMemory:
    """Return a copy of a network that is not fitted, with a seed if it wants one and has none.

    Examples
    --------
    >>> import seqattractor as sa
    >>> seeded(sa.SequenceAttractor(80), 5).random_state, seeded(sa.SequenceAttractor(80, random_state=1), 5).random_state
    (5, 1)
    """
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
    """Do `run_trial` with a network that is not fitted yet; the settings name neither it nor its parameters.

    One sequence may be learned in another way than by `fit`: by ``learn(net, X)``.
    """
    given = DEFAULTS | settings
    drawn = draw_sequences(
        given["sequences"], given["t"], given["n"], correlation=given["correlation"], bias=given["pattern_bias"], rng=data
    )
    task = Task(*drawn, given["flips"], given["recall_noise"], periods=given["periods"])
    if learn is None:
        net.fit(task.X, task.lengths)
    else:
        learn(net, task.X)
    cues = np.stack([flip(x[: net.order_], task.flips, noise) for x in split(task.X, task.lengths)])
    right = ~np.any(net.wrong_units(task.X, task.lengths), axis=1)
    times = retrieval_times(net, task, cues, noise)
    retrieved = [tau for tau in times if tau is not None]
    return {
        "success": len(retrieved) == len(times),
        "retrieved": len(retrieved),
        "tau": max(retrieved, default=None),
        "score": float(np.mean(right)),
        "basin": basin_fraction(net, task.X, task.lengths, flips=task.flips, rng=noise) if given["measure_basin"] else None,
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
    """Whether every sequence is a loop, so that a network which wandered first may still fall into it."""
    periods: int = PERIODS
    """How many times the length of the longest sequence recall of loops may take."""

    def __post_init__(self) -> None:
        n = self.X.shape[1]
        if not (0 <= self.flips <= n and 0 <= self.noise <= n):
            raise ValueError(f"there are {n} units to flip, but {max(self.flips, self.noise)} are to be flipped; give 0 to {n}.")

    @property
    def steps(self) -> int:
        """How long to recall."""
        longest = int(self.lengths.max())
        return self.periods * longest if self.closed else longest - 1


def recall_task(net: SequenceMemory, task: Task, cues: Patterns, rng: np.random.Generator) -> Patterns:
    """Run a fitted network from cues of shape (S, order, N), and return paths of shape (S, order + steps, N).

    A network that dwells may take the length of its own memory for each step of the sequence.
    """
    return net.recall(cues, steps=task.steps * steps_per_pattern(net), noise=task.noise, rng=rng)


def retrieval_times(net: SequenceMemory, task: Task, cues: Patterns, rng: np.random.Generator) -> list[int | None]:
    """Run a network from cues and `judge` it.

    Without noise a shorter run is the beginning of a longer one, and a loop is retrieved when it is shown for the first time:
    where all loops are shown within one period, the network need not run on.
    """
    if task.closed and task.periods > 1 and not task.noise and not net.traits().dwells:
        first = replace(task, periods=1)
        times = judge(recall_task(net, first, cues, rng), first, net)
        if None not in times:
            return times
    return judge(recall_task(net, task, cues, rng), task, net)


def judge(paths: Patterns, task: Task, net: SequenceMemory) -> list[int | None]:
    """Return when each sequence was retrieved without a wrong unit, or None; paths have the shape (S, order + steps, N).

    A loop is retrieved if all its patterns appear in order somewhere in the path: the time is the tau of section 6.2. An open
    sequence is retrieved, at 0, if recall locks on at its first step: every pattern after the cue is right and in phase.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 20, rng=0)
    >>> late = np.concatenate([-X[:2], X])[None]
    >>> judge(late, Task(X, np.array([5]), flips=0), sa.zoo.LookupMemory().fit(X))
    [2]
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
    n_sequences: int, T: int, N: int, *, correlation: float = 0.0, bias: float = 0.0, rng: np.random.Generator
) -> tuple[Patterns, Lengths]:
    """Draw periodic sequences, x(T) = x(1), in which no pattern occurs twice otherwise: X of shape (n_sequences * T, N), lengths.

    Correlation and bias are those of `seqattractor.datasets.random_periodic`, whose sequence this is for one.

    Examples
    --------
    >>> X, lengths = draw_sequences(3, 10, 40, rng=np.random.default_rng(0))
    >>> X.shape, bool((X[0] == X[9]).all())
    ((30, 40), True)
    """
    if n_sequences == 1:
        X = random_periodic(T, N, correlation=correlation, bias=bias, rng=rng).patterns
    else:
        open_ones = random_sequences(n_sequences, T - 1, N, correlation=correlation, bias=bias, rng=rng)
        X = np.concatenate([np.concatenate([x, x[:1]]) for x in open_ones.split()])
    return X, np.full(n_sequences, T, dtype=np.int64)
