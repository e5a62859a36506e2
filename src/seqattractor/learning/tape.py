"""The tape: how the codes y(t) of the hidden neurons change from epoch to epoch, and their Gram matrices K_y.

Between two visits of a transition t nobody looks at V . y(t). So all flips of an epoch may be applied at its start, and within
an epoch the codes are constant: epoch e has one code matrix Y_e and one Gram matrix K_e = Y_e Y_e^T.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from seqattractor.learning import kernels
from seqattractor.learning.fields import WIDTHS, Integers, gram, padded
from seqattractor.learning.kept import Kept
from seqattractor.sequences import Patterns

__all__ = ["Codes", "Tape"]

_VERSIONS_BYTES = 2**23  # codes and Gram matrices of one tape piece; they should stay in the cache


@dataclass(frozen=True)
class Tape:
    """Some epochs of codes: all that a block of visible neurons needs in order to learn them."""

    K: Integers
    """Gram matrices of the different codes, shape (versions, n, padded n)."""
    Y: Patterns
    """The codes, shape (versions, n, padded M)."""
    version: Integers
    """Which of them each epoch has, shape (epochs,)."""
    flips: Integers
    """Rows (epoch, t, hidden neuron, new code), sorted by epoch and t."""
    flip_start: Integers
    """Where the flips at the start of each epoch begin, shape (epochs + 1,)."""
    ended: bool
    """Whether no later epoch has a flip."""

    def gram_in_width(self, width: int) -> Integers:
        """K as integers of at least this width."""
        return self.K.astype(WIDTHS[width], copy=False)


class Codes(Kept):
    """The codes y(t) of all hidden neurons as they are now, and their Gram matrix.

    Parameters
    ----------
    y : ndarray of int8, shape (n, M)
    """

    changing: ClassVar[tuple[str, ...]] = ("Y", "K", "_transposed")

    def __init__(self, y: Patterns) -> None:
        n, M = y.shape
        self.Y = np.zeros((n, padded(M)), dtype=np.int8)
        self.Y[:, :M] = y
        self._transposed = np.zeros((M, padded(n)), dtype=np.int8)
        self._transposed[:, :n] = y.T
        width = next(w for w in WIDTHS if np.iinfo(w).max >= 2 * M)
        self.K = np.zeros((n, padded(n)), dtype=width)
        self.K[:, :n] = gram(y)
        self.n_hidden = M

    def play(self, flips: Integers, n_epochs: int, *, ended: bool) -> Iterator[Tape]:
        """Apply the flips of some epochs (in any order) and give the tape, in pieces of bounded size."""
        flips, start = kernels.sort_flips(flips, len(self.Y), n_epochs)
        most = max(_VERSIONS_BYTES // (self.K.nbytes + self.Y.nbytes), 1)
        epoch = 0
        while epoch < n_epochs:
            begin = epoch
            changes = np.flatnonzero(np.diff(start[begin:]))  # epochs with flips; the first epoch has a version in any case
            later = changes[changes > 0]
            epoch = n_epochs if len(later) < most else begin + int(later[most - 1])
            version = np.zeros(epoch - begin, dtype=np.int64)
            version[later[: most - 1]] = 1
            version = np.cumsum(version)
            K = np.empty((version[-1] + 1, *self.K.shape), dtype=self.K.dtype)
            Y = np.empty((version[-1] + 1, *self.Y.shape), dtype=np.int8)
            for e in range(begin, epoch):
                self._flip(flips[start[e] : start[e + 1]])
                if e == begin or start[e + 1] > start[e]:
                    K[version[e - begin]], Y[version[e - begin]] = self.K, self.Y
            last = ended and start[-1] == start[epoch]
            yield Tape(K, Y, version, flips, start[begin : epoch + 1], last)

    def _flip(self, flips: Integers) -> None:
        """Apply the flips of one epoch."""
        kernels.flip_codes(self.K, self._transposed, flips)
        self.Y[flips[:, 1], flips[:, 2]] = flips[:, 3]
