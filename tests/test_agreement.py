"""Tests of counts against the paper's."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqattractor.paper.agreement import LEVEL, compare, describe, holm, p_value


@given(n=st.integers(1, 100), m=st.integers(1, 100), data=st.data())
def test_the_p_value_is_the_sum_over_all_tables_that_are_no_likelier(n, m, data):
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    weights = {k: comb(n, k) * comb(m, a + b - k) for k in range(max(0, a + b - m), min(n, a + b) + 1)}
    exact = sum(weight for weight in weights.values() if weight <= weights[a]) / comb(n + m, a + b)
    assert p_value(a, n, b, m) == pytest.approx(exact, rel=1e-6, abs=1e-12)


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_its_definition_rejects(p):
    corrected = holm(p)
    rejected = set()
    for rank, k in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        if not p[k] * (len(p) - rank) < LEVEL:
            break
        rejected.add(k)
    assert {k for k, q in enumerate(corrected) if q < LEVEL} == rejected
    assert all(q >= single for q, single in zip(corrected, p, strict=True))


def test_few_trials_are_said_to_show_only_gross_differences():
    verdict = describe(compare([{"T": 70, "successes": 4, "trials": 5, "paper": 88}]), ["T"])
    assert verdict.agrees
    assert "only gross differences" in verdict.sentence
