"""Spike timing and competing synapses (Fiete, Senn, Wang & Hahnloser 2010)."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import oracle_local
import seqattractor as sa
from quiet import fit_quietly
from seqattractor.zoo.experiments.local_memories import cycle_lengths
from seqattractor.zoo.spike_timing import update

seeds = st.integers(0, 10**6)
CHAINS = {"synapses": 1, "competition": 1, "inhibition": 0.1, "adaptation": 2}
RATES = {"eta": 0.1, "competition": 1.0, "synapses": 1.0}


def chain(n):
    """One neuron after the other, in a loop."""
    return 2 * np.eye(n, dtype=np.int8)[np.arange(n + 1) % n] - 1


def groups(T, size):
    """A chain of groups of neurons: each neuron is active in one pattern."""
    return np.repeat(chain(T), size, axis=1)


@settings(max_examples=40)
@given(n=st.integers(1, 5), synapses=st.sampled_from([0.5, 1.0, 2.0]), seed=seeds)
def test_two_states_change_weights_by_the_definition(n, synapses, seed):
    rng = np.random.default_rng(seed)
    W, states = rng.random((n, n)), rng.integers(0, 2, (2, n)).astype(float)
    rates = {"eta": 0.3, "competition": 0.4, "synapses": synapses}
    expected = oracle_local.spike_timing_update(W.tolist(), *states.tolist(), **rates)
    update(W, *states, **rates)
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-12)


@settings(max_examples=25)
@given(n=st.integers(2, 6), adaptation=st.sampled_from([0.0, 2.0]), seed=seeds)
def test_recall_is_that_of_the_definition(n, adaptation, seed):
    rng = np.random.default_rng(seed)
    X = rng.choice(np.array([-1, 1], dtype=np.int8), size=(5, n))
    net = fit_quietly(
        sa.zoo.SpikeTimingMemory(
            adaptation=adaptation, inhibition=0.2, max_epochs=5, on_conflict="learn"
        ),
        X,
    )
    net.W_ = rng.random((n, n))
    path = [(X[0] > 0).astype(int).tolist()]
    for _ in range(6):
        h = oracle_local.spike_timing_fields(net.W_.tolist(), path, 0.2, adaptation, 4.0)
        assume(all(abs(v) > 1e-9 or not any(path[-1]) for v in h))
        path.append([int(v > 0) for v in h])
    assert (net.recall(X[0], steps=6) > 0).astype(int).tolist() == path


@settings(max_examples=15)
@given(n=st.integers(2, 6), seed=seeds)
def test_a_network_organises_itself_by_the_definition(n, seed):
    twin = np.random.default_rng(seed)
    W = np.minimum(2 * twin.random((n, n)) / n, 1) * (1 - np.eye(n))
    expected, nearest = oracle_local.self_organise(
        W.tolist(), twin.random((60, n)).tolist(), 0.2, 0.1, 2.0, 4.0, **RATES
    )
    assume(nearest > 1e-9)
    net = sa.zoo.SpikeTimingMemory(inhibition=0.1, adaptation=2.0, adaptation_steps=4.0, **RATES)
    net.self_organise(n, 60, drive=0.2, rng=np.random.default_rng(seed))
    np.testing.assert_allclose(net.W_, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n", [3, 10, 60])
def test_a_chain_of_single_neurons_is_learned_and_is_a_permutation(n):
    net = sa.zoo.SpikeTimingMemory(synapses=1).fit(chain(n))
    assert cycle_lengths(net.W_) == [n]
    assert np.array_equal(net.recall(chain(n)[0], steps=n), chain(n))
    assert sa.find_attractors(net, chain(n), starts=chain(n)[:1])[0].stored == 0


@pytest.mark.parametrize(("T", "size"), [(20, 5), (10, 10), (33, 3)])
def test_chains_of_groups_are_stored_until_all_neurons_are_in_one(T, size):
    X = groups(T, size)
    net = sa.zoo.SpikeTimingMemory().fit(X)
    assert net.score(X) == 1.0
    assert sa.retrieved(net.recall(X[0], steps=2 * T), X)


def test_dense_patterns_are_not_stored():
    X = sa.datasets.random_periodic(4, 100, rng=0)
    assert fit_quietly(sa.zoo.SpikeTimingMemory(max_epochs=20), X).score(X) == 0.0


def test_silence_stays_silent():
    net = sa.zoo.SpikeTimingMemory().fit(chain(5))
    assert np.array_equal(net.step(-np.ones(5, dtype=np.int8)), -np.ones(5))


def test_nobody_shows_anything_and_chains_close():
    net = sa.zoo.SpikeTimingMemory(**CHAINS).self_organise(30, 6000, rng=0)
    lengths = cycle_lengths(net.W_)
    assert sum(lengths) >= 15  # most neurons are in closed chains
    assert min(lengths) > 2  # two neurons that call each other would grow and shrink by turns
    assert (net.W_ >= 0).all()
    assert (net.W_ <= 1).all()
    assert not net.W_.diagonal().any()
    again = sa.zoo.SpikeTimingMemory(**CHAINS).self_organise(30, 6000, rng=0)
    assert np.array_equal(again.W_, net.W_)


def test_a_network_that_organised_itself_is_saved_like_any_other(tmp_path):
    net = sa.zoo.SpikeTimingMemory(**CHAINS).self_organise(12, 500, rng=0)
    net.save(tmp_path / "net.npz")
    assert np.array_equal(sa.load(tmp_path / "net.npz").W_, net.W_)
    assert sa.find_attractors(net, starts=10, rng=0).unfinished == 0


@pytest.mark.slow
def test_cycle_lengths_follow_one_over_l():
    """The published law, exponent -1, is that of random permutations; in cycles of three, neurons
    are still adapted.
    """
    n, runs = 30, 60
    counts = Counter()
    for seed in range(runs):
        counts.update(
            cycle_lengths(sa.zoo.SpikeTimingMemory(**CHAINS).self_organise(n, 10_000, rng=seed).W_)
        )
    assert not counts[1] + counts[2]
    bins = [(4, 6), (7, 12), (13, 20), (21, 30)]
    seen = np.array([sum(counts[length] for length in range(a, b + 1)) for a, b in bins])
    law = np.append(0.0, 1 / np.arange(1, n + 1))
    expected = runs * np.array([law[a : b + 1].sum() for a, b in bins])
    assert ((seen - expected) ** 2 / expected).sum() < chi2.isf(1e-3, len(bins))
    flat = (
        seen.sum() * np.array([b - a + 1 for a, b in bins]) / 27
    )  # all lengths alike: which the test could reject
    assert ((seen - flat) ** 2 / flat).sum() > chi2.isf(1e-3, len(bins))


def test_the_cycles_of_permutations_are_counted_and_one_over_l_of_them_have_length_l():
    n, counts = 6, Counter()
    for p in permutations(range(n)):
        W = np.zeros((n, n))
        W[p, range(n)] = 1
        lengths = cycle_lengths(W)
        assert sum(lengths) == n
        counts.update(lengths)
    for length in range(1, n + 1):
        assert counts[length] / math.factorial(n) == pytest.approx(1 / length)


def test_open_chains_and_neurons_with_two_successors_are_in_no_cycle():
    W = np.zeros((7, 7))
    W[1, 0] = W[2, 1] = 1  # open
    W[4, 3] = W[3, 4] = 1  # closed
    W[6, 5] = W[5, 6] = W[0, 5] = 1  # 5 calls two
    assert cycle_lengths(W) == [2]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"synapses": 0}, "synapses must be above 0"),
        ({"competition": -1}, "competition must be 0 or more"),
        ({"adaptation_steps": 0.5}, "adaptation_steps must be 1 or more"),
        ({"max_epochs": 0}, "max_epochs must be at least 1"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(parameters, message):
    with pytest.raises(ValueError, match=message):
        sa.zoo.SpikeTimingMemory(**parameters).fit(chain(4))
    with pytest.raises(ValueError, match=message):
        sa.zoo.SpikeTimingMemory(**parameters).self_organise(4, 10)


def test_a_drive_is_a_probability():
    with pytest.raises(ValueError, match="drive must be a probability"):
        sa.zoo.SpikeTimingMemory().self_organise(4, 10, drive=2)
