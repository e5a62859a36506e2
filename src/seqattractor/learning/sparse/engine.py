"""Running the sparse rule for many epochs: the plain loop, or the compiled kernels in integers wide enough for each epoch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.result import ProgressCallback
from seqattractor.learning.sparse.arguments import (
    AHEAD,
    FEEDBACK_AHEAD,
    GROUP,
    LANES,
    PATTERNS,
    PENDING,
    Carried,
    Choice,
    Tables,
    Visible,
    converted,
    filled,
    grouped,
    numbers,
    packed,
    padded,
    room,
    spread,
    spread_out,
    with_padding,
)
from seqattractor.learning.sparse.practice import practise
from seqattractor.learning.sparse.practice_of_U import practise_U
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
                times = practise(inputs, targets, state, settings, now.visible_step, times, record.note)
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
    carried = n_hidden * (flipped + n_in / AHEAD) + n * flipped / 4 + UPDATES * (n + n_in)
    if flipped and carried >= n_hidden * n_in:
        return "weights"
    looked_up = n_hidden * n_in / GROUP
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


class _Compiled(_Plain, ABC):
    """What all kernels share: V transposed, which is Q, too, and integers that cannot overflow in the coming epoch."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        M, n_in = len(self.state.U), self.inputs.shape[1]
        self.kind: type[np.int32] | type[np.int64] | None = None
        self.bounds = 2**31, 2**31  # of hidden and visible fields, to be looked at
        self.Vt: NDArray[Any] = with_padding(self.state.Q, np.int64)
        self.P = self.state.P.astype(np.int16)  # between -+PROTOTYPE
        self.of_P = spread_out(self.P.T, np.int16), self.state.P.sum(axis=1), _inverse_lengths(self.state.P)
        self.feedback: NDArray[Any] = np.zeros((M, 0), dtype=np.int64)
        self.next_bits, self.z = packed(self.targets), with_padding(self.state.targets, np.int8)
        k, words = self.settings.n_winners, len(self.next_bits)
        of_choice = np.empty(n_in + 1, np.int64), np.empty(k, np.int64), np.empty(k), np.empty(M, np.int64)
        self.room: tuple[NDArray[Any], ...] = (*of_choice, np.empty(words, np.uint64))

    @abstractmethod
    def reach(self) -> int:
        """A bound of all fields that there can be now."""

    @abstractmethod
    def become(self, kind: Any) -> None:
        """Make the arrays of the hidden side integers of a kind."""

    @abstractmethod
    def run(self, stretch: tuple[int, int], transitions: Any, *arguments: Any) -> Any:
        """Call the kernel for a stretch of transitions."""

    @abstractmethod
    def weights(self) -> NDArray[Any]:
        """U as it is now."""

    def epoch(self, now: Epoch) -> tuple[int, int]:
        errors = np.zeros(2, dtype=np.int64)
        order, first = np.arange(self.inputs.shape[1]), 0
        while first < len(self.inputs):
            last, kind = self._stretch(first, now)
            if kind is not self.kind:
                self._make_room(kind)
                self.become(kind)
            transitions = (self.inputs, self.targets, self.drive, order)
            arguments = (self.visible, self._choice(now), numbers(self.settings, now))
            errors += self.run((first, last), transitions, *arguments, self.rng)
            first = last
        return int(errors[0]), int(errors[1])

    def _stretch(self, first: int, now: Epoch) -> tuple[int, type[np.int32] | type[np.int64]]:
        """How far to go before bounds are to be looked at again, and the narrowest type up to there.

        Each presentation may add so much to the bounds; when little is left to 2**31, we look how large the numbers really are.
        If that does not help, the rest of the epoch is in 64 bits.
        """
        s, (n, n_in), rows = self.settings, self.inputs.shape, max(len(self.Vt), self.targets.shape[1])
        growth = now.hidden_step * s.active_weight * (n_in + s.bias**2), now.visible_step * rows
        least = max(n_in * PROTOTYPE, s.margin, s.active_margin, s.visible_margin)
        for look in (False, True):
            if look:
                self.bounds = self.reach(), _largest(self.Vt) * rows  # no sum over rows of Vt, or along one of them, is larger
            far = min((2**31 - 1 - bound) // max(step, 1) for bound, step in zip(self.bounds, growth, strict=True))
            last = min(n, first + far)
            if least < 2**31 and (last == n or last - first >= AHEAD):
                break
        else:
            last = n
        self.bounds = self.bounds[0] + (last - first) * growth[0], self.bounds[1] + (last - first) * growth[1]
        return last, _type_for(max(*self.bounds, least))

    def _make_room(self, kind: Any) -> None:
        """Make V and the arrays of fields integers of a kind."""
        M, n = len(self.Vt), len(self.inputs)
        self.kind, self.Vt = kind, converted(self.Vt, kind)
        self.h = filled((padded(M),), kind, np.iinfo(kind).min)
        self.visible = Visible(self.Vt, np.empty(M, dtype=np.int64), filled(self.Vt[0].shape, kind, 0))
        self.feedback = converted(self.feedback, kind)
        self.sums = filled(self.h.shape, kind, 0)
        self.ahead = spread((min(FEEDBACK_AHEAD, n), M), kind)
        self.score, self.drives = filled(self.h.shape, np.float64, np.nan), room((M,), np.float64)
        self.row = filled((padded(n),), np.int64, 0)

    def _choice(self, now: Epoch) -> Choice:
        """What the choice of targets needs; Q x(s+1) only in an epoch that chooses targets by it, which keeps it up to date."""
        state = self.state
        if not (now.choosing and self.settings.learned_feedback):
            self.feedback = self.feedback[:, :0].copy()
        elif not self.feedback.size:
            self.feedback = spread_out(_products(self.Vt[:, : self.targets.shape[1]], self.targets), self.kind)
        window = np.zeros(2, dtype=np.int64)
        return Choice(
            *(state.theta, self.z, state.wrong, state.redrawn, self.P, *self.of_P),
            *(self.feedback, self.next_bits, self.ahead, window),
            *(self.score, self.drives, self.sums, *self.room, self.row),
        )

    def finish(self) -> None:
        Q = self.Vt[:, : self.targets.shape[1]]
        self.state.V[:], self.state.Q[:], self.state.P[:] = Q.T, Q, self.P
        self.state.U[:], self.state.targets[:] = self.weights(), self.z[:, : len(self.Vt)]


class _OnWeights(_Compiled):
    """Fields from the weights."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.U: NDArray[Any] = self.state.U.copy()

    def reach(self) -> int:
        return _largest_field(self.U, self.settings.bias)

    def become(self, kind: Any) -> None:
        self.U, self.negative = converted(self.U, kind), room((self.U.shape[1] - 1,), kind)

    def run(self, stretch: tuple[int, int], transitions: Any, *arguments: Any) -> Any:
        from seqattractor.learning.sparse.kernels import learn_on_weights

        return learn_on_weights(*stretch, transitions, self.U, self.negative, self.h, *arguments)

    def weights(self) -> NDArray[Any]:
        return self.U


class _OnFields(_Compiled):
    """The dual form: fields are carried along, and weights only where some epoch flips units; else they are made at the end."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.x_b = np.column_stack([self.inputs, np.full(len(self.inputs), self.settings.bias)])
        self.gram = with_padding(_products(self.x_b, self.x_b), np.int32)
        self.inputs_t, self.bits = with_padding(self.inputs.T, np.int8), packed(self.inputs)
        self.fields: NDArray[Any] = spread_out(_products(self.state.U, self.x_b), np.int64)
        self.U: NDArray[Any] = self.state.U.copy()
        self.counts: NDArray[Any] = np.zeros((len(self.U), 0), dtype=np.int64)

    def prepare(self, *, noise: bool) -> None:
        """Count changes instead of making them, where no epoch flips units."""
        if not noise:
            self.U, self.counts = self.U[:, :0].copy(), np.zeros((len(self.U), len(self.inputs)), dtype=np.int64)

    def reach(self) -> int:
        return _largest_field(self.U, self.settings.bias) if self.U.size else _largest(self.fields)

    def become(self, kind: Any) -> None:
        (n, n_in), M, n_words = self.inputs.shape, len(self.fields), len(self.bits)
        self.fields, self.U = converted(self.fields, kind), converted(self.U, kind)
        ahead = spread((min(AHEAD, n), M), kind, np.iinfo(kind).min)
        Ut = spread((n_in if self.U.size else 0, M), kind)
        most = PENDING + M + 1
        self.carried = Carried(
            *(self.fields, self.U, self.counts, self.gram, self.inputs_t, self.bits, ahead, Ut),
            patterns=np.empty((n_words, AHEAD), dtype=np.uint64),
            neuron=np.empty(most, dtype=np.uint32),  # not signed, so that numba does not look for negative ones
            step=np.empty(most, dtype=kind),
            pattern=np.empty(most, dtype=np.uint32),
            product=np.empty(AHEAD, dtype=np.int64),
            every=np.full(n_words, 2**64 - 1, dtype=np.uint64),
            x_bits=np.empty(n_words, dtype=np.uint64),
            noisy=np.empty(n_in, dtype=np.int8),
            plus=np.empty(n_in + 1, dtype=np.int64),
            minus=np.empty(n_in + 1, dtype=np.int64),
            overlap=room(self.gram[0].shape, np.int32),
        )

    def run(self, stretch: tuple[int, int], transitions: Any, *arguments: Any) -> Any:
        from seqattractor.learning.sparse.kernels import learn_on_fields

        return learn_on_fields(*stretch, transitions, self.carried, self.h, *arguments)

    def weights(self) -> NDArray[Any]:
        return self.U if self.U.size else self.state.U + _products(self.counts, self.x_b.T)


class _ByTables(_OnFields):
    """Fields from tables of the weights of groups of units in epochs with noise that choose no targets; else they are carried."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.clean = grouped(self.inputs)
        self.tables: Tables | None = None

    def epoch(self, now: Epoch) -> tuple[int, int]:
        suited = bool(now.noise) and not now.choosing
        if suited and self.tables is None:
            self.tables = self._make_tables()
        elif not suited and self.tables is not None:
            self.tables, self.fields = None, spread_out(_products(self.U, self.x_b), np.int64)
            self.kind = None  # so that the arrays of carried fields are made again
        return super().epoch(now)

    def become(self, kind: Any) -> None:
        super().become(kind)
        if self.tables is not None:
            self.tables = self._make_tables()

    def _make_tables(self) -> Tables:
        """Room for tables, and the targets in bits."""
        (n, n_groups), (M, _) = self.clean.shape, self.U.shape
        blocks = np.zeros((n, -(-M // LANES) * LANES), dtype=np.uint16)
        blocks[:, :M] = self.z[:, :M]
        bits = (blocks.reshape(n, -1, LANES) << np.arange(LANES, dtype=np.uint16)).sum(axis=2, dtype=np.uint16)
        wanted = np.ascontiguousarray(bits.T)
        units = 2 * (np.arange(PATTERNS)[:, None] >> np.arange(GROUP) & 1) - 1
        return Tables(
            *(self.U, self.clean, wanted, converted(units @ units.T, self.U.dtype)),
            *(np.empty_like(self.inputs), np.empty_like(self.clean), np.empty_like(wanted)),
            table=room((PATTERNS * n_groups + 1, LANES), self.U.dtype),
            weights=filled((GROUP * n_groups, LANES), self.U.dtype, 0),
            h=room((LANES,), self.U.dtype),
        )

    def run(self, stretch: tuple[int, int], transitions: Any, *arguments: Any) -> Any:
        from seqattractor.learning.sparse.tables import learn_by_tables

        if self.tables is None:
            return super().run(stretch, transitions, *arguments)
        return learn_by_tables(*stretch, transitions, self.tables, *arguments)


_WORKERS: dict[str, type[_Plain]] = {"plain": _Plain, "tables": _ByTables, "fields": _OnFields, "weights": _OnWeights}


def _products(W: NDArray[Any], X: NDArray[Any]) -> NDArray[np.int64]:
    """W X^T by BLAS, which is exact and fast: in float32 where no sum can reach 2**24, else in float64; 2**53 is far away."""
    if not W.any():
        return np.zeros((len(W), len(X)), dtype=np.int64)
    kind = np.float32 if W.shape[1] * _largest(W) * _largest(X) < 2**24 else np.float64
    products: NDArray[np.int64] = (W.astype(kind) @ X.T.astype(kind)).astype(np.int64)
    return products


def _inverse_lengths(P: NDArray[Any]) -> Floats:
    """The inverse of the length of each row, which is taken to be at least 1."""
    inverse: Floats = 1.0 / np.sqrt(np.maximum(np.sum(P * P, axis=1), 1))
    return inverse


def _largest_field(U: NDArray[Any], bias: int) -> int:
    """The largest field that any pattern can make."""
    return int((np.abs(U[:, :-1]).sum(axis=1, dtype=np.int64) + bias * np.abs(U[:, -1].astype(np.int64))).max())


def _largest(array: NDArray[Any]) -> int:
    """The largest absolute value."""
    return max(abs(int(array.min())), abs(int(array.max())))


def _type_for(bound: int) -> type[np.int32] | type[np.int64]:
    """The narrowest type for numbers up to `bound`; one for U and V alike, since each pair of types is compiled separately."""
    if bound >= LARGEST:
        raise too_large()
    return np.int32 if bound < 2**31 else np.int64
