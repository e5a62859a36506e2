"""Names of columns: those of frames of other packages (without importing these packages), notes,
and natural order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from seqattractor._checks import say

_SCALE = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


def column_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a frame, or of the first frame of a list, if all are text;
    else None.

    Frames of pandas, polars and pynapple have them as columns, arrays of xarray as coordinates of
    their units.
    """
    if isinstance(X, (list, tuple)):
        return column_names(X[0]) if X and not isinstance(X[0], (list, tuple)) else None
    names = getattr(X, "columns", None)
    if names is None and (units := _units_dimension(X)) is not None:
        names = X.coords[units].values if units in X.coords else None
    if names is None or callable(names):
        return None
    named = list(names)
    return (
        [str(name) for name in named]
        if named and all(isinstance(name, str) for name in named)
        else None
    )


def time_first(X: Any) -> Any:
    """Return an array of xarray with its dimension "time" first, and anything else as it is."""
    return (
        X.transpose("time", ...) if _units_dimension(X) is not None and X.dims[1] == "time" else X
    )


def check_column_names(X: Any, known: Any, name: str = "X") -> None:
    """Reject a frame whose columns have other names than those that were learned, or stand in
    another order.
    """
    names = column_names(X)
    if (
        names is None or known is None or len(names) != len(known)
    ):  # a wrong number of columns is rejected elsewhere
        return
    for given, learned in zip(names, known, strict=True):
        if given != learned:
            raise ValueError(
                f"{name} has the column {say(given)} where the network learned "
                f"{say(str(learned))}; bring its columns into the order of net.feature_names_in_."
            )


def _units_dimension(X: Any) -> Any:
    """The dimension of an array of xarray that is not time; None for anything else."""
    dims = getattr(X, "dims", None)
    if not isinstance(dims, tuple) or len(dims) != 2 or not hasattr(X, "coords"):
        return None
    return dims[0] if dims[1] == "time" else dims[1]


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key by which frame2 comes before frame10."""
    parts = re.split(r"([0-9]+)", name)
    # Of two numbers the one with more digits is larger; this has no limit, as int() has.
    numbers = [part.lstrip("0") for part in parts]
    key = [
        (1, len(numbers[k]), numbers[k]) if k % 2 else (0, 0, part.lower())
        for k, part in enumerate(parts)
    ]
    return [*key, (0, 0, name)]


def note_name(pitch: int) -> str:
    """Name a MIDI number, with 60 as C4."""
    return f"{_SCALE[pitch % 12]}{pitch // 12 - 1}"


def pitch_of(name: str) -> int | None:
    """Return the MIDI number of a note's name, or None if it is not one; a number from 0 to 127
    names itself.
    """
    if match := re.fullmatch(r"([A-G]#?)(-1|[0-9])", name):
        pitch = _SCALE.index(match[1]) + 12 * (int(match[2]) + 1) if match[1] in _SCALE else 128
        return pitch if pitch <= 127 else None
    return int(name) if re.fullmatch(r"[0-9]{1,3}", name) and int(name) <= 127 else None


def pitches_of(names: Iterable[str]) -> list[int]:
    """Return the MIDI numbers of names, or none at all if a name is not that of a note."""
    pitches = [pitch_of(name) for name in names]
    known = [pitch for pitch in pitches if pitch is not None]
    return known if len(known) == len(pitches) else []
