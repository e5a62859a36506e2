"""Pages of targets of `seqattractor reproduce`: their tables are those of the saved results, and
each shows every one of them.
"""

import json
import re

import pytest

import written_pages
from written_pages import DOCS, ROOT, parts_shown, parts_written

PARTS = {"continual": 4, "spikes": 2}


@pytest.fixture(params=PARTS)
def name(request):
    return request.param


@pytest.fixture
def saved(name):
    return json.loads((ROOT / "benchmarks" / f"{name}.json").read_text())


def test_the_tables_are_those_of_the_saved_results(name, saved):
    page = written_pages.script(f"{name}_page").page(saved)
    assert (DOCS / f"{name}_results.inc").read_text() == page


def test_every_part_is_shown_once(name):
    results = f"{name}_results.inc"
    assert parts_shown(f"{name}.rst", results) == parts_written(results)
    assert len(parts_written(results)) == PARTS[name]


def test_the_command_on_the_page_is_the_one_that_made_the_saved_results(name, saved):
    page = (DOCS / f"{name}.rst").read_text()
    command = rf"^ +\$ seqattractor reproduce {name} --seed (\d+) --trials (\d+) "
    [(seed, trials)] = re.findall(command, page, re.MULTILINE)
    assert saved["settings"]["seed"] == int(seed)
    assert saved["settings"]["trials"] == int(trials) >= 20
