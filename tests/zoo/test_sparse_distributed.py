"""Sparse distributed memory: exactly as defined, and as good as it should be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import oracle_scaffold
import seqattractor as sa
from quiet import fit_quietly
from strategies import any_sequences


@settings(max_examples=60)
@given(
    found=any_sequences(max_n=5),
    M=st.integers(1, 9),
    radius=st.one_of(st.none(), st.integers(0, 6)),
    share=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
def test_everything_is_as_defined(found, M, radius, share, seed):
    rng = np.random.default_rng(seed)
    k = 1 + int(share * (M - 1))
    net = fit_quietly(
        sa.zoo.SparseDistributedMemory(
            M, n_active=k, radius=radius, on_conflict="learn", random_state=rng
        ),
        found,
    )
    A, pairs = net.A_.tolist(), oracle.transitions([x.tolist() for x in found], 1)
    V = oracle_scaffold.sparse_distributed(pairs, A, k, radius)
    assert net.V_.tolist() == V
    states = rng.choice([-1, 1], (6, found[0].shape[1]))
    for state, zeta, answer in zip(
        states.tolist(), net.hidden(states).tolist(), net.step(states).tolist(), strict=True
    ):
        assert zeta == oracle_scaffold.fires(A, state, k, radius)
        assert answer == oracle_scaffold.next_sparse_distributed(V, A, state, k, radius)


def test_transitions_one_at_a_time_give_what_all_at_once_give():
    X, Y = sa.datasets.random_periodic(9, 40, rng=0), sa.datasets.random_periodic(6, 40, rng=1)
    whole = sa.zoo.SparseDistributedMemory(200, random_state=0).fit([X, Y])
    stream = sa.zoo.SparseDistributedMemory(200, random_state=0).partial_fit(X).partial_fit(Y)
    assert np.array_equal(stream.V_, whole.V_)
    assert stream.n_iter_ == 2


def test_with_a_radius_it_can_be_certified_and_with_the_nearest_few_it_cannot():
    X = sa.datasets.random_periodic(5, 30, rng=0)
    net = sa.zoo.SparseDistributedMemory(500, radius=11, random_state=0).fit(X)
    assert sa.analysis.supports_certificate(net)
    assert net.hidden(X).sum(axis=1).min() > 0
    assert not sa.analysis.supports_certificate(
        sa.zoo.SparseDistributedMemory(500, random_state=0).fit(X)
    )


@pytest.mark.parametrize(("M", "active"), [(1, 1), (8, 1), (80, 4), (500, 10), (5000, 32)])
def test_few_of_the_hidden_neurons_fire(M, active):
    X = sa.datasets.random_periodic(4, 20, rng=0)
    assert set(
        fit_quietly(sa.zoo.SparseDistributedMemory(M, random_state=0), X).hidden(X).sum(axis=1)
    ) == {active}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_hidden": 0}, "n_hidden"),
        ({"n_hidden": 5, "n_active": 6}, "n_active must be at most 5"),
        ({"radius": -1}, "radius"),
    ],
)
def test_senseless_parameters_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        sa.zoo.SparseDistributedMemory(**parameters).fit(sa.datasets.xor())


def one_step_and_basin(T, M, k, seeds):
    """The share of exact steps, and of cues with 10 of 100 units flipped that are right 25 steps
    on; T different patterns.
    """
    steps, basins = [], []
    for seed in range(seeds):
        X = np.array(sa.datasets.random_periodic(T + 1, 100, rng=seed))
        net = fit_quietly(sa.zoo.SparseDistributedMemory(M, n_active=k, random_state=seed), X)
        at = np.random.default_rng(seed).integers(0, T, 50)
        end = net.recall(sa.noise.flip(X[at], 10, rng=seed), steps=25)[:, -1]
        steps.append(net.score(X))
        basins.append((end == X[(at + 25) % T]).all(axis=1).mean())
    return np.mean(steps), np.mean(basins)


def test_ten_patterns_are_recalled_from_most_noisy_cues_and_a_hundred_from_none():
    assert min(one_step_and_basin(10, 500, 10, 2)) > 0.8
    assert max(one_step_and_basin(100, 500, 10, 2)) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("T", "M", "k", "step", "basin"),
    [
        (20, 500, 10, 1.00, 0.89),
        (30, 500, 10, 0.98, 0.68),
        (50, 500, 10, 0.88, 0.10),
        (70, 500, 10, 0.62, 0.0),
        (100, 5000, 50, 1.0, 0.99),
    ],
)
def test_it_stores_as_much_as_a_first_probe_with_code_of_its_own(T, M, k, step, basin):
    found = one_step_and_basin(T, M, k, 40)
    assert abs(found[0] - step) < 0.1
    assert abs(found[1] - basin) < 0.12
