"""Place cells on a square arena: a cell is active while the animal, running along a closed path, is near the cell's place."""

from __future__ import annotations

from typing import Literal

import numpy as np

from seqattractor.sequences import Sequences

SIDE = 16
RADIUS = 2.7  # of a place field, in cells


def place_cells(steps: int = 36, path: Literal["loop", "eight"] = "loop") -> Sequences:
    """Give the activity of 16 x 16 place cells along a closed path.

    Parameters
    ----------
    steps : int
        Positions on the path, at least 4.
    path : {"loop", "eight"}
        A winding loop, or a figure of eight. The latter passes its middle twice and goes on in different directions, so that
        one pattern has two successors: a network needs the pattern before (order 2) to know which.

    Returns
    -------
    Sequences
        One, of shape (steps + 1, 256), with frames of 16 x 16 cells. The last pattern is the first again.

    Examples
    --------
    >>> X = place_cells(steps=20)
    >>> X.shape, int((X[0] > 0).sum())
    ((21, 256), 26)
    """
    if path not in ("loop", "eight"):
        raise ValueError(f"the path must be 'loop' or 'eight', but it is {path!r}.")
    if path == "eight":
        steps += steps % 2  # so that both passes hit the middle exactly
    turn = 2 * np.pi * np.arange(steps) / steps
    middle = (SIDE - 1) / 2
    if path == "eight":
        # Rounded, so that the two passes through the middle are the same place to the last bit.
        rows, columns = np.round(middle + 4.6 * np.sin(2 * turn), 6), np.round(middle + 5.0 * np.sin(turn), 6)
    else:
        radius = 4.6 + 0.9 * np.cos(3 * turn)
        rows, columns = middle - radius * np.cos(turn), middle + radius * np.sin(turn)
    places = np.arange(SIDE)
    far = np.hypot(places[:, None] - rows[:, None, None], places[None, :] - columns[:, None, None])
    X = np.where(far <= RADIUS, 1, -1).astype(np.int8).reshape(steps, SIDE * SIDE)
    return Sequences(np.concatenate([X, X[:1]]), frame_shape=(SIDE, SIDE), names=[path], closed=1)
