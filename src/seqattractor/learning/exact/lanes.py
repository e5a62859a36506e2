"""Vector operations on rows of integers that the kernels are made of: LANES numbers at once.

Numba makes a loop a vector operation only where it sees that it may, and never turns a comparison into a mask of bits. What the
time is spent in is therefore written for LLVM, which knows the vectors of each processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types

from seqattractor.learning.compiled import part

LANES = 32  # rows are padded to a multiple of this, so that no loop has a scalar rest


def _violations_code(typingctx: Any, f: Any, flip: Any, bound: Any, start: Any) -> Any:
    """Bit k says whether (f ^ flip)[start + k] <= bound[start + k], for the LANES fields from start on."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = ir.VectorType(context.get_data_type(f.dtype), LANES)
        loaded = []
        for kind, value in zip(signature.args[:3], args[:3], strict=True):
            first = context.make_array(kind)(context, builder, value).data
            here = builder.bitcast(builder.gep(first, [args[3]]), lanes.as_pointer())
            loaded.append(builder.load(here, align=f.dtype.bitwidth // 8))
        hit = builder.icmp_signed("<=", builder.xor(loaded[0], loaded[1]), loaded[2])
        return builder.bitcast(hit, ir.IntType(LANES))

    return types.uint32(f, flip, bound, types.int64), codegen


_violations: Any = extending.intrinsic(_violations_code)


def _lowest_bit_code(typingctx: Any, mask: Any) -> Any:
    """Position of the lowest bit that is set."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(builder.cttz(args[0], ir.Constant(ir.IntType(1), 1)), ir.IntType(64))

    return types.int64(types.uint32), codegen


_lowest_bit: Any = extending.intrinsic(_lowest_bit_code)


@part
def next_violation(f: Any, flip: Any, bound: Any, start: int) -> Any:
    """The first t >= start whose margin is violated, or len(f)."""
    if start >= f.shape[0]:
        return f.shape[0]
    base = start & ~(LANES - 1)
    mask = np.uint32(_violations(f, flip, bound, base) & np.uint32(0xFFFFFFFF << (start - base)))
    while mask == 0:
        base += LANES
        if base >= f.shape[0]:
            return f.shape[0]
        mask = _violations(f, flip, bound, base)
    return base + _lowest_bit(mask)


def _add_lanes_code(typingctx: Any, f: Any, start: Any, rows: Any, offset: Any, sign: Any) -> Any:
    """Add sign * rows.flat[offset:offset + LANES] to f[start:start + LANES]; sign is 0 for plus and -1 for minus."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, bits = context.get_data_type(f.dtype), f.dtype.bitwidth
        lanes = ir.VectorType(kind, LANES)
        there = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        here = builder.gep(context.make_array(signature.args[2])(context, builder, args[2]).data, [args[3]])
        there = builder.bitcast(there, lanes.as_pointer())
        narrow = ir.VectorType(context.get_data_type(rows.dtype), LANES)
        change = builder.load(builder.bitcast(here, narrow.as_pointer()), align=rows.dtype.bitwidth // 8)
        if rows.dtype.bitwidth < bits:
            change = builder.sext(change, lanes)
        one = builder.insert_element(
            ir.Constant(lanes, ir.Undefined), builder.trunc(args[4], kind), ir.Constant(ir.IntType(32), 0)
        )
        minus = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
        change = builder.sub(builder.xor(change, minus), minus)  # the two's complement of change if minus is -1
        builder.store(builder.add(builder.load(there, align=bits // 8), change), there, align=bits // 8)
        return context.get_dummy_value()

    return types.void(f, types.int64, rows, types.int64, types.int64), codegen


add_lanes: Any = extending.intrinsic(_add_lanes_code)


def _add_codes_code(typingctx: Any, c: Any, start: Any, codes: Any, word: Any, sign: Any) -> Any:
    """Add z * y to c[start:start + LANES]: y is +1 (bit 0) or -1 (bit 1) in codes.flat[word], sign 0 or -1 for z = +-1."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind, bits = context.get_data_type(c.dtype), c.dtype.bitwidth
        lanes = ir.VectorType(kind, LANES)
        there = builder.gep(context.make_array(signature.args[0])(context, builder, args[0]).data, [args[1]])
        there = builder.bitcast(there, lanes.as_pointer())
        here = builder.gep(context.make_array(signature.args[2])(context, builder, args[2]).data, [args[3]])
        minus = builder.xor(builder.load(here), builder.trunc(args[4], ir.IntType(LANES)))
        minus = builder.sext(builder.bitcast(minus, ir.VectorType(ir.IntType(1), LANES)), lanes)
        change = builder.or_(minus, ir.Constant(lanes, [1] * LANES))
        builder.store(builder.add(builder.load(there, align=bits // 8), change), there, align=bits // 8)
        return context.get_dummy_value()

    return types.void(c, types.int64, codes, types.int64, types.int64), codegen


_add_codes: Any = extending.intrinsic(_add_codes_code)


@part
def add_signed(f: Any, rows: Any, offset: int, z: int) -> None:
    """Add z * (the row at the flat position `offset` of `rows`) to f, without a branch on the unforeseeable sign z."""
    sign = np.int64(z) >> 1
    for s in range(0, f.shape[0], LANES):
        add_lanes(f, s, rows, offset + s, sign)


@part
def add_weights(c: Any, codes: Any, word: int, z: int) -> None:
    """Add z * y to the integer weights c, with the code y in the bits from codes.flat[word] on."""
    sign = np.int64(z) >> 1
    for s in range(0, c.shape[0], LANES):
        _add_codes(c, s, codes, word + s // LANES, sign)


@part
def room_for(f: Any, limit: int, step: int) -> Any:
    """How many updates of at most `step` each keep every |f| <= limit."""
    highest = lowest = f[0]
    for s in range(f.shape[0]):
        highest = max(highest, f[s])
        lowest = min(lowest, f[s])
    return (limit - max(np.int64(highest), -np.int64(lowest))) // step
