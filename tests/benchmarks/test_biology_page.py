"""docs/biology.rst: its tables and paragraphs are those of the saved results, and it shows each
of them.
"""

import json

import pytest

import written_pages
from seqattractor.paper.biology import FIXED, TRIALS
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "biology_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("biology_page")


@pytest.fixture(scope="module")
def saved(script):
    return json.loads(script.KEPT.read_text())


def test_the_page_is_that_of_the_saved_results(script, saved):
    assert (DOCS / RESULTS).read_text() == script.page(saved)


def test_every_part_is_shown_once():
    assert parts_shown("biology.rst", RESULTS) == parts_written(RESULTS)


def test_every_cell_has_at_least_fifty_trials(saved):
    assert saved["settings"]["seed"] == 0
    for row in saved["rows"]:
        if row["part"] == "longest":
            searched = row["kind"] in ("none", "dilution", "bits", "dale", "activity")
            lengths = saved["settings"]["lengths"][row["network"]]
            assert row["trials"] == (TRIALS if searched else FIXED * len(lengths))
        elif row["part"] != "length":  # whose lengths share the trials of a search
            assert row["trials"] == FIXED
