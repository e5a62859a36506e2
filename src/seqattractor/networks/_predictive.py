"""PredictiveCodingMemory: temporal predictive coding, with or without latent neurons."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_not_negative, check_positive
from seqattractor.learning.predictive_coding import TwoLayers, f, learn_one_layer
from seqattractor.learning.result import ProgressCallback
from seqattractor.learning.rule import sign
from seqattractor.networks._base import Lesson
from seqattractor.networks._fitting import EpochMemory
from seqattractor.networks._traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, split

__all__ = ["PredictiveCodingMemory"]


class PredictiveCodingMemory(EpochMemory):
    """Temporal predictive coding (Tang et al.): predict the next pattern and learn from the error of the prediction.

    One layer (the default) learns W so that W f(x(t)) is x(t+1), with f = tanh, online by the delta rule
    dW ~ (x(t+1) - W f(x(t))) f(x(t))^T, and recalls xi' = sign(W f(xi)). Learned to the end this is the pseudo-inverse.

    Two layers predict the state z of latent neurons, and from it the pattern. At every step z is found by gradient descent on
    ``|z(t) - W_r f(z(t-1))|^2 + |x(t) - W_o f(z(t))|^2``, and both matrices make a step down. z carries a context from step
    to step, so a pattern may have different successors (``on_conflict="learn"``).

    Parameters
    ----------
    n_latent : int or None
        How many latent neurons; by default none, one layer.
    learning_rate : float
        One layer: the part of an error that is mended when its transition is visited (above 0 and below 2). Two layers: the
        step of both weight matrices, divided by `n_latent`.
    max_epochs : int
        How often the sequences are presented at most.
    tol : float
        Learning ends after an epoch with a mean squared error of the predictions below it. Ending earlier can make the
        one-layer network more robust.
    inference_steps, inference_rate : int, float
        Of the descent to the latent state.
    init_scale : float or None
        The standard deviation of the initial weights. By default 0 for one layer, 1 / sqrt(n_latent) for two.
    order, on_conflict
        As in `SequenceAttractor`. Two layers take ``order=1`` only.
    random_state : int, Generator or None
    verbose : int
        1 prints a line every 50 epochs, 2 every epoch.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
        With one layer.
    W_r_, W_o_ : ndarray, shapes (H, H) and (N, H)
        With two layers and H latent neurons.
    visible_errors_ : ndarray of int, shape (n_epochs,)
        Units predicted with the wrong sign, in each epoch.
    losses_ : ndarray, shape (n_epochs,)
        Mean squared errors of the predictions.
    n_iter_ : int
    converged_ : bool
        Whether the last epoch predicted every unit's sign.
    n_features_in_, order_ : int

    References
    ----------
    M. Tang, H. Barron and R. Bogacz, Sequential memory with temporal predictive coding, 2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(30, 100, rng=0)
    >>> net = sa.PredictiveCodingMemory().fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=60), X)
    True
    """

    visible_errors_: NDArray[np.int64]
    losses_: NDArray[np.float64]

    def __init__(
        self,
        n_latent: int | None = None,
        *,
        learning_rate: float = 0.5,
        max_epochs: int = 500,
        tol: float = 1e-6,
        inference_steps: int = 100,
        inference_rate: float = 0.01,
        init_scale: float | None = None,
        order: int | Literal["auto"] = 1,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.n_latent = n_latent
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.tol = tol
        self.inference_steps = inference_steps
        self.inference_rate = inference_rate
        self.init_scale = init_scale
        self.order = order
        self.on_conflict = on_conflict
        self.random_state = random_state
        self.verbose = verbose

    # -- inside -------------------------------------------------------------------------------------------------

    def _learn(self, lesson: Lesson, callback: ProgressCallback | None) -> tuple[int, int]:
        self._start(lesson)
        self._go_on(lesson, int(self.max_epochs), callback)
        return 0, int(self.visible_errors_[-1])

    def _present(self, lesson: Lesson) -> None:
        self._go_on(lesson, 1, None)

    def _next(self, states: Patterns) -> Patterns:
        if self.n_latent is None:
            return sign(f(states) @ self.W_.T)
        return self._recall_step(states, self._start_recall(states[:, None]))

    def _start_recall(self, window: Patterns) -> Any:
        """The latent states before the cue: none, zeros."""
        return None if self.n_latent is None else np.zeros((len(window), self.n_latent))

    def _recall_step(self, states: Patterns, memory: Any) -> Patterns:
        if memory is None:
            return self._next(states)
        layers = self._two_layers()
        memory[:] = layers.infer(states.astype(np.float64), memory)[0]
        return sign(layers.predict(memory))

    def _wrong_units(self, shown: Lesson) -> NDArray[np.bool_]:
        if self.n_latent is None:
            return super()._wrong_units(shown)
        wrong = []
        for inputs, targets in zip(split(shown.inputs, shown.lengths), split(shown.targets, shown.lengths), strict=True):
            latent = self._start_recall(inputs[None, :1])  # the latent state is the context: a sequence runs from its start
            wrong += [self._recall_step(inputs[t : t + 1], latent)[0] != targets[t] for t in range(len(inputs))]
        return np.array(wrong)

    def _two_layers(self) -> TwoLayers:
        """The weights with the way to infer latent states."""
        return TwoLayers(self.W_r_, self.W_o_, int(self.inference_steps), float(self.inference_rate))

    def _start(self, lesson: Lesson) -> None:
        rng = as_generator(self.random_state)
        N, H = self.n_features_in_, self.n_latent
        if H is None:
            self.W_ = rng.standard_normal((N, N * self.order_)) * float(self.init_scale or 0.0)
        else:
            if self.order_ != 1:
                raise ValueError(f"with latent neurons the order must be 1, but it is {self.order_}: their state is the context.")
            scale = 1 / np.sqrt(H) if self.init_scale is None else float(self.init_scale)
            self.W_r_, self.W_o_ = rng.standard_normal((H, H)) * scale, rng.standard_normal((N, H)) * scale
        self.visible_errors_, self.losses_, self.n_iter_ = np.zeros(0, dtype=np.int64), np.zeros(0), 0

    def _go_on(self, lesson: Lesson, max_epochs: int, callback: ProgressCallback | None) -> None:
        """Learn for some epochs from the present weights, and add their errors to those recorded."""
        if self.n_latent is None:
            self.W_, errors, losses = learn_one_layer(
                lesson.inputs,
                lesson.targets,
                W=self.W_,
                rate=float(self.learning_rate),
                max_epochs=max_epochs,
                tol=float(self.tol),
                callback=callback,
            )
        else:
            errors, losses = self._go_on_with_latent(lesson, max_epochs, callback)
        self.visible_errors_, self.losses_ = np.append(self.visible_errors_, errors), np.append(self.losses_, losses)
        self.n_iter_, self.converged_ = len(self.losses_), bool(errors[-1] == 0)
        self._refuse_divergence()

    def _go_on_with_latent(
        self, lesson: Lesson, max_epochs: int, callback: ProgressCallback | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The same with two layers, whose latent state starts anew with every sequence; returns errors and losses."""
        pieces = zip(split(lesson.inputs, lesson.lengths), split(lesson.targets, lesson.lengths), strict=True)
        sequences = [np.concatenate([x, x_next[-1:]]).astype(np.float64) for x, x_next in pieces]
        layers = self._two_layers()
        errors: list[int] = []
        losses: list[float] = []
        while len(losses) < max_epochs and not (losses and losses[-1] < self.tol):
            wrong, loss = layers.learn(sequences, float(self.learning_rate))
            errors.append(wrong)
            losses.append(loss)
            self._refuse_divergence()
            if callback is not None and callback(len(errors), 0, wrong):
                break
        return np.array(errors, dtype=np.int64), np.array(losses)

    def _refuse_divergence(self) -> None:
        """Raise if learning ran away."""
        weights: list[NDArray[np.float64]] = [self.W_] if self.n_latent is None else [self.W_r_, self.W_o_]
        if not all(np.isfinite(W).all() for W in weights):
            raise ValueError(
                f"learning diverged: the weights are not finite; lower learning_rate (it is {self.learning_rate:g})"
                + ("." if self.n_latent is None else " or inference_rate.")
            )

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        if self.n_latent is not None:
            check_count(self.n_latent, "n_latent")
        if check_positive(self.learning_rate, "learning_rate") >= 2 and self.n_latent is None:
            raise ValueError(f"learning_rate must be below 2 to be stable, but it is {self.learning_rate}.")
        check_count(self.max_epochs, "max_epochs")
        check_not_negative(self.tol, "tol")
        check_count(self.inference_steps, "inference_steps")
        check_positive(self.inference_rate, "inference_rate")
        if self.init_scale is not None:
            check_not_negative(self.init_scale, "init_scale")

    def _traits(self) -> Traits:
        return Traits(
            weights=("W_",) if self.n_latent is None else ("W_r_", "W_o_"), stores_patterns=False, online=True, local=True
        )
