"""Python processes that this one starts: they find modules where this one does, never first in the
current folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def python_command(code: str) -> list[str]:
    """Return the command line that runs some code in a new Python with the module path of this
    one.
    """
    # With -c alone, and until its path is set, Python would import from the current folder whatever
    # has the right name.
    path = [entry for entry in sys.path if isinstance(entry, str)]  # Python ignores others
    return [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {path!r}\n{code}"]


@contextmanager
def safe_path() -> Iterator[None]:
    """Start processes by `multiprocessing` that do not import from the current folder before they
    get the path of this one.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = before or "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        else:
            os.environ["PYTHONSAFEPATH"] = before
