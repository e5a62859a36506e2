"""OneHotNetwork: the construction in the proof of Theorem 1, made to tolerate wrong units."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_count_or_auto, is_auto
from seqattractor.engine.firing import respond
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.rule import hidden_state, sign
from seqattractor.sequences import Patterns, Transitions
from seqattractor.sequences._patterns import as_items

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

    A transition that is presented again takes no other hidden neuron, but counts once more where
    several answer. `partial_fit` adds to what is stored; of that it changes only the tolerance,
    which a near pattern lowers.

    Parameters
    ----------
    n_hidden : int or "auto"
        M, a pool of hidden neurons: transitions take free ones until none is left, which is an
        error. With "auto" the network grows by as many as it needs.
    tolerance : int or "auto"
        k, how many wrong units a hidden neuron tolerates. "auto" is (d - 1) / 2, rounded down,
        where d is the smallest number of units in which two different stored inputs differ.
    order, on_conflict
        As in `SequenceAttractor`.

    Attributes
    ----------
    U_ : ndarray of int8, shape (M, order * N)
        One row for each hidden neuron in use: M = T - 1 for one sequence.
    V_ : ndarray, shape (N, M)
        Whole numbers: x(t+1), times how often the transition was presented.
    bias_ : ndarray of int, shape (N,)
        theta of the proof.
    tolerance_ : int
        k.
    n_hidden_ : int
        M, the hidden neurons in use.
    n_features_in_, order_ : int

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.xor()
    >>> net = sa.OneHotNetwork().fit(X)
    >>> net.n_hidden_, (net.recall(X[0], steps=4) == X).all()
    (4, np.True_)
    """

    n_hidden: int | Literal["auto"] = "auto"
    _: KW_ONLY
    tolerance: int | Literal["auto"] = "auto"
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {"U_": "pattern M kN", "V_": "float N M", "bias_": "int N"}
    _values: ClassVar[dict[str, str]] = {"n_hidden_": "size M", "tolerance_": "count kN"}

    def check_parameters(self) -> None:
        """Raise an error for a number of hidden neurons or wrong units that makes no sense."""
        check_count_or_auto(self.n_hidden, "n_hidden")
        if not is_auto(self.tolerance):
            check_count(self.tolerance, "tolerance", 0)

    def _init_learning(self, transitions: Transitions) -> None:
        self.U_, self.V_ = transitions.inputs[:0], transitions.targets[:0].T.astype(np.float64)
        n = transitions.inputs.shape[1]
        self.tolerance_ = (
            (n - 1) // 2
            if is_auto(self.tolerance)
            else check_count(self.tolerance, "tolerance", 0, n)
        )

    def _present(self, transitions: Transitions) -> None:
        """Give every new transition a hidden neuron of its own; one that is stored counts once
        more.
        """
        used, inputs = self.U_.shape
        pairs = np.concatenate([np.hstack([self.U_, sign(self.V_.T)]), np.hstack(transitions[:2])])
        times = np.concatenate([np.abs(self.V_[0]), np.ones(len(pairs) - used)])
        _, first, same = np.unique(as_items(pairs), return_index=True, return_inverse=True)
        order = np.argsort(first)  # stored ones stay where they are
        self._check_pool(used, len(order) - used)
        pairs, times = pairs[first[order]], np.bincount(same, weights=times)[order]
        self.U_ = np.ascontiguousarray(pairs[:, :inputs])
        self.V_ = np.ascontiguousarray(pairs[:, inputs:].T * times)
        if is_auto(self.tolerance):
            self.tolerance_ = min(
                self.tolerance_, (_least_distance(self.U_[used:], self.U_) - 1) // 2
            )
        self.bias_ = self.V_.sum(axis=1).astype(np.int64)
        self.n_hidden_ = len(self.U_)

    def _check_pool(self, used: int, needed: int) -> None:
        """Raise an error if there are fewer free hidden neurons than needed."""
        if is_auto(self.n_hidden) or needed <= (free := max(0, int(self.n_hidden) - used)):
            return
        raise ValueError(
            f"new transitions need {needed} hidden neurons, one each, but only {free} of "
            f"n_hidden={self.n_hidden} are free; use n_hidden={used + needed} or more, or 'auto'."
        )

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

    def _check_learned(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._check_pool(0, len(arrays["U_"]))

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
