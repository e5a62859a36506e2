"""What happens when: the epochs of the sparse rule, one after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from seqattractor.engine.sparse.rule import STEP_BITS, Epoch

CHOOSING = 0.3  # of the epochs: then targets are frozen, and learned with more noise
NOISE_WHILE_CHOOSING = (
    0.4  # of the noise of later epochs: fields should tell which neurons suit a pattern
)
DRIVE_STEPS = (0.5, 0.1)  # of the way to a pattern that P goes, at first and at the end of choosing
PRACTICE = 1 / 3  # of the epochs are left to V alone, at the end and without noise
PATIENCE, PATIENT_UP_TO = (
    10,
    0.5,
)  # V goes on for so many times all epochs if at most so many of the transitions are wrong
PRACTICE_STEP = 0.1  # of the first step of V
MENDING_ROUNDS, MENDING, MENDED_UP_TO = (
    2,
    0.08,
    0.01,
)  # how often, for how much of the epochs U learns other targets for so many
MENDING_STEP = 0.15  # of the first step of U
CLEAN_CHOOSING, SETTLING, CLEAN_PRACTICE = (
    0.16,
    0.2,
    0.32,
)  # of the epochs, where clean patterns are learned first
SETTLING_STEP = 0.2  # of the first step of V
# of the first homeostasis is there to the end of choosing, so that neurons get equal shares
CLEAN_HOMEOSTASIS = 0.2
PRACTICE_OF_U = 3  # times all epochs: U practises alone so long where it may be patient
STREAM = (1 / 8, 1 / 32)  # of the first steps of U and V, in a stream, where steps do not fall


@dataclass(frozen=True)
class Schedule:
    """The numbers from which epochs are planned; steps, noise and homeostasis are as in `Epoch`, at
    their largest.
    """

    epochs: int
    """How many, at most, unless it is to be patient."""
    noise: int
    hidden_step: int
    visible_step: int
    decay: bool
    """Whether steps fall linearly to zero."""
    learned_drive: bool
    """Whether P is learned."""
    clean_first: bool
    """Whether noise begins only when targets are frozen and clean patterns were learned."""
    homeostasis: float
    redraw_above: float
    """How many wrong visible neurons a transition may have until its targets are redrawn; infinite
    for no redraw at all.
    """
    patient: bool
    """Whether V may practise for longer than `epochs` where it has errors left, and wrong
    transitions may get other targets; and whether U practises alone where clean patterns come
    first.
    """

    def plan(self) -> list[Epoch]:
        """Plan a whole `fit`.

        Targets are chosen, then frozen. Homeostasis fades as long as P learns, else over the first
        fifth of the epochs; from its end to half-time targets that are decoded badly are redrawn.
        Where there is noise, it leaves a few transitions wrong that V could make: the last third of
        the epochs is without it, for V alone, and ends when no error is left. Patience lets the
        neurons that have errors continue. If some are left after long practice, codes are such that
        no V can decode them all, or nearly so: then the wrong transitions get other targets, which
        U learns before V practises again.

        Patterns that lie near each other, such as pictures, are learned without noise first: under
        noise from the start, "no" to the many patterns that look alike drowns "yes" to the few, and
        hidden neurons fall silent. With patience there is no noise at all.
        """
        if self.clean_first and self.noise:
            return self._clean_first()
        epochs, choosing, fade = self._spans()
        plan = [
            Epoch(
                noise=round(self.noise * NOISE_WHILE_CHOOSING) if e < choosing else self.noise,
                hidden_step=_part(1.0 - e / epochs if self.decay else 1.0, self.hidden_step),
                visible_step=_part(1.0 - e / epochs if self.decay else 1.0, self.visible_step),
                choosing=e < choosing,
                drive_step=self._drive_step(e, choosing),
                homeostasis=self.homeostasis * max(0.0, 1.0 - e / fade),
                redraw_above=self.redraw_above if fade <= e < epochs // 2 else math.inf,
            )
            for e in range(epochs)
        ]
        practice = self.epochs - epochs
        plan += self._for_V_alone(practice)
        if self.noise and self.patient:
            patience = self._for_V_alone(PATIENCE * self.epochs, PATIENT_UP_TO)
            rounds = MENDING_ROUNDS if self.redraw_above < math.inf else 0
            plan += patience + rounds * (self._mending(practice) + patience)
        return plan

    def stream(self, done: int) -> Epoch:
        """Plan one presentation of a stream, after so many: targets are always chosen, P and
        thresholds rest as after a `fit`.

        Where clean patterns come first, noise is for those that are known already, of which a
        stream has none.
        """
        e = max(0, min(done, self.epochs - 1))
        if self.clean_first and self.noise:
            choosing = max(1, int(CLEAN_CHOOSING * self.epochs))
            left, drive_step = (
                max(1.0 - e / choosing, CLEAN_HOMEOSTASIS) if e < choosing else 0.0,
                0,
            )
        else:
            _, choosing, fade = self._spans()
            left, drive_step = max(0.0, 1.0 - e / fade), self._drive_step(e, choosing)
        hidden, visible = STREAM if self.decay else (1.0, 1.0)
        return Epoch(
            noise=0 if self.clean_first else self.noise,
            hidden_step=_part(hidden, self.hidden_step),
            visible_step=_part(visible, self.visible_step),
            choosing=True,
            drive_step=drive_step,
            homeostasis=self.homeostasis * left,
        )

    def _spans(self) -> tuple[int, int, int]:
        """How many epochs are not for V alone, in how many of these targets are chosen, and over
        how many homeostasis fades.
        """
        epochs = self.epochs - int(PRACTICE * self.epochs) if self.noise else self.epochs
        choosing = max(1, int(CHOOSING * epochs))
        return epochs, choosing, choosing if self.learned_drive else max(1, epochs // 5)

    def _drive_step(self, e: int, choosing: int) -> int:
        """How far P moves in an epoch: less and less, and not at all once targets are frozen."""
        first, last = DRIVE_STEPS
        learns = self.learned_drive and e < choosing
        return round(first * (last / first) ** (e / choosing) * 2**STEP_BITS) if learns else 0

    def _clean_first(self) -> list[Epoch]:
        """Targets are chosen and clean patterns learned, with constant steps; then U practises,
        with noise; then V without.

        With patience U practises alone instead, for larger and larger margins: that takes far more
        epochs, but less time.
        """
        spans = (CLEAN_CHOOSING, SETTLING, CLEAN_PRACTICE)
        choosing, settling, practice = (max(1, int(share * self.epochs)) for share in spans)
        plan, U, V = [], self.hidden_step, self.visible_step
        for e in range(choosing):
            homeostasis = self.homeostasis * max(1.0 - e / choosing, CLEAN_HOMEOSTASIS)
            plan.append(
                Epoch(
                    noise=0, hidden_step=U, visible_step=V, choosing=True, homeostasis=homeostasis
                )
            )
        for e in range(settling):
            redraw_above = self.redraw_above if e >= settling // 2 else math.inf
            plan.append(
                Epoch(
                    noise=0,
                    hidden_step=U,
                    visible_step=_part(SETTLING_STEP, V),
                    redraw_above=redraw_above,
                )
            )
        if self.patient:
            plan += [Epoch(noise=0, hidden_step=U, visible_step=0)] * (PRACTICE_OF_U * self.epochs)
            return (
                plan
                + self._for_V_alone(practice)
                + self._for_V_alone(PATIENCE * self.epochs, PATIENT_UP_TO)
            )
        noisy = max(0, self.epochs - choosing - settling - practice)
        for e in range(noisy):
            hidden_step = _part(1.0 - e / noisy if self.decay else 1.0, U)
            plan.append(
                Epoch(
                    noise=self.noise, hidden_step=hidden_step, visible_step=_part(PRACTICE_STEP, V)
                )
            )
        return (plan + self._for_V_alone(practice))[: self.epochs]

    def _mending(self, practice: int) -> list[Epoch]:
        """Transitions that are still wrong get other targets, which U learns by small steps that
        fall to zero; then V alone.
        """
        times = max(1, int(MENDING * self.epochs))
        mend = [
            Epoch(
                noise=self.noise,
                hidden_step=_part(MENDING_STEP * (1.0 - e / times), self.hidden_step),
                visible_step=_part(PRACTICE_STEP, self.visible_step),
                redraw_above=math.inf if e else 0.0,
                at_most=MENDED_UP_TO,
            )
            for e in range(times)
        ]
        return mend + self._for_V_alone(practice, MENDED_UP_TO)

    def _for_V_alone(self, epochs: int, at_most: float = math.inf) -> list[Epoch]:
        """Clean patterns, and small steps of V alone; with `at_most`, only if so little is left to
        learn.
        """
        return [
            Epoch(
                noise=0,
                hidden_step=0,
                visible_step=_part(PRACTICE_STEP, self.visible_step),
                at_most=at_most,
            )
        ] * epochs


def _part(share: float, step: int) -> int:
    """A part of a step, in whole units."""
    return max(1, round(share * step))
