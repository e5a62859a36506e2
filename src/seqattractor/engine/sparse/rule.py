"""The sparse rule in plain numpy: the paper's rule with few active hidden neurons, which learn what
to stand for. The truth.

The network and the shape of every update are those of the paper (`rule`): a weight changes by
presynaptic activity x postsynaptic target x an error of 0 or 1, one transition at a time. What
differs:

- hidden neurons are 0 or 1, and only the `n_winners` with the highest score should be active;
- a constant unit of strength b feeds them, so that a neuron can be silent by default;
- the paper's fixed random P is learned, in two halves. From x(t): P moves towards the patterns that
  its neuron is chosen for (competitive learning), so that a neuron stands for patterns that are
  alike, and U has an easy task. From x(t+1): Q, the feedback synapses from visible to hidden
  neurons, gets the very update that V gets (learned feedback), so that neurons are chosen that
  already say something like x(t+1), and V has an easy task;
- thresholds rise with use, so that all neurons get their share of the patterns (homeostasis);
- a pattern that is decoded badly, since its targets are too much like those of another, gets other
  ones by chance (redraw);
- x(t) is practised with some units flipped; learning steps shrink;
- or, where U practises alone, hidden neurons ask more of themselves: one without an error in an
  epoch raises its margin;
- under constraints every synapse of U and V obeys them after every update (`engine.synapses`), and
  Q those of V, so that it stays its transpose.

All weights are whole numbers: multiples of a unit that belongs to each. So every sum is exact, and
the compiled kernels must give the same numbers bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from seqattractor.engine.synapses import Synapses, draw
from seqattractor.rule import field, heaviside, sign
from seqattractor.sequences import Patterns

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

WRONG_AVERAGING = (
    2.0**-4
)  # how fast `SparseState.wrong` follows; targets that were redrawn have this long to prove good
PROTOTYPE = (
    2**12
    # P of a unit that is +1 in all patterns its neuron is chosen for: entries of P lie between -+
    # this
)
LARGEST = (
    2**53
)  # whole numbers below this are exact in float64, in which weights are stored after learning
RAISES = 10  # so many raises add the margin once more to what a hidden neuron asks of itself
# steps of P are counted in parts of 2**16: so much of the way from where P is to the pattern
STEP_BITS = 16


@dataclass(frozen=True)
class SparseSettings:
    """The numbers of the rule that hold in all epochs. Margins are whole multiples of the unit of
    the weights they belong to.
    """

    n_winners: int
    """k: how many hidden neurons should be active for each transition."""
    winners: bool
    """Whether the k highest scores are chosen, or all above zero (then k is only their mean
    number).
    """
    bias: int
    """b: strength of the constant unit."""
    margin: int
    """kappa of hidden neurons that should be silent."""
    active_margin: int
    """kappa of hidden neurons that should be active."""
    active_weight: int
    """w: how much larger the steps of neurons that should be active are."""
    visible_margin: int
    """kappa of visible neurons."""
    learn_drive: bool
    """Whether P, from x(t), is learned; else scores come from a drive that is given."""
    learned_feedback: float
    """lambda: what one unit of Q x(t+1) adds to a hidden neuron's score."""
    redraw: float
    """How large the random part of scores is when targets are redrawn."""


@dataclass(frozen=True)
class Epoch:
    """What happens in one epoch. Steps of U and V are whole multiples of their units."""

    noise: int
    """At most this many units of x(t) are flipped in a presentation; the number is uniform from
    0.
    """
    hidden_step: int
    """How far U moves; 0 leaves it as it is, and V practises alone."""
    visible_step: int
    """How far V moves, and Q with it; 0 leaves them as they are, and U practises alone."""
    choosing: bool = False
    """Whether targets are chosen at every presentation; else every transition keeps those it
    has.
    """
    drive_step: int = 0
    """How far P moves when its neuron is chosen, in parts of 2**16."""
    homeostasis: float = 0.0
    """By how much theta rises with each use."""
    redraw_above: float = math.inf
    """Transitions with more wrong visible neurons than this (`SparseState.wrong`) have their
    targets redrawn.
    """
    at_most: float = math.inf
    """If finite, the epoch is only for a state that is nearly good: see `is_wanted`. Never so where
    U practises alone.
    """

    @property
    def redrawing(self) -> bool:
        """Whether targets may be redrawn."""
        return self.redraw_above < math.inf

    @property
    def alone(self) -> Literal["U", "V", ""]:
        """Which of U and V practises alone, if one does: patterns are clean, targets and codes
        fixed; U raises its margins.
        """
        if (
            self.noise
            or self.choosing
            or self.redrawing
            or (self.hidden_step and self.visible_step)
        ):
            return ""
        return "U" if self.hidden_step else "V" if self.visible_step else ""


@dataclass
class Obeyed:
    """Constraints on synapses, in the units of their weights."""

    U: Synapses
    """Not of the bias unit: shape (M, N_in)."""
    V: Synapses
    """Of V transposed, shape (M, N)."""
    seed: Integers
    epoch: int
    """Epochs before."""

    def next_chance(self) -> list[Generator]:
        """Return what chance of U and of V begins with in the next epoch."""
        self.epoch += 1
        return draw(self.seed, self.epoch)


@dataclass
class SparseState:
    """What learning changes."""

    U: Integers
    """Shape (M, N_in + 1); the last column is fed by the bias unit."""
    V: Integers
    """Shape (N, M)."""
    Q: Integers
    """Feedback from visible to hidden neurons, shape (M, N)."""
    P: Integers
    """Where hidden neurons get their scores from, if that is learned: shape (M, N_in), else (M,
    0).
    """
    theta: Floats
    """Thresholds of the choice of targets, shape (M,)."""
    targets: NDArray[np.int8]
    """z of every transition as last chosen, 0 or 1, shape (n, M)."""
    wrong: Floats
    """How many visible neurons were wrong at each transition, shape (n,): averaged over its last
    presentations, or, while V practises alone and nothing is left to chance, in the last one.
    """
    redrawn: NDArray[np.bool_]
    """Which transitions keep their targets because these were redrawn, shape (n,)."""
    raised: Integers
    """How often each hidden neuron raised its margin, shape (M,); it holds while U practises
    alone.
    """
    obeys: Obeyed | None = None
    """Constraints on synapses, if there are some."""


def check_exact(bound: int) -> None:
    """Raise an OverflowError where numbers could reach `LARGEST`."""
    if bound >= LARGEST:
        raise OverflowError(
            "the weights grow beyond the whole numbers that float64 can hold; use larger learning "
            "rates or fewer epochs."
        )


def flip_some(x: Patterns, most: int, order: Integers, rng: Generator) -> Patterns:
    """Flip 0 to `most` units of x, as many as chance says; `order` lists all units, and gets
    shuffled on the way.
    """
    noisy = x.copy()
    for j in range(int(rng.integers(0, most + 1)) if most else 0):
        other = int(rng.integers(j, len(x)))
        order[j], order[other] = order[other], order[j]  # the first units of a shuffle
        noisy[order[j]] = -noisy[order[j]]
    return noisy


def is_wanted(now: Epoch, state: SparseState) -> bool:
    """Whether at most so large a part of the transitions is wrong, or eight of them; asked where
    `at_most` changes.

    Where V is far from what it is to learn, more practice is in vain, and other targets for many
    transitions move errors around. Where no transition is wrong, V alone goes on, for the margins
    that are left; there is nothing to redraw.
    """
    wrong = int(np.count_nonzero(state.wrong))
    nearly_good = wrong <= max(8, now.at_most * len(state.wrong))
    return now.at_most == math.inf or (nearly_good and (wrong > 0 or now.alone == "V"))


def raised_margin(margin: int, raised: Integers) -> Integers:
    """The margin of a hidden neuron that was raised so often."""
    return margin * (RAISES + raised) // RAISES


def drive_of(P: Integers, x: Patterns) -> Floats:
    """The projection of x onto each row of P, as a multiple of the row's length: whole sums,
    rounded once.
    """
    return np.asarray(
        field(P, x.astype(np.int64)) * (1.0 / np.sqrt(np.maximum(np.sum(P * P, axis=1), 1)))
    )


def choose_targets(score: Floats, settings: SparseSettings) -> NDArray[np.int8]:
    """Targets z in {0, 1}^M: the k neurons with the highest score (of equals the first), or all
    whose score is not negative.
    """
    z = np.zeros(len(score), dtype=np.int8)
    z[
        np.argsort(-score, kind="stable")[: settings.n_winners] if settings.winners else score >= 0
    ] = 1
    return z


def choose(
    state: SparseState,
    s: SparseSettings,
    now: Epoch,
    t: int,
    x: Patterns,
    x_next: Patterns,
    drive: Floats,
    rng: Generator,
) -> None:
    """Choose the targets of transition t, in place of eq. (4), and let P and theta learn from the
    choice.

    x is x(t) without noise; drive, of shape (M,), stands in for P x where P is not learned.
    """
    theta = state.theta
    drive = drive_of(state.P, x) if s.learn_drive else drive
    score = (drive - theta) + s.learned_feedback * field(state.Q, x_next.astype(np.int64))
    if now.choosing and not state.redrawn[t]:
        state.targets[t] = choose_targets(score, s)
    if state.wrong[t] > now.redraw_above:
        state.targets[t] = choose_targets(
            (drive - theta) + s.redraw * rng.standard_normal(len(theta)), s
        )
        state.redrawn[t], state.wrong[t] = True, 0.0
    if now.choosing:
        z = state.targets[t].astype(np.int64)
        if s.learn_drive:
            # A chosen neuron's P goes a part of the way to x; >> rounds down, for negative numbers
            # too.
            state.P += z[:, None] * (
                (now.drive_step * (PROTOTYPE * x.astype(np.int64) - state.P)) >> STEP_BITS
            )
        theta += now.homeostasis * (z - s.n_winners / len(theta))


def learn_transition(
    state: SparseState,
    settings: SparseSettings,
    now: Epoch,
    t: int,
    x: Patterns,
    x_next: Patterns,
    chance: Sequence[Generator] = (),
) -> tuple[NDArray[np.bool_], int]:
    """Learn transition number t from the (noisy) pattern x; changes the state and returns the
    errors mu and sum nu. Under constraints chance decides between levels of U and of V.
    """
    U, V, s, obeys = state.U, state.V, settings, state.obeys
    z = state.targets[t].astype(np.int64)
    x_b = np.append(x.astype(np.int64), s.bias)  # [x~; b]
    mu = np.zeros(len(z), dtype=np.bool_)
    if now.hidden_step:
        s_z, raised = 2 * z - 1, state.raised if now.alone == "U" else np.zeros_like(z)
        margin = np.where(
            z == 1, raised_margin(s.active_margin, raised), raised_margin(s.margin, raised)
        )
        mu = s_z * field(U, x_b) <= margin  # eq. (5)
        weight = np.where(z == 1, s.active_weight, 1)
        if obeys:
            fade(U[:, :-1], obeys.U)
        U += np.outer(now.hidden_step * weight * mu * s_z, x_b)  # eq. (6)
        if obeys:
            obey(U[:, :-1], obeys.U, mu, chance[0])
    if not now.visible_step:
        return mu, 0

    y = heaviside(field(U, x_b)).astype(np.int64)  # eq. (7), with 0 for silent
    g = field(V, y)
    nu = x_next * g <= s.visible_margin  # eq. (8)
    error = now.visible_step * nu * x_next
    if obeys:
        fade(V.T, obeys.V)
    V += np.outer(error, y)  # eq. (9)
    state.Q += np.outer(
        y, error
    )  # the same factors meet at the feedback synapse: pre nu_j x_j, post y_i
    if obeys:
        obey(V.T, obeys.V, (y == 1) & nu.any(), chance[1])
        state.Q[:] = V.T

    wrong = int(np.sum(sign(g) != x_next))
    state.wrong[t] += (1.0 if now.alone == "V" else WRONG_AVERAGING) * (wrong - state.wrong[t])
    return mu, int(nu.sum())


def fade(weights: Integers, synapses: Synapses) -> None:
    """Take from synapses what they lose at a transition."""
    if synapses.fades:
        weights[:] = np.rint(weights * synapses.left)


def obey(weights: Integers, synapses: Synapses, changed: NDArray[np.bool_], rng: Generator) -> None:
    """Bring the rows of synapses that may have changed to what is possible."""
    rows = np.flatnonzero(changed | synapses.fades)
    weights[rows] = synapses.possible(weights[rows], rows, rng)


def present(
    state: SparseState,
    settings: SparseSettings,
    now: Epoch,
    inputs: Patterns,
    targets: Patterns,
    drive: Floats,
    rng: Generator,
) -> tuple[int, int]:
    """One epoch: every transition once, in order, with fresh noise; returns the errors sum mu and
    sum nu.

    It changes the state; parameters are those of `seqattractor.engine.sparse.engine.learn_sparse`.
    """
    hidden, visible = np.zeros(len(state.U), dtype=np.int64), 0
    order = np.arange(inputs.shape[1])
    chance = state.obeys.next_chance() if state.obeys else ()
    for t in range(len(inputs)):
        x = flip_some(inputs[t], now.noise, order, rng)
        if now.choosing or now.redrawing:
            choose(state, settings, now, t, inputs[t], targets[t], drive[t], rng)
        mu, nu = learn_transition(state, settings, now, t, x, targets[t], chance)
        hidden, visible = hidden + mu, visible + nu
    if now.alone == "U":
        state.raised += hidden == 0
    return int(hidden.sum()), visible
