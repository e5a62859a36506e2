"""Temporal predictive coding with one layer, and with latent neurons (Tang et al. 2023)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    LARGEST,
    check_choice,
    check_count,
    check_memory,
    check_not_negative,
    check_positive,
)
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import field, sign
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._transitions import rejoin

Floats = NDArray[np.float64]

_MOST_STEPS = 10_000  # of inference; every step of recall takes that many


@final
@dataclass(eq=False, repr=False)
class PredictiveCodingMemory(OnlineMemory):
    """Temporal predictive coding (Tang et al.): predict the next pattern and learn from the error
    of the prediction.

    W is learned so that W f(x(t)) is x(t+1), with f = tanh, online by the delta rule dW ~ (x(t+1) -
    W f(x(t))) f(x(t))^T, and recalls xi' = sign(W f(xi)). Learned to the end this is the
    pseudo-inverse.

    Parameters
    ----------
    learning_rate : float
        The part of an error that is mended when its transition is visited, above 0 and below 2.
    max_epochs : int
        How often the sequences are presented at most.
    tol : float
        Learning ends after an epoch with a mean squared error of the predictions below it. Ending
        earlier can make the network more robust.
    order, on_conflict, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
    visible_errors_ : ndarray of int, shape (n_epochs,)
        Units predicted with the wrong sign, in each epoch.
    losses_ : ndarray, shape (n_epochs,)
        Mean squared errors of the predictions.
    n_iter_, converged_
        As in `SequenceAttractor`.

    References
    ----------
    M. Tang, H. Barron and R. Bogacz, Sequential memory with temporal predictive coding, 2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(30, 100, rng=0)
    >>> net = sa.zoo.PredictiveCodingMemory().fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=60), X)
    True
    """

    _: KW_ONLY
    learning_rate: float = 0.5
    max_epochs: int = 500
    tol: float = 1e-6
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"
    verbose: int = 0

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {
        "W_": "float N kN",
        "visible_errors_": "count E",
        "losses_": "float E",
    }
    _values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag"}
    _traits = Traits(weights=("W_",), stores_patterns=False, online=True, local=True)

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Learn until an epoch predicts well enough."""
        self._init_learning(transitions)
        self._learn(transitions, int(self.max_epochs), callback)
        return self._last_errors()

    def _init_learning(self, transitions: Transitions) -> None:
        self.W_ = np.zeros((self.n_features_in_, self.n_features_in_ * self.order_))
        self.losses_ = np.zeros(0)
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        self._learn(transitions, 1, None)

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state: (B, order * N) -> (B, N)."""
        return sign(field(self.W_, _f(states)))

    def layers(self) -> tuple[Layer, ...]:
        """Return the one layer that there is: f(+-1) is +-tanh(1), so that even a sum of whole
        weights is rounded.
        """
        return (Layer.of(self.W_ * np.tanh(np.ones(1)), rounded=True),)

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        if check_positive(self.learning_rate, "learning_rate") >= 2:
            raise ValueError(
                f"learning_rate must be below 2 to be stable, but it is {self.learning_rate}."
            )
        check_count(self.max_epochs, "max_epochs")
        check_not_negative(self.tol, "tol")

    def _learn(
        self, transitions: Transitions, max_epochs: int, callback: ProgressCallback | None
    ) -> None:
        """Learn for some epochs, W += rate eps f(x)^T / |f(x)|^2, and add their errors to those
        recorded.
        """
        from scipy.linalg import solve_triangular

        # A whole epoch is one triangular system for the errors eps, the same for all neurons:
        # eps(t) + rate sum_{s<t} K(t,s) eps(s) = left(t), K(t,s) = f(x(t)).f(x(s)) / |f(x(s))|^2.
        rate, x, wanted = (
            float(self.learning_rate),
            _f(transitions.inputs),
            transitions.targets.astype(np.float64),
        )
        scaled = x / (x**2).sum(axis=1, keepdims=True)
        K = x @ scaled.T
        step = np.eye(len(x)) + rate * np.tril(K, -1)
        left = wanted - x @ self.W_.T  # eps of every transition with the present W, (n, N)
        steps = np.zeros_like(left)  # sum of eps over epochs: W = W_start + rate steps^T scaled
        errors: list[int] = []
        losses: list[float] = []
        while len(errors) < max_epochs:
            eps = solve_triangular(step, left, lower=True, unit_diagonal=True, check_finite=False)
            steps += eps
            left -= rate * (K @ eps)
            errors.append(int(np.sum(sign(wanted - eps) != transitions.targets)))
            losses.append(float(np.mean(eps**2)))
            stop = callback is not None and callback(len(errors), 0, errors[-1])
            if stop or losses[-1] < float(self.tol):
                break
        self.W_ = self.W_ + rate * steps.T @ scaled
        if not np.isfinite(self.W_).all():
            raise ValueError(
                "learning diverged: the weights are not finite; lower learning_rate (it is "
                f"{self.learning_rate:g})."
            )
        self.visible_errors_ = np.append(self.visible_errors_, np.array(errors, dtype=np.int64))
        self.losses_ = np.append(self.losses_, losses)
        self.n_iter_, self.converged_ = len(self.losses_), errors[-1] == 0


def _f(x: Patterns) -> Floats:
    """Return the activity of a neuron: tanh."""
    return np.tanh(x.astype(np.float64))


@final
@dataclass(eq=False, repr=False)
class LatentPredictiveMemory(OnlineMemory):
    """Temporal predictive coding with latent neurons (Tang et al.): predict the latent state, and
    from it the next pattern.

    At every step the latent state z is found by gradient descent on ``E = (|z(t) - W_r f(z(t-1))|^2
    + |x(t) - W_o f(z(t))|^2) / 2`` with f = tanh, and each matrix makes a step down on its term. z
    carries a context from step to step, so a pattern may have different successors
    (``on_conflict="learn"``).

    Parameters
    ----------
    n_latent : int
        H, the number of latent neurons.
    learning_rate : float
        The step of both weight matrices, divided by `n_latent`.
    max_epochs, tol : int, float
        As in `PredictiveCodingMemory`.
    inference_steps, inference_rate : int, float
        Of the descent to the latent state.
    query : {"recalled", "offline"}
        From what latent states are inferred during recall. "recalled": from every recalled pattern.
        "offline", the authors' own way: from the cue; the latent state then runs on by itself,
        z(t+1) = W_r f(z(t)), and is inferred again only from a pattern that the network did not
        predict, as after noise.
    on_conflict, random_state, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_r_, W_o_ : ndarray, shapes (H, H) and (N, H)
        Latent to latent, from one step to the next, and latent to visible.
    visible_errors_, losses_, n_iter_, converged_
        As in `PredictiveCodingMemory`.

    Examples
    --------
    >>> import seqattractor as sa
    >>> A, B, C = sa.datasets.random_periodic(4, 30, rng=0)[:3]
    >>> net = sa.zoo.LatentPredictiveMemory(40, on_conflict="learn", random_state=0)
    >>> net.fit([A, B, A, C, A]).score([A, B, A, C, A])  # after A comes B at first, and then C
    1.0
    """

    n_latent: int = 200
    _: KW_ONLY
    learning_rate: float = 1.0
    max_epochs: int = 60
    tol: float = 1e-6
    inference_steps: int = 100
    inference_rate: float = 0.01
    query: Literal["recalled", "offline"] = "recalled"
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None
    verbose: int = 0

    _arrays: ClassVar[dict[str, str]] = {
        "W_r_": "float H H",
        "W_o_": "float N H",
        "visible_errors_": "count E",
        "losses_": "float E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_iter_": "size E",
        "converged_": "flag",
        "n_latent": "size H",
    }
    _traits = Traits(weights=("W_r_", "W_o_"), stores_patterns=False, online=True, local=True)

    def _is_done(self) -> bool:
        """Return whether the last epoch was predicted well enough."""
        return bool(self.losses_[-1] < self.tol)

    def _init_learning(self, transitions: Transitions) -> None:
        rng = as_generator(self.random_state)
        N, H = self.n_features_in_, int(self.n_latent)
        check_memory(16 * H * (H + N), f"a network of {H} latent neurons")
        self.W_r_, self.W_o_ = (
            rng.standard_normal((rows, H)) * (1 / np.sqrt(H)) for rows in (H, N)
        )
        self.losses_ = np.zeros(0)
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        """Go once through the sequences; the latent state starts anew with each."""
        sequences = [x.astype(np.float64) for x in rejoin(transitions)]
        with np.errstate(over="ignore", invalid="ignore"):  # raised below
            wrong, loss = self._learn(sequences)
        if not all((np.abs(W) < LARGEST).all() for W in (self.W_r_, self.W_o_)):
            raise ValueError(
                "learning diverged: the weights are not finite; lower learning_rate (it is "
                f"{self.learning_rate:g}) or inference_rate."
            )
        self.losses_ = np.append(self.losses_, loss)
        self._count_errors(wrong)

    def start(self, states: Patterns) -> Floats:
        """Return latent states before the cue, zeros, (B, H); offline queries also need the last
        prediction, (B, H + N).
        """
        predicted = self.n_features_in_ if self.query == "offline" else 0
        return np.zeros(
            (len(states), self.n_latent + predicted)
        )  # no pattern is all zeros, so the cue was not predicted

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, N) -> (B, N); `memory` holds the latent states
        and is changed.
        """
        carried = self.start(states) if memory is None else memory
        latent, predicted = carried[:, : self.n_latent], carried[:, self.n_latent :]
        if self.query == "recalled":
            latent[:] = self._infer(states.astype(np.float64), latent)[0]
        else:
            shown = (states != predicted).any(
                axis=1
            )  # something that the network did not predict itself
            inferred = self._infer(states[shown].astype(np.float64), latent[shown])[0]
            latent[~shown] = np.tanh(latent[~shown]) @ self.W_r_.T
            latent[shown] = inferred
        following = sign(self._predict(latent))
        predicted[:] = following if self.query == "offline" else predicted
        return following

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_count(self.n_latent, "n_latent")
        check_positive(self.learning_rate, "learning_rate")
        check_count(self.max_epochs, "max_epochs")
        check_not_negative(self.tol, "tol")
        check_count(self.inference_steps, "inference_steps", 1, _MOST_STEPS)
        check_positive(self.inference_rate, "inference_rate")
        check_choice(self.query, "query", ("recalled", "offline"))

    def _infer(self, x: Floats, before: Floats) -> tuple[Floats, Floats]:
        """Return the latent states (B, H) for visible states x (B, N) after states `before`, and
        the prior W_r f(before).
        """
        prior = np.tanh(before) @ self.W_r_.T
        z = prior.copy()
        for _ in range(int(self.inference_steps)):
            activity = np.tanh(z)
            e_x = x - activity @ self.W_o_.T
            z += float(self.inference_rate) * (
                (prior - z) + (1 - activity**2) * (e_x @ self.W_o_)
            )  # down the gradient of E
        return z, prior

    def _predict(self, z: Floats) -> Floats:
        """Return the fields of the visible neurons one step after latent states z: (B, H) -> (B,
        N).
        """
        return np.asarray(np.tanh(np.tanh(z) @ self.W_r_.T) @ self.W_o_.T)

    def _learn(self, sequences: list[Floats]) -> tuple[int, float]:
        """Go once through sequences (T_s, N); returns the wrong units of the predictions and the
        mean squared error.
        """
        wrong, loss, count, rate = 0, 0.0, 0, float(self.learning_rate) / len(self.W_r_)
        for x in sequences:
            z = np.zeros((1, len(self.W_r_)))
            for t in range(len(x)):
                if t:
                    eps = x[t] - self._predict(z)[0]
                    wrong += int(np.sum(sign(x[t] - eps) != x[t]))
                    loss, count = loss + float(eps @ eps), count + eps.size
                before = z
                z, prior = self._infer(x[t : t + 1], before)
                activity = np.tanh(z)
                self.W_o_ += rate * np.outer(x[t] - activity[0] @ self.W_o_.T, activity)
                if t:  # before the first pattern there was nothing to learn from
                    self.W_r_ += rate * np.outer(z - prior, np.tanh(before))
        return wrong, loss / max(count, 1)
