"""What the two members of the general sequential episodic memory share: its equations and its energy."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from seqattractor._checks import check_positive
from seqattractor.zoo.continuous import States
from seqattractor.zoo.delayed import DelayedMemory


class EpisodicMemory(DelayedMemory):
    """The general sequential episodic memory (GSEMM) with hidden units that are in equilibrium (T_h -> 0).

    A subclass says which functions s_f of the features and s_h of the hidden units it has, and the Lagrangians L_f and L_h of
    which these are the gradients.
    """

    a_s: float
    a_c: float
    b_d: float

    @abstractmethod
    def _s_f(self, features: States) -> States:
        """The activity of the features, (B, N)."""

    @abstractmethod
    def _s_h(self, hidden: States) -> States:
        """The activity of the hidden units, (B, P)."""

    @abstractmethod
    def _L_f(self, features: States) -> States:
        """The Lagrangian whose gradient is s_f, (B, N) -> (B,)."""

    @abstractmethod
    def _L_h(self, hidden: States) -> States:
        """The Lagrangian whose gradient is s_h, (B, P) -> (B,)."""

    @abstractmethod
    def _check_own_gains(self) -> None:
        """Refuse gains of s_f or s_h that make no sense."""

    def energy(self, features: ArrayLike, delayed: ArrayLike) -> States:
        """Give the energy, which falls along the path of the features as long as the delayed signal stands still.

        With the hidden units in equilibrium, V_h = sqrt(a_s) Xi^T s_f + a_c Phi^T Xi^T V_d::

            E = [V_f . s_f - L_f] + [V_h . s_h - L_h] - sqrt(a_s) s_f^T Xi s_h - a_c V_d^T Xi Phi s_h = V_f . s_f - L_f - L_h

        Parameters
        ----------
        features, delayed : array, shape (N,) or (B, N)
            V_f and V_d.

        Returns
        -------
        ndarray, shape () or (B,)

        Examples
        --------
        >>> import seqattractor as sa
        >>> X = sa.datasets.random_periodic(5, 100, rng=0)
        >>> net = sa.zoo.DenseEpisodicMemory().fit(X)
        >>> bool(net.energy(X[0], 0 * X[0]) < net.energy(sa.noise.flip(X[0], 10, rng=1), 0 * X[0]))
        True
        """
        check_is_fitted(self, "n_features_in_")
        V_f, single = self._as_rows(features, self.n_features_in_, "features")
        V_d, _ = self._as_rows(delayed, self.n_features_in_, "delayed")
        if len(V_d) != len(V_f):
            raise ValueError(f"there are {len(V_d)} delayed signals for {len(V_f)} features; give one for each.")
        E = np.sum(V_f * self._s_f(V_f), axis=1) - self._L_f(V_f) - self._L_h(self._hidden(V_f, V_d))
        return np.asarray(E[0] if single else E)

    def _hidden(self, features: States, delayed: States) -> States:
        """V_h in equilibrium, (B, P)."""
        held, called = self._overlaps(self._s_f(features), delayed)
        return float(np.sqrt(self.a_s)) * held + float(self.a_c) * called

    def _drive(self, features: States, delayed: States) -> States:
        drive: States = float(np.sqrt(self.a_s)) * self._s_h(self._hidden(features, delayed)) @ self._as_numbers()[0]
        return drive

    def _signal(self, features: States) -> States:
        return float(self.b_d) * self._s_f(features)

    def _strength_of_holding(self) -> float:
        return float(np.sqrt(self.a_s)) / (float(self.a_c) * float(self.b_d))

    def _check_gains(self) -> None:
        for name in ("a_s", "a_c", "b_d"):
            check_positive(getattr(self, name), name)
        self._check_own_gains()
