"""The library's sentences in the words of the page: it counts from 1, speaks of frames, and names only what it offers."""

from __future__ import annotations

import re


def as_sentence(error: Exception) -> str:
    """The library's words about an error, as a sentence."""
    text = str(error)
    return text[:1].upper() + text[1:]


def counted_from_1(text: str) -> str:
    """Give places in a sequence as the page counts them.

    Examples
    --------
    >>> counted_from_1("it holds nan in frame 0, value 7 of sequence 2")
    'it holds nan in frame 1, value 8 of sequence 3'
    """
    return re.sub(r"\b(frame|value|sequence) (\d+)\b", lambda place: f"{place[1]} {int(place[2]) + 1}", text, flags=re.IGNORECASE)


def to_see(order: int, most: int) -> str:
    """Say how a network gets to see so many past patterns, where the page offers `most` at most."""
    if order <= most:
        return f'set "Past patterns it sees" to {order}, under "More settings"'
    return f"the lab offers up to {most}, so choose another sequence"


def why_not_learned(error: Exception, most: int) -> str:
    """Say why learning failed, and what can be done about it on the page, where networks see `most` past patterns at most.

    Examples
    --------
    >>> why_not_learned(ValueError("pattern 0 of sequence 0 has two successors: use order=2."), most=6)
    'Frame 1 of sequence 1 has two successors: set "Past patterns it sees" to 2, under "More settings".'
    """
    text = re.sub(r"\bpattern (?=\d)", "frame ", as_sentence(error), flags=re.IGNORECASE)
    text = re.sub(r"use order=(\d+)", lambda use: to_see(int(use[1]), most), counted_from_1(text))
    return text[:1].upper() + text[1:]
