"""The one criterion of recall from a given place: it locks on, and every pattern from there to the end is right and in phase."""

from __future__ import annotations

import numpy as np

from seqattractor.sequences._patterns import Patterns

LOCKED_ON = "locked on: every frame from there to the end right and in phase"
"""The criterion in words, for everything that counts by it."""


def lock_row(path: Patterns, truth: Patterns, cue_rows: int = 1) -> int | None:
    """Give the first row from which on a path (K, N) equals the truth (L, N), L <= K, up to the truth's end.

    None if these are fewer than half of the rows after the cue: a recall that only runs into the last pattern has not followed
    the sequence.

    Examples
    --------
    >>> truth = np.array([[1, 1], [1, -1], [-1, 1]])
    >>> lock_row(truth, truth), lock_row(-truth, truth), lock_row(truth * [[-1], [-1], [1]], truth, cue_rows=2)
    (0, None, 2)
    """
    wrong = np.flatnonzero(np.any(path[: len(truth)] != truth, axis=1))
    first = int(wrong[-1]) + 1 if wrong.size else 0
    return first if 2 * (first - cue_rows) <= len(truth) - cue_rows else None
