"""Deciding about ROWS rows at once: a lane is a row here, not a transition.

`lanes.decide` makes a step for each update of a row, which is best where there are few. Here transitions are dealt with one after
another, each for all rows, with the same operations whether a row is updated or not: nothing waits for the row with most updates,
and no jump depends on the data. Where rows have more than a few updates among LANES transitions, that takes half the time.

What belongs to transitions is given in columns, of shape (padded n, ROWS). Fields are turned, since updates are added to rows.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types

from seqattractor.learning.compiled import part
from seqattractor.learning.exact.lanes import INDEX, LANES, Code

ROWS = 64  # two vectors of narrow numbers: while one waits for what was decided, the other goes on
_CHUNK = 4  # transitions whose fields and updates are held in registers
_BYTE = ir.IntType(8)


class _Columns(Code):
    """Code whose vectors are of ROWS numbers, one of each row."""

    def vector(self, dtype: Any) -> Any:
        return ir.VectorType(self.context.get_data_type(dtype), ROWS)

    def everywhere(self, value: Any, vector: Any) -> Any:
        """A number in all lanes of a vector."""
        one = self.builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None))

    def number(self, array: int, position: Any) -> Any:
        """A number of an array in all lanes, where the array has it twice: two narrow ones are loaded faster than one."""
        width, pointer = self.kinds[array].dtype.bitwidth, self.at(array, self.builder.add(position, position))
        vector = self.vector(self.kinds[array].dtype)
        if width > 16:
            return self.everywhere(self.builder.load(pointer), vector)
        pairs = ir.VectorType(ir.IntType(2 * width), ROWS // 2)
        pair = self.builder.load(self.builder.bitcast(pointer, pairs.element.as_pointer()), align=width // 8)
        return self.builder.bitcast(self.everywhere(pair, pairs), vector)


@part
def set_twice(twice: Any, K: Any) -> None:
    """Write what an update at t adds to the fields of its LANES transitions to the row t of `twice`, each number two times."""
    for t in range(K.shape[0]):
        base = t // LANES * LANES
        for lane in range(LANES):
            twice[t, 2 * lane] = twice[t, 2 * lane + 1] = K[t, base + lane]


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
    base: Any,
    twice: Any,
    minus: Any,
    bound: Any,
    edge: Any,
    turned: Any,
    found: Any,
    updated: Any,
    wrong: Any,
) -> Any:
    """Find the updates of ROWS rows at the LANES transitions from `base` on; the same as `lanes.decide`.

    f is of shape (ROWS, padded n), bound and edge of shape (padded n, ROWS). `minus` has a word of bits for each transition:
    whether targets are -1. What an update adds to later fields is in the rows of `twice` (see `set_twice`), of the type of f.
    `turned` is room for (LANES, ROWS) fields, `found` for (2, LANES / _CHUNK, ROWS) bytes. Updates are the bits of updated[row],
    and wrong codes those of wrong[row].
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code, dtype = _Columns(context, builder, signature, args), f.dtype
        by_row = Code(context, builder, signature, args)
        fields_type, bytes_type = code.vector(dtype), ir.VectorType(_BYTE, ROWS)
        nothing, no_bits = ir.Constant(fields_type, None), ir.Constant(bytes_type, None)
        ones, minus_ones = (ir.Constant(fields_type, [value] * ROWS) for value in (1, -1))
        chunks = LANES // _CHUNK

        def number(value: int) -> Any:
            return ir.Constant(INDEX, value)

        def place(t: Any) -> Any:
            return builder.mul(t, number(ROWS))

        def effect(update: Any, t: Any, later: Any) -> Any:
            there = builder.add(builder.mul(builder.add(args[1], t), number(LANES)), later)
            return builder.mul(update, code.number(2, there))

        def chunk(values: list[Any]) -> list[Any]:
            """Decide about _CHUNK transitions, then add the updates to the fields of those after them."""
            begin, k = values
            ts = [builder.add(begin, number(i)) for i in range(_CHUNK)]
            fields = [code.load(6, place(t), dtype) for t in ts]
            updates: list[Any] = []
            done = now_wrong = no_bits
            for i, t in enumerate(ts):
                here = builder.add(args[1], t)
                word = builder.load(code.at(3, here))
                minus_here = builder.bitcast(word, ir.VectorType(ir.IntType(1), ROWS))
                targets = builder.select(minus_here, minus_ones, ones)
                violated = builder.xor(builder.icmp_signed("<=", fields[i], code.load(4, place(here), dtype)), minus_here)
                unlike = builder.xor(builder.icmp_signed("<=", fields[i], code.load(5, place(here), dtype)), minus_here)
                bit = ir.Constant(bytes_type, [1 << i] * ROWS)
                done = builder.select(violated, builder.add(done, bit), done)
                now_wrong = builder.select(builder.and_(unlike, violated), builder.add(now_wrong, bit), now_wrong)
                updates.append(builder.select(violated, targets, nothing))
                for j in range(i + 1, _CHUNK):
                    fields[j] = builder.add(fields[j], effect(updates[i], t, ts[j]))
            code.store(done, 7, place(k))
            code.store(now_wrong, 7, place(builder.add(k, number(chunks))))

            def add(later: list[Any]) -> list[Any]:
                value = code.load(6, place(later[0]), dtype)
                for t, update in zip(ts, updates, strict=True):
                    value = builder.add(value, effect(update, t, later[0]))
                code.store(value, 6, place(later[0]))
                return [builder.add(later[0], number(1))]

            end = builder.add(begin, number(_CHUNK))
            code.loop([end], lambda later: builder.icmp_signed("<", later[0], number(LANES)), add)
            return [end, builder.add(k, number(1))]

        _, padded = code.shape(0)
        for first in range(0, ROWS, LANES):
            starts = [builder.add(builder.mul(number(row), padded), args[1]) for row in range(first, first + LANES)]
            for t, fields in enumerate(_turned(by_row, [by_row.load(0, start, dtype) for start in starts])):
                by_row.store(fields, 6, number(t * ROWS + first))
        code.loop([number(0), number(0)], lambda values: builder.icmp_signed("<", values[0], number(LANES)), chunk)
        for array, first in ((8, 0), (9, chunks)):
            bits = ir.Constant(code.vector(types.uint32), None)
            for k in range(chunks):
                some = builder.zext(code.load(7, number((first + k) * ROWS), types.uint8), bits.type)
                bits = builder.or_(bits, builder.shl(some, ir.Constant(bits.type, [k * _CHUNK] * ROWS)))
            code.store(bits, array, number(0))
        return context.get_dummy_value()

    return types.void(f, types.int64, twice, minus, bound, edge, turned, found, updated, wrong), codegen


decide_columns: Any = extending.intrinsic(_decide_columns_code)
