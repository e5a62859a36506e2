"""Gardner's limit: what a perceptron with a bias can hold, against known values and against
perceptrons.
"""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import seqattractor as sa


def test_half_of_the_patterns_active_is_covers_two_patterns_for_each_weight():
    assert sa.analysis.gardner_capacity(0.5) == pytest.approx(2, abs=1e-9)


def test_active_and_silent_are_interchangeable():
    assert sa.analysis.gardner_capacity(0.02) == pytest.approx(
        sa.analysis.gardner_capacity(0.98), rel=1e-9
    )


def test_sparse_patterns_raise_the_capacity_and_approach_the_known_growth():
    fractions = [10.0**-k for k in (1, 2, 3, 6, 12, 30)]
    capacities = [sa.analysis.gardner_capacity(f) for f in fractions]
    assert capacities == sorted(capacities)
    ratio = [c * 2 * f * math.log(1 / f) for c, f in zip(capacities, fractions, strict=True)]
    assert ratio == sorted(ratio, reverse=True)  # towards 1 from above, slowly: like ln ln / ln
    assert 1 < ratio[-1] < 1.12


def test_no_other_threshold_would_do_better():
    """The same by brute force, with integrals taken numerically."""
    f = 0.05
    t = np.linspace(-9, 9, 20001)
    density = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (t[1] - t[0])
    loads = [
        f * np.sum(density * np.maximum(0, t + theta) ** 2)
        + (1 - f) * np.sum(density * np.maximum(0, t - theta) ** 2)
        for theta in np.linspace(-4, 4, 801)
    ]
    assert sa.analysis.gardner_capacity(f) == pytest.approx(1 / min(loads), rel=1e-4)


def test_real_perceptrons_end_near_the_limit():
    """Linear programs for 60 inputs and a bias, a tenth of the patterns active: all solvable well
    below, none well above.
    """
    n, f, rng = 60, 0.1, np.random.default_rng(0)

    def solvable(load):
        x = rng.choice([-1.0, 1.0], (round(load * n), n))
        s = np.where(np.arange(len(x)) < round(f * len(x)), 1.0, -1.0)
        rows = -s[:, None] * np.column_stack([x, np.ones(len(x))])
        return (
            linprog(np.zeros(n + 1), A_ub=rows, b_ub=-np.ones(len(x)), bounds=(None, None)).status
            == 0
        )

    limit = sa.analysis.gardner_capacity(f)
    assert all(solvable(0.75 * limit) for _ in range(5))
    assert not any(solvable(1.3 * limit) for _ in range(5))


@pytest.mark.parametrize("active", [0, 1, -0.1, 2.0, 5e-324])
def test_a_fraction_outside_0_to_1_is_rejected(active):
    with pytest.raises(ValueError, match="active is the fraction of patterns"):
        sa.analysis.gardner_capacity(active)
