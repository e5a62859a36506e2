"""Searching for the fewest flips that break a transition: an upper bound beside the certificate's lower one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from seqattractor.analysis._certificate_bound import flip_radius
from seqattractor.analysis._threshold_view import ThresholdView
from seqattractor.sequences import Patterns

Array = NDArray[np.float32]
Units = NDArray[np.int64]

_MOST_UNITS = 192
# Networks with more weights than this are attacked at fewer neurons, so that the time stays bounded.
_LARGE = 1_000_000


def breaking_set(view: ThresholdView, x: Patterns, target: Patterns, *, at_least: int = 1, starts: int = 4) -> Units | None:
    """Search for a small set of units whose flips make the next pattern wrong.

    Rank the units by what they do to each of the most endangered visible neurons, flip the leading ones until something breaks,
    then exchange units as long as the smallest margin falls, with one unit fewer each time that this breaks the transition.

    Parameters
    ----------
    view : ThresholdView
        It must make the transition.
    x : ndarray of +-1, shape (order * N,)
    target : ndarray of +-1, shape (N,)
    at_least : int
        Stop at a set of this size, below which there is none.
    starts : int
        From how many sets to search at each size.

    Returns
    -------
    ndarray of int, or None if nothing was found
        The set breaks the transition: that was tried. Whether it is the smallest one is not known, unless it has the size
        `at_least`.
    """
    if view.hidden is None:
        radius = flip_radius(view.visible, x[None], view.visible.fields(x[None]))[0]
        return weakest_neuron(view, x, target, radius)
    search = _Search(view, x, target)
    rankings = search.rankings()
    best = search.first_to_break(rankings)
    while best is not None and len(best) > at_least:
        smaller = search.with_fewer(rankings, best, starts)
        if smaller is None:
            break
        best = smaller
    return None if best is None else np.sort(best)


def weakest_neuron(view: ThresholdView, x: Patterns, target: Patterns, radius: Units) -> Units | None:
    """The smallest set without hidden neurons: the largest supports of the neuron that withstands the fewest flips.

    Parameters
    ----------
    view : ThresholdView without hidden neurons
    x : ndarray of +-1, shape (order * N,)
    target : ndarray of +-1, shape (N,)
    radius : ndarray of int, shape (N,)
        What `flip_radius` gives for the visible neurons.

    Returns
    -------
    ndarray of int, or None if not even all flips break the transition
    """
    layer, j = view.visible, int(radius.argmin())
    support = target[j] * layer.weights[j] * x
    order = np.argsort(-support, kind="stable")
    # Where rounding counted against the network, one flip more than necessary in theory may be needed.
    for r in range(int(radius[j]) + 1, view.n_inputs + 1):
        if r and breaks(view, x, target, order[:r]):
            return np.sort(order[:r])
    return None


def breaks(view: ThresholdView, x: Patterns, target: Patterns, units: Units) -> bool:
    """Whether the flips make the next pattern wrong: try it."""
    state = x[None].copy()
    state[0, units] *= -1
    return bool(np.any(view.next(state)[0] != target))


class _Search:
    """One transition under attack. Works in float32 on the endangered visible neurons; what it finds is tried on all."""

    def __init__(self, view: ThresholdView, x: Patterns, target: Patterns) -> None:
        self.view, self.x, self.target = view, x, target
        assert view.hidden is not None
        self.hidden, visible = view.hidden, view.visible
        fields = self.hidden.fields(x[None])[0]
        self.fields = fields.astype(np.float32)
        # What flipping unit k takes from the field of neuron i: 2 U_ik x_k; shape (units, neurons).
        self.effect = np.ascontiguousarray((2 * self.hidden.weights * x).T, dtype=np.float32)
        visible_fields = visible.fields(self.hidden.states(fields[None]))[0]
        size = np.abs(visible.weights).sum(axis=1)
        relative = target * visible_fields / np.maximum(size, np.finfo(float).tiny)
        self.rows = np.argsort(relative, kind="stable")[: 32 if self.hidden.weights.size <= _LARGE else 8]
        self.sign = target[self.rows].astype(np.float32)
        self.weights = visible.weights[self.rows].astype(np.float32)
        self.offset = visible.offset[self.rows].astype(np.float32)

    def rankings(self) -> Units:
        """Orders of the units, for each endangered neuron by the harm that they seem to do; (orders, order * N)."""
        hidden = self.hidden
        active = self.fields >= 0
        change = np.where(active, hidden.low - hidden.high, hidden.high - hidden.low)
        loss = -self.sign[:, None] * self.weights * change
        support = self.effect.T * np.where(active, np.float32(1), np.float32(-1))[:, None]
        size = np.abs(self.fields)
        orders = []
        for power in (0.5, 1.0, 2.0) if support.size <= _LARGE else (1.0,):
            # Neurons near their threshold count most: how much so is what the powers vary.
            nearness = (size / (size.mean() or 1.0) + 1e-3) ** -power
            orders.append(np.argsort(-(loss * nearness).astype(np.float32) @ support, axis=1))
        return np.concatenate(orders)

    def first_to_break(self, rankings: Units) -> Units | None:
        """The fewest leading units of a ranking that break the transition."""
        tried, r = 0, 1
        while True:
            found = self._lowest_if_broken(self._margins_along(rankings, r), rankings[:, :r])
            if found is not None:
                break
            if r == self.view.n_inputs:
                return None
            tried, r = r, min(self.view.n_inputs, max(r + 1, int(1.4 * r)))
        for q in range(tried + 1, r):
            fewer = self._lowest_if_broken(self._margins_along(rankings, q), rankings[:, :q])
            if fewer is not None:
                return fewer
        return found

    def with_fewer(self, rankings: Units, best: Units, starts: int) -> Units | None:
        """A breaking set with one unit fewer than `best`, or None."""
        size = len(best) - 1
        sets = np.concatenate([[np.delete(best, k) for k in range(len(best))], rankings[:, :size]])
        margins = self._margins(self._fields_of(sets))
        for start in np.argsort(margins, kind="stable")[:starts]:
            found = self._descend(sets[start], float(margins[start]), self._candidates(rankings))
            if found is not None:
                return found
        return None

    def _descend(self, units: Units, lowest: float, candidates: Units, rounds: int = 30) -> Units | None:
        """Exchange one unit at a time as long as the smallest margin falls; the set that breaks the transition, or None."""
        for _ in range(rounds):
            if lowest < 0 and breaks(self.view, self.x, self.target, units):
                return units
            others = candidates[~np.isin(candidates, units)]
            if not others.size:
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

    def _candidates(self, rankings: Units) -> Units:
        """The units worth exchanging: all of a small network, the leading ones of a large one."""
        if self.view.n_inputs <= _MOST_UNITS:
            return np.arange(self.view.n_inputs)
        leading = rankings.T[: 1 + _MOST_UNITS // len(rankings)].ravel()
        return np.unique(leading)

    def _margins_along(self, rankings: Units, r: int) -> Array:
        """The smallest margin with the first r units of each ranking flipped."""
        return self._margins(self._fields_of(rankings[:, :r]))

    def _fields_of(self, sets: Units) -> Array:
        """The fields of the first layer with each of some sets of units flipped: (B, r) -> (B, neurons)."""
        if self.view.n_inputs > 1024:
            return np.asarray(self.fields - np.stack([self.effect[units].sum(axis=0) for units in sets]))
        flipped = np.zeros((len(sets), self.view.n_inputs), dtype=np.float32)
        np.put_along_axis(flipped, sets, 1.0, axis=1)
        return np.asarray(self.fields - flipped @ self.effect)

    def _margins(self, fields: Array) -> Array:
        """The smallest margin of the endangered visible neurons for fields of the first layer: (B, neurons) -> (B,)."""
        states = np.where(fields >= 0, np.float32(self.hidden.high), np.float32(self.hidden.low))
        visible = states @ self.weights.T + self.offset
        # A field of exactly zero is +1: wrong where -1 is wanted.
        return np.asarray((np.where(visible == 0, np.float32(1e-30), visible) * self.sign).min(axis=1))

    def _lowest_if_broken(self, margins: Array, sets: Units) -> Units | None:
        """The set with the lowest margin if that is below zero and the network agrees."""
        for k in np.argsort(margins, kind="stable")[:4]:
            if margins[k] < 0 and breaks(self.view, self.x, self.target, sets[k]):
                return np.asarray(sets[k])
        return None
