"""A tune of our own as a piano roll: four bars with a bass, broken chords and a melody, in a closed loop."""

from __future__ import annotations

import numpy as np

from seqattractor.sequences import Patterns

__all__ = ["PITCHES", "tune"]

# One line a bar: the bass, which is held, then eight broken-chord notes and eight melody notes, as MIDI numbers. No chord
# occurs twice, so that every pattern has one successor.
_BARS = (
    (48, (60, 64, 67, 64, 60, 64, 67, 64), (76, 76, 74, 72, 67, 67, 72, 74)),
    (55, (59, 62, 67, 62, 59, 62, 59, 67), (74, 74, 71, 71, 67, 69, 71, 72)),
    (57, (60, 64, 69, 64, 60, 64, 69, 64), (72, 72, 76, 76, 74, 71, 71, 69)),
    (53, (60, 65, 69, 65, 60, 65, 69, 67), (69, 72, 77, 76, 74, 74, 72, 74)),
)
PITCHES = tuple(range(48, 78))
"""The MIDI number of each unit."""


def tune() -> Patterns:
    """Give the tune: a unit for each of 30 keys of a piano, a pattern for each eighth note.

    Returns
    -------
    ndarray of int8, shape (33, 30)
        The last pattern is the first again.

    Examples
    --------
    >>> X = tune()
    >>> X.shape, [PITCHES[k] for k in np.flatnonzero(X[0] > 0)]
    ((33, 30), [48, 60, 76])
    """
    X = np.full((33, len(PITCHES)), -1, dtype=np.int8)
    t = 0
    for bass, chord, melody in _BARS:
        for notes in zip(chord, melody, strict=True):
            X[t, [PITCHES.index(pitch) for pitch in (bass, *notes)]] = 1
            t += 1
    X[-1] = X[0]
    return X
