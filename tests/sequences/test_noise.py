"""Noise: exactly as much as asked for, from the generator that was given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import seqattractor as sa


@given(N=st.integers(1, 40), B=st.integers(1, 5), data=st.data())
def test_exactly_k_units_flip_in_every_pattern(N, B, data):
    k = data.draw(st.integers(0, N))
    seed = data.draw(st.integers(0, 999))
    x = np.random.default_rng(seed).choice([-1, 1], (B, N))
    noisy = sa.noise.flip(x, k, rng=seed)
    assert np.sum(noisy != x, axis=1).tolist() == [k] * B


def test_every_unit_is_flipped_equally_often():
    x = np.ones((6000, 10), dtype=np.int8)
    counts = np.sum(sa.noise.flip(x, 3, rng=0) == -1, axis=0)
    # Binomial with 6000 trials of 0.3: standard deviation 35; five of them.
    assert np.all(np.abs(counts - 1800) < 178)


def test_the_same_seed_gives_the_same_flips_and_a_generator_moves_on():
    x = np.ones(50, dtype=int)
    assert np.array_equal(sa.noise.flip(x, 5, rng=1), sa.noise.flip(x, 5, rng=1))
    rng = np.random.default_rng(1)
    assert not np.array_equal(sa.noise.flip(x, 5, rng), sa.noise.flip(x, 5, rng))
    assert sa.noise.flip(x, 5, np.random.RandomState(0)).sum() == 40


def test_the_pattern_itself_is_left_alone():
    x = np.ones(5, dtype=np.int8)
    sa.noise.flip(x, 5, rng=0)
    sa.noise.occlude(x, (5,), rng=0)
    assert (x == 1).all()


@given(
    h=st.integers(1, 12), w=st.integers(1, 12), fraction=st.floats(0.01, 1), seed=st.integers(0, 99)
)
def test_an_occluded_block_is_one_rectangle_inside_the_frame(h, w, fraction, seed):
    frame = sa.noise.occlude(
        np.ones(h * w, dtype=int), (h, w), fraction=fraction, rng=seed
    ).reshape(h, w)
    rows, columns = (
        np.flatnonzero((frame == -1).any(axis=1)),
        np.flatnonzero((frame == -1).any(axis=0)),
    )
    assert rows.size
    assert (frame[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] == -1).all()


def test_the_shape_of_a_pattern_that_is_no_picture_may_be_a_number():
    assert sa.noise.occlude([1, 1, 1], 3, ((0, 2),)).tolist() == [-1, -1, 1]


def test_a_given_block_is_covered_with_a_given_value():
    frame = sa.noise.occlude(-np.ones((2, 6), dtype=int), (2, 3), ((0, 1), (1, 3)), value=1)
    assert frame.tolist() == [[-1, 1, 1, -1, -1, -1]] * 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sa.noise.flip([1, 1], 3), "0 to 2"),
        (lambda: sa.noise.flip([1, 1], -1), "0 to 2"),
        (lambda: sa.noise.flip([1, 1], 0.5), "whole number"),
        (lambda: sa.noise.flip([1, 2], 1), r"x\[1\] is 2"),
        (lambda: sa.noise.flip([[1, 1], [3, 1]], 1), r"x\[1, 0\] is 3"),
        (lambda: sa.noise.flip([1, 1], 1, rng=-1), "a seed must be 0 or more, but it is -1"),
        (lambda: sa.noise.occlude([1, 1], (3,)), "3 units, but the patterns have 2"),
        (lambda: sa.noise.occlude([1, 1], (2,), ((1, 4),)), "does not lie inside"),
        (lambda: sa.noise.occlude([1, 1], (-1, -2)), "sides of a frame must be 1 or more"),
        (lambda: sa.noise.occlude([1, 1], (2,), value=0), "-1 or"),
        (lambda: sa.noise.occlude([1, 1], 2, fraction="a"), "above 0"),
        (lambda: sa.noise.occlude([1, 1], (2,), fraction=0), "above 0"),
    ],
)
def test_impossible_noise_is_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


MATRIX = np.ones((1, 2), dtype=int).view(
    np.matrix
)  # of which numpy makes no seed: it overflows the stack


@pytest.mark.parametrize(
    "seed", [0.5, "a", True, [True], [[1, 2], [3]], memoryview(b"a"), MATRIX, [MATRIX]]
)
def test_a_seed_that_is_none_is_rejected(seed):
    with pytest.raises(TypeError, match="a seed is a whole number"):
        sa.noise.as_generator(seed)
