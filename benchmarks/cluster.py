"""One large fit, and the trials of a table, on a Dask cluster of one and of two worker processes (docs/engine.rst).

    python benchmarks/cluster.py --measure                             # N=65,536, M=4,000: needs some 19 GB
    python benchmarks/cluster.py --measure --n 4096 --m 1000 --trials 4  # a smaller one, to try it
    python benchmarks/cluster.py                                       # writes the page from what was kept

Workers have one thread each and sit on this machine, so that what is sent goes through its loopback. All that passes through
the client is counted by the sizes of its arrays. Results are kept in benchmarks/cluster.json.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rst import list_table

import seqattractor as sa
from seqattractor.experiments import Store
from seqattractor.experiments._protocol import Protocol
from seqattractor.paper.reproduce import reproduce
from seqattractor.paper.target import Request
from seqattractor.report.machine import machine
from seqattractor.report.page import Table

HERE = Path(__file__).parent
KEPT = HERE / "cluster.json"
PAGE = HERE.parent / "docs" / "cluster_results.inc"
WORKERS = (1, 2)
ON_PAPER = (10, 100)
TABLE = Protocol("table1", "seqattractor.paper.trials.retrieval:retrieve_sequence")


class CountingClient:
    """A client of Dask that counts the bytes it sends and gets, and the seconds that its tasks take on workers."""

    def __init__(self, client: Any, workers: int) -> None:
        self._client, self._workers = client, workers
        self.to_each = self.to_one = self.back = 0
        self.task_seconds: list[float] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def scatter(self, data: Any, **options: Any) -> Any:
        """Send data to one worker, or to each."""
        if options.get("broadcast"):
            self.to_each += size_of(data)
        else:
            self.to_one += size_of(data)
        return self._client.scatter(data, **options)

    def submit(self, function: Any, *args: Any, **options: Any) -> Any:
        """Let a worker measure how long it takes."""

        def timed(*args: Any) -> tuple[Any, float]:  # inside, so that it travels as a whole: workers do not have this script
            started = time.perf_counter()
            return function(*args), time.perf_counter() - started

        return self._client.submit(timed, *args, **options)

    def gather(self, tasks: Any) -> Any:
        """Get results."""
        found, seconds = zip(*self._client.gather(tasks), strict=True)
        self.back += sum(map(size_of, found))
        self.task_seconds += seconds
        return list(found)

    @property
    def sent(self) -> int:
        """All bytes that went to workers or came back."""
        return self._workers * self.to_each + self.to_one + self.back


def size_of(data: Any) -> int:
    """Bytes of the arrays in some data."""
    if isinstance(data, np.ndarray):
        return data.nbytes
    if isinstance(data, tuple | list):
        return sum(map(size_of, data))
    return sum(map(size_of, vars(data).values())) if hasattr(data, "__dict__") else 0


@contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    """A client of a new cluster on this machine, whose workers have the kernels compiled and loaded."""
    import distributed

    # Dask would begin to write data to disk when 60% of what it believes to be a worker's memory is full.
    options = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=workers, processes=True, **options) as cluster, distributed.Client(cluster) as client:
        client.run(warm_up)
        yield client


def warm_up() -> None:
    """Learn something small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for T in (12, 60):  # the longer one does not converge, so that visible neurons see flips, too
            sa.SequenceAttractor(70, random_state=0, max_epochs=20).fit(sa.datasets.random_periodic(T, 40, rng=0))


def measure_fit(N: int, M: int, T: int) -> dict[str, Any]:
    """The fit with each number of workers."""
    X = sa.datasets.random_periodic(T, N, rng=0)
    runs = []
    for workers in WORKERS:
        with cluster_of(workers) as client:
            counting = CountingClient(client, workers)
            net = sa.SequenceAttractor(M, random_state=0)
            load, started = machine()["load"], time.perf_counter()
            net.fit_on_cluster(counting, X)
            seconds = time.perf_counter() - started
        runs.append(
            {
                "workers": workers,
                "load": load,
                "seconds": seconds,
                "task_seconds": sum(counting.task_seconds),
                "bytes_to_each": counting.to_each,
                "bytes_sent": counting.sent,
                "epochs": net.n_iter_,
                "converged": net.converged_,
                "updates": int(net.hidden_errors_.sum() + net.visible_errors_.sum()),
            }
        )
        print(runs[-1], flush=True)
    return {"N": N, "M": M, "n": len(X) - 1, "runs": runs}


def measure_trials(trials: int) -> dict[str, Any]:
    """`reproduce table1` with each number of workers."""
    runs = []
    for workers in WORKERS:
        with cluster_of(workers) as client, tempfile.TemporaryDirectory() as folder:
            load, started = machine()["load"], time.perf_counter()
            reproduce(["table1"], Request(trials=trials), Path(folder), dask=client.scheduler.address)
            seconds = time.perf_counter() - started
            with Store(Path(folder) / "trials.db", readonly=True) as store:
                finished = list(store.finished(TABLE))
        runs.append(
            {
                "workers": workers,
                "load": load,
                "seconds": seconds,
                "task_seconds": sum(each.seconds for each in finished),
                "bytes_to_each": 0,
                "bytes_sent": sum(len(pickle.dumps(each.trial)) + len(pickle.dumps(each)) for each in finished),
                "trials": len(finished),
            }
        )
        print(runs[-1], flush=True)
    return {"runs": runs}


def on_paper(run: dict[str, Any], workers: int) -> float:
    """Seconds with more workers, from a run with one: tasks are shared, all else stays.

    What every worker needs is sent to each by the client. All time outside tasks is taken for sending, so that bytes are sent
    at the lowest rate that the run allows.
    """
    outside = run["seconds"] - run["task_seconds"]
    copies = outside * run["bytes_to_each"] / run["bytes_sent"]
    return float(outside + (workers - 1) * copies + run["task_seconds"] / workers)


def page(results: dict[str, Any]) -> str:
    """The table, and what was measured."""
    fit, trials = results["fit"], results["trials"]
    first, last = fit["runs"][0], trials["runs"][0]
    names = {
        f"one fit, N={fit['N']:,}, M={fit['M']:,}, {fit['n']} transitions, {first['epochs']} epochs": fit,
        f"reproduce table1, {last['trials']} trials": trials,
    }
    table = Table(
        caption="Seconds on a Dask cluster, by worker processes of one thread",
        columns=["what", "1 worker (in tasks)", "2 workers (in tasks)", "efficiency", "sent with 2"]
        + [f"{workers} on paper" for workers in ON_PAPER],
        rows=[[name, *cells(each["runs"])] for name, each in names.items()],
    )
    machine = results["machine"]
    loads = ", ".join(f"{run['load']}" for each in (fit, trials) for run in each["runs"])
    return (
        f"{list_table(table)}\n\nMeasured {machine['date']} on one {machine['cpu']} with {machine['cores']} cores, which client, "
        f"scheduler and workers share (load at the start of each run: {loads}), Python {machine['python']}, by "
        "``benchmarks/cluster.py``.\n"
    )


def cells(runs: list[dict[str, Any]]) -> list[str]:
    """What was measured, and what more workers would give."""
    one, two = runs
    return [
        *(f"{run['seconds']:.1f} s ({run['task_seconds']:.1f} s)" for run in runs),
        f"{one['seconds'] / two['seconds'] / 2:.0%}",
        told_bytes(two["bytes_sent"]),
        *(f"{on_paper(one, workers):.1f} s" for workers in ON_PAPER),
    ]


def told_bytes(count: int) -> str:
    """Bytes in a unit that one can read."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--n", type=int, default=65536)
    parser.add_argument("--m", type=int, default=4000)
    parser.add_argument("--t", type=int, default=300)
    parser.add_argument("--trials", type=int, default=20, help="in each cell of the table")
    options = parser.parse_args()
    if options.measure:
        results = {
            "machine": machine(),
            "fit": measure_fit(options.n, options.m, options.t),
            "trials": measure_trials(options.trials),
        }
        KEPT.write_text(json.dumps(results, indent=1) + "\n")
    PAGE.write_text(page(json.loads(KEPT.read_text())))


if __name__ == "__main__":
    main()
