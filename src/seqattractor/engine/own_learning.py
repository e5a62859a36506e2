"""The plain online loop for rules other than the paper's, and for constraints on synapses.

Weights are in steps of eta on the grid of `engine.grid`, as everywhere: steps are rounded to it,
and so are bounds, levels and what a decay leaves. So sums are exact, and only what a rule computes
itself can differ between machines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from seqattractor.engine.grid import STEP, on_grid
from seqattractor.engine.problem import (
    Floats,
    Learned,
    OwnLearning,
    Problem,
    ProgressCallback,
    repeat,
)
from seqattractor.rule import field, hidden_state

_SOME = 0.15  # of the neurons: with more, it is quicker to go through all of them
_HAIR = 2.0**-20  # of a level, by which a bound may be rounded off
_LARGEST = 2.0**60  # of a weight, in steps of eta; what is stored must be far below


def learn(problem: Problem, *, callback: ProgressCallback | None = None) -> Learned:
    """Learn U and V, only V, or V of a network without hidden neurons.

    Parameters
    ----------
    problem : Problem
        With `Problem.own`. Its weights may be overwritten.
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
    x, x_next = problem.inputs.astype(np.float64), problem.targets.astype(np.float64)
    z, theta, epochs = problem.hidden_targets, problem.input_threshold, own.epoch
    V = _Layer(problem, own, problem.V, 1)
    U = None if problem.U is None else _Layer(problem, own, problem.U, 0, theta)

    def present(t: int, rng: np.random.Generator) -> tuple[int, int]:
        seen = problem.seen(x[t])
        if U is None:
            return 0, V.learn(seen, x_next[t], rng)
        hidden = 0 if z is None else U.learn(seen, z[t], rng)
        y = hidden_state(U.weights, seen, theta)  # eq. (7)
        return hidden, V.learn(problem.seen(y), x_next[t], rng)

    def epoch() -> tuple[int, int]:
        nonlocal epochs
        epochs += 1
        rng = np.random.default_rng([*own.seed, 2, epochs])
        with np.errstate(over="ignore", invalid="ignore"):
            hidden, visible = np.sum([present(t, rng) for t in range(len(x))], axis=0).tolist()
        for layer in (U, V):
            if layer is not None and not np.abs(layer.weights).max(initial=0.0) < _LARGEST:
                raise ValueError(
                    f"the rule {type(layer.rule).__name__} made weights that are too large or not "
                    "finite; make its steps, or eta, smaller."
                )
        return hidden, visible

    errors = repeat(epoch, problem.max_epochs, callback)
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
        self.constrained = bool(own.constraints)
        self.spacing, self.left = 0.0, 1.0
        if not self.constrained:
            return
        low, high = np.full(shape, -np.inf), np.full(shape, np.inf)
        for each in own.constraints:
            lowest, highest = each.bounds(shape, unit, own.cells if first else shape[1], rng)
            if spacing := each.spacing(unit):
                self.spacing = max(STEP, float(on_grid(spacing)))
                lowest, highest = (bound * (self.spacing / spacing) for bound in (lowest, highest))
            low, high = np.maximum(low, lowest), np.minimum(high, highest)
            self.left *= 1.0 - each.decay()
            if low.shape != shape or not ((low <= 0) & (high >= 0)).all():
                raise ValueError(
                    f"{type(each).__name__}.bounds must return two arrays that numpy broadcasts to "
                    f"the shape {shape} of the weights, with 0 between them."
                )
        level = self.spacing or STEP  # bounds are whole levels; 0.0 in place of -0.0
        self.low = np.ceil(low / level - _HAIR) * level + 0.0
        self.high = np.floor(high / level + _HAIR) * level + 0.0
        self.constrain(slice(None), rng)

    def learn(self, x: NDArray[Any], target: NDArray[Any], rng: np.random.Generator) -> int:
        """Learn one transition; returns the number of errors."""
        margin = target * (field(self.weights, x) - self.theta) / self.kappa
        errors = np.count_nonzero(self._answer("is_error", self.rule.is_error(margin), margin))
        step = on_grid(self._answer("step", self.rule.step(margin, rng), margin))
        changed: Any = np.flatnonzero(step)
        if self.left < 1:
            self.synapses[...] = on_grid(self.synapses * self.left)
        # Eqs. (6) and (9); for many neurons BLAS adds the outer product in place.
        if len(changed) > _SOME * len(step):
            dger(1.0, x, step * target, a=self.weights.T, overwrite_a=True)
        else:
            self.weights[changed] += np.outer((step * target)[changed], x)
        if self.constrained:
            self.constrain(slice(None) if self.left < 1 else changed, rng)
        return int(errors)

    def constrain(self, rows: Any, rng: np.random.Generator) -> None:
        """Bring the synapses of some neurons to what is possible; between two levels chance
        decides.
        """
        weights = self.synapses[rows]
        if self.spacing:
            levels = weights / self.spacing
            below = np.floor(levels)
            weights = (below + (rng.random(levels.shape) < levels - below)) * self.spacing
        self.synapses[rows] = np.clip(weights, self.low[rows], self.high[rows])

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
