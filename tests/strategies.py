"""Hypothesis strategies shared by the tests."""

import numpy as np
from hypothesis import strategies as st

import oracle


@st.composite
def sequences(draw, max_n=6, max_t=7, max_sequences=3, min_n=1):
    """One to three short sequences of +-1 patterns without conflicts, as a list of int8 arrays
    (T_s, N).
    """
    N = draw(st.integers(min_n, max_n))
    n_sequences = draw(st.integers(1, max_sequences))
    found, successor = [], {}
    for _ in range(n_sequences):
        T = draw(st.integers(2, max_t))
        rows = [draw(st.tuples(*[st.sampled_from((-1, 1))] * N))]
        while len(rows) < T:
            wanted = draw(st.tuples(*[st.sampled_from((-1, 1))] * N))
            # A pattern that occurred before is followed by what followed it then: no conflict can
            # arise.
            rows.append(successor.setdefault(rows[-1], wanted))
        found.append(np.array(rows, dtype=np.int8))
    assert not oracle.conflicts(found, 1)
    return found


@st.composite
def any_sequences(draw, max_n=3, max_t=9, max_sequences=3):
    """Short sequences that may well conflict."""
    N = draw(st.integers(1, max_n))
    lengths = draw(st.lists(st.integers(2, max_t), min_size=1, max_size=max_sequences))
    row = st.lists(st.sampled_from((-1, 1)), min_size=N, max_size=N)
    return [np.array(draw(st.lists(row, min_size=T, max_size=T)), dtype=np.int8) for T in lengths]
