"""RecurrentNetwork: a small recurrent network trained by backpropagation through time, as a
yardstick.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_count,
    check_memory,
    check_not_negative,
    check_number,
    check_positive,
)
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.traits import Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import sign
from seqattractor.sequences import Patterns, Transitions, split

Floats = NDArray[np.float64]

# of each sequence, with flips of their own, that are learned from at once; the first of them starts
# anew
_COPIES = 4


class Shown(NamedTuple):
    """A sequence (n, N), its next patterns (n, N), and the last hidden states of its copies
    (copies, H).
    """

    x: Floats
    target: Floats
    end: Floats


@final
@dataclass(eq=False, repr=False)
class RecurrentNetwork(SequenceMemory):
    """An Elman network trained by backpropagation through time: what "just train an RNN" comes to.

    Hidden neurons carry what came before, and predict the next pattern::

        h(t) = tanh(W_in x(t) + W_rec h(t-1) + b)          x(t+1) = sign(W_out h(t) + c)

    All weights go down the gradient of the logistic loss through the whole sequence, by Adam, with
    flipped units in the inputs, so that predictions withstand noise. Now and then the hidden state
    is forgotten, so that recall can start anywhere. A sequence whose last pattern is its first is
    learned as a loop, and a pattern may have different successors.

    Parameters
    ----------
    n_hidden : int
        H, the number of hidden neurons.
    learning_rate : float
        Of Adam, whose steps are about that large; at most 1.
    max_epochs : int
        How often the sequences are presented at most.
    tol : float
        Learning ends after an epoch with a mean loss, with flipped units, below it.
    noise : float
        The probability with which each unit of an input is flipped while learning.
    forgetting : float
        The probability with which the hidden state is set to zero before a step while learning.
    on_conflict, random_state, verbose
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_in_, W_rec_, W_out_ : ndarray, shapes (H, N), (H, H) and (N, H)
    hidden_bias_, visible_bias_ : ndarray, shapes (H,) and (N,)
        b and c.
    visible_errors_ : ndarray of int, shape (n_epochs,)
        Units predicted with the wrong sign in each epoch, over the four copies of each sequence,
        with flipped units.
    losses_ : ndarray, shape (n_epochs,)
    n_iter_ : int
    converged_ : bool
        Whether every transition is made without noise, where the network is led through each
        sequence.

    References
    ----------
    J. Elman, Finding structure in time, 1990. D. Kingma and J. Ba, Adam: a method for stochastic
    optimization, 2015.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> net = sa.zoo.RecurrentNetwork(50, random_state=0).fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 5, rng=1), steps=60), X)
    True
    """

    n_hidden: int = 100
    _: KW_ONLY
    learning_rate: float = 0.01
    max_epochs: int = 500
    tol: float = 5e-3
    noise: float = 0.1
    forgetting: float = 0.1
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None
    verbose: int = 0

    _arrays: ClassVar[dict[str, str]] = {
        "W_in_": "float H N",
        "W_rec_": "float H H",
        "W_out_": "float N H",
        "hidden_bias_": "float H",
        "visible_bias_": "float N",
        "visible_errors_": "count E",
        "losses_": "float E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_hidden": "size H",
        "n_iter_": "size E",
        "converged_": "flag",
    }
    _traits = Traits(
        weights=("W_in_", "W_rec_", "W_out_", "hidden_bias_", "visible_bias_"),
        stores_patterns=False,
        online=False,
        local=False,
        note="trained by backpropagation through time",
    )

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Go down the gradient until an epoch predicts well enough."""
        H, longest = int(self.n_hidden), int(transitions.lengths.max())
        check_memory(
            16 * H * (2 * H + 2 * self.n_features_in_ + 2 * _COPIES * longest),
            f"backpropagation through {longest} steps",
        )
        rng = as_generator(self.random_state)
        self._draw_weights(rng)
        adam = Adam(self._weights(), float(self.learning_rate))
        pieces = zip(
            *(split(part.astype(np.float64), transitions.lengths) for part in transitions[:2]),
            strict=True,
        )
        sequences = [Shown(x, target, np.zeros((_COPIES, H))) for x, target in pieces]
        losses: list[float] = []
        errors: list[int] = []
        while len(losses) < int(self.max_epochs) and not (losses and losses[-1] < self.tol):
            runs = [self._learn(sequence, adam, rng) for sequence in sequences]
            losses.append(
                float(np.average([run.loss for run in runs], weights=transitions.lengths))
            )
            errors.append(sum(run.wrong for run in runs))
            if callback is not None and callback(len(losses), 0, errors[-1]):
                break
        self.losses_, self.visible_errors_, self.n_iter_ = (
            np.array(losses),
            np.array(errors, dtype=np.int64),
            len(losses),
        )
        left = int(self._wrong_units(transitions).sum())
        self.converged_ = left == 0
        return 0, left

    def _learn(self, sequence: Shown, adam: Adam, rng: np.random.Generator) -> Backpropagated:
        """Run the copies of a sequence once, each with flips of its own, and make one step down the
        gradient.
        """
        x, target, end = sequence
        remembers = (rng.random((len(x), _COPIES)) >= self.forgetting).astype(np.float64)
        is_loop = np.array_equal(x[0], target[-1])
        # One copy of a loop starts anew, the others continue.
        remembers[0, 0 if is_loop else slice(None)] = 0.0
        flips = 1.0 - 2.0 * (rng.random((len(x), _COPIES, x.shape[1])) < self.noise)
        weights = self._weights()
        run = backpropagate(weights, x[:, None] * flips, target, end, remembers)
        adam.go(weights, run.slope)
        end[:] = run.end
        return run

    def start(self, states: Patterns) -> Floats:
        """Return the hidden states before the cue, zeros, (B, H)."""
        return np.zeros((len(states), len(self.W_rec_)))

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, N) -> (B, N); `memory` holds the hidden states
        and is changed.
        """
        hidden = self.start(states) if memory is None else memory
        weights = self._weights()
        hidden[:] = _step(weights, states.astype(np.float64), hidden)
        return sign(_read_out(weights, hidden))

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_count(self.n_hidden, "n_hidden")
        if check_positive(self.learning_rate, "learning_rate") > 1:
            raise ValueError(
                "learning_rate must be at most 1, since Adam makes steps of that size, but it is "
                f"{self.learning_rate}."
            )
        check_count(self.max_epochs, "max_epochs")
        check_not_negative(self.tol, "tol")
        for name in ("noise", "forgetting"):
            if not 0 <= check_number(getattr(self, name), name) < 1:
                raise ValueError(
                    f"{name} is a probability: it must be 0 or more and below 1, but it is "
                    f"{getattr(self, name)}."
                )

    def _draw_weights(self, rng: np.random.Generator) -> None:
        """Draw weights with which fields are about 1, and hidden activity fades."""
        H, N = int(self.n_hidden), self.n_features_in_
        self.W_in_, self.W_rec_ = (
            rng.standard_normal((H, N)) / np.sqrt(N),
            rng.standard_normal((H, H)) / (2 * np.sqrt(H)),
        )
        self.W_out_ = rng.standard_normal((N, H)) / np.sqrt(H)
        self.hidden_bias_, self.visible_bias_ = np.zeros(H), np.zeros(N)

    def _weights(self) -> Weights:
        """All weights together; they are the same arrays."""
        return Weights(self.W_in_, self.W_rec_, self.W_out_, self.hidden_bias_, self.visible_bias_)


class Weights(NamedTuple):
    """All that is learned: (H, N), (H, H), (N, H), (H,) and (N,); also a gradient, or a moment of
    it.
    """

    W_in: Floats
    W_rec: Floats
    W_out: Floats
    b: Floats
    c: Floats


def _step(weights: Weights, x: Floats, h: Floats) -> Floats:
    """Return the hidden states after patterns x, (B, N), and hidden states h: (B, H) -> (B, H)."""
    return np.asarray(np.tanh(x @ weights.W_in.T + h @ weights.W_rec.T + weights.b))


def _read_out(weights: Weights, h: Floats) -> Floats:
    """The fields y of visible neurons: (B, H) -> (B, N)."""
    return np.asarray(h @ weights.W_out.T + weights.c)


class Backpropagated(NamedTuple):
    """A run through a sequence: mean loss, its gradient, the number of wrong signs, and the last
    hidden states, (B, H).
    """

    loss: float
    slope: Weights
    wrong: int
    end: Floats


def backpropagate(
    weights: Weights, x: Floats, target: Floats, start: Floats, remembers: Floats
) -> Backpropagated:
    """Backpropagate the logistic loss through B copies (n, B, N) of a sequence, from hidden (B, H).

    `remembers`, (n, B), is 1 where a copy has its last hidden state, 0 where it forgets it.
    """
    n, B, N = x.shape
    before, h = np.empty((n, B, len(weights.b))), np.empty((n, B, len(weights.b)))
    for t in range(n):
        before[t] = (h[t - 1] if t else start) * remembers[t][:, None]
        h[t] = _step(weights, x[t], before[t])
    y = _read_out(weights, h)
    margin = y * target[:, None]
    loss = float(np.logaddexp(0.0, -2 * margin).mean())
    e_y = (np.tanh(y) - target[:, None]) / y.size
    e_u = e_y @ weights.W_out  # errors of hidden neurons: at first only of their own step
    from_later = np.zeros_like(h[0])
    for t in range(n - 1, -1, -1):
        e_u[t] = (e_u[t] + from_later) * (1 - h[t] ** 2)
        from_later = (e_u[t] @ weights.W_rec) * remembers[t][:, None]
    flat_u, flat_y = e_u.reshape(n * B, -1), e_y.reshape(n * B, -1)
    slope = Weights(
        flat_u.T @ x.reshape(n * B, N),
        flat_u.T @ before.reshape(n * B, -1),
        flat_y.T @ h.reshape(n * B, -1),
        flat_u.sum(axis=0),
        flat_y.sum(axis=0),
    )
    return Backpropagated(loss, slope, int(np.sum((y >= 0) != (target[:, None] > 0))), h[-1])


class Adam:
    """Steps down a gradient whose size does not count: its mean divided by the root of its mean
    square (Kingma and Ba).
    """

    def __init__(
        self, like: Weights, rate: float, decay: tuple[float, float] = (0.9, 0.999)
    ) -> None:
        self.rate, self.decay, self.steps = rate, decay, 0
        self.mean, self.square = (Weights(*map(np.zeros_like, like)) for _ in range(2))

    def go(self, weights: Weights, slope: Weights) -> None:
        """Change the weights in place."""
        self.steps += 1
        corrected = [1 - decay**self.steps for decay in self.decay]
        for w, g, mean, square in zip(weights, slope, self.mean, self.square, strict=True):
            mean += (1 - self.decay[0]) * (g - mean)
            square += (1 - self.decay[1]) * (g * g - square)
            w -= self.rate * (mean / corrected[0]) / (np.sqrt(square / corrected[1]) + 1e-8)
