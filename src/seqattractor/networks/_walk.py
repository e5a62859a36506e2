"""Runs without noise of a network that goes by its state alone, step after step; long ones of a single state by a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from seqattractor.networks._run import Run
from seqattractor.sequences import Patterns

if TYPE_CHECKING:
    from seqattractor.learning.walking import Walk
    from seqattractor.networks._hooks import Hooks

_SOON = 8  # steps within which most runs are over, before it pays to get ready for more
_AT_ONCE = 256  # steps that are taken ahead at most


def states_along(net: Hooks, cues: Patterns) -> Iterator[Patterns]:
    """The states of runs from cues, (B, N), and then at every step, for as long as they are asked for."""
    run = Run(net, cues, remember=False)
    yield run.states
    for _ in range(_SOON):
        yield run.step()
    walk, steps = _walk_of(net) if len(cues) == 1 else None, _SOON
    while walk is not None:
        path = walk.path(run.states[0], steps)
        for k in range(len(path)):
            yield path[k : k + 1]
        run.states = path[-1:] if len(path) else run.states
        if len(path) < steps:  # the next step is not decided
            yield run.step()
        walk = walk if len(path) >= _SOON else None  # ties everywhere: the weights are multiples of a number such as 0.001
        steps = min(2 * steps, _AT_ONCE)
    while True:
        yield run.step()


def _walk_of(net: Hooks) -> Walk | None:
    """The compiled way of a network, if it has one."""
    layers = net._walked_layers()
    if layers is None:
        return None
    from seqattractor.learning.walking import Walk, can_walk  # with numba, which a network without it need not wait for

    hidden, visible = layers
    if not all(can_walk(layer.weights, layer.offset) for layer in layers):
        return None
    return Walk((hidden.weights, hidden.offset), (visible.weights, visible.offset), silent=hidden.low)
