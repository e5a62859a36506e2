"""A recurrent network trained by backpropagation through time, in plain numpy.

    h(t) = tanh(W_in x(t) + W_rec h(t-1) + b)          y(t) = W_out h(t) + c          x(t+1) = sign(y(t))

The loss is the logistic one, log(1 + exp(-2 x y)) for every unit, whose gradient is tanh(y) - x. Several copies of a sequence are
run at once, (B, ...). Before some steps a copy forgets: its hidden state is zero, as it is before a cue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Weights(NamedTuple):
    """All that is learned; also a gradient, or a moment of it."""

    W_in: Floats
    """Shape (H, N)."""
    W_rec: Floats
    """Shape (H, H)."""
    W_out: Floats
    """Shape (N, H)."""
    b: Floats
    """Shape (H,)."""
    c: Floats
    """Shape (N,)."""


def step(weights: Weights, x: Floats, h: Floats) -> Floats:
    """The hidden states after patterns x, (B, N), and hidden states h: (B, H) -> (B, H)."""
    return np.asarray(np.tanh(x @ weights.W_in.T + h @ weights.W_rec.T + weights.b))


def read_out(weights: Weights, h: Floats) -> Floats:
    """The fields y of visible neurons: (B, H) -> (B, N)."""
    return np.asarray(h @ weights.W_out.T + weights.c)


class Backpropagated(NamedTuple):
    """What a run through a sequence tells."""

    loss: float
    """The mean over steps, copies and units."""
    slope: Weights
    """Its gradient."""
    wrong: int
    """How many units had the wrong sign."""
    end: Floats
    """The last hidden states, shape (B, H)."""


def backpropagate(weights: Weights, x: Floats, target: Floats, start: Floats, keeps: Floats) -> Backpropagated:
    """Backpropagate through a whole sequence.

    Parameters
    ----------
    weights : Weights
    x : ndarray, shape (n, B, N)
        What each copy sees.
    target : ndarray, shape (n, N)
        What comes next.
    start : ndarray, shape (B, H)
        The hidden states before the first step, which are not learned.
    keeps : ndarray, shape (n, B)
        1 where a copy keeps its hidden state from the step before, 0 where it forgets.

    Returns
    -------
    Backpropagated
    """
    n, B, N = x.shape
    before, h = np.empty((n, B, len(weights.b))), np.empty((n, B, len(weights.b)))
    for t in range(n):
        before[t] = (h[t - 1] if t else start) * keeps[t][:, None]
        h[t] = step(weights, x[t], before[t])
    y = read_out(weights, h)
    margin = y * target[:, None]
    loss = float(np.logaddexp(0.0, -2 * margin).mean())
    e_y = (np.tanh(y) - target[:, None]) / y.size
    e_u = e_y @ weights.W_out  # errors of hidden neurons: at first only what their own step says
    from_later = np.zeros_like(h[0])
    for t in range(n - 1, -1, -1):
        e_u[t] = (e_u[t] + from_later) * (1 - h[t] ** 2)
        from_later = (e_u[t] @ weights.W_rec) * keeps[t][:, None]
    flat_u, flat_y = e_u.reshape(n * B, -1), e_y.reshape(n * B, -1)
    slope = Weights(
        flat_u.T @ x.reshape(n * B, N),
        flat_u.T @ before.reshape(n * B, -1),
        flat_y.T @ h.reshape(n * B, -1),
        flat_u.sum(axis=0),
        flat_y.sum(axis=0),
    )
    return Backpropagated(loss, slope, int(np.sum((y >= 0) != (target[:, None] > 0))), h[-1])


class Adam:
    """Steps down a gradient whose size does not count: its mean divided by the root of its mean square (Kingma and Ba)."""

    def __init__(self, like: Weights, rate: float, decay: tuple[float, float] = (0.9, 0.999)) -> None:
        self.rate, self.decay, self.steps = rate, decay, 0
        self.mean, self.square = (Weights(*map(np.zeros_like, like)) for _ in range(2))

    def go(self, weights: Weights, slope: Weights) -> None:
        """Change the weights in place."""
        self.steps += 1
        corrected = [1 - decay**self.steps for decay in self.decay]
        for w, g, mean, square in zip(weights, slope, self.mean, self.square, strict=True):
            mean += (1 - self.decay[0]) * (g - mean)
            square += (1 - self.decay[1]) * (g * g - square)
            w -= self.rate * (mean / corrected[0]) / (np.sqrt(square / corrected[1]) + 1e-8)
