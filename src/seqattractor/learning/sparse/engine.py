"""Running the sparse rule for many epochs: the plain loop, or the compiled kernels in integers wide enough for each epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning import kernels
from seqattractor.learning.kernels import aligned, padded, row
from seqattractor.learning.problem import ProgressCallback
from seqattractor.learning.sparse.arrays import converted, in_rows, inverse_lengths, largest, packed, products, unpacked
from seqattractor.learning.sparse.practice import practise_U, practise_V
from seqattractor.learning.sparse.rule import (
    LARGEST,
    PROTOTYPE,
    Epoch,
    Floats,
    SparseSettings,
    SparseState,
    is_wanted,
    present,
    too_large,
)
from seqattractor.sequences import Patterns

Form = Literal["best", "tables", "fields", "weights", "plain"]
TABLED = 512  # input units, at most, for which the tables of a block of neurons stay in a fast cache: 128 kB
UPDATES = 3  # of hidden neurons in a presentation with noise; measured, for the choice of a kernel


def learn_sparse(
    inputs: Patterns,
    targets: Patterns,
    drive: Floats,
    state: SparseState,
    settings: SparseSettings,
    epochs: Sequence[Epoch],
    *,
    rng: np.random.Generator,
    form: Form = "best",
    callback: ProgressCallback | None = None,
) -> tuple[NDArray[np.int64], bool]:
    """Learn transitions by the sparse rule, changing `state`.

    Parameters
    ----------
    inputs, targets : ndarray of int8, shapes (n, N_in) and (n, N)
        x(t) and x(t+1) of each transition, in the order of presentation.
    drive : ndarray, shape (n, M)
        Where P is not learned: what makes hidden neurons compete to be active, P applied to x(t+1), or to x(t).
    state : SparseState
    settings : SparseSettings
    epochs : sequence of Epoch
        What happens in each epoch.
    rng : Generator
        Where noise and redraws come from.
    form : {"best", "tables", "fields", "weights", "plain"}
        Which kernels to use, or the plain loop; the result is the same. "fields" carries fields along, "tables" does so only
        while targets are chosen or there is no noise, "weights" computes them at every presentation, and "best" is what takes
        the least time.
    callback : callable, optional
        Told of every epoch; returning True ends learning.

    Returns
    -------
    errors : ndarray of int64, shape (epochs run, 2)
        Sum of mu and of nu in each epoch.
    converged : bool
        Whether the last epoch was free of noise and errors. Learning ends where nothing would change any more.
    """
    inputs, targets, drive = np.ascontiguousarray(inputs), np.ascontiguousarray(targets), np.ascontiguousarray(drive)
    flipped = max((now.noise for now in epochs), default=0) / 2
    if form == "best":
        form = _best_form(len(inputs), inputs.shape[1], len(state.U), flipped)
    record = _Record(epochs, state, callback)
    worker: _Plain | None = None
    wanted, at_most = True, math.inf
    for now, equal in groupby(epochs):
        times = len(list(equal))
        if now.at_most != at_most:
            wanted, at_most = is_wanted(now, state), now.at_most
        if not wanted:
            record.leave_out(times)
        elif (now.for_U_alone or now.for_V_alone) and form != "plain":
            if worker is not None:
                worker.finish()
                worker = None
            if now.for_U_alone:
                practise_U(inputs, state, settings, now.hidden_step, times, record.note)
                times = 0
            elif not record.needless(now):
                times = practise_V(inputs, targets, state, settings, now.visible_step, times, record.note)
            for _ in range(0 if record.over else times):
                record.repeat(now)
        else:
            if worker is None:
                worker = _WORKERS[form](inputs, targets, drive, state, settings, rng)
                worker.prepare(noise=flipped > 0)
            for _ in range(times):
                if record.needless(now):
                    record.leave_out(1)
                elif record.note(*worker.epoch(now)):
                    break
        if record.over:
            break
    if worker is not None:
        worker.finish()
    return np.array(record.errors, dtype=np.int64).reshape(-1, 2), record.converged


class _Record:
    """The errors of all epochs so far, and whether learning is over."""

    def __init__(self, epochs: Sequence[Epoch], state: SparseState, callback: ProgressCallback | None) -> None:
        self.errors: list[tuple[int, int]] = []
        self.converged = self.over = False
        self._epochs, self._state, self._callback = epochs, state, callback
        self._next = 0  # where in the plan we are
        self._unchanging = _from_where_only_errors_change_anything(epochs)
        self._last = max((k for k, now in enumerate(epochs) if now.at_most == math.inf), default=-1)  # that is always there

    def needless(self, now: Epoch) -> bool:
        """Whether an epoch for states that are nearly good comes after one without any error."""
        return now.at_most < math.inf and bool(self.errors) and self.errors[-1] == (0, 0)

    def leave_out(self, times: int) -> None:
        """Leave out some epochs of the plan."""
        self._next += times

    def repeat(self, now: Epoch) -> None:
        """One more epoch for V alone after one without any error: nothing happens in it, if it is there at all."""
        if self.needless(now):
            self.leave_out(1)
        else:
            self.note(0, 0)

    def note(self, hidden: int, visible: int) -> bool:
        """Note the errors of one more epoch and tell the callback; returns whether learning is over."""
        now, later = self._epochs[self._next], self._next + 1
        self.errors.append((hidden, visible))
        self.converged = (hidden, visible) == (0, 0) and not now.noise
        stop = self._callback is not None and bool(self._callback(len(self.errors), hidden, visible))
        # Errors that are gone in an epoch which might be left out may still be there in one that is not.
        same = self._next > self._last or (now.at_most == math.inf and self._next >= self._unchanging)
        self.over = stop or (self.converged and same and self._all_decoded(self._epochs[later:]))
        self._next = later
        return self.over

    def _all_decoded(self, later: Sequence[Epoch]) -> bool:
        """Whether no transition is still to be redrawn for the errors that it had."""
        tolerated = min((now.redraw_above for now in later if now.at_most == math.inf), default=math.inf)
        return bool(np.all(self._state.wrong <= tolerated))


def _from_where_only_errors_change_anything(epochs: Sequence[Epoch]) -> int:
    """The first epoch from which on nothing but errors leads to a change.

    There is no noise, no homeostasis, no step of P, U learns either always or never, and no margin is raised.
    """
    steady = [(k, now) for k, now in enumerate(epochs) if now.at_most == math.inf]
    for place in reversed(range(len(steady))):
        k, now = steady[place]
        after = steady[place + 1][1] if place + 1 < len(steady) else now
        u_begins = bool(now.hidden_step) != bool(after.hidden_step)
        if now.noise or u_begins or now.for_U_alone or (now.choosing and (now.homeostasis or now.drive_step)):
            return k + 1
    return 0


def _best_form(n: int, n_in: int, n_hidden: int, flipped: float) -> Form:
    """Carry fields, look them up in tables, or compute them from the weights: whichever takes the least time per presentation.

    Carried fields take the weights of flipped units, products with all patterns (in bytes: four for one), a few updates, and
    a transposition once in a while. Tables take a sum over groups of units; as long as they stay in a fast cache, an addition
    takes less than half the time.
    """
    carried = n_hidden * (flipped + n_in / kernels.PRESENTATIONS) + n * flipped / 4 + UPDATES * (n + n_in)
    if flipped and carried >= n_hidden * n_in:
        return "weights"
    looked_up = n_hidden * n_in / kernels.GROUP
    return "tables" if flipped and n_in <= TABLED and looked_up < 2 * carried else "fields"


class _Plain:
    """The plain loop."""

    def __init__(
        self,
        inputs: Patterns,
        targets: Patterns,
        drive: Floats,
        state: SparseState,
        settings: SparseSettings,
        rng: np.random.Generator,
    ) -> None:
        self.inputs, self.targets, self.drive = inputs, targets, drive
        self.state, self.settings, self.rng = state, settings, rng

    def epoch(self, now: Epoch) -> tuple[int, int]:
        """Learn one epoch; returns the errors sum mu and sum nu."""
        return present(self.state, self.settings, now, self.inputs, self.targets, self.drive, self.rng)

    def prepare(self, *, noise: bool) -> None:
        """Get ready for epochs of which some have noise, or none."""

    def finish(self) -> None:
        """Bring the state up to date; here it always is."""


class _OnWeights(_Plain):
    """What all kernels share; fields come from the weights. Arrays have the names that the kernels are declared with.

    V transposed is Q, too, and integers are wide enough for what can happen in the coming stretch.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        state, s, (n, n_in), M = self.state, self.settings, self.inputs.shape, len(self.state.U)
        self.rows = max(M, self.targets.shape[1])
        self.bounds = _largest_field(state.U, s.bias), largest(state.Q) * self.rows  # of hidden and visible fields
        self.kind: type[np.int32] | type[np.int64] = np.int32 if max(self.bounds) < 2**31 else np.int64
        self.theta, self.wrong, self.redrawn = np.ascontiguousarray(state.theta), state.wrong, state.redrawn
        self.z, self.next_bits = packed(state.targets), np.ascontiguousarray(packed(self.targets).T)
        self.flipped, self.n_flipped = np.zeros((n, 0), dtype=np.int32), np.zeros(n, dtype=np.int32)
        self.Vt, self.U = in_rows(state.Q, self.kind, padded=False), in_rows(state.U, self.kind)
        self.feedback, self.has_feedback = aligned((padded(M), row(n) if s.learned_feedback else 0), self.kind, np.zeros), False
        self.order, self.errors = np.arange(n_in, dtype=np.int32), np.zeros(2, dtype=np.int64)
        self.learn: Callable[..., int] | None = None
        P = state.P if s.learn_drive else state.P[:, :0]
        self.P, self.Pt = np.ascontiguousarray(P, dtype=np.int16), in_rows(P.T, np.int16, padded=False)  # between -+PROTOTYPE
        self.totals, self.inverse = aligned((padded(M),), self.kind, np.zeros), inverse_lengths(P)
        self.totals[:M] = P.sum(axis=1)
        if s.learn_drive:
            self.drive = np.zeros((n, M))

    def reach(self) -> int:
        """A bound of all fields that there can be now."""
        return _largest_field(self.weights(), self.settings.bias)

    def become(self, kind: Any) -> None:
        """Make the arrays of weights and fields integers of a kind."""
        self.kind = kind
        self.Vt, self.U, self.totals = (converted(array, kind) for array in (self.Vt, self.U, self.totals))
        self.feedback = converted(self.feedback, kind) if self.has_feedback else aligned(self.feedback.shape, kind, np.zeros)

    def kernel(self) -> Callable[..., int]:
        """The kernel for the coming epochs, with all arrays that it works on."""
        return kernels.sparse_on_weights.bind(self, self.U, self.errors)

    def weights(self) -> NDArray[Any]:
        """U as it is now."""
        M, n_weights = self.state.U.shape
        U: NDArray[Any] = self.U[:M, :n_weights]
        return U

    def epoch(self, now: Epoch) -> tuple[int, int]:
        rule, first, n = SimpleNamespace(**vars(self.settings) | vars(now)), 0, len(self.inputs)
        if self.flipped.shape[1] != now.noise:
            self.flipped, self.n_flipped[:], self.learn = np.zeros((n, now.noise), dtype=np.int32), 0, None
        self.errors[:], self.order[:] = 0, np.arange(len(self.order))
        while first < n:
            last, kind = self._stretch(first, now)
            if kind is not self.kind:
                self.become(kind)
                self.learn = None
            self._prepare_feedback(now)
            if self.learn is None:
                self.flip = kernels.sparse_flips.bind(self.flipped, self.n_flipped, self.order, self.rng)
                self.learn = self.kernel()
            self.learn(rule, self._draw(first, last, now), first, last)
            first = last
        return int(self.errors[0]), int(self.errors[1])

    def _stretch(self, first: int, now: Epoch) -> tuple[int, type[np.int32] | type[np.int64]]:
        """How far to go before bounds are to be looked at again, and the narrowest type up to there.

        Each presentation may add so much to the bounds; when little is left to 2**31, we look how large the numbers really are.
        If that does not help, the rest of the epoch is in 64 bits.
        """
        s, (n, n_in) = self.settings, self.inputs.shape
        growth = now.hidden_step * s.active_weight * (n_in + s.bias**2), now.visible_step * self.rows
        least = max(n_in * PROTOTYPE, s.margin, s.active_margin, s.visible_margin)
        for look in (False, True):
            if look:
                self.bounds = (
                    self.reach(),
                    largest(self.Vt) * self.rows,
                )  # no sum over rows of Vt, or along one of them, is larger
            far = min((2**31 - 1 - bound) // max(step, 1) for bound, step in zip(self.bounds, growth, strict=True))
            last = min(n, first + far)
            if least < 2**31 and (last == n or last - first >= kernels.PRESENTATIONS):
                break
        else:
            last = n
        self.bounds = self.bounds[0] + (last - first) * growth[0], self.bounds[1] + (last - first) * growth[1]
        bound = max(*self.bounds, least)
        if bound >= LARGEST:
            raise too_large()
        return last, np.int32 if bound < 2**31 else np.int64

    def _draw(self, first: int, last: int, now: Epoch) -> Floats:
        """Draw the flips of a stretch; returns the random part of scores of each transition that is redrawn.

        Both are drawn in the order of `rule.present`. Which transitions are redrawn is known before: that depends on what they
        did when they were presented last.
        """
        redrawn = first + np.flatnonzero(self.wrong[first:last] > now.redraw_above)
        if not now.noise:
            return self.rng.standard_normal((len(redrawn), len(self.theta)))
        drawn = np.empty((len(redrawn), len(self.theta)))
        for normals, t in zip(drawn, redrawn.tolist(), strict=True):
            self.flip(first, t + 1)
            normals[:], first = self.rng.standard_normal(len(normals)), t + 1
        self.flip(first, last)
        return drawn

    def _prepare_feedback(self, now: Epoch) -> None:
        """Get Q x(s+1) ready for an epoch that chooses targets by it, which keeps it up to date."""
        wanted = bool(now.choosing and self.settings.learned_feedback)
        if wanted and not self.has_feedback:
            N, (n, M) = self.targets.shape[1], self.drive.shape
            self.feedback[:M, :n] = products(self.Vt[:, :N], self.targets)
        self.has_feedback = wanted

    def finish(self) -> None:
        state, Q = self.state, self.Vt[:, : self.targets.shape[1]]
        state.V[:], state.Q[:], state.P[:], state.U[:] = Q.T, Q, self.P[:, : state.P.shape[1]], self.weights()
        state.targets[:], state.theta[:] = unpacked(self.z, len(Q)), self.theta


class _OnFields(_OnWeights):
    """The dual form: fields are carried along, and weights only where some epoch flips units; else they are made at the end."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.x_b = np.column_stack([self.inputs, np.full(len(self.inputs), self.settings.bias)])
        self.gram = in_rows(products(self.x_b, self.x_b), np.int32, padded=False)
        self.inputs_t, self.input_bits = in_rows(self.inputs.T, np.int8, padded=False), packed(self.inputs)
        self.fields = in_rows(products(self.state.U, self.x_b), self.kind)

    def prepare(self, *, noise: bool) -> None:
        """Count changes instead of making them, where no epoch flips units."""
        self.counts = np.zeros((len(self.state.U), 0 if noise else len(self.inputs)), dtype=np.int64)

    def reach(self) -> int:
        return super().reach() if not self.counts.size else largest(self.fields)

    def become(self, kind: Any) -> None:
        super().become(kind)
        self.fields = converted(self.fields, kind)

    def kernel(self) -> Callable[..., int]:
        return kernels.sparse_on_fields.bind(self, self, self.errors)

    def weights(self) -> NDArray[Any]:
        return super().weights() if not self.counts.size else self.state.U + products(self.counts, self.x_b.T)


class _ByTables(_OnFields):
    """Fields from tables of the weights of groups of units in epochs with noise that choose no targets; else they are carried."""

    by_tables = False

    def epoch(self, now: Epoch) -> tuple[int, int]:
        suited = bool(now.noise) and not now.choosing
        if suited is not self.by_tables:
            if self.by_tables:
                self.fields = in_rows(products(self.weights(), self.x_b), self.kind)
            self.by_tables, self.learn = suited, None
        return super().epoch(now)

    def kernel(self) -> Callable[..., int]:
        return kernels.sparse_by_tables.bind(self, self, self.errors) if self.by_tables else super().kernel()


_WORKERS: dict[str, type[_Plain]] = {"plain": _Plain, "tables": _ByTables, "fields": _OnFields, "weights": _OnWeights}


def _largest_field(U: NDArray[Any], bias: int) -> int:
    """The largest field that any pattern can make."""
    return int((np.abs(U[:, :-1]).sum(axis=1, dtype=np.int64) + bias * np.abs(U[:, -1].astype(np.int64))).max())
