"""How long a network with a delayed signal stays at each pattern."""

from __future__ import annotations

import numpy as np

from seqattractor._checks import check_number, check_positive


def escape_time(r: float, T_d: float = 20.0) -> float:
    """Give the time for which a network with a delayed signal stays at each pattern of a sequence, t = T_d ln(1 / (1 - sqrt(r))).

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
