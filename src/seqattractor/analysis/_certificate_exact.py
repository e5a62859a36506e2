"""The exact number of flips that a transition of a small network withstands, by mixed-integer programming."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from seqattractor.analysis._certificate_attack import breaks
from seqattractor.analysis._threshold_view import ThresholdView
from seqattractor.sequences import Patterns

Array = NDArray[np.float64]
Units = NDArray[np.int64]
# Nodes of search trees for each transition: at most a minute or two for 100 visible and 200 hidden neurons on today's machines.
NODES = 8_000


@dataclass(frozen=True)
class Exact:
    """What the programs prove about one transition."""

    radius: int
    """The proven number of flips that do no harm."""
    units: Units | None
    """A set that breaks the transition with the fewest flips known, or None if none does."""


def smallest_breaking_set(
    view: ThresholdView, x: Patterns, target: Patterns, *, radius: int, known: Units | None, node_limit: int = NODES
) -> Exact:
    """Find the fewest flips that break a transition, by a mixed-integer program for each visible neuron in danger.

    Binary variables say which units are flipped (delta_k) and which hidden neurons change (f_i)::

        minimise sum_k delta_k   with   sum_i loss_i f_i >= margin_j
                                        2 sum_k c_ik delta_k >= m_i      if f_i = 1 and the change of i harms j
                                        2 sum_k c_ik delta_k <= m_i      if f_i = 0 and the change of i helps j

    Ties and rounding are settled so that nothing that breaks the transition is left out.

    Parameters
    ----------
    view : ThresholdView with hidden neurons
    x, target : ndarray of +-1
    radius : int
        Flips that are already known to do no harm.
    known : ndarray of int, or None
        A set that is known to break the transition.
    node_limit : int
        Nodes of the search trees of all programs together, of which each may use a quarter of what is left; what is proven until
        then is returned.

    Returns
    -------
    Exact
    """
    program = _Program(view, x, target)
    best, proven = known, view.n_inputs
    for j in program.endangered:
        most = view.n_inputs if best is None else len(best) - 1
        if most <= radius:
            break
        if node_limit < 4:
            proven = radius  # nobody looked at the remaining neurons
            break
        lower, units, nodes = program.solve(int(j), radius + 1, most, node_limit // 4)
        node_limit -= nodes
        if units is not None and breaks(view, x, target, units):
            best = units
        elif units is not None:
            lower = len(units)  # breaks only within rounding: a bound, not a set
        proven = min(proven, lower - 1)
    return Exact(max(radius, min(proven, view.n_inputs if best is None else len(best) - 1)), best)


class _Program:
    """The numbers that the programs of one transition share."""

    def __init__(self, view: ThresholdView, x: Patterns, target: Patterns) -> None:
        assert view.hidden is not None
        self.n = view.n_inputs
        hidden, visible = view.hidden, view.visible
        fields = hidden.fields(x[None])[0]
        active = fields >= 0
        self.support = 2 * np.where(active, 1.0, -1.0)[:, None] * hidden.weights * x
        # Flips that sum to this much change a hidden neuron; less than `stays` surely leaves it.
        self.changes = _threshold(np.abs(fields), active, hidden.slack, -1)
        self.stays = _threshold(np.abs(fields), active, hidden.slack, 1)
        states = hidden.states(fields[None])[0]
        change = np.where(active, hidden.low - hidden.high, hidden.high - hidden.low)
        self.loss = -target[:, None] * visible.weights * change
        margins = target * visible.fields(states[None])[0]
        self.needed = _threshold(margins, target > 0, visible.slack, -1)
        scale = np.maximum(np.abs(self.loss).sum(axis=1), np.finfo(float).tiny)
        self.endangered = np.argsort(margins / scale, kind="stable")

    def solve(self, j: int, least: int, most: int, node_limit: int) -> tuple[int, Units | None, int]:
        """A lower bound on the flips that break neuron j (`most` + 1 if so many do not), a set if one is found, and the nodes."""
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
        result = milp(
            np.append(np.ones(n), np.zeros(m)),
            integrality=np.ones(n + m),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(rows, lower, upper),
                LinearConstraint(np.append(np.zeros(n), loss / size)[None], self.needed[j] / size, np.inf),
                LinearConstraint(np.append(np.ones(n), np.zeros(m))[None], least, most),
            ],
            options={"node_limit": node_limit, "mip_rel_gap": 0.0},
        )
        if result.status == 2:  # infeasible: more than `most` flips are needed
            return most + 1, None, 1
        units = None if result.x is None else np.flatnonzero(result.x[:n] > 0.5)
        bound = result.mip_dual_bound
        if bound is None or not math.isfinite(bound):
            return least, units, node_limit
        return max(least, math.ceil(bound - 1e-6)), units, int(result.mip_node_count)


def _threshold(margin: Array, stays_at_zero: NDArray[np.bool_], slack: Array, side: int) -> Array:
    """What a margin can lose: exact for whole numbers (half a unit from the tie), else a little less or more than the margin."""
    tie = np.where(stays_at_zero, 0.5, -0.5)
    return np.where(slack == 0, margin + tie, margin + side * slack)
