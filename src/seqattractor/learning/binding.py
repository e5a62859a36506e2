"""From the declaration of a function in C to a Python function that checks all arguments and calls it.

`seqattractor.learning.kernels` has the declarations, and explains their notation. At the first call of each function, Python code
for its checks is generated (`Checked.source` shows it): to interpret its declaration in every call would take twice as long.
"""

from __future__ import annotations

import ctypes
import math
import operator
import re
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any, ClassVar, NamedTuple, SupportsIndex

import numpy as np

LINE = 64  # bytes of a cache line; a vector that lies across two takes two accesses


def aligned(shape: tuple[int, ...], dtype: Any, make: Callable[..., Any] = np.empty) -> Any:
    """An array that begins at a cache line, with any content; or with zeros, if `make` is np.zeros.

    Examples
    --------
    >>> aligned((3, 32), np.int16).ctypes.data % LINE
    0
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = make(size + LINE, dtype=np.uint8)
    skip = LINE - raw.ctypes.data % LINE  # at least 1, so that little lies behind it and AddressSanitizer sees what goes beyond
    return raw[skip : skip + size].view(dtype).reshape(shape)


class Argument(NamedTuple):
    """An argument of a function, or a member of a group."""

    use: str
    """"in", "out" or "work" for an array, else what it is: "int", "float", "Generator", or "length" of an axis."""
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
    """Arguments that belong together: attributes of one object in Python, a pointer to a struct in C.

    Parameters
    ----------
    name : str
    *declarations : str
        The members in the order of the struct; ``n: length`` is the length of an axis, which then is no argument of its own.
    """

    def __init__(self, name: str, *declarations: str) -> None:
        self.name = name
        self.members, self.where = _parse("; ".join(declarations))
        self.struct = type(name, (ctypes.Structure,), {"_fields_": [(m.name, _c_type(m)) for m in self.members]})


_DECLARATION = re.compile(r"(?:(out|work) )?(\w+(?:, \w+)*): (\w+)(?:\[(.+?)\])?(?: < (.+))?")
_COMMA = re.compile(r", *(?![^(]*\))")  # outside of parentheses


def _parse(text: str) -> tuple[list[Argument], list[str]]:
    """The arguments and the conditions of a declaration."""
    arguments: list[Argument] = []
    items = text.split("; ")
    for item in items:
        if match := _DECLARATION.fullmatch(item):
            use, names, kind, axes, below = match.groups("")
            split = tuple(_COMMA.split(axes)) if axes else ()
            arguments += [Argument(use or ("in" if axes else kind), name, kind, split, below) for name in names.split(", ")]
        elif not item.startswith("where "):
            raise ValueError(f"{item!r} declares no argument and no condition.")
    return arguments, [item.removeprefix("where ") for item in items if item.startswith("where ")]


def members(argument: Argument | Group) -> list[Argument]:
    """The members of a group, or the argument itself."""
    return argument.members if isinstance(argument, Group) else [argument]


def is_axis(text: str) -> bool:
    """Whether an axis has a name, so that its length is read off an array; longer names in capitals are constants."""
    return text.isidentifier() and not (text.isupper() and len(text) > 1)


def _c_type(argument: Argument | Group) -> Any:
    """Its type in C: a number, or a pointer."""
    numbers = {"int": ctypes.c_int64, "length": ctypes.c_int64, "float": ctypes.c_double}
    return ctypes.c_void_p if isinstance(argument, Group) else numbers.get(argument.use, ctypes.c_void_p)


def _tuple(texts: Iterable[str]) -> str:
    """The expression of a tuple."""
    return f"({''.join(f'{text}, ' for text in texts)})"


class Checked(ABC):
    """A function in C, called like one in Python; it returns a whole number, whose meaning is in its source.

    Parameters
    ----------
    name : str
    *declarations : str or Group
        Arguments and conditions, separated by ``"; "``.
    errors : dict of int to str, optional
        Return codes for contents of arrays that do not fit together, with the message of a ValueError.
    **types : tuple of str
        The types that letters such as ``T`` stand for.
    """

    constants: ClassVar[dict[str, Any]] = {}
    """What expressions in declarations may use besides lengths and numbers."""

    def __init__(
        self, name: str, *declarations: str | Group, errors: dict[int, str] | None = None, **types: tuple[str, ...]
    ) -> None:
        self.name, self.errors, self.types = name, errors or {}, types
        self.arguments: list[Argument | Group] = []
        self.where: list[str] = []
        for part in declarations:
            arguments, conditions = ([part], part.where) if isinstance(part, Group) else _parse(part)
            self.arguments += arguments
            self.where += conditions
        self.passed = [argument for argument in self.arguments if isinstance(argument, Group) or argument.is_passed]
        flat = [m for argument in self.arguments for m in members(argument)]
        axes = dict.fromkeys(axis for m in flat if m.is_array for axis in m.axes if is_axis(axis) and axis[0] != "_")
        self.axes = [axis for axis in axes if axis not in {m.name for m in flat if m.use == "length"}]
        self.c_types = [ctypes.c_int64] * len(self.axes) + [_c_type(argument) for argument in self.arguments]
        self._binders: dict[int, Callable[..., Callable[..., int]]] = {}
        self._call: Callable[..., int] | None = None

    @abstractmethod
    def find(self, *types: np.dtype[Any]) -> Callable[..., int]:
        """Find the function in C for some types; it gets what `c_types` says, the lengths of `axes` first."""

    def __call__(self, *values: Any) -> int:
        """Check the arguments and call the function in C.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as declared, or C returns a code that is declared as an error.
        RuntimeError
            If there is no library to call.
        """
        if self._call is None:
            self._call = self.bind()
        return self._call(*values)

    def bind(self, *values: Any) -> Callable[..., int]:
        """Check the first arguments once, for many calls that differ only in the others.

        Calls share bound arrays and their work space, so only one thread may call at a time. Bound arrays are not checked again:
        meanwhile they must not be reshaped, and indices in them must stay in range.

        Returns
        -------
        callable
            A function of the other arguments.
        """
        number = len(values)
        if number >= len(self.passed):
            raise TypeError(f"{self.name} takes {len(self.passed)} arguments; some must be left for calls.")
        if number not in self._binders:
            scope = _HELPERS | self.constants | {"find": self.find, "errors": self.errors}
            types = {m.type: (m.type,) for argument in self.arguments for m in members(argument) if m.axes} | self.types
            scope |= {f"{name}_types": tuple(map(np.dtype, possible)) for name, possible in types.items()}
            scope |= {f"{group.name}_struct": group.struct for group in self.arguments if isinstance(group, Group)}
            exec(compile(self.source(number), f"<{self.name}>", "exec"), scope)
            self._binders[number] = scope["bind"]
        return self._binders[number](*values)

    def source(self, number: int = 0) -> str:
        """Write a Python function that checks so many arguments and returns one that checks the others and calls C.

        Of a value ``x_`` it makes ``x_c``, which is passed to C; lengths and numbers have their own names, as in conditions.
        """
        split, known = self.arguments.index(self.passed[number]), set[str]()
        outer = self._lines(self.arguments[:split], known, "Space()")
        inner = self._lines(self.arguments[split:], known, "space")
        if taken := known & {*_HELPERS, "find", "errors", "values", "spans", "held", "shape", "code", "call"}:
            raise ValueError(f"{self.name}: the generated code needs the names {', '.join(taken)}; rename axes or numbers.")
        for text in self.where:
            found = ", ".join(f"{name} = {{{name}}}" for name in dict.fromkeys(re.findall(r"\w+", text)) if name in known)
            inner.append(f"if not ({text}): raise ValueError(f'{self.name}: {text} must hold, but {found}.')")
        types = ", ".join(f"*{letter}_found" for letter in self.types)
        passed = ", ".join([*self.axes, *(f"{argument.name}_c" for argument in self.arguments)])
        wrong = f"{self.name} takes {len(self.passed)} arguments, not {{{number} + len(values)}}."
        inner = [
            f"if len(values) != {len(self.passed) - number}: raise TypeError(f'{wrong}')",
            *("spans = held.copy()", *inner, "check_overlaps(spans)", f"code = find({types})({passed})"),
            *(f"if code in errors: raise ValueError(f'{self.name}: {{errors[code]}}.')", "return code"),
        ]
        outer = ["spans = held = []", *outer, "def call(*values):", *(f"    {line}" for line in inner)]
        # `held` keeps arrays and work space in memory, and the values a Generator.
        return "\n    ".join(["def bind(*values):", *outer, "call.values = values", "return call"])

    def _lines(self, arguments: list[Argument | Group], known: set[str], space: str) -> list[str]:
        """The lines of `source` for some arguments; the names that they define are added to `known`."""
        lines = [f"{_tuple(f'{argument.name}_' for argument in arguments if argument in self.passed)} = values"]
        flat: list[tuple[str, str, Argument]] = []  # of each member: its variable, its name in messages, and its declaration
        for a in arguments:
            x, what = (f"{a.name}_", f"{self.name}: {a.name}.") if isinstance(a, Group) else ("", f"{self.name}: ")
            flat += [(x + m.name, what + m.name, m) for m in members(a)]
            if isinstance(a, Group):
                names = [m.name for m in a.members if m.is_passed]
                lines.append(f"try: {_tuple(f'{x}{name}_' for name in names)} = {_tuple(f'{x}.{name}' for name in names)}")
                lines.append(f"except AttributeError as error: raise TypeError(f'{self.name}: {a.name}: {{error}}.') from None")
        for x, what, m in flat:
            if m.use in ("int", "float", "Generator"):
                known.add(m.name)
                lines.append(f"{x}_c = {m.name} = check_{m.use}({x}_, '{what}')")
        for x, what, m in flat:
            if m.is_array:
                lines += self._array_lines(x, what, m, known)
        lines += [f"check_indices({x}_, '{what}', {m.below})" for x, what, m in flat if m.below]
        if works := [(x, m) for x, _, m in flat if m.use == "work"]:
            types = [f"{m.type}_{'found' if m.type in self.types else 'types'}" for _, m in works]
            sizes = [f"{kind}[0].itemsize * ({') * ('.join(m.axes)})" for kind, (_, m) in zip(types, works, strict=True)]
            lines.append(f"{_tuple(f'{x}_c' for x, _ in works)} = {space}.divide({_tuple(sizes)}, spans)")
        lines += [f"{x}_c = {m.name}" for x, _, m in flat if m.use == "length"]
        groups = [argument for argument in arguments if isinstance(argument, Group)]
        return lines + [f"{g.name}_c = byref({g.name}_struct{_tuple(f'{g.name}_{m.name}_c' for m in g.members)})" for g in groups]

    def _array_lines(self, x: str, what: str, m: Argument, known: set[str]) -> list[str]:
        """The lines for an array: the first of type ``T`` defines what that is, and the first with an axis defines its length."""
        found, axes, lines = f"{m.type}_found", _tuple(m.axes), []
        types = found if found in known else f"{m.type}_types"
        lines.append(f"{x}_c, shape = check_array({x}_, '{what}', {types}, {len(m.axes)}, {m.use == 'out'}, spans)")
        if m.type in self.types and found not in known:
            known.add(found)
            lines.append(f"{found} = {x}_.dtype,")
        for k, axis in enumerate(m.axes):
            if is_axis(axis) and axis not in known:
                known.add(axis)
                lines.append(f"{axis} = shape[{k}]")
        wrong = f"{what} has shape {{shape}}, but [{', '.join(m.axes)}] is {{{axes}}}."
        return [*lines, f"if shape != {axes}: raise ValueError(f'{wrong}')"]


_Span = tuple[int, int, bool, str, Any]
"""Where an array begins and ends in memory, whether it is written to, its name, and the array, which lives as long as this."""

_address_of = ctypes.addressof
_first_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer
_EMPTY = aligned((LINE,), np.uint8)
_NOWHERE = _EMPTY.ctypes.data  # for arrays without elements, whose address numpy takes long to tell


def _check_array(
    value: Any, what: str, types: tuple[Any, ...], n_axes: int, written: bool, spans: list[_Span]
) -> tuple[int, tuple[int, ...]]:
    """Check all of an array but its lengths, and add it to `spans`; returns its address and its shape."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{what} must be an array, not {type(value).__name__}.")
    if value.dtype not in types:
        raise TypeError(f"{what} must be of type {' or '.join(map(str, types))}, not {value.dtype}.")
    flags, shape, size = value.flags, value.shape, value.nbytes
    usable = flags.carray  # contiguous, aligned and writable
    if not usable and (written or not (flags.c_contiguous and flags.aligned)):
        raise ValueError(f"{what} must be contiguous and aligned, and writable if it is written to.")
    if len(shape) != n_axes:
        raise ValueError(f"{what} must have {n_axes} axes, not {len(shape)}.")
    if not size:
        return _NOWHERE, shape
    # numpy takes four times as long as ctypes, which cannot tell the address of read-only arrays.
    address = _address_of(_first_byte(value)) if usable else value.ctypes.data
    spans.append((address, address + size, written, what, value))
    return address, shape


_UNSIGNED: dict[int, Any] = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}


def _check_indices(array: Any, what: str, below: int) -> None:
    """Check that signed integers are at least 0, and less than `below`."""
    if array.size:
        most = min(below, 2 ** (8 * array.itemsize - 1))  # as unsigned integers, negative ones are at least that
        if int(np.maximum.reduce(np.asarray(array).view(_UNSIGNED[array.itemsize]), axis=None)) >= most:
            raise ValueError(f"{what} must be indices from 0 to {below - 1}.")


def _check_int(value: Any, what: str) -> int:
    """Check a whole number."""
    if type(value) is not int:
        if isinstance(value, np.ndarray) or not isinstance(value, SupportsIndex):
            raise TypeError(f"{what} must be a whole number, not {type(value).__name__}.")
        value = int(operator.index(value))
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{what} must fit into 64 bits.")
    return int(value)


def _check_float(value: Any, what: str) -> float:
    """Check a real number."""
    if type(value) is not float and not isinstance(value, Real):
        raise TypeError(f"{what} must be a number, not {type(value).__name__}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.nan
    if not (abs(number) <= sys.float_info.max or number == value):  # NaN, or infinite only in float64
        raise ValueError(f"{what} must be a number of float64, not {value}.")
    return number


def _check_generator(value: Any, what: str) -> int:
    """Check a generator of random numbers; C gets a pointer to its ``bitgen_t``."""
    if not isinstance(value, np.random.Generator):
        raise TypeError(f"{what} must be a numpy.random.Generator, not {type(value).__name__}.")
    return int(value.bit_generator.ctypes.bit_generator.value)


def _check_overlaps(spans: list[_Span]) -> None:
    """Check that no array overlaps one that is written to, which could change indices after they were checked."""
    read_end = written_end = 0  # of the arrays that begin before
    for start, end, written, what, _ in sorted(spans):
        if start < written_end or (written and start < read_end):
            other = next(o[3] for o in spans if o[3] != what and o[0] < end and start < o[1] and (written or o[2]))
            raise ValueError(f"{what} and {other.partition(': ')[2]} overlap in memory.")
        if written:
            written_end = end
        elif end > read_end:
            read_end = end


class _Space(threading.local):
    """Memory for work space, which each thread keeps for its next call: to get new memory takes longer than many a call."""

    def __init__(self) -> None:
        self._memory = aligned((LINE,), np.uint8)

    def divide(self, sizes: tuple[int, ...], spans: list[_Span]) -> list[int]:
        """Give the addresses of so many bytes each, at cache lines, with any content; adds the memory to `spans`."""
        starts, needed = [], 0
        for size in sizes:
            starts.append(needed)
            needed += (size + LINE - 1) & -LINE
        memory = self._memory
        if needed > memory.size:
            memory = aligned((needed,), np.uint8)
            if needed <= _MOST_KEPT:
                self._memory = memory
        first = _address_of(_first_byte(memory))
        spans.append((first, first + needed, True, ": work space", memory))
        return [first + start for start in starts]


_MOST_KEPT = 2**25  # bytes

# What generated functions call
_HELPERS: dict[str, Any] = {"check_array": _check_array, "check_indices": _check_indices, "check_overlaps": _check_overlaps}
_HELPERS |= {"check_int": _check_int, "check_float": _check_float, "check_Generator": _check_generator}
_HELPERS |= {"byref": ctypes.byref, "Space": _Space, "space": _Space()}
