"""The table of two versions says what was measured, and why there is nothing where a version was given up."""

import json

import pytest

import kept_pages
from kept_pages import DOCS


@pytest.fixture(scope="module")
def script():
    return kept_pages.script("old_and_new")


def test_the_table_is_that_of_the_kept_results_and_is_shown(script):
    assert script.PAGE.read_text() == script.page(json.loads(script.RESULTS.read_text()))
    assert f".. include:: {script.PAGE.name}\n" in (DOCS / "engine.rst").read_text()


def row_of(page, what):
    """The cells of a row of the first table."""
    lines = page.split(f"* - {what}\n")[1].split("   * - ")[0].splitlines()
    return [line.strip().removeprefix("- ") for line in lines if line.startswith("     - ")]


def test_both_versions_stand_side_by_side_with_their_ratio_and_memory(script):
    measured = {"old": {"result": 0.25, "peak_mb": 200.4}, "new": {"result": 0.1, "peak_mb": 1100.0}}
    page = script.page({"random-150": {"date": "2026-11-17", "load": 1.5, **measured}})
    assert row_of(page, script.CASES["random-150"]) == ["250 ms", "100 ms", "2.5", "200 MB", "1,100 MB"]
    assert "2026-11-17 with a load of 1.5 to 1.5" in page
    assert script.CASES["digits"] not in page


def test_a_case_that_was_given_up_says_so_and_has_no_ratio(script):
    measured = {"old": {"given_up": "given up after 60 s"}, "new": {"result": 1.25, "peak_mb": 400.0}}
    page = script.page({"long-20000": {"date": "2026-11-17", "load": 1.5, **measured}})
    assert row_of(page, script.CASES["long-20000"]) == ["given up after 60 s", "1.25 s", "–", "–", "400 MB"]


def test_exponents_are_shown_where_they_were_measured(script):
    laws = {"N": 1.0, "M": 0.5, "T": 2.25, "cues": 0.9}
    both = {"old": {"result": laws}, "new": {"result": laws | {"T": 1.5}}}
    page = script.page({"growth": {"date": "2026-11-17", "load": 1.5, **both}})
    assert "2.25\n     - 1.50" in page
