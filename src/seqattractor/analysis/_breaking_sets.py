"""The fewest flips that break a transition: an attack searches for them, mixed-integer programs
find them for small networks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from seqattractor.analysis._certificate_bound import Transition
from seqattractor.analysis._threshold_view import ThresholdView
from seqattractor.analysis._work import Work
from seqattractor.sequences import Patterns

Array = NDArray[np.float64]
Units = NDArray[np.int64]
_NONE: Units = np.zeros(0, dtype=np.int64)
_MOST_UNITS = 192
# Networks with more weights than this are attacked at fewer neurons, so that the time stays
# bounded.
_LARGE = 1_000_000
# What it takes to look at a number, or to fetch and add it, in multiplications: measured.
_ELEMENT, _GATHER = 16, 2
# Nodes of search trees for each transition: at most a minute or two for 100 visible and 200 hidden
# neurons on today's machines.
# of the largest number in a row: by how much HiGHS may violate a constraint, ten times over
_TOLERANCE = 1e-5
NODES = 8_000


def breaking_set(transition: Transition, *, at_least: int = 1, work: Work | None = None) -> Units:
    """Search for a small set of units whose flips make the next pattern wrong.

    Rank the units by what they do to each of the most endangered visible neurons, flip the leading
    ones until something breaks, then exchange units as long as the smallest margin falls, with one
    unit fewer each time that this breaks the transition. Stop at a set of the size `at_least`,
    below which there is none, or when the work is over. The set returned, empty if none was found,
    was tried, but need not be the smallest.
    """
    search = _Search(transition, work or Work())
    best, smaller = _NONE, search.first_to_break()
    while smaller is not None:
        best = smaller
        smaller = search.with_fewer(best) if len(best) > at_least and not search.work.over else None
    return np.sort(best)


def weakest_neuron(view: ThresholdView, x: Patterns, target: Patterns, radius: Units) -> Units:
    """Return the smallest set without hidden neurons: the largest supports of the neuron that
    withstands the fewest flips.

    `radius`, (N,), is what `flip_radius` gives for the visible neurons. Empty if not even all flips
    break the transition.
    """
    layer, j = view.visible, int(radius.argmin())
    support = target[j] * layer.weights[j] * x
    order = np.argsort(-support, kind="stable")
    # Where rounding counted against the network, one flip more than necessary in theory may be
    # needed.
    for r in range(int(radius[j]) + 1, view.n_inputs + 1):
        if r and breaks(view, x, target, order[:r]):
            return np.sort(order[:r])
    return _NONE


def breaks(view: ThresholdView, x: Patterns, target: Patterns, units: Units) -> bool:
    """Whether the flips make the next pattern wrong: try it on the network."""
    state = x[None].copy()
    state[0, units] *= -1
    return bool(np.any(view.answer(state)[0] != target))


class _Search:
    """One transition under attack. Works in float32 on the endangered visible neurons; what it
    finds is tried on all.
    """

    def __init__(self, transition: Transition, work: Work) -> None:
        self.transition, self.n_inputs, self.work = transition, transition.view.n_inputs, work
        hidden, visible = transition.hidden, transition.visible
        self.low, self.high = np.float32(hidden.low), np.float32(hidden.high)
        self.fields = transition.fields.astype(np.float32)
        # What flipping unit k takes from the field of neuron i: 2 U_ik x_k; shape (units, neurons).
        self.effect = np.ascontiguousarray((2 * hidden.weights * transition.x).T, dtype=np.float32)
        size = np.abs(visible.weights).sum(axis=1)
        with np.errstate(
            over="ignore"
        ):  # a neuron with a bias and no weights is not endangered at all
            relative = (
                transition.target
                * transition.visible_fields
                / np.maximum(size, np.finfo(float).tiny)
            )
        rows = np.argsort(relative, kind="stable")[: 32 if hidden.weights.size <= _LARGE else 8]
        self.sign = transition.target[rows].astype(np.float32)
        self.weights = visible.weights[rows].astype(np.float32)
        self.offset = visible.offset[rows].astype(np.float32)
        self.rankings = self._rankings()

    def _rankings(self) -> Units:
        """Orders of the units, for each endangered neuron by the harm that they seem to do;
        (orders, order * N).
        """
        loss = -self.sign[:, None] * self.weights * self.transition.change
        support = self.effect.T * np.where(self.fields >= 0, np.float32(1), np.float32(-1))[:, None]
        size = np.abs(self.fields)
        orders = []
        for power in (0.5, 1.0, 2.0) if support.size <= _LARGE else (1.0,):
            # Neurons near their threshold count most: how much so is what the powers vary.
            nearness = (size / (size.mean() or 1.0) + 1e-3) ** -power
            orders.append(np.argsort(-(loss * nearness).astype(np.float32) @ support, axis=1))
        return np.concatenate(orders)

    def first_to_break(self) -> Units | None:
        """The fewest leading units of a ranking that break the transition."""
        tried, r = 0, 1
        while (units := self._leading(r)) is None:
            if r == self.n_inputs:
                return None
            tried, r = r, min(self.n_inputs, max(r + 1, int(1.4 * r)))
        for q in range(tried + 1, r):
            if self.work.over:
                break
            fewer = self._leading(q)
            if fewer is not None:
                return fewer
        return units

    def _leading(self, r: int) -> Units | None:
        """The first r units of a ranking whose flips break the transition, or None."""
        sets = self.rankings[:, :r]
        margins = self._margins(self._fields_of(sets))
        return next(
            (
                sets[k]
                for k in np.argsort(margins, kind="stable")[:4]
                if margins[k] < 0 and self._breaks(sets[k])
            ),
            None,
        )

    def with_fewer(self, best: Units) -> Units | None:
        """A breaking set with one unit fewer than `best`, or None."""
        sets = np.concatenate(
            [[np.delete(best, k) for k in range(len(best))], self.rankings[:, : len(best) - 1]]
        )
        margins = self._margins(self._fields_of(sets))
        # Units worth exchanging: all of a small network, the leading ones of a large one.
        candidates = np.arange(self.n_inputs)
        if self.n_inputs > _MOST_UNITS:
            candidates = np.unique(self.rankings.T[: 1 + _MOST_UNITS // len(self.rankings)])
        for start in np.argsort(margins, kind="stable")[:4]:
            if self.work.over:
                break
            smaller = self._descend(sets[start], float(margins[start]), candidates)
            if smaller is not None:
                return smaller
        return None

    def _descend(self, units: Units, lowest: float, candidates: Units) -> Units | None:
        """Exchange one unit at a time as long as the smallest margin falls; the set that breaks the
        transition, or None.
        """
        for _ in range(30):
            if lowest < 0 and self._breaks(units):
                return units
            others = candidates[~np.isin(candidates, units)]
            if not others.size or self.work.over:
                return None
            fields = self._fields_of(units[None])[0]
            swapped = (fields + self.effect[units])[:, None] - self.effect[others][None]
            margins = self._margins(swapped.reshape(-1, len(fields)))
            k = int(margins.argmin())
            if margins[k] >= lowest:
                return None
            lowest = float(margins[k])
            units = np.append(np.delete(units, k // len(others)), others[k % len(others)])
        return None

    def _breaks(self, units: Units) -> bool:
        """Whether the network agrees that these flips break the transition."""
        self.work.spend(2 * self.effect.size)
        return breaks(self.transition.view, self.transition.x, self.transition.target, units)

    def _fields_of(self, sets: Units) -> NDArray[np.float32]:
        """The fields of the first layer with each of some sets of units flipped: (B, r) -> (B,
        neurons).
        """
        self.work.spend(_GATHER * sets.size * len(self.fields))
        if self.n_inputs > 1024:
            return np.asarray(
                self.fields - np.stack([self.effect[units].sum(axis=0) for units in sets])
            )
        flipped = np.zeros((len(sets), self.n_inputs), dtype=np.float32)
        np.put_along_axis(flipped, sets, 1.0, axis=1)
        return np.asarray(self.fields - flipped @ self.effect)

    def _margins(self, fields: NDArray[np.float32]) -> NDArray[np.float32]:
        """The smallest margin of the endangered visible neurons for fields of the first layer: (B,
        neurons) -> (B,).
        """
        self.work.spend(fields.size * (_ELEMENT + len(self.weights)))
        states = np.where(fields >= 0, self.high, self.low)
        visible = states @ self.weights.T + self.offset
        # A field of exactly zero is +1: wrong where -1 is wanted.
        return np.asarray(
            (np.where(visible == 0, np.float32(1e-30), visible) * self.sign).min(axis=1)
        )


def smallest_breaking_set(
    transition: Transition, *, radius: int, known: Units = _NONE, node_limit: int = NODES
) -> tuple[int, Units]:
    """Find the fewest flips that break a transition, by a mixed-integer program for each visible
    neuron in danger.

    Binary variables mark which units are flipped (delta_k) and which hidden neurons change (f_i)::

        minimise sum_k delta_k   with
            sum_i loss_i f_i >= margin_j
            2 sum_k c_ik delta_k >= m_i      if f_i = 1 and the change of i harms j
            2 sum_k c_ik delta_k <= m_i      if f_i = 0 and the change of i helps j

    Ties and rounding are settled so that nothing that breaks the transition is left out. `radius`
    flips are already known to do no harm, and the set `known`, unless empty, to break it. Each
    program may use a quarter of what is left of the nodes. Returns the proven number of harmless
    flips, and the smallest breaking set known, empty if there is none.
    """
    program, n = _Program(transition), transition.view.n_inputs
    best, proven = known, n
    for j in program.endangered:
        most = len(best) - 1 if len(best) else n
        if most <= radius:
            break
        if node_limit < 4:
            proven = radius  # the remaining neurons were not examined
            break
        lower, units, nodes = program.solve(int(j), radius + 1, most, node_limit // 4)
        node_limit -= nodes
        if units is not None and breaks(transition.view, transition.x, transition.target, units):
            best = units
        elif units is not None:
            lower = len(units)  # breaks only within rounding: a bound, not a set
        proven = min(proven, lower - 1)
    return max(radius, min(proven, len(best) - 1 if len(best) else n)), best


class _Program:
    """The numbers that the programs of one transition share."""

    def __init__(self, transition: Transition) -> None:
        hidden, size, active = transition.hidden, np.abs(transition.fields), transition.fields >= 0
        self.n = transition.view.n_inputs
        self.support, self.loss = transition.support(), transition.losses()
        # Flips that sum to this much change a hidden neuron; less than `stays` certainly leaves it.
        most = np.abs(self.support).max(axis=1, initial=0.0)
        self.changes = _threshold(size, active, hidden.slack, most, -1)
        self.stays = _threshold(size, active, hidden.slack, most, 1)
        margins = transition.target * transition.visible_fields
        most = np.abs(self.loss).max(axis=1, initial=0.0)
        self.needed = _threshold(margins, transition.active, transition.visible.slack, most, -1)
        scale = np.abs(self.loss).sum(axis=1)  # 0 where no flip can change a visible neuron
        share = np.divide(margins, scale, out=np.full(margins.shape, np.inf), where=scale > 0)
        self.endangered = np.argsort(share, kind="stable")

    def solve(
        self, j: int, least: int, most: int, node_limit: int
    ) -> tuple[int, Units | None, int]:
        """A lower bound on the flips that break neuron j (`most` + 1 if `most` do not), a set if
        one is found, and the nodes.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        reach = np.sort(self.support, axis=1)[:, ::-1][:, :most].clip(0).sum(axis=1)
        loose = np.flatnonzero(reach >= np.minimum(self.changes, self.stays))
        loss = self.loss[j, loose]
        if loss.clip(0).sum() < self.needed[j]:
            return most + 1, None, 0
        m, n = len(loose), self.n
        scale = np.maximum(np.abs(self.support[loose]).max(axis=1), np.finfo(float).tiny)
        support = self.support[loose] / scale[:, None]
        lowest = np.sort(support, axis=1)[:, :most].clip(None, 0).sum(axis=1)
        changes, stays = self.changes[loose] / scale, self.stays[loose] / scale
        harms = loss > 0
        switch = np.where(harms, lowest - changes, stays - reach[loose] / scale)
        rows = np.concatenate([support, np.diag(switch)], axis=1)
        lower = np.where(harms, lowest, -np.inf)
        upper = np.where(harms, np.inf, stays)
        size = max(float(np.abs(loss).max(initial=0.0)), np.finfo(float).tiny)
        flips = np.append(np.ones(n), np.zeros(m))
        A = np.vstack([rows, np.append(np.zeros(n), loss / size), flips])
        program = LinearConstraint(
            A, [*lower, self.needed[j] / size, least], [*upper, np.inf, most]
        )
        options = {"node_limit": node_limit, "mip_rel_gap": 0.0}
        result = milp(
            flips,
            integrality=np.ones(n + m),
            bounds=Bounds(0, 1),
            constraints=program,
            options=options,
        )
        if result.status == 2:  # infeasible: more than `most` flips are needed
            return most + 1, None, 1
        units = None if result.x is None else np.flatnonzero(result.x[:n] > 0.5)
        bound = result.mip_dual_bound
        if bound is None or not math.isfinite(bound):
            return least, units, node_limit
        return max(least, math.ceil(bound - 1e-6)), units, int(result.mip_node_count)


def _threshold(
    margin: Array, stays_at_zero: NDArray[np.bool_], slack: Array, largest: Array, side: int
) -> Array:
    """What a margin can lose: exact for whole numbers (half a unit from the tie), else a little
    less or more than the margin.

    Beside large numbers, of size `largest`, the solver would not see half a unit.
    """
    tie, unseen = np.where(stays_at_zero, 0.5, -0.5), _TOLERANCE * largest
    return np.where(
        (slack == 0) & (unseen < 0.5), margin + tie, margin + side * np.maximum(slack, unseen)
    )
