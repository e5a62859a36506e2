"""Sequences that are too long to be copied: patterns on disk stay there, and come in pieces."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_partial_fit import NETWORKS, WEIGHTS, errors

import oracle
import seqattractor as sa
from quiet import fit_quietly
from seqattractor.sequences import check_sequences, transitions
from strategies import any_sequences


def same(one, other):
    assert errors(one) == errors(other)
    for name in WEIGHTS:
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.fixture
def on_disk(tmp_path):
    """Patterns as an array in memory and as one that is mapped from a file."""
    X = sa.datasets.random_periodic(90, 20, rng=0).patterns
    np.save(tmp_path / "X.npy", X)
    return X, np.load(tmp_path / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_memory_mapped_array_is_learned_as_any_other(kind, on_disk):
    X, mapped = on_disk
    same(*(fit_quietly(NETWORKS[kind](max_epochs=3, random_state=0), patterns) for patterns in (X, mapped)))
    assert NETWORKS[kind](random_state=0).partial_fit(mapped).score(mapped) == NETWORKS[kind](random_state=0).partial_fit(
        X
    ).score(X)


def test_its_transitions_are_no_copies_and_those_of_an_array_in_memory_are(on_disk):
    X, mapped = on_disk
    assert all(np.shares_memory(part, mapped) for part in transitions(*check_sequences(mapped))[:2])
    assert not any(np.shares_memory(part, X) for part in transitions(*check_sequences(X))[:2])


@pytest.mark.parametrize("kind", ["hidden", "visible"])
def test_patterns_on_disk_or_from_a_generator_are_never_copied_in_a_wider_type(kind, tmp_path):
    mapped = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.int8, shape=(100_000, 200))
    mapped[:] = np.where(np.random.default_rng(0).random(mapped.shape, dtype=np.float32) < 0.5, 1, -1)
    options = {"random_state": 0, "max_epochs": 1}
    fit_quietly(NETWORKS[kind](**options), mapped[:500])  # imports and loads
    learn = {
        "fit": lambda: fit_quietly(NETWORKS[kind](**options), mapped),
        "partial_fit": lambda: NETWORKS[kind](**options).partial_fit(mapped[t : t + 1000] for t in range(0, len(mapped), 1000)),
    }
    for way, most in (("fit", 4 * mapped.size), ("partial_fit", mapped.size)):  # in float32, and as it is
        tracemalloc.start()
        learn[way]()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < most, way


def test_a_wrong_value_far_down_is_named(on_disk):
    X = np.tile(on_disk[0], (3000, 1))  # more than is looked at at once
    X[-1, 3] = 0
    with pytest.raises(ValueError, match=rf"X\[{len(X) - 1}, 3\] is 0"):
        sa.VisibleNetwork().fit(X)


@pytest.mark.parametrize("kind", NETWORKS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_pieces_of_a_sequence_are_learned_as_the_whole_of_it(kind, seed, sizes):
    X = sa.datasets.random_periodic(90, 20, rng=seed).patterns
    ends = np.minimum(np.cumsum([*sizes, len(X)]), len(X))
    options = {"init_scale": 0.0, "random_state": seed, "eta": 0.01}
    whole, pieces = (NETWORKS[kind](**options) for _ in range(2))
    for _ in range(3):
        whole.partial_fit(X)
        pieces.partial_fit(X[begin:end] for begin, end in zip([0, *ends], ends, strict=False) if end > begin)
    assert whole.n_iter_ == pieces.n_iter_ == 3
    same(whole, pieces)


def test_memories_that_count_no_errors_take_pieces_too():
    X = sa.datasets.random_periodic(20, 30, rng=0).patterns
    assert sa.zoo.LookupMemory().partial_fit(X[t : t + 7] for t in range(0, 20, 7)).score(X) == 1
    assert np.array_equal(sa.zoo.HebbianMemory().partial_fit(iter([X[:5], X[5:]])).W_, sa.zoo.HebbianMemory().partial_fit(X).W_)


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ([], "gave no piece"),
        ([np.ones((1, 4))], "1 pattern in all"),
        ([np.ones((2, 4)), np.ones((2, 5))], "piece 1 of X has 5 features"),
        ([np.ones((2, 4)), np.full((2, 4), 2)], r"piece 1 of X\[0, 0\] is 2"),
        (["text"], "piece 0 of X"),
    ],
)
def test_pieces_that_make_no_sequence_are_refused_and_leave_the_network_as_it_was(pieces, why):
    X = sa.datasets.random_periodic(5, 4, rng=0)
    net = sa.VisibleNetwork(random_state=0).partial_fit(X)
    before = net.W_.copy()
    with pytest.raises((ValueError, TypeError), match=why):
        net.partial_fit(iter(pieces))
    assert np.array_equal(net.W_, before)
    assert net.n_iter_ == 1
    with pytest.raises((ValueError, TypeError), match=why):
        sa.VisibleNetwork(random_state=0).partial_fit(iter(pieces))


def test_pieces_have_no_lengths_and_begin_with_a_given_order():
    X = sa.datasets.random_periodic(9, 8, rng=0).patterns
    with pytest.raises(ValueError, match="leave lengths out"):
        sa.VisibleNetwork().partial_fit(iter([X]), lengths=[9])
    with pytest.raises(ValueError, match="order='auto'"):
        sa.VisibleNetwork(order="auto").partial_fit(iter([X]))


@given(any_sequences(max_n=2, max_t=30))
def test_conflicts_are_those_of_the_plain_search_in_the_order_of_their_first_place(found):
    ours = [(tuple(each.first), tuple(each.second)) for each in sa.find_conflicts(found)]
    assert ours == sorted(ours)
    assert bool(ours) == bool(oracle.conflicts(found, 1))


LONG = """
import resource, sys, warnings
import numpy as np, seqattractor as sa
warnings.simplefilter("ignore")
T, told = int(sys.argv[2]), []
X = np.lib.format.open_memmap(sys.argv[1], mode="w+", dtype=np.int8, shape=(T, 200))
rng = np.random.default_rng(0)
for t in range(0, T, 1000):
    X[t : t + 1000] = np.where(rng.random((len(X[t : t + 1000]), 200)) < 0.5, 1, -1)
net = sa.SequenceAttractor(2000, random_state=0, max_epochs=2)
net.fit(np.load(sys.argv[1], mmap_mode="r"), callback=lambda *epoch: told.append(epoch))
assert len(told) == 2
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
@pytest.mark.parametrize("T", [20_000, 100_000])
def test_long_sequences_on_disk_are_learned_in_bounded_memory_with_progress(tmp_path, T):
    command = [sys.executable, "-c", LONG, str(tmp_path / "X.npy"), str(T)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 4
