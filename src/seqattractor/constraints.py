"""Constraints on synapses, which hold after every update: which of them exist, their signs, levels
and bounds, and their decay.

Each synapse obeys by itself, so that learning stays local and online. They concern the weights U
and V (W without hidden neurons), the random start included; not biases, and not the fixed
projection P. Sizes are in units of kappa / sqrt(inputs): with weights of that size, and signs by
chance, the field of a neuron is about as large as the margin that it has to exceed. Where inputs
are 0 or 1, as those of V in `SparseSequenceAttractor`, only as many count as are to be active.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_count, check_number, check_positive

__all__ = ["Bounded", "Constraint", "Dale", "Decay", "Dilution", "Levels"]

Floats = NDArray[np.float64]
Bounds = tuple[Any, Any]


class Constraint:
    """Bounds, levels and decay of the synapses of a layer; by default none.

    `SequenceAttractor`, `FixedHiddenNetwork`, `VisibleNetwork` and `SparseSequenceAttractor` take
    several of them as ``constraints=[...]``. They compose: every synapse obeys all of them.

    Examples
    --------
    Neurons without synapses on themselves, in a network without hidden neurons:

    >>> import numpy as np, seqattractor as sa
    >>> class NoSelf(sa.constraints.Constraint):
    ...     def bounds(self, shape, unit, cells, rng):
    ...         high = np.where(np.eye(*shape), 0, np.inf)
    ...         return -high, high
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> net = sa.VisibleNetwork(constraints=[NoSelf()], random_state=0).fit(X)
    >>> net.score(X), np.diag(net.W_).any()
    (1.0, np.False_)
    """

    def bounds(
        self, shape: tuple[int, int], unit: float, cells: int, rng: np.random.Generator
    ) -> Bounds:
        """Return the smallest and the largest value of each synapse; 0 must be possible.

        Parameters
        ----------
        shape : tuple of int
            Neurons and inputs of the layer.
        unit : float
            kappa / sqrt(inputs) of this layer, as its weights are counted while they learn.
        cells : int
            How many neurons the inputs come from: fewer than inputs where these hold the last
            `order` patterns side by side.
        rng : Generator
            Seeded by the network's `random_state`; it draws the same whenever learning continues.

        Returns
        -------
        tuple of two arrays or numbers
            Of any shape that numpy broadcasts to that of the layer.

        Examples
        --------
        >>> import numpy as np, seqattractor as sa
        >>> sa.constraints.Bounded(2.0).bounds((3, 4), 0.5, 4, np.random.default_rng(0))
        (-1.0, 1.0)
        """
        return -np.inf, np.inf

    def spacing(self, unit: float) -> float:
        """Return the distance between two values that a synapse can have; 0 for all values.

        Parameters
        ----------
        unit : float
            kappa / sqrt(inputs) of the layer.

        Returns
        -------
        float

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.constraints.Levels(bits=2, limit=3).spacing(0.5)
        1.5
        """
        return 0.0

    def decay(self) -> float:
        """Return the fraction of itself that a synapse loses at every transition.

        Returns
        -------
        float

        Examples
        --------
        >>> import seqattractor as sa
        >>> sa.constraints.Decay(0.01).decay()
        0.01
        """
        return 0.0


@dataclass(frozen=True)
class Dilution(Constraint):
    """Each synapse exists or does not, by chance and for good; those that do not exist are 0.

    Parameters
    ----------
    connected : float
        The probability that a synapse exists, above 0 and at most 1.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 100, rng=0)
    >>> half = [sa.constraints.Dilution(0.5)]
    >>> net = sa.SequenceAttractor(200, constraints=half, random_state=0).fit(X)
    >>> net.score(X), round(float((net.V_ != 0).mean()), 1)
    (1.0, 0.5)
    """

    connected: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "connected", check_positive(self.connected, "connected"))
        if self.connected > 1:
            raise ValueError(f"connected must be at most 1, but it is {self.connected}.")

    def bounds(
        self, shape: tuple[int, int], unit: float, cells: int, rng: np.random.Generator
    ) -> Bounds:
        """Draw which synapses exist."""
        high = np.where(rng.random(shape) < self.connected, np.inf, 0.0)
        return -high, high


@dataclass(frozen=True)
class Dale(Constraint):
    """Dale's law: the synapses that a neuron makes on others are all excitatory, or all inhibitory.

    The columns of U and V have one sign each. Start weights of the other sign become 0.

    Parameters
    ----------
    excitatory : float
        The fraction of excitatory neurons in each population, from 0 to 1; which ones is left to
        chance.

    Examples
    --------
    >>> import numpy as np, seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 100, rng=0)
    >>> signs = [sa.constraints.Dale(excitatory=0.8)]
    >>> net = sa.SequenceAttractor(200, constraints=signs, random_state=0).fit(X)
    >>> net.score(X), int(np.all(net.V_ >= 0, axis=0).sum())
    (1.0, 160)
    """

    excitatory: float = 0.8

    def __post_init__(self) -> None:
        object.__setattr__(self, "excitatory", check_number(self.excitatory, "excitatory"))
        if not 0 <= self.excitatory <= 1:
            raise ValueError(f"excitatory must be from 0 to 1, but it is {self.excitatory}.")

    def bounds(
        self, shape: tuple[int, int], unit: float, cells: int, rng: np.random.Generator
    ) -> Bounds:
        """Draw which neurons are excitatory."""
        chosen = rng.permutation(cells) < round(self.excitatory * cells)
        excites = np.tile(chosen, shape[1] // cells)
        return np.where(excites, 0.0, -np.inf), np.where(excites, np.inf, 0.0)


@dataclass(frozen=True)
class Bounded(Constraint):
    """No synapse is stronger than a limit.

    Parameters
    ----------
    limit : float
        In units of kappa / sqrt(inputs), which differ between U and V.

    Examples
    --------
    >>> import numpy as np, seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 100, rng=0)
    >>> net = sa.SequenceAttractor(400, constraints=[sa.constraints.Bounded(2)], random_state=0)
    >>> net = net.fit(X)
    >>> net.score(X), bool(np.abs(net.U_).max() <= 2 / 10), bool(np.abs(net.V_).max() <= 2 / 20)
    (1.0, True, True)
    """

    limit: float = 3.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", check_positive(self.limit, "limit"))

    def bounds(
        self, shape: tuple[int, int], unit: float, cells: int, rng: np.random.Generator
    ) -> Bounds:
        """Return the limits."""
        return -self.limit * unit, self.limit * unit


@dataclass(frozen=True)
class Levels(Constraint):
    """Synapses of a few bits, which nothing else remembers: a weight is one of 2**bits - 1 levels.

    The levels lie evenly from -limit to limit, and 0 is one of them. An update that leads between
    two of them goes to one of the two by chance, to the nearer one more often, so that small
    updates count on average.

    Parameters
    ----------
    bits : int
        From 2 (-limit, 0 and limit) to 24.
    limit : float
        In units of kappa / sqrt(inputs), which differ between U and V.

    Examples
    --------
    >>> import numpy as np, seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 100, rng=0)
    >>> net = sa.SequenceAttractor(400, constraints=[sa.constraints.Levels(bits=4)], random_state=0)
    >>> net = net.fit(X)
    >>> net.score(X), len(np.unique(net.V_)) <= 15
    (1.0, True)
    """

    bits: int = 4
    limit: float = 3.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", check_count(self.bits, "bits", 2, 24))
        object.__setattr__(self, "limit", check_positive(self.limit, "limit"))

    def bounds(
        self, shape: tuple[int, int], unit: float, cells: int, rng: np.random.Generator
    ) -> Bounds:
        """Return the outermost levels."""
        return -self.limit * unit, self.limit * unit

    def spacing(self, unit: float) -> float:
        """Return the distance between two levels."""
        return float(self.limit * unit / (2 ** (self.bits - 1) - 1))


@dataclass(frozen=True)
class Decay(Constraint):
    """Synapses fade: at every transition each loses a fraction of itself, before it learns.

    Parameters
    ----------
    rate : float
        The fraction, above 0 and below 1. An update is forgotten after about 1 / rate transitions.
        Since margins decay, too, there may always be errors to learn from, until ``max_epochs``.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(10, 100, rng=0)
    >>> net = sa.SequenceAttractor(200, constraints=[sa.constraints.Decay(1e-4)], random_state=0)
    >>> for _ in range(60):
    ...     net = net.partial_fit(X)
    >>> net.score(X)
    1.0
    """

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", check_positive(self.rate, "rate"))
        if self.rate >= 1:
            raise ValueError(f"rate must be below 1, but it is {self.rate}.")

    def decay(self) -> float:
        """Return the rate."""
        return self.rate
