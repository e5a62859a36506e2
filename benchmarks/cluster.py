"""One large fit, and the trials of a table, on a Dask cluster of one and of two worker processes
(docs/engine.rst).

    python benchmarks/cluster.py --measure                               # N=65,536, M=4,000
    python benchmarks/cluster.py --measure --n 4096 --m 1000 --trials 4  # a smaller one, to try it
    python benchmarks/cluster.py                                         # only writes the page

Workers have one thread each and sit on this machine, so that what is sent goes through its
loopback. All that passes through the client is counted by the sizes of its arrays. Beside seconds
on the clock, which other programs on the machine lengthen, stand those of the processors: of this
process (client and scheduler) and of all workers. Results are saved in benchmarks/cluster.json.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rst import list_table

import seqattractor as sa
from seqattractor.paper.reproduce import reproduce
from seqattractor.paper.target import Request
from seqattractor.report.machine import machine
from seqattractor.report.page import Table
from seqattractor.study import Store
from seqattractor.study.protocol import Protocol

HERE = Path(__file__).parent
KEPT = HERE / "cluster.json"
PAGE = HERE.parent / "docs" / "cluster_results.inc"
WORKERS = (1, 2)
ON_PAPER = (10, 100)
TABLE = Protocol("table1", "seqattractor.paper.retrieval:retrieve_sequence")


class CountingClient:
    """A client of Dask that counts its tasks and the bytes it sends and gets."""

    def __init__(self, client: Any, workers: int) -> None:
        self._client, self._workers = client, workers
        self.back = self.tasks = 0
        self._sizes: dict[str, int] = {}
        self._for_each: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def scatter(self, data: Any, **options: Any) -> Any:
        """Send data to workers."""
        sent = self._client.scatter(data, **options)
        self._sizes |= {future.key: size_of(each) for future, each in zip(sent, data, strict=True)}
        return sent

    def submit(
        self, function: Any, block: Any, shared: Any, *arguments: Any, **options: Any
    ) -> Any:
        """Let a worker learn a block, with what all workers need."""
        self._for_each.add(shared.key)
        return self._client.submit(function, block, shared, *arguments, **options)

    @property
    def to_each(self) -> int:
        """Bytes that every worker gets."""
        return sum(self._sizes[key] for key in self._for_each)

    @property
    def to_one(self) -> int:
        """Bytes that one worker gets."""
        return sum(self._sizes.values()) - self.to_each

    def gather(self, tasks: Any) -> Any:
        """Get results."""
        found = self._client.gather(tasks)
        self.tasks += len(found)
        self.back += size_of(found)
        return found

    @property
    def sent(self) -> int:
        """All bytes that went to workers or came back."""
        return self._workers * self.to_each + self.to_one + self.back


class Spent:
    """What this process and the workers of a client use from now on: seconds, processor seconds and
    memory (Linux).
    """

    def __init__(self, client: Any) -> None:
        self._client, self._load = client, machine()["load"]
        forget_peak()
        client.run(forget_peak)
        self._before = self._now()

    def _now(self) -> tuple[float, float, float]:
        workers = sum(self._client.run(time.process_time).values())
        return time.perf_counter(), time.process_time(), workers

    def so_far(self) -> dict[str, Any]:
        """All of it, in plain values."""
        names = ("seconds", "client_seconds", "worker_seconds")
        spent = {
            name: now - then
            for name, now, then in zip(names, self._now(), self._before, strict=True)
        }
        peaks = {
            "client_megabytes": peak_memory(),
            "worker_megabytes": max(self._client.run(peak_memory).values()),
        }
        return {"load": self._load, **spent, **peaks}


def forget_peak() -> None:
    """Let the largest memory of this process be counted from now on."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """The largest memory of this process in MB."""
    (line,) = (
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmHWM:")
    )
    return round(int(line.split()[1]) * 1024 / 1e6)


def size_of(data: Any) -> int:
    """Bytes of the arrays in some data."""
    if isinstance(data, np.ndarray):
        return data.nbytes
    if isinstance(data, tuple | list):
        return sum(map(size_of, data))
    return sum(map(size_of, vars(data).values())) if hasattr(data, "__dict__") else 0


@contextmanager
def cluster_of(workers: int) -> Iterator[Any]:
    """A client of a new cluster on this machine, of which all processes have everything imported
    and loaded.
    """
    import distributed

    # Dask would begin to write data to disk when 60% of what it believes to be a worker's memory is
    # full.
    options = {
        "threads_per_worker": 1,
        "memory_limit": 0,
        "dashboard_address": ":0",
        "silence_logs": 50,
    }
    with (
        distributed.LocalCluster(n_workers=workers, processes=True, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(warm_up)
        warm_up()  # here, too: the client makes codes of a fixed U and Gram matrices
        yield client


def warm_up() -> None:
    """Learn something small."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for T in (
            12,
            60,
        ):  # the longer one does not converge, so that visible neurons see flips, too
            sa.SequenceAttractor(70, random_state=0, max_epochs=20).fit(
                sa.datasets.random_periodic(T, 40, rng=0)
            )


def measure_fit(N: int, M: int, T: int) -> dict[str, Any]:
    """The fit with each number of workers."""
    X = sa.datasets.random_periodic(T, N, rng=0)
    runs = []
    for workers in WORKERS:
        with cluster_of(workers) as client:
            counting, spent = CountingClient(client, workers), Spent(client)
            net = sa.SequenceAttractor(M, random_state=0)
            net.fit_on_cluster(counting, X)
            cost = spent.so_far()
        runs.append(
            {
                "workers": workers,
                **cost,
                "tasks": counting.tasks,
                "bytes_to_each": counting.to_each,
                "bytes_sent": counting.sent,
                "epochs": net.n_iter_,
                "converged": net.converged_,
                "updates": int(net.hidden_errors_.sum() + net.visible_errors_.sum()),
            }
        )
        print(runs[-1], flush=True)
        del net  # its weights, before the next draws its own
    return {"N": N, "M": M, "n": len(X) - 1, "runs": runs}


def measure_trials(trials: int) -> dict[str, Any]:
    """`reproduce table1` with each number of workers."""
    runs = []
    for workers in WORKERS:
        with cluster_of(workers) as client, tempfile.TemporaryDirectory() as folder:
            spent = Spent(client)
            reproduce(
                ["table1"], Request(trials=trials), Path(folder), dask=client.scheduler.address
            )
            cost = spent.so_far()
            with Store(Path(folder) / "trials.db", readonly=True) as store:
                finished = list(store.finished(TABLE))
        runs.append(
            {
                "workers": workers,
                **cost,
                "bytes_to_each": 0,
                "bytes_sent": sum(
                    len(pickle.dumps(each.trial)) + len(pickle.dumps(each)) for each in finished
                ),
                "trials": len(finished),
            }
        )
        print(runs[-1], flush=True)
    return {"runs": runs}


def on_paper(run: dict[str, Any], workers: int) -> float:
    """Seconds with more workers, from the processor time of a run: that of its workers is shared,
    all else stays.

    What every worker needs is sent to each by the client. All processor time of client and
    scheduler is taken for sending, so that bytes are sent at the lowest rate that the run allows,
    and none of it for work done while workers work.
    """
    copies = run["client_seconds"] * run["bytes_to_each"] / run["bytes_sent"]
    return float(
        run["client_seconds"]
        + (workers - run["workers"]) * copies
        + run["worker_seconds"] / workers
    )


def page(results: dict[str, Any]) -> str:
    """The table, and what was measured."""
    fit, trials = results["fit"], results["trials"]
    first, last = fit["runs"][0], trials["runs"][0]
    size = f"N={fit['N']:,}, M={fit['M']:,}, {fit['n']} transitions"
    names = {
        f"one fit, {size}, {first['epochs']} epochs": fit,
        f"reproduce table1, {last['trials']} trials": trials,
    }
    table = Table(
        caption="A Dask cluster of one and of two worker processes of one thread",
        columns=["", *names],
        rows=list(
            map(list, zip(ROWS, *(cells(each["runs"]) for each in names.values()), strict=True))
        ),
    )
    machine = results["machine"]
    loads = ", ".join(f"{run['load']}" for each in (fit, trials) for run in each["runs"])
    return (
        f"{list_table(table)}\n\nMeasured {machine['date']} on one {machine['cpu']} with "
        f"{machine['cores']} cores, which client, "
        f"scheduler and workers share (load at the start of each run: {loads}), Python "
        f"{machine['python']}, by "
        "``benchmarks/cluster.py``.\n"
    )


ROWS = [
    "seconds on the clock, 1 and 2 workers",
    "processor seconds of client and scheduler",
    "processor seconds of all workers",
    "efficiency by the clock",
    "efficiency by processor time",
    "sent, 1 and 2 workers",
    "largest memory of client and scheduler",
    "largest memory of a worker",
    *(f"seconds with {workers} workers, on paper" for workers in ON_PAPER),
]


def cells(runs: list[dict[str, Any]]) -> list[str]:
    """What was measured, and what more workers would give."""
    one, two = runs

    def both(name: str, told: Callable[[Any], str]) -> str:
        return f"{told(one[name])}, {told(two[name])}"

    return [
        *(
            both(name, "{:.1f} s".format)
            for name in ("seconds", "client_seconds", "worker_seconds")
        ),
        f"{one['seconds'] / two['seconds'] / 2:.0%}",
        f"{on_paper(one, 1) / on_paper(two, 2) / 2:.0%}",
        both("bytes_sent", told_bytes),
        *(both(name, "{:,} MB".format) for name in ("client_megabytes", "worker_megabytes")),
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--n", type=int, default=65536)
    parser.add_argument("--m", type=int, default=4000)
    parser.add_argument("--t", type=int, default=300)
    parser.add_argument("--trials", type=int, default=50, help="in each cell of the table")
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
