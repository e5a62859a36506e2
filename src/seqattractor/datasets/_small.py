"""Small sequences: two kinds that no network without hidden neurons can make (section 3 of the
paper), a tune, place cells.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from seqattractor._checks import check_choice, check_count, check_memory, is_count, say
from seqattractor.sequences import Sequences
from seqattractor.sequences._columns import note_name

# Drawn as in Figure 1: a row is a unit, a column a time step, # is +1. In both, four patterns
# satisfy x(a) + x(b) = x(c) + x(d), while some unit must be on after a and b and off after c and d:
# no weights can do that. They are not typical: of a few hundred random sequences of this kind, they
# are two that the network recalls best.
_PICTURES = {
    1: """
        ######
        ##.###
        #.##.#
        #.##.#
        #...##
        #...##
        .#.#..
        .#..#.
        ..#...
        ......
    """,
    2: """
        ####.#
        ####.#
        #.#.##
        #.#..#
        #..###
        .##...
        .##...
        .#.##.
        ......
        ......
    """,
}

# The tune, a line per bar: the bass, which is held, then eight broken-chord notes and eight melody
# notes, as MIDI numbers. No chord occurs twice, so that every pattern has one successor.
_BARS = (
    (48, (60, 64, 67, 64, 60, 64, 67, 64), (76, 76, 74, 72, 67, 67, 72, 74)),
    (55, (59, 62, 67, 62, 59, 62, 59, 67), (74, 74, 71, 71, 67, 69, 71, 72)),
    (57, (60, 64, 69, 64, 60, 64, 69, 64), (72, 72, 76, 76, 74, 71, 71, 69)),
    (53, (60, 65, 69, 65, 60, 65, 69, 67), (69, 72, 77, 76, 74, 74, 72, 74)),
)
PITCHES = tuple(range(48, 78))  # the MIDI number of each unit

SIDE = 16  # of the arena of place cells
RADIUS = 2.7  # of a place field, in cells


def xor() -> Sequences:
    """Return the sequence of section 3: its first neuron would have to compute XOR.

    No network without hidden neurons can make it, and with them only one that has biases
    (``SequenceAttractor(bias=True)``): without these, where no field is exactly zero, a network
    maps -xi to minus what it maps xi to.

    Returns
    -------
    Sequences
        One, of shape (5, 2). The last pattern is the first again.

    Examples
    --------
    >>> xor().T
    array([[ 1,  1, -1, -1,  1], [ 1, -1,  1, -1,  1]], dtype=int8)
    """
    X = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1], [1, 1]], dtype=np.int8)
    return Sequences(X, names=["xor"], closed=1)


def toy(which: int = 1) -> Sequences:
    """Return one of two sequences of ten neurons in the spirit of Figure 1.

    No network without hidden neurons can make them, not even with biases (`sa.separable` proves
    it); one with 50 hidden neurons learns them and recalls them with two units of the first pattern
    flipped.

    Parameters
    ----------
    which : {1, 2}

    Returns
    -------
    Sequences
        One, of shape (6, 10). The last pattern is the first again.

    Examples
    --------
    >>> toy(1).shape
    (6, 10)
    """
    if not is_count(which) or which not in _PICTURES:
        raise ValueError(
            f"there are toy sequences {' and '.join(map(str, _PICTURES))}, but no {say(which)}."
        )
    rows = _PICTURES[which].split()
    X = np.array(
        [[1 if unit[t] == "#" else -1 for unit in rows] for t in range(len(rows[0]))], dtype=np.int8
    )
    return Sequences(X, names=[f"toy {which}"], closed=1)


def tune() -> Sequences:
    """Return a tune of our own as a piano roll: four bars with a bass, broken chords and a melody,
    in a closed loop.

    There is a unit for each of 30 keys of a piano, and a pattern for each eighth note.

    Returns
    -------
    Sequences
        One, of shape (33, 30), with the names of the notes as ``units``. The last pattern is the
        first again.

    Examples
    --------
    >>> X = tune()
    >>> X.shape, [X.units[k] for k in np.flatnonzero(X[0] > 0)]
    ((33, 30), ['C3', 'C4', 'E5'])
    """
    chords = [
        (bass, *notes) for bass, chord, melody in _BARS for notes in zip(chord, melody, strict=True)
    ]
    X = np.array(
        [[1 if pitch in chord else -1 for pitch in PITCHES] for chord in [*chords, chords[0]]],
        dtype=np.int8,
    )
    units = [note_name(pitch) for pitch in PITCHES]
    return Sequences(X, names=["tune"], units=units, rate=4.0, step=0.5, kind="music", closed=1)


def place_cells(steps: int = 36, path: Literal["loop", "eight"] = "loop") -> Sequences:
    """Return the activity of 16 x 16 place cells, each active while the animal, running along a
    closed path, is near its place.

    Parameters
    ----------
    steps : int
        Positions on the path, at least 4.
    path : {"loop", "eight"}
        A winding loop, or a figure of eight. The latter passes its middle twice and leaves it in
        different directions, so that one pattern has two successors: a network needs the pattern
        before (order 2) to know which.

    Returns
    -------
    Sequences
        One, of shape (steps + 1, 256), with frames of 16 x 16 cells. The last pattern is the first
        again.

    Examples
    --------
    >>> X = place_cells(steps=20)
    >>> X.shape, int((X[0] > 0).sum())
    ((21, 256), 26)
    """
    check_choice(path, "path", ("loop", "eight"))
    steps = check_count(steps, "steps", 4)
    check_memory(20 * steps * SIDE**2, f"a path of {steps} steps")
    if path == "eight":
        steps += steps % 2  # so that both passes hit the middle exactly
    turn = 2 * np.pi * np.arange(steps) / steps
    middle = (SIDE - 1) / 2
    if path == "eight":
        # Rounded, so that the two passes through the middle are the same place to the last bit.
        rows, columns = (
            np.round(middle + 4.6 * np.sin(2 * turn), 6),
            np.round(middle + 5.0 * np.sin(turn), 6),
        )
    else:
        radius = 4.6 + 0.9 * np.cos(3 * turn)
        rows, columns = middle - radius * np.cos(turn), middle + radius * np.sin(turn)
    places = np.arange(SIDE)
    far = np.hypot(places[:, None] - rows[:, None, None], places[None, :] - columns[:, None, None])
    X = np.where(far <= RADIUS, 1, -1).astype(np.int8).reshape(steps, SIDE * SIDE)
    return Sequences(np.concatenate([X, X[:1]]), frame_shape=(SIDE, SIDE), names=[path], closed=1)
