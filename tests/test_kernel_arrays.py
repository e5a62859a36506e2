"""Arrays that kernels work in are those that numpy would make."""

import numpy as np
import pytest
from numba import njit

from seqattractor.learning.exact.arrays import LINE, copy, line, slots

KINDS = [np.bool_, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.float64]


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_zeros_of_their_shape_and_type_that_begin_with_a_cache_line(kind):
    like = np.ones(1, dtype=kind)

    @njit
    def made(length, width):
        return line(length, like), slots(length, width, kind)

    @njit
    def spoiled(number):  # the allocator is likely to give this memory again
        for _ in range(number):
            slots(40, 40, np.int64)[:] = -1

    for length, width in [(1, 1), (7, 3), (64, 160), (0, 5)]:
        spoiled(3)
        for array, shape in zip(made(length, width), [(length,), (length, width)], strict=True):
            expected = np.zeros(shape, dtype=kind)
            assert array.dtype == expected.dtype
            assert array.flags.c_contiguous
            np.testing.assert_array_equal(array, expected)
            assert array.ctypes.data % LINE == 0
            assert array.flags.writeable


def test_numbers_are_copied_between_arrays_and_within_one():
    @njit
    def copied(target, at, source, start, count):
        copy(target, at, source, start, count)

    rng = np.random.default_rng(0)
    for kind in (np.int16, np.float64):
        for _ in range(50):
            source, target = rng.integers(-99, 99, (4, 6)).astype(kind), np.zeros((2, 5, 3), dtype=kind)
            count = int(rng.integers(0, 15))
            at, start = int(rng.integers(0, 30 - count)), int(rng.integers(0, 24 - count))
            for into in (target, source):
                at = min(at, into.size - count)
                expected = into.copy()
                expected.flat[at : at + count] = source.copy().flat[start : start + count]
                copied(into, at, source, start, count)
                np.testing.assert_array_equal(into, expected)
