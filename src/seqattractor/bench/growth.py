"""How the time to learn grows with N, M and T: one of them varies, and a power law is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.bench.cases import random_problem
from seqattractor.bench.speed import exact_seconds, plain_seconds

_BASE = {"N": 800, "M": 400, "T": 40}
_VALUES = {"N": (400, 800, 1600, 3200, 6400), "M": (200, 400, 800, 1600, 3200), "T": (20, 40, 80, 160, 320)}


def growth(*, n_jobs: int = 1, seconds: float = 0.3) -> list[dict[str, Any]]:
    """For each of N, M and T: sizes, seconds of both loops up to zero error, and the fitted exponents.

    The other two sizes stay at N=800, M=400 and T=40.
    """
    found = []
    for name, values in _VALUES.items():
        exact, plain, epochs = [], [], []
        for value in values:
            sizes = {**_BASE, name: value}
            problem = random_problem(sizes["N"], sizes["M"], sizes["T"], np.random.default_rng(0))
            taken, learned = min((exact_seconds(problem, n_jobs) for _ in range(3)), key=lambda run: run[0])
            _, per_transition, _ = plain_seconds(problem, n_jobs, seconds)
            exact.append(taken)
            plain.append(per_transition * len(problem.inputs) * learned.n_iter)
            epochs.append(learned.n_iter)
        found.append(
            {
                "varies": name,
                "others": {key: value for key, value in _BASE.items() if key != name},
                "values": list(values),
                "epochs": epochs,
                "exact_seconds": exact,
                "plain_seconds": plain,
                "exact_exponent": _exponent(values, exact),
                "plain_exponent": _exponent(values, plain),
            }
        )
    return found


def _exponent(values: tuple[int, ...], seconds: list[float]) -> float:
    """The slope of log time against log size."""
    return float(np.polyfit(np.log(values), np.log(seconds), 1)[0])
