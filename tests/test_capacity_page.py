"""docs/capacity.rst: its tables are those of the kept results, and it shows every one of them."""

import json
import re
import sys
from pathlib import Path

import pytest

from seqattractor.paper.target import Result

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import capacity_page
    finally:
        sys.path.pop(0)
    return capacity_page


def test_the_tables_are_those_of_the_kept_results(script):
    kept = Result(json.loads(script.KEPT.read_text()))
    assert (ROOT / "docs" / "capacity_results.inc").read_text() == script.page(kept)


def test_every_part_is_shown_and_every_part_shown_is_there(script):
    written = (ROOT / "docs" / "capacity_results.inc").read_text()
    shown = re.findall(r":start-after: \.\. begin (\w+)", (ROOT / "docs" / "capacity.rst").read_text())
    assert (
        sorted(shown)
        == sorted(re.findall(r"^\.\. begin (\w+)$", written, re.MULTILINE))
        == sorted(("verdict", "source", *script.TABLES))
    )


def test_the_page_says_where_its_numbers_come_from(script):
    kept = json.loads(script.KEPT.read_text())
    text = script.source(Result(kept))
    assert f"N = {kept['settings']['N']}, M = {kept['settings']['M']}" in text
    assert "Trials in a cell: length " in text
