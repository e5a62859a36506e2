"""Comparisons and capacities on a Dask cluster: the same bytes as in this process, also when a worker dies in a trial."""

import json

import pytest
from click.testing import CliRunner

import seqattractor as sa
from seqattractor.cli.capacity import command as capacity_command
from seqattractor.tasks.capacity import capacity
from seqattractor.tasks.compare import compare

distributed = pytest.importorskip("distributed")

FRAGILE = """
import os, signal
from pathlib import Path
import seqattractor as sa

class Fragile(sa.LookupMemory):
    def fit(self, X, lengths=None):
        died = Path({died!r})
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, lengths)
"""


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster.scheduler_address


def test_a_comparison_on_a_cluster_gives_the_same_bytes_with_a_worker_killed_and_a_network_of_the_users(tmp_path, address):
    class Local(sa.LookupMemory):
        """Known to this function only."""

    path, died = tmp_path / "fragile.py", tmp_path / "died"
    path.write_text(FRAGILE.format(died=str(died)))
    arguments = {"values": [5, 9], "trials": 3, "files": [str(path)]}
    there = compare("random", {"local": Local(), "hebbian": sa.HebbianMemory()}, dask=address, **arguments)
    assert died.exists()
    here = compare("random", {"local": Local(), "hebbian": sa.HebbianMemory()}, **arguments)
    assert there.to_json() == here.to_json()
    assert there.row("Fragile", 9)["successes"] == 3


def test_capacities_on_a_cluster_are_those_of_this_process(tmp_path, address):
    options = {"n": [20, 30], "flips": 1, "success": 0.5, "max_trials": 12}
    here, there = (capacity("hebbian", **options, dask=dask) for dask in (None, address))
    assert json.dumps(there.rows()) == json.dumps(here.rows())


@pytest.mark.slow
def test_a_cluster_of_this_machine_gives_the_same_files(tmp_path):
    options = ["--network", "hebbian", "--n", "20,30", "--flips", "1", "--success", "0.5", "--max-trials", "12"]
    for name, who in {"one": ["--jobs", "1"], "dask": ["--dask", "local", "--jobs", "2"]}.items():
        arguments = [*options, *who, "-o", str(tmp_path / f"{name}.csv")]
        assert CliRunner().invoke(capacity_command, arguments, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "dask.csv").read_bytes()
    found = [compare("noise", ["hebbian", "lookup"], values=[0, 20], trials=2, dask=dask).to_json() for dask in (None, "local")]
    assert found[0] == found[1]
