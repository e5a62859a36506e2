"""A question of the user's: sizes, data and networks of their own, a figure for a paper, and words
that the trials support.
"""

import inspect
import io
import json
import re
from dataclasses import replace
from math import comb
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import seqattractor as sa
from own_files import save_animation
from seqattractor.cli.compare import command
from seqattractor.networks import REGISTRY
from seqattractor.plots._curves import LOOKS, looks_of
from seqattractor.report.figures import drawn, paper_figure
from seqattractor.study.compare import compare
from seqattractor.study.comparison_trial import get_test, make_task
from seqattractor.study.statistics import Decided, decide, differences

FEW = ["hebbian", "lookup"]


def run(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments), "--jobs", "1"])


# -- sizes of the user's
# ----------------------------------------------------------------------------------------


@given(
    n=st.integers(12, 60), t=st.integers(3, 12), flips=st.integers(0, 12), seed=st.integers(0, 99)
)
@settings(deadline=None, max_examples=25)
def test_a_task_has_the_sizes_that_were_asked_for(n, t, flips, seed):
    for axis, sizes, value in (
        ("t", {"n": n, "flips": flips}, t),
        ("n", {"t": t, "flips": flips}, n),
    ):
        given_axis = {"axis": axis} if axis != "t" else {}
        task = make_task(
            {"test": "random", "sizes": sizes, **given_axis}, value, np.random.default_rng(seed)
        )
        assert (task.X.shape, task.flips) == ((t, n), flips)


@pytest.mark.parametrize(
    ("asked", "axis", "values"),
    [
        ({"n": [20, 40]}, "visible neurons N", [40, 20]),
        ({"m": [10, 30, 20]}, "hidden neurons M", [30, 20, 10]),
        ({"t": [6, 4], "n": 20}, "period length T", [4, 6]),
        ({"flips": ["10%", 0], "n": 20}, "flipped units of the cue", [0, 2]),
        (
            {"protocol": "recall-noise", "flips": [0, 1], "values": [1]},
            "flipped units of the cue",
            [0, 1],
        ),
    ],
)
def test_the_one_list_varies_along_the_axis_easy_values_first(asked, axis, values):
    sizes = {"n": 30, "t": 4, "flips": 1} | asked
    if "protocol" not in asked:
        sizes["protocol"] = "random"
    found = compare(networks=["lookup"], trials=1, **sizes)
    assert (found.settings["axis"], found.settings["values"]) == (axis, values)
    assert [row["value"] for row in found.rows()] == values


def test_the_sizes_stand_in_every_row_so_that_tables_of_several_comparisons_can_be_joined():
    found = compare(
        networks=["attractor-V", "hebbian"], n=[20, 30], t=4, m=10, flips="10%", trials=1
    )
    rows = [(row["network"], row["N"], row["M"], row["T"], row["flips"]) for row in found.rows()]
    assert rows == [
        ("attractor-V", 30, 10, 4, 3),
        ("hebbian", 30, None, 4, 3),
        ("attractor-V", 20, 10, 4, 2),
        ("hebbian", 20, None, 4, 2),
    ]
    frame = found.to_pandas()
    assert frame["N"].tolist() == [30, 30, 20, 20]
    assert set(frame["network"]) == {"attractor-V", "hebbian"}


def test_where_m_varies_networks_without_hidden_neurons_do_their_trials_once_and_yours_get_it_too():
    seen = []

    class Sized(sa.FixedHiddenNetwork):
        """With hidden neurons."""

    found = compare(
        networks=["hebbian", Sized()],
        n=20,
        t=4,
        m=[10, 20],
        trials=2,
        progress=lambda p: seen.append(p.total),
    )
    assert seen[-1] == 2 + 4
    assert [found.row("Sized", m)["parameters"] for m in (10, 20)] == [2 * 20 * 10, 2 * 20 * 20]
    assert found.row("hebbian", 10)["by_trial"] == found.row("hebbian", 20)["by_trial"]


def test_the_usual_sizes_give_the_usual_trials():
    usual = compare("random", FEW, values=[5, 9], trials=2)
    for asked in (
        {"t": [9, 5]},
        {"t": [5, 9], "n": 100, "flips": 10},
        {"values": [5, 9], "flips": "10%"},
    ):
        assert compare("random", FEW, trials=2, **asked).to_json() == usual.to_json()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n": [20, 30], "t": [4, 5]}, "one setting varies along the axis, but N and T are lists"),
        ({"t": [4], "values": [5]}, "give them as values or as t, not as both"),
        ({"protocol": "multi", "t": 4}, "T cannot be chosen here: it stands in the values"),
        (
            {"protocol": "walker", "n": 4},
            "N cannot be chosen here: the protocol walker has its own",
        ),
        (
            {"protocol": "correlated", "n": [20, 30]},
            "where N varies, the correlation of successive patterns must be one value",
        ),
        ({"flips": "many"}, "flips is a number, or a percentage such as 10%"),
        ({"n": 0}, "n must be at least 1"),
        ({"m": []}, "m is an empty list"),
        ({"n": 5, "flips": 6}, "there are 5 units to flip, but 6"),
        ({"data": [[1, -1], [-1, 1]], "t": 4}, "T cannot be chosen here: it is that of your data"),
        ({"data": [[1, -1], [-1, 1]], "protocol": "noise"}, "give a protocol or data, not both"),
        ({"data": [[1, -1]]}, "a sequence needs at least 2"),
        ({"data": "nowhere.gif"}, "nowhere.gif"),
    ],
)
def test_a_wrong_question_is_rejected_in_one_sentence(asked, message):
    with pytest.raises((ValueError, OSError), match=re.escape(message)):
        compare(networks=["lookup"], trials=1, **asked)


# -- data of the user's
# -----------------------------------------------------------------------------------------

FILM = np.where(np.random.default_rng(5).random((6, 4, 5)) < 0.5, 255, 0).astype(np.uint8)
X = np.where(FILM.reshape(6, -1) > 127, 1, -1)


@pytest.fixture(scope="module")
def on_data():
    return compare(data=X, networks=["attractor-V", *FEW], m=40, flips=[0, 1, 2], trials=3)


def test_data_may_be_an_array_a_list_sequences_or_a_path_and_mean_the_same(tmp_path, on_data):
    save_animation(tmp_path / "film.gif", FILM)
    forms = [
        X.tolist(),
        sa.Sequences(X, frame_shape=(4, 5)),
        [X],
        tmp_path / "film.gif",
        str(tmp_path / "film.gif"),
    ]
    for data in forms:
        found = compare(data=data, networks=["attractor-V", *FEW], m=40, flips=[0, 1, 2], trials=3)
        assert found.results == on_data.results
        assert found.settings["data"] == on_data.settings["data"]


def test_with_data_seeds_and_cues_vary_and_one_certain_trial_is_not_counted_often(on_data):
    assert [on_data.row("hebbian", flips)["trials"] for flips in (0, 1, 2)] == [1, 3, 3]
    assert [on_data.row("attractor-V", flips)["trials"] for flips in (0, 1, 2)] == [
        3,
        3,
        3,
    ]  # its first weights are random
    row = on_data.row("lookup", 0)
    assert (row["successes"], row["low"], row["high"]) == (1, 1.0, 1.0)
    assert "about these sequences and not about others" in on_data.conclusion()
    assert {row["N"] for row in on_data.rows()} == {20}
    assert {row["T"] for row in on_data.rows()} == {6}


def test_repeated_patterns_in_data_are_distinguished_by_networks_that_can_look_back():
    a, b, c = X[:3]
    found = compare(data=[a, b, a, c], networks=["lookup", "hebbian"], flips=[0, 1], trials=2)
    assert found.row("lookup", 0)["order"] == 2
    assert found.row("lookup", 0)["successes"] == 1
    assert found.row("hebbian", 0)["error"] is None


def test_a_loop_counts_in_any_phase_and_several_sequences_are_counted():
    loop = compare(
        data=sa.datasets.random_periodic(5, 20, rng=0), networks=["lookup"], flips=[0], trials=1
    )
    assert "the whole loop is seen in order" in loop.settings["criterion"]
    both = compare(data=[X[:3], X[3:]], networks=["lookup"], flips=[0, 1], trials=1)
    assert both.several
    assert "locks on at its first step" in both.settings["criterion"]
    assert both.row("lookup", 1)["recalled"] == 1.0


def test_other_data_are_other_trials_of_a_study(tmp_path):
    done = []

    def successes(data):
        done.clear()
        found = compare(
            data=data,
            networks=FEW,
            flips=[0, 1],
            trials=2,
            study=tmp_path / "s.db",
            progress=lambda p: done.append(p.done),
        )
        return found.to_json()

    first = successes(X)
    assert done[0] == 0
    assert successes(X.astype(float)) == first
    assert done[0] == 4  # nothing was left to do
    other = X.copy()
    other[3, 7] *= -1
    assert successes(other) != first
    assert done[0] == 0
    assert successes(other) != first
    assert done[0] == 4
    assert successes(X) == first


@pytest.mark.slow
def test_data_travel_to_workers_and_give_the_same_results(on_data):
    there = compare(data=X, networks=["attractor-V", *FEW], m=40, flips=[0, 1, 2], trials=3, jobs=2)
    assert there.to_json() == on_data.to_json()


def test_a_gif_goes_through_the_command_with_options_of_the_loader(tmp_path):
    film = save_animation(tmp_path / "film.gif", np.repeat(np.repeat(FILM, 4, axis=1), 4, axis=2))
    arguments = (
        "--data",
        film,
        "--size",
        "5x4",
        "--networks",
        "hebbian,lookup",
        "--flips",
        "0,10%",
        "--trials",
        "2",
    )
    result = run(
        *arguments,
        "--study",
        tmp_path / "s.db",
        "-o",
        tmp_path / "f.csv",
        "-o",
        tmp_path / "f.json",
    )
    assert result.exit_code == 0, result.output
    assert "film: one sequence of 6 patterns of N = 20 units; the same in every trial." in " ".join(
        result.output.split()
    )
    data = json.loads((tmp_path / "f.json").read_text())
    assert data["settings"]["values"] == [0, 2]
    here = compare(data=X, networks=FEW, flips=[0, 2], trials=2)
    assert data["rows"] == json.loads(here.to_json())["rows"]
    assert (tmp_path / "f.csv").read_text() == here.to_csv()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--size", "20"), "--size is for files; give them with --data"),
        (
            ("--data", "film.gif", "--protocol", "noise"),
            "give --data or --protocol noise, not both",
        ),
        (
            ("-o", "figure.jpg"),
            "figure.jpg ends in .jpg, but files are written as .png, .pdf, .svg, .csv, .json, "
            ".html",
        ),
        (("-o", "nowhere/figure.pdf"), "the folder nowhere does not exist"),
        (("-o", "one", "-o", "two"), "give one folder, not 2"),
    ],
)
def test_mistakes_show_before_anything_is_computed(monkeypatch, arguments, message):
    monkeypatch.setattr(
        "seqattractor.study.compare.compare", lambda *_, **__: pytest.fail("something was computed")
    )
    result = run(*arguments, "--networks", "lookup")
    assert message in result.output + str(result.exception)


# -- networks of the user's
# -------------------------------------------------------------------------------------


class Fine(sa.SequenceMemory):
    """Learns nothing and stays where it is."""

    def fit_transitions(self, transitions, callback=None):
        self.W_ = transitions.inputs

    def next_patterns(self, states, memory=None):
        return states


class Zeros(Fine):
    def next_patterns(self, states, memory=None):
        return np.sign(0 * states)


class Nothing(Fine):
    def next_patterns(self, states, memory=None):
        states.sum()


class Flat(Fine):
    def next_patterns(self, states, memory=None):
        return states[0]


class Nan(Fine):
    def next_patterns(self, states, memory=None):
        return states * np.nan


class Half(Fine):
    def next_patterns(self, states, memory=None):
        return states / 2


class Words(Fine):
    def next_patterns(self, states, memory=None):
        return states.astype(str)


class Raises(Fine):
    def next_patterns(self, states, memory=None):
        return states @ np.ones((3, 3))


class Misses(Fine):
    def next_patterns(self, states, memory=None):
        return {}["key"]


class NoMemory(Fine):
    def next_patterns(self, states):
        return states


class OddStart(Fine):
    def start(self, states):
        return 3


class OwnFit(Fine):
    def fit(self, X, lengths=None):
        return self


class NoLearning(sa.SequenceMemory):
    def next_patterns(self, states, memory=None):
        return states


def line_of(method, shift=0):
    return f"line {inspect.getsourcelines(method)[1] + shift} of test_compare_questions.py"


@pytest.mark.parametrize(
    ("cls", "message", "where"),
    [
        (
            Zeros,
            "Zeros.next_patterns returned zeros (180 of 180 values",
            line_of(Zeros.next_patterns),
        ),
        (Nothing, "Nothing.next_patterns returned None", line_of(Nothing.next_patterns)),
        (
            Flat,
            "Flat.next_patterns returned patterns of the shape (20,) where (9, 20) was wanted",
            line_of(Flat.next_patterns),
        ),
        (Nan, "Nan.next_patterns returned NaN or infinity", line_of(Nan.next_patterns)),
        (
            Half,
            "Half.next_patterns returned values other than -1 and +1, such as",
            line_of(Half.next_patterns),
        ),
        (Words, "Words.next_patterns returned values of the type", line_of(Words.next_patterns)),
        (
            Raises,
            "the network Raises: matmul",
            f"ValueError in Raises.next_patterns, {line_of(Raises.next_patterns, 1)}",
        ),
        (
            Misses,
            "the network Misses: 'key'",
            f"KeyError in Misses.next_patterns, {line_of(Misses.next_patterns, 1)}",
        ),
        (NoMemory, "NoMemory.next_patterns() takes 2 positional arguments but 3 were given", ""),
        (
            OddStart,
            "OddStart.start returned int where an array with a row for each",
            line_of(OddStart.start),
        ),
        (
            OwnFit,
            "OwnFit.fit does not settle the sizes; let it begin with self.transitions(X, lengths)",
            "",
        ),
        (NoLearning, "NoLearning does not define how it learns; write fit_transitions", ""),
    ],
)
def test_a_mistake_in_a_users_network_is_reported_with_class_method_and_line_before_any_trial(
    cls, message, where
):
    seen = []
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        compare(networks=["lookup", cls()], n=20, t=5, trials=1, progress=seen.append)
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not seen


def test_a_list_takes_short_names_and_networks_together():
    found = compare(networks=["lookup", Fine()], n=20, t=5, flips=0, trials=1)
    assert [(n["network"], n["family"]) for n in found.networks] == [
        ("lookup", "yardstick"),
        ("Fine", "yours"),
    ]
    assert [
        n["network"] for n in compare(networks=[Fine], n=20, t=5, flips=0, trials=1).networks
    ] == ["Fine"]
    with pytest.raises(ValueError, match="two networks are called Fine; give a dict"):
        compare(networks=[Fine(), Fine()])


BASE = """
import seqattractor as sa

class Mine(sa.SequenceMemory):
    def fit_transitions(self, transitions, callback=None):
        pass
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            BASE,
            "Mine does not define what comes next; write next_patterns(self, states, memory=None).",
        ),
        (
            "import seqattractor as sa\n\nclass Mine(sa.zoo.LookupMemory):\n    def __init__(self, "
            "k):\n        self.k = k\n",
            "Mine needs arguments; give them defaults, or put a network in a variable: mine = "
            "Mine(k=...).",
        ),
        (
            "import seqattractor as sa\n\n1 / 0\n",
            "mine.py cannot be run, line 3: ZeroDivisionError: division by zero",
        ),
        ("def f(:\n", "mine.py cannot be run, line 1: SyntaxError"),
    ],
)
def test_a_file_whose_network_cannot_take_part_raises_with_the_reason(tmp_path, text, message):
    (tmp_path / "mine.py").write_text(text)
    result = run("--use", tmp_path / "mine.py", "--networks", "lookup")
    assert message in str(result.exception)


def test_a_base_class_without_next_patterns_is_fine_if_a_network_derives_from_it_or_it_is_private(
    tmp_path,
):
    method = "    def next_patterns(self, states, memory=None):\n        return states\n"
    derived = BASE + "class Whole(Mine):\n" + method
    private = BASE.replace("Mine", "_Mine") + "net = sa.zoo.LookupMemory()\n"
    for text in (derived, private):
        (tmp_path / "mine.py").write_text(text)
        found = compare(
            networks=["lookup"], n=20, t=5, flips=0, trials=1, files=[str(tmp_path / "mine.py")]
        )
        assert [n["network"] for n in found.networks][1:] in (["Whole"], ["net"])


# -- the figure
# -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    return compare(networks=[*FEW, Fine()], n=30, t=[4, 5, 12], flips=0, trials=2)


def test_points_stand_at_their_true_values_with_wilson_bars(found):
    ax = found.plot()
    for curve, name in zip(ax.containers, [*FEW, "Fine"], strict=True):
        line, _, (bars,) = curve
        rows = [found.row(name, t) for t in (4, 5, 12)]
        assert line.get_xdata().tolist() == [4, 5, 12]
        assert line.get_ydata().tolist() == [100 * row["successes"] / 2 for row in rows]
        ends = [sorted(segment[:, 1]) for segment in bars.get_segments()]
        assert np.allclose(
            ends,
            [
                [100 * end for end in sa.analysis.wilson_interval(row["successes"], 2)]
                for row in rows
            ],
        )
        assert curve.get_label() == name
    plt.close(ax.figure)


def test_what_is_no_number_stands_in_the_users_order():
    ax = compare("multi", ["lookup"], values=["2x4", "3x3"], trials=1).plot()
    assert ax.containers[0][0].get_xdata().tolist() == [0, 1]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2x4", "3x3"]
    plt.close(ax.figure)


def test_a_network_looks_the_same_in_every_figure_and_unlike_all_others(found):
    assert set(LOOKS) == set(REGISTRY)
    assert len(set(LOOKS.values())) == len(LOOKS)
    other = compare(networks=[Fine(), "dense", "lookup"], n=30, t=4, flips=0, trials=1)
    looks = []
    for comparison in (found, other):
        ax = comparison.plot()
        lines = {curve.get_label(): curve[0] for curve in ax.containers}
        looks.append(
            [
                (lines[name].get_color(), lines[name].get_marker(), lines[name].get_linestyle())
                for name in ("lookup", "Fine")
            ]
        )
        plt.close(ax.figure)
    assert looks[0] == looks[1]
    many = looks_of([f"mine {k}" for k in range(60)])
    assert len(set(many.values())) == 60


def test_a_figure_for_a_paper_is_one_panel_as_wide_as_a_column_with_a_legend_beside_the_points(
    found,
):
    with sa.plots.style(paper=True):
        figure = paper_figure(found)
        figure.canvas.draw()
        (ax,), (legend,) = figure.axes, figure.legends
        assert figure.get_figwidth() * 25.4 == pytest.approx(85)
        assert not legend.get_window_extent().overlaps(ax.get_window_extent())
        assert legend.get_window_extent().width <= figure.bbox.width
        assert ax.get_title() == ""
        plt.close(figure)
        beside = found.plot(legend="above")
        beside.figure.canvas.draw()
        assert beside.get_legend().get_window_extent().y0 >= beside.get_window_extent().y1 - 1
        plt.close(beside.figure)


def test_long_names_make_fewer_columns_in_the_legend(found):
    names = [f"a network with a long name {k}" for k in range(4)]
    networks = [{**found.networks[0], "network": name} for name in names]
    rows = [{**found.row("lookup", t), "network": name} for t in (4, 5, 12) for name in names]
    with sa.plots.style(paper=True):
        figure = paper_figure(replace(found, networks=networks, results=rows))
        figure.canvas.draw()
        assert figure.legends[0].get_window_extent().x1 <= figure.bbox.width
        plt.close(figure)


def test_files_have_the_format_of_their_endings_and_several_are_written_at_once(tmp_path):
    names = ["a.png", "a.PDF", "a.svg", "a.csv", "a.json", "a.html"]
    outs = [part for name in names for part in ("-o", tmp_path / name)]
    arguments = ("--networks", "hebbian,lookup", "--n", "30", "--t", "4,6", "--trials", "2")
    result = run(*arguments, *outs, "-o", tmp_path / "folder", "--width", "120")
    assert result.exit_code == 0, result.output
    content = {name: (tmp_path / name).read_bytes() for name in names}
    with Image.open(io.BytesIO(content["a.png"])) as png:
        assert png.format == "PNG"
        assert png.width == pytest.approx(120 / 25.4 * 600, abs=2)
    assert content["a.PDF"].startswith(b"%PDF-")
    assert b"/FontFile2" in content["a.PDF"]  # TrueType, which drawing programs can edit
    texts = [
        each.text
        for each in ElementTree.fromstring(content["a.svg"]).iter(
            "{http://www.w3.org/2000/svg}text"
        )
    ]
    assert {"hebbian", "lookup", "period length T", "success, %"} <= set(texts)
    assert content["a.csv"].startswith(b"protocol,value,network")
    assert json.loads(content["a.json"])["settings"]["sizes"] == {"n": 30, "flips": 10}
    assert b"<html" in content["a.html"]
    assert (tmp_path / "folder" / "compare-random.png").exists()
    again = run(*arguments, "-o", tmp_path / "b.svg", "--width", "120")
    assert again.exit_code == 0
    assert (tmp_path / "b.svg").read_bytes() == content["a.svg"]


def test_drawing_for_a_paper_gives_all_kinds_of_one_figure(found):
    kinds = drawn(lambda: paper_figure(found), "png", "pdf", "svg", paper=True)
    assert [content[:4] for content in kinds] == [b"\x89PNG", b"%PDF", b"<?xm"]


# -- words
# --------------------------------------------------------------------------------------------------


@given(
    st.lists(
        st.sampled_from(["00000000", "11111111", "11110000", "10101010", "11111110"]),
        min_size=2,
        max_size=5,
    )
)
def test_differences_are_sign_tests_with_holms_correction(successes):
    from scipy.stats import binomtest

    names = [f"net{k}" for k in range(len(successes))]
    found = {
        (each.better, each.worse): each
        for each in differences({name: [row] for name, row in zip(names, successes, strict=True)})
    }
    alone = {}
    for pair in found:
        first, second = (successes[names.index(name)] for name in pair)
        more = sum(a > b for a, b in zip(first, second, strict=True))
        fewer = sum(a < b for a, b in zip(first, second, strict=True))
        assert more >= fewer
        alone[pair] = binomtest(more, more + fewer).pvalue if more + fewer else 1.0
    for (
        pair,
        each,
    ) in (
        found.items()
    ):  # Holm: the largest over all at most as large of (how many are at least as large) x p
        below = [p for p in alone.values() if p <= alone[pair]]
        steps = [min(1.0, p * (len(alone) - sorted(alone.values()).index(p))) for p in below]
        assert each.p == pytest.approx(max(steps))


@pytest.mark.parametrize("trials", range(1, 51))
def test_a_rate_of_one_half_is_called_more_or_less_in_at_most_5_percent_of_cases(trials):
    reported = 0
    for successes in range(trials + 1):
        low, high = sa.analysis.wilson_interval(successes, trials)
        found = decide(
            [{"value": 0, "successes": successes, "trials": trials, "low": low, "high": high}]
        )
        reported += comb(trials, successes) * (found != Decided(None, None))
    assert reported / 2**trials <= 0.05


def test_trials_decide_only_on_their_side_of_one_half():
    rows = [
        {"value": v, "successes": s, "trials": 8, "low": 0, "high": 1}
        for v, s in ((1, 8), (2, 6), (3, 8), (4, 0))
    ]
    assert (decide(rows).most, decide(rows).fails_from) == (1, 4)
    assert (decide(rows[1:2]).most, decide(rows[1:2]).fails_from) == (None, None)


def test_the_conclusion_has_only_statements_that_trials_support(found):
    enough = compare(
        networks=["hebbian", "lookup", "dense-exponential"], n=30, t=[4, 25], flips=0, trials=8
    )
    text = enough.conclusion()
    assert (
        "hebbian: more up to 4 and less from 25 on; lookup and dense-exponential: more up to 25."
        in text
    )
    assert (
        "lookup more often than hebbian; dense-exponential more often than hebbian. No other "
        "difference is shown." in text
    )
    few = found.conclusion()
    assert (
        "Too few trials (2) to find a difference between networks: even one in every trial would "
        "have p = 1 " in few
    )
    assert "more often than" not in few


def test_where_more_is_easier_the_words_turn_round():
    text = get_test("random").ask(n=[50, 20], t=5)
    assert text.values == (50, 20)
    fewer = compare(networks=["attractor"], n=20, t=5, m=[4, 60], flips=0, trials=6)
    assert repr(fewer) == "Comparison: 1 network, hidden neurons M 60 to 4; down to 60: attractor"
    assert "attractor: more down to 60" in fewer.conclusion()


def test_the_guide_shows_commands_that_exist():
    guide = (Path(__file__).parents[2] / "docs" / "rivals.rst").read_text()
    section = guide.partition("Ask your own question")[2]
    options = {name for parameter in command.params for name in parameter.opts}
    asked = set(
        re.findall(
            r"(?<=\s)--?[a-z-]+",
            "\n".join(re.findall(r"^   \$ seqattractor compare.*$", section, re.M)),
        )
    )
    assert asked
    assert asked <= options
