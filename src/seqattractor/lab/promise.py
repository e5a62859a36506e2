"""The certified radius: how many flips of a frame are surely corrected in one step."""

from __future__ import annotations

import numpy as np

from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Sequences, close_loops
from seqattractor.tasks.learn import quick_certificate

_MOST = 150_000_000  # weights * transitions: a few seconds


def certified_radii(net: SequenceMemory, data: Sequences) -> list[int] | None:
    """Give for each row of the patterns the number of flips after which the next pattern is surely still right.

    Parameters
    ----------
    net : SequenceMemory
        One that has learned the data.
    data : Sequences

    Returns
    -------
    list of int or None
        -1 where a row has no successor, or the network does not make it. None for kinds of networks that nobody can certify, and
        for those that would take too long.
    """
    certificate = quick_certificate(net, close_loops(data, order=net.order_), _MOST)
    if certificate is None:
        return None
    radii = np.full(len(data), -1)
    first = np.cumsum(data.lengths) - data.lengths
    # A transition of a network of order k starts from the newest of its k patterns.
    inside = certificate.time < data.lengths[certificate.sequence]
    radii[(first[certificate.sequence] + certificate.time)[inside]] = certificate.radius[inside]
    return [int(r) for r in radii]
