"""Networks without hidden neurons whose weights are one formula: the Hebbian network, and the
pseudo-inverse rule.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np

from seqattractor.engine.firing import respond
from seqattractor.engine.grid import exact_rows
from seqattractor.engine.problem import ProgressCallback
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.rule import hebbian
from seqattractor.sequences import Patterns, Transitions


@final
@dataclass(eq=False, repr=False)
class HebbianMemory(OnlineMemory):
    """The asymmetric Hebbian network: xi' = sign(W xi) with W = sum_t x(t+1) x(t)^T.

    The usual factor 1/N is left out: a sign does not see it, and whole numbers stay exact.

    Parameters
    ----------
    order, on_conflict
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
    visible_errors_ : ndarray of int, shape (presentations,)
        Wrong units over all transitions after each presentation.
    n_iter_ : int
        Presentations: 1 after `fit`.
    converged_ : bool
        Whether no unit was wrong.

    References
    ----------
    S.-I. Amari, Learning patterns and pattern sequences by self-organizing nets of threshold
    elements, 1972.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(8, 100, rng=0)
    >>> sa.zoo.HebbianMemory().fit(X).score(X)
    1.0
    """

    _: KW_ONLY
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    max_epochs = 1  # a second presentation would only double the weights

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {"W_": "float N kN", "visible_errors_": "count E"}
    _values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag"}
    _traits = Traits(weights=("W_",), stores_patterns=False, online=True, local=True)

    def _init_learning(self, transitions: Transitions) -> None:
        self.W_ = np.zeros((self.n_features_in_, self.n_features_in_ * self.order_))
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        self.W_ = self.W_ + hebbian(transitions.inputs, transitions.targets)
        self._count_errors(int(self._wrong_units(transitions).sum()))

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eq. (1): (B, order * N) -> (B, N)."""
        return respond(self.W_, states)

    def layers(self) -> tuple[Layer, ...]:
        """Return the one layer."""
        return (Layer.of(self.W_),)


@final
@dataclass(eq=False, repr=False)
class PseudoInverseMemory(SequenceMemory):
    """The pseudo-inverse (projection) rule: xi' = sign(W xi) with W = X_next X^+.

    It needs all patterns at once, so it has no `partial_fit`.

    Parameters
    ----------
    order, on_conflict
        As in `SequenceAttractor`.

    Attributes
    ----------
    W_ : ndarray, shape (N, order * N)
    visible_errors_, n_iter_, converged_
        As in `HebbianMemory`.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.zoo.PseudoInverseMemory().fit(X).score(X)
    1.0
    """

    _: KW_ONLY
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {"W_": "float N kN", "visible_errors_": "count E"}
    _values: ClassVar[dict[str, str]] = {"n_iter_": "size E", "converged_": "flag"}
    _traits = Traits(weights=("W_",), stores_patterns=False, online=False, local=False)

    def fit_transitions(
        self, transitions: Transitions, callback: ProgressCallback | None = None
    ) -> tuple[int, int]:
        """Solve for the weights in one go."""
        inputs, targets = (
            transitions.inputs.astype(np.float64),
            transitions.targets.astype(np.float64),
        )
        self.W_ = exact_rows(targets.T @ np.linalg.pinv(inputs.T))
        wrong = int(self._wrong_units(transitions).sum())
        self.visible_errors_, self.n_iter_, self.converged_ = np.array([wrong]), 1, wrong == 0
        return 0, wrong

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eq. (1): (B, order * N) -> (B, N)."""
        return respond(self.W_, states)

    def layers(self) -> tuple[Layer, ...]:
        """Return the one layer."""
        return (Layer.of(self.W_),)
