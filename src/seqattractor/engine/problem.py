"""What an engine is given and what it returns: a frozen `Problem` and `Learned`, the same for every
engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqattractor.constraints import Constraint
from seqattractor.rule import with_constant
from seqattractor.rules import Rule, ThreeFactor
from seqattractor.sequences import Patterns

Floats = NDArray[np.float64]

ProgressCallback = Callable[[int, int, int], bool | None]
"""Called as ``callback(epoch, hidden_errors, visible_errors)`` after each epoch, counted from 1;
True stops learning.
"""


@dataclass(frozen=True)
class Problem:
    """Transitions to learn, the start weights and the settings of the rule, with eta = 1.

    The rule is homogeneous: weights, kappa and thresholds divided by eta, learned at the rate 1 and
    multiplied by eta again, are the weights that eta gives. Weights, kappa and thresholds here are
    in such steps, on the grid of `engine.grid`, so that every sum is exact.

    Examples
    --------
    >>> from seqattractor.engine import reference
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> z = np.array([[1, -1], [1, 1]], dtype=np.int8)
    >>> V, U = np.zeros((3, 2)), np.zeros((2, 3))
    >>> problem = Problem(X[:-1], X[1:], V=V, U=U, hidden_targets=z, kappa=2.0, max_epochs=50)
    >>> learned = reference.learn(problem)
    >>> learned.converged, learned.n_iter
    (True, 3)
    """

    inputs: Patterns
    """x(t) of each transition in the order of presentation, shape (n, N_in); they may be
    memory-mapped.
    """
    targets: Patterns
    """x(t+1), shape (n, N)."""
    V: Floats
    """Start weights of the visible neurons, shape (N, M): from hidden neurons, or, if there are
    none, from the inputs (N, N_in). Engines may overwrite U and V.
    """
    kappa: float
    max_epochs: int
    U: Floats | None = None
    """Start weights of the hidden neurons, shape (M, N_in); None for a network without hidden
    neurons.
    """
    hidden_targets: Patterns | None = None
    """z(t+1), eq. (4), shape (n, M); None where they are learned, or where U is not."""
    input_threshold: float = 0.0
    """theta of the hidden neurons."""
    bias: bool = False
    """Whether U and V have one more column each: the biases."""
    feedback: Feedback | None = None
    """Where hidden targets are learned: what they come from."""
    own: OwnLearning | None = None
    """Where not the paper's rule learns, or not it alone."""

    def seen(self, patterns: Patterns) -> Patterns:
        """Give patterns as neurons see them: with biases, a unit that is always +1 joins them."""
        return with_constant(patterns) if self.bias else patterns


@dataclass(frozen=True)
class Feedback:
    """Learned hidden targets z = sign((P + lambda Q) x(t+1)), where Q gets the update of V."""

    drive: Floats
    """P x(t+1) less the threshold of targets, `rule.target_drive`, shape (n, M)."""
    Q: NDArray[np.int64]
    """The feedback that was learned before, shape (M, N): whole numbers, since it starts at zero.
    Not overwritten.
    """
    weight: float
    """lambda."""


@dataclass(frozen=True)
class OwnLearning:
    """Rules other than the paper's, and constraints on synapses."""

    rules: tuple[Rule, Rule]
    """Of hidden and of visible neurons."""
    constraints: tuple[Constraint, ...]
    seed: NDArray[np.int64]
    """Of what is left to chance; the same whenever learning continues."""
    epoch: int
    """Epochs before."""
    cells: int
    """N: inputs of the first layer hold the patterns of so many neurons."""

    @property
    def by_the_papers_rule(self) -> bool:
        """Whether both rules are the paper's, so that constraints are all that differs."""
        return all(type(rule) is ThreeFactor for rule in self.rules)


@dataclass(frozen=True)
class Learned:
    """Weights, and how learning went."""

    V: Floats
    """Shape (N, M), or (N, N_in) without hidden neurons."""
    errors: NDArray[np.int64]
    """Sums of mu and of nu in each epoch, shape (n_iter, 2)."""
    U: Floats | None = None
    """Shape (M, N_in)."""
    Q: NDArray[np.int64] | None = None
    """The learned feedback, shape (M, N), if hidden targets were learned."""

    @property
    def hidden_errors(self) -> NDArray[np.int64]:
        """Sum of mu in each epoch, shape (n_iter,)."""
        return self.errors[:, 0]

    @property
    def visible_errors(self) -> NDArray[np.int64]:
        """Sum of nu in each epoch, shape (n_iter,)."""
        return self.errors[:, 1]

    @property
    def n_iter(self) -> int:
        """Epochs run."""
        return len(self.errors)

    @property
    def converged(self) -> bool:
        """Whether the last epoch had no error anywhere."""
        return self.n_iter > 0 and not self.errors[-1].any()


def repeat(
    epoch: Callable[[], tuple[int, int]], max_epochs: int, callback: ProgressCallback | None
) -> NDArray[np.int64]:
    """Run epochs until one has no error (all later ones would change nothing) or the callback
    stops; returns `Learned.errors`.
    """
    errors: list[tuple[int, int]] = []
    while len(errors) < max_epochs:
        errors.append(epoch())
        stop = callback is not None and callback(len(errors), *errors[-1])
        if stop or errors[-1] == (0, 0):
            break
    return np.array(errors, dtype=np.int64).reshape(-1, 2)
