"""What happens when: the epochs of the sparse rule, one after the other."""

from __future__ import annotations

from dataclasses import replace

from seqattractor.learning.sparse.rule import STEP_BITS, Epoch

CHOOSING = 0.3  # of the epochs: then targets are frozen, and learned with more noise
NOISE_WHILE_CHOOSING = 0.4  # of the noise of later epochs: fields should tell which neurons suit a pattern
DRIVE_STEPS = (0.5, 0.1)  # of the way to a pattern that P goes, at first and at the end of choosing
PRACTICE = 1 / 3  # of the epochs, at the end: without noise, for V alone
PRACTICE_STEP = 0.1  # of the first step of V
CLEAN_CHOOSING, SETTLING, CLEAN_PRACTICE = 0.16, 0.2, 0.32  # of the epochs, where clean patterns are learned first
SETTLING_STEP = 0.2  # of the first step of V


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
    redraw: bool,
) -> list[Epoch]:
    """Plan a whole `fit`.

    Targets are chosen, then frozen. Homeostasis fades as long as P learns, else over the first fifth of the epochs; from its end
    to half-time targets that are decoded badly are redrawn. Where there is noise, it leaves a few transitions wrong that V could
    make: the last third of the epochs is without it, for V alone, and ends when no error is left.

    Patterns that lie near each other, such as pictures, are learned without noise first: under noise from the start, "no" to the
    many patterns that look alike drowns "yes" to the few, and hidden neurons fall silent.

    Parameters
    ----------
    epochs : int
        How many, at most.
    noise, hidden_step, visible_step, homeostasis
        As in `Epoch`, at their largest.
    decay : bool
        Whether steps fall linearly to zero.
    learned_drive : bool
        Whether P is learned.
    clean_first : bool
        Whether noise begins only when targets are frozen and clean patterns were learned.
    redraw : bool
        Whether targets may be redrawn.

    Returns
    -------
    list of Epoch
    """
    if clean_first and noise:
        return _clean_first(epochs, noise, hidden_step, visible_step, decay, homeostasis, redraw)
    practice = int(PRACTICE * epochs) if noise else 0
    epochs -= practice
    choosing = max(1, int(CHOOSING * epochs))
    fade = choosing if learned_drive else max(1, epochs // 5)
    first, last = DRIVE_STEPS
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
                drive_step=round(first * (last / first) ** (e / choosing) * 2**STEP_BITS) if chosen and learned_drive else 0,
                homeostasis=homeostasis * max(0.0, 1.0 - e / fade),
                redrawing=redraw and fade <= e < epochs // 2,
            )
        )
    return plan + _for_V_alone(practice, visible_step)


def _clean_first(
    epochs: int, noise: int, hidden_step: int, visible_step: int, decay: bool, homeostasis: float, redraw: bool
) -> list[Epoch]:
    """Targets are chosen and clean patterns learned, with constant steps; then U practises with noise; then V alone without."""
    choosing, settling, practice = (max(1, int(share * epochs)) for share in (CLEAN_CHOOSING, SETTLING, CLEAN_PRACTICE))
    plan = [
        Epoch(
            noise=0,
            hidden_step=hidden_step,
            visible_step=visible_step,
            choosing=True,
            homeostasis=homeostasis * (1.0 - e / choosing),
        )
        for e in range(choosing)
    ]
    settled = max(1, round(SETTLING_STEP * visible_step))
    plan += [
        Epoch(noise=0, hidden_step=hidden_step, visible_step=settled, redrawing=redraw and e >= settling // 2)
        for e in range(settling)
    ]
    noisy = max(0, epochs - choosing - settling - practice)
    plan += [
        Epoch(
            noise=noise,
            hidden_step=max(1, round((1.0 - e / noisy if decay else 1.0) * hidden_step)),
            visible_step=max(1, round(PRACTICE_STEP * visible_step)),
        )
        for e in range(noisy)
    ]
    return (plan + _for_V_alone(practice, visible_step))[:epochs]


def _for_V_alone(epochs: int, visible_step: int) -> list[Epoch]:
    """The end: clean patterns, and small steps of V alone."""
    return [Epoch(noise=0, hidden_step=0, visible_step=max(1, round(PRACTICE_STEP * visible_step)))] * epochs


def plan_stream(done: int, plan: list[Epoch], *, clean_first: bool) -> Epoch:
    """Plan one presentation of a stream: targets are always chosen, but P and thresholds rest after as many epochs as in a `fit`.

    Parameters
    ----------
    done : int
        Epochs so far.
    plan : list of Epoch
        Of a `fit` with the same settings and constant steps.
    clean_first : bool
        Whether noise is for patterns that are known already, of which a stream has none.

    Returns
    -------
    Epoch
    """
    noise = 0 if clean_first else max(now.noise for now in plan)
    now = replace(plan[min(done, len(plan) - 1)], noise=noise, choosing=True, redrawing=False)
    return replace(now, hidden_step=plan[0].hidden_step, visible_step=plan[0].visible_step)
