"""DenseEpisodicMemory: the dense member of the general sequential episodic memory (Karuvally et al. 2023)."""

from __future__ import annotations

from typing import Literal, final

import numpy as np

from seqattractor._checks import check_positive
from seqattractor.zoo.continuous import States
from seqattractor.zoo.delayed import softmax
from seqattractor.zoo.episodic import EpisodicMemory


@final
class DenseEpisodicMemory(EpisodicMemory):
    """A dense memory in continuous time, whose delayed signal calls the next pattern (DSEM; Karuvally et al. 2023).

    With the stored patterns as columns of Xi, the graph Phi of their order, features V_f, delayed signal V_d and hidden units V_h
    in equilibrium::

        V_h = sqrt(a_s) Xi^T V_f + a_c Phi^T Xi^T V_d
        T_f dV_f/dt = sqrt(a_s) Xi softmax(gain V_h) - V_f        T_d dV_d/dt = b_d V_f - V_d

    The features are drawn to a pattern and stay there until the delayed signal has moved the minimum of `energy` to the next one.
    The last pattern of an open sequence is held for ever. Patterns are read out as sign(V_f).

    Parameters
    ----------
    a_s, a_c : float
        The strengths with which patterns hold themselves and call the next.
    b_d : float
        The strength of the delayed signal.
    gain : float
        Of the softmax.
    T_f, T_d : float
        The time constants of features and delayed signal.
    dt : float
        The step of Euler's method, at most.
    read_out_interval : float
        The time between two steps of `recall`. A run starts as if the cue had been there for long, V_d = b_d V_f, so that the
        first step already goes on, as with slow synapses; then each pattern is held for a few steps. (The authors start with V_d
        = 0, which holds the cue first: give `activity` that state.)
    on_conflict : {"raise", "learn"}
        As in `SequenceAttractor`. Where a pattern has two successors, both are called.

    Attributes
    ----------
    patterns_ : ndarray of int8, shape (P, N)
        Xi^T, every pattern once.
    graph_ : ndarray of int8, shape (P, P)
        Phi: 1 in row mu and column nu where nu follows mu.
    n_features_in_, order_ : int

    See Also
    --------
    LinearEpisodicMemory : the other member.
    DynamicEnergyMemory : its successor.

    Notes
    -----
    Equations and parameters are those of the authors' notes and code: T_d = 20, a_s = 1, a_c = 4.9, b_d = 7 and the softmax with
    gain 1. Their article names a polynomial instead of the softmax; its exponent was not verified, and it is not here. Memories
    are set; the online rule for the graph in their code is not here, either.

    References
    ----------
    A. Karuvally, T. Sejnowski and H. Siegelmann, General sequential episodic memory model, 2023.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 100, rng=0)
    >>> net = sa.zoo.DenseEpisodicMemory().fit(X)
    >>> path = net.recall(sa.noise.flip(X[0], 10, rng=1), steps=16)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in path[1:]]
    [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3]
    """

    def __init__(
        self,
        *,
        a_s: float = 1.0,
        a_c: float = 4.9,
        b_d: float = 7.0,
        gain: float = 1.0,
        T_f: float = 1.0,
        T_d: float = 20.0,
        dt: float = 0.1,
        read_out_interval: float = 2.0,
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

    def _s_f(self, features: States) -> States:
        return features

    def _s_h(self, hidden: States) -> States:
        return softmax(float(self.gain) * hidden)

    def _L_f(self, features: States) -> States:
        return np.asarray(np.sum(features**2, axis=1) / 2)

    def _L_h(self, hidden: States) -> States:
        scaled = float(self.gain) * hidden
        largest = scaled.max(axis=1)
        return np.asarray((largest + np.log(np.exp(scaled - largest[:, None]).sum(axis=1))) / float(self.gain))

    def _check_own_gains(self) -> None:
        check_positive(self.gain, "gain")
