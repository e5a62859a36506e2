"""Sound lower bounds on how many flips a transition withstands, whichever units are flipped.

Notation: a hidden neuron i with field h_i has the margin m_i = |h_i|; flipping unit k takes 2 c_ik
from it, where c_ik = sign(h_i) U_ik x_k is the support that unit k gives. Flipping units that
oppose the neuron's state (c_ik < 0) only helps.

A network of order k sees a window of k patterns. Flips are limited in one of two ways: r in the
whole window (`patterns` = 1, the window as one long pattern), or r in each of its patterns
(`patterns` = k). The second is what r flips before every step come to, since those of earlier steps
stay in the window.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.analysis._threshold_view import ThresholdView
from seqattractor.analysis._work import Work
from seqattractor.networks.traits import Layer
from seqattractor.sequences import Patterns

Array = NDArray[np.float64]
Counts = NDArray[np.int64]
# How many sets of units to try one by one for each number of flips, where a bound on the harm that
# they do together is in doubt.
_EFFORT = 20_000
# What it takes to look at a number, or to find its place among others, in multiplications:
# measured.
_ELEMENT, _SORTED = 40, 100


def flip_radius(
    layer: Layer, inputs: Patterns, fields: Array, patterns: int = 1, *, change: int = 2
) -> Counts:
    """How many inputs may be flipped, whichever they are, with each neuron's state unchanged.

    A flip takes a support twice from a field; an input that is removed instead takes it once
    (`change` = 1). The r flips that hurt most are those of the r largest supports, so this is exact
    (up to rounding, which counts against us). For inputs (B, n) with fields (B, m), returns (B, m):
    n / patterns where not even all flips matter, -1 where rounding leaves the state itself in
    doubt.
    """
    B, n = inputs.shape
    units = n // patterns
    radius = np.empty((B, len(layer.weights)), dtype=np.int64)
    slack = layer.slack
    of_neuron = _among_all if patterns == 1 else _in_each
    for i, weights in enumerate(layer.weights):
        active = fields[:, i] >= 0
        limit = (np.abs(fields[:, i]) - slack[i]) / change
        radius[:, i] = np.where(_exceeds(np.zeros(B), limit, active), -1, units)
        sure = np.flatnonzero(radius[:, i] == units)
        if sure.size:
            radius[sure, i] = of_neuron(
                weights.reshape(patterns, units), inputs[sure], limit[sure], active[sure]
            )
    return radius


def _among_all(weights: Array, inputs: Patterns, limit: Array, active: NDArray[np.bool_]) -> Counts:
    """How many flips one neuron withstands in its inputs (B, n) as a whole; shape (B,)."""
    (weights,), (B, n) = weights, inputs.shape
    order = np.argsort(-np.abs(weights), kind="stable")
    signs, sizes = np.sign(weights[order]).astype(np.int8), np.abs(weights[order])
    radius, left, taken, count = (
        np.full(B, n),
        np.arange(B),
        np.zeros(B),
        np.zeros(B, dtype=np.int64),
    )
    # Most neurons flip within the first few supports: look at long runs only for those that do not.
    start, width = 0, 64
    while left.size and start < n:
        part = slice(start, min(n, start + width))
        support = (
            inputs[left][:, order[part]] * signs[part] == np.where(active[left], 1, -1)[:, None]
        )
        sums = taken[left, None] + np.cumsum(support * sizes[part], axis=1)
        over = _exceeds(sums, limit[left, None], active[left, None])
        found = over.any(axis=1)
        flips = count[left, None] + np.cumsum(support, axis=1)
        # With `flips` flips the state can change, with one fewer it cannot.
        radius[left[found]] = flips[found, over[found].argmax(axis=1)] - 1
        taken[left], count[left] = sums[:, -1], flips[:, -1]
        left, start, width = left[~found], part.stop, width * 4
    return radius


def _in_each(weights: Array, inputs: Patterns, limit: Array, active: NDArray[np.bool_]) -> Counts:
    """How many flips one neuron withstands in each pattern of its inputs at once; weights are
    (patterns, units), shape (B,).
    """
    support = (
        np.where(active, 1.0, -1.0)[:, None, None] * inputs.reshape(-1, *weights.shape) * weights
    )
    largest_first = -np.sort(-support.clip(0), axis=2)
    over = _exceeds(np.cumsum(largest_first.sum(axis=1), axis=1), limit[:, None], active[:, None])
    # Flips of units that support nothing do no harm, so sums that stay below the limit do so for
    # any number of flips.
    return np.asarray(np.where(over.any(axis=1), over.argmax(axis=1), weights.shape[1]))


def theorem_4(view: ThresholdView, inputs: Patterns) -> Counts:
    """The flips that Theorem 4 itself allows, applied to the hidden neurons as the paper suggests:
    2 r max_k |U_ik| < kappa.

    It needs mu_i(t) = 0 (a margin above kappa) in all of them; where that fails it promises
    nothing, which is 0. Shape (n,).
    """
    layer = view.first
    if layer.kappa is None:
        return np.zeros(len(inputs), dtype=np.int64)
    learned = np.all(np.abs(layer.fields(inputs)) > layer.kappa, axis=1)
    # A hair below kappa, so that rounding cannot lift the bound.
    largest = float(np.abs(layer.weights).max())
    allowed = np.ceil(layer.kappa * (1 - 1e-9) / (2 * largest)) - 1 if largest else view.n_inputs
    return np.where(learned, min(int(allowed), view.n_inputs), 0)


class Transition:
    """One transition x -> x' of a network with hidden neurons: how many units may be flipped in x
    with x' exactly right.

    The network must make it. Flips are counted in each of the `patterns` of x.
    """

    def __init__(
        self,
        view: ThresholdView,
        patterns: int,
        x: Patterns,
        target: Patterns,
        hidden_radius: Counts,
    ) -> None:
        assert view.hidden is not None
        self.patterns, self.most = patterns, view.n_inputs // patterns
        self.view, self.hidden, self.visible, self.hidden_radius = (
            view,
            view.hidden,
            view.visible,
            hidden_radius,
        )
        self.x, self.target, self.active = x, target, target > 0
        self.fields = self.hidden.fields(x[None])[0]
        states = self.hidden.states(self.fields)
        self.visible_fields = self.visible.fields(states[None])[0]
        self.change = self.hidden.low + self.hidden.high - 2 * states
        # Signed: where these sums and those that made the target are rounded to different answers,
        # nothing is left to lose.
        margins = target * self.visible_fields
        self.limit, self.limit_now = (
            margins - self.visible.slack,
            margins - self.visible.slack_of(states),
        )

    @classmethod
    def each(
        cls, view: ThresholdView, inputs: Patterns, targets: Patterns, patterns: int = 1
    ) -> list[Transition]:
        """Make ready to bound some transitions, (n, order * N) -> (n, N)."""
        radius = flip_radius(view.first, inputs, view.first.fields(inputs), patterns)
        return [cls(view, patterns, *row) for row in zip(inputs, targets, radius, strict=True)]

    def losses(self, hidden: Any = slice(None), visible: Any = slice(None)) -> Array:
        """What each visible neuron loses when each hidden neuron changes, shape (visible, hidden);
        below 0 if it gains.
        """
        sign = np.where(self.active[visible], -1.0, 1.0)
        return np.asarray(
            sign[:, None] * self.visible.weights[:, hidden][visible] * self.change[hidden]
        )

    def support(self, hidden: Any = slice(None)) -> Array:
        """What flipping each unit takes from the margin of each hidden neuron, 2 c_ik; shape
        (hidden, units).
        """
        sign = np.where(self.fields[hidden] >= 0, 2.0, -2.0)
        return np.asarray(sign[:, None] * self.hidden.weights[hidden] * self.x)

    def counted_radius(self) -> int:
        """The largest r for which even all hidden neurons that r flips could change, each on its
        own, do no harm together.

        It is -1 where the transition itself depends on how sums are rounded.
        """
        total = self.losses(np.flatnonzero(self.hidden_radius < 0)).clip(0).sum(axis=1)
        if _exceeds(total, self.limit, self.active).any():
            # Of silent hidden neurons nothing can be rounded: a sum without terms is exactly zero,
            # as long as none changes.
            sure = not _exceeds(total, self.limit_now, self.active).any()
            return int(self.hidden_radius.min()) if sure else -1
        for level in np.unique(self.hidden_radius[self.hidden_radius >= 0]):
            total += self.losses(np.flatnonzero(self.hidden_radius == level)).clip(0).sum(axis=1)
            if _exceeds(total, self.limit, self.active).any():
                return int(level)
        return self.most

    def proven_radius(self, counted: int, most: int, work: Work | None = None) -> int:
        """What can be proven beyond the counted radius, up to `most` flips or until the work is
        over.
        """
        radius, work = counted, work or Work()
        while 0 <= radius < most and not work.over and self._withstands(radius + 1, work):
            radius += 1
        return radius

    def _withstands(self, r: int, work: Work) -> bool:
        """Whether r flips cannot make a visible neuron wrong, by a bound on what the same r flips
        do to all hidden neurons.

        With r flips in each of k patterns, read k r for r here. If r flips F change neuron i, their
        supports sum to at least m_i, so for every 0 <= b < m_i / r

            [i changes] <= sum over k in F of A_ik,   A_ik = min(1, max(0, 2 c_ik - b) / (m_i - r
            b)),

        and visible neuron j loses at most sum over k in F of L_jk = sum_i loss_ji A_ik. Neurons
        that too many sets of flips can change are counted in full instead. Sets for which the sum
        of L_jk leaves a doubt are tried, if flips are limited in the window as a whole.
        """
        flips = r * self.patterns
        loose = np.flatnonzero(self.hidden_radius < r)
        losses = self.losses(loose).clip(0)
        harmed = np.flatnonzero(_exceeds(losses.sum(axis=1), self.limit, self.active))
        if not harmed.size:
            return True
        work.spend(
            len(harmed) * self.view.n_inputs * (_SORTED + len(loose))
            + _ELEMENT * len(loose) * self.view.n_inputs
        )
        share, in_full = self._shares(loose, flips)
        per_unit = losses[harmed][:, ~in_full] @ share[~in_full]
        rounding = (
            64 * (len(loose) + self.view.n_inputs) * 2.0**-53 * flips * losses[harmed].sum(axis=1)
        )
        need = self.limit[harmed] - losses[harmed][:, in_full].sum(axis=1) - rounding
        in_each = per_unit.reshape(len(harmed), self.patterns, self.most)
        worst = np.partition(in_each, -r, axis=2)[:, :, -r:].sum(axis=(1, 2))
        doubtful = _exceeds(worst, need, self.active[harmed])
        if not doubtful.any() or self.patterns > 1:
            return not doubtful.any()
        # One list of sets for all doubtful neurons: units by the largest part of its need that each
        # takes from any neuron.
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(
                need[doubtful, None] > 0, per_unit[doubtful] / need[doubtful, None], np.inf
            ).max(axis=0)
        sets = sets_above(np.minimum(part, 1.0), 1 - 1e-9, r, _EFFORT)
        work.spend(0 if sets is None else sets.size * 4 * len(loose))
        return sets is not None and not self._some_set_breaks(harmed[doubtful], loose, sets)

    def _shares(self, loose: Counts, r: int) -> tuple[Array, NDArray[np.bool_]]:
        """A_ik for the best of some values of b, shape (loose, units), and which neurons to count
        in full instead.
        """
        margin = np.abs(self.fields[loose]) - self.hidden.slack[loose]
        in_full = margin <= 0
        relative = (
            np.maximum(0.0, self.support(loose)) * (r / np.where(in_full, 1.0, margin))[:, None]
        )
        share, mean = np.ones_like(relative), np.full(len(loose), np.inf)
        for beta in (0.0, 0.5, 0.8):  # b = beta m_i / r
            candidate = np.minimum(1.0, np.maximum(0.0, relative - beta) / (r * (1 - beta)))
            candidate_mean = candidate.mean(axis=1)
            better = candidate_mean < mean
            share[better], mean[better] = candidate[better], candidate_mean[better]
        return share, in_full | (r * mean >= 1)

    def _some_set_breaks(self, visible: Counts, loose: Counts, sets: Counts) -> bool:
        """Whether one of some sets of flips, shape (B, r), may make one of the given visible
        neurons wrong.
        """
        effect = (2 * self.hidden.weights[loose] * self.x).T
        losses = self.losses(loose, visible).T
        slack = self.hidden.slack[
            loose
        ]  # with headroom for the rounding of the sums below, too, as `limit` has
        effect, losses = np.ascontiguousarray(effect), np.ascontiguousarray(losses)
        start, before = self.fields[loose], self.fields[loose] >= 0
        for part in np.array_split(sets, 1 + len(sets) * len(loose) // 500_000):
            fields = start - effect[part[:, 0]]
            for units in part.T[1:]:
                fields -= effect[units]
            loss = ((fields >= 0) != before).astype(np.float64) @ losses
            unsure = np.abs(fields) <= slack
            if slack.any() and unsure.any():
                loss += unsure.astype(np.float64) @ np.abs(losses)
            if _exceeds(loss, self.limit[visible], self.active[visible]).any():
                return True
        return False


def sets_above(values: Array, need: float, r: int, most: int) -> Counts | None:
    """All sets of r units whose values sum to at least `need`, shape (B, r), or None if there are
    more than `most` on the way.
    """
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    sums = np.concatenate([[0.0], np.cumsum(ranked)])
    chosen, total, last = np.zeros((1, 0), dtype=np.int64), np.zeros(1), np.array([-1])
    for left in range(r, 0, -1):
        # The best that `left` units from position q on can add falls with q, so the useful
        # positions are last + 1 ... stop - 1.
        window = sums[left:] - sums[: len(sums) - left]
        stop = np.searchsorted(-window, total - need, side="right")
        count = np.maximum(0, stop - last - 1)
        if count.sum() > most:
            return None
        rows = np.repeat(np.arange(len(chosen)), count)
        last = (
            np.arange(len(rows))
            - np.repeat(np.cumsum(count) - count, count)
            + np.repeat(last + 1, count)
        )
        chosen, total = np.column_stack([chosen[rows], last]), total[rows] + ranked[last]
    return np.asarray(order[chosen])


def _exceeds(loss: Array, limit: Array, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a loss can change a state: an active neuron stays active at a field of exactly 0, a
    silent one does not stay so.
    """
    return np.where(active, loss > limit, loss >= limit)
