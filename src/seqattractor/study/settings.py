"""Settings and outcomes of trials by name, for code that reads studies and must not import what
runs trials.
"""

from __future__ import annotations

from typing import Any

PERIODS = 4
"""How many times the length of a loop a network may run before it must have shown the whole loop
(section 6.2).

The paper asks for "some tau" without a bound. A network may wander for two periods, then has one to
come to x(1) and one to show the sequence.
"""

DEFAULTS: dict[str, Any] = {
    "network": "attractor",
    "n": 100,
    "m": 500,
    "t": 50,
    "sequences": 1,
    "flips": 0,
    "recall_noise": 0,
    "correlation": 0.0,
    "pattern_bias": 0.0,
    "periods": PERIODS,
    "measure_basin": False,
}
"""The settings of every trial, and their values where none is given; further settings are
parameters of the network.
"""

OUTCOME = ("success", "retrieved", "tau", "score", "basin", "epochs", "converged")
"""The outcome of a trial, in the order of columns."""

OWN_AXIS = {
    "random": "t",
    "noise": "flips",
    "recall-noise": "noise",
    "correlated": "correlation",
    "multi": "size",
    "context": "repeated",
    "digits": "flips",
    "walker": "flips",
    "continual": "number",
    "data": "flips",
}
"""By the name of a test on which networks are compared: what varies in it, unless something else is
to.
"""


def as_flips(flips: int | str, n: int) -> int:
    """Return a number of flipped units that may be a percentage of N."""
    if not isinstance(flips, str):
        return flips
    try:
        share = float(flips.removesuffix("%")) if flips.endswith("%") else -1.0
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise ValueError(
            f"flips is a number, or a percentage such as 10%, but it is {flips[:40]!r}."
        )
    return round(share / 100 * n)
