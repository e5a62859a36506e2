"""Running the sparse rule for many epochs: the plain loop, or the compiled kernels in integers wide enough for each epoch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.result import ProgressCallback
from seqattractor.learning.sparse.rule import PROTOTYPE, Epoch, Floats, SparseSettings, SparseState, present
from seqattractor.sequences import Patterns

Form = Literal["best", "fields", "weights", "plain"]
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
    form : {"best", "fields", "weights", "plain"}
        Which kernel to use, or the plain loop; the result is the same. "fields" carries fields along, "weights" computes them at
        every presentation, and "best" is whichever takes fewer operations.
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
    worker = {"plain": _Plain, "fields": _OnFields, "weights": _OnWeights}[form](inputs, targets, drive, state, settings, rng)
    if isinstance(worker, _OnFields) and not flipped:
        worker.leave_weights_to_the_end()
    unchanging = _from_where_only_errors_change_anything(epochs)
    errors: list[tuple[int, int]] = []
    converged = False
    for k, now in enumerate(epochs):
        errors.append(worker.epoch(now))
        converged = errors[-1] == (0, 0) and not now.noise
        stop = callback is not None and callback(k + 1, *errors[-1])
        if stop or (converged and k >= unchanging and _all_decoded(state, settings, epochs[k + 1 :])):
            break
    worker.finish()
    return np.array(errors, dtype=np.int64).reshape(-1, 2), converged


def _from_where_only_errors_change_anything(epochs: Sequence[Epoch]) -> int:
    """The first epoch from which on there is no noise, no homeostasis, no step of P, and U learns either always or never."""
    for k in range(len(epochs), 0, -1):
        now = epochs[k - 1]
        u_begins = k < len(epochs) and bool(now.hidden_step) != bool(epochs[k].hidden_step)
        if now.noise or u_begins or (now.choosing and (now.homeostasis or now.drive_step)):
            return k
    return 0


def _all_decoded(state: SparseState, settings: SparseSettings, later: Sequence[Epoch]) -> bool:
    """Whether no transition is still to be redrawn for the errors that it had."""
    tolerated = settings.redraw_tolerance * len(state.V)
    return bool(np.all(state.wrong <= tolerated)) or not any(now.redrawing for now in later)


def _best_form(n: int, n_in: int, n_hidden: int, flipped: float) -> Form:
    """Carry fields, or compute them from the weights: whichever takes fewer operations per presentation."""
    carried = n_hidden * flipped + n * (flipped + UPDATES)
    return "fields" if not flipped or carried < n_hidden * n_in else "weights"


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

    def finish(self) -> None:
        """Bring the state up to date; here it always is."""


class _Compiled(_Plain, ABC):
    """What all kernels share: V transposed, which is Q, too, and integers that cannot overflow in the coming epoch."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.Vt: NDArray[Any] = self.state.Q.copy()
        self.P = self.state.P.astype(np.int16)  # between -+PROTOTYPE

    @abstractmethod
    def reach(self) -> int:
        """A bound of all fields that there can be now."""

    @abstractmethod
    def run(self, kind: Any, *arguments: Any) -> Any:
        """Call the kernel with the arrays of the hidden side, made integers of a kind."""

    @abstractmethod
    def weights(self) -> NDArray[Any]:
        """U as it is now."""

    def epoch(self, now: Epoch) -> tuple[int, int]:
        from seqattractor.learning.sparse.kernels import settings_as_vectors

        state, s, n = self.state, self.settings, len(self.inputs)
        n_in, N = self.inputs.shape[1], self.targets.shape[1]
        reach = self.reach() + n * now.hidden_step * s.active_weight * (n_in + s.bias**2)
        # No sum over rows of Vt, or along one of them, is larger:
        visible_reach = max(len(self.Vt), N) * (_largest(self.Vt) + n * now.visible_step)
        kind = _type_for(max(reach, visible_reach, n_in * PROTOTYPE, s.margin, s.active_margin))
        self.Vt = self.Vt.astype(kind, copy=False)
        choice = (state.theta, state.targets, state.wrong, state.redrawn, self.P)
        hidden, visible = self.run(kind, self.Vt, choice, *settings_as_vectors(s, now), self.rng)
        return int(hidden), int(visible)

    def finish(self) -> None:
        self.state.V[:], self.state.Q[:], self.state.P[:] = self.Vt.T, self.Vt, self.P
        self.state.U[:] = self.weights()


class _OnWeights(_Compiled):
    """Fields from the weights."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.U: NDArray[Any] = self.state.U.copy()

    def reach(self) -> int:
        return _largest_field(self.U[:, :-1], self.U[:, -1], self.settings.bias)

    def run(self, kind: Any, *arguments: Any) -> Any:
        from seqattractor.learning.sparse.kernels import epoch_on_weights

        self.U = self.U.astype(kind, copy=False)
        return epoch_on_weights(self.inputs, self.targets, self.drive, self.U, *arguments)

    def weights(self) -> NDArray[Any]:
        return self.U


class _OnFields(_Compiled):
    """The dual form: fields are carried along, and weights only where some epoch flips units; else they are made at the end."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Products of whole numbers in float64 are exact and fast: no sum here comes near 2**53.
        self.x_b = np.column_stack([self.inputs, np.full(len(self.inputs), self.settings.bias)]).astype(np.float64)
        self.gram = (self.x_b @ self.x_b.T).astype(np.int32)
        self.inputs_t = np.ascontiguousarray(self.inputs.T)
        self.fields: NDArray[Any] = (self.state.U.astype(np.float64) @ self.x_b.T).astype(np.int64)
        self.Ut: NDArray[Any] = np.ascontiguousarray(self.state.U.T)
        self.counts: NDArray[Any] = np.zeros((len(self.state.U), 0), dtype=np.int64)

    def leave_weights_to_the_end(self) -> None:
        """Count changes instead, where no epoch flips units."""
        self.Ut, self.counts = self.Ut[:0], np.zeros(self.fields.shape, dtype=np.int64)

    def reach(self) -> int:
        return _largest_field(self.Ut[:-1].T, self.Ut[-1], self.settings.bias) if len(self.Ut) else _largest(self.fields)

    def run(self, kind: Any, *arguments: Any) -> Any:
        from seqattractor.learning.sparse.kernels import epoch_on_fields

        self.fields, self.Ut = self.fields.astype(kind, copy=False), self.Ut.astype(kind, copy=False)
        hidden = (self.fields, self.gram, self.inputs_t, self.Ut, self.counts)
        return epoch_on_fields(self.inputs, self.targets, self.drive, hidden, *arguments)

    def weights(self) -> NDArray[Any]:
        if len(self.Ut):
            return self.Ut.T
        return self.state.U + (self.counts.astype(np.float64) @ self.x_b).astype(np.int64)


def _largest_field(U: NDArray[Any], bias_weights: NDArray[Any], bias: int) -> int:
    """The largest field that any pattern can make."""
    return int((np.abs(U).sum(axis=1, dtype=np.int64) + bias * np.abs(bias_weights.astype(np.int64))).max())


def _largest(array: NDArray[Any]) -> int:
    """The largest absolute value."""
    return max(abs(int(array.min())), abs(int(array.max())))


def _type_for(bound: int) -> type[np.int32] | type[np.int64]:
    """The narrowest type for numbers up to `bound`; one for U and V alike, since each pair of types is compiled separately."""
    if bound >= 2**53:
        raise OverflowError(
            "the weights grow beyond the whole numbers that float64 can hold; use larger learning rates or fewer epochs."
        )
    return np.int32 if bound < 2**31 else np.int64
