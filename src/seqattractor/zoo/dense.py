"""DenseSequenceMemory: modern Hopfield networks for sequences, with one hidden unit for every stored pattern."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import numpy as np

from seqattractor._checks import check_count_or_auto, is_auto
from seqattractor.learning.problem import ProgressCallback
from seqattractor.networks.traits import Layer
from seqattractor.sequences import Patterns, Transitions
from seqattractor.zoo.degree import MOST_DEGREE, decisive_degree, least_degree
from seqattractor.zoo.interactions import Interaction
from seqattractor.zoo.pattern_store import Call, PatternStore


@final
class DenseSequenceMemory(PatternStore):
    """A dense associative memory for sequences: every stored pattern calls its successor, the more strongly the nearer it is.

    With the overlaps m_i^mu = 1/(N-1) sum_{j != i} xi_j^mu S_j of the state S with the stored patterns (the DenseNet of
    Chaudhry et al.)::

        S_i' = sign sum_mu xi_i^{mu+1} f(m_i^mu)

    f(m) is m^degree ("polynomial"; degree 1 is the SeqNet, the Hebbian network without self-connections), exp(beta (N-1)
    (m-1)) ("exponential"), or the softmax over mu of beta (N-1) m ("softmax", whose sign equals that of the
    exponential). With ``self_overlap=True`` the sums go over all j: the asymmetric modern Hopfield network of Tang et al.

    Nothing is learned: the patterns themselves are the weights, with one hidden unit each, so the memory grows with what it
    stores, T * N entries for the keys and as many for the values.

    Parameters
    ----------
    interaction : {"polynomial", "exponential", "softmax"}
    degree : int or "auto"
        d of the polynomial. "auto" takes the least from 2 on at which, for every stored pattern, the weights ``|m|^d`` of all
        others add up to at most half of its own, as the overlaps of the stored patterns tell: then each transition is right. That
        is low for random patterns that are few beside the units (2 for 20 patterns of 100 units, 5 for 2,000), dozens for
        pictures, of which degree 2 stores nothing, and 1000 where patterns are too much alike for any. With the pseudo-inverse,
        which takes out the overlaps, it is 2.
    beta : float
        The steepness of the exponential and the softmax; 1 in Chaudhry et al.
    pseudo_inverse : bool
        Mix the overlaps with the pseudo-inverse of O^{mu nu} = xi^mu . xi^nu / N before f, which takes out the correlations
        between patterns (the generalised pseudo-inverse rule).
    self_overlap : bool
        Whether a neuron's own state counts in the overlaps that it sees.
    order, on_conflict
        As in `SequenceAttractor`. With an order k > 1 a neuron does not see its own state in the newest pattern.

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
    n_features_in_, order_ : int

    See Also
    --------
    MixedSequenceMemory : holds each pattern for some steps.

    References
    ----------
    H. Chaudhry et al., Long sequence Hopfield memory, 2023. M. Tang et al., Sequential memory with temporal predictive coding,
    2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(80, 100, rng=0)
    >>> net = sa.zoo.DenseSequenceMemory().fit(X)
    >>> net.degree_, sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=160), X)
    (3, True)

    Pictures are much alike, and need a degree that tells them apart; of degree 2 `fit` warns that nothing is stored:

    >>> film = sa.datasets.walker(24, shrink=2)
    >>> net = sa.zoo.DenseSequenceMemory().fit(film)
    >>> net.degree_, net.score(film)
    (36, 1.0)
    """

    degree_: int

    deterministic = True
    _values: ClassVar[dict[str, str]] = {"degree_": "count"}

    def __init__(
        self,
        interaction: Literal["polynomial", "exponential", "softmax"] = "polynomial",
        *,
        degree: int | Literal["auto"] = "auto",
        beta: float = 1.0,
        pseudo_inverse: bool = False,
        self_overlap: bool = False,
        order: int | Literal["auto"] = 1,
        on_conflict: Literal["raise", "learn"] = "raise",
    ) -> None:
        self.interaction = interaction
        self.degree = degree
        self.beta = beta
        self.pseudo_inverse = pseudo_inverse
        self.self_overlap = self_overlap
        self.order = order
        self.on_conflict = on_conflict

    def fit_transitions(self, transitions: Transitions, callback: ProgressCallback | None = None) -> tuple[int, int] | None:
        """Store the transitions, and count the units that are wrong after them, unless the degree was chosen so that none is."""
        super().fit_transitions(transitions, callback)
        chosen = is_auto(self.degree) and self._weighs_plain_overlaps and self.degree_ < MOST_DEGREE
        if chosen and self.on_conflict == "raise":
            return None
        return 0, int(self._wrong_units(transitions).sum())

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Give the pattern after each state: (B, order * N) -> (B, N)."""
        beta, degree = float(self.beta), int(self.degree_)
        if not self.pseudo_inverse:
            # Overlaps differ by 2 or more. From here on each outweighs all smaller ones together, so that a larger beta
            # changes no sign; with it exp(-2 beta), the weight of the nearest pattern without the own unit, would vanish.
            beta = min(beta, np.log(4.0 * len(self.patterns_)) / 2)
            degree = decisive_degree(degree, self.patterns_.shape[1], len(self.patterns_))
        interaction = Interaction(self.interaction, degree, beta)
        return self._answers([interaction], [Call(states, "successors_")])

    def layers(self) -> tuple[Layer, ...] | None:
        """Give the one layer of the Hebbian network that degree 1 is; other memories are not threshold networks."""
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
        return [*(["let the patterns choose the degree (degree='auto')"] if given else []), *super()._remedies()]
