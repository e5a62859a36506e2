"""The plain online loop, as the paper ran it: one transition at a time on the whole weight matrices, in float32.

PyTorch if it is installed, otherwise numpy. Every transition of this loop costs the same, whatever has been learned, so a few
epochs tell what 500 would take.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np

from seqattractor.bench.cases import ETA, KAPPA, Problem
from seqattractor.learning.rule import learn_transition


def plain_loop(problem: Problem, n_jobs: int) -> NumpyLoop | TorchLoop:
    """The loop of the fastest library that is installed."""
    try:
        return TorchLoop(problem, n_jobs)
    except ModuleNotFoundError:
        return NumpyLoop(problem)


class NumpyLoop:
    """Equations (5)-(9) as they stand in `learning.rule`, on weights U and V in float32."""

    name = f"numpy {np.__version__}"

    def __init__(self, problem: Problem) -> None:
        self.U, self.V = problem.U.astype(np.float32), problem.V.astype(np.float32)
        data = (problem.inputs, problem.targets, problem.hidden_targets)
        self._transitions = cycle(list(zip(*(a.astype(np.float32) for a in data), strict=True)))

    def step(self) -> None:
        """Learn the next transition."""
        learn_transition(self.U, self.V, *next(self._transitions), kappa=KAPPA, eta=ETA)


class TorchLoop:
    """The same equations in PyTorch."""

    def __init__(self, problem: Problem, n_jobs: int) -> None:
        import torch

        torch.set_num_threads(n_jobs)
        self.name = f"PyTorch {torch.__version__}"
        self.U, self.V = torch.tensor(problem.U).float(), torch.tensor(problem.V).float()
        data = (problem.inputs, problem.targets, problem.hidden_targets)
        self._transitions = cycle(list(zip(*(torch.tensor(a).float() for a in data), strict=True)))
        self._torch: Any = torch
        self._one = torch.tensor(1.0)

    def step(self) -> None:
        """Learn the next transition."""
        torch, one = self._torch, self._one
        x, x_next, z = next(self._transitions)
        mu = torch.heaviside(KAPPA - z * (self.U @ x), one)  # eq. (5)
        self.U += ETA * torch.outer(mu * z, x)  # eq. (6)
        y = torch.where(self.U @ x >= 0, 1.0, -1.0)  # eq. (7)
        nu = torch.heaviside(KAPPA - x_next * (self.V @ y), one)  # eq. (8)
        self.V += ETA * torch.outer(nu * x_next, y)  # eq. (9)
