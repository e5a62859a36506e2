"""Small sequences that no network without hidden neurons can make (section 3 of the paper)."""

from __future__ import annotations

import numpy as np

from seqattractor.sequences import Sequences

# Drawn as in Figure 1: a row is a unit, a column a time step, # is +1. In both, four patterns satisfy
# x(a) + x(b) = x(c) + x(d), while some unit must be on after a and b and off after c and d: no weights can do that.
# They are not typical: of some hundred random sequences of this kind they are two that the network recalls best.
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


def xor() -> Sequences:
    """Give the sequence of section 3: its first neuron would have to compute XOR.

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
    """Give one of two sequences of ten neurons in the spirit of Figure 1.

    No network without hidden neurons can make them (`sa.separable` proves it); a network with 50 hidden neurons
    learns them and recalls them with two units of the first pattern flipped.

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
    if which not in _PICTURES:
        raise ValueError(f"there are toy sequences {' and '.join(map(str, _PICTURES))}, but no {which!r}.")
    rows = _PICTURES[which].split()
    X = np.array([[1 if unit[t] == "#" else -1 for unit in rows] for t in range(len(rows[0]))], dtype=np.int8)
    return Sequences(X, names=[f"toy {which}"], closed=1)
