"""What "auto" means in SparseSequenceAttractor: settings from N, M, the number of transitions and the data."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import as_items

MOST_COMPARED = 1000  # patterns whose nearest neighbour is looked for
NEAR = 0.1  # of the input units: patterns that lie nearer to each other are learned clean first
NEAREST = 16  # units: patterns that lie nearer still, such as frames of a film in which little moves, are learned without noise
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
    n, n_in = inputs.shape
    distance = typical_distance(inputs)
    clean_first = distance < NEAR * n_in if net.clean_first == "auto" else bool(net.clean_first)
    noise = default_noise(n / net.n_hidden, n_in, distance) if noise == "auto" else int(noise)
    if noise > n_in:
        raise ValueError(f"noise must be at most {n_in}, the number of input units, but it is {noise}.")
    values: dict[str, Any] = {
        "bias": max(1, round(math.sqrt(n_in) / 2)),
        "noise": noise,
        "clean_first": clean_first,
        "redraw_tolerance": 0.6 * typical_distance(targets) / targets.shape[1],
    }
    if noise == 0:
        values |= _convergent(net, n, n_in, distance)
    elif clean_first:
        values |= _clean_first(net, n_in, targets.shape[1])
    else:
        values |= _robust(net, n, n_in, targets.shape[1], how_alike(inputs, distance))
    for name in values:
        given = getattr(net, name)
        if name != "noise" and given != "auto":
            values[name] = given
    return values


def _robust(net: Any, n: int, n_in: int, N: int, alike: float) -> dict[str, Any]:
    """For patterns that lie far from each other: noise from the start, all of P and Q learned."""
    load, eta_visible = n / net.n_hidden, 10.0
    return {
        "n_winners": min(_winners(net, 250), winners_within_reach(load, n_in)),
        "target_from": "current",
        "kappa_active": net.kappa * (1 + 0.5 * how_crowded(load)),
        "active_weight": 3 if load < 0.25 else 1,
        "eta_hidden": (0.6 - 0.2 * how_crowded(load)) * min(max(load / 0.5, 0.25), 1.0) / n_in,
        "eta_visible": eta_visible,
        "decay": True,
        "learned_drive": net.target_from != "next",
        "learned_feedback": weight_of_feedback(load, n_in, net.n_hidden, alike) / (eta_visible * math.sqrt(N)),
        "homeostasis": 0.3,
    }


def _clean_first(net: Any, n_in: int, N: int) -> dict[str, Any]:
    """For pictures: P random, since competition would give similar pictures the same neurons, and Q to tell them apart.

    Pictures have much in common, so that Q x(t+1) grows with N, not with its root; thresholds must keep up with it.
    """
    eta_visible = 2.0
    return {
        "n_winners": _winners(net, 250),
        "target_from": "current",
        "kappa_active": (1.2 if net.max_epochs == "auto" else 1.4) * net.kappa,  # without noise; with it
        "active_weight": 1,
        "eta_hidden": 1.0 / n_in,
        "eta_visible": eta_visible,
        "decay": True,
        "learned_drive": False,
        "learned_feedback": 8.0 / (eta_visible * N),
        "homeostasis": 2.0,
    }


def _convergent(net: Any, n: int, n_in: int, distance: float) -> dict[str, Any]:
    """Without noise: constant rates, P random, no feedback; errors reach zero where they can.

    A step of U tells two patterns apart by as much as they differ: for frames that are nearly equal, steps must be larger.
    """
    return {
        "n_winners": _winners(net, 200),
        "target_from": "next" if n <= n_in and net.learned_drive is not True else "current",
        "kappa_active": 2.0 * net.kappa,
        "active_weight": 3,
        "eta_hidden": 0.1 / max(distance, 1.0) if distance < NEAR * n_in else 0.2 / n_in,
        "eta_visible": 0.25,
        "decay": False,
        "learned_drive": False,
        "learned_feedback": 0.0,
        "homeostasis": 0.1,
    }


def _winners(net: Any, share: int) -> int:
    """One hidden neuron in so many, but three at least."""
    M = int(net.n_hidden)
    return min(max(3, math.ceil(M / share)), M)


def winners_within_reach(load: float, n_in: int) -> int:
    """How many winners leave each hidden neuron at most 0.04 N patterns to answer to, but three at least.

    k winners give a neuron k times the load of them. If these are too many for its inputs, U learns hardly any: neurons fall
    silent under noise, and almost no transition is made. With N = 200 and eight winners that was so at load 2, not yet at 1.5.
    """
    return max(3, math.floor(0.04 * n_in / load))


def how_crowded(load: float) -> float:
    """0 up to load 1.4 (n transitions by M hidden neurons), rising to 1 at load 1.8.

    With room, what fails from a noisy cue is mostly neurons that answer to a pattern of others. In a crowd it is neurons that
    miss their pattern: then the active get a larger margin.
    """
    return min(max((load - 1.4) / 0.4, 0.0), 1.0)


def weight_of_feedback(load: float, n_in: int, n_hidden: int, alike: float) -> float:
    """How much Q x(t+1) counts beside P x(t), for steps of V of 1 and one visible neuron.

    Where there is room, U can do with codes that suit V. Codes of P alone may be such that V cannot decode a few of them: three
    neurons for each of four patterns, two of which differ in the same two neurons as the other two, and no V tells +--+ of them.
    In a crowd U needs codes that suit it, unless it has many inputs, as such (50 are few) and for the number of hidden neurons.
    Beyond 2M patterns V needs more feedback in any case. Where patterns are alike (`how_alike`), P x(t) pulls harder: without
    more feedback neighbours share so many neurons that no V tells all of them apart.
    """
    with_room = min(max((1.55 - load) / 0.15, 0.0), 1.0)
    many = min(max(math.log2(n_in / 50), 0.0), 1.0)
    crowded: float = 0.21 * min(max(5 * n_in / n_hidden, 1.0), 3.0) ** (0.8 * many) * min(max(alike / 1.1, 1.0), 2.0) ** 2
    return (crowded + (0.6 - crowded) * with_room) * min(max(1.0, load / 1.9) ** 6, 10.0)


def in_units(eta: float, decay: bool) -> tuple[float, int]:
    """A unit of weight, a power of two, and the learning rate as a whole number of units.

    Weights that are whole multiples of a power of two add up without rounding, in learning and in recall. Rates that decay get a
    finer unit, so that they can decay in small steps.
    """
    unit = 2.0 ** math.floor(math.log2(eta)) / (256 if decay else 16)
    return unit, round(eta / unit)


def default_noise(load: float, n_in: int, distance: float) -> int:
    """How many units to flip at most while learning: as many as the load and the distances between patterns leave room for.

    Measured for random patterns, 0.2 N is good where there are 0.8 transitions for each hidden neuron, more where there are
    fewer (but more than 0.4 N is of no use) and less where there are more. Noise beyond the distance to the nearest other
    pattern would teach the network to take one for the other. Pictures lie nearer to each other, but flips seldom fall where two
    of them differ: 0.1 N is good there, unless they differ in a few units only. Then the margins have to do.
    """
    if distance < NEAR * n_in:
        return round(NEAR * n_in) if distance >= NEAREST else 0
    share: float = min(0.4, 0.2 * max(1.0, (0.8 / load) ** (1 / 3)))
    if load > 1:
        share = max(min(share, 0.3 - 0.085 * load, 0.53 - 0.2 * load), 0.05)
    return round(min(share * n_in, distance))


def how_alike(patterns: Patterns, distance: float) -> float:
    """How much the nearest other pattern, at this `distance`, has in common: about 1 at most where patterns are independent.

    Overlaps of n independent patterns are nearly normal, whatever their mean activity, and the largest is about sqrt(2 ln n)
    standard deviations above the mean, or less.
    """
    n, n_in = patterns.shape
    mean = patterns.mean(axis=0)
    spread = math.sqrt(float(np.sum((1 - mean**2) ** 2)))
    largest = spread * math.sqrt(2 * math.log(max(n, 2)))
    return (n_in - 2 * distance - float(mean @ mean)) / largest if largest > 0 else 1.0


def typical_distance(patterns: Patterns) -> float:
    """The median, over patterns, of the number of units in which the nearest different pattern differs."""
    different = patterns[np.unique(as_items(patterns), return_index=True)[1]].astype(np.float32)
    some = different[:: max(1, len(different) // MOST_COMPARED)]
    products = some @ different.T
    n_in = patterns.shape[1]
    products[products >= n_in] = -n_in  # a pattern with itself
    return float(np.median((n_in - products.max(axis=1)) / 2))
