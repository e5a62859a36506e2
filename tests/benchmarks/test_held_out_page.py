"""The held-out cases of docs/sparse.rst: tables are those of the saved results, and a study gives
what is saved of it.
"""

import json

import pytest

import written_pages
from seqattractor.study import Grid, run_sweep
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "held_out_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("held_out")


def test_the_tables_are_those_of_the_saved_results(script):
    assert (DOCS / RESULTS).read_text() == script.page(json.loads(script.KEPT.read_text()))


def test_every_part_is_shown_once(script):
    assert (
        parts_shown("sparse.rst", RESULTS)
        == parts_written(RESULTS)
        == sorted((*script.KINDS, "large"))
    )


def test_saved_cases_are_those_of_the_grids(script):
    sizes = {
        (kind, n, m, t)
        for (kind, n, m), grid in script.cases(1).items()
        for t in grid.settings["t"]
    }
    saved = {
        tuple(row[key] for key in ("kind", "n", "m", "t"))
        for row in json.loads(script.KEPT.read_text())
    }
    assert saved == sizes | {("random", *(script.LARGE[key] for key in ("n", "m", "t")))}


def test_trials_of_a_study_are_sorted_by_kind_and_averaged(script, tmp_path):
    always = script.ALWAYS | {"n": 20, "m": 30, "t": 6, "flips": 2, "max_epochs": 30}
    grids = [Grid(always | given, trials=2, seed=1) for _, given in script.KINDS.values()]
    run_sweep(grids, tmp_path / "s.db")
    rows = script.results(tmp_path / "s.db")
    assert sorted(row["kind"] for row in rows) == sorted(script.KINDS)
    assert all(
        row["trials"] == 2 and 0 <= row["successes"] <= 2 and 0 <= row["basin"] <= 1 for row in rows
    )
