"""Sequences that a user brings to a comparison: they travel to workers, and are known by their content."""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import cache, cached_property
from typing import Any

import numpy as np

from seqattractor.sequences import Lengths, Patterns


class OwnData:
    """Sequences of the user's that networks are compared on, wherever trials are done.

    Parameters
    ----------
    patterns : ndarray of int8, shape (T, N)
    lengths : ndarray of int64, shape (S,)
    closed : bool
        Whether every sequence is a loop.

    Examples
    --------
    >>> import pickle
    >>> data = OwnData(np.array([[1, -1], [1, 1]], dtype=np.int8), np.array([2]), closed=False)
    >>> there = pickle.loads(pickle.dumps(data))
    >>> there.description == data.description, there.patterns.tolist()
    (True, [[1, -1], [1, 1]])
    """

    def __init__(self, patterns: Patterns, lengths: Lengths, *, closed: bool) -> None:
        self.patterns, self.lengths, self.closed = patterns, lengths, closed

    @cached_property
    def description(self) -> dict[str, Any]:
        """What identifies them, as plain JSON values: sizes, and a digest of all that a trial sees of them."""
        (rows, units), lengths = self.patterns.shape, self.lengths.tolist()
        digest = hashlib.sha256(json.dumps([rows, units, lengths, self.closed]).encode())
        digest.update(np.packbits(self.patterns > 0, axis=1).tobytes())
        return {"digest": digest.hexdigest()[:32], "patterns": rows, "units": units, "sequences": len(lengths)}

    @property
    def digest(self) -> str:
        """A short name that depends on the content alone."""
        return str(self.description["digest"])

    @property
    def content(self) -> OwnData:
        """What a trial gets."""
        return self

    @cached_property
    def _packed(self) -> bytes:
        """The patterns for another process: one bit for each unit, compressed."""
        return zlib.compress(np.packbits(self.patterns > 0, axis=1).tobytes(), 6)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (self._packed, self.patterns.shape, tuple(self.lengths.tolist()), self.closed)


@cache
def _unpack(packed: bytes, shape: tuple[int, int], lengths: tuple[int, ...], closed: bool) -> OwnData:
    """Unpack sequences in a worker, once."""
    bits = np.frombuffer(zlib.decompress(packed), dtype=np.uint8).reshape(shape[0], -1)
    patterns = np.where(np.unpackbits(bits, axis=1, count=shape[1]), np.int8(1), np.int8(-1))
    return OwnData(patterns, np.array(lengths, dtype=np.int64), closed=closed)
