"""The kernels in C: each is declared here once; every call is checked, and runs without the lock of
the interpreter.

A declaration lists the arguments of a kernel in the order of its source in ``csrc/``::

    products = Kernel(
        "products", "out K: T[n, padded]; bits: uint32[n, words]; N: int; where n <= padded; where 0
        <= N <= 32 * words", "work columns: uint32[words, n]; work unlike: int32[n]", T=("int16",
        "int32", "int64"),
    )

``bits: uint32[n, words]``
    An array and its axes. An axis may be computed from others, as in ``row(n)`` or ``n+1``.
``out K: T[n, padded]``
    An array that the kernel writes to; it may read it, too. ``T`` and ``K`` are types for which it
    is compiled several times.
``rows: int64[some] < m``
    An array of indices: from 0 to ``m - 1``.
``work unlike: int32[n]``
    Work space, which the binding provides.
``N: int``, ``eta: float``, ``rng: Generator``
    A whole number of 64 bits; a number of float64, which may be infinite but not NaN; a
    numpy.random.Generator.
``where n <= padded``
    A condition on lengths and whole numbers, in Python.

Lengths of axes are read off the arrays and passed to C first, in the order in which they appear,
except those whose name begins with ``_``. Names in capitals are constants, if they are longer than
a letter. A struct in C is a `Group`.

To add a kernel, export a function in ``csrc/`` and declare it here;
``tests/engine/test_kernels.py`` then calls it at random.

No argument of another type, shape or memory order than declared, no index out of range, and no
array that overlaps one that is written to ever reaches C: every call is checked.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import operator
import re
import sys
import threading
import warnings
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from numbers import Real
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

LINE = 64  # bytes of a cache line; a vector that lies across two takes two accesses


def aligned(shape: tuple[int, ...], dtype: Any, make: Callable[..., Any] = np.empty) -> Any:
    """Make an array that begins at a cache line, with any content; or with zeros, if `make` is
    np.zeros.

    Examples
    --------
    >>> aligned((3, 32), np.int16).ctypes.data % LINE
    0
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = make(size + LINE, dtype=np.uint8)
    skip = (
        LINE - raw.ctypes.data % LINE
    )  # at least 1, so that little lies behind it and AddressSanitizer sees what goes beyond
    return raw[skip : skip + size].view(dtype).reshape(shape)


BLOCK = 64  # numbers whose comparisons fill a word of bits


def words(count: int) -> int:
    """How many words of bits so many numbers fill."""
    return -(-count // BLOCK)


def padded(count: int) -> int:
    """So many numbers in whole blocks."""
    return words(count) * BLOCK


def row(count: int) -> int:
    """How far apart rows of so many numbers lie: half a block more than they take, so that a column
    is spread over the cache.
    """
    return padded(count) + BLOCK // 2


# Constants of csrc that declarations or callers use
WIDTHS = ("int16", "int32")  # of fields of the exact engine
LANES, AHEAD, SLOTS, ROWS = 32, 66, 8, 64  # lanes.h, fields.h
RUNNING, SETTLED, NARROW, FULL = range(4)  # what became of a row: fields.h
SIDE, SPAN = 8, 32  # neurons side by side, and transitions of a span: weights.h
ABREAST = 16  # neurons: firing.h
WINDOW = 64  # presentations: sparse.h

# What expressions in declarations may use besides lengths and numbers
CONSTANTS: dict[str, Any] = {name: value for name, value in globals().items() if name.isupper()}
CONSTANTS |= {"words": words, "padded": padded, "row": row, "max": max, "__builtins__": {}}


# -- the library
# ------------------------------------------------------------------------------------------------


def library_path() -> Path:
    """Where the shared library is, or should be."""
    return Path(__file__).with_name(
        "_core." + {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    )


def digest_of_sources() -> str:
    """The digest of the sources beside this file, as hatch_build.py computes it."""
    sources = hashlib.sha256()
    for source in sorted(library_path().with_name("csrc").glob("*.[ch]")):
        sources.update(source.name.encode() + b"\0" + source.read_bytes())
    return sources.hexdigest()


@cache
def _load() -> tuple[ctypes.CDLL | None, str]:
    """The library beside this file, or why it cannot be used: from other sources it may have other
    arguments.
    """
    path = library_path()
    problem = f"{path.name} is missing"
    if path.exists():
        try:
            library = ctypes.CDLL(str(path))
            library.digest_of_sources.restype = library.known_instruction_sets.restype = (
                ctypes.c_char_p
            )
            if library.digest_of_sources().decode() == digest_of_sources():
                return library, ""
            problem = f"{path.name} was compiled from other sources"
        except (OSError, AttributeError) as error:
            problem = f"{path.name} cannot be loaded ({error})"
    return None, (
        f"seqattractor computes without its compiled core, many times slower, because {problem}; "
        "`pip install .` in its sources compiles it (in a checkout that was installed with -e: "
        "`pip install -e .`)."
    )


def why_unavailable() -> str:
    """Why the kernels cannot be called, and what to do, in a sentence for users; empty if they can
    be called.
    """
    return _load()[1]


def available() -> bool:
    """Return whether the kernels can be called here."""
    return not why_unavailable()


def has_kernels() -> bool:
    """Return whether the kernels can be called; warn once in a process if plain numpy has to learn
    instead.
    """
    if not available():
        _warn()
    return available()


@cache
def _warn() -> None:
    warnings.warn(why_unavailable(), RuntimeWarning, stacklevel=2)


def _library() -> ctypes.CDLL:
    """The shared library, if it is available."""
    library, why = _load()
    if library is None:
        raise RuntimeError(why)
    return library


@cache
def instruction_sets() -> list[str]:
    """The instruction sets that the library was compiled for and this processor has, the best one
    last.
    """
    return str(_library().known_instruction_sets().decode()).split()


_chosen: list[str] = []  # the instruction set that `use` has chosen


def instruction_set() -> str:
    """The instruction set in use: the best, unless `use` has chosen another."""
    return _chosen[0] if _chosen else instruction_sets()[-1]


def use(isa: str) -> None:
    """Use an instruction set from now on; results do not depend on it.

    Parameters
    ----------
    isa : str
        One of `instruction_sets`.
    """
    if isa not in instruction_sets():
        raise ValueError(
            f"this processor and library have {', '.join(instruction_sets())}, not {isa}."
        )
    _chosen[:] = [isa]


# -- declarations
# -----------------------------------------------------------------------------------------------


class Argument(NamedTuple):
    """An argument of a kernel, or a member of a group."""

    use: str
    """"in", "out" or "work" for an array, else what it is: "int", "float", "Generator", or "length"
    of an axis.
    """
    name: str
    type: str
    axes: tuple[str, ...]
    below: str
    """If not empty, the array has indices below this."""

    @property
    def is_array(self) -> bool:
        """Whether callers pass an array for it."""
        return self.use in ("in", "out")

    @property
    def is_passed(self) -> bool:
        """Whether callers pass a value for it."""
        return self.use not in ("work", "length")


class Group:
    """Arguments that belong together: attributes of one object in Python, a pointer to a struct in
    C.

    Parameters
    ----------
    name : str
    *declarations : str
        The members in the order of the struct; ``n: length`` is the length of an axis, which then
        is no argument of its own.
    """

    def __init__(self, name: str, *declarations: str) -> None:
        self.name = name
        self.members, self.where = _parse("; ".join(declarations))
        self.struct = type(
            name, (ctypes.Structure,), {"_fields_": [(m.name, _c_type(m)) for m in self.members]}
        )


_DECLARATION = re.compile(r"(?:(out|work) )?(\w+(?:, \w+)*): (\w+)(?:\[(.+?)\])?(?: < (.+))?")
_COMMA = re.compile(r", *(?![^(]*\))")  # outside of parentheses


def _parse(text: str) -> tuple[list[Argument], list[str]]:
    """The arguments and the conditions of a declaration."""
    arguments: list[Argument] = []
    conditions: list[str] = []
    for item in text.split("; "):
        if match := _DECLARATION.fullmatch(item):
            use, names, kind, axes, below = match.groups("")
            split = tuple(_COMMA.split(axes)) if axes else ()
            arguments += [
                Argument(use or ("in" if axes else kind), name, kind, split, below)
                for name in names.split(", ")
            ]
        elif item.startswith("where "):
            conditions.append(item.removeprefix("where "))
        else:
            raise ValueError(f"{item!r} declares no argument and no condition.")
    return arguments, conditions


def members(argument: Argument | Group) -> list[Argument]:
    """The members of a group, or the argument itself."""
    return argument.members if isinstance(argument, Group) else [argument]


def _key(argument: Argument | Group, m: Argument) -> str:
    """The name of a member among the values of a call: groups may have members of the same name."""
    return (
        f"{argument.name}.{m.name}" if isinstance(argument, Group) and m.use != "length" else m.name
    )


def is_axis(text: str) -> bool:
    """Whether an axis has a name, so that its length is read off an array; longer names in capitals
    are constants.
    """
    return text.isidentifier() and not (text.isupper() and len(text) > 1)


def _c_type(argument: Argument | Group) -> Any:
    """Its type in C: a number, or a pointer."""
    numbers = {"int": ctypes.c_int64, "length": ctypes.c_int64, "float": ctypes.c_double}
    return (
        ctypes.c_void_p
        if isinstance(argument, Group)
        else numbers.get(argument.use, ctypes.c_void_p)
    )


def _list_of(expressions: list[str]) -> CodeType:
    """A list of expressions of lengths and numbers, which is computed at once."""
    return compile(f"[{', '.join(expressions)}]", "<declaration>", "eval")


_Span = tuple[int, int, bool, str]
"""Where an array begins and ends in memory, whether it is written to, and its name in messages."""


class _Call(NamedTuple):
    """The arguments of a call that were checked so far."""

    types: dict[str, tuple[Any, ...]]
    """Possible ones of each letter; the first array of type T narrows them to one."""
    values: dict[str, Any]
    """What C gets, by name: addresses, numbers and, once all arrays are there, lengths of axes."""
    arrays: list[Any]
    spans: list[_Span]


class Kernel:
    """A function in C, called like one in Python; it returns a whole number, whose meaning is in
    its source.

    Parameters
    ----------
    name : str
    *declarations : str or Group
        Arguments and conditions, separated by ``"; "``.
    errors : dict of int to str, optional
        Return codes for contents of arrays that do not fit together, with the message of a
        ValueError.
    **types : tuple of str
        The types that letters such as ``T`` stand for.
    """

    def __init__(
        self,
        name: str,
        *declarations: str | Group,
        errors: dict[int, str] | None = None,
        **types: tuple[str, ...],
    ) -> None:
        self.name, self.errors, self.types = name, errors or {}, types
        self.arguments: list[Argument | Group] = []
        self.where: list[str] = []
        for part in declarations:
            arguments, conditions = (
                ([part], part.where) if isinstance(part, Group) else _parse(part)
            )
            self.arguments += arguments
            self.where += conditions
        self.passed = [
            argument
            for argument in self.arguments
            if isinstance(argument, Group) or argument.is_passed
        ]
        flat = [m for argument in self.arguments for m in members(argument)]
        self._arrays = [m for m in flat if m.is_array]
        work = [
            (_key(argument, m), m)
            for argument in self.arguments
            for m in members(argument)
            if m.use == "work"
        ]
        self._work = [(key, m.type) for key, m in work]
        self._keys = {a.name: [_key(a, m) for m in members(a)] for a in self.arguments}
        # Where the length of each axis is read off: the first array that has it.
        named = [
            (axis, k, i)
            for k, m in enumerate(self._arrays)
            for i, axis in enumerate(m.axes)
            if is_axis(axis)
        ]
        self._places = list({axis: (axis, k, i) for axis, k, i in reversed(named)}.values())
        lengths = {m.name for m in flat if m.use == "length"}
        self.axes = [
            axis
            for axis in dict.fromkeys(axis for axis, _, _ in named)
            if axis[0] != "_" and axis not in lengths
        ]
        self.c_types = [ctypes.c_int64] * len(self.axes) + [
            _c_type(argument) for argument in self.arguments
        ]
        possible = {
            m.type: tuple(map(np.dtype, types.get(m.type, (m.type,)))) for m in flat if m.axes
        }
        self._nothing = _Call(possible, {}, [], [])
        self._indexed = [k for k, m in enumerate(self._arrays) if m.below]
        self._shapes = _list_of([f"({', '.join(m.axes)},)" for m in self._arrays])
        self._conditions = _list_of(self.where)
        self._bounds = _list_of([self._arrays[k].below for k in self._indexed])
        self._counts = _list_of([" * ".join(f"({axis})" for axis in m.axes) for _, m in work])

    def __call__(self, *values: Any) -> int:
        """Check the arguments and call the function in C.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as declared, or C returns a code that is declared as an error.
        RuntimeError
            If there is no library to call.
        """
        return self._run(self._nothing, (), values)

    def bind(self, *values: Any) -> Callable[..., int]:
        """Check the first arguments once, for many calls that differ only in the others; gives a
        function of these.

        The bound arrays must not be reshaped while the function is in use.
        """
        bound = self._check(self._nothing, 0, values)
        return lambda *others: self._run(bound, values, others)

    def _check(self, before: _Call, number: int, values: tuple[Any, ...]) -> _Call:
        """Check each of the values that follow so many others by itself."""
        call = _Call(
            before.types.copy(), before.values.copy(), before.arrays.copy(), before.spans.copy()
        )
        for argument, value in zip(self.passed[number:], values, strict=False):
            is_group = isinstance(argument, Group)
            for m in filter(lambda m: m.is_passed, members(argument)):
                each: Any = getattr(value, m.name, None) if is_group else value
                key = _key(argument, m)
                what = f"{self.name}: {key}"
                if m.axes:
                    call.values[key] = _check_array(each, what, call.types[m.type], m, call.spans)
                    call.types[m.type] = (each.dtype,)
                    call.arrays.append(each)
                else:
                    call.values[key] = _CHECKS[m.use](each, what)
        return call

    def _run(self, before: _Call, first: tuple[Any, ...], others: tuple[Any, ...]) -> int:
        """Check the other values, and all together; then call the function in C."""
        if len(first) + len(others) != len(self.passed):
            raise TypeError(
                f"{self.name} takes {len(self.passed)} arguments, not {len(first) + len(others)}."
            )
        types, values, arrays, spans = self._check(before, len(first), others)
        self._check_together(arrays, values)
        _check_overlaps(spans)
        counts = eval(self._counts, CONSTANTS, values)
        memory, places = _work_space(
            [
                types[kind][0].itemsize * count
                for (_, kind), count in zip(self._work, counts, strict=True)
            ]
        )
        values.update(zip((key for key, _ in self._work), places, strict=False))
        arguments = [values[axis] for axis in self.axes]
        for a in self.arguments:
            if isinstance(a, Group):
                arguments.append(
                    ctypes.byref(a.struct(*[values[key] for key in self._keys[a.name]]))
                )
            else:
                arguments.append(values[a.name])
        code = int(
            _function(self, instruction_set(), *(types[letter][0] for letter in self.types))(
                *arguments
            )
        )
        del memory  # not before C has returned
        if code in self.errors:
            raise ValueError(f"{self.name}: {self.errors[code]}.")
        return code

    def _check_together(self, arrays: list[Any], values: dict[str, Any]) -> None:
        """Check shapes, conditions and indices; adds the lengths of axes to `values`."""
        shapes = [array.shape for array in arrays]
        for axis, k, i in self._places:
            values[axis] = shapes[k][i]
        if shapes != (wanted := eval(self._shapes, CONSTANTS, values)):
            k = next(k for k in range(len(shapes)) if shapes[k] != wanted[k])
            m = self._arrays[k]
            raise ValueError(
                f"{self.name}: {m.name} has shape {shapes[k]}, but [{', '.join(m.axes)}] is "
                f"{wanted[k]}."
            )
        if not all(holds := eval(self._conditions, CONSTANTS, values)):
            text = self.where[holds.index(False)]
            names = [name for name in dict.fromkeys(re.findall(r"\w+", text)) if name in values]
            found = ", ".join(f"{name} = {values[name]}" for name in names)
            raise ValueError(f"{self.name}: {text} must hold, but {found}.")
        for k, below in zip(self._indexed, eval(self._bounds, CONSTANTS, values), strict=True):
            _check_indices(arrays[k], f"{self.name}: {self._arrays[k].name}", below)


@cache
def _function(kernel: Kernel, isa: str, *types: np.dtype[Any]) -> Any:
    """Find the function of the library for an instruction set and types."""
    names = [dtype.name for dtype in types]
    function = getattr(_library(), "_".join((kernel.name, *names, isa)), None)
    if function is None:
        raise TypeError(
            f"{kernel.name} was not compiled for {' and '.join(names) or 'this instruction set'}."
        )
    function.restype, function.argtypes = ctypes.c_int64, kernel.c_types
    return function


# -- checks of single values
# ------------------------------------------------------------------------------------

_first_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer
_EMPTY = aligned((LINE,), np.uint8)
_NOWHERE = int(
    _EMPTY.ctypes.data
)  # for arrays without elements, whose address numpy takes long to look up


def _check_array(
    value: Any, what: str, types: tuple[Any, ...], m: Argument, spans: list[_Span]
) -> int:
    """Check all of an array but its lengths, and add it to `spans`; returns its address."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{what} must be an array, not {type(value).__name__}.")
    if value.dtype not in types:
        raise TypeError(
            f"{what} must be of type {' or '.join(map(str, types))}, not {value.dtype}."
        )
    written, flags, size = m.use == "out", value.flags, value.nbytes
    usable = flags.carray  # contiguous, aligned and writable
    if not usable and (written or not (flags.c_contiguous and flags.aligned)):
        raise ValueError(
            f"{what} must be contiguous and aligned, and writable if it is written to."
        )
    if value.ndim != len(m.axes):
        raise ValueError(f"{what} must have {len(m.axes)} axes, not {value.ndim}.")
    if not size:
        return _NOWHERE
    # numpy takes four times as long as ctypes, which cannot look up the address of read-only
    # arrays.
    address = ctypes.addressof(_first_byte(value)) if usable else value.ctypes.data
    spans.append((address, address + size, written, what))
    return address


def _check_indices(array: Any, what: str, below: int) -> None:
    """Check that signed integers are at least 0, and less than `below`."""
    if array.size:
        most = min(
            below, 2 ** (8 * array.itemsize - 1)
        )  # as unsigned integers, negative ones are at least that
        if int(np.maximum.reduce(np.asarray(array).view(f"u{array.itemsize}"), axis=None)) >= most:
            raise ValueError(f"{what} must be indices from 0 to {below - 1}.")


def _check_int(value: Any, what: str) -> int:
    """Check a whole number."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {type(value).__name__}.") from None
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{what} must fit into 64 bits.")
    return number


def _check_float(value: Any, what: str) -> float:
    """Check a real number."""
    if not isinstance(value, Real):
        raise TypeError(f"{what} must be a number, not {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"{what} must be a number of float64, not {value}.")
    return number


def _check_generator(value: Any, what: str) -> int:
    """Check a generator of random numbers; C gets a pointer to its ``bitgen_t``."""
    if not isinstance(value, np.random.Generator):
        raise TypeError(f"{what} must be a numpy.random.Generator, not {type(value).__name__}.")
    return int(value.bit_generator.ctypes.bit_generator.value)


_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "int": _check_int,
    "float": _check_float,
    "Generator": _check_generator,
}


def _check_overlaps(spans: list[_Span]) -> None:
    """Check that no array overlaps one that is written to, which could change indices after they
    were checked.
    """
    read_end = written_end = 0  # of the arrays that begin before
    for start, end, written, what in sorted(spans):
        if start < written_end or (written and start < read_end):
            raise ValueError(
                f"{what} overlaps another array in memory, and one of them is written to."
            )
        if written:
            written_end = end
        elif end > read_end:
            read_end = end


# memory for work space of the next call in each thread: to get some takes longer than many a call
_saved = threading.local()
_MOST_SAVED = 2**25  # bytes


def _work_space(sizes: list[int]) -> tuple[Any, list[int]]:
    """Memory for so many bytes each, with any content, and the addresses in it, at cache lines."""
    starts = list(accumulate([(size + LINE - 1) & -LINE for size in sizes], initial=0))
    memory = getattr(_saved, "memory", None)
    if memory is None or starts[-1] > memory.size:
        memory = aligned((max(starts[-1], LINE),), np.uint8)
        if starts[-1] <= _MOST_SAVED:
            _saved.memory = memory
    first = ctypes.addressof(_first_byte(memory))
    return memory, [first + start for start in starts]


# -- the kernels
# ------------------------------------------------------------------------------------------------

# Inputs of the exact engine (csrc/inputs.h)
add_start_fields = Kernel(
    "add_start_fields",
    "out fields: float64[m, n]; weights: float64[m, inputs]; bits: uint32[n, words]; first, N: int",
    "work up, down: int16[n, 32 * words]; work up_starts, down_starts: int64[n + 1]; work space: "
    "float64[8, 32 * words]",
    "where 0 <= first; where 0 <= N <= inputs - first; where N <= 32 * words; where words <= 2**10",
)

# The exact engine on fields (csrc/fields.h, csrc/tape.h, csrc/replay.h)
_IN_LANES = "where n <= padded == LANES * _blocks"
_GROUPS = "flipped: int32[number] < M; groups: int64[_groups, 4]"
_GROUPS_FIT = {
    -1: "groups must be of existing transitions and flips, and group_start must not decrease"
}
look_ahead = Kernel(
    "look_ahead", "K: T[n, padded]; out ahead: T[_blocks, AHEAD, LANES]", _IN_LANES, T=WIDTHS
)
learn_rows = Kernel(
    "learn_rows",
    "K: K[n, padded]; ahead: K[_blocks, AHEAD, LANES]; rows: int64[some] < m; z: int8[m, n]; h0: "
    "float64[m, n]",
    "out fields: T[m, padded]; bounds: T[m, padded]; out room: int64[m]; out counts: int32[m, n]; "
    "out wrong: uint32[m, words]",
    "out errors: int64[epochs]; out state: uint8[some]; out flips: int32[capacity, 4]; step, "
    "limit, with_codes: int",
    "work space: T[4, ROWS, padded]; work columns: T[3, padded, ROWS]; work turned: T[LANES, ROWS]",
    "work numbers: int32[padded, LANES]; work added: int32[ROWS, padded]; work wrong_space: "
    "uint32[ROWS, words]",
    "work row_errors: int32[epochs * ROWS + words]",
    f"{_IN_LANES}; where words == _blocks; where 1 <= step; where 1 <= epochs",
    T=WIDTHS,
    K=WIDTHS,
)
set_bounds = Kernel(
    "set_bounds",
    "out bounds: T[m, padded]; z: int8[m, n]; h0: float64[m, n]; kappa: float; limit: int; where n "
    "<= padded",
    T=WIDTHS,
)
sort_flips = Kernel(
    "sort_flips",
    "flips: int32[number, 4]; out flipped: int32[number]; out groups: int64[number, 4]",
    "out place: int64[epochs, n, 2]; out group_start: int64[epochs+1]",
    errors={-1: "flips must be of existing epochs and transitions"},
)
play = Kernel(
    "play",
    "out K: T[n, padded]; out codes: int8[M, padded]; out bits: uint32[n, words]",
    f"{_GROUPS}; version: int64[epochs] < _versions; group_start: int64[epochs+1] < _groups+1",
    "out K_versions: T[_versions, n, padded]; out ahead_versions: T[_versions, _blocks, AHEAD, "
    "LANES]",
    f"out bit_versions: uint32[_versions, n, words]; {_IN_LANES}; where M <= 32 * words",
    T=WIDTHS,
    errors=_GROUPS_FIT,
)
replay_rows = Kernel(
    "replay_rows",
    "K: K[_versions, n, padded]; ahead: K[_versions, _blocks, AHEAD, LANES]; Y: uint32[_versions, "
    "n, words]",
    f"version: int64[epochs] < _versions; {_GROUPS}; group_start: int64[epochs+1] < _groups+1; "
    "rows: int64[some] < m",
    "x: int8[m, n]; V: float64[m, M]; out g0: float64[m, n]; out fields, bounds: T[m, padded]; out "
    "room: int64[m]",
    "out C: T[m, width]; out errors: int64[epochs]; out state: uint8[some]; step, limit: int; "
    "kappa: float",
    "work space: T[3, SLOTS, padded]; work c: T[SLOTS, width]; work learned: T[width, SLOTS]",
    "work reals: float64[width + padded, SLOTS]; work flip_columns: T[padded, SLOTS]; work "
    "row_errors: int32[SLOTS, epochs]",
    f"{_IN_LANES}; where 1 <= step; where M <= width == 32 * words",
    T=WIDTHS,
    K=WIDTHS,
    errors=_GROUPS_FIT,
)

# The exact engine on weights (csrc/weights.h)
learn_weights = Kernel(
    "learn_weights",
    "out weights: float64[m, N]; settled: uint8[blocks]; out updates: int64[blocks]; x: int8[n, N]",
    "targets: int8[n, width]; out codes: int8[n, code_width]; column: int; kappa, theta: float",
    "work rows, columns: uint8[padded(n), 8 * (N // 64 + 1)]; work overlaps: float64[padded(n), "
    "SPAN]",
    "work space: float64[SIDE, N + 7]; where m <= SIDE * blocks; where 0 <= column <= width - m",
    "where code_width == 0 or column <= code_width - m",
)

# The paper's rule under constraints on synapses (csrc/constrained.h)
learn_constrained = Kernel(
    "learn_constrained",
    "out weights: float64[m, N]; low, high: float64[m, synapses]; settled: bool[m]; out updates: "
    "int64[m]",
    "x: float64[n, N]; targets: int8[n, m]; out codes: int8[n, coded]; rng: Generator",
    "spacing, left, kappa, theta: float; where synapses <= N; where coded in (0, m)",
)

# Learned targets (csrc/learned_targets.h)
learn_targets = Kernel(
    "learn_targets",
    Group(
        "network",
        "targets: int8[n, N]; gram: T[n, padded]; hidden_start: float64[n, M]; out hidden_learned, "
        "updates: T[n, M]",
        "start: float64[units, N]; out start_fields: float64[n, N]; out learned: T[units, N]; out "
        "learned_fields: T[n, N]",
        "out version: int64[n+1]; out codes: int8[n, units]; drive: float64[n, M]; out projected: "
        "T[n, M]",
        "kappa, feedback: float",
    ),
    "out errors: int64[2]; work step: T[M]; work g: T[N]; work y: int8[M]; where M <= units; where "
    "n <= padded",
    T=("int32", "int64"),
)

# Threshold neurons by whole numbers: many states at once (csrc/firing.h), and one that goes on
# (csrc/walk.h)
_PADDED = "where neurons <= padded; where padded % ABREAST == 0"
round_layer = Kernel(
    "round_layer",
    "W: float64[neurons, inputs]; offset: float64[neurons]; out whole: int32[inputs, padded]; out "
    "surely, perhaps: int32[padded]",
    f"low: int; work rows: int32[ABREAST, inputs + 7]; {_PADDED}",
)
respond = Kernel(
    "respond",
    Group("layer", "W: int32[inputs, padded]; surely, perhaps: int32[padded]"),
    "x: int8[states, inputs]; out answers: int8[states, neurons]; out doubtful: uint8[states]; "
    "low, silent: int",
    f"work bits: uint8[states, inputs // 8 + 1]; work space: int32[states, ABREAST]; {_PADDED}",
)
walk = Kernel(
    "walk",
    Group("hidden", "W: int32[N, padded_M]; surely, perhaps: int32[padded_M]"),
    Group("visible", "W: int32[M, padded_N]; surely, perhaps: int32[padded_N]"),
    "state: int8[N]; out path: int8[steps, N]; work sums: int32[max(padded_M, padded_N)]; work xi: "
    "int64[N + 1]",
    "work zeta: int64[M + 1]; where M <= padded_M; where N <= padded_N",
)

# Rate networks (csrc/least_squares.h)
run_innate = Kernel(
    "run_innate",
    "out weights: float64[n, K]; sources: int64[n, K] < n; counts: int64[n] < K+1; drive: "
    "float64[steps, n]",
    "wanted: float64[taught, n]; out P: float64[plastic, size, size]; out x: float64[n]; out "
    "rates: float64[steps, n]",
    "every: int; tau: float; work r, inputs, k: float64[max(n, K)]",
    "where plastic <= n; where 1 <= every; where plastic == 0 or size == K",
)
run_pinning = Kernel(
    "run_pinning",
    "out J: float64[N, N]; plastic: int64[m] < N; drive: float64[steps, N]; wanted: "
    "float64[taught, N]; out P: float64[m, m]",
    "out x: float64[N]; out states: float64[steps, N]; tau: float; work r, field, inputs, k: "
    "float64[max(N, m)]",
)

# Sparse rule (csrc/sparse.h, csrc/sparse_learn.h)
_IN_STRETCH = "where 0 <= first <= last <= n; where noise <= n_in"
sparse_flips = Kernel(
    "sparse_flips",
    "out flipped: int32[n, noise]; out n_flipped: int32[n]; out order: int32[n_in] < n_in; rng: "
    "Generator; first, last: int",
    _IN_STRETCH,
)
sparse_learn = Kernel(
    "sparse_learn",
    Group(
        "task",
        "n, n_in, N, M, noise, learned, feedback_row, counted, obeying: length; inputs: int8[n, "
        "n_in]; targets: int8[n, N]",
        "input_bits: uint64[words(n_in), n]; target_bits: uint64[words(N), n]; gram: int32[n, "
        "row(n)]; drive: float64[n, M]",
        "flipped: int32[n, noise] < n_in; n_flipped: int32[n] < noise+1; lowest, highest: "
        "T[padded(M)]",
        "out theta: float64[M]; out wrong: float64[n]; out redrawn: bool[n]; out z: uint64[n, "
        "words(M)]",
        "out P: int16[M, learned]; out Pt: int16[learned, row(M)]; out totals: T[padded(M)]; out "
        "inverse: float64[M]",
        "out U: T[padded(M), row(n_in+1)]; out counts: int64[M, counted]; out Vt: T[M, row(N)]",
        "out fields: T[padded(M), row(n)]; out feedback: T[padded(M), feedback_row]; low, high: "
        "T[obeying, n_in]; low_V, high_V: T[obeying, N]; spacing, spacing_V: int; left, left_V: "
        "float; out mu: int64[M]; out nu: int64[1]",
        "work Ut: T[padded(n_in) * (noise > 0), row(M)]; work h, q: T[WINDOW, row(M)]; work noisy: "
        "uint64[words(n_in), WINDOW]",
        "work overlap: int32[n]; work ahead: int32[WINDOW]; work sums: T[padded(M)]; work g: "
        "T[padded(N)]",
        "work score, projected, highest_scores: float64[padded(M)]; work best, active, plus, "
        "minus: int32[M + n_in + 1]",
        "work wrong_bits: uint64[words(N)]; work x: int8[n_in]; where obeying in (0, M)",
        "where learned in (0, n_in); where feedback_row in (0, row(n)); where counted == 0 or "
        "(counted == n and noise == 0 and obeying == 0)",
    ),
    Group(
        "rule",
        "n_winners, winners, bias, active_weight, visible_margin: int; learned_feedback, redraw: "
        "float",
        "hidden_step, visible_step, choosing, drive_step: int; homeostasis, redraw_above: float",
    ),
    f"normals: float64[redraws, M]; first, last: int; chance, chance_V: Generator; {_IN_STRETCH}",
    T=("int32", "int64"),
    errors={-1: "normals must have a row for each transition that is redrawn"},
)
practise_V = Kernel(
    "practise_V",
    "out V: int64[N, M]; targets: int8[N, n]; active: int32[_active] < M; starts: int64[n+1] < "
    "_active+1",
    "out done: bool[N]; out wrong: float64[n]; margin, step: int",
)
