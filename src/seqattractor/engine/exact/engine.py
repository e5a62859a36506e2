"""The exact engine: the paper's learning as integer arithmetic on fields, with the same results as
the plain loop.

Hidden neurons depend on no other neuron; visible neurons depend on the codes that the hidden ones
produced on the way. So learning goes in windows of epochs: all hidden neurons learn a window and
leave a tape of their codes, then all visible neurons replay it. Sequences that are long for their
number of units are learned on weights instead (`weights`); `choose_form` decides. `docs/engine.rst`
has the mathematics.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from typing import Literal

import numpy as np

from seqattractor.engine.exact import learned_targets, weights
from seqattractor.engine.exact.blocks import LayerBlock, VisibleBlock
from seqattractor.engine.exact.fields import Floats, Gram, Integers, start_fields
from seqattractor.engine.exact.tape import Codes, Restorable
from seqattractor.engine.exact.weights import CHUNK
from seqattractor.engine.exact.workers import Workers, count_jobs
from seqattractor.engine.kernels import SIDE
from seqattractor.engine.problem import Learned, Problem, ProgressCallback
from seqattractor.rule import sign
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

Form = Literal["fields", "weights"]

BLOCK_ROWS, BLOCK_ROWS_ALONE = (
    256,
    1024,
)  # neurons in a block: several threads share smaller ones more evenly
_WINDOW_SECONDS = 0.2  # Ctrl-C gets through between windows
_GROWTH, _TOLD_GROWTH = (
    64,
    4,
)  # from one window to the next; less where somebody is told of each epoch, and may stop after it
_WINDOW_EPOCHS = (
    2**14
)  # at most: errors are kept for each epoch of a window and each of the rows side by side
_KEEP_BYTES = (
    2**28
)  # above this much state a window is one epoch, so that no copy is needed to stop within it


def learn(
    problem: Problem,
    *,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
    block_rows: int | None = None,
    form: Form | None = None,
) -> Learned:
    """Learn as `reference.learn` does, only faster.

    Parameters
    ----------
    problem : Problem
        Its weights are overwritten with the learned ones.
    n_jobs : int, optional
        Number of threads; -1 for all cores. The result does not depend on it.
    callback : callable, optional
        See `ProgressCallback`.
    block_rows : int, optional
        Neurons in a block of work. The result does not depend on it.
    form : {"fields", "weights"}, optional
        How it is done; by default as `choose_form` decides. The result does not depend on it.

    Returns
    -------
    Learned

    Examples
    --------
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> z = np.array([[1, -1], [1, 1]], dtype=np.int8)
    >>> V, U = np.zeros((3, 2)), np.zeros((2, 3))
    >>> problem = Problem(X[:-1], X[1:], V=V, U=U, hidden_targets=z, kappa=2.0, max_epochs=50)
    >>> learned = learn(problem)
    >>> learned.converged, learned.n_iter
    (True, 3)
    """
    U, V, z = problem.U, problem.V, problem.hidden_targets
    block_rows = block_rows or (BLOCK_ROWS if count_jobs(n_jobs) > 1 else BLOCK_ROWS_ALONE)
    if U is not None and problem.feedback is not None:
        return learned_targets.learn(problem, U, problem.feedback, callback)
    layers = [W.shape for W in ((V,) if U is None or z is None else (U, V))]
    if (form or choose_form(len(problem.inputs), layers, problem.max_epochs)) == "weights":
        return weights.learn(problem, n_jobs=n_jobs, callback=callback, block_rows=block_rows)
    x = problem.seen(problem.inputs)
    with Workers(n_jobs) as workers:

        def layer(
            W: Floats, x: Patterns, targets: Patterns, theta: float = 0.0
        ) -> list[LayerBlock]:
            K = Gram(x)
            return workers.run(
                lambda rows: LayerBlock(
                    W[rows],
                    x,
                    targets[:, rows],
                    K,
                    kappa=problem.kappa,
                    theta=theta,
                    first=rows.start,
                ),
                pieces(len(W), block_rows),
            )

        if U is not None and z is not None:
            run = _Layers(workers, problem, layer(U, x, z, problem.input_threshold), z, block_rows)
            errors = _in_windows(run.window, run.parts, problem.max_epochs, callback)
            run.finish()
        # V learns from constant patterns: the inputs, or the codes that a fixed U makes of them,
        # eq. (7)
        else:
            y = (
                x
                if U is None
                else problem.seen(sign(start_fields(U, x, problem.input_threshold).T))
            )
            blocks = layer(V, y, problem.targets)

            def window(n_epochs: int) -> Integers:
                visible = sum(
                    found for found, _ in workers.run(lambda block: block.advance(n_epochs), blocks)
                )
                return np.stack([np.zeros_like(visible), visible], axis=1)

            errors = _in_windows(window, lambda: blocks, problem.max_epochs, callback)
            workers.run(LayerBlock.finish, blocks)
    return Learned(V, errors, U)


class _Layers:
    """One run of learning U and V: hidden phase, tape, visible phase, window by window."""

    def __init__(
        self,
        workers: Workers,
        problem: Problem,
        hidden: list[LayerBlock],
        z: Patterns,
        block_rows: int,
    ) -> None:
        self.workers, self.hidden, self._problem, self._z, self._block_rows = (
            workers,
            hidden,
            problem,
            z,
            block_rows,
        )
        self.codes: Codes | None = None
        self.visible: list[VisibleBlock] = []

    def parts(self) -> Sequence[Restorable]:
        """Everything that changes."""
        return [*self.hidden, *self.visible, *([self.codes] if self.codes else [])]

    def window(self, n_epochs: int) -> Integers:
        """Learn some epochs (the first window: only one); returns the errors, shape (n_epochs,
        2).
        """
        errors = np.zeros((n_epochs, 2), dtype=np.int64)
        done = self.workers.run(lambda block: block.advance(n_epochs), self.hidden)
        errors[:, 0] = sum(block_errors for block_errors, _ in done)
        flips = np.concatenate([block_flips for _, block_flips in done])
        if self.codes is None:  # the tape starts with the codes of the first epoch
            y = self._z.copy()
            y[flips[:, 1], flips[:, 2]] = flips[:, 3]
            y = self._problem.seen(y)  # a constant unit never flips: the tape does not mention it
            self.codes, self.visible = Codes(y), self._visible_blocks(y)
            flips = flips[:0]
        epoch = 0
        for tape in self.codes.play(
            flips, n_epochs, ended=all(block.settled.all() for block in self.hidden)
        ):
            piece = slice(epoch, epoch := epoch + len(tape.version))
            errors[piece, 1] = sum(
                self.workers.run(partial(VisibleBlock.advance, tape=tape), self.visible)
            )
        return errors

    def _visible_blocks(self, y: Patterns) -> list[VisibleBlock]:
        """Blocks of visible neurons that start with the codes y."""
        problem = self._problem

        def block(rows: slice) -> VisibleBlock:
            return VisibleBlock(problem.V[rows], y, problem.targets[:, rows], kappa=problem.kappa)

        return self.workers.run(block, pieces(len(problem.V), self._block_rows))

    def finish(self) -> None:
        """Write the learned weights."""
        self.workers.run(lambda block: block.finish(), self.hidden)
        if self.codes is not None:
            y = self.codes.y
            self.workers.run(lambda block: block.finish(y), self.visible)


def _in_windows(
    window: Callable[[int], Integers],
    parts: Callable[[], Sequence[Restorable]],
    max_epochs: int,
    callback: ProgressCallback | None,
) -> Integers:
    """Learn window by window up to the first epoch without any error, or to the one after which the
    callback says stop.
    """
    windows = [np.zeros((0, 2), dtype=np.int64)]
    epochs, size, ended = 0, 1, False
    while epochs < max_epochs and not ended:
        size = min(size, max_epochs - epochs)
        snapshots = (
            [(part, part.snapshot()) for part in parts()]
            if callback is not None and size > 1
            else []
        )
        started = (
            time.perf_counter()
        )  # processor time, where the machine is busy elsewhere, may cost as much as a small window
        done = window(size)
        seconds = time.perf_counter() - started
        quiet = np.flatnonzero(~done.any(axis=1))
        done, ended, too_big = done[: quiet[0] + 1] if len(quiet) else done, len(quiet) > 0, False
        if callback is not None:
            for e, (hidden, visible) in enumerate(done.tolist(), start=1):
                if callback(epochs + e, hidden, visible):
                    if (
                        e < size
                    ):  # the window went further: put everything back and learn only up to here
                        for part, snapshot in snapshots:
                            part.restore(snapshot)
                        window(e)
                    done, ended = done[:e], True
                    break
            too_big = sum(part.nbytes for part in parts()) > _KEEP_BYTES
        windows.append(done)
        epochs += len(done)
        size = 1 if too_big else _next_size(size, seconds, told=callback is not None)
    return np.concatenate(windows)


def _next_size(size: int, seconds: float, *, told: bool) -> int:
    """The number of epochs for the next window, so that it takes about `_WINDOW_SECONDS`."""
    most = min(size * (_TOLD_GROWTH if told else _GROWTH), _WINDOW_EPOCHS)
    return int(np.clip(size * _WINDOW_SECONDS / max(seconds, 1e-6), 1, most))


# -- the choice between fields and weights
# ---------------------------------------------------------------------

MOST_FIELDS_BYTES = 2**31
"""Memory for products of every two transitions above which fields are not considered."""

# Nanoseconds on one core of the machine on which they were measured; only their ratios count.
_FIELD = 0.027  # to add one entry of a Gram matrix to a field
_VISIT = 1.5  # to test one transition of one neuron, and what goes with it
_WEIGHT = 0.24  # to go through one input of a block of SIDE neurons
_STEP = 35.0  # to test one transition of such a block
_CALL = 50_000.0  # to call the kernel for a chunk of transitions


def choose_form(n: int, layers: list[tuple[int, int]], max_epochs: int) -> Form:
    """Choose the form for n transitions and layers of (neurons, inputs of each).

    Examples
    --------
    >>> choose_form(70, [(500, 100), (100, 500)], 500)
    'fields'
    >>> choose_form(20_000, [(2000, 200), (200, 2000)], 500)
    'weights'
    """
    if max_epochs == 1 or len(layers) * 3 * n**2 > MOST_FIELDS_BYTES:
        return "weights"
    return "fields" if fields_cost(n, layers) < weights_cost(n, layers) else "weights"


def fields_cost(n: int, layers: list[tuple[int, int]]) -> float:
    """Nanoseconds of an epoch on fields: an update goes through those of all n transitions."""
    learned = n**2 / (
        n + 2 * layers[0][1]
    )  # so many random transitions are learned in a usual epoch
    return sum(neurons * n * (_VISIT + learned * _FIELD) for neurons, _ in layers)


def weights_cost(n: int, layers: list[tuple[int, int]]) -> float:
    """Nanoseconds of an epoch on weights: every transition goes through those of all inputs,
    whether it is learned or not.
    """
    calls = ceil(n / CHUNK) * _CALL
    return sum(
        calls + ceil(neurons / SIDE) * n * (_STEP + inputs * _WEIGHT) for neurons, inputs in layers
    )
