"""OneHotNetwork: the construction in the proof of Theorem 1, made to tolerate wrong units."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np

from seqattractor._checks import check_count, is_auto
from seqattractor.engine.firing import respond
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.rule import hidden_state
from seqattractor.sequences import Patterns, Transitions

_ROWS = 256  # patterns that are compared with all others at once


@final
@dataclass(eq=False, repr=False)
class OneHotNetwork(OnlineMemory):
    """A network that makes any sequence without conflicts, with one hidden neuron per transition
    (Theorem 1).

    Hidden neuron i is on where at most k units differ from x(i), and calls x(i+1)::

        zeta = sign(U xi - (N - 2k))   U = (x(1), ..., x(T-1))^T
        xi'  = sign(V zeta + b)        V = (x(2), ..., x(T)),  b = x(2) + ... + x(T)

    Nothing is learned. The paper proves Theorem 1 with k = 0, where one flipped unit leaves all
    hidden neurons off. The default k is the largest with which no state turns on the neurons of two
    different patterns, so that any k wrong units are corrected in one step. For random flips a
    larger k withstands more of them.

    Parameters
    ----------
    tolerance : int or "auto"
        k, how many wrong units a hidden neuron tolerates. "auto" is (d - 1) / 2, rounded down,
        where d is the smallest number of units in which two different stored inputs differ.
    order, on_conflict
        As in `SequenceAttractor`.

    Attributes
    ----------
    U_ : ndarray of int8, shape (M, order * N)
        M = T - 1 for one sequence.
    V_ : ndarray of int8, shape (N, M)
    bias_ : ndarray of int, shape (N,)
        theta of the proof.
    tolerance_ : int
        k.
    n_hidden_ : int
        M.
    n_features_in_, order_ : int

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> net = sa.OneHotNetwork().fit(X)
    >>> net.n_hidden_, (net.recall(X[0], steps=4) == X).all()
    (4, np.True_)
    """

    _: KW_ONLY
    tolerance: int | Literal["auto"] = "auto"
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {
        "U_": "pattern M kN",
        "V_": "pattern N M",
        "bias_": "int N",
    }
    _values: ClassVar[dict[str, str]] = {"n_hidden_": "size M", "tolerance_": "count kN"}

    def check_parameters(self) -> None:
        """Raise an error for a tolerance that is not a number of units."""
        if not is_auto(self.tolerance):
            check_count(self.tolerance, "tolerance", 0)

    def _init_learning(self, transitions: Transitions) -> None:
        self.U_, self.V_ = transitions.inputs[:0], transitions.targets[:0].T
        n = transitions.inputs.shape[1]
        self.tolerance_ = (
            (n - 1) // 2
            if is_auto(self.tolerance)
            else check_count(self.tolerance, "tolerance", 0, n)
        )

    def _present(self, transitions: Transitions) -> None:
        self.U_ = np.concatenate([self.U_, transitions.inputs])
        if is_auto(self.tolerance):
            self.tolerance_ = min(
                self.tolerance_, (_least_distance(transitions.inputs, self.U_) - 1) // 2
            )
        self.V_ = np.concatenate([self.V_, transitions.targets.T], axis=1)
        self.bias_ = self.V_.sum(axis=1, dtype=np.int64)
        self.n_hidden_ = len(self.U_)

    def _hidden_states(self, states: Patterns) -> Patterns:
        """Return the hidden states, (B, order * N) -> (B, M): a neuron is on where the state is
        nearly its own pattern.
        """
        return hidden_state(self.U_, states, theta=self._threshold)

    @property
    def _threshold(self) -> int:
        """The least overlap with its pattern at which a hidden neuron is on."""
        return int(self.U_.shape[1]) - 2 * self.tolerance_

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eq. (3): (B, order * N) -> (B, N)."""
        return respond(self.V_, self._hidden_states(states), self.bias_)

    def layers(self) -> tuple[Layer, ...]:
        """Return the hidden and the visible layer, with thresholds N - 2k and the bias of the
        proof.
        """
        return Layer.of(self.U_, -float(self._threshold)), Layer.of(self.V_, self.bias_)

    def traits(self) -> Traits:
        """Return the traits: there is a hidden neuron for each transition."""
        return Traits(
            weights=("U_", "V_", "bias_"),
            stores_patterns=True,
            online=True,
            local=True,
            note="no learning: one hidden unit with fixed weights for each transition",
        )


def _least_distance(some: Patterns, patterns: Patterns) -> int:
    """The smallest number of units in which one of `some`, shape (B, N), differs from another of
    the patterns, shape (P, N).
    """
    n = int(patterns.shape[1])
    columns = patterns.T.astype(np.float32)  # whole numbers up to 2^24 are exact
    nearest = -n
    for first in range(0, len(some), _ROWS):
        overlaps = some[first : first + _ROWS].astype(np.float32) @ columns
        nearest = max(nearest, int(overlaps[overlaps < n].max(initial=-n)))
    return (n - nearest) // 2
