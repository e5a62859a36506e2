"""DenseSequenceMemory: modern Hopfield networks for sequences, with one hidden unit for every stored pattern."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_choice, check_count, check_not_negative, check_positive
from seqattractor.learning.rule import sign
from seqattractor.networks._base import Lesson
from seqattractor.networks._fitting import StreamMemory
from seqattractor.networks._interactions import Interaction, Part, by_sign, fields, fields_of_mixed_overlaps
from seqattractor.networks._slow import remember, start_memory, unfinished
from seqattractor.networks._traits import Traits
from seqattractor.sequences import Patterns

__all__ = ["DenseSequenceMemory"]

_KEEP = 2_000_000  # entries of patterns up to which they are also kept as float64
_LARGEST_BETA = 300.0  # with a slow part: exp(-2 beta) must not vanish in float64


class DenseSequenceMemory(StreamMemory):
    """A dense associative memory for sequences: every stored pattern calls its successor, the more the nearer it is.

    With the overlaps m_i^mu = 1/(N-1) sum_{j != i} xi_j^mu S_j of the state S with the stored patterns (the DenseNet of
    Chaudhry et al.)::

        S_i' = sign sum_mu xi_i^{mu+1} f(m_i^mu)

    f(m) is m^degree ("polynomial"; degree 1 is the SeqNet, the Hebbian network without self-connections), exp(beta (N-1)
    (m-1)) ("exponential"), or the softmax over mu of beta (N-1) m ("softmax"; without a slow part its sign equals that of the
    exponential). With ``self_overlap=True`` the sums go over all j: the asymmetric modern Hopfield network of Tang et al.

    Nothing is learned: the patterns themselves are the weights, with one hidden unit each, so the memory grows with what it
    stores, T * N entries for the keys and as many for the values.

    Parameters
    ----------
    interaction : {"polynomial", "exponential", "softmax"}
    degree : int
        d of the polynomial.
    beta : float
        The steepness of the exponential and the softmax; 1 in Chaudhry et al.
    pseudo_inverse : bool
        Mix the overlaps with the pseudo-inverse of O^{mu nu} = xi^mu . xi^nu / N before f, which takes out the correlations
        between patterns (the generalised pseudo-inverse rule).
    self_overlap : bool
        Whether a neuron's own state counts in the overlaps that it sees.
    slow_weight : float or None
        lambda of the MixedNet: the state is held by its own pattern, and after some steps called on by the successors of
        what it was on average over the last `slow_steps` steps::

            S_i' = sign sum_mu [ xi_i^mu f(m_i^mu) + lambda xi_i^{mu+1} f(mbar_i^mu) ]

        By default there is no slow part and every step goes on to the next pattern.
    slow_steps : int
        tau of the MixedNet. Recall starts as if the cue had been there for that long.
    order, on_conflict
        As in `SequenceAttractor`. With an order k > 1 a neuron does not see its own state in the newest pattern.

    Attributes
    ----------
    patterns_ : ndarray of int8, shape (P, order * N)
        The keys: all patterns that have a successor; with a slow part also the last ones of sequences that end.
    successors_ : ndarray of int8, shape (P, N)
        The values; a row of zeros where a sequence ends.
    inverse_ : ndarray, shape (P, P)
        O^+; only with the pseudo-inverse.
    n_features_in_, order_ : int

    References
    ----------
    H. Chaudhry et al., Long sequence Hopfield memory, 2023. M. Tang et al., Sequential memory with temporal predictive coding,
    2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(80, 100, rng=0)
    >>> net = sa.DenseSequenceMemory(degree=2).fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=160), X)
    True
    """

    _learned = "patterns_"
    patterns_: Patterns
    successors_: Patterns
    _kept: dict[str, NDArray[np.float64]] | None

    def __init__(
        self,
        interaction: Literal["polynomial", "exponential", "softmax"] = "polynomial",
        *,
        degree: int = 2,
        beta: float = 1.0,
        pseudo_inverse: bool = False,
        self_overlap: bool = False,
        slow_weight: float | None = None,
        slow_steps: int = 5,
        order: int | Literal["auto"] = 1,
        on_conflict: Literal["raise", "learn"] = "raise",
    ) -> None:
        self.interaction = interaction
        self.degree = degree
        self.beta = beta
        self.pseudo_inverse = pseudo_inverse
        self.self_overlap = self_overlap
        self.slow_weight = slow_weight
        self.slow_steps = slow_steps
        self.order = order
        self.on_conflict = on_conflict

    # -- inside -------------------------------------------------------------------------------------------------

    def _next(self, states: Patterns) -> Patterns:
        return self._answer(states, states.astype(np.int32) * self.slow_steps)

    def _start_recall(self, window: Patterns) -> Any:
        return None if self.slow_weight is None else start_memory(window, self.slow_steps)

    def _recall_step(self, states: Patterns, memory: Any) -> Patterns:
        return self._next(states) if memory is None else self._answer(states, remember(memory, states))

    def _answer(self, now: Patterns, past: NDArray[np.int32]) -> Patterns:
        """The next states, when the last `slow_steps` states summed to `past`; both (B, order * N)."""
        if self.slow_weight is None:
            return sign(self._fields(self._interaction(), [self._part(now, "successors_")]))
        held = self._part(now.astype(np.int32) * self.slow_steps, "patterns_")  # order 1: a key is a pattern
        called = self._part(past, "successors_", float(self.slow_weight))
        return sign(self._fields(self._interaction(self.slow_steps), [held, called]))

    def _part(self, states: NDArray[Any], called: str, weight: float = 1.0) -> Part:
        """The sum over patterns for these states; `called` names the array with what each pattern calls."""
        ready = self._ready()
        keys = ready.get("keys", self.patterns_.T).astype(np.float64, copy=False)
        own = states[:, -self.n_features_in_ :]
        own = np.zeros_like(own) if self.self_overlap else own
        return Part(states.astype(np.float64) @ keys, own, getattr(self, called), weight, ready.get(called))

    def _ready(self) -> dict[str, NDArray[np.float64]]:
        """Arrays that every step needs, kept as numbers for linear algebra unless they are large."""
        if self.patterns_.size > _KEEP:
            return {}
        kept = getattr(self, "_kept", None)  # a loaded network has none yet
        if kept is None:
            keys = self.patterns_[:, -self.n_features_in_ :]
            kept = {"keys": self.patterns_.T.astype(np.float64), "successors_": by_sign(keys, self.successors_)}
            if self.slow_weight is not None:
                kept["patterns_"] = by_sign(keys, keys)
            self._kept = kept
        return dict(kept)

    def _fields(self, interaction: Interaction, parts: list[Part]) -> NDArray[np.float64]:
        """Add the parts, (B, N), with mixed overlaps where there is an inverse."""
        keys = self.patterns_[:, -self.n_features_in_ :]
        if not self.pseudo_inverse:
            return fields(interaction, parts, keys)
        mixed = [part._replace(u=part.u @ self.inverse_) for part in parts]
        if self.self_overlap:
            return fields(interaction, mixed, keys)
        return fields_of_mixed_overlaps(interaction, mixed, self.inverse_ @ keys)

    def _interaction(self, unit: int = 1) -> Interaction:
        """f, with a beta that is no larger than it need be."""
        beta = float(self.beta)
        if self.slow_weight is None and not self.pseudo_inverse:
            # Overlaps differ by 2 or more. From here on each outweighs all smaller ones together, so that a larger beta
            # changes no sign; with it exp(-2 beta), the weight of the nearest pattern without the own unit, would vanish.
            beta = min(beta, np.log(4.0 * len(self.patterns_)) / 2)
        return Interaction(self.interaction, int(self.degree), beta, unit)

    def _start(self, lesson: Lesson) -> None:
        self._refuse_shape()
        self.patterns_, self.successors_ = lesson.inputs[:0], lesson.targets[:0]

    def _present(self, lesson: Lesson) -> None:
        """Keep the patterns as keys and values, with a hidden unit for each."""
        self._refuse_shape()
        going_on = self.successors_.any(axis=1)  # a sequence that ended may go on now
        keys = np.concatenate([self.patterns_[going_on], lesson.inputs])
        values = np.concatenate([self.successors_[going_on], lesson.targets])
        if self.slow_weight is not None:
            ends = unfinished(keys, values)
            keys, values = np.concatenate([keys, ends]), np.concatenate([values, np.zeros_like(ends)])
        self.patterns_, self.successors_ = keys, values
        self._kept = None
        if self.pseudo_inverse:
            numbers = keys.astype(np.float64)
            self.inverse_ = np.linalg.pinv(numbers @ numbers.T / numbers.shape[1], hermitian=True)

    def _refuse_shape(self) -> None:
        """Refuse a context or a number of neurons with which these settings make no sense."""
        if self.slow_weight is not None and self.order_ != 1:
            raise ValueError(
                f"with a slow part each pattern is held for several steps, so a context of {self.order_} steps says "
                "nothing; use order=1."
            )
        if self.n_features_in_ * self.order_ == 1 and not self.self_overlap:
            raise ValueError("patterns of 1 neuron have no overlap without the neuron itself; use self_overlap=True.")

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        check_choice(self.interaction, "interaction", ("polynomial", "exponential", "softmax"))
        check_count(self.degree, "degree")
        check_positive(self.beta, "beta")
        check_count(self.slow_steps, "slow_steps")
        if self.slow_weight is not None:
            check_not_negative(self.slow_weight, "slow_weight")
            if self.interaction != "polynomial" and self.beta > _LARGEST_BETA:
                raise ValueError(f"beta must be at most {_LARGEST_BETA:g} with a slow part, but it is {self.beta}.")

    def _traits(self) -> Traits:
        local = not self.pseudo_inverse
        return Traits(
            weights=("patterns_", "successors_") + (("inverse_",) if self.pseudo_inverse else ()),
            stores_patterns=True,
            online=local,
            local=local,
            dwells=self.slow_weight is not None,
            note="no learning: one hidden unit with fixed weights for each pattern",
        )
