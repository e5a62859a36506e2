"""SparseDistributedMemory: Kanerva's memory, the paper's architecture with a fixed sparse U and a
Hebbian V.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np

from seqattractor._checks import check_count, check_count_or_auto, check_memory, is_auto
from seqattractor.engine.firing import respond
from seqattractor.networks.online import OnlineMemory
from seqattractor.networks.traits import Layer, Traits
from seqattractor.noise import Seed, as_generator
from seqattractor.rule import field, heaviside
from seqattractor.sequences import Patterns, Transitions


@final
@dataclass(eq=False, repr=False)
class SparseDistributedMemory(OnlineMemory):
    """Sparse distributed memory: the hidden neurons whose random addresses lie nearest to the state
    fire, and V is Hebbian.

    With random addresses A of +-1, one for each hidden neuron::

        zeta_m = 1 for the n_active addresses nearest to xi, else 0
        V = sum_t x(t+1) zeta(t)^T          xi' = sign(V zeta)

    or zeta_m = 1 where address m differs from xi in at most `radius` units. Only V learns: what
    `SparseSequenceAttractor` stores beyond this memory is what it gains by learning.

    Parameters
    ----------
    n_hidden : int
        M, the number of hidden neurons (Kanerva's hard locations).
    n_active : int or "auto"
        How many fire; of equally near ones those with the lowest numbers. "auto" is sqrt(M / 5),
        rounded, at least 1.
    radius : int or None
        Kanerva's own rule: all addresses within this Hamming distance fire, few or many, instead of
        `n_active`. Each hidden neuron is then a threshold neuron, and the network can be certified.
    order, on_conflict, random_state
        As in `SequenceAttractor`.

    Attributes
    ----------
    A_ : ndarray of int8, shape (M, order * N)
        The addresses.
    V_ : ndarray, shape (N, M)
        Whole numbers.
    visible_errors_, n_iter_, converged_
        As in `HebbianMemory`.

    Notes
    -----
    The formulas were not checked against Kanerva's book. The nearest n_active instead of a radius
    are a later variant.

    References
    ----------
    P. Kanerva, Sparse distributed memory, 1988. T. Bricken and C. Pehlevan, Attention approximates
    sparse distributed memory, 2021.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 100, rng=0)
    >>> net = sa.zoo.SparseDistributedMemory(n_hidden=2000, random_state=0).fit(X)
    >>> sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=1), steps=60), X)
    True
    """

    n_hidden: int = 500
    _: KW_ONLY
    n_active: int | Literal["auto"] = "auto"
    radius: int | None = None
    order: int | Literal["auto"] = 1
    on_conflict: Literal["raise", "learn"] = "raise"
    random_state: Seed = None

    max_epochs = 1  # a second presentation would only double V

    deterministic = True
    _arrays: ClassVar[dict[str, str]] = {
        "A_": "pattern M kN",
        "V_": "float N M",
        "visible_errors_": "count E",
    }
    _values: ClassVar[dict[str, str]] = {
        "n_hidden": "size M",
        "n_iter_": "size E",
        "converged_": "flag",
    }
    # One outer product for each transition, added where it happens.
    _traits = Traits(
        weights=("A_", "V_"),
        stores_patterns=False,
        online=True,
        local=True,
        note="the addresses are random and fixed",
    )

    def _init_learning(self, transitions: Transitions) -> None:
        """Draw the addresses; V is zero."""
        M, inputs = int(self.n_hidden), transitions.inputs.shape[1]
        check_memory(9 * M * (inputs + self.n_features_in_), f"a network of {M} hidden neurons")
        rng = as_generator(self.random_state, "addresses")
        self.A_ = 2 * rng.integers(0, 2, size=(M, inputs), dtype=np.int8) - 1
        self.V_ = np.zeros((self.n_features_in_, M))
        self._no_errors_yet()

    def _present(self, transitions: Transitions) -> None:
        """Add the outer product of every target and the hidden state of its input."""
        self.V_ = self.V_ + transitions.targets.T.astype(np.float64) @ self._hidden_states(
            transitions.inputs
        )
        self._count_errors(int(self._wrong_units(transitions).sum()))

    def _hidden_states(self, states: Patterns) -> Patterns:
        """Return the hidden states of a batch, 1 where a neuron fires, else 0: (B, order * N) ->
        (B, M).
        """
        overlaps = field(self.A_, states)  # whole numbers, so that ties are ties
        if self.radius is not None:
            return heaviside(overlaps - self._overlap_at_radius)
        fires = np.zeros(overlaps.shape, dtype=np.int8)
        nearest = np.argsort(-overlaps, axis=1, kind="stable")[:, : self._n_active]
        np.put_along_axis(fires, nearest, np.int8(1), axis=1)
        return fires

    def next_patterns(self, states: Patterns, memory: Any = None) -> Patterns:
        """Return the pattern after each state, eq. (3): (B, order * N) -> (B, N)."""
        return respond(self.V_, self._hidden_states(states))

    def layers(self) -> tuple[Layer, ...] | None:
        """Return the hidden layer, of 0 and 1, and the visible one; the nearest few are not a layer
        of threshold neurons.
        """
        if self.radius is None:
            return None
        return Layer.of(self.A_, -float(self._overlap_at_radius), low=0, high=1), Layer.of(self.V_)

    def check_parameters(self) -> None:
        """Raise for invalid parameters."""
        M = check_count(self.n_hidden, "n_hidden")
        active = check_count_or_auto(self.n_active, "n_active")
        if active is not None and active > M:
            raise ValueError(
                f"n_active must be at most {M}, the number of hidden neurons, but it is {active}."
            )
        if self.radius is not None:
            check_count(self.radius, "radius", 0)

    @property
    def _n_active(self) -> int:
        """The number of neurons that fire."""
        return (
            max(1, round((int(self.n_hidden) / 5) ** 0.5))
            if is_auto(self.n_active)
            else int(self.n_active)
        )

    @property
    def _overlap_at_radius(self) -> int:
        """Return the overlap of a state with an address at the largest distance at which it
        fires.
        """
        return int(self.A_.shape[1]) - 2 * int(self.radius or 0)
