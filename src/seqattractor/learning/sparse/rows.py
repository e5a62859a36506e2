"""Operations on rows of whole numbers that the kernels of the sparse rule are made of.

Numba makes a loop a vector operation only where it sees that it may, ends it with a scalar rest, and counts references to every
row that is looked at. What the time is spent in is therefore written for LLVM; rows are padded to a multiple of WIDTH.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils as _cgutils

from seqattractor.learning.bits import lowest_bit
from seqattractor.learning.compiled import part
from seqattractor.learning.sparse.arguments import WIDTH

cgutils: Any = _cgutils  # it has no types
_Tuple: Any = types.BaseTuple
_EVERY = np.uint64(2**64 - 1)
_BLOCK = 16  # of a transposition: as many numbers as fill a line of the cache, or two


def _borrowed_code(typingctx: Any, value: Any) -> Any:
    """The same array, or tuple of arrays, without counting references to it: the caller of the kernel holds it anyway."""

    def borrow(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, _Tuple):
            parts = zip(kind.types, cgutils.unpack_tuple(builder, value), strict=True)
            return context.make_tuple(builder, kind, [borrow(context, builder, *part) for part in parts])
        if not isinstance(kind, types.Array):
            return value
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        return array._getvalue()

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return borrow(context, builder, signature.args[0], args[0])

    return value(value), codegen


borrowed: Any = extending.intrinsic(_borrowed_code)


def everywhere(builder: Any, value: Any, lanes: Any) -> Any:
    """A vector with the same value in all its lanes."""
    one = builder.insert_element(ir.Constant(lanes, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), lanes.count), [0] * lanes.count))


def _add_sums_code(typingctx: Any, total: Any, start: Any, factor: Any, W: Any, rows: Any, first: Any, last: Any) -> Any:
    """Add factor * (the sum of the rows rows[first:last] of W) to a total, for WIDTH numbers from start on.

    Rows are summed up within the type of W.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        narrow, wide = (ir.VectorType(context.get_data_type(kind.dtype), WIDTH) for kind in (W, total))
        array = context.make_array(W)(context, builder, args[3])
        listed = context.make_array(rows)(context, builder, args[4]).data
        there = builder.gep(context.make_array(total)(context, builder, args[0]).data, [args[1]])
        there = builder.bitcast(there, wide.as_pointer())
        here = builder.gep(array.data, [args[1]])
        length = builder.extract_value(array.shape, 1)
        some = cgutils.alloca_once_value(builder, ir.Constant(narrow, None))
        with cgutils.for_range_slice(builder, args[5], args[6], ir.Constant(args[5].type, 1), inc=True) as (k, _):
            row = builder.mul(builder.load(builder.gep(listed, [k])), length)
            row = builder.bitcast(builder.gep(here, [row]), narrow.as_pointer())
            builder.store(builder.add(builder.load(some), builder.load(row, align=W.dtype.bitwidth // 8)), some)
        change = builder.load(some)
        if W.dtype.bitwidth < total.dtype.bitwidth:
            change = builder.sext(change, wide)
        factors = everywhere(builder, args[2], wide)
        align = total.dtype.bitwidth // 8
        builder.store(builder.add(builder.load(there, align=align), builder.mul(change, factors)), there, align=align)
        return context.get_dummy_value()

    return types.void(total, types.int64, total.dtype, W, rows, types.int64, types.int64), codegen


_add_sums: Any = extending.intrinsic(_add_sums_code)


@part
def add_rows(total: Any, factor: int, W: Any, rows: Any, count: int, most: int) -> None:
    """Add factor * (the sum of the rows rows[:count] of W) to a total, `most` rows at a time, which must fit into W's type.

    More at a time means fewer passes through the total, but less of each row at a time, and far from the last.
    """
    first = 0
    while first < count:  # a range would divide by `most`
        last = min(first + most, count)
        for start in range(0, len(total), WIDTH):
            _add_sums(total, start, total.dtype.type(factor), W, rows, first, last)
        first = last


@part
def copy(into: Any, row: Any) -> None:
    """Copy the beginning of a row; numba's own assignment is not vectorised."""
    for i in range(len(into)):
        into[i] = row[i]


@part
def add_multiple(total: Any, factor: int, row: Any) -> None:
    """Add a multiple of a row to the first numbers of a sum, within its type, so that this is vectorised."""
    kind = total.dtype.type
    factor = kind(factor)
    for i in range(len(row)):
        total[i] = kind(total[i] + kind(factor * row[i]))


def _transpose_block_code(typingctx: Any, W: Any, there: Any, out: Any, here: Any) -> Any:
    """Write a square block of W, which begins at the flat position `there`, transposed to `out`, where it begins at `here`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = ir.VectorType(context.get_data_type(W.dtype), _BLOCK)

        def pointers(kind: Any, value: Any, position: Any) -> Any:
            array = context.make_array(kind)(context, builder, value)
            length = builder.extract_value(array.shape, 1)
            for row in range(_BLOCK):
                step = builder.add(position, builder.mul(length, ir.Constant(length.type, row)))
                yield builder.bitcast(builder.gep(array.data, [step]), lanes.as_pointer())

        align = W.dtype.bitwidth // 8
        block = [builder.load(row, align=align) for row in pointers(W, args[0], args[1])]
        for bit in (8, 4, 2, 1):  # swap this bit of the row's number with that of the column's
            for a in (row for row in range(_BLOCK) if not row & bit):
                x, y = block[a], block[a | bit]
                upper = [c if not c & bit else _BLOCK + (c ^ bit) for c in range(_BLOCK)]
                lower = [_BLOCK + c if c & bit else c | bit for c in range(_BLOCK)]
                order = ir.VectorType(ir.IntType(32), _BLOCK)
                block[a] = builder.shuffle_vector(x, y, ir.Constant(order, upper))
                block[a | bit] = builder.shuffle_vector(x, y, ir.Constant(order, lower))
        for row, lane in zip(pointers(out, args[2], args[3]), block, strict=True):
            builder.store(lane, row, align=align)
        return context.get_dummy_value()

    return types.void(W, types.int64, out, types.int64), codegen


_transpose_block: Any = extending.intrinsic(_transpose_block_code)


@part
def transpose(W: Any, first: int, last: int, out: Any) -> None:
    """Write the columns W[:, first:last] to the first rows of `out`; both are contiguous."""
    n_rows, n_columns = len(W), last - first
    whole_rows, whole_columns = n_rows - n_rows % _BLOCK, n_columns - n_columns % _BLOCK
    for j in range(0, whole_columns, _BLOCK):
        for i in range(0, whole_rows, _BLOCK):
            _transpose_block(W, i * W.shape[1] + first + j, out, j * out.shape[1] + i)
    for i in range(n_rows):
        for j in range(whole_columns if i < whole_rows else 0, n_columns):
            out[j, i] = W[i, first + j]


def _not_below_code(typingctx: Any, row: Any, start: Any, threshold: Any) -> Any:
    """Bit k says whether row[start + k] >= threshold, for WIDTH numbers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = ir.VectorType(context.get_data_type(row.dtype), WIDTH)
        here = builder.gep(context.make_array(row)(context, builder, args[0]).data, [args[1]])
        some = builder.load(builder.bitcast(here, lanes.as_pointer()), align=row.dtype.bitwidth // 8)
        compare = builder.fcmp_ordered if isinstance(row.dtype, types.Float) else builder.icmp_signed
        return builder.bitcast(compare(">=", some, everywhere(builder, args[2], lanes)), ir.IntType(WIDTH))

    return types.uint64(row, types.int64, row.dtype), codegen


not_below: Any = extending.intrinsic(_not_below_code)


@part
def list_not_below(row: Any, threshold: Any, places: Any) -> int:
    """List where numbers are at least the threshold; returns how many there are."""
    count = 0
    for first in range(0, len(row), WIDTH):
        mask = not_below(row, first, threshold)
        while mask:
            places[count] = first + lowest_bit(mask)
            mask &= mask - np.uint64(1)
            count += 1
    return count


def _violations_code(typingctx: Any, h: Any, z: Any, least: Any, most: Any, start: Any) -> Any:
    """Bit k says whether a field h[start + k] is at most `most` though its target z is 1, or at least `least` though it is 0."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes, marks = ir.VectorType(context.get_data_type(h.dtype), WIDTH), ir.VectorType(ir.IntType(8), WIDTH)

        def some(kind: Any, value: Any, lanes: Any) -> Any:
            here = builder.gep(context.make_array(kind)(context, builder, value).data, [args[4]])
            return builder.load(builder.bitcast(here, lanes.as_pointer()), align=kind.dtype.bitwidth // 8)

        fields, wanted = some(h, args[0], lanes), some(z, args[1], marks)
        low = builder.icmp_signed("<=", fields, everywhere(builder, args[3], lanes))
        high = builder.icmp_signed(">=", fields, everywhere(builder, args[2], lanes))
        wrong = builder.select(builder.icmp_signed("!=", wanted, ir.Constant(marks, None)), low, high)
        return builder.bitcast(wrong, ir.IntType(WIDTH))

    return types.uint64(h, z, h.dtype, h.dtype, types.int64), codegen


_violations: Any = extending.intrinsic(_violations_code)


@part
def next_violation(h: Any, z: Any, margin: int, active_margin: int, start: int) -> Any:
    """The first i >= start whose field violates its margin, eq. (5), or len(h); the padding of h is below all margins."""
    kind = h.dtype.type
    least, most = kind(-margin), kind(active_margin)
    if start >= len(h):
        return len(h)
    base = start & ~(WIDTH - 1)
    mask = np.uint64(_violations(h, z, least, most, base) & (_EVERY << np.uint64(start - base)))
    while mask == 0:
        base += WIDTH
        if base >= len(h):
            return len(h)
        mask = _violations(h, z, least, most, base)
    return base + lowest_bit(mask)
