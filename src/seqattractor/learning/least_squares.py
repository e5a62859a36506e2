"""Recursive least squares inside a running rate network: the two rules that train recurrent weights by it.

For one linear unit with weights w on inputs r, a wanted value f and P, at first (1/alpha) I, a step is

    k = P r      c = 1 / (1 + r . k)      P <- P - c k k^T      w <- w - c (w . r - f) k

Innate training (Laje & Buonomano 2013) gives every plastic neuron a P of its own, over its own inputs. PINning (Rajan, Harvey &
Tank 2016) trains the same presynaptic neurons for all units, so that one P serves all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.compiled import kernel, part


@kernel
def run_innate(weights: Any, sources: Any, counts: Any, drive: Any, wanted: Any, P: Any, x: Any, every: int, tau: float) -> Any:
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
    n, steps = len(x), len(drive)
    r, rates = np.tanh(x), np.empty((steps, n))
    inputs, k = np.empty(weights.shape[1]), np.empty(weights.shape[1])
    for t in range(steps):
        for i in range(n):
            field = drive[t, i]
            for a in range(counts[i]):
                field += weights[i, a] * r[sources[i, a]]
            x[i] += (field - x[i]) / tau
        for i in range(n):
            r[i] = np.tanh(x[i])
            rates[t, i] = r[i]
        if t < len(wanted) and t % every == 0:
            for i in range(len(P)):
                m = counts[i]
                for a in range(m):
                    inputs[a] = r[sources[i, a]]
                c = _follow(P[i], inputs, k, m)
                error = r[i] - wanted[t, i]
                for a in range(m):
                    weights[i, a] -= c * error * k[a]
    return rates


@kernel
def run_pinning(J: Any, plastic: Any, drive: Any, wanted: Any, P: Any, x: Any, tau: float) -> Any:
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
    N, m = len(x), len(plastic)
    states, inputs, k = np.empty((len(drive), N)), np.empty(m), np.empty(m)
    field = J @ (1 / (1 + np.exp(-x)))
    for t in range(len(drive)):
        x += (field + drive[t] - x) / tau
        states[t] = x
        r = 1 / (1 + np.exp(-x))
        field = J @ r
        if t < len(wanted):
            inputs[:] = r[plastic]
            c = _follow(P, inputs, k, m)
            change = 1 - 1 / c  # -(r . k)
            for i in range(N):
                error = field[i] - wanted[t, i]
                for a in range(m):
                    J[i, plastic[a]] -= c * error * k[a]
                field[i] += c * error * change
    return states


@part
def _follow(P: Any, inputs: Any, k: Any, m: int) -> float:
    """Set k to P r over the first m inputs, let P learn of them, and give c = 1 / (1 + r . k)."""
    total = 1.0
    for a in range(m):
        k[a] = 0.0
        for b in range(m):
            k[a] += P[a, b] * inputs[b]
        total += inputs[a] * k[a]
    c = 1 / total
    for a in range(m):
        for b in range(m):
            P[a, b] -= c * k[a] * k[b]
    return c
