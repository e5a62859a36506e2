"""Sequences as one object, and whatever else a user may give as sequences, checked and brought into
one array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, DTypeLike, NDArray

from seqattractor._checks import as_numbers, check_count, check_kind, check_positive
from seqattractor._faces import Result
from seqattractor._named_axes import NamedAxes, Variable
from seqattractor.sequences._level_code import LevelCode, check_code, picture_shape
from seqattractor.sequences._patterns import (
    Lengths,
    Patterns,
    check_frame_shape,
    check_lengths,
    check_patterns,
    is_loop,
    split,
)


@dataclass(frozen=True, eq=False, repr=False)
class Sequences(Result, NDArrayOperatorsMixin):
    """One or several sequences of +-1 patterns, with what is known about them; every dataset and
    loader gives one.

    It can be used wherever an array of its patterns can: ``X[0]``, ``X.shape``, ``len(X)``, ``X >
    0``, ``np.asarray(X)`` and ``net.fit(X)`` do what they do with ``X.patterns``. It cannot be
    changed; ``np.array(X)`` is a copy that can.

    Parameters
    ----------
    patterns : array of shape (T, N), or (S, T, N)
        Patterns of +-1, one row per time step, the sequences one below the other. An array of three
        dimensions is S sequences of equal length.
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
        "pictures", "array", "text", "table", "spikes", "traces" (signals above a threshold) or
        "music".
    closed : int
        How many patterns at the end of every sequence repeat its beginning: 0 where sequences end,
        1 where x(T) = x(1). See `close_loops`.
    options : dict, optional
        With which options a file was read.
    code : LevelCode or dict, optional
        How the units along the last axis of a frame stand for one number, such as a grey value; see
        `encoders.LevelCode`. A grey film has the frame shape (height, width, units), one in colour
        (height, width, 3, units). By default every unit is a number of its own.

    Examples
    --------
    >>> patterns = [[1, 1], [1, -1], [-1, 1], [1, 1], [-1, -1]]
    >>> X = Sequences(patterns, lengths=[3, 2], names=["up", "down"])
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
    code: LevelCode | None = None

    def __post_init__(self) -> None:
        """Check everything, fill in what was left out, and protect the patterns against changes."""
        if _has_sequences_first(self.patterns):
            patterns, lengths = _flatten(
                as_numbers(self.patterns, "patterns"), self.lengths, "patterns"
            )
        else:
            patterns = check_patterns(self.patterns, "patterns").view()
            lengths = check_lengths(self.lengths, len(patterns))
        patterns.flags.writeable = lengths.flags.writeable = False
        N = patterns.shape[1]
        shape = check_frame_shape(self.frame_shape, N)
        for given, name in ((self.names, "names"), (self.units, "units")):
            check_kind(given, (list, tuple, np.ndarray, type(None)), name, "a list of words")
        for given, name, number, each in (
            (self.names, "names", len(lengths), "sequence"),
            (self.units, "units", N, "column"),
        ):
            if given is not None and np.shape(given)[:1] != (number,):
                count = len(given) if np.ndim(given) else 0
                raise ValueError(
                    f"{name} must name every {each}, but there are {count} names for {number} "
                    f"{each}s."
                )
        names = (
            [f"sequence {s}" for s in range(len(lengths))]
            if self.names is None
            else [str(name) for name in self.names]
        )
        units = None if self.units is None else [str(unit) for unit in self.units]
        rate, step = (
            x if x is None else check_positive(x, name)
            for x, name in ((self.rate, "rate"), (self.step, "step"))
        )
        settled: dict[str, Any] = {
            "patterns": patterns,
            "lengths": lengths,
            "frame_shape": shape,
            "names": names,
            "units": units,
        }
        settled |= {"rate": rate, "step": step, "closed": check_count(self.closed, "closed", 0)}
        settled["code"] = check_code(self.code, shape)
        for name, value in settled.items():
            object.__setattr__(self, name, value)
        self._check_closed()

    def _check_closed(self) -> None:
        """Reject sequences that are said to be closed and are not."""
        for name, x in zip(self.names, self.split(), strict=True):
            period = len(x) - self.closed
            if period < 1 or not np.array_equal(x[period:], x[: self.closed]):
                repeated = "pattern" if self.closed == 1 else f"{self.closed} patterns"
                raise ValueError(
                    f"closed is {self.closed}, but {name} does not end with its first {repeated}."
                )

    def split(self) -> list[Patterns]:
        """Return the sequences one by one.

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
    def values(self) -> NDArray[Any]:
        """What the units stand for, (T, *frame_shape) of 0 and 1, or, with a code, of numbers and
        without the last axis.
        """
        return (
            (self.frames > 0).astype(np.uint8)
            if self.code is None
            else self.code.decode(self.frames)
        )

    @property
    def picture_shape(self) -> tuple[int, int] | None:
        """Height and width, where frames are pictures: black and white, or with a code grey or in
        colour.
        """
        return picture_shape(self.frame_shape, self.code)

    @property
    def loops(self) -> tuple[bool, ...]:
        """Whether each sequence is a loop: closed, or ending with its first pattern."""
        return tuple(self.closed > 0 or is_loop(x) for x in self.split())

    def describe(self) -> str:
        """Describe how many sequences there are, of which size, and how many units are on."""
        what = "loop" if all(self.loops) else "sequence"
        few, many = self.lengths.min(), self.lengths.max()
        patterns = (
            f"{many} pattern{'s' if many != 1 else ''}"
            if few == many
            else f"{few} to {many} patterns"
        )
        unit = "pixel" if self.kind in ("pictures", "text") else "unit"
        size = " x ".join(
            str(n) for n in reversed(self.picture_shape or self.frame_shape)
        )  # width x height, as people say it
        rate = f", {self.rate:g} frames per second" if self.rate else ""
        shown = ", ".join(self.names[:5]) + (", ..." if len(self.names) > 5 else "")
        return (
            f"{len(self.lengths)} {what}{'s' if len(self.lengths) > 1 else ''} of {patterns}, "
            f"{size} {unit}{'s' if self.shape[1] != 1 else ''}{self._shades()}{rate}. "
            f"{(self.patterns > 0).mean():.1%} of the units are on. Named {shown}."
        )

    def _shades(self) -> str:
        """How many levels the values have, in how many units."""
        if self.code is None:
            return ""
        of = (
            ""
            if self.picture_shape is None
            else " of grey"
            if len(self.frame_shape) == 3
            else " of red, green and blue"
        )
        return f" in {self.code.n_levels} levels{of} ({self.shape[1]} units)"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each sequence: its name, how many patterns it has, whether it is a loop,
        and how many units are on.
        """
        each = zip(self.names, self.split(), self.loops, strict=True)
        return [
            {"name": n, "patterns": len(x), "loop": loop, "on": float((x > 0).mean())}
            for n, x, loop in each
        ]

    def _named_axes(self) -> NamedAxes:
        """Time and units, with the sequence and the place in it of each pattern, and what is known
        of units and time.
        """
        place = np.concatenate([np.arange(n) for n in self.lengths])
        coordinates: dict[str, Variable] = {
            "sequence": ("time", np.repeat(self.names, self.lengths), "name of the sequence"),
            "t": ("time", place, "place in the sequence"),
        }
        if self.rate:
            coordinates["seconds"] = ("time", place / self.rate, "seconds since the sequence began")
        if self.units is not None:
            coordinates["unit"] = ("unit", self.units, "unit")
        attributes = {"frame_shape": list(self.frame_shape)} | {
            name: getattr(self, name) for name in ("kind", "closed", "rate", "step")
        }
        return NamedAxes(
            {"patterns": (("time", "unit"), self.patterns, "patterns")}, coordinates, attributes
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Of the patterns: (T, N)."""
        return self.patterns.shape[0], self.patterns.shape[1]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.patterns, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if any(isinstance(out, Sequences) for out in options.get("out", ())):
            raise TypeError("Sequences cannot be changed; np.array(X) is a copy that can.")
        return getattr(ufunc, method)(
            *(x.patterns if isinstance(x, Sequences) else x for x in inputs), **options
        )

    def __getattr__(self, name: str) -> Any:
        """What an array has and this does not: reshape, astype, mean, T, ..."""
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


def check_sequences(
    X: ArrayLike | Sequence[ArrayLike], lengths: ArrayLike | None = None, *, order: int = 1
) -> tuple[Patterns, Lengths]:
    """Check sequences of +-1 patterns and bring them into one array: patterns (T, N) as int8, and
    lengths (S,) as int64.

    `X` is `Sequences`, an array (T, N) with `lengths`, a list of these, or an array (S, T, N);
    frames must be flattened first. Every sequence needs one pattern more than the `order` past
    patterns that a prediction uses.

    Examples
    --------
    >>> X, lengths = check_sequences([[[1, -1], [1, 1]], [[-1, -1], [-1, 1], [1, 1]]])
    >>> X.shape, lengths
    ((5, 2), array([2, 3]))
    """
    order = check_count(order, "order", 0)
    if _is_list_of_sequences(X):
        X, lengths = _join(X, lengths)
    if isinstance(X, Sequences):  # whose patterns were checked when it was made
        patterns, checked = (
            X.patterns,
            X.lengths if lengths is None else check_lengths(lengths, len(X)),
        )
    elif _has_sequences_first(X):
        patterns, checked = _flatten(as_numbers(X, "X"), lengths, "X")
    else:
        patterns = check_patterns(X, "X")
        checked = check_lengths(lengths, len(patterns))
    short = np.flatnonzero(checked <= order)
    if short.size:
        s = int(short[0])
        which = "X" if len(checked) == 1 else f"sequence {s}"
        need = (
            "a pattern and its successor" if order == 1 else f"{order} of context and a successor"
        )
        raise ValueError(
            f"{which} has {checked[s]} pattern{'s' if checked[s] != 1 else ''} "
            f"(n_samples={checked[s]}), but a sequence needs at least {order + 1}: {need}."
        )
    return patterns, checked


def _has_sequences_first(X: Any) -> bool:
    """Whether X is an array (S, T, N); one of xarray whose second axis is not time has frames, or
    axes in another order.
    """
    dims = getattr(X, "dims", None)
    time_elsewhere = isinstance(dims, tuple) and "time" in dims and dims[1] != "time"
    return getattr(X, "ndim", 2) == 3 and bool(np.size(X)) and not time_elsewhere


def _is_list_of_sequences(X: Any) -> bool:
    """Whether X is a list of two-dimensional arrays, not one array written as nested lists."""
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(_depth(x) == 2 for x in X)


def _depth(x: Any) -> int:
    """How deep an array or nested lists go, also where their rows differ in length."""
    if isinstance(x, (list, tuple)):
        return 1 + (_depth(x[0]) if len(x) else 0)
    return int(np.ndim(x))


_KNOWN = "whose lengths are known: leave lengths out."


def _flatten(X: NDArray[Any], lengths: ArrayLike | None, name: str) -> tuple[Patterns, Lengths]:
    """Put the sequences of an array (S, T, N) one below the other."""
    if lengths is not None:
        raise ValueError(
            f"lengths goes with an array (time, neurons); {name} is an array of {len(X)} "
            f"sequences, {_KNOWN}"
        )
    return check_patterns(X.reshape(-1, X.shape[2]), name, shape=X.shape).view(), np.full(
        len(X), X.shape[1]
    )


def _join(X: Any, lengths: ArrayLike | None) -> tuple[NDArray[Any], list[int]]:
    """Put a list of arrays one below the other."""
    if lengths is not None:
        raise ValueError(f"lengths goes with one array; X is a list of arrays, {_KNOWN}")
    arrays: list[Patterns] = []
    for s, x in enumerate(X):
        if not len(x):
            raise ValueError(f"sequence {s} (X[{s}]) is empty; leave it out.")
        arrays.append(check_patterns(x, f"X[{s}]"))
        N, width = arrays[0].shape[1], arrays[s].shape[1]
        if width != N:
            raise ValueError(
                f"all sequences must have the same number of neurons, but X[0] has {N} and X[{s}] "
                f"has {width}."
            )
    lengths = [
        x.lengths.tolist() if isinstance(x, Sequences) else [len(a)]
        for x, a in zip(X, arrays, strict=True)
    ]
    return np.concatenate(arrays), [n for some in lengths for n in some]
