"""OneHotNetwork: the construction in the proof of Theorem 1."""

from __future__ import annotations

from typing import Literal

import numpy as np

from seqattractor.learning.rule import sign
from seqattractor.networks._base import Lesson
from seqattractor.networks._fitting import StreamMemory
from seqattractor.networks._traits import Traits
from seqattractor.sequences import Patterns

__all__ = ["OneHotNetwork"]


class OneHotNetwork(StreamMemory):
    """A network that makes any sequence without conflicts, with one hidden neuron a transition (Theorem 1).

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

    _learned = "U_"
    U_: Patterns
    V_: Patterns

    def __init__(self, *, order: int | Literal["auto"] = 1, on_conflict: Literal["raise", "learn"] = "raise") -> None:
        self.order = order
        self.on_conflict = on_conflict

    # -- inside -------------------------------------------------------------------------------------------------

    def _start(self, lesson: Lesson) -> None:
        self.U_, self.V_ = lesson.inputs[:0], lesson.targets[:0].T

    def _present(self, lesson: Lesson) -> None:
        self.U_ = np.concatenate([self.U_, lesson.inputs])  # one hidden neuron for each transition
        self.V_ = np.concatenate([self.V_, lesson.targets.T], axis=1)
        self.bias_ = self.V_.sum(axis=1, dtype=np.int64)
        self.n_hidden_ = len(self.U_)

    def _next(self, states: Patterns) -> Patterns:
        # float32 holds these whole numbers exactly up to 2**24 and multiplies through BLAS.
        fields = states.astype(np.float32) @ self.U_.T.astype(np.float32)
        zeta = sign(fields - states.shape[1]).astype(np.float32)
        return sign(zeta @ self.V_.T.astype(np.float32) + self.bias_)

    def _traits(self) -> Traits:
        return Traits(
            weights=("U_", "V_", "bias_"),
            stores_patterns=True,
            online=True,
            local=True,
            note="no learning: one hidden unit with fixed weights for each transition",
        )
