"""One trial: draw sequences, let a network learn them, and try to retrieve each from a corrupted cue."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from seqattractor.analysis._basin import basin
from seqattractor.analysis._retrieval import locked_on_at
from seqattractor.datasets._random import random_periodic, random_sequences
from seqattractor.experiments._protocols import DWELL, PERIODS, passages
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._registry import make_network, parameters_of
from seqattractor.noise import flip
from seqattractor.sequences import Patterns, split

__all__ = ["DEFAULTS", "OUTCOME", "draw_sequences", "retrieval_times", "run_trial"]

DEFAULTS: dict[str, Any] = {
    "network": "attractor",
    "n": 100,
    "m": 500,
    "t": 50,
    "sequences": 1,
    "flips": 0,
    "recall_noise": 0,
    "correlation": 0.0,
    "pattern_bias": 0.0,
    "periods": PERIODS,
    "measure_basin": False,
}
"""The settings of every trial, and their values where none is given; further settings are parameters of the network."""

OUTCOME = ("success", "retrieved", "tau", "score", "basin", "epochs", "converged")
"""What a trial finds out, in the order of columns."""


def run_trial(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Do one trial of section 6.2.

    Parameters
    ----------
    settings : dict
        Those of `DEFAULTS` that differ, and parameters of the network: ``n`` N, ``m`` M, ``t`` T (with the last pattern, which is
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
    given = DEFAULTS | settings
    of_data, of_network, of_noise = (np.random.default_rng(child) for child in seed.spawn(3))
    X, lengths = draw_sequences(
        given["sequences"], given["t"], given["n"], correlation=given["correlation"], bias=given["pattern_bias"], rng=of_data
    )
    parameters = {key: value for key, value in settings.items() if key not in DEFAULTS}
    known = parameters_of(given["network"])
    if "n_hidden" in known:
        parameters["n_hidden"] = given["m"]
    if "random_state" in known:
        parameters["random_state"] = of_network
    net = make_network(given["network"], **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what is left is in the outcome
        net.fit(X, lengths)
    times = retrieval_times(
        net, X, lengths, flips=given["flips"], noise=given["recall_noise"], periods=given["periods"], rng=of_noise
    )
    found = [tau for tau in times if tau is not None]
    return {
        "success": len(found) == len(times),
        "retrieved": len(found),
        "tau": max(found) if found else None,
        "score": net.score(X, lengths),
        "basin": basin(net, X, lengths, flips=given["flips"], rng=of_noise) if given["measure_basin"] else None,
        "epochs": int(net.n_iter_) if hasattr(net, "n_iter_") else None,
        "converged": bool(net.converged_) if hasattr(net, "converged_") else None,
    }


def draw_sequences(
    n_sequences: int, T: int, N: int, *, correlation: float = 0.0, bias: float = 0.0, rng: np.random.Generator
) -> tuple[Patterns, NDArray[np.int64]]:
    """Draw periodic sequences, x(T) = x(1), in which no pattern occurs twice otherwise.

    Parameters
    ----------
    n_sequences, T, N : int
    correlation, bias : float
        As in `seqattractor.datasets.random_periodic`, whose sequence this is for one.
    rng : Generator

    Returns
    -------
    X : ndarray of int8, shape (n_sequences * T, N)
    lengths : ndarray of int64, shape (n_sequences,)

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


def retrieval_times(
    net: SequenceMemory,
    X: Patterns,
    lengths: NDArray[np.int64],
    *,
    flips: int = 0,
    noise: int = 0,
    periods: int = PERIODS,
    rng: np.random.Generator,
) -> list[int | None]:
    """Recall each sequence from its corrupted beginning and give the tau of section 6.2, or None.

    Parameters
    ----------
    net : SequenceMemory
        A network that has learned.
    X : ndarray of int8, shape (T, N)
    lengths : ndarray, shape (S,)
    flips : int
        Flipped units in each pattern of the cue.
    noise : int
        Flipped units before every step.
    periods : int
        How many times the length of the longest sequence recall may take.
    rng : Generator

    Returns
    -------
    list of int or None, length S

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> retrieval_times(sa.LookupMemory().fit(X), X, np.array([20]), rng=np.random.default_rng(0))
    [0]
    """
    sequences = list(split(X, lengths))
    order, dwells = net.order_, net.traits().dwells
    cues = np.stack([flip(x[:order], flips, rng) for x in sequences])
    steps = periods * int(lengths.max()) * (DWELL * int(getattr(net, "slow_steps", 1)) if dwells else 1)
    trajectories = net.recall(cues[:, 0] if order == 1 else cues, steps=steps, noise=noise, rng=rng)
    seen = [passages(path, X) if dwells else path for path in trajectories]
    return [locked_on_at(path, x) if len(path) else None for path, x in zip(seen, sequences, strict=True)]
