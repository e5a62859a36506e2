"""Tests of counts against the paper's."""

from math import comb, inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqattractor.paper.agreement import LEVEL, TABLE_1, compare, describe, holm, p_value, pool


@given(n=st.integers(1, 100), m=st.integers(1, 100), data=st.data())
def test_the_p_value_is_the_sum_over_all_tables_that_are_no_likelier(n, m, data):
    a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    weights = {
        k: comb(n, k) * comb(m, a + b - k) for k in range(max(0, a + b - m), min(n, a + b) + 1)
    }
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


def test_few_trials_come_with_a_caution():
    verdict = describe(compare([{"T": 70, "successes": 4, "trials": 5, "paper": 88}]), ["T"])
    assert verdict.agrees
    assert "only gross differences" in verdict.sentence


# -- pooled over cells
# --------------------------------------------------------------------------------------------------

# Admissions at Berkeley, 1973 (Bickel, Hammel and O'Connell, Science 187, 1975): six departments,
# as (admitted men, men, admitted women, women). mantelhaen.test(UCBAdmissions, correct=FALSE) of R
# gives these numbers.
BERKELEY = [
    (512, 825, 89, 108),
    (353, 560, 17, 25),
    (120, 325, 202, 593),
    (138, 417, 131, 375),
    (53, 191, 94, 393),
    (22, 373, 24, 341),
]


def test_the_pooled_odds_ratio_and_its_interval_are_those_of_a_textbook():
    pooled = pool(BERKELEY)
    assert pooled.odds_ratio == pytest.approx(0.9046968, abs=1e-7)
    assert pooled.interval == pytest.approx((0.7719074, 1.0603298), abs=1e-7)
    assert pooled.p == pytest.approx(0.2169, abs=5e-5)
    assert pooled.strata == 6


counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
strata_strategy = st.lists(
    st.builds(lambda one, other: (*one, *other), counts, counts), min_size=1, max_size=8
)


@given(n=st.integers(2, 200), m=st.integers(2, 200), data=st.data())
def test_a_single_stratum_has_the_plain_odds_ratio_with_woolfs_interval(n, m, data):
    a, b = data.draw(st.integers(1, n - 1)), data.draw(st.integers(1, m - 1))
    pooled = pool([(a, n, b, m)])
    ratio = a * (m - b) / (b * (n - a))
    spread = 1.959964 * sqrt(1 / a + 1 / (n - a) + 1 / b + 1 / (m - b))
    assert pooled.odds_ratio == pytest.approx(ratio)
    assert [log(end) for end in pooled.interval] == pytest.approx(
        [log(ratio) - spread, log(ratio) + spread], abs=1e-5
    )


@given(strata=strata_strategy)
def test_to_exchange_the_sides_inverts_the_ratio_and_empty_strata_change_nothing(strata):
    pooled, exchanged = pool(strata), pool([(b, m, a, n) for a, n, b, m in strata])
    assert exchanged.p == pytest.approx(pooled.p)
    if pooled.interval is not None:
        assert exchanged.odds_ratio == pytest.approx(1 / pooled.odds_ratio)
        assert exchanged.interval == pytest.approx([1 / end for end in reversed(pooled.interval)])
    assert pool([*strata, (0, 50, 0, 100), (7, 7, 9, 9)]) == pooled  # all fail, all succeed


def test_sides_without_a_success_or_a_failure_have_no_interval():
    assert pool([(5, 5, 2, 4)]).odds_ratio == inf
    assert pool([(0, 5, 2, 4)]).odds_ratio == 0
    assert pool([(0, 5, 2, 4)]).interval is None
    assert pool([(0, 5, 0, 4), (5, 5, 4, 4)]).odds_ratio is None
    assert pool([(0, 5, 0, 4)]).p == 1


@pytest.mark.slow
def test_the_interval_holds_a_known_ratio_in_95_of_100_cases_and_the_test_errs_in_5():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.02, 0.98, 20)
    for ratio in (1.0, 1.4):
        other = ratio * base / (1 - base + ratio * base)
        inside = wrong = 0
        for _ in range(2000):
            found = pool(
                [
                    (int(rng.binomial(100, q)), 100, int(rng.binomial(100, p)), 100)
                    for p, q in zip(base, other, strict=True)
                ]
            )
            inside += found.interval[0] <= ratio <= found.interval[1]
            wrong += found.p < 0.05
        assert 0.935 < inside / 2000 < 0.965  # three standard errors
        assert wrong / 2000 == pytest.approx(0.05, abs=0.015) if ratio == 1 else wrong > 1000


def rows_with(shift):
    """The paper's counts with some successes more or fewer in every cell that has both successes
    and failures.
    """
    return [
        {
            "T": T,
            "learn": learn,
            "trials": 100,
            "paper": count,
            "successes": min(max(count + shift, 0), 100) if 5 < count < 95 else count,
        }
        for learn, row in TABLE_1.items()
        for T, count in row.items()
    ]


def test_a_small_difference_in_many_cells_is_found_though_no_cell_shows_it():
    same, more, fewer = (
        describe(compare(rows_with(shift)), ["T", "learn"]) for shift in (0, 8, -8)
    )
    assert same.agrees
    assert "no common difference shows" in same.sentence
    assert not more.agrees
    assert "All 30 cells agree" in more.sentence
    assert "more successes here than in the paper" in more.sentence
    assert "fewer successes here" in fewer.sentence


def test_p_value_and_pooled_ratio_of_known_tables():
    assert p_value(8, 10, 1, 6) == pytest.approx(0.034965, abs=1e-6)
    words = pool([(20, 100, 10, 100), (80, 100, 70, 100)]).words()
    assert words == "odds ratio 1.91, 95 % interval 1.15 to 3.17, p = 0.012"
