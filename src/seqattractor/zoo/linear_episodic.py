"""LinearEpisodicMemory: the linear member of the general sequential episodic memory (Karuvally et al. 2023)."""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from seqattractor._checks import check_positive
from seqattractor.zoo.continuous import States
from seqattractor.zoo.episodic import EpisodicMemory


@final
class LinearEpisodicMemory(EpisodicMemory):
    """A Hopfield network in continuous time, whose delayed signal calls the next pattern (LISEM; Karuvally et al. 2023).

    With the stored patterns, divided by sqrt(N), as columns of Xi, the graph Phi of their order, features V_f, delayed signal V_d
    and linear hidden units V_h in equilibrium::

        V_h = sqrt(a_s) Xi^T tanh(gain V_f) + a_c Phi^T Xi^T V_d
        T_f dV_f/dt = sqrt(a_s) Xi V_h - V_f        T_d dV_d/dt = b_d tanh(gain V_f) - V_d

    The hidden units can be left out: Xi Xi^T and Xi Phi^T Xi^T are Hebbian weights, as those of `SlowSynapseMemory`. A pattern is
    held if gain * a_s is above 1, and left if r = sqrt(a_s) / (a_c b_d) is below 1; where the tanh is not steep, also for an r
    somewhat above 1. The last pattern of an open sequence is held for ever. Patterns are read out as sign(V_f).

    Parameters
    ----------
    a_s, a_c : float
        The strengths with which patterns hold themselves and call the next.
    b_d : float
        The strength of the delayed signal.
    gain : float
        Of the tanh.
    T_f, T_d, dt, read_out_interval, on_conflict
        As in `DenseEpisodicMemory`.

    Attributes
    ----------
    patterns_, graph_, n_features_in_, order_
        As in `DenseEpisodicMemory`.

    See Also
    --------
    DenseEpisodicMemory : the other member.

    Notes
    -----
    Equations are those of the authors' notes and code. There patterns are not divided by sqrt(N), a_s = .045 with N = 100, which
    is 4.5 here, and the delayed term of this member has the factor a_c where the general equations, used here, have sqrt(a_s)
    a_c. With the defaults of their code, T_d = 100 and a_c = .004 there, r is 1.6: of three loops of five random patterns two
    went on, every 200 T_f or so, and one not within 1500 T_f. The parameters with which they show sequences could not be read.
    T_d and a_c here (r = .8) were chosen for random patterns.

    References
    ----------
    A. Karuvally, T. Sejnowski and H. Siegelmann, General sequential episodic memory model, 2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 400, rng=0)
    >>> net = sa.zoo.LinearEpisodicMemory().fit(X)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in net.recall(X[0], steps=16)]
    [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 0]
    """

    def __init__(
        self,
        *,
        a_s: float = 4.5,
        a_c: float = 0.38,
        b_d: float = 7.0,
        gain: float = 1.0,
        T_f: float = 1.0,
        T_d: float = 20.0,
        dt: float = 0.1,
        read_out_interval: float = 5.0,
        on_conflict: Literal["raise", "learn"] = "raise",
    ) -> None:
        self.a_s = a_s
        self.a_c = a_c
        self.b_d = b_d
        self.gain = gain
        self.T_f = T_f
        self.T_d = T_d
        self.dt = dt
        self.read_out_interval = read_out_interval
        self.on_conflict = on_conflict

    def _length(self) -> float:
        return 1 / float(np.sqrt(self.n_features_in_))

    def _s_f(self, features: States) -> States:
        return np.tanh(float(self.gain) * features)

    def _s_h(self, hidden: States) -> States:
        return hidden

    def _L_f(self, features: States) -> States:
        scaled = np.abs(float(self.gain) * features)
        return np.asarray(np.sum(scaled + np.log1p(np.exp(-2 * scaled)) - np.log(2), axis=1) / float(self.gain))  # ln cosh

    def _L_h(self, hidden: States) -> States:
        return np.asarray(np.sum(hidden**2, axis=1) / 2)

    def _check_own_gains(self) -> None:
        check_positive(self.gain, "gain")
