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


def _all_slots(builder: Any, kind: Any, value: Any) -> Any:
    """A number in every lane."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), SLOTS), [0] * SLOTS))


def _bounds(code: Code, start: Any, minus: Any, kappa: Any, limit: Any) -> tuple[Any, Any]:
    """Code of `kernels.bound_of` for start fields and targets, which are -1 where `minus` is; and where rounding has no say."""
    builder = code.builder

    def number(value: float) -> Any:
        return ir.Constant(_REALS, [value] * SLOTS)

    def function(name: str) -> Any:
        untyped: Any = cgutils
        return untyped.get_or_insert_function(builder.module, ir.FunctionType(_REALS, [_REALS]), f"{name}.v{SLOTS}f64")

    margin, limits = _all_slots(builder, _REALS, kappa), builder.sitofp(limit, _REALS)
    exact = builder.fsub(margin, builder.select(minus, builder.fneg(start), start))
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
    return builder.fptosi(builder.select(minus, flipped, k), _WHOLES), sure


def _flip_code(
    typingctx: Any, f: Any, bound: Any, flip: Any, g: Any, columns: Any, v0: Any, flipped: Any, group: Any, kappa: Any, limit: Any
) -> Any:
    """Let a group of flips (t, start, middle, end), see `tape.Tape`, move what all slots have at t.

    f[:, t] moves by twice the learned weights `columns` of the inputs that flip, g[t] by the start weights `v0`, which are
    doubled already, and bound[:, t] is that of g[t]. f and bound are of shape (SLOTS, padded n); targets are given by flip[t],
    which is 0 or -1. Returns the bits of slots with |f| > limit, and above them those of slots whose bound rounding may have a
    say in; it has to be asked for again.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        t, start, middle, end = (builder.extract_value(args[7], k) for k in range(4))
        place = builder.mul(t, ir.Constant(INDEX, SLOTS))
        none, limits = ir.Constant(_WHOLES, None), _all_slots(builder, _WHOLES, args[9])

        def goes_on(values: list[Any]) -> Any:
            return builder.icmp_signed("<", values[0], end)

        def add(values: list[Any]) -> list[Any]:
            k, learned, started = values
            i = builder.mul(builder.sext(builder.load(code.at(6, k)), INDEX), ir.Constant(INDEX, SLOTS))
            minus = _all_slots(builder, _WHOLES, builder.sext(builder.icmp_signed(">=", k, middle), INDEX))
            weights = _load(code, 4, i)
            weights = builder.sext(weights, _WHOLES) if weights.type != _WHOLES else weights
            sign_bits = builder.and_(minus, ir.Constant(_WHOLES, [-(2**63)] * SLOTS))
            real = builder.bitcast(builder.xor(builder.bitcast(_load(code, 5, i), _WHOLES), sign_bits), _REALS)
            learned = builder.add(learned, builder.sub(builder.xor(weights, minus), minus))
            return [builder.add(k, ir.Constant(INDEX, 1)), learned, builder.fadd(started, real)]

        _, learned, started = code.loop([start, none, _load(code, 3, place)], goes_on, add)
        _store(code, started, 3, place)
        targets = _load(code, 2, place)
        bounds, sure = _bounds(code, started, builder.icmp_signed("<", targets, ir.Constant(targets.type, None)), args[8], limits)
        _, stride = code.shape(0)
        here = [builder.add(t, builder.mul(stride, ir.Constant(INDEX, slot))) for slot in range(SLOTS)]
        numbers = ir.Constant(ir.VectorType(context.get_data_type(f.dtype), SLOTS), ir.Undefined)
        lanes = [ir.Constant(ir.IntType(32), slot) for slot in range(SLOTS)]
        for lane, at in zip(lanes, here, strict=True):
            numbers = builder.insert_element(numbers, builder.load(code.at(0, at)), lane)
        narrow = f.dtype.bitwidth < INDEX.width
        values = builder.sext(numbers, _WHOLES) if narrow else numbers
        values = builder.add(values, builder.add(learned, learned))
        size = builder.select(builder.icmp_signed("<", values, none), builder.sub(none, values), values)
        lost = builder.bitcast(builder.icmp_signed(">", size, limits), ir.IntType(SLOTS))
        unsure = builder.not_(builder.bitcast(sure, ir.IntType(SLOTS)))
        for array, found in ((0, values), (1, bounds)):
            found = builder.trunc(found, numbers.type) if narrow else found
            for lane, at in zip(lanes, here, strict=True):
                builder.store(builder.extract_element(found, lane), code.at(array, at))
        return builder.or_(builder.zext(lost, INDEX), builder.shl(builder.zext(unsure, INDEX), ir.Constant(INDEX, SLOTS)))

    whole = types.int64
    return whole(f, bound, flip, g, columns, v0, flipped, types.UniTuple(whole, 4), types.float64, whole), codegen


flip_column: Any = extending.intrinsic(_flip_code)


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
        factor = _all_slots(builder, _WHOLES, args[5])
        place = ir.Constant(INDEX, 0)
        _store(code, builder.add(_load(code, 0, place), builder.mul(found, factor)), 0, place)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(total, columns, chosen, whole, whole, whole), codegen


add_columns: Any = extending.intrinsic(_add_columns_code)
