"""DynamicEnergyMemory: an exponential memory whose delayed signal moves its energy landscape (EDEN,
Karuvally et al. 2025).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import final

import numpy as np
from scipy.special import softmax

from seqattractor.zoo.continuous import States
from seqattractor.zoo.episodic import DelayedMemory


@final
@dataclass(eq=False, repr=False)
class DynamicEnergyMemory(DelayedMemory):
    """EDEN (Karuvally et al. 2025): a softmax memory draws the state to a pattern until a delayed
    signal calls the next one.

    With the stored patterns xi^mu as columns of Xi, v the features and s the delayed signal::

        h_mu = a_s xi^mu . v + a_c sum_{nu -> mu} xi^nu . s
        T_f dv/dt = Xi softmax((beta / N) h) - v        T_d ds/dt = v - s

    For r = a_s / a_c < 1 each pattern is held for about T_d ln(1 / (1 - sqrt(r))), and the next one
    follows; for r > 1 it is held for ever. The last pattern of an open sequence is held for ever,
    too. Patterns are read out as sign(v).

    Parameters
    ----------
    a_s, a_c : float
        The weights of the features and of the delayed signal.
    beta : float
        The steepness of the softmax. It is divided by N, as in the authors' code; their text has no
        such division.
    T_f, T_d, dt, read_out_interval, on_conflict
        As in `DenseEpisodicMemory`, and so are the attributes. A run starts with v = s = cue.

    Notes
    -----
    Equations and parameters are those of the authors' published code; the escape time follows from
    their ansatz.

    References
    ----------
    A. Karuvally, P. Lertsaroj, T. Sejnowski and H. Siegelmann, Exponential dynamic energy network
    for high capacity sequence memory, 2025.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(5, 100, rng=0)
    >>> net = sa.zoo.DynamicEnergyMemory().fit(X)
    >>> path = net.recall(sa.noise.flip(X[0], 10, rng=1), steps=16)
    >>> [int((state == X[:-1]).all(axis=1).argmax()) for state in path[1:]]
    [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3]
    """

    _: KW_ONLY
    a_s: float = 0.5
    a_c: float = 1.0
    beta: float = 100.0

    _gains = ("a_s", "a_c", "beta")

    def _drive(self, features: States, delayed: States) -> States:
        held, called = self._overlaps(features, delayed)
        h = float(self.a_s) * held + float(self.a_c) * called
        return np.asarray(
            softmax(float(self.beta) / self.n_features_in_ * h, axis=1) @ self._as_numbers()[0]
        )

    def _signal(self, features: States) -> States:
        return features

    def _strength_of_holding(self) -> float:
        return float(self.a_s) / float(self.a_c)
