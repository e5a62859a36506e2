"""What "auto" means in SparseSequenceAttractor: settings from N, M, the number of transitions and the data."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from seqattractor.sequences import Patterns

MOST_COMPARED = 1000  # patterns whose nearest neighbour is looked for
TINY = 32  # inputs up to which a few flips may turn one stored pattern into another, or nearly so


def choose_defaults(net: Any, inputs: Patterns, targets: Patterns, noise: int | Literal["auto"]) -> dict[str, Any]:
    """Settle every option of `net` that may be "auto".

    Parameters
    ----------
    net : SparseSequenceAttractor
    inputs, targets : ndarray of int8, shapes (n, N_in) and (n, N)
        x(t) and x(t+1) of all transitions.
    noise : int or "auto"
        In place of that of `net`.

    Returns
    -------
    dict
        Values by the name of the option.
    """
    n_in = inputs.shape[1]
    noise = default_noise(inputs, net.n_hidden) if noise == "auto" else int(noise)
    if noise > n_in:
        raise ValueError(f"noise must be at most {n_in}, the number of input units, but it is {noise}.")
    convergent = noise == 0
    load = len(inputs) / net.n_hidden
    eta_visible = 0.25 if convergent else 10.0
    values = {
        "n_winners": min(max(3, math.ceil(net.n_hidden / (200 if convergent else 250))), net.n_hidden),
        "bias": max(1, round(math.sqrt(n_in) / 2)),
        "target_from": "next" if convergent and len(inputs) <= n_in and net.learned_drive is not True else "current",
        "noise": noise,
        "kappa_active": 2.0 * net.kappa if convergent else net.kappa * (1 + 0.5 * how_crowded(load)),
        "active_weight": 3 if convergent or load < 0.25 else 1,
        "eta_hidden": (0.2 if convergent else 0.6 * min(max(load / 0.5, 0.25), 1.0)) / n_in,
        "eta_visible": eta_visible,
        "decay": not convergent,
        "redraw_tolerance": 0.6 * typical_distance(targets) / targets.shape[1],
        "learned_drive": not convergent and net.target_from != "next",
        "learned_feedback": 0.0 if convergent else weight_of_feedback(load) / (eta_visible * math.sqrt(targets.shape[1])),
        "homeostasis": 0.1 if convergent else 0.3,
    }
    for name in values:
        given = getattr(net, name)
        if name != "noise" and given != "auto":
            values[name] = given
    return values


def how_crowded(load: float) -> float:
    """0 up to load 1.4 (n transitions by M hidden neurons), rising to 1 at load 1.8.

    With room, what fails from a noisy cue is mostly neurons that answer to a pattern of others. In a crowd it is neurons that
    miss their pattern: then the active get a larger margin.
    """
    return min(max((load - 1.4) / 0.4, 0.0), 1.0)


def weight_of_feedback(load: float) -> float:
    """How much Q x(t+1) counts beside P x(t), for steps of V of 1 and one input; beyond 2M patterns V needs more of it."""
    return 0.3 * min(max(1.0, load / 1.95) ** 6, 10.0)


def in_units(eta: float, decay: bool) -> tuple[float, int]:
    """A unit of weight, a power of two, and the learning rate as a whole number of units.

    Weights that are whole multiples of a power of two add up without rounding, in learning and in recall. Rates that decay get a
    finer unit, so that they can decay in small steps.
    """
    unit = 2.0 ** math.floor(math.log2(eta)) / (256 if decay else 16)
    return unit, round(eta / unit)


def default_noise(inputs: Patterns, n_hidden: int) -> int:
    """How many units to flip at most while learning: as many as the load and the distances between patterns leave room for.

    Measured for random patterns, 0.2 N is good where there are 0.8 transitions for each hidden neuron, more where there are
    fewer (but more than 0.4 N is of no use) and less where there are more. Noise beyond the distance to the nearest other
    pattern would teach the network to take one for the other. Where patterns lie nearer to each other than N / 10, such as
    frames of a film, the margins have to do.
    """
    n, n_in = inputs.shape
    load = n / n_hidden
    share = min(0.4, 0.2 * max(1.0, (0.8 / load) ** (1 / 3)))
    if load > 1:
        share = max(min(share, 0.3 - 0.085 * load, 0.53 - 0.2 * load), 0.05)
    distance = typical_distance(inputs)
    return round(min(share * n_in, distance)) if distance >= n_in / 10 else 0


def typical_distance(patterns: Patterns) -> float:
    """The median, over patterns, of the number of units in which the nearest different pattern differs."""
    different = np.unique(patterns, axis=0).astype(np.float32)
    some = different[:: max(1, len(different) // MOST_COMPARED)]
    products = some @ different.T
    n_in = patterns.shape[1]
    products[products >= n_in] = -n_in  # a pattern with itself
    return float(np.median((n_in - products.max(axis=1)) / 2))
