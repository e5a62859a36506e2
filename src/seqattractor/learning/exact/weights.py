"""The exact engine on integer weights instead of fields, for long sequences: memory and time grow with n, not with its square.

An epoch goes through the transitions in chunks. In each, first all blocks of hidden neurons learn and write their codes, then all
blocks of visible neurons learn from these: the order of the plain loop, since U does not depend on V. `docs/engine.rst` has the
mathematics, and `forms` decides which form is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seqattractor.learning import kernels
from seqattractor.learning.exact.fields import WIDTHS, Floats, Grid, Inputs, Integers, aligned_zeros, narrowest, start_fields
from seqattractor.learning.exact.workers import Workers
from seqattractor.learning.grid import in_steps
from seqattractor.learning.kernels import GROUP, KINDS, LANES
from seqattractor.learning.reference import repeat
from seqattractor.learning.result import Learned, LearnedVisible, ProgressCallback
from seqattractor.learning.rule import sign, with_constant
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

CHUNK = 1024
"""Transitions that are presented to one layer before the next one has its turn."""
_MOST_COARSE = 2**15 // 8 - 1  # the largest start weight in coarse units: sums of 8 fit into 16 bits
_WIDEST_GUARD = 8.0  # steps of eta: above, most groups of transitions would need their start fields in full after all
_FEWEST_AT_ONCE = 8  # weights that are added up in their own narrow type; if fewer fit, a wider type is quicker


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
    block_rows: int = LANES,
    chunk: int = CHUNK,
) -> Learned:
    """Learn U and V, or only V: the same as `reference.learn`, with the same parameters, bit for bit that of the other form.

    Parameters
    ----------
    inputs, targets, hidden_targets, U, V, kappa, eta, max_epochs, input_threshold, learn_U, bias, n_jobs, callback
        As in `engine.learn`. Patterns may be memory-mapped: they are read a chunk at a time.
    block_rows : int
        Neurons in a block of work, at most LANES. The result does not depend on it.
    chunk : int
        Transitions in a chunk. The result does not depend on it.

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
    n, M = len(inputs), len(U)

    def seen(x: Patterns) -> Patterns:
        return with_constant(x) if bias else x

    with Workers(n_jobs) as workers:
        visible = _Layer(workers, V, float(in_steps(kappa, eta)), eta, 0.0, block_rows)
        margin, theta = float(in_steps(kappa, eta)), float(in_steps(input_threshold, eta))
        hidden = _Layer(workers, U, margin, eta, theta, block_rows) if learn_U else None
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
    block_rows: int = LANES,
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
    with Workers(n_jobs) as workers:
        layer = _Layer(workers, W, float(in_steps(kappa, eta)), eta, 0.0, block_rows)

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


class _Sorted(NamedTuple):
    """Patterns as the kernel takes them: units of each group of transitions sorted by their kind (csrc/weights.h)."""

    units: Integers
    first: Integers
    overlap: Integers


class _Layer:
    """All neurons of one layer: they see the same patterns, and each block of them learns on its own."""

    def __init__(self, workers: Workers, weights: Floats, kappa: float, eta: float, theta: float, block_rows: int) -> None:
        self.workers = workers
        rows = pieces(len(weights), min(block_rows, LANES))
        self.blocks = workers.run(lambda some: _Block(weights[some], some.start, kappa, eta, theta), rows)

    @property
    def settled(self) -> bool:
        """Whether no neuron will ever change again."""
        return all(block.settled for block in self.blocks)

    def present(self, x: Patterns, targets: Patterns, codes: Patterns | None = None) -> int:
        """Learn some transitions once, and write the codes if these are asked for; returns the number of updates."""
        if self.settled and codes is None:
            return 0
        written = np.empty((len(x), 0), dtype=np.int8) if codes is None else codes
        seen, z = self._sort(np.ascontiguousarray(x)), np.ascontiguousarray(targets)
        return sum(self.workers.run(lambda block: block.present(seen, z, written), self.blocks))

    def _sort(self, x: Patterns) -> _Sorted:
        """Sort the units by what they are in each group of transitions."""
        groups = -(-len(x) // GROUP)
        units = np.empty((groups, x.shape[1]), dtype=np.uint32)
        first = np.empty((groups, KINDS + 1), dtype=np.int64)
        overlap = np.empty((groups, GROUP, GROUP), dtype=np.int32)

        def sort(some: slice) -> None:
            kernels.sort_by_kind(x[some.start * GROUP : some.stop * GROUP], units[some], first[some], overlap[some])

        self.workers.run(sort, pieces(groups, 64))
        return _Sorted(units, first, overlap)

    def end_epoch(self, *, constant: bool = True) -> None:
        """Drop blocks without an update since the last call, if the patterns that they saw are constant from epoch to epoch."""
        for block in self.blocks:
            block.settled |= constant and not block.updates
            block.updates = 0

    def finish(self) -> None:
        """Write the learned weights."""
        self.workers.run(lambda block: block.finish(), self.blocks)


class _Block:
    """At most LANES neurons of a layer, by integer weights: steps of eta, learned or in the start, but for a fraction.

    Parameters
    ----------
    weights : ndarray of float64, shape (m, N_in)
        Their start weights; the learned ones are written back by `finish`.
    first : int
        Number of the block's first neuron in its layer.
    kappa, theta : float
        In units of eta.
    eta : float
    """

    def __init__(self, weights: Floats, first: int, kappa: float, eta: float, theta: float) -> None:
        self.weights, self.first, self.kappa, self.eta, self.theta = weights, first, kappa, eta, theta
        start = np.zeros((weights.shape[1], LANES))
        start[:, : len(weights)] = Grid(weights, eta).place(weights).T
        whole = np.rint(start)  # joins what is learned, and what is left is small
        start -= whole
        self.before = whole.astype(np.int64)
        self.C = _aligned(self.before, narrowest(int(np.abs(self.before).max(initial=0))))
        self.start = start if start.any() else start[:0]
        self.coarse, self.unit, self.guard = _coarse(self.start, kappa + abs(theta))
        self.guard[len(weights) :] = -1.0
        self.updates = 0
        self.settled = False

    def present(self, seen: _Sorted, targets: Patterns, codes: Patterns) -> int:
        """Learn some transitions once, and write the codes if there is room for them; returns the number of updates."""
        m = len(self.weights)
        if self.settled:
            if codes.shape[1]:  # every margin exceeds kappa, so that codes are targets
                codes[:, self.first : self.first + m] = targets[:, self.first : self.first + m]
            return 0
        at_once = self._make_room(len(targets))
        updates = kernels.learn_lanes(self, seen, targets, codes, self.first, m, at_once)
        if updates < 0:
            raise ValueError("arrays of a block do not fit together.")
        self.updates += updates
        return updates

    def _make_room(self, n: int) -> int:
        """Widen the weights if n more updates might leave their type; returns how many of them can be added up in it."""
        largest = max(int(self.C.max(initial=0)), -int(self.C.min(initial=0))) + n
        while (at_once := int(np.iinfo(self.C.dtype).max) // largest) < _FEWEST_AT_ONCE:
            width = WIDTHS.index(self.C.dtype) + 1
            if width == len(WIDTHS):
                raise OverflowError(
                    "weights in units of eta left the range of 64-bit integers; use a larger eta or a smaller kappa."
                )
            self.C, self.coarse = _aligned(self.C, WIDTHS[width]), self.coarse[:0]
        return at_once

    def finish(self) -> None:
        """Write the learned weights: each is rounded once."""
        self.weights += self.eta * (self.C - self.before)[:, : len(self.weights)].T


def _aligned(numbers: Integers, kind: np.dtype[Any]) -> Integers:
    """Copy weights of neurons side by side into another type, whose rows begin with a cache line."""
    copied = aligned_zeros(numbers.shape, kind)
    copied[:] = numbers
    return copied


def _coarse(start: Floats, others: float) -> tuple[Integers, float, Floats]:
    """Start weights (N, LANES) in 16 bits, as whole numbers of a unit, and what a field of theirs can be wrong by, (LANES,).

    There are none if fields of this size, or of the `others` that are added to them, leave no room for rounding in float64
    below the guard, or if they would leave too many tests open.
    """
    none = np.zeros((0, LANES), dtype=np.int16)
    most = np.abs(start).max(initial=0.0)
    if most == 0 or not max(most * len(start), others) < 2**30 or len(start) > 2**18:
        return none, 1.0, np.zeros(LANES)
    unit = float(2.0 ** np.ceil(np.log2(most / _MOST_COARSE)))
    coarse = np.rint(start / unit)
    guard = np.abs(start - coarse * unit).sum(axis=0) * (1 + 1e-9) + 2.0**-16
    return (_aligned(coarse, np.dtype(np.int16)) if guard.max() < _WIDEST_GUARD else none), unit, guard
