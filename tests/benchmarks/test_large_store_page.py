"""The table of docs/sweeps.rst about a study of a million trials: that of the kept results, of trials that were all there."""

import json

import pytest

import kept_pages
from kept_pages import DOCS
from seqattractor.study import Grid, run_trial
from seqattractor.study.seeds import seed_of
from seqattractor.study.study import read_study


@pytest.fixture(scope="module")
def script():
    return kept_pages.script("large_store")


def test_the_table_is_that_of_the_kept_results_and_is_shown(script):
    kept = json.loads(script.KEPT.read_text())
    assert script.PAGE.read_text() == script.page(kept)
    assert f".. include:: {script.PAGE.name}\n" in (DOCS / "sweeps.rst").read_text()
    assert set(kept["commands"]) == set(script.COMMANDS)
    assert kept["trials"] == len(script.LARGE.all_trials()) == 10**6


def test_a_study_that_is_made_to_be_measured_is_complete_and_its_outcomes_look_like_real_ones(script, tmp_path):
    grid = Grid({"network": "lookup", "n": 20, "t": [5, 9]}, trials=700)
    script.make_study(tmp_path / "s.db", grid)
    study = read_study(tmp_path / "s.db")
    assert (study.trials, study.missing, study.by_other_code, study.notes) == (1400, 0, 0, [])
    drawn = next(each.outcome for each in study.finished if each.outcome)
    assert set(drawn) == set(run_trial({"network": "attractor", "n": 20, "m": 30, "t": 5}, seed_of(0, "here", 0)))
