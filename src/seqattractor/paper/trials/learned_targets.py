"""Beyond the paper: table 1 with hidden targets that are learned, and what one step from a corrupted pattern gets wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqattractor.learning.rule import field, hidden_target
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.noise import flip
from seqattractor.paper.settings import LEARNING
from seqattractor.sequences import Patterns
from seqattractor.study.trial import draw_sequences, retrieve_with

LATER = 4
"""After how many steps wrong units are counted again."""


def retrieve_and_look(settings: dict[str, Any], seed: np.random.SeedSequence) -> dict[str, Any]:
    """One trial as in table 1, with random or learned hidden targets, and a look at the network.

    Settings are T, M, N, flips and targets, and learned_feedback if these are learned. The outcome is

    success
        Whether the sequence is retrieved from its first pattern with some units flipped.
    hidden_wrong
        The fraction of hidden neurons that are wrong at a stored pattern, any of them, with as many units flipped.
    visible_wrong, later_wrong
        The fraction of visible units that are wrong one step and four steps after it.
    hidden_margin, visible_margin
        How far the fields of stored patterns are from 0 on the right side, on average, in units of the length of the neuron's
        weights.
    overlap
        How much the hidden codes of two transitions have in common: the root mean square of their overlap, which is between -1
        and 1.
    changed
        The fraction of hidden targets that are not those of P.

    Examples
    --------
    >>> settings = {"T": 5, "M": 60, "N": 40, "flips": 2, "targets": "learned", "learned_feedback": 0.1}
    >>> outcome = retrieve_and_look(settings, np.random.SeedSequence(0))
    >>> outcome["success"], outcome["visible_wrong"], outcome["changed"] > 0
    (True, 0.0, True)
    """
    sequence, network, cue, look = seed.spawn(4)
    how = {key: settings[key] for key in ("targets", "learned_feedback") if key in settings}
    net = SequenceAttractor(settings["M"], n_jobs=1, random_state=np.random.default_rng(network), **LEARNING, **how)
    sizes = {"n": settings["N"], "t": settings["T"], "flips": settings["flips"]}
    found = retrieve_with(net, sizes, np.random.default_rng(sequence), np.random.default_rng(cue))
    X, _ = draw_sequences(1, settings["T"], settings["N"], rng=np.random.default_rng(sequence))  # the same again
    return {"success": bool(found["success"]), **_look(net, X, settings["flips"], np.random.default_rng(look))}


def _look(net: SequenceAttractor, X: Patterns, flips: int, rng: np.random.Generator) -> dict[str, float]:
    """What a few steps get wrong, how large margins are, how alike codes are, and how far targets have moved."""
    x, x_next = X[:-1], X[1:]
    y, z, noisy = net._hidden_states(x), net.hidden_targets(x_next), flip(x, flips, rng)
    wrong = {"hidden_wrong": float(np.mean(net._hidden_states(noisy) != y))}
    for steps in range(1, LATER + 1):
        noisy = net.next_patterns(noisy)
        wrong["visible_wrong" if steps == 1 else "later_wrong"] = float(np.mean(noisy != np.roll(x, -steps, axis=0)))  # a loop
    hidden, visible = field(net.U_, x) / np.linalg.norm(net.U_, axis=1), field(net.V_, y) / np.linalg.norm(net.V_, axis=1)
    code = y.astype(np.float64)
    overlaps = (code @ code.T / code.shape[1])[~np.eye(len(code), dtype=bool)]
    return {
        **wrong,
        "hidden_margin": float(np.mean(z * hidden)),
        "visible_margin": float(np.mean(x_next * visible)),
        "overlap": float(np.sqrt(np.mean(overlaps**2))),
        "changed": float(np.mean(z != hidden_target(net.P_, x_next))),
    }
