"""Vector operations for flips: the same flips of inputs move the fields of SLOTS rows, so that here the slots are the lanes.

What belongs together is a column: the numbers of all slots, side by side in arrays of shape (columns, SLOTS).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

from seqattractor.learning.exact.lanes import INDEX, SLOTS, Code

_REALS, _WHOLES = ir.VectorType(ir.DoubleType(), SLOTS), ir.VectorType(INDEX, SLOTS)


def _column(code: Code, array: int, position: Any) -> tuple[Any, int]:
    """A pointer to the SLOTS numbers from a flat position on, and its alignment."""
    dtype = code.kinds[array].dtype
    kind = ir.VectorType(code.context.get_data_type(dtype), SLOTS)
    return code.builder.bitcast(code.at(array, position), kind.as_pointer()), dtype.bitwidth // 8


def _load(code: Code, array: int, position: Any) -> Any:
    """SLOTS numbers of an array from a flat position on."""
    pointer, align = _column(code, array, position)
    return code.builder.load(pointer, align=align)


def _store(code: Code, value: Any, array: int, position: Any) -> None:
    """Put SLOTS numbers into an array from a flat position on."""
    pointer, align = _column(code, array, position)
    code.builder.store(value, pointer, align=align)


def _turn_code(typingctx: Any, rows: Any, stride: Any, first: Any, columns: Any) -> Any:
    """Write rows[:, first:first + SLOTS] of an array (SLOTS, stride) to columns[first:first + SLOTS]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        starts = [builder.add(args[2], builder.mul(args[1], ir.Constant(INDEX, slot))) for slot in range(SLOTS)]
        vectors = [_load(code, 0, start) for start in starts]
        half = SLOTS // 2
        picks = [[k // 2 + SLOTS * (k % 2) + start for k in range(SLOTS)] for start in (0, half)]
        masks = [ir.Constant(ir.VectorType(ir.IntType(32), SLOTS), pick) for pick in picks]
        for _ in range(SLOTS.bit_length() - 1):  # a perfect shuffle, log2(SLOTS) times, turns rows into columns
            pairs = zip(vectors[:half], vectors[half:], strict=True)
            vectors = [builder.shuffle_vector(one, other, mask) for one, other in pairs for mask in masks]
        for k, vector in enumerate(vectors):
            _store(code, vector, 3, builder.mul(builder.add(args[2], ir.Constant(INDEX, k)), ir.Constant(INDEX, SLOTS)))
        return context.get_dummy_value()

    return types.void(rows, types.int64, types.int64, columns), codegen


turn: Any = extending.intrinsic(_turn_code)


def _add_column_code(typingctx: Any, total: Any, t: Any, columns: Any, i: Any, minus: Any) -> Any:
    """Add columns[i] to total[t], or subtract it if `minus`; total is of int64 or float64."""
    whole = isinstance(columns.dtype, types.Integer)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        width = ir.Constant(INDEX, SLOTS)
        there = builder.mul(args[1], width)
        old, change = _load(code, 0, there), _load(code, 2, builder.mul(args[3], width))
        if whole and columns.dtype.bitwidth < INDEX.width:
            change = builder.sext(change, _WHOLES)
        less, more = (builder.sub, builder.add) if whole else (builder.fsub, builder.fadd)
        _store(code, builder.select(args[4], less(old, change), more(old, change)), 0, there)
        return context.get_dummy_value()

    return types.void(total, types.int64, columns, types.int64, types.boolean), codegen


add_column: Any = extending.intrinsic(_add_column_code)


def _bounds_code(typingctx: Any, flip: Any, h0: Any, t: Any, kappa: Any, limit: Any, bounds: Any) -> Any:
    """Put `kernels.bound_of` of targets and start fields h0[t] into bounds; False if rounding may have a say in one of them.

    The targets are given by flip[t], which is 0 or -1; h0, limit and bounds are of float64.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)

        def all_slots(value: Any) -> Any:
            one = builder.insert_element(ir.Constant(_REALS, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
            return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), SLOTS), [0] * SLOTS))

        def number(value: float) -> Any:
            return ir.Constant(_REALS, [value] * SLOTS)

        def function(name: str) -> Any:
            untyped: Any = cgutils
            return untyped.get_or_insert_function(builder.module, ir.FunctionType(_REALS, [_REALS]), f"{name}.v{SLOTS}f64")

        place = builder.mul(args[2], ir.Constant(INDEX, SLOTS))
        start, minus = _load(code, 1, place), builder.sitofp(_load(code, 0, place), _REALS)
        targets = builder.fadd(number(1.0), builder.fadd(minus, minus))
        margin, limits = all_slots(args[3]), all_slots(args[4])
        exact = builder.fsub(margin, builder.fmul(targets, start))
        k = builder.call(function("llvm.floor"), [exact])
        rest = builder.fsub(exact, k)
        clear = builder.and_(builder.fcmp_ordered(">", rest, number(1e-6)), builder.fcmp_ordered("<", rest, number(1 - 1e-6)))
        size = builder.fadd(builder.call(function("llvm.fabs"), [start]), margin)
        sure = builder.and_(
            builder.or_(clear, builder.fcmp_ordered("==", start, number(0.0))), builder.fcmp_ordered("<", size, number(2.0**30))
        )
        lowest = builder.fsub(number(-1.0), limits)
        k = builder.select(builder.fcmp_ordered("<", k, lowest), lowest, k)
        k = builder.select(builder.fcmp_ordered(">", k, limits), limits, k)
        flipped = builder.fsub(number(-1.0), k)  # k ^ -1
        k = builder.select(builder.fcmp_ordered("<", minus, number(0.0)), flipped, k)
        _store(code, k, 5, ir.Constant(INDEX, 0))
        bits = builder.bitcast(sure, ir.IntType(SLOTS))
        return builder.icmp_unsigned("==", bits, ir.Constant(ir.IntType(SLOTS), 2**SLOTS - 1))

    return types.boolean(flip, h0, types.int64, types.float64, types.float64, bounds), codegen


bounds_of: Any = extending.intrinsic(_bounds_code)


def _add_columns_code(typingctx: Any, total: Any, columns: Any, chosen: Any, start: Any, stop: Any, times: Any) -> Any:
    """Add `times` the sum of columns[i] over i in chosen[start:stop] to total (SLOTS,), all of int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)

        def goes_on(values: list[Any]) -> Any:
            return builder.icmp_signed("<", values[0], args[4])

        def step(values: list[Any]) -> list[Any]:
            i = builder.sext(builder.load(code.at(2, values[0])), INDEX)
            column = _load(code, 1, builder.mul(i, ir.Constant(INDEX, SLOTS)))
            return [builder.add(values[0], ir.Constant(INDEX, 1)), builder.add(values[1], column)]

        _, found = code.loop([args[3], ir.Constant(_WHOLES, None)], goes_on, step)
        one = builder.insert_element(ir.Constant(_WHOLES, ir.Undefined), args[5], ir.Constant(ir.IntType(32), 0))
        factor = builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), SLOTS), [0] * SLOTS))
        place = ir.Constant(INDEX, 0)
        _store(code, builder.add(_load(code, 0, place), builder.mul(found, factor)), 0, place)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(total, columns, chosen, whole, whole, whole), codegen


add_columns: Any = extending.intrinsic(_add_columns_code)
