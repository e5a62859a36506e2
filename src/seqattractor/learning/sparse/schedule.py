"""What happens when: the epochs of the sparse rule, one after the other."""

from __future__ import annotations

from seqattractor.learning.sparse.rule import STEP_BITS, Epoch

CHOOSING = 0.3  # of the epochs: then targets are frozen, and learned with more noise
NOISE_WHILE_CHOOSING = 0.4  # of the noise of later epochs: fields should tell which neurons suit a pattern
DRIVE_STEPS = (0.5, 0.1)  # of the way to a pattern that P goes, at first and at the end of choosing
PRACTICE = 0.1  # of the first step of V, when V practises alone


def plan_epochs(
    epochs: int, *, noise: int, hidden_step: int, visible_step: int, decay: bool, learned_drive: bool, homeostasis: float, redraw: bool
) -> list[Epoch]:
    """Plan a whole `fit`.

    Targets are chosen, then frozen. Homeostasis fades as long as P learns, else over the first fifth of the epochs; from its end to
    half-time targets that are decoded badly are redrawn. With noise there follow, up to as many again, epochs without it in
    which V practises alone, so that every stored transition is made.

    Parameters
    ----------
    epochs : int
        How many, without those in which V practises alone.
    noise, hidden_step, visible_step, homeostasis
        As in `Epoch`, at their largest.
    decay : bool
        Whether steps fall linearly to zero.
    learned_drive : bool
        Whether P is learned.
    redraw : bool
        Whether targets may be redrawn.

    Returns
    -------
    list of Epoch
    """
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
    if noise:
        plan += [Epoch(noise=0, hidden_step=0, visible_step=max(1, round(PRACTICE * visible_step)))] * epochs
    return plan


def plan_stream(done: int, plan: list[Epoch]) -> Epoch:
    """Plan one presentation of a stream, after so many epochs: targets are always chosen, as in the last epoch with a choice.

    Parameters
    ----------
    done : int
        Epochs so far.
    plan : list of Epoch
        Of a `fit` with the same settings and steps.

    Returns
    -------
    Epoch
    """
    choosing = [now for now in plan if now.choosing]
    like = choosing[min(done, len(choosing) - 1)]
    full = max(plan, key=lambda now: now.noise)
    return Epoch(
        noise=full.noise,
        hidden_step=like.hidden_step,
        visible_step=like.visible_step,
        choosing=True,
        drive_step=like.drive_step,
        homeostasis=like.homeostasis if done < len(choosing) else 0.0,
    )
