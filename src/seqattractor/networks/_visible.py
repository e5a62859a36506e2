"""VisibleNetwork: networks without hidden neurons, eq. (1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_choice,
    check_count,
    check_not_negative,
    check_positive,
)
from seqattractor.learning import rule as equations
from seqattractor.learning.engines import engine_module
from seqattractor.learning.result import ProgressCallback
from seqattractor.networks._base import Lesson
from seqattractor.networks._fitting import EpochMemory
from seqattractor.networks._slow import remember, start_memory, unfinished
from seqattractor.networks._traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns

__all__ = ["OnlineRule", "VisibleNetwork"]

Weights = NDArray[np.float64]

OnlineRule = Callable[[Weights, NDArray[np.float64], NDArray[np.float64]], int]
"""Called as ``rule(W, x, x_next)`` for one transition: changes W (N, order * N) in place, returns its number of errors."""


class VisibleNetwork(EpochMemory):
    """A recurrent network of visible neurons only: xi' = sign(W xi), eq. (1).

    It can make a sequence only if, for every neuron, the patterns after which it is on can be separated linearly from those
    after which it is off (section 3 of the paper).

    Parameters
    ----------
    rule : {"perceptron", "hebbian", "slow-synapses", "pseudo-inverse"} or callable
        How W learns:

        - the margin perceptron: the three-factor rule directly on W, online;
        - asymmetric Hebbian: W = sum_t x(t+1) x(t)^T (the usual factor 1/N is left out: a sign does not see it, and whole
          numbers stay exact);
        - slow synapses: the Hebbian W calls on from what the state was on average over the last `slow_steps` steps, and
          symmetric weights W_S = sum_t x(t) x(t)^T hold the state meanwhile: xi' = sign(W_S xi + slow_weight W xi_mean);
        - pseudo-inverse: W = X_next X^+;
        - a rule of your own, called as ``rule(W, x, x_next)`` for every transition: it changes W in place and returns its
          number of errors, and is called until an epoch has none. It starts from the random W of the perceptron.
    kappa, eta
        For the perceptron, as in `SequenceAttractor`.
    init_scale, max_epochs, random_state
        For the perceptron and a rule of your own, as in `SequenceAttractor`.
    engine, n_jobs
        For the perceptron, as in `SequenceAttractor`.
    slow_weight : float
        lambda, by which the slow synapses outweigh the fast ones.
    slow_steps : int
        tau, the number of steps over which slow synapses average. Recall starts as if the cue had been there for that long,
        so that the first step already goes on; then each pattern is held for some steps.
    order, on_conflict, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
    W_S_ : ndarray, shape (N, N)
        The symmetric weights; only with slow synapses.
    visible_errors_ : ndarray of int, shape (n_epochs,)
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

    A rule of your own, here a perceptron without a margin:

    >>> def perceptron(W, x, x_next):
    ...     wrong = x_next * (W @ x) <= 0
    ...     W += np.outer(wrong * x_next, x)
    ...     return int(wrong.sum())
    >>> sa.VisibleNetwork(rule=perceptron, random_state=0).fit(X).score(X)
    1.0
    """

    def __init__(
        self,
        rule: Literal["perceptron", "hebbian", "slow-synapses", "pseudo-inverse"] | OnlineRule = "perceptron",
        *,
        kappa: float = 1.0,
        eta: float = 1e-3,
        init_scale: float = 1e-3,
        max_epochs: int = 500,
        slow_weight: float = 2.5,
        slow_steps: int = 5,
        order: int | Literal["auto"] = 1,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
        engine: Literal["exact", "reference"] = "exact",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.kappa = kappa
        self.eta = eta
        self.init_scale = init_scale
        self.max_epochs = max_epochs
        self.slow_weight = slow_weight
        self.slow_steps = slow_steps
        self.order = order
        self.on_conflict = on_conflict
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- inside -------------------------------------------------------------------------------------------------

    def _learn(self, lesson: Lesson, callback: ProgressCallback | None) -> tuple[int, int]:
        self._refuse_context()
        if callable(self.rule):
            self._fit_online(self.rule, lesson, callback)
        elif self.rule == "perceptron":
            self._fit_perceptron(lesson, callback)
        else:
            self._fit_at_once(lesson)
        return 0, int(self.visible_errors_[-1])

    def _check_stream(self) -> None:
        if self.rule == "pseudo-inverse":
            raise ValueError(
                "the pseudo-inverse needs all patterns at once and cannot learn from a stream; use fit, or another rule."
            )

    def _start(self, lesson: Lesson) -> None:
        self._refuse_context()
        self.W_ = self._draw_weights() if self._rule_of_transition() else self._zero_weights()
        if self.rule == "slow-synapses":
            self.W_S_ = self._zero_weights()
        self.visible_errors_ = np.zeros(0, dtype=np.int64)
        self.n_iter_ = 0

    def _present(self, lesson: Lesson) -> None:
        self._refuse_context()
        rule = self._rule_of_transition()
        if rule is not None:
            errors = _go_through(rule, self.W_, lesson)
        else:
            self._add_hebbian(lesson, held=lesson.inputs)  # the last pattern of a piece is held once it has a successor
            errors = int(self._wrong_units(lesson).sum())
        self.visible_errors_ = np.append(self.visible_errors_, errors)
        self.n_iter_ += 1
        self.converged_ = errors == 0

    def _next(self, states: Patterns) -> Patterns:
        fields = states.astype(np.float64) @ self.W_.T  # eq. (1)
        if self.rule != "slow-synapses":
            return equations.sign(fields)
        return self._next_slow(states, self.slow_steps * fields)  # a state that has been there for long

    def _start_recall(self, window: Patterns) -> Any:
        return start_memory(window, self.slow_steps) if self.rule == "slow-synapses" else None

    def _recall_step(self, states: Patterns, memory: Any) -> Patterns:
        if memory is None:
            return self._next(states)
        return self._next_slow(states, remember(memory, states).astype(np.float64) @ self.W_.T)

    def _next_slow(self, states: Patterns, called: Weights) -> Patterns:
        """The next states where the slow synapses' fields, summed over `slow_steps` steps, are `called`; all (B, N)."""
        held = self.slow_steps * (states.astype(np.float64) @ self.W_S_.T)
        return equations.sign(held + float(self.slow_weight) * called)

    def _fit_online(self, rule: OnlineRule, lesson: Lesson, callback: ProgressCallback | None) -> None:
        """A rule of the user's, transition after transition, until an epoch has no error."""
        self.W_ = self._draw_weights()
        errors: list[int] = []
        while len(errors) < self.max_epochs and (not errors or errors[-1]):
            errors.append(_go_through(rule, self.W_, lesson))
            if callback is not None and callback(len(errors), 0, errors[-1]):
                break
        self.visible_errors_ = np.array(errors, dtype=np.int64)
        self.n_iter_, self.converged_ = len(errors), errors[-1] == 0

    def _fit_perceptron(self, lesson: Lesson, callback: ProgressCallback | None) -> None:
        """The margin perceptron, by the chosen engine."""
        learned = engine_module(self.engine).learn_visible(
            lesson.inputs,
            lesson.targets,
            W=self._draw_weights(),
            kappa=float(self.kappa),
            eta=float(self.eta),
            max_epochs=int(self.max_epochs),
            n_jobs=self.n_jobs,
            callback=callback,
        )
        self.W_, self.visible_errors_ = learned.W, learned.errors
        self.n_iter_, self.converged_ = learned.n_iter, learned.converged

    def _fit_at_once(self, lesson: Lesson) -> None:
        """The rules that need no epochs."""
        inputs, targets = lesson.inputs, lesson.targets
        if self.rule == "pseudo-inverse":
            self.W_ = targets.astype(np.float64).T @ np.linalg.pinv(inputs.astype(np.float64).T)
        else:
            self.W_ = self._zero_weights()
            if self.rule == "slow-synapses":
                self.W_S_ = self._zero_weights()
            self._add_hebbian(lesson, held=np.concatenate([inputs, unfinished(inputs, targets)]))
        wrong = int(self._wrong_units(lesson).sum())
        self.visible_errors_, self.n_iter_, self.converged_ = np.array([wrong]), 1, wrong == 0

    def _add_hebbian(self, lesson: Lesson, held: Patterns) -> None:
        """Add the Hebbian weights of some transitions, and of the patterns that slow synapses hold."""
        if self.rule == "slow-synapses":
            self.W_S_ += equations.hebbian(held, held)
        self.W_ += equations.hebbian(lesson.inputs, lesson.targets)

    def _refuse_context(self) -> None:
        """Slow synapses and a context do not go together."""
        if self.rule == "slow-synapses" and self.order_ != 1:
            raise ValueError(
                f"slow synapses hold each pattern for several steps, so a context of {self.order_} says nothing; use order=1."
            )

    def _rule_of_transition(self) -> OnlineRule | None:
        """The rule for one transition, or None for rules that are sums over all."""
        if callable(self.rule):
            return self.rule
        if self.rule == "perceptron":
            return partial(equations.update_visible, kappa=float(self.kappa), eta=float(self.eta))
        return None

    def _zero_weights(self) -> Weights:
        """Where Hebbian weights start."""
        return np.zeros((self.n_features_in_, self.n_features_in_ * self.order_))

    def _draw_weights(self) -> Weights:
        """The random start of W."""
        rng = as_generator(self.random_state)
        return rng.standard_normal((self.n_features_in_, self.n_features_in_ * self.order_)) * float(self.init_scale)

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        if not callable(self.rule):
            check_choice(self.rule, "rule", ("perceptron", "hebbian", "slow-synapses", "pseudo-inverse"))
        check_positive(self.kappa, "kappa")
        check_positive(self.eta, "eta")
        check_not_negative(self.init_scale, "init_scale")
        check_count(self.max_epochs, "max_epochs")
        check_not_negative(self.slow_weight, "slow_weight")
        check_count(self.slow_steps, "slow_steps")
        check_choice(self.engine, "engine", ("exact", "reference"))

    def _traits(self) -> Traits:
        learned_alone = self.rule != "pseudo-inverse"
        return Traits(
            weights=("W_", "W_S_") if self.rule == "slow-synapses" else ("W_",),
            stores_patterns=False,
            online=learned_alone,
            local=None if callable(self.rule) else learned_alone,
            dwells=self.rule == "slow-synapses",
        )


def _go_through(rule: OnlineRule, W: Weights, lesson: Lesson) -> int:
    """Go once through the transitions and learn from each; returns the errors."""
    x, x_next = lesson.inputs.astype(np.float64), lesson.targets.astype(np.float64)
    errors = sum(rule(W, x[t], x_next[t]) for t in range(len(x)))
    if not np.isfinite(W).all():
        raise ValueError("the rule made weights that are not finite; make its steps smaller.")
    return int(errors)
