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
    if kernels.run_innate(weights, sources, counts, drive, wanted, P, x, rates, every, tau):
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
    kernels.run_pinning(J, plastic, drive, wanted, P, x, states, tau)
    return states
