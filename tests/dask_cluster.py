"""A Dask cluster of processes that a test can kill: a scheduler and workers, as `dask scheduler`
and `dask worker` start them.
"""

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace


@contextmanager
def dask_cluster(folder, n_workers):
    """Start a scheduler and workers; gives its address, and the processes to kill."""
    file = folder / "scheduler.json"
    to = ["--scheduler-file", str(file), "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    def start(kind, *options):
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *to, *options], **quiet
        )

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
    workers = [start("worker", "--nthreads", "1", "--no-nanny") for _ in range(n_workers)]
    try:
        while not (file.exists() and file.read_text().strip().endswith("}")):
            assert scheduler.poll() is None
            time.sleep(0.05)
        yield SimpleNamespace(
            address=json.loads(file.read_text())["address"], scheduler=scheduler, workers=workers
        )
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
