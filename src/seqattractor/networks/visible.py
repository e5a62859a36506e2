"""VisibleNetwork: the paper's network without hidden neurons, eq. (1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor import rule as equations
from seqattractor._checks import (
    check_choice,
    check_count,
    check_flag,
    check_in_steps,
    check_not_negative,
    check_positive,
    say,
)
from seqattractor.engine import engines
from seqattractor.engine.firing import respond
from seqattractor.engine.grid import InSteps, exact_rows, held_steps, in_steps
from seqattractor.engine.problem import Problem, ProgressCallback
from seqattractor.networks.online import OnlineMemory, WayBack, Weights, pseudo_inverse, split_bias
from seqattractor.networks.traits import Layer, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import as_signs
from seqattractor.sequences._transitions import check_leak, sum_context

OnlineRule = Callable[[Weights, NDArray[np.float64], NDArray[np.float64]], int]
"""Called as ``rule(W, x, x_next)`` for one transition: changes W (N, order * N) in place, returns
its number of errors.
"""


@final
@dataclass(eq=False, repr=False)
class VisibleNetwork(OnlineMemory):
    """A recurrent network of visible neurons only, xi' = sign(W xi) of equation (1): the margin
    perceptron, or a rule of yours.

    It can make a sequence only if, for every neuron, the patterns after which it is on can be
    separated linearly from those after which it is off (section 3 of the paper). With ``bias=True``
    it is xi' = sign(W xi + c).

    Parameters
    ----------
    rule : callable, optional
        A learning rule in place of the margin perceptron, which is the three-factor rule directly
        on W. It is called as ``rule(W, x, x_next)`` for every transition, changes W in place and
        returns its number of errors, until an epoch has none. With biases x has a last entry of 1,
        and W a last column of biases. After each epoch W is rounded to 40 bits, so that recall adds
        it up without rounding.
    bias : bool
        Whether neurons have biases. They start like W, and are drawn after it. The paper's
        experiments have none.
    leak : float
        gamma, how much of what a neuron has summed is left after a step, from 0 to below 1: the
        time-summating network of Bressloff and Taylor, xi(t+1) = sign(W s(t)) with s(t) = xi(t) +
        gamma s(t-1), where the sum starts with the cue or the first pattern of a sequence. What
        came before a pattern then distinguishes its successors, without the delay lines of `order`.
        Both engines are the plain loop then, and there is no certificate.
    kappa, eta, engine, n_jobs
        For the perceptron, as in `SequenceAttractor`.
    init_scale, max_epochs, order, on_conflict, random_state, warm_start, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
    visible_bias_ : ndarray, shape (N,)
        c, if ``bias=True``.
    visible_errors_ : ndarray of int, shape (n_epochs,)
        Updates in each epoch.
    n_iter_ : int
    converged_ : bool
        Whether the last epoch was free of errors.
    n_features_in_, order_ : int

    See Also
    --------
    HebbianMemory, PseudoInverseMemory, SlowSynapseMemory : other memories without hidden neurons.
    seqattractor.separable : whether any weights W make a sequence.

    References
    ----------
    P. C. Bressloff and J. G. Taylor, Perceptron-like learning in time-summating neural networks,
    1992. Its text was not at hand; the rule is from general knowledge, kappa and states of -1 and
    +1 are ours.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.VisibleNetwork(random_state=0).fit(X).score(X)
    1.0
    """

    rule: OnlineRule | None = None
    _: KW_ONLY
    kappa: float = 1.0
    eta: float = 1e-3
    bias: bool = False
    leak: float = 0.0
    init_scale: float = 1e-3
    max_epochs: int = 500
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None
    engine: Literal["exact", "reference"] = "exact"
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    W_ = InSteps()
    visible_bias_ = InSteps()

    deterministic = True
    _rehearses = True
    _arrays: ClassVar[dict[str, str]] = {
        "W_": "float N kN",
        "visible_bias_": "float N if bias",
        "visible_errors_": "count E",
    }
    _values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag"}

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Learn the perceptron by the chosen engine, and a rule of the user's transition by
        transition.
        """
        if self.rule is not None:
            return super().fit_transitions(transitions, callback)
        self._init_learning(transitions)
        return self._learn(transitions, int(self.max_epochs), callback)

    def _resume(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Resume the perceptron by the chosen engine, and a rule of the user's transition by
        transition.
        """
        if self.rule is not None:
            return super()._resume(transitions, callback)
        return self._learn(transitions, int(self.max_epochs), self._counting_on(callback))

    def _synapses(self) -> tuple[Weights, Weights]:
        return self.W_, self.W_[:, -self.n_features_in_ :].T

    def _way_back(self) -> WayBack:
        inverse = pseudo_inverse(self.W_)
        return lambda _, x_next: as_signs(x_next[None] @ inverse >= 0)

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw the random start of W, then of the biases if there are some."""
        rng = as_generator(self.random_state)
        self.W_ = rng.standard_normal(
            (self.n_features_in_, self.n_features_in_ * self.order_)
        ) * float(self.init_scale)
        if self.bias:
            self.visible_bias_ = rng.standard_normal(self.n_features_in_) * float(self.init_scale)
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        """Learn from each transition in turn: an epoch as `fit` has it."""
        if self.rule is None:
            self._learn(transitions, 1)
            return
        x, x_next = (
            self._presented(transitions).astype(np.float64),
            transitions.targets.astype(np.float64),
        )
        x = equations.with_constant(x) if self.bias else x
        W = self._weights().copy()
        errors = sum(self.rule(W, x[t], x_next[t]) for t in range(len(x)))
        if not np.abs(W).max() < 1e300:
            raise ValueError(
                "the rule made weights that are too large or not finite; make its steps smaller."
            )
        self._take_weights(exact_rows(W))
        self._count_errors(int(errors))

    def _learn(
        self, transitions: Transitions, max_epochs: int, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Learn on top of the present weights; returns the errors of the last epoch."""
        eta = float(self.eta)
        problem = Problem(
            self._presented(transitions),
            transitions.targets,
            V=in_steps(self._weights(), eta),
            kappa=float(in_steps(self.kappa, eta)),
            bias=bool(self.bias),
            max_epochs=max_epochs,
        )
        engine = (
            "reference" if self._leak else self.engine
        )  # the exact one is made for inputs of -1 and +1
        learned = engines.learn(problem, engine, n_jobs=self.n_jobs, callback=callback)
        self._take_weights(learned.V * eta)
        self._add_epochs(learned.visible_errors)
        return self._last_errors()

    def _presented(self, transitions: Transitions) -> NDArray[Any]:
        """Return the inputs, with a leak summed over those before."""
        return (
            sum_context(transitions.inputs, transitions.lengths, self._leak)
            if self._leak
            else transitions.inputs
        )

    def _weights(self) -> Weights:
        """Return W as learning takes it, with biases as the last column of a new array."""
        return np.column_stack([self.W_, self.visible_bias_]) if self.bias else self.W_

    def _take_weights(self, W: Weights) -> None:
        if self.bias:
            W, self.visible_bias_ = split_bias(W)
        self.W_ = W

    def _step_size(self, name: str) -> float | None:
        """Eta; sums of earlier patterns, and a rule of the user's, make no whole steps of it."""
        return None if self._leak or self.rule is not None else float(self.eta)

    @property
    def _leak(self) -> float:
        return float(self.leak)

    def start(self, states: Patterns) -> Weights | None:
        """Return the sums of earlier inputs with which a run starts: with a leak zeros, (B, order *
        N), and else None.
        """
        return np.zeros(states.shape) if self._leak else None

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eq. (1): (B, order * N) -> (B, N); `memory` holds
        the sums and is changed.
        """
        W, bias, _ = self._added_up()
        if not self._leak:
            return respond(W, states, bias)
        sums = np.zeros(states.shape) if memory is None else memory
        sums *= self._leak  # s(t) = x(t) + leak s(t-1)
        sums += states
        return respond(W, sums, bias)

    def layers(self) -> tuple[Layer, ...] | None:
        """Return the one layer, unless it sums earlier states, too: its answer does not follow from
        its input then.
        """
        W, bias, kappa = self._added_up()
        return None if self._leak else (Layer.of(W, bias, kappa=kappa),)

    def _added_up(self) -> tuple[Weights, Any, float | None]:
        """W and biases as they are added up, and in the same units the margin that they were
        trained for, if any.
        """
        W, eta = held_steps(self, "W_")
        bias = self.visible_bias_ if self.bias else 0.0
        kappa = None if self.rule is not None else float(in_steps(self.kappa, eta))
        return W, in_steps(bias, eta), kappa

    def traits(self) -> Traits:
        """Return the traits; a rule of the user's may be local or not."""
        weights = ("W_", "visible_bias_") if self.bias else ("W_",)
        return Traits(
            weights=weights,
            stores_patterns=False,
            online=True,
            local=None if self.rule is not None else True,
        )

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense."""
        if self.rule is not None and not callable(self.rule):
            raise TypeError(
                f"rule must be a callable rule(W, x, x_next) or None, but it is {say(self.rule)}."
            )
        check_positive(self.kappa, "kappa")
        check_positive(self.eta, "eta")
        check_flag(self.bias, "bias")
        check_leak(self.leak)
        check_flag(self.warm_start, "warm_start")
        check_not_negative(self.init_scale, "init_scale")
        check_count(self.max_epochs, "max_epochs")
        check_in_steps(self.eta, kappa=self.kappa, init_scale=self.init_scale)
        check_choice(self.engine, "engine", ("exact", "reference"))
