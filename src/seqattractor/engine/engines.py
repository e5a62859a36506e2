"""The two ways to learn by the paper's rule, by name; both give the same result. Other rules have
the plain loop.

A module of its own, so that only networks that learn by an engine import one.
"""

from __future__ import annotations

from seqattractor.engine.kernels import has_kernels
from seqattractor.engine.problem import Learned, Problem, ProgressCallback

FEW = 4
"""Transitions below which the plain loop presents them once in less time than the exact engine
needs to begin and to end.
"""


def learn(
    problem: Problem,
    engine: str,
    *,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
) -> Learned:
    """Learn by the exact engine, or by the plain loop if that is asked for, if kernels cannot be
    called, or if it is quicker.

    The weights of the problem may be overwritten.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> problem = Problem(X[:-1], X[1:], V=np.zeros((3, 3)), kappa=2.0, max_epochs=50)
    >>> learn(problem, "exact").errors.tolist()
    [[0, 6], [0, 2], [0, 0]]
    """
    if problem.own is not None:
        from seqattractor.engine import own_learning

        compiled = engine == "exact" and problem.own.by_the_papers_rule and has_kernels()
        return own_learning.learn(problem, compiled=compiled, callback=callback)
    # One presentation does not pay for comparing every two transitions, as learned targets need it.
    once = problem.max_epochs == 1 and (problem.feedback is not None or len(problem.inputs) < FEW)
    if once or engine == "reference" or not has_kernels():
        from seqattractor.engine import reference

        return reference.learn(problem, callback=callback)
    from seqattractor.engine.exact import engine as exact

    return exact.learn(problem, n_jobs=n_jobs, callback=callback)
