"""Sentences with numbers say what the kept results say, as the tables do that scripts write from them."""

import json
from pathlib import Path

import pytest

from seqattractor.paper import agreement

ROOT = Path(__file__).parents[1]


def sentences(page):
    """A page in one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def kept(name):
    return json.loads((ROOT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lengths():
    """The sparse network at each T: N = 100, M = 500, 10 flips."""
    rows = [row for row in kept("capacity")["rows"] if (row["part"], row["network"]) == ("length", "sparse")]
    assert {(row["N"], row["M"], row["flips"], row["trials"]) for row in rows} == {(100, 500, 10, 50)}
    return {row["T"]: row for row in rows}


def longest(successes, at_least):
    """The longest T up to which so large a part of the trials succeeds."""
    return max(T for T in successes if all(rate >= at_least for t, rate in successes.items() if t <= T))


def test_the_limits_of_the_sparse_network_are_those_of_the_capacity_results(lengths):
    counts = {T: row["successes"] for T, row in lengths.items()}
    some = f"{counts[900]} at 900, {counts[1000]} at 1000 = 2M, {counts[1100]} at 1100 and {counts[1200]} at 1200"
    assert f"50 held-out networks each (:doc:`capacity`): all succeed up to T = {longest(counts, 50)}, {some}" in sentences(
        "docs/sparse.rst"
    )
    *most, last = (f"{lengths[T]['basin']:.3f} at {T}".lstrip("0") for T in (500, 700, 800, 900, 1000, 1100, 1200))
    assert f"with basins of {', '.join(most)} and {last}." in sentences("docs/sparse.rst")


def test_the_article_and_the_changelog_say_how_many_networks_recall(lengths):
    counts = {T: row["successes"] for T, row in lengths.items()}
    assert f"{counts[900]} of 50 networks recall sequences of 900 random patterns" in sentences("paper/paper.md")
    assert f"and {counts[1000]} of 50 those of 1000" in sentences("paper/paper.md")
    assert f"{counts[900]} of 50 recall 900 patterns, and {counts[1000]} of 50 recall 1000 = 2M" in sentences("CHANGELOG.md")


def test_how_much_more_the_sparse_network_stores(lengths):
    """Up to where four of five trials succeed, and of the paper's rule by its own table 1."""
    ours = longest({T: row["successes"] / 50 for T, row in lengths.items()}, 0.8)
    theirs = longest({T: count / agreement.TRIALS for T, count in agreement.TABLE_1["UV"].items()}, 0.8)
    assert ours / 500 == pytest.approx(2, abs=0.2)
    assert 10 <= ours / theirs < 20
    for page in ("README.md", "docs/index.rst"):
        assert "stores about two patterns for each hidden neuron*" in sentences(page)
        assert "ten times what the paper's rule does" in sentences(page)
    assert theirs == 70
    assert "the paper's rule stores random sequences of about 70 patterns; this one stores 900" in sentences("docs/sparse.rst")
    assert longest({T: row["successes"] / 50 for T, row in lengths.items()}, 0.95) == 900
    assert "with these numbers of neurons, to about T = 900" in sentences("README.md")


def test_how_much_faster_the_exact_engine_is():
    """Hundreds of times and more wherever learning ends; where it never does, some tens of times."""
    cases = kept("results")["cases"]
    assert min(case["ratio_500_epochs"] for case in cases if case["converged"]) > 200
    for page in ("README.md", "docs/index.rst"):
        assert "hundreds of times faster*" in sentences(page)
    ratios = [case["ratio"] for case in cases]
    assert 20 < min(ratios) < 100
    assert 1000 < max(ratios) < 10_000
    assert "a factor between some tens and some thousands" in sentences("paper/paper.md")
