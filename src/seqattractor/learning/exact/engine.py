"""The exact engine: the paper's learning as integer arithmetic on fields, with the same results as the plain loop.

Hidden neurons depend on no other neuron; visible neurons depend on the codes that the hidden ones produced on the way. So
learning goes in windows of epochs: all hidden neurons learn a window and leave a tape of their codes, then all visible
neurons replay it. Sequences that are long for their number of units are learned on integer weights instead (`weights`); `forms`
chooses. `docs/engine.rst` has the mathematics.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from seqattractor.learning.exact import weights
from seqattractor.learning.exact.blocks import LayerBlock, VisibleBlock
from seqattractor.learning.exact.fields import Floats, Gram, Grid, Inputs, Integers, gram, start_fields
from seqattractor.learning.exact.forms import Form, choose_form
from seqattractor.learning.exact.tape import Codes, Restorable, Tape
from seqattractor.learning.exact.workers import Workers
from seqattractor.learning.result import Learned, LearnedVisible, ProgressCallback
from seqattractor.learning.rule import sign, with_constant
from seqattractor.sequences import Patterns
from seqattractor.sequences._patterns import pieces

BLOCK_ROWS = 256
_WINDOW_SECONDS = 0.2  # Ctrl-C gets through between windows
_GROWTH, _TOLD_GROWTH = 64, 4  # from one window to the next; less where somebody is told of each epoch, and may stop after it
_WINDOW_EPOCHS = 2**14  # at most: errors are kept for each epoch of a window and each of the rows side by side
_KEEP_BYTES = 2**28  # above this much state a window is one epoch, so that no copy is needed to stop within it


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
    input_threshold: float = 0.0,
    learn_U: bool = True,
    bias: bool = False,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
    block_rows: int = BLOCK_ROWS,
    form: Form | None = None,
) -> Learned:
    """Learn U and V by equations (4)-(9), or only V: the same as `reference.learn`, with the same parameters, only faster.

    Parameters
    ----------
    inputs, targets, hidden_targets : ndarray of int8, shapes (n, N_in), (n, N) and (n, M)
        x(t), x(t+1) and z(t+1) of each transition, in the order of presentation.
    U, V : ndarray of float64, shapes (M, N_in) and (N, M), with one more column each if there are biases
        Initial weights; they are overwritten with the learned ones.
    kappa, eta, max_epochs, input_threshold, learn_U, bias
        As in `reference.learn`.
    n_jobs : int, optional
        Number of threads; -1 for all cores. The result does not depend on it.
    callback : callable, optional
        Told of every epoch; see `ProgressCallback`.
    block_rows : int
        Neurons in a block of work. The result does not depend on it.
    form : {"fields", "weights"}, optional
        How it is done; by default as `forms` chooses. The result does not depend on it.

    Returns
    -------
    Learned

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> z = np.array([[1, -1], [1, 1]], dtype=np.int8)
    >>> learned = learn(X[:-1], X[1:], z, U=np.zeros((2, 3)), V=np.zeros((3, 2)), kappa=1.0, eta=0.5, max_epochs=50)
    >>> learned.converged, learned.n_iter
    (True, 3)
    """
    layers = [(len(U), U.shape[1])] if learn_U else []
    if (form or choose_form(len(inputs), [*layers, (len(V), V.shape[1])], max_epochs)) == "weights":
        return weights.learn(
            inputs,
            targets,
            hidden_targets,
            U=U,
            V=V,
            kappa=kappa,
            eta=eta,
            max_epochs=max_epochs,
            input_threshold=input_threshold,
            learn_U=learn_U,
            bias=bias,
            n_jobs=n_jobs,
            callback=callback,
            block_rows=block_rows,
        )
    x = Inputs(with_constant(inputs) if bias else inputs)
    with Workers(n_jobs) as workers:
        if learn_U:
            K = Gram(gram(x.X))
            hidden = workers.run(
                lambda rows: LayerBlock(
                    U[rows], x, hidden_targets[:, rows], K, kappa=kappa, eta=eta, theta=input_threshold, first=rows.start
                ),
                pieces(len(U), block_rows),
            )
            y = hidden_targets
        else:
            hidden = []
            y = sign(start_fields(U, x, Grid(U, eta), input_threshold).T)  # eq. (7): a fixed U makes one code
        # A constant unit in the codes never flips, so the tape need not know of it.
        run = _Learning(workers, targets, V, kappa, eta, block_rows, hidden, with_constant(y) if bias else y)
        errors, converged = _in_windows(run.window, run.parts, max_epochs, callback)
        run.finish()
    return Learned(U, V, errors[:, 0], errors[:, 1], len(errors), converged)


def learn_visible(
    inputs: Patterns,
    targets: Patterns,
    *,
    W: Floats,
    kappa: float,
    eta: float,
    max_epochs: int,
    n_jobs: int | None = None,
    callback: ProgressCallback | None = None,
    block_rows: int = BLOCK_ROWS,
    form: Form | None = None,
) -> LearnedVisible:
    """Learn the weights W (N, N_in) of a network without hidden neurons: the same as `reference.learn_visible`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> learn_visible(X[:-1], X[1:], W=np.zeros((3, 3)), kappa=1.0, eta=0.5, max_epochs=50).errors
    array([6, 2, 0])
    """
    if (form or choose_form(len(inputs), [W.shape], max_epochs)) == "weights":
        return weights.learn_visible(
            inputs,
            targets,
            W=W,
            kappa=kappa,
            eta=eta,
            max_epochs=max_epochs,
            n_jobs=n_jobs,
            callback=callback,
            block_rows=block_rows,
        )
    with Workers(n_jobs) as workers:
        x, K = Inputs(inputs), Gram(gram(inputs))
        blocks = workers.run(
            lambda rows: LayerBlock(W[rows], x, targets[:, rows], K, kappa=kappa, eta=eta), pieces(len(W), block_rows)
        )

        def window(n_epochs: int) -> Integers:
            visible = sum(errors for errors, _ in workers.run(lambda block: block.advance(n_epochs), blocks))
            return np.stack([np.zeros_like(visible), visible], axis=1)

        errors, converged = _in_windows(window, lambda: blocks, max_epochs, callback)
        workers.run(lambda block: block.finish(), blocks)
    return LearnedVisible(W, errors[:, 1], len(errors), converged)


class _Learning:
    """One run of learning V, and U if there are hidden blocks: hidden phase, tape, visible phase, window by window."""

    def __init__(
        self,
        workers: Workers,
        targets: Patterns,
        V: Floats,
        kappa: float,
        eta: float,
        block_rows: int,
        hidden: list[LayerBlock],
        y: Patterns,
    ) -> None:
        self.workers, self.hidden = workers, hidden
        self._targets, self._V, self._kappa, self._eta, self._block_rows = targets, V, kappa, eta, block_rows
        self._y = y  # before the first epoch: the codes if no hidden neuron learns, otherwise the hidden targets
        self.codes: Codes | None = None
        self.visible: list[VisibleBlock] = []

    def parts(self) -> Sequence[Restorable]:
        """Everything that changes."""
        return [*self.hidden, *self.visible, *([self.codes] if self.codes else [])]

    def window(self, n_epochs: int) -> Integers:
        """Learn some epochs (the first window: only one); returns the errors, shape (n_epochs, 2)."""
        errors = np.zeros((n_epochs, 2), dtype=np.int64)
        flips = np.empty((0, 4), dtype=np.int32)
        if self.hidden:
            done = self.workers.run(lambda block: block.advance(n_epochs), self.hidden)
            errors[:, 0] = sum(block_errors for block_errors, _ in done)
            flips = np.concatenate([block_flips for _, block_flips in done])
        if self.codes is None:  # the tape starts with the codes of the first epoch
            y = self._y.copy()
            y[flips[:, 1], flips[:, 2]] = flips[:, 3]
            self.codes, self.visible = Codes(y), self._visible_blocks(y)
            flips = flips[:0]
        epoch = 0
        for tape in self.codes.play(flips, n_epochs, ended=all(block.settled.all() for block in self.hidden)):
            piece = slice(epoch, epoch := epoch + len(tape.version))
            errors[piece, 1] = sum(self.workers.run(partial(_replay, tape), self.visible))
        return errors

    def _visible_blocks(self, y: Patterns) -> list[VisibleBlock]:
        """Blocks of visible neurons that start with the codes y."""
        codes = Inputs(y)

        def block(rows: slice) -> VisibleBlock:
            return VisibleBlock(self._V[rows], codes, self._targets[:, rows], kappa=self._kappa, eta=self._eta)

        return self.workers.run(block, pieces(len(self._V), self._block_rows))

    def finish(self) -> None:
        """Write the learned weights."""
        self.workers.run(lambda block: block.finish(), self.hidden)
        if self.codes is not None:
            y = Inputs(self.codes.y)
            self.workers.run(lambda block: block.finish(y), self.visible)


def _replay(tape: Tape, block: VisibleBlock) -> Integers:
    """Let a block of visible neurons learn a piece of tape."""
    return block.advance(tape)


def _in_windows(
    window: Callable[[int], Integers],
    parts: Callable[[], Sequence[Restorable]],
    max_epochs: int,
    callback: ProgressCallback | None,
) -> tuple[Integers, bool]:
    """Learn window by window up to the first epoch without any error, or to the one after which the callback says stop."""
    windows = [np.zeros((0, 2), dtype=np.int64)]
    epochs, size, ended = 0, 1, False
    while epochs < max_epochs and not ended:
        size = min(size, max_epochs - epochs)
        snapshots = [(part, part.snapshot()) for part in parts()] if callback is not None and size > 1 else []
        started = time.perf_counter()  # processor time, where the machine is busy elsewhere, may cost as much as a small window
        done = window(size)
        seconds = time.perf_counter() - started
        quiet = np.flatnonzero(~done.any(axis=1))
        done, ended, too_big = done[: quiet[0] + 1] if len(quiet) else done, len(quiet) > 0, False
        if callback is not None:
            for e, (hidden, visible) in enumerate(done.tolist(), start=1):
                if callback(epochs + e, hidden, visible):
                    if e < size:  # the window went further: put everything back and learn only up to here
                        for part, snapshot in snapshots:
                            part.restore(snapshot)
                        window(e)
                    done, ended = done[:e], True
                    break
            too_big = sum(part.nbytes for part in parts()) > _KEEP_BYTES
        windows.append(done)
        epochs += len(done)
        size = 1 if too_big else _next_size(size, seconds, told=callback is not None)
    errors = np.concatenate(windows)
    return errors, epochs > 0 and not errors[-1].any()


def _next_size(size: int, seconds: float, *, told: bool) -> int:
    """The number of epochs for the next window, so that it takes about `_WINDOW_SECONDS`."""
    most = min(size * (_TOLD_GROWTH if told else _GROWTH), _WINDOW_EPOCHS)
    return int(np.clip(size * _WINDOW_SECONDS / max(seconds, 1e-6), 1, most))
