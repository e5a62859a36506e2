"""What users bring to trials: sequences, and networks as objects or in Python files. Both travel to workers."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pickle
import sys
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

import cloudpickle
import numpy as np

from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.run import WrongAnswerError
from seqattractor.sequences import Lengths, Patterns


class OwnData:
    """Sequences of the user's that networks are compared on, wherever trials are done.

    Parameters
    ----------
    patterns : ndarray of int8, shape (T, N)
    lengths : ndarray of int64, shape (S,)
    closed : bool
        Whether every sequence is a loop.
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
    def content(self) -> OwnData:
        """What a trial gets."""
        return self

    @property
    def length(self) -> int | None:
        """T, if all sequences have the same."""
        return int(self.lengths[0]) if len(set(self.lengths.tolist())) == 1 else None


NOT_THE_USERS = ("seqattractor", "sklearn", "abc", "builtins")
"""Packages whose classes are not the user's."""


def own_classes(cls: type) -> list[type]:
    """Return a class and those above it, as far as they are the user's."""
    return [each for each in cls.__mro__ if each.__module__.partition(".")[0] not in NOT_THE_USERS]


def has_own_code(network: SequenceMemory) -> bool:
    """Whether a network runs code of the user's: a class, or a function as parameter."""
    return next(_own_codes(network), None) is not None


def say_failure(error: BaseException, network: SequenceMemory) -> str:
    """Describe what went wrong in a network; where it runs code of the user's, also where.

    Examples
    --------
    >>> import seqattractor as sa
    >>> say_failure(ValueError("it is too long."), sa.zoo.LookupMemory())
    'it is too long.'
    """
    words = str(error) or type(error).__name__
    place = _place(error, network)
    if place is None:
        unforeseen = has_own_code(network) and not isinstance(error, (ValueError, TypeError, MemoryError))
        return f"{type(error).__name__}: {words}" if unforeseen and str(error) else words
    if isinstance(error, WrongAnswerError):
        return f"{words} ({place.partition(', ')[2]})"
    return f"{words} ({type(error).__name__} in {place})"


def line_of(error: BaseException, path: str) -> int | None:
    """Return the line of a file in which an error came up, the innermost; None if it was not there."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [lineno for code, lineno in _frames(error.__traceback__) if code.co_filename == path]
    return lines[-1] if lines else None


def _place(error: BaseException, network: SequenceMemory) -> str | None:
    """The innermost line of the user's code behind an error; for a wrong answer, where the method begins that gave it."""
    codes = set(_own_codes(network))
    if isinstance(error, WrongAnswerError):
        code = getattr(getattr(type(network), error.method, None), "__code__", None)
        return _named(code, code.co_firstlineno) if code in codes else None
    files = {code.co_filename for code in codes}
    inside = [(code, lineno) for code, lineno in _frames(error.__traceback__) if code.co_filename in files]
    return _named(*inside[-1]) if inside else None


def _named(code: CodeType, lineno: int) -> str:
    """A place in code, for people."""
    name, file = code.co_qualname.rpartition("<locals>.")[2], Path(code.co_filename)
    known = file.suffix == ".py" and "ipykernel" not in code.co_filename
    return f"{name}, line {lineno}" + (f" of {file.name}" if known else "")


def _frames(traceback: TracebackType | None) -> Iterator[tuple[CodeType, int]]:
    """The code and the line of every frame of a traceback, outermost first."""
    while traceback is not None:
        yield traceback.tb_frame.f_code, traceback.tb_lineno
        traceback = traceback.tb_next


def _own_codes(network: SequenceMemory) -> Iterator[CodeType]:
    """The code of everything in a network that the user wrote: methods of classes, and functions as parameters."""
    members: list[Any] = [member for cls in own_classes(type(network)) for member in vars(cls).values()]
    functions = [value for value in network.get_params(deep=False).values() if inspect.isfunction(value)]
    members += [function for function in functions if str(function.__module__).partition(".")[0] not in NOT_THE_USERS]
    for member in members:
        function = getattr(member, "__func__", member)  # of a class method or a static one
        if inspect.isfunction(function):
            yield inspect.unwrap(function).__code__


_FILES = "networks_of_"  # what the modules of users' files are called


class Brought:
    """A network of the user's that takes part in trials, here or wherever they are done.

    Parameters
    ----------
    network : SequenceMemory
        Not fitted.

    Examples
    --------
    >>> import pickle
    >>> import seqattractor as sa
    >>> brought = Brought(sa.zoo.LookupMemory(order=2))
    >>> brought.description["parameters"]["order"]
    2
    >>> pickle.loads(pickle.dumps(brought)).network
    LookupMemory(order=2)
    """

    def __init__(self, network: SequenceMemory) -> None:
        self.network = network

    @property
    def content(self) -> SequenceMemory:
        """What a trial gets."""
        return self.network

    @cached_property
    def description(self) -> dict[str, Any]:
        """What identifies it, as plain JSON values: its class and those above it, its parameters, and digests of their source."""
        cls = type(self.network)
        return {
            "class": f"{cls.__module__}:{cls.__qualname__}",
            "sources": [_source(each) for each in own_classes(cls)],
            "parameters": {name: _plain(value) for name, value in self.network.get_params(deep=False).items()},
        }

    @cached_property
    def packed(self) -> bytes:
        """The network for another process, together with a class that only this process knows."""
        try:
            return _dumps(self.network)
        except Exception as error:
            name = type(self.network).__name__
            raise ValueError(f"the network {name} cannot be sent to other processes ({error}); use one job.") from error

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _unpack_network, (self.packed,)


@cache
def _unpack_network(packed: bytes) -> Brought:
    """Unpack a network in a worker, once."""
    return Brought(pickle.loads(packed))


def _dumps(thing: Any) -> bytes:
    """Pickle something; what stands in users' files, which workers cannot import, goes along."""
    for name, module in sys.modules.items():
        if name.startswith(_FILES):
            cloudpickle.register_pickle_by_value(module)
    packed: bytes = cloudpickle.dumps(thing)
    return packed


def _plain(value: Any) -> Any:
    """A parameter as plain JSON, or something that tells it apart from others."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if inspect.isfunction(value):
        return {"function": f"{value.__module__}:{value.__qualname__}", "source": _source(value)}
    try:
        return {"object": hashlib.sha256(_dumps(value)).hexdigest()}
    except Exception:  # a lock, an open file: never the same in another run
        return {"object": f"{id(value)} in process {os.getpid()}"}


def _source(thing: Any) -> str:
    """A digest of the file in which a class or function was written; of what it is where there is none, as at a prompt."""
    try:
        content = Path(inspect.getfile(thing)).read_bytes()
    except (OSError, TypeError):
        content = _dumps(thing)
    return hashlib.sha256(content).hexdigest()


def import_files(paths: Iterable[str | Path]) -> dict[str, SequenceMemory]:
    """Run Python files and return the networks in them, not fitted: of classes that need no arguments, and those in variables.

    A class that cannot take part is rejected, unless a network of a subclass does, or its name begins with an underscore.
    """
    networks: dict[str, SequenceMemory] = {}
    for path in map(Path, paths):
        module = _import(path)
        made = {k: v for k, v in vars(module).items() if isinstance(v, SequenceMemory) and not k.startswith("_")}
        known = {k: v for k, v in vars(module).items() if _is_network_class(v) and v.__module__ == module.__name__}
        classes = {k: v() for k, v in known.items() if why_not(v) is None}
        if not made and not known:
            raise ValueError(
                f"{path} defines no network: it needs a subclass of sa.SequenceMemory that takes no arguments, or a network "
                "in a variable."
            )
        there = [type(network) for network in (*made.values(), *classes.values())]
        for name, cls in known.items():
            if not name.startswith("_") and not any(issubclass(each, cls) for each in there):
                raise ValueError(f"{path}: {why_not(cls)} To leave it out, begin its name with an underscore.")
        networks |= {name: network for name, network in classes.items() if not name.startswith("_")} | made
    return networks


def _import(path: Path) -> ModuleType:
    """Import a file under a name of its own."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    name = _FILES + path.stem
    if path.suffix != ".py":
        raise ValueError(f"{path} is not a Python file; its name must end in .py.")
    module = ModuleType(name)
    module.__file__ = str(path.resolve())
    sys.modules[name] = module
    try:
        # Never from a cache: it may just have been edited.
        exec(compile(path.read_bytes(), module.__file__, "exec"), vars(module))
    except Exception as error:
        del sys.modules[name]
        line = line_of(error, module.__file__)
        where = f", line {line}" if line is not None else ""
        words = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"{path} cannot be run{where}: {type(error).__name__}: {words}") from error
    return module


def _is_network_class(thing: Any) -> bool:
    """Whether something is a class of networks."""
    return inspect.isclass(thing) and issubclass(thing, SequenceMemory)


def why_not(cls: type[SequenceMemory]) -> str | None:
    """Why no network can be made of a class without more ado, in a sentence; None if one can."""
    if inspect.isabstract(cls):
        return f"{cls.__name__} does not say what comes next; write next_patterns(self, states, memory=None)."
    needed = [
        p.name
        for p in inspect.signature(cls).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if needed:
        words = ", ".join(f"{name}=..." for name in needed)
        return (
            f"{cls.__name__} needs arguments; give them defaults, or put a network in a variable: mine = {cls.__name__}({words})."
        )
    return None
