"""Dense memories: modern Hopfield networks for sequences, with one hidden unit for every stored
pattern.

Overlaps are held as sums u = sum_j xi_j S_j, N - 1 or N times the overlap m. All weights of one
neuron are divided by the same positive number, which changes no sign, so that nothing overflows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import (
    check_choice,
    check_count,
    check_count_or_auto,
    check_flag,
    check_positive,
    is_auto,
)
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.rule import sign
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import pieces

Floats = NDArray[np.float64]

_EXACT = 2.0**52  # whole numbers up to here, and their halves, are exact in float64
_ENTRIES = 4_000_000  # of the largest array that one step makes: 32 MB
_KEEP = 2_000_000  # entries of patterns up to which they are also held as float64
# of states with patterns that are held at a time; weighing them takes a few times as much
_OVERLAPS = 1_000_000
MOST_DEGREE = 1000


@dataclass(frozen=True)
class Interaction:
    """f(u) = u^degree or exp(beta u / unit), where sums u are `unit` times too large; a softmax is
    divided by its sum.
    """

    kind: str
    degree: int
    beta: float
    unit: int = 1

    def top(self, parts: Sequence[Floats], weight: float, axis: int, spread: float = 0.0) -> Floats:
        """Bound overlaps along an axis, up to `spread` more than they are, so that `weigh` can
        divide by it.
        """
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
        """Return the logarithm of what `weigh` divided f(m) by, for overlaps m of `count` neurons:
        u = unit count m.
        """
        if self.kind == "softmax":
            return np.zeros_like(top)  # it is divided by its sum anyway
        if self.kind == "polynomial":
            return np.asarray(self.degree * np.log(top / (self.unit * count)))
        return np.asarray(self.beta * (top / self.unit - count))


class Part(NamedTuple):
    """A sum over patterns in the field: weight * sum_mu values_i^mu f(u^mu without what neuron i
    adds to it).
    """

    interaction: Interaction
    """f."""
    u: Floats
    """Overlaps, shape (B, P)."""
    own: NDArray[Any]
    """The states that made them, of which neuron i does not see its own; zeros if it does. Shape
    (B, N).
    """
    values: Patterns
    """The pattern that each one calls, shape (P, N)."""
    weight: float = 1.0
    signed: Floats | None = None
    """The values by the sign of the keys, if they are at hand."""


def whole_power(u: Floats, degree: int) -> Floats:
    """Return u^degree by squaring: exact for whole numbers that fit, which a general power function
    need not be.
    """
    result, square = np.ones_like(u), u
    while degree:
        if degree & 1:
            result = result * square
        degree >>= 1
        if degree:
            square = square * square
    return result


def fields(parts: Sequence[Part], keys: Patterns, count: int) -> Floats:
    """Return the fields of all neurons, shape (B, N), where neuron i adds keys_i^mu own_i to
    overlap mu; keys is (P, N).

    One product with the patterns does for all neurons whose own state has the same size.
    """
    spread = max(float(np.abs(part.own).max()) for part in parts)
    tops, scales = _scales(parts, [part.u for part in parts], count, axis=1, spread=spread)
    total = np.zeros(parts[0].own.shape)
    sizes = [np.unique(np.abs(part.own)) for part in parts]
    rows = max(keys.shape[0], 4 * max(map(len, sizes)) * len(total))
    for units in _blocks(keys.shape[1], rows):
        for part, size, top, scale in zip(parts, sizes, tops, scales, strict=True):
            signed = (
                by_sign(keys[:, units], part.values[:, units])
                if part.signed is None
                else part.signed[:, :, units]
            )
            field = _field(part, size, signed, part.own[:, units], top)
            if _is_normalised(part, parts):
                ones = np.ones_like(keys[:, units])
                field /= _field(part, size, by_sign(keys[:, units], ones), part.own[:, units], top)
            total[:, units] += part.weight * (field if scale is None else field * scale)
    return total


def _is_normalised(part: Part, parts: Sequence[Part]) -> bool:
    """Whether a field must be divided by the sum of its weights; with one part this would change no
    sign.
    """
    return part.interaction.kind == "softmax" and len(parts) > 1


def _scales(
    parts: Sequence[Part], overlaps: Sequence[Floats], count: int, axis: int, spread: float
) -> tuple[list[Floats], list[Floats | None]]:
    """Return the divisor of each part in `weigh`, and its factor before parts are added."""
    weight = sum(abs(part.weight) for part in parts)
    interactions = [part.interaction for part in parts]
    if all(interaction == interactions[0] for interaction in interactions):
        # Whole numbers stay whole.
        top = interactions[0].top(overlaps, weight, axis=axis, spread=spread)
        return [top] * len(parts), [None] * len(parts)
    tops = [
        one.top([u], weight, axis=axis, spread=spread)
        for one, u in zip(interactions, overlaps, strict=True)
    ]
    logs = [one.log_scale(top, count) for one, top in zip(interactions, tops, strict=True)]
    largest = np.max(logs, axis=0)
    return tops, [np.exp(log - largest) for log in logs]


def by_sign(keys: Patterns, values: Patterns) -> Floats:
    """The values where the key is +1, and those where it is -1, zero elsewhere: two (P, n) -> (2,
    P, n).
    """
    return np.stack([np.where(keys > 0, values, 0), np.where(keys < 0, values, 0)]).astype(
        np.float64
    )


def _field(
    part: Part, sizes: NDArray[Any], signed: Floats, own: NDArray[Any], top: Floats
) -> Floats:
    """One part of the fields of some neurons, shape (B, n)."""
    weights = part.interaction.weigh(
        np.stack([part.u + v for size in sizes for v in (-size, size)]), top
    )  # (2 sizes, B, P)
    # answers[sign of the key][without or with]: with key +1, own state v the overlap without the
    # neuron is u - v.
    answers = np.matmul(weights.reshape(-1, weights.shape[-1]), signed).reshape(
        2, len(sizes), 2, *own.shape
    )
    field = np.empty(own.shape)
    for k, size in enumerate(sizes):
        plus, minus = answers[0, k], answers[1, k]
        np.copyto(field, plus[0] + minus[1], where=own == size)
        np.copyto(field, plus[1] + minus[0], where=own == -size)
    return field


def fields_of_mixed_overlaps(parts: Sequence[Part], shares: Floats, count: int) -> Floats:
    """Return the same where neuron i adds any number shares_i^mu own_i to overlap mu."""
    total = np.empty(parts[0].own.shape)
    for units in _blocks(shares.shape[1], shares.shape[0]):
        for b in range(len(total)):
            seen = [
                part.u[b][:, None] - shares[:, units] * part.own[b, units] for part in parts
            ]  # (P, n) each
            tops, scales = _scales(parts, seen, count, axis=0, spread=0.0)
            field = np.zeros(tops[0].shape[1])
            for part, u, top, scale in zip(parts, seen, tops, scales, strict=True):
                weights = part.interaction.weigh(u, top)
                answer = (weights * part.values[:, units]).sum(axis=0)
                answer = answer / weights.sum(axis=0) if _is_normalised(part, parts) else answer
                field += part.weight * (answer if scale is None else answer * scale[0])
            total[b, units] = field
    return total


def _blocks(n: int, rows: int) -> list[slice]:
    """Cut n columns into blocks so that rows x columns stays bounded."""
    width = max(1, _ENTRIES // max(rows, 1))
    return [slice(start, start + width) for start in range(0, n, width)]


class Call(NamedTuple):
    """One sum over the stored patterns."""

    interaction: Interaction
    states: NDArray[Any]
    """Whose overlaps are weighed, shape (B, order * N)."""
    called: str
    """The array with what each pattern calls."""
    weight: float = 1.0


class PatternStore(OnlineMemory):
    """Stored patterns with their successors, and the fields that they make through an interaction
    of their overlaps.
    """

    interaction: Literal["polynomial", "exponential", "softmax"]
    degree: int | Literal["auto"]
    beta: float
    pseudo_inverse: bool
    self_overlap: bool
    slow_steps: int = 1
    """The number of past steps of a memory that dwells."""
    patterns_: Patterns
    successors_: Patterns
    inverse_: NDArray[np.float64]
    _ready: dict[str, NDArray[np.float64]] | None

    _arrays: ClassVar[dict[str, str]] = {
        "patterns_": "pattern T kN",
        "successors_": "ternary T N",
        "inverse_": "float T T if pseudo_inverse",
    }

    def _init_learning(self, transitions: Transitions) -> None:
        if self.n_features_in_ * self.order_ == 1 and not self.self_overlap:
            raise ValueError(
                "patterns of 1 neuron have no overlap without the neuron itself; use "
                "self_overlap=True."
            )
        self._store(transitions.inputs[:0], transitions.targets[:0])

    def _present(self, transitions: Transitions) -> None:
        continued = self.successors_.any(axis=1)  # a sequence that ended may continue now
        self._store(
            np.concatenate([self.patterns_[continued], transitions.inputs]),
            np.concatenate([self.successors_[continued], transitions.targets]),
        )
        if self.pseudo_inverse:
            numbers = self.patterns_.astype(np.float64)
            self.inverse_ = np.linalg.pinv(numbers @ numbers.T / numbers.shape[1], hermitian=True)

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        check_choice(self.interaction, "interaction", ("polynomial", "exponential", "softmax"))
        self._check_degree()
        check_positive(self.beta, "beta")
        check_flag(self.pseudo_inverse, "pseudo_inverse")
        check_flag(self.self_overlap, "self_overlap")

    def traits(self) -> Traits:
        """Return the traits: nothing is learned, and memory grows with what is stored."""
        local = not self.pseudo_inverse
        return Traits(
            weights=("patterns_", "successors_") + (("inverse_",) if self.pseudo_inverse else ()),
            stores_patterns=True,
            online=local,
            local=local,
            dwells=self._dwells,
            steps_per_pattern=self.slow_steps,
            note="no learning: one hidden unit with fixed weights for each pattern",
        )

    _dwells = False

    def _check_degree(self) -> None:
        check_count(self.degree, "degree")

    def _store(self, keys: Patterns, values: Patterns) -> None:
        self.patterns_, self.successors_, self._ready = keys, values, None

    def _answers(self, calls: list[Call]) -> Patterns:
        """Return the pattern after each state, (B, N), a few states at a time."""
        ready = self._as_numbers()
        keys = ready.get("keys", self.patterns_.T).astype(np.float64, copy=False)
        following = np.empty((len(calls[0].states), self.n_features_in_), dtype=np.int8)
        for rows in pieces(len(following), _OVERLAPS // max(1, len(self.patterns_)) + 1):
            parts = [
                self._part(call._replace(states=call.states[rows]), keys, ready) for call in calls
            ]
            following[rows] = sign(self._fields(parts))
        return following

    def _part(
        self, call: Call, keys: NDArray[np.float64], ready: dict[str, NDArray[np.float64]]
    ) -> Part:
        """The sum over patterns for some states."""
        own = call.states[:, -self.n_features_in_ :]
        own = np.zeros_like(own) if self.self_overlap else own
        overlaps = call.states.astype(np.float64) @ keys
        return Part(
            call.interaction,
            overlaps,
            own,
            getattr(self, call.called),
            call.weight,
            ready.get(call.called),
        )

    def _as_numbers(self) -> dict[str, NDArray[np.float64]]:
        """Arrays that every step needs, as numbers for linear algebra, unless they are large."""
        if self.patterns_.size > _KEEP:
            return {}
        ready = getattr(self, "_ready", None)  # a loaded network has none yet
        if ready is None:
            keys = self.patterns_[:, -self.n_features_in_ :]
            ready = {
                "keys": self.patterns_.T.astype(np.float64),
                "successors_": by_sign(keys, self.successors_),
            }
            if self._dwells:
                ready["patterns_"] = by_sign(keys, keys)
            self._ready = ready
        return ready

    def _fields(self, parts: list[Part]) -> NDArray[np.float64]:
        """Add the parts, (B, N), with mixed overlaps where there is an inverse."""
        keys = self.patterns_[:, -self.n_features_in_ :]
        count = self.patterns_.shape[1] - (not self.self_overlap)
        if not self.pseudo_inverse:
            return fields(parts, keys, count)
        mixed = [part._replace(u=part.u @ self.inverse_) for part in parts]
        if self.self_overlap:
            return fields(mixed, keys, count)
        return fields_of_mixed_overlaps(mixed, self.inverse_ @ keys, count)


@final
@dataclass(eq=False, repr=False)
class DenseSequenceMemory(PatternStore):
    """A dense associative memory for sequences: every stored pattern calls its successor, the more
    strongly the nearer it is.

    With the overlaps m_i^mu = 1/(N-1) sum_{j != i} xi_j^mu S_j of the state S with the stored
    patterns (the DenseNet of Chaudhry et al.)::

        S_i' = sign sum_mu xi_i^{mu+1} f(m_i^mu)

    f(m) is m^degree ("polynomial"; degree 1 is the SeqNet, the Hebbian network without
    self-connections), exp(beta (N-1) (m-1)) ("exponential"), or the softmax over mu of beta (N-1) m
    ("softmax", whose sign equals that of the exponential). With ``self_overlap=True`` the sums go
    over all j: the asymmetric modern Hopfield network of Tang et al.

    Nothing is learned: the patterns themselves are the weights, with one hidden unit each, so the
    memory grows with what it stores, T * N entries for the keys and as many for the values.

    Parameters
    ----------
    interaction : {"polynomial", "exponential", "softmax"}
    degree : int or "auto"
        d of the polynomial. "auto" takes the least from 2 to 1000 at which, for every stored
        pattern, the weights ``|m|^d`` of all others add up to at most half of its own: then each
        transition is right. That is 2 to 5 for random patterns, and dozens for pictures. With the
        pseudo-inverse it is 2.
    beta : float
        The steepness of the exponential and the softmax; 1 in Chaudhry et al.
    pseudo_inverse : bool
        Mix the overlaps with the pseudo-inverse of O^{mu nu} = xi^mu . xi^nu / N before f, which
        takes out the correlations between patterns (the generalised pseudo-inverse rule).
    self_overlap : bool
        Whether a neuron's own state counts in the overlaps that it sees.
    order, on_conflict
        As in `SequenceAttractor`. With an order k > 1 a neuron does not see its own state in the
        newest pattern.

    Attributes
    ----------
    patterns_ : ndarray of int8, shape (P, order * N)
        The keys: all patterns that have a successor.
    successors_ : ndarray of int8, shape (P, N)
        The values.
    inverse_ : ndarray, shape (P, P)
        O^+; only with the pseudo-inverse.
    degree_ : int
        d, as given or chosen.

    References
    ----------
    H. Chaudhry et al., Long sequence Hopfield memory, 2023. M. Tang et al., Sequential memory with
    temporal predictive coding, 2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(80, 100, rng=0)
    >>> net = sa.zoo.DenseSequenceMemory().fit(X)
    >>> net.degree_, sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=160), X)
    (3, True)
    """

    interaction: Literal["polynomial", "exponential", "softmax"] = "polynomial"
    _: KW_ONLY
    degree: int | Literal["auto"] = "auto"
    beta: float = 1.0
    pseudo_inverse: bool = False
    self_overlap: bool = False
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    deterministic = True
    _values: ClassVar[dict[str, str]] = {"degree_": "count"}

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int] | None:
        """Store the transitions, and count the units that are wrong after them, unless the degree
        was chosen so that none is.
        """
        super().fit_transitions(transitions, callback)
        chosen = is_auto(self.degree) and self._weighs_plain_overlaps and self.degree_ < MOST_DEGREE
        if chosen and self.on_conflict == "raise":
            return None
        return 0, int(self._wrong_units(transitions).sum())

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state: (B, order * N) -> (B, N)."""
        beta, degree = float(self.beta), int(self.degree_)
        if not self.pseudo_inverse:
            # Overlaps differ by 2 or more. From here on each outweighs all smaller ones together,
            # so that a larger beta changes no sign; with it exp(-2 beta), the weight of the nearest
            # pattern without the own unit, would vanish.
            beta = min(beta, np.log(4.0 * len(self.patterns_)) / 2)
            degree = decisive_degree(degree, self.patterns_.shape[1], len(self.patterns_))
        return self._answers(
            [Call(Interaction(self.interaction, degree, beta), states, "successors_")]
        )

    def layers(self) -> tuple[Layer, ...] | None:
        """Return the one layer of the Hebbian network that degree 1 is; other memories are not
        threshold networks.
        """
        if self.interaction != "polynomial" or self.degree_ != 1 or self.pseudo_inverse:
            return None
        W = self.successors_.T.astype(np.float64) @ self.patterns_
        if not self.self_overlap:
            np.fill_diagonal(W[:, -len(W) :], 0)
        return (Layer.of(W),)

    def _store(self, keys: Patterns, values: Patterns) -> None:
        super()._store(keys, values)
        if not is_auto(self.degree):
            self.degree_ = int(self.degree)
        elif len(keys):
            before = getattr(self, "degree_", 2)  # more patterns never need a lower one
            self.degree_ = least_degree(keys, before) if self._weighs_plain_overlaps else 2

    @property
    def _weighs_plain_overlaps(self) -> bool:
        """Whether weights are powers of the overlaps themselves."""
        return self.interaction == "polynomial" and not self.pseudo_inverse

    def _check_degree(self) -> None:
        check_count_or_auto(self.degree, "degree")

    def _remedies(self) -> list[str]:
        given = self._weighs_plain_overlaps and not is_auto(self.degree)
        return [
            *(["let the patterns choose the degree (degree='auto')"] if given else []),
            *super()._remedies(),
        ]


def least_degree(keys: Patterns, least: int = 2) -> int:
    """Return the least degree, `MOST_DEGREE` at most, at which no pattern drowns in others.

    The weights |m|^degree of all others then add up to at most half of its own, 1.
    """
    last = {x.tobytes(): k for k, x in enumerate(keys)}
    copies = Counter(x.tobytes() for x in keys)
    each, weights = (
        keys[[*last.values()]].astype(np.float32),
        np.array([copies[x] for x in last], dtype=np.float64),
    )
    for rows in pieces(len(each), _ENTRIES // len(each) + 1):
        # A neuron does not see its own unit, so the overlap that it sees may be a little larger.
        m = np.minimum(
            1.0, (np.abs(each[rows] @ each.T, dtype=np.float64) + 1) / max(1, each.shape[1] - 1)
        )
        m[np.arange(len(m)), np.arange(rows.start, rows.stop)] = 0.0
        least = _least_degree_of(m, weights, weights[rows], least)
    return least


def _least_degree_of(m: Floats, weights: Floats, own: Floats, low: int) -> int:
    """Return the least degree, from `low` on, at which weights * m^degree of each row add up to at
    most half of its own.
    """

    def is_enough(degree: int) -> bool:
        return bool(np.all((weights * m**degree).sum(axis=1) <= own / 2))

    if is_enough(low):
        return low
    high = MOST_DEGREE
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def decisive_degree(degree: int, units: int, patterns: int) -> int:
    """Return a degree, not above this one, that gives every sum of +-u^degree the same sign."""
    # Overlaps are all odd or all even. From here on the largest left outweighs all smaller ones.
    enough = 1 if units <= 2 else math.ceil(math.log(2 * patterns) / math.log(units / (units - 2)))
    return degree if degree <= enough else enough + (degree - enough) % 2
