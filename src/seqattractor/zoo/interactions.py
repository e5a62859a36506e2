"""How strongly a dense memory weighs an overlap, and the field of every neuron without its own part in the overlap.

Overlaps are held as sums u = sum_j xi_j S_j (whole numbers; N - 1 or N times the overlap m), and all weights of one neuron
may be divided by the same positive number, since only the sign of its field counts. So nothing overflows: polynomials are
divided by the largest overlap (only where whole numbers would not fit), exponentials are taken of the distance to it. Parts with
different functions are divided by different numbers, whose ratio is put back when they are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Patterns

Floats = NDArray[np.float64]

_EXACT = 2.0**52  # whole numbers up to here, and their halves, are exact in float64
_ENTRIES = 4_000_000  # of the largest array that one step makes: 32 MB


class Part(NamedTuple):
    """A sum over patterns in the field: weight * sum_mu values_i^mu f(u^mu without what neuron i adds to it)."""

    u: Floats
    """Overlaps, shape (B, P)."""
    own: NDArray[Any]
    """The states that made them, of which neuron i does not see its own; zeros if it does. Shape (B, N)."""
    values: Patterns
    """What each pattern calls, shape (P, N)."""
    weight: float = 1.0
    signed: Floats | None = None
    """The values by the sign of the keys, if they are at hand."""


@dataclass(frozen=True)
class Interaction:
    """f(u) = u^degree or exp(beta u / unit), where sums u are `unit` times too large; a softmax is divided by its sum."""

    kind: str
    degree: int
    beta: float
    unit: int = 1

    def top(self, parts: Sequence[Floats], weight: float, axis: int, spread: float = 0.0) -> Floats:
        """Bound overlaps along an axis, up to `spread` more than they are, so that `weigh` can divide by it."""
        u = np.concatenate(parts, axis=axis)
        if self.kind != "polynomial":
            return np.asarray(u.max(axis=axis, keepdims=True) + spread)
        largest = np.abs(u).max(axis=axis, keepdims=True) + spread
        with np.errstate(over="ignore"):
            fits = weight * u.shape[axis] * largest**self.degree < _EXACT
        return np.where(fits | (largest == 0), 1.0, largest)

    def weigh(self, u: Floats, top: Floats) -> Floats:
        """f(u), divided by a positive number that `top` stands for."""
        if self.kind == "polynomial":
            return whole_power(u / top, self.degree)
        return np.asarray(np.exp(self.beta * (u - top) / self.unit))

    def log_scale(self, top: Floats, count: int) -> Floats:
        """The logarithm of what `weigh` divided f(m) by, for overlaps m of `count` neurons: u = unit count m."""
        if self.kind == "softmax":
            return np.zeros_like(top)  # it is divided by its sum anyway
        if self.kind == "polynomial":
            return np.asarray(self.degree * np.log(top / (self.unit * count)))
        return np.asarray(self.beta * (top / self.unit - count))

    def normalised(self, parts: Sequence[Any]) -> bool:
        """Whether a field must be divided by the sum of its weights; with one part this would change no sign."""
        return self.kind == "softmax" and len(parts) > 1


def whole_power(u: Floats, degree: int) -> Floats:
    """u^degree by squaring: exact for whole numbers that fit, which a general power function need not be.

    Examples
    --------
    >>> whole_power(np.array([-3.0, 2.0]), 5)
    array([-243.,   32.])
    """
    result, square = np.ones_like(u), u
    while degree:
        if degree & 1:
            result = result * square
        degree >>= 1
        if degree:
            square = square * square
    return result


def fields(interactions: Sequence[Interaction], parts: Sequence[Part], keys: Patterns, count: int) -> Floats:
    """The fields of all neurons, shape (B, N), where neuron i adds keys_i^mu own_i to overlap mu; keys is (P, N).

    What it adds is +own_i or -own_i, so one product with the patterns does for all neurons whose own state has the same
    size, and no array of neurons x patterns x batch is made. Each part has its interaction, and overlaps are of `count` neurons.
    """
    spread = max(float(np.abs(part.own).max()) for part in parts)
    tops, scales = _scales(interactions, [part.u for part in parts], parts, count, axis=1, spread=spread)
    total = np.zeros(parts[0].own.shape)
    sizes = [np.unique(np.abs(part.own)) for part in parts]
    rows = max(keys.shape[0], 4 * max(map(len, sizes)) * len(total))
    for units in _blocks(keys.shape[1], rows):
        for interaction, part, size, top, scale in zip(interactions, parts, sizes, tops, scales, strict=True):
            signed = by_sign(keys[:, units], part.values[:, units]) if part.signed is None else part.signed[:, :, units]
            field = _field(interaction, part, size, signed, part.own[:, units], top)
            if interaction.normalised(parts):
                ones = np.ones_like(keys[:, units])
                field /= _field(interaction, part, size, by_sign(keys[:, units], ones), part.own[:, units], top)
            total[:, units] += part.weight * (field if scale is None else field * scale)
    return total


def _scales(
    interactions: Sequence[Interaction], overlaps: Sequence[Floats], parts: Sequence[Part], count: int, axis: int, spread: float
) -> tuple[list[Floats], list[Floats | None]]:
    """What each part is divided by in `weigh`, and the factor by which to multiply it before parts are added.

    Parts with the same interaction are divided by the same number and need no factor, so that whole numbers stay whole.
    """
    weight = sum(abs(part.weight) for part in parts)
    if all(interaction == interactions[0] for interaction in interactions):
        top = interactions[0].top(overlaps, weight, axis=axis, spread=spread)
        return [top] * len(parts), [None] * len(parts)
    tops = [one.top([u], weight, axis=axis, spread=spread) for one, u in zip(interactions, overlaps, strict=True)]
    logs = [one.log_scale(top, count) for one, top in zip(interactions, tops, strict=True)]
    largest = np.max(logs, axis=0)
    return tops, [np.exp(log - largest) for log in logs]


def by_sign(keys: Patterns, values: Patterns) -> Floats:
    """The values where the key is +1, and those where it is -1, zero elsewhere: two (P, n) -> (2, P, n)."""
    return np.stack([np.where(keys > 0, values, 0), np.where(keys < 0, values, 0)]).astype(np.float64)


def _field(interaction: Interaction, part: Part, sizes: NDArray[Any], signed: Floats, own: NDArray[Any], top: Floats) -> Floats:
    """One part of the fields of some neurons, shape (B, n)."""
    weights = interaction.weigh(np.stack([part.u + v for size in sizes for v in (-size, size)]), top)  # (2 sizes, B, P)
    # answers[sign of the key][without or with]: with key +1, own state v the overlap without the neuron is u - v.
    answers = np.matmul(weights.reshape(-1, weights.shape[-1]), signed).reshape(2, len(sizes), 2, *own.shape)
    field = np.empty(own.shape)
    for k, size in enumerate(sizes):
        plus, minus = answers[0, k], answers[1, k]
        np.copyto(field, plus[0] + minus[1], where=own == size)
        np.copyto(field, plus[1] + minus[0], where=own == -size)
    return field


def fields_of_mixed_overlaps(interactions: Sequence[Interaction], parts: Sequence[Part], shares: Floats, count: int) -> Floats:
    """The same where neuron i adds any number shares_i^mu own_i to overlap mu; shares is (P, N).

    This happens when overlaps are mixed by an inverse. Every pair of a neuron and a pattern then has its own weight.
    """
    total = np.empty(parts[0].own.shape)
    for units in _blocks(shares.shape[1], shares.shape[0]):
        for b in range(len(total)):
            seen = [part.u[b][:, None] - shares[:, units] * part.own[b, units] for part in parts]  # (P, n) each
            tops, scales = _scales(interactions, seen, parts, count, axis=0, spread=0.0)
            field = np.zeros(tops[0].shape[1])
            for interaction, part, u, top, scale in zip(interactions, parts, seen, tops, scales, strict=True):
                weights = interaction.weigh(u, top)
                answer = (weights * part.values[:, units]).sum(axis=0)
                answer = answer / weights.sum(axis=0) if interaction.normalised(parts) else answer
                field += part.weight * (answer if scale is None else answer * scale[0])
            total[b, units] = field
    return total


def _blocks(n: int, rows: int) -> list[slice]:
    """Cut n columns into blocks so that rows x columns stays bounded."""
    width = max(1, _ENTRIES // max(rows, 1))
    return [slice(start, start + width) for start in range(0, n, width)]
