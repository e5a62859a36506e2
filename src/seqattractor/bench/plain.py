"""The plain online loop, as the paper ran it: one transition at a time on the whole weight matrices, in float32.

PyTorch if it is installed, otherwise numpy. Every transition of this loop costs the same, whatever has been learned, so a few
epochs tell what 500 would take.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import numpy as np

from seqattractor.bench.cases import ETA, KAPPA, Problem

__all__ = ["plain_loop"]


def plain_loop(problem: Problem, n_jobs: int) -> tuple[str, Callable[[], None]]:
    """The name of the loop, and a function that learns the next transition each time it is called."""
    try:
        import torch
    except ModuleNotFoundError:
        return f"numpy {np.__version__}", _numpy_loop(problem)
    torch.set_num_threads(n_jobs)
    return f"PyTorch {torch.__version__}", _torch_loop(problem)


def _torch_loop(problem: Problem) -> Callable[[], None]:
    """Equations (5)-(9) in PyTorch."""
    import torch

    x, x_next, z = (torch.tensor(a).float() for a in (problem.inputs, problem.targets, problem.hidden_targets))
    U, V = torch.tensor(problem.U).float(), torch.tensor(problem.V).float()
    one = torch.tensor(1.0)
    transition = cycle(range(len(x)))

    def step() -> None:
        nonlocal U, V
        t = next(transition)
        mu = torch.heaviside(KAPPA - z[t] * (U @ x[t]), one)  # eq. (5)
        U += ETA * torch.outer(mu * z[t], x[t])  # eq. (6)
        y = torch.where(U @ x[t] >= 0, 1.0, -1.0)  # eq. (7)
        nu = torch.heaviside(KAPPA - x_next[t] * (V @ y), one)  # eq. (8)
        V += ETA * torch.outer(nu * x_next[t], y)  # eq. (9)

    return step


def _numpy_loop(problem: Problem) -> Callable[[], None]:
    """Equations (5)-(9) in numpy."""
    x, x_next, z = (a.astype(np.float32) for a in (problem.inputs, problem.targets, problem.hidden_targets))
    U, V = problem.U.astype(np.float32), problem.V.astype(np.float32)
    eta, one = np.float32(ETA), np.float32(1)
    transition = cycle(range(len(x)))

    def step() -> None:
        nonlocal U, V
        t = next(transition)
        mu = np.heaviside(KAPPA - z[t] * (U @ x[t]), one)  # eq. (5)
        U += eta * np.outer(mu * z[t], x[t])  # eq. (6)
        y = np.where(U @ x[t] >= 0, one, -one)  # eq. (7)
        nu = np.heaviside(KAPPA - x_next[t] * (V @ y), one)  # eq. (8)
        V += eta * np.outer(nu * x_next[t], y)  # eq. (9)

    return step
