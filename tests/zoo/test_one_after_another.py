"""Sequences that are added one by one with `partial_fit`: memories that grow lose none of them, and
those whose rule is a sum are what one fit with all of them makes.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import seqattractor as sa
from every_network import all_states
from quiet import fit_quietly, quietly
from seqattractor.networks import make_network
from strategies import any_sequences, sequences

LOOPS = [sa.datasets.random_periodic(21, 100, rng=seed) for seed in range(10)]
GROWING = ["one-hot", "lookup", "dense-3", "dense-auto", "dense-exponential", "modern-hopfield"]
SUMS = {"hebbian": {}, "sdm": {"n_hidden": 20, "random_state": 0}}


def add_one_by_one(net, found):
    for X in found:
        quietly(net.partial_fit, X)
    return net


def is_recalled(net, X):
    """Whether a loop is recalled from a cue with 5 wrong units, in phase with it."""
    path = net.recall(sa.noise.flip(X[0], 5, rng=0), steps=2 * len(X))
    return np.array_equal(path[len(X) - 1 : 2 * len(X) - 1], X)


@pytest.mark.parametrize("name", GROWING)
def test_a_memory_that_grows_recalls_all_that_it_was_given_after_every_addition(name):
    net, sizes = make_network(name), [0]
    for k, X in enumerate(LOOPS, start=1):
        net.partial_fit(X)
        sizes.append(net.n_parameters())
        assert all(is_recalled(net, each) for each in LOOPS[:k])
    assert set(np.diff(sizes)[1:]) == {2 * 20 * 100}  # the patterns and what follows them


def test_a_scaffold_does_not_grow_and_stores_all_as_long_as_its_hidden_neurons_are_more():
    net, sizes = sa.zoo.ScaffoldMemory(periods=(31, 33), random_state=0), []
    for k, X in enumerate(LOOPS, start=1):
        net.partial_fit(X)
        sizes.append(net.n_parameters())
        assert net.score(LOOPS[:k]) == 1
    assert set(np.diff(sizes)) == {2}  # where the sequence ends, and where that leads


@settings(max_examples=40)
@given(found=any_sequences(), name=st.sampled_from([*SUMS, *GROWING]))
def test_sequences_one_by_one_answer_every_state_as_all_of_them_at_once(found, name):
    assume(found[0].shape[1] > 1)  # dense memories need two units
    given_ = {"on_conflict": "learn", **SUMS.get(name, {})}
    whole = fit_quietly(make_network(name, **given_), found)
    parts = add_one_by_one(make_network(name, **given_), found)
    states = all_states(found[0].shape[1])
    assert np.array_equal(parts.step(states), whole.step(states))
    assert parts.n_parameters() == whole.n_parameters()


@settings(max_examples=40)
@given(
    found=sequences(min_n=3, max_n=8),
    code=st.sampled_from(["sign", "relu"]),
    cue=st.sampled_from(["ridge", "pinv", "hebb"]),
    seed=st.integers(0, 99),
)
def test_a_scaffold_of_sequences_one_by_one_is_that_of_all_at_once_bit_for_bit(
    found, code, cue, seed
):
    assume(all((x[1:] != x[:-1]).any(axis=1).all() for x in found))
    given_ = {"periods": (11, 13), "code": code, "cue": cue, "random_state": seed}
    whole = fit_quietly(sa.zoo.ScaffoldMemory(100, **given_), found)
    parts = add_one_by_one(sa.zoo.ScaffoldMemory(100, **given_), found)
    for name in ("W_pg_", "W_gp_", "W_sp_", "W_ps_", "ends_", "goes_to_"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name)), name


def test_a_pattern_that_follows_itself_stays_where_it_is_when_a_scaffold_learns_more():
    a, b, c = sa.datasets.random_periodic(4, 30, rng=0)[:3]
    net = sa.zoo.ScaffoldMemory(50, periods=(5, 7), random_state=0)
    add_one_by_one(net, [[a, a], [b, c]])
    assert np.array_equal(net.recall(a, steps=3), [a] * 4)
    assert np.array_equal(net.recall(b, steps=2), [b, c, c])


def test_a_piece_that_begins_where_another_ended_continues_it_in_a_scaffold():
    X = LOOPS[0]
    net = sa.zoo.ScaffoldMemory(100, periods=(11, 13), random_state=0)
    for first in range(0, 20, 5):
        net.partial_fit(X[first : first + 6])
    assert is_recalled(net, X)
    assert net.ends_.tolist() == [4, 9, 14, 19]  # no label was used twice


def test_a_scaffold_of_which_only_the_weights_were_saved_learns_on(tmp_path):
    net = sa.zoo.ScaffoldMemory(200, periods=(11, 13), random_state=0).fit(LOOPS[0])
    net.save(tmp_path / "net.npz")
    again = sa.load(tmp_path / "net.npz").partial_fit(LOOPS[1])
    assert again.score(LOOPS[:2]) == 1
    assert np.array_equal(again.W_sp_, net.partial_fit(LOOPS[1]).W_sp_)


def test_a_scaffold_without_enough_labels_names_periods_that_have_them_and_stays_as_it_was():
    net = sa.zoo.ScaffoldMemory(200, periods=(5, 6), random_state=0).fit(LOOPS[0])
    before = {name: np.copy(value) for name, value in vars(net).items() if name.endswith("_")}
    with pytest.raises(ValueError, match=r"40 labels are needed.*30; use larger ones.*\(13, 14\)"):
        net.partial_fit(LOOPS[1])
    assert all(np.array_equal(getattr(net, name), value) for name, value in before.items())
    assert net.score(LOOPS[0]) == 1
