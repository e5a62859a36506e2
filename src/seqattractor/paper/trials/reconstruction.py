"""Figure 3: a pattern x read off its random projection sign(P x)."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.rule import sign


def reconstruct_pattern(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """Draw one P (M x N, "gaussian" or "uniform") and one x, and decode both ways; outcomes are sums of |errors|."""
    rng = np.random.default_rng(seed)
    shape = settings["M"], settings["N"]
    P = rng.standard_normal(shape) if settings["P"] == "gaussian" else rng.uniform(-1.0, 1.0, shape)
    x = rng.choice(np.array([-1, 1], dtype=np.int8), size=settings["N"])
    y = sign(P @ x).astype(np.float64)
    by_inverse = np.linalg.lstsq(P, y, rcond=None)[0]  # P+ y, without forming P+
    return {"pseudo_inverse": int(np.abs(x - sign(by_inverse)).sum()), "transpose": int(np.abs(x - sign(P.T @ y)).sum())}
