"""Dense sequence memories: every interaction, exactly as defined, and safe for large networks."""

import tracemalloc
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from operator import mul

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import oracle
import oracle_rivals
import seqattractor as sa
from quiet import fit_quietly
from seqattractor.zoo.dense import decisive_degree
from strategies import sequences

X = sa.datasets.random_periodic(30, 60, rng=0)
# fields this near zero, relative to their largest term, are not decided by arithmetic on floats
NEAR_TIE = 1e-9


def dense(**parameters):
    """A dense memory, with a slow part where the parameters have one."""
    slow = any(name.startswith("slow") for name in parameters)
    return (sa.zoo.MixedSequenceMemory if slow else sa.zoo.DenseSequenceMemory)(**parameters)


def some_states(seed, *shape):
    return np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), shape)


def expect(answer, fields, tolerate=0.0):
    """Every unit has the sign of the oracle, except where the field is a near tie."""
    for unit, (sign, size) in zip(answer.tolist(), fields, strict=True):
        assert unit == sign or size < tolerate


@settings(max_examples=30)
@given(
    found=sequences(min_n=2),
    seed=st.integers(0, 99),
    degree=st.integers(1, 9),
    self_overlap=st.booleans(),
    order=st.integers(1, 2),
)
def test_polynomial_memories_are_exact_even_on_ties(found, seed, degree, self_overlap, order):
    found = [x for x in found if len(x) > order] or [
        some_states(seed, order + 1, found[0].shape[1])
    ]
    net = fit_quietly(
        sa.zoo.DenseSequenceMemory(degree=degree, self_overlap=self_overlap, order=order), found
    )
    pairs = oracle.transitions([x.tolist() for x in found], order)
    for state in some_states(seed, 3, order * found[0].shape[1]):
        answer = net.step(state if order == 1 else state.reshape(order, -1))
        expect(
            answer,
            oracle_rivals.dense(
                pairs,
                state.tolist(),
                None,
                kind="polynomial",
                degree=degree,
                self_overlap=self_overlap,
            ),
        )


@settings(max_examples=30)
@given(
    found=sequences(min_n=2),
    seed=st.integers(0, 99),
    kind=st.sampled_from(["exponential", "softmax"]),
    beta=st.sampled_from([0.1, 0.5, 1, 3, 40, 1000]),
    self_overlap=st.booleans(),
)
def test_exponential_memories_are_those_written_index_by_index_for_any_beta(
    found, seed, kind, beta, self_overlap
):
    net = fit_quietly(sa.zoo.DenseSequenceMemory(kind, beta=beta, self_overlap=self_overlap), found)
    pairs = oracle.transitions([x.tolist() for x in found])
    for state in some_states(seed, 3, found[0].shape[1]):
        fields = oracle_rivals.dense(
            pairs, state.tolist(), None, kind=kind, beta=beta, self_overlap=self_overlap
        )
        expect(net.step(state), fields, NEAR_TIE)


@settings(max_examples=30)
@given(
    found=sequences(min_n=2),
    seed=st.integers(0, 99),
    kind=st.sampled_from(["polynomial", "exponential", "softmax"]),
    self_overlap=st.booleans(),
)
def test_the_generalised_pseudo_inverse_is_that_written_index_by_index(
    found, seed, kind, self_overlap
):
    net = fit_quietly(
        sa.zoo.DenseSequenceMemory(kind, degree=3, pseudo_inverse=True, self_overlap=self_overlap),
        found,
    )
    pairs = oracle.transitions([x.tolist() for x in found])
    inverse = oracle_rivals.overlap_inverse([x for x, _ in pairs])
    assert np.allclose(net.inverse_, np.array(inverse, dtype=float), atol=1e-9)
    for state in some_states(seed, 3, found[0].shape[1]):
        fields = oracle_rivals.dense(
            pairs,
            state.tolist(),
            None,
            kind=kind,
            degree=3,
            self_overlap=self_overlap,
            inverse=inverse,
        )
        expect(net.step(state), fields, NEAR_TIE)


def test_the_exponential_pseudo_inverse_is_that_of_the_published_definition():
    """exp((N-1) (x-1)) of mixed overlaps x; to mix overlaps less 1, as the code of its authors
    does, is another network.
    """
    frames = sa.datasets.random_sequences(1, 6, 8, rng=5)
    net = sa.zoo.DenseSequenceMemory("exponential", pseudo_inverse=True).fit(frames)
    pairs = oracle.transitions([np.asarray(frames).tolist()])
    inverse = oracle_rivals.overlap_inverse([x for x, _ in pairs])
    keys, values, mix = (
        np.array([x for x, _ in pairs]),
        np.array([y for _, y in pairs]),
        np.array(inverse, dtype=float),
    )
    different = 0
    for state in np.array(oracle.all_patterns(8), dtype=np.int8):
        answer = net.step(state)
        expect(
            answer,
            oracle_rivals.dense(pairs, state.tolist(), None, kind="exponential", inverse=inverse),
            NEAR_TIE,
        )
        seen = (keys @ state)[
            :, None
        ] - keys * state  # overlaps without the neuron's own part, (P, N)
        different += np.any(answer != np.sign((values * np.exp(mix @ (seen - 7))).sum(axis=0)))
    assert different > 20


@settings(max_examples=30)
@given(
    found=sequences(min_n=2),
    seed=st.integers(0, 99),
    kind=st.sampled_from(["polynomial", "exponential", "softmax"]),
    lam=st.sampled_from([0, 0.5, 2.5]),
    tau=st.integers(1, 3),
    pseudo_inverse=st.booleans(),
)
def test_mixed_networks_are_those_written_index_by_index(
    found, seed, kind, lam, tau, pseudo_inverse
):
    net = sa.zoo.MixedSequenceMemory(
        kind, slow_weight=lam, slow_steps=tau, pseudo_inverse=pseudo_inverse
    ).fit(found)
    pairs = oracle.transitions([x.tolist() for x in found])
    inverse = (
        oracle_rivals.overlap_inverse(oracle_rivals.all_patterns(pairs)) if pseudo_inverse else None
    )
    cues = some_states(seed, 2, found[0].shape[1])
    for cue, path in zip(cues, net.recall(cues, steps=4), strict=True):
        states = [cue.tolist()] * (tau - 1) + path.tolist()
        for t in range(tau, len(states)):
            past = (np.array(states[t - tau : t]).sum(axis=0)).tolist()
            mean = [oracle_rivals.Fraction(s, tau) for s in past]
            fields = oracle_rivals.dense(
                pairs, states[t - 1], mean, kind=kind, lam=lam, inverse=inverse
            )
            expect(np.array(states[t]), fields, NEAR_TIE)


functions = st.one_of(
    st.tuples(st.just("polynomial"), st.integers(1, 4)),
    st.tuples(st.sampled_from(["exponential", "softmax"]), st.sampled_from([0.25, 1, 3])),
)


def both_functions(hold, call):
    """f_S and f_A, each as (kind, degree or beta), as parameters."""
    slow = {
        "slow_interaction": call[0],
        "slow_degree" if call[0] == "polynomial" else "slow_beta": call[1],
    }
    return {
        "interaction": hold[0],
        "degree" if hold[0] == "polynomial" else "beta": hold[1],
        **slow,
    }


@settings(max_examples=60)
@given(
    found=sequences(min_n=2),
    seed=st.integers(0, 99),
    hold=functions,
    call=functions,
    lam=st.sampled_from([0, 0.5, 2.5]),
    tau=st.integers(1, 3),
    self_overlap=st.booleans(),
    pseudo_inverse=st.booleans(),
)
def test_mixed_networks_with_two_functions_are_those_written_index_by_index(
    found, seed, hold, call, lam, tau, self_overlap, pseudo_inverse
):
    shared = {
        "slow_weight": lam,
        "slow_steps": tau,
        "self_overlap": self_overlap,
        "pseudo_inverse": pseudo_inverse,
    }
    net = sa.zoo.MixedSequenceMemory(**both_functions(hold, call), **shared).fit(found)
    pairs = oracle.transitions([x.tolist() for x in found])
    inverse = (
        oracle_rivals.overlap_inverse(oracle_rivals.all_patterns(pairs)) if pseudo_inverse else None
    )
    cues = some_states(seed, 2, found[0].shape[1])
    for cue, path in zip(cues, net.recall(cues, steps=3), strict=True):
        states = [cue.tolist()] * (tau - 1) + path.tolist()
        for t in range(tau, len(states)):
            mean = [
                oracle_rivals.Fraction(s, tau)
                for s in np.array(states[t - tau : t]).sum(axis=0).tolist()
            ]
            fields = oracle_rivals.mixed_net(
                pairs,
                states[t - 1],
                mean,
                hold=hold,
                call=call,
                lam=lam,
                self_overlap=self_overlap,
                inverse=inverse,
            )
            expect(np.array(states[t]), fields, NEAR_TIE)


@pytest.mark.parametrize("kind", ["polynomial", "exponential", "softmax"])
def test_a_slow_part_that_is_given_as_the_same_changes_nothing(kind):
    parameters = {"degree": 3, "beta": 0.5, "slow_steps": 3}
    plain = sa.zoo.MixedSequenceMemory(kind, **parameters).fit(X)
    same = sa.zoo.MixedSequenceMemory(
        kind, slow_interaction=kind, slow_degree=3, slow_beta=0.5, **parameters
    ).fit(X)
    cues = some_states(5, 20, 60)
    assert np.array_equal(plain.recall(cues, steps=8), same.recall(cues, steps=8))


def test_two_functions_that_both_vanish_in_floating_point_still_weigh_against_each_other():
    frames = sa.datasets.walker()[::8]  # 13 of 11264 units; exp(-beta 2000) is 0 in float64
    net = sa.zoo.MixedSequenceMemory("exponential", beta=0.5, slow_beta=0.25, slow_steps=2).fit(
        frames
    )
    cues = sa.noise.flip(frames[:3], 1000, rng=0)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        answers = net.step(cues)
    assert np.array_equal(
        answers, frames[1:4]
    )  # 2.5 exp(-.25 d) outweighs exp(-.5 d) at any distance d


def test_degree_one_is_the_hebbian_network_without_self_connections():
    hebbian = sa.zoo.HebbianMemory().fit(X[:5])
    np.fill_diagonal(hebbian.W_, 0)
    states = some_states(0, 50, 60)
    assert np.array_equal(
        sa.zoo.DenseSequenceMemory(degree=1).fit(X[:5]).step(states), hebbian.step(states)
    )


def test_degree_one_with_self_overlap_is_the_hebbian_network():
    states = some_states(0, 50, 60)
    hebbian = sa.zoo.HebbianMemory().fit(X[:5])
    assert np.array_equal(
        sa.zoo.DenseSequenceMemory(degree=1, self_overlap=True).fit(X[:5]).step(states),
        hebbian.step(states),
    )


def test_a_steep_softmax_answers_with_the_successor_of_the_nearest_pattern():
    cues = sa.noise.flip(X[:-1], 15, rng=0)
    nearest = sa.zoo.LookupMemory().fit(X).step(cues)
    assert np.array_equal(
        sa.zoo.DenseSequenceMemory("softmax", beta=50, self_overlap=True).fit(X).step(cues), nearest
    )


@pytest.mark.parametrize("parameters", [
    {"interaction": "exponential"},
    {"interaction": "exponential", "self_overlap": True},
    {"interaction": "softmax", "beta": 1e6},
    {"interaction": "softmax", "slow_weight": 2.5},
    {"interaction": "exponential", "pseudo_inverse": True},
    {"degree": 40},
    {"degree": 40, "self_overlap": True},
    {"degree": 40, "pseudo_inverse": True},
    {"degree": 1000},
])  # fmt: skip
def test_large_correlated_patterns_neither_overflow_nor_vanish(parameters):
    frames = sa.datasets.walker()[::8]  # 13 of 11264 units
    net = dense(**parameters).fit(frames)
    cues = sa.noise.flip(frames[:3], 1000, rng=0)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        answers = net.step(cues)
    # the nearest of the correlated frames outweighs all others, so its successor is called without
    # an error
    assert np.array_equal(answers, frames[1:4])


def test_only_the_generalised_pseudo_inverse_recalls_a_correlated_sequence():
    Y = sa.datasets.random_periodic(20, 100, correlation=0.8, rng=1)
    assert sa.zoo.DenseSequenceMemory(degree=2, pseudo_inverse=True).fit(Y).score(Y) == 1
    assert fit_quietly(sa.zoo.DenseSequenceMemory(degree=2), Y).score(Y) < 1


def test_a_mixed_network_holds_patterns_and_goes_through_the_sequence():
    net = sa.zoo.MixedSequenceMemory("exponential", slow_weight=2.5, slow_steps=5).fit(X[:6])
    path = net.recall(X[0], steps=60)
    distinct = [path[0]] + [b for a, b in pairwise(path) if not np.array_equal(a, b)]
    assert np.array_equal(distinct, X[:6])  # it stays where the sequence ends


def test_several_sequences_in_one_network_are_all_recalled():
    Y = sa.datasets.random_sequences(10, 15, 100, rng=0)
    net = sa.zoo.DenseSequenceMemory(degree=3).fit(Y)
    cues = sa.noise.flip(Y[::15], 10, rng=1)
    paths = net.recall(cues, steps=14)
    assert all(
        np.array_equal(path[1:], Y[15 * s + 1 : 15 * s + 15]) for s, path in enumerate(paths)
    )


def test_large_batches_are_the_same_as_single_cues(monkeypatch):
    from seqattractor.zoo import dense as module

    cues = some_states(0, 20, 60)
    for parameters in (
        {},
        {"pseudo_inverse": True},
        {"interaction": "softmax", "slow_weight": 2.0},
    ):
        net = dense(**parameters).fit(X)
        whole = net.recall(cues, steps=3)
        monkeypatch.setattr(module, "_ENTRIES", 200)  # blocks of a few neurons
        assert np.array_equal(net.recall(cues, steps=3), whole)
        assert all(
            np.array_equal(net.recall(cue, steps=3), path)
            for cue, path in zip(cues, whole, strict=True)
        )


@settings(max_examples=60)
@given(found=sequences(min_n=3), order=st.integers(1, 2), self_overlap=st.booleans())
def test_the_degree_that_it_chooses_is_the_least_at_which_no_pattern_drowns_in_the_others(
    found, order, self_overlap
):
    assume(all(len(x) > order for x in found))
    pairs = oracle.transitions([x.tolist() for x in found], order)
    keys = Counter(tuple(x) for x, _ in pairs)

    def overlap(a, b):
        """The largest overlap that a neuron may see."""
        return min(Fraction(1), Fraction(abs(sum(map(mul, a, b))) + 1, len(a) - 1))

    def drowns(degree):
        """Whether the weights of all others, as often as they are stored, make more than half of a
        pattern's own.
        """
        return any(
            sum(keys[b] * overlap(a, b) ** degree for b in keys if b != a) > Fraction(keys[a], 2)
            for a in keys
        )

    net = fit_quietly(sa.zoo.DenseSequenceMemory(order=order, self_overlap=self_overlap), found)
    assert net.degree_ == 2 or drowns(net.degree_ - 1)
    assert net.degree_ == 1000 or not drowns(net.degree_)
    if not drowns(net.degree_):
        assert net.score(found) == 1.0


@settings(max_examples=200)
@given(
    units=st.integers(1, 8),
    degree=st.integers(1, 300),
    values=st.lists(st.tuples(st.integers(0, 8), st.sampled_from((-1, 1))), min_size=1),
)
def test_a_degree_that_is_high_enough_decides_every_sum_as_the_higher_one_would(
    units, degree, values
):
    overlaps = [(units - 2 * min(k, units), v) for k, v in values]
    lower = decisive_degree(degree, units, len(values))
    assert lower <= degree
    totals = [sum(v * u**d for u, v in overlaps) for d in (lower, degree)]
    assert np.sign(totals[0]) == (totals[1] > 0) - (totals[1] < 0)


@pytest.mark.parametrize(
    "film", [sa.datasets.moving_digits(2, 16, 40, 1, rng=0), sa.datasets.walker(24, shrink=2)]
)
def test_pictures_beyond_degree_2_are_stored_and_recalled_at_the_chosen_degree(film, tmp_path):
    n = len(film) - len(film.lengths)
    with pytest.warns(
        ConvergenceWarning,
        match=rf"{n} of {n} transitions are not stored: let the patterns choose the degree",
    ):
        assert sa.zoo.DenseSequenceMemory(degree=2).fit(film).score(film) == 0
    net = sa.zoo.DenseSequenceMemory().fit(film)
    assert net.score(film) == 1
    assert net.degree_ > 10
    cue = sa.noise.flip(film.patterns[0], film.shape[1] // 10, rng=1)
    steps = int(film.lengths[0]) - 1
    assert np.array_equal(net.recall(cue, steps=steps)[1:], film.patterns[1 : steps + 1])
    net.save(tmp_path / "net.npz")
    again = sa.load(tmp_path / "net.npz")
    assert (again.degree, again.degree_) == ("auto", net.degree_)
    assert np.array_equal(again.recall(cue, steps=3), net.recall(cue, steps=3))


def test_random_patterns_need_a_low_degree_and_sequences_added_later_a_new_choice():
    few, many = (
        sa.datasets.random_periodic(10, 200, rng=0),
        sa.datasets.random_periodic(500, 200, rng=1),
    )
    net = sa.zoo.DenseSequenceMemory(degree="auto").partial_fit(few)
    assert net.degree_ == 2
    assert (
        net.partial_fit(many).degree_
        == sa.zoo.DenseSequenceMemory(degree="auto").fit([few, many]).degree_
        > 2
    )
    assert net.score([few, many]) == 1


@pytest.mark.parametrize(("N", "T", "degree"), [(100, 20, 2), (100, 2000, 5), (20, 100, 10)])
def test_degrees_of_random_patterns_are_those_of_docs_rivals(N, T, degree):
    assert (
        sa.zoo.DenseSequenceMemory().fit(sa.datasets.random_periodic(T, N, rng=0)).degree_ == degree
    )


@pytest.mark.parametrize("kind", [sa.zoo.DenseSequenceMemory, sa.zoo.MixedSequenceMemory])
def test_sequences_added_later_are_as_if_stored_at_once(kind):
    Y = some_states(3, 8, 60)
    both = kind(pseudo_inverse=True).fit([X, Y])
    added = kind(pseudo_inverse=True).partial_fit(X).partial_fit(Y)
    assert np.array_equal(added.patterns_, both.patterns_)
    assert np.array_equal(added.successors_, both.successors_)
    assert np.allclose(added.inverse_, both.inverse_)


def test_it_is_saved_and_loaded(tmp_path):
    net = sa.zoo.MixedSequenceMemory(
        "softmax", beta=0.5, pseudo_inverse=True, slow_weight=2.0, slow_interaction="polynomial"
    ).fit(X)
    net.save(tmp_path / "net.npz")
    cue = sa.noise.flip(X[3], 6, rng=1)
    assert np.array_equal(
        sa.load(tmp_path / "net.npz").recall(cue, steps=12), net.recall(cue, steps=12)
    )


@pytest.mark.parametrize(
    "net",
    [
        sa.zoo.DenseSequenceMemory(),
        sa.zoo.DenseSequenceMemory(degree=5),
        sa.zoo.MixedSequenceMemory(),
        sa.zoo.LookupMemory(),
    ],
    ids=repr,
)
def test_memory_does_not_grow_with_the_square_of_the_patterns(net):
    X = sa.datasets.random_sequences(1, 3000, 50, rng=0)
    tracemalloc.start()
    fit_quietly(net, X).score(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000**2 * 16  # two arrays of a number for each pair of patterns; it took a dozen


def test_a_memory_that_learns_more_has_the_degree_of_one_that_learned_all_at_once():
    A, B = sa.datasets.random_periodic(40, 40, rng=0), sa.datasets.random_periodic(60, 40, rng=1)
    assert (
        sa.zoo.DenseSequenceMemory().partial_fit(A).partial_fit(B).degree_
        == sa.zoo.DenseSequenceMemory().fit([A, B]).degree_
    )


@pytest.mark.parametrize(("parameters", "message"), [
    ({"interaction": "cubic"}, "'polynomial', 'exponential', 'softmax'"),
    ({"degree": 0}, "degree"),
    ({"beta": 0.0}, "beta"),
    ({"slow_steps": 0}, "slow_steps"),
    ({"slow_weight": -1.0}, "slow_weight"),
    ({"slow_weight": 1.0, "interaction": "softmax", "beta": 1e4}, "beta"),
    ({"slow_interaction": "cubic"}, "slow_interaction"),
    ({"slow_degree": 0}, "slow_degree"),
    ({"slow_beta": 0.0}, "slow_beta"),
    ({"slow_interaction": "softmax", "slow_beta": 1e4}, "slow_beta"),
])  # fmt: skip
def test_senseless_parameters_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        dense(**parameters).fit(X)


def test_one_neuron_has_no_overlap_without_itself():
    with pytest.raises(ValueError, match="self_overlap=True"):
        sa.zoo.DenseSequenceMemory().fit([[1], [-1]])
    assert sa.zoo.DenseSequenceMemory(self_overlap=True, degree=1).fit([[1], [-1]]).step(
        [1]
    ).tolist() == [-1]
