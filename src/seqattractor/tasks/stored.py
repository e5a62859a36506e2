"""The sequences that a network has learned, and which of them a recall follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqattractor.sequences import Patterns, Sequences, close_loops, stack_context
from seqattractor.sequences._patterns import period


@dataclass(frozen=True)
class Followed:
    """A stored sequence that a recall follows, in whichever phase, or its negative."""

    since: int  # the row of the recall from which on it does
    until: int  # the row after the last one: the end of the recall, or of an open sequence
    sequence: int
    frame: int  # the frame that stands in row `since`
    mirrored: bool  # whether every unit is the opposite of the stored one


@dataclass(frozen=True)
class Stored:
    """Sequences that a network has learned."""

    sequences: tuple[Patterns, ...]  # each of shape (T_s, N)
    closed: tuple[int, ...]
    """How many patterns at the end of each sequence repeat its beginning; 0 where it ends."""
    names: tuple[str, ...]

    @classmethod
    def of(cls, data: Sequences, order: int | None = None) -> Stored:
        """Take sequences as they are, or with loops closed for a network that sees the last `order`
        patterns.
        """
        closed = tuple(
            (data.closed or 1 if order is None else order) if loop else 0 for loop in data.loops
        )
        parts = data.split() if order is None else close_loops(data, order=order).split()
        return cls(tuple(parts), closed, tuple(data.names))

    @classmethod
    def of_arrays(cls, sequences: list[Patterns], order: int) -> Stored:
        """Take arrays of shape (T_s, N); those that end with as many of their first patterns as the
        context has are loops.
        """
        rounds = [period(x, order) for x in sequences]
        closed = tuple(
            len(x) - once if once else 0 for x, once in zip(sequences, rounds, strict=True)
        )
        return cls(tuple(sequences), closed, tuple(f"sequence {s}" for s in range(len(sequences))))

    def place(self, row: int) -> tuple[int, int]:
        """Return the sequence and the frame of a row, where the sequences stand one below the
        other.
        """
        ends = np.cumsum([len(x) for x in self.sequences])
        s = int(np.searchsorted(ends, row, side="right"))
        return s, int(row - ends[s] + len(self.sequences[s]))

    def period(self, s: int, order: int) -> int | None:
        """Return the period of a loop that a network with a context of `order` patterns goes round;
        None where it ends.
        """
        closed = self.closed[s]
        return len(self.sequences[s]) - closed if closed >= order else None

    def following(self, s: int, frame: int, rows: int, order: int) -> Patterns:
        """Return the patterns from a frame on: round and round in a loop, else to the end; shape
        (rows or fewer, N).
        """
        sequence, period = self.sequences[s], self.period(s, order)
        if period is not None:
            return sequence[(frame + np.arange(rows)) % period]
        return sequence[frame : frame + rows]

    def steps(self, s: int, frame: int, order: int) -> int:
        """Return the steps from a cue that begins at a frame to the end of the sequence, or one
        round of a loop; at least 1.
        """
        return self.period(s, order) or max(1, len(self.sequences[s]) - frame - order)

    def steps_beyond(self, s: int, order: int) -> int:
        """Return how many more steps the criterion of section 6.2 needs: one round of the loop to
        its start, one through it.
        """
        return 2 * (self.period(s, order) or 0)

    def nearest(self, cue: Patterns) -> tuple[int, int, float]:
        """Return the place that is most like a cue of shape (order, N): sequence, frame and
        overlap.
        """
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

    def successor(self, s: int, frame: int, order: int) -> int | None:
        """Return the frame after a frame; None at the end of an open sequence."""
        period = self.period(s, order)
        if period is not None:
            return (frame + 1) % period
        return frame + 1 if frame + 1 < len(self.sequences[s]) else None

    def followed_by(self, states: Patterns, order: int, prefer: int = 0) -> Followed | None:
        """Return the stored sequence, or negative of one, that a recall comes to follow until it
        ends or the sequence does.

        It must follow a loop once round, or for half of the rows; an open sequence for half of the
        rows up to its end: fewer could be chance, or a recall that runs into the last pattern of
        every sequence. Of several, `prefer` is returned.
        """
        places: dict[bytes, list[tuple[int, int]]] = {}
        for s, x in enumerate(self.sequences):
            for frame in range(self.period(s, order) or len(x)):
                places.setdefault(x[frame].tobytes(), []).append((s, frame))
        runs = [
            run
            for mirrored in (False, True)
            for run in self._runs(-states if mirrored else states, order, places, mirrored)
        ]
        enough = [run for run in runs if run.until - run.since >= self._enough(run, order)]
        return min(
            enough, key=lambda run: (run.since, run.mirrored, run.sequence != prefer), default=None
        )

    def _runs(
        self,
        states: Patterns,
        order: int,
        places: dict[bytes, list[tuple[int, int]]],
        mirrored: bool,
    ) -> list[Followed]:
        """Return every longest stretch of rows that follows a sequence to its end or to that of the
        rows.
        """
        complete: list[Followed] = []
        after: dict[
            tuple[int, int], int
        ] = {}  # place in the row below -> where the stretch from it ends
        for row in range(len(states) - 1, -1, -1):
            here: dict[tuple[int, int], int] = {}
            for s, frame in places.get(states[row].tobytes(), []):
                following = self.successor(s, frame, order)
                if following is None or row == len(states) - 1:
                    here[s, frame] = row + 1
                elif (s, following) in after:
                    here[s, frame] = after[s, following]
            complete += [
                Followed(row, until, s, frame, mirrored) for (s, frame), until in here.items()
            ]
            after = here
        return complete

    def _enough(self, run: Followed, order: int) -> float:
        """Return how many rows a stretch must have."""
        half = run.until / 2
        period = self.period(run.sequence, order)
        return half if period is None else min(period, half)
