"""Rules other than the paper's, and constraints on synapses: learning on the weights.

The plain loop has all of them. A kernel in C has the paper's rule under constraints, and makes the
same updates, bit for bit. Weights are in steps of eta on the grid of `engine.grid`, as everywhere:
steps are rounded to it, and so are bounds, levels and what a decay leaves. So sums are exact, and
only what a rule computes itself can differ between machines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from seqattractor.engine.grid import STEP, on_grid
from seqattractor.engine.kernels import learn_constrained
from seqattractor.engine.problem import (
    Floats,
    Learned,
    OwnLearning,
    Problem,
    ProgressCallback,
    repeat,
)
from seqattractor.engine.synapses import Synapses, draw
from seqattractor.rule import field, hidden_state
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

_SOME = 0.15  # of the neurons: with more, it is quicker to go through all of them
_LARGEST = 2.0**60  # of a weight, in steps of eta; what is stored must be far below
_AT_ONCE = 2**25  # weights that the kernel visits in a call: Ctrl-C gets through between two


def learn(
    problem: Problem, *, compiled: bool = False, callback: ProgressCallback | None = None
) -> Learned:
    """Learn U and V, only V, or V of a network without hidden neurons.

    Parameters
    ----------
    problem : Problem
        With `Problem.own`. Its weights may be overwritten.
    compiled : bool
        Whether the kernel learns, which has the paper's rule only.
    callback : callable, optional
        See `ProgressCallback`.

    Returns
    -------
    Learned

    Examples
    --------
    >>> from seqattractor.constraints import Bounded
    >>> from seqattractor.rules import Rule
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> own = OwnLearning((Rule(), Rule()), (Bounded(9),), np.array([1]), epoch=0, cells=3)
    >>> problem = Problem(X[:-1], X[1:], V=np.zeros((3, 3)), kappa=2.0, max_epochs=50, own=own)
    >>> learn(problem).errors.tolist()
    [[0, 6], [0, 2], [0, 0]]
    """
    own = problem.own
    assert own is not None
    if problem.kappa == 0:
        raise ValueError(
            "kappa must be at least 2**-24 of eta: rules see margins in units of kappa."
        )
    x: Any = problem.inputs.astype(np.float64)
    x_next = problem.targets.astype(np.float64)
    z, theta, epochs = problem.hidden_targets, problem.input_threshold, own.epoch
    seen = problem.seen(x)
    V = _Layer(problem, own, problem.V, 1)
    U = None if problem.U is None else _Layer(problem, own, problem.U, 0, theta)

    def present(t: int, rngs: list[np.random.Generator]) -> tuple[int, int]:
        if U is None:
            return 0, V.learn(seen[t], x_next[t], rngs[1])
        hidden = 0 if z is None else U.learn(seen[t], z[t], rngs[0])
        y = hidden_state(U.weights, seen[t], theta)  # eq. (7)
        return hidden, V.learn(problem.seen(y), x_next[t], rngs[1])

    def present_all(rngs: list[np.random.Generator]) -> tuple[int, int]:
        """Present all transitions to U, then to V, with the codes that U had at each."""
        hidden, y = 0, seen
        if U is not None:
            hidden, codes = (
                (0, hidden_state(U.weights, seen, theta))
                if z is None
                else U.learn_all(seen, z, rngs[0], coded=True)
            )
            y = problem.seen(codes)
        return hidden, V.learn_all(y, problem.targets, rngs[1])[0]

    def epoch() -> tuple[int, int]:
        nonlocal epochs
        epochs += 1
        rngs = draw(own.seed, epochs)
        with np.errstate(over="ignore", invalid="ignore"):
            if compiled:
                hidden, visible = present_all(rngs)
            else:
                each = [present(t, rngs) for t in range(len(x))]
                hidden, visible = np.sum(each, axis=0).tolist()
        for layer in (U, V):
            if layer is not None and not np.abs(layer.weights).max(initial=0.0) < _LARGEST:
                raise ValueError(
                    f"the rule {type(layer.rule).__name__} made weights that are too large or not "
                    "finite; make its steps, or eta, smaller."
                )
        return hidden, visible

    errors = repeat(epoch, problem.max_epochs, callback)
    for layer in (U, V):
        if layer is not None:
            layer.weights += 0.0  # no -0.0, which BLAS may make or not
    return Learned(V.weights, errors, None if U is None else U.weights)


class _Layer:
    """A layer of neurons that learn by a rule, under constraints."""

    def __init__(
        self, problem: Problem, own: OwnLearning, weights: Floats, which: int, theta: float = 0.0
    ) -> None:
        self.weights = np.require(weights, np.float64, ["C", "W"])
        self.kappa, self.theta = problem.kappa, theta
        self.rule = own.rules[which]
        self.synapses = self.weights[:, :-1] if problem.bias else self.weights
        shape, rng = self.synapses.shape, np.random.default_rng([*own.seed, which])
        unit = self.kappa / np.sqrt(shape[1])
        first = which == 0 or problem.U is None
        self.obey: Synapses | None = None
        self.settled = np.zeros(shape[0], dtype=np.bool_)
        self.seen: NDArray[Any] | None = None
        if own.constraints:
            cells = own.cells if first else shape[1]
            self.obey = Synapses.obeying(own.constraints, shape, unit, cells, rng, STEP)
            self.constrain(slice(None), rng)

    def learn(self, x: NDArray[Any], target: NDArray[Any], rng: np.random.Generator) -> int:
        """Learn one transition; returns the number of errors."""
        margin = target * (field(self.weights, x) - self.theta) / self.kappa
        errors = np.count_nonzero(self._answer("is_error", self.rule.is_error(margin), margin))
        step = on_grid(self._answer("step", self.rule.step(margin, rng), margin))
        changed: Any = np.flatnonzero(step)
        left = self.obey.left if self.obey else 1.0
        if left < 1:
            self.synapses[...] = on_grid(self.synapses * left)
        # Eqs. (6) and (9); for many neurons BLAS adds the outer product in place.
        if len(changed) > _SOME * len(step):
            dger(1.0, x, step * target, a=self.weights.T, overwrite_a=True)
        else:
            self.weights[changed] += np.outer((step * target)[changed], x)
        self.constrain(slice(None) if left < 1 else changed, rng)
        return int(errors)

    def learn_all(
        self, x: NDArray[Any], targets: Patterns, rng: np.random.Generator, *, coded: bool = False
    ) -> tuple[int, Patterns]:
        """Learn all transitions by the paper's rule in C; returns the number of errors, and the
        states that neurons had, if these are codes.
        """
        assert self.obey is not None
        low, high, spacing, left = vars(self.obey).values()
        (n, _), m = x.shape, len(self.weights)
        if self.seen is None or not np.array_equal(x, self.seen):
            self.settled[:] = False  # else a neuron without an error in an epoch has none again
        self.seen, updates = x, np.zeros(m, dtype=np.int64)
        codes = np.empty((n, m if coded else 0), dtype=np.int8)
        inputs, targets = np.asarray(x, np.float64, order="C"), np.ascontiguousarray(targets)
        layer = (self.weights, low, high, self.settled, updates)
        for some in pieces(n, _AT_ONCE // self.weights.size):
            learn_constrained(
                *(*layer, inputs[some], targets[some], codes[some], rng),
                *(spacing, left, self.kappa, self.theta),
            )
        self.settled = (updates == 0) & (left == 1)
        return int(updates.sum()), codes

    def constrain(self, rows: Any, rng: np.random.Generator) -> None:
        """Bring the synapses of some neurons to what is possible."""
        if self.obey is not None:
            self.synapses[rows] = self.obey.possible(self.synapses[rows], rows, rng)

    def _answer(self, method: str, answer: Any, margin: Floats) -> NDArray[Any]:
        """Return what a rule has answered, if it is a finite number for each neuron."""
        values = np.asarray(answer)
        if values.shape == margin.shape and values.dtype.kind in "biuf":
            if np.isfinite(values).all():
                return values
            what = "values that are not finite; a smaller eta may help"
        else:
            what = f"an array of {values.dtype} and shape {values.shape}"
        raise ValueError(
            f"{type(self.rule).__name__}.{method} must return a number for each neuron, of shape "
            f"{margin.shape}, but it returned {what}."
        )
