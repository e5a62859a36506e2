"""The four theorems and the two extensions that the paper states, each checked on one random instance of random size.

Two theorems "can be trivially extended", it says: theorem 3, stated for U, to V and the visible errors; and theorem 4, stated for
V and perturbed hidden states, to U and perturbed visible ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor.datasets._random import random_periodic
from seqattractor.learning import rule
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.one_hot import OneHotNetwork
from seqattractor.paper.settings import LEARNING
from seqattractor.sequences import Sequences

Floats = NDArray[np.float64]
EPOCHS = 100_000  # "finitely many"; a network that needs more counts as a failure


def check_theorem(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Check the theorem of this number on one random instance."""
    return {"holds": bool(CHECKS[settings["theorem"]](np.random.default_rng(seed)))}


def theorem_1(rng: np.random.Generator) -> bool:
    """The construction of the proof makes a random sequence of random size."""
    N = int(rng.integers(5, 80))
    T = int(rng.integers(3, min(120, 2 ** min(N, 10))))
    X = random_periodic(T, N, rng=rng)
    net = OneHotNetwork(tolerance=0).fit(X)
    return bool(net.n_hidden_ == T - 1 and np.array_equal(net.recall(X[0], steps=T - 1), X))


def theorem_2(rng: np.random.Generator) -> bool:
    """Learning from zero reaches zero errors where a solution is known to exist.

    Linearly independent patterns can be mapped onto any hidden targets, and linearly independent hidden targets onto
    any visible ones; instances without that are drawn again.
    """
    while True:
        T, N, M = int(rng.integers(3, 30)), int(rng.integers(35, 60)), int(rng.integers(60, 120))
        X = random_periodic(T, N, rng=rng)
        parameters = {**LEARNING, "init_scale": 0.0, "max_epochs": EPOCHS}
        net = SequenceAttractor(M, random_state=rng, engine="exact", n_jobs=1, **parameters).fit(X)
        z = rule.sign(X[1:].astype(np.float64) @ net.P_.T)
        if np.linalg.matrix_rank(X[:-1].astype(float)) == np.linalg.matrix_rank(z.astype(float)) == T - 1:
            return bool(net.converged_)


def theorem_3(rng: np.random.Generator) -> bool:
    """A rate above (kappa + |U x|) / N leaves no hidden error at this transition."""
    n_in, n_out = rng.integers(2, 60, size=2)
    x, U, z = rng.choice([-1.0, 1.0], size=n_in), rng.standard_normal((n_out, n_in)), rng.choice([-1.0, 1.0], size=n_out)
    return _one_step_is_enough(rule.update_hidden, U, x, z, float(rng.uniform(0.1, 10.0)))


def theorem_3_for_V(rng: np.random.Generator) -> bool:
    """A rate above (kappa + |V y|) / M leaves no visible error at this transition."""
    M, N = rng.integers(2, 60, size=2)
    x, U = rng.choice([-1.0, 1.0], size=N), rng.standard_normal((M, N))
    y = rule.hidden_state(U, x).astype(np.float64)  # eq. (7)
    V, x_next = rng.standard_normal((N, M)), rng.choice([-1.0, 1.0], size=N)
    return _one_step_is_enough(rule.update_visible, V, y, x_next, float(rng.uniform(0.1, 10.0)))


def _one_step_is_enough(update: Callable[..., int], weights: Floats, state: Floats, target: Floats, kappa: float) -> bool:
    """Whether one step removes all errors, of which there were some, at a rate just above what the proof asks for."""
    eta = 1.01 * (kappa + np.abs(weights @ state).max()) / len(state)
    before = update(weights, state, target, kappa=kappa, eta=eta)
    return before > 0 and update(weights, state, target, kappa=kappa, eta=eta) == 0


def theorem_4(rng: np.random.Generator) -> bool:
    """Hidden states perturbed as far as the bound allows give the next pattern: x(t+1) = sign(V y')."""
    X, net = _learned(rng)
    y = net.hidden(X[:-1])
    return net.converged_ and withstands(net.V_, y, X[1:], rng)


def theorem_4_for_U(rng: np.random.Generator) -> bool:
    """Visible states perturbed as far as the bound allows give the hidden states: y(t) = sign(U x')."""
    X, net = _learned(rng)
    return net.converged_ and withstands(net.U_, X[:-1], net.hidden(X[:-1]), rng)


def _learned(rng: np.random.Generator) -> tuple[Sequences, SequenceAttractor]:
    """A random sequence of random size, and a network that has learned it until there was no error left."""
    T, N, M = int(rng.integers(5, 25)), int(rng.integers(40, 80)), int(rng.integers(100, 300))
    X = random_periodic(T, N, rng=rng)
    net = SequenceAttractor(M, random_state=rng, engine="exact", n_jobs=1, **{**LEARNING, "max_epochs": EPOCHS}).fit(X)
    return X, net


def withstands(weights: Floats, states: ArrayLike, wanted: ArrayLike, rng: np.random.Generator) -> bool:
    """Whether every neuron answers as wanted (n, out) to states (n, in) with as many flips as epsilon max |w| < kappa allows.

    The flips are the worst that the neuron can get, those inputs that speak most for the wanted answer, and as many at random.
    """
    given, answers = np.asarray(states, dtype=np.float64), np.asarray(wanted)
    epsilon = LEARNING["kappa"] / np.abs(weights).max(axis=1)  # for each neuron; sum |y' - y| must stay below it
    for y, targets in zip(given, answers, strict=True):
        for w, target, bound in zip(weights, targets, epsilon, strict=True):
            flips = min(int(np.ceil(bound / 2)) - 1, len(y))  # each flip changes y by 2
            worst = np.argsort(-target * w * y)[:flips]
            for flipped in (worst, rng.permutation(len(y))[:flips]):
                perturbed = y.copy()
                perturbed[flipped] *= -1.0
                if rule.sign(w @ perturbed) != target:
                    return False
    return True


CHECKS = {"1": theorem_1, "2": theorem_2, "3": theorem_3, "3 for V": theorem_3_for_V, "4": theorem_4, "4 for U": theorem_4_for_U}
