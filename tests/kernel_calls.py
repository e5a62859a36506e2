"""Calls of the kernels in C with random arguments, made from their declarations alone: right ones,
and ones with one thing wrong.

Every kernel of `seqattractor.engine.kernels` is found here by itself. As a program, in a process of
its own so that a crash is seen: ``python tests/kernel_calls.py CALLS SEED [INSTRUCTION SET]`` makes
that many calls and prints how many of each kind there were; ``python tests/kernel_calls.py digest``
prints where the package is and a digest of what its kernels compute.
"""

import ast
import copy
import faulthandler
import functools
import hashlib
import math
import re
import sys
from collections import Counter
from types import SimpleNamespace

import numpy as np

from seqattractor.engine import kernels
from seqattractor.engine.kernels import Group, Kernel, is_axis
from seqattractor.engine.kernels import members as members_of

KERNELS = {
    name: value
    for name, value in vars(kernels).items()
    if isinstance(value, Kernel) and not name.startswith("_")
}
LENGTHS = (1, 1, 2, 3, 5, 8, 17, 32, 32, 33, 64, 96)
WHOLE = (-(2**63), -(2**31) - 1, -5, -1, 0, 1, 2, 3, 7, 20, 32, 2**15, 2**31, 2**63 - 1)
REAL = (0.0, -0.0, 1.0, -1.5, 0.125, 1e-300, 1e300, -1e300, math.inf, -math.inf)
TRIES = 10_000


def evaluate(text, names):
    """An expression of a declaration."""
    return eval(_compiled(text), kernels.CONSTANTS, names)


@functools.cache
def _compiled(text):
    return compile(text, text, "eval")


def members(kernel):
    """All arrays, numbers and generators of a kernel, each with the position of the argument it is
    or belongs to.
    """
    for place, argument in enumerate(kernel.passed):
        for member in members_of(argument):
            if member.is_passed:
                yield place, member


def _shape(array, names):
    return tuple(int(evaluate(axis, names)) for axis in array.axes)


def _below(array, names):
    return int(evaluate(array.below, names))


def _is_possible(array, names):
    """Whether an array can have these lengths, and indices something to point into."""
    shape = _shape(array, names)
    return min(shape) >= 0 and (not array.below or 0 in shape or _below(array, names) > 0)


@functools.cache
def _parts(text):
    """All parts of a condition that have a value, such as row(n) in "feedback_row in (0,
    row(n))".
    """
    nodes = list(ast.walk(ast.parse(text, mode="eval")))
    functions = [node.func for node in nodes if isinstance(node, ast.Call)]
    return [
        ast.unparse(node)
        for node in nodes
        if (isinstance(node, ast.Call | ast.BinOp | ast.Name) and node not in functions)
        or (isinstance(node, ast.Constant) and isinstance(node.value, int))
    ]


class Case:
    """Arguments of a kernel that agree with its declaration, except for the condition `broken`, if
    one is given.

    With `typical`, numbers are of a size that engines pass.
    """

    def __init__(self, kernel, rng, typical=False, broken=None):
        self.kernel, self.rng, self.typical = kernel, rng, typical
        self.where = [f"not ({text})" if text == broken else text for text in kernel.where]
        self.types = {kind: str(rng.choice(possible)) for kind, possible in kernel.types.items()}
        self.names = self._names()
        self.values = [self._value(m) for _, m in members(kernel)]

    def _names(self):
        """Lengths of axes and whole numbers that meet the conditions of the kernel."""
        arrays = [m for _, m in members(self.kernel) if m.is_array]
        axes = dict.fromkeys(axis for m in arrays for axis in m.axes if is_axis(axis))
        wholes = [m.name for _, m in members(self.kernel) if m.use == "int"]
        lengths = (0, *LENGTHS)
        numbers = [*(k for k in WHOLE if 0 <= k <= 20), 1000, 20_000] if self.typical else WHOLE
        names = {name: self._pick(numbers) for name in wholes} | {
            axis: self._pick(lengths) for axis in axes
        }
        for _ in range(
            TRIES
            # whatever does not hold gets another number for one of its names, perhaps one that
            # stands there
        ):
            wrong = [text for text in self.where if not evaluate(text, names)]
            wrong += [str((*m.axes, m.below)) for m in arrays if not _is_possible(m, names)]
            if not wrong:
                return names
            text = self._pick(wrong)
            name = self._pick([name for name in re.findall(r"\w+", text) if name in names])
            pool = list(lengths if name in axes else numbers)
            pool += [
                k
                for k in (evaluate(part, names) for part in _parts(text))
                if 0 <= k < 300 or name not in axes
            ]
            names[name] = self._pick(pool)
        raise AssertionError(
            f"{self.kernel.name}: no lengths found that meet {self.where}; are they as simple as "
            "can be?"
        )

    def _pick(self, some):
        return some[self.rng.integers(len(some))]  # much sooner than rng.choice

    def _value(self, member):
        if member.use == "Generator":
            return np.random.default_rng(int(self.rng.integers(100)))
        return self._array(member) if member.is_array else self._number(member)

    def _array(self, member):
        shape = _shape(member, self.names)
        dtype = np.dtype(self.types.get(member.type, member.type))
        if member.below:
            return self.rng.integers(0, max(_below(member, self.names), 1), size=shape).astype(
                dtype
            )
        if dtype.kind == "b":
            return self.rng.random(shape) < 0.5
        if dtype.kind == "f":
            return (self.rng.normal(size=shape) * 10.0 ** self.rng.integers(-3, 4)).astype(dtype)
        most = {
            "i": 2 ** int(self.rng.integers(1, 12 if self.typical else 8 * dtype.itemsize - 1)),
            "u": 2 ** (8 * dtype.itemsize),
        }
        if dtype.itemsize == 1 and self.typical:
            return (
                self.rng.choice([-1, 1], size=shape).astype(dtype)
                if dtype.kind == "i"
                else np.zeros(shape, dtype)
            )
        low = -most["i"] if dtype.kind == "i" else 0
        return self.rng.integers(
            low, most[dtype.kind], size=shape, dtype=dtype if dtype.kind == "u" else np.int64
        ).astype(dtype)

    def _number(self, member):
        if member.use == "int":
            return self.names[member.name]
        return float(
            self.rng.choice([k for k in REAL if 0.1 < abs(k) < 2] if self.typical else REAL)
        )

    def arguments(self, values=None):
        """What is passed: attributes of one object for a group."""
        given, values = [], iter(self.values if values is None else values)
        for argument in self.kernel.passed:
            if isinstance(argument, Group):
                inner = [m for m in argument.members if m.is_passed]
                given.append(SimpleNamespace(**{m.name: next(values) for m in inner}))
            else:
                given.append(next(values))
        return given

    def run(self):
        """Call the kernel with copies of all arrays; gives what it returned and the arrays, to the
        last bit.

        None if it is not compiled for these two types.
        """
        values = [copy.deepcopy(v) for v in self.values]
        try:
            code = self.kernel(*self.arguments(values))
        except TypeError as error:
            if "was not compiled for" in str(error):
                return None
            raise
        # random contents may not fit together: the kernel returns a code that becomes an error
        except ValueError as error:
            (code,) = (
                code
                for code, text in self.kernel.errors.items()
                if str(error) == f"{self.kernel.name}: {text}."
            )
        return code, [v.tobytes() for v in values if isinstance(v, np.ndarray)]


# What can be wrong: from an array or a number and its declaration to what must be rejected, or None
# if there is no such thing.
def other_type(case, m, value):
    allowed = case.kernel.types.get(m.type, (m.type,))
    return value.astype(
        case.rng.choice(
            [
                t
                for t in ("float32", "bool", "uint64", "int8", "object", "int32", "float64")
                if t not in allowed
            ]
        )
    )


def byte_swapped(case, m, value):
    return value.astype(value.dtype.newbyteorder()) if value.itemsize > 1 else None


def more_axes(case, m, value):
    return value[None] if case.rng.random() < 0.5 else value[..., None]


def fewer_axes(case, m, value):
    return (
        value.reshape(-1)
        if value.ndim > 1
        else value.reshape(-1)[:1].reshape(())
        if value.size
        else None
    )


def other_length(case, m, value):
    """One more or less along an axis whose length follows from another argument."""
    axes = [axis for _, other in members(case.kernel) if other.is_array for axis in other.axes]
    fixed = [k for k, axis in enumerate(m.axes) if not is_axis(axis) or axes.count(axis) > 1]
    if not fixed:
        return None
    k = int(case.rng.choice(fixed))
    shape = list(value.shape)
    shape[k] += 1 if case.rng.random() < 0.5 or not shape[k] else -1
    return np.zeros(shape, value.dtype)


def not_contiguous(case, m, value):
    gaps = (
        np.repeat(value, 2, axis=-1)[..., ::2]
        if case.rng.random() < 0.5
        else np.asfortranarray(value)
    )
    return None if gaps.flags.c_contiguous else gaps


def misaligned(case, m, value):
    if value.itemsize == 1 or not value.size:
        return None
    raw = np.zeros(value.nbytes + 1, np.uint8)[1:].view(value.dtype).reshape(value.shape)
    raw[...] = value
    return raw


def read_only(case, m, value):
    if m.use != "out":
        return None
    value = value.copy()
    value.flags.writeable = False
    return value


def out_of_range(case, m, value):
    if not m.below or not value.size:
        return None
    value, below = value.copy(), _below(m, case.names)
    wrong = [k for k in (-1, below, below + 1, 2**15 - 1, -(2**15), 2**62) if not 0 <= k < below]
    info = np.iinfo(value.dtype)
    value.flat[case.rng.integers(value.size)] = case.rng.choice(
        [k for k in wrong if info.min <= k <= info.max]
    )
    return value


def no_array(case, m, value):
    return [
        value.tolist(),
        3,
        "abc",
        b"abc",
        2.5,
        memoryview(b"12345678"),
        object(),
        np.float64(1),
        range(3),
    ][case.rng.integers(9)]


def overlapping(case, m, value):
    """The memory of another array, if one of both is written to."""
    for (_, other), given in zip(members(case.kernel), case.values, strict=True):
        if (
            other.is_array
            and other is not m
            and "out" in (other.use, m.use)
            and given.nbytes >= value.nbytes > 0
        ):
            same = (
                given.reshape(-1)
                .view(np.uint8)[: value.nbytes]
                .view(value.dtype)
                .reshape(value.shape)
            )
            below = _below(m, case.names) if m.below else None
            if below is None or 0 <= same.min() <= same.max() < below:
                return same
    return None


def no_number(case, m, value):
    wrong = [None, "3", [1], 1j, np.zeros(2), object(), np.array([1]), b"1"] + (
        [1.5, 2.0, np.float64(3)] if m.use == "int" else []
    )
    return wrong[case.rng.integers(len(wrong))]


def no_possible_number(case, m, value):
    wrong = (
        [2**63, -(2**63) - 1, 10**30]
        if m.use == "int"
        else [math.nan, -math.nan, np.float64("nan"), 10**400]
    )
    return wrong[case.rng.integers(len(wrong))]


def no_generator(case, m, value):
    return [3, np.random, np.random.RandomState(0), np.random.PCG64(0), "rng"][case.rng.integers(5)]


ARRAY_WRONGS = (
    *(
        other_type,
        byte_swapped,
        more_axes,
        fewer_axes,
        other_length,
        not_contiguous,
        misaligned,
        read_only,
        out_of_range,
    ),
    *(no_array, overlapping),
)
NUMBER_WRONGS = no_number, no_possible_number
WRONGS = {
    "in": ARRAY_WRONGS,
    "out": ARRAY_WRONGS,
    "int": NUMBER_WRONGS,
    "float": NUMBER_WRONGS,
    "Generator": (no_generator,),
}


def broken_condition(case):
    """A whole number that breaks a condition, as {its place: value}."""
    places = {m.name: k for k, (_, m) in enumerate(members(case.kernel)) if m.use == "int"}
    for name in case.rng.permutation(sorted(places)):
        for number in case.rng.permutation(np.array(WHOLE, dtype=object)):
            if not all(
                evaluate(text, case.names | {str(name): int(number)}) for text in case.kernel.where
            ):
                return {places[name]: int(number)}
    return {}


def wrong_call(case):
    """Arguments with one thing wrong, and its name."""
    kernel, rng = case.kernel, case.rng
    while True:
        values = list(case.values)
        what = str(
            rng.choice(
                ["value", "none", "condition", "number of arguments", "group"],
                p=[0.85, 0.05, 0.05, 0.02, 0.03],
            )
        )
        if what == "number of arguments":
            given = case.arguments()
            return what, given[:-1] if rng.random() < 0.5 else [*given, 0]
        if what == "group":
            places = [k for k, argument in enumerate(kernel.passed) if isinstance(argument, Group)]
            if not places:
                continue
            given = case.arguments()
            given[rng.choice(places)] = [None, 3, object(), {}][rng.integers(4)]
            return what, given
        if what == "condition":
            changes = broken_condition(case)
            if not changes:
                continue
            for place, value in changes.items():
                values[place] = value
            return what, case.arguments(values)
        declared = [m for _, m in members(kernel)]
        k = int(rng.integers(len(declared)))
        if what == "none":
            values[k] = None
            return what, case.arguments(values)
        wrongs = WRONGS[declared[k].use]
        wrong = wrongs[rng.integers(len(wrongs))]
        made = wrong(case, declared[k], values[k])
        if made is None:
            continue
        values[k] = made
        return wrong.__name__, case.arguments(values)


def fuzz(calls, seed):
    """Call kernels by turns, every third time with right arguments; gives how many calls of each
    kind there were.
    """
    rng, done = np.random.default_rng(seed), Counter()
    for k in range(calls):
        name, kernel = list(KERNELS.items())[k % len(KERNELS)]
        case = Case(kernel, rng)
        if rng.random() < 1 / 3:
            print(name, case.names, case.types, file=sys.stderr, flush=True)
            done["right" if case.run() else "two types that no kernel is compiled for"] += 1
        else:
            what, given = wrong_call(case)
            print(name, what, file=sys.stderr, flush=True)
            try:
                kernel(*given)
            except (TypeError, ValueError) as error:
                text = str(error)
                assert text.startswith(kernel.name), f"{name}, {what}: {text}"
                assert text.endswith("."), f"{name}, {what}: {text}"
            else:
                raise AssertionError(f"{name} took a wrong argument: {what}, {given}")
            done[what] += 1
    return done


def digest(cases=5):
    """A digest of what all kernels make of some typical arguments, the same for every instruction
    set.
    """
    digests = set()
    for isa in kernels.instruction_sets():
        kernels.use(isa)
        rng, found = np.random.default_rng(0), hashlib.sha256()
        for kernel in KERNELS.values():
            for _ in range(cases):
                code, arrays = Case(kernel, rng, typical=True).run() or (0, [])
                found.update(str(code).encode() + b"".join(arrays))
        digests.add(found.hexdigest())
    (only,) = digests
    return only


if __name__ == "__main__":
    faulthandler.enable()
    if sys.argv[1:] == ["digest"]:
        print(kernels.__file__, digest())
    else:
        kernels.use(sys.argv[3] if len(sys.argv) > 3 else kernels.instruction_set())
        print(dict(fuzz(int(sys.argv[1]), int(sys.argv[2]))))
