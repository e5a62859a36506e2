"""States that runs have passed through, each once, and where each leads: what need not be computed again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks.hooks import Hooks
from seqattractor.sequences import Patterns

Ids = NDArray[np.int64]

MOST_BYTES = 2**26
BYTES_BESIDE = 200  # the packed state, its number and their places in the dictionary
_SMALLEST = 64  # states to have room for
UNKNOWN = -1


def names_of(states: Patterns) -> list[bytes]:
    """A name of each state of -1 and +1, (B, width): its bits."""
    packed = np.packbits(states > 0, axis=1)
    names: list[bytes] = packed.view(f"V{packed.shape[1]}").ravel().tolist()
    return names


def leads_on_by_state(net: Hooks) -> bool:
    """Whether a network says that the same state always has the same successor; a subclass has to say it again."""
    return bool(vars(type(net)).get("deterministic", False)) and "next_patterns" not in vars(net)


def goes_by_state(net: Hooks, states: Patterns) -> bool:
    """Whether a run of a network from some states depends on these alone: it also carries nothing from step to step."""
    return leads_on_by_state(net) and net.start(states) is None


class KnownStates:
    """States of `width` units with their successors, up to a limit of memory."""

    def __init__(self, width: int) -> None:
        self.most = MOST_BYTES // (width + BYTES_BESIDE)
        self.states: Patterns = np.empty((0, width), dtype=np.int8)
        """The state of each number, and room for more."""
        self.successors: Ids = np.empty(0, dtype=np.int64)
        """The number of the state that follows, or UNKNOWN."""
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def is_full(self) -> bool:
        """Whether there are more states than it pays to keep: runs that find so many do not come back to them."""
        return len(self) > self.most

    def number(self, states: Patterns) -> Ids:
        """Give states, (B, width), their numbers, (B,); equal states have the same one."""
        known, numbers = len(self), self._numbers
        given = np.array([numbers.setdefault(name, len(numbers)) for name in names_of(states)], dtype=np.int64)
        if len(self) > known:
            self._make_room()
            self.states[given] = states
        return given

    def _make_room(self) -> None:
        """Let every number have a row; the room doubles, so that a row is moved only a few times."""
        rows = len(self.states)
        if len(self) > rows:
            more = max(2 * rows, len(self), _SMALLEST) - rows
            self.states = np.concatenate([self.states, np.empty((more, self.states.shape[1]), dtype=np.int8)])
            self.successors = np.concatenate([self.successors, np.full(more, UNKNOWN)])
