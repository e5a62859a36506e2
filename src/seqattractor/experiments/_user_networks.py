"""Networks that a user brings, as objects or in Python files: they travel to workers and are known by their source."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import sys
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from seqattractor.networks._base import SequenceMemory

_FILES = "networks_of_"  # what the modules of users' files are called
_NOT_THE_USERS = ("seqattractor", "sklearn", "abc", "builtins")


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
    >>> brought = Brought(sa.LookupMemory(order=2))
    >>> brought.description["parameters"]["order"]
    2
    >>> pickle.loads(pickle.dumps(brought)).network
    LookupMemory(order=2)
    """

    def __init__(self, network: SequenceMemory) -> None:
        self.network = network

    @cached_property
    def description(self) -> dict[str, Any]:
        """What identifies it, as plain JSON values: its class and those above it, its parameters, and digests of their source."""
        cls = type(self.network)
        mro = [each for each in cls.__mro__ if each.__module__.partition(".")[0] not in _NOT_THE_USERS]
        return {
            "class": f"{cls.__module__}:{cls.__qualname__}",
            "sources": [_source(each) for each in mro],
            "modules": sorted({each.__module__ for each in cls.__mro__ if each.__module__.startswith("seqattractor.")}),
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
        return _unpack, (self.packed,)


@cache
def _unpack(packed: bytes) -> Brought:
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
    """Run Python files and give the networks in them, not fitted: of classes that need no arguments, and those in variables."""
    networks: dict[str, SequenceMemory] = {}
    for path in map(Path, paths):
        module = _import(path)
        made = {k: v for k, v in vars(module).items() if isinstance(v, SequenceMemory) and not k.startswith("_")}
        classes = {k: v() for k, v in vars(module).items() if _can_be_made(v) and v.__module__ == module.__name__}
        if not made and not classes:
            raise ValueError(
                f"{path} defines no network: it needs a subclass of sa.SequenceMemory that takes no arguments, or a network "
                "in a variable."
            )
        networks |= classes | made
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
        raise ValueError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module


def _can_be_made(thing: Any) -> bool:
    """Whether something is a class of networks that needs no arguments."""
    if not inspect.isclass(thing) or not issubclass(thing, SequenceMemory) or inspect.isabstract(thing):
        return False
    parameters = inspect.signature(thing).parameters.values()
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
