"""Blocks of neurons, the unit of parallel work: neurons of one layer are independent, so a block needs nothing of another.

A block is plain arrays. On one machine threads advance the blocks; nothing here knows of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from seqattractor.engine import kernels
from seqattractor.engine.exact.fields import (
    WIDTHS,
    Floats,
    Gram,
    Inputs,
    Integers,
    add_learned,
    for_fields,
    least_width,
    limit_of,
    padded,
    start_fields,
)
from seqattractor.engine.exact.tape import Restorable, Tape
from seqattractor.engine.kernels import LANES
from seqattractor.sequences import Patterns

_NO_FLIPS = np.empty((0, 4), dtype=np.int32)
_FLIPS = 2**16  # of codes in a window, for which there is room at first


class _Block(Restorable):
    """What both kinds of blocks keep of their m neurons, in the narrowest integers that hold the fields of all of them."""

    changing: ClassVar[tuple[str, ...]] = ("h0", "fields", "bounds", "room", "counts", "settled")

    def __init__(self, targets: Patterns, h0: Floats, kappa: float, step: int) -> None:
        m, n = h0.shape
        self.targets = np.ascontiguousarray(targets.T)
        self.h0, self.kappa, self.step = h0, kappa, step
        self.counts = np.zeros((m, n), dtype=np.int32)
        self.room = np.zeros(m, dtype=np.int64)
        self.settled = np.zeros(m, dtype=np.bool_)
        self._flips = _FLIPS
        self._set_fields(np.zeros((m, padded(n)), dtype=WIDTHS[least_width(step)]))

    @property
    def width(self) -> int:
        """Which of `WIDTHS` the fields have now."""
        return WIDTHS.index(self.fields.dtype)

    def _set_fields(self, fields: Integers) -> None:
        """Take fields of a new width and write their bounds in the same width."""
        self.fields, self.bounds = fields, np.empty_like(fields)
        kernels.set_bounds(self.bounds, self.targets, self.h0, self.kappa, limit_of(self.width))

    def _widen(self) -> None:
        """Go on in wider integers."""
        if self.width + 1 == len(WIDTHS):
            raise OverflowError("fields in units of eta left the range of 64-bit integers; use a larger eta or a smaller kappa.")
        self._set_fields(self.fields.astype(WIDTHS[self.width + 1]))

    def _learn(self, K: tuple[Integers, ...], rows: Integers, wrong: Integers | None, n_epochs: int) -> _Run:
        """Let rows learn on fixed inputs with a Gram matrix, given also as `ahead`; flips are recorded if `wrong` is given."""
        run = _Run(rows, n_epochs, np.empty((self._flips if wrong is not None else 0, 4), dtype=np.int32))
        used = kernels.learn_rows(
            *(*K, rows, self.targets, self.h0, self.fields, self.bounds, self.room, self.counts),
            np.empty((len(self.fields), self.fields.shape[1] // LANES), dtype=np.uint32) if wrong is None else wrong,
            *(run.errors, run.state, run.flips, self.step, limit_of(self.width), wrong is not None),
        )
        run.flips = run.flips[:used]
        return run

    def _advance(self, n_epochs: int, learn: Callable[[Integers], _Run]) -> list[_Run]:
        """Let the active rows learn, and those that turn out to need wider integers, or more room for flips, once more."""
        runs = []
        rows = np.flatnonzero(~self.settled)
        while len(rows):
            run = learn(rows)
            runs.append(run)
            self.settled[rows[run.state == kernels.SETTLED]] = True
            rows, again = rows[run.state >= kernels.NARROW], run.state.max()
            if again == kernels.FULL:
                self._flips *= 4
            elif again == kernels.NARROW:
                self._widen()
        return runs


class _Run:
    """What a kernel tells of some rows: errors (epochs,), the state of each row, and flips (epoch, t, row, new code)."""

    def __init__(self, rows: Integers, n_epochs: int, flips: Integers) -> None:
        self.errors = np.zeros(n_epochs, dtype=np.int64)
        self.state = np.empty(len(rows), dtype=np.uint8)
        self.flips = flips


class LayerBlock(_Block):
    """Neurons that learn fixed targets from fixed inputs: hidden neurons, eqs. (5)-(7), or those of a visible-only network.

    Parameters
    ----------
    weights : ndarray of float64, shape (m, N_in)
        Their start weights; the learned ones are written back by `finish`.
    inputs : Inputs
        Patterns (n, N_in).
    targets : ndarray of int8, shape (n, m)
    K : Gram
        Of the inputs.
    kappa, theta : float
    first : int
        Number of the block's first neuron in its layer.
    """

    changing: ClassVar[tuple[str, ...]] = (*_Block.changing, "wrong")

    def __init__(
        self, weights: Floats, inputs: Inputs, targets: Patterns, K: Gram, *, kappa: float, theta: float = 0.0, first: int = 0
    ) -> None:
        super().__init__(targets, start_fields(weights, inputs, theta), kappa, K.step)
        self.weights, self.inputs, self.K, self.first = weights, inputs, K, first
        self.wrong = np.zeros((len(self.fields), self.fields.shape[1] // LANES), dtype=np.uint32)

    def advance(self, n_epochs: int) -> tuple[Integers, Integers]:
        """Learn some epochs; returns the errors (n_epochs,) and the flips of codes (epoch, t, neuron, new code)."""
        runs = self._advance(n_epochs, lambda rows: self._learn(self.K.of(self.width), rows, self.wrong, n_epochs))
        flips = np.concatenate([_NO_FLIPS, *(run.flips for run in runs)])
        flips[:, 2] += self.first
        return sum((run.errors for run in runs), np.zeros(n_epochs, dtype=np.int64)), flips

    def finish(self) -> None:
        """Write the learned weights: weights += A X, with the integer counts A of signed updates."""
        add_learned(self.weights, self.counts * self.targets, self.inputs)


class VisibleBlock(_Block):
    """Visible neurons that learn their next state from changing codes of the hidden neurons, eqs. (8)-(9).

    Parameters
    ----------
    V : ndarray of float64, shape (m, M)
        Their start weights; the learned ones are written back by `finish`.
    y : Inputs
        The codes (n, M) of the first epoch.
    targets : ndarray of int8, shape (n, m)
    kappa : float
    """

    changing: ClassVar[tuple[str, ...]] = (*_Block.changing, "C")

    def __init__(self, V: Floats, y: Inputs, targets: Patterns, *, kappa: float) -> None:
        self.V = V
        super().__init__(targets, start_fields(V, y), kappa, step=V.shape[1])
        self.C = np.zeros((0, padded(V.shape[1])), dtype=self.fields.dtype)  # integer weights, needed only if codes flip

    def advance(self, tape: Tape) -> Integers:
        """Learn the epochs of a tape; returns the errors (epochs,)."""
        n_epochs = len(tape.version)
        if tape.needs_weights and not len(self.C):
            self.C = np.zeros((len(self.V), self.C.shape[1]), dtype=self.fields.dtype)

        def learn(rows: Integers) -> _Run:
            K, ahead = for_fields(self.width, tape.K, tape.ahead)
            if not tape.needs_weights:  # the codes are final: these are fixed inputs, and updates need only be counted
                return self._learn((K[0], ahead[0]), rows, None, n_epochs)
            run = _Run(rows, n_epochs, _NO_FLIPS)
            kernels.replay_rows(
                *(K, ahead, tape.Y, tape.version, tape.flipped, tape.groups, tape.group_start),
                *(rows, self.targets, self.V, self.h0, self.fields, self.bounds, self.room, self.C, run.errors, run.state),
                *(self.step, limit_of(self.width), self.kappa),
            )
            return run

        return sum((run.errors for run in self._advance(n_epochs, learn)), np.zeros(n_epochs, dtype=np.int64))

    def finish(self, y: Inputs) -> None:
        """Write the learned weights: V += C + A Y, with the counts A of updates since the codes `y` are final."""
        C = self.C[:, : self.V.shape[1]] if len(self.C) else None
        add_learned(self.V, self.counts * self.targets, y, C)

    def _widen(self) -> None:
        super()._widen()
        self.C = self.C.astype(self.fields.dtype)
