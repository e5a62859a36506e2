"""docs/continual.rst: its tables are those of the saved results, and it shows every one of them."""

import json
import re

import pytest

import written_pages
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "continual_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("continual_page")


def test_the_tables_are_those_of_the_saved_results(script):
    assert (DOCS / RESULTS).read_text() == script.page(json.loads(script.KEPT.read_text()))


def test_every_part_is_shown_once(script):
    assert parts_shown("continual.rst", RESULTS) == parts_written(RESULTS)
    assert len(parts_written(RESULTS)) == 4


def test_the_command_on_the_page_is_the_one_that_made_the_saved_results(script):
    settings = json.loads(script.KEPT.read_text())["settings"]
    page = (DOCS / "continual.rst").read_text()
    [seed] = re.findall(r"^ +\$ seqattractor reproduce continual --seed (\d+) ", page, re.MULTILINE)
    assert settings["seed"] == int(seed)
    assert settings["trials"] >= 20
