"""Variants of the paper's network: with a fixed U, with a Hebbian V, and with hidden targets that
learn.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, final

import numpy as np

from seqattractor import rule as equations
from seqattractor._checks import check_memory, check_not_negative
from seqattractor.engine.problem import Feedback, Learned, ProgressCallback
from seqattractor.networks.attractor import SequenceAttractor
from seqattractor.networks.online import Weights
from seqattractor.networks.traits import Layer
from seqattractor.sequences import Patterns, Transitions


class FixedHiddenNetwork(SequenceAttractor):
    """The paper's ablation in which U stays at its random start and only V learns.

    Attributes are those of `SequenceAttractor`. Hidden neurons have no targets, and hidden biases
    are drawn as U is.

    Parameters
    ----------
    n_hidden, kappa, eta, bias, init_scale, max_epochs, rule, constraints, target_threshold, \
input_threshold, order, on_conflict, random_state, engine, n_jobs, warm_start, verbose
        As in `SequenceAttractor`, but `target_threshold` has no effect. If `input_threshold` is not
        0, U is standard normal whatever `init_scale` is, as in the paper, since the threshold is
        counted in its units.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 50, rng=0)
    >>> net = sa.FixedHiddenNetwork(n_hidden=200, random_state=0).fit(X)
    >>> int(net.hidden_errors_.sum()), net.score(X)
    (0, 1.0)
    """

    deterministic = True

    def _hidden_task(self, x_next: Patterns, max_epochs: int) -> dict[str, Any]:
        return {}  # U does not learn

    @property
    def _hidden_scale(self) -> float:
        return 1.0 if self.input_threshold != 0 else float(self.init_scale)

    def layers(self) -> tuple[Layer, Layer]:
        """Return the hidden layer, which was not trained for a margin, and the visible one."""
        hidden, visible = super().layers()
        return replace(hidden, kappa=None), visible

    def _drawn_hidden_bias(self, rng: np.random.Generator, M: int) -> Weights:
        """Random thresholds, of the size of U."""
        return rng.standard_normal(M) * self._hidden_scale


@final
class HebbianReadoutNetwork(FixedHiddenNetwork):
    """The paper's ablation in which U stays at its random start and V is Hebbian, V = sum_t x(t+1)
    y(t)^T.

    Attributes are those of `SequenceAttractor`. V is learned in one epoch and holds whole numbers,
    and so do the visible biases.

    Parameters
    ----------
    n_hidden, kappa, eta, bias, init_scale, max_epochs, rule, constraints, target_threshold, \
input_threshold, order, on_conflict, random_state, engine, n_jobs, warm_start, verbose
        As in `FixedHiddenNetwork`, but `kappa` has no effect, and there is no `rule` and no
        `constraints` to choose.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 50, rng=0)
    >>> net = sa.HebbianReadoutNetwork(n_hidden=500, random_state=0).fit(X)
    >>> net.n_iter_, net.score(X)
    (1, 1.0)
    """

    deterministic = True
    _rehearses = False  # V is a sum over all presentations
    _takes_rules = False

    def _init_learning(self, transitions: Transitions) -> None:
        super()._init_learning(transitions)
        self.V_ = np.zeros_like(self.V_)
        if self.bias:
            self.visible_bias_ = np.zeros_like(self.visible_bias_)

    def _learn(
        self,
        transitions: Transitions,
        max_epochs: int,
        callback: ProgressCallback | None = None,
        *,
        from_start: bool = False,
    ) -> tuple[int, int]:
        """Add the Hebbian weights of all transitions to V; returns the numbers of hidden and
        visible errors.
        """
        y = self._hidden_states(transitions.inputs)
        self.V_ = self.V_ + equations.hebbian(y, transitions.targets)
        if self.bias:  # the constant unit's part of the sum: the theta of Theorem 1
            self.visible_bias_ = self.visible_bias_ + transitions.targets.sum(axis=0)
        self._count_errors(
            int(
                np.sum(
                    equations.visible_state(self.V_, y, self._visible_bias) != transitions.targets
                )
            ),
            0,
        )
        return self._last_errors()

    def _step_size(self, name: str) -> float:
        return 1.0 if name in ("V_", "visible_bias_") else float(self.eta)

    def layers(self) -> tuple[Layer, Layer]:
        """Return the hidden and the visible layer, which were not trained for a margin."""
        hidden, visible = super().layers()
        return hidden, replace(visible, kappa=None)


@final
@dataclass(eq=False, repr=False)
class LearnedTargetsAttractor(SequenceAttractor):
    """The paper's network with a projection of hidden targets that learns by the update of V.

    Q, the synapses through which the next pattern reaches the hidden neurons, gets the very update
    that V gets, whose two factors meet there, too (Kolen and Pollack's local way to symmetric
    feedback)::

        z = sign((P + lambda Q) x(t+1))          Q_ij += eta nu_j x_j(t+1) y_i(t)

    Parameters
    ----------
    learned_feedback : float
        lambda: what one update of V adds to an entry of P, whose entries are standard normal; in
        other words Q is counted in steps of eta. At 0 targets are those of P.
    n_hidden, kappa, eta, bias, init_scale, max_epochs, rule, constraints, target_threshold, \
input_threshold, order, on_conflict, random_state, engine, n_jobs, warm_start, verbose
        As in `SequenceAttractor`, but there is no `rule` and no `constraints` to choose. Learning
        takes one thread, since each transition waits for the last.

    Attributes
    ----------
    Q_ : ndarray of int, shape (M, N)
        The learned feedback in units of eta: V has changed by eta times its transpose since the
        start. All other attributes are those of `SequenceAttractor`.

    Examples
    --------
    Q holds all that V has learned:

    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(30, 100, rng=0)
    >>> net = sa.LearnedTargetsAttractor(n_hidden=200, init_scale=0, random_state=0).fit(X)
    >>> bool((net.V_ == net.eta * net.Q_.T).all()), net.score(X)
    (True, 1.0)
    """

    _: KW_ONLY
    learned_feedback: float = 0.02

    deterministic = True
    _takes_rules = False
    _arrays: ClassVar[dict[str, str]] = {**SequenceAttractor._arrays, "Q_": "int M N"}

    def _init_learning(self, transitions: Transitions) -> None:
        super()._init_learning(transitions)
        M, N = self.P_.shape
        check_memory(8 * M * N, f"the learned feedback of {M} hidden neurons")
        self.Q_ = np.zeros((M, N), dtype=np.int64)

    def _hidden_task(self, x_next: Patterns, max_epochs: int) -> dict[str, Any]:
        """Targets that change with every update of V."""
        if self._learner is not None:
            raise ValueError(
                "learned targets cannot be learned on a cluster, where U is learned before V: call "
                "fit, or use SequenceAttractor."
            )
        if self.engine == "exact" and max_epochs > 1:
            check_memory(
                6 * len(x_next) ** 2,
                f"learning {len(x_next)} transitions, of which every two are compared",
            )
        return {
            "feedback": Feedback(self._target_drive(x_next), self.Q_, float(self.learned_feedback))
        }

    def _take(self, learned: Learned) -> None:
        super()._take(learned)
        assert learned.Q is not None
        self.Q_ = learned.Q

    def _targets_before(self, x_next: Patterns) -> Patterns:
        """The hidden targets before each pattern, as they are now."""
        Q, feedback = self.Q_.astype(np.float64), float(self.learned_feedback)
        return equations.learned_target(self._target_drive(x_next), Q, x_next, feedback).astype(
            np.int8
        )

    def _target_drive(self, x_next: Patterns) -> Weights:
        """What P contributes to the hidden targets before each pattern: (n, N) -> (n, M)."""
        return equations.target_drive(self.P_, x_next, self._target_threshold)

    def _projection(self) -> Weights:
        """Return P + lambda Q as it is now."""
        return self.P_ + float(self.learned_feedback) * self.Q_

    def check_parameters(self) -> None:
        """Raise an error if parameters make no sense."""
        super().check_parameters()
        check_not_negative(self.learned_feedback, "learned_feedback")
