"""Equations (1)-(9) of the paper, in plain numpy. Read this file beside it.

One row of a matrix is one neuron: U is (M, N), V is (N, M), P is (M, N), W is (N, N). A pattern x
is a vector of +-1; the dynamics also takes a batch of them, one per row. Learning is online: one
transition x(t) -> x(t+1) at a time. With an order k > 1 the input x(t) is the stack of the last k
patterns, and U is (M, kN). With biases, which the paper leaves out "as they can be absorbed into
the equations", a unit that is always +1 joins x and y: every sum has one more term, and the last
columns of U, V and W are the biases. With learned targets, which the paper does not have, the fixed
random P becomes P + lambda Q. Q is (M, N): the synapses through which x(t+1) reaches the hidden
neurons. They start at zero and get the update of V, whose factors are known there, too: what is
presynaptic for the one is postsynaptic for the other (Kolen and Pollack, 1994). Every weight
changes by a product of three factors, all known where the weight is: the presynaptic activity, the
postsynaptic target and an error of 0 or 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def sign(h: Array) -> Array:
    """sign(h) = 1 if h >= 0, else -1: the paper's sign, for which sign(0) = +1 (numpy's sign(0) is
    0).
    """
    return 2 * heaviside(h) - 1


def heaviside(h: Array) -> Array:
    """H(h) = 1 if h >= 0, else 0: H(0) = 1, so a margin of exactly kappa still counts as an
    error.
    """
    return (h >= 0).astype(np.int8)


def with_constant(x: Array) -> Array:
    """Let a unit that is always +1 join the patterns: (N,) -> (N + 1,), (B, N) -> (B, N + 1). Its
    weights are the biases.
    """
    return np.concatenate([x, np.ones((*x.shape[:-1], 1), dtype=x.dtype)], axis=-1)


# -- the dynamics
# -----------------------------------------------------------------------------------------------


def field(W: Array, x: Array) -> Array:
    """What every neuron receives, W x: (N,) -> (M,) for one pattern, (B, N) -> (B, M) for a
    batch.
    """
    if W.dtype == np.int8:
        W = W.astype(
            np.float32
        )  # sums of +-1 are exact in float32 up to 2**24, and BLAS adds them up
    return x.astype(W.dtype, copy=False) @ W.T


def next_visible_only(W: Array, xi: Array, bias: Array | float = 0.0) -> Array:
    """The next state of a network without hidden neurons, eq. (1)."""
    return sign(field(W, xi) + bias)  # eq. (1)


def hidden_state(U: Array, xi: Array, theta: Array | float = 0.0) -> Array:
    """The hidden neurons' state zeta; theta > 0 makes it sparse (the paper's ablation), and a bias
    is a theta below 0.
    """
    return sign(field(U, xi) - theta)  # eq. (2)


def visible_state(V: Array, zeta: Array, bias: Array | float = 0.0) -> Array:
    """The visible neurons' next state; the construction of Theorem 1 has a bias, too."""
    return sign(field(V, zeta) + bias)  # eq. (3)


# -- the learning rule
# ------------------------------------------------------------------------------------------


def target_drive(P: Array, x_next: Array, theta: Array | float = 0.0) -> Array:
    """What a fixed random projection of the next pattern says to the hidden neurons; theta > 0
    makes it sparse.
    """
    return np.asarray(field(P, x_next) - theta)


def hidden_target(P: Array, x_next: Array, theta: Array | float = 0.0) -> Array:
    """What the hidden neurons should say, with a fixed random projection."""
    return sign(target_drive(P, x_next, theta))  # eq. (4)


def learned_target(drive: Array, Q: Array, x_next: Array, learned_feedback: float) -> Array:
    """What they should say with P + lambda Q instead of P; `drive` is what P says
    (`target_drive`).
    """
    return sign(drive + learned_feedback * field(Q, x_next))  # eq. (4)


def update_hidden(
    U: Array, x: Array, z: Array, *, kappa: float, eta: float, theta: float = 0.0
) -> int:
    """Teach the hidden neurons their targets z; changes U in place and returns the number of
    errors.
    """
    mu = heaviside(kappa - z * (field(U, x) - theta))  # eq. (5)
    U += eta * np.outer(mu * z, x)  # eq. (6)
    return int(mu.sum())


def update_visible(
    V: Array, y: Array, x_next: Array, *, kappa: float, eta: float, Q: Array | None = None
) -> int:
    """Teach the visible neurons the next pattern; changes V in place, and Q if there is one, and
    returns the number of errors.
    """
    nu = heaviside(kappa - x_next * field(V, y))  # eq. (8)
    V += eta * np.outer(nu * x_next, y)  # eq. (9)
    if Q is not None:
        Q += eta * np.outer(
            y[: len(Q)], nu * x_next
        )  # eq. (9) again; the constant unit of biases has no target
    return int(nu.sum())


def learn_transition(
    U: Array,
    V: Array,
    x: Array,
    x_next: Array,
    z: Array | None,
    *,
    kappa: float,
    eta: float,
    theta: float = 0.0,
    bias: bool = False,
    Q: Array | None = None,
) -> tuple[int, int]:
    """Learn one transition x(t) -> x(t+1), steps 1 and 2 of section 5; returns the errors sum mu
    and sum nu.

    Without hidden targets z only V learns. With biases U is (M, N + 1) and V is (N, M + 1): biases
    learn as all other weights, by eqs. (6) and (9). The feedback Q learns with V.
    """
    x = with_constant(x) if bias else x
    hidden_errors = 0 if z is None else update_hidden(U, x, z, kappa=kappa, eta=eta, theta=theta)
    y = hidden_state(U, x, theta)  # eq. (7), with the U just updated
    visible_errors = update_visible(
        V, with_constant(y) if bias else y, x_next, kappa=kappa, eta=eta, Q=Q
    )
    return hidden_errors, visible_errors


# -- the other rules of the paper
# -------------------------------------------------------------------------------


def hebbian(inputs: Array, targets: Array) -> Array:
    """The temporal asymmetric Hebbian weights sum_t x(t+1) y(t)^T, for rows of inputs y(t) and
    targets x(t+1).
    """
    return targets.astype(np.float64).T @ inputs.astype(np.float64)
