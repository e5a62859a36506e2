"""The sparse rule in plain numpy: the paper's rule with few active hidden neurons, a bias and noisy practice. The truth.

The network and the shape of every update are those of the paper (`learning.rule`): a weight changes by presynaptic activity x
postsynaptic target x an error of 0 or 1, one transition at a time. What differs:

- hidden neurons are 0 or 1, and only the `n_winners` that want most to be active are asked to be;
- a constant unit of strength b feeds them, so that a neuron can be silent by default;
- a neuron's score is the fixed random drive (P applied to a pattern) minus its threshold theta, plus `feedback` times its own
  field above its average: a neuron that answers to x(t) more than to others is the best one to answer to it;
- thresholds rise with use, so that all neurons get their share of the patterns (homeostasis);
- a pattern that is decoded badly, since its targets are too much like those of another, gets other ones by chance (redraw);
- x(t) is practised with some units flipped; learning steps shrink.

All weights are whole numbers: multiples of a unit that `SparseSettings` fixes. So every sum is exact, and the compiled
kernels must give the same numbers bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqattractor.learning.rule import field, heaviside, sign
from seqattractor.sequences import Patterns

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

AVERAGING = 2.0**-5
"""How fast the average of a hidden neuron's field follows its field."""
WRONG_AVERAGING = 2.0**-4
"""How fast the average number of wrong visible neurons follows it; targets that were redrawn have this long to prove good."""


@dataclass(frozen=True)
class SparseSettings:
    """The numbers of the rule. Margins and steps are whole multiples of the unit of the weights they belong to."""

    n_winners: int
    """k: how many hidden neurons should be active for each transition."""
    winners: bool
    """Whether the k highest scores are chosen, or all above zero (then k is only their mean number)."""
    bias: int
    """b: strength of the constant unit."""
    noise: int
    """At most so many units of x(t) are flipped in a presentation; the number is uniform from 0."""
    margin: int
    """kappa of hidden neurons that should be silent."""
    active_margin: int
    """kappa of hidden neurons that should be active."""
    active_weight: int
    """w: how much larger the steps of neurons that should be active are."""
    visible_margin: int
    """kappa of visible neurons."""
    feedback: float
    """How much a field that is a margin above its average adds to a hidden neuron's score."""
    homeostasis: float
    """By how much theta rises with each use, at first."""
    homeostasis_epochs: int
    """Homeostasis fades out over so many epochs."""
    redraw: float
    """How large the random part of scores is when targets are redrawn."""
    redraw_tolerance: float
    """Above which average fraction of wrong visible neurons they are redrawn."""
    redraw_epochs: int
    """Redraws happen from the end of homeostasis to this epoch."""
    target_epochs: int
    """Until this epoch targets are chosen at every presentation; then every transition keeps those it has."""


@dataclass
class SparseState:
    """What learning changes."""

    U: Integers
    """Shape (M, N_in + 1); the last column is fed by the bias unit."""
    V: Integers
    """Shape (N, M)."""
    theta: Floats
    """Thresholds of the choice of targets, shape (M,)."""
    average: Floats
    """Running average of the fields, as multiples of the margin, shape (M,)."""
    targets: NDArray[np.int8]
    """z of every transition as last chosen, 0 or 1, shape (n, M)."""
    wrong: Floats
    """How many visible neurons were wrong at each transition, averaged over its last presentations, shape (n,)."""
    redrawn: NDArray[np.bool_]
    """Which transitions keep their targets because these were redrawn, shape (n,)."""


def flip_some(x: Patterns, most: int, order: Integers, rng: np.random.Generator) -> Patterns:
    """Flip 0 to `most` units of x, as many as chance says; `order` lists all units, and gets shuffled on the way."""
    noisy = x.copy()
    if most:
        for j in range(int(rng.integers(0, most + 1))):
            other = int(rng.integers(j, len(x)))
            order[j], order[other] = order[other], order[j]  # the first units of a shuffle
            noisy[order[j]] = -noisy[order[j]]
    return noisy


def choose_targets(score: Floats, settings: SparseSettings) -> NDArray[np.int8]:
    """Targets z in {0, 1}^M: the k neurons with the highest score (of equals the first), or all whose score is not negative."""
    z = np.zeros(len(score), dtype=np.int8)
    if settings.winners:
        z[np.argsort(-score, kind="stable")[: settings.n_winners]] = 1
    else:
        z[score >= 0] = 1
    return z


def learn_transition(
    state: SparseState,
    settings: SparseSettings,
    t: int,
    x: Patterns,
    x_next: Patterns,
    drive: Floats,
    *,
    epoch: int,
    hidden_step: int,
    visible_step: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Learn transition number t from the (noisy) pattern x; changes the state and returns the errors sum mu and sum nu."""
    U, V, theta, s = state.U, state.V, state.theta, settings
    x_b = np.append(x.astype(np.int64), s.bias)  # [x~; b]
    h = field(U, x_b)
    if epoch < s.target_epochs:
        above = h / s.margin - state.average
        state.average += AVERAGING * above
        if not state.redrawn[t]:
            state.targets[t] = choose_targets((drive - theta) + s.feedback * above, s)  # in place of eq. (4)
    if s.homeostasis_epochs <= epoch < s.redraw_epochs and state.wrong[t] > s.redraw_tolerance * len(x_next):
        state.targets[t] = choose_targets((drive - theta) + s.redraw * rng.standard_normal(len(theta)), s)
        state.redrawn[t], state.wrong[t] = True, 0.0
    z = state.targets[t].astype(np.int64)
    if epoch < s.homeostasis_epochs:
        strength = s.homeostasis * (1.0 - epoch / s.homeostasis_epochs)
        theta += strength * (z - s.n_winners / len(theta))

    s_z = 2 * z - 1
    mu = s_z * h <= np.where(z == 1, s.active_margin, s.margin)  # eq. (5)
    weight = np.where(z == 1, s.active_weight, 1)
    U += np.outer(hidden_step * weight * mu * s_z, x_b)  # eq. (6)

    y = heaviside(field(U, x_b)).astype(np.int64)  # eq. (7), with 0 for silent
    g = field(V, y)
    nu = x_next * g <= s.visible_margin  # eq. (8)
    V += np.outer(visible_step * nu * x_next, y)  # eq. (9)

    wrong = int(np.sum(sign(g) != x_next))
    state.wrong[t] += WRONG_AVERAGING * (wrong - state.wrong[t])
    return int(mu.sum()), int(nu.sum())


def present(
    state: SparseState,
    settings: SparseSettings,
    inputs: Patterns,
    targets: Patterns,
    drive: Floats,
    *,
    epoch: int,
    hidden_step: int,
    visible_step: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """One epoch: every transition once, in order, with fresh noise; returns the errors sum mu and sum nu.

    Parameters
    ----------
    state : SparseState
        Changed in place.
    settings : SparseSettings
    inputs, targets : ndarray of int8, shapes (n, N_in) and (n, N)
        x(t) and x(t+1).
    drive : ndarray, shape (n, M)
        P applied to x(t+1), or to x(t).
    epoch : int
        Counted from 0.
    hidden_step, visible_step : int
        Learning rates of this epoch, in units of U and V.
    rng : Generator
        Where noise and redraws come from.

    Returns
    -------
    hidden_errors, visible_errors : int
    """
    hidden = visible = 0
    order = np.arange(inputs.shape[1])
    for t in range(len(inputs)):
        mu, nu = learn_transition(
            state,
            settings,
            t,
            flip_some(inputs[t], settings.noise, order, rng),
            targets[t],
            drive[t],
            epoch=epoch,
            hidden_step=hidden_step,
            visible_step=visible_step,
            rng=rng,
        )
        hidden, visible = hidden + mu, visible + nu
    return hidden, visible
