"""Names that somebody may have meant, for messages about a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Ask for up to three known names that a name may be a misspelling of; an empty text if none is
    like it.
    """
    if not isinstance(name, str):
        return ""
    from difflib import get_close_matches  # only for an error

    spelt = {each.lower(): each for each in known}
    *first, last = [repr(spelt[match]) for match in get_close_matches(name.lower(), spelt)] or [""]
    if not last:
        return ""
    return f"did you mean {', '.join(first)} or {last}?" if first else f"did you mean {last}?"


def no_such(kind: str, name: Any, known: Iterable[str], groups: Iterable[str] = ()) -> str:
    """Return the message for an unknown name: similar names, or all names (and `groups` of them) if
    none is similar.
    """
    from seqattractor._checks import say  # brings numpy, for which a misspelt command need not wait

    names, several = list(known), list(groups)
    together = f", and together {', '.join(several[:-1])} and {several[-1]}" if several[1:] else ""
    meant = (
        did_you_mean(name, [*names, *several]) or f"the {kind}s are {', '.join(names)}{together}."
    )
    return f"there is no {kind} {say(name)}; {meant}"
