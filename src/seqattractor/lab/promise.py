"""The certified radius: how many flips of a frame are surely corrected in one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.lab.materials import Material
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences._loops import close_loops

__all__ = ["certified_radii"]

_MOST = 150_000_000  # weights * transitions: a few seconds


def certified_radii(net: SequenceMemory, material: Material) -> list[int] | None:
    """Give for each row of X the number of flips after which the next pattern is surely still right.

    Parameters
    ----------
    net : SequenceMemory
        One that has learned the material.
    material : Material

    Returns
    -------
    list of int or None
        -1 where a row has no successor, or the network does not make it. None for kinds of networks that nobody can certify, and
        for those that would take too long.
    """
    from seqattractor.analysis._certificate import certify

    X = close_loops(material.X, material.lengths, order=net.order_)
    weights = sum(np.size(getattr(net, name)) for name in ("U_", "V_", "W_") if hasattr(net, name))
    if not weights or weights * len(X) > _MOST:
        return None
    try:
        found: Any = certify(net, X, method="count", attack=False)
    except (TypeError, ValueError):
        return None
    radii = np.full(len(material.X), -1)
    first = np.cumsum(material.lengths) - material.lengths
    # A transition of a network of order k starts from the newest of its k patterns.
    inside = found.time < material.lengths[found.sequence]
    radii[(first[found.sequence] + found.time)[inside]] = found.radius[inside]
    return [int(r) for r in radii]
