"""Beyond the paper: how much the sparse rule stores, beside the paper's rule and memories that keep the patterns themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from seqattractor.analysis._certificate import certify
from seqattractor.analysis._lost_starts import lost_starts
from seqattractor.analysis._robustness import robustness_curve
from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.networks.sparse import SparseSequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING
from seqattractor.sequences import Patterns
from seqattractor.study.capacity import Search
from seqattractor.study.executors import do_trial
from seqattractor.study.trial import Task, draw_sequences, judge, recall_task, retrieve_with
from seqattractor.zoo.dense import DenseSequenceMemory

STEPS = 300
"""First steps at each number of flips that a curve of robustness is measured with."""
LONGEST = 10_000
"""The longest sequence that a search may try."""
TUNED = "paper, tuned"
"""The paper's rule with the margin that tuning chose for comparisons (docs/rivals.rst)."""
TUNED_KAPPA = 10.0

NETWORKS: dict[str, Callable[[int, np.random.Generator], SequenceMemory]] = {
    "sparse": lambda M, rng: SparseSequenceAttractor(M, random_state=rng),
    "convergent": lambda M, rng: SparseSequenceAttractor(M, noise=0, random_state=rng),
    "paper": lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING),
    TUNED: lambda M, rng: SequenceAttractor(M, random_state=rng, n_jobs=1, **LEARNING | {"kappa": TUNED_KAPPA}),
    "dense": lambda M, rng: DenseSequenceMemory(interaction="exponential"),
}
"""How each is made."""
ONE_HOT = "one-hot"
"""One threshold neuron for each transition, told how many flips to bear: M says nothing to it."""
NOISY = "paper, noisy"
"""The paper's rule, which sees every input with as many flips as the cue will have."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "everything": {},
    "no bias": {"bias": 0},
    "no noise while learning": {"noise": 0},
    "constant learning rates": {"decay": False},
    "no homeostasis": {"homeostasis": 0.0},
    "no redraw": {"redraw": 0.0},
    "no learned feedback": {"learned_feedback": 0.0},
    "P random and fixed, from x(t)": {"learned_drive": False},
    "P random and fixed, no learned feedback": {"learned_drive": False, "learned_feedback": 0.0},
    "P random and fixed, from x(t+1), no learned feedback": {"target_from": "next", "learned_feedback": 0.0},
    "thresholds instead of winners": {"code": "thresholds"},
    "larger steps of active neurons": {"active_weight": 3},
    "2 winners": {"n_winners": 2},
    "5 winners": {"n_winners": 5},
    "10 winners": {"n_winners": 10},
}
"""Parameters of the sparse network with which a part of its rule is switched off or changed."""


def store_sequences(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Do a trial of one part of the target.

    Settings are part and, for "length", "flips" and "ablation": network (a key of `NETWORKS`) or options (of `ABLATIONS`), N,
    M, T and flips; for the others what the functions below name.
    """
    rng = np.random.default_rng(seed)  # one stream for sequence, network and cue
    if settings["part"] == "digits":
        return _store_digits(settings, rng)
    if settings["part"] == "inside":
        return _look_inside(settings, rng)
    if settings["part"] == "scaling":
        return _search_capacity(settings, int(rng.integers(2**31)))
    learn: Callable[[SequenceMemory, Patterns], Any] | None = None
    if settings["part"] == "ablation":
        net: SequenceMemory = SparseSequenceAttractor(settings["M"], random_state=rng, **ABLATIONS[settings["options"]])
    elif settings["network"] == ONE_HOT:
        net = OneHotNetwork(tolerance=settings["flips"])
    elif settings["network"] == NOISY:
        net = NETWORKS["paper"](settings["M"], rng)
        learn = partial(learn_from_noise, flips=settings["flips"], epochs=LEARNING["max_epochs"], rng=rng)
    else:
        net = NETWORKS[settings["network"]](settings["M"], rng)
    sizes = {"n": settings["N"], "t": settings["T"], "flips": settings["flips"], "measure_basin": True}
    outcome = retrieve_with(net, sizes, rng, rng, learn=learn)
    return {key: outcome[key] for key in ("success", "basin", "score")}


def learn_from_noise(net: Any, X: Patterns, *, flips: int, epochs: int, rng: np.random.Generator) -> None:
    """Present all transitions of a sequence in every epoch, with other units of each input flipped every time.

    The rule is the paper's, eqs. (4)-(9), with the flipped x(t) in place of x(t); x(t+1), and with it the targets, stay clean.

    Parameters
    ----------
    net : SequenceMemory
        One that has `partial_fit`.
    X : ndarray of int8, shape (T, N)
    flips : int
        Of each input.
    epochs : int
    rng : Generator

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 40, rng=0).patterns
    >>> net = sa.SequenceAttractor(n_hidden=80, random_state=0)
    >>> learn_from_noise(net, X, flips=4, epochs=50, rng=np.random.default_rng(0))
    >>> net.score(X), net.n_iter_
    (1.0, 50)
    """
    for _ in range(epochs):
        pairs = np.stack([flip(X[:-1], flips, rng), X[1:]], axis=1)  # each transition is a sequence of its own
        net.partial_fit(pairs.reshape(-1, X.shape[1]), np.full(len(pairs), 2))


def _store_digits(settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Store some sequences of T frames of moving digits; in how many are all frames recalled without a wrong pixel?"""
    one_hot = settings["network"] == ONE_HOT
    net = OneHotNetwork(tolerance=settings["flips"]) if one_hot else NETWORKS[settings["network"]](settings["M"], rng)
    X = moving_digits(settings["stored"], length=settings["T"], rng=rng)
    task = Task(X.patterns, X.lengths, settings["flips"], closed=False)
    net.fit(X)
    cues = flip(np.stack([x[0] for x in X.split()]), task.flips, rng=rng)
    return {"recalled": sum(time is not None for time in judge(recall_task(net, task, cues[:, None], rng), task, net))}


def _look_inside(settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Look into a network that stores a sequence: hidden codes, starts that are lost, what is proven and what is measured.

    Settings are network, N, M, T, flips (of the starts) and up_to: the numbers of flips of the curve of robustness.
    """
    X, _ = draw_sequences(1, settings["T"], settings["N"], rng=rng)
    net: Any = NETWORKS[settings["network"]](settings["M"], rng)
    net.fit(X)
    starts = lost_starts(net, X, flips=settings["flips"], rng=rng)
    proven = certify(net, X, method="count", attack=False).radius
    curve = robustness_curve(net, X, flips=settings["up_to"], trials=STEPS, rng=rng)
    return {
        "active": float(np.mean(net.hidden(X[:-1]) > 0)),
        "counts": starts.counts.tolist(),
        "made": float(np.mean(proven >= 0)),
        "radius": float(np.mean(np.maximum(proven, 0))),
        "least_radius": int(max(proven.min(), 0)),
        "right": curve.successes.tolist(),
    }


def _search_capacity(settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Search for the longest sequence with 95 % success; gives successes and trials at each length that was tried.

    Settings are network (a short name of the package), N, M (None for a memory without hidden neurons to choose), flips and most:
    the number of trials.
    """
    sizes = {"network": settings["network"], "n": settings["N"], "flips": settings["flips"]}
    search = Search(
        sizes if settings["M"] is None else sizes | {"m": settings["M"]}, seed=seed, max_trials=settings["most"], t_max=LONGEST
    )
    while not search.over:
        for trial in search.next_trials():
            search.tell(do_trial(trial))
    return {"tried": [[T, right, n] for T, (right, n) in search.result().tried.items()]}
