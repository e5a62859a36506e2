"""Tests of counts against the paper's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from seqattractor.paper.agreement import LEVEL, compare, describe, fisher_exact, holm


@given(n=st.integers(1, 100), m=st.integers(1, 100), data=st.data())
def test_fishers_test_is_that_of_scipy(n, m, data):
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    assert fisher_exact(a, n, b, m) == pytest.approx(stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue, rel=1e-6, abs=1e-12)


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
