"""Networks that a user brings: subclasses of `SequenceMemory`, and networks made in a Python file."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from seqattractor.networks._base import SequenceMemory

__all__ = ["import_files", "networks_in", "user_networks"]


def user_networks() -> dict[str, SequenceMemory]:
    """Give every network class that was defined outside this package and can be made without arguments, by its name.

    Returns
    -------
    dict of str to SequenceMemory
        Not fitted.

    Examples
    --------
    >>> import seqattractor as sa
    >>> class Parrot(sa.SequenceMemory):
    ...     def fit_transitions(self, transitions, callback=None):
    ...         pass
    ...     def next_patterns(self, states, memory=None):
    ...         return states
    >>> type(user_networks()["Parrot"]).__name__
    'Parrot'
    """
    return {cls.__name__: cls() for cls in SequenceMemory._of_users.values() if _needs_nothing(cls)}


def networks_in(module: ModuleType) -> dict[str, SequenceMemory]:
    """Give the networks of a module: its classes that need no arguments, and networks made there, by their names."""
    made = {k: v for k, v in vars(module).items() if isinstance(v, SequenceMemory) and not k.startswith("_")}
    classes = {
        k: v()
        for k, v in vars(module).items()
        if isinstance(v, type) and issubclass(v, SequenceMemory) and v.__module__ == module.__name__ and _needs_nothing(v)
    }
    return classes | made


def import_files(paths: Iterable[str | Path]) -> dict[str, SequenceMemory]:
    """Run Python files and give the networks that they define.

    Parameters
    ----------
    paths : iterable of str or path

    Returns
    -------
    dict of str to SequenceMemory
        Not fitted.
    """
    found: dict[str, SequenceMemory] = {}
    for path in map(Path, paths):
        new = networks_in(_import(path))
        if not new:
            raise ValueError(
                f"{path} defines no network: it needs a subclass of sa.SequenceMemory that takes no arguments, or a network "
                "in a variable."
            )
        found |= new
    return found


def _import(path: Path) -> ModuleType:
    """Import a file under a name of its own, once, so that its classes can travel to worker processes."""
    if not path.is_file():
        raise ValueError(f"there is no file {path}.")
    name = f"networks_of_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(path.resolve()):
        return known
    spec = spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file; its name must end in .py.")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ValueError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    return module


def _needs_nothing(cls: type[SequenceMemory]) -> bool:
    """Whether a class can be made without arguments."""
    if inspect.isabstract(cls):
        return False
    parameters = inspect.signature(cls).parameters.values()
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)
