"""Trials on a Dask cluster; needs the extra `seqattractor[dask]`."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import islice, takewhile
from typing import Any

from seqattractor import __version__
from seqattractor._children import safe_path
from seqattractor._dask import PATIENCE, ClusterLost, Watch, in_a_line, quiet_logs
from seqattractor.study.executors import (
    HOW_TO_START,
    Executor,
    Trials,
    died,
    do_trials,
    without_ctrl_c,
)
from seqattractor.study.protocol import Trial
from seqattractor.study.store import Finished

_CHUNKS = 4  # chunks of trials that wait for each thread of the cluster
_CHUNK_SECONDS = (
    0.2  # short trials travel together, so that Dask's milliseconds for each task do not count
)
_GIVE_UP = 3  # Dask gives up on a task after four deaths of workers; we after this many times that
_FAREWELL = 10  # seconds that a cluster gets to close in order


def on_dask(address: str, jobs: int = 1) -> Executor:
    """Do trials on the Dask cluster with this address, or with "local" on one of this machine, of
    `jobs` workers.
    """

    def run(trials: Trials) -> Generator[list[Finished], None, None]:
        with connect(address, jobs) as client:
            yield from _Cluster(client, address).run(trials)

    return run


@contextmanager
def connect(address: str, jobs: int = 1) -> Iterator[Any]:
    """Connect to a cluster, or start one ("local", of `jobs` workers) as long as this lasts; see
    that it runs this version.
    """
    distributed = _distributed()
    with quiet_logs():
        if address == "local":
            options = {
                "threads_per_worker": 1,
                "dashboard_address": ":0",
                "silence_logs": logging.CRITICAL,
            }
            try:
                with without_ctrl_c():
                    cluster = distributed.LocalCluster(n_workers=jobs, processes=True, **options)
            except RuntimeError as error:
                raise OSError(
                    "the workers of a local Dask cluster died as they started "
                    f"({in_a_line(error)}). {HOW_TO_START}"
                ) from None
            # Workers that die are replaced at any time.
            with safe_path(), _closing(cluster), _closing(distributed.Client(cluster)) as client:
                cluster.adapt(
                    minimum=jobs, maximum=jobs, interval="2s"
                )  # a nanny whose worker dies as it starts gives up
                yield client
            return
        try:
            client = distributed.Client(address, timeout=10)
        except (OSError, ValueError, TimeoutError) as error:
            raise ValueError(
                f"there is no Dask scheduler at {address} ({error}); start one with `dask "
                "scheduler`."
            ) from None
        with _closing(client):
            _check_workers(client, address)
            yield client


@contextmanager
def _closing(member: Any) -> Iterator[Any]:
    """Close a client or a cluster in the end; if it does not answer, go without."""
    try:
        yield member
    finally:
        with suppress(
            OSError, TimeoutError, AssertionError
        ):  # the last is distributed's own, of a close that was cut short
            member.close(timeout=_FAREWELL)


def _distributed() -> Any:
    """The package `distributed`, which is large and optional."""
    try:
        return import_module("distributed")
    except ImportError:
        raise ValueError(
            "Dask is not installed; install it with: pip install 'seqattractor[dask]'."
        ) from None


def _check_workers(client: Any, address: str) -> None:
    """Wait for a worker, and reject workers that run other code: their results would not be those
    of this code.
    """
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        seconds = f"{PATIENCE:.0f} s"
        raise ValueError(
            f"no Dask worker came to {address} in {seconds}; start one with `dask worker "
            f"{address}`."
        ) from None
    here = __version__  # edits of the same version show in the version that every trial records
    try:
        versions = client.run(_version)
    except ImportError as error:
        raise ValueError(
            f"seqattractor is not installed on the Dask workers ({error}); install {here} there."
        ) from None
    for worker, there in versions.items():
        if there != here:
            raise ValueError(
                f"the Dask worker {worker} runs seqattractor {there}, but this is {here}; install "
                "the same there."
            )


def _version() -> str:
    """The version of the package on the machine where this runs."""
    return __version__


class _Cluster:
    """A cluster, supplied with chunks of trials."""

    def __init__(self, client: Any, address: str) -> None:
        self.client, self.address = client, address
        # The loop of this client: by default it is that of the client in whose `with` we are
        # called, and answers may be lost.
        self.completed = _distributed().as_completed(
            loop=client.loop, with_results=True, raise_errors=False
        )
        self.watch = Watch(client)
        self.pending: dict[Any, list[Trial]] = {}
        self.deaths: Counter[tuple[str, int]] = Counter()
        self.chunk = 1

    def run(self, trials: Trials) -> Iterator[list[Finished]]:
        """Yield trials as they finish."""
        while True:
            self._fill(trials)
            if not self.pending:
                return
            for future, result in self._next_batch():
                chunk = self.pending.pop(future)
                if future.status == "finished":
                    seconds = sum(each.seconds for each in result) / len(result)
                    self.chunk = max(1, min(64, round(_CHUNK_SECONDS / max(seconds, 1e-4))))
                    yield result
                else:
                    yield self._again(chunk, result)

    def _fill(self, trials: Trials) -> None:
        """Submit as many chunks as the cluster should have waiting."""
        with self._one_sentence():
            threads = self.watch.threads()
        for _ in range(_CHUNKS * threads - len(self.pending)):
            chunk = [
                trial for trial in takewhile(bool, islice(trials, self.chunk)) if trial is not None
            ]
            if not chunk:
                return
            self._submit(chunk)

    def _submit(self, chunk: list[Trial]) -> None:
        """Hand a chunk to the cluster."""
        with self._one_sentence():
            future = self.watch.ask(lambda: self.client.submit(do_trials, chunk, pure=False))
        self.pending[future] = chunk
        self.completed.add(future)

    def _next_batch(self) -> list[tuple[Any, Any]]:
        """Wait for chunks that are over, as long as there is a cluster that may do them."""
        with self._one_sentence():
            while not (batch := self.completed.next_batch(block=False)):
                self.watch.threads()
                time.sleep(0.005)
        return list(batch)

    def _again(self, chunk: list[Trial], problem: Any) -> list[Finished]:
        """Resubmit the trials of a chunk whose workers died, one by one; returns those that are
        given up.
        """
        killed = isinstance(problem, _distributed().KilledWorker)
        if isinstance(problem, Exception) and not killed:
            with self._one_sentence():
                raise ClusterLost(in_a_line(problem))
        given_up = []
        for trial in chunk:
            self.deaths[trial.key] += killed and len(chunk) == 1
            if self.deaths[trial.key] < _GIVE_UP:
                self._submit([trial])
            else:
                given_up.append(died(trial))
        return given_up

    @contextmanager
    def _one_sentence(self) -> Iterator[None]:
        """Turn a lost cluster into one sentence with the remedy."""
        try:
            yield
        except ClusterLost as error:
            rest = (
                "finished trials are saved: start the cluster again, then run the same command "
                "again."
            )
            raise OSError(f"the Dask cluster ({self.address}) was lost: {error}; {rest}") from error
