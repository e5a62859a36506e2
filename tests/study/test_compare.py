"""Comparisons: the same sequences and cues for all, results that depend on the seed alone, fair
words.
"""

import csv
import inspect
import io
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import seqattractor as sa
from quiet import fit_quietly
from seqattractor.analysis._robustness import passages
from seqattractor.cli.compare import command
from seqattractor.networks import REGISTRY, make_network
from seqattractor.networks.registry import takes_hidden
from seqattractor.report.comparison_view import comparison_page, comparison_tables
from seqattractor.report.figures import comparison_figure, picture
from seqattractor.study import Comparison
from seqattractor.study.compare import choose_networks, compare
from seqattractor.study.comparison import network_row
from seqattractor.study.comparison_trial import (
    TASKS,
    TESTS,
    draw_cues,
    get_test,
    make_prototype,
    make_task,
    run_comparison_trial,
)
from seqattractor.study.statistics import Difference, differences
from seqattractor.study.trial import Task, judge

EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_your_own_rule.py"
FEW = ["hebbian", "dense", "lookup", "one-hot"]


@pytest.fixture(scope="module")
def found():
    return compare("random", FEW, values=[5, 40], trials=4)


def test_every_network_gets_the_same_sequences_and_cues():
    seen = {}

    class Witness(sa.zoo.LookupMemory):
        """Writes down what it is shown."""

        def __init__(self, name=""):
            super().__init__()
            self.name = name

        def fit(self, X, lengths=None):
            seen[self.name] = [X.copy()]
            return super().fit(X, lengths)

        def recall(self, cue, steps, **noise):
            seen[self.name].append(cue.copy())
            seen[self.name].append(super().recall(cue, steps, **noise))
            return seen[self.name][-1]

    for name in "ab":
        run_comparison_trial(
            {"test": "recall-noise", "value": 3, "network": Witness(name)},
            np.random.SeedSequence(0),
        )
    assert all(np.array_equal(a, b) for a, b in zip(seen["a"], seen["b"], strict=True))
    X, cue, _ = seen["a"]
    assert (cue[0] != X[0]).sum() == 10


@pytest.mark.parametrize(("protocol", "fits"), [("noise", 2), ("recall-noise", 2), ("random", 6)])
def test_where_only_the_cue_differs_a_network_learns_once_in_a_trial(monkeypatch, protocol, fits):
    seen = []
    fit = sa.zoo.LookupMemory.fit
    compare(protocol, ["lookup"], values=[4], trials=1)  # whatever is to be imported is
    monkeypatch.setattr(
        sa.zoo.LookupMemory, "fit", lambda net, X, lengths: seen.append(X) or fit(net, X, lengths)
    )
    found = compare(protocol, ["lookup"], values=[4, 8, 12], trials=2)
    assert len(seen) == len({x.tobytes() for x in seen}) == fits
    assert [row["value"] for row in found.rows()] == [4, 8, 12]
    assert (
        compare(protocol, ["lookup"], values=[12, 4], trials=1).row("lookup", 4)["by_trial"]
        == found.row("lookup", 4)["by_trial"][0]
    )


def test_networks_with_a_longer_memory_get_the_same_first_pattern_and_more():
    task = TASKS["random"](np.random.default_rng(0), t=10)
    one, three = (draw_cues(task, order, np.random.default_rng(1)) for order in (1, 3))
    assert one.shape == (1, 1, 100)
    assert np.array_equal(three[:, :1], one)
    assert [int((three[0, t] != task.X[t]).sum()) for t in range(3)] == [10, 10, 10]


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(found):
    assert compare("random", FEW, values=[5, 40], trials=4, jobs=2).to_json() == found.to_json()


def test_a_network_that_no_other_process_can_import_travels_to_workers():
    class Local(sa.zoo.LookupMemory):
        """Defined inside a function, where no other process can find it."""

    alone, beside = (
        compare("random", {"local": Local()}, values=[5], trials=2, jobs=jobs).to_json()
        for jobs in (1, 2)
    )
    assert alone == beside


def test_a_network_that_cannot_be_sent_at_all_is_rejected_before_any_work():
    class Bound(sa.zoo.LookupMemory):
        """Has something that no other process can have."""

        def __init__(self, lock=None):
            super().__init__()
            self.lock = lock

    with pytest.raises(ValueError, match=r"Bound cannot be sent to other processes .*use one job"):
        compare("random", {"bound": Bound(threading.Lock())}, values=[5], trials=2, jobs=2)


def test_results_depend_on_the_seed(found):
    other = compare("random", ["hebbian"], values=[40], trials=4, seed=1)
    assert other.row("hebbian", 40)["one_step_error"] != found.row("hebbian", 40)["one_step_error"]


def test_a_network_has_the_same_results_beside_any_others(found):
    alone = compare("random", ["dense"], values=[5, 40], trials=4)
    assert alone.rows() == [row for row in found.rows() if row["network"] == "dense"]


def test_success_is_counted_with_an_interval_errors_epochs_and_sizes(found):
    row = found.row("hebbian", 40)
    assert (row["successes"], row["trials"], row["by_trial"]) == (0, 4, "0000")
    assert (row["low"], row["high"]) == sa.analysis.wilson_interval(0, 4)
    assert row["parameters"] == 100 * 100
    assert row["epochs"] is None
    assert 0 < row["one_step_error"] < 0.5
    assert found.row("dense", 40)["parameters"] == 2 * 39 * 100
    assert found.row("dense", 40)["epochs"] == 0
    assert found.row("lookup", 40)["successes"] == 4


def test_times_are_measured_but_stay_out_of_the_files_unless_asked_for(found):
    assert all(
        times["learn_seconds"] > 0 and times["recall_seconds"] > 0 for times in found.seconds
    )
    assert "seconds" not in found.to_json()
    assert "seconds" not in found.to_csv()
    assert len(json.loads(found.to_json(timing=True))["seconds"]) == len(found.rows())
    assert "learn_seconds" in found.to_csv(timing=True)


def test_the_csv_has_a_line_for_every_value_and_network(found):
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [(line["value"], line["network"]) for line in lines] == [
        (v, n) for v in ("5", "40") for n in FEW
    ]
    assert [line["stores_patterns"] for line in lines[:2]] == ["false", "true"]


def test_a_network_that_raises_is_reported_and_the_others_continue():
    class Stubborn(sa.zoo.LookupMemory):
        """Raises in fit."""

        def fit(self, X, lengths=None):
            if len(X) > 10:
                raise ValueError("it is too long.")
            return super().fit(X, lengths)

    found = compare(
        "random", {"stubborn": Stubborn(), "lookup": sa.zoo.LookupMemory()}, values=[15], trials=2
    )
    line = inspect.getsourcelines(Stubborn.fit)[1] + 2
    assert (
        found.row("stubborn", 15)["error"]
        == f"it is too long. (ValueError in Stubborn.fit, line {line} of test_compare.py)"
    )
    assert found.row("stubborn", 15)["by_trial"] == "xx"
    assert found.row("lookup", 15)["successes"] == 2
    assert "stubborn could not take part everywhere: it is too long." in found.describe()
    assert "stubborn could not take part everywhere: it is too long." in found.conclusion()
    assert comparison_tables(found)[0].rows[0] == ["stubborn", "–"]


# -- what counts as success
# -------------------------------------------------------------------------------------

X = sa.datasets.random_periodic(5, 20, rng=0)
NET = sa.zoo.LookupMemory().fit(X)


def test_a_loop_may_be_entered_late_but_must_be_whole():
    task = Task(X, np.array([5]), flips=0)
    late = np.concatenate([-X[:2], X])[None]
    assert judge(late, task, NET) == [2]
    assert judge(late[:, :-1], task, NET) == [None]


def test_an_open_sequence_must_follow_its_cue_at_once():
    task = Task(X[:4], np.array([4]), flips=3, closed=False)
    cue = sa.noise.flip(X[0], 3, rng=0)
    assert judge(np.stack([cue, *X[1:4]])[None], task, NET) == [0]
    assert judge(np.stack([cue, X[0], *X[1:3]])[None], task, NET) == [None]


def test_stays_count_once_for_networks_that_dwell_and_states_in_between_are_passed_over():
    between = sa.noise.flip(X[1], 4, rng=0)
    path = np.stack([X[0], X[0], between, X[1], X[1], X[2], X[3], X[3], X[3], X[0]])
    assert np.array_equal(passages(path, X), X)
    task = Task(X, np.array([5]), flips=0)
    assert judge(path[None], task, fit_quietly(make_network("slow-synapses"), X)) == [0]
    assert judge(path[None], task, NET) == [None]


# -- networks
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGISTRY)
def test_every_named_network_returns_its_traits_and_number_of_parameters(name):
    net = make_prototype(name, {"n_hidden": 50} if takes_hidden(name) else {})
    kind = net.traits()
    assert kind.stores_patterns is not None
    assert kind.online is not None
    assert kind.local is not None
    if "max_epochs" in net.get_params():
        net.set_params(max_epochs=2)
    fit_quietly(net, sa.datasets.random_periodic(4, 30, rng=0))
    assert net.n_parameters() == sum(getattr(net, weights).size for weights in kind.weights) > 0


def test_networks_without_a_word_about_themselves_are_counted_by_their_arrays():
    class Silent(sa.SequenceMemory):
        """Says nothing about itself."""

        def fit(self, X, lengths=None):
            self.keys_, self.visible_errors_ = self.transitions(X, lengths).inputs, np.zeros(3)
            return self

        def next_patterns(self, states, memory=None):
            return states

    assert Silent().traits().online is None
    assert Silent().fit(X).n_parameters() == 4 * 20


def test_a_class_of_the_users_takes_part_only_where_it_is_named():
    class Brought(sa.zoo.LookupMemory):
        """A user's network."""

    assert set(choose_networks(None)) == set(REGISTRY) - {
        "attractor-hebbian",
        "attractor-bias",
        "attractor-learned-targets",
        "perceptron-bias",
        "leaky-perceptron",
        "predictive-2",
        "gillett",
        "gillett-sparse",
        "gsemm-dense",
        "gsemm-linear",
        "eden",
        "brea",
        "fiete",
        "rnn",
        "bcpnn",
        "innate",
        "pinning",
    }
    assert list(choose_networks({"mine": Brought()})) == ["mine"]


def test_the_guide_lists_every_network_and_those_left_out_by_default():
    guide = " ".join((EXAMPLE.parents[1] / "docs" / "rivals.rst").read_text().split())
    reported = re.search(r"all but these take part: (.*?)\. ", guide).group(1).split(", ")
    assert reported == [name for name in REGISTRY if name not in choose_networks(None)]
    named = {
        name for row in re.findall(r"\* - ([\w, -]+?) - ``", guide) for name in row.split(", ")
    }
    assert named >= set(REGISTRY)


def test_the_worked_example_joins_with_its_network_and_its_rule():
    found = compare("random", ["hebbian"], values=[10], trials=2, files=[str(EXAMPLE)])
    assert [n["network"] for n in found.networks] == ["hebbian", "RandomFeatures", "fading"]
    assert found.row("RandomFeatures", 10)["successes"] == 2
    assert found.row("fading", 10)["successes"] == 2
    assert found.row("RandomFeatures", 10)["parameters"] == 2 * 500 * 100


@pytest.mark.parametrize(("text", "message"), [
    ("x = 1\n", "defines no network"),
    ("1 / 0\n", "ZeroDivisionError"),
])  # fmt: skip
def test_a_file_without_a_network_is_rejected_in_one_sentence(tmp_path, text, message):
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        compare("random", ["lookup"], files=[str(path)])


@pytest.mark.parametrize(("arguments", "message"), [
    ({"protocol": "magic"}, "there is no protocol 'magic'"),
    ({"networks": ["magic"]}, "there is no network 'magic'"),
    ({"trials": 0}, "trials must be at least 1"),
    ({"values": []}, "at least one network and one value"),
    ({"networks": []}, "at least one network and one value"),
    ({"protocol": "noise", "networks": ["lookup"], "values": [101]},
     "there are 100 units to flip, but 101 are to be"),
    ({"files": ["nowhere.py"]}, "there is no file nowhere.py"),
])  # fmt: skip
def test_wrong_arguments_are_rejected_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(**arguments)


@pytest.mark.parametrize("name", TESTS)
def test_every_protocol_makes_sequences_without_conflicts(name):
    test = TESTS[name]
    for value in {test.values[0], test.values[-1]}:
        task = make_task({"test": name}, value, np.random.default_rng(0))
        assert test.parse(str(value)) == value
        if name == "context":
            continue  # conflicts are what it is about
        assert not sa.find_conflicts(task.X, task.lengths)
        if task.closed:
            ends = np.cumsum(task.lengths) - 1
            assert np.array_equal(task.X[ends], task.X[ends - task.lengths + 1])


# -- repeated patterns
# ------------------------------------------------------------------------------------------


@given(st.integers(0, 10), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_repeated_patterns_occur_twice_and_the_pattern_before_determines_the_next(repeated, seed):
    X = TASKS["context"](np.random.default_rng(seed), repeated=repeated).X
    loop = [x.tobytes() for x in X[:-2]]
    assert [x.tobytes() for x in X[-2:]] == loop[:2]
    counts = [loop.count(pattern) for pattern in loop]
    assert len(loop) == 30
    assert counts.count(2) == 2 * repeated
    assert counts.count(1) == 30 - 2 * repeated
    assert counts[0] == 1
    successors, after_two = {}, {}
    for k, pattern in enumerate(loop):
        following = loop[(k + 1) % 30]
        successors.setdefault(pattern, set()).add(following)
        after_two.setdefault((loop[k - 1], pattern), set()).add(following)
    assert all(len(each) == loop.count(pattern) for pattern, each in successors.items())
    assert all(len(each) == 1 for each in after_two.values())


def test_too_many_repeated_patterns_are_rejected():
    with pytest.raises(ValueError, match="0 to 10 of 30 patterns can occur twice, but 11 are to"):
        compare("context", ["lookup"], values=[11], trials=1)


def test_networks_that_can_look_back_distinguish_repeated_patterns_and_get_the_order_for_it():
    names = ["perceptron", "lookup", "clone-hmm"]
    found = compare("context", names, values=[0, 2], trials=2)
    assert [found.row(name, 2)["successes"] for name in names] == [2, 2, 2]
    assert [found.row(name, 2)["order"] for name in names] == [2, 2, 1]
    assert [found.row(name, 0)["order"] for name in names] == [1, 1, 1]


def test_a_network_that_sees_one_pattern_fails_on_repeated_ones_and_that_is_a_result():
    found = compare(
        "context",
        {"one": sa.zoo.LookupMemory(), "two": sa.zoo.LookupMemory(order=2)},
        values=[0, 1],
        trials=2,
    )
    assert [found.row("one", value)["by_trial"] for value in (0, 1)] == ["11", "xx"]
    assert "order" in found.row("one", 1)["error"]
    assert found.row("two", 1)["successes"] == 2


def test_all_networks_get_the_same_repeated_patterns():
    seen = {}

    class Witness(sa.zoo.LookupMemory):
        """Writes down what it is shown."""

        def fit(self, X, lengths=None):
            seen.setdefault(self.order, []).append(X.copy())
            return super().fit(X, lengths)

    for order in (2, 3):
        run_comparison_trial(
            {"test": "context", "value": 3, "network": Witness(order=order)},
            np.random.SeedSequence(5),
        )
    assert np.array_equal(seen[2][-1], seen[3][-1])


# -- phase
# --------------------------------------------------------------------------------------------------


def test_a_loop_in_another_phase_than_its_cue_is_recalled_but_not_in_phase():
    class Late(sa.zoo.LookupMemory):
        """Stays at its first state for one step more."""

        def recall(self, cue, steps, **noise):
            path = super().recall(cue, steps, **noise)
            return np.concatenate([path[:, :1], path[:, :-1]], axis=1)

    found = compare(
        "random", {"late": Late(), "lookup": sa.zoo.LookupMemory()}, values=[6], trials=3
    )
    assert [found.row(name, 6)["successes"] for name in ("late", "lookup")] == [3, 3]
    assert [found.row(name, 6)["in_phase"] for name in ("late", "lookup")] == [0, 3]
    table = comparison_tables(found)[1]
    assert [row[list(table.columns).index("in phase")] for row in table.rows] == [
        "0 of 3",
        "3 of 3",
    ]


def test_a_network_that_dwells_has_no_phase():
    assert compare("random", ["mixed"], values=[4], trials=1).row("mixed", 4)["in_phase"] is None


# -- families
# --------------------------------------------------------------------------------------------------


def test_all_networks_and_families_can_be_named_together():
    assert list(choose_networks(["all"])) == list(REGISTRY) == list(choose_networks("all"))
    assert list(choose_networks(["ours", "sparse", "yardstick"])) == [
        "sparse",
        "sdm",
        "clone-hmm",
        "rnn",
        "lookup",
    ]


def test_the_family_of_a_network_stands_in_the_results(found):
    assert [n["family"] for n in found.networks] == ["rival", "rival", "yardstick", "paper"]
    assert {row["family"] for row in found.rows()} == {"rival", "yardstick", "paper"}
    assert [row[1] for row in comparison_tables(found)[1].rows] == [
        "rival",
        "rival",
        "yardstick",
        "paper",
    ]
    mine = compare("random", {"hebbian": sa.zoo.HebbianMemory()}, values=[5], trials=1)
    assert mine.networks[0]["family"] == "yours"


def test_the_notes_of_networks_are_shown(found):
    assert (
        "lookup (no network: a table of all patterns, searched for the nearest)" in found.describe()
    )


def test_a_comparison_has_an_answer_a_table_and_a_figure(found):
    assert (
        repr(found)
        == "Comparison: 4 networks, period length T 5 to 40; up to 40: dense, lookup and one-hot"
    )
    assert "hebbian" in found._repr_html_()
    assert len(found.rows()) == 8
    ax = found.plot()
    assert [text.get_text() for text in ax.get_legend().get_texts()][: len(FEW)] == FEW
    plt.close(ax.figure)


# -- words
# --------------------------------------------------------------------------------------------------


def test_the_reach_ends_at_the_first_value_that_is_not_held(found):
    assert found.reach("hebbian") == 5
    assert found.reach("lookup") == 40
    assert found.reach("one-hot") == 40


def test_values_are_put_in_order_so_that_the_hardest_is_the_last():
    found = compare("noise", ["lookup"], values=[30, 0, 30], trials=1)
    assert found.settings["values"] == [0, 30]
    assert [row["value"] for row in found.rows()] == [0, 30]


def test_two_networks_are_compared_by_the_exact_sign_test_of_the_trials_in_which_they_differ():
    from scipy.stats import binomtest

    assert differences({"a": ["1100"], "b": ["1100"]}) == [Difference("a", "b", 1.0)]
    for a, b in ((9, 1), (4, 3), (6, 0)):
        first, second = "1" * a + "0" * b + "11", "0" * a + "1" * b + "11"
        assert differences({"a": [first], "b": [second]}) == [
            Difference("a", "b", pytest.approx(binomtest(a, a + b).pvalue))
        ]


def test_the_description_is_made_from_the_numbers(found):
    text = found.describe()
    assert "Values held by networks that learn weights: hebbian up to 5." in text
    assert (
        "Values held by memories that store the patterns themselves: dense, lookup and one-hot up "
        "to 40." in text
    )
    assert "With so few trials (4 per value) only gross differences can show." in text
    data = json.loads(found.to_json())
    assert (found.conclusion(), found.describe()) == (data["conclusion"], data["description"])


def test_of_several_sequences_the_table_shows_how_many_are_recalled():
    found = compare("multi", ["hebbian", "lookup"], values=["6x4"], trials=2)
    share = found.row("hebbian", "6x4")["recalled"]
    assert 0 <= share < 1
    table = comparison_tables(found)[1]
    column = list(table.columns).index("sequences recalled")
    assert [row[column] for row in table.rows] == [f"{100 * share:.0f} %", "100 %"]


def test_two_networks_that_differ_in_a_single_trial_are_not_called_the_same():
    outcome = {"recalled": 1, "sequences": 1, "one_step_error": 0.0, "epochs": 1, "parameters": 5}
    outcome |= {"in_phase": 1, "order": 1}
    trials = {5: [(1, 1), (1, 1)], 9: [(1, 0), (0, 0)]}
    outcomes = {
        value: [
            {name: {**outcome, "success": bool(s)} for name, s in zip("ab", pair, strict=True)}
            for pair in each
        ]
        for value, each in trials.items()
    }
    networks = [network_row(name, sa.networks.Traits()) for name in "ab"]
    found = Comparison.of(get_test("random"), outcomes, networks, seed=0)
    assert "even one in every trial would have p = 0.5 (exact sign test" in found.describe()
    assert (
        "(exact binomial test, p < 0.05, each network by itself): a and b: undecided."
        in found.conclusion()
    )


def test_the_figure_and_the_page_show_every_network(found):
    figure = picture(lambda: comparison_figure(found), "success")
    assert figure.light.startswith(b"\x89PNG")
    page = comparison_page(found, figure)
    assert page.count("<table") == 2
    for name in FEW:
        assert f'<th scope="row">{name}</th>' in page
    assert "s to learn" not in page
    assert "s to learn" in comparison_page(found, figure, timing=True)


def test_of_many_networks_those_that_store_patterns_have_a_panel_of_their_own(found):
    reported = [
        {**found.networks[0], "network": f"net{k}", "family": "rival" if k % 2 else "paper"}
        for k in range(14)
    ]
    rows = [
        {**found.row("hebbian", value), "network": n["network"]}
        for value in (5, 40)
        for n in reported
    ]
    figure = comparison_figure(replace(found, networks=reported, results=rows))
    titles = [ax.get_title().split(": ")[1] for ax in figure.axes]
    assert titles == ["weights learned", "patterns stored"]
    shown = [
        text.get_text()
        for ax in figure.axes
        if ax.get_legend()
        for text in ax.get_legend().get_texts()
    ]
    assert sorted(shown) == sorted(n["network"] for n in reported)
    plt.close(figure)


# -- the command line
# -------------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(command, [*arguments, "--jobs", "1"])


def test_the_command_prints_tables_and_a_conclusion_and_writes_files(tmp_path):
    arguments = (
        "--networks",
        "hebbian,lookup",
        "--values",
        "5,9",
        "--trials",
        "2",
        "-o",
        str(tmp_path / "out"),
    )
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "2 (34–100)" in result.output
    assert "s to learn" in result.output
    assert "networks that learn weights: hebbian up to 9." in " ".join(result.output.split())
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == [
        *(f"compare-random.{kind}" for kind in ("csv", "html", "json", "png")),
        "trials.db",
    ]
    first = (tmp_path / "out" / "compare-random.json").read_bytes()
    run(*arguments)
    assert (tmp_path / "out" / "compare-random.json").read_bytes() == first


def test_the_command_gives_json():
    result = run(
        "--networks", "lookup", "--protocol", "multi", "--values", "2x4", "--trials", "1", "--json"
    )
    data = json.loads(result.stdout)
    assert data["settings"]["values"] == ["2x4"]
    assert data["rows"][0]["recalled"] == 1.0


def test_the_command_offers_all_protocols():
    assert set(command.params[1].type.choices) == set(TESTS)


@pytest.mark.parametrize(("arguments", "message"), [
    (("--values", "ten"), "looks like 10, but this is 'ten'"),
    (("--protocol", "multi", "--values", "7"), "looks like 2x10"),
    (("--networks", "magic"), "there is no network 'magic'"),
])  # fmt: skip
def test_mistakes_on_the_command_line_are_one_sentence(arguments, message):
    result = run(*arguments)
    assert message in str(result.exception)
    assert isinstance(result.exception, ValueError)


def test_the_conclusion_names_what_counts_as_recalled():
    loops = compare("random", ["lookup"], values=[5], trials=1)
    assert (
        "A sequence is recalled if the whole loop is seen in order and in any phase (section 6.2)"
        in loops.describe()
    )
    assert loops.settings["criterion"] == TESTS["random"].criterion
    assert (
        "locks on at its first step: every frame after the cue is right and in phase"
        in TESTS["digits"].criterion
    )


def test_an_open_sequence_must_lock_on_at_its_first_step():
    X = sa.datasets.random_sequences(1, 6, 30, rng=0)
    task = Task(X.patterns, X.lengths, flips=0, closed=False)
    net = sa.zoo.LookupMemory().fit(X)
    path = X.patterns.copy()
    path[0, :5] *= -1
    assert judge(path[None], task, net) == [0]
    path[1, 0] *= -1
    assert sa.lock_on_step(path, X) == 2
    assert judge(path[None], task, net) == [None]
