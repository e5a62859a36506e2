"""Recall from a corrupted cue, and what to say about it: the one place that decides whether a recall has worked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor import noise
from seqattractor._faces import Result
from seqattractor.analysis._retrieval import LOCKED_ON, SuccessRate, locked_on_at, retrieved_at, success_rate
from seqattractor.analysis._robustness import stays_at, steps_per_pattern
from seqattractor.networks._base import SequenceMemory
from seqattractor.noise import Seed, as_generator
from seqattractor.sequences import Patterns, stack_context
from seqattractor.sequences._patterns import row_overlaps
from seqattractor.tasks.stored import Followed, Stored

MOST_VALUES = 2**30
MOST_AT_ONCE = 2**26  # values of trials that are recalled side by side


@dataclass(frozen=True)
class Corruption:
    """How a cue is corrupted: first a part of each pattern is covered, then units are flipped.

    Examples
    --------
    >>> import seqattractor as sa
    >>> cue = sa.datasets.xor()[:1]
    >>> int((Corruption(flips=1)(cue, (2,), rng=0) != cue).sum())
    1
    """

    flips: int = 0
    """Units flipped at random in each pattern."""
    occlusion: float | tuple[tuple[int, int], ...] = 0.0
    """The fraction of the frame to cover, at a random place; or the block to cover, a range for each axis of the frame."""
    painted: tuple[int, ...] = ()
    """Units flipped by hand in the newest pattern."""

    def __call__(self, cue: Patterns, frame_shape: tuple[int, ...], rng: Seed) -> Patterns:
        """Give the corrupted cue, of the same shape (patterns, N)."""
        generator = as_generator(rng, "cue")
        if isinstance(self.occlusion, tuple):
            cue = noise.occlude(cue, frame_shape, self.occlusion)
        elif self.occlusion:
            cue = noise.occlude(cue, frame_shape, fraction=self.occlusion, rng=generator)
        corrupted = noise.flip(cue, self.flips, generator)
        corrupted[-1, list(self.painted)] *= -1
        return corrupted


@dataclass(frozen=True, repr=False)
class SpikeCounts(Result):
    """Spikes that were recalled, missed and invented, for each unit; each of shape (N,)."""

    recalled: NDArray[np.int64]
    missed: NDArray[np.int64]
    false: NDArray[np.int64]

    def describe(self) -> str:
        """Say how many of the spikes were recalled, and how many are false."""
        recalled, missed, false = (int(counts.sum()) for counts in (self.recalled, self.missed, self.false))
        recall = f"{recalled} of {recalled + missed} spikes recalled ({_percent(recalled, missed)})"
        return f"{recall}, {false} false (precision {_percent(recalled, false)})."

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each unit; a rate is None where there is nothing to count."""
        return [
            {
                "recalled": int(hits),
                "missed": int(missed),
                "false": int(false),
                "recall": float(hits / (hits + missed)) if hits + missed else None,
                "precision": float(hits / (hits + false)) if hits + false else None,
            }
            for hits, missed, false in zip(self.recalled, self.missed, self.false, strict=True)
        ]


def _percent(part: int, rest: int) -> str:
    """A part of a whole in words."""
    return f"{part / (part + rest):.1%}" if part + rest else "none to count"


@dataclass(frozen=True, repr=False)
class Recall(Result):
    """What a network recalled from a cue."""

    states: Patterns
    """The cue and what followed, shape (K, N)."""
    cue_rows: int
    """How many rows at the beginning are the cue."""
    truth: Patterns | None
    """What should be seen, shape (L, N) with L <= K: to the end of the stored sequence, or round and round in a loop."""
    nearest: list[str] | None
    """For each row the stored pattern that is most like it, as SEQUENCE:FRAME."""
    locked_on: int | None
    """The row from which on every unit is right and in phase to the end, as `seqattractor.locked_on_at` has it."""
    tau: int | None
    """tau of section 6.2, where the whole sequence was recalled, in whichever phase."""
    followed: Followed | None
    """The stored sequence that is followed in the end, in whichever phase, or its negative."""
    verdict: str
    """Whether it has worked, in a sentence."""

    @property
    def steps(self) -> int:
        """How many steps the network has made."""
        return len(self.states) - self.cue_rows

    @property
    def lock_step(self) -> int | None:
        """The step at which it locked on; 0 where the cue was right already."""
        return None if self.locked_on is None else self.step_of(self.locked_on)

    def step_of(self, row: int) -> int:
        """Give the step that made a row; 0 for the cue."""
        return max(0, row - self.cue_rows + 1)

    @property
    def wrong(self) -> NDArray[np.int64] | None:
        """Wrong units of each row for which the truth is known, shape (L,)."""
        return None if self.truth is None else np.asarray((self.states[: len(self.truth)] != self.truth).sum(axis=1))

    @property
    def overlaps(self) -> NDArray[np.float64] | None:
        """Overlap with the truth of each row for which it is known, shape (L,)."""
        return None if self.truth is None else row_overlaps(self.states[: len(self.truth)], self.truth)

    @property
    def worst_step(self) -> int | None:
        """The recalled step with the most wrong units, the first of several; None where none is wrong or no truth is known."""
        recalled = np.zeros(0) if self.wrong is None else self.wrong[self.cue_rows :]
        return int(np.argmax(recalled)) + 1 if recalled.any() else None

    @property
    def spikes(self) -> SpikeCounts | None:
        """Who was on after the cue, and who should have been; silence, which dominates the overlap, does not count."""
        if self.truth is None:
            return None
        wanted, seen = (rows[self.cue_rows : len(self.truth)] > 0 for rows in (self.truth, self.states))
        return SpikeCounts((wanted & seen).sum(axis=0), (wanted & ~seen).sum(axis=0), (~wanted & seen).sum(axis=0))

    def describe(self) -> str:
        """Say how it went."""
        return self.verdict or f"{self.steps} steps were recalled; nothing stored is known to compare them with."

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each step, 0 for the end of the cue."""
        unknown = [None] * len(self.states)
        overlaps = [*([] if self.overlaps is None else self.overlaps.tolist()), *unknown]
        wrong = [*([] if self.wrong is None else self.wrong.tolist()), *unknown]
        nearest = self.nearest or unknown
        return [
            {"step": t - self.cue_rows + 1, "overlap": overlaps[t], "wrong": wrong[t], "nearest": nearest[t]}
            for t in range(self.cue_rows - 1, len(self.states))
        ]


@dataclass(frozen=True, repr=False)
class RecallTrials(Result):
    """Recalls from the same place with fresh noise."""

    locked_on: tuple[int | None, ...]
    """The step at which each trial locked on, or None."""
    followed: tuple[bool, ...]
    """Whether each trial came to follow something stored: the sequence in any phase, another one, or the negative of one."""
    most_wrong: tuple[int, ...]
    """Wrong units in the worst step of each trial."""
    final_overlap: tuple[float, ...]
    """Overlap with the truth in the last step of each trial."""

    @property
    def rate(self) -> SuccessRate:
        """How many trials locked on."""
        return success_rate([step is not None for step in self.locked_on])

    def describe(self) -> str:
        """Say how many trials locked on and when, and what the others did."""
        (low, high), steps = self.rate.interval, [step for step in self.locked_on if step is not None]
        text = f"{self.rate.successes} of {self.rate.trials} trials {LOCKED_ON} (95% interval {low:.2f} to {high:.2f})"
        if steps:
            text += f", at step {np.median(steps):g} (median), {max(steps)} at the latest"
        if lost := sum(followed and step is None for followed, step in zip(self.followed, self.locked_on, strict=True)):
            text += f"; {lost} followed something stored, but out of phase, another sequence, or a negative"
        end = f"overlap at the end: {np.mean(self.final_overlap):.3f} on average"
        return f"{text}. Worst step: {max(self.most_wrong)} units wrong; {end}."

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each trial."""
        names = ("locked_on", "followed", "most_wrong", "final_overlap")
        values = zip(*(getattr(self, name) for name in names), strict=True)
        return [{"trial": number, **dict(zip(names, value, strict=True))} for number, value in enumerate(values)]


def recall(
    net: SequenceMemory,
    cue: Patterns,
    steps: int,
    *,
    stored: Stored | None = None,
    place: tuple[int, int] = (0, 0),
    noise: int = 0,
    rng: Seed = 0,
) -> Recall:
    """Recall from a cue and judge the outcome.

    Parameters
    ----------
    net : SequenceMemory
    cue : ndarray of +-1, shape (k, N)
        At least as many patterns as the network's context; it is given the last ones.
    steps : int
        How many patterns to recall; a network that dwells may take as many steps for each as its memory is long.
    stored : Stored, optional
        What the network has learned.
    place : (int, int)
        Sequence and frame of the first pattern of the cue, in `stored`.
    noise : int
        Units flipped before every step.
    rng : int, Generator or None

    Returns
    -------
    Recall

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 60, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=100, random_state=0).fit(X)
    >>> cue = Corruption(flips=6)(X[:1], (60,), rng=1)
    >>> recall(net, cue, 20, stored=Stored.of(X))
    Recall: locked on at step 1 of 20: every frame from there to the end is right and in phase
    """
    order = net.order_
    rows = steps * steps_per_pattern(net)
    if rows * net.n_features_in_ > MOST_VALUES:
        raise ValueError(f"{steps} steps of {net.n_features_in_} units are too many to keep; ask for fewer steps.")
    taken = cue[-order:]
    states = np.concatenate([cue[:-order], net.recall(taken[0] if order == 1 else taken, rows, noise=noise, rng=rng)])
    outcome = judge(net, states, len(cue), stored, place)
    return outcome if stored is None else replace(outcome, nearest=stored.nearest_names(states))


def judge(net: SequenceMemory, states: Patterns, cue_rows: int, stored: Stored | None, place: tuple[int, int]) -> Recall:
    """Judge what a network did: the one place that decides whether a recall has worked.

    Parameters
    ----------
    net : SequenceMemory
        Whose states these are. One that dwells at each pattern is judged at its own pace: by its passages from one stored
        pattern to another.
    states : ndarray of +-1, shape (K, N)
        Cue and recall.
    cue_rows : int
        How many rows are the cue.
    stored : Stored or None
        What the network has learned.
    place : (int, int)
        Sequence and frame of the first row, in `stored`.

    Returns
    -------
    Recall
    """
    if stored is None:
        return Recall(states, cue_rows, None, None, None, None, None, "")
    (s, frame), order = place, net.order_
    period = stored.period(s, order)
    wanted = stored.following(s, frame, 1 + (len(states) - 1) // steps_per_pattern(net), order)
    at = _rows_that_count(net, states, stored, wanted)
    path = states[at]
    locked_on = locked_on_at(path, wanted) if len(path) >= len(wanted) else None
    tau = retrieved_at(path, stored.sequences[s] if period is None else stored.sequences[s][: period + 1])
    followed = stored.followed_by(path, order, prefer=s)
    pace = np.searchsorted(at, np.arange(len(states)), side="right") - 1  # how many passages each row has behind it
    outcome = Recall(
        states,
        cue_rows,
        wanted[pace[pace < len(wanted)]],
        None,
        None if locked_on is None else int(at[locked_on]),
        None if tau is None else int(at[tau]),
        None if followed is None else replace(followed, since=int(at[followed.since]), until=int(at[followed.until - 1]) + 1),
        "",
    )
    behind = int(pace[outcome.followed.since]) if outcome.followed else 0
    return replace(outcome, verdict=_verdict(outcome, stored, place, behind, order))


def _rows_that_count(net: SequenceMemory, states: Patterns, stored: Stored, wanted: Patterns) -> NDArray[np.int64]:
    """All rows; of a network that dwells the cue and the rows in which a stay at a stored pattern begins."""
    if not net.traits().dwells:
        return np.arange(len(states))
    stays = stays_at(states, np.concatenate(stored.sequences))
    first = [t for t in stays[:1] if t == 0 or np.array_equal(states[t], wanted[0])]  # the cue, or the cue made clean
    return np.array([0, *stays[len(first) :]])


def _verdict(outcome: Recall, stored: Stored, place: tuple[int, int], pace: int, order: int) -> str:
    """Say in a sentence or two how a recall went."""
    assert outcome.overlaps is not None
    if outcome.locked_on == 0:
        return "On the sequence from the start: the cue was right already, and so is every frame to the end."
    if outcome.locked_on is not None:
        return (
            f"Locked on at step {outcome.lock_step} of {outcome.steps}: every frame from there to the end is right and in phase."
        )
    if outcome.followed is not None:
        return _out_of_phase(outcome, outcome.followed, stored, place, pace, order)
    again = np.flatnonzero((outcome.states[:-1] == outcome.states[-1]).all(axis=1))
    if again.size:
        period = len(outcome.states) - 1 - int(again[-1])
        where = "it got stuck in one pattern" if period == 1 else f"it went astray into a loop of {period} patterns"
    else:
        where = "it wandered without settling"
    end = f"The overlap with the truth was {outcome.overlaps[-1]:.2f} at the end"
    if outcome.overlaps[-1] == 1:
        end = "The last frame is right, but less than half of the frames before it"
    if outcome.overlaps[-1] == -1:
        end = "The last frame is the negative of the right one, with every unit reversed"
    return f"Not recalled: {where}. {end}."


def _out_of_phase(outcome: Recall, followed: Followed, stored: Stored, place: tuple[int, int], pace: int, order: int) -> str:
    """A sentence for a recall that follows something stored, but not what the cue asked for."""
    since = f"from step {outcome.step_of(followed.since)} on"
    name = stored.names[followed.sequence]
    if followed.mirrored:
        which = "the stored sequence" if len(stored.names) == 1 else f"a stored sequence, {name}"
        return f"Not recalled: {since} it follows the negative of {which}, with every unit reversed. That is an attractor, too."
    s, frame = place
    if followed.sequence != s:
        return f"Not recalled: {since} it follows another stored sequence, {name}."
    ahead = frames_ahead(followed, stored, frame, pace, order)
    if not ahead:
        return f"Not recalled to the end: {since} it follows the sequence in phase, but not for half of the frames."
    return f"Out of phase: {since} it follows the sequence exactly, but {say_ahead(ahead)}."


def say_ahead(ahead: int) -> str:
    """Say by how many frames a recall is ahead or behind, as `frames_ahead` gives it; not 0.

    Examples
    --------
    >>> say_ahead(-1)
    '1 frame behind'
    """
    return f"{abs(ahead)} frame{'s' if abs(ahead) > 1 else ''} {'ahead' if ahead > 0 else 'behind'}"


def frames_ahead(followed: Followed, stored: Stored, frame: int, pace: int, order: int) -> int:
    """Give by how many frames a recall that follows a sequence is ahead of one that began at a frame, `pace` passages ago.

    Parameters
    ----------
    followed : Followed
    stored : Stored
    frame : int
        Of the first row of the recall.
    pace : int
        From there to the row ``followed.since``.
    order : int

    Returns
    -------
    int
        Negative where it is behind; the nearer of both in a loop.
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
    """Recall again and again with fresh noise.

    Parameters
    ----------
    net : SequenceMemory
    clean : ndarray of +-1, shape (order, N)
        The cue before it is corrupted.
    corruption : Corruption
    steps : int
        As in `recall`.
    trials : int
    stored : Stored
    place : (int, int)
        Sequence and frame of the first pattern of the cue.
    frame_shape : tuple of int
    noise : int
        Units flipped before every step.
    rng : int, Generator or None

    Returns
    -------
    RecallTrials
    """
    generator = as_generator(rng, "trials")
    rows = steps * steps_per_pattern(net)
    at_once = max(1, MOST_AT_ONCE // ((len(clean) + rows) * net.n_features_in_))
    outcomes: list[tuple[int | None, bool, int, float]] = []
    while len(outcomes) < trials:
        some = range(min(at_once, trials - len(outcomes)))
        cues = np.stack([corruption(clean, frame_shape, generator) for _ in some])
        runs = net.recall(cues[:, 0] if net.order_ == 1 else cues, rows, noise=noise, rng=generator)
        for outcome in (judge(net, run, len(clean), stored, place) for run in runs):
            assert outcome.wrong is not None
            assert outcome.overlaps is not None
            most_wrong = int(outcome.wrong[outcome.cue_rows :].max(initial=0))
            outcomes.append((outcome.lock_step, outcome.followed is not None, most_wrong, float(outcome.overlaps[-1])))
    return RecallTrials(*zip(*outcomes, strict=True))


def hidden_states(net: SequenceMemory, states: Patterns) -> Patterns | None:
    """Give the hidden state zeta that each row makes, eq. (2), without noise.

    Parameters
    ----------
    net : SequenceMemory
    states : ndarray of +-1, shape (K, N)

    Returns
    -------
    ndarray of +-1, shape (K, M), or None
        -1 where the network has not seen enough patterns yet; None for networks without hidden neurons.
    """
    if not hasattr(net, "hidden_states"):
        return None
    zeta = net.hidden_states(stack_context(states, net.order_))
    silent = np.full((net.order_ - 1, zeta.shape[1]), -1, dtype=np.int8)
    return np.concatenate([silent, np.where(zeta > 0, 1, -1).astype(np.int8)])
