"""How kernels are compiled: by numba, without the lock of the interpreter, once on a machine."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def part(function: _Function) -> _Function:
    """Decorator of what is compiled into kernels."""
    compiled: Any = njit(nogil=True)(function)
    return cast(_Function, compiled)


def inlined(function: _Function) -> _Function:
    """Decorator of a small part that is written out wherever it is called: a call in an inner loop can cost a fifth of it."""
    compiled: Any = njit(nogil=True, inline="always")(function)
    return cast(_Function, compiled)


def kernel(function: _Function) -> _Function:
    """Decorator of what Python calls; the machine code is kept on disk until it or one of its parts changes."""
    try:
        compiled: Any = njit(nogil=True, cache=True)(function)
    except RuntimeError:  # numba finds no folder that it may write to, as in a hardened container
        _say_that_nothing_is_kept()
        return part(function)
    # On its own numba sees changes in the file of the kernel, not in those of its parts. It has no public way to say more; a
    # numba without this private one would only keep machine code too long for those who edit kernels.
    kept: Any = getattr(compiled, "_cache", None)
    if (of_this_file := getattr(kept, "_index_key", None)) is not None:
        kept._index_key = lambda *args: (*of_this_file(*args), _sources())
    return cast(_Function, compiled)


@cache
def _say_that_nothing_is_kept() -> None:
    """Say once why every process will compile."""
    logging.getLogger("seqattractor").warning(
        "there is no folder in which compiled kernels could be kept, so they are compiled in memory each time; "
        "set NUMBA_CACHE_DIR to a folder that can be written to"
    )


@cache
def _sources() -> str:
    """A fingerprint of all files with kernels or parts of them."""
    folder = Path(__file__).parent
    text = b"".join(path.read_bytes() for path in sorted([*folder.rglob("lanes.py"), *folder.rglob("*kernels.py")]))
    return hashlib.sha256(text).hexdigest()
