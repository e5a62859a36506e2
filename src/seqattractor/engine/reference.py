"""The plain online loop: one transition at a time, epoch after epoch, on the weights. Slow, and the
truth.
"""

from __future__ import annotations

import numpy as np

from seqattractor import rule
from seqattractor.engine.problem import Learned, Problem, ProgressCallback, repeat


def learn(problem: Problem, *, callback: ProgressCallback | None = None) -> Learned:
    """Learn U and V by equations (4)-(9), only V, or V of a network without hidden neurons.

    Parameters
    ----------
    problem : Problem
    callback : callable, optional
        See `ProgressCallback`.

    Returns
    -------
    Learned

    Examples
    --------
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> learn(Problem(X[:-1], X[1:], V=np.zeros((3, 3)), kappa=2.0, max_epochs=50)).errors.tolist()
    [[0, 6], [0, 2], [0, 0]]
    """
    U, V, kappa, feedback = problem.U, problem.V.copy(), problem.kappa, problem.feedback
    U = None if U is None else U.copy()
    Q = None if feedback is None else feedback.Q.astype(np.float64)
    x, x_next = problem.inputs.astype(np.float64), problem.targets.astype(np.float64)

    def present(t: int) -> tuple[int, int]:
        if U is None:
            return 0, rule.update_visible(V, problem.seen(x[t]), x_next[t], kappa=kappa, eta=1.0)
        z = None if problem.hidden_targets is None else problem.hidden_targets[t]
        if feedback is not None and Q is not None:
            z = rule.learned_target(feedback.drive[t], Q, x_next[t], feedback.weight)
        theta, bias = problem.input_threshold, problem.bias
        return rule.learn_transition(
            U, V, x[t], x_next[t], z, kappa=kappa, eta=1.0, theta=theta, bias=bias, Q=Q
        )

    def epoch() -> tuple[int, int]:
        hidden, visible = np.sum([present(t) for t in range(len(x))], axis=0).tolist()
        return hidden, visible

    errors = repeat(epoch, problem.max_epochs, callback)
    return Learned(V, errors, U, None if Q is None else Q.astype(np.int64))
