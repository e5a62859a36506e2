"""OneHotNetwork: the construction in the proof of Theorem 1."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np

from seqattractor.learning.rule import hidden_state
from seqattractor.networks._layered import HiddenLayerMemory
from seqattractor.networks._traits import Layer, Traits
from seqattractor.sequences import Patterns, Transitions


@final
class OneHotNetwork(HiddenLayerMemory):
    """A network that makes any sequence without conflicts, with one hidden neuron per transition (Theorem 1).

    Hidden neuron i answers to x(i) alone and calls x(i+1)::

        zeta = sign(U xi - N)      U = (x(1), ..., x(T-1))^T
        xi'  = sign(V zeta + b)    V = (x(2), ..., x(T)),  b = x(2) + ... + x(T)

    Nothing is learned and nothing is robust: with one unit flipped no hidden neuron answers, and the next state is all +1.

    Parameters
    ----------
    order, on_conflict
        As in `SequenceAttractor`.

    Attributes
    ----------
    U_ : ndarray of int8, shape (M, order * N)
        M = T - 1 for one sequence.
    V_ : ndarray of int8, shape (N, M)
    bias_ : ndarray of int, shape (N,)
        theta of the proof.
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

    U_: Patterns
    V_: Patterns

    deterministic = True
    declared_arrays: ClassVar[dict[str, str]] = {"U_": "pattern M kN", "V_": "pattern N M", "bias_": "int N"}
    declared_values: ClassVar[dict[str, str]] = {"n_hidden_": "size M"}

    def __init__(self, *, order: int | Literal["auto"] = 1, on_conflict: Literal["raise", "learn"] = "raise") -> None:
        self.order = order
        self.on_conflict = on_conflict

    def begin(self, transitions: Transitions) -> None:
        """Start without hidden neurons."""
        self.U_, self.V_ = transitions.inputs[:0], transitions.targets[:0].T

    def present(self, transitions: Transitions) -> None:
        """Add one hidden neuron for each transition."""
        self.U_ = np.concatenate([self.U_, transitions.inputs])
        self.V_ = np.concatenate([self.V_, transitions.targets.T], axis=1)
        self.bias_ = self.V_.sum(axis=1, dtype=np.int64)
        self.n_hidden_ = len(self.U_)

    def _hidden_states(self, states: Patterns) -> Patterns:
        """The hidden states of a batch: (B, order * N) -> (B, M). A neuron is on only where the state is its own pattern."""
        return hidden_state(self.U_, states, theta=states.shape[1])

    @property
    def _visible_bias(self) -> Any:
        return self.bias_

    def layers(self) -> tuple[Layer, ...]:
        """Give the hidden and the visible layer, with thresholds N and the bias of the proof."""
        return Layer.of(self.U_, -float(self.U_.shape[1])), Layer.of(self.V_, self.bias_)

    def traits(self) -> Traits:
        """Tell what is fair to know: there is a hidden neuron for each transition."""
        return Traits(
            weights=("U_", "V_", "bias_"),
            stores_patterns=True,
            online=True,
            local=True,
            note="no learning: one hidden unit with fixed weights for each transition",
        )
