"""Memories are compared with settings that one rule chose for all of them, on sequences that no
result is made of.
"""

import inspect
import json

import numpy as np
import pytest

import seqattractor as sa
import written_pages
from seqattractor.networks import REGISTRY
from seqattractor.report.comparison_view import comparison_tables
from seqattractor.study import tuning as _tuning
from seqattractor.study.compare import compare
from seqattractor.study.comparison_trial import make_task, place_of
from seqattractor.study.protocol import seed_of
from seqattractor.study.tuning import RESULTS, TRIALS, choose, describe_setting, never_failed, tuned
from written_pages import DOCS, parts_shown, parts_written

PAGE = "tuning_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("tune")


@pytest.fixture(scope="module")
def saved():
    return json.loads(RESULTS.read_text())


@pytest.fixture
def pretend(monkeypatch):
    """Let tuning have chosen a setting of a network."""

    def chosen(name, **by_protocol):
        tried = {
            protocol: [
                {"parameters": {}, "successes": [0]},
                {"parameters": parameters, "successes": [3, 1]},
            ]
            for protocol, parameters in by_protocol.items()
        }
        monkeypatch.setattr(_tuning, "_results", lambda: {name: tried})

    return chosen


def test_a_rival_that_stores_20_patterns_with_a_setting_of_its_own_does_so_in_a_comparison():
    found = compare("random", ["brea"], values=[20], trials=3)
    assert found.row("brea", 20)["successes"] == 3


def test_every_memory_was_tried_with_the_settings_of_its_list_and_the_default_first(script, saved):
    assert list(saved) == list(REGISTRY) == list(script.CANDIDATES)
    for name, of_network in saved.items():
        listed = script.CANDIDATES[name]
        assert len(listed) <= (script.MOST // 2 if name in script.SLOW else script.MOST)
        assert describe_setting(name, listed[0]) == "default"
        assert all(each.get("n_hidden", 0) <= 500 for each in listed)
        assert list(of_network) == list(script.LADDERS)
        for tried in of_network.values():
            assert [each["parameters"] for each in tried] == listed[: len(tried)]
            assert len(tried) == len(listed) or never_failed(tried[-1])
            assert not any(map(never_failed, tried[:-1]))


def test_a_setting_climbs_until_it_fails_twice(script, saved):
    for name, of_network in saved.items():
        for protocol, tried in of_network.items():
            for each in tried:
                *passed, last = each["successes"]
                assert all(2 <= successes <= TRIALS for successes in passed)
                assert last < 2 or len(each["successes"]) == len(script.ladder(name, protocol))


def test_most_successes_win_and_of_equals_the_first():
    tried = [{"successes": [3, 1]}, {"successes": [2, 3, 0]}, {"successes": [3, 2, 0]}]
    assert choose(tried) == 1


def test_tuning_has_seeds_of_its_own(script):
    usual = inspect.signature(compare).parameters["seed"].default
    assert usual != script.SEED
    for protocol, ladder in script.LADDERS.items():
        settings = {"test": protocol, "value": ladder[0]}
        drawn = {
            make_task(
                settings,
                ladder[0],
                np.random.default_rng(seed_of(seed, place_of(settings), k).spawn(3)[0]),
            ).X.tobytes()
            for seed in (usual, script.SEED)
            for k in range(script.CHECKS)
        }
        assert len(drawn) == 2 * script.CHECKS


def test_a_comparison_takes_and_reports_tuned_settings(pretend):
    pretend("brea", random={"n_hidden": 3}, context={"n_hidden": 4})
    for protocol, hidden in (("noise", 3), ("context", 4)):
        found = compare(protocol, ["brea"], n=20, values=[0], trials=1)
        (row,) = found.rows()
        assert row["setting"] == f"tuned: n_hidden={hidden}, best of 2 tried"
        assert (row["M"], row["parameters"]) == (hidden, (20 + hidden) * (20 + hidden + 1))
        table = comparison_tables(found)[1]
        assert table.rows[0][list(table.columns).index("setting")] == row["setting"]
        assert f"on other sequences: brea (n_hidden={hidden}, best of 2 tried)." in found.describe()


def test_what_the_user_asks_for_goes_before_tuning(pretend):
    pretend("brea", random={"n_hidden": 3, "eta": 0.1})
    asked = compare("random", ["brea"], n=20, m=5, t=5, flips=0, trials=1)
    (row,) = asked.rows()
    assert (row["M"], row["parameters"]) == (5, 25 * 26)
    assert row["setting"] == "tuned: n_hidden=3, eta=0.1, best of 2 tried; M as asked for"
    varied = compare("random", ["brea"], n=20, m=[2, 6], t=5, flips=0, trials=1)
    assert [(row["M"], row["parameters"]) for row in varied.rows()] == [(6, 26 * 27), (2, 22 * 23)]
    given = compare("random", {"mine": sa.zoo.StochasticMemory(8)}, n=20, t=5, flips=0, trials=1)
    assert given.rows()[0]["setting"] == "as given"
    assert given.rows()[0]["parameters"] == 28 * 29


def test_data_with_repeated_patterns_get_the_settings_for_these(pretend):
    pretend("brea", random={"n_hidden": 3}, context={"n_hidden": 4})
    X = sa.datasets.random_periodic(4, 20, rng=0).patterns
    for data, hidden in ((X, 3), (X[[0, 1, 2, 1, 0]], 4)):
        assert compare(data=data, networks=["brea"], flips=0, trials=1).rows()[0]["M"] == hidden


def test_the_default_is_called_default(saved):
    assert tuned("hebbian", "random").origin == "default, nothing to tune"
    assert tuned("lookup", "random").origin == "default, no failure in tuning"
    for name in REGISTRY:
        origin, parameters = tuned(name, "random").origin, tuned(name, "random").parameters
        assert origin.startswith(
            "tuned: " if describe_setting(name, parameters) != "default" else "default, "
        )


def test_the_table_is_that_of_the_saved_results(script, saved):
    checked = json.loads(script.CHECKED.read_text())
    assert (DOCS / PAGE).read_text() == script.page(saved, checked)
    assert parts_shown("rivals.rst", PAGE) == parts_written(PAGE) == ["checked", "tuning"]
    tuned_here = [name for name in REGISTRY if tuned(name, "random").origin.startswith("tuned")]
    assert list(checked) == tuned_here
    for name, found in checked.items():
        assert tuned(name, "random").origin.startswith(f"tuned: {found['setting']},")
