"""Time of one step of recall with dense weights, and with U in the form eta A X that a zero start leaves it in.

    python benchmarks/recall_forms.py

One thread, processor time, best of several turns. V stays dense in both: its updates were made with codes that have changed
since, so it is no product of few integers and the final codes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

CASES = {"moving digits": (4096, 1000, 380), "walker": (11264, 200, 103), "few transitions": (16384, 1000, 100)}
TURNS = 7


def best(step: Callable[[], object]) -> float:
    """Milliseconds of the quickest of some turns."""
    times = []
    for _ in range(TURNS):
        started = time.process_time()
        step()
        times.append(time.process_time() - started)
    return 1e3 * min(times)


def compare(N: int, M: int, n: int, batch: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Milliseconds of U xi dense, of A (X xi), and of V zeta, for a batch of states."""
    U, V, A = rng.standard_normal((M, N)), rng.standard_normal((N, M)), rng.integers(-50, 50, (M, n)).astype(float)
    X, states = (np.where(rng.random((rows, N)) < 0.5, 1.0, -1.0) for rows in (n, batch))
    zeta = np.where(states @ U.T >= 0, 1.0, -1.0)
    return best(lambda: states @ U.T), best(lambda: (states @ X.T) @ A.T), best(lambda: zeta @ V.T)


def main() -> None:
    """Print one line for each case."""
    rng = np.random.default_rng(0)
    with threadpool_limits(1):
        for name, (N, M, n) in CASES.items():
            for batch in (1, 20):
                dense, low, visible = compare(N, M, n, batch, rng)
                print(
                    f"{name}, N={N}, M={M}, {n} transitions, batch of {batch}: U dense {dense:.2f} ms, low rank {low:.2f} ms, "
                    f"V {visible:.2f} ms; whole step {(dense + visible) / (low + visible):.2f} times as fast"
                )


if __name__ == "__main__":
    main()
