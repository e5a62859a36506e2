"""The exact engine on a Dask cluster: one large fit, block by block, with the same result as on one
machine.

Hidden neurons need nothing but the inputs, so blocks of them learn all epochs at once, wherever
they are. Their flips make the tape, which goes to every worker once; blocks of visible neurons then
replay it, again all epochs at once. A few blocks are on their way at a time, and what they have
learned takes the place of their start weights here, so that no machine holds all weights twice. A
block depends on what it is sent alone: if a worker dies and takes some with it, these are sent
again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from seqattractor._dask import ClusterLost, Watch, in_a_line, quiet_logs
from seqattractor.engine import kernels
from seqattractor.engine.exact.blocks import LayerBlock, VisibleBlock
from seqattractor.engine.exact.fields import Floats, Gram, Integers, start_fields
from seqattractor.engine.exact.tape import Codes
from seqattractor.engine.exact.workers import Workers
from seqattractor.engine.problem import Learned, Problem, ProgressCallback
from seqattractor.rule import sign
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

_BLOCKS = 4  # for each thread of the cluster, so that all end at about the same time
_LEAST_ROWS = 16
_BLOCK_BYTES = 2**27  # of weights, of which a worker holds a few blocks at a time
_BETWEEN = 2.0  # seconds between two questions whether the cluster is still there
_AT_ONCE = 2  # blocks for each thread: one that learns, and one that is there when it has learned
_ATTEMPTS = 5  # how often a phase may lose workers

_Result = TypeVar("_Result")


def learn(problem: Problem, *, client: Any, callback: ProgressCallback | None = None) -> Learned:
    """Learn a problem with hidden neurons on a cluster: the same as `engine.learn`.

    Hidden targets must not be learned, and the workers must have this package. The callback is
    called for all epochs when learning is over; if it stops learning, learning is repeated up to
    that epoch, for which start weights are copied.
    """
    if not kernels.available():
        raise RuntimeError(
            f"fit_on_cluster cannot be used here, but fit can: {kernels.why_unavailable()}"
        )
    U, V, z = problem.U, problem.V, problem.hidden_targets
    assert U is not None
    start = None if callback is None else replace(problem, U=U.copy(), V=V.copy())
    run = _Cluster(client, problem.kappa, problem.max_epochs)
    hidden_errors = np.zeros(problem.max_epochs, dtype=np.int64)
    flips = np.empty((0, 4), dtype=np.int32)
    seen = problem.seen(problem.inputs)
    if z is not None:
        hidden_errors, flips = run.hidden(seen, z, U, problem.input_threshold)
        y = z.copy()
        at_once = (
            flips[:, 0] == 0
        )  # what differs from the targets in the first epoch; the tape starts with these codes
        y[flips[at_once, 1], flips[at_once, 2]] = flips[at_once, 3]
        flips = flips[~at_once]
    else:
        y = sign(
            start_fields(U, seen, problem.input_threshold).T
        )  # eq. (7): a fixed U makes one code
    visible_errors = run.visible(problem.seen(y), flips, problem.targets, V)
    errors = np.stack([hidden_errors, visible_errors], axis=1)
    quiet = np.flatnonzero(~errors.any(axis=1))
    errors = (
        errors[: quiet[0] + 1] if len(quiet) else errors
    )  # after an epoch without errors nothing changes
    for epoch, (hidden, visible) in enumerate(errors.tolist(), start=1):
        if (
            start is not None
            and callback is not None
            and callback(epoch, hidden, visible)
            and epoch < len(errors)
        ):
            return learn(replace(start, max_epochs=epoch), client=client)
    return Learned(V, errors, U)


class _Cluster:
    """Hands blocks of neurons to a cluster and puts what they learned together."""

    def __init__(self, client: Any, kappa: float, max_epochs: int) -> None:
        self.client, self.kappa, self.max_epochs = client, kappa, max_epochs
        self.watch = Watch(client)

    def with_retries(self, phase: Callable[[], _Result]) -> _Result:
        """Run a phase, and retry it if workers were lost."""
        for _ in range(_ATTEMPTS):
            try:
                with quiet_logs():
                    self._wait_for_a_worker()
                    return phase()
            except ClusterLost as error:
                raise OSError(
                    f"the Dask cluster was lost: {error}; start it again, then fit again."
                ) from error
            except (
                OSError,
                CancelledError,
            ) as error:  # also what distributed raises when connections or data are lost
                problem: BaseException = error
        raise OSError(
            f"the Dask cluster failed {_ATTEMPTS} times in one fit ({in_a_line(problem)}); see "
            "what ends its workers."
        ) from problem

    def _wait_for_a_worker(self) -> None:
        """Wait for a worker, but neither for long nor for one of a scheduler that is gone."""
        if self.client.status != "running":
            raise ClusterLost("the connection to the scheduler is gone")
        try:
            self.client.wait_for_workers(1, timeout=self.watch.patience)
        except TimeoutError:
            raise ClusterLost(
                f"no worker has been at the Dask scheduler for {self.watch.patience:.0f} s"
            ) from None
        except Exception as error:
            raise ClusterLost(in_a_line(error)) from error

    def hidden(
        self, inputs: Patterns, z: Patterns, U: Floats, theta: float
    ) -> tuple[Integers, Integers]:
        """Learn U in place; returns the errors of each epoch and all flips of codes."""
        errors = np.zeros(self.max_epochs, dtype=np.int64)
        flips: dict[int, Integers] = {}

        def submit(rows: slice, shared: Any) -> Any:
            block = self._send(U[rows], z[:, rows])
            how = (self.kappa, theta, rows.start, self.max_epochs)
            return self.client.submit(_hidden_block, block, shared, *how, pure=False)

        def take(rows: slice, learned: tuple[Integers, Integers, Floats]) -> None:
            more_errors, flips[rows.start], U[rows] = learned
            np.add(errors, more_errors, out=errors)

        self._learn_blocks(U, (inputs, Gram(inputs)), submit, take)
        return errors, np.concatenate([flips[first] for first in sorted(flips)])

    def visible(self, y: Patterns, flips: Integers, targets: Patterns, V: Floats) -> Integers:
        """Learn V in place from the tape; returns the errors of each epoch."""
        errors = np.zeros(self.max_epochs, dtype=np.int64)

        def submit(rows: slice, tape: Any) -> Any:
            block = self._send(V[rows], targets[:, rows])
            return self.client.submit(
                _visible_block, block, tape, self.kappa, self.max_epochs, pure=False
            )

        def take(rows: slice, learned: tuple[Integers, Floats]) -> None:
            more_errors, V[rows] = learned
            np.add(errors, more_errors, out=errors)

        self._learn_blocks(V, (y, flips), submit, take)
        return errors

    def _learn_blocks(
        self,
        weights: Floats,
        shared: Any,
        submit: Callable[[slice, Any], Any],
        take: Callable[[slice, Any], None],
    ) -> None:
        """Send blocks of rows and what all of them need, a few blocks at a time, and take what each
        has learned as it comes.

        Start weights of a block are overwritten when it has learned, so that each weight is kept
        once; a block that was lost with its worker starts again.
        """
        blocks = self.with_retries(lambda: self._blocks(*weights.shape))
        done: set[int] = set()

        def learn_what_is_left() -> None:
            everywhere = self._scatter(shared)
            waiting = deque(rows for rows in blocks if rows.start not in done)
            running: list[tuple[slice, Any]] = []
            while waiting or running:
                while waiting and len(running) < _AT_ONCE * self.watch.threads():
                    rows = waiting.popleft()
                    running.append((rows, submit(rows, everywhere)))
                self._wait_for_one([task for _, task in running])
                for rows, task in [each for each in running if each[1].done()]:
                    (learned,) = self.client.gather([task])
                    take(rows, learned)
                    done.add(rows.start)
                    running.remove((rows, task))
                    task.release()  # or its worker would keep it

        self.with_retries(learn_what_is_left)

    def _blocks(self, total: int, inputs: int) -> list[slice]:
        """Blocks of rows with so many weights each: some for each thread of the cluster, and none
        too large to be sent.
        """
        share = -(-total // (_BLOCKS * self.watch.threads()))
        return list(pieces(total, max(_LEAST_ROWS, min(share, _BLOCK_BYTES // (8 * inputs)))))

    def _wait_for_one(self, tasks: list[Any]) -> None:
        """Wait until one of some tasks is done, as long as there is a cluster that may do them.

        Not by `distributed.wait`, whose timeout is an exception that the client keeps, and with it
        every array of its callers.
        """
        ended = threading.Event()
        for task in tasks:
            task.add_done_callback(lambda _: ended.set())
        while not any(task.done() for task in tasks):
            self.watch.threads()
            ended.wait(_BETWEEN)

    def _send(self, *arrays: Any) -> Any:
        """Send arrays to some worker, the same for all of them; a task goes where its data is."""
        return self._scatter(tuple(map(np.ascontiguousarray, arrays)))

    def _scatter(self, data: Any) -> Any:
        """Send data to some worker; if one is gone before the scheduler has noted what it got, that
        is a lost connection, too.

        Other workers get them from there when they need them. Not `broadcast=True`: should a worker
        be lost while it gets a copy, the scheduler goes on copying for ever.
        """
        try:
            (sent,) = self.client.scatter([data], hash=False)
        except KeyError as error:  # the scheduler's, with the address of the worker
            raise OSError(f"the worker {error} was lost while data were sent") from error
        return sent


def _hidden_block(
    start: tuple[Floats, Patterns],
    shared: tuple[Patterns, Gram],
    kappa: float,
    theta: float,
    first: int,
    max_epochs: int,
) -> tuple[Integers, Integers, Floats]:
    """Let a block of hidden neurons learn; returns errors, flips and weights. Runs on a worker."""
    (weights, z), (inputs, K) = start, shared
    learned = weights.copy()
    with Workers(1):
        block = LayerBlock(learned, inputs, z, K, kappa=kappa, theta=theta, first=first)
        errors, flips = block.advance(max_epochs)
        block.finish()
    return errors, flips, learned


def _visible_block(
    start: tuple[Floats, Patterns], tape: tuple[Patterns, Integers], kappa: float, max_epochs: int
) -> tuple[Integers, Floats]:
    """Let a block of visible neurons learn from the tape; returns errors and weights. Runs on a
    worker.
    """
    (weights, targets), (y, flips) = start, tape
    learned = weights.copy()
    with Workers(1):
        codes = Codes(y)
        block = VisibleBlock(learned, y, targets, kappa=kappa)
        # The tape is whole: beyond its last flip none can come.
        errors = [block.advance(piece) for piece in codes.play(flips, max_epochs, ended=True)]
        block.finish(codes.y)
    return np.concatenate(errors), learned
