"""How kernels are compiled: by numba, without the lock of the interpreter, once on a machine."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` wraps: its conversion to enums takes twenty times as long
from collections.abc import Callable
from inspect import currentframe
from signal import SIGINT
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, TypeVar, cast

from numba import njit

from seqattractor.learning.kept_code import KernelCache, say_that_nothing_is_kept

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Result = TypeVar("_Result")

_FOR_KERNELS_ONLY: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def part(function: _Function) -> _Function:
    """Decorator of what is compiled into kernels; Python cannot call it, since what would let it takes long to compile."""
    compiled: Any = njit(nogil=True, **_FOR_KERNELS_ONLY)(function)
    return cast(_Function, compiled)


def inlined(function: _Function) -> _Function:
    """Decorator of a small part that is written out wherever it is called: a call in an inner loop can cost a fifth of it."""
    compiled: Any = njit(nogil=True, inline="always")(function)
    return cast(_Function, compiled)


def kernel(function: _Function) -> _Function:
    """Decorator of what Python calls; the machine code is kept on disk until it or one of its parts changes."""
    compiled: Any = njit(nogil=True)(function)
    try:
        compiled._cache = KernelCache(function)
    except RuntimeError:  # numba finds no folder that it may write to, as in a hardened container
        say_that_nothing_is_kept()
    except AttributeError:  # a numba whose cache is made in another way; then its files are trusted
        compiled.enable_caching()
    return cast(_Function, _Kernel(compiled))


def call_uninterrupted(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function and let Ctrl-C wait until it has returned, but not while numba compiles, which takes seconds.

    Python handles signals in the main thread only, so that there is nothing to do in others.
    """
    handler = _signal.getsignal(SIGINT)
    if not callable(handler) or current_thread() is not main_thread():
        return function(*arguments)
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if _is_compiling(frame):
            handler(number, frame)
        else:
            noted.append(number)

    _signal.signal(SIGINT, note)  # what came earlier is handled first, so that nothing raises between here and `try`
    try:
        return function(*arguments)
    finally:
        _signal.signal(SIGINT, handler)
        if noted:
            handler(SIGINT, currentframe())


def _is_compiling(frame: FrameType | None) -> bool:
    """Whether a frame is inside numba's compiler, which is Python and can be left anywhere."""
    while frame is not None and frame.f_code.co_name != "_compile_for_args":
        frame = frame.f_back
    return frame is not None


class _Kernel:
    """A compiled function that can be called from Python."""

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled

    def __call__(self, *arguments: Any) -> Any:
        # Where a handler raises while numba hands over arguments or results, numba crashes, or goes on as if nothing had been.
        return call_uninterrupted(self.compiled, *arguments)

    def is_kept(self) -> bool:
        """Whether there is machine code on disk."""
        return can_be_kept(self) and self.compiled._cache.is_filled()


def can_be_kept(value: Any) -> bool:
    """Whether this is a kernel whose machine code is written to disk."""
    return isinstance(value, _Kernel) and isinstance(getattr(value.compiled, "_cache", None), KernelCache)


def is_kept(value: Any) -> bool:
    """Whether this is a kernel with machine code on disk; if that is of older sources or damaged, it is compiled after all."""
    return isinstance(value, _Kernel) and value.is_kept()
