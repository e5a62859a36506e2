"""The visitor's cue, the recall of each network from it, and how many flips are certainly
corrected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.lab.materials import Material
from seqattractor.lab.requests import Fields, Limits, Rejection, pack
from seqattractor.networks.base import SequenceMemory
from seqattractor.sequences import Patterns, Sequences, close_loops, stack_context
from seqattractor.sequences._patterns import row_overlaps
from seqattractor.sequences._transitions import transitions
from seqattractor.tasks.learn import quick_certificate
from seqattractor.tasks.recall import Corruption, Recall, describe_shift, frames_ahead, recall
from seqattractor.tasks.stored import Stored

_MOST = 150_000_000  # weights * transitions: a few seconds
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Cue:
    """How the first pattern is corrupted."""

    start: int  # the row of the patterns at which the cue begins
    corruption: Corruption
    noise: int  # units flipped before every step of recall
    seed: int


def read_cue(spec: Fields, material: Material) -> Cue:
    """Read the choices of a cue."""
    spec.only("start", "occlusion", "flips", "painted", "noise", "seed")
    T, N = material.data.shape
    corruption = Corruption(
        flips=spec.whole("flips", 0, 0, N),
        occlusion=spec.number("occlusion", 0.0, 0.0, 1.0),
        painted=tuple(sorted(set(spec.wholes("painted", 0, N - 1, N)))),
    )
    return Cue(
        spec.whole("start", 0, 0, T - 1),
        corruption,
        spec.whole("noise", 0, 0, N),
        spec.whole("seed", 0, 0, 9999),
    )


def cue_rows(material: Material, start: int, order: int) -> list[int]:
    """Return the rows of the patterns that make a cue of `order` patterns; in a loop they go
    round.
    """
    stored = Stored.of(material.data)
    s, frame = stored.place(start)
    period = stored.period(s, 1)
    if period is not None:
        return [start - frame + (frame + k) % period for k in range(order)]
    if frame + order >= len(stored.sequences[s]):
        seen = (
            f"frame {start + 1}"
            if order == 1
            else f"the {order} frames from frame {start + 1} on, which the network sees first"
        )
        instead = (
            "start earlier"
            if frame
            else 'choose fewer "Past patterns it sees", under "More settings"'
        )
        raise Rejection(400, f"There is nothing left to recall after {seen}; {instead}.")
    return [*range(start, start + order)]


def corrupted_cue(material: Material, cue: Cue, order: int) -> Patterns:
    """Return the corrupted cue, shape (order, N)."""
    clean = material.data.patterns[cue_rows(material, cue.start, order)]
    return cue.corruption(clean, material.data.frame_shape, cue.seed)


def steps_for(material: Material, start: int, order: int, limits: Limits) -> int:
    """Return how long to recall: two rounds of a loop and a little more, as section 6.2 needs; else
    to the end.
    """
    stored = Stored.of(material.data, order)
    s, _ = Stored.of(material.data).place(start)
    period = stored.period(s, order)
    end = int(np.cumsum(material.data.lengths)[s])
    steps = end - start - order if period is None else 2 * (period + 1) + 10
    return int(max(1, min(steps, limits.steps, limits.states // material.data.shape[1])))


def stored_for(material: Material, order: int) -> Stored:
    """Return the stored sequences, with loops closed as far as the longest cue reaches, and names
    that count from 1.
    """
    stored = Stored.of(material.data, order)
    return replace(stored, names=tuple(f"sequence {k}" for k in range(1, 1 + len(stored.names))))


def recall_all(
    nets: list[SequenceMemory], material: Material, cue: Cue, limits: Limits
) -> list[Recall]:
    """Recall with each network from the same cue and with the same noise; with less context it sees
    the end of the cue.
    """
    order = max(net.order_ for net in nets)
    rows = corrupted_cue(material, cue, order)
    steps = steps_for(material, cue.start, order, limits)
    stored, place = stored_for(material, order), Stored.of(material.data).place(cue.start)
    # A seed stands for another stream in `recall` than in the cue, so that the noise does not undo
    # the flips.
    return [
        recall(net, rows, steps, stored=stored, place=place, noise=cue.noise, rng=cue.seed)
        for net in nets
    ]


@dataclass(frozen=True)
class Shown:
    """The truth beside a recall: what the cue asks for, and from the row of a catch on what was
    caught.
    """

    truth: Patterns  # shape (L, N), for the rows for which there is one
    since: int | None = None
    """The row from which on it is something else than the cue asks for; None where it never is."""
    label: str = ""  # what it is then, in the paper's symbols or by its name
    words: str = ""  # what happened, and why, where there is something to explain

    def overlaps(self, states: Patterns) -> NDArray[np.float64]:
        """Return the overlap of each row that has a truth with it, shape (L,)."""
        return row_overlaps(states[: len(self.truth)], self.truth)


def shown_truth(net: SequenceMemory, outcome: Recall, material: Material, cue: Cue) -> Shown:
    """Return the truth to show beside the recall of a network that does not dwell."""
    asked = outcome.states[:0] if outcome.truth is None else outcome.truth
    caught, stored, order = outcome.followed, stored_for(material, outcome.cue_rows), net.order_
    if outcome.locked_on is not None:
        return Shown(asked)
    if caught is None or caught.since > len(asked):
        return Shown(asked, words=_stuck_in_a_negative(net, outcome, material, stored))
    s, frame = Stored.of(material.data).place(cue.start)
    ahead = frames_ahead(caught, stored, frame, caught.since, order)
    if caught.sequence == s and not ahead and not caught.mirrored:
        return Shown(asked)
    rows = stored.following(caught.sequence, caught.frame, caught.until - caught.since, order)
    truth = np.concatenate([asked[: caught.since], -rows if caught.mirrored else rows])
    if caught.sequence == s:
        label, what = "x(t)", "the sequence"
        if ahead:
            label = f"x(t {'+' if ahead > 0 else _MINUS} {abs(ahead)})"
            what += f", {describe_shift(ahead)}{' of' if ahead > 0 else ''} what the cue asks for"
    else:
        label = stored.names[caught.sequence]
        what = f"{label}, from its frame {caught.frame + 1} on"
    if caught.mirrored:
        label, what = f"{_MINUS}{label}", f"the negative of {what}. {_why_negative(net, material)}"
    since = f"From step {outcome.step_of(caught.since)} on"
    return Shown(
        truth,
        caught.since,
        label,
        f'{since}, what was caught stands under "Truth": {what.rstrip(".")}.',
    )


def _stuck_in_a_negative(
    net: SequenceMemory, outcome: Recall, material: Material, stored: Stored
) -> str:
    """Explain a recall that followed nothing for long, but came to rest in the negative of a stored
    frame; else nothing.
    """
    last = outcome.states[-1]
    rows = np.flatnonzero((np.concatenate(stored.sequences) == -last).all(axis=1))
    if not rows.size or not np.array_equal(outcome.states[-2], last):
        return ""
    s, frame = stored.place(int(rows[0]))
    name = f" of {stored.names[s]}" if len(stored.names) > 1 else ""
    return (
        f"It came to rest in the negative of frame {frame + 1}{name}: every unit is reversed. "
        f"{_why_negative(net, material)}"
    )


def _why_negative(net: SequenceMemory, material: Material) -> str:
    """Explain the negative of a sequence as an attractor, where the network does with negatives
    what it does with patterns.
    """
    data = close_loops(material.data, order=net.order_)
    x = transitions(data.patterns, data.lengths, net.order_).inputs
    if getattr(net, "bias", False) or not np.array_equal(
        net.next_patterns(-x), -net.next_patterns(x)
    ):
        return "It is an attractor, too."
    return (
        "This network has no biases, so it is odd: reverse all of its input, and all of its output "
        "is reversed. With each sequence it has therefore stored the negative, with a basin of the "
        "same size, and a cue with half of its units flipped is as near to the one as to the other."
    )


def hidden_states(net: SequenceMemory, states: Patterns) -> Patterns | None:
    """Return the hidden state that each row makes, shape (K, M), -1 before the context is full;
    None without hidden neurons.
    """
    if not hasattr(net, "_hidden_states"):
        return None
    zeta = net._hidden_states(stack_context(states, net.order_))
    silent = np.full((net.order_ - 1, zeta.shape[1]), -1, dtype=np.int8)
    return np.concatenate([silent, np.where(zeta > 0, 1, -1).astype(np.int8)])


def as_json(net: SequenceMemory, outcome: Recall, shown: Shown) -> dict[str, Any]:
    """Return a recall for the page."""
    hidden = hidden_states(net, outcome.states)
    return {
        "bits": pack(outcome.states),
        "hidden": None if hidden is None else {"units": hidden.shape[1], "bits": pack(hidden)},
        "overlaps": [round(m, 4) for m in shown.overlaps(outcome.states).tolist()],
        "truth": pack(shown.truth),
        "known": len(shown.truth),
        "caught": None if shown.since is None else {"since": shown.since, "label": shown.label},
        "words": shown.words,
        "order": net.order_,
        "locked_on": outcome.locked_on,
        "tau": outcome.tau,
        "verdict": outcome.verdict,
        "good": outcome.locked_on is not None,
    }


def certified_radii(net: SequenceMemory, data: Sequences) -> list[int] | None:
    """Return for each row of the patterns the number of flips after which the next pattern is
    certainly right.

    It is -1 where a row has no successor, or the network does not make it; None where a certificate
    is impossible or takes long.
    """
    certificate = quick_certificate(net, close_loops(data, order=net.order_), _MOST)
    if certificate is None:
        return None
    radii, stored = np.full(len(data), -1), Stored.of(data)
    first = np.cumsum(data.lengths) - data.lengths
    round_in = np.array([stored.period(s, 1) or len(x) for s, x in enumerate(stored.sequences)])
    # A transition of a network of order k starts from the newest of its k patterns, in a loop
    # perhaps in its second round.
    radii[first[certificate.sequence] + certificate.time % round_in[certificate.sequence]] = (
        certificate.radius
    )
    return [int(r) for r in radii]
