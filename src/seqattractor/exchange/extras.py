"""Packages that only some people need: imported when they are used, and asked for in one sentence where they are absent."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(package: str, what: str, extra: str) -> Any:
    """Import a package of an extra, or say how to install it.

    Examples
    --------
    >>> needed("no_such_package", "to_nothing()", "nothing")
    Traceback (most recent call last):
    ValueError: to_nothing() needs no_such_package, which is not installed: pip install "seqattractor[nothing]".
    """
    try:
        return import_module(package)
    except ImportError:
        raise ValueError(
            f'{what} needs {package.partition(".")[0]}, which is not installed: pip install "seqattractor[{extra}]".'
        ) from None
