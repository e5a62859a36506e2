"""Find, describe and leave out frames that equal the one before, or nearly do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._load import without_repeats
from seqattractor.sequences import Sequences
from seqattractor.sequences._transitions import close_loop, find_conflicts

NEAR = 0.002  # of the units: frames that differ in no more are nearly the same


def near_repeats(data: Sequences) -> NDArray[np.int64]:
    """Return the frames that are nearly the one before, but not quite; shape (k, 3), the nearest first.

    A row is the sequence, the frame, and the number of units that differ from the frame before, 1 to N / 500.
    """
    rows = [
        (s, frame + 1, int(units))
        for s, x in enumerate(data.split())
        for frame, units in enumerate((x[1:] != x[:-1]).sum(axis=1))
        if 0 < units <= NEAR * x.shape[1]
    ]
    return np.array(sorted(rows, key=lambda row: row[2]), dtype=np.int64).reshape(-1, 3)


def describe_near_repeats(data: Sequences) -> str | None:
    """Describe the frames that are nearly the one before; None where there are none.

    Examples
    --------
    >>> X = -np.ones((3, 1000), dtype=np.int8)
    >>> X[1, :500], X[2, :501] = 1, 1
    >>> describe_near_repeats(Sequences(X, names=["film"]))
    '1 of 3 patterns is nearly the same as the one before (patterns 1 and 2 of film differ in 1 of 1,000 units)'
    """
    near = near_repeats(data)
    if not len(near):
        return None
    pictures = data.picture_shape is not None
    frames, units = "frames" if pictures else "patterns", "pixels" if pictures and data.code is None else "units"
    s, frame, count = near[0].tolist()
    example = f"{frames} {frame - 1} and {frame} of {data.names[s]} differ in {count} of {data.shape[1]:,} {units}"
    verb = "is" if len(near) == 1 else "are"
    return f"{len(near)} of {len(data)} {frames} {verb} nearly the same as the one before ({example})"


def leave_out_repeats(data: Sequences, near: int = 0) -> Sequences:
    """Leave out every frame that differs from the last one kept in at most `near` units; loops stay closed.

    The options of the result say so, and data to compare with are then read in the same way.

    Examples
    --------
    >>> leave_out_repeats(Sequences([[1, 1], [1, 1], [-1, 1]])).patterns
    array([[ 1,  1], [-1,  1]], dtype=int8)
    """
    parts = []
    for x in data.split():
        once = without_repeats(x[: len(x) - data.closed], near)
        parts.append(close_loop(once, data.closed) if data.closed else once)
    options = {**data.options, **({"drop_near": near} if near else {"drop_repeats": True})}
    return replace(data, patterns=np.concatenate(parts), lengths=np.array([len(part) for part in parts]), options=options)


def repeats_that_hinder(data: Sequences) -> int:
    """Count the frames of a film that equal the one before, if a network without them needs a smaller context.

    A scene that is held for k frames is told from its end only by a network that sees all k of them. Other data than pictures
    may mean something by it: a silence has its length.

    Examples
    --------
    >>> still = np.ones((5, 4), dtype=np.int8)
    >>> still[4] = -1
    >>> repeats_that_hinder(Sequences(still, frame_shape=(2, 2))), repeats_that_hinder(Sequences(still))
    (3, 0)
    """
    if data.picture_shape is None:
        return 0
    without = leave_out_repeats(data)
    fewer = len(data) - len(without)
    if not fewer or min(without.lengths) < 2:
        return 0
    before, after = find_conflicts(data).context, find_conflicts(without).context
    return fewer if after is not None and (before is None or after < before) else 0
