"""Running the sparse rule for many epochs: the plain loop, or the compiled kernels in integers wide enough for each epoch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.result import ProgressCallback
from seqattractor.learning.sparse.rule import Floats, SparseSettings, SparseState, present
from seqattractor.sequences import Patterns

Steps = NDArray[np.int64]


def learn_sparse(
    inputs: Patterns,
    targets: Patterns,
    drive: Floats,
    state: SparseState,
    settings: SparseSettings,
    *,
    hidden_steps: Steps,
    visible_steps: Steps,
    rng: np.random.Generator,
    first_epoch: int = 0,
    reference: bool = False,
    callback: ProgressCallback | None = None,
) -> tuple[NDArray[np.int64], bool]:
    """Learn transitions by the sparse rule, changing `state`.

    Parameters
    ----------
    inputs, targets : ndarray of int8, shapes (n, N_in) and (n, N)
        x(t) and x(t+1) of each transition, in the order of presentation.
    drive : ndarray, shape (n, M)
        What makes hidden neurons compete to be active: P applied to x(t+1), or to x(t).
    state : SparseState
    settings : SparseSettings
    hidden_steps, visible_steps : ndarray of int64, shape (E,)
        Learning rates of each epoch in units of U and V.
    rng : Generator
        Where noise and redraws come from.
    first_epoch : int
        The number of the first of these epochs, counted from 0.
    reference : bool
        Use the plain loop instead of the kernels; the result is the same.
    callback : callable, optional
        Told of every epoch; returning True ends learning.

    Returns
    -------
    errors : ndarray of int64, shape (epochs run, 2)
        Sum of mu and of nu in each epoch.
    converged : bool
        Whether the last epoch had no error. Without noise learning ends there, since nothing would change any more.
    """
    make = _Plain if reference else _OnWeights if settings.noise else _OnFields
    worker: _Plain = make(inputs, targets, drive, state, settings, rng)
    errors: list[tuple[int, int]] = []
    for k, (hidden_step, visible_step) in enumerate(zip(hidden_steps.tolist(), visible_steps.tolist(), strict=True)):
        epoch = first_epoch + k
        errors.append(worker.epoch(epoch, hidden_step, visible_step))
        stop = callback is not None and callback(k + 1, *errors[-1])
        if stop or (errors[-1] == (0, 0) and _nothing_more_changes(settings, epoch)):
            break
    worker.finish()
    return np.array(errors, dtype=np.int64).reshape(-1, 2), bool(errors) and errors[-1] == (0, 0)


def _nothing_more_changes(settings: SparseSettings, epoch: int) -> bool:
    """After an epoch without errors: whether inputs and targets, too, stay as they are."""
    thresholds_rest = epoch >= settings.homeostasis_epochs
    averages_matter = settings.feedback > 0 and epoch + 1 < settings.target_epochs
    return not settings.noise and thresholds_rest and not averages_matter


@dataclass
class _Plain:
    """The plain loop."""

    inputs: Patterns
    targets: Patterns
    drive: Floats
    state: SparseState
    settings: SparseSettings
    rng: np.random.Generator

    def __post_init__(self) -> None:
        """Nothing to prepare here; the kernels have arrays of their own."""

    def epoch(self, epoch: int, hidden_step: int, visible_step: int) -> tuple[int, int]:
        """Learn one epoch; returns the errors sum mu and sum nu."""
        steps = {"epoch": epoch, "hidden_step": hidden_step, "visible_step": visible_step}
        return present(self.state, self.settings, self.inputs, self.targets, self.drive, rng=self.rng, **steps)

    def finish(self) -> None:
        """Bring the state up to date; here it always is."""


class _Compiled(_Plain, ABC):
    """What both kernels share: V transposed, and integers that cannot overflow in the coming epoch."""

    hidden: NDArray[Any]
    """What changes on the hidden side: the weights U, or the fields that they make."""
    one_step: int
    """How far one update of the least size can move a field."""

    @abstractmethod
    def _reach(self) -> int:
        """The largest field that there can be now."""

    @abstractmethod
    def _run(self, kernels: Any, choice: Any, whole: Any, real: Any) -> Any:
        """Call the kernel."""

    def __post_init__(self) -> None:
        self.Vt: NDArray[Any] = np.ascontiguousarray(self.state.V.T)

    def epoch(self, epoch: int, hidden_step: int, visible_step: int) -> tuple[int, int]:
        from seqattractor.learning.sparse import kernels

        state, n = self.state, len(self.inputs)
        reach = self._reach() + n * hidden_step * self.settings.active_weight * self.one_step
        visible_reach = len(self.Vt) * (_largest(self.Vt) + n * visible_step)  # of any sum of rows of Vt
        kind = _type_for(max(reach, visible_reach))
        self.hidden, self.Vt = self.hidden.astype(kind, copy=False), self.Vt.astype(kind, copy=False)
        choice = (state.theta, state.average, state.targets, state.wrong, state.redrawn)
        numbers = kernels.settings_as_vectors(self.settings, epoch=epoch, hidden_step=hidden_step, visible_step=visible_step)
        hidden, visible = self._run(kernels, choice, *numbers)
        return int(hidden), int(visible)

    def finish(self) -> None:
        self.state.V[:] = self.Vt.T


class _OnWeights(_Compiled):
    """With noise: fields from the weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.hidden = self.state.U.copy()
        self.one_step = self.inputs.shape[1] + self.settings.bias**2

    def _reach(self) -> int:
        U = np.abs(self.hidden).astype(np.int64)
        return int((U[:, :-1].sum(axis=1) + self.settings.bias * U[:, -1]).max())

    def _run(self, kernels: Any, choice: Any, whole: Any, real: Any) -> Any:
        return kernels.epoch_on_weights(
            self.inputs, self.targets, self.drive, self.hidden, self.Vt, choice, whole, real, self.rng
        )

    def finish(self) -> None:
        super().finish()
        self.state.U[:] = self.hidden


class _OnFields(_Compiled):
    """Without noise: the dual form, on fields."""

    def __post_init__(self) -> None:
        super().__post_init__()
        # Products of whole numbers in float64 are exact and fast: no sum here comes near 2**53.
        self.x_b = np.column_stack([self.inputs, np.full(len(self.inputs), self.settings.bias)]).astype(np.float64)
        self.gram = (self.x_b @ self.x_b.T).astype(np.int32)
        self.hidden = (self.state.U.astype(np.float64) @ self.x_b.T).astype(np.int64)
        self.counts = np.zeros(self.hidden.shape, dtype=np.int64)
        self.one_step = _largest(self.gram)

    def _reach(self) -> int:
        return _largest(self.hidden)

    def _run(self, kernels: Any, choice: Any, whole: Any, real: Any) -> Any:
        return kernels.epoch_on_fields(
            self.gram, self.targets, self.drive, self.hidden, self.counts, self.Vt, choice, whole, real, self.rng
        )

    def finish(self) -> None:
        super().finish()
        self.state.U += (self.counts.astype(np.float64) @ self.x_b).astype(np.int64)


def _largest(array: NDArray[Any]) -> int:
    """The largest absolute value."""
    return max(abs(int(array.min())), abs(int(array.max())))


def _type_for(bound: int) -> type[np.int32] | type[np.int64]:
    """The narrowest type for numbers up to `bound`; one for U and V alike, since each pair of types is compiled by itself."""
    if bound >= 2**53:
        raise OverflowError(
            "the weights grow beyond the whole numbers that float64 can hold; use larger learning rates or fewer epochs."
        )
    return np.int32 if bound < 2**31 else np.int64
