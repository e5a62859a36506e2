"""A spot check of Table 1, straight through the public interface: 20 fresh trials a cell."""

import numpy as np
import pytest
from scipy.stats import beta, binom

import seqattractor as sa
from quiet import fit_quietly

PAPER = {("UV", 50): 100, ("UV", 80): 52, ("V", 50): 66, ("V", 80): 2}  # successes of 100


def limits(successes, of, trials, level=0.999):
    """How few and how many successes to expect of a rate that was measured as `successes` of
    `of`.
    """
    tail = (1 - level) / 2
    low = beta.ppf(tail, successes, of - successes + 1) if successes else 0.0
    high = beta.ppf(1 - tail, successes + 1, of - successes) if successes < of else 1.0
    return binom.ppf(tail, trials, low), binom.ppf(1 - tail, trials, high)


@pytest.mark.slow
@pytest.mark.parametrize(("learn", "T"), PAPER)
def test_twenty_trials_lie_within_what_the_paper_counted(learn, T):
    successes = 0
    for trial in range(20):
        rng = np.random.default_rng([T, trial, len(learn)])
        X = sa.datasets.random_periodic(T, 100, rng=rng)
        network = sa.SequenceAttractor if learn == "UV" else sa.FixedHiddenNetwork
        net = fit_quietly(network(500, random_state=rng), X)
        successes += sa.retrieved(net.recall(sa.noise.flip(X[0], 10, rng), steps=4 * T), X)
    low, high = limits(PAPER[learn, T], 100, 20)
    assert low <= successes <= high
