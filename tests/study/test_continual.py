"""Sequences one after another: what a comparison counts is what `add` and `score` give by hand."""

import csv
import io
import json
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

import seqattractor as sa
from seqattractor.cli.compare import command
from seqattractor.paper.continual import TARGET, learn_and_test, reach
from seqattractor.paper.target import Request, Result
from seqattractor.report.figures import comparison_figure, paper_figure
from seqattractor.study.compare import compare
from seqattractor.study.comparison_trial import run_comparison_trial
from seqattractor.study.protocol import seed_of

SMALL = {"n": 50, "t": 6, "flips": 0}
HOW = {"none": None, "self": "self", "cues": "cues", "patterns": "patterns"}


def by_hand(net, loops, rehearse):
    """How many loops are exactly stored, what is left of the first and the bits saved, after each
    loop.
    """
    found = []
    for k, loop in enumerate(loops, start=1):
        bits = net.add(loop, rehearse=rehearse).n_bits_saved
        right = [
            np.mean([np.array_equal(net.step(a), b) for a, b in pairwise(x)]) for x in loops[:k]
        ]
        found.append((sum(share == 1 for share in right), right[0], bits))
    return found


@pytest.mark.parametrize("rehearse", HOW.values())
def test_curves_are_those_of_adding_and_scoring_by_hand(rehearse):
    loops = []

    class Witness(sa.SparseSequenceAttractor):
        """Writes down what it is given."""

        def add(self, X, **how):
            loops.append(X.copy())
            return super().add(X, **how)

    values = [1, 2, 4, 5]
    settings = {"test": "continual", "sizes": SMALL, "values": values, "rehearse": rehearse}
    witness = Witness(n_hidden=40, random_state=1)
    found = run_comparison_trial(settings | {"network": witness}, seed_of(0, "any", 0))
    assert len(loops) == 5
    again = sa.SparseSequenceAttractor(n_hidden=40, random_state=1)
    expected = by_hand(again, loops, rehearse)
    curves = [(each["stored"], each["first"], each["bits_saved"]) for each in found["outcomes"]]
    assert curves == [expected[value - 1] for value in values]
    # Without flips a loop is recalled if it is exactly stored, and these are loops of 5 patterns.
    assert [each["recalled"] for each in found["outcomes"]] == [stored for stored, *_ in curves]
    assert [each["sequences"] for each in found["outcomes"]] == values


def test_each_network_takes_part_once_for_each_rehearsal_that_it_can_do():
    ways = ["none", "self", "cues", "patterns"]
    names = ["perceptron", "lookup", "pseudo-inverse"]
    found = compare("continual", names, values=[1, 3], trials=2, rehearse=ways, **SMALL)
    expected = [*(f"perceptron ({way})" for way in ways), "lookup", "pseudo-inverse"]
    assert [network["network"] for network in found.networks] == expected
    assert [found.row(name, 3)["stored"] for name in expected] == [1, 3, 3, 3, 3, None]
    assert found.row("perceptron (none)", 3)["first"] < 1
    bits = {way: found.row(f"perceptron ({way})", 3)["bits_saved"] for way in ways}
    assert bits["none"] == bits["self"] == 0
    assert bits["cues"] == 3 * (50 + 2 * 64)  # a pattern, its length and its digest
    assert bits["patterns"] == 3 * (6 * 50 + 64)
    assert "has no partial_fit" in found.row("pseudo-inverse", 3)["error"]
    assert "perceptron (self) 3, 100%, 0; perceptron (cues) 3, 100%, 534" in found.describe()
    [heading, *lines] = csv.reader(io.StringIO(found.to_csv()))
    assert {len(line) for line in lines} == {len(heading)}


def test_sizes_and_hidden_neurons_are_the_users():
    found = compare(
        "continual", ["sparse"], n=40, m=[20, 60], t=5, values=[2], trials=1, rehearse="self"
    )
    assert [row["value"] for row in found.rows()] == [60, 20]
    assert [(row["N"], row["T"]) for row in found.rows()] == [(40, 5)] * 2
    assert "2 random loops of T = 5 patterns of N = 40 units" in found.settings["setting"]


def test_those_that_learn_all_at_once_do_not_take_part_unless_they_are_named():
    found = compare("continual", n=30, t=4, values=[1], m=20, trials=1, rehearse="none")
    names = {network["network"] for network in found.networks}
    assert {"sparse (none)", "scaffold", "one-hot"} <= names
    assert not {"pseudo-inverse", "clone-hmm"} & names
    assert not any(row["error"] for row in found.rows())


def test_a_memory_that_is_full_has_still_what_it_stored():
    pool = sa.OneHotNetwork(n_hidden=12)  # for two loops of 5 patterns
    found = compare("continual", {"pool": pool}, values=[1, 2, 3, 4], trials=1, **SMALL)
    assert [row["stored"] for row in found.rows()] == [1, 2, 2, 2]
    assert [row["first"] for row in found.rows()] == [1, 1, 1, 1]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"protocol": "random", "rehearse": "self"}, "rehearse is for the protocol 'continual'"),
    ({"protocol": "continual", "rehearse": "dreams"}, "rehearse"),
])  # fmt: skip
def test_rehearsals_that_make_no_sense_are_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(networks=["lookup"], trials=1, **arguments)


def test_the_figures_show_what_is_stored_what_is_left_and_what_is_saved():
    found = compare(
        "continual", ["perceptron"], values=[1, 2], trials=1, rehearse=["self", "cues"], **SMALL
    )
    for figure in (comparison_figure(found), paper_figure(found)):
        stored, first, saved = figure.axes
        assert [line.get_ydata().tolist() for line in stored.lines[:2]] == [[1, 2], [1, 2]]
        assert [line.get_ydata().tolist() for line in first.lines] == [[100, 100]] * 2
        assert [line.get_ydata().tolist() for line in saved.lines] == [[0, 0], [0.178, 0.356]]
        [words] = figure.legends
        assert [text.get_text() for text in words.get_texts()] == [
            "perceptron (self)",
            "perceptron (cues)",
        ]


def test_the_command_compares_sequences_one_after_another(tmp_path):
    out = tmp_path / "forgetting.csv"
    sizes = ("--n", "50", "--t", "6", "--values", "1,3", "--trials", "1", "--jobs", "1")
    arguments = ("--protocol", "continual", "--networks", "perceptron,lookup", *sizes)
    result = CliRunner().invoke(command, [*arguments, "--rehearse", "none, cues", "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "left of the first" in result.output
    rows = {
        (row["network"], row["value"]): row for row in csv.DictReader(io.StringIO(out.read_text()))
    }
    assert {network for network, _ in rows} == {"perceptron (none)", "perceptron (cues)", "lookup"}
    assert float(rows["perceptron (none)", "3"]["stored"]) == 1
    assert int(rows["perceptron (cues)", "3"]["bits_saved"]) == 534
    result = CliRunner().invoke(command, [*arguments, "--rehearse", "self", "--json"])
    assert json.loads(result.stdout)["settings"]["protocol"] == "continual"


# -- `reproduce continual`
# -----------------------------------------------------------------------------------------

CELL = {"network": "sparse", "sequences": 4, "T": 6, "M": 40, "N": 50, "flips": 0}


@pytest.mark.parametrize("rehearse", [None, "self", "cues"])
def test_a_trial_counts_what_adding_and_scoring_by_hand_give(rehearse):
    found = learn_and_test(CELL | {"rehearse": rehearse}, seed_of(7, "any", 3))
    of_loops, of_network, _ = map(np.random.default_rng, seed_of(7, "continual", 3).spawn(3))
    loops = [sa.datasets.random_periodic(6, 50, rng=of_loops) for _ in range(4)]
    seed = int(of_network.integers(2**32))
    expected = by_hand(sa.SparseSequenceAttractor(n_hidden=40, random_state=seed), loops, rehearse)
    assert list(zip(found["exact"], found["first"], found["bits_saved"], strict=True)) == expected
    assert found["stored"] == found["exact"]  # no unit of the cues is flipped
    shares = [stored / k for k, (stored, *_) in enumerate(expected, start=1)]
    assert all(basin >= share for basin, share in zip(found["basin"], shares, strict=True))


def test_rehearsals_are_compared_on_the_same_loops():
    first = [
        learn_and_test(CELL | {"rehearse": each, "sequences": 1, "flips": 10}, seed_of(0, each, 1))
        for each in (None, "self")
    ]
    assert first[0] == first[1]


def test_the_paragraph_is_made_from_the_numbers():
    def outcome(stored):
        return {
            "exact": [1, 2, 3],
            "stored": stored,
            "basin": [1.0, 0.95, 0.8],
            "first": [1.0, 1.0, 0.5],
            "bits_saved": [228, 456, 684],
            "parameters": [10, 10, 10],
        }

    rows = TARGET.rows(
        {"network": "sparse", "rehearse": "cues", "sequences": 3},
        [outcome([1, 2, 2]), outcome([1, 1, 3])],
    )
    assert [row["all_stored"] for row in rows] == [2, 1, 1]
    assert [row["all_exact"] for row in rows] == [2, 2, 0]
    assert [reach(rows, "all_stored", share) for share in (1.0, 0.5)] == [1, 3]
    assert [reach(rows, "all_exact", share) for share in (1.0, 0.5)] == [2, 2]
    keys = ("network", "rehearse", "kind")
    every = [
        row | {"kind": ""} | {key: cell[key] for key in keys if key in cell}
        for cell in TARGET.cells(Request())
        for row in rows
    ]
    result = Result({"settings": TARGET.settings(Request()), "rows": every})
    assert (
        "Sparse network, cues: all stored up to 1 in every run and up to 3 in half of them; of 3, "
        "2.5 are (2 to 3), and 50% of the first one's transitions are right, with 684 bits saved "
        "beside the weights."
    ) in TARGET.verdict(result).sentence
    memories, limits, long = TARGET.tables(result)
    assert memories.rows[1] == [
        "sparse network, cues", "1", "3", "2", "2", "2.5 of 3", "50 %", "684", "10"
    ]  # fmt: skip
    assert limits.rows[2] == ["open sequences", "self-replay", "2", "3.0", "3.0 of 3", "3"]
    assert [row[1] for row in long.rows] == ["self-replay", "cues"] * 2


def test_films_are_tested_without_noise():
    films = {"kind": "films", "pictures": 30, "N": 900, "exact_only": True, "sequences": 2}
    found = learn_and_test(CELL | films | {"rehearse": "self"}, seed_of(0, "", 0))
    assert found["exact"] == [1, 2]
    assert "basin" not in found


@pytest.mark.parametrize("kind", [{"open": True}, {"correlation": 0.8}])
def test_other_kinds_of_sequences_are_drawn(kind):
    found = learn_and_test(
        CELL | {"rehearse": "patterns", "kind": "some"} | kind, seed_of(0, "", 0)
    )
    assert found["exact"] == [1, 2, 3, 4]
    assert found["bits_saved"] == [k * (6 * 50 + 64) for k in range(1, 5)]
