"""The look-up memory: the nearest stored pattern, then its successor."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import oracle_rivals
import seqattractor as sa
from strategies import any_sequences


@given(found=any_sequences(), seed=st.integers(0, 99), order=st.integers(1, 3))
def test_it_is_the_table_written_index_by_index(found, seed, order):
    rng = np.random.default_rng(seed)
    N = found[0].shape[1]
    found = [x for x in found if len(x) > order] or [rng.choice([-1, 1], (order + 2, N))]
    net = sa.zoo.LookupMemory(order=order, on_conflict="learn").fit(found)
    pairs = oracle.transitions([x.tolist() for x in found], order)
    for state in rng.choice([-1, 1], (3, order, N)):
        answer = net.step(state if order > 1 else state[0])
        assert answer.tolist() == oracle_rivals.look_up(pairs, state.ravel().tolist())


@given(found=any_sequences(), cut=st.integers(1, 2))
def test_a_table_written_in_pieces_is_the_same(found, cut):
    whole = sa.zoo.LookupMemory(on_conflict="learn").fit(found)
    pieces = sa.zoo.LookupMemory(on_conflict="learn").partial_fit(found[:cut])
    if found[cut:]:
        pieces.partial_fit(found[cut:])
    for name in ("patterns_", "successors_", "counts_"):
        assert np.array_equal(getattr(pieces, name), getattr(whole, name))


def test_a_pattern_with_two_successors_is_rejected_unless_the_more_frequent_should_win():
    a, b, c = [1, 1, 1], [1, -1, 1], [-1, -1, -1]
    with pytest.raises(ValueError, match="order=2"):
        sa.zoo.LookupMemory().fit([[b, a, b], [c, a, c]])
    net = sa.zoo.LookupMemory(on_conflict="learn").fit([[a, b], [a, c], [c, a, c]])
    assert net.step(a).tolist() == c


def test_it_recalls_from_any_cue_that_is_nearer_to_the_right_pattern_than_to_others():
    X = sa.datasets.random_periodic(300, 100, rng=0)
    net = sa.zoo.LookupMemory().fit(X)
    assert sa.retrieved(net.recall(sa.noise.flip(X[0], 20, rng=1), steps=600), X)


def test_it_is_saved_and_loaded(tmp_path):
    X = sa.datasets.random_periodic(9, 20, rng=0)
    sa.zoo.LookupMemory().fit(X).save(tmp_path / "net.npz")
    assert np.array_equal(sa.load(tmp_path / "net.npz").recall(X[0], steps=8), X)
