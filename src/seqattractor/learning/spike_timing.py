"""Spike-timing-dependent plasticity with competition between the synapses of a neuron (Fiete, Senn, Wang & Hahnloser 2010).

States are 0 and 1, one step is one burst. W, shape (n, n), is never negative, and no neuron excites itself.
    x_i(t) = 1 where  sum_j W_ij x_j(t-1) + b_i(t) - beta sum_j x_j(t-1) - alpha y_i(t) > 0
    y_i(t) = y_i(t-1) + (x_i(t-1) - y_i(t-1)) / tau                                  adaptation
    D_ij = eta (x_i(t) x_j(t-1) - x_i(t-1) x_j(t))                                   who fires next is excited, who fired last not
    W <- W + D - eta epsilon (row_i + col_j), clipped to between 0 and 1             competition at both ends, with
    row_i = [sum_j (W + D)_ij - m]_+,  col_j = [sum_i (W + D)_ij - m]_+              what exceeds the limit of m strong synapses
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def field(W: Floats, x: Floats, inhibition: float) -> Floats:
    """What neurons receive from all others, and by a common inhibition beta: (..., n) -> (..., n)."""
    return np.asarray(x @ W.T - inhibition * x.sum(axis=-1, keepdims=True))


def adapt(y: Floats, x: Floats, tau: float) -> None:
    """Let adaptation follow the activity; changes y in place."""
    y += (x - y) / tau


def update(W: Floats, before: Floats, after: Floats, *, eta: float, competition: float, synapses: float) -> None:
    """Change W in place by two states that followed each other; `competition` is epsilon, `synapses` is m."""
    W += eta * (np.outer(after, before) - np.outer(before, after))
    beyond = np.maximum(W.sum(axis=1) - synapses, 0.0)[:, None] + np.maximum(W.sum(axis=0) - synapses, 0.0)
    W -= eta * competition * beyond
    np.clip(W, 0.0, 1.0, out=W)
    np.fill_diagonal(W, 0.0)


def self_organise(
    W: Floats,
    steps: int,
    *,
    drive: float,
    inhibition: float,
    adaptation: float,
    tau: float,
    rng: np.random.Generator,
    **rates: Any,
) -> None:
    """Let a network run and learn, with nothing told but neurons that fire by chance with the probability `drive`; changes W."""
    x, y = np.zeros(len(W)), np.zeros(len(W))
    for _ in range(steps):
        adapt(y, x, tau)
        fires = (field(W, x, inhibition) - adaptation * y > 0) | (rng.random(len(W)) < drive)
        before, x = x, fires.astype(np.float64)
        update(W, before, x, **rates)
