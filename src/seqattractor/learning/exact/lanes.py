"""Vector operations on rows of integers that the kernels are made of: LANES numbers at once, and SLOTS rows side by side.

Numba makes a loop a vector operation only where it sees that it may, and never turns a comparison into a mask of bits. What the
time is spent in is therefore written for LLVM, which knows the vectors of each processor.

Learning a row is a chain: an update moves the fields that tell where the next one is. LANES transitions at a time it is done in
two steps. `decide` finds the updates among these transitions from their own fields alone, held in registers, for SLOTS rows in
turns: while one waits for its next violation, the others go on. Then `add_updates` adds them to the whole row, where nothing
waits for anything. Positions are flat ones: array.flat[position].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types

from seqattractor.learning.compiled import part

LANES = 32  # rows are padded to a multiple of this, so that no loop has a scalar rest
SLOTS = 8  # rows in turns: as many as hide the waiting of one
AHEAD = 2 * (LANES + 1)  # rows of a block of `set_ahead`
_TOGETHER = 8  # vectors of a row that are held in registers while updates are added to them

_BIT, _MASK, INDEX = ir.IntType(1), ir.IntType(LANES), ir.IntType(64)


class Code:
    """The LLVM code of one operation: an argument is known by its number, an array is used at flat positions."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any) -> None:
        self.context, self.builder, self.kinds, self.args = context, builder, signature.args, args

    def vector(self, dtype: Any) -> Any:
        """The type of LANES numbers."""
        return ir.VectorType(self.context.get_data_type(dtype), LANES)

    def shape(self, array: int) -> Any:
        """The lengths of an array along its axes."""
        whole = self.context.make_array(self.kinds[array])(self.context, self.builder, self.args[array])
        return [self.builder.extract_value(whole.shape, axis) for axis in range(self.kinds[array].ndim)]

    def at(self, array: int, position: Any) -> Any:
        """A pointer to an element of an array."""
        first = self.context.make_array(self.kinds[array])(self.context, self.builder, self.args[array]).data
        return self.builder.gep(first, [position])

    def load(self, array: int, position: Any, dtype: Any) -> Any:
        """LANES numbers of an array, as numbers of a type that may be wider."""
        own = self.kinds[array].dtype
        pointer = self.builder.bitcast(self.at(array, position), self.vector(own).as_pointer())
        loaded = self.builder.load(pointer, align=own.bitwidth // 8)
        return self.builder.sext(loaded, self.vector(dtype)) if own.bitwidth < dtype.bitwidth else loaded

    def store(self, value: Any, array: int, position: Any) -> None:
        """Put LANES numbers into an array of the same type."""
        own = self.kinds[array].dtype
        pointer = self.builder.bitcast(self.at(array, position), self.vector(own).as_pointer())
        self.builder.store(value, pointer, align=own.bitwidth // 8)

    def all_lanes(self, value: Any, dtype: Any) -> Any:
        """A number in every lane."""
        kind = self.context.get_data_type(dtype)
        value = self.builder.trunc(value, kind) if value.type.width > kind.width else self.builder.sext(value, kind)
        one = self.builder.insert_element(ir.Constant(self.vector(dtype), ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
        return self.shuffle(one, one, [0] * LANES)

    def shuffle(self, left: Any, right: Any, lanes: list[int]) -> Any:
        """Lanes of two vectors in some order; those of the right one have numbers from LANES on."""
        return self.builder.shuffle_vector(left, right, ir.Constant(ir.VectorType(ir.IntType(32), LANES), lanes))

    def bits(self, relation: str, left: Any, right: Any) -> Any:
        """Bit k says whether the relation holds in lane k."""
        return self.builder.bitcast(self.builder.icmp_signed(relation, left, right), _MASK)

    def lowest(self, mask: Any) -> Any:
        """Position of the lowest bit that is set; 0 if none is."""
        place = self.builder.cttz(mask, ir.Constant(_BIT, 0))
        return self.builder.zext(self.builder.and_(place, ir.Constant(_MASK, LANES - 1)), INDEX)

    def loop(self, start: list[Any], goes_on: Callable[[list[Any]], Any], step: Callable[[list[Any]], list[Any]]) -> list[Any]:
        """While some values go on, replace them by the next ones; returns the last."""
        before, body = self.builder.block, self.builder.append_basic_block("step")
        after = self.builder.append_basic_block("done")
        self.builder.cbranch(goes_on(start), body, after)
        self.builder.position_at_end(body)
        values = [self.builder.phi(value.type) for value in start]
        following = step(values)
        for value, first, next_one in zip(values, start, following, strict=True):
            value.add_incoming(first, before)
            value.add_incoming(next_one, self.builder.block)
        end = self.builder.block
        self.builder.cbranch(goes_on(following), body, after)
        self.builder.position_at_end(after)
        last = [self.builder.phi(value.type) for value in start]
        for value, first, next_one in zip(last, start, following, strict=True):
            value.add_incoming(first, before)
            value.add_incoming(next_one, end)
        return last


def _decide_code(
    typingctx: Any,
    f: Any,
    flip: Any,
    bound: Any,
    edge: Any,
    base: Any,
    stride: Any,
    ahead: Any,
    first: Any,
    updated: Any,
    wrong: Any,
    first_slot: Any,
) -> Any:
    """Find the updates of SLOTS rows at the LANES transitions from `base` on, as bits in updated[first_slot + slot].

    f, flip, bound and edge are of shape (SLOTS, stride). A margin is violated if (f <= bound) != (flip < 0); what an update then
    adds to the fields of later ones is in the rows of `ahead` from ahead.flat[first] on (see `set_ahead`). Each step is one
    update of each row that has one left. No field is moved by its own update or a later one, so that in the end all are as they
    were when their turn came, and one more test of them tells which were updated. The bits of wrong[slot] are those of them with
    (f <= edge) != (flip < 0); edge and wrong may be None. The fields in memory stay as they are: should they leave their type
    here, `room_for` will say so before they are changed.
    """
    with_codes = edge is not types.none

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        one, none = ir.Constant(_MASK, 1), ir.Constant(_MASK, 0)
        here = [builder.add(args[4], builder.mul(args[5], ir.Constant(INDEX, slot))) for slot in range(SLOTS)]
        zero = ir.Constant(code.vector(f.dtype), None)
        minus = [code.bits("<", code.load(1, p, f.dtype), zero) for p in here]
        minus_or_none = [builder.zext(bits, INDEX) for bits in minus]  # with a 0 for LANES, which stands for no transition
        bounds = [code.load(2, p, f.dtype) for p in here]

        def unlike(fields: Any, limits: Any, slot: int) -> Any:
            return builder.xor(code.bits("<=", fields, limits), minus[slot])

        def some_left(values: list[Any]) -> Any:
            left = none
            for violated in values[1::2]:
                left = builder.or_(left, violated)
            return builder.icmp_unsigned("!=", left, none)

        def update(values: list[Any]) -> list[Any]:
            following = []
            for slot in range(SLOTS):
                fields, violated = values[2 * slot : 2 * slot + 2]
                t = builder.zext(builder.cttz(violated, ir.Constant(_BIT, 0)), INDEX)  # LANES if none is violated
                is_minus = builder.and_(builder.lshr(minus_or_none[slot], t), ir.Constant(INDEX, 1))
                row = builder.add(builder.shl(t, ir.Constant(INDEX, 1)), is_minus)
                there = builder.add(args[7], builder.mul(row, ir.Constant(INDEX, LANES)))
                fields = builder.add(fields, code.load(6, there, f.dtype))
                later = builder.not_(builder.xor(violated, builder.sub(violated, one)))
                following += [fields, builder.and_(unlike(fields, bounds[slot], slot), later)]
            return following

        start = []
        for slot, p in enumerate(here):
            fields = code.load(0, p, f.dtype)
            start += [fields, unlike(fields, bounds[slot], slot)]
        last = code.loop(start, some_left, update)
        for slot, p in enumerate(here):
            place, fields = builder.add(args[10], ir.Constant(INDEX, slot)), last[2 * slot]
            done = unlike(fields, bounds[slot], slot)
            builder.store(done, code.at(8, place))
            if with_codes:
                builder.store(builder.and_(unlike(fields, code.load(3, p, f.dtype), slot), done), code.at(9, place))
        return context.get_dummy_value()

    whole = types.int64
    return types.void(f, flip, bound, edge, whole, whole, ahead, whole, updated, wrong, whole), codegen


decide: Any = extending.intrinsic(_decide_code)


def _for_each_update(code: Code, updates: Any, start: list[Any], change: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """Let each bit t of `updates` change some values; returns them."""

    def step(values: list[Any]) -> list[Any]:
        left = code.builder.and_(values[0], code.builder.sub(values[0], ir.Constant(_MASK, 1)))
        return [left, *change(code.lowest(values[0]), values[1:])]

    def some_left(values: list[Any]) -> Any:
        return code.builder.icmp_unsigned("!=", values[0], ir.Constant(_MASK, 0))

    return code.loop([updates, *start], some_left, step)[1:]


def _in_pieces(code: Code, vectors: Any, work: Callable[[Any, int], None]) -> None:
    """Let `work` deal with vectors of a row from some place on: _TOGETHER at a time, and with the rest at once."""
    builder, whole = code.builder, ir.Constant(INDEX, _TOGETHER)

    def goes_on(values: list[Any]) -> Any:
        return builder.icmp_signed("<=", builder.add(values[0], whole), vectors)

    def step(values: list[Any]) -> list[Any]:
        work(values[0], _TOGETHER)
        return [builder.add(values[0], whole)]

    done = code.loop([ir.Constant(INDEX, 0)], goes_on, step)[0]
    after = builder.append_basic_block("after")
    jump = builder.switch(builder.sub(vectors, done), after)
    for number in range(1, _TOGETHER):
        block = builder.append_basic_block(f"rest{number}")
        jump.add_case(ir.Constant(INDEX, number), block)
        builder.position_at_end(block)
        work(done, number)
        builder.branch(after)
    builder.position_at_end(after)


def _add_rows(code: Code) -> None:
    """Code of `add_updates`."""
    builder, (_, _, slot, base, stride, _, row, updates, *_) = code.builder, code.args
    dtype = code.kinds[0].dtype
    start = builder.mul(slot, stride)
    first = builder.add(start, base)

    def work(vector: Any, number: int) -> None:
        piece = builder.mul(vector, ir.Constant(INDEX, LANES))
        places = [builder.add(piece, ir.Constant(INDEX, LANES * k)) for k in range(number)]

        def change(t: Any, values: list[Any]) -> list[Any]:
            sign = builder.load(code.at(1, builder.add(first, t)))
            signs = code.all_lanes(sign, dtype)
            there = builder.add(row, builder.mul(t, stride))
            rows = [code.load(5, builder.add(there, place), dtype) for place in places]
            added = [builder.add(value, builder.xor(one, signs)) for value, one in zip(values[1:], rows, strict=True)]
            return [builder.sub(values[0], sign), *added]

        here = [builder.add(start, place) for place in places]
        none = ir.Constant(code.context.get_data_type(dtype), 0)
        subtracted, *rows = _for_each_update(code, updates, [none, *(code.load(0, p, dtype) for p in here)], change)
        for p, value in zip(here, rows, strict=True):  # -K is (K ^ -1) + 1, and the ones are added at the end
            code.store(builder.add(value, code.all_lanes(subtracted, dtype)), 0, p)

    _in_pieces(code, builder.udiv(stride, ir.Constant(INDEX, LANES)), work)


def _add_updates_code(
    typingctx: Any, f: Any, flip: Any, slot: Any, base: Any, stride: Any, K: Any, row: Any, updates: Any
) -> Any:
    """Add the updates at base + t, for each bit t, to the row `slot` of f: +-K, whose row of `base` starts at K.flat[row].

    It is minus where flip is -1; f and flip are of shape (SLOTS, stride), and so long are the rows of K.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _add_rows(Code(context, builder, signature, args))
        return context.get_dummy_value()

    whole = types.int64
    return types.void(f, flip, whole, whole, whole, K, whole, types.uint32), codegen


add_updates: Any = extending.intrinsic(_add_updates_code)


def _add_if_room_code(
    typingctx: Any, f: Any, flip: Any, slot: Any, base: Any, stride: Any, K: Any, row: Any, updates: Any, room: Any
) -> Any:
    """`add_updates` if room[slot] is at least their number, which is then taken off it; returns whether it is."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        place = code.at(8, args[2])
        left = builder.sub(builder.load(place), builder.zext(builder.ctpop(args[7]), INDEX))
        fits = builder.icmp_signed(">=", left, ir.Constant(INDEX, 0))
        with builder.if_then(fits, likely=True):
            builder.store(left, place)
            _add_rows(code)
        return fits

    whole = types.int64
    return types.boolean(f, flip, whole, whole, whole, K, whole, types.uint32, room), codegen


add_if_room: Any = extending.intrinsic(_add_if_room_code)


def _add_weights_code(
    typingctx: Any, c: Any, flip: Any, slot: Any, base: Any, stride: Any, codes: Any, word: Any, words: Any, updates: Any
) -> Any:
    """Add the same updates to the integer weights in the row `slot` of c: +-y, with the code y of `base` at codes.flat[word].

    Codes are bits, `words` words long: y is +1 (bit 0) or -1 (bit 1). c is of shape (SLOTS, LANES * words).
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        lanes = code.vector(c.dtype)
        first = builder.add(builder.mul(args[2], args[4]), args[3])
        total = code.all_lanes(builder.ctpop(args[8]), c.dtype)

        def work(vector: Any, number: int) -> None:
            def change(t: Any, values: list[Any]) -> list[Any]:
                sign = builder.load(code.at(1, builder.add(first, t)))
                sign = builder.trunc(sign, _MASK) if sign.type.width > LANES else builder.sext(sign, _MASK)
                there = builder.add(builder.add(args[6], vector), builder.mul(t, args[7]))
                following = []
                for k, value in enumerate(values):
                    bits = builder.load(code.at(5, builder.add(there, ir.Constant(INDEX, k))))
                    minus = builder.bitcast(builder.xor(bits, sign), ir.VectorType(_BIT, LANES))
                    following.append(builder.add(value, builder.sext(minus, lanes)))
                return following

            start = builder.mul(builder.add(builder.mul(args[2], args[7]), vector), ir.Constant(INDEX, LANES))
            for k, minus in enumerate(_for_each_update(code, args[8], [ir.Constant(lanes, None)] * number, change)):
                here = builder.add(start, ir.Constant(INDEX, LANES * k))
                change_of_c = builder.add(total, builder.add(minus, minus))  # as many ones, less 2 for each that is minus
                code.store(builder.add(code.load(0, here, c.dtype), change_of_c), 0, here)

        _in_pieces(code, args[7], work)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(c, flip, whole, whole, whole, codes, whole, whole, types.uint32), codegen


add_weights: Any = extending.intrinsic(_add_weights_code)


def _count_code(typingctx: Any, counts: Any, start: Any, updates: Any) -> Any:
    """Add bit k of updates to counts.flat[start + k]."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature, args)
        ones = builder.zext(builder.bitcast(args[2], ir.VectorType(_BIT, LANES)), code.vector(counts.dtype))
        code.store(builder.add(code.load(0, args[1], counts.dtype), ones), 0, args[1])
        return context.get_dummy_value()

    return types.void(counts, types.int64, types.uint32), codegen


count: Any = extending.intrinsic(_count_code)


@part
def without_lowest_bit(mask: int) -> Any:
    """The mask without its lowest bit."""
    return np.uint32(mask & (mask - np.uint32(1)))


@part
def set_ahead(ahead: Any, K: Any) -> None:
    """Write what updates add to the fields of later transitions among their LANES, shape (padded n / LANES, AHEAD, LANES).

    Row 2 t is K[t] after the diagonal, row 2 t + 1 its negative, for a target of -1, with zeros up to the diagonal. The last two
    rows are zero: nothing is added where no update is left.
    """
    for t in range(K.shape[0]):
        block, row = t // LANES, t % LANES
        for lane in range(LANES):  # all of them, so that this is a few vector operations
            entry = K[t, block * LANES + lane] if lane > row else 0
            ahead[block, 2 * row, lane], ahead[block, 2 * row + 1, lane] = entry, -entry


@part
def room_for(f: Any, limit: int, step: int) -> Any:
    """How many updates of at most `step` each keep every |f| <= limit."""
    highest = lowest = f[0]
    for s in range(f.shape[0]):
        highest = max(highest, f[s])
        lowest = min(lowest, f[s])
    return (limit - max(np.int64(highest), -np.int64(lowest))) // step
