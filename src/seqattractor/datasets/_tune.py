"""A tune of our own as a piano roll: four bars with a bass, broken chords and a melody, in a closed loop."""

from __future__ import annotations

import numpy as np

from seqattractor.io._units import note_name
from seqattractor.sequences import Sequences

# One line per bar: the bass, which is held, then eight broken-chord notes and eight melody notes, as MIDI numbers. No chord
# occurs twice, so that every pattern has one successor.
_BARS = (
    (48, (60, 64, 67, 64, 60, 64, 67, 64), (76, 76, 74, 72, 67, 67, 72, 74)),
    (55, (59, 62, 67, 62, 59, 62, 59, 67), (74, 74, 71, 71, 67, 69, 71, 72)),
    (57, (60, 64, 69, 64, 60, 64, 69, 64), (72, 72, 76, 76, 74, 71, 71, 69)),
    (53, (60, 65, 69, 65, 60, 65, 69, 67), (69, 72, 77, 76, 74, 74, 72, 74)),
)
PITCHES = tuple(range(48, 78))
"""The MIDI number of each unit."""


def tune() -> Sequences:
    """Give the tune: a unit for each of 30 keys of a piano, a pattern for each eighth note.

    Returns
    -------
    Sequences
        One, of shape (33, 30), with the names of the notes as ``units``. The last pattern is the first again.

    Examples
    --------
    >>> X = tune()
    >>> X.shape, [X.units[k] for k in np.flatnonzero(X[0] > 0)]
    ((33, 30), ['C3', 'C4', 'E5'])
    """
    X = np.full((33, len(PITCHES)), -1, dtype=np.int8)
    t = 0
    for bass, chord, melody in _BARS:
        for notes in zip(chord, melody, strict=True):
            X[t, [PITCHES.index(pitch) for pitch in (bass, *notes)]] = 1
            t += 1
    X[-1] = X[0]
    units = [note_name(pitch) for pitch in PITCHES]
    return Sequences(X, names=["tune"], units=units, rate=4.0, step=0.5, kind="music", closed=1)
