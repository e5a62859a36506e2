"""What users bring to trials: sequences, and networks as objects or in Python files. Both travel to
workers.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pickle
import sys
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from traceback import extract_tb, walk_tb
from types import CodeType, ModuleType
from typing import Any

import cloudpickle
import numpy as np

from seqattractor.constraints import Constraint
from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.run import WrongAnswerError
from seqattractor.rules import Rule
from seqattractor.sequences import Lengths, Patterns


class OwnData:
    """Sequences of the user's, all loops or all open, that networks are compared on, wherever
    trials are done.
    """

    def __init__(self, patterns: Patterns, lengths: Lengths, *, closed: bool) -> None:
        self.patterns, self.lengths, self.closed = patterns, lengths, closed

    @cached_property
    def description(self) -> dict[str, Any]:
        """What identifies them, as plain JSON values: sizes, and a digest of all that a trial sees
        of them.
        """
        (rows, units), lengths = self.patterns.shape, self.lengths.tolist()
        digest = hashlib.sha256(json.dumps([rows, units, lengths, self.closed]).encode())
        digest.update(np.packbits(self.patterns > 0, axis=1).tobytes())
        return {
            "digest": digest.hexdigest()[:32],
            "patterns": rows,
            "units": units,
            "sequences": len(lengths),
        }

    @property
    def length(self) -> int | None:
        """T, if all sequences have the same."""
        return int(self.lengths[0]) if len(set(self.lengths.tolist())) == 1 else None


NOT_THE_USERS = ("seqattractor", "sklearn", "abc", "builtins")
"""Packages whose classes are not the user's."""

EXPECTED = (ValueError, TypeError, MemoryError)
"""Errors with which a network may reject what it cannot do."""


def own_classes(cls: type) -> list[type]:
    """Return a class and those above it, as far as they are the user's."""
    return [each for each in cls.__mro__ if each.__module__.partition(".")[0] not in NOT_THE_USERS]


def own_modules(network: SequenceMemory) -> set[str]:
    """Return the names of modules with code of the user's that a network runs: its classes, and
    functions, rules and constraints as parameters.
    """
    values = list(network.get_params(deep=False).values())
    names = {str(value.__module__) for value in values if inspect.isfunction(value)}
    names = {name for name in names if name.partition(".")[0] not in NOT_THE_USERS}
    classes = [type(network), *map(type, _parts(values))]
    return names | {each.__module__ for cls in classes for each in own_classes(cls)}


def _parts(value: Any) -> list[Rule | Constraint]:
    """Return the rules and constraints in a parameter, or in some of them."""
    if isinstance(value, (list, tuple)):
        return [part for each in value for part in _parts(each)]
    return [value] if isinstance(value, (Rule, Constraint)) else []


def describe_failure(error: BaseException, network: SequenceMemory) -> str:
    """Describe what went wrong in a network; where it runs code of the user's, also where."""
    words, name, modules = (
        str(error) or type(error).__name__,
        type(error).__name__,
        own_modules(network),
    )
    if isinstance(
        error, WrongAnswerError
    ):  # raised by the caller of the method that gave the answer
        method = getattr(type(network), error.method, None)
        if getattr(method, "__module__", None) not in modules or not inspect.isfunction(method):
            return words
        return f"{words} ({_place(method.__code__, method.__code__.co_firstlineno)})"
    frames = [
        (frame.f_code, line)
        for frame, line in walk_tb(error.__traceback__)
        if frame.f_globals["__name__"] in modules
    ]
    if not frames:
        return (
            f"{name}: {words}"
            if modules and str(error) and not isinstance(error, EXPECTED)
            else words
        )
    code, line = frames[-1]
    return (
        f"{words} ({name} in {code.co_qualname.rpartition('<locals>.')[2]}, {_place(code, line)})"
    )


def _place(code: CodeType, line: int) -> str:
    """A line of code, with its file if it has one."""
    file = Path(code.co_filename)
    in_file = file.suffix == ".py" and "ipykernel" not in code.co_filename
    return f"line {line}" + (f" of {file.name}" if in_file else "")


class Brought:
    """A network of the user's, not fitted, that takes part in trials, here or wherever they are
    done.
    """

    def __init__(self, network: SequenceMemory) -> None:
        self.network = network

    @cached_property
    def description(self) -> dict[str, Any]:
        """What identifies it, as plain JSON values: its class and those above it, its parameters,
        and digests of their source.
        """
        cls = type(self.network)
        return {
            "class": f"{cls.__module__}:{cls.__qualname__}",
            "sources": [_source(each) for each in own_classes(cls)],
            "parameters": {
                name: _plain(value) for name, value in self.network.get_params(deep=False).items()
            },
        }

    @cached_property
    def packed(self) -> bytes:
        """The network for another process, together with a class that no other process can
        import.
        """
        try:
            packed: bytes = cloudpickle.dumps(self.network)
            return packed
        except Exception as error:
            name = type(self.network).__name__
            raise ValueError(
                f"the network {name} cannot be sent to other processes ({error}); use one job."
            ) from error

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return _unpack_network, (self.packed,)


def _unpack_network(packed: bytes) -> Brought:
    """Unpack a network in a worker."""
    return Brought(pickle.loads(packed))


def _plain(value: Any) -> Any:
    """A parameter as plain JSON, or something that distinguishes it from others."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if inspect.isfunction(value):
        return {"function": f"{value.__module__}:{value.__qualname__}", "source": _source(value)}
    sources = [_source(cls) for part in _parts(value) for cls in own_classes(type(part))]
    try:
        digest = hashlib.sha256(cloudpickle.dumps(value)).hexdigest()
        return {"object": digest} | ({"sources": sources} if sources else {})
    except Exception:  # a lock, an open file: never the same in another run
        return {"object": f"{id(value)} in process {os.getpid()}"}


def _source(thing: Any) -> str:
    """A digest of the file in which a class or function was written; of what it is where there is
    none, as at a prompt.
    """
    try:
        content = Path(inspect.getfile(thing)).read_bytes()
    except (OSError, TypeError):
        content = cloudpickle.dumps(thing)
    return hashlib.sha256(content).hexdigest()


def import_files(paths: Iterable[str | Path]) -> dict[str, SequenceMemory]:
    """Run Python files and return the networks in them, not fitted: of classes that need no
    arguments, and those in variables.

    Classes that cannot take part are rejected, except bases of other networks. Names with an
    underscore are ignored.
    """
    networks: dict[str, SequenceMemory] = {}
    for path in map(Path, paths):
        module = _import(path)
        public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
        made = {name: value for name, value in public.items() if isinstance(value, SequenceMemory)}
        classes = {
            name: value for name, value in public.items() if _is_network_class(value, module)
        }
        if not made and not classes:
            raise ValueError(
                f"{path} defines no network: it needs a subclass of sa.SequenceMemory that takes "
                "no arguments, or a network in a variable."
            )
        kinds = {*classes.values(), *map(type, made.values())}
        for name, cls in classes.items():
            why = why_not(cls)
            if why is None:
                networks[name] = cls()
            elif cls in map(type, made.values()) or any(
                issubclass(kind, cls) for kind in kinds - {cls}
            ):
                continue
            else:
                raise ValueError(
                    f"{path}: {why} To leave it out, begin its name with an underscore."
                )
        networks |= made
    return networks


def _import(path: Path) -> ModuleType:
    """Import a file under a name of its own."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    name = f"networks_of_{path.stem}"
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
        lines = [
            frame.lineno
            for frame in extract_tb(error.__traceback__)
            if frame.filename == module.__file__
        ]
        if isinstance(error, SyntaxError) and error.filename == module.__file__:
            lines = [error.lineno]
        where = f", line {lines[-1]}" if lines else ""
        words = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"{path} cannot be run{where}: {type(error).__name__}: {words}") from error
    cloudpickle.register_pickle_by_value(module)  # workers cannot import it
    return module


def _is_network_class(value: Any, module: ModuleType) -> bool:
    """Whether something is a class of networks that a module defines."""
    return (
        inspect.isclass(value)
        and issubclass(value, SequenceMemory)
        and value.__module__ == module.__name__
    )


def why_not(cls: type[SequenceMemory]) -> str | None:
    """Return the reason, in a sentence, why a class cannot be called without arguments; None if it
    can.
    """
    if inspect.isabstract(cls):
        return (
            f"{cls.__name__} does not define what comes next; write next_patterns(self, states, "
            "memory=None)."
        )
    needed = [
        p.name
        for p in inspect.signature(cls).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    if needed:
        words = ", ".join(f"{name}=..." for name in needed)
        return (
            f"{cls.__name__} needs arguments; give them defaults, or put a network in a variable: "
            f"mine = {cls.__name__}({words})."
        )
    return None
