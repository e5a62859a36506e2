"""What the visitor does with the cue, the recall of each network from it, and how many flips are surely corrected."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqattractor.lab.materials import Material
from seqattractor.lab.requests import Fields, Limits, Refusal, pack
from seqattractor.networks._base import SequenceMemory
from seqattractor.sequences import Patterns, Sequences, close_loops
from seqattractor.tasks.learn import quick_certificate
from seqattractor.tasks.recall import Corruption, Recall, hidden_states, recall
from seqattractor.tasks.stored import Stored

_MOST = 150_000_000  # weights * transitions: a few seconds


@dataclass(frozen=True)
class Cue:
    """How the first pattern is corrupted."""

    start: int
    """The row of the patterns at which the cue begins."""
    corruption: Corruption
    noise: int
    """Units flipped before every step of recall."""
    seed: int


def read_cue(spec: Fields, material: Material) -> Cue:
    """Read what the visitor wants the cue to be."""
    spec.only("start", "occlusion", "flips", "painted", "noise", "seed")
    T, N = material.data.shape
    corruption = Corruption(
        flips=spec.whole("flips", 0, 0, N),
        occlusion=spec.number("occlusion", 0.0, 0.0, 1.0),
        painted=tuple(sorted(set(spec.wholes("painted", 0, N - 1, N)))),
    )
    return Cue(spec.whole("start", 0, 0, T - 1), corruption, spec.whole("noise", 0, 0, N), spec.whole("seed", 0, 0, 9999))


def corrupted_cue(material: Material, cue: Cue, order: int) -> tuple[Patterns, np.random.Generator]:
    """Corrupt `order` patterns.

    Returns
    -------
    ndarray of int8, shape (order, N)
    Generator
        As it stands afterwards, for the noise of recall.
    """
    s, frame = Stored.of(material.data).place(cue.start)
    if frame + order >= material.data.lengths[s]:
        raise Refusal(400, f"There is nothing left to recall after frame {cue.start + 1}; start earlier.")
    rng = np.random.default_rng(cue.seed)
    clean = material.data.patterns[cue.start : cue.start + order]
    return cue.corruption(clean, material.data.frame_shape, rng), rng


def steps_for(material: Material, start: int, order: int, limits: Limits) -> int:
    """How long to recall: two rounds of a loop and a little more, so that section 6.2 can be seen to hold; else to the end."""
    stored = Stored.of(material.data, order)
    s, _ = Stored.of(material.data).place(start)
    period = stored.period(s, order)
    end = int(np.cumsum(material.data.lengths)[s])
    steps = end - start - order if period is None else 2 * (period + 1) + 10
    return int(max(1, min(steps, limits.steps, limits.states // material.data.shape[1])))


def recall_all(nets: list[SequenceMemory], material: Material, cue: Cue, limits: Limits) -> list[Recall]:
    """Recall with each network from the same cue and with the same noise; with less context it sees the end of the cue."""
    order = max(net.order_ for net in nets)
    rows, rng = corrupted_cue(material, cue, order)
    steps = steps_for(material, cue.start, order, limits)
    stored, place = Stored.of(material.data, order), Stored.of(material.data).place(cue.start)
    return [recall(net, rows, steps, stored=stored, place=place, noise=cue.noise, rng=deepcopy(rng)) for net in nets]


def as_json(net: SequenceMemory, outcome: Recall) -> dict[str, Any]:
    """Give all that the page needs to show a recall."""
    hidden = hidden_states(net, outcome.states)
    return {
        "bits": pack(outcome.states),
        "hidden": None if hidden is None else {"units": hidden.shape[1], "bits": pack(hidden)},
        "overlaps": [None if row is None else round(row, 4) for row in _overlaps(outcome)],
        "locked_on": outcome.locked_on,
        "tau": outcome.tau,
        "verdict": outcome.verdict,
        "good": outcome.locked_on is not None,
    }


def _overlaps(outcome: Recall) -> list[float | None]:
    """Give the overlap of every row with the truth; None where it is not known."""
    known = [] if outcome.overlaps is None else outcome.overlaps.tolist()
    return [*known, *[None] * (len(outcome.states) - len(known))]


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
        -1 where a row has no successor, or the network does not make it. None for kinds of networks that cannot be certified, and
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
