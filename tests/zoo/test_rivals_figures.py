"""The rivals' published and measured figures on the paper's protocol, and the capacity of dense
memories: statistical checks.
"""

from math import comb, log

import numpy as np
import pytest
from scipy.stats import binomtest

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.paper.agreement import holm, p_value

N = 100

# Successes of trials, N = 100, 10 flips, periodic random sequences: T -> (successes, trials).
FIGURES = {
    "hebbian": (lambda: sa.zoo.HebbianMemory(), {10: (49, 50), 20: (0, 50)}),
    "pseudo-inverse": (
        lambda: sa.zoo.PseudoInverseMemory(),
        {40: (50, 50), 50: (38, 50), 60: (8, 50), 70: (0, 50)},
    ),
    "perceptron": (
        lambda: sa.VisibleNetwork(),
        {40: (30, 30), 50: (29, 30), 60: (17, 30), 70: (1, 30), 80: (0, 30)},
    ),
    "one-layer predictive coding": (
        sa.zoo.PredictiveCodingMemory,
        {40: (30, 30), 50: (25, 30), 60: (5, 30), 70: (2, 30), 80: (0, 30)},
    ),
    "asymmetric modern Hopfield, d = 2": (
        lambda: sa.zoo.DenseSequenceMemory(degree=2, self_overlap=True),
        {100: (20, 20), 120: (20, 20), 150: (18, 20), 200: (12, 20), 300: (0, 20)},
    ),
    "asymmetric modern Hopfield, d = 3": (
        lambda: sa.zoo.DenseSequenceMemory(degree=3, self_overlap=True),
        {100: (20, 20)},
    ),
    "asymmetric modern Hopfield, softmax": (
        lambda: sa.zoo.DenseSequenceMemory("softmax", self_overlap=True),
        {100: (20, 20)},
    ),
    "the paper's network": (
        lambda: sa.SequenceAttractor(500),
        {70: (20, 20), 80: (12, 20), 90: (3, 20), 100: (0, 20)},
    ),
    "the paper's network, only V": (
        lambda: sa.FixedHiddenNetwork(500),
        {40: (18, 20), 50: (15, 20), 60: (5, 20), 70: (1, 20)},
    ),
}


def success(net, T, seed):
    rng = np.random.default_rng(seed)
    X = sa.datasets.random_periodic(T, N, rng=rng)
    if "random_state" in net.get_params():
        net.set_params(random_state=rng)
    fit_quietly(net, X)
    return sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng=rng), steps=4 * T), X)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_success_agrees_with_the_figures_of_others(name):
    make, figures = FIGURES[name]
    counts = {
        T: sum(success(make(), T, [7, T, k]) for k in range(trials))
        for T, (_, trials) in figures.items()
    }
    p = holm(
        [
            p_value(counts[T], trials, successes, trials)
            for T, (successes, trials) in figures.items()
        ]
    )
    assert min(p) > 0.01, (counts, figures)


# -- the capacity of dense memories (Chaudhry et al.)
# -----------------------------------------------------------


def double_factorial(k):
    return 1 if k < 2 else k * double_factorial(k - 2)


def capacity(d):
    """P_T of a single transition; the whole sequence has P_T / (d + 1)."""
    return N**d / (2 * double_factorial(2 * d - 1) * log(N))


def unit_error(P, d):
    """The chance that one unit is wrong: the exact distribution of the sum of P - 1 random terms
    +-k^d, by its transform.
    """
    size = 2**20
    one = np.zeros(size)
    for j in range(N):
        value = (2 * j - (N - 1)) ** d
        for sign in (1, -1):
            one[sign * value % size] += comb(N - 1, j) / 2.0**N
    total = np.fft.irfft(np.fft.rfft(one) ** (P - 1), size)
    values = np.arange(size) - size * (np.arange(size) >= size // 2)
    signal = (N - 1) ** d
    return total[values < -signal].sum() + total[values == -signal].sum() / 2


def test_the_formula_gives_the_published_capacities():
    assert [round(capacity(d), 1) for d in (1, 2)] == [10.9, 361.9]
    assert round(capacity(3)) == 7238
    assert [round(capacity(d) / (d + 1), 1) for d in (1, 2)] == [5.4, 120.6]


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # some fail, as they are meant to
@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
def test_single_transitions_succeed_as_often_as_theory_predicts_at_the_capacity(d):
    P, trials, right = round(capacity(d)), 400, 0
    for k in range(trials):  # one transition of each memory, so that trials are independent
        X = sa.datasets.random_periodic(P + 1, N, rng=[d, k])
        right += np.array_equal(sa.zoo.DenseSequenceMemory(degree=d).fit(X).step(X[0]), X[1])
    expected = (1 - unit_error(P, d)) ** N
    assert 0.8 < expected < 0.95  # what "capacity" means at N = 100
    assert binomtest(right, trials, expected).pvalue > 0.01


@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # some fail, as they are meant to
@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2])
def test_whole_sequences_are_stored_up_to_their_capacity_and_not_at_three_times_that_of_transitions(
    d,
):
    P, trials = round(capacity(d) / (d + 1)), 40

    def stored(P, k):
        X = sa.datasets.random_periodic(P + 1, N, rng=[d, k])
        return sa.zoo.DenseSequenceMemory(degree=d).fit(X).score(X) == 1

    stored_whole = sum(stored(P, k) for k in range(trials))
    assert binomtest(stored_whole, trials, (1 - unit_error(P, d)) ** (N * P)).pvalue > 0.01
    assert not any(stored(3 * round(capacity(d)), k) for k in range(5))
