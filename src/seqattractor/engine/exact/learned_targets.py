"""Learned targets as integer arithmetic on fields. Targets depend on V here, so that U cannot learn
ahead of it on a tape.

Weights are start weights plus whole numbers, and those of V and Q are the same ones: what V learns
in an epoch is what Q learns, transposed. A hidden neuron is its fields at the n transitions, as in
the exact engine, and so is what Q says to it. The visible side works on weights, since codes change
too.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from seqattractor.engine import kernels
from seqattractor.engine.exact.fields import Floats, add_learned, gram, start_fields
from seqattractor.engine.problem import Feedback, Learned, Problem, ProgressCallback, repeat
from seqattractor.rule import sign


def learn(
    problem: Problem, U: Floats, feedback: Feedback, callback: ProgressCallback | None = None
) -> Learned:
    """Learn U, V and Q of a `problem` with this U and feedback, as `engine.learn` does; each
    transition waits for the last.
    """
    V, Q = problem.V, feedback.Q
    x = problem.seen(problem.inputs)
    (n, n_in), (n_visible, n_code) = x.shape, V.shape
    largest = n * problem.max_epochs * max(n_in, n_visible, n_code) + int(
        np.abs(Q).sum(axis=1).max()
    )
    whole = np.dtype(np.int32 if largest < 2**31 else np.int64)
    hidden_start = np.ascontiguousarray(start_fields(U, x, problem.input_threshold).T)
    codes = problem.seen(sign(hidden_start))
    net = SimpleNamespace(  # csrc/learned_targets.h has the meaning of each
        targets=np.ascontiguousarray(problem.targets),
        gram=gram(x).astype(whole),
        hidden_start=hidden_start,
        hidden_learned=np.zeros((n, len(U)), dtype=whole),
        updates=np.zeros((n, len(U)), dtype=whole),
        start=np.ascontiguousarray(V.T),
        start_fields=codes.astype(np.float64) @ V.T,
        learned=np.zeros((n_code, n_visible), dtype=whole),
        learned_fields=np.zeros((n, n_visible), dtype=whole),
        version=np.zeros(n + 1, dtype=np.int64),
        codes=codes,
        drive=np.ascontiguousarray(feedback.drive),
        projected=(problem.targets.astype(np.float64) @ Q.T).astype(
            whole
        ),  # whole numbers: exact in float64
        kappa=problem.kappa,
        feedback=feedback.weight,
    )

    def epoch() -> tuple[int, int]:
        errors = np.zeros(2, dtype=np.int64)
        kernels.learn_targets(net, errors)
        return int(errors[0]), int(errors[1])

    errors = repeat(epoch, problem.max_epochs, callback)
    add_learned(U, net.updates.T, x)
    V += net.learned.T
    return Learned(V, errors, U, Q + net.learned[: len(Q)])
