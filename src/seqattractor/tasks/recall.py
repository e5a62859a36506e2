"""Recall from a corrupted cue, and the judgement of it: the one place that decides whether a recall
has worked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor import noise
from seqattractor._faces import Result, plural
from seqattractor.analysis._retrieval import SuccessRate, retrieved_at, success_rate
from seqattractor.analysis._robustness import stays_at, steps_per_pattern
from seqattractor.networks.base import SequenceMemory
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import row_overlaps
from seqattractor.sequences._transitions import LOCKED_ON, lock_row
from seqattractor.tasks.stored import Followed, Stored

MOST_VALUES = 2**30
MOST_AT_ONCE = 2**26  # values of trials that are recalled side by side


@dataclass(frozen=True)
class Corruption:
    """How a cue is corrupted: first a part of each pattern is covered, then units are flipped."""

    flips: int = 0  # units flipped at random in each pattern
    occlusion: float | tuple[tuple[int, int], ...] = 0.0
    """The fraction of the frame to cover, at a random place; or the block to cover, a range for
    each axis of the frame, or of pictures of grey or colour for rows and columns.
    """
    painted: tuple[int, ...] = ()  # units flipped by hand in the newest pattern

    def __call__(self, cue: Patterns, frame_shape: tuple[int, ...], rng: Seed) -> Patterns:
        """Return the corrupted cue, of the same shape (patterns, N), by `sa.noise.occlude` and
        `sa.noise.flip`.
        """
        if isinstance(self.occlusion, tuple):  # the units of a pixel are covered together
            axes = min(len(self.occlusion), len(frame_shape))
            cue = noise.occlude(cue, frame_shape, self.occlusion, axes=axes)
        elif self.occlusion:
            cue = noise.occlude(
                cue, frame_shape, fraction=self.occlusion, rng=rng, axes=min(2, len(frame_shape))
            )
        corrupted = noise.flip(cue, self.flips, rng)
        corrupted[-1, list(self.painted)] *= -1
        return corrupted


@dataclass(frozen=True, repr=False)
class SpikeCounts(Result):
    """Spikes that were recalled, missed and invented, for each unit; each of shape (N,)."""

    recalled: NDArray[np.int64]
    missed: NDArray[np.int64]
    false: NDArray[np.int64]

    def describe(self) -> str:
        """Count the recalled and the false spikes in a sentence."""
        recalled, missed, false = (
            int(counts.sum()) for counts in (self.recalled, self.missed, self.false)
        )
        recall, precision = (
            recalled / max(1, recalled + missed),
            recalled / max(1, recalled + false),
        )
        return (
            f"{recalled} of {recalled + missed} spikes recalled ({recall:.1%}), {false} false "
            f"(precision {precision:.1%})."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each unit."""
        names = ("recalled", "missed", "false")
        return [
            dict(zip(names, map(int, counts), strict=True))
            for counts in zip(*vars(self).values(), strict=True)
        ]


@dataclass(frozen=True, repr=False)
class Recall(Result):
    """The states that a network recalled from a cue, and the judgement of them."""

    states: Patterns  # the cue and what followed, shape (K, N)
    cue_rows: int  # how many rows at the beginning are the cue
    truth: Patterns | None = None
    """What should be seen, shape (L, N) with L <= K: to the end of the stored sequence, or round
    and round in a loop.
    """
    nearest: list[str] | None = None
    """For each row the stored pattern that is most like it, as SEQUENCE:FRAME."""
    locked_on: int | None = None
    """The row from which on every unit is right and in phase to the end, as
    `seqattractor.lock_on_step` has it.
    """
    tau: int | None = (
        None  # tau of section 6.2, where the whole sequence was recalled, in whichever phase
    )
    followed: Followed | None = None
    """The stored sequence that is followed in the end, in whichever phase, or its negative."""
    verdict: str = "No stored sequence is known to compare with."
    period: int | None = None
    """Of the loop that the cue belongs to; None where that is an open sequence."""
    looked: int = 0  # within how many steps `tau` was looked for
    ahead: int | None = None
    """By how many frames it follows the sequence ahead of its phase, negative where it is behind;
    None where it does not.
    """

    @property
    def steps(self) -> int:
        """How many steps the network has made."""
        return len(self.states) - self.cue_rows

    @property
    def lock_step(self) -> int | None:
        """The step at which it locked on; 0 where the cue was right already."""
        return None if self.locked_on is None else self.step_of(self.locked_on)

    def step_of(self, row: int) -> int:
        """Return the step that made a row; 0 for the cue."""
        return max(0, row - self.cue_rows + 1)

    @property
    def wrong(self) -> NDArray[np.int64] | None:
        """Wrong units of each row for which the truth is known, shape (L,)."""
        return (
            None
            if self.truth is None
            else np.asarray((self.states[: len(self.truth)] != self.truth).sum(axis=1))
        )

    @property
    def overlaps(self) -> NDArray[np.float64] | None:
        """Overlap with the truth of each row for which it is known, shape (L,)."""
        return (
            None if self.truth is None else row_overlaps(self.states[: len(self.truth)], self.truth)
        )

    @property
    def worst_step(self) -> int | None:
        """The recalled step with the most wrong units, the first of several; None where none is
        wrong or no truth is known.
        """
        recalled = np.zeros(0) if self.wrong is None else self.wrong[self.cue_rows :]
        return int(np.argmax(recalled)) + 1 if recalled.any() else None

    @property
    def spikes(self) -> SpikeCounts | None:
        """Who was on after the cue, and who should have been; silence, which dominates the overlap,
        does not count.
        """
        if self.truth is None:
            return None
        wanted, seen = (
            rows[self.cue_rows : len(self.truth)] > 0 for rows in (self.truth, self.states)
        )
        return SpikeCounts(
            (wanted & seen).sum(axis=0), (wanted & ~seen).sum(axis=0), (~wanted & seen).sum(axis=0)
        )

    def describe(self) -> str:
        """Return the verdict, for loops by the paper's criterion, too, and the errors."""
        parts = [self.verdict]
        if self.period is not None:
            seen = (
                f"not within {self.looked} steps"
                if self.tau is None
                else f"from step tau = {self.step_of(self.tau)} on"
            )
            parts.append(
                "By the paper's criterion (section 6.2), the whole loop is seen in any phase: "
                f"{seen}."
            )
        if (
            self.wrong is not None
            and self.overlaps is not None
            and (worst := self.worst_step) is not None
        ):
            most = plural(int(self.wrong[self.cue_rows + worst - 1]), "unit")
            parts.append(
                f"Worst step: {worst}, with {most} wrong; overlap at the end: "
                f"{self.overlaps[-1]:.3f}."
            )
        return " ".join(parts)

    def summary(self) -> dict[str, Any]:
        """Return the judgement as plain values for JSON."""
        names = ("locked_on", "lock_step", "tau", "period", "ahead", "worst_step", "verdict")
        followed = None if self.followed is None else vars(self.followed)
        return {name: getattr(self, name) for name in names} | {"followed": followed}

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each step, 0 for the end of the cue."""
        unknown = [None] * len(self.states)
        overlaps = [*([] if self.overlaps is None else self.overlaps.tolist()), *unknown]
        wrong = [*([] if self.wrong is None else self.wrong.tolist()), *unknown]
        nearest = self.nearest or unknown
        return [
            {
                "step": t - self.cue_rows + 1,
                "overlap": overlaps[t],
                "wrong": wrong[t],
                "nearest": nearest[t],
            }
            for t in range(self.cue_rows - 1, len(self.states))
        ]


class Trial(NamedTuple):
    """One of several recalls from the same place."""

    locked_on: int | None  # the step at which it locked on, or None
    retrieved: bool | None
    """Whether it meets the criterion of section 6.2, the whole loop in any phase; None for open
    sequences.
    """
    most_wrong: int  # wrong units in its worst step
    final_overlap: float  # overlap with the truth in its last step


@dataclass(frozen=True, repr=False)
class RecallTrials(Result):
    """Recalls from the same places with fresh noise."""

    each: tuple[Trial, ...]
    looked: int  # within how many steps, at most, loops were looked for as section 6.2 asks

    @property
    def rate(self) -> SuccessRate:
        """The fraction of trials that locked on."""
        return success_rate([trial.locked_on is not None for trial in self.each])

    def describe(self) -> str:
        """Return how many trials locked on and when, and how wrong they were."""
        (low, high), steps = (
            self.rate.interval,
            [trial.locked_on for trial in self.each if trial.locked_on is not None],
        )
        text = (
            f"{self.rate.successes} of {self.rate.trials} trials {LOCKED_ON} (95% interval "
            f"{low:.2f} to {high:.2f})"
        )
        if steps:
            text += f", at step {np.median(steps):g} (median), {max(steps)} at the latest"
        if all(trial.retrieved is not None for trial in self.each):
            whole = sum(bool(trial.retrieved) for trial in self.each)
            text += (
                ". By the paper's criterion, the whole loop in any phase (section 6.2), within "
                f"{self.looked} steps: {whole}"
            )
        worst = max(trial.most_wrong for trial in self.each)
        end = np.mean([trial.final_overlap for trial in self.each])
        return f"{text}. Worst step: {worst} units wrong; overlap at the end: {end:.3f} on average."

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each trial."""
        return [{"trial": number, **trial._asdict()} for number, trial in enumerate(self.each)]


def recall(
    net: SequenceMemory,
    cue: Patterns,
    steps: int,
    *,
    stored: Stored | None = None,
    place: tuple[int, int] = (0, 0),
    noise: int = 0,
    rng: Seed = 0,
    look_on: bool = False,
) -> Recall:
    """Recall `steps` patterns from a cue and judge the outcome.

    The cue, of shape (k, N), begins at `place`, a sequence and a frame of `stored`; the network is
    given its last patterns, as many as its context has. `noise` units are flipped before every
    step. With `look_on`, a loop is continued for two more rounds, unseen, as the criterion of
    section 6.2 needs.
    """
    order, pace = net.order_, steps_per_pattern(net)
    rows = steps * pace
    if rows * net.n_features_in_ > MOST_VALUES:
        raise ValueError(
            f"{steps} steps of {net.n_features_in_} units do not fit into memory; ask for fewer "
            "steps."
        )
    beyond = stored.steps_beyond(place[0], order) * pace if look_on and stored is not None else 0
    path = np.concatenate(
        [cue[:-order], net.recall(cue[-order:], rows + beyond, noise=noise, rng=rng)]
    )
    outcome = judge(net, path, len(cue), stored, place, rows)
    return (
        outcome
        if stored is None
        else replace(outcome, nearest=stored.nearest_names(outcome.states))
    )


def judge(
    net: SequenceMemory,
    path: Patterns,
    cue_rows: int,
    stored: Stored | None,
    place: tuple[int, int],
    steps: int,
) -> Recall:
    """Judge a cue, which begins at a place of the stored sequences, and the `steps` states after
    it.

    The path has the shape (K, N); states beyond these steps count for the criterion of section 6.2
    only. A network that dwells at each pattern is judged at its own pace: by its passages from one
    stored pattern to another.
    """
    states = path[: cue_rows + steps]
    if stored is None:
        return Recall(states, cue_rows)
    (s, frame), order = place, net.order_
    period = stored.period(s, order)
    wanted = stored.following(s, frame, 1 + (len(states) - 1) // steps_per_pattern(net), order)
    rows = _rows_that_count(net, path, stored, wanted)
    at = rows[rows < len(states)]
    seen = states[at]
    locked_on = (
        lock_row(seen, wanted, min(cue_rows, len(wanted))) if len(seen) >= len(wanted) else None
    )
    tau = retrieved_at(
        path[rows], stored.sequences[s] if period is None else stored.sequences[s][: period + 1]
    )
    pace = (
        np.searchsorted(at, np.arange(len(states)), side="right") - 1
    )  # how many passages each row has behind it
    ahead, followed = None, stored.followed_by(seen, order, prefer=s)
    if followed is not None:
        followed = replace(
            followed, since=int(at[followed.since]), until=int(at[followed.until - 1]) + 1
        )
        if followed.sequence == s and not followed.mirrored:
            ahead = frames_ahead(followed, stored, frame, int(pace[followed.since]), order)
    outcome = Recall(
        states,
        cue_rows,
        truth=wanted[pace[pace < len(wanted)]],
        locked_on=None if locked_on is None else int(at[locked_on]),
        tau=None if tau is None else int(rows[tau]),
        followed=followed,
        period=period,
        looked=len(path) - cue_rows,
        ahead=ahead,
    )
    return replace(outcome, verdict=_verdict(outcome, stored))


def _rows_that_count(
    net: SequenceMemory, path: Patterns, stored: Stored, wanted: Patterns
) -> NDArray[np.int64]:
    """Return all rows; of a network that dwells, the cue and the rows in which a stay at a stored
    pattern begins.
    """
    if not net.traits().dwells:
        return np.arange(len(path))
    stays = stays_at(path, np.concatenate(stored.sequences))
    first = [
        t for t in stays[:1] if t == 0 or np.array_equal(path[t], wanted[0])
    ]  # the cue, or the cue made clean
    return np.array([0, *stays[len(first) :]])


def _verdict(outcome: Recall, stored: Stored) -> str:
    """Describe the outcome in a sentence or two."""
    assert outcome.overlaps is not None
    if outcome.locked_on is not None:
        when = (
            "from the start"
            if outcome.locked_on == 0
            else f"at step {outcome.lock_step} of {outcome.steps}"
        )
        return f"Locked on {when}: every frame from there to the end is right and in phase."
    if outcome.followed is not None:
        return _out_of_phase(outcome, outcome.followed, stored)
    again = np.flatnonzero((outcome.states[:-1] == outcome.states[-1]).all(axis=1))
    where = "it wandered without settling"
    if again.size:
        period = len(outcome.states) - 1 - int(again[-1])
        where = (
            "it got stuck in one pattern"
            if period == 1
            else f"it went astray into a loop of {period} patterns"
        )
    return (
        f"Not recalled: {where}. The overlap with the truth was {outcome.overlaps[-1]:.2f} at the "
        "end."
    )


def _out_of_phase(outcome: Recall, followed: Followed, stored: Stored) -> str:
    """Describe a recall that follows something stored, but not what the cue asked for."""
    since, name = f"from step {outcome.step_of(followed.since)} on", stored.names[followed.sequence]
    if followed.mirrored:
        return (
            f"Not recalled: {since} it follows the negative of {name}, with every unit reversed. "
            "That is an attractor, too."
        )
    if (ahead := outcome.ahead) is None:
        return f"Not recalled: {since} it follows another stored sequence, {name}."
    if not ahead:
        return (
            f"Not recalled: {since} it follows the sequence in phase, but not for half of the "
            "frames."
        )
    return f"Out of phase: {since} it follows the sequence exactly, but {describe_shift(ahead)}."


def describe_shift(ahead: int) -> str:
    """Return a number of frames, not 0, in words: "1 frame behind"."""
    return f"{plural(abs(ahead), 'frame')} {'ahead' if ahead > 0 else 'behind'}"


def frames_ahead(followed: Followed, stored: Stored, frame: int, pace: int, order: int) -> int:
    """Return by how many frames a recall is ahead of one that began at a frame, `pace` passages
    before row ``followed.since``.

    It is negative where it is behind; in a loop the smaller of both counts.
    """
    ahead, period = followed.frame - (frame + pace), stored.period(followed.sequence, order)
    return ahead if period is None else (ahead + period // 2) % period - period // 2


def recall_often(
    net: SequenceMemory,
    clean: Patterns,
    corruption: Corruption,
    steps: int,
    *,
    trials: int,
    stored: Stored,
    place: tuple[int, int],
    frame_shape: tuple[int, ...],
    noise: int = 0,
    rng: Seed = 0,
) -> RecallTrials:
    """Recall from the same place several times, each with a fresh corruption of the `clean` cue;
    otherwise as `recall`.
    """
    generator = as_generator(rng, "trials")
    rows = steps * steps_per_pattern(net)
    looked = rows + stored.steps_beyond(place[0], net.order_) * steps_per_pattern(net)
    at_once = max(1, MOST_AT_ONCE // ((len(clean) + looked) * net.n_features_in_))
    done: list[Trial] = []
    while len(done) < trials:
        some = range(min(at_once, trials - len(done)))
        cues = np.stack([corruption(clean, frame_shape, generator) for _ in some])
        runs = net.recall(cues, looked, noise=noise, rng=generator)
        done += [_trial(judge(net, run, len(clean), stored, place, rows)) for run in runs]
    return RecallTrials(tuple(done), looked)


def _trial(outcome: Recall) -> Trial:
    """Summarize a recall whose truth is known."""
    assert outcome.wrong is not None
    assert outcome.overlaps is not None
    return Trial(
        outcome.lock_step,
        retrieved=None if outcome.period is None else outcome.tau is not None,
        most_wrong=int(outcome.wrong[outcome.cue_rows :].max(initial=0)),
        final_overlap=float(outcome.overlaps[-1]),
    )
