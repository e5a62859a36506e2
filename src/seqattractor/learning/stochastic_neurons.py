"""Neurons that fire by chance, visible and hidden, and a rule that makes a visible sequence likely (Brea, Senn & Pfister 2013).

One row of W, shape (N + H, N + H + 1), is one neuron: N visible ones, then H hidden ones; the last column holds biases. States
are 0 and 1. Every neuron receives u(t) = W s(t), with s(t) = decay s(t-1) + (x(t), h(t)) and a last entry of 1, and fires in the
next step with the probability rho = 1 / (1 + exp(-beta u)), independently of the others.

While a sequence is shown, hidden neurons fire by their own chance. With eligibilities E_ij(t) = beta (x_i(t+1) - rho_i(t)) s_j(t)
    visible weights change by   eta E_ij(t): up the likelihood of what is shown, given what hidden neurons did;
    hidden weights change by    eta (r(t) - rbar) e_ij(t), e_ij(t) = trace e_ij(t-1) + E_ij(t-1),
where r(t) is the log likelihood of the next visible pattern, per neuron, and rbar its running mean: one number for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass
class StochasticNeurons:
    """Weights with what they learn by.

    Parameters
    ----------
    W : ndarray, shape (N + H, N + H + 1)
        Changed in place by `learn`.
    n_visible : int
        N.
    beta : float
    decay : float
        How much of a postsynaptic potential is left after a step.
    baseline : float
        rbar; `learn` changes it.
    """

    W: Floats
    n_visible: int
    beta: float
    decay: float
    baseline: float = 0.0

    def sum_up(self, s: Floats, active: Floats) -> Floats:
        """Potentials s, (..., N + H), after the activities (..., N + H) of one more step."""
        return self.decay * s + active

    def field(self, s: Floats) -> Floats:
        """What all neurons receive, u = W (s, 1): (..., N + H) -> (..., N + H)."""
        return np.asarray(s @ self.W[:, :-1].T + self.W[:, -1])

    def probability(self, u: Floats) -> Floats:
        """rho, with which neurons fire."""
        return _logistic(self.beta * u)

    def learn(self, x: Floats, draws: Floats, *, eta: float, trace: float, baseline_rate: float) -> tuple[int, float]:
        """Go once through a sequence.

        Parameters
        ----------
        x : ndarray of 0 and 1, shape (T, N)
        draws : ndarray, shape (T - 1, H)
            Numbers from 0 to 1: a hidden neuron fires where its number is below its probability.
        eta, trace, baseline_rate : float

        Returns
        -------
        int
            Visible neurons that were likelier in the wrong state than in the right one, over all steps.
        float
            The log likelihood of the sequence, given what the hidden neurons did.
        """
        N, (hidden, width) = self.n_visible, (len(self.W) - self.n_visible, self.W.shape[1])
        s, h = np.zeros(width - 1), np.zeros(hidden)
        e = np.zeros((hidden, width))
        wrong, total = 0, 0.0
        for t in range(len(x) - 1):
            s = self.sum_up(s, np.concatenate([x[t], h]))
            u, seen = self.field(s), np.append(s, 1.0)
            rho, likelihood = self.probability(u), _log_logistic(self.beta * u[:N] * (2 * x[t + 1] - 1))
            wrong += int(np.sum((u[:N] >= 0) != (x[t + 1] > 0)))
            total += float(likelihood.sum())
            self.W[:N] += eta * self.beta * np.outer(x[t + 1] - rho[:N], seen)
            if hidden:
                r = float(likelihood.mean())
                self.W[N:] += eta * (r - self.baseline) * e
                self.baseline += baseline_rate * (r - self.baseline)
                h = (draws[t] < rho[N:]).astype(np.float64)
                e = trace * e + self.beta * np.outer(h - rho[N:], seen)
        return wrong, total


def _logistic(z: Floats) -> Floats:
    """1 / (1 + exp(-z)), without overflow."""
    return np.asarray(np.exp(_log_logistic(z)))


def _log_logistic(z: Floats) -> Floats:
    """The logarithm of it."""
    return np.asarray(-np.logaddexp(0.0, -z))
