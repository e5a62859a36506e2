"""The kernels in C: each is declared here once, checked on every call, and called without the lock of the interpreter.

Sources are in ``csrc/``. A declaration lists the arguments of a kernel in their order. Axes of arrays have names: their lengths
are read off the arrays, must agree between them, and are passed to C before all other arguments, in the order in which they
appear (not those whose name begins with ``_``, which C has no use for, nor those that a group has as a `Length`). ``T`` stands
for the integer type of fields or weights, for which a kernel is compiled several times. Conditions between lengths and whole
numbers are written as Python writes them (``where="n <= padded"``). So nothing that has another type, shape or memory order than
declared, no index that is out of range, and no array that overlaps one that is written to, ever reaches C.

A kernel returns a whole number; what it means is said in its source.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import operator
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Real
from pathlib import Path
from types import CodeType
from typing import Any, SupportsIndex

import numpy as np

LINE = 64  # bytes of a cache line; a vector that lies across two takes two accesses


def aligned(shape: tuple[int, ...], dtype: Any, make: Callable[..., Any] = np.empty) -> Any:
    """An array that begins with a cache line, with any content; or with zeros, if `make` is np.zeros.

    Examples
    --------
    >>> aligned((3, 32), np.int16).ctypes.data % LINE
    0
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = make(size + LINE, dtype=np.uint8)
    skip = LINE - raw.ctypes.data % LINE  # at least 1, so that little lies behind it and AddressSanitizer sees what goes beyond
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
"""The name of an axis, its length, or what it is computed from, as in "n+1" or "row(n)", which must come after "n"."""


@dataclass(frozen=True)
class Array:
    """An array: its type, its axes, and what a kernel does with it."""

    name: str
    kind: str
    axes: tuple[Axis, ...]
    written: bool = False
    below: Axis | None = None
    """If given, every number is an index: at least 0, and below this, which may also be a whole number that is passed."""


@dataclass(frozen=True)
class Number:
    """A number: int64, or float64, which may be infinite but not NaN."""

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
    narrow : tuple of str
        What K may be, a second type; empty if there is none.
    where : str or tuple of str
        Conditions that lengths of axes and whole numbers must meet.
    """

    def __init__(
        self,
        name: str,
        *arguments: Argument,
        types: tuple[str, ...] = (),
        narrow: tuple[str, ...] = (),
        where: str | tuple[str, ...] = (),
    ) -> None:
        self.name, self.arguments = name, arguments
        self.where = (where,) if isinstance(where, str) else where
        self.types = {kind: some for kind, some in (("T", types), ("K", narrow)) if some}
        members = [member for argument in arguments for member in _members(argument)]
        axes = [axis for member in members if isinstance(member, Array) for axis in member.axes]
        in_groups = {member.name for member in members if isinstance(member, Length)}
        names = dict.fromkeys(a for a in axes if isinstance(a, str) and a.isidentifier() and not a.startswith("_"))
        self.axes = [name for name in names if name not in in_groups]
        self.given = [argument for argument in arguments if not isinstance(argument, Work)]
        self._functions: dict[tuple[str, ...], Any] = {}

    def __call__(self, *given: Any) -> int:
        """Check the arguments and call the function."""
        if len(given) != len(self.given):
            raise TypeError(f"{self.name} takes {len(self.given)} arguments, not {len(given)}.")
        call = _Call(self.name, self.types)
        passed = call.convert(self.arguments, given, _shared.space)
        return self._run(call, passed)

    def bind(self, *given: Any) -> Callable[..., int]:
        """Check the first arguments, for many calls that differ in the others; returns what is to be called with these.

        All these calls work on the same arrays and work space, which nobody else must change meanwhile.
        """
        left = self.given[len(given) :]
        if not left:
            raise TypeError(f"{self.name} takes {len(self.given)} arguments; some must be left for calls.")
        split = self.arguments.index(left[0])
        bound = _Call(self.name, self.types)
        passed = bound.convert(self.arguments[:split], given, _Space())

        def run(*others: Any) -> int:
            if len(others) != len(left):
                raise TypeError(f"{self.name} takes {len(self.given)} arguments, not {len(given) + len(others)}.")
            call = bound.copy()
            return self._run(call, passed + call.convert(self.arguments[split:], others, _shared.space))

        return run

    def _run(self, call: _Call, passed: list[Any]) -> int:
        """Call the function if all arguments together are right."""
        call.check_conditions(self.where)
        call.check_overlaps()
        function = self._function(*call.types.values())
        return int(function(*[call.lengths[axis] for axis in self.axes], *passed))

    def _function(self, *types: str) -> Any:
        """The function of the library for some types and the instruction set in use."""
        key = *types, instruction_set()
        if key not in self._functions:
            function = getattr(_library(), "_".join((self.name, *key)), None)
            if function is None:
                raise TypeError(f"{self.name} was not compiled for {' and '.join(types) or 'this instruction set'}.")
            function.restype = ctypes.c_int64
            function.argtypes = [ctypes.c_int64] * len(self.axes) + [_c_type(argument) for argument in self.arguments]
            self._functions[key] = function
        return self._functions[key]


def _members(argument: Argument) -> tuple[Member, ...]:
    """The members of a group, or the argument itself."""
    return argument.members if isinstance(argument, Group) else (argument,)


def _attribute(kernel: str, argument: Argument, member: Member, value: Any) -> Any:
    """The value of a member: an attribute of what is given for a group, or what is given."""
    if not isinstance(argument, Group) or isinstance(member, Work | Length):
        return value
    try:
        return getattr(value, member.name)
    except AttributeError:
        raise TypeError(f"{kernel}: {argument.name} must have {member.name}, which {type(value).__name__} has not.") from None


def _c_type(argument: Argument) -> Any:
    """Its type in C: a number, or a pointer."""
    if isinstance(argument, Length):
        return ctypes.c_int64
    return _C_NUMBERS[argument.kind] if isinstance(argument, Number) else ctypes.c_void_p


class _Space:
    """Memory for work space that is used again: to be given new memory takes longer than many a call."""

    def __init__(self) -> None:
        self._memory = aligned((0,), np.uint8)

    def of(self, size: int) -> Any:
        """At least so many bytes with any content."""
        if size > self._memory.size:
            memory = aligned((size,), np.uint8)
            if size > _MOST_SHARED:
                return memory
            self._memory = memory
        return self._memory


_MOST_SHARED = 2**25  # bytes that a thread keeps


class _Shared(threading.local):
    """The work space of each thread, in which one call is made at a time."""

    def __init__(self) -> None:
        self.space = _Space()


_shared = _Shared()


@cache
def _kind_of(dtype: np.dtype[Any]) -> str:
    """The name of a type; numpy takes some microseconds to make one."""
    return dtype.name if dtype.isnative else str(dtype)


def _address(array: Any) -> int:
    """Where an array begins in memory, which numpy itself takes four times as long to say."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # it is read-only, or empty
        return int(array.ctypes.data)


@cache
def _size_of(kind: str) -> int:
    """Bytes of a number."""
    return np.dtype(kind).itemsize


class _Call:
    """What is known of one call: types, lengths of axes and whole numbers, and what must live until it returns."""

    def __init__(self, name: str, possible: dict[str, tuple[str, ...]]) -> None:
        self.name, self.possible = name, possible
        self.types = dict.fromkeys(possible, "")
        self.lengths: dict[str, int] = {}
        self.held: list[Any] = []
        self.spans: list[tuple[int, int, Array]] = []  # the memory of arrays that are given

    def copy(self) -> _Call:
        """A call that knows the same."""
        other = _Call(self.name, self.possible)
        other.types, other.lengths = self.types.copy(), self.lengths.copy()
        other.held, other.spans = [self], self.spans.copy()
        return other

    def convert(self, arguments: Sequence[Argument], given: Sequence[Any], space: _Space) -> list[Any]:
        """Check values and turn them into what is passed to C."""
        values = iter(given)
        known = []
        for argument in arguments:
            value = None if isinstance(argument, Work) else next(values)
            if isinstance(argument, Group):
                known += [(member, _attribute(self.name, argument, member, value)) for member in argument.members]
            else:
                known.append((argument, value))
        for member, value in known:
            if isinstance(member, Array):
                self.check(member, value)
            elif isinstance(member, Number):
                self.check_number(member, value)
        for member, value in known:
            if isinstance(member, Array) and member.below is not None:
                self.check_indices(member, value)
        self.make_space([member for member, _ in known if isinstance(member, Work)], space)
        converted = iter([self.value(member, value) for member, value in known])
        passed: list[Any] = []
        for argument in arguments:
            if isinstance(argument, Group):
                passed.append(ctypes.byref(argument.struct(*(next(converted) for _ in argument.members))))
            else:
                passed.append(next(converted))
        return passed

    def make_space(self, works: list[Work], space: _Space) -> None:
        """Make all work space at once; each begins with a cache line."""
        starts = [0]
        for work in works:
            itemsize = _size_of(self.types.get(work.kind, work.kind))
            starts.append(starts[-1] + -(-math.prod(work.shape(self.lengths)) * itemsize // LINE) * LINE)
        memory = space.of(starts[-1])
        self.held.append(memory)
        first = _address(memory) if works else 0
        self.starts = iter([first + start for start in starts])

    def check(self, argument: Array, value: Any) -> None:
        """Compare an array with its declaration, and learn from it what T and the lengths of axes are."""
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{self.name}: {argument.name} must be an array, not {type(value).__name__}.")
        kind = _kind_of(value.dtype)
        if not self.types.get(argument.kind, kind) and kind in self.possible[argument.kind]:
            self.types[argument.kind] = kind
        wanted = self.types.get(argument.kind, argument.kind) or " or ".join(self.possible[argument.kind])
        if kind != wanted:
            raise TypeError(f"{self.name}: {argument.name} must be of type {wanted}, not {value.dtype}.")
        flags = value.flags
        if not flags.c_contiguous or not flags.aligned or (argument.written and not flags.writeable):
            raise ValueError(f"{self.name}: {argument.name} must be contiguous and aligned, and writable if it is written to.")
        if value.ndim != len(argument.axes):
            raise ValueError(f"{self.name}: {argument.name} must have {len(argument.axes)} axes, not {value.ndim}.")
        for axis, length in zip(argument.axes, value.shape, strict=True):
            if length != (known := self.length(axis, length)):
                raise ValueError(f"{self.name}: {argument.name} has shape {value.shape}, but its axis {axis} must be {known}.")

    def check_indices(self, argument: Array, value: Any) -> None:
        """Compare numbers that are indices with the length of what they point into."""
        if argument.below is not None and value.size:
            below = self.length(argument.below)
            if int(value.min()) < 0 or int(value.max()) >= below:
                raise ValueError(f"{self.name}: numbers of {argument.name} must be from 0 to {below - 1}.")

    def check_number(self, argument: Number, value: Any) -> None:
        """Check that a number has the type that is declared, and remember one that is whole."""
        if argument.kind == "float64":
            if type(value) is not float and not isinstance(value, Real):
                raise TypeError(f"{self.name}: {argument.name} must be a number, not {type(value).__name__}.")
            if not (abs(value) <= sys.float_info.max or abs(value) == math.inf):  # type: ignore[operator]
                raise ValueError(f"{self.name}: {argument.name} must be a number of float64, not {value}.")
            return
        if type(value) is not int and (not isinstance(value, SupportsIndex) or isinstance(value, np.ndarray)):
            raise TypeError(f"{self.name}: {argument.name} must be a whole number, not {type(value).__name__}.")
        self.lengths[argument.name] = number = operator.index(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"{self.name}: {argument.name} must fit into 64 bits.")

    def check_conditions(self, conditions: tuple[str, ...]) -> None:
        """Check what must hold between lengths and whole numbers."""
        for text in conditions:
            if not eval(compiled(text), NAMES, self.lengths):
                found = ", ".join(f"{name} = {self.lengths[name]}" for name in compiled(text).co_names if name in self.lengths)
                raise ValueError(f"{self.name}: {text} must hold, but {found}.")

    def check_overlaps(self) -> None:
        """Check that no array overlaps one that is written to, which could change indices after they were checked."""
        ends, names = {False: 0, True: 0}, {False: "", True: ""}  # how far earlier arrays reach, by whether they are written
        for start, end, array in sorted(self.spans, key=operator.itemgetter(0)):
            for written in (True, False) if array.written else (True,):
                if start < ends[written]:
                    raise ValueError(f"{self.name}: {names[written]} and {array.name} overlap in memory.")
            if end > ends[array.written]:
                ends[array.written], names[array.written] = end, array.name

    def length(self, axis: Axis, found: int | None = None) -> int:
        """The length of an axis; one that is new gets the length that was found."""
        if isinstance(axis, int):
            return axis
        if axis in self.lengths:
            return self.lengths[axis]
        if found is not None and axis.isidentifier():
            self.lengths[axis] = found
            return found
        return int(eval(compiled(axis), NAMES, self.lengths))

    def value(self, argument: Member, value: Any) -> Any:
        """What is passed to C."""
        if isinstance(argument, Array):
            self.held.append(value)
            address = _address(value)
            if value.nbytes:
                self.spans.append((address, address + value.nbytes, argument))
            return address
        if isinstance(argument, Number):
            return float(value) if argument.kind == "float64" else int(value)
        if isinstance(argument, Work):
            return next(self.starts)
        if isinstance(argument, Length):
            return self.lengths[argument.name]
        if not isinstance(value, np.random.Generator):
            raise TypeError(f"{self.name}: {argument.name} must be a numpy.random.Generator, not {type(value).__name__}.")
        return value.bit_generator.ctypes.bit_generator.value


NAMES: dict[str, Any] = {"__builtins__": {}, "words": words, "padded": padded, "row": row}


@cache
def compiled(text: str) -> CodeType:
    """An expression of a declaration."""
    return compile(text, "<kernels>", "eval")


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


def available() -> bool:
    """Whether the kernels can be called here."""
    return not why_unavailable()


@cache
def why_unavailable() -> str:
    """Why the kernels cannot be called, and what to do, in a sentence for people; nothing if they can be called."""
    try:
        _library()
    except OSError as error:
        return (
            f"seqattractor computes without its compiled core, many times slower, because {error}; "
            "`pip install .` in its sources compiles it (in a checkout that was installed with -e: `pip install -e .`)."
        )
    return ""


def library_path() -> Path:
    """Where the shared library is, or should be."""
    return Path(__file__).with_name("_core." + {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so"))


@cache
def _library() -> ctypes.CDLL:
    """The shared library beside this file, if it was compiled from the sources beside it: others may have other arguments."""
    path = library_path()
    if not path.exists():
        raise OSError(f"{path.name} is missing")
    try:
        library = ctypes.CDLL(str(path))
        library.digest_of_sources.restype = ctypes.c_char_p
        digest = library.digest_of_sources().decode()
    except (OSError, AttributeError) as error:
        raise OSError(f"{path.name} cannot be loaded ({error})") from None
    if digest != _digest_of_sources():
        raise OSError(f"{path.name} was compiled from other sources than those in csrc")
    return library


def _digest_of_sources() -> str:
    """A digest of the sources, as hatch_build.py computes it."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).with_name("csrc").glob("*.[ch]")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


WIDTHS = ("int16", "int32", "int64")
LANES = 32

# Inputs of the exact engine (csrc/inputs.h)
_CHANGES = (reads("up_starts", "int64", "n+1", below="_up+1"), reads("down_starts", "int64", "n+1", below="_down+1"))
_CHANGED = reads("up", "int16", "_up", below="N"), reads("down", "int16", "_down", below="N")
_COLUMNS = ("0 <= first", "0 <= N <= inputs - first")
products = Kernel(
    "products",
    writes("K", "T", "n", "padded"),
    reads("bits", "uint32", "n", "words"),
    whole("N"),
    Work("uint32", lambda of: (of["words"], of["n"])),
    Work("int32", lambda of: (of["n"],)),
    types=WIDTHS,
    where=("n <= padded", "0 <= N <= 32 * words"),
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
    writes("up", "int16", "ups"),
    writes("down", "int16", "downs"),
    Work("uint32", lambda of: (of["words"],)),
    where="words <= 2**10",
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
    where=_COLUMNS,
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
    where=_COLUMNS,
)

# The exact engine on fields (csrc/fields.h, csrc/tape.h, csrc/replay.h)
AHEAD, SLOTS, ROWS = 66, 8, 64
RUNNING, SETTLED, NARROW, FULL = range(4)
_STATE = writes("state", "uint8", "some")
_IN_LANES = "n <= padded == 32 * _blocks"
look_ahead = Kernel(
    "look_ahead", reads("K", "T", "n", "padded"), writes("ahead", "T", "_blocks", AHEAD, LANES), types=WIDTHS, where=_IN_LANES
)
learn_rows = Kernel(
    "learn_rows",
    reads("K", "K", "n", "padded"),
    reads("ahead", "K", "_blocks", AHEAD, LANES),
    reads("rows", "int64", "some", below="m"),
    reads("z", "int8", "m", "n"),
    reads("h0", "float64", "m", "n"),
    writes("fields", "T", "m", "padded"),
    reads("bounds", "T", "m", "padded"),
    writes("room", "int64", "m"),
    writes("counts", "int32", "m", "n"),
    writes("wrong", "uint32", "m", "words"),
    writes("errors", "int64", "epochs"),
    _STATE,
    writes("flips", "int32", "capacity", 4),
    whole("step"),
    whole("limit"),
    whole("with_codes"),
    Work("T", lambda of: (4, ROWS, of["padded"])),
    Work("T", lambda of: (3, of["padded"], ROWS)),
    Work("T", lambda of: (LANES, ROWS)),
    Work("int64", lambda of: (of["padded"], LANES)),
    Work("int32", lambda of: (ROWS, of["padded"])),
    Work("uint32", lambda of: (ROWS, of["words"])),
    Work("int32", lambda of: (of["epochs"] * ROWS + of["words"],)),
    types=WIDTHS,
    narrow=WIDTHS,
    where=(_IN_LANES, "words == _blocks", "1 <= step", "1 <= epochs"),
)
set_bounds = Kernel(
    "set_bounds",
    writes("bounds", "T", "m", "padded"),
    reads("z", "int8", "m", "n"),
    reads("h0", "float64", "m", "n"),
    real("kappa"),
    whole("limit"),
    types=WIDTHS,
    where="n <= padded",
)
sort_flips = Kernel(
    "sort_flips",
    reads("flips", "int32", "number", 4),
    writes("flipped", "int32", "number"),
    writes("groups", "int64", "number", 4),
    writes("place", "int64", "epochs", "n", 2),
    writes("group_start", "int64", "epochs+1"),
)
play = Kernel(
    "play",
    writes("K", "T", "n", "padded"),
    writes("codes", "int8", "M", "padded"),
    writes("bits", "uint32", "n", "words"),
    reads("flipped", "int32", "number", below="M"),
    reads("groups", "int64", "_groups", 4),
    reads("version", "int64", "epochs", below="_versions"),
    reads("group_start", "int64", "epochs+1", below="_groups+1"),
    writes("K_versions", "T", "_versions", "n", "padded"),
    writes("ahead_versions", "T", "_versions", "_blocks", AHEAD, LANES),
    writes("bit_versions", "uint32", "_versions", "n", "words"),
    types=WIDTHS,
    where=_IN_LANES,
)
replay_rows = Kernel(
    "replay_rows",
    reads("K", "K", "_versions", "n", "padded"),
    reads("ahead", "K", "_versions", "_blocks", AHEAD, LANES),
    reads("Y", "uint32", "_versions", "n", "words"),
    reads("version", "int64", "epochs", below="_versions"),
    reads("flipped", "int32", "number", below="M"),
    reads("groups", "int64", "_groups", 4),
    reads("group_start", "int64", "epochs+1", below="_groups+1"),
    reads("rows", "int64", "some", below="m"),
    reads("x", "int8", "m", "n"),
    reads("V", "float64", "m", "M"),
    writes("g0", "float64", "m", "n"),
    writes("fields", "T", "m", "padded"),
    writes("bounds", "T", "m", "padded"),
    writes("room", "int64", "m"),
    writes("C", "T", "m", "width"),
    writes("errors", "int64", "epochs"),
    _STATE,
    whole("step"),
    whole("limit"),
    real("kappa"),
    real("factor"),
    real("scale"),
    Work("T", lambda of: (3, SLOTS, of["padded"])),
    Work("T", lambda of: (SLOTS, of["width"])),
    Work("T", lambda of: (of["width"], SLOTS)),
    Work("float64", lambda of: (2, of["width"] + of["padded"], SLOTS)),
    Work("T", lambda of: (of["padded"], SLOTS)),
    Work("int32", lambda of: (SLOTS, of["epochs"])),
    types=WIDTHS,
    narrow=WIDTHS,
    where=(_IN_LANES, "1 <= step", "M <= width == 32 * words"),
)

# Weights form (csrc/weights.h)
SIDE, SPAN = 8, 32  # neurons side by side, and transitions of a span, as in weights.h
_SIDE_BY_SIDE = "blocks", "padded", SIDE
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
    writes("z", "uint64", "n", "words(M)"),
    writes("P", "int16", "M", "learned"),
    writes("Pt", "int16", "learned", "row(M)"),
    writes("totals", "T", "padded(M)"),
    writes("inverse", "float64", "M"),
    writes("Vt", "T", "M", "row(N)"),
    writes("feedback", "T", "padded(M)", "feedback_row"),
    reads("next_bits", "uint64", "words(N)", "n"),
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
_STRETCH = writes("errors", "int64", 2), _RULE, reads("normals", "float64", "redraws", "M"), whole("first"), whole("last")
_IN_STRETCH = "0 <= first <= last <= n", "noise <= n_in"
_IN_TASK = (*_IN_STRETCH, "learned in (0, n_in)", "feedback_row in (0, row(n))")
_WEIGHTS = writes("U", "T", "padded(M)", "row(n_in+1)")
_NARROW = ("int32", "int64")
sparse_flips = Kernel(
    "sparse_flips",
    writes("flipped", "int32", "n", "noise"),
    writes("n_flipped", "int32", "n"),
    writes("order", "int32", "n_in", below="n_in"),
    Random("rng"),
    whole("first"),
    whole("last"),
    where=_IN_STRETCH,
)
sparse_on_weights = Kernel(
    "sparse_on_weights", _TASK, _WEIGHTS, Work("T", lambda of: (of["n_in"],)), *_STRETCH, types=_NARROW, where=_IN_TASK
)
sparse_on_fields = Kernel(
    "sparse_on_fields",
    _TASK,
    Group(
        "carried",
        Length("counted"),
        writes("fields", "T", "padded(M)", "row(n)"),
        _WEIGHTS,
        writes("counts", "int64", "M", "counted"),
        reads("gram", "int32", "n", "row(n)"),
        reads("inputs_t", "int8", "n_in", "row(n)"),
        reads("input_bits", "uint64", "n", "words(n_in)"),
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
    where=(*_IN_TASK, "counted in (0, n)"),
)
sparse_by_tables = Kernel(
    "sparse_by_tables",
    _TASK,
    Group(
        "tables",
        reads("input_bits", "uint64", "n", "words(n_in)"),
        _WEIGHTS,
        Work("int8", lambda of: (of["n"], of["n_in"])),  # noisy
        Work("uint8", lambda of: (of["n"], -(-of["n_in"] // GROUP))),  # codes
        *(Work("uint16", lambda of: (-(-of["M"] // NEURONS), of["n"])) for _ in ("wanted", "tape")),
        Work("T", lambda of: (2**GROUP * -(-of["n_in"] // GROUP) + 1, NEURONS)),  # table
    ),
    *_STRETCH,
    types=_NARROW,
    where=_IN_TASK,
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
    reads("gram", "int32", "n", "row(n)"),
    writes("fields", "int64", "M", "row(n)"),
    reads("z", "uint64", "M", "words(n)"),
    writes("raised", "int64", "M"),
    writes("counts", "int64", "M", "n"),
    writes("errors", "int64", "n_epochs"),
    whole("margin"),
    whole("active_margin"),
    whole("step"),
    whole("active_step"),
)
