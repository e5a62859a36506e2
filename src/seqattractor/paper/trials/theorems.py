"""The four theorems, each checked on one random instance of random size."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.datasets._random import random_periodic
from seqattractor.learning import rule
from seqattractor.networks._attractor import SequenceAttractor
from seqattractor.networks._one_hot import OneHotNetwork
from seqattractor.paper.settings import LEARNING

EPOCHS = 100_000  # "finitely many"; a network that needs more counts as a failure


def check_theorem(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Check the theorem of this number on one random instance."""
    return {"holds": bool(CHECKS[settings["theorem"]](np.random.default_rng(seed)))}


def theorem_1(rng: np.random.Generator) -> bool:
    """The construction of the proof makes a random sequence of random size."""
    N = int(rng.integers(5, 80))
    T = int(rng.integers(3, min(120, 2 ** min(N, 10))))
    X = random_periodic(T, N, rng=rng)
    net = OneHotNetwork().fit(X)
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
    """A rate above (kappa + |U x|) / N leaves no hidden error at this transition, and likewise for V."""
    N, M = rng.integers(2, 60, size=2)
    kappa = float(rng.uniform(0.1, 10.0))
    x, x_next = rng.choice([-1.0, 1.0], size=(2, N))
    U, V, z = rng.standard_normal((M, N)), rng.standard_normal((N, M)), rng.choice([-1.0, 1.0], size=M)
    y = rule.hidden_state(U, x).astype(np.float64)
    eta_U = 1.01 * (kappa + np.abs(U @ x).max()) / N
    eta_V = 1.01 * (kappa + np.abs(V @ y).max()) / M
    before = rule.update_hidden(U, x, z, kappa=kappa, eta=eta_U) + rule.update_visible(V, y, x_next, kappa=kappa, eta=eta_V)
    after = rule.update_hidden(U, x, z, kappa=kappa, eta=eta_U) + rule.update_visible(V, y, x_next, kappa=kappa, eta=eta_V)
    return before > 0 and after == 0


def theorem_4(rng: np.random.Generator) -> bool:
    """As many hidden flips as the bound allows, at random places, change no visible neuron of a trained network."""
    T, N, M = int(rng.integers(5, 25)), int(rng.integers(40, 80)), int(rng.integers(100, 300))
    X = random_periodic(T, N, rng=rng)
    net = SequenceAttractor(M, random_state=rng, engine="exact", n_jobs=1, **{**LEARNING, "max_epochs": EPOCHS}).fit(X)
    epsilon = LEARNING["kappa"] / np.abs(net.V_).max(axis=1)  # for each visible neuron
    for t in range(T - 1):
        y = net.hidden(X[t]).astype(np.float64)
        for j in range(N):
            flips = min(int(np.ceil(epsilon[j] / 2)) - 1, M)  # each flip changes y by 2, and the sum stays below epsilon
            perturbed = y.copy()
            perturbed[rng.permutation(M)[:flips]] *= -1.0
            if rule.sign(net.V_[j] @ perturbed) != X[t + 1, j]:
                return False
    return bool(net.converged_)


CHECKS = {1: theorem_1, 2: theorem_2, 3: theorem_3, 4: theorem_4}
