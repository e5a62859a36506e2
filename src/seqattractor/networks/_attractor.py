"""SequenceAttractor: the paper's network of visible and hidden threshold neurons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self, final

import numpy as np
from numpy.typing import ArrayLike

from seqattractor._checks import (
    check_choice,
    check_count,
    check_in_steps,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
)
from seqattractor.learning import reference
from seqattractor.learning import rule as equations
from seqattractor.learning.engines import engine_module
from seqattractor.learning.result import Learned, ProgressCallback
from seqattractor.networks._layered import HiddenLayerMemory
from seqattractor.networks._online import EpochMemory
from seqattractor.networks._traits import Layer, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Transitions


@final
class SequenceAttractor(HiddenLayerMemory, EpochMemory):
    """The recurrent network with hidden neurons of Lu & Wu and its local three-factor learning rule.

    Visible neurons xi drive hidden neurons zeta, which drive the next visible state, eqs. (2)-(3)::

        zeta = sign(U xi)          xi' = sign(V zeta)

    Both weight matrices are learned online, one transition at a time, eqs. (4)-(9); `seqattractor.learning.rule` has them
    in plain numpy. The defaults are the settings of all experiments of the paper.

    Parameters
    ----------
    n_hidden : int
        M, the number of hidden neurons.
    learn : {"UV", "V"}
        Learn both weight matrices, or keep U at its random start and learn only V.
    rule : {"three-factor", "hebbian"}
        How V learns. "hebbian" is the paper's ablation V = sum_t x(t+1) y(t)^T, in one go and with U fixed.
    kappa : float
        The robustness, a margin that every neuron must exceed at every transition.
    eta : float
        The learning rate.
    init_scale : float
        The standard deviation of the initial U and V; 0 starts from zero weights. (P is always standard normal: only the sign
        of its projection counts.)
    max_epochs : int
        How often the sequences are presented at most. Learning ends earlier after an epoch without any error, since all later
        epochs would change nothing.
    target_threshold : float
        theta in z = sign(P x(t+1) - theta); above 0 the hidden targets are sparse.
    input_threshold : float
        theta in zeta = sign(U xi - theta); above 0 the hidden activity is sparse. If it is not 0 and ``learn="V"``, U is
        standard normal whatever `init_scale` is, as in the paper's ablation.
    order : int or "auto"
        How many past patterns the network looks at. The visible state holds the last `order` patterns, and only the newest is
        predicted. "auto" takes the smallest number with which no pattern has two successors.
    on_conflict : {"raise", "learn"}
        What to do with a pattern that has two different successors: refuse it, or learn what can be learned.
    random_state : int, Generator or None
        Where the random weights come from.
    engine : {"exact", "reference"}
        The compiled integer engine, or the plain loop. Both give the same result.
    n_jobs : int, optional
        How many threads the exact engine uses; -1 for all cores.
    verbose : int
        1 prints a line every 50 epochs, 2 every epoch.

    Attributes
    ----------
    U_ : ndarray, shape (M, order * N)
        Weights from visible to hidden neurons.
    V_ : ndarray, shape (N, M)
        Weights from hidden to visible neurons.
    P_ : ndarray, shape (M, N)
        The fixed random projection that makes the hidden targets.
    hidden_errors_, visible_errors_ : ndarray of int, shape (n_epochs,)
        Updates in each epoch: the sums of mu and nu over neurons and transitions.
    n_iter_ : int
        Epochs run.
    converged_ : bool
        Whether the last epoch was free of errors.
    n_features_in_ : int
        N, the number of visible neurons.
    order_ : int

    See Also
    --------
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

    declared_arrays: ClassVar[dict[str, str]] = {
        "U_": "float M kN",
        "V_": "float N M",
        "P_": "float M N",
        "hidden_errors_": "count E",
        "visible_errors_": "count E",
    }
    declared_values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag", "n_hidden": "size M"}

    def __init__(
        self,
        n_hidden: int = 500,
        *,
        learn: Literal["UV", "V"] = "UV",
        rule: Literal["three-factor", "hebbian"] = "three-factor",
        kappa: float = 1.0,
        eta: float = 1e-3,
        init_scale: float = 1e-3,
        max_epochs: int = 500,
        target_threshold: float = 0.0,
        input_threshold: float = 0.0,
        order: int | Literal["auto"] = 1,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
        engine: Literal["exact", "reference"] = "exact",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_hidden = n_hidden
        self.learn = learn
        self.rule = rule
        self.kappa = kappa
        self.eta = eta
        self.init_scale = init_scale
        self.max_epochs = max_epochs
        self.target_threshold = target_threshold
        self.input_threshold = input_threshold
        self.order = order
        self.on_conflict = on_conflict
        self.random_state = random_state
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit_on_cluster(
        self,
        client: Any,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        callback: ProgressCallback | None = None,
    ) -> Self:
        """Learn sequences from scratch on a Dask cluster, block by block, with the same result as `fit`.

        Parameters
        ----------
        client : distributed.Client
            Of a cluster whose workers have this package; `engine` and `n_jobs` then say nothing.
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
        from seqattractor.learning.exact.cluster import learn

        with self._unchanged_by_failure():
            self.check_parameters()
            self._forget()
            left = self._learn(partial(learn, client=client), self.transitions(X, lengths), self._announcing(callback))
        self._warn_of_errors(left)
        return self

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int]:
        """Learn by the chosen engine; Hebbian weights are a sum and need none."""
        if self.rule == "hebbian":
            self.begin(transitions)
            self.present(transitions)
            return self._last_errors()
        return self._learn(partial(engine_module(self.engine).learn, n_jobs=self.n_jobs), transitions, callback)

    def begin(self, transitions: Transitions) -> None:
        """Draw U, V and P, in this order."""
        rng = as_generator(self.random_state)
        M, N, N_in = int(self.n_hidden), self.n_features_in_, self.n_features_in_ * self.order_
        check_memory(8 * M * (N_in + 2 * N), f"a network of {M} hidden neurons")
        self.U_, self.V_, self.P_ = (rng.standard_normal(shape) for shape in ((M, N_in), (N, M), (M, N)))
        if not (self.learn == "V" and self.input_threshold != 0):
            self.U_ *= float(self.init_scale)
        self.V_ *= 0.0 if self.rule == "hebbian" else float(self.init_scale)
        self._no_errors_yet(hidden=True)

    def present(self, transitions: Transitions) -> None:
        """Learn from each transition in turn, by the plain rule: an epoch as `fit` has it."""
        if self.rule == "hebbian":
            self._add_hebbian(transitions)
            return
        learned = reference.learn(
            transitions.inputs,
            transitions.targets,
            self.hidden_targets(transitions.targets),
            U=self.U_,
            V=self.V_,
            kappa=float(self.kappa),
            eta=float(self.eta),
            max_epochs=1,
            input_threshold=float(self.input_threshold),
            learn_U=self.learn == "UV",
        )
        self.U_, self.V_ = learned.U, learned.V
        self._count_errors(int(learned.visible_errors[0]), int(learned.hidden_errors[0]))

    def hidden_states(self, states: Patterns) -> Patterns:
        """The hidden states of a batch, eq. (2): (B, order * N) -> (B, M)."""
        return equations.hidden_state(self.U_, states, float(self.input_threshold))

    def hidden_targets(self, x_next: Patterns) -> Patterns:
        """Give what the hidden neurons should say before each pattern, eq. (4).

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
        return equations.hidden_target(self.P_, x_next, float(self.target_threshold))

    def layers(self) -> tuple[Layer, ...]:
        """Give the hidden and the visible layer."""
        kappa = None if self.rule == "hebbian" else float(self.kappa)
        return Layer.of(self.U_, -float(self.input_threshold), kappa=kappa), Layer.of(self.V_, kappa=kappa)

    def traits(self) -> Traits:
        """Tell what is fair to know: weights are learned online, by what is known at their two ends."""
        return Traits(weights=("U_", "V_"), stores_patterns=False, online=True, local=True)

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        check_count(self.n_hidden, "n_hidden")
        check_choice(self.learn, "learn", ("UV", "V"))
        check_choice(self.rule, "rule", ("three-factor", "hebbian"))
        check_positive(self.kappa, "kappa")
        check_positive(self.eta, "eta")
        check_not_negative(self.init_scale, "init_scale")
        check_count(self.max_epochs, "max_epochs")
        check_number(self.target_threshold, "target_threshold")
        check_number(self.input_threshold, "input_threshold")
        check_in_steps(self.eta, kappa=self.kappa, init_scale=self.init_scale, input_threshold=self.input_threshold)
        check_choice(self.engine, "engine", ("exact", "reference"))

    # -- inside -------------------------------------------------------------------------------------------------

    def _learn(
        self, learner: Callable[..., Learned], transitions: Transitions, callback: ProgressCallback | None
    ) -> tuple[int, int]:
        """Learn from scratch with an engine or a cluster; returns the errors of the last epoch."""
        self.begin(transitions)
        learned = learner(
            transitions.inputs,
            transitions.targets,
            self.hidden_targets(transitions.targets),
            U=self.U_,
            V=self.V_,
            kappa=float(self.kappa),
            eta=float(self.eta),
            max_epochs=int(self.max_epochs),
            input_threshold=float(self.input_threshold),
            learn_U=self.learn == "UV",
            callback=callback,
        )
        self.U_, self.V_ = learned.U, learned.V
        self.hidden_errors_, self.visible_errors_ = learned.hidden_errors, learned.visible_errors
        self.n_iter_, self.converged_ = learned.n_iter, learned.converged
        return self._last_errors()

    def _add_hebbian(self, transitions: Transitions) -> None:
        """Add the Hebbian weights of some transitions to V, on the hidden states of a fixed U, all in one go."""
        y = self.hidden_states(transitions.inputs)
        self.V_ += equations.hebbian(y, transitions.targets)
        self._count_errors(int(np.sum(equations.visible_state(self.V_, y) != transitions.targets)), 0)
