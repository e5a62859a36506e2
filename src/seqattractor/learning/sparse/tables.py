"""Learning with noise while targets are fixed, sixteen hidden neurons at a time: exactly what `rule.present` does.

Where targets are not chosen, a hidden neuron depends on no other, and not on V: whether a transition gets other targets was
decided when it was last presented. So the noise of a whole epoch is drawn first, then hidden neurons learn the epoch, block after
block, and leave a tape of their codes, from which V learns.

A block is small enough to stay in the fastest cache, with more than its weights: units are taken in groups of four, and for each
group there is a table of what its weights add to the field for each of the sixteen patterns that the group can have. So a field
is a sum of N / 4 numbers, and a flipped unit costs nothing more.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types

from seqattractor.learning.bits import lowest_bit
from seqattractor.learning.compiled import inlined, kernel, part
from seqattractor.learning.sparse.arguments import GROUP, LANES, PATTERNS
from seqattractor.learning.sparse.choice import redraw
from seqattractor.learning.sparse.flips import draw_flips
from seqattractor.learning.sparse.rows import borrowed, cgutils, copy, everywhere
from seqattractor.learning.sparse.visible import learn_visible


@kernel
def learn_by_tables(
    first: int, last: int, transitions: Any, tables: Any, visible: Any, choice: Any, now: Any, rng: Any
) -> tuple[int, int]:
    """Learn a stretch of an epoch in which no targets are chosen; returns sum mu and sum nu."""
    inputs, targets, drive, order = borrowed(transitions)
    tables, visible, choice = borrowed((tables, visible, choice))
    for t in range(first, last):
        n_flipped = draw_flips(now.noise, order, rng)
        if choice.wrong[t] > now.redraw_above:
            redraw(inputs[t], drive[t], t, choice, now, rng)
            _want(choice.targets[t], tables.wanted[:, t])
        _present(inputs[t], tables.clean[t], order, n_flipped, tables.noisy[t], tables.codes[t])
    hidden_errors = visible_errors = 0
    for block in range(len(tables.wanted)):
        hidden_errors += _learn_block(first, last, block, tables, now)
    for t in range(first, last if now.visible_step else first):
        visible_errors += learn_visible(t, _list_active(tables.tape[:, t], visible.active), targets[t], visible, choice, now)
    return hidden_errors, visible_errors


@part
def _want(z: Any, wanted: Any) -> None:
    """Set the bits of targets z, (M,), in the words of all blocks."""
    for block in range(len(wanted)):
        bits = 0
        for lane in range(min(LANES, len(z) - LANES * block)):
            bits |= z[LANES * block + lane] << lane
        wanted[block] = bits


@part
def _present(x: Any, clean: Any, order: Any, n_flipped: int, noisy: Any, codes: Any) -> None:
    """Set `noisy` to x with its flipped units, and `codes` to the patterns of its groups; `clean` are those of x."""
    copy(noisy, x)
    copy(codes, clean)
    for k in range(n_flipped):
        unit = order[k]
        noisy[unit] = -noisy[unit]
        codes[unit // GROUP] ^= 1 << (unit % GROUP)


@part
def _list_active(tape: Any, active: Any) -> int:
    """List the hidden neurons whose bits are set in the words of all blocks; returns how many."""
    n_active = 0
    for block in range(len(tape)):
        bits = types.uint64(tape[block])
        while bits:
            active[n_active] = LANES * block + lowest_bit(bits)
            n_active += 1
            bits &= bits - types.uint64(1)
    return n_active


@inlined
def _learn_block(first: int, last: int, block: int, tables: Any, now: Any) -> int:
    """Let a block of hidden neurons learn the patterns of a stretch, eqs. (5)-(7), and write the tape; returns sum mu."""
    U, table, codes, h = tables.U, tables.table, tables.codes, tables.h
    wanted, tape = tables.wanted[block], tables.tape[block]
    kind, n_in, neuron, errors = U.dtype.type, U.shape[1] - 1, LANES * block, 0
    length = n_in + now.bias * now.bias  # |[x; b]|^2
    least, most = kind(-now.margin), kind(now.active_margin)
    _fill(U, neuron, now.bias, least - kind(1), tables.weights, table)
    for t in range(first, last):
        z = wanted[t]
        found = _look(table, codes, t, h, z, least, most)
        active, violations = found & types.uint64(2**LANES - 1), found >> types.uint64(LANES)
        if now.hidden_step:
            while violations:  # eq. (6)
                lane = lowest_bit(violations)
                violations &= violations - types.uint64(1)
                errors += 1
                is_wanted = (z >> lane) & 1
                change = now.hidden_step * now.active_weight if is_wanted else -now.hidden_step
                active &= ~(types.uint64(1) << types.uint64(lane))
                active |= types.uint64(h[lane] + change * length >= 0) << types.uint64(lane)
                _update(U[neuron + lane], lane, change, now.bias, tables.noisy[t], codes[t], tables)
        tape[t] = active
    return errors


@part
def _fill(U: Any, first: int, bias: int, silent: int, weights: Any, table: Any) -> None:
    """Fill the table of the neurons from `first` on; lanes without a neuron get a field that is `silent`."""
    n_in, constant = U.shape[1] - 1, len(table) - 1
    for lane in range(LANES):
        if first + lane < len(U):
            row = U[first + lane]
            for j in range(n_in):
                weights[j, lane] = row[j]
            table[constant, lane] = bias * row[n_in]
        else:
            for j in range(n_in):
                weights[j, lane] = 0
            table[constant, lane] = silent
    for group in range(len(weights) // GROUP):
        _fill_group(weights, group, table)


def _fill_group_code(typingctx: Any, weights: Any, group: Any, table: Any) -> Any:
    """Fill the rows of a group of units, with weights (units, LANES): the sum of all weights, each with the sign of its unit."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes, align = ir.VectorType(context.get_data_type(table.dtype), LANES), table.dtype.bitwidth // 8

        def rows(kind: Any, value: Any, count: int) -> Any:
            first = builder.mul(args[1], ir.Constant(args[1].type, count * LANES))
            data = context.make_array(kind)(context, builder, value).data
            start = builder.bitcast(builder.gep(data, [first]), lanes.as_pointer())
            return [builder.gep(start, [ir.Constant(args[1].type, k)]) for k in range(count)]

        of_units = [builder.load(row, align=align) for row in rows(weights, args[0], GROUP)]
        sums = [ir.Constant(lanes, None)]
        for weight in of_units:
            sums[0] = builder.sub(sums[0], weight)
        for pattern in range(1, PATTERNS):
            highest = pattern.bit_length() - 1
            weight = of_units[highest]
            sums.append(builder.add(sums[pattern - (1 << highest)], builder.add(weight, weight)))
        for total, row in zip(sums, rows(table, args[2], PATTERNS), strict=True):
            builder.store(total, row, align=align)
        return context.get_dummy_value()

    return types.void(weights, types.int64, table), codegen


_fill_group: Any = extending.intrinsic(_fill_group_code)


@part
def _update(weights: Any, lane: int, change: int, bias: int, x: Any, codes: Any, tables: Any) -> None:
    """Let one neuron learn from the pattern x, whose groups have the patterns `codes`."""
    table, agreement = tables.table, tables.agreement
    kind, n_in = table.dtype.type, len(x)
    step = kind(change)
    for j in range(n_in):
        weights[j] = kind(weights[j] + kind(step * x[j]))
    weights[n_in] += step * bias
    missing = GROUP * len(codes) - n_in  # in the last group; there they seem to agree
    table[len(table) - 1, lane] += step * (bias * bias - missing)
    for group in range(len(codes)):
        agree = agreement[codes[group]]
        for pattern in range(PATTERNS):
            place = types.uint64(PATTERNS * group + pattern)
            table[place, lane] = kind(table[place, lane] + kind(step * agree[pattern]))


def _look_code(typingctx: Any, table: Any, codes: Any, t: Any, h: Any, wanted: Any, least: Any, most: Any) -> Any:
    """Set h to the fields for codes[t]; returns bits: the lower LANES where they are >= 0, the next where they violate a margin.

    Fields of neurons with a bit in `wanted` should be above `most`, the others below `least`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        number, index = context.get_data_type(table.dtype), ir.IntType(64)
        lanes, flags, align = ir.VectorType(number, LANES), ir.VectorType(ir.IntType(1), LANES), table.dtype.bitwidth // 8

        def row(number_of_row: Any) -> Any:
            position = builder.mul(number_of_row, ir.Constant(index, LANES))
            return builder.load(builder.bitcast(builder.gep(rows.data, [position]), lanes.as_pointer()), align=align)

        rows, coded = context.make_array(table)(context, builder, args[0]), context.make_array(codes)(context, builder, args[1])
        n_groups = builder.extract_value(coded.shape, 1)
        own = builder.gep(coded.data, [builder.mul(args[2], n_groups)])
        total = cgutils.alloca_once_value(builder, row(builder.mul(n_groups, ir.Constant(index, PATTERNS))))
        with cgutils.for_range(builder, n_groups) as loop:
            code = builder.zext(builder.load(builder.gep(own, [loop.index])), index)
            place = builder.add(builder.mul(loop.index, ir.Constant(index, PATTERNS)), code)
            builder.store(builder.add(builder.load(total), row(place)), total)
        fields = builder.load(total)
        there = builder.bitcast(context.make_array(h)(context, builder, args[3]).data, lanes.as_pointer())
        builder.store(fields, there, align=align)
        z = builder.bitcast(builder.trunc(args[4], ir.IntType(LANES)), flags)
        low = builder.icmp_signed("<=", fields, everywhere(builder, args[6], lanes))
        high = builder.icmp_signed(">=", fields, everywhere(builder, args[5], lanes))
        active = builder.icmp_signed(">=", fields, ir.Constant(lanes, None))
        word = ir.IntType(64)
        wrong = builder.zext(builder.bitcast(builder.select(z, low, high), ir.IntType(LANES)), word)
        right = builder.zext(builder.bitcast(active, ir.IntType(LANES)), word)
        return builder.or_(right, builder.shl(wrong, ir.Constant(word, LANES)))

    return types.uint64(table, codes, types.int64, h, types.uint64, table.dtype, table.dtype), codegen


_look: Any = extending.intrinsic(_look_code)
