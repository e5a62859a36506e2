"""The table of docs/engine.rst about clusters is that of the saved results, and what it computes
follows from these.
"""

import json

import numpy as np
import pytest

import seqattractor as sa
import written_pages
from seqattractor.engine.exact.fields import Gram
from written_pages import DOCS


@pytest.fixture(scope="module")
def script():
    return written_pages.script("cluster")


def test_the_table_is_that_of_the_saved_results_and_is_shown(script):
    saved = json.loads(script.KEPT.read_text())
    assert script.PAGE.read_text() == script.page(saved)
    assert f".. include:: {script.PAGE.name}\n" in (DOCS / "engine.rst").read_text()
    for each in (saved["fit"], saved["trials"]):
        assert tuple(run["workers"] for run in each["runs"]) == script.WORKERS
    one, two = saved["fit"]["runs"]
    assert [one[name] for name in ("epochs", "updates")] == [
        two[name] for name in ("epochs", "updates")
    ]
    assert (
        two["bytes_sent"] - one["bytes_sent"] >= one["bytes_to_each"]
    )  # more blocks also have more counts of errors


def test_the_page_on_sweeps_says_that_a_cluster_is_not_for_speed_with_the_saved_seconds(script):
    one, two = (run["seconds"] for run in json.loads(script.KEPT.read_text())["fit"]["runs"])
    said = " ".join((DOCS / "sweeps.rst").read_text().split())
    assert (
        "That is meant for workers with little memory, which hold only their blocks, and not for "
        "speed" in said
    )
    assert (
        f"two workers took {two:.1f} s where one took {one:.1f} s, with nothing to gain from more"
        in said
    )
    assert "not for speed" in " ".join(sa.SequenceAttractor.fit_on_cluster.__doc__.split())


def test_on_paper_tasks_are_shared_and_each_worker_gets_its_copy(script):
    run = {
        "workers": 1,
        "client_seconds": 2.0,
        "worker_seconds": 8.0,
        "bytes_to_each": 100,
        "bytes_sent": 400,
    }
    assert script.on_paper(run, 1) == 10.0
    assert script.on_paper(run, 5) == 2.0 + 4 * 0.5 + 1.6


def test_a_size_is_that_of_all_arrays_wherever_they_are(script):
    K = Gram(np.ones((3, 32), dtype=np.int16))
    assert script.size_of(
        [np.zeros(5), (np.zeros(2, dtype=np.int8), 7), K]
    ) == 40 + 2 + script.size_of(K)
    assert script.size_of(K) == K.K.nbytes + K.ahead.nbytes


@pytest.mark.parametrize(
    ("count", "told"),
    [(7, "7 bytes"), (1500, "1.5 kB"), (2_000_000, "2.0 MB"), (8_400_000_000, "8.4 GB")],
)
def test_bytes_are_given_in_a_unit_that_one_can_read(script, count, told):
    assert script.told_bytes(count) == told
