"""Sequences as one object: patterns, their lengths, and what is known about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike, NDArray

from seqattractor._checks import check_count, check_positive
from seqattractor._faces import Result
from seqattractor.sequences._patterns import Lengths, Patterns, check_frame_shape, check_lengths, check_patterns, is_loop, split


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Result, NDArrayOperatorsMixin):
    """One or several sequences of +-1 patterns, with what is known about them; every dataset and loader gives one.

    It stands wherever an array of its patterns may stand: ``X[0]``, ``X.shape``, ``len(X)``, ``X > 0``, ``np.asarray(X)`` and
    ``net.fit(X)`` do what they do with ``X.patterns``. It cannot be changed; ``np.array(X)`` is a copy that can.

    Parameters
    ----------
    patterns : array of shape (T, N)
        Patterns of +-1, one row per time step, the sequences one below the other.
    lengths : array of shape (S,), optional
        How many rows belong to each sequence. By default all are one sequence.
    frame_shape : tuple of int, optional
        The shape of one pattern; its product is N. By default ``(N,)``.
    names : list of str, optional
        One for each sequence.
    units : list of str, optional
        One for each column: notes of a piano roll, neurons of a recording.
    rate : float, optional
        Frames per second.
    step : float, optional
        Of music: quarter notes per time step.
    kind : str
        "pictures", "array", "text", "table", "spikes" or "music".
    closed : int
        How many patterns at the end of every sequence repeat its beginning: 0 where sequences end, 1 where
        x(T) = x(1). See `close_loops`.
    options : dict, optional
        With which options a file was read.

    Examples
    --------
    >>> X = Sequences([[1, 1], [1, -1], [-1, 1], [1, 1], [-1, -1]], lengths=[3, 2], names=["up", "down"])
    >>> X
    Sequences: 2 sequences of 2 to 3 patterns, 2 units
    >>> X.shape, X[0], (X > 0).sum()
    ((5, 2), array([1, 1], dtype=int8), np.int64(6))
    >>> [x.tolist() for x in X.split()]
    [[[1, 1], [1, -1], [-1, 1]], [[1, 1], [-1, -1]]]
    """

    _drawn_by = "sequence_rows"
    patterns: Patterns
    lengths: Lengths = None  # type: ignore[assignment]  # filled in below, as are the next two
    frame_shape: tuple[int, ...] = None  # type: ignore[assignment]
    names: list[str] = None  # type: ignore[assignment]
    units: list[str] | None = None
    rate: float | None = None
    step: float | None = None
    kind: str = "array"
    closed: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check everything, fill in what was left out, and protect the patterns against changes."""
        patterns = check_patterns(self.patterns, "patterns").view()
        lengths = check_lengths(self.lengths, len(patterns))
        patterns.flags.writeable = lengths.flags.writeable = False
        N = patterns.shape[1]
        shape = check_frame_shape(N if self.frame_shape is None else self.frame_shape, N)
        names = [f"sequence {s}" for s in range(len(lengths))] if self.names is None else [str(name) for name in self.names]
        if len(names) != len(lengths):
            raise ValueError(f"names must name every sequence, but there are {len(names)} names for {len(lengths)} sequences.")
        units = None if self.units is None else [str(unit) for unit in self.units]
        if units is not None and len(units) != N:
            raise ValueError(f"units must name every column, but there are {len(units)} names for {N} columns.")
        for name in ("rate", "step"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, check_positive(getattr(self, name), name))
        settled = {"patterns": patterns, "lengths": lengths, "frame_shape": shape, "names": names, "units": units}
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        self._check_closed()

    def _check_closed(self) -> None:
        """Refuse sequences that are said to be closed and are not."""
        check_count(self.closed, "closed", 0)
        for name, x in zip(self.names, self.split(), strict=True):
            period = len(x) - self.closed
            if period < 1 or not np.array_equal(x[period:], x[: self.closed]):
                repeated = "pattern" if self.closed == 1 else f"{self.closed} patterns"
                raise ValueError(f"closed is {self.closed}, but {name} does not end with its first {repeated}.")

    def split(self) -> list[Patterns]:
        """Give the sequences one by one.

        Returns
        -------
        list of ndarray of int8, each of shape (T_s, N)

        Examples
        --------
        >>> [len(x) for x in Sequences([[1], [-1], [1]], lengths=[1, 2]).split()]
        [1, 2]
        """
        return list(split(self.patterns, self.lengths))

    @property
    def frames(self) -> Patterns:
        """The patterns in the shape of frames, (T, *frame_shape)."""
        return self.patterns.reshape(len(self), *self.frame_shape)

    @property
    def loops(self) -> tuple[bool, ...]:
        """Whether each sequence is a loop: closed, or ending with its first pattern."""
        return tuple(self.closed > 0 or is_loop(x) for x in self.split())

    def describe(self) -> str:
        """Say how many sequences there are, of which size, and how many units are on."""
        what = "loop" if all(self.loops) else "sequence"
        few, many = self.lengths.min(), self.lengths.max()
        patterns = f"{many} pattern{'s' if many != 1 else ''}" if few == many else f"{few} to {many} patterns"
        unit = "pixel" if self.kind in ("pictures", "text") else "unit"
        size = " x ".join(str(n) for n in reversed(self.frame_shape))  # width x height, as people say it
        rate = f", {self.rate:g} frames per second" if self.rate else ""
        shown = ", ".join(self.names[:5]) + (", ..." if len(self.names) > 5 else "")
        return (
            f"{len(self.lengths)} {what}{'s' if len(self.lengths) > 1 else ''} of {patterns}, "
            f"{size} {unit}{'s' if self.shape[1] != 1 else ''}{rate}. "
            f"{(self.patterns > 0).mean():.1%} of the units are on. Named {shown}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """Give a row for each sequence: its name, how many patterns it has, whether it is a loop, and how many units are on."""
        each = zip(self.names, self.split(), self.loops, strict=True)
        return [{"name": n, "patterns": len(x), "loop": loop, "on": float((x > 0).mean())} for n, x, loop in each]

    @property
    def shape(self) -> tuple[int, int]:
        """Of the patterns: (T, N)."""
        return self.patterns.shape[0], self.patterns.shape[1]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.patterns, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(out, Sequences) for out in options.get("out", ())):
            raise TypeError("Sequences cannot be changed; np.array(X) is a copy that can.")
        return getattr(ufunc, method)(*(x.patterns if isinstance(x, Sequences) else x for x in inputs), **options)

    def __getattr__(self, name: str) -> Any:
        """What an array has and this has not: reshape, astype, mean, T, ..."""
        if name.startswith("_") or name == "patterns" or not hasattr(np.ndarray, name):
            raise AttributeError(f"Sequences have no attribute {name!r}.")
        return getattr(self.patterns, name)

    def __len__(self) -> int:
        return len(self.patterns)

    def __getitem__(self, key: Any) -> Any:
        return self.patterns[key]

    def __iter__(self) -> Iterator[Patterns]:
        return iter(self.patterns)

    def __contains__(self, value: Any) -> bool:
        return value in self.patterns
