"""Temporal predictive coding (Tang et al. 2023): predict the next pattern, and change the weights by what was wrong.

One layer: eps = x(t+1) - W f(x(t)), dW ~ eps f(x(t))^T, one transition at a time. That is linear in the targets, so a whole
epoch of it is one triangular system, the same for all neurons; this module solves it instead of looping over transitions.

Two layers, with latent neurons z: E = |z_t - W_r f(z_{t-1})|^2 + |x_t - W_o f(z_t)|^2, halved. The latent state is found
by gradient descent on E, then each weight matrix makes one step down on its term.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.problem import ProgressCallback
from seqattractor.learning.rule import sign
from seqattractor.sequences import Patterns

Floats = NDArray[np.float64]


def f(x: NDArray[np.generic]) -> Floats:
    """The activity of a neuron: tanh."""
    return np.tanh(x.astype(np.float64))


def learn_one_layer(
    inputs: Patterns,
    targets: Patterns,
    *,
    W: Floats,
    rate: float,
    max_epochs: int,
    tol: float,
    callback: ProgressCallback | None = None,
) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Learn W online by the delta rule: W += rate eps f(x)^T / |f(x)|^2.

    At transition t of an epoch, eps(t) is the error before the epoch less what the steps since then have mended:
    eps(t) + rate sum_{s<t} K(t,s) eps(s) = eps_before(t), with K(t,s) = f(x(t)).f(x(s)) / |f(x(s))|^2.

    Parameters
    ----------
    inputs, targets : ndarray of int8, shapes (n, N_in) and (n, N)
    W : ndarray, shape (N, N_in)
        The weights at the start.
    rate : float
        1 mends an error fully at once; below 2 learning is stable.
    max_epochs : int
    tol : float
        Learning ends after an epoch with a mean squared error below it.
    callback : callable, optional
        Told of every epoch: ``callback(epoch, 0, errors)``.

    Returns
    -------
    W : ndarray, shape (N, N_in)
    errors : ndarray of int, shape (epochs,)
        Units whose prediction had the wrong sign when their transition was visited.
    losses : ndarray, shape (epochs,)
        Mean of eps^2 over the epoch.
    """
    from scipy.linalg import solve_triangular

    x, wanted = f(inputs), targets.astype(np.float64)
    scaled = x / (x**2).sum(axis=1, keepdims=True)
    K = x @ scaled.T
    step = np.eye(len(x)) + rate * np.tril(K, -1)
    left = wanted - x @ W.T  # eps of every transition with the present W, (n, N)
    steps = np.zeros_like(left)  # sum of eps over epochs: W = W_start + rate steps^T scaled
    errors: list[int] = []
    losses: list[float] = []
    while len(errors) < max_epochs:
        eps = solve_triangular(step, left, lower=True, unit_diagonal=True, check_finite=False)
        steps += eps
        left -= rate * (K @ eps)
        errors.append(int(np.sum(sign(wanted - eps) != targets)))
        losses.append(float(np.mean(eps**2)))
        stop = callback is not None and callback(len(errors), 0, errors[-1])
        if stop or losses[-1] < tol:
            break
    return W + rate * steps.T @ scaled, np.array(errors, dtype=np.int64), np.array(losses)


@dataclass
class TwoLayers:
    """A predictive coding network with latent neurons.

    Parameters
    ----------
    W_r : ndarray, shape (H, H)
        Latent to latent, from one step to the next.
    W_o : ndarray, shape (N, H)
        Latent to visible.
    steps : int
        Of the descent to the latent state.
    step : float
        Its size.
    """

    W_r: Floats
    W_o: Floats
    steps: int
    step: float

    def infer(self, x: Floats, before: Floats) -> tuple[Floats, Floats]:
        """The latent states (B, H) for visible states x (B, N) after latent states `before`, and the prior W_r f(before)."""
        prior = f(before) @ self.W_r.T
        z = prior.copy()
        for _ in range(self.steps):
            activity = f(z)
            e_x = x - activity @ self.W_o.T
            z += self.step * ((prior - z) + (1 - activity**2) * (e_x @ self.W_o))  # down the gradient of E
        return z, prior

    def go_on(self, z: Floats) -> Floats:
        """The latent states one step after latent states z, with nothing seen in between: (B, H) -> (B, H)."""
        return np.asarray(f(z) @ self.W_r.T)

    def predict(self, z: Floats) -> Floats:
        """The fields of the visible neurons one step after latent states z: (B, H) -> (B, N)."""
        return np.asarray(f(self.go_on(z)) @ self.W_o.T)

    def learn(self, sequences: Sequence[Floats], rate: float) -> tuple[int, float]:
        """Go once through sequences (T_s, N); returns the wrong units of the predictions and the mean squared error."""
        wrong, loss, count = 0, 0.0, 0
        for x in sequences:
            z = np.zeros((1, len(self.W_r)))
            for t in range(len(x)):
                if t:
                    eps = x[t] - self.predict(z)[0]
                    wrong += int(np.sum(sign(x[t] - eps) != x[t]))
                    loss, count = loss + float(eps @ eps), count + eps.size
                before = z
                z, prior = self.infer(x[t : t + 1], before)
                activity = f(z)
                self.W_o += rate / len(self.W_r) * np.outer(x[t] - activity[0] @ self.W_o.T, activity)
                if t:  # before the first pattern there was nothing to learn from
                    self.W_r += rate / len(self.W_r) * np.outer(z - prior, f(before))
        return wrong, loss / max(count, 1)
