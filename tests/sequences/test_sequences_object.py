"""Sequences: one object that can be used wherever its array of patterns can, with its metadata."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.io._attached import attach, attached
from seqattractor.sequences import check_sequences
from strategies import any_sequences

LOOP = sa.datasets.random_periodic(8, 30, rng=0)
TWO = sa.datasets.random_sequences(2, 6, 30, rng=1)


@st.composite
def objects(draw):
    """Sequences of one to three sequences."""
    parts = draw(any_sequences())
    return sa.Sequences(np.concatenate(parts), [len(x) for x in parts])


FUNCTIONS = (
    np.asarray,
    np.mean,
    np.sum,
    np.sign,
    np.negative,
    np.abs,
    np.transpose,
    np.unique,
    np.ravel,
    np.cumsum,
    np.isnan,
    lambda X: np.concatenate([X, X]),
    lambda X: np.stack([X, X], axis=1),
    lambda X: np.repeat(X, 2, axis=1),
    lambda X: np.where(X > 0, 1, 0),
    lambda X: np.packbits(X > 0, axis=1),
    lambda X: np.add.reduce(X, axis=0),
    lambda X: np.multiply.outer(X[0], X),
    lambda X: np.asarray(X, dtype=np.float64),
    lambda X: np.array(X, dtype=np.float32, copy=True),
    lambda X: X + 1,
    lambda X: 2 - X,
    lambda X: X * X,
    lambda X: X @ X.T,
    lambda X: np.ones((1, len(X))) @ X,
    lambda X: X / 2,
    lambda X: -X,
    lambda X: X[0] == X,
    lambda X: X[0] != X,
    lambda X: X > 0,
    lambda X: [1] * X.shape[1] == X,
    lambda X: X.astype(float),
    lambda X: X.reshape(-1),
    lambda X: X.mean(axis=0),
    lambda X: X.sum(axis=1),
    lambda X: (X.min(), X.max(), X.any(), X.all()),
    lambda X: X.T,
    lambda X: X.copy(),
    lambda X: X.tolist(),
    lambda X: X.tobytes(),
    lambda X: (X.shape, X.ndim, X.size, X.dtype, len(X)),
    lambda X: list(X),
    lambda X: (1 in X, 3 in X),
)


@given(objects())
def test_it_does_what_its_array_does(X):
    for function in FUNCTIONS:
        here, there = function(X), function(X.patterns)
        assert type(here) is type(there)
        np.testing.assert_equal(here, there)
        assert getattr(here, "dtype", None) == getattr(there, "dtype", None)


@given(objects(), st.data())
def test_it_is_indexed_as_its_array_is(X, data):
    rows = st.integers(-len(X), len(X) - 1)
    key = data.draw(
        st.one_of(
            rows,
            st.slices(len(X)),
            st.lists(rows, min_size=1),
            st.tuples(rows, st.integers(0, X.shape[1] - 1)),
            st.just(X[:, 0] > 0),
            st.just(...),
        )
    )
    assert np.array_equal(X[key], X.patterns[key])


@given(objects())
def test_its_parts_are_the_sequences(X):
    assert np.array_equal(np.concatenate(X.split()), X)
    assert [len(x) for x in X.split()] == X.lengths.tolist()
    assert X.frames.shape == (len(X), *X.frame_shape)
    assert X.loops == tuple(np.array_equal(x[0], x[-1]) for x in X.split())


@given(objects())
def test_checked_sequences_keep_their_lengths_alone_and_in_lists(X):
    patterns, lengths = check_sequences(X)
    assert patterns is X.patterns
    assert np.array_equal(lengths, X.lengths)
    _, twice = check_sequences([X, X])
    assert twice.tolist() == [*X.lengths, *X.lengths]
    if len(X) > 1:
        assert check_sequences(X, [len(X)])[1].tolist() == [len(X)]


@pytest.mark.parametrize(
    "twin",
    [copy.copy, copy.deepcopy, replace, lambda X: pickle.loads(pickle.dumps(X))],
    ids=["copy", "deep", "replace", "pickle"],
)
def test_a_copy_is_the_same(twin):
    tune = sa.datasets.tune()
    again = twin(tune)
    assert (again == tune).all()
    for name in ("frame_shape", "names", "units", "rate", "step", "kind", "closed", "options"):
        assert getattr(again, name) == getattr(tune, name)


def test_it_cannot_be_changed_and_its_copy_can():
    X = sa.Sequences(np.array(LOOP))
    with pytest.raises(TypeError, match="cannot be changed"):
        X *= -1
    with pytest.raises(ValueError, match="read-only"):
        X[0][0] = 1
    with pytest.raises(TypeError):
        X[0] = 1
    with pytest.raises(AttributeError):
        X.rate = 3
    free = np.array(X)
    free[0] = 1
    given = np.ones((2, 3), dtype=np.int8)
    sa.Sequences(given)
    given[0, 0] = -1  # the array that it was made from stays the user's


def test_an_array_of_three_dimensions_is_sequences_of_equal_length():
    array = sa.datasets.random_sequences(3, 5, 4, rng=0).patterns.reshape(3, -1, 4).copy()
    X = sa.Sequences(array, names=["a", "b", "c"])
    assert np.array_equal(X.split(), array)
    assert array.flags.writeable
    with pytest.raises(
        ValueError,
        match="patterns is an array of 3 sequences, whose lengths are known: leave lengths out",
    ):
        sa.Sequences(array, lengths=[5, 10])


def test_an_unknown_attribute_is_named():
    with pytest.raises(AttributeError, match="Sequences have no attribute 'no_such_thing'"):
        LOOP.no_such_thing  # noqa: B018


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"patterns": [[1, 2]]},
            r"patterns must hold only -1 and \+1, or only 0 and 1, but patterns\[0, 1\] is 2",
        ),
        ({"lengths": [3]}, "lengths sum to 3"),
        (
            {"frame_shape": (3, 1)},
            r"a frame of shape \(3, 1\) has 3 units, but the patterns have 2",
        ),
        ({"names": ["a", "b"]}, "there are 2 names for 1 sequences"),
        ({"units": ["a"]}, "there are 1 names for 2 columns"),
        ({"rate": 0}, "rate must be above 0"),
        ({"step": -1}, "step must be above 0"),
        ({"closed": 1}, "sequence 0 does not end with its first pattern"),
        ({"closed": 2}, "does not end with its first 2 patterns"),
        ({"closed": -1}, "closed must be at least 0"),
    ],
)
def test_fields_that_do_not_fit_are_rejected_with_a_sentence(fields, words):
    with pytest.raises(ValueError, match=words):
        sa.Sequences(**{"patterns": [[1, 1], [1, -1]], **fields})


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (LOOP, "Sequences: 1 loop of 8 patterns, 30 units"),
        (TWO, "Sequences: 2 sequences of 6 patterns, 30 units"),
        (
            sa.Sequences([[1], [1], [-1]], [1, 2]),
            "Sequences: 2 sequences of 1 to 2 patterns, 1 unit",
        ),
        (sa.datasets.walker(), "Sequences: 1 loop of 104 patterns, 88 x 128 pixels"),
        (sa.datasets.tune(), "Sequences: 1 loop of 33 patterns, 30 units, 4 frames per second"),
        (sa.datasets.place_cells(10), "Sequences: 1 loop of 11 patterns, 16 x 16 units"),
    ],
)
def test_its_repr_describes_it_in_one_line(X, words):
    assert repr(X) == words
    assert X.describe().startswith(words.removeprefix("Sequences: "))


def test_a_notebook_shows_a_row_per_sequence_and_no_markup_of_names():
    page = sa.Sequences([[1], [-1]], names=["<b>"])._repr_html_()
    assert "<table>" in page
    assert "&lt;b&gt;" in page
    assert "<b>" not in page.replace("<b>Sequences</b>", "")


def test_every_dataset_gives_sequences_that_know_their_shape():
    made = (
        sa.datasets.walker(),
        sa.datasets.moving_digits(2, 3),
        sa.datasets.random_periodic(4, 10, rng=0),
        sa.datasets.random_sequences(2, 4, 10, rng=0),
        sa.datasets.xor(),
        sa.datasets.toy(2),
        sa.datasets.tune(),
        sa.datasets.place_cells(),
    )
    for X in made:
        assert isinstance(X, sa.Sequences)
        assert X.patterns.dtype == np.int8
        assert np.prod(X.frame_shape) == X.shape[1]
        assert (X.closed == 1) == all(X.loops)


def test_networks_and_analysis_take_it_and_use_its_lengths():
    as_list = [np.array(x) for x in TWO.split()]
    net = fit_quietly(sa.SequenceAttractor(80, random_state=0), TWO)
    same = fit_quietly(sa.SequenceAttractor(80, random_state=0), as_list)
    assert np.array_equal(net.U_, same.U_)
    assert net.score(TWO) == net.score(as_list) == 1
    assert np.array_equal(sa.certify(net, TWO).radius, sa.certify(net, as_list).radius)
    assert sa.basin_fraction(net, TWO, flips=2, rng=0) == sa.basin_fraction(
        net, as_list, flips=2, rng=0
    )
    assert sa.find_conflicts(TWO).context == 1
    assert bool(sa.separable(TWO)) == bool(sa.separable(as_list))
    loop = fit_quietly(sa.SequenceAttractor(80, random_state=0), LOOP)
    assert sa.retrieved(loop.recall(sa.noise.flip(LOOP[0], 2, rng=0), steps=30), LOOP)
    assert np.array_equal(loop.step(LOOP)[:-1], LOOP[1:])


def test_a_grid_search_takes_it():
    from sklearn.model_selection import GridSearchCV, KFold

    X = sa.datasets.random_periodic(9, 20, rng=0)
    search = GridSearchCV(sa.zoo.LookupMemory(), {"order": [1, 2]}, cv=KFold(2)).fit(X)
    assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_closed_loops_go_round_with_any_context(order):
    X = sa.close_loops(sa.datasets.place_cells(12, "eight"), order=order)
    assert X.closed == order
    assert X.frame_shape == (16, 16)
    assert np.array_equal(X[12:], X[:order])
    assert np.array_equal(sa.close_loops(X, order=1), sa.datasets.place_cells(12, "eight"))


def test_only_loops_are_closed():
    X = sa.close_loops([np.array(LOOP), np.array(TWO.split()[0])], order=3)
    assert X.lengths.tolist() == [8 + 2, 6]
    assert X.closed == 0
    assert np.array_equal(X[8:10], LOOP[1:3])


@pytest.mark.parametrize("patterns", [True, False])
def test_a_model_keeps_its_sequences(tmp_path, patterns):
    tune = sa.datasets.tune()
    net = sa.OneHotNetwork().fit(tune)
    attach(net, tune, patterns=patterns)
    net.save(tmp_path / "net.npz")
    known = attached(sa.load(tmp_path / "net.npz"))
    for name in ("frame_shape", "units", "rate", "step", "kind", "options"):
        assert getattr(known, name) == getattr(tune, name)
    assert (known.sequences is None) != patterns
    if patterns:
        assert np.array_equal(known.sequences, tune)
        assert (known.sequences.names, known.sequences.closed) == (["tune"], 1)


@pytest.mark.parametrize(
    "X", [sa.datasets.moving_digits(3, 4), TWO, sa.datasets.xor()], ids=["pictures", "two", "one"]
)
def test_it_can_be_looked_at(X):
    import matplotlib.pyplot as plt

    ax = X.plot()
    ax.figure.canvas.draw()
    shown = [label.get_text() for label in (*ax.get_xticklabels(), *ax.get_yticklabels())]
    assert set(X.names) <= set(shown)
    other = plt.figure().add_subplot()
    assert X.plot(ax=other) is other
    plt.close("all")
