"""The exact engine on a Dask cluster: one large fit, block by block, with the same result as on one machine.

Hidden neurons need nothing but the inputs, so blocks of them learn all epochs at once, wherever they are. Their flips make the
tape, which goes to every worker once; blocks of visible neurons then replay it, again all epochs at once. Both phases depend on
their arguments alone: if a worker dies and takes data with it, the phase is done again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from seqattractor._dask import ClusterLost, Watch, in_a_line, quiet_logs
from seqattractor.learning.exact.blocks import LayerBlock, VisibleBlock
from seqattractor.learning.exact.fields import Floats, Gram, Integers, gram, start_fields
from seqattractor.learning.exact.tape import Codes
from seqattractor.learning.exact.workers import Workers
from seqattractor.learning.result import Learned, ProgressCallback
from seqattractor.learning.rule import sign, with_constant
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

_BLOCKS = 4  # for each thread of the cluster, so that all end at about the same time
_LEAST_ROWS = 16
_ATTEMPTS = 5  # how often a phase may lose workers

_Result = TypeVar("_Result")


def learn(
    inputs: Patterns,
    targets: Patterns,
    hidden_targets: Patterns,
    *,
    U: Floats,
    V: Floats,
    kappa: float,
    eta: float,
    max_epochs: int,
    client: Any,
    input_threshold: float = 0.0,
    learn_U: bool = True,
    bias: bool = False,
    callback: ProgressCallback | None = None,
) -> Learned:
    """Learn U and V on a cluster: the same as `engine.learn`, with the same parameters.

    Parameters
    ----------
    inputs, targets, hidden_targets, U, V, kappa, eta, max_epochs, input_threshold, learn_U, bias
        As in `engine.learn`.
    client : distributed.Client
        Of a cluster whose workers have this package.
    callback : callable, optional
        Told of all epochs when learning is over. If it says stop, learning is done again up to that epoch.

    Returns
    -------
    Learned
    """
    run = _Cluster(client, kappa, eta, max_epochs)
    hidden_errors = np.zeros(max_epochs, dtype=np.int64)
    flips = np.empty((0, 4), dtype=np.int32)
    U_learned, seen = U, with_constant(inputs) if bias else inputs
    if learn_U:
        hidden_errors, flips, U_learned = run.surely(lambda: run.hidden(seen, hidden_targets, U, input_threshold))
        y = hidden_targets.copy()
        at_once = flips[:, 0] == 0  # what differs from the targets in the first epoch; the tape starts with these codes
        y[flips[at_once, 1], flips[at_once, 2]] = flips[at_once, 3]
        flips = flips[~at_once]
    else:
        fixed = start_fields(U, seen, 1.0, input_threshold).T  # eq. (7): a fixed U makes one code
        y = sign(fixed)
    y = with_constant(y) if bias else y
    visible_errors, V_learned = run.surely(lambda: run.visible(y, flips, targets, V))
    errors = np.stack([hidden_errors, visible_errors], axis=1)
    quiet = np.flatnonzero(~errors.any(axis=1))
    errors = errors[: quiet[0] + 1] if len(quiet) else errors  # after an epoch without errors nothing changes
    for epoch, (hidden, visible) in enumerate(errors.tolist(), start=1):
        if callback is not None and callback(epoch, hidden, visible) and epoch < len(errors):
            return learn(
                inputs,
                targets,
                hidden_targets,
                U=U,
                V=V,
                kappa=kappa,
                eta=eta,
                max_epochs=epoch,
                client=client,
                input_threshold=input_threshold,
                learn_U=learn_U,
                bias=bias,
            )
    return Learned(U_learned, V_learned, errors[:, 0], errors[:, 1], len(errors), not errors[-1].any())


class _Cluster:
    """Hands blocks of neurons to a cluster and puts what they learned together."""

    def __init__(self, client: Any, kappa: float, eta: float, max_epochs: int) -> None:
        self.client, self.kappa, self.eta, self.max_epochs = client, kappa, eta, max_epochs
        self.watch = Watch(client)

    def surely(self, phase: Callable[[], _Result]) -> _Result:
        """Do a phase, and do it again if workers were lost."""
        for _ in range(_ATTEMPTS):
            try:
                with quiet_logs():
                    self._wait_for_a_worker()
                    return phase()
            except ClusterLost as error:
                raise OSError(f"the Dask cluster was lost: {error}; start it again, then fit again.") from error
            except (OSError, CancelledError) as error:  # also what distributed raises when connections or data are lost
                problem: BaseException = error
        raise OSError(
            f"the Dask cluster failed {_ATTEMPTS} times in one fit ({in_a_line(problem)}); see what ends its workers."
        ) from problem

    def _wait_for_a_worker(self) -> None:
        """Wait for a worker, but neither for long nor for one of a scheduler that is gone."""
        if self.client.status != "running":
            raise ClusterLost("the connection to the scheduler is gone")
        try:
            self.client.wait_for_workers(1, timeout=self.watch.patience)
        except TimeoutError:
            raise ClusterLost(f"no worker has been at the Dask scheduler for {self.watch.patience:.0f} s") from None
        except Exception as error:
            raise ClusterLost(in_a_line(error)) from error

    def hidden(self, inputs: Patterns, z: Patterns, U: Floats, theta: float) -> tuple[Integers, Integers, Floats]:
        """Learn U; returns the errors of each epoch, all flips of codes, and U."""
        shared = self._scatter((inputs, Gram(gram(inputs))), broadcast=True)
        tasks = [
            self.client.submit(
                _hidden_block,
                *self._send(U[rows], z[:, rows]),
                shared,
                self.kappa,
                self.eta,
                theta,
                rows.start,
                self.max_epochs,
                pure=False,
            )
            for rows in self._blocks(len(U))
        ]
        errors, flips, weights = zip(*self._gather(tasks), strict=True)
        return np.sum(errors, axis=0), np.concatenate(flips), np.concatenate(weights)

    def visible(self, y: Patterns, flips: Integers, targets: Patterns, V: Floats) -> tuple[Integers, Floats]:
        """Learn V from the tape; returns the errors of each epoch, and V."""
        tape = self._scatter((y, flips), broadcast=True)
        tasks = [
            self.client.submit(
                _visible_block, *self._send(V[rows], targets[:, rows]), tape, self.kappa, self.eta, self.max_epochs, pure=False
            )
            for rows in self._blocks(len(V))
        ]
        errors, weights = zip(*self._gather(tasks), strict=True)
        return np.sum(errors, axis=0), np.concatenate(weights)

    def _blocks(self, total: int) -> list[slice]:
        """Blocks of rows, some for each thread of the cluster."""
        threads = self.watch.threads()
        return list(pieces(total, max(_LEAST_ROWS, -(-total // (_BLOCKS * threads)))))

    def _gather(self, tasks: list[Any]) -> list[Any]:
        """Wait for tasks as long as there is a cluster that may do them."""
        while not all(task.done() for task in tasks):
            self.watch.threads()
            try:
                import_module("distributed").wait(tasks, timeout=2)
            except TimeoutError:
                continue
        gathered: list[Any] = self.client.gather(tasks)
        return gathered

    def _send(self, *arrays: Any) -> list[Any]:
        """Send arrays to some worker; tasks go where their data is."""
        sent: list[Any] = self._scatter([np.ascontiguousarray(array) for array in arrays], hash=False)
        return sent

    def _scatter(self, data: Any, **options: Any) -> Any:
        """Send data to workers; if one is gone before the scheduler has noted what it got, that is a lost connection, too."""
        try:
            return self.client.scatter(data, **options)
        except KeyError as error:  # the scheduler's, with the address of the worker
            raise OSError(f"the worker {error} was lost while data were sent") from error


def _hidden_block(
    weights: Floats,
    z: Patterns,
    shared: tuple[Patterns, Gram],
    kappa: float,
    eta: float,
    theta: float,
    first: int,
    max_epochs: int,
) -> tuple[Integers, Integers, Floats]:
    """Let a block of hidden neurons learn; returns errors, flips and weights. Runs on a worker."""
    inputs, K = shared
    learned = weights.copy()
    with Workers(1):
        block = LayerBlock(learned, inputs, z, K, kappa=kappa, eta=eta, theta=theta, first=first)
        errors, flips = block.advance(max_epochs)
        block.finish()
    return errors, flips, learned


def _visible_block(
    weights: Floats, targets: Patterns, tape: tuple[Patterns, Integers], kappa: float, eta: float, max_epochs: int
) -> tuple[Integers, Floats]:
    """Let a block of visible neurons learn from the tape; returns errors and weights. Runs on a worker."""
    y, flips = tape
    learned = weights.copy()
    with Workers(1):
        codes = Codes(y)
        block = VisibleBlock(learned, y, targets, kappa=kappa, eta=eta)
        # The tape is whole: beyond its last flip none can come.
        errors = [block.advance(piece) for piece in codes.play(flips, max_epochs, ended=True)]
        block.finish(codes.y)
    return np.concatenate(errors), learned
