"""What happens when: the epochs of the sparse rule, one after the other."""

from __future__ import annotations

import math

from seqattractor.learning.sparse.rule import STEP_BITS, Epoch

CHOOSING = 0.3  # of the epochs: then targets are frozen, and learned with more noise
NOISE_WHILE_CHOOSING = 0.4  # of the noise of later epochs: fields should tell which neurons suit a pattern
DRIVE_STEPS = (0.5, 0.1)  # of the way to a pattern that P goes, at first and at the end of choosing
PRACTICE = 1 / 3  # of the epochs are left to V alone, at the end and without noise
PATIENCE, PATIENT_UP_TO = 10, 0.5  # V goes on for so many times all epochs if at most so many of the transitions are wrong
PRACTICE_STEP = 0.1  # of the first step of V
MENDING_ROUNDS, MENDING, MENDED_UP_TO = 2, 0.08, 0.01  # how often, for how much of the epochs U learns other targets for so many
MENDING_STEP = 0.15  # of the first step of U
CLEAN_CHOOSING, SETTLING, CLEAN_PRACTICE = 0.16, 0.2, 0.32  # of the epochs, where clean patterns are learned first
SETTLING_STEP = 0.2  # of the first step of V
CLEAN_HOMEOSTASIS = 0.2  # of the first homeostasis is there to the end of choosing, so that neurons get equal shares
PRACTICE_OF_U = 3  # times all epochs: U practises alone so long where it may be patient


def plan_epochs(
    epochs: int,
    *,
    noise: int,
    hidden_step: int,
    visible_step: int,
    decay: bool,
    learned_drive: bool,
    clean_first: bool,
    homeostasis: float,
    redraw_above: float,
    patient: bool,
) -> list[Epoch]:
    """Plan a whole `fit`.

    Targets are chosen, then frozen. Homeostasis fades as long as P learns, else over the first fifth of the epochs; from its end
    to half-time targets that are decoded badly are redrawn. Where there is noise, it leaves a few transitions wrong that V could
    make: the last third of the epochs is without it, for V alone, and ends when no error is left. Patience lets the neurons that
    have errors go on. If some are left after long practice, codes are such that no V can decode them all, or nearly so: then
    the wrong transitions get other targets, which U learns before V practises again.

    Patterns that lie near each other, such as pictures, are learned without noise first: under noise from the start, "no" to the
    many patterns that look alike drowns "yes" to the few, and hidden neurons fall silent. With patience there is no noise at all.

    Parameters
    ----------
    epochs : int
        How many, at most, unless it is to be patient.
    noise, hidden_step, visible_step, homeostasis
        As in `Epoch`, at their largest.
    decay : bool
        Whether steps fall linearly to zero.
    learned_drive : bool
        Whether P is learned.
    clean_first : bool
        Whether noise begins only when targets are frozen and clean patterns were learned.
    redraw_above : float
        How many wrong visible neurons a transition may have until its targets are redrawn; infinite for no redraw at all.
    patient : bool
        Whether V may practise for longer than `epochs` where it has errors left, and wrong transitions may get other targets; and
        whether U practises alone where clean patterns come first.

    Returns
    -------
    list of Epoch
    """
    if clean_first and noise:
        return _clean_first(epochs, noise, hidden_step, visible_step, decay, homeostasis, redraw_above, patient)
    closing: list[Epoch] = []
    if noise:
        practice = int(PRACTICE * epochs)
        closing = _for_V_alone(practice, visible_step)
        if patient:
            more = _patience(epochs, visible_step)
            closing += more
            if redraw_above < math.inf:
                closing += MENDING_ROUNDS * (_mending(epochs, practice, noise, hidden_step, visible_step) + more)
        epochs -= practice
    choosing, fade = _spans(epochs, learned_drive)
    plan = []
    for e in range(epochs):
        share = 1.0 - e / epochs if decay else 1.0
        chosen = e < choosing
        plan.append(
            Epoch(
                noise=round(noise * NOISE_WHILE_CHOOSING) if chosen else noise,
                hidden_step=max(1, round(share * hidden_step)),
                visible_step=max(1, round(share * visible_step)),
                choosing=chosen,
                drive_step=_drive_step(e, choosing) if learned_drive else 0,
                homeostasis=homeostasis * max(0.0, 1.0 - e / fade),
                redraw_above=redraw_above if fade <= e < epochs // 2 else math.inf,
            )
        )
    return plan + closing


def _spans(epochs: int, learned_drive: bool) -> tuple[int, int]:
    """For how many epochs, without those for V alone, targets are chosen, and over how many homeostasis fades."""
    choosing = max(1, int(CHOOSING * epochs))
    return choosing, choosing if learned_drive else max(1, epochs // 5)


def _drive_step(e: int, choosing: int) -> int:
    """How far P moves in an epoch: less and less, and not at all once targets are frozen."""
    first, last = DRIVE_STEPS
    return round(first * (last / first) ** (e / choosing) * 2**STEP_BITS) if e < choosing else 0


def _clean_first(
    epochs: int,
    noise: int,
    hidden_step: int,
    visible_step: int,
    decay: bool,
    homeostasis: float,
    redraw_above: float,
    patient: bool,
) -> list[Epoch]:
    """Targets are chosen and clean patterns learned, with constant steps; then U practises, with noise; then V alone without.

    If patience is allowed, U practises alone instead, for larger and larger margins: that takes far more epochs, but less time.
    """
    choosing, settling, practice = (max(1, int(share * epochs)) for share in (CLEAN_CHOOSING, SETTLING, CLEAN_PRACTICE))
    plan = [
        Epoch(
            noise=0,
            hidden_step=hidden_step,
            visible_step=visible_step,
            choosing=True,
            homeostasis=homeostasis * max(1.0 - e / choosing, CLEAN_HOMEOSTASIS),
        )
        for e in range(choosing)
    ]
    settled = max(1, round(SETTLING_STEP * visible_step))
    plan += [
        Epoch(
            noise=0, hidden_step=hidden_step, visible_step=settled, redraw_above=redraw_above if e >= settling // 2 else math.inf
        )
        for e in range(settling)
    ]
    noisy = max(0, epochs - choosing - settling - practice)
    if patient:
        plan += [Epoch(noise=0, hidden_step=hidden_step, visible_step=0)] * (PRACTICE_OF_U * epochs)
        return plan + _for_V_alone(practice, visible_step) + _patience(epochs, visible_step)
    plan += [
        Epoch(
            noise=noise,
            hidden_step=max(1, round((1.0 - e / noisy if decay else 1.0) * hidden_step)),
            visible_step=max(1, round(PRACTICE_STEP * visible_step)),
        )
        for e in range(noisy)
    ]
    plan += _for_V_alone(practice, visible_step)
    return plan[:epochs]


def _mending(epochs: int, practice: int, noise: int, hidden_step: int, visible_step: int) -> list[Epoch]:
    """Transitions that are still wrong get other targets, and U learns them, with small steps that fall to zero; then V alone."""
    times = max(1, int(MENDING * epochs))
    mend = [
        Epoch(
            noise=noise,
            hidden_step=max(1, round(MENDING_STEP * (1.0 - e / times) * hidden_step)),
            visible_step=max(1, round(PRACTICE_STEP * visible_step)),
            redraw_above=math.inf if e else 0.0,
            at_most=MENDED_UP_TO,
        )
        for e in range(times)
    ]
    return mend + _for_V_alone(practice, visible_step, MENDED_UP_TO)


def _patience(epochs: int, visible_step: int) -> list[Epoch]:
    """V goes on alone if it has little left to learn."""
    return _for_V_alone(PATIENCE * epochs, visible_step, PATIENT_UP_TO)


def _for_V_alone(epochs: int, visible_step: int, at_most: float = math.inf) -> list[Epoch]:
    """Clean patterns, and small steps of V alone."""
    return [Epoch(noise=0, hidden_step=0, visible_step=max(1, round(PRACTICE_STEP * visible_step)), at_most=at_most)] * epochs


def plan_stream(
    done: int,
    epochs: int,
    *,
    noise: int,
    hidden_step: int,
    visible_step: int,
    learned_drive: bool,
    clean_first: bool,
    homeostasis: float,
) -> Epoch:
    """Plan one presentation of a stream: targets are always chosen, but P and thresholds rest after as many epochs as in a `fit`.

    Parameters
    ----------
    done : int
        Epochs so far.
    epochs, noise, hidden_step, visible_step, learned_drive, homeostasis
        As in `plan_epochs`.
    clean_first : bool
        Whether noise is for patterns that are known already, of which a stream has none.

    Returns
    -------
    Epoch
    """
    e = max(0, min(done, epochs - 1))
    if clean_first and noise:
        choosing = max(1, int(CLEAN_CHOOSING * epochs))
        left, drive_step = max(1.0 - e / choosing, CLEAN_HOMEOSTASIS) if e < choosing else 0.0, 0
    else:
        choosing, fade = _spans(epochs - int(PRACTICE * epochs) if noise else epochs, learned_drive)
        left, drive_step = max(0.0, 1.0 - e / fade), _drive_step(e, choosing) if learned_drive else 0
    return Epoch(
        noise=0 if clean_first else noise,
        hidden_step=hidden_step,
        visible_step=visible_step,
        choosing=True,
        drive_step=drive_step,
        homeostasis=homeostasis * left,
    )
