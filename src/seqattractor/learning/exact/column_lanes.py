"""Deciding about LANES rows at once: a lane is a row here, not a transition.

`lanes.decide` makes a step for each update of a row, which is best where there are few. Here transitions are dealt with one after
another, each for all rows, with the same operations whether a row is updated or not: nothing waits for the row with most updates,
and no jump depends on the data. Where rows have more than a few updates among LANES transitions, that takes half the time.

What belongs to transitions is given in columns, of shape (padded n, rows). Fields are turned, since updates are added to rows.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types

from seqattractor.learning.exact.lanes import AHEAD, INDEX, LANES, Code

_CHUNK = 4  # transitions whose fields and updates are held in registers


def _turned(code: Code, rows: list[Any]) -> list[Any]:
    """The columns of a matrix of LANES rows: swap halves of it, halves of the halves, and so on."""
    size = LANES // 2
    while size:
        for i in (i for i in range(LANES) if not i & size):
            upper, lower = rows[i], rows[i + size]
            rows[i] = code.shuffle(upper, lower, [lane + (LANES - size if lane & size else 0) for lane in range(LANES)])
            rows[i + size] = code.shuffle(upper, lower, [lane + (LANES if lane & size else size) for lane in range(LANES)])
        size //= 2
    return rows


def _decide_columns_code(
    typingctx: Any,
    f: Any,
    slot: Any,
    base: Any,
    ahead: Any,
    minus: Any,
    bound: Any,
    edge: Any,
    turned: Any,
    updated: Any,
    wrong: Any,
) -> Any:
    """Find the updates of LANES rows from `slot` on at the LANES transitions from `base` on; the same as `lanes.decide`.

    f is of shape (slots, padded n), bound and edge of shape (padded n, slots). `minus` has a bit in place of each number:
    whether the target is -1. What an update adds to later fields is in every second row of `ahead` (see `lanes.set_ahead`).
    `turned` is room for (LANES, LANES) fields. Updates are the bits of updated[row], and wrong codes those of wrong[row].
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        dtype, nothing = f.dtype, ir.Constant(code.vector(f.dtype), None)
        ones, minus_ones = (ir.Constant(code.vector(dtype), [value] * LANES) for value in (1, -1))
        no_bits = ir.Constant(code.vector(types.uint32), None)

        def number(value: int) -> Any:
            return ir.Constant(INDEX, value)

        slots, padded = code.shape(0)
        first = builder.mul(args[2], number(AHEAD))
        column = builder.add(builder.mul(args[2], slots), args[1])

        def place(t: Any) -> Any:
            return builder.mul(t, number(LANES))

        def effect(update: Any, t: Any, later: Any) -> Any:
            there = builder.add(builder.add(first, place(builder.add(t, t))), later)
            return builder.mul(update, code.all_lanes(builder.load(code.at(3, there)), dtype))

        def chunk(values: list[Any]) -> list[Any]:
            """Decide about _CHUNK transitions, then add the updates to the fields of those after them."""
            begin, bit, done, now_wrong = values
            ts = [builder.add(begin, number(i)) for i in range(_CHUNK)]
            fields = [code.load(7, place(t), dtype) for t in ts]
            updates: list[Any] = []
            for i, t in enumerate(ts):
                here = builder.add(column, builder.mul(t, slots))
                word = builder.load(code.at(4, builder.udiv(here, number(LANES))))
                minus_here = builder.bitcast(word, ir.VectorType(ir.IntType(1), LANES))
                targets = builder.select(minus_here, minus_ones, ones)
                violated = builder.xor(builder.icmp_signed("<=", fields[i], code.load(5, here, dtype)), minus_here)
                bits = code.all_lanes(bit, types.uint32)
                done = builder.or_(done, builder.select(violated, bits, no_bits))
                unlike = builder.xor(builder.icmp_signed("<=", fields[i], code.load(6, here, dtype)), minus_here)
                now_wrong = builder.or_(now_wrong, builder.select(builder.and_(unlike, violated), bits, no_bits))
                bit = builder.shl(bit, ir.Constant(bit.type, 1))
                updates.append(builder.select(violated, targets, nothing))
                for j in range(i + 1, _CHUNK):
                    fields[j] = builder.add(fields[j], effect(updates[i], t, ts[j]))

            def add(later: list[Any]) -> list[Any]:
                value = code.load(7, place(later[0]), dtype)
                for t, update in zip(ts, updates, strict=True):
                    value = builder.add(value, effect(update, t, later[0]))
                code.store(value, 7, place(later[0]))
                return [builder.add(later[0], number(1))]

            end = builder.add(begin, number(_CHUNK))
            code.loop([end], lambda later: builder.icmp_signed("<", later[0], number(LANES)), add)
            return [end, bit, done, now_wrong]

        starts = [builder.add(builder.mul(builder.add(args[1], number(row)), padded), args[2]) for row in range(LANES)]
        rows = [code.load(0, start, dtype) for start in starts]
        for t, fields in enumerate(_turned(code, rows)):
            code.store(fields, 7, number(t * LANES))
        begin = [number(0), ir.Constant(ir.IntType(LANES), 1), no_bits, no_bits]
        _, _, done, now_wrong = code.loop(begin, lambda values: builder.icmp_signed("<", values[0], number(LANES)), chunk)
        code.store(done, 8, number(0))
        code.store(now_wrong, 9, number(0))
        return context.get_dummy_value()

    whole = types.int64
    return types.void(f, whole, whole, ahead, minus, bound, edge, turned, updated, wrong), codegen


decide_columns: Any = extending.intrinsic(_decide_columns_code)
