"""MixedSequenceMemory: a dense memory that holds each pattern for some steps before it calls the
next (MixedNet).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, final

import numpy as np

from seqattractor._checks import check_choice, check_count, check_not_negative, check_positive
from seqattractor.sequences import Patterns
from seqattractor.zoo.dense import Call, Interaction, PatternStore
from seqattractor.zoo.slow_synapses import MOST_STEPS, remember, unfinished

_LARGEST_BETA = 300.0  # exp(-2 beta) must not vanish in float64


def _interaction(kind: str, degree: int, beta: float, steps: int) -> Interaction:
    """An interaction; what its kind does not read is left out, so that two which do the same are
    equal.
    """
    return (
        Interaction(kind, degree, 1.0, steps)
        if kind == "polynomial"
        else Interaction(kind, 1, float(beta), steps)
    )


@final
@dataclass(eq=False, repr=False)
class MixedSequenceMemory(PatternStore):
    """The MixedNet of Chaudhry et al.: the state is held by its own pattern, and driven on by what
    it was some steps ago.

    With the overlaps m of the state and mbar of its average over the last `slow_steps` steps (see
    `DenseSequenceMemory`)::

        S_i' = sign sum_mu [ xi_i^mu f_S(m_i^mu) + slow_weight xi_i^{mu+1} f_A(mbar_i^mu) ]

    f_S and f_A may be different functions, defined as in `DenseSequenceMemory`; a softmax is
    divided by its sum over mu.

    Parameters
    ----------
    interaction, degree, beta, pseudo_inverse, self_overlap
        As in `DenseSequenceMemory`; `interaction`, `degree` and `beta` are those of f_S, the part
        that holds the pattern.
    slow_interaction, slow_degree, slow_beta
        Those of f_A, the part that calls the next pattern; each by default the same as of f_S.
    slow_weight : float
        lambda, by which the slow part outweighs the fast one.
    slow_steps : int
        tau, the number of steps over which the slow part averages. Recall starts as if the cue had
        been there for that long.
    on_conflict : {"raise", "learn"}
        As in `SequenceAttractor`.

    Attributes
    ----------
    patterns_ : ndarray of int8, shape (P, N)
        All patterns, also the last ones of sequences that end.
    successors_ : ndarray of int8, shape (P, N)
        A row of zeros where a sequence ends.
    inverse_ : ndarray, shape (P, P)
        O^+; only with the pseudo-inverse.

    References
    ----------
    H. Chaudhry et al., Long sequence Hopfield memory, 2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 400, rng=0)
    >>> net = sa.zoo.MixedSequenceMemory(slow_steps=3).fit(X)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in net.recall(X[0], steps=8)]
    [0, 1, 1, 1, 2, 2, 2, 3, 3]
    """

    interaction: Literal["polynomial", "exponential", "softmax"] = "polynomial"
    _: KW_ONLY
    degree: int = 2
    beta: float = 1.0
    pseudo_inverse: bool = False
    self_overlap: bool = False
    slow_weight: float = 2.5
    slow_steps: int = 5
    slow_interaction: Literal["polynomial", "exponential", "softmax"] | None = None
    slow_degree: int | None = None
    slow_beta: float | None = None
    on_conflict: Literal["raise", "learn"] = "raise"

    _dwells = True

    def start(self, states: Patterns) -> Patterns:
        """Return the last `slow_steps` states of a run, as if the cue had been there all the time:
        (B, N) -> (B, tau, N).
        """
        return np.repeat(states[:, None], self.slow_steps, axis=1)

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, (B, N) -> (B, N); `memory` holds the last states and
        is changed.
        """
        past = remember(self.start(states) if memory is None else memory, states)
        hold, call = self._interactions()
        held = Call(hold, states.astype(np.int32) * self.slow_steps, "patterns_")
        return self._answers([held, Call(call, past, "successors_", float(self.slow_weight))])

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        super().check_parameters()
        check_count(self.slow_steps, "slow_steps", 1, MOST_STEPS)
        check_not_negative(self.slow_weight, "slow_weight")
        if self.slow_interaction is not None:
            check_choice(
                self.slow_interaction, "slow_interaction", ("polynomial", "exponential", "softmax")
            )
        if self.slow_degree is not None:
            check_count(self.slow_degree, "slow_degree")
        if self.slow_beta is not None:
            check_positive(self.slow_beta, "slow_beta")
        for name, one in zip(("beta", "slow_beta"), self._interactions(), strict=True):
            if one.kind != "polynomial" and one.beta > _LARGEST_BETA:
                raise ValueError(
                    f"{name} must be at most {_LARGEST_BETA:g}, but it is {one.beta:g}."
                )

    def _interactions(self) -> list[Interaction]:
        """f_S and f_A."""
        kind = self.interaction if self.slow_interaction is None else self.slow_interaction
        degree = int(self.degree if self.slow_degree is None else self.slow_degree)
        beta = self.beta if self.slow_beta is None else self.slow_beta
        return [
            _interaction(self.interaction, int(self.degree), self.beta, self.slow_steps),
            _interaction(kind, degree, beta, self.slow_steps),
        ]

    def _store(self, keys: Patterns, values: Patterns) -> None:
        ends = unfinished(keys, values)  # the state must be held at the end of a sequence, too
        super()._store(np.concatenate([keys, ends]), np.concatenate([values, np.zeros_like(ends)]))
