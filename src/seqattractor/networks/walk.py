"""Runs without noise of a network that goes by its state alone, step after step; long ones of a single state by a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seqattractor.networks.run import Run
from seqattractor.sequences import Patterns

if TYPE_CHECKING:
    from seqattractor.learning.walking import Walk
    from seqattractor.networks.hooks import Hooks

SOON = 4  # steps within which most runs are over, before it pays to get ready for more
_AT_ONCE = 64  # steps that are taken ahead at most


def states_along(net: Hooks, cues: Patterns, steps: int) -> Iterator[Patterns]:
    """The states of runs from cues, (B, N), and then at every step, of which there are at most so many."""
    run = Run(net, cues, remember=False)
    yield run.states
    for _ in range(min(SOON, steps)):
        yield run.step()
    left, ahead = steps - SOON, SOON
    walk = _walk_of(net) if len(cues) == 1 and left > 0 else None
    while left > 0:
        path = run.states[:0] if walk is None else walk.path(run.states[0], min(ahead, left))
        for k in range(len(path)):
            yield path[k : k + 1]
        left -= len(path)
        run.states = path[-1:] if len(path) else run.states
        if len(path) < ahead and left > 0:  # there is no walk, or the next step is not decided
            left -= 1
            yield run.step()
            walk = walk if len(path) >= SOON else None  # ties everywhere: weights that are multiples of a number such as 0.001
        ahead = min(2 * ahead, _AT_ONCE)


def _walk_of(net: Hooks) -> Walk | None:
    """The compiled way of a network, if it has one."""
    layers = net._walked_layers()
    if layers is None:
        return None
    from seqattractor.learning.walking import Walk, can_walk

    hidden, visible = layers
    if not all(can_walk(layer.weights, layer.offset) for layer in layers):
        return None
    return Walk((hidden.weights, hidden.offset), (visible.weights, visible.offset), silent=hidden.low)
