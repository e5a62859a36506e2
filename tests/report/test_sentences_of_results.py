"""Numbers in sentences are those of the saved results, as in the tables that scripts write from
them.
"""

import json
from pathlib import Path

import pytest

from seqattractor.paper import agreement

ROOT = Path(__file__).parents[2]


def sentences(page):
    """A page in one line."""
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def saved(name):
    return json.loads((ROOT / "benchmarks" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def lengths():
    """The sparse network at each T: N = 100, M = 500, 10 flips."""
    rows = [
        row
        for row in saved("capacity")["rows"]
        if (row["part"], row["network"]) == ("length", "sparse")
    ]
    assert {(row["N"], row["M"], row["flips"], row["trials"]) for row in rows} == {
        (100, 500, 10, 50)
    }
    return {row["T"]: row for row in rows}


def longest(successes, at_least):
    """The longest T up to which so large a part of the trials succeeds."""
    return max(
        T for T in successes if all(rate >= at_least for t, rate in successes.items() if t <= T)
    )


def test_the_limits_of_the_sparse_network_are_those_of_the_capacity_results(lengths):
    counts = {T: row["successes"] for T, row in lengths.items()}
    some = (
        f"{counts[900]} at 900, {counts[1000]} at 1000 = 2M, {counts[1100]} at 1100 and "
        f"{counts[1200]} at 1200"
    )
    assert (
        "50 held-out networks each (:doc:`capacity`): all succeed up to T = "
        f"{longest(counts, 50)}, {some}" in sentences("docs/sparse.rst")
    )
    *most, last = (
        f"{lengths[T]['basin']:.3f} at {T}".lstrip("0")
        for T in (500, 700, 800, 900, 1000, 1100, 1200)
    )
    assert f"with basins of {', '.join(most)} and {last}." in sentences("docs/sparse.rst")


def test_the_article_and_the_changelog_state_how_many_networks_recall(lengths):
    counts = {T: row["successes"] for T, row in lengths.items()}
    assert f"{counts[900]} of 50 networks recall sequences of 900 random patterns" in sentences(
        "paper/paper.md"
    )
    assert f"and {counts[1000]} of 50 those of 1000" in sentences("paper/paper.md")
    assert (
        f"{counts[900]} of 50 recall 900 patterns, and {counts[1000]} of 50 recall 1000 = 2M"
        in sentences("CHANGELOG.md")
    )


def test_how_much_more_the_sparse_network_stores(lengths):
    """Beside the paper's rule, by its own table 1, and one neuron for each pattern."""
    ours = longest({T: row["successes"] / 50 for T, row in lengths.items()}, 0.95)
    theirs = longest(
        {T: count / agreement.TRIALS for T, count in agreement.TABLE_1["UV"].items()}, 0.8
    )
    assert (ours, theirs) == (900, 70)
    assert (round(ours / 500, 2), round(theirs / 500, 2)) == (1.8, 0.14)
    one_hot = [
        row
        for row in saved("capacity")["rows"]
        if row["network"] == "one-hot" and row["part"] in ("length", "one-hot")
    ]
    assert all(row["basin"] == 1 and row["successes"] == row["trials"] == 50 for row in one_hot)
    for page in ("README.md", "docs/index.rst"):
        assert (
            "it stores, one transition at a time, 900 random patterns, 1.8 for each hidden neuron"
            in sentences(page)
        )
        assert (
            "The paper's rule stores about 70, and one neuron for each pattern, with nothing "
            "learned, 500" in sentences(page)
        )
    assert (
        "this rule stores about 1.8 M and the paper's about 0.14 M (N = 100, M = 500, 10 flips"
        in sentences("docs/sparse.rst")
    )
    assert (
        "ours stores 900, about 1.8 M, the paper's 68 (65 to 72; :doc:`sweeps`), about 0.14 M"
        in sentences("docs/capacity.rst")
    )
    assert (
        "the paper's rule stores random sequences of about 70 patterns; this one stores 900"
        in sentences("docs/sparse.rst")
    )


def test_the_papers_rule_is_shown_with_the_tuned_margin_too_and_every_memory_on_digits():
    rows = saved("capacity")["rows"]
    tuned = {row["T"]: row for row in rows if row["network"] == "paper, tuned"}
    assert {row["trials"] for row in tuned.values()} == {50}
    sentence = (
        f"10, {tuned[80]['successes']} of 50 networks retrieve T = 80 and "
        f"{tuned[100]['successes']} retrieve T = 100."
    )
    assert sentence in sentences("docs/capacity.rst")
    digits = {
        name: [row for row in rows if (row["part"], row["network"]) == ("digits", name)]
        for name in ("one-hot", "dense")
    }
    assert all(row["recalled"] == [0] for row in digits["one-hot"])
    assert all(row["recalled"] == [row["stored"]] for row in digits["dense"])
    assert "With pictures one-hot is no baseline" in sentences("docs/capacity.rst")


def test_how_much_faster_the_exact_engine_is():
    """Like for like: if the plain loop stopped where learning ends, too."""
    cases = saved("results")["cases"]
    ratios = [case["ratio"] for case in cases]
    for page in ("README.md", "docs/index.rst"):
        assert (
            "about eighty times for random patterns, about a thousand times or more for pictures"
            in sentences(page)
        )
    assert 20 < min(ratios) < 100
    assert 1000 < max(ratios) < 10_000
    assert "a factor between some tens and some thousands" in sentences("paper/paper.md")
