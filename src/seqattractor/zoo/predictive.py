"""PredictiveCodingMemory: temporal predictive coding of one layer (Tang et al. 2023)."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_not_negative, check_positive
from seqattractor.learning.problem import ProgressCallback
from seqattractor.learning.rule import field, sign
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Transitions


@final
class PredictiveCodingMemory(OnlineMemory):
    """Temporal predictive coding (Tang et al.): predict the next pattern and learn from the error of the prediction.

    W is learned so that W f(x(t)) is x(t+1), with f = tanh, online by the delta rule dW ~ (x(t+1) - W f(x(t))) f(x(t))^T, and
    recalls xi' = sign(W f(xi)). Learned to the end this is the pseudo-inverse.

    Parameters
    ----------
    learning_rate : float
        The part of an error that is mended when its transition is visited, above 0 and below 2.
    max_epochs : int
        How often the sequences are presented at most.
    tol : float
        Learning ends after an epoch with a mean squared error of the predictions below it. Ending earlier can make the
        network more robust.
    init_scale : float
        The standard deviation of the initial weights.
    order, on_conflict
        As in `SequenceAttractor`.
    random_state : int, Generator or None
    verbose : int
        1 shows a bar on a terminal and in a notebook, and elsewhere prints a line after 2 s, every 10 s and at the end; 2 prints
        a line every epoch.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
    visible_errors_ : ndarray of int, shape (n_epochs,)
        Units predicted with the wrong sign, in each epoch.
    losses_ : ndarray, shape (n_epochs,)
        Mean squared errors of the predictions.
    n_iter_ : int
    converged_ : bool
        Whether the last epoch predicted every unit's sign.
    n_features_in_, order_ : int

    See Also
    --------
    LatentPredictiveMemory : the same with latent neurons.

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

    losses_: NDArray[np.float64]

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {"W_": "float N kN", "visible_errors_": "count E", "losses_": "float E"}
    _values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag"}

    def __init__(
        self,
        *,
        learning_rate: float = 0.5,
        max_epochs: int = 500,
        tol: float = 1e-6,
        init_scale: float = 0.0,
        order: int | Literal["auto"] = 1,
        on_conflict: Literal["raise", "learn"] = "raise",
        random_state: Seed = None,
        verbose: int = 0,
    ) -> None:
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.tol = tol
        self.init_scale = init_scale
        self.order = order
        self.on_conflict = on_conflict
        self.random_state = random_state
        self.verbose = verbose

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int]:
        """Learn until an epoch predicts well enough."""
        self._init_learning(transitions)
        self._go_on(transitions, int(self.max_epochs), callback)
        return self._last_errors()

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw the initial weights."""
        N = self.n_features_in_
        self.W_ = as_generator(self.random_state).standard_normal((N, N * self.order_)) * float(self.init_scale)
        self.losses_ = np.zeros(0)
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        """Learn from each transition in turn."""
        self._go_on(transitions, 1, None)

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Give the pattern after each state: (B, order * N) -> (B, N)."""
        return sign(field(self.W_, _f(states)))

    def layers(self) -> tuple[Layer, ...]:
        """Give the one layer that there is: f(+-1) is +-tanh(1), so that even a sum of whole weights is rounded."""
        return (Layer.of(self.W_ * np.tanh(np.ones(1)), rounded=True),)

    def traits(self) -> Traits:
        """Tell what is fair to know: the delta rule is online and local."""
        return Traits(weights=("W_",), stores_patterns=False, online=True, local=True)

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        if check_positive(self.learning_rate, "learning_rate") >= 2:
            raise ValueError(f"learning_rate must be below 2 to be stable, but it is {self.learning_rate}.")
        check_count(self.max_epochs, "max_epochs")
        check_not_negative(self.tol, "tol")
        check_not_negative(self.init_scale, "init_scale")

    def _go_on(self, transitions: Transitions, max_epochs: int, callback: ProgressCallback | None) -> None:
        """Learn for some epochs, W += rate eps f(x)^T / |f(x)|^2, and add their errors to those recorded.

        That is linear in the targets, so that a whole epoch is one triangular system, the same for all neurons, instead of a
        loop over transitions: at transition t, eps(t) is the error before the epoch less what the steps since then have
        mended, eps(t) + rate sum_{s<t} K(t,s) eps(s) = eps_before(t), with K(t,s) = f(x(t)).f(x(s)) / |f(x(s))|^2.
        """
        from scipy.linalg import solve_triangular

        rate, x, wanted = float(self.learning_rate), _f(transitions.inputs), transitions.targets.astype(np.float64)
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
                f"learning diverged: the weights are not finite; lower learning_rate (it is {self.learning_rate:g})."
            )
        self.visible_errors_ = np.append(self.visible_errors_, np.array(errors, dtype=np.int64))
        self.losses_ = np.append(self.losses_, losses)
        self.n_iter_, self.converged_ = len(self.losses_), errors[-1] == 0


def _f(x: Patterns) -> NDArray[np.float64]:
    """The activity of a neuron: tanh."""
    return np.tanh(x.astype(np.float64))
