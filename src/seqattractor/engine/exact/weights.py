"""The exact engine on weights instead of fields, for long sequences: memory and time grow with n,
not with its square.

Weights are on the grid of `engine.grid`, on which float64 adds without rounding in any order. An
epoch goes through the transitions in chunks. In each, first all hidden neurons learn and write
their codes, then all visible neurons learn from these: the order of the plain loop, since U does
not depend on V. `docs/engine.rst` has the mathematics; `choose_form` decides.
"""

from __future__ import annotations

import numpy as np

from seqattractor.engine import kernels
from seqattractor.engine.exact.fields import Floats, start_fields
from seqattractor.engine.exact.workers import Workers, count_jobs
from seqattractor.engine.kernels import SIDE
from seqattractor.engine.problem import Learned, Problem, ProgressCallback, repeat
from seqattractor.rule import sign
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

CHUNK = 1024
"""Transitions that are presented to one layer before the next one has its turn; fewer if layers are
large.
"""
_MOST_WORK = 2**31  # transitions times weights of a chunk: Ctrl-C gets through between two of them
BLOCK_ROWS = 256


def learn(
    problem: Problem,
    *,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
    block_rows: int = BLOCK_ROWS,
    chunk: int = CHUNK,
) -> Learned:
    """Learn as `engine.learn` does, with the same result whatever the number of threads and the
    sizes of pieces.

    Patterns may be memory-mapped: they are read a chunk of transitions at a time.
    """
    U, V, z = problem.U, problem.V, problem.hidden_targets
    chunk = max(min(chunk, _MOST_WORK // (V.size + (0 if U is None else U.size))), 1)

    with Workers(n_jobs) as workers:
        rows = block_rows if count_jobs(n_jobs) > 1 else max(len(V), 0 if U is None else len(U))
        visible = _Layer(workers, V, problem.kappa, 0.0, rows)
        hidden = (
            None
            if U is None or z is None
            else _Layer(workers, U, problem.kappa, problem.input_threshold, rows)
        )

        # Constant patterns that V learns from: inputs, codes of a fixed U, or, once hidden neurons
        # have learned, their targets.
        fixed = problem.inputs if U is None else _codes_of(U, problem, chunk) if z is None else z

        def epoch() -> tuple[int, int]:
            ended = (
                hidden is None or hidden.settled
            )  # from here on codes are the same in every epoch
            errors = [0, 0]
            for part in pieces(len(problem.inputs), chunk):
                y = fixed[part]
                if hidden is not None and not ended:
                    y = np.empty_like(y)
                    errors[0] += hidden.present(problem.seen(problem.inputs[part]), fixed[part], y)
                errors[1] += visible.present(problem.seen(y), problem.targets[part])
            if hidden is not None:
                hidden.end_epoch()
            visible.end_epoch(constant=ended)
            return errors[0], errors[1]

        errors = repeat(epoch, problem.max_epochs, callback)
    return Learned(V, errors, U)


def _codes_of(U: Floats, problem: Problem, chunk: int) -> Patterns:
    """The codes (n, M) that a fixed U makes of the inputs, eq. (7)."""
    y = np.empty((len(problem.inputs), len(U)), dtype=np.int8)
    for part in pieces(len(y), chunk):
        y[part] = sign(
            start_fields(U, problem.seen(problem.inputs[part]), problem.input_threshold).T
        )
    return y


class _Layer:
    """All neurons of one layer: they see the same patterns, and each block of SIDE neurons learns
    on its own.
    """

    def __init__(
        self, workers: Workers, weights: Floats, kappa: float, theta: float, block_rows: int
    ) -> None:
        self._workers, self._weights, self._kappa, self._theta = workers, weights, kappa, theta
        blocks = -(-len(weights) // SIDE)
        self._settled = np.zeros(blocks, dtype=np.uint8)
        self._updates = np.zeros(blocks, dtype=np.int64)
        self._parts = list(pieces(blocks, -(-block_rows // SIDE)))

    @property
    def settled(self) -> bool:
        """Whether no neuron will ever change again."""
        return bool(self._settled.all())

    def present(self, x: Patterns, targets: Patterns, codes: Patterns | None = None) -> int:
        """Learn some transitions once, and write the codes if these are asked for; returns the
        number of updates.
        """
        if self.settled and codes is None:
            return 0
        before = int(self._updates.sum())
        x, targets = np.ascontiguousarray(x), np.ascontiguousarray(targets)
        written = np.empty((len(x), 0), dtype=np.int8) if codes is None else codes

        def learn(some: slice) -> None:
            first = some.start * SIDE
            block = (
                self._weights[first : some.stop * SIDE],
                self._settled[some],
                self._updates[some],
            )
            kernels.learn_weights(*block, x, targets, written, first, self._kappa, self._theta)

        self._workers.run(learn, self._parts)
        return int(self._updates.sum()) - before

    def end_epoch(self, *, constant: bool = True) -> None:
        """Drop blocks without an update since the last call, if the patterns that they saw are
        constant from epoch to epoch.
        """
        if constant:
            self._settled |= self._updates == 0
        self._updates[:] = 0
