"""Figure 2: the network, run connection by connection beside the one of this package."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from seqattractor.learning import rule


def step_network(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Draw U (M x N) and V (N x M) and take one step from every visible state, by single connections and by the package's rule.

    Examples
    --------
    >>> step_network({"N": 3, "M": 2}, np.random.SeedSequence(0))
    {'equal': True}
    """
    rng = np.random.default_rng(seed)
    N, M = settings["N"], settings["M"]
    U, V = rng.standard_normal((M, N)), rng.standard_normal((N, M))
    for xi in product((-1, 1), repeat=N):
        zeta = [1 if sum(U[i, k] * xi[k] for k in range(N)) >= 0 else -1 for i in range(M)]  # eq. (2)
        following = [1 if sum(V[j, k] * zeta[k] for k in range(M)) >= 0 else -1 for j in range(N)]  # eq. (3)
        hidden = rule.hidden_state(U, np.array(xi, dtype=np.float64))
        if hidden.tolist() != zeta or rule.visible_state(V, hidden.astype(np.float64)).tolist() != following:
            return {"equal": False}
    return {"equal": True}
