"""The kernels in C: each is declared here once, checked on every call, and called without the lock of the interpreter.

Sources are in ``csrc/``. A declaration lists the arguments of a kernel in their order. Axes of arrays have names: their lengths
are read off the arrays, must agree between them, and are passed to C before all other arguments, in the order in which they
appear (not those whose name begins with ``_``, which C has no use for). ``T`` stands for the integer type of fields or weights,
for which a kernel is compiled several times. Work space is made for each call. So nothing that has another type, shape or memory
order than declared, and no index that is out of range, ever reaches C.

A kernel returns a whole number; what it means is said in its source.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod
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
    dtype = np.dtype(dtype)
    size = dtype.itemsize
    for length in shape:
        size *= length
    raw = np.empty(size + LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + size].view(dtype).reshape(shape)


Axis = str | int
"""The name of an axis, its name and a number, as in "n+1", which must come after "n", or its length."""


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


class Group:
    """Arguments that belong together: attributes of one object in Python, a pointer to a struct in C."""

    def __init__(self, name: str, *members: Array | Number | Work) -> None:
        self.name, self.members = name, members


Argument = Array | Number | Work | Group


def reads(name: str, kind: str, *axes: Axis, below: Axis | None = None) -> Array:
    """An array that a kernel only reads."""
    return Array(name, kind, axes, below=below)


def writes(name: str, kind: str, *axes: Axis) -> Array:
    """An array that a kernel changes."""
    return Array(name, kind, axes, written=True)


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
    arguments : Array, Number, Work or Group
        In the order of the arguments in C, after the lengths of axes.
    types : tuple of str
        What T may be; empty if the kernel is not compiled for several types.
    """

    def __init__(self, name: str, *arguments: Argument, types: tuple[str, ...] = ()) -> None:
        self.name, self._types, self._arguments = name, types, arguments
        members = [member for argument in arguments for member in _members(argument)]
        axes = [axis for member in members if isinstance(member, Array) for axis in member.axes]
        self._axes = list(dict.fromkeys(a for a in axes if isinstance(a, str) and not a.startswith("_") and "+" not in a))
        self._given = [argument for argument in arguments if not isinstance(argument, Work)]
        self._structs = {
            argument.name: type(argument.name, (ctypes.Structure,), {"_fields_": _fields(argument)})
            for argument in arguments
            if isinstance(argument, Group)
        }
        self._functions: dict[tuple[str, str], Any] = {}

    def __call__(self, *given: Any) -> int:
        """Check the arguments and call the function."""
        if len(given) != len(self._given):
            raise TypeError(f"{self.name} takes {len(self._given)} arguments, not {len(given)}.")
        call = _Call(self.name, self._types)
        for argument, value in zip(self._given, given, strict=True):
            for member in _members(argument):
                if isinstance(member, Array):
                    call.check(member, getattr(value, member.name) if isinstance(argument, Group) else value)
        values, passed = iter(given), [call.lengths[axis] for axis in self._axes]
        for argument in self._arguments:
            if isinstance(argument, Group):
                owner, struct = next(values), self._structs[argument.name]
                passed.append(ctypes.byref(struct(*(call.value(m, getattr(owner, getattr(m, "name", ""), None)) for m in argument.members))))
            else:
                passed.append(call.value(argument, None if isinstance(argument, Work) else next(values)))
        return int(self._function(call.T)(*passed))

    def _function(self, T: str) -> Any:
        """The function of the library for a type and the instruction set in use."""
        key = T, instruction_set()
        if key not in self._functions:
            function = getattr(_library(), "_".join(part for part in (self.name, *key) if part))
            function.restype = ctypes.c_int64
            function.argtypes = [ctypes.c_int64] * len(self._axes) + [_c_type(argument) for argument in self._arguments]
            self._functions[key] = function
        return self._functions[key]


def _members(argument: Argument) -> tuple[Array | Number | Work, ...]:
    """The members of a group, or the argument itself."""
    return argument.members if isinstance(argument, Group) else (argument,)


def _c_type(argument: Argument) -> Any:
    """Its type in C: a number, or a pointer."""
    return _C_NUMBERS[argument.kind] if isinstance(argument, Number) else ctypes.c_void_p


def _fields(group: Group) -> list[tuple[str, Any]]:
    """The members of a struct in C."""
    return [(getattr(member, "name", f"work{k}"), _c_type(member)) for k, member in enumerate(group.members)]


@cache
def _kind_of(dtype: np.dtype[Any]) -> str:
    """The name of a type; numpy takes some microseconds to make one."""
    return dtype.name if dtype.isnative else str(dtype)


class _Call:
    """What is known of one call: the type T, the lengths of axes, and the work space, which must live until it returns."""

    def __init__(self, name: str, types: tuple[str, ...]) -> None:
        self.name, self.types, self.T = name, types, ""
        self.lengths: dict[str, int] = {}
        self.work: list[Any] = []

    def check(self, argument: Array, value: Any) -> None:
        """Compare an array with its declaration, and learn from it what T and the lengths of axes are."""
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{self.name}: {argument.name} must be an array, not {type(value).__name__}.")
        kind = _kind_of(value.dtype)
        if argument.kind == "T" and not self.T and kind in self.types:
            self.T = kind
        wanted = self.T if argument.kind == "T" else argument.kind
        if kind != wanted:
            raise TypeError(f"{self.name}: {argument.name} must be of type {wanted or ' or '.join(self.types)}, not {value.dtype}.")
        flags = value.flags
        if not flags.c_contiguous or not flags.aligned or (argument.written and not flags.writeable):
            raise ValueError(f"{self.name}: {argument.name} must be contiguous and aligned, and writable if it is written to.")
        if value.ndim != len(argument.axes):
            raise ValueError(f"{self.name}: {argument.name} must have {len(argument.axes)} axes, not {value.ndim}.")
        for axis, length in zip(argument.axes, value.shape, strict=True):
            if length != (known := self.length(axis, length)):
                raise ValueError(f"{self.name}: {argument.name} has the shape {value.shape}, but its axis {axis} must be {known}.")
        if argument.below is not None and value.size and not 0 <= int(value.min()) <= int(value.max()) < self.length(argument.below):
            raise ValueError(f"{self.name}: numbers of {argument.name} must be from 0 to {self.length(argument.below) - 1}.")

    def length(self, axis: Axis, found: int | None = None) -> int:
        """The length of an axis; one that is new gets the length that was found."""
        if isinstance(axis, int):
            return axis
        name, _, more = axis.partition("+")
        if found is not None and not more:
            self.lengths.setdefault(name, found)
        return self.lengths[name] + int(more or 0)

    def value(self, argument: Argument, value: Any) -> Any:
        """What is passed to C."""
        if isinstance(argument, Work):
            size = prod(argument.shape(self.lengths)) * np.dtype(self.T if argument.kind == "T" else argument.kind).itemsize
            space = np.empty(size + LINE, dtype=np.uint8)
            self.work.append(space)
            return -(-int(space.ctypes.data) // LINE) * LINE
        if isinstance(argument, Number):
            return float(value) if argument.kind == "float64" else int(value)
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
_CHANGES = (
    reads("up_starts", "int64", "n+1", below="_up+1"),
    reads("down_starts", "int64", "n+1", below="_down+1"),
)
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

# Weights form (csrc/weights.h)
NEURONS, SPAN = 8, 32
_SIDE_BY_SIDE = "blocks", "padded", NEURONS
load_weights = Kernel(
    "load_weights",
    reads("weights", "float64", "m", "N"),
    writes("side", "float64", *_SIDE_BY_SIDE),
    real("factor"),
    real("scale"),
)
learn_weights = Kernel(
    "learn_weights",
    writes("weights", "float64", *_SIDE_BY_SIDE),
    reads("settled", "uint8", "blocks"),
    writes("updates", "int64", "blocks"),
    reads("x", "int8", "n", "N"),
    reads("targets", "int8", "n", "width"),
    writes("codes", "int8", "n", "code_width"),
    whole("column"),
    whole("neurons"),
    real("kappa"),
    real("theta"),
    Work("uint8", lambda of: (2 * SPAN * 8 * (of["N"] // 64 + 1),)),
    Work("float64", lambda of: (SPAN, SPAN)),
)
add_weights = Kernel(
    "add_weights",
    writes("weights", "float64", "m", "N"),
    reads("side", "float64", *_SIDE_BY_SIDE),
    real("factor"),
    real("scale"),
    real("eta"),
)

# Learned targets (csrc/learned_targets.h)
learn_targets = Kernel(
    "learn_targets",
    Group(
        "network",
        reads("targets", "int8", "n", "N"),
        reads("gram", "T", "n", "padded"),
        reads("hidden_start", "float64", "n", "M"),
        writes("hidden_learned", "T", "n", "M"),
        writes("updates", "T", "n", "M"),
        reads("start", "float64", "units", "N"),
        writes("start_fields", "float64", "n", "N"),
        writes("learned", "T", "units", "N"),
        writes("learned_fields", "T", "n", "N"),
        writes("version", "int64", "n+1"),
        writes("codes", "int8", "n", "units"),
        reads("drive", "float64", "n", "M"),
        writes("projected", "T", "n", "M"),
        real("kappa"),
        real("feedback"),
    ),
    writes("errors", "int64", 2),
    Work("T", lambda of: (of["M"],)),
    Work("T", lambda of: (of["N"],)),
    Work("int8", lambda of: (of["M"],)),
    types=("int32", "int64"),
)

# Threshold neurons by whole numbers: many states at once (csrc/firing.h), and one that goes on (csrc/walk.h)
def _layer(name: str, inputs: str, padded: str) -> Group:
    """A layer with rounded weights, `firing.Layer`."""
    sums = reads("surely", "int32", padded), reads("perhaps", "int32", padded)
    return Group(name, reads("W", "int32", inputs, padded), *sums)


round_layer = Kernel(
    "round_layer",
    reads("W", "float64", "neurons", "inputs"),
    reads("offset", "float64", "neurons"),
    writes("whole", "int32", "inputs", "padded"),
    writes("surely", "int32", "padded"),
    writes("perhaps", "int32", "padded"),
    whole("low"),
    Work("int32", lambda of: (16, of["inputs"] + 7)),
)
respond = Kernel(
    "respond",
    _layer("layer", "inputs", "padded"),
    reads("x", "int8", "states", "inputs"),
    writes("answers", "int8", "states", "neurons"),
    writes("doubtful", "uint8", "states"),
    whole("low"),
    whole("silent"),
    Work("uint8", lambda of: (of["states"], of["inputs"] // 8 + 1)),
    Work("int32", lambda of: (of["states"], 16)),
)
walk = Kernel(
    "walk",
    _layer("hidden", "N", "padded_M"),
    _layer("visible", "M", "padded_N"),
    reads("state", "int8", "N"),
    writes("path", "int8", "steps", "N"),
    Work("int32", lambda of: (max(of["padded_M"], of["padded_N"]),)),
    Work("int64", lambda of: (of["N"] + 1,)),
    Work("int64", lambda of: (of["M"] + 1,)),
)

# Rate networks (csrc/least_squares.h)
run_innate = Kernel(
    "run_innate",
    writes("weights", "float64", "n", "K"),
    reads("sources", "int64", "n", "K", below="n"),
    reads("counts", "int64", "n", below="K+1"),
    reads("drive", "float64", "steps", "n"),
    reads("wanted", "float64", "taught", "n"),
    writes("P", "float64", "plastic", "size", "size"),
    writes("x", "float64", "n"),
    writes("rates", "float64", "steps", "n"),
    whole("every"),
    real("tau"),
    *(Work("float64", lambda of: (max(of["n"], of["K"]),)) for _ in range(3)),
)
run_pinning = Kernel(
    "run_pinning",
    writes("J", "float64", "N", "N"),
    reads("plastic", "int64", "m", below="N"),
    reads("drive", "float64", "steps", "N"),
    reads("wanted", "float64", "taught", "N"),
    writes("P", "float64", "m", "m"),
    writes("x", "float64", "N"),
    writes("states", "float64", "steps", "N"),
    real("tau"),
    *(Work("float64", lambda of: (max(of["N"], of["m"]),)) for _ in range(4)),
)
