"""VisibleNetwork: the paper's network without hidden neurons, eq. (1)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_choice,
    check_count,
    check_flag,
    check_in_steps,
    check_not_negative,
    check_positive,
)
from seqattractor.engine import engines
from seqattractor.engine.firing import respond
from seqattractor.engine.grid import InSteps, held_steps, in_steps
from seqattractor.engine.problem import Problem, ProgressCallback
from seqattractor.networks.online import OnlineMemory, WayBack, Weights, pseudo_inverse, split_bias
from seqattractor.networks.own_learning import (
    Constraints,
    check_own_learning,
    engine_of,
    is_local,
    kappa_of,
    own_learning,
    rules_of,
)
from seqattractor.networks.traits import Layer, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rules import Rule
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import as_signs
from seqattractor.sequences._transitions import check_leak, sum_context


@final
@dataclass(eq=False, repr=False)
class VisibleNetwork(OnlineMemory):
    """A recurrent network of visible neurons only, xi' = sign(W xi) of equation (1): the margin
    perceptron, or another rule.

    It can make a sequence only if, for every neuron, the patterns after which it is on can be
    separated linearly from those after which it is off (section 3 of the paper). With ``bias=True``
    it is xi' = sign(W xi + c).

    Parameters
    ----------
    rule : Rule, optional
        A learning rule in place of the margin perceptron, which is the three-factor rule directly
        on W: one of `seqattractor.rules`, or one of yours.
    constraints : list of Constraint, optional
        What the synapses of W obey after every update, see `seqattractor.constraints`.
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
        As in `SequenceAttractor`.
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
    engine_, learning_seed_
        As in `SequenceAttractor`.
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

    rule: Rule | None = None
    _: KW_ONLY
    constraints: Constraints = None
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
        """Learn from scratch by the chosen engine."""
        self._init_learning(transitions)
        return self._learn(transitions, int(self.max_epochs), callback)

    def _resume(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Learn for up to `max_epochs` more epochs."""
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
        self._learn(transitions, 1)

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
            own=own_learning(self),
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
        """Eta; sums of earlier patterns make no whole steps of it."""
        return None if self._leak else float(self.eta)

    @property
    def engine_(self) -> str:
        """The engine that learns: "exact", or "reference" for a plain loop."""
        return "reference" if self._leak else engine_of(self)

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
        kappa = kappa_of(rules_of(self)[0], float(in_steps(self.kappa, eta)))
        return W, in_steps(bias, eta), kappa

    def traits(self) -> Traits:
        """Return the traits; whether a rule of the user's is local is not known."""
        weights = ("W_", "visible_bias_") if self.bias else ("W_",)
        return Traits(weights=weights, stores_patterns=False, online=True, local=is_local(self))

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense."""
        check_own_learning(self, pairs=False)
        check_positive(self.kappa, "kappa")
        check_positive(self.eta, "eta")
        check_flag(self.bias, "bias")
        check_leak(self.leak)
        check_flag(self.warm_start, "warm_start")
        check_not_negative(self.init_scale, "init_scale")
        check_count(self.max_epochs, "max_epochs")
        check_in_steps(self.eta, kappa=self.kappa, init_scale=self.init_scale)
        check_choice(self.engine, "engine", ("exact", "reference"))
