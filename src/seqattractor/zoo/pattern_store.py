"""What dense memories share: the patterns themselves are the weights, with one hidden unit for each."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_choice, check_count, check_flag, check_positive
from seqattractor.learning.rule import sign
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Traits
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import pieces
from seqattractor.zoo.interactions import Interaction, Part, by_sign, fields, fields_of_mixed_overlaps

_KEEP = 2_000_000  # entries of patterns up to which they are also held as float64
_OVERLAPS = 1_000_000  # of states with patterns that are held at a time; weighing them takes a few times as much


class Call(NamedTuple):
    """One sum over the stored patterns."""

    states: NDArray[Any]
    """Whose overlaps are weighed, shape (B, order * N)."""
    called: str
    """The array with what each pattern calls."""
    weight: float = 1.0


class PatternStore(OnlineMemory):
    """Stored patterns with their successors, and the fields that they make through an interaction of their overlaps."""

    interaction: Literal["polynomial", "exponential", "softmax"]
    degree: int | Literal["auto"]
    beta: float
    pseudo_inverse: bool
    self_overlap: bool
    slow_steps: int = 1
    """How long a memory that dwells looks back."""
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
        """Start with nothing stored."""
        if self.n_features_in_ * self.order_ == 1 and not self.self_overlap:
            raise ValueError("patterns of 1 neuron have no overlap without the neuron itself; use self_overlap=True.")
        self._store(transitions.inputs[:0], transitions.targets[:0])

    def _present(self, transitions: Transitions) -> None:
        """Keep the patterns as keys and their successors as values, with a hidden unit for each."""
        going_on = self.successors_.any(axis=1)  # a sequence that ended may go on now
        self._store(
            np.concatenate([self.patterns_[going_on], transitions.inputs]),
            np.concatenate([self.successors_[going_on], transitions.targets]),
        )
        if self.pseudo_inverse:
            numbers = self.patterns_.astype(np.float64)
            self.inverse_ = np.linalg.pinv(numbers @ numbers.T / numbers.shape[1], hermitian=True)

    def check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        check_choice(self.interaction, "interaction", ("polynomial", "exponential", "softmax"))
        self._check_degree()
        check_positive(self.beta, "beta")
        check_flag(self.pseudo_inverse, "pseudo_inverse")
        check_flag(self.self_overlap, "self_overlap")

    def traits(self) -> Traits:
        """Tell what is fair to know: nothing is learned, and memory grows with what is stored."""
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

    # -- inside -------------------------------------------------------------------------------------------------

    _dwells = False

    def _check_degree(self) -> None:
        """Refuse a degree that makes no sense."""
        check_count(self.degree, "degree")

    def _store(self, keys: Patterns, values: Patterns) -> None:
        """Keep patterns and their successors."""
        self.patterns_, self.successors_, self._ready = keys, values, None

    def _answers(self, interactions: list[Interaction], calls: list[Call]) -> Patterns:
        """The pattern after each state, (B, N), a few states at a time: there is an overlap for each and every stored pattern."""
        ready = self._as_numbers()
        keys = ready.get("keys", self.patterns_.T).astype(np.float64, copy=False)
        following = np.empty((len(calls[0].states), self.n_features_in_), dtype=np.int8)
        for rows in pieces(len(following), _OVERLAPS // max(1, len(self.patterns_)) + 1):
            parts = [self._part(call._replace(states=call.states[rows]), keys, ready) for call in calls]
            following[rows] = sign(self._fields(interactions, parts))
        return following

    def _part(self, call: Call, keys: NDArray[np.float64], ready: dict[str, NDArray[np.float64]]) -> Part:
        """The sum over patterns for some states."""
        own = call.states[:, -self.n_features_in_ :]
        own = np.zeros_like(own) if self.self_overlap else own
        overlaps = call.states.astype(np.float64) @ keys
        return Part(overlaps, own, getattr(self, call.called), call.weight, ready.get(call.called))

    def _as_numbers(self) -> dict[str, NDArray[np.float64]]:
        """Arrays that every step needs, as numbers for linear algebra, unless they are large."""
        if self.patterns_.size > _KEEP:
            return {}
        ready = getattr(self, "_ready", None)  # a loaded network has none yet
        if ready is None:
            keys = self.patterns_[:, -self.n_features_in_ :]
            ready = {"keys": self.patterns_.T.astype(np.float64), "successors_": by_sign(keys, self.successors_)}
            if self._dwells:
                ready["patterns_"] = by_sign(keys, keys)
            self._ready = ready
        return ready

    def _fields(self, interactions: list[Interaction], parts: list[Part]) -> NDArray[np.float64]:
        """Add the parts, each with its interaction, (B, N), with mixed overlaps where there is an inverse."""
        keys = self.patterns_[:, -self.n_features_in_ :]
        count = self.patterns_.shape[1] - (not self.self_overlap)
        if not self.pseudo_inverse:
            return fields(interactions, parts, keys, count)
        mixed = [part._replace(u=part.u @ self.inverse_) for part in parts]
        if self.self_overlap:
            return fields(interactions, mixed, keys, count)
        return fields_of_mixed_overlaps(interactions, mixed, self.inverse_ @ keys, count)
