"""A campaign measures itself: not what other tests left in the process that runs them."""

import numpy as np
from campaign import alone, campaign


def nothing():
    """A campaign without a case."""
    with campaign("nothing") as verdicts:
        pass
    return verdicts


def test_memory_of_the_process_that_runs_the_tests_does_not_count():
    ballast = np.ones(5 * 10**7)
    assert 0 < alone(nothing).largest_memory < ballast.nbytes
