"""What "auto" means in SparseSequenceAttractor: settings from N, M, the number of transitions and the data."""

from __future__ import annotations

import math
from typing import Any

from seqattractor.sequences import Patterns

__all__ = ["choose_defaults", "in_units"]


def choose_defaults(net: Any, inputs: Patterns) -> dict[str, Any]:
    """Settle every option of `net` that may be "auto".

    Parameters
    ----------
    net : SparseSequenceAttractor
    inputs : ndarray of int8, shape (n, N_in)
        x(t) of all transitions.

    Returns
    -------
    dict
        Values by the name of the option.
    """
    n_in = inputs.shape[1]
    noise = _default_noise(inputs) if net.noise == "auto" else min(int(net.noise), n_in)
    convergent = noise == 0
    values = {
        "n_winners": min(max(3, math.ceil(net.n_hidden / 200)), net.n_hidden),
        "bias": max(1, round(math.sqrt(n_in) / 2)),
        "noise": noise,
        "kappa_active": 2.0 * net.kappa if convergent else net.kappa,
        "eta_hidden": 0.2 / n_in,
        "eta_visible": 0.25 if convergent else 3.0,
        "decay": not convergent,
        "redraw_tolerance": 0.05 if convergent else 0.4,
    }
    for name in values:
        given = getattr(net, name)
        if name != "noise" and given != "auto":
            values[name] = given
    return values


def in_units(eta: float, decay: bool) -> tuple[float, int]:
    """A unit of weight, a power of two, and the learning rate as a whole number of units.

    Weights that are whole multiples of a power of two add up without rounding, in learning and in recall. Rates that decay get a
    finer unit, so that they can decay in small steps.
    """
    unit = 2.0 ** math.floor(math.log2(eta)) / (256 if decay else 16)
    return unit, round(eta / unit)


def _default_noise(inputs: Patterns) -> int:
    """..."""
    return 14
