"""Find and leave out frames that equal the one before, or nearly do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seqattractor.io._load import without_repeats
from seqattractor.sequences import Sequences
from seqattractor.sequences._transitions import close_loop, find_conflicts

NEAR = 0.002  # of the units: frames that differ in no more are nearly the same


def near_repeats(data: Sequences) -> NDArray[np.int64]:
    """Return in how many units frames differ that are nearly the one before, but not quite.

    The shape is (k,); each is from 1 to N / 500.
    """
    units = np.concatenate([(x[1:] != x[:-1]).sum(axis=1) for x in data.split()])
    return units[(units > 0) & (units <= NEAR * data.shape[1])]


def leave_out_repeats(data: Sequences, near: int = 0) -> Sequences:
    """Leave out every frame that differs in at most `near` units from the last one that stays.

    Loops stay closed. It is noted in the `options`, with which data to compare with are read.
    """
    parts = []
    for x in data.split():
        once = without_repeats(x[: len(x) - data.closed], near)
        parts.append(close_loop(once, data.closed) if data.closed else once)
    options = {**data.options, **({"drop_near": near} if near else {"drop_repeats": True})}
    return replace(
        data,
        patterns=np.concatenate(parts),
        lengths=np.array([len(part) for part in parts]),
        options=options,
    )


def repeats_that_hinder(data: Sequences) -> int:
    """Count the frames of a film that equal the one before, if leaving them out spares context.

    Only a network that sees all k of k equal frames distinguishes the last one. In
    other data than pictures the length of a silence may matter: the count is 0.
    """
    if data.picture_shape is None:
        return 0
    without = leave_out_repeats(data)
    fewer = len(data) - len(without)
    if not fewer or min(without.lengths) < 2:
        return 0
    before, after = find_conflicts(data).context, find_conflicts(without).context
    return fewer if after is not None and (before is None or after < before) else 0
