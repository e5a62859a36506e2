"""What is measured: four learning problems of the paper's kind, with its settings."""

from __future__ import annotations

import numpy as np

from seqattractor.datasets import moving_digits, random_periodic, walker
from seqattractor.engine.grid import in_steps
from seqattractor.engine.problem import Problem
from seqattractor.rule import sign
from seqattractor.sequences import Sequences, transitions

KAPPA, ETA, INIT_SCALE, MAX_EPOCHS = (
    1.0,
    1e-3,
    1e-3,
    500,
)  # the settings of all experiments of the paper

CASES = {
    "random-70": "random patterns, N=100, M=500, T=70",
    "random-150": "random patterns, N=100, M=500, T=150 (never converges)",
    "digits": "moving digits, N=4096, M=1000, 20 sequences of 20",
    "walker": "walking figure, N=11264, M=200, T=104",
}


def sizes(problem: Problem) -> dict[str, int]:
    """N, M and the number n of transitions."""
    return {"N": problem.V.shape[0], "M": problem.V.shape[1], "n": len(problem.inputs)}


def make_problem(name: str, seed: int = 0) -> Problem:
    """Make one of `CASES`."""
    rng = np.random.default_rng(seed)
    if name == "digits":
        return _problem(moving_digits(rng=np.random.default_rng(0)), 1000, rng)
    if name == "walker":
        return _problem(walker(), 200, rng)
    return random_problem(100, 500, int(name.removeprefix("random-")), rng)


def random_problem(N: int, M: int, T: int, rng: np.random.Generator) -> Problem:
    """Random patterns in a closed loop."""
    return _problem(random_periodic(T, N, rng=rng), M, rng)


def _problem(X: Sequences, M: int, rng: np.random.Generator) -> Problem:
    """Draw U, V and P as the paper does."""
    inputs, targets, _ = transitions(X.patterns, X.lengths)
    N = targets.shape[1]
    U, V = (in_steps(INIT_SCALE * rng.standard_normal(shape), ETA) for shape in ((M, N), (N, M)))
    z = sign(targets.astype(np.float64) @ rng.standard_normal((M, N)).T)  # eq. (4)
    kappa = float(in_steps(KAPPA, ETA))
    return Problem(inputs, targets, V, kappa, MAX_EPOCHS, U=U, hidden_targets=z)
