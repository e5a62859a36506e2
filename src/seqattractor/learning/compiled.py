"""How kernels are compiled: by numba, without the lock of the interpreter, once on a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

from seqattractor.learning.kept_code import KernelCache, say_that_nothing_is_kept

_Function = TypeVar("_Function", bound=Callable[..., Any])

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


class _Kernel:
    """A compiled function that can be stopped by Ctrl-C at any moment."""

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.compiled(*arguments)
        except SystemError as error:  # what Python says of a Ctrl-C while numba was handing over arguments or results
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, KeyboardInterrupt):
                cause = cause.__cause__
            raise cause or error from None

    def is_kept(self) -> bool:
        """Whether there is machine code on disk."""
        return can_be_kept(self) and self.compiled._cache.is_filled()


def can_be_kept(value: Any) -> bool:
    """Whether this is a kernel whose machine code is written to disk."""
    return isinstance(value, _Kernel) and isinstance(getattr(value.compiled, "_cache", None), KernelCache)


def is_kept(value: Any) -> bool:
    """Whether this is a kernel with machine code on disk; if that is of older sources or damaged, it is compiled after all."""
    return isinstance(value, _Kernel) and value.is_kept()
