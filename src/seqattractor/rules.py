"""Learning rules: what takes the place of H in equations (5) and (8) of the paper.

All of them change a weight by the same three factors, U += eta (step * z) x^T and V += eta (step *
x(t+1)) y^T. They differ in the third one, the step of a neuron, which depends on its margin: its
target times its field, in units of kappa.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor._checks import check_positive

__all__ = ["Adatron", "Hebbian", "Rule", "SoftMargin", "Stochastic", "ThreeFactor"]

Floats = NDArray[np.float64]


class Rule:
    """How far each neuron learns from one transition; a rule of your own derives from this class.

    `SequenceAttractor`, `FixedHiddenNetwork` and `VisibleNetwork` take it as ``rule=``. It defines
    `step`, and `is_error` where it is something else that should end learning. Both see the margins
    of all neurons of a layer: the target times the field, divided by kappa. A margin below 0 is
    that of a neuron in the wrong state, and at 1 or below the paper's rule learns.

    Examples
    --------
    A soft margin: the closer a neuron is to the margin, the less it learns.

    >>> import numpy as np, seqattractor as sa
    >>> class Soft(sa.rules.Rule):
    ...     def step(self, margin, rng):
    ...         return np.clip(1.1 - margin, 0, 1)
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> net = sa.SequenceAttractor(n_hidden=100, rule=Soft(), random_state=0).fit(X)
    >>> net.score(X), net.engine_
    (1.0, 'reference')
    """

    def step(self, margin: Floats, rng: np.random.Generator) -> NDArray[Any]:
        """Return how far each neuron moves its weights towards its target, in steps of eta.

        Parameters
        ----------
        margin : ndarray of float, shape (neurons,)
        rng : Generator
            For rules with chance; it is seeded by the network's `random_state`.

        Returns
        -------
        ndarray of float, shape (neurons,)
            Rounded to multiples of 2**-24 by the network; below 0 moves away from the target.

        Examples
        --------
        >>> import numpy as np, seqattractor as sa
        >>> sa.rules.Rule().step(np.array([-0.5, 1.0, 1.5]), np.random.default_rng(0))
        array([1., 1., 0.])
        """
        return (margin <= 1).astype(np.float64)

    def is_error(self, margin: Floats) -> NDArray[Any]:
        """Return which neurons count as wrong; learning ends after an epoch in which none was.

        Parameters
        ----------
        margin : ndarray of float, shape (neurons,)

        Returns
        -------
        ndarray of bool, shape (neurons,)

        Examples
        --------
        >>> import numpy as np, seqattractor as sa
        >>> sa.rules.Rule().is_error(np.array([-0.5, 1.0, 1.5]))
        array([ True,  True, False])
        """
        return margin <= 1


@dataclass(frozen=True)
class ThreeFactor(Rule):
    """The paper's rule, which is the default: a step of 1 up to a margin of 1, equations (5), (8).

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.SequenceAttractor(100, rule=sa.rules.ThreeFactor(), random_state=0).fit(X).engine_
    'exact'
    """


@dataclass(frozen=True)
class SoftMargin(Rule):
    """The paper's rule with a ramp in place of H: from a step of 1 down to 0 around the margin.

    Parameters
    ----------
    width : float
        The step is 1 up to a margin of 1 - width, a half at 1, and 0 from 1 + width on.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.SequenceAttractor(100, rule=sa.rules.SoftMargin(0.2), random_state=0).fit(X).score(X)
    1.0
    """

    width: float = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_positive(self.width, "width"))

    def step(self, margin: Floats, rng: np.random.Generator) -> Floats:
        """Return the ramp."""
        return np.clip(0.5 + (1 - margin) / (2 * self.width), 0, 1)


@dataclass(frozen=True)
class Adatron(Rule):
    """A step as large as what is missing: the on-line AdaTron, or relaxation.

    A step makes up for the fraction eta * inputs / kappa of what is missing. Where that is above 2,
    weights grow without bound: eta must be below 2 kappa / (number of inputs).

    Parameters
    ----------
    aim : float
        The margin at which the step is 0; above 1, so that learning ends.

    References
    ----------
    M. Biehl and P. Riegler, On-line learning with a perceptron, 1994. Its text was not at hand; the
    rule is from general knowledge. The AdaTron of Anlauf and Biehl (1989) also holds a strength for
    each pattern, below which it does not fall; this one has nothing but the weights.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.SequenceAttractor(100, rule=sa.rules.Adatron(), random_state=0).fit(X).score(X)
    1.0
    """

    aim: float = 1.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "aim", check_positive(self.aim, "aim"))
        if self.aim <= 1:
            raise ValueError(f"aim must be above 1, so that learning ends, but it is {self.aim}.")

    def step(self, margin: Floats, rng: np.random.Generator) -> Floats:
        """Return what is missing."""
        return np.maximum(self.aim - margin, 0)


@dataclass(frozen=True)
class Hebbian(Rule):
    """A step of 1 whatever the margin: weights are sums of outer products.

    Learning ends after an epoch in which every neuron was in the right state, or after
    ``max_epochs``; with ``max_epochs=1`` every transition counts once.

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(6, 200, rng=0)
    >>> rules = (sa.rules.ThreeFactor(), sa.rules.Hebbian())  # of U and of V
    >>> sa.SequenceAttractor(500, rule=rules, random_state=0).fit(X).score(X)
    1.0
    """

    def step(self, margin: Floats, rng: np.random.Generator) -> Floats:
        """Return 1 for every neuron."""
        return np.ones_like(margin)

    def is_error(self, margin: Floats) -> NDArray[np.bool_]:
        """Return which neurons are in the wrong state, or in none."""
        return margin <= 0


@dataclass(frozen=True)
class Stochastic(Rule):
    """The paper's rule with noise in H: the closer to the margin, the more is left to chance.

    A neuron learns with the probability 1 / (1 + exp((margin - 1) / temperature)).

    Parameters
    ----------
    temperature : float

    Examples
    --------
    >>> import seqattractor as sa
    >>> X = sa.datasets.random_periodic(20, 50, rng=0)
    >>> sa.SequenceAttractor(100, rule=sa.rules.Stochastic(0.2), random_state=0).fit(X).score(X)
    1.0
    """

    temperature: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", check_positive(self.temperature, "temperature"))

    def step(self, margin: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Return 1 with that probability, else 0."""
        probability = 0.5 + 0.5 * np.tanh((1 - margin) / (2 * self.temperature))
        return rng.random(len(margin)) < probability
