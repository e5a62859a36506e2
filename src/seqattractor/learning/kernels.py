"""The kernels in C: each is declared here once, checked on every call, and called without the lock of the interpreter.

Sources are in ``csrc/``. A declaration lists the arguments of a kernel in their order. Axes of arrays have names: their lengths
are read off the arrays, must agree between them, and are passed to C before all other arguments, in the order in which they
appear (not those whose name begins with ``_``, which C has no use for, nor those that a group has as a `Length`). ``T`` stands
for the integer type of fields or weights, for which a kernel is compiled several times. Work space is made for each call. So
nothing that has another type, shape or memory order than declared, and no index that is out of range, ever reaches C.

A kernel returns a whole number; what it means is said in its source.
"""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

LINE = 64  # bytes of a cache line; a vector that lies across two takes two accesses


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with any content that begins with a cache line.

    Examples
    --------
    >>> aligned((3, 32), np.int16).ctypes.data % LINE
    0
    """
    return _from_a_line_on(np.empty, shape, dtype)


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of zeros that begins with a cache line; memory that is never used is never taken."""
    return _from_a_line_on(np.zeros, shape, dtype)


def _from_a_line_on(make: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array made by `make` that begins with a cache line."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = make(size + LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + size].view(dtype).reshape(shape)


BLOCK = 64  # numbers whose comparisons fill a word of bits


def words(count: int) -> int:
    """How many words of bits so many numbers fill."""
    return -(-count // BLOCK)


def padded(count: int) -> int:
    """So many numbers in whole blocks."""
    return words(count) * BLOCK


def row(count: int) -> int:
    """How far apart rows of so many numbers lie: half a block more than they take, so that a column is spread over the cache."""
    return padded(count) + BLOCK // 2


Axis = str | int
"""The name of an axis, its name and a number, as in "n+1", which must come after "n", or its length; what such an axis takes in
words of bits, whole blocks or a row is "n:words", "n:padded" or "n:row"."""


@dataclass(frozen=True)
class Array:
    """An array: its type, its axes, and what a kernel does with it."""

    name: str
    kind: str
    axes: tuple[Axis, ...]
    written: bool = False
    below: Axis | None = None
    """If given, every number is an index: at least 0, and below this."""


@dataclass(frozen=True)
class Number:
    """A number: int64 or float64."""

    name: str
    kind: str


@dataclass(frozen=True)
class Work:
    """Work space that a call makes for itself; its shape is a function of the lengths of axes by name."""

    kind: str
    shape: Callable[[dict[str, int]], tuple[int, ...]]


@dataclass(frozen=True)
class Length:
    """The length of an axis, as a member of a group."""

    name: str


@dataclass(frozen=True)
class Random:
    """A numpy.random.Generator; C gets a pointer to its ``bitgen_t``."""

    name: str


class Group:
    """Arguments that belong together: attributes of one object in Python, a pointer to a struct in C."""

    def __init__(self, name: str, *members: Member) -> None:
        self.name, self.members = name, members
        fields = [(getattr(member, "name", f"work{k}"), _c_type(member)) for k, member in enumerate(members)]
        self.struct = type(name, (ctypes.Structure,), {"_fields_": fields})


Member = Array | Number | Work | Length | Random
Argument = Member | Group


def reads(name: str, kind: str, *axes: Axis, below: Axis | None = None) -> Array:
    """An array that a kernel only reads."""
    return Array(name, kind, axes, below=below)


def writes(name: str, kind: str, *axes: Axis, below: Axis | None = None) -> Array:
    """An array that a kernel changes."""
    return Array(name, kind, axes, written=True, below=below)


def whole(name: str) -> Number:
    """A whole number."""
    return Number(name, "int64")


def real(name: str) -> Number:
    """A real number."""
    return Number(name, "float64")


_C_NUMBERS = {"int64": ctypes.c_int64, "float64": ctypes.c_double}


class Kernel:
    """A function in C.

    Parameters
    ----------
    name : str
    arguments : Array, Number, Work, Random or Group
        In the order of the arguments in C, after the lengths of axes.
    types : tuple of str
        What T may be; empty if the kernel is not compiled for several types.
    """

    def __init__(self, name: str, *arguments: Argument, types: tuple[str, ...] = ()) -> None:
        self.name, self._types, self._arguments = name, types, arguments
        members = [member for argument in arguments for member in _members(argument)]
        axes = [axis for member in members if isinstance(member, Array) for axis in member.axes]
        given = {member.name for member in members if isinstance(member, Length)}
        names = dict.fromkeys(a for a in axes if isinstance(a, str) and not a.startswith("_") and not set("+:") & set(a))
        self._axes = [name for name in names if name not in given]
        self._given = [argument for argument in arguments if not isinstance(argument, Work)]
        self._functions: dict[tuple[str, str], Any] = {}

    def __call__(self, *given: Any) -> int:
        """Check the arguments and call the function."""
        return self.bind(*given)()

    def bind(self, *given: Any) -> Callable[..., int]:
        """Check the first arguments, for many calls that differ in the others; returns what is to be called with these.

        All these calls work on the same arrays and work space, which nobody else must change meanwhile.
        """
        if len(given) > len(self._given):
            raise TypeError(f"{self.name} takes {len(self._given)} arguments, not {len(given)}.")
        left = self._given[len(given) :]
        split = self._arguments.index(left[0]) if left else len(self._arguments)
        call = _Call(self.name, self._types)
        passed = call.convert(self._arguments[:split], given)

        def run(*others: Any) -> int:
            if len(others) != len(left):
                raise TypeError(f"{self.name} takes {len(left)} more arguments, not {len(others)}.")
            now = _Call(self.name, self._types)
            now.T, now.lengths = call.T, call.lengths.copy()
            more = now.convert(self._arguments[split:], others)
            return int(self._function(now.T)(*[now.lengths[axis] for axis in self._axes], *passed, *more))

        return run

    def _function(self, T: str) -> Any:
        """The function of the library for a type and the instruction set in use."""
        key = T, instruction_set()
        if key not in self._functions:
            function = getattr(_library(), "_".join(part for part in (self.name, *key) if part))
            function.restype = ctypes.c_int64
            function.argtypes = [ctypes.c_int64] * len(self._axes) + [_c_type(argument) for argument in self._arguments]
            self._functions[key] = function
        return self._functions[key]


def _members(argument: Argument) -> tuple[Member, ...]:
    """The members of a group, or the argument itself."""
    return argument.members if isinstance(argument, Group) else (argument,)


def _c_type(argument: Argument) -> Any:
    """Its type in C: a number, or a pointer."""
    if isinstance(argument, Length):
        return ctypes.c_int64
    return _C_NUMBERS[argument.kind] if isinstance(argument, Number) else ctypes.c_void_p


@cache
def _kind(dtype: Any) -> str:
    """The name of a type; nothing for one with foreign bytes."""
    return str(dtype.name) if dtype.isnative else ""


@cache
def _parts(axis: str) -> tuple[str, int, Callable[[int], int]]:
    """The parts of an axis: a name, what is added, and how it is laid out."""
    axis, _, layout = axis.partition(":")
    name, _, more = axis.partition("+")
    layouts: dict[str, Callable[[int], int]] = {"": int, "words": words, "padded": padded, "row": row}
    return name, int(more or 0), layouts[layout]


class _Call:
    """What is known of one call: the type T, the lengths of axes, and the arrays, which must live until it returns."""

    def __init__(self, name: str, types: tuple[str, ...]) -> None:
        self.name, self.types, self.T = name, types, ""
        self.lengths: dict[str, int] = {}
        self.held: list[Any] = []

    def convert(self, arguments: Sequence[Argument], given: Sequence[Any]) -> list[Any]:
        """Check values and turn them into what is passed to C."""
        values = iter(given)
        pairs = [(argument, None if isinstance(argument, Work) else next(values)) for argument in arguments]
        for argument, value in pairs:
            for member in _members(argument):
                if isinstance(member, Array):
                    self.check(member, getattr(value, member.name) if isinstance(argument, Group) else value)
        if works := [member for argument in arguments for member in _members(argument) if isinstance(member, Work)]:
            self.make_space(works)
        passed: list[Any] = []
        for argument, value in pairs:
            if isinstance(argument, Group):
                of_members = (self.value(m, getattr(value, getattr(m, "name", ""), None)) for m in argument.members)
                passed.append(ctypes.byref(argument.struct(*of_members)))
            else:
                passed.append(self.value(argument, value))
        return passed

    def make_space(self, works: list[Work]) -> None:
        """Make all work space at once; each begins with a cache line."""
        starts = [0]
        for work in works:
            size = math.prod(work.shape(self.lengths)) * np.dtype(self.T if work.kind == "T" else work.kind).itemsize
            starts.append(starts[-1] + -(-size // LINE) * LINE)
        space = aligned((starts[-1],), np.uint8)
        self.held.append(space)
        self.space = iter([space.ctypes.data + start for start in starts])

    def check(self, argument: Array, value: Any) -> None:
        """Compare an array with its declaration, and learn from it what T and the lengths of axes are."""
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{self.name}: {argument.name} must be an array, not {type(value).__name__}.")
        kind = _kind(value.dtype)
        if argument.kind == "T" and not self.T and kind in self.types:
            self.T = kind
        wanted = self.T if argument.kind == "T" else argument.kind
        if kind != wanted:
            raise TypeError(
                f"{self.name}: {argument.name} must be of type {wanted or ' or '.join(self.types)}, not {value.dtype}."
            )
        flags = value.flags
        if not flags.c_contiguous or not flags.aligned or (argument.written and not flags.writeable):
            raise ValueError(f"{self.name}: {argument.name} must be contiguous and aligned, and writable if it is written to.")
        if value.ndim != len(argument.axes):
            raise ValueError(f"{self.name}: {argument.name} must have {len(argument.axes)} axes, not {value.ndim}.")
        for axis, length in zip(argument.axes, value.shape, strict=True):
            if length != (known := self.length(axis, length)):
                raise ValueError(
                    f"{self.name}: {argument.name} has the shape {value.shape}, but its axis {axis} must be {known}."
                )
        if (
            argument.below is not None
            and value.size
            and not 0 <= int(value.min()) <= int(value.max()) < self.length(argument.below)
        ):
            raise ValueError(f"{self.name}: numbers of {argument.name} must be from 0 to {self.length(argument.below) - 1}.")

    def length(self, axis: Axis, found: int | None = None) -> int:
        """The length of an axis; one that is new gets the length that was found."""
        if isinstance(axis, int):
            return axis
        name, more, layout = _parts(axis)
        if found is not None and name == axis:
            return self.lengths.setdefault(name, found)
        return layout(self.lengths[name] + more)

    def value(self, argument: Argument, value: Any) -> Any:
        """What is passed to C."""
        if isinstance(argument, Work):
            return next(self.space)
        if isinstance(argument, Length):
            return self.lengths[argument.name]
        if isinstance(argument, Random):
            if not isinstance(value, np.random.Generator):
                raise TypeError(f"{self.name}: {argument.name} must be a numpy.random.Generator, not {type(value).__name__}.")
            return value.bit_generator.ctypes.bit_generator.value
        if isinstance(argument, Number):
            return float(value) if argument.kind == "float64" else int(value)
        self.held.append(value)
        return value.ctypes.data


_in_use: list[str] = []  # the instruction set that is used, once it is known


def instruction_sets() -> list[str]:
    """The instruction sets that the library was compiled for and this processor knows, the best one last."""
    known = _library().known_instruction_sets
    known.restype, known.argtypes = ctypes.c_char_p, []
    return str(known().decode()).split()


def instruction_set() -> str:
    """The instruction set in use: the best, unless `use` has chosen another."""
    if not _in_use:
        _in_use.append(instruction_sets()[-1])
    return _in_use[0]


def use(isa: str) -> None:
    """Use an instruction set from now on; results do not depend on it."""
    if isa not in instruction_sets():
        raise ValueError(f"this processor and library have {', '.join(instruction_sets())}, not {isa}.")
    _in_use[:] = [isa]


@cache
def _library() -> ctypes.CDLL:
    """The shared library beside this file."""
    suffix = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    return ctypes.CDLL(str(Path(__file__).with_name(f"_core.{suffix}")))


WIDTHS = ("int16", "int32", "int64")

# Inputs of the exact engine (csrc/inputs.h)
_CHANGES = (reads("up_starts", "int64", "n+1", below="_up+1"), reads("down_starts", "int64", "n+1", below="_down+1"))
_CHANGED = reads("up", "int16", "_up"), reads("down", "int16", "_down")
products = Kernel(
    "products",
    writes("K", "T", "n", "padded"),
    reads("bits", "uint32", "n", "words"),
    whole("N"),
    Work("uint32", lambda of: (of["words"], of["n"])),
    Work("int32", lambda of: (of["n"],)),
    types=WIDTHS,
)
count_changes = Kernel(
    "count_changes",
    reads("bits", "uint32", "n", "words"),
    writes("up_starts", "int64", "n+1"),
    writes("down_starts", "int64", "n+1"),
    Work("uint32", lambda of: (of["words"],)),
)
list_changes = Kernel(
    "list_changes",
    reads("bits", "uint32", "n", "words"),
    writes("up", "int16", "_up"),
    writes("down", "int16", "_down"),
    Work("uint32", lambda of: (of["words"],)),
)
add_start_fields = Kernel(
    "add_start_fields",
    writes("fields", "float64", "m", "n"),
    reads("weights", "float64", "m", "inputs"),
    *_CHANGED,
    *_CHANGES,
    whole("first"),
    whole("N"),
    real("factor"),
    real("scale"),
    Work("int64", lambda of: (8 * of["inputs"],)),
)
add_sums = Kernel(
    "add_sums",
    writes("weights", "float64", "m", "inputs"),
    reads("counts", "int64", "m", "n"),
    *_CHANGED,
    *_CHANGES,
    whole("first"),
    whole("N"),
    real("eta"),
    Work("int64", lambda of: (8 * of["inputs"],)),
)

# Sparse rule (csrc/sparse.h)
PRESENTATIONS, FEEDBACK_PRESENTATIONS, PENDING, NEURONS, GROUP = 256, 32, 4096, 16, 4  # as in sparse.h
_TASK = Group(
    "task",
    *map(Length, ("n", "n_in", "N", "M", "noise", "learned", "feedback_row")),
    reads("inputs", "int8", "n", "n_in"),
    reads("targets", "int8", "n", "N"),
    reads("drive", "float64", "n", "M"),
    reads("flipped", "int32", "n", "noise", below="n_in"),
    reads("n_flipped", "int32", "n", below="noise+1"),
    writes("theta", "float64", "M"),
    writes("wrong", "float64", "n"),
    writes("redrawn", "bool", "n"),
    writes("z", "uint64", "n", "M:words"),
    writes("P", "int16", "M", "learned"),
    writes("Pt", "int16", "learned", "M:row"),
    writes("totals", "T", "M:padded"),
    writes("inverse", "float64", "M"),
    writes("Vt", "T", "M", "N:row"),
    writes("feedback", "T", "M:padded", "feedback_row"),
    reads("next_bits", "uint64", "N:words", "n"),
    Work("T", lambda of: (FEEDBACK_PRESENTATIONS, row(of["M"]))),  # ahead
    Work("int64", lambda of: (2,)),  # window
    Work("T", lambda of: (padded(of["M"]),)),  # h
    Work("T", lambda of: (padded(of["M"]),)),  # sums
    Work("T", lambda of: (padded(of["N"]),)),  # g
    *(Work("float64", lambda of: (padded(of["M"]),)) for _ in ("score", "projected", "highest")),
    *(Work("int32", lambda of: (of["M"] + of["n_in"] + 1,)) for _ in ("best", "active", "plus", "minus")),
    Work("uint64", lambda of: (words(of["N"]),)),  # wrong_bits
    Work("int64", lambda of: (of["n"],)),  # products
    Work("T", lambda of: (of["n"],)),  # row
)
_RULE = Group(
    "rule",
    *map(whole, ("n_winners", "winners", "bias", "margin", "active_margin", "active_weight", "visible_margin")),
    *map(real, ("learned_feedback", "redraw")),
    *map(whole, ("hidden_step", "visible_step", "choosing", "drive_step")),
    *map(real, ("homeostasis", "redraw_above")),
)
_STRETCH = writes("errors", "int64", 2), _RULE, reads("normals", "float64", "_redraws", "M"), whole("first"), whole("last")
_WEIGHTS = writes("U", "T", "M:padded", "n_in+1:row")
_NARROW = ("int32", "int64")
sparse_flips = Kernel(
    "sparse_flips",
    writes("flipped", "int32", "n", "noise"),
    writes("n_flipped", "int32", "n"),
    writes("order", "int32", "n_in", below="n_in"),
    Random("rng"),
    whole("first"),
    whole("last"),
)
sparse_on_weights = Kernel("sparse_on_weights", _TASK, _WEIGHTS, Work("T", lambda of: (of["n_in"],)), *_STRETCH, types=_NARROW)
sparse_on_fields = Kernel(
    "sparse_on_fields",
    _TASK,
    Group(
        "carried",
        Length("counted"),
        writes("fields", "T", "M:padded", "n:row"),
        _WEIGHTS,
        writes("counts", "int64", "M", "counted"),
        reads("gram", "int32", "n", "n:row"),
        reads("inputs_t", "int8", "n_in", "n:row"),
        reads("input_bits", "uint64", "n", "n_in:words"),
        Work("T", lambda of: (PRESENTATIONS, row(of["M"]))),  # ahead
        Work("T", lambda of: (padded(of["n_in"]) if of["noise"] else 0, row(of["M"]))),  # Ut
        Work("uint64", lambda of: (words(of["n_in"]), PRESENTATIONS)),  # patterns
        Work("uint32", lambda of: (PENDING + of["M"] + 1,)),  # neuron
        Work("uint32", lambda of: (PENDING + of["M"] + 1,)),  # pattern
        Work("T", lambda of: (PENDING + of["M"] + 1,)),  # step
        Work("int64", lambda of: (PRESENTATIONS,)),  # product
        Work("uint64", lambda of: (words(of["n_in"]),)),  # x_bits
        Work("int32", lambda of: (padded(of["n"]),)),  # overlap
    ),
    *_STRETCH,
    types=_NARROW,
)
sparse_by_tables = Kernel(
    "sparse_by_tables",
    _TASK,
    Group(
        "tables",
        reads("input_bits", "uint64", "n", "n_in:words"),
        _WEIGHTS,
        Work("int8", lambda of: (of["n"], of["n_in"])),  # noisy
        Work("uint8", lambda of: (of["n"], -(-of["n_in"] // GROUP))),  # codes
        *(Work("uint16", lambda of: (-(-of["M"] // NEURONS), of["n"])) for _ in ("wanted", "tape")),
        Work("T", lambda of: (2**GROUP * -(-of["n_in"] // GROUP) + 1, NEURONS)),  # table
    ),
    *_STRETCH,
    types=_NARROW,
)
practise_V = Kernel(
    "practise_V",
    writes("V", "int64", "N", "M"),
    reads("targets", "int8", "n", "N"),
    reads("active", "int32", "_active", below="M"),
    reads("starts", "int64", "n+1", below="_active+1"),
    writes("errors", "int64", "n_epochs"),
    writes("wrong", "float64", "n"),
    whole("margin"),
    whole("step"),
    Work("int64", lambda of: (of["n"],)),
)
practise_U = Kernel(
    "practise_U",
    reads("gram", "int32", "n", "n:row"),
    writes("fields", "int64", "M", "n:row"),
    reads("z", "uint64", "M", "n:words"),
    writes("raised", "int64", "M"),
    writes("counts", "int64", "M", "n"),
    writes("errors", "int64", "n_epochs"),
    whole("margin"),
    whole("active_margin"),
    whole("step"),
    whole("active_step"),
)
