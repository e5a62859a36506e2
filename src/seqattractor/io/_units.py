"""The names of units: columns of several files brought into line, notes, and natural order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from seqattractor._checks import check_kind
from seqattractor.sequences import Sequences

SCALE = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


def align_units(part: Sequences, units: Sequence[str]) -> Sequences:
    """Bring the named columns of loaded sequences into a given order.

    Parameters
    ----------
    part : Sequences
        Without named columns they stay as they are.
    units : list of str
        The names, in the order of the columns of the result; a unit that `part` lacks is off there.

    Returns
    -------
    Sequences

    Examples
    --------
    >>> part = Sequences([[1, -1]], units=["C4", "D4"])
    >>> align_units(part, ["B3", "C4", "D4"]).patterns
    array([[-1,  1, -1]], dtype=int8)
    """
    check_kind(part, Sequences, "part", "Sequences, as loaders give them")
    check_kind(units, (list, tuple), "units", "a list of names")
    units = list(units)
    if part.units is None or list(part.units) == units:
        return part
    if not units:
        raise ValueError("there are no units to bring the columns into line with; give at least one name.")
    columns = dict(zip(part.units, part.patterns.T, strict=True))
    used = [name for name, x in columns.items() if name not in units and (x > 0).any()]
    if used:
        raise ValueError(
            f"{part.names[0]} has the unit {used[0]!r}, which is not among those of the network ({units[0]} to {units[-1]})."
        )
    off = np.full(len(part), -1, dtype=np.int8)
    X = np.column_stack([columns.get(name, off) for name in units])
    return replace(part, patterns=X, units=units, frame_shape=(len(units),))


def all_units(lists: list[list[str]]) -> list[str]:
    """All names in natural order; of notes, all keys from the lowest to the highest."""
    names = {name for names in lists for name in names}
    pitches = pitches_of(names)
    if pitches and not any(name.isdigit() for name in names):
        return [note_name(pitch) for pitch in range(min(pitches), max(pitches) + 1)]
    if all(part == lists[0] for part in lists):
        return lists[0]
    return sorted(names, key=natural_key)


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key by which frame2 comes before frame10.

    Examples
    --------
    >>> sorted(["f10.png", "f2.png", "F1.png"], key=natural_key)
    ['F1.png', 'f2.png', 'f10.png']
    """
    parts = re.split(r"([0-9]+)", name)
    # Of two numbers the one with more digits is larger; this has no limit, as int() has.
    numbers = [part.lstrip("0") for part in parts]
    key = [(1, len(numbers[k]), numbers[k]) if k % 2 else (0, 0, part.lower()) for k, part in enumerate(parts)]
    return [*key, (0, 0, name)]


def note_name(pitch: int) -> str:
    """Name a MIDI number, with 60 as C4.

    Examples
    --------
    >>> note_name(69), pitch_of("A4"), pitch_of("69")
    ('A4', 69, 69)
    """
    return f"{SCALE[pitch % 12]}{pitch // 12 - 1}"


def pitch_of(name: str) -> int | None:
    """Give the MIDI number of a note's name, or None if it is not one; a number from 0 to 127 names itself."""
    if match := re.fullmatch(r"([A-G]#?)(-1|[0-9])", name):
        pitch = SCALE.index(match[1]) + 12 * (int(match[2]) + 1) if match[1] in SCALE else 128
        return pitch if pitch <= 127 else None
    return int(name) if re.fullmatch(r"[0-9]{1,3}", name) and int(name) <= 127 else None


def pitches_of(names: Iterable[str]) -> list[int]:
    """Give the MIDI numbers of names, or none at all if a name is not that of a note."""
    pitches = [pitch_of(name) for name in names]
    known = [pitch for pitch in pitches if pitch is not None]
    return known if len(known) == len(pitches) else []
