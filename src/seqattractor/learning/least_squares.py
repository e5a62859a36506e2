"""Recursive least squares inside a running rate network: the two rules that train recurrent weights by it.

For one linear unit with weights w on inputs r, a wanted value f and P, at first (1/alpha) I, a step is

    k = P r      c = 1 / (1 + r . k)      P <- P - c k k^T      w <- w - c (w . r - f) k

Innate training (Laje & Buonomano 2013) gives every plastic neuron a P of its own, over its own inputs. PINning (Rajan, Harvey &
Tank 2016) trains the same presynaptic neurons for all units, so that one P serves all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning import kernels
from seqattractor.learning.fallback import has_kernels

Floats = NDArray[np.float64]


def run_innate(
    weights: Floats,
    sources: NDArray[np.int64],
    counts: NDArray[np.int64],
    drive: Floats,
    wanted: Floats,
    P: Floats,
    x: Floats,
    every: int,
    tau: float,
) -> Floats:
    """Run a sparse network of tanh neurons, tau dx/dt = -x + W r + drive, and train it on the way; returns r of every step.

    Parameters
    ----------
    weights, sources : arrays, shape (n, K)
        Of each neuron's incoming connections, of which the first `counts` (n,) are there; weights are changed.
    drive : array, shape (steps, n)
    wanted : array, shape (steps, n), or (0, n) in order not to train
        The rates that the plastic neurons should have; they learn at every `every`-th step.
    P : array, shape (plastic, K, K)
        Of the plastic neurons, which are the first ones; changed.
    x : array, shape (n,)
        The state, changed.
    """
    rates = np.empty_like(drive)
    if not has_kernels():
        _run_innate(weights, sources, counts, drive, wanted, P, x, rates, every, tau)
    elif kernels.run_innate(weights, sources, counts, drive, wanted, P, x, rates, every, tau):
        raise ValueError("P must have a matrix for each of the first neurons, as large as there are connections.")
    return rates


def run_pinning(J: Floats, plastic: NDArray[np.int64], drive: Floats, wanted: Floats, P: Floats, x: Floats, tau: float) -> Floats:
    """Run a network of sigmoid units, tau dx/dt = -x + J r + drive, and train columns of J; returns x of every step.

    Parameters
    ----------
    J : array, shape (N, N)
        Changed.
    plastic : array of int, shape (m,)
        The columns that learn.
    drive : array, shape (steps, N)
    wanted : array, shape (steps, N), or (0, N) in order not to train
        The inputs J r that the units should have.
    P : array, shape (m, m)
        Changed.
    x : array, shape (N,)
        The state, changed.
    """
    states = np.empty_like(drive)
    run = kernels.run_pinning if has_kernels() else _run_pinning
    run(J, plastic, drive, wanted, P, x, states, tau)
    return states


def _follow(P: Floats, r: Floats) -> tuple[Floats, float]:
    """Let P learn of inputs r; returns k and c."""
    k = P @ r
    c = 1 / (1 + float(r @ k))
    P -= c * np.outer(k, k)
    return k, c


def _run_innate(
    weights: Floats,
    sources: NDArray[np.int64],
    counts: NDArray[np.int64],
    drive: Floats,
    wanted: Floats,
    P: Floats,
    x: Floats,
    rates: Floats,
    every: int,
    tau: float,
) -> None:
    """Do what `run_innate` does in numpy; it rounds sums in another order."""
    there, r = np.arange(weights.shape[1]) < counts[:, np.newaxis], np.tanh(x)
    for t in range(len(drive)):
        x += (drive[t] + np.where(there, weights * r[sources], 0.0).sum(axis=1) - x) / tau
        rates[t] = r = np.tanh(x)
        for i in range(len(P) if t < len(wanted) and t % every == 0 else 0):
            m = counts[i]
            k, c = _follow(P[i, :m, :m], r[sources[i, :m]])
            weights[i, :m] -= c * (r[i] - wanted[t, i]) * k


def _run_pinning(
    J: Floats, plastic: NDArray[np.int64], drive: Floats, wanted: Floats, P: Floats, x: Floats, states: Floats, tau: float
) -> None:
    """Do what `run_pinning` does in numpy; it rounds sums in another order."""
    r = 1 / (1 + np.exp(-x))
    for t in range(len(drive)):
        x += (J @ r + drive[t] - x) / tau
        states[t], r = x, 1 / (1 + np.exp(-x))
        if t < len(wanted):
            error = J @ r - wanted[t]
            k, c = _follow(P, r[plastic])
            J[:, plastic] -= c * np.outer(error, k)
