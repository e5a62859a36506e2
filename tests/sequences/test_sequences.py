"""What counts as a sequence, and which error everything else raises."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import oracle
import seqattractor as sa
from seqattractor.sequences import check_sequences, stack_context, transitions
from strategies import any_sequences, sequences


def test_an_array_of_sequences_time_and_units_is_a_list_of_sequences():
    S = sa.datasets.random_sequences(3, 5, 50, rng=0)
    X = S.patterns.reshape(3, -1, 50)
    for part, whole in zip(check_sequences(X), check_sequences(S), strict=True):
        assert np.array_equal(part, whole)
    ours, theirs = (sa.SequenceAttractor(200, random_state=0).fit(data) for data in (X, list(X)))
    assert np.array_equal(ours.V_, theirs.V_)
    assert ours.score(X) == ours.partial_fit(X).score(X) == 1
    assert np.array_equal(sa.certify(ours, X).radius, sa.certify(ours, list(X)).radius)
    assert sa.basin_fraction(ours, X, flips=1, rng=0) == sa.basin_fraction(
        ours, list(X), flips=1, rng=0
    )
    assert not sa.find_conflicts(X)
    assert sa.close_loops(X, order=1).lengths.tolist() == S.lengths.tolist()


def test_numbers_of_sequences_time_and_units_get_advice_that_keeps_the_sequences():
    numbers = np.random.default_rng(0).random((3, 5, 20))
    with pytest.raises(
        ValueError, match=r"X\[0, 0, 0\] is .*; convert your data with (.*)\.$"
    ) as caught:
        check_sequences(numbers)
    advice = str(caught.value).partition("convert your data with ")[2].rstrip(".")
    taken = eval(advice.replace("threshold=...", "threshold=0.5"), {"sa": sa, "X": numbers})
    patterns, lengths = check_sequences(taken)
    assert lengths.tolist() == [5, 5, 5]
    assert np.array_equal(patterns.reshape(numbers.shape) > 0, numbers > 0.5)


@given(X=sequences(), order=st.integers(1, 3))
def test_transitions_come_in_the_order_of_the_paper(X, order):
    X = [x for x in X if len(x) > order] or [np.ones((order + 1, 2), dtype=np.int8)]
    inputs, targets, _ = transitions(*check_sequences(X, order=order), order)
    pairs = oracle.transitions(X, order)
    assert inputs.tolist() == [x for x, _ in pairs]
    assert targets.tolist() == [x_next for _, x_next in pairs]


@given(X=sequences())
def test_a_list_of_arrays_equals_one_array_with_lengths(X):
    joined, lengths = check_sequences(X)
    again, same = check_sequences(np.vstack(X), [len(x) for x in X])
    assert np.array_equal(joined, again)
    assert np.array_equal(lengths, same)


def test_stacked_context_is_oldest_first():
    X = np.array([[1, 1], [1, -1], [-1, 1]])
    assert stack_context(X, 2).tolist() == [[1, 1, 1, -1], [1, -1, -1, 1]]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64, object])
def test_any_kind_of_number_will_do(dtype):
    X, _ = check_sequences(np.array([[1, -1], [-1, -1]], dtype=dtype))
    assert X.dtype == np.int8


@given(X=any_sequences())
def test_conflicts_are_all_found_with_the_least_context_that_resolves_them(X):
    found = sa.find_conflicts(X)
    assert {tuple(c.pattern.tolist()) for c in found} == oracle.conflicts(X, 1)
    assert found.context == oracle.least_context(X)
    assert bool(found) == bool(oracle.conflicts(X, 1))
    for c in found:
        (s, t), (r, u) = c.first, c.second
        assert X[s][t].tolist() == X[r][u].tolist() == c.pattern.tolist()
        assert X[s][t + 1].tolist() != X[r][u + 1].tolist()
        assert (s, t) < (r, u)


def test_a_sequence_without_conflicts_needs_a_context_of_one():
    assert sa.find_conflicts(sa.datasets.xor()).context == 1
    assert sa.find_conflicts(sa.datasets.xor()).describe() == "Every pattern has one successor."


def test_two_equal_beginnings_cannot_be_resolved_by_any_context():
    found = sa.find_conflicts([[[1, 1], [1, -1]], [[1, 1], [-1, 1]]])
    assert found.context is None
    assert "no context resolves" in found.describe()


def test_a_context_as_long_as_the_shortest_sequence_is_of_no_use():
    a, b, c, d = [1, 1], [1, -1], [-1, 1], [-1, -1]
    found = sa.find_conflicts(
        [[a, b, c, a, b, d], [d, d, d]]
    )  # the first needs three patterns of context, the second has only three
    assert found.context is None
    assert "fits into the shortest sequence, of 3 patterns" in found.describe()


def test_conflicts_are_described_with_the_names_of_the_sequences():
    maze = sa.datasets.branching(2, 8, 20, shared=3, at=[2, 4], rng=0)
    named = sa.Sequences(maze.patterns, maze.lengths, names=["stored sequence 0", "left arm"])
    found = sa.find_conflicts(named)
    assert found.describe().startswith(
        "pattern 4 of stored sequence 0 occurs again as pattern 6 of left arm with a different"
    )
    for same in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert same.describe() == found.describe()
    nameless = sa.find_conflicts(named.patterns, named.lengths).describe()
    assert "pattern 4 of sequence 0 occurs again as pattern 6 of sequence 1 " in nameless


def test_sequences_that_meet_and_continue_alike_do_not_conflict():
    x = sa.datasets.random_sequences(1, 9, 20, rng=0).patterns
    assert not sa.find_conflicts([x, x[3:6]])
    assert not sa.find_conflicts(sa.datasets.branching(3, 8, 20, shared=3, at=5, rng=0))


@given(frames=arrays(np.uint8, (3, 4, 2)), threshold=st.integers(0, 254))
def test_binarize_and_back_is_a_threshold(frames, threshold):
    X = sa.binarize(frames, threshold=threshold)
    assert X.shape == (3, 8)
    back = sa.unbinarize(X, (4, 2), high=255)
    assert np.array_equal(back, np.where(frames > threshold, 255, 0))
    assert np.array_equal(sa.binarize(back), X) or len(np.unique(back)) == 1


def test_binarize_takes_booleans_and_finds_the_middle_by_itself():
    assert sa.binarize([[True, False]]).tolist() == [[1, -1]]
    assert sa.binarize([[0.1, 0.9, 0.4]]).tolist() == [[-1, 1, -1]]


@pytest.mark.parametrize(
    ("X", "lengths", "error", "message"),
    [
        ([[1, 0], [1, -1]], None, ValueError, r"only 0 and 1, but X\[0, 1\] is 0.*sa\.binarize"),
        ([[0, 1], [2, 1]], None, ValueError, r"X\[0, 0\] is 0.*sa\.binarize"),
        ([[1, 1], [1, 0.5]], None, ValueError, r"X\[1, 1\] is 0\.5"),
        ([[1, np.nan], [1, 1]], None, ValueError, r"X\[0, 1\] is NaN"),
        ([[1, np.inf], [1, 1]], None, ValueError, r"X\[0, 1\] is inf"),
        ([["a", "b"], ["c", "d"]], None, TypeError, "numbers"),
        ([[1, -1], [1]], None, ValueError, "rows of X differ in length"),
        ([[[1, -1], [1]]], None, ValueError, "rows of X.0. differ in length"),
        ([1, -1], None, ValueError, "two dimensions"),
        (
            np.ones((3, 2, 2)),
            [2, 4],
            ValueError,
            r"X is an array of 3 sequences, whose lengths are known: leave lengths out",
        ),
        (np.array([[[1, 1], [2, 1]]]), None, ValueError, r"X\[0, 1, 0\] is 2"),
        (np.ones((3, 1, 2)), None, ValueError, "sequence 0 has 1 pattern"),
        (np.ones((2, 0, 2)), None, ValueError, "X is empty"),
        (np.ones((2, 2, 2, 2)), None, ValueError, r"two dimensions.*X\.reshape\(len\(X\), -1\)"),
        ([], None, ValueError, "X is empty"),
        (None, None, TypeError, "X is missing"),
        (np.ones((0, 3)), None, ValueError, "empty"),
        (np.ones((3, 0)), None, ValueError, "0 feature"),
        (np.ones((1, 3)), None, ValueError, "needs at least 2: a pattern and its successor"),
        (np.ones((4, 2)), [3], ValueError, "lengths sum to 3, but X has 4 rows"),
        (np.ones((4, 2)), [4, 0], ValueError, r"lengths\[1\] is 0"),
        (np.ones((4, 2)), [2.5, 1.5], ValueError, "whole numbers"),
        (np.ones((4, 2)), "22", ValueError, "whole numbers"),
        (np.ones((4, 2)), [3, 1], ValueError, "sequence 1 has 1 pattern "),
        ([np.ones((2, 2)), np.ones((2, 3))], None, ValueError, r"X\[0\] has 2 and X\[1\] has 3"),
        ([np.ones((2, 2)), np.ones((0, 2))], None, ValueError, "sequence 1 .* is empty"),
        ([np.ones((2, 2)), np.ones((2, 2))], [2, 2], ValueError, "leave lengths out"),
        (np.ones((2, 2)) * 1j, None, ValueError, "Complex"),
    ],
)
def test_bad_sequences_get_one_clear_sentence(X, lengths, error, message):
    with pytest.raises(error, match=message) as caught:
        check_sequences(X, lengths)
    assert "\n" not in str(caught.value)


def test_bad_frames_get_one_clear_sentence():
    with pytest.raises(ValueError, match="frame 0, value 1"):
        sa.binarize([[1.0, np.nan]])
    with pytest.raises(ValueError, match="shape"):
        sa.binarize([1, 2, 3])
    with pytest.raises(TypeError, match="numbers"):
        sa.binarize([["a"]])
    with pytest.raises(ValueError, match="frames differ in"):
        sa.binarize([np.ones((2, 2)), np.ones((3, 3))])
    for threshold in ("otsu", np.nan):
        with pytest.raises((TypeError, ValueError), match="threshold must be"):
            sa.binarize([[1, 2]], threshold=threshold)
    with pytest.raises(ValueError, match=r"\(2, 2\) has 4 units, but the patterns have 3"):
        sa.unbinarize([[1, 1, -1]], (2, 2))


def test_the_context_of_a_long_silence_is_found_as_quickly_as_a_short_one():
    X = -np.ones((20_000, 3), dtype=np.int8)
    X[0, 0] = X[-1, 1] = (
        1  # only a context that reaches back to the beginning shows when the silence ends
    )
    found = sa.find_conflicts(X)
    assert (len(found), found.context) == (1, 19_998)
    assert sa.find_conflicts(X[:-1]).context == 1


@given(st.integers(0, 2**32 - 1))
def test_the_least_context_is_the_least_that_leaves_no_conflict(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(2, 14, size=rng.integers(1, 4))
    X = rng.choice(
        np.array([-1, 1], dtype=np.int8), size=(lengths.sum(), rng.integers(1, 3)), p=[0.7, 0.3]
    )
    context = sa.find_conflicts(X, lengths).context
    pieces = np.split(X, np.cumsum(lengths)[:-1])

    def clashes(k):
        after = {}
        for x in pieces:
            for t in range(k - 1, len(x) - 1):
                after.setdefault(x[t - k + 1 : t + 1].tobytes(), set()).add(x[t + 1].tobytes())
        return any(len(successors) > 1 for successors in after.values())

    least = next(k for k in range(1, len(X) + 1) if not clashes(k))
    assert context == (least if least < lengths.min() else None)


def test_patterns_may_stand_in_memory_column_by_column():
    X = sa.datasets.random_periodic(30, 100, rng=0).patterns
    columns = np.asfortranarray(X)  # as a data frame hands them over
    assert len(sa.find_conflicts(columns)) == 0
    assert sa.zoo.PseudoInverseMemory().fit(columns).score(X) == 1
