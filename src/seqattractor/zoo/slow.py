"""What networks with slow synapses share: the states of the last steps, and where sequences end."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count
from seqattractor.sequences import Patterns

_MOST_STEPS = 10_000  # a run holds that many states


def check_slow_steps(steps: int) -> None:
    """Refuse a number of steps that is none, or for which no memory would do."""
    if check_count(steps, "slow_steps") > _MOST_STEPS:
        raise ValueError(f"slow_steps must be at most {_MOST_STEPS}, but it is {steps}.")


def start_memory(states: Patterns, steps: int) -> Patterns:
    """The last `steps` states, oldest first, as if the cue had been there all the time: (B, N) -> (B, steps, N)."""
    return np.repeat(states[:, None], steps, axis=1)


def remember(memory: Patterns, states: Patterns) -> NDArray[np.int32]:
    """Put the newest states (B, N) into the memory, drop the oldest, and give the sum of all, (B, N)."""
    memory[:, :-1] = memory[:, 1:]
    memory[:, -1] = states
    return np.asarray(memory.sum(axis=1), dtype=np.int32)


def unfinished(inputs: Patterns, targets: Patterns) -> Patterns:
    """The patterns with which sequences end, once each: those that have no successor, shape (k, N).

    Examples
    --------
    >>> X = np.array([[1, 1], [1, -1], [-1, 1]], dtype=np.int8)
    >>> unfinished(X[:-1], X[1:])
    array([[-1,  1]], dtype=int8)
    """
    known = {x.tobytes() for x in inputs}
    ends = {x.tobytes(): x for x in targets if x.tobytes() not in known}
    return np.array(list(ends.values()), dtype=np.int8).reshape(-1, targets.shape[1])
