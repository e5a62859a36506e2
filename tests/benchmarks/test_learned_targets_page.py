"""docs/learned_targets.rst: its tables are those of the saved results, and it shows every one of
them.
"""

import json
import re

import pytest

import written_pages
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "learned_targets_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("learned_targets_page")


def test_the_tables_are_those_of_the_saved_results(script):
    assert (DOCS / RESULTS).read_text() == script.page(json.loads(script.KEPT.read_text()))


def test_every_part_is_shown_once(script):
    assert parts_shown("learned_targets.rst", RESULTS) == parts_written(RESULTS)
    assert {"counts", *script.STUDIES} < set(parts_written(RESULTS))


def test_the_commands_on_the_page_are_those_that_made_the_saved_results(script):
    """Sizes, lengths, flips, strengths, trials and seed of every study, and the trials of Table
    1.
    """
    saved = json.loads(script.KEPT.read_text())
    commands = (DOCS / "learned_targets.rst").read_text().replace("\\\n", " ")
    names = {
        "m": "M",
        "t": "T",
        "flips": "flips",
        "set learned_feedback": "lambda",
        "trials": "trials",
        "seed": "seed",
    }
    for study in script.STUDIES:
        [command] = re.findall(rf"^ +\$ (.*) +--out OUT/{study}\.db$", commands, re.MULTILINE)
        for option, name in names.items():
            [values] = re.findall(rf"--{option}[ =](\S+)", command)
            assert sorted({row[name] for row in saved[study]}) == sorted(
                map(float, values.split(","))
            ), (study, name)
    assert saved["table1"]["settings"]["trials"] == 100  # the default of `reproduce`
