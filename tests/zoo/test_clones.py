"""The clone-structured hidden Markov model: its messages are sums over all paths, and it
distinguishes repeated patterns.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle_scaffold
import seqattractor as sa
from quiet import fit_quietly
from seqattractor.zoo.clones import Clones, Course

X = sa.datasets.random_periodic(11, 60, rng=0)


def draw_course(symbols, seed):
    """A sequence of symbols, of which few are different, as a course; and its pairs."""
    steps = list(pairwise(symbols))
    pairs = sorted(set(steps))
    course = Course(
        symbols[0],
        symbols[-1],
        np.array([pairs.index(step) for step in steps]),
        symbols[0] == symbols[-1],
    )
    return course, pairs, np.random.default_rng(seed)


courses = {
    "symbols": st.lists(st.integers(0, 2), min_size=2, max_size=5),
    "C": st.integers(1, 3),
    "seed": st.integers(0, 10**6),
}


def draw_model(symbols, C, seed):
    course, pairs, rng = draw_course(symbols, seed)
    model = Clones.random(np.array([a for a, _ in pairs]), 3, C, rng)
    model.pi = rng.dirichlet(np.ones(C), size=3)
    return model, course


@settings(max_examples=80)
@given(**courses)
def test_forward_and_backward_messages_give_the_sums_over_all_paths(symbols, C, seed):
    model, course = draw_model(symbols, C, seed)
    totals = np.zeros((3, C))
    np.add.at(totals, model.before, model.T.sum(axis=2))
    assert np.allclose(totals[model.before], 1)  # probabilities of all that follows a clone
    shares, log_probability = model.expect(course)
    total, expected = oracle_scaffold.expected(
        model.pi[course.first].tolist(), model.T[course.pairs].tolist(), course.closed
    )
    assert math.isclose(log_probability, math.log(total), rel_tol=1e-9, abs_tol=1e-9)
    np.testing.assert_allclose(shares, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=80)
@given(**courses)
def test_the_viterbi_path_is_the_most_probable_of_all_paths(symbols, C, seed):
    model, course = draw_model(symbols, C, seed)
    chances = dict(
        oracle_scaffold.all_paths(
            model.pi[course.first].tolist(), model.T[course.pairs].tolist(), course.closed
        )
    )
    assert math.isclose(
        chances[tuple(model.most_probable(course).tolist())], max(chances.values()), rel_tol=1e-9
    )


@settings(max_examples=30)
@given(
    found=st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=8), min_size=1, max_size=3),
    C=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_every_step_of_baum_welch_makes_the_sequences_more_probable(found, C, seed):
    pairs = sorted({step for s in found for step in pairwise(s)})
    course = [
        Course(s[0], s[-1], np.array([pairs.index(step) for step in pairwise(s)]), s[0] == s[-1])
        for s in found
    ]
    model = Clones.random(np.array([a for a, _ in pairs]), 3, C, np.random.default_rng(seed))
    gains = np.diff([model.learn(course, 1e-12) for _ in range(15)])
    assert gains.min() > -1e-8


def test_different_patterns_are_recalled_as_from_a_table():
    Y = sa.datasets.random_periodic(200, 100, rng=1)
    net = sa.zoo.CloneStructuredMemory(5, random_state=0).fit(Y)
    table = sa.zoo.LookupMemory().fit(Y)
    cues = sa.noise.flip(Y[:40], 25, rng=2)
    assert np.array_equal(net.recall(cues, steps=210), table.recall(cues, steps=210))
    assert sa.retrieved(net.recall(Y[0], steps=400, noise=10, rng=3), Y)


def test_repeated_patterns_are_distinguished_as_no_network_without_memory_can():
    A, B, C, D = X[:4]
    for sequence in (
        [A, B, A, C, A],
        [A, B, C, A, B, D, A],
        [A, A, A, B, A],
        [A, B, B, C, B, B, D, A],
    ):
        net = sa.zoo.CloneStructuredMemory(on_conflict="learn", random_state=0).fit(sequence)
        assert net.converged_
        assert net.score(sequence) == 1
        twice = [*sequence, *sequence[1:]]
        assert np.array_equal(net.recall(A, steps=len(twice) - 1), twice)
        assert fit_quietly(sa.zoo.LookupMemory(on_conflict="learn"), sequence).score(sequence) < 1
    with pytest.raises(ValueError, match="occurs again"):
        sa.zoo.CloneStructuredMemory().fit([A, B, A, C, A])


def test_one_clone_is_not_enough_for_a_pattern_with_two_successors():
    A, B, C = X[:3]
    with pytest.warns(
        UserWarning, match=r"CloneStructuredMemory ended .* use more clones \(n_clones\)"
    ):
        net = sa.zoo.CloneStructuredMemory(1, on_conflict="learn", random_state=0).fit(
            [A, B, A, C, A]
        )
    assert net.n_iter_ == 5


def test_an_open_sequence_stays_at_its_end_and_sequences_that_share_a_pattern_are_distinguished():
    A, B, C, D, E = X[:5]
    one, two = [A, B, C, D], [E, B, C, A]
    net = sa.zoo.CloneStructuredMemory(on_conflict="learn", random_state=0).fit([one, two])
    assert np.array_equal(net.recall(A, steps=5), [*one, D, D])
    assert np.array_equal(net.recall(E, steps=3), two)


def test_a_fit_ends_when_the_callback_ends_it_and_has_the_best_start():
    rng = np.random.default_rng(0)
    Y = X[rng.integers(0, 3, 40)]
    reported = []
    net = fit_quietly(
        sa.zoo.CloneStructuredMemory(2, on_conflict="learn", random_state=0),
        Y,
        callback=lambda *errors: reported.append(errors),
    )
    assert [errors for *_, errors in reported] == net.visible_errors_.tolist()
    assert net.wrong_units(Y).sum() == net.visible_errors_.min() > 0
    stopped = fit_quietly(
        sa.zoo.CloneStructuredMemory(2, on_conflict="learn", random_state=0),
        Y,
        callback=lambda *errors: True,
    )
    assert stopped.n_iter_ == 1


def test_a_file_that_names_patterns_that_are_not_there_is_rejected(tmp_path):
    net = sa.zoo.CloneStructuredMemory(2, random_state=0).fit(X)
    net.after_ = net.after_ + 1
    with pytest.raises(ValueError, match="names pattern 10, but there are 10"):
        net.save(tmp_path / "net.npz")


@pytest.mark.parametrize(
    "parameters", [{"n_clones": 0}, {"max_steps": 0}, {"tol": -1.0}, {"n_init": 0}]
)
def test_senseless_parameters_are_rejected(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        sa.zoo.CloneStructuredMemory(**parameters).fit(X)


@pytest.mark.slow
def test_random_walks_over_few_patterns_are_nearly_all_learned():
    """Each of ten patterns stands at about four of forty places: ten clones are enough, and are
    nearly always found.
    """
    scores = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        walk = rng.integers(0, 10, 40)
        Y = X[np.append(walk, walk[0])]
        scores.append(
            fit_quietly(
                sa.zoo.CloneStructuredMemory(on_conflict="learn", random_state=seed), Y
            ).score(Y)
        )
    assert np.mean(scores) > 0.99


def test_a_loop_may_continue_over_its_beginning():
    loop = sa.datasets.random_periodic(8, 30, rng=0).patterns[:-1].copy()
    loop[5] = loop[2]
    for more in (1, 2, 4):
        net = sa.zoo.CloneStructuredMemory(on_conflict="learn", random_state=0).fit(
            np.concatenate([loop, loop[:more]])
        )
        path = net.recall(loop[0], steps=3 * len(loop))
        assert np.array_equal(path, np.concatenate([loop, loop, loop, loop[:1]])), more
