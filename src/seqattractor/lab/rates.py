"""How often a recall succeeds at a level of noise, tried with many cues."""

from __future__ import annotations

from seqattractor.lab.materials import Material
from seqattractor.lab.recall import Cue, cue_rows, steps_for, stored_for
from seqattractor.lab.requests import Limits
from seqattractor.networks.base import SequenceMemory
from seqattractor.tasks.recall import recall_often
from seqattractor.tasks.stored import Stored

TRIALS = 100
_MOST = 2e11  # weights * steps * trials: a few seconds


def locked_on(
    nets: list[SequenceMemory], material: Material, cue: Cue, limits: Limits
) -> list[int] | None:
    """Return for each network how many of 100 cues lock on; None where trying that takes long.

    The cues are corrupted like the visitor's, each with random flips of its own; networks that see
    as many past patterns get the same cues.
    """
    order = max(net.order_ for net in nets)
    steps = steps_for(material, cue.start, order, limits)
    if sum(net.n_parameters() for net in nets) * steps * TRIALS > _MOST:
        return None
    rows, stored = cue_rows(material, cue.start, order), stored_for(material, order)
    counts = []
    for net in nets:
        seen = rows[-net.order_ :]
        trials = recall_often(
            net,
            material.data.patterns[seen],
            cue.corruption,
            steps,
            trials=TRIALS,
            stored=stored,
            place=Stored.of(material.data).place(seen[0]),
            frame_shape=material.data.frame_shape,
            noise=cue.noise,
            rng=cue.corruption.flips,  # other cues at another level, whoever asks
        )
        counts.append(trials.rate.successes)
    return counts
