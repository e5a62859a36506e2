"""Orbits through all 2**N states, without hidden neurons (Muscinelli, Gerstner & Brea 2017)."""

import itertools

import numpy as np
import pytest

import seqattractor as sa
from every_network import all_states


@pytest.fixture(scope="module", params=[1, 2, 3, 4])
def orbit(request):
    return sa.analysis.longest_orbit(request.param)


def test_an_orbit_goes_through_all_states_and_is_its_own_mirror_image(orbit):
    X = np.asarray(orbit)
    N = X.shape[1]
    assert X.shape == (2**N + 1, N)
    assert len(np.unique(X[:-1], axis=0)) == 2**N
    assert np.array_equal(X[0], X[-1])
    assert np.array_equal(X[2 ** (N - 1) : -1], -X[: 2 ** (N - 1)])


def test_exact_weights_make_it(orbit):
    verdict = sa.separable(orbit)
    assert verdict
    assert verdict.verify()
    X, W = np.asarray(orbit), np.array([verdict.proof(i).weights for i in range(orbit.shape[1])])
    assert all(
        [1 if h >= 0 else -1 for h in W @ x] == y.tolist()
        for x, y in itertools.pairwise(X.astype(object))
    )


def test_a_network_without_hidden_neurons_learns_it_and_every_start_is_on_it(orbit):
    net = sa.VisibleNetwork(max_epochs=10_000, random_state=0).fit(orbit)
    N = orbit.shape[1]
    [attractor] = sa.find_attractors(net, orbit, starts=all_states(N))
    assert attractor.period == 2**N
    assert attractor.stored == 0


def test_three_units_have_no_longer_orbit_and_most_networks_have_shorter_ones():
    """All networks of three units: rows of small weights give all odd threshold functions, of which
    there are 14.
    """
    states = all_states(3)
    rows = np.array(list(itertools.product(range(-3, 4), repeat=3)))
    fields = rows @ states.T
    functions = np.unique(np.where(fields > 0, 1, -1)[(fields != 0).all(axis=1)], axis=0)
    assert len(functions) == 14
    number = {tuple(x): k for k, x in enumerate(states.tolist())}
    longest = []
    for chosen in itertools.product(functions, repeat=3):
        after = [number[tuple(x)] for x in np.array(chosen).T.tolist()]
        longest.append(max(period(after, k) for k in range(8)))
    assert max(longest) == len(sa.analysis.longest_orbit(3)) - 1
    assert 0 < longest.count(8) < len(longest) / 20


def period(after, k):
    """How many steps it takes to come back to a state; 0 if it does not."""
    at, steps = after[k], 1
    while at != k and steps <= len(after):
        at, steps = after[at], steps + 1
    return steps if at == k else 0


@pytest.mark.parametrize(("n_units", "nodes"), [(2, 2), (3, 4), (4, 27)])  # as documented
def test_a_search_is_counted_in_nodes(n_units, nodes):
    assert len(sa.analysis.longest_orbit(n_units, node_limit=nodes)) == 2**n_units + 1
    with pytest.raises(
        ValueError, match=f"no orbit was found among {nodes - 1} beginnings; raise node_limit"
    ):
        sa.analysis.longest_orbit(n_units, node_limit=nodes - 1)


@pytest.mark.parametrize(
    ("n_units", "error"), [(0, ValueError), (13, ValueError), (2.5, TypeError)]
)
def test_a_bad_number_of_units_gets_one_clear_sentence(n_units, error):
    with pytest.raises(error, match="n_units must be"):
        sa.analysis.longest_orbit(n_units)
