"""Sequences that are too long to be copied: patterns on disk stay there, and come in pieces."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
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
    same(
        *(
            fit_quietly(NETWORKS[kind](max_epochs=3, random_state=0), patterns)
            for patterns in (X, mapped)
        )
    )
    assert NETWORKS[kind](random_state=0).partial_fit(mapped).score(mapped) == NETWORKS[kind](
        random_state=0
    ).partial_fit(X).score(X)


def test_its_transitions_are_no_copies_and_those_of_an_array_in_memory_are(on_disk):
    X, mapped = on_disk
    assert all(np.shares_memory(part, mapped) for part in transitions(*check_sequences(mapped))[:2])
    assert not any(np.shares_memory(part, X) for part in transitions(*check_sequences(X))[:2])


@pytest.mark.parametrize("kind", ["hidden", "visible"])
def test_patterns_on_disk_or_from_a_generator_are_never_copied_in_a_wider_type(kind, tmp_path):
    mapped = np.lib.format.open_memmap(
        tmp_path / "X.npy", mode="w+", dtype=np.int8, shape=(100_000, 200)
    )
    mapped[:] = np.where(
        np.random.default_rng(0).random(mapped.shape, dtype=np.float32) < 0.5, 1, -1
    )
    options = {"random_state": 0, "max_epochs": 1}
    fit_quietly(NETWORKS[kind](**options), mapped[:500])  # imports and loads

    def learn_in_pieces():
        net = NETWORKS[kind](**options)
        for t in range(0, len(mapped), 1000):
            net.partial_fit(mapped[t : t + 1001])

    learn = {
        "fit": lambda: fit_quietly(NETWORKS[kind](**options), mapped),
        "partial_fit": learn_in_pieces,
    }
    for way, most in (
        ("fit", 4 * mapped.size),
        ("partial_fit", mapped.size),
    ):  # in float32, and as it is
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


@given(any_sequences(max_n=2, max_t=30))
def test_conflicts_are_those_of_the_plain_search_in_the_order_of_their_first_place(found):
    ours = [(tuple(each.first), tuple(each.second)) for each in sa.find_conflicts(found)]
    assert ours == sorted(ours)
    assert bool(ours) == bool(oracle.conflicts(found, 1))


LONG = """
import resource, sys, warnings
import numpy as np, seqattractor as sa
warnings.simplefilter("ignore")
T, reported = int(sys.argv[2]), []
X = np.lib.format.open_memmap(sys.argv[1], mode="w+", dtype=np.int8, shape=(T, 200))
rng = np.random.default_rng(0)
for t in range(0, T, 1000):
    X[t : t + 1000] = np.where(rng.random((len(X[t : t + 1000]), 200)) < 0.5, 1, -1)
net = sa.SequenceAttractor(2000, random_state=0, max_epochs=2)
net.fit(np.load(sys.argv[1], mmap_mode="r"), callback=lambda *epoch: reported.append(epoch))
assert len(reported) == 2
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


@pytest.mark.slow
@pytest.mark.parametrize("T", [20_000, 100_000])
def test_long_sequences_on_disk_are_learned_in_bounded_memory_with_progress(tmp_path, T):
    command = [sys.executable, "-c", LONG, str(tmp_path / "X.npy"), str(T)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 4
