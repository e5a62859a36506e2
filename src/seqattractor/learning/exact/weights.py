"""The exact engine on weights instead of fields, for long sequences: memory and time grow with n, not with its square.

Weights are in steps of eta on the grid of `seqattractor.learning.grid`, on which float64 adds without rounding in any order. An
epoch goes through the transitions in chunks. In each, first all hidden neurons learn and write their codes, then all visible
neurons learn from these: the order of the plain loop, since U does not depend on V. `docs/engine.rst` has the mathematics, and
`forms` decides which form is used.
"""

from __future__ import annotations

import numpy as np

from seqattractor.learning import kernels
from seqattractor.learning.exact.fields import Floats, Grid, Inputs, start_fields
from seqattractor.learning.exact.workers import Workers, count_jobs
from seqattractor.learning.grid import in_steps
from seqattractor.learning.kernels import SIDE
from seqattractor.learning.reference import repeat
from seqattractor.learning.result import Learned, LearnedVisible, ProgressCallback
from seqattractor.learning.rule import sign, with_constant
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

CHUNK = 1024
"""Transitions that are presented to one layer before the next one has its turn; fewer if layers are large."""
_MOST_WORK = 2**31  # transitions times weights of a chunk: Ctrl-C gets through between two of them
BLOCK_ROWS = 128


def learn(
    inputs: Patterns,
    targets: Patterns,
    hidden_targets: Patterns,
    *,
    U: Floats,
    V: Floats,
    kappa: float,
    eta: float,
    max_epochs: int,
    input_threshold: float = 0.0,
    learn_U: bool = True,
    bias: bool = False,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
    block_rows: int = BLOCK_ROWS,
    chunk: int = CHUNK,
) -> Learned:
    """Learn U and V, or only V: the same as `reference.learn`, with the same parameters, bit for bit that of the other form.

    Parameters
    ----------
    inputs, targets, hidden_targets, U, V, kappa, eta, max_epochs, input_threshold, learn_U, bias, n_jobs, callback
        As in `engine.learn`. Patterns may be memory-mapped: they are read a chunk at a time.
    block_rows : int
        Neurons that a thread takes at a time, if there are several. The result does not depend on it.
    chunk : int
        Transitions in a chunk, at most. The result does not depend on it.

    Returns
    -------
    Learned

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> z = np.array([[1, -1], [1, 1]], dtype=np.int8)
    >>> learned = learn(X[:-1], X[1:], z, U=np.zeros((2, 3)), V=np.zeros((3, 2)), kappa=1.0, eta=0.5, max_epochs=50)
    >>> learned.converged, learned.n_iter
    (True, 3)
    """
    n, M, chunk = len(inputs), len(U), _chunk(chunk, U, V)

    def seen(x: Patterns) -> Patterns:
        return with_constant(x) if bias else x

    with Workers(n_jobs) as workers:
        margin, theta = float(in_steps(kappa, eta)), float(in_steps(input_threshold, eta))
        rows = block_rows if count_jobs(n_jobs) > 1 else max(M, len(V))
        visible = _Layer(workers, V, margin, eta, 0.0, rows)
        hidden = _Layer(workers, U, margin, eta, theta, rows) if learn_U else None
        fixed = None if learn_U else _codes_of(U, inputs, Grid(U, eta), input_threshold, bias, chunk)

        def epoch() -> tuple[int, int]:
            ended = hidden is None or hidden.settled  # from here on codes are the same in every epoch
            errors = [0, 0]
            for part in pieces(n, chunk):
                if hidden is None or ended:
                    y = hidden_targets[part] if fixed is None else fixed[part]
                else:
                    y = np.empty((part.stop - part.start, M), dtype=np.int8)
                    errors[0] += hidden.present(seen(inputs[part]), hidden_targets[part], y)
                errors[1] += visible.present(seen(y), targets[part])
            if hidden is not None:
                hidden.end_epoch()
            visible.end_epoch(constant=ended)
            return errors[0], errors[1]

        errors, converged = repeat(epoch, max_epochs, callback)
        for layer in (hidden, visible):
            if layer is not None:
                layer.finish()
    return Learned(U, V, errors[:, 0], errors[:, 1], len(errors), converged)


def learn_visible(
    inputs: Patterns,
    targets: Patterns,
    *,
    W: Floats,
    kappa: float,
    eta: float,
    max_epochs: int,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
    block_rows: int = BLOCK_ROWS,
    chunk: int = CHUNK,
) -> LearnedVisible:
    """Learn the weights W (N, N_in) of a network without hidden neurons: the same as `reference.learn_visible`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> learn_visible(X[:-1], X[1:], W=np.zeros((3, 3)), kappa=1.0, eta=0.5, max_epochs=50).errors
    array([6, 2, 0])
    """
    chunk = _chunk(chunk, W)
    with Workers(n_jobs) as workers:
        rows = block_rows if count_jobs(n_jobs) > 1 else len(W)
        layer = _Layer(workers, W, float(in_steps(kappa, eta)), eta, 0.0, rows)

        def epoch() -> tuple[int, int]:
            errors = sum(layer.present(inputs[part], targets[part]) for part in pieces(len(inputs), chunk))
            layer.end_epoch()
            return 0, errors

        errors, converged = repeat(epoch, max_epochs, callback)
        layer.finish()
    return LearnedVisible(W, errors[:, 1], len(errors), converged)


def _codes_of(U: Floats, inputs: Patterns, grid: Grid, theta: float, bias: bool, chunk: int) -> Patterns:
    """The codes (n, M) that a fixed U makes of the inputs, eq. (7)."""
    y = np.empty((len(inputs), len(U)), dtype=np.int8)
    for part in pieces(len(inputs), chunk):
        x = with_constant(inputs[part]) if bias else inputs[part]
        y[part] = sign(start_fields(U, Inputs(x), grid, theta).T)
    return y


def _chunk(most: int, *layers: Floats) -> int:
    """The number of transitions in a chunk."""
    return max(min(most, _MOST_WORK // sum(layer.size for layer in layers)), 1)


class _Layer:
    """All neurons of one layer: they see the same patterns, and each block of them learns on its own.

    Parameters
    ----------
    workers : Workers
    weights : ndarray of float64, shape (m, N_in)
        Their start weights; what they learn is added by `finish`.
    kappa, theta : float
        In steps of eta.
    eta : float
    block_rows : int
        Neurons that a thread takes at a time.
    """

    def __init__(self, workers: Workers, weights: Floats, kappa: float, eta: float, theta: float, block_rows: int) -> None:
        self._workers, self._weights, self._kappa, self._eta, self._theta = workers, weights, kappa, eta, theta
        grid = Grid(weights, eta)
        self._grid = grid.factor, grid.scale
        blocks = -(-len(weights) // SIDE)
        self._side = kernels.aligned((blocks, -(-weights.shape[1] // 8) * 8, SIDE), np.float64)
        self._settled = np.zeros(blocks, dtype=np.uint8)
        self._updates = np.zeros(blocks, dtype=np.int64)
        self._parts = list(pieces(blocks, -(-block_rows // SIDE)))
        kernels.load_weights(weights, self._side, *self._grid)

    @property
    def settled(self) -> bool:
        """Whether no neuron will ever change again."""
        return bool(self._settled.all())

    def present(self, x: Patterns, targets: Patterns, codes: Patterns | None = None) -> int:
        """Learn some transitions once, and write the codes if these are asked for; returns the number of updates."""
        if self.settled and codes is None:
            return 0
        before = int(self._updates.sum())
        x, targets = np.ascontiguousarray(x), np.ascontiguousarray(targets)
        written = np.empty((len(x), 0), dtype=np.int8) if codes is None else codes

        def learn(some: slice) -> None:
            first = some.start * SIDE
            neurons = min(some.stop * SIDE, len(self._weights)) - first
            block = self._side[some], self._settled[some], self._updates[some]
            kernels.learn_weights(*block, x, targets, written, first, neurons, self._kappa, self._theta)

        self._workers.run(learn, self._parts)
        return int(self._updates.sum()) - before

    def end_epoch(self, *, constant: bool = True) -> None:
        """Drop blocks without an update since the last call, if the patterns that they saw are constant from epoch to epoch."""
        if constant:
            self._settled |= self._updates == 0
        self._updates[:] = 0

    def finish(self) -> None:
        """Add to the weights what was learned: each is rounded once."""
        if kernels.add_weights(self._weights, self._side, *self._grid, self._eta):
            raise OverflowError(
                "the weights of a neuron sum to more than 2**29 learning steps, and float64 could not add them up exactly; use a "
                "larger eta or a smaller kappa."
            )
