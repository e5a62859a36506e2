"""From a spoilt cue to a verdict: the cue, the recall of each network, and what to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor import noise
from seqattractor.analysis._retrieval import locked_on_at
from seqattractor.lab.fields import Fields, pack
from seqattractor.lab.limits import Limits, Refusal
from seqattractor.lab.materials import Material
from seqattractor.networks._base import SequenceMemory
from seqattractor.networks._one_hot import OneHotNetwork
from seqattractor.sequences import Patterns, stack_context

__all__ = ["Cue", "Run", "make_cue", "read_cue", "run", "steps_for", "truth_of"]


@dataclass(frozen=True)
class Cue:
    """How the first pattern is spoilt."""

    start: int
    """The row of X at which the cue begins."""
    occlusion: float
    """The fraction of the frame that is covered."""
    flips: int
    """Units flipped at random."""
    painted: tuple[int, ...]
    """Units flipped by hand in the newest pattern."""
    noise: int
    """Units flipped before every step of recall."""
    seed: int


@dataclass(frozen=True)
class Run:
    """What one network did."""

    trajectory: Patterns
    """Shape (K, N); the first rows are the cue."""
    hidden: Patterns | None
    """zeta(t), what each state makes of the hidden neurons, eq. (2), shape (K, M). None without hidden neurons."""
    overlaps: NDArray[np.float64]
    """With the truth, shape (K,); nan where the sequence is over. Once caught, with the patterns that it follows."""
    caught: int | None
    """The row from which on it follows what was stored."""
    tau: int | None
    """tau of section 6.2, where the whole sequence was recalled."""
    verdict: str
    good: bool

    def as_json(self) -> dict[str, Any]:
        """Give all that the page needs to show it."""
        return {
            "bits": pack(self.trajectory),
            "hidden": None if self.hidden is None else {"units": self.hidden.shape[1], "bits": pack(self.hidden)},
            "overlaps": [None if np.isnan(m) else round(float(m), 4) for m in self.overlaps],
            "caught": self.caught,
            "tau": self.tau,
            "verdict": self.verdict,
            "good": self.good,
        }


def read_cue(spec: Fields, material: Material, limits: Limits) -> Cue:
    """Read what the visitor wants the cue to be."""
    spec.only("start", "occlusion", "flips", "painted", "noise", "seed")
    T, N = material.X.shape
    return Cue(
        start=spec.whole("start", 0, 0, T - 1),
        occlusion=spec.number("occlusion", 0.0, 0.0, 1.0),
        flips=spec.whole("flips", 0, 0, N),
        painted=tuple(sorted(set(spec.wholes("painted", 0, N - 1, N)))),
        noise=spec.whole("noise", 0, 0, N),
        seed=spec.whole("seed", 0, 0, 9999),
    )


def make_cue(material: Material, cue: Cue, order: int) -> Patterns:
    """Spoil `order` patterns: first the cover, then the flips, then the strokes of the visitor, on the newest.

    Returns
    -------
    ndarray of int8, shape (order, N)
    """
    _, end = _sequence_of(material, cue.start)
    if cue.start + order >= end:
        raise Refusal(400, f"There is nothing left to recall after frame {cue.start + 1}; start earlier.")
    rows = material.X[cue.start : cue.start + order]
    if cue.occlusion:
        frame = material.frame_shape
        rows = noise.occlude(rows, frame, fraction=cue.occlusion, rng=cue.seed)
    rows = noise.flip(rows, cue.flips, rng=cue.seed)
    rows[-1, list(cue.painted)] *= -1
    return rows


def truth_of(material: Material, start: int, rows: int) -> tuple[Patterns, int]:
    """What should be seen from `start` on, and for how many rows it is known: round and round in a loop, else to the end."""
    first, end = _sequence_of(material, start)
    X = material.X[first:end]
    number = int(np.searchsorted(np.cumsum(material.lengths), start, side="right"))
    if material.loop[number]:
        return X[(start - first + np.arange(rows)) % (len(X) - 1)], rows
    known = min(rows, len(X) - (start - first))
    padded = np.full((rows, X.shape[1]), -1, dtype=np.int8)
    padded[:known] = X[start - first : start - first + known]
    return padded, known


def steps_for(material: Material, start: int, order: int, limits: Limits) -> int:
    """How long to recall: twice round a loop and a little more, so that section 6.2 can be seen to hold; else to the end."""
    first, end = _sequence_of(material, start)
    number = int(np.searchsorted(np.cumsum(material.lengths), start, side="right"))
    steps = 2 * (end - first) + 10 if material.loop[number] else end - start - order
    return int(max(1, min(steps, limits.steps, limits.states // material.X.shape[1])))


def run(net: SequenceMemory, material: Material, cue: Cue, rows: Patterns, steps: int) -> Run:
    """Recall with one network from the shared cue `rows`, of which it takes the last `order_`."""
    order = net.order_
    taken = rows[-order:]
    answer = net.recall(taken[0] if order == 1 else taken, steps, noise=cue.noise, rng=cue.seed)
    trajectory = np.concatenate([rows[:-order], answer])
    truth, known = truth_of(material, cue.start, len(trajectory))
    overlaps = (trajectory[:known] == truth[:known]).mean(axis=1) * 2 - 1
    caught = _follows_from(trajectory, material, order, cue.start)
    tau = locked_on_at(trajectory, _sequence(material, cue.start))
    verdict = _failure(trajectory, overlaps) if caught is None else _success(trajectory, material, cue.start, caught)
    if caught is not None:
        overlaps[caught:] = 1.0  # it may follow the sequence out of step with the truth
    padded = np.concatenate([overlaps, np.full(len(trajectory) - known, np.nan)])
    return Run(trajectory, _hidden(net, trajectory), padded, caught, tau, verdict, caught is not None)


def _hidden(net: SequenceMemory, trajectory: Patterns) -> Patterns | None:
    """The hidden state that each row makes (without the noise); silent where the network has not seen enough patterns yet."""
    order = net.order_
    windows = stack_context(trajectory, order)
    states = windows if order == 1 else windows.reshape(len(windows), order, -1)
    if isinstance(net, OneHotNetwork):
        # zeta = sign(U xi - N) of Theorem 1: on only where the state is the stored pattern itself.
        zeta = np.where(windows.astype(np.int64) @ net.U_.T.astype(np.int64) >= windows.shape[1], 1, -1)
    elif hasattr(net, "hidden"):
        zeta = net.hidden(states)
    else:
        return None
    silent = np.full((order - 1, zeta.shape[1]), -1, dtype=np.int8)
    return np.concatenate([silent, np.where(zeta > 0, 1, -1).astype(np.int8)])


def _follows_from(trajectory: Patterns, material: Material, order: int, start: int) -> int | None:
    """The first row from which on every step is one of the stored sequences, until it or the recall ends.

    In a loop it must do so for a whole round, or for half of a recall that is too short for that: the last steps alone could be
    chance.
    """
    round_ = len(_sequence(material, start)) - 1
    stored, last, at = set(), set(), 0
    for length, loop in zip(material.lengths, material.loop, strict=True):
        X = material.X[at : at + length]
        if loop and order > 1:
            X = np.concatenate([X, X[1:order]])  # contexts that reach over the seam
        stored |= {X[t : t + order + 1].tobytes() for t in range(len(X) - order)}
        if not loop:
            last.add(X[-1].tobytes())
        at += length
    ends = [t for t, row in enumerate(trajectory) if row.tobytes() in last]
    stop = ends[0] if ends else len(trajectory) - 1
    caught = stop + 1
    for t in range(stop - order, -1, -1):
        if trajectory[t : t + order + 1].tobytes() not in stored:
            break
        caught = t
    if ends:
        return min(caught, stop)
    return caught if stop - caught >= min(round_, stop // 2) else None


def _success(trajectory: Patterns, material: Material, start: int, caught: int) -> str:
    """A sentence for a recall that worked, also where it is ahead of the truth or behind."""
    if caught == 0:
        return "On the sequence from the start: the cue was right already."
    truth, known = truth_of(material, start, len(trajectory))
    if (trajectory[caught:known] == truth[caught:known]).all():
        return f"Caught at step {caught}: from there on every unit is right."
    X = _sequence(material, start)
    first, _ = _sequence_of(material, start)
    period = len(X) - 1
    places = [p for p in range(period) if np.array_equal(trajectory[caught : caught + 2], X[p : p + 2])]
    if not places or not np.array_equal(X[0], X[-1]):
        return f"Caught at step {caught}, at another place of what was stored: from there on every step is right."
    ahead = (places[0] - (start - first + caught)) % period
    where = f"{ahead} ahead of the truth" if ahead <= period / 2 else f"{period - ahead} behind the truth"
    return f"Caught at step {caught}, {where}: from there on every unit is right."


def _failure(trajectory: Patterns, overlaps: NDArray[np.float64]) -> str:
    """A sentence for a recall that did not work, with where it ended up."""
    final = trajectory[-1]
    again = [t for t in range(len(trajectory) - 1) if np.array_equal(trajectory[t], final)]
    if again:
        period = len(trajectory) - 1 - again[-1]
        where = "it got stuck in one pattern" if period == 1 else f"it went astray into a loop of {period} patterns"
    else:
        where = "it wandered without settling"
    return f"Not recalled: {where}. The overlap with the truth was {overlaps[-1]:.2f} at the end."


def _sequence(material: Material, row: int) -> Patterns:
    """The sequence to which a row belongs."""
    first, end = _sequence_of(material, row)
    return material.X[first:end]


def _sequence_of(material: Material, row: int) -> tuple[int, int]:
    """First row and end of the sequence to which a row belongs."""
    ends = np.cumsum(material.lengths)
    number = int(np.searchsorted(ends, row, side="right"))
    return int(ends[number] - material.lengths[number]), int(ends[number])
