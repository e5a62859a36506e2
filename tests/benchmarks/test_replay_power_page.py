"""The tables of the page on tests of replay are those of the saved results."""

import json

import pytest

import written_pages
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "replay_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("replay_power")


@pytest.fixture(scope="module")
def saved(script):
    return json.loads(script.SAVED.read_text())


def test_the_tables_are_those_of_the_saved_results(script, saved):
    assert (DOCS / RESULTS).read_text() == script.page(saved)


def test_every_part_is_shown_once():
    assert parts_shown("replay_methods.rst", RESULTS) == parts_written(RESULTS)


def test_every_condition_and_method_was_measured_on_held_out_seeds(script, saved):
    assert saved["settings"]["first_seed"] == script.FIRST_SEED >= 2000
    assert saved["settings"]["first_of_nulls"] == script.FIRST_OF_NULLS >= 6000
    for name, _, events, n_recordings, methods in script.conditions():
        assert set(saved["cells"][name]) == set(methods), name
        for cell in saved["cells"][name].values():
            assert cell["events"] == {kind: n * n_recordings for kind, n in events.items()}


def test_false_positives_under_every_null_are_near_the_level(script, saved):
    for null in script.SHUFFLES:
        cell = saved["cells"]["nulls"][null]
        found, events = (sum(cell[what][k] for k in script.NOISE) for what in ("found", "events"))
        assert events == 2000
        assert 0.03 <= found / events <= 0.07, null
        assert sum(cell["false"]) == found


def test_no_event_is_found_more_often_than_there_are_events(saved):
    for cells in saved["cells"].values():
        for cell in cells.values():
            assert all(0 <= cell["found"][kind] <= n for kind, n in cell["events"].items())
