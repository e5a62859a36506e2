"""StochasticMemory: visible and hidden neurons that fire by chance, and a local rule with one
global factor (Brea 2013).

With s = (x, h, 1) and E_ij(t) = beta (x_i(t+1) - rho_i(t)) s_j(t), visible weights change by eta
E_ij(t), hidden ones by eta (r(t) - rbar) e_ij(t): e_ij(t) = trace e_ij(t-1) + E_ij(t-1), r the log
likelihood.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seqattractor._checks import (
    LARGEST,
    check_count,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
)
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, Transitions, split

Floats = NDArray[np.float64]

_BASELINE_RATE = 0.05  # with which the average likelihood follows


@final
@dataclass(eq=False, repr=False)
class StochasticMemory(OnlineMemory):
    """Visible and hidden neurons that fire by chance, taught to make a visible sequence likely
    (Brea, Senn & Pfister).

    In every step each neuron fires (+1) with the probability ``1 / (1 + exp(-beta u))``, where u
    sums what all neurons, visible and hidden, did. Weights to visible neurons climb the likelihood
    of the next pattern; those to hidden neurons change by the same local product, times one factor
    for all: how likely the next pattern was, compared with the average. So hidden neurons remember
    what the visible ones need, and a pattern may have different successors.

    `recall` is by the most probable state of every neuron, and so without chance; `sample` lets the
    neurons fire as they do.

    Parameters
    ----------
    n_hidden : int
        H, the number of hidden neurons; 0 for none.
    beta : float
        How steeply the probability rises.
    eta : float
        The step of all weights.
    trace : float
        How much of what was done, for which the factor gives credit or blame, is left after a step,
        from 0 to below 1.
    max_epochs : int
        How often the sequences are presented at most.
    tol : float
        Learning ends after an epoch in which the mean of -ln(probability), per visible neuron and
        step, is below it.
    init_scale : float
        The standard deviation of the initial weights to hidden neurons, times the square root of N
        + H. Weights to visible neurons start at zero.
    on_conflict, random_state, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_, V_ : ndarray, shapes (N, N) and (N, H)
        Visible and hidden to visible; `V_` only if there are hidden neurons, like the next three.
    U_, R_ : ndarray, shapes (H, N) and (H, H)
        Visible and hidden to hidden.
    visible_bias_, hidden_bias_ : ndarray, shapes (N,) and (H,)
    baseline_ : float
        The running mean of the log likelihood per visible neuron.
    visible_errors_ : ndarray of int, shape (n_epochs,)
        Visible neurons that were likelier in the wrong state, in each epoch.
    losses_ : ndarray, shape (n_epochs,)
        Means of -ln(probability).
    n_iter_, converged_, rng_
        As in `SequenceAttractor`.

    References
    ----------
    J. Brea, W. Senn and J.-P. Pfister, Matching recall and storage in sequence learning with
    spiking neural networks, 2013. Only the abstract was at hand. Ours are: steps instead of
    continuous time, potentials that last for one step, learned biases, and credit that fades within
    a sequence (`trace`) instead of one factor for a whole one.

    Examples
    --------
    >>> import seqattractor as sa
    >>> A, B, C = sa.datasets.random_periodic(4, 20, rng=0)[:3]
    >>> X = np.array([A, B, A, C, A])  # after A comes B at first, and then C
    >>> sa.zoo.StochasticMemory(40, on_conflict="learn", random_state=0).fit(X).score(X)
    1.0
    """

    n_hidden: int = 50
    _: KW_ONLY
    beta: float = 1.0
    eta: float = 0.05
    trace: float = 0.5
    max_epochs: int = 500
    tol: float = 0.01
    init_scale: float = 3.0
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None
    verbose: int = 0

    deterministic = True

    _arrays: ClassVar[dict[str, str]] = {
        "W_": "float N N",
        "visible_bias_": "float N",
        "V_": "float N H if n_hidden",
        "U_": "float H N if n_hidden",
        "R_": "float H H if n_hidden",
        "hidden_bias_": "float H if n_hidden",
        "visible_errors_": "count E",
        "losses_": "float E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_iter_": "size E",
        "converged_": "flag",
        "rng_": "generator",
        "baseline_": "number",
        "n_hidden": "size H",
    }

    def _is_done(self) -> bool:
        """Return whether the sequences are likely enough."""
        return bool(self.losses_[-1] < self.tol)

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw the initial weights to hidden neurons; no state of a visible one is likelier than
        the other yet.
        """
        N, H = self.n_features_in_, int(self.n_hidden)
        check_memory(32 * (N + H) ** 2, f"a network of {H} hidden neurons")
        self.rng_ = as_generator(self.random_state)
        W = np.zeros((N + H, N + H + 1))
        W[N:] = self.rng_.standard_normal((H, N + H + 1)) * float(self.init_scale) / np.sqrt(N + H)
        self._take(W)
        self.baseline_ = float(np.log(0.5))
        self.losses_ = np.zeros(0)
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        """Go once through the sequences; each starts without potentials and hidden activity."""
        neurons, wrong, likelihood = self._neurons(), 0, 0.0
        pieces = zip(*(split(part, transitions.lengths) for part in transitions[:2]), strict=True)
        with np.errstate(over="ignore", invalid="ignore"):  # raised below
            for x, x_next in pieces:
                shown = (np.concatenate([x, x_next[-1:]]) > 0).astype(np.float64)
                draws = self.rng_.random((len(x), int(self.n_hidden)))
                errors, of_sequence = neurons.learn(
                    shown, draws, eta=float(self.eta), trace=float(self.trace)
                )
                wrong, likelihood = wrong + errors, likelihood + of_sequence
        if not (np.abs(neurons.W) < LARGEST).all():
            raise ValueError(
                f"learning diverged: the weights are not finite; lower eta (it is {self.eta:g})."
            )
        self._take(neurons.W)
        self.baseline_ = float(neurons.baseline)
        self.losses_ = np.append(self.losses_, -likelihood / transitions.targets.size)
        self._count_errors(wrong)

    def start(self, states: Patterns) -> Floats | None:
        """Return the hidden activity before the cue, zeros, (B, H); None where there are no hidden
        neurons.
        """
        return np.zeros((len(states), int(self.n_hidden))) if self.n_hidden else None

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the most probable pattern after each state, (B, N) -> (B, N); changes `memory`."""
        return self._after(states, memory, lambda u: u >= 0)

    def sample(self, cue: ArrayLike, steps: int, *, rng: Seed = None) -> Patterns:
        """Let all neurons fire by chance from a cue.

        Parameters
        ----------
        cue : array of +-1, shape (N,), or (B, N) for a batch
            As in `recall`.
        steps : int
            How many patterns to draw.
        rng : int, Generator or None
            Where chance comes from.

        Returns
        -------
        ndarray of int8, shape (1 + steps, N) or (B, 1 + steps, N)
            The cue, then what the network did.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(6, 20, rng=0)
        >>> net = sa.zoo.StochasticMemory(20, tol=1e-3, random_state=0).fit(X)
        >>> right = net.sample(X[:3], steps=2, rng=0)[:, 1] == X[1:4]
        >>> bool(right.mean() > 0.9)  # most of the 60 neurons fired as they should
        True
        """
        states, single = self._as_states(cue, "cue")
        generator, neurons = as_generator(rng, "sample"), self._neurons()
        steps = check_count(steps, "steps", 0)
        B, _, N = states.shape
        check_memory(B * (1 + steps) * N, f"a sample of {steps} steps")
        path = np.empty((B, 1 + steps, N), dtype=np.int8)
        path[:, 0] = states[:, 0]
        memory = self.start(states[:, 0])
        for t in range(steps):
            path[:, t + 1] = self._after(
                path[:, t], memory, lambda u: generator.random(u.shape) < neurons.probability(u)
            )
        return path[0] if single else path

    def traits(self) -> Traits:
        """Return the traits: local but for one factor that all hidden weights share."""
        hidden = ("V_", "U_", "R_", "hidden_bias_") if self.n_hidden else ()
        note = "one global factor reaches all weights to hidden neurons" if self.n_hidden else ""
        return Traits(
            weights=("W_", "visible_bias_", *hidden),
            stores_patterns=False,
            online=True,
            local=not self.n_hidden,
            note=note,
        )

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_count(self.n_hidden, "n_hidden", 0)
        check_positive(self.beta, "beta")
        check_positive(self.eta, "eta")
        if not 0 <= check_number(self.trace, "trace") < 1:
            raise ValueError(f"trace must be from 0 to below 1, but it is {self.trace}.")
        check_count(self.max_epochs, "max_epochs")
        check_not_negative(self.tol, "tol")
        check_not_negative(self.init_scale, "init_scale")

    def _after(self, states: Patterns, memory: Any, fire: Any) -> Patterns:
        """Return the patterns after some states, where `fire` decides which neurons fire in fields;
        changes the memory.
        """
        carried = self.start(states) if memory is None else memory
        neurons, N = self._neurons(), states.shape[1]
        active = (states > 0).astype(np.float64)
        if carried is None:
            return np.where(fire(neurons.field(active)), 1, -1).astype(np.int8)
        fired = fire(neurons.field(np.concatenate([active, carried], axis=1)))
        carried[:] = fired[:, N:]
        return np.where(fired[:, :N], 1, -1).astype(np.int8)

    def _neurons(self) -> StochasticNeurons:
        """All neurons, with a copy of their weights."""
        rows = [np.column_stack([self.W_, self.visible_bias_])]
        if self.n_hidden:
            to_visible, to_hidden = (
                (self.W_, self.V_, self.visible_bias_),
                (self.U_, self.R_, self.hidden_bias_),
            )
            rows = [np.column_stack(parts) for parts in (to_visible, to_hidden)]
        return StochasticNeurons(
            np.concatenate(rows), self.n_features_in_, float(self.beta), self.baseline_
        )

    def _take(self, W: Floats) -> None:
        """Split the weights of all neurons by their kinds."""
        N = self.n_features_in_
        self.W_, self.visible_bias_ = W[:N, :N].copy(), W[:N, -1].copy()
        if self.n_hidden:
            self.V_, self.U_, self.R_ = W[:N, N:-1].copy(), W[N:, :N].copy(), W[N:, N:-1].copy()
            self.hidden_bias_ = W[N:, -1].copy()


@dataclass
class StochasticNeurons:
    """Weights W, (N + H, N + H + 1), of N visible and H hidden neurons; `learn` changes them and
    the baseline rbar.
    """

    W: Floats
    n_visible: int
    beta: float
    baseline: float = 0.0

    def field(self, s: Floats) -> Floats:
        """Return the input of all neurons, u = W (s, 1), after their activities s: (..., N + H) ->
        (..., N + H).
        """
        return np.asarray(s @ self.W[:, :-1].T + self.W[:, -1])

    def probability(self, u: Floats) -> Floats:
        """rho, with which neurons fire."""
        return np.exp(_log_logistic(self.beta * u))

    def learn(self, x: Floats, draws: Floats, *, eta: float, trace: float) -> tuple[int, float]:
        """Go once through a sequence of 0 and 1, (T, N); returns wrong visible neurons and the log
        likelihood.

        A hidden neuron fires where its number in `draws`, (T - 1, H), is below its probability. A
        visible one is wrong where it was likelier in the other state.
        """
        N, (hidden, width) = self.n_visible, (len(self.W) - self.n_visible, self.W.shape[1])
        h, e = np.zeros(hidden), np.zeros((hidden, width))
        wrong, total = 0, 0.0
        for t in range(len(x) - 1):
            s = np.concatenate([x[t], h])
            u, seen = self.field(s), np.append(s, 1.0)
            rho, likelihood = (
                self.probability(u),
                _log_logistic(self.beta * u[:N] * (2 * x[t + 1] - 1)),
            )
            wrong += int(np.sum((u[:N] >= 0) != (x[t + 1] > 0)))
            total += float(likelihood.sum())
            self.W[:N] += eta * self.beta * np.outer(x[t + 1] - rho[:N], seen)
            if hidden:
                r = float(likelihood.mean())
                self.W[N:] += eta * (r - self.baseline) * e
                self.baseline += _BASELINE_RATE * (r - self.baseline)
                h = (draws[t] < rho[N:]).astype(np.float64)
                e = trace * e + self.beta * np.outer(h - rho[N:], seen)
        return wrong, total


def _log_logistic(z: Floats) -> Floats:
    """Return the logarithm of 1 / (1 + exp(-z)), without overflow."""
    return np.asarray(-np.logaddexp(0.0, -z))
