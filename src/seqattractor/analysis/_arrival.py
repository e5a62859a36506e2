"""Where a network comes from corrupted stored patterns: the runs that `basin` and `robustness_curve` judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._run import Run, led_memory
from seqattractor.sequences import Patterns, Transitions

Ids = NDArray[np.int64]


def steps_per_pattern(net: SequenceMemory) -> int:
    """How many steps a network may take from one stored pattern to the next: for one that dwells, the length of its memory."""
    return int(getattr(net, "slow_steps", 1)) if net.traits().dwells else 1


def passages(path: Patterns, X: Patterns) -> Patterns:
    """What a network that dwells went through: the stored patterns in its path, each stay once; (K, N) -> (k, N).

    States between two patterns, in which some units have gone on and others have not, are passed over.
    """
    known = {x.tobytes() for x in X}
    names = [state.tobytes() for state in path]
    at = [t for t, name in enumerate(names) if name in known]
    stays = [t for k, t in enumerate(at) if k == 0 or names[at[k - 1]] != names[t]]
    return path[stays]


class Led:
    """A network that is led to the inputs of stored transitions, where it is let go from corrupted cues.

    One with a latent context has been shown the sequence up to there, clean; others start with the cue.
    """

    def __init__(self, net: SequenceMemory, shown: Transitions) -> None:
        self.net, self.shown, self.dwells = net, shown, net.traits().dwells
        self.memory = None if self.dwells else led_memory(net, shown)

    def arrive(self, which: Ids, cues: Patterns, due: Ids) -> Patterns:
        """Where it is when due, (B, N), from the cues (B, order * N) in place of the inputs of the transitions `which`, (B,).

        `due` counts steps, or, for a network that dwells, passages from one stored pattern to another; where it makes too few of
        these, a row is zero.
        """
        if self.dwells:
            return self._arrive_by_passages(which, cues, due)
        run = Run(self.net, cues, None if self.memory is None else self.memory[which])
        arrived = np.zeros((len(cues), self.net.n_features_in_), dtype=np.int8)
        for k in range(1, int(due.max()) + 1):
            following = run.step()
            arrived[due == k] = following[due == k]
        return arrived

    def _arrive_by_passages(self, which: Ids, cues: Patterns, due: Ids) -> Patterns:
        """The same for a network that dwells. A cue that is cleaned before it goes on is not a passage."""
        N = self.net.n_features_in_
        stored = {x.tobytes(): x for x in (*self.shown.inputs, *self.shown.targets)}
        at, left = [x.tobytes() for x in self.shown.inputs[which]], due.tolist()
        run = Run(self.net, cues)
        for _ in range((int(due.max()) + 1) * steps_per_pattern(self.net)):
            for b, state in enumerate(run.step()):
                name = state.tobytes()
                if left[b] and name in stored and name != at[b]:
                    at[b], left[b] = name, left[b] - 1
        nowhere = np.zeros(N, dtype=np.int8)
        return np.array([nowhere if missing else stored[name] for name, missing in zip(at, left, strict=True)])
