"""Lead-ins: patterns that a network learns before an open sequence, so that it can find the first
pattern again, and lead-outs, which tell it where a sequence ends.

Nothing in an open sequence leads to its first pattern, and a network without a way back through its
synapses can only guess it. A lead-in is that pattern with its units in another order. The network
learns to go from there to the sequence; and since the lead-in follows from the pattern, whoever has
the pattern can go back to the lead-in, run the network, and see whether the pattern returns. If so,
a sequence begins with it.

Nothing in an open sequence follows its last pattern either, but where patterns are alike, a network
may be as sure of what follows as if it had learned it. Then it learns a lead-out: the last pattern
with its units in another order, which follows it and marks the end.
"""

from __future__ import annotations

from math import gcd

import numpy as np

from seqattractor.sequences import Patterns


def lead_in(first: Patterns) -> Patterns:
    """Return the lead-ins of patterns, (..., N): neighbouring units are far apart in the other
    order. The lead-in of a mirror image is the mirror image of the lead-in.
    """
    N = first.shape[-1]
    stride = next(step for step in range(round(0.618 * N), N + 2) if gcd(step, N) == 1)
    return first[..., stride * np.arange(1, N + 1) % N]


def with_lead_ins(sequences: list[Patterns], wanted: list[bool], order: int) -> list[Patterns]:
    """Return sequences, open ones after their lead-ins if these are wanted, except where a state of
    the network, (order, N), would get a second successor.
    """
    longer = [np.concatenate([lead_in(x[:order]), x]) for x in sequences]
    return _where_possible(sequences, longer, wanted, order)


def with_lead_outs(sequences: list[Patterns], wanted: list[bool], order: int) -> list[Patterns]:
    """Return sequences, open ones before their lead-outs if these are wanted, with the same
    exception.
    """
    longer = [np.concatenate([x, lead_in(x[-1:])]) for x in sequences]
    return _where_possible(sequences, longer, wanted, order)


def _where_possible(
    sequences: list[Patterns], longer: list[Patterns], wanted: list[bool], order: int
) -> list[Patterns]:
    """Return sequences, the longer version of open ones if it is wanted and no state gets a second
    successor.
    """
    successors = dict[bytes, bytes]()
    for x in sequences:
        successors |= _successors(x, order)
    together = []
    for x, led, is_wanted in zip(sequences, longer, wanted, strict=True):
        more = _successors(led, order)
        if (
            is_wanted
            and not np.array_equal(x[:order], x[-order:])
            and len(more) == len(led) - order
            and all(successors.get(state, after) == after for state, after in more.items())
        ):
            successors |= more
            together.append(led)
        else:
            together.append(x)
    return together


def _successors(x: Patterns, order: int) -> dict[bytes, bytes]:
    """Return the pattern after each state of a sequence."""
    return {x[t : t + order].tobytes(): x[t + order].tobytes() for t in range(len(x) - order)}
