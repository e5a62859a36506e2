"""Running the sparse rule for many epochs: the plain loop, or the compiled kernels in integers wide
enough for each epoch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.engine import kernels
from seqattractor.engine.kernels import aligned, padded, row
from seqattractor.engine.problem import ProgressCallback
from seqattractor.engine.sparse.rule import (
    LARGEST,
    PROTOTYPE,
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

STRETCH = 256  # presentations, at least, in 32 bits before bounds are to be looked at again


class _Task(NamedTuple):
    """What is to be learned, as in `learn_sparse`."""

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
    compiled: bool = True,
    callback: ProgressCallback | None = None,
) -> tuple[NDArray[np.int64], bool]:
    """Learn transitions by the sparse rule, changing `state`, as `rule.present` does epoch after
    epoch.

    `inputs` (n, N_in) and `targets` (n, N) are x(t) and x(t+1) of each transition in the order of
    presentation. `drive` (n, M), where P is not learned, makes hidden neurons compete to be active:
    it is P applied to x(t+1), or to x(t).

    Noise and redraws come from `rng`. The result is the same whether it is `compiled` or not. The
    callback is called after every epoch; if it returns True, learning ends. Returns the sums of mu
    and of nu in each epoch, shape (epochs run, 2), and whether the last epoch was free of noise and
    errors. Learning ends where nothing would change any more.
    """
    inputs, targets, drive = (
        np.ascontiguousarray(inputs),
        np.ascontiguousarray(targets),
        np.ascontiguousarray(drive),
    )
    task = _Task(inputs, targets, drive, state, settings, rng)
    noise = any(now.noise for now in epochs)
    errors: list[tuple[int, int]] = []
    learner: _Plain | _PracticeOfV | _Compiled | None = None
    converged, wanted, at_most = False, True, math.inf
    unchanging = _from_where_only_errors_change_anything(epochs)
    for k, now in enumerate(epochs):
        if now.at_most != at_most:
            wanted, at_most = is_wanted(now, state), now.at_most
        if not wanted or (at_most < math.inf and errors and errors[-1] == (0, 0)):
            continue
        # V alone practises neuron by neuron, but chance between levels is drawn for all of them.
        free = state.obeys is None
        kind = (
            _Plain
            if not compiled
            else _Compiled
            if now.alone != "V"
            else _PracticeOfV
            if free
            else _PracticeUnderConstraints
        )
        if type(learner) is not kind:
            if learner is not None:
                learner.finish()
            learner = kind(task, noise=noise)
        errors.append(learner.epoch(now))
        converged = errors[-1] == (0, 0) and not now.noise
        stop = callback is not None and bool(callback(len(errors), *errors[-1]))
        if stop or (
            converged and unchanging[k] and np.all(state.wrong <= _tolerated(epochs[k + 1 :]))
        ):
            break
    if learner is not None:
        learner.finish()
    return np.array(errors, dtype=np.int64).reshape(-1, 2), converged


def _tolerated(epochs: Sequence[Epoch]) -> float:
    """How many wrong visible neurons a transition may have without being redrawn in any of some
    epochs.
    """
    return min((now.redraw_above for now in epochs if now.at_most == math.inf), default=math.inf)


def _from_where_only_errors_change_anything(epochs: Sequence[Epoch]) -> list[bool]:
    """Whether from each epoch on nothing but errors leads to a change.

    There is no noise, no homeostasis, no step of P, U learns either always or never, and no margin
    is raised. Epochs that might be left out say nothing about those to come: errors that are gone
    in one may still be there in one that is not.
    """
    only_errors, learns = True, None  # whether U learns in the next epoch that is always there
    found = []
    for now in reversed(epochs):
        if now.at_most == math.inf:
            u_begins = learns is not None and learns != bool(now.hidden_step)
            changes = (
                now.noise
                or u_begins
                or now.alone == "U"
                or (now.choosing and (now.homeostasis or now.drive_step))
            )
            only_errors, learns = only_errors and not changes, bool(now.hidden_step)
            found.append(only_errors)
        else:
            found.append(learns is None)
    return found[::-1]


class _Plain:
    """Epochs by the plain loop."""

    def __init__(self, task: _Task, *, noise: bool) -> None:
        self.task = task

    def epoch(self, now: Epoch) -> tuple[int, int]:
        """Learn one epoch; returns the errors sum mu and sum nu."""
        inputs, targets, drive, state, settings, rng = self.task
        return present(state, settings, now, inputs, targets, drive, rng)

    def finish(self) -> None:
        """Bring the state up to date."""


class _PracticeOfV:
    """Epochs for V alone, eqs. (8)-(9): codes are fixed, so that each visible neuron learns by
    itself.

    It is done after its first epoch without an error. What is left are the few neurons whose task
    is hard, and these can practise for thousands of epochs in the time that a few epochs of all
    neurons take.
    """

    def __init__(self, task: _Task, *, noise: bool) -> None:
        inputs, targets, _, self.state, self.settings, _ = task
        y = _products(_with_bias(inputs, self.settings), self.state.U) >= 0  # eq. (7)
        starts, active = np.append(0, np.cumsum(y.sum(axis=1))), np.nonzero(y)[1].astype(np.int32)
        self.V, self.growth = self.state.V.copy("C"), len(inputs) * y.shape[1]
        self.bound = max(_largest(self.V), self.settings.visible_margin) * y.shape[1]
        done = np.zeros(len(self.V), dtype=np.bool_)
        self.learn = kernels.practise_V.bind(
            self.V, np.ascontiguousarray(targets.T), active, starts, done, self.state.wrong
        )

    def epoch(self, now: Epoch) -> tuple[int, int]:
        """Learn one epoch; returns the errors sum mu, of which there are none, and sum nu."""
        self.bound += self.growth * now.visible_step
        check_exact(self.bound)
        return 0, self.learn(self.settings.visible_margin, now.visible_step)

    def finish(self) -> None:
        """Bring the state up to date."""
        self.state.V[:], self.state.Q[:] = self.V, self.V.T


class _Compiled:
    """All other epochs by the compiled kernel, whose arrays have the names that it is declared
    with.

    V transposed is Q, too, and integers are wide enough for what can happen in the coming stretch.
    Fields at the stored patterns are carried along, the dual form; weights U only where some epoch
    flips units: else they are made at the end.

    Where U practises alone, eqs. (5)-(6), a hidden neuron raises its margin after an epoch without
    an error. Steps stay as they are, so that what was learned early counts for less and less, and
    the weights turn towards those with the largest margin for their length, as in a support vector
    machine. Flipped units change a field by a random number that grows with that length: those are
    the weights that bear most noise, though none was practised.
    """

    def __init__(self, task: _Task, *, noise: bool) -> None:
        self.inputs, self.targets, drive, state, s, self.rng = task
        self.state, self.settings = state, s
        (n, n_in), M = self.inputs.shape, len(state.U)
        self.rows = max(M, self.targets.shape[1])
        self._lengths = {"": n_in, "_V": self.targets.shape[1]}
        self.bounds = (
            _largest_field(state.U, s.bias),
            _largest(state.Q) * self.rows,
        )  # of hidden and visible fields
        self.kind: Any = np.int32 if max(self.bounds) < 2**31 else np.int64
        self.x_b = _with_bias(self.inputs, s)
        self.gram = _in_rows(_products(self.x_b, self.x_b), np.int32, pad=False)
        self.input_bits, self.target_bits = (
            np.ascontiguousarray(_packed(x).T) for x in (self.inputs, self.targets)
        )
        self.flipped, self.n_flipped = np.zeros((n, 0), dtype=np.int32), np.zeros(n, dtype=np.int32)
        self.order = np.arange(n_in, dtype=np.int32)
        self.theta, self.wrong, self.redrawn = (
            np.ascontiguousarray(state.theta),
            state.wrong,
            state.redrawn,
        )
        self.z, self.drive = _packed(state.targets), np.zeros((n, M)) if s.learn_drive else drive
        P = state.P if s.learn_drive else state.P[:, :0]
        self.P, self.Pt = (
            np.ascontiguousarray(P, dtype=np.int16),
            _in_rows(P.T, np.int16, pad=False),
        )  # between -+PROTOTYPE
        self.totals, self.lowest, self.highest = (
            aligned((padded(M),), self.kind, np.zeros) for _ in range(3)
        )
        self.totals[:M] = P.sum(axis=1)
        self.inverse = 1.0 / np.sqrt(np.maximum(np.einsum("ij,ij->i", P, P), 1))
        self.U, self.Vt = _in_rows(state.U, self.kind), _in_rows(state.Q, self.kind, pad=False)
        obeys = state.obeys
        self.counts = np.zeros((M, 0 if noise or obeys else n), dtype=np.int64)
        self.spacing, self.spacing_V = (
            (int(obeys.U.spacing), int(obeys.V.spacing)) if obeys else (0, 0)
        )
        self.left, self.left_V = (obeys.U.left, obeys.V.left) if obeys else (1.0, 1.0)
        self._set_bounds()
        self.fields = _in_rows(_products(state.U, self.x_b), self.kind)
        self.feedback, self.has_feedback = (
            aligned((padded(M), row(n) if s.learned_feedback else 0), self.kind, np.zeros),
            False,
        )
        self.mu, self.nu = np.zeros(M, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self.learn: Callable[..., int] | None = None  # the kernel, with all arrays that it works on

    def epoch(self, now: Epoch) -> tuple[int, int]:
        """Learn one epoch; returns the errors sum mu and sum nu."""
        obeys = self.state.obeys
        chance = obeys.next_chance() if obeys else [self.rng, self.rng]
        rule, first, (n, M) = (
            SimpleNamespace(**vars(self.settings) | vars(now)),
            0,
            (len(self.inputs), len(self.mu)),
        )
        if self.flipped.shape[1] != now.noise:
            self.flipped, self.n_flipped[:], self.learn = (
                np.zeros((n, now.noise), dtype=np.int32),
                0,
                None,
            )
        raised = self.state.raised if now.alone == "U" else np.zeros_like(self.mu)
        margins = [
            raised_margin(margin, raised)
            for margin in (self.settings.margin, self.settings.active_margin)
        ]
        self.mu[:], self.nu[:], self.order[:] = 0, 0, np.arange(len(self.order))
        while first < n:
            last, kind = self._stretch(first, now, int(np.max(margins)))
            if kind is not self.kind:
                self._become(kind)
            self.lowest[:M], self.highest[:M] = -margins[0], margins[1]
            wanted = bool(now.choosing and self.settings.learned_feedback and not obeys)
            if (
                wanted and not self.has_feedback
            ):  # Q x(s+1), which an epoch that chooses targets by it keeps up to date
                self.feedback[:M, :n] = _products(self.Vt[:, : self.targets.shape[1]], self.targets)
            self.has_feedback = wanted
            if self.learn is None:
                self.flip = kernels.sparse_flips.bind(
                    self.flipped, self.n_flipped, self.order, self.rng
                )
                self.learn = kernels.sparse_learn.bind(self)
            self.learn(rule, self._draw(first, last, now), first, last, *chance)
            first = last
        if now.alone == "U":
            self.state.raised += self.mu == 0
        return int(self.mu.sum()), int(self.nu[0])

    def finish(self) -> None:
        """Bring the state up to date."""
        state, Q = self.state, self.Vt[:, : self.targets.shape[1]]
        state.V[:], state.Q[:], state.P[:], state.U[:] = (
            Q.T,
            Q,
            self.P[:, : state.P.shape[1]],
            self._weights(),
        )
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
        for name in ("Vt", "U", "totals", "lowest", "highest", "fields", "feedback"):
            setattr(self, name, getattr(self, name).astype(kind))
        self._set_bounds()

    def _set_bounds(self) -> None:
        """Make the bounds of synapses integers of the present kind."""
        most, obeys = float(np.iinfo(np.int32).max), self.state.obeys
        most = most if self.kind == np.int32 else float(LARGEST)
        for name, synapses in (("", obeys and obeys.U), ("_V", obeys and obeys.V)):
            for side in ("low", "high"):
                bound = getattr(synapses, side) if synapses else np.zeros((0, self._lengths[name]))
                setattr(self, side + name, np.clip(bound, -most, most).astype(self.kind))

    def _stretch(self, first: int, now: Epoch, margin: int) -> tuple[int, Any]:
        """How far to go before bounds are to be looked at again, and the narrowest type up to
        there.

        Each presentation may add so much to the bounds; when little is left to 2**31, we look how
        large the numbers really are. If that does not help, the rest of the epoch is in 64 bits.
        """
        s, (n, n_in) = self.settings, self.inputs.shape
        growth = (
            now.hidden_step * s.active_weight * (n_in + s.bias**2) + self.spacing * n_in,
            (now.visible_step + self.spacing_V) * self.rows,
        )
        least = max(n_in * PROTOTYPE, margin, s.visible_margin)
        for look in (False, True):
            if look:
                # No sum over rows of Vt, or along one of them, is larger than so many times the
                # largest number.
                hidden = (
                    _largest(self.fields)
                    if self.counts.size
                    else _largest_field(self._weights(), s.bias)
                )
                self.bounds = hidden, _largest(self.Vt) * self.rows
            far = min(
                (2**31 - 1 - bound) // max(step, 1)
                for bound, step in zip(self.bounds, growth, strict=True)
            )
            last = min(n, first + far)
            if least < 2**31 and (last == n or last - first >= STRETCH):
                break
        else:
            last = n
        self.bounds = (
            self.bounds[0] + (last - first) * growth[0],
            self.bounds[1] + (last - first) * growth[1],
        )
        bound = max(*self.bounds, least)
        check_exact(bound)
        return last, np.int32 if bound < 2**31 else np.int64

    def _draw(self, first: int, last: int, now: Epoch) -> Floats:
        """Draw the flips of a stretch; returns the random part of scores of each transition that is
        redrawn.

        Both are drawn in the order of `rule.present`. Which transitions are redrawn is known
        before: that depends on what they did when they were presented last.
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


class _PracticeUnderConstraints(_Compiled):
    """Epochs for V alone under constraints, with the fields that U has at the end of learning."""


def _largest_field(U: NDArray[Any], bias: int) -> int:
    """The largest field that any pattern can make."""
    return int(
        (
            np.abs(U[:, :-1]).sum(axis=1, dtype=np.int64) + bias * np.abs(U[:, -1].astype(np.int64))
        ).max()
    )


def _with_bias(inputs: Patterns, settings: SparseSettings) -> NDArray[Any]:
    """[x; b] of each pattern, (n, N_in + 1)."""
    return np.column_stack([inputs, np.full(len(inputs), settings.bias)])


def _in_rows(array: Any, kind: Any, *, pad: bool = True) -> Any:
    """A copy of an array (rows, length) with zeros at the end of its rows, and, if `pad`, after the
    last one.
    """
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
    """W X^T by BLAS, which is exact and fast: in float32 where no sum can reach 2**24, else in
    float64; 2**53 is far away.
    """
    kind = np.float32 if W.shape[1] * _largest(W) * _largest(X) < 2**24 else np.float64
    if not W.any():
        return np.zeros((len(W), len(X)), dtype=kind)
    return np.asarray(W.astype(kind) @ X.T.astype(kind))


def _largest(array: NDArray[Any]) -> int:
    """The largest absolute value."""
    return max(abs(int(array.min())), abs(int(array.max())))
