"""ContinuousMemory: real-valued states that run in continuous time, and patterns that are read out
of them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from seqattractor._checks import LARGEST, as_numbers, check_count, check_memory, check_positive
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Patterns

States = NDArray[np.float64]
_MOST_STEPS = 10_000  # of integration; every step of recall takes that many


class ContinuousMemory(SequenceMemory):
    """A memory whose state is real-valued and runs in continuous time; +-1 patterns are read out of
    it at regular times.

    A subclass defines how the state begins from a cue (`_begin`), its velocity (`_velocity`), and
    how patterns are read out of it (`_read_out`). A state is one flat row of K numbers for each
    run; its first N numbers belong to the units, one each, unless the subclass overrides that
    (`_impose`, `_activity_in`). The equations are integrated by Euler's method in equal steps of at
    most `dt`, so that the same cue gives the same path on any machine.
    """

    dt: float
    read_out_interval: float

    @abstractmethod
    def _begin(self, cues: States) -> States:
        """Return the states in which runs begin from cues: (B, N) -> (B, K). Cues are +-1, or any
        real numbers in `activity`.
        """

    @abstractmethod
    def _velocity(self, states: States) -> States:
        """Return the derivatives of the states with respect to time: (B, K) -> (B, K)."""

    @abstractmethod
    def _read_out(self, states: States) -> Patterns:
        """Return the patterns that are read out of the states: (B, K) -> (B, N)."""

    def _impose(self, states: States, patterns: Patterns, where: NDArray[np.bool_]) -> None:
        """Return units new values from outside, as a cue would; slow variables stay. `patterns` and
        `where`: (B, N).
        """
        N = self.n_features_in_
        np.copyto(states[:, :N], self._begin(patterns.astype(np.float64))[:, :N], where=where)

    def _activity_in(self, states: States) -> States:
        """Return the real-valued activity of the units: (B, K) -> (B, units)."""
        return states[:, : self.n_features_in_]

    def start(self, states: Patterns) -> States:
        """Return the real-valued states in which runs begin from cues of +-1: (B, N) -> (B, K)."""
        return self._begin(states.astype(np.float64))

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Run for one read-out interval and read patterns out, (B, N) -> (B, N); changes
        `memory`.
        """
        carried: States = self.start(states) if memory is None else memory
        changed = self._read_out(carried) != states
        if changed.any():  # by noise
            self._impose(carried, states, changed)
        self._run_on(carried)
        return self._read_out(carried)

    def activity(self, cue: ArrayLike, steps: int, *, state: ArrayLike | None = None) -> States:
        """Let the network run from a cue and give the real-valued activity of its units.

        Parameters
        ----------
        cue : array, shape (N,), or (B, N) for a batch
            Real numbers, such as a pattern of +-1 with zeros where it is erased.
        steps : int
            For how many read-out intervals it runs.
        state : array, shape (K,) or (B, K), optional
            All variables at the start, instead of those that `start` gives for the cue.

        Returns
        -------
        ndarray, shape (steps + 1, units) or (B, steps + 1, units)
            At the start and after each read-out interval.

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(5, 100, rng=0)
        >>> net = sa.networks.make_network("eden").fit(X)
        >>> net.activity(X[0], steps=8).shape
        (9, 100)
        """
        check_is_fitted(self, "n_features_in_")
        cues, single = self._as_rows(cue, self.n_features_in_, "cue")
        states = self._begin(cues)
        if state is not None:
            given = self._as_rows(state, states.shape[1], "state")[0]
            if len(given) != len(states):
                raise ValueError(
                    f"there are {len(given)} states for {len(states)} cues; give one for each."
                )
            states = given
        steps = check_count(steps, "steps", 0)
        first = self._activity_in(states)
        check_memory(8 * (steps + 1) * first.size, f"the activity of {steps} steps")
        path = np.empty((len(states), steps + 1, first.shape[1]))
        path[:, 0] = first
        for t in range(1, steps + 1):
            self._run_on(states)
            path[:, t] = self._activity_in(states)
        return path[0] if single else path

    def _check_times(self, *more: str) -> None:
        """Reject steps of time that make no sense; `check_parameters` of a subclass calls this,
        with the names of other times.
        """
        for name in ("read_out_interval", *more):
            step = min(
                check_positive(self.read_out_interval, "read_out_interval"),
                check_positive(self.dt, "dt"),
            )
            if (time := check_positive(getattr(self, name), name)) > _MOST_STEPS * step:
                raise ValueError(
                    f"{name} must be at most {_MOST_STEPS} steps of integration, but it is "
                    f"{time:g} with dt = {self.dt:g}."
                )

    def _steps(self) -> tuple[int, float]:
        """Return the number of integration steps in a read-out interval, and their length."""
        interval = float(self.read_out_interval)
        steps = max(
            1, int(np.ceil(round(interval / float(self.dt), 9)))
        )  # without the rounding, 0.3 / 0.1 would take four
        return steps, interval / steps

    def _run_on(self, states: States) -> None:
        """Let states (B, K) run on for one read-out interval, in place, by Euler's method."""
        steps, step = self._steps()
        with np.errstate(over="ignore", invalid="ignore"):  # raised below
            for _ in range(steps):
                states += step * self._velocity(states)
        if not (np.abs(states) < LARGEST).all():
            raise ValueError(
                f"the activity of {type(self).__name__} grows without bound; lower dt, or the "
                "gains."
            )

    def _as_rows(self, values: ArrayLike, width: int, name: str) -> tuple[States, bool]:
        """Check one row of finite numbers or a batch of them and give a copy as (B, width)."""
        array = as_numbers(values, name).astype(np.float64)
        single = array.ndim == 1
        if array.ndim not in (1, 2) or array.shape[-1] != width or not array.size:
            raise ValueError(
                f"the {name} has the shape {array.shape}, but this network takes ({width},), or "
                f"(batch, {width})."
            )
        if not (np.abs(array) < LARGEST).all():
            raise ValueError(f"the {name} must hold finite numbers.")
        return np.atleast_2d(array), single
