"""Vector operations of the weights form, written for LLVM as those of `lanes` are.

Rows of LANES numbers, one for each neuron of a block, are added up, combined with signs, and added to chosen rows.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils as _cgutils

from seqattractor.learning.exact.lanes import LANES

GROUP = 4
"""Transitions that are learned with one pass over the weights."""
KINDS = 2**GROUP
"""What the states of a unit in these transitions can be; bit s of a kind is set where the state is +1 in transition s."""

_WORD = ir.IntType(64)
_generate: Any = _cgutils  # numba has no types


class _Rows:
    """An array (rows, LANES) inside generated code: whole rows are loaded and stored."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        self.builder, self.align = builder, kind.dtype.bitwidth // 8
        self.whole, self.bits = isinstance(kind.dtype, types.Integer), kind.dtype.bitwidth
        self.lanes = ir.VectorType(context.get_data_type(kind.dtype), LANES)
        self.first = context.make_array(kind)(context, builder, array).data

    def _place(self, number: Any) -> Any:
        """Where a row begins."""
        number = _WORD(number) if isinstance(number, int) else number
        start = self.builder.gep(self.first, [self.builder.mul(number, _WORD(LANES))])
        return self.builder.bitcast(start, self.lanes.as_pointer())

    def load(self, number: Any) -> Any:
        return self.builder.load(self._place(number), align=self.align)

    def store(self, value: Any, number: Any) -> None:
        self.builder.store(value, self._place(number), align=self.align)

    def add(self, a: Any, b: Any) -> Any:
        return self.builder.add(a, b) if self.whole else self.builder.fadd(a, b)

    def subtract(self, a: Any, b: Any) -> Any:
        return self.builder.sub(a, b) if self.whole else self.builder.fsub(a, b)

    def as_floats(self, value: Any) -> Any:
        """The same numbers in float64."""
        return self.builder.sitofp(value, ir.VectorType(ir.DoubleType(), LANES)) if self.whole else value

    def widened(self, value: Any, narrow: _Rows) -> Any:
        """Numbers of another array as numbers of this one."""
        return self.builder.sext(value, self.lanes) if self.bits > narrow.bits else value

    def repeated(self, number: Any) -> Any:
        """One number in all lanes."""
        one = self.builder.insert_element(ir.Constant(self.lanes, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _chosen(context: Any, builder: Any, kind: Any, units: Any, place: Any) -> Any:
    """The number at a flat place of the list of units."""
    return builder.zext(builder.load(builder.gep(context.make_array(kind)(context, builder, units).data, [place])), _WORD)


def _sum_rows_code(typingctx: Any, sums: Any, p: Any, C: Any, units: Any, begin: Any, end: Any, at_once: Any) -> Any:
    """Write into sums[p] the sum of the rows C[units.flat[begin:end]], of at most `at_once` at a time in the type of C."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        into, rows = (_Rows(context, builder, signature.args[k], args[k]) for k in (0, 2))
        total, some = _generate.alloca_once(builder, into.lanes), _generate.alloca_once(builder, rows.lanes)
        builder.store(ir.Constant(into.lanes, None), total)
        with _generate.for_range_slice(builder, args[4], args[5], args[6]) as (here, _):
            builder.store(ir.Constant(rows.lanes, None), some)
            beyond = builder.add(here, args[6])
            stop = builder.select(builder.icmp_signed("<", beyond, args[5]), beyond, args[5])
            with _generate.for_range_slice(builder, here, stop, _WORD(1)) as (k, _):
                row = rows.load(_chosen(context, builder, signature.args[3], args[3], k))
                builder.store(rows.add(builder.load(some), row), some)
            builder.store(into.add(builder.load(total), into.widened(builder.load(some), rows)), total)
        into.store(builder.load(total), args[1])
        return context.get_dummy_value()

    return types.void(sums, types.int64, C, units, types.int64, types.int64, types.int64), codegen


sum_rows: Any = extending.intrinsic(_sum_rows_code)


def _add_to_rows_code(typingctx: Any, C: Any, units: Any, begin: Any, end: Any, learned: Any, p: Any) -> Any:
    """Add learned[p] to each of the rows C[units.flat[begin:end]]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows, changes = (_Rows(context, builder, signature.args[k], args[k]) for k in (0, 4))
        change = changes.load(args[5])
        with _generate.for_range_slice(builder, args[2], args[3], _WORD(1)) as (k, _):
            number = _chosen(context, builder, signature.args[1], args[1], k)
            rows.store(rows.add(rows.load(number), change), number)
        return context.get_dummy_value()

    return types.void(C, units, types.int64, types.int64, learned, types.int64), codegen


add_to_rows: Any = extending.intrinsic(_add_to_rows_code)


def _fields_of_sums_code(typingctx: Any, sums: Any, fields: Any, theta: Any) -> Any:
    """From the sums over each kind (KINDS, LANES) to the fields, less theta, of a group of transitions (GROUP, LANES).

    The sums are used up: kinds that differ in a transition alone are put together once its field is known.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds, into = (_Rows(context, builder, signature.args[k], args[k]) for k in (0, 1))
        field = _generate.alloca_once(builder, into.lanes)
        for s in range(GROUP):
            builder.store(into.subtract(ir.Constant(into.lanes, None), into.repeated(args[2])), field)
            with _generate.for_range_slice(builder, _WORD(0), _WORD(KINDS >> s + 1), _WORD(1)) as (p, _):
                off = kinds.load(builder.mul(p, _WORD(2)))
                on = kinds.load(builder.add(builder.mul(p, _WORD(2)), _WORD(1)))
                builder.store(into.add(builder.load(field), into.subtract(on, off)), field)
                kinds.store(into.add(on, off), p)
            into.store(builder.load(field), s)
        return context.get_dummy_value()

    return types.void(sums, fields, fields.dtype), codegen


fields_of_sums: Any = extending.intrinsic(_fields_of_sums_code)


def _learned_by_kind_code(typingctx: Any, learned: Any, change: Any) -> Any:
    """Write what each kind of unit learns (KINDS, LANES) where the transitions of a group make the changes (GROUP, LANES)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        into, changes = (_Rows(context, builder, signature.args[k], args[k]) for k in (0, 1))
        into.store(ir.Constant(into.lanes, None), 0)
        for s in range(GROUP):
            step = changes.load(s)
            with _generate.for_range_slice(builder, _WORD(0), _WORD(2**s), _WORD(1)) as (p, _):
                total = into.load(p)
                into.store(into.add(total, step), builder.add(p, _WORD(2**s)))
                into.store(into.subtract(total, step), p)
        return context.get_dummy_value()

    return types.void(learned, change), codegen


learned_by_kind: Any = extending.intrinsic(_learned_by_kind_code)


def _add_multiple_code(typingctx: Any, fields: Any, t: Any, change: Any, s: Any, overlap: Any) -> Any:
    """Add overlap * change[s] to fields[t]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        into, changes = (_Rows(context, builder, signature.args[k], args[k]) for k in (0, 2))
        step = builder.mul(into.widened(changes.load(args[3]), changes), into.repeated(args[4]))
        into.store(into.add(into.load(args[1]), step), args[1])
        return context.get_dummy_value()

    return types.void(fields, types.int64, change, types.int64, fields.dtype), codegen


add_multiple: Any = extending.intrinsic(_add_multiple_code)


def _scale_fields_code(typingctx: Any, start: Any, coarse: Any, unit: Any, theta: Any) -> Any:
    """Write coarse * unit - theta into start, for all transitions of a group."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        into, wholes = (_Rows(context, builder, signature.args[k], args[k]) for k in (0, 1))
        unit, theta = into.repeated(args[2]), into.repeated(args[3])
        for s in range(GROUP):
            into.store(builder.fsub(builder.fmul(wholes.as_floats(wholes.load(s)), unit), theta), s)
        return context.get_dummy_value()

    return types.void(start, coarse, types.float64, types.float64), codegen


scale_fields: Any = extending.intrinsic(_scale_fields_code)


def _margin(z: _Rows, start: _Rows, fields: _Rows, s: Any, kappa: Any) -> Any:
    """What is missing to kappa in all lanes, kappa - z (start[s] + fields[s])."""
    builder = start.builder
    h = builder.fadd(start.load(s), fields.as_floats(fields.load(s)))
    return builder.fsub(start.repeated(kappa), builder.fmul(z.as_floats(z.load(0)), h))


def _unsure_lanes_code(typingctx: Any, guard: Any, z: Any, start: Any, fields: Any, s: Any, kappa: Any) -> Any:
    """Bit i says whether the margin of neuron i comes as near to kappa as guard[0, i], so that a coarse start cannot decide."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        near, targets, starts, wholes = (_Rows(context, builder, signature.args[k], args[k]) for k in range(4))
        margin, most = _margin(targets, starts, wholes, args[4], args[5]), near.load(0)
        above = builder.fcmp_ordered("<=", margin, most)
        below = builder.fcmp_ordered(">=", margin, builder.fsub(ir.Constant(near.lanes, None), most))
        return builder.bitcast(builder.and_(above, below), ir.IntType(LANES))

    return types.uint32(guard, z, start, fields, types.int64, types.float64), codegen


unsure_lanes: Any = extending.intrinsic(_unsure_lanes_code)


def _test_lanes_code(typingctx: Any, change: Any, z: Any, start: Any, fields: Any, s: Any, kappa: Any) -> Any:
    """Write into change[s] where neurons learn, mu z of eq. (5) or nu x' of eq. (8); bit i says whether neuron i does."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        into, targets, starts, wholes = (_Rows(context, builder, signature.args[k], args[k]) for k in range(4))
        target, margin = targets.load(0), _margin(targets, starts, wholes, args[4], args[5])
        learns = builder.fcmp_ordered(">=", margin, ir.Constant(starts.lanes, None))
        learns = builder.and_(learns, builder.icmp_signed("!=", target, ir.Constant(targets.lanes, None)))
        into.store(builder.select(learns, into.widened(target, targets), ir.Constant(into.lanes, None)), args[4])
        return builder.bitcast(learns, ir.IntType(LANES))

    return types.uint32(change, z, start, fields, types.int64, types.float64), codegen


test_lanes: Any = extending.intrinsic(_test_lanes_code)


def _states_of_lanes_code(typingctx: Any, y: Any, s: Any, start: Any, fields: Any) -> Any:
    """Write into y[0] the states +-1 of the neurons at transition s, eq. (7)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        into, starts, wholes = (_Rows(context, builder, signature.args[k], args[k]) for k in (0, 2, 3))
        h = builder.fadd(starts.load(args[1]), wholes.as_floats(wholes.load(args[1])))
        on = builder.fcmp_ordered(">=", h, ir.Constant(starts.lanes, None))
        into.store(builder.select(on, ir.Constant(into.lanes, [1] * LANES), ir.Constant(into.lanes, [-1] * LANES)), 0)
        return context.get_dummy_value()

    return types.void(y, types.int64, start, fields), codegen


states_of_lanes: Any = extending.intrinsic(_states_of_lanes_code)
