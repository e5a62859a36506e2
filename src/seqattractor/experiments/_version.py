"""Which code made a result."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from seqattractor import __version__

__all__ = ["code_version"]

# The parts of the package on which the outcome of a trial depends.
DECISIVE = ("sequences", "noise.py", "learning", "networks", "datasets", "io", "analysis", "experiments/_trial.py")


@cache
def code_version(*more: str) -> str:
    """Give the version of the package and a fingerprint of the code that decides what a trial gives.

    Parameters
    ----------
    *more : str
        Further files or folders of the package that decide it.

    Examples
    --------
    >>> code_version().partition("+")[0] == __version__
    True
    """
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for part in (*DECISIVE, *more):
        place = package / part
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return f"{__version__}+{digest.hexdigest()[:12]}"
