"""What the kernels are given: the numbers of the rule, and arrays under their names.

All arrays are made here or by the engine, none by the kernels, which therefore need not count references to them. Rows over
neurons or over transitions are padded to a multiple of WIDTH.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from seqattractor.learning.sparse.rule import Epoch, SparseSettings

WIDTH = 64  # numbers that are added at once
AHEAD = 256  # presentations for which the same transposed arrays are used, at most
PENDING = 4096  # as many updates, at most, are added to what these say


_KINDS = get_type_hints(SparseSettings) | get_type_hints(Epoch)
Numbers: Any = namedtuple("Numbers", _KINDS)  # type: ignore[misc]  # the fields of both under their names


def numbers(settings: SparseSettings, now: Epoch) -> Any:
    """The numbers of the rule and of one epoch, each of the one type that the kernels are compiled for."""
    given = vars(settings) | vars(now)
    return Numbers(**{name: kind(given[name]) for name, kind in _KINDS.items()})


class Choice(NamedTuple):
    """What the choice of targets needs and changes; the fields without a comment are those of `SparseState`."""

    theta: Any
    targets: Any
    wrong: Any
    redrawn: Any
    P: Any  # int16
    Pt: Any  # P transposed, (N_in, M), padded
    totals: Any  # sums of the rows of P, (M,)
    inverse: Any  # 1 / their lengths
    feedback: Any  # Q x(s+1) for all transitions, (M, n), padded; or (M, 0) where it is not needed
    next_bits: Any  # all x(s+1), packed
    ahead: Any  # columns of `feedback` for the coming transitions, (AHEAD, M), padded
    window: Any  # which these are: from, to
    score: Any  # from here on room for what is computed, (M,)
    drive: Any
    sums: Any
    plus: Any  # units that are +1
    best: Any  # the winners so far, (n_winners,), and their scores
    highest: Any
    errors: Any  # packed, which visible neurons had one
    row: Any  # (n,), padded


class Visible(NamedTuple):
    """What visible neurons need to learn."""

    Vt: Any  # V transposed, (M, N), padded
    active: Any  # room for the list of active hidden neurons
    ones: Any  # -1, all bits set, for each hidden neuron, padded
    g: Any  # room for fields, then updates


class Tests(NamedTuple):
    """Which hidden fields violate their margin: where (h ^ flip) <= bound; none in the padding."""

    h: Any
    flip: Any
    bound: Any


class Carried(NamedTuple):
    """What the dual form carries along, and what of it is transposed once in a while."""

    fields: Any  # U [x(s); b], (M, n), padded
    U: Any  # (M, N_in + 1), or (M, 0) where no epoch flips units
    counts: Any  # in that case the sums of the changes made at each transition, (M, n)
    gram: Any  # products of the inputs, bias included, (n, n), padded
    inputs_t: Any  # the inputs transposed, (N_in, n), padded
    bits: Any  # and packed
    ahead: Any  # columns of `fields` for the coming transitions, (AHEAD, M), padded
    Ut: Any  # U transposed, without the bias, (N_in, M), padded
    patterns: Any  # since then: packed patterns with an update, (words, AHEAD)
    neuron: Any  # and for each update its neuron, its step, and the number of its pattern
    step: Any
    pattern: Any
    product: Any  # room for what these are with the one that is presented, (AHEAD,)
    every: Any  # a word of ones for each word of x
    x_bits: Any  # room for the presented pattern, packed and plain, its flipped units, and its products with all others
    noisy: Any
    plus: Any
    minus: Any
    overlap: Any


def padded(length: int) -> int:
    """The length of a row with its padding."""
    return -(-length // WIDTH) * WIDTH


def with_padding(array: Any, kind: Any, fill: int = 0) -> Any:
    """An array, (..., length), of another type and with padding at the end of its rows."""
    wide = np.full((*array.shape[:-1], padded(array.shape[-1])), fill, dtype=kind)
    wide[..., : array.shape[-1]] = array
    return wide


def packed(patterns: Any) -> Any:
    """Patterns of +-1, (n, N), as bits of 64 units each: words of uint64, (ceil(N / 64), n); a bit is set for +1."""
    n, N = patterns.shape
    bits = np.zeros((n, -(-N // 64) * 64), dtype=np.uint8)
    bits[:, :N] = patterns > 0
    return np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64).T)
