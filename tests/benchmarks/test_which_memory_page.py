"""The page that helps to choose a memory is made from saved results, and says who is best by rules
that can be checked.
"""

import json

import pytest

import written_pages
from seqattractor.networks import REGISTRY
from seqattractor.study.tuning import tuned
from written_pages import DOCS, parts_shown, parts_written

RESULTS = "which_memory_results.inc"


@pytest.fixture(scope="module")
def script():
    return written_pages.script("which_memory")


@pytest.fixture(scope="module")
def saved(script):
    return json.loads(script.KEPT.read_text())


def test_the_tables_are_those_of_the_saved_results(script, saved):
    assert (DOCS / RESULTS).read_text() == script.page(saved)


def test_every_part_is_shown_once():
    assert (
        parts_shown("which_memory.rst", RESULTS)
        == parts_written(RESULTS)
        == ["decision", "everything", "rejections"]
    )


def test_every_network_and_protocol_was_measured(script, saved):
    assert [n["network"] for n in saved["networks"]] == list(REGISTRY)
    for protocol, (values, *_) in script.CASES.items():
        for name in REGISTRY:
            wanted = (
                list(values[:2] if name in script.SLOW else values)
                if script.takes_part(name, protocol)
                else []
            )
            assert [row["value"] for row in script.rows_of(saved, protocol, name)] == wanted, (
                protocol,
                name,
            )


def test_every_row_has_the_setting_that_tuning_chose(saved):
    """A setting that tuning changes later makes the results out of date."""
    for each in saved["rows"]:
        assert each["setting"] == tuned(each["network"], each["protocol"]).origin, (
            each["protocol"],
            each["network"],
        )


def network(name, **kind):
    """What a network is."""
    return {
        "network": name,
        "family": "rival",
        "stores_patterns": False,
        "online": True,
        "local": True,
        "note": "",
        **kind,
    }


def row(name, value, successes, *, protocol="random", parameters=10, in_phase=None):
    """What a network did."""
    return {
        "protocol": protocol,
        "network": name,
        "value": value,
        "trials": 4,
        "successes": successes,
        "parameters": parameters,
        "in_phase": in_phase,
        "order": 1,
        "error": None,
    }


def test_the_best_network_reaches_the_hardest_value_and_the_smallest_of_equals_comes_first(script):
    rows = [
        row("gap", 20, 1),
        row("gap", 50, 4),
        row("big", 20, 4, parameters=99),
        row("big", 50, 2, parameters=99),
    ]
    rows += [row("small", 20, 4), row("small", 50, 2), row("weak", 20, 4), row("weak", 50, 1)]
    names, where = script.best({"rows": rows}, "random", ["gap", "big", "small", "weak"])
    assert names == ["small", "big"]
    assert (where["network"], where["value"], where["successes"]) == ("small", 50, 2)
    assert script.best({"rows": rows}, "random", ["gap"]) == ([], None)


def test_only_success_in_phase_counts_unless_the_network_dwells(script):
    rows = [
        row("shifted", 0, 4, protocol="walker", in_phase=0),
        row("dwelling", 0, 4, protocol="walker"),
    ]
    assert script.best({"rows": rows}, "walker", ["shifted", "dwelling"])[0] == ["dwelling"]


def test_each_kind_of_memory_has_a_row_for_each_need(script):
    rows = [row(name, 20, 4) for name in ("learned", "stored")]
    networks = [network("learned"), network("stored", stores_patterns=True, note="keeps all")]
    table = script.decision({"networks": networks, "rows": rows})
    assert len(table.rows) == len(script.CASES) * len(script.GROUPS)
    assert [line[2] for line in table.rows[:3]] == ["learned", "none", "stored"]
    assert table.rows[2][3:] == ["4 of 4 at T = 20; 10 parameters", "keeps all"]
