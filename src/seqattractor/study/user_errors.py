"""What went wrong in a network of the user's: its class and method, the file and the line, without our traceback."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

from seqattractor.networks.base import SequenceMemory
from seqattractor.networks.run import WrongAnswerError

NOT_THE_USERS = ("seqattractor", "sklearn", "abc", "builtins")
"""Packages whose classes are not the user's."""
_SIGNATURES = {
    "next_patterns": ("self, states, memory=None", 2),
    "fit": ("self, X, lengths=None", 2),
    "fit_transitions": ("self, transitions, callback=None", 2),
    "start": ("self, states", 1),
}
"""How methods that users write are called: in words, and with how many arguments."""


def own_classes(cls: type) -> list[type]:
    """Give a class and those above it, as far as they are the user's."""
    return [each for each in cls.__mro__ if each.__module__.partition(".")[0] not in NOT_THE_USERS]


def has_own_code(network: SequenceMemory) -> bool:
    """Whether a network runs code of the user's: a class, or a function as parameter."""
    return next(_own_codes(network), None) is not None


def check_methods(network: SequenceMemory) -> None:
    """Refuse a network whose methods cannot be called as they will be.

    Examples
    --------
    >>> class Short(SequenceMemory):
    ...     def next_patterns(self, states):
    ...         return states
    >>> check_methods(Short())
    Traceback (most recent call last):
    ValueError: Short.next_patterns is called with 2 arguments; write next_patterns(self, states, memory=None).
    """
    for name, (wanted, arguments) in _SIGNATURES.items():
        try:
            inspect.signature(getattr(network, name)).bind(*range(arguments))
        except TypeError:
            whose = f"{type(network).__name__}.{name}"
            raise ValueError(f"{whose} is called with {arguments} arguments; write {name}({wanted}).") from None


def check_learned_sizes(network: SequenceMemory) -> None:
    """Refuse a network whose own `fit` did not settle what all others do."""
    if not hasattr(network, "n_features_in_") or not hasattr(network, "order_"):
        raise ValueError(
            f"{type(network).__name__}.fit does not settle the sizes; let it begin with self.transitions(X, lengths), or write "
            "fit_transitions instead of it."
        )


def say_failure(error: BaseException, network: SequenceMemory) -> str:
    """Say what went wrong in a network; where it runs code of the user's, also where.

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
    """Give the line of a file in which an error came up, the innermost; None if it was not there."""
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
