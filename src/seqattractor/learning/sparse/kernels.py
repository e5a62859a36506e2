"""Compiled kernels of the sparse rule: a stretch of an epoch on plain integer arrays, exactly what `rule.present` does.

`learn_on_fields` carries the fields of the hidden neurons at the n stored patterns along (the dual form). An update at
transition t adds a multiple of a row of products of the noisy x(t) with all stored patterns, bias included: a row of the Gram
matrix, less what the flipped units contributed. The field of a noisy pattern is that of the clean one, less twice the weights
of its few flipped units. So a presentation costs (flipped units) x M instead of N x M, and each update n + N.

Updates go along the rows of fields and of U, but a presentation reads columns of both: a field of every neuron, and the weights
that all neurons have for a flipped unit. Stepping through memory in columns costs far more than the arithmetic. So both are
transposed once in a while, and what was updated since is added to what they say: each update adds its step times the product
of the pattern it was made for with the one that is presented. A product of two patterns of +-1 is N less twice the number of
units in which they differ, which is counted in bits, 64 units at a time.

With noise and fixed targets `learning.sparse.tables` is quicker still, where N is not large.

`learn_on_weights` computes every field from the weights. It is simpler, and quicker for a stream of patterns without noise that
come but once; and it is what the gain of the other is measured against.

Weights and fields are int32 or int64 arrays; the caller has made sure that no number of the coming epoch leaves its type.
V is transposed, since a presentation reads and writes the rows of its few active neurons; it is Q, too, since both get the same
updates (`tests/test_sparse.py`). `learning.sparse.arguments` says what the arrays are. `transitions` are the inputs (n, N_in),
the targets (n, N), the fixed drive (n, M), and the units in the order 0, 1, ..., (N_in,), which gets shuffled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.bits import count_differences
from seqattractor.learning.compiled import inlined, kernel, part
from seqattractor.learning.sparse.arguments import AHEAD, PENDING
from seqattractor.learning.sparse.choice import choose, follow
from seqattractor.learning.sparse.flips import draw_flips, split_by_sign
from seqattractor.learning.sparse.rows import add_multiple, add_rows, borrowed, copy, list_not_below, next_violation, transpose
from seqattractor.learning.sparse.visible import learn_visible

_WEIGHTS, _SIGNS = 16, 32  # rows that are added at a time: of weights, and of +-1 as int8


@kernel
def learn_on_weights(
    first: int, last: int, transitions: Any, U: Any, negative: Any, h: Any, visible: Any, choice: Any, now: Any, rng: Any
) -> tuple[int, int]:
    """Learn with fields from the weights, U (M, N_in + 1); `negative`, (N_in,), is room. Returns sum mu and sum nu."""
    inputs, targets, drive, order = borrowed(transitions)
    U, negative, h, visible, choice = borrowed((U, negative, h, visible, choice))
    n_in = inputs.shape[1]
    length = n_in + now.bias * now.bias  # |[x; b]|^2
    hidden_errors = visible_errors = 0
    for t in range(first, last):
        n_flipped = draw_flips(now.noise, order, rng)
        choose(inputs[t], drive[t], t, choice, now, rng)
        _signs(inputs[t], negative)
        for j in range(n_flipped):
            negative[order[j]] = ~negative[order[j]]
        _project(U, negative, h)
        for i in range(len(U)):
            h[i] += now.bias * U[i, n_in]
        if now.hidden_step:
            z = choice.targets[t]
            i = next_violation(h, z, now.margin, now.active_margin, 0)
            while i < len(h):  # eq. (6)
                hidden_errors += 1
                change = _change(z[i], now)
                for j in range(n_in):
                    U[i, j] += change * (2 * negative[j] + 1)
                U[i, n_in] += change * now.bias
                h[i] += change * length
                i = next_violation(h, z, now.margin, now.active_margin, i + 1)
        if now.visible_step:
            visible_errors += _learn_visible(t, h, targets[t], visible, choice, now)
    return hidden_errors, visible_errors


@kernel
def learn_on_fields(
    first: int, last: int, transitions: Any, carried: Any, h: Any, visible: Any, choice: Any, now: Any, rng: Any
) -> tuple[int, int]:
    """Learn with fields that are carried along; returns sum mu and sum nu."""
    inputs, targets, drive, order = borrowed(transitions)
    carried, h, visible, choice = borrowed((carried, h, visible, choice))
    plus, minus, n_in = carried.plus, carried.minus, inputs.shape[1]
    length = n_in + now.bias * now.bias  # |[x; b]|^2
    n_patterns = n_updates = 0
    start = end = first
    hidden_errors = visible_errors = 0
    for t in range(first, last):
        if t == end or n_updates > PENDING:
            start, end, n_patterns, n_updates = t, min(t + AHEAD, last), 0, 0
            transpose(carried.fields, start, end, carried.ahead)
            if now.noise:
                transpose(carried.U, 0, n_in, carried.Ut)
        n_flipped = draw_flips(now.noise, order, rng)
        n_plus, n_minus = split_by_sign(inputs[t], order, n_flipped, plus, minus)
        choose(inputs[t], drive[t], t, choice, now, rng)
        copy(h, carried.ahead[t - start])
        add_rows(h, -2, carried.Ut, plus, n_plus, _WEIGHTS)
        add_rows(h, 2, carried.Ut, minus, n_minus, _WEIGHTS)
        if now.hidden_step:
            _pack(t, order, n_flipped, carried)
            _add_updates(h, length, carried, n_patterns, n_updates)
            z = choice.targets[t]
            i = next_violation(h, z, now.margin, now.active_margin, 0)
            if i < len(h):
                _look_at(t, inputs[t], order, n_flipped, n_plus, n_minus, carried)
                copy(carried.patterns[:, n_patterns], carried.x_bits)
                n_patterns += 1
            while i < len(h):  # eq. (6)
                hidden_errors += 1
                change = _change(z[i], now)
                h[i] += change * length
                _update(i, t, change, now.bias, carried)
                carried.neuron[n_updates], carried.step[n_updates], carried.pattern[n_updates] = i, change, n_patterns - 1
                n_updates += 1
                i = next_violation(h, z, now.margin, now.active_margin, i + 1)
        if now.visible_step:
            visible_errors += _learn_visible(t, h, targets[t], visible, choice, now)
    return hidden_errors, visible_errors


@inlined
def _learn_visible(t: int, h: Any, x_next: Any, visible: Any, choice: Any, now: Any) -> int:
    """Let V learn x(t+1) from hidden fields h, and the feedback follow it where targets are chosen; returns sum nu."""
    n_active = list_not_below(h, h.dtype.type(0), visible.active)  # eq. (7)
    nu = learn_visible(t, n_active, x_next, visible, choice, now)
    if nu and now.choosing and now.learned_feedback != 0:
        follow(t, visible.g, visible, n_active, choice, now.visible_step)
    return nu


@part
def _change(z: int, now: Any) -> int:
    """The signed step of a hidden neuron with target z."""
    step: int = now.hidden_step * now.active_weight if z else -now.hidden_step
    return step


@part
def _signs(x: Any, negative: Any) -> None:
    """Set `negative` to -1 (all ones) where x is -1, else to 0."""
    for j in range(len(x)):
        negative[j] = -1 if x[j] < 0 else 0


@part
def _project(W: Any, negative: Any, out: Any) -> None:
    """Sums W x over the first inputs; where x is -1, -w is ~w + 1, so that no product is needed."""
    n_negative = 0
    for j in range(len(negative)):
        n_negative -= negative[j]
    for i in range(len(W)):
        row = W[i]
        total = out.dtype.type(0)
        for j in range(len(negative)):  # a sum that stays in its type is vectorised
            total = out.dtype.type(total + out.dtype.type(row[j] ^ negative[j]))
        out[i] = out.dtype.type(total + n_negative)


@inlined
def _pack(t: int, order: Any, n_flipped: int, carried: Any) -> None:
    """Set `x_bits` to x(t) with its flipped units."""
    x_bits = carried.x_bits
    copy(x_bits, carried.bits[:, t])
    for k in range(n_flipped):
        x_bits[order[k] >> 6] ^= np.uint64(1) << np.uint64(order[k] & 63)


@inlined
def _add_updates(h: Any, length: int, carried: Any, n_patterns: int, n_updates: int) -> None:
    """Add to fields h what updates since the transposition do to the presented pattern."""
    product, kind = carried.product, h.dtype.type
    count_differences(carried.patterns, carried.x_bits, carried.every, product, n_patterns)
    for p in range(n_patterns):
        product[p] = length - 2 * product[p]
    for k in range(n_updates):
        i = carried.neuron[k]
        h[i] = kind(h[i] + kind(carried.step[k] * kind(product[carried.pattern[k]])))


@inlined
def _look_at(t: int, x: Any, order: Any, n_flipped: int, n_plus: int, n_minus: int, carried: Any) -> None:
    """Set `overlap` to the products of the presented pattern with every [x(s); b], and `noisy` to itself."""
    overlap, noisy = carried.overlap, carried.noisy
    copy(overlap, carried.gram[t])
    add_rows(overlap, -2, carried.inputs_t, carried.plus, n_plus, _SIGNS)
    add_rows(overlap, 2, carried.inputs_t, carried.minus, n_minus, _SIGNS)
    copy(noisy, x)
    for k in range(n_flipped):
        noisy[order[k]] = -noisy[order[k]]


@inlined
def _update(i: int, t: int, change: int, bias: int, carried: Any) -> None:
    """Let neuron i learn from the pattern that was looked at."""
    add_multiple(carried.fields[i], change, carried.overlap)
    if carried.U.shape[1]:
        add_multiple(carried.U[i], change, carried.noisy)
        carried.U[i, len(carried.noisy)] += change * bias
    else:
        carried.counts[i, t] += change
