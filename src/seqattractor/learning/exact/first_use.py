"""Compile the kernels of a first fit in two processes at once: numba compiles one thing at a time, and machine code is on disk.

Half of the time goes into kernels for hidden neurons and the tape of their codes, and half into those for visible neurons, which
learn in other integers. Each process lets one tiny neuron learn; whoever learns afterwards finds all machine code in the cache.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from typing import Any

import numpy as np
from numba.core import event

from seqattractor._children import python_command
from seqattractor.learning.compiled import can_be_kept
from seqattractor.learning.exact import kernels
from seqattractor.learning.exact.blocks import LayerBlock, VisibleBlock
from seqattractor.learning.exact.fields import Gram, Inputs, gram
from seqattractor.learning.exact.lanes import AHEAD, LANES
from seqattractor.learning.exact.tape import Codes, Tape
from seqattractor.learning.notice import say_that_kernels_are_compiled

_FLIP = np.array([[0, 0, 0, -1]], dtype=np.int32)  # epoch, t, neuron, new code
_OTHER_HALF = "from seqattractor.learning.exact.first_use import use_visible; use_visible()"


def compile_in_two_processes(n_units: int) -> None:
    """Have all kernels ready that a network with hidden neurons and so many visible ones learns with.

    Takes a moment if they are on disk. The process that helps is started only if something is compiled here, and it has ended,
    or is ended, when this returns or is interrupted.

    Parameters
    ----------
    n_units : int
        N: with many units, hidden neurons learn in wider integers, which is other machine code.
    """
    helper = _Helper()
    try:
        with event.install_listener("numba:compile", helper):
            use_hidden(n_units)
        helper.wait()
    finally:
        helper.end()


class _Helper(event.Listener):
    """Starts the other process when numba first compiles something here."""

    child: subprocess.Popen[bytes] | None = None

    def on_start(self, event: Any) -> None:
        """Called by numba when a compilation starts."""
        say_that_kernels_are_compiled()
        if self.child is None and can_be_kept(kernels.learn_rows):
            # In a session of its own, since Ctrl-C is for this process, which then ends it.
            command, nowhere = python_command(_OTHER_HALF), subprocess.DEVNULL
            self.child = subprocess.Popen(command, start_new_session=True, stdout=nowhere, stderr=nowhere)

    def on_end(self, event: Any) -> None:
        """Called by numba when a compilation has ended."""

    def wait(self) -> None:
        """Wait for the other process; what it could not compile is compiled when it is used."""
        if self.child is not None:
            self.child.wait()

    def end(self) -> None:
        """End the other process if it is still there."""
        if self.child is not None:
            self.child.kill()
            self.child.wait()


def use_hidden(n_units: int) -> None:
    """Let a hidden neuron learn one transition of patterns of so many units, and its code change."""
    x = np.ones((1, n_units), dtype=np.int8)
    block = LayerBlock(np.ones((1, n_units)), Inputs(x), x[:, :1], Gram(gram(x)), kappa=1.0, eta=1.0)
    block.advance(1)
    block.finish()
    for _ in Codes(x[:, :1]).play(_FLIP, 1, ended=False):
        pass


def use_visible() -> None:
    """Let a visible neuron learn while a code changes, and after it has."""
    y = np.ones((1, 1), dtype=np.int8)
    codes, block = Codes(y), VisibleBlock(np.zeros((1, 1)), Inputs(y), y, kappa=1.0, eta=1.0)
    ahead = np.zeros((1, 1, AHEAD, LANES), dtype=codes.K.dtype)
    groups, start, flipped = np.array([[0, 0, 0, 1]]), np.array([0, 1]), np.ascontiguousarray(_FLIP[:, 2])
    tape = Tape(codes.K[np.newaxis], ahead, codes.bits[np.newaxis], start[:1], flipped, groups, start, ended=False)
    for now in (tape, replace(tape, group_start=np.array([1, 1]), ended=True)):
        block.advance(now)
