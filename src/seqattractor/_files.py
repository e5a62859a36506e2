"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def named_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that can be printed in a sentence; reject line breaks and other control
    characters in it.
    """
    taken = Path(path)
    if not str(taken).isprintable():
        raise ValueError(
            f"{str(taken)[:200]!r} has a line break or another control character in it; rename the "
            "file."
        )
    return taken


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name only when it is complete.

    An error, a full disk or Ctrl-C in between leaves what stood there before, and no half-written
    file. A file that is replaced passes its permissions on, a link leads to the file that is
    replaced, and a read-only file is an error.
    """
    target = _target(named_path(path))
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder; give the name of a file.")
    if target.exists() and not target.is_file():  # a device or a pipe would be replaced by a file
        raise OSError(f"{target} is not a regular file; give another name.")
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    if mode is not None and not (
        mode & 0o222 and os.access(target, os.W_OK)
    ):  # to root everything looks writable
        raise PermissionError(f"{target} is read-only; give another name, or allow writing to it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist; make it first.")
    # The name is chosen before the file is made, so that an interruption at any moment can remove
    # it. A new file gets the permissions of this process, what replaces another nobody sees before
    # it has its permissions.
    part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(8)}.part")
    try:
        with _opened(part, target, 0o666 if mode is None else 0o600) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


@contextmanager
def written_by_name(path: str | os.PathLike[str], ending: str) -> Iterator[Path]:
    """Provide the name of a temporary file, with this ending, for a library that opens files.

    The file becomes `path` when the block ends, as in `atomic_write`.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "a.txt"
    >>> with written_by_name(path, ".txt") as part:
    ...     _ = part.write_text("whole")
    >>> path.read_text()
    'whole'
    """
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / f"whole{ending}"
        yield part
        with atomic_write(path) as file, part.open("rb") as written:
            shutil.copyfileobj(written, file)


def _target(path: Path) -> Path:
    """Where a link leads to, or the path itself."""
    try:
        return path.resolve() if path.is_symlink() else path
    except RuntimeError:  # of Python before 3.13
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from None


def _opened(part: Path, target: Path, mode: int) -> IO[bytes]:
    """A new file; what prevents it is said with the name that was asked for, not that of the
    temporary file.
    """
    try:
        return open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None
