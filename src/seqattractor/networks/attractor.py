"""SequenceAttractor: the paper's network of visible and hidden threshold neurons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from seqattractor._checks import (
    check_choice,
    check_flag,
    check_in_steps,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
    is_auto,
)
from seqattractor.engine import engines
from seqattractor.engine.firing import respond
from seqattractor.engine.grid import InSteps, held_steps, hold_steps, in_steps, on_grid
from seqattractor.engine.problem import Learned, Problem, ProgressCallback
from seqattractor.networks.base import check_learned
from seqattractor.networks.choose_hidden import check_size, fit_smallest, given_size
from seqattractor.networks.online import OnlineMemory, WayBack, Weights, pseudo_inverse, split_bias
from seqattractor.networks.own_learning import (
    Constraints,
    Rules,
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
from seqattractor.sequences._patterns import as_signs, pieces

_CHUNK = 2**22  # numbers of a temporary float array
_HOLD = 10.0  # times init_scale: the size at which hidden biases that learn start


@dataclass(eq=False, repr=False)
class SequenceAttractor(OnlineMemory):
    """The recurrent network with hidden neurons of Lu & Wu and its local three-factor learning
    rule.

    Visible neurons xi drive hidden neurons zeta, which drive the next visible state, eqs. (2)-(3)::

        zeta = sign(U xi)          xi' = sign(V zeta)

    Both weight matrices are learned online, one transition at a time, eqs. (4)-(9);
    `seqattractor.rule` has them in plain numpy. The defaults are the settings of all experiments of
    the paper.

    With ``bias=True`` neurons have biases, zeta = sign(U xi + b) and xi' = sign(V zeta + c), which
    learn as all other weights do: the XOR sequence of the paper's section 3 needs them.

    Parameters
    ----------
    n_hidden : int or "auto"
        M, the number of hidden neurons. With "auto" `fit` tries 25, 50, 100, ..., 3200 and takes
        the smallest network that learns without an error left and locks on to the sequences from 9
        of 10 cues with a tenth of their units flipped; if there is none, the one that stores most.
        `n_hidden_` is the number chosen.
    kappa : float
        The robustness, a margin that every neuron must exceed at every transition.
    eta : float
        The learning rate.
    bias : bool
        Whether hidden and visible neurons have biases, which learn as their other weights do. The
        paper's experiments have none.
    init_scale : float
        The standard deviation of the initial U and V; 0 starts from zero weights. (P is always
        standard normal: only the sign of its projection counts.) Visible biases start like V,
        hidden ones at plus or minus ten times as much. They are drawn after U, V and P, which are
        the same with and without biases.
    max_epochs : int or "auto"
        How often the sequences are presented at most. Learning ends earlier after an epoch without
        any error, since all later epochs would change nothing. "auto" is 500, as in the paper;
        where `n_hidden` is "auto", too, it is ten times as many if hidden neurons have errors left,
        because more of them would not help.
    rule : Rule or tuple of two, optional
        What takes the place of H in equations (5) and (8), for U and for V if there are two: the
        paper's three-factor rule by default, another one of `seqattractor.rules`, or one of yours,
        a class with two short methods (`seqattractor.rules.Rule`).
    constraints : list of Constraint, optional
        What the synapses of U and V obey after every update, such as
        ``[sa.constraints.Dilution(0.2)]``; see `seqattractor.constraints`.
    target_threshold : float
        theta in z = sign(P x(t+1) - theta); above 0 the hidden targets are sparse.
    input_threshold : float
        theta in zeta = sign(U xi - theta); above 0 the hidden activity is sparse.
    order : int or "auto"
        How many past patterns the network looks at. The visible state holds the last `order`
        patterns, and only the newest is predicted. "auto" takes the smallest number with which no
        pattern has two successors.
    on_conflict : {"raise", "learn"}
        What to do with a pattern that has two different successors: raise an error, or learn what
        can be learned.
    random_state : int, Generator or None
        Where the random weights come from.
    engine : {"exact", "reference"}
        The compiled engine, or the plain loop. Both learn the same weights, to the last bit, under
        constraints, too. The exact engine has the paper's rule only: other rules are always learned
        by a plain loop, and `engine_` says so.
    n_jobs : int, optional
        How many threads the exact engine uses; -1 for all cores.
    warm_start : bool
        Whether `fit` resumes from the present weights, as in scikit-learn, for up to `max_epochs`
        more epochs; the number of hidden neurons stays, and further errors are appended. The result
        equals that of one longer `fit`, bit for bit.
    verbose : int
        1 shows a bar on a terminal and in a notebook, and elsewhere prints a line after 2 s, every
        10 s and at the end; 2 prints a line every epoch.

    Attributes
    ----------
    U_ : ndarray, shape (M, order * N)
        Weights from visible to hidden neurons. They are held in steps of eta, on a grid on which
        sums are exact, and cannot be written to in place; ``net.U_ = weights`` sets them. The same
        goes for V and the biases.
    V_ : ndarray, shape (N, M)
        Weights from hidden to visible neurons.
    P_ : ndarray, shape (M, N)
        The fixed random projection that makes the hidden targets.
    hidden_bias_ : ndarray, shape (M,)
        b, if ``bias=True``.
    visible_bias_ : ndarray, shape (N,)
        c, if ``bias=True``.
    target_bias_ : ndarray, shape (M,)
        The constant unit's part of the projection, z = sign(P x(t+1) + target_bias), if
        ``bias=True``; fixed as P is.
    hidden_errors_, visible_errors_ : ndarray of int, shape (n_epochs,)
        Updates in each epoch: the sums of mu and nu over neurons and transitions.
    n_iter_ : int
        Epochs run.
    converged_ : bool
        Whether the last epoch was free of errors.
    n_hidden_ : int
        M, as given or chosen.
    engine_ : {"exact", "reference"}
        The engine that learns with these parameters.
    learning_seed_ : ndarray of int, shape (4,)
        What chance begins with where a rule or constraints leave something to it; only with these.
    n_features_in_ : int
        N, the number of visible neurons.
    order_ : int

    See Also
    --------
    FixedHiddenNetwork, HebbianReadoutNetwork : the ablations of the paper, with U at its start.
    LearnedTargetsAttractor : the same with hidden targets that learn.
    VisibleNetwork : the same without hidden neurons.
    SparseSequenceAttractor : a rule with a larger capacity.

    References
    ----------
    Y. Lu and S. Wu, Learning Sequence Attractors in Recurrent Networks with Hidden Neurons.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(30, 100, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=200, random_state=0).fit(X)
    >>> cue = sa.noise.flip(X[0], 5, rng=1)
    >>> sa.retrieved(net.recall(cue, steps=90), X)
    True
    """

    n_hidden: int | Literal["auto"] = 500
    _: KW_ONLY
    kappa: float = 1.0
    eta: float = 1e-3
    bias: bool = False
    init_scale: float = 1e-3
    max_epochs: int | Literal["auto"] = "auto"
    rule: Rules = None
    constraints: Constraints = None
    target_threshold: float = 0.0
    input_threshold: float = 0.0
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None
    engine: Literal["exact", "reference"] = "exact"
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    U_ = InSteps()
    V_ = InSteps()
    hidden_bias_ = InSteps()
    visible_bias_ = InSteps()

    deterministic = True
    _rehearses = True
    _takes_rules: ClassVar[bool] = True
    _usual_epochs: ClassVar[int] = (
        500  # what max_epochs="auto" is: as many as in the paper's experiments
    )
    _learner: ClassVar[Callable[..., Learned] | None] = (
        None  # an instance may have a cluster instead of the engine
    )
    _arrays: ClassVar[dict[str, str]] = {
        "U_": "float M kN",
        "V_": "float N M",
        "P_": "float M N",
        "hidden_bias_": "float M if bias",
        "visible_bias_": "float N if bias",
        "target_bias_": "float M if bias",
        "hidden_errors_": "count E",
        "visible_errors_": "count E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_iter_": "size E",
        "converged_": "flag",
        "n_hidden": "size M or auto",
        "n_hidden_": "size M",
    }

    def fit_on_cluster(
        self,
        client: Any,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Learn sequences on a Dask cluster, block by block, with the same result as `fit`.

        It is meant for workers with little memory, which hold only their blocks, and not for speed:
        every weight travels to a worker and back, so that more workers hardly help. All weights
        must fit into the memory of this process.

        Parameters
        ----------
        client : distributed.Client
            Of a cluster whose workers have this package; `engine` and `n_jobs` have no effect.
        X, lengths, callback
            As in `fit`.

        Returns
        -------
        self

        Examples
        --------
        >>> import distributed, seqattractor as sa  # doctest: +SKIP
        >>> client = distributed.Client("tcp://host:8786")  # doctest: +SKIP
        >>> net = sa.SequenceAttractor(n_hidden=4000).fit_on_cluster(client, X)  # doctest: +SKIP
        """
        from seqattractor.engine.exact import cluster

        self.__dict__["_learner"] = partial(cluster.learn, client=client)
        try:
            return self.fit(X, lengths, callback=callback)
        finally:
            del self.__dict__["_learner"]

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Learn from scratch, with as many hidden neurons as are given or needed."""
        if is_auto(self.n_hidden):
            return fit_smallest(self, transitions, callback)
        self._init_learning(transitions)
        return self._learn(transitions, self._epoch_limit, callback, from_start=True)

    def _resume(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Learn for up to `max_epochs` more epochs."""
        return self._learn(transitions, self._epoch_limit, self._counting_on(callback))

    def _present(self, transitions: Transitions) -> None:
        """Learn for one epoch, on the weights themselves: `partial_fit` puts them back if that
        fails.
        """
        self._learn(transitions, 1, from_start=True)

    def _learn(
        self,
        transitions: Transitions,
        max_epochs: int,
        callback: ProgressCallback | None = None,
        *,
        from_start: bool = False,
    ) -> tuple[int, int]:
        """Learn on top of the present weights, which may be overwritten at the start; returns the
        errors of the last epoch.
        """
        problem = self._problem(transitions, self._weights(copy=not from_start), max_epochs)
        if self._learner is not None and problem.own is not None:
            raise ValueError(
                "a cluster learns by the paper's rule without constraints only: call fit, or leave "
                "out rule and constraints."
            )
        learn = self._learner or partial(engines.learn, engine=self.engine, n_jobs=self.n_jobs)
        learned = learn(problem, callback=callback)
        self._take(learned)
        self._add_epochs(learned.visible_errors, learned.hidden_errors)
        return self._last_errors()

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw U, V and P, in this order, then the biases if there are some."""
        M = self.n_hidden_ = given_size(self)
        N, N_in = self.n_features_in_, self.n_features_in_ * self.order_
        rng = as_generator(self.random_state)
        check_memory(8 * M * (N_in + 2 * N), f"a network of {M} hidden neurons")
        self.U_ = rng.standard_normal((M, N_in)) * self._hidden_scale
        self.V_ = rng.standard_normal((N, M)) * float(self.init_scale)
        self.P_: Weights = on_grid(rng.standard_normal((M, N)))
        if self.bias:
            self._draw_biases(rng)
        self._no_errors_yet(hidden=True)

    def _synapses(self) -> tuple[Weights, Weights]:
        return self.U_, self.V_.T

    def _way_back(self) -> WayBack:
        """P tells which hidden states were to precede the pattern, eq. (4), and the pseudo-inverse
        of U from which visible ones they follow.
        """
        inverse = pseudo_inverse(self.U_)
        return lambda _, x_next: as_signs(self.hidden_targets(x_next[None]) @ inverse >= 0)

    _fewest_hidden = 1  # that a search tries

    @property
    def engine_(self) -> str:
        """The engine that learns: "exact", or "reference" for a plain loop."""
        return engine_of(self)

    @property
    def _hidden_left(self) -> int:
        """Updates of hidden neurons in the last epoch."""
        return self._last_errors()[0]

    def _hidden_states(self, states: Patterns) -> Patterns:
        """Return the hidden states of a batch, eq. (2): (B, order * N) -> (B, M)."""
        U, eta = held_steps(self, "U_")
        return respond(U, states, -in_steps(self._threshold, eta))

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eq. (3): (B, order * N) -> (B, N)."""
        V, eta = held_steps(self, "V_")
        return respond(V, self._hidden_states(states), in_steps(self._visible_bias, eta))

    def _step_size(self, name: str) -> float:
        return float(self.eta)

    @property
    def _threshold(self) -> Any:
        """What the field of a hidden neuron must reach: theta less the bias, one number for all
        without biases.
        """
        theta = float(self.input_threshold)
        return theta - self.hidden_bias_ if self.bias else theta

    @property
    def _visible_bias(self) -> Any:
        return self.visible_bias_ if self.bias else 0.0

    def hidden_targets(self, x_next: Patterns) -> Patterns:
        """Return the states that the hidden neurons learn to take before each pattern, eq. (4).

        Parameters
        ----------
        x_next : ndarray of int8, shape (n, N)

        Returns
        -------
        ndarray of int8, shape (n, M)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(8, 40, rng=0)
        >>> sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X).hidden_targets(X[1:]).shape
        (7, 100)
        """
        check_learned(self)
        z = np.empty((len(x_next), len(self.P_)), dtype=np.int8)
        # Patterns in float64, and the drive, are eight times as large as the targets.
        for part in pieces(len(x_next), _CHUNK // max(self.P_.shape) + 1):
            z[part] = self._targets_before(x_next[part])
        return z

    def _targets_before(self, x_next: Patterns) -> Patterns:
        """The hidden targets before each pattern, eq. (4): (n, N) -> (n, M)."""
        return respond(self.P_, x_next, -self._target_threshold)

    def _projection(self) -> Weights:
        """Return the projection that makes the hidden targets, shape (M, N)."""
        return self.P_

    def layers(self) -> tuple[Layer, Layer]:
        """Return the hidden and the visible layer."""
        hidden, visible = rules_of(self)
        return (
            self._layer("U_", -self._threshold, hidden),
            self._layer("V_", self._visible_bias, visible),
        )

    def _layer(self, name: str, offset: Any, rule: Rule) -> Layer:
        """Return a layer in steps of eta, as the network adds them up."""
        steps, eta = held_steps(self, name)
        kappa = kappa_of(rule, float(in_steps(self.kappa, eta)))
        return Layer.of(steps, in_steps(offset, eta), kappa=kappa)

    def traits(self) -> Traits:
        """Return the traits: weights are learned online, from the activity at their two ends."""
        biases = ("hidden_bias_", "visible_bias_") if self.bias else ()
        return Traits(
            weights=("U_", "V_", *biases), stores_patterns=False, online=True, local=is_local(self)
        )

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense."""
        check_size(self)
        check_positive(self.kappa, "kappa")
        check_positive(self.eta, "eta")
        check_flag(self.bias, "bias")
        check_flag(self.warm_start, "warm_start")
        check_not_negative(self.init_scale, "init_scale")
        check_number(self.target_threshold, "target_threshold")
        check_number(self.input_threshold, "input_threshold")
        check_in_steps(
            self.eta,
            kappa=self.kappa,
            init_scale=self.init_scale,
            input_threshold=self.input_threshold,
        )
        check_choice(self.engine, "engine", ("exact", "reference"))
        check_own_learning(self, allowed=self._takes_rules)

    # -- inside
    # ----------------------------------------------------------------------------------------------

    def _problem(
        self, transitions: Transitions, weights: tuple[Weights, Weights], max_epochs: int
    ) -> Problem:
        """What an engine or a cluster learns on top of some weights, which are in steps of eta."""
        x, x_next, _ = transitions
        check_memory(len(x) * self.n_hidden_, f"the hidden targets of {len(x)} transitions")
        return Problem(
            x,
            x_next,
            U=weights[0],
            V=weights[1],
            **self._hidden_task(x_next, max_epochs),
            kappa=float(in_steps(self.kappa, float(self.eta))),
            input_threshold=float(in_steps(self.input_threshold, float(self.eta))),
            bias=bool(self.bias),
            max_epochs=max_epochs,
            own=own_learning(self),
        )

    def _hidden_task(self, x_next: Patterns, max_epochs: int) -> dict[str, Any]:
        """What U learns, as fields of a `Problem`: fixed targets."""
        return {"hidden_targets": self.hidden_targets(x_next)}

    @property
    def _target_threshold(self) -> Any:
        """What P x(t+1) must reach: theta less the constant unit's part, one number for all without
        biases.
        """
        theta = float(self.target_threshold)
        return theta - self.target_bias_ if self.bias else theta

    @property
    def _hidden_scale(self) -> float:
        """The standard deviation of the initial U."""
        return float(self.init_scale)

    def _draw_biases(self, rng: np.random.Generator) -> None:
        """Draw the weights of the constant unit: to hidden neurons, to visible ones, and in P."""
        M, N = self.n_hidden_, self.n_features_in_
        self.hidden_bias_ = self._drawn_hidden_bias(rng, M)
        self.visible_bias_ = rng.standard_normal(N) * float(self.init_scale)
        self.target_bias_ = on_grid(rng.choice([-1.0, 1.0], M) * _weight_of_constant_unit(self.P_))

    def _drawn_hidden_bias(self, rng: np.random.Generator, M: int) -> Weights:
        """Draw hidden biases that outweigh updates which cancel in every epoch, as in XOR."""
        return rng.choice([-_HOLD, _HOLD], M) * float(self.init_scale)

    def _weights(self, *, copy: bool) -> tuple[Weights, Weights]:
        """U and V as learning takes them, in steps of eta: biases are their last columns."""
        U, V = (self._in_steps(name, copy=copy and not self.bias) for name in ("U_", "V_"))
        if not self.bias:
            return U, V
        b, c = (self._in_steps(name, copy=False) for name in ("hidden_bias_", "visible_bias_"))
        return np.column_stack([U, b]), np.column_stack([V, c])

    def _in_steps(self, name: str, *, copy: bool) -> Weights:
        """Weights in steps of eta, which may have changed since they were learned."""
        steps, eta = held_steps(self, name)
        if eta != float(self.eta):
            return in_steps(getattr(self, name), float(self.eta))
        return steps.copy() if copy else steps

    def _take(self, learned: Learned) -> None:
        """Hold the weights that were learned."""
        U, V = learned.U, learned.V
        assert U is not None
        arrays = {"U_": U, "V_": V}
        if self.bias:
            arrays["U_"], arrays["hidden_bias_"] = split_bias(U)
            arrays["V_"], arrays["visible_bias_"] = split_bias(V)
        for name, steps in arrays.items():
            hold_steps(self, name, steps, float(self.eta))


def _weight_of_constant_unit(P: Weights) -> Weights:
    """Return the constant unit's weight beside each row of P: 1, or the row's largest weight."""
    size = np.abs(P)
    largest = size.max(axis=1)
    others = size.sum(axis=1) - largest
    # Else a hidden target would be constant, or a copy of one unit of the next pattern.
    return np.where(np.abs(largest - 1.0) < others, 1.0, largest)
