"""Running the sparse rule for many epochs: the plain loop, or the compiled kernels in integers wide enough for each epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning import kernels
from seqattractor.learning.kernels import aligned, padded, row
from seqattractor.learning.problem import ProgressCallback
from seqattractor.learning.sparse.rule import (
    PROTOTYPE,
    RAISES,
    Epoch,
    Floats,
    SparseSettings,
    SparseState,
    check_exact,
    is_wanted,
    present,
    raised_margin,
)
from seqattractor.sequences import Patterns

Form = Literal["best", "tables", "fields", "weights", "plain"]
TABLED = 512  # input units, at most, for which the tables of a block of neurons stay in a fast cache: 128 kB
UPDATES = 3  # of hidden neurons in a presentation with noise; measured, for the choice of a kernel
_KERNELS = {"tables": kernels.sparse_by_tables, "fields": kernels.sparse_on_fields, "weights": kernels.sparse_on_weights}
WINDOW = 256  # epochs at most of U or V alone that are learned before they are noted

Learned = tuple[NDArray[np.int64], tuple[tuple[NDArray[Any], NDArray[Any]], ...]]
"""The errors of some epochs, and arrays of the state, each with its new content."""


class _Task(NamedTuple):
    """The arguments of `learn_sparse` that all forms work on."""

    inputs: Patterns
    targets: Patterns
    drive: Floats
    state: SparseState
    settings: SparseSettings
    rng: np.random.Generator


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
    state, settings : SparseState, SparseSettings
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
    task = _Task(inputs, targets, drive, state, settings, rng)
    flipped = max((now.noise for now in epochs), default=0) / 2
    if form == "best":
        form = _best_form(len(inputs), inputs.shape[1], len(state.U), flipped)
    record = _Record(epochs, state, callback)
    compiled: _Compiled | None = None
    wanted, at_most = True, math.inf
    for now, equal in groupby(epochs):
        times = len(list(equal))
        if now.at_most != at_most:
            wanted, at_most = is_wanted(now, state), now.at_most
        if not wanted:
            record.next += times
            continue
        alone = now.alone and form != "plain"
        if alone and compiled is not None:
            compiled.finish()
            compiled = None
        if alone and not record.needless(now):
            times = _practise(task, now, times, record.note)
        for _ in range(times):
            if record.over:
                break
            if record.needless(now):
                record.next += 1
            elif alone:  # V has no error left, and nothing changes any more
                record.note(0, 0)
            elif form == "plain":
                record.note(*present(state, settings, now, inputs, targets, drive, rng))
            else:
                compiled = compiled or _Compiled(task, form, noise=flipped > 0)
                record.note(*compiled.epoch(now))
        if record.over:
            break
    if compiled is not None:
        compiled.finish()
    return np.array(record.errors, dtype=np.int64).reshape(-1, 2), record.converged


class _Record:
    """The errors of all epochs so far, the number of the next one, and whether learning is over."""

    def __init__(self, epochs: Sequence[Epoch], state: SparseState, callback: ProgressCallback | None) -> None:
        self.errors: list[tuple[int, int]] = []
        self.next, self.converged, self.over = 0, False, False
        self._epochs, self._state, self._callback = epochs, state, callback
        self._unchanging = _from_where_only_errors_change_anything(epochs)
        self._last = max((k for k, now in enumerate(epochs) if now.at_most == math.inf), default=-1)  # that is always there

    def needless(self, now: Epoch) -> bool:
        """Whether an epoch for states that are nearly good comes after one without any error."""
        return now.at_most < math.inf and bool(self.errors) and self.errors[-1] == (0, 0)

    def note(self, hidden: int, visible: int) -> bool:
        """Note the errors of one more epoch and tell the callback; returns whether learning is over."""
        now = self._epochs[self.next]
        # Errors that are gone in an epoch which might be left out may still be there in one that is not.
        same = self.next > self._last or (now.at_most == math.inf and self.next >= self._unchanging)
        self.next += 1
        self.errors.append((hidden, visible))
        self.converged = (hidden, visible) == (0, 0) and not now.noise
        stop = self._callback is not None and bool(self._callback(len(self.errors), hidden, visible))
        self.over = stop or (self.converged and same and self._all_decoded())
        return self.over

    def _all_decoded(self) -> bool:
        """Whether no transition is still to be redrawn for the errors that it had."""
        tolerated = min((now.redraw_above for now in self._epochs[self.next :] if now.at_most == math.inf), default=math.inf)
        return bool(np.all(self._state.wrong <= tolerated))


def _from_where_only_errors_change_anything(epochs: Sequence[Epoch]) -> int:
    """The first epoch from which on nothing but errors leads to a change.

    There is no noise, no homeostasis, no step of P, U learns either always or never, and no margin is raised.
    """
    learns = None  # whether U does so in the next epoch that is always there
    for k, now in reversed([(k, now) for k, now in enumerate(epochs) if now.at_most == math.inf]):
        u_begins = learns is not None and learns != bool(now.hidden_step)
        if now.noise or u_begins or now.alone == "U" or (now.choosing and (now.homeostasis or now.drive_step)):
            return k + 1
        learns = bool(now.hidden_step)
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


def _practise(task: _Task, now: Epoch, n_epochs: int, note: Callable[[int, int], bool]) -> int:
    """Let U or V practise alone: its targets are fixed and patterns clean, so that each neuron learns by itself.

    This is the rule for one neuron after the other instead of one epoch after the other, with the same weights in the end;
    returns how many epochs were not needed. Learning goes through windows of several epochs, whose errors are noted then.

    A visible neuron, eqs. (8)-(9), is done after its first epoch without an error, since codes do not change any more. What is
    left are the few neurons whose task is hard, and these can practise for thousands of epochs in the time that a few epochs of
    all neurons take.

    A hidden neuron, eqs. (5)-(6), raises its margin after an epoch without an error. Steps stay as they are, so that what was
    learned early counts for less and less, and the weights turn towards those with the largest margin for their length, as in a
    support vector machine. Flipped units change a field by a random number that grows with the length of the weights: those are
    the weights that bear most noise, though none was practised. Fields of the stored patterns are carried along (the dual form):
    a step costs n additions, and weights are made at the end of a window.
    """
    for_V = now.alone == "V"
    learn = (_practice_of_V if for_V else _practice_of_U)(task, now)
    left, size, over = n_epochs, 1 if for_V else WINDOW, False
    while left and not over:
        size = min(2 * size, WINDOW, left)
        errors, changes = learn(n_epochs - left, size)
        told, done = 0, False
        while told < size and not over:
            wrong = int(errors[told])
            told, done = told + 1, for_V and not wrong
            over = note(*((0, wrong) if for_V else (wrong, 0))) or done
        if told < size and not done:  # the window went further than wanted
            _, changes = learn(n_epochs - left, told)
        for array, content in changes:
            array[:] = content
        left -= told
    return left


def _practice_of_V(task: _Task, now: Epoch) -> Callable[[int, int], Learned]:
    """A function that learns epochs, after so many others so many, but leaves the state as it is."""
    inputs, targets, _, state, s, _ = task
    y = _products(_with_bias(inputs, s), state.U) >= 0  # eq. (7)
    starts, active = np.append(0, np.cumsum(y.sum(axis=1))), np.nonzero(y)[1].astype(np.int32)
    before, growth = max(_largest(state.V), s.visible_margin), len(inputs) * now.visible_step

    def learn(done: int, size: int) -> Learned:
        check_exact((before + (done + size) * growth) * len(state.U))
        V, errors, wrong = state.V.copy("C"), np.zeros(size, dtype=np.int64), np.zeros(len(inputs))
        kernels.practise_V(V, targets, active, starts, errors, wrong, s.visible_margin, now.visible_step)
        return errors, ((state.V, V), (state.Q, V.T), (state.wrong, wrong))

    return learn


def _practice_of_U(task: _Task, now: Epoch) -> Callable[[int, int], Learned]:
    """The same for U."""
    inputs, _, _, state, s, _ = task
    x_b, step = _with_bias(inputs, s), now.hidden_step * s.active_weight
    gram, z = _in_rows(_products(x_b, x_b), np.int32, pad=False), _packed(state.targets.T)
    carried = _in_rows(_products(state.U, x_b), np.int64, pad=False)
    before, growth = _largest(carried), len(inputs) * step * (inputs.shape[1] + s.bias**2)

    def learn(done: int, size: int) -> Learned:
        highest = raised_margin(max(s.margin, s.active_margin), state.raised.max() + size)
        check_exact(max(before + (done + size) * growth, int(highest) * RAISES))
        fields, raised = _converted(carried, np.int64), state.raised.copy()
        counts, errors = np.zeros((len(state.U), len(inputs)), dtype=np.int64), np.zeros(size, dtype=np.int64)
        kernels.practise_U(gram, fields, z, raised, counts, errors, s.margin, s.active_margin, now.hidden_step, step)
        return errors, ((state.U, state.U + _products(counts, x_b.T).astype(np.int64)), (state.raised, raised), (carried, fields))

    return learn


class _Compiled:
    """Epochs by the compiled kernels. Arrays have the names that the kernels are declared with.

    V transposed is Q, too, and integers are wide enough for what can happen in the coming stretch. Fields come from the weights
    (`form` "weights"), or are carried along, the dual form; then weights are carried only where some epoch flips units, and else
    made at the end. With "tables" they come from sums over groups of units in epochs with noise that choose no targets.
    """

    def __init__(self, task: _Task, form: Form, *, noise: bool) -> None:
        inputs, targets, drive, state, s, rng = task
        self.inputs, self.targets, self.state, self.settings, self.rng, self.form = inputs, targets, state, s, rng, form
        (n, n_in), M = inputs.shape, len(state.U)
        self.rows = max(M, targets.shape[1])
        self.bounds = _largest_field(state.U, s.bias), _largest(state.Q) * self.rows  # of hidden and visible fields
        self.kind: Any = np.int32 if max(self.bounds) < 2**31 else np.int64
        self.theta, self.wrong, self.redrawn = np.ascontiguousarray(state.theta), state.wrong, state.redrawn
        self.z, self.next_bits = _packed(state.targets), np.ascontiguousarray(_packed(targets).T)
        self.flipped, self.n_flipped = np.zeros((n, 0), dtype=np.int32), np.zeros(n, dtype=np.int32)
        self.Vt, self.U = _in_rows(state.Q, self.kind, pad=False), _in_rows(state.U, self.kind)
        self.feedback, self.has_feedback = aligned((padded(M), row(n) if s.learned_feedback else 0), self.kind, np.zeros), False
        self.order, self.errors = np.arange(n_in, dtype=np.int32), np.zeros(2, dtype=np.int64)
        P = state.P if s.learn_drive else state.P[:, :0]
        self.P, self.Pt = np.ascontiguousarray(P, dtype=np.int16), _in_rows(P.T, np.int16, pad=False)  # between -+PROTOTYPE
        self.totals = aligned((padded(M),), self.kind, np.zeros)
        self.totals[:M] = P.sum(axis=1)
        self.inverse = 1.0 / np.sqrt(np.maximum(np.einsum("ij,ij->i", P, P), 1))
        self.drive = np.zeros((n, M)) if s.learn_drive else drive
        self.counts = np.zeros((M, 0 if noise or form == "weights" else n), dtype=np.int64)
        if form != "weights":
            self.x_b = _with_bias(inputs, s)
            self.gram = _in_rows(_products(self.x_b, self.x_b), np.int32, pad=False)
            self.inputs_t, self.input_bits = _in_rows(inputs.T, np.int8, pad=False), _packed(inputs)
            self.fields = _in_rows(_products(state.U, self.x_b), self.kind)
        self.by = ""  # the form of the last epoch
        self.learn: Callable[..., int] | None = None  # its kernel, with all arrays that it works on

    def epoch(self, now: Epoch) -> tuple[int, int]:
        """Learn one epoch; returns the errors sum mu and sum nu."""
        rule, first, n = SimpleNamespace(**vars(self.settings) | vars(now)), 0, len(self.inputs)
        if self.flipped.shape[1] != now.noise:
            self.flipped, self.n_flipped[:], self.learn = np.zeros((n, now.noise), dtype=np.int32), 0, None
        by = "fields" if self.form == "tables" and (now.choosing or not now.noise) else self.form
        if by != self.by:
            if self.by == "tables":
                self.fields = _in_rows(_products(self._weights(), self.x_b), self.kind)
            self.by, self.learn = by, None
        self.errors[:], self.order[:] = 0, np.arange(len(self.order))
        while first < n:
            last, kind = self._stretch(first, now)
            if kind is not self.kind:
                self._become(kind)
            wanted = bool(now.choosing and self.settings.learned_feedback)
            if wanted and not self.has_feedback:  # Q x(s+1), which an epoch that chooses targets by it keeps up to date
                self.feedback[: len(self.Vt), :n] = _products(self.Vt[:, : self.targets.shape[1]], self.targets)
            self.has_feedback = wanted
            if self.learn is None:
                self.flip = kernels.sparse_flips.bind(self.flipped, self.n_flipped, self.order, self.rng)
                self.learn = _KERNELS[by].bind(self, self.U if by == "weights" else self, self.errors)
            self.learn(rule, self._draw(first, last, now), first, last)
            first = last
        return int(self.errors[0]), int(self.errors[1])

    def finish(self) -> None:
        """Bring the state up to date."""
        state, Q = self.state, self.Vt[:, : self.targets.shape[1]]
        state.V[:], state.Q[:], state.P[:], state.U[:] = Q.T, Q, self.P[:, : state.P.shape[1]], self._weights()
        bits, state.theta[:] = self.z.astype("<u8").view(np.uint8), self.theta
        state.targets[:] = np.unpackbits(bits, axis=1, count=len(Q), bitorder="little")

    def _weights(self) -> NDArray[Any]:
        """U as it is now."""
        if self.counts.size:
            return np.asarray(self.state.U + _products(self.counts, self.x_b.T))
        return np.asarray(self.U[: len(self.state.U), : self.state.U.shape[1]])

    def _become(self, kind: Any) -> None:
        """Make the arrays of weights and fields integers of a kind."""
        self.kind, self.learn = kind, None
        for name in ("Vt", "U", "totals") if self.form == "weights" else ("Vt", "U", "totals", "fields"):
            setattr(self, name, _converted(getattr(self, name), kind))
        self.feedback = _converted(self.feedback, kind) if self.has_feedback else aligned(self.feedback.shape, kind, np.zeros)

    def _stretch(self, first: int, now: Epoch) -> tuple[int, Any]:
        """How far to go before bounds are to be looked at again, and the narrowest type up to there.

        Each presentation may add so much to the bounds; when little is left to 2**31, we look how large the numbers really are.
        If that does not help, the rest of the epoch is in 64 bits.
        """
        s, (n, n_in) = self.settings, self.inputs.shape
        growth = now.hidden_step * s.active_weight * (n_in + s.bias**2), now.visible_step * self.rows
        least = max(n_in * PROTOTYPE, s.margin, s.active_margin, s.visible_margin)
        for look in (False, True):
            if look:
                # No sum over rows of Vt, or along one of them, is larger than so many times the largest number.
                hidden = _largest(self.fields) if self.counts.size else _largest_field(self._weights(), s.bias)
                self.bounds = hidden, _largest(self.Vt) * self.rows
            far = min((2**31 - 1 - bound) // max(step, 1) for bound, step in zip(self.bounds, growth, strict=True))
            last = min(n, first + far)
            if least < 2**31 and (last == n or last - first >= kernels.PRESENTATIONS):
                break
        else:
            last = n
        self.bounds = self.bounds[0] + (last - first) * growth[0], self.bounds[1] + (last - first) * growth[1]
        bound = max(*self.bounds, least)
        check_exact(bound)
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
            self._flip(first, t + 1)
            normals[:], first = self.rng.standard_normal(len(normals)), t + 1
        self._flip(first, last)
        return drawn

    def _flip(self, first: int, last: int) -> None:
        """Draw flips; other threads may use the same generator."""
        with self.rng.bit_generator.lock:
            self.flip(first, last)


def _largest_field(U: NDArray[Any], bias: int) -> int:
    """The largest field that any pattern can make."""
    return int((np.abs(U[:, :-1]).sum(axis=1, dtype=np.int64) + bias * np.abs(U[:, -1].astype(np.int64))).max())


def _with_bias(inputs: Patterns, settings: SparseSettings) -> NDArray[Any]:
    """[x; b] of each pattern, (n, N_in + 1)."""
    return np.column_stack([inputs, np.full(len(inputs), settings.bias)])


def _converted(array: Any, kind: Any) -> Any:
    """A copy as numbers of a kind."""
    copy = aligned(array.shape, kind)
    copy[...] = array
    return copy


def _in_rows(array: Any, kind: Any, *, pad: bool = True) -> Any:
    """A copy of an array (rows, length) with zeros at the end of its rows, and, if `pad`, after the last one."""
    n_rows, length = array.shape
    wide = aligned((padded(n_rows) if pad else n_rows, row(length)), kind, np.zeros)
    wide[:n_rows, :length] = array
    return wide


def _packed(patterns: Any) -> NDArray[np.uint64]:
    """Rows (n, N) as bits, (n, words of N): one is set where a number is above 0."""
    bits = np.zeros((len(patterns), padded(patterns.shape[1])), dtype=np.uint8)
    bits[:, : patterns.shape[1]] = patterns > 0
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _products(W: NDArray[Any], X: NDArray[Any]) -> NDArray[Any]:
    """W X^T by BLAS, which is exact and fast: in float32 where no sum can reach 2**24, else in float64; 2**53 is far away."""
    kind = np.float32 if W.shape[1] * _largest(W) * _largest(X) < 2**24 else np.float64
    if not W.any():
        return np.zeros((len(W), len(X)), dtype=kind)
    return np.asarray(W.astype(kind) @ X.T.astype(kind))


def _largest(array: NDArray[Any]) -> int:
    """The largest absolute value."""
    return max(abs(int(array.min())), abs(int(array.max())))
