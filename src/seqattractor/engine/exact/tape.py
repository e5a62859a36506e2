"""The tape: how the codes y(t) of the hidden neurons change from epoch to epoch, and their Gram
matrices K_y.

Between two visits of a transition t nobody looks at V . y(t). So all flips of an epoch may be
applied at its start, and within an epoch the codes are constant: epoch e has one code matrix Y_e
and one Gram matrix K_e = Y_e Y_e^T.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from seqattractor.engine import kernels
from seqattractor.engine.exact.fields import Integers, gram, in_bits, narrowest, padded
from seqattractor.engine.kernels import AHEAD, LANES, aligned
from seqattractor.sequences import Patterns

_PIECE_BYTES = 2**21  # codes and Gram matrices of one piece of tape; they should stay in the cache
_LARGE_PIECE_BYTES, _FEW_VERSIONS = (
    2**23,
    16,
)  # a piece of few versions may be larger: each piece loads all rows of V anew


class Restorable:
    """An object whose changing arrays are named in `changing`."""

    changing: ClassVar[tuple[str, ...]] = ()

    @property
    def nbytes(self) -> int:
        """Size of the changing arrays."""
        return sum(getattr(self, name).nbytes for name in self.changing)

    def snapshot(self) -> dict[str, NDArray[np.generic]]:
        """Copies of the changing arrays."""
        return {name: getattr(self, name).copy() for name in self.changing}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to what `snapshot` gave."""
        for name, array in snapshot.items():
            setattr(self, name, array)


@dataclass(frozen=True)
class Tape:
    """Some epochs of codes: all that a block of visible neurons needs in order to learn them."""

    K: Integers
    """Gram matrices of the different codes, shape (versions, n, padded n)."""
    ahead: Integers
    """What updates add to later fields of their LANES transitions, shape (versions, padded n /
    LANES, AHEAD, LANES).
    """
    Y: NDArray[np.uint32]
    """The codes in bits (1 stands for -1), shape (versions, n, padded M / 32)."""
    version: Integers
    """Which of them each epoch has, shape (epochs,)."""
    flipped: NDArray[np.int32]
    """The hidden neurons that flip, sorted by epoch, t and new code."""
    groups: NDArray[np.int64]
    """Rows (t, start, middle, end): at the start of an epoch y(t) goes to +1 at the neurons
    flipped[start:middle] and to -1 at flipped[middle:end].
    """
    group_start: NDArray[np.int64]
    """Where the groups of each epoch begin, shape (epochs + 1,)."""
    ended: bool
    """Whether no later epoch has a flip."""

    @property
    def needs_weights(self) -> bool:
        """Whether flips occur or may come, so that integer weights must be kept beside the
        fields.
        """
        return not self.ended or bool(self.group_start[-1] > self.group_start[0])


class Codes(Restorable):
    """The codes y(t) of all hidden neurons as they are now, and their Gram matrix.

    Parameters
    ----------
    y : ndarray of int8, shape (n, M)
    """

    changing: ClassVar[tuple[str, ...]] = ("bits", "K", "transposed")

    def __init__(self, y: Patterns) -> None:
        n, M = y.shape
        self.bits = in_bits(y)
        self.transposed = np.zeros((M, padded(n)), dtype=np.int8)
        self.transposed[:, :n] = y.T
        self.K = gram(y, narrowest(2 * M))
        self._versions: tuple[Integers, Integers, NDArray[np.uint32]] | None = None

    @property
    def y(self) -> Patterns:
        """The codes as an array of +-1, shape (n, M)."""
        return np.ascontiguousarray(self.transposed[:, : len(self.K)].T)

    def play(self, flips: Integers, n_epochs: int, *, ended: bool) -> Iterator[Tape]:
        """Apply flips (epoch, t, neuron, new code) of some epochs and give the tape, in pieces of
        bounded size.

        A piece is overwritten by the next one.
        """
        flipped, groups = (
            np.empty(len(flips), dtype=np.int32),
            np.empty((len(flips), 4), dtype=np.int64),
        )
        start = np.empty(n_epochs + 1, dtype=np.int64)
        kernels.sort_flips(
            flips, flipped, groups, np.empty((n_epochs, len(self.K), 2), dtype=np.int64), start
        )
        ahead_bytes = self.K.itemsize * self.K.shape[1] * AHEAD
        version_bytes = self.K.nbytes + ahead_bytes + self.bits.nbytes
        most = max(
            _PIECE_BYTES // version_bytes,
            min(_LARGE_PIECE_BYTES // version_bytes, _FEW_VERSIONS),
            1,
        )
        epoch = 0
        while epoch < n_epochs:
            begin = epoch
            changes = np.flatnonzero(np.diff(start[begin:]))
            changes = changes[changes > 0]  # the first epoch has a version of its own in any case
            epoch = n_epochs if len(changes) < most else begin + int(changes[most - 1])
            version = np.zeros(epoch - begin, dtype=np.int64)
            version[changes[: most - 1]] = 1
            version = np.cumsum(version)
            K, ahead, Y = self._room_for(int(version[-1]) + 1)
            now = start[begin : epoch + 1]
            kernels.play(
                self.K, self.transposed, self.bits, flipped, groups, version, now, K, ahead, Y
            )
            last = bool(ended and start[-1] == start[epoch])
            yield Tape(K, ahead, Y, version, flipped, groups, now, last)

    def _room_for(self, versions: int) -> tuple[Integers, Integers, NDArray[np.uint32]]:
        """Arrays for this many versions of K, `ahead` and bits: those of the last piece again, if
        they are large enough.
        """
        if self._versions is None or len(self._versions[0]) < versions:
            K = aligned((versions, *self.K.shape), self.K.dtype, np.zeros)
            ahead = aligned((versions, K.shape[2] // LANES, AHEAD, LANES), K.dtype, np.zeros)
            self._versions = K, ahead, np.empty((versions, *self.bits.shape), dtype=np.uint32)
        K, ahead, Y = self._versions
        return K[:versions], ahead[:versions], Y[:versions]
