"""The choice of targets in compiled code, exactly what `rule.choose` does.

P x(t) is a sum of columns of P, which stand as rows of P transposed. Q x(t+1) is carried along for all n transitions: Q changes
only where visible neurons had errors, by a multiple of their targets, and soon there are few. A column of it is wanted at each
presentation; `ahead` holds the coming ones, transposed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seqattractor.learning.bits import count_differences, lowest_bit
from seqattractor.learning.compiled import inlined, part
from seqattractor.learning.sparse.arguments import WIDTH
from seqattractor.learning.sparse.rows import add_multiple, add_rows, copy, list_not_below, not_below, transpose
from seqattractor.learning.sparse.rule import PROTOTYPE, STEP_BITS

_ADDED = 7  # entries of P add up within int16
_PROTOTYPE = np.int32(PROTOTYPE)


@inlined
def choose(x: Any, fixed: Any, t: int, choice: Any, now: Any, rng: Any) -> None:
    """Choose the targets of transition t and let P and theta learn from the choice, as `rule.choose` does."""
    if now.choosing and not choice.redrawn[t]:
        _score(x, fixed, t, choice, now)
        _grant(choice.targets[t], choice, now)
    if choice.wrong[t] > now.redraw_above:
        redraw(x, fixed, t, choice, now, rng)
    if now.choosing:
        _adapt(x, choice.targets[t], choice, now)


@inlined
def redraw(x: Any, fixed: Any, t: int, choice: Any, now: Any, rng: Any) -> None:
    """Draw other targets for transition t."""
    theta, score = choice.theta, choice.score
    drive = _drive(x, fixed, choice, now)
    for i in range(len(theta)):
        score[i] = (drive[i] - theta[i]) + now.redraw * rng.standard_normal()
    _grant(choice.targets[t], choice, now)
    choice.redrawn[t], choice.wrong[t] = True, 0.0


@inlined
def _score(x: Any, fixed: Any, t: int, choice: Any, now: Any) -> None:
    """Set the scores of all neurons for transition t."""
    theta, score = choice.theta, choice.score
    drive = _drive(x, fixed, choice, now)
    if now.learned_feedback != 0:
        feedback = _feedback(t, choice)
        for i in range(len(theta)):
            score[i] = (drive[i] - theta[i]) + now.learned_feedback * feedback[i]
    else:
        for i in range(len(theta)):
            score[i] = drive[i] - theta[i]


@part
def _drive(x: Any, fixed: Any, choice: Any, now: Any) -> Any:
    """What x does to all neurons, by P where that is learned; else what is fixed."""
    drive = choice.drive
    if now.learn_drive:
        _project(choice, x)
        for i in range(len(drive)):
            drive[i] = choice.sums[i] * choice.inverse[i]
    else:
        copy(drive, fixed)
    return drive


@inlined
def _adapt(x: Any, z: Any, choice: Any, now: Any) -> None:
    """Let thresholds follow the use of their neurons, and P of the chosen ones approach x."""
    theta = choice.theta
    mean = now.n_winners / len(theta)
    rise, fall = now.homeostasis * (1 - mean), now.homeostasis * (0 - mean)
    for i in range(len(theta)):
        theta[i] += rise if z[i] else fall
    if now.learn_drive:
        for k in range(list_not_below(z, np.int8(1), choice.marked)):
            _approach(choice.marked[k], x, now.drive_step, choice)


@inlined
def _project(choice: Any, x: Any) -> None:
    """Sums P x from P transposed and its row sums: twice the columns of units that are +1, less all."""
    plus, sums, n_plus = choice.plus, choice.sums, 0
    for j in range(len(x)):  # without a branch, since none is foreseen
        plus[n_plus] = j
        n_plus += x[j] > 0
    for i in range(len(choice.totals)):
        sums[i] = -choice.totals[i]
    add_rows(sums, 2, choice.Pt, plus, n_plus, _ADDED)


@inlined
def _approach(i: int, x: Any, step: int, choice: Any) -> None:
    """Move a row of P a part of the way to x. |step| <= 2**16 and |P| <= 2**12, so that 32 bits suffice."""
    row, share = choice.P[i], np.int32(step)
    for j in range(len(row)):
        way = np.int32(np.int32(_PROTOTYPE * np.int32(x[j])) - np.int32(row[j]))
        row[j] += np.int32(np.int32(share * way) >> np.int32(STEP_BITS))
    total, square = np.int64(0), np.int64(0)
    for j in range(len(row)):
        total += row[j]
        square += np.int32(np.int32(row[j]) * np.int32(row[j]))
    for j in range(len(row)):
        choice.Pt[j, i] = row[j]
    choice.totals[i] = total
    choice.inverse[i] = 1.0 / (math.sqrt(square) if square > 0 else 1.0)


@inlined
def _feedback(t: int, choice: Any) -> Any:
    """Q x(t+1), of shape (M,)."""
    ahead, window = choice.ahead, choice.window
    if not window[0] <= t < window[1]:
        window[0], window[1] = t, min(t + len(ahead), len(choice.wrong))
        transpose(choice.feedback, window[0], window[1], ahead)
    return ahead[t - window[0]]


@inlined
def follow(t: int, error: Any, visible: Any, n_active: int, choice: Any, step: int) -> None:
    """Give Q x(s+1), for all s, the update that V got at transition t: `error` is a multiple of x(t+1) where there was one."""
    row, ahead, window, n = choice.row, choice.ahead, choice.window, len(choice.wrong)
    n_errors = _pack_errors(error, choice.errors)
    count_differences(choice.next_bits, choice.next_bits[:, t], choice.errors, row, n)
    for s in range(n):
        row[s] = step * (n_errors - 2 * row[s])  # x(t+1) x(s+1) over the units with an error
    for k in range(n_active):
        i = visible.active[k]
        add_multiple(choice.feedback[i], 1, row)
        if t < window[1]:
            add_multiple(ahead[t - window[0] : window[1] - window[0], i], 1, row[t : window[1]])


@part
def _pack_errors(error: Any, errors: Any) -> int:
    """Set the bits of units whose error is not 0; returns how many."""
    n_errors = 0
    for word in range(len(errors)):
        first = 64 * word
        bits = np.uint64(0)
        for j in range(64):  # the padding of `error` is 0
            wrong = np.uint64(error[first + j] != 0)
            bits |= wrong << np.uint64(j)
            n_errors += int(wrong)
        errors[word] = bits
    return n_errors


@inlined
def _grant(z: Any, choice: Any, now: Any) -> None:
    """Targets from scores: the highest, or all that are not negative."""
    if now.winners:
        _mark_highest(choice, z)
    else:
        for i in range(len(choice.theta)):
            z[i] = choice.score[i] >= 0


@part
def _mark_highest(choice: Any, z: Any) -> None:
    """Set z to 1 at the k highest scores, of equals the first, and to 0 elsewhere.

    If k neurons are marked already, none below the lowest of these can be among the highest, so that few scores are sorted.
    """
    score, best, highest, marked = choice.score, choice.best, choice.highest, choice.marked
    k, found, n_marked = len(best), 0, list_not_below(z, np.int8(1), choice.marked)
    threshold = -np.inf
    if n_marked >= k:
        threshold = score[marked[0]]
        for place in range(1, n_marked):
            threshold = min(threshold, score[marked[place]])
    for first in range(0, len(score), WIDTH):  # the padding is not a number, and not above anything
        mask = not_below(score, first, threshold)
        while mask:
            i = first + lowest_bit(mask)
            mask &= mask - np.uint64(1)
            if found < k or score[i] > highest[k - 1]:
                place = min(found, k - 1)
                while place > 0 and score[i] > highest[place - 1]:
                    highest[place], best[place] = highest[place - 1], best[place - 1]
                    place -= 1
                highest[place], best[place] = score[i], i
                found = min(found + 1, k)
        if found == k:
            threshold = max(threshold, highest[k - 1])
    for place in range(n_marked):
        z[marked[place]] = 0
    for place in range(found):
        z[best[place]] = 1
