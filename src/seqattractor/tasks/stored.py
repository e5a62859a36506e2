"""What a network has stored, as recall looks at it: which patterns should follow a place, and which place a pattern is like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqattractor.sequences import Patterns, Sequences, close_loops, stack_context


@dataclass(frozen=True)
class Stored:
    """Sequences that a network has learned.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 8, rng=0)
    >>> stored = Stored.of(X)
    >>> stored.period(0, order=1), stored.steps(0, 2, order=1)
    (4, 4)
    >>> bool((stored.following(0, 2, 6, order=1) == X[[2, 3, 0, 1, 2, 3]]).all())
    True
    """

    sequences: tuple[Patterns, ...]
    """Each of shape (T_s, N)."""
    closed: tuple[int, ...]
    """How many patterns at the end of each sequence repeat its beginning; 0 where it ends."""
    names: tuple[str, ...]

    @classmethod
    def of(cls, data: Sequences, order: int | None = None) -> Stored:
        """Take sequences as they are, or with loops closed for a network that sees the last `order` patterns."""
        closed = tuple((data.closed or 1 if order is None else order) if loop else 0 for loop in data.loops)
        parts = data.split() if order is None else close_loops(data, order=order).split()
        return cls(tuple(parts), closed, tuple(data.names))

    def place(self, row: int) -> tuple[int, int]:
        """Give the sequence and the frame of a row, where the sequences stand one below the other."""
        ends = np.cumsum([len(x) for x in self.sequences])
        s = int(np.searchsorted(ends, row, side="right"))
        return s, int(row - ends[s] + len(self.sequences[s]))

    def period(self, s: int, order: int) -> int | None:
        """Give the period of a loop that a network with a context of `order` patterns goes round; None where it ends."""
        closed = self.closed[s]
        return len(self.sequences[s]) - closed if closed >= order else None

    def following(self, s: int, frame: int, rows: int, order: int) -> Patterns:
        """Give the patterns from a frame on: round and round in a loop, else to the end; shape (rows or fewer, N)."""
        sequence, period = self.sequences[s], self.period(s, order)
        if period is not None:
            return sequence[(frame + np.arange(rows)) % period]
        return sequence[frame : frame + rows]

    def steps(self, s: int, frame: int, order: int) -> int:
        """Give the steps from a cue that begins at a frame to the end of the sequence, or once round a loop; at least 1."""
        return self.period(s, order) or max(1, len(self.sequences[s]) - frame - order)

    def nearest(self, cue: Patterns) -> tuple[int, int, float]:
        """Give the place that is most like a cue of shape (order, N): sequence, frame and overlap."""
        flat = cue.reshape(-1).astype(np.float64)
        best = (0, 0, -2.0)
        for s, sequence in enumerate(self.sequences):
            overlaps = stack_context(sequence, len(cue))[:-1].astype(np.float64) @ flat / flat.size
            if overlaps.size and overlaps.max() > best[2]:
                best = (s, int(overlaps.argmax()), float(overlaps.max()))
        return best

    def nearest_names(self, states: Patterns) -> list[str]:
        """Name for each state the stored pattern that is most like it, as SEQUENCE:FRAME."""
        X = np.concatenate(self.sequences)
        rows = (states.astype(np.float32) @ X.astype(np.float32).T).argmax(axis=1)
        return ["{}:{}".format(*self.place(int(row))) for row in rows]

    def steps_made(self, order: int) -> set[bytes]:
        """Give every step of `order` + 1 successive patterns, as bytes."""
        return {x[t : t + order + 1].tobytes() for x in self.sequences for t in range(len(x) - order)}

    def last_patterns(self, order: int) -> set[bytes]:
        """Give the patterns at which sequences end, as bytes."""
        return {x[-1].tobytes() for s, x in enumerate(self.sequences) if self.period(s, order) is None}
