"""OneHotNetwork: one threshold neuron for each pattern bears as many wrong units as the distances
between patterns allow.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import seqattractor as sa


@pytest.mark.parametrize("T", [501, 1000])
def test_one_neuron_for_each_pattern_withstands_ten_flips_from_every_pattern(T):
    X = sa.datasets.random_periodic(T, 100, rng=7)
    net = sa.OneHotNetwork().fit(X)
    assert net.n_hidden_ == T - 1
    assert sa.basin_fraction(net, X, flips=10, rng=1) == 1.0


@pytest.mark.parametrize("M", [100, 1000])
@pytest.mark.parametrize("N", [50, 100, 200])
def test_one_neuron_for_each_pattern_stores_M_patterns_at_the_sizes_of_the_capacity_map(N, M):
    X = sa.datasets.random_periodic(M + 1, N, rng=M)
    assert (
        sa.basin_fraction(sa.OneHotNetwork(tolerance=N // 10).fit(X), X, flips=N // 10, rng=1)
        == 1.0
    )


@settings(max_examples=60)
@given(N=st.integers(1, 7), T=st.integers(2, 8), seed=st.integers(0, 9999))
def test_any_wrong_units_up_to_the_tolerance_are_corrected_in_one_step(N, T, seed):
    X = sa.datasets.random_periodic(min(T, 2**N + 1), N, rng=seed)
    net = sa.OneHotNetwork().fit(X)
    for state in oracle.all_patterns(N):
        for x, x_next in zip(X[:-1].tolist(), X[1:].tolist(), strict=True):
            if oracle.differing(x, state) <= net.tolerance_:
                assert net.step(np.array(state)).tolist() == x_next
    two = [
        state
        for state in oracle.all_patterns(N)
        if sum(oracle.differing(x, state) <= net.tolerance_ + 1 for x in X[:-1].tolist()) > 1
    ]
    assert two or len(X) == 2  # with one unit more, two neurons would be on together


def test_the_tolerance_is_proven_and_a_larger_one_withstands_more_random_flips():
    X = sa.datasets.random_periodic(60, 50, rng=0)
    net = sa.OneHotNetwork().fit(X)
    certificate = sa.certify(net, X)
    assert np.all(certificate.radius == net.tolerance_)
    assert np.all(certificate.breaking == net.tolerance_ + 1)
    flips = net.tolerance_ + 1
    assert sa.basin_fraction(net, X, flips=flips, rng=0) == 0
    assert sa.basin_fraction(sa.OneHotNetwork(tolerance=flips).fit(X), X, flips=flips, rng=0) > 0.9


def test_a_stream_leads_to_the_same_tolerance():
    X = sa.datasets.random_periodic(300, 40, rng=0)
    whole, parts = sa.OneHotNetwork().fit(X), sa.OneHotNetwork()
    for first in range(0, 299, 50):
        parts.partial_fit(X[first : first + 51])
    assert parts.tolerance_ == whole.tolerance_
    assert np.array_equal(parts.U_, whole.U_)


def test_the_same_transition_twice_does_not_take_the_tolerance_away():
    X = sa.datasets.random_periodic(10, 40, rng=0)
    assert sa.OneHotNetwork().fit([X, X]).tolerance_ == sa.OneHotNetwork().fit(X).tolerance_ > 0


def test_one_transition_alone_bears_fewer_wrong_units_than_half():
    assert sa.OneHotNetwork().fit(sa.datasets.random_periodic(2, 40, rng=0)).tolerance_ == 19


@pytest.mark.parametrize(
    ("tolerance", "error"),
    [(-1, ValueError), (21, ValueError), (1.5, TypeError), ("all", TypeError)],
)
def test_a_tolerance_that_is_no_number_of_units_is_rejected(tolerance, error):
    with pytest.raises(error, match="tolerance must be"):
        sa.OneHotNetwork(tolerance=tolerance).fit(sa.datasets.random_periodic(5, 20, rng=0))


A, B = (sa.datasets.random_periodic(21, 50, rng=seed) for seed in range(2))


def test_a_transition_that_is_stored_takes_no_further_neuron_and_counts_once_more():
    net = sa.OneHotNetwork().fit([A, A])
    assert net.n_hidden_ == net.partial_fit(A).n_hidden_ == 20
    assert np.array_equal(net.V_, 3 * A[1:].T)
    assert np.array_equal(net.bias_, 3 * A[1:].sum(axis=0))
    a, b, c = [1, 1, 1], [1, -1, 1], [-1, -1, -1]
    often = sa.OneHotNetwork(on_conflict="learn").fit([[a, b], [a, c], [a, c]])
    assert often.n_hidden_ == 2
    assert often.step(a).tolist() == c


def test_a_pool_of_hidden_neurons_takes_sequences_until_none_is_free_and_then_says_how_many_are():
    net = sa.OneHotNetwork(30).partial_fit(A)
    before = {name: getattr(net, name) for name in ("U_", "V_", "bias_", "tolerance_")}
    with pytest.raises(
        ValueError, match=r"need 20 hidden neurons.*only 10 of n_hidden=30 are free.*n_hidden=40"
    ):
        net.partial_fit(B)
    assert all(getattr(net, name) is value for name, value in before.items())
    assert net.partial_fit(A).partial_fit(B[:11]).n_hidden_ == 30  # what is stored needs none
    assert net.score(A) == net.score(B[:11]) == 1
    with pytest.raises(ValueError, match=r"need 20 hidden neurons.*only 19 of n_hidden=19"):
        sa.OneHotNetwork(19).fit(A)


def test_a_pool_is_saved_and_a_file_with_more_neurons_than_it_has_is_rejected(tmp_path):
    net = sa.OneHotNetwork(30).fit(A)
    net.save(tmp_path / "net.npz")
    with pytest.raises(ValueError, match="only 10 of n_hidden=30 are free"):
        sa.load(tmp_path / "net.npz").partial_fit(B)
    with pytest.raises(ValueError, match="n_hidden=5"):
        net.set_params(n_hidden=5).save(tmp_path / "net.npz")


@pytest.mark.parametrize(("n_hidden", "error"), [(0, ValueError), (2.5, TypeError)])
def test_a_pool_that_is_no_number_of_neurons_is_rejected(n_hidden, error):
    with pytest.raises(error, match="n_hidden must be"):
        sa.OneHotNetwork(n_hidden).fit(A)
