"""VisibleNetwork: networks without hidden neurons, eq. (1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from seqattractor.learning import rule as equations
from seqattractor.learning.result import ProgressCallback
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.checks import (
    check_choice,
    check_count,
    check_not_negative,
    check_positive,
    engine_module,
)
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns

__all__ = ["VisibleNetwork"]


class VisibleNetwork(SequenceMemory):
    """A recurrent network of visible neurons only: xi' = sign(W xi), eq. (1).

    It can make a sequence only if, for every neuron, the patterns after which it is on can be separated linearly from those
    after which it is off (section 3 of the paper).

    Parameters
    ----------
    rule : {"perceptron", "hebbian", "pseudo-inverse"}
        How W learns: the margin perceptron (the three-factor rule directly on W, online); W = sum_t x(t+1) x(t)^T (the usual
        factor 1/N is left out: a sign does not see it, and whole numbers stay exact); or W = X_next X^+.
    kappa, eta, init_scale, max_epochs, random_state, engine, n_jobs
        For the perceptron, as in `SequenceAttractor`.
    order, on_conflict, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
    visible_errors_ : ndarray of int, shape (n_iter_,)
        Updates in each epoch; for the rules that learn in one go, the wrong units over all transitions.
    n_iter_ : int
    converged_ : bool
        Whether no error was left.
    n_features_in_, order_ : int

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.VisibleNetwork(rule="pseudo-inverse").fit(X).score(X)
    1.0
    """

    def __init__(
        self,
        rule: Literal["perceptron", "hebbian", "pseudo-inverse"] = "perceptron",
        *,
        kappa: float = 1.0,
        eta: float = 1e-3,
        init_scale: float = 1e-3,
        max_epochs: int = 500,
        order: int | Literal["auto"] = 1,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
        engine: Literal["exact", "reference"] = "reference",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.kappa = kappa
        self.eta = eta
        self.init_scale = init_scale
        self.max_epochs = max_epochs
        self.order = order
        self.on_conflict = on_conflict
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Learn sequences from scratch.

        Parameters
        ----------
        X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
        lengths : array of shape (S,), optional
        callback : callable, optional
            For the perceptron; called as ``callback(epoch, 0, errors)`` for each epoch; returning True ends learning.

        Returns
        -------
        self
        """
        self._check_parameters()
        inputs, targets = self._transitions(X, lengths)
        if self.rule == "perceptron":
            self._fit_perceptron(inputs, targets, callback)
        else:
            self._fit_at_once(inputs, targets)
        self._warn_if_errors_left(0, int(self.visible_errors_[-1]))
        return self

    def partial_fit(self, X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None) -> Self:
        """Present the transitions of `X` once and learn from each, on top of what the network knows.

        Parameters
        ----------
        X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
        lengths : array of shape (S,), optional

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.rule == "pseudo-inverse":
            raise ValueError(
                "the pseudo-inverse needs all patterns at once and cannot learn from a stream; use fit, or another rule."
            )
        first = not hasattr(self, "W_")
        inputs, targets = self._transitions(X, lengths, continuing=not first)
        if first:
            self.W_ = self._draw_weights() * (self.rule == "perceptron")
            self.visible_errors_ = np.zeros(0, dtype=np.int64)
            self.n_iter_ = 0
        if self.rule == "perceptron":
            kappa, eta = float(self.kappa), float(self.eta)
            x, x_next = inputs.astype(np.float64), targets.astype(np.float64)
            errors = sum(equations.update_visible(self.W_, x[t], x_next[t], kappa=kappa, eta=eta) for t in range(len(x)))
        else:
            self.W_ += equations.hebbian(inputs, targets)
            errors = int(np.sum(self._next(inputs) != targets))
        self.visible_errors_ = np.append(self.visible_errors_, errors)
        self.n_iter_ += 1
        self.converged_ = errors == 0
        return self

    # -- inside -------------------------------------------------------------------------------------------------

    def _next(self, states: Patterns) -> Patterns:
        return equations.sign(states.astype(np.float64) @ self.W_.T)  # eq. (1)

    def _fit_perceptron(self, inputs: Patterns, targets: Patterns, callback: ProgressCallback | None) -> None:
        """The margin perceptron, by the chosen engine."""
        learned = engine_module(self.engine).learn_visible(
            inputs,
            targets,
            W=self._draw_weights(),
            kappa=float(self.kappa),
            eta=float(self.eta),
            max_epochs=int(self.max_epochs),
            n_jobs=self.n_jobs,
            callback=self._announce(callback, self.verbose),
        )
        self.W_, self.visible_errors_ = learned.W, learned.errors
        self.n_iter_, self.converged_ = learned.n_iter, learned.converged

    def _fit_at_once(self, inputs: Patterns, targets: Patterns) -> None:
        """The rules that need no epochs."""
        if self.rule == "hebbian":
            self.W_ = equations.hebbian(inputs, targets)
        else:
            self.W_ = targets.astype(np.float64).T @ np.linalg.pinv(inputs.astype(np.float64).T)
        wrong = int(np.sum(self._next(inputs) != targets))
        self.visible_errors_, self.n_iter_, self.converged_ = np.array([wrong]), 1, wrong == 0

    def _draw_weights(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """The random start of W."""
        rng = as_generator(self.random_state)
        return rng.standard_normal((self.n_features_in_, self.n_features_in_ * self.order_)) * float(self.init_scale)

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        check_choice(self.rule, "rule", ("perceptron", "hebbian", "pseudo-inverse"))
        check_positive(self.kappa, "kappa")
        check_positive(self.eta, "eta")
        check_not_negative(self.init_scale, "init_scale")
        check_count(self.max_epochs, "max_epochs")
        check_choice(self.engine, "engine", ("exact", "reference"))
