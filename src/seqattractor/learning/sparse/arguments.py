"""What the kernels are given: the numbers of the rule, and arrays under their names.

All arrays are made here or by the engine, none by the kernels, which therefore need not count references to them. Rows over
neurons or over transitions are padded to a multiple of WIDTH.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from seqattractor.learning.sparse.rule import Epoch, SparseSettings

WIDTH = 64  # numbers that are added at once
AHEAD = 256  # presentations for which the same transposed arrays are used, at most
FEEDBACK_AHEAD = 32  # presentations for which feedback is transposed: each change is made there, too, in a column
LANES = 16  # hidden neurons in a block
GROUP = 4  # input units that are looked up together
PATTERNS = 2**GROUP
_LINE = 64  # bytes of a line of the cache
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
    targets: Any  # padded with 0
    wrong: Any
    redrawn: Any
    P: Any  # int16
    Pt: Any  # P transposed, (N_in, M), padded
    totals: Any  # sums of the rows of P, (M,)
    inverse: Any  # 1 / their lengths
    feedback: Any  # Q x(s+1) for all transitions, (M, n), padded; or (M, 0) where it is not needed
    next_bits: Any  # all x(s+1), packed
    ahead: Any  # columns of `feedback` for the coming transitions, (FEEDBACK_AHEAD, M), padded
    window: Any  # which these are: from, to
    score: Any  # from here on room for what is computed, (M,); this one padded with numbers that are none
    drive: Any
    sums: Any
    plus: Any  # units that are +1
    best: Any  # the winners so far, (n_winners,), and their scores
    highest: Any
    marked: Any  # the neurons that have target 1
    errors: Any  # packed, which visible neurons had one
    row: Any  # (n,), padded


class Visible(NamedTuple):
    """What visible neurons need to learn."""

    Vt: Any  # V transposed, (M, N), padded
    active: Any  # room for the list of active hidden neurons
    g: Any  # room for fields, then updates


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


class Tables(NamedTuple):
    """What blocks of hidden neurons need to learn an epoch; a word of bits for each block, where its neurons are meant."""

    U: Any  # (M, N_in + 1)
    clean: Any  # patterns of all groups of units in each x(s), (n, groups), uint8; a bit is set for +1
    wanted: Any  # targets, (blocks, n), uint16
    agreement: Any  # products of any two patterns of a group, (PATTERNS, PATTERNS)
    noisy: Any  # from here on room: for the presented patterns, (n, N_in)
    codes: Any  # the patterns of their groups
    tape: Any  # which neurons were active, (blocks, n)
    table: Any  # what each pattern of each group adds to fields, (PATTERNS * groups + 1, LANES); the last row is of the bias
    weights: Any  # without the bias, (GROUP * groups, LANES), padded with 0
    h: Any  # (LANES,)


def padded(length: int) -> int:
    """The length of a row with its padding."""
    return -(-length // WIDTH) * WIDTH


def room(shape: tuple[int, ...], kind: Any) -> Any:
    """An array with any content that begins where a line of the cache does, so that no vector lies in two of them."""
    size = math.prod(shape) * np.dtype(kind).itemsize
    memory = np.empty(size + _LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(kind).reshape(shape)


def filled(shape: tuple[int, ...], kind: Any, fill: int | float) -> Any:
    """Such an array, full of a number."""
    array = room(shape, kind)
    array[...] = fill
    return array


def converted(array: Any, kind: Any) -> Any:
    """Such an array, with the content of another."""
    copy = room(array.shape, kind)
    copy[...] = array
    return copy


def with_padding(array: Any, kind: Any) -> Any:
    """Such an array, with the content of another, (..., length), and zeros at the end of its rows."""
    wide = filled((*array.shape[:-1], padded(array.shape[-1])), kind, 0)
    wide[..., : array.shape[-1]] = array
    return wide


def spread(shape: tuple[int, int], kind: Any, fill: int = 0) -> Any:
    """Such an array, with padding and a line of the cache more in each row.

    Numbers of a column, which are read or written one after the other, would else fall into the same few places of the cache.
    """
    return filled((shape[0], padded(shape[1]) + _LINE // np.dtype(kind).itemsize), kind, fill)


def spread_out(array: Any, kind: Any) -> Any:
    """Such an array, with the content of another, (rows, length)."""
    wide = spread(array.shape, kind)
    wide[:, : array.shape[1]] = array
    return wide


def grouped(patterns: Any) -> Any:
    """Patterns of +-1, (n, N), as bits of GROUP units each: uint8, (n, ceil(N / GROUP)); a bit is set for +1."""
    n, N = patterns.shape
    bits = np.zeros((n, -(-N // GROUP), GROUP), dtype=np.uint8)
    bits.reshape(n, -1)[:, :N] = patterns > 0
    return np.ascontiguousarray(bits @ (1 << np.arange(GROUP, dtype=np.uint8)))


def packed(patterns: Any) -> Any:
    """Patterns of +-1, (n, N), as bits of 64 units each: words of uint64, (ceil(N / 64), n); a bit is set for +1."""
    n, N = patterns.shape
    bits = np.zeros((n, -(-N // 64) * 64), dtype=np.uint8)
    bits[:, :N] = patterns > 0
    return np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64).T)
