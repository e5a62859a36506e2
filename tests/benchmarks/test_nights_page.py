"""docs/nights.rst: its paragraphs and tables are those of the saved results, and it shows all of
them.
"""

import json
import re

import pytest

import written_pages
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "nights_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("nights_page")


def test_the_tables_are_those_of_the_saved_results(script):
    assert (DOCS / RESULTS).read_text() == script.page(json.loads(script.KEPT.read_text()))


def test_every_part_is_shown_once(script):
    assert parts_shown("nights.rst", RESULTS) == parts_written(RESULTS)
    assert set(script.TARGETS) < set(parts_written(RESULTS))


def test_the_command_on_the_page_is_the_one_that_made_the_saved_results(script):
    saved = json.loads(script.KEPT.read_text())
    [trials] = re.findall(
        r"reproduce nights sleep --trials (\d+)", (DOCS / "nights.rst").read_text()
    )
    assert {row["trials"] for name in script.TARGETS for row in saved[name]["rows"]} == {
        int(trials)
    }
