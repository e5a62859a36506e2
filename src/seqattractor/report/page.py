"""Pages of one file that need nothing else: the templates in `templates/`, with everything escaped that data bring along."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from seqattractor import __version__


def render(template: str, **values: Any) -> str:
    """Give a page as HTML.

    Parameters
    ----------
    template : str
        The name of a file in `templates/`.
    **values
        What the template names.

    Returns
    -------
    str
    """
    return _environment().get_template(template).render(version=__version__, **values)


@cache
def _environment() -> Environment:
    """The templates, with autoescape, and an error where a template names what is not given."""
    environment = Environment(
        loader=PackageLoader("seqattractor.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["embedded"] = _embedded
    environment.filters["duration"] = duration
    return environment


def _embedded(content: bytes, kind: str) -> str:
    """A picture inside the page."""
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def duration(seconds: float) -> str:
    """Give seconds for people.

    Examples
    --------
    >>> duration(75)
    '1 min 15 s'
    """
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"
