"""Blocks of neurons, the unit of parallel work: neurons of one layer are independent, so a block
needs nothing of another.

A block is plain arrays. On one machine threads advance the blocks; nothing here depends on threads.
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
    Integers,
    add_learned,
    limit_of,
    narrowest,
    padded,
    start_fields,
)
from seqattractor.engine.exact.tape import Restorable, Tape
from seqattractor.engine.kernels import LANES
from seqattractor.sequences import Patterns

_FLIPS = 2**16  # of codes in a window, for which there is space at first
_HEADROOM = 8  # updates, at least, that the first type of integers holds


class _Block(Restorable):
    """The state of m neurons, in the narrowest integers that hold the fields of all of them."""

    changing: ClassVar[tuple[str, ...]] = ("h0", "fields", "bounds", "room", "counts", "settled")

    def __init__(self, targets: Patterns, h0: Floats, kappa: float, step: int) -> None:
        m, n = h0.shape
        self.targets = np.ascontiguousarray(targets.T)
        self.h0, self.kappa, self.step = h0, kappa, step
        self.counts = np.zeros((m, n), dtype=np.int32)
        self.room = np.zeros(m, dtype=np.int64)
        self.settled = np.zeros(m, dtype=np.bool_)
        self._flips = _FLIPS
        self._set_fields(np.zeros((m, padded(n)), dtype=narrowest(_HEADROOM * step)))

    @property
    def limit(self) -> int:
        """The largest field that integers may hold."""
        return limit_of(self.fields.dtype)

    def _set_fields(self, fields: Integers) -> None:
        """Take fields of a new width and write their bounds in the same width."""
        self.fields, self.bounds = fields, np.empty_like(fields)
        kernels.set_bounds(self.bounds, self.targets, self.h0, self.kappa, self.limit)

    def _widen(self) -> None:
        """Continue in wider integers."""
        if self.fields.dtype == WIDTHS[-1]:
            raise OverflowError(
                "fields in units of eta left the range of 32-bit integers; use a larger eta or a "
                "smaller kappa."
            )
        self._set_fields(self.fields.astype(WIDTHS[-1]))

    def _learn(
        self,
        K: tuple[Integers, Integers],
        rows: Integers,
        errors: Integers,
        state: Integers,
        wrong: Integers | None = None,
    ) -> Integers:
        """Let rows learn on fixed inputs with a Gram matrix, given also as `ahead`; returns flips
        if `wrong` is given.
        """
        flips = np.empty((0 if wrong is None else self._flips, 4), dtype=np.int32)
        codes = (
            np.empty((len(self.fields), self.fields.shape[1] // LANES), dtype=np.uint32)
            if wrong is None
            else wrong
        )
        block = (self.targets, self.h0, self.fields, self.bounds, self.room, self.counts, codes)
        used = kernels.learn_rows(
            *K, rows, *block, errors, state, flips, self.step, self.limit, wrong is not None
        )
        return flips[:used]

    def _advance(
        self, n_epochs: int, learn: Callable[[Integers, Integers, Integers], Integers]
    ) -> tuple[Integers, Integers]:
        """Let the active rows learn, and those that need wider integers or more space for flips
        once more.

        Returns errors (n_epochs,) and flips (epoch, t, row, new code).
        """
        errors, flips = np.zeros(n_epochs, dtype=np.int64), [np.empty((0, 4), dtype=np.int32)]
        rows = np.flatnonzero(~self.settled)
        while len(rows):
            state = np.empty(len(rows), dtype=np.uint8)
            found, again = learn(rows, errors, state), state.max()
            self.settled[rows[state == kernels.SETTLED]] = True
            rows = rows[state >= kernels.NARROW]
            flips.append(found[~np.isin(found[:, 2], rows)] if len(rows) else found)
            if again == kernels.FULL:
                self._flips *= 4
            elif again == kernels.NARROW:
                self._widen()
        return errors, np.concatenate(flips)


class LayerBlock(_Block):
    """Neurons that learn fixed targets (n, m) from fixed inputs X (n, N_in) with the Gram matrix K,
    eqs. (5)-(7).

    They are hidden neurons, or those of a visible-only network. `weights` (m, N_in) are their start
    weights, to which `finish` adds what they have learned; `first` is the number of the block's
    first neuron in its layer.
    """

    changing: ClassVar[tuple[str, ...]] = (*_Block.changing, "wrong")

    def __init__(
        self,
        weights: Floats,
        X: Patterns,
        targets: Patterns,
        K: Gram,
        *,
        kappa: float,
        theta: float = 0.0,
        first: int = 0,
    ) -> None:
        super().__init__(targets, start_fields(weights, X, theta), kappa, K.step)
        self.weights, self.X, self.K, self.first = weights, X, K, first
        self.wrong = np.zeros((len(self.fields), self.fields.shape[1] // LANES), dtype=np.uint32)

    def advance(self, n_epochs: int) -> tuple[Integers, Integers]:
        """Learn some epochs; returns the errors (n_epochs,) and the flips of codes (epoch, t,
        neuron, new code).
        """
        K = self.K.K, self.K.ahead
        errors, flips = self._advance(
            n_epochs, lambda rows, errors, state: self._learn(K, rows, errors, state, self.wrong)
        )
        flips[:, 2] += self.first
        return errors, flips

    def finish(self) -> None:
        """Write the learned weights: weights += A X, with the integer counts A of signed
        updates.
        """
        add_learned(self.weights, self.counts * self.targets, self.X)


class VisibleBlock(_Block):
    """Visible neurons that learn their targets (n, m) from changing codes of the hidden neurons,
    eqs. (8)-(9).

    `V` (m, M) are their start weights, to which `finish` adds what they have learned; `y` (n, M)
    are the codes of the first epoch.
    """

    changing: ClassVar[tuple[str, ...]] = (*_Block.changing, "C")

    def __init__(self, V: Floats, y: Patterns, targets: Patterns, *, kappa: float) -> None:
        self.V = V
        super().__init__(targets, start_fields(V, y), kappa, step=V.shape[1])
        self.C = np.zeros(
            (0, padded(V.shape[1])), dtype=self.fields.dtype
        )  # integer weights, needed only if codes flip

    def advance(self, tape: Tape) -> Integers:
        """Learn the epochs of a tape; returns the errors (epochs,)."""
        if tape.needs_weights and not len(self.C):
            self.C = np.zeros((len(self.V), self.C.shape[1]), dtype=self.fields.dtype)

        def learn(rows: Integers, errors: Integers, state: Integers) -> Integers:
            if (
                not tape.needs_weights
            ):  # the codes are final: these are fixed inputs, and updates need only be counted
                return self._learn((tape.K[0], tape.ahead[0]), rows, errors, state)
            kernels.replay_rows(
                *(
                    tape.K,
                    tape.ahead,
                    tape.Y,
                    tape.version,
                    tape.flipped,
                    tape.groups,
                    tape.group_start,
                    rows,
                ),
                *(
                    self.targets,
                    self.V,
                    self.h0,
                    self.fields,
                    self.bounds,
                    self.room,
                    self.C,
                    errors,
                    state,
                ),
                *(self.step, self.limit, self.kappa),
            )
            return np.empty((0, 4), dtype=np.int32)

        return self._advance(len(tape.version), learn)[0]

    def finish(self, y: Patterns) -> None:
        """Write the learned weights: V += C + A Y, with the counts A of updates since the codes `y`
        are final.
        """
        C = self.C[:, : self.V.shape[1]] if len(self.C) else None
        add_learned(self.V, self.counts * self.targets, y, C)

    def _widen(self) -> None:
        super()._widen()
        self.C = self.C.astype(self.fields.dtype)
