"""Time of recalling many cues, and what each way of saving time gives.

    python benchmarks/recall_many.py

"Plain" is eqs. (2)-(3) in float64 for every cue at every step. "Whole numbers" is the same batch by
`engine.firing`, and "recall" is the network's own `recall`, which also computes each state only
once. One thread, processor time, best of several.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import seqattractor as sa
from seqattractor.rule import heaviside, hidden_state, visible_state

TURNS = 3
CUES = 10_000


def plain_step(net: Any, states: sa.sequences.Patterns) -> sa.sequences.Patterns:
    """The next patterns, in float64."""
    if isinstance(net, sa.SparseSequenceAttractor):
        return visible_state(net.V_, heaviside(states @ net.U_.T + net.hidden_bias_))
    return visible_state(net.V_, hidden_state(net.U_, states))


def run(
    step: Callable[[Any], Any], cues: sa.sequences.Patterns, steps: int, noise: int
) -> sa.sequences.Patterns:
    """A recall written out, with the random numbers of `recall`."""
    rng = sa.noise.as_generator(0, "recall")
    path = [cues]
    for _ in range(steps):
        path.append(step(sa.noise.flip(path[-1], noise, rng)))
    return np.stack(path, axis=1)


def compare(
    net: sa.SequenceMemory, cues: sa.sequences.Patterns, steps: int, noise: int = 0
) -> dict[str, float]:
    """Seconds of each way, which must all recall the same."""
    ways: dict[str, Callable[[], sa.sequences.Patterns]] = {
        "plain": lambda: run(lambda states: plain_step(net, states), cues, steps, noise),
        "whole numbers": lambda: run(net.next_patterns, cues, steps, noise),
        "recall": lambda: net.recall(cues, steps, noise=noise, rng=0),
    }
    seconds = dict.fromkeys(ways, np.inf)
    wanted = ways["plain"]()
    for _ in range(TURNS):
        for name, way in ways.items():
            started = time.process_time()
            path = way()
            seconds[name] = min(seconds[name], time.process_time() - started)
            assert np.array_equal(path, wanted), f"{name} recalls something else"
    return seconds


def main() -> None:
    """Print one line for each case."""
    warnings.simplefilter("ignore")
    dense, sparse = (
        sa.SequenceAttractor(500, random_state=0),
        sa.SparseSequenceAttractor(500, random_state=0),
    )
    short, long = (sa.datasets.random_periodic(T, 100, rng=0) for T in (70, 150))
    film = sa.datasets.moving_digits(20, rng=0)
    cases = [
        ("stored, T=70", dense, short, 10, 50, 0),
        ("stored, T=70, 3 flips at every step", dense, short, 10, 20, 3),
        ("too much, T=150: recall wanders", dense, long, 10, 50, 0),
        ("sparse network, T=70", sparse, short, 10, 50, 0),
        ("sparse network, T=70, 3 flips at every step", sparse, short, 10, 20, 3),
        (
            "moving digits, N=4096, M=1000",
            sa.SequenceAttractor(1000, random_state=0),
            film,
            300,
            10,
            0,
        ),
    ]
    with threadpool_limits(1):
        for name, net, X, flips, steps, noise in cases:
            net.fit(X)
            count = CUES if X.shape[1] == 100 else CUES // 20
            patterns = np.asarray(X)
            cues = sa.noise.flip(patterns[np.arange(count) % (len(patterns) - 1)], flips, rng=1)
            took = compare(net, cues, steps, noise)
            faster = ", ".join(
                f"{way} {took['plain'] / seconds:.1f} times as fast"
                for way, seconds in took.items()
                if way != "plain"
            )
            print(
                f"{name}, {count} cues x {steps} steps: plain {took['plain']:.2f} s; {faster}",
                flush=True,
            )


if __name__ == "__main__":
    main()
