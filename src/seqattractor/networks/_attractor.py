"""SequenceAttractor: the paper's network of visible and hidden threshold neurons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import (
    check_choice,
    check_count,
    check_not_negative,
    check_number,
    check_positive,
)
from seqattractor.learning import rule as equations
from seqattractor.learning.engines import engine_module
from seqattractor.learning.result import Learned, ProgressCallback
from seqattractor.networks._base import Lesson
from seqattractor.networks._hidden import HiddenLayerMemory
from seqattractor.networks._traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns

__all__ = ["SequenceAttractor"]

Weights = NDArray[np.float64]


class SequenceAttractor(HiddenLayerMemory):
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
        predicted. "auto" takes the least number with which no pattern has two successors.
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

    def fit(
        self,
        X: ArrayLike | Sequence[ArrayLike],
        lengths: ArrayLike | None = None,
        *,
        callback: ProgressCallback | None = None,
        client: Any = None,
    ) -> Self:
        """Learn sequences from scratch.

        Parameters
        ----------
        X : array of +-1, shape (T, N), or a list of arrays of shape (T_s, N)
        lengths : array of shape (S,), optional
            How many rows of `X` belong to each sequence.
        callback : callable, optional
            Called as ``callback(epoch, hidden_errors, visible_errors)`` for each epoch; returning True ends learning.
        client : distributed.Client, optional
            Learn on this Dask cluster, block by block, with the same result; then `engine` and `n_jobs` say nothing.

        Returns
        -------
        self

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(10, 50, rng=0)
        >>> errors = []
        >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0)
        >>> net = net.fit(X, callback=lambda epoch, hidden, visible: errors.append((hidden, visible)))
        >>> len(errors) == net.n_iter_, errors[-1]
        (True, (0, 0))
        """
        return self._fit(X, lengths, callback, partial(self._learn, client=client))

    # -- inside -------------------------------------------------------------------------------------------------

    def _learn(self, lesson: Lesson, callback: ProgressCallback | None, client: Any = None) -> tuple[int, int]:
        U, V = self._draw_weights()
        if self.rule == "hebbian":
            learned = self._hebbian(U, lesson.inputs, lesson.targets)
        else:
            learned = self._learner(client)(
                lesson.inputs,
                lesson.targets,
                self._hidden_targets(lesson.targets),
                U=U,
                V=V,
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
        return int(self.hidden_errors_[-1]), int(self.visible_errors_[-1])

    def _start(self, lesson: Lesson) -> None:
        self.U_, self.V_ = self._draw_weights()
        if self.rule == "hebbian":
            self.V_[:] = 0.0
        self.hidden_errors_ = self.visible_errors_ = np.zeros(0, dtype=np.int64)
        self.n_iter_ = 0

    def _present(self, lesson: Lesson) -> None:
        hidden, visible = self._go_through(lesson.inputs, lesson.targets)
        self.hidden_errors_ = np.append(self.hidden_errors_, hidden)
        self.visible_errors_ = np.append(self.visible_errors_, visible)
        self.n_iter_ += 1
        self.converged_ = hidden == visible == 0

    def _hidden(self, states: Patterns) -> Patterns:
        """The hidden states of a batch: (B, order * N) -> (B, M)."""
        return equations.sign(states.astype(np.float64) @ self.U_.T - self.input_threshold)  # eq. (2)

    def _hidden_targets(self, targets: Patterns) -> Patterns:
        """z(t+1) of all transitions, eq. (4): (n, N) -> (n, M)."""
        return equations.sign(targets.astype(np.float64) @ self.P_.T - self.target_threshold)

    def _learner(self, client: Any) -> Callable[..., Learned]:
        """What learns: an engine on this machine, or the exact one on a cluster."""
        if client is None:
            return partial(engine_module(self.engine).learn, n_jobs=self.n_jobs)
        from seqattractor.learning.exact.cluster import learn

        return partial(learn, client=client)

    def _draw_weights(self) -> tuple[Weights, Weights]:
        """Draw U, V and P, in this order."""
        rng = as_generator(self.random_state)
        M, N, N_in = self.n_hidden, self.n_features_in_, self.n_features_in_ * self.order_
        U, V, self.P_ = (rng.standard_normal(shape) for shape in ((M, N_in), (N, M), (M, N)))
        if not (self.learn == "V" and self.input_threshold != 0):
            U *= self.init_scale
        V *= self.init_scale
        return U, V

    def _hebbian(self, U: Weights, inputs: Patterns, targets: Patterns) -> Learned:
        """Hebbian V on the hidden states of a fixed U, in one go."""
        self.U_ = U
        y = self._hidden(inputs)
        V = equations.hebbian(y, targets)
        wrong = int(np.sum(equations.sign(y.astype(np.float64) @ V.T) != targets))
        return Learned(U, V, np.zeros(1, dtype=np.int64), np.array([wrong]), 1, wrong == 0)

    def _go_through(self, inputs: Patterns, targets: Patterns) -> tuple[int, int]:
        """Learn from each transition with the plain rule on the weights; returns the errors."""
        if self.rule == "hebbian":
            y = self._hidden(inputs)
            self.V_ += equations.hebbian(y, targets)
            return 0, int(np.sum(self._next(inputs) != targets))
        z = self._hidden_targets(targets)
        hidden = visible = 0
        for t in range(len(inputs)):
            mu, nu = equations.learn_transition(
                self.U_,
                self.V_,
                inputs[t].astype(np.float64),
                targets[t].astype(np.float64),
                z[t],
                kappa=float(self.kappa),
                eta=float(self.eta),
                theta=float(self.input_threshold),
                learn_U=self.learn == "UV",
            )
            hidden, visible = hidden + mu, visible + nu
        return hidden, visible

    def _check_parameters(self) -> None:
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
        check_choice(self.engine, "engine", ("exact", "reference"))

    def _traits(self) -> Traits:
        return Traits(weights=("U_", "V_"), stores_patterns=False, online=True, local=True)
