"""DynamicEnergyMemory: an exponential memory whose delayed signal moves its energy landscape (EDEN, Karuvally et al. 2025)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, final

import numpy as np

from seqattractor._checks import check_number, check_positive
from seqattractor.zoo.continuous import States
from seqattractor.zoo.episodic import DelayedMemory, softmax


@final
@dataclass(eq=False, repr=False)
class DynamicEnergyMemory(DelayedMemory):
    """EDEN (Karuvally et al. 2025): a softmax memory draws the state to a pattern until a delayed signal calls the next one.

    With the stored patterns xi^mu as columns of Xi, v the features and s the delayed signal::

        h_mu = a_s xi^mu . v + a_c sum_{nu -> mu} xi^nu . s
        T_f dv/dt = Xi softmax((beta / N) h) - v        T_d ds/dt = v - s

    For r = a_s / a_c < 1 each pattern is held for about T_d ln(1 / (1 - sqrt(r))), `escape_time`, and the next one follows; for
    r > 1 it is held for ever. The last pattern of an open sequence is held for ever, too. Patterns are read out as sign(v).

    Parameters
    ----------
    a_s, a_c : float
        The weights of the features and of the delayed signal.
    beta : float
        The steepness of the softmax. It is divided by N, as in the authors' code; their text has no such division.
    T_f, T_d, dt, read_out_interval, on_conflict
        As in `DenseEpisodicMemory`, and so are the attributes. A run starts with v = s = cue.

    Notes
    -----
    Equations and parameters are those of the authors' published code; the law of the escape time was derived from their ansatz
    lambda = sqrt(r) and is tested here against the dynamics.

    References
    ----------
    A. Karuvally, P. Lertsaroj, T. Sejnowski and H. Siegelmann, Exponential dynamic energy network for high capacity sequence
    memory, 2025.

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
    T_f: float = 1.0
    T_d: float = 20.0
    dt: float = 0.1
    read_out_interval: float = 5.0
    on_conflict: Literal["raise", "learn"] = "raise"

    _gains = ("a_s", "a_c", "beta")

    def _drive(self, features: States, delayed: States) -> States:
        held, called = self._overlaps(features, delayed)
        h = float(self.a_s) * held + float(self.a_c) * called
        return softmax(float(self.beta) / self.n_features_in_ * h) @ self._as_numbers()[0]

    def _signal(self, features: States) -> States:
        return features

    def _strength_of_holding(self) -> float:
        return float(self.a_s) / float(self.a_c)


def escape_time(r: float, T_d: float = 20.0) -> float:
    """Return the time for which a network with a delayed signal stays at each pattern, t = T_d ln(1 / (1 - sqrt(r))).

    Once the sequence runs, the delayed signal at the time of a passage has grown to 1 - e for the pattern that is left, with
    e = exp(-t / T_d). While the next pattern is held, that fades as (1 - e) e, and its own signal grows as 1 - e. It is left when
    r + (1 - e) e = 1 - e, where (1 - e)^2 = r. The passage itself, one or two T_f, comes on top.

    Parameters
    ----------
    r : float
        How strongly a pattern holds itself, as a share of how strongly it calls the next: a_s / a_c for EDEN, below 1.
    T_d : float
        The time constant of the delayed signal, in any unit.

    Returns
    -------
    float
        In the same unit.

    Examples
    --------
    >>> import seqattractor as sa
    >>> [round(sa.zoo.escape_time(r, T_d=20), 1) for r in (0.3, 0.5, 0.7)]
    [15.9, 24.6, 36.2]
    """
    if not 0 <= check_number(r, "r") < 1:
        raise ValueError(f"r must be 0 or more and below 1, where a pattern holds for ever, but it is {r:g}.")
    return float(-check_positive(T_d, "T_d") * np.log1p(-np.sqrt(r)))
