"""Comparisons and capacities on a Dask cluster: the same bytes as in this process, also when a
worker dies in a trial.
"""

import json
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

import seqattractor as sa
from dask_cluster import dask_cluster
from seqattractor._dask import ClusterLost, Watch
from seqattractor.cli.capacity import command as capacity_command
from seqattractor.study import Grid, run_sweep
from seqattractor.study.capacity import measure_capacity
from seqattractor.study.compare import compare

distributed = pytest.importorskip("distributed")

FRAGILE = """
import os, signal
from pathlib import Path
import seqattractor as sa

class Fragile(sa.zoo.LookupMemory):
    def fit(self, X, lengths=None):
        died = Path({died!r})
        if len(X) < 10 and not died.exists():  # not in the rehearsal of ten patterns
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, lengths)
"""


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


def test_a_comparison_on_a_cluster_gives_the_same_bytes_though_a_worker_is_killed(
    tmp_path, address
):
    class Local(sa.zoo.LookupMemory):
        """Known to this function only."""

    path, died = tmp_path / "fragile.py", tmp_path / "died"
    path.write_text(FRAGILE.format(died=str(died)))
    arguments = {"values": [5, 9], "trials": 3, "files": [str(path)]}
    there = compare(
        "random", {"local": Local(), "hebbian": sa.zoo.HebbianMemory()}, dask=address, **arguments
    )
    assert died.exists()
    here = compare("random", {"local": Local(), "hebbian": sa.zoo.HebbianMemory()}, **arguments)
    assert there.to_json() == here.to_json()
    assert there.row("Fragile", 9)["successes"] == 3


@pytest.mark.slow
def test_a_users_own_client_has_no_part_in_a_sweep(tmp_path, address):
    ended, held = threading.Event(), []
    grid = Grid({"network": "lookup", "n": 20, "t": [5, 9]}, trials=2)
    with distributed.Client(address) as client:
        client.loop.add_callback(lambda: held.append(ended.wait(100)))
        try:
            report = run_sweep(grid, tmp_path / "s.db", dask=address)
        finally:
            ended.set()
    assert report.added == 4
    assert held == [True]  # the sweep ended while the user's client could do nothing


@pytest.mark.slow
def test_capacities_on_a_cluster_are_those_of_this_process(tmp_path, address):
    options = {"n": [20, 30], "flips": 1, "success": 0.5, "max_trials": 12}
    here, there = (measure_capacity("hebbian", **options, dask=dask) for dask in (None, address))
    assert json.dumps(there.rows()) == json.dumps(here.rows())


def test_a_cluster_without_workers_is_given_up_after_a_while():
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        watch = Watch(client, patience=1.0)
        # the latter on a busy machine
        message = (
            "no worker has been at the Dask scheduler for 1 s|the Dask scheduler does not answer"
        )
        with pytest.raises(ClusterLost, match=message):
            list(iter(watch.threads, 0))


@pytest.mark.slow
def test_a_sweep_whose_scheduler_is_killed_ends_with_one_sentence_and_is_resumed(tmp_path):
    grid = Grid({"network": "lookup", "n": 20, "t": [5, 9]}, trials=300)
    path = tmp_path / "s.db"
    with dask_cluster(tmp_path, 1) as cluster:
        script = tmp_path / "run.py"
        script.write_text(
            "import os, signal, sys\nfrom seqattractor import _progress as display\nfrom "
            "seqattractor.cli import main\n"
            "from contextlib import contextmanager\n"
            "@contextmanager\ndef shown(title, *, quiet=False):\n"
            "    yield lambda progress: progress.done < 3 or os.kill(int(scheduler), "
            "signal.SIGKILL)\n"
            "scheduler = sys.argv.pop(1)\ndisplay.trial_progress = shown\nmain()\n"
        )
        options = [
            "sweep",
            "run",
            "-o",
            str(path),
            "--network",
            "lookup",
            "--n",
            "20",
            "--t",
            "5,9",
            "--trials",
            "300",
        ]
        run = [
            sys.executable,
            str(script),
            str(cluster.scheduler.pid),
            *options,
            "--dask",
            cluster.address,
        ]
        ended = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"seqattractor: the Dask cluster ({cluster.address}) was lost: ")
    assert ended.stderr.endswith(
        "; finished trials are saved: start the cluster again, then run the same command again.\n"
    )
    assert len(ended.stderr.splitlines()) == 1
    assert 3 <= run_sweep(grid, path).before < 600


@pytest.mark.slow
def test_a_cluster_of_this_machine_gives_the_same_files(tmp_path):
    options = [
        "--network",
        "hebbian",
        "--n",
        "20,30",
        "--flips",
        "1",
        "--success",
        "0.5",
        "--max-trials",
        "12",
    ]
    for name, who in {"one": ["--jobs", "1"], "dask": ["--dask", "local", "--jobs", "2"]}.items():
        arguments = [*options, *who, "-o", str(tmp_path / f"{name}.csv")]
        assert (
            CliRunner().invoke(capacity_command, arguments, catch_exceptions=False).exit_code == 0
        )
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "dask.csv").read_bytes()
    found = [
        compare("noise", ["hebbian", "lookup"], values=[0, 20], trials=2, dask=dask).to_json()
        for dask in (None, "local")
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize(("torn", "answers"), [(1, True), (2, False)])
def test_a_message_that_was_torn_is_sent_once_more(torn, answers):
    asked = []

    def question():
        asked.append(1)
        assert len(asked) > torn  # as tornado words it
        return "here"

    watch = Watch(client=None)
    if answers:
        assert watch.ask(question) == "here"
    else:
        with pytest.raises(ClusterLost, match="does not answer any more"):
            watch.ask(question)
    assert len(asked) == 2
