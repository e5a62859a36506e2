"""Machine code of kernels on disk: what is not whole, or not of these sources, is as good as not there."""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, serialize

from seqattractor._files import atomic_write

_FunctionCache: Any = caching.FunctionCache  # numba has no types
_dumps: Any = serialize.dumps
_DIGEST = hashlib.sha256().digest_size


class KernelCache(_FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, but with files that are checked, and without failures where nothing can be written.

    numba trusts its files: what is cut off or garbled fails somewhere in pickle, or is executed. It has no public way to say
    otherwise; `seqattractor.learning.compiled` does without this class where a numba has other private ones.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        base, stamp = self._impl.filename_base, self._impl.locator.get_source_stamp()
        self._cache_file = MachineCode(Path(self._cache_path), base, (numba.__version__, stamp, _sources()))

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if it can be kept; it is in memory anyway."""
        try:
            super().save_overload(sig, data)
        except OSError:  # a full disk, or a folder that was taken away since the start
            say_that_nothing_is_kept()

    def is_filled(self) -> bool:
        """Whether there is a file for this function."""
        return bool(self._cache_file.files())


class MachineCode:
    """The files of one function, one for each signature and processor: a digest, and behind it the pickled machine code.

    The digest is of the code and of all that it was made from, so that code of older sources and damaged files look alike:
    they are not loaded, and written over by what is compiled instead.
    """

    def __init__(self, folder: Path, base: str, made_from: tuple[Any, ...]) -> None:
        self.folder, self.base, self.made_from = folder, base, made_from

    def load(self, key: tuple[Any, ...]) -> Any:
        """Give the code for a key, or None."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        code = content[_DIGEST:]
        return pickle.loads(code) if content[:_DIGEST] == self._digest(key, code) else None

    def save(self, key: tuple[Any, ...], data: Any) -> None:
        """Keep the code for a key."""
        code: bytes = _dumps(data)
        with atomic_write(self._path(key)) as file:
            file.write(self._digest(key, code) + code)

    def flush(self) -> None:
        """Forget all code of the function."""
        for path in self.files():
            path.unlink(missing_ok=True)

    def files(self) -> list[Path]:
        """All files of the function."""
        return list(self.folder.glob(f"{self.base}.*.code"))

    def _path(self, key: tuple[Any, ...]) -> Path:
        """The file for a signature and a processor, of whatever sources it is."""
        return self.folder / f"{self.base}.{hashlib.sha256(repr(key[:2]).encode()).hexdigest()[:16]}.code"

    def _digest(self, key: tuple[Any, ...], code: bytes) -> bytes:
        """A digest of code and of what it was made from."""
        return hashlib.sha256(repr((key, self.made_from)).encode() + code).digest()


@cache
def say_that_nothing_is_kept() -> None:
    """Say once why every process will compile."""
    logging.getLogger("seqattractor").warning(
        "there is no folder in which compiled kernels could be kept, so they are compiled in memory each time; "
        "set NUMBA_CACHE_DIR to a folder that can be written to"
    )


@cache
def _sources() -> str:
    """A fingerprint of all files here, any of which may have parts of kernels; on its own numba sees only the kernel's own."""
    text = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py")))
    return hashlib.sha256(text).hexdigest()
