"""Blocks of neurons, the unit of parallel work: neurons of one layer are independent, so a block needs nothing of another.

A block is plain arrays. On one machine threads advance the blocks; nothing here knows of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from seqattractor.learning.exact import kernels, replay_kernels
from seqattractor.learning.exact.fields import (
    WIDTHS,
    Floats,
    Gram,
    Grid,
    Inputs,
    Integers,
    add_learned,
    least_width,
    limit_of,
    padded,
    start_fields,
)
from seqattractor.learning.exact.lanes import LANES
from seqattractor.learning.exact.tape import Restorable, Tape
from seqattractor.learning.grid import in_steps
from seqattractor.sequences import Patterns

_NO_CODES = np.zeros((0, 1), dtype=np.uint32)  # of neurons whose codes nobody asks for


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

    def _learn(
        self, K: Integers, ahead: Integers, rows: Integers, wrong: Integers, n_epochs: int
    ) -> tuple[Integers, Integers, Integers]:
        """Let rows learn on fixed inputs with Gram matrix K; returns errors, state and flips of codes."""
        added = np.zeros(self.counts.shape, dtype=np.int16 if n_epochs < 2**15 else np.int32)  # narrow is quick
        learned: tuple[Integers, Integers, Integers] = kernels.learn_rows(
            K,
            ahead,
            self.step,
            limit_of(self.width),
            rows,
            self.targets,
            self.h0,
            self.fields,
            self.bounds,
            self.room,
            added,
            wrong,
            n_epochs,
        )
        self.counts += added
        return learned

    def _advance(self, n_epochs: int, run: Callable[[Integers], tuple[Integers, Integers]]) -> Integers:
        """Run the active rows, and those that turn out to need wider integers once more in these."""
        errors = np.zeros(n_epochs, dtype=np.int64)
        rows = np.flatnonzero(~self.settled)
        while len(rows):
            row_errors, state = run(rows)
            errors += row_errors
            self.settled[rows[state == kernels.SETTLED]] = True
            rows = rows[state == kernels.NARROW]
            if len(rows):
                self._widen()
        return errors


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
    kappa, eta, theta : float
    first : int
        Number of the block's first neuron in its layer.
    """

    changing: ClassVar[tuple[str, ...]] = (*_Block.changing, "wrong")

    def __init__(
        self,
        weights: Floats,
        inputs: Inputs,
        targets: Patterns,
        K: Gram,
        *,
        kappa: float,
        eta: float,
        theta: float = 0.0,
        first: int = 0,
    ) -> None:
        super().__init__(targets, start_fields(weights, inputs, Grid(weights, eta), theta), float(in_steps(kappa, eta)), K.step)
        self.weights, self.inputs, self.eta, self.K, self.first = weights, inputs, eta, K, first
        self.wrong = np.zeros((len(self.fields), self.fields.shape[1] // LANES), dtype=np.uint32)

    def advance(self, n_epochs: int) -> tuple[Integers, Integers]:
        """Learn some epochs; returns the errors (n_epochs,) and the flips of codes (epoch, t, neuron, new code)."""
        flips = []

        def run(rows: Integers) -> tuple[Integers, Integers]:
            errors, state, flipped = self._learn(self.K.K, self.K.ahead, rows, self.wrong, n_epochs)
            flipped[:, 2] += self.first
            flips.append(flipped)
            return errors, state

        errors = self._advance(n_epochs, run)
        return errors, np.concatenate(flips) if flips else np.empty((0, 4), dtype=np.int32)

    def finish(self) -> None:
        """Write the learned weights: weights += eta * A X, with the integer counts A of signed updates."""
        add_learned(self.weights, self.counts * self.targets, self.inputs, self.eta)


class VisibleBlock(_Block):
    """Visible neurons that learn their next state from changing codes of the hidden neurons, eqs. (8)-(9).

    Parameters
    ----------
    V : ndarray of float64, shape (m, M)
        Their start weights; the learned ones are written back by `finish`.
    y : Inputs
        The codes (n, M) of the first epoch.
    targets : ndarray of int8, shape (n, m)
    kappa, eta : float
    """

    changing: ClassVar[tuple[str, ...]] = (*_Block.changing, "C")

    def __init__(self, V: Floats, y: Inputs, targets: Patterns, *, kappa: float, eta: float) -> None:
        self.V, self.eta, self.grid = V, eta, Grid(V, eta)
        super().__init__(targets, start_fields(V, y, self.grid), float(in_steps(kappa, eta)), step=V.shape[1])
        self.C = np.zeros((0, padded(V.shape[1])), dtype=self.fields.dtype)  # integer weights, needed only if codes flip

    def advance(self, tape: Tape) -> Integers:
        """Learn the epochs of a tape; returns the errors (epochs,)."""
        n_epochs = len(tape.version)
        if tape.needs_weights and not len(self.C):
            self.C = np.zeros((len(self.V), self.C.shape[1]), dtype=self.fields.dtype)

        def run(rows: Integers) -> tuple[Integers, Integers]:
            if not tape.needs_weights:  # the codes are final: these are fixed inputs, and updates need only be counted
                return self._learn(tape.K[0], tape.ahead[0], rows, _NO_CODES, n_epochs)[:2]
            errors, state = replay_kernels.replay_rows(
                tape.K,
                tape.ahead,
                tape.Y,
                tape.version,
                tape.flipped,
                tape.groups,
                tape.group_start,
                self.step,
                limit_of(self.width),
                self.kappa,
                rows,
                self.targets,
                self.V,
                self.grid.factor,
                self.grid.scale,
                self.h0,
                self.fields,
                self.bounds,
                self.room,
                self.C,
            )
            return errors, state

        return self._advance(n_epochs, run)

    def finish(self, y: Inputs) -> None:
        """Write the learned weights: V += eta * (C + A Y), with the counts A of updates since the codes `y` are final."""
        C = self.C[:, : self.V.shape[1]] if len(self.C) else None
        add_learned(self.V, self.counts * self.targets, y, self.eta, C)

    def _widen(self) -> None:
        super()._widen()
        self.C = self.C.astype(self.fields.dtype)
