"""docs/capacity.rst: its tables are those of the saved results, and it shows every one of them."""

import json

import pytest

import written_pages
from seqattractor.paper.target import Result
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "capacity_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("capacity_page")


def test_the_tables_are_those_of_the_saved_results(script):
    saved = Result(json.loads(script.KEPT.read_text()))
    assert (DOCS / RESULTS).read_text() == script.page(saved)


def test_every_part_is_shown_and_every_part_shown_is_there(script):
    assert (
        parts_shown("capacity.rst", RESULTS)
        == parts_written(RESULTS)
        == sorted(("verdict", "source", *script.TABLES))
    )


def test_the_page_says_where_its_numbers_come_from(script):
    saved = json.loads(script.KEPT.read_text())
    text = script.source(Result(saved))
    assert f"N = {saved['settings']['N']}, M = {saved['settings']['M']}" in text
    assert "Trials in a cell: length " in text
