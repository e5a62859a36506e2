"""Learned targets as integer arithmetic on fields. Targets depend on V here, so that U cannot learn ahead of it on a tape.

Weights are start weights plus eta times whole numbers, and those of V and Q are the same ones: what V learns in an epoch is what
Q learns, transposed. A hidden neuron is its fields at the n transitions, as in the exact engine, and so is what Q says to it.
The visible side works on weights, since codes change too.

Whole numbers and sums of start weights on a grid (`fields.Grid`) have no order in which they must be added, and a field is
rounded once. From zero start weights the result is that of `reference.learn_with_feedback` bit for bit. From others the plain
loop rounds its fields as BLAS adds them, by about 1e-13 of their size; where one comes as near to kappa or 0 as that, an
update may differ.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning import kernels
from seqattractor.learning.exact.fields import Floats, Grid, Inputs, Integers, add_learned, gram, start_fields
from seqattractor.learning.exact.workers import count_jobs
from seqattractor.learning.grid import in_steps
from seqattractor.learning.reference import repeat
from seqattractor.learning.result import Learned, ProgressCallback
from seqattractor.learning.rule import sign, with_constant
from seqattractor.sequences import Patterns


def learn_with_feedback(
    inputs: Patterns,
    targets: Patterns,
    drive: Floats,
    *,
    U: Floats,
    V: Floats,
    Q: NDArray[np.int64],
    learned_feedback: float,
    kappa: float,
    eta: float,
    max_epochs: int,
    input_threshold: float = 0.0,
    bias: bool = False,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
) -> Learned:
    """Learn U, V and Q: the same as `reference.learn_with_feedback`, with the same parameters, only faster.

    Parameters
    ----------
    inputs, targets, drive, U, V, Q, learned_feedback, kappa, eta, max_epochs, input_threshold, bias, callback
        As in `reference.learn_with_feedback`; U and V are overwritten with the learned ones.
    n_jobs : int, optional
        Of no use here: each transition waits for the one before, so this runs in one thread.

    Returns
    -------
    Learned
        With Q.

    Examples
    --------
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> drive = np.array([[0.4, -0.1], [0.2, 0.3]])
    >>> start = {"U": np.zeros((2, 3)), "V": np.zeros((3, 2)), "Q": np.zeros((2, 3), dtype=np.int64)}
    >>> learned = learn_with_feedback(X[:-1], X[1:], drive, **start, learned_feedback=0.1, kappa=1.0, eta=0.5, max_epochs=50)
    >>> learned.converged, bool((learned.V == 0.5 * learned.Q.T).all())
    (True, True)
    """
    x = Inputs(with_constant(inputs) if bias else inputs)
    (n, n_in), (n_visible, n_code) = x.X.shape, V.shape
    whole = _whole_type(n * max_epochs * max(n_in, n_visible, n_code) + int(np.abs(Q).sum(axis=1).max()))
    hidden_start = np.ascontiguousarray(start_fields(U, x, Grid(U, eta), input_threshold).T)
    codes = sign(hidden_start)
    codes = with_constant(codes) if bias else codes
    start = Grid(V, eta).place(V)
    net = _Network(
        targets=np.ascontiguousarray(targets),
        gram=gram(x.X).astype(whole),
        hidden_start=hidden_start,
        hidden_learned=np.zeros((n, len(U)), dtype=whole),
        updates=np.zeros((n, len(U)), dtype=whole),
        start=np.ascontiguousarray(start.T),
        start_fields=codes.astype(np.float64) @ start.T,
        learned=np.zeros((n_code, n_visible), dtype=whole),
        learned_fields=np.zeros((n, n_visible), dtype=whole),
        version=np.zeros(n + 1, dtype=np.int64),
        codes=codes,
        drive=np.ascontiguousarray(drive),
        projected=(targets.astype(np.float64) @ Q.T).astype(whole),  # whole numbers: exact in float64
        kappa=float(in_steps(kappa, eta)),
        feedback=learned_feedback,
    )
    count_jobs(n_jobs)  # rejected here as elsewhere if it is no number of threads

    def epoch() -> tuple[int, int]:
        errors = np.zeros(2, dtype=np.int64)
        kernels.learn_targets(net, errors)
        return int(errors[0]), int(errors[1])

    errors, converged = repeat(epoch, max_epochs, callback)
    add_learned(U, net.updates.T, x, eta)
    V += eta * net.learned.T
    return Learned(U, V, errors[:, 0], errors[:, 1], len(errors), converged, Q + net.learned[: len(Q)])


class _Network(NamedTuple):
    """All that the kernel works on; its source says what each of them is."""

    targets: Patterns
    gram: Integers
    hidden_start: Floats
    hidden_learned: Integers
    updates: Integers
    start: Floats
    start_fields: Floats
    learned: Integers
    learned_fields: Integers
    version: Integers
    codes: Patterns
    drive: Floats
    projected: Integers
    kappa: float
    feedback: float


def _whole_type(bound: int) -> np.dtype[Any]:
    """The narrowest type for whole numbers up to `bound`."""
    return np.dtype(np.int32 if bound < 2**31 else np.int64)
