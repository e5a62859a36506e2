"""How many patterns a perceptron with a bias can hold: Gardner's limit, for outputs that are active
now and then.
"""

from __future__ import annotations

import math

from seqattractor._checks import check_number, say

_FEWEST = 1e-100  # below it the integrals lose their digits


def gardner_capacity(active: float = 0.5) -> float:
    """Return the largest number of random patterns for each weight of a perceptron with a bias
    (Gardner 1988).

    The inputs are random +-1, and a fraction f of the patterns should be answered with +1, the
    others with -1. With weights of length sqrt(N) the field of a random pattern is a normal number;
    for a threshold theta, and no margin, the limit is::

        alpha_c = max over theta of 1 / (f A(theta) + (1 - f) A(-theta)),
        A(a) = E[max(0, a + t)^2]

    with a standard normal t. Half of the patterns active gives Cover's 2; for few, alpha_c grows
    like 1 / (2 f ln(1/f)).

    Parameters
    ----------
    active : float
        f, the fraction of patterns that should be answered with +1: above 0 and below 1.

    Returns
    -------
    float
        Patterns for each input, in the limit of many inputs.

    References
    ----------
    E. Gardner, "The space of interactions in neural network models", J. Phys. A 21, 257-270 (1988).

    Examples
    --------
    >>> round(gardner_capacity(0.5), 6)
    2.0
    >>> round(gardner_capacity(0.01), 1)
    19.2
    """
    from scipy.optimize import minimize_scalar

    f = check_number(active, "active")
    if not _FEWEST <= f < 1:
        raise ValueError(
            f"active is the fraction of patterns answered with +1, at least {_FEWEST:g} and below "
            f"1, but it is {say(active)}."
        )

    def shortfall(theta: float) -> float:
        return f * _shortfall(theta) + (1 - f) * _shortfall(-theta)

    # Both terms are convex in theta; a threshold beyond this would cost the rarer answers more than
    # the other ones could save.
    reach = 2 * math.sqrt(2 * math.log(1 / min(f, 1 - f))) + 1
    best = minimize_scalar(
        shortfall, bounds=(-reach, reach), method="bounded", options={"xatol": 1e-10}
    )
    return 1 / float(best.fun)


def _shortfall(a: float) -> float:
    """A(a) = E[max(0, a + t)^2] for a standard normal t: how far fields fall short of a,
    squared.
    """
    below = 0.5 * math.erfc(-a / math.sqrt(2))
    return (1 + a * a) * below + a * math.exp(-a * a / 2) / math.sqrt(2 * math.pi)
