"""Arrays in less room: whole numbers of a few bytes, on top of a start that is drawn again. What is unpacked has the same bits.

A weight of the paper's networks is a random start plus a whole number of steps of the size eta. The start has 52 random bits in
each weight and cannot be made smaller, but it can be drawn again. The steps are small numbers, and within a row all of them are
odd or all are even, since every update changes all weights of a neuron by one step. A packed array is described in the header
of the file (its form) and has these parts:

- ``steps``, bytes of shape (b, *shape): the steps, divided by `factor`, as numbers of b bytes (`to_bytes`);
- ``rest``, bytes of shape (b, rows): what the steps of each row leave when they are divided by `factor`;
- ``ulps``, bytes of shape (b, *shape): by how many places in the order of all float64 numbers a weight differs from
  start + unit * steps, if it was rounded otherwise on its way;
- ``tails``: numbers of the start that are not drawn alike on every machine (`Redrawn`), if there are some.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks._origins import Origin, Redrawn, Start
from seqattractor.networks._small_numbers import (
    MOST_BYTES,
    Whole,
    are_small,
    divide,
    from_bytes,
    from_places,
    to_bytes,
    to_places,
)

Form = dict[str, Any]
Parts = Mapping[str, NDArray[Any]]

PARTS = ("steps", "rest", "ulps", "tails")
_CHUNK = 2**20  # numbers that are worked on at once
_MOST_FACTOR = 2**31  # so that no step leaves 64 bits
_KINDS = ("f8", "i1", "i2", "i4", "i8")
_OVERHEAD = 250  # bytes that a part takes beside its content
_WHOLE = Origin(unit=1.0)


class NotDrawnAlike(ValueError):
    """A start that is drawn again is not what it was."""


def pack(array: NDArray[Any], origin: Origin | None, redrawn: Redrawn | None) -> tuple[Form, Parts] | None:
    """Pack an array, if that takes less room and loses nothing.

    Parameters
    ----------
    array : ndarray
    origin : Origin, optional
        Where it may come from; by default whole numbers are looked for.
    redrawn : Redrawn, optional
        Has just begun at the start of the array, if it has one.

    Returns
    -------
    tuple of the form and the parts, or None

    Examples
    --------
    >>> form, parts = pack(np.arange(300.0).reshape(3, 100) * 0.1, Origin(unit=0.1), None)
    >>> form, {name: part.shape for name, part in parts.items()}
    ({'shape': [3, 100], 'kind': 'f8', 'unit': 0.1, 'factor': 1}, {'steps': (2, 3, 100)})
    """
    kind = array.dtype.str[1:]
    if kind not in _KINDS or not array.size or not array.ndim:
        return None
    origin = origin or _WHOLE
    start = origin.start if kind == "f8" and redrawn is not None else None
    if start is not None and start.shape != array.shape:
        return None
    form: Form = {"shape": list(array.shape), "kind": kind}
    parts: dict[str, NDArray[Any]] = {}
    steps, ulps, as_drawn = _taken_apart(_rows(np.ascontiguousarray(array)), start, origin.unit, redrawn)
    if steps is None and not as_drawn:
        return None
    if start is not None and redrawn is not None:
        digest, tails = redrawn.record()
        parts |= {"tails": tails} if tails.size else {}
        form["start"] = {"first": redrawn.position - array.size, "scale": start.scale, "grid": start.grid, "digest": digest}
    if steps is not None and not as_drawn:
        if kind == "f8":
            form["unit"] = origin.unit
        form["factor"], rest = divide(steps)
        parts["steps"] = to_bytes(steps).reshape(-1, *array.shape)
        if form["factor"] > 1:
            parts["rest"] = to_bytes(rest)
        if ulps is not None:
            parts["ulps"] = to_bytes(ulps).reshape(-1, *array.shape)
    n_bytes = sum(len(parts[name]) for name in ("steps", "ulps") if name in parts)
    smaller = n_bytes < array.itemsize or (kind != "f8" and n_bytes == array.itemsize)  # whole numbers are compressed, at least
    return (form, parts) if smaller and array.nbytes > _OVERHEAD * len(parts) else None


def sizes_of(form: Form) -> tuple[int, int]:
    """How many bytes an array takes when it is unpacked, at most, and how many numbers have to be drawn up to its end.

    Examples
    --------
    >>> sizes_of({"shape": [3, 100], "kind": "f8", "unit": 0.1, "factor": 1})
    (2400, 0)
    """
    shape, start = form["shape"], form.get("start")
    if form["kind"] not in _KINDS or not shape or len(shape) > 8 or not all(_is_whole(size, 1) for size in shape):
        raise ValueError(f"it has an array of the kind {form['kind']!r} and the shape {shape}")
    if start is not None and (form["kind"] != "f8" or not _is_whole(start["first"], 0)):
        raise ValueError("it has an array with a start that cannot be drawn")
    n = math.prod(shape)
    return 8 * n, 0 if start is None else start["first"] + n


def unpack(form: Form, parts: Parts, redrawn: Redrawn | None) -> NDArray[Any]:
    """Make the array from its form, of which `sizes_of` was asked before, and its parts.

    Examples
    --------
    >>> array = np.array([-1, 1] * 300, dtype=np.int8)
    >>> bool((unpack(*pack(array, None, None), None) == array).all())
    True
    """
    array = np.empty(form["shape"], dtype=form["kind"])
    rows = _rows(array)
    start, unit, factor = _checked_form(form, redrawn)
    wanted = {"tails"} & set(parts) if start is not None else set()
    if factor:
        wanted |= {"steps"} | ({"rest"} if factor > 1 else set()) | ({"ulps"} & set(parts) if unit else set())
    if set(parts) != wanted:
        raise ValueError(f"it has an array with the parts {sorted(parts)} instead of {sorted(wanted)}")
    if start is not None and redrawn is not None:
        tails = _checked_part(parts, "tails", None, "f8") if "tails" in wanted else np.zeros(0)
        redrawn.begin(form["start"]["first"], tails)
    steps = _checked_part(parts, "steps", rows.shape) if factor else None
    ulps = _checked_part(parts, "ulps", rows.shape) if "ulps" in wanted else None
    rest = from_bytes(_checked_part(parts, "rest", (len(rows),))) if "rest" in wanted else np.zeros(len(rows), dtype=np.int64)
    for piece in _pieces(rows):
        counted = from_bytes(steps[:, piece]) * factor + rest[piece, np.newaxis] if steps is not None else None
        with np.errstate(all="ignore"):  # what is not finite is refused later
            begun = start.of(redrawn.draw(rows[piece].shape)) if start is not None and redrawn is not None else None
            made = _made(begun, counted, unit)
        if ulps is not None:
            made = from_places(to_places(made) + from_bytes(ulps[:, piece]))
        rows[piece] = made
        if not unit and not np.array_equal(rows[piece], made):
            raise ValueError(f"it has an array whose numbers are no {array.dtype}")
    if start is not None and redrawn is not None and not redrawn.is_as_recorded(form["start"]["digest"]):
        raise NotDrawnAlike
    return array


# -- inside -----------------------------------------------------------------------------------------------------


def _taken_apart(
    rows: NDArray[Any], start: Start | None, unit: float | None, redrawn: Redrawn | None
) -> tuple[Whole | None, Whole | None, bool]:
    """Steps and ulps of an array, each None if there are none, and whether it is just as it was drawn."""
    if rows.dtype.kind == "i":
        return (rows.astype(np.int32) if are_small(rows) else None), None, False
    steps: Whole | None = np.empty(rows.shape, dtype=np.int32) if unit else None
    ulps: Whole | None = None
    as_drawn = start is not None
    for piece in _pieces(rows):
        weights = rows[piece]
        with np.errstate(all="ignore"):
            begun = start.of(redrawn.draw(weights.shape)) if start is not None and redrawn is not None else None
        as_drawn = as_drawn and begun is not None and np.array_equal(begun.view(np.int64), weights.view(np.int64))
        if steps is None or unit is None:
            continue
        with np.errstate(all="ignore"):
            counted = np.rint((weights if begun is None else weights - begun) / unit)
            if are_small(counted):
                steps[piece] = counted
                moved = to_places(weights) - to_places(_made(begun, steps[piece], unit))
            if not are_small(counted) or not are_small(moved):
                steps = None  # the rest is drawn nevertheless
                continue
        if moved.any():
            ulps = np.zeros(rows.shape, dtype=np.int32) if ulps is None else ulps
            ulps[piece] = moved
    return steps, ulps, as_drawn


def _made(begun: NDArray[np.float64] | None, counted: Whole | None, unit: float | None) -> NDArray[Any]:
    """What a start and steps make: begun + unit * counted, each rounded once; whole numbers without a unit."""
    if counted is None or unit is None:
        assert begun is not None or counted is not None
        return begun if counted is None else counted  # type: ignore[return-value]
    learned = counted * unit
    return learned if begun is None else begun + learned


def _rows(array: NDArray[Any]) -> NDArray[Any]:
    """The array as a matrix; what has no rows is one."""
    return array.reshape(len(array) if array.ndim > 1 else 1, -1)


def _pieces(rows: NDArray[Any]) -> Iterator[slice]:
    """Some rows at a time."""
    size = max(1, _CHUNK // rows.shape[1])
    return (slice(first, first + size) for first in range(0, len(rows), size))


def _checked_form(form: Form, redrawn: Redrawn | None) -> tuple[Start | None, float | None, int]:
    """The start, the unit and the factor, which is 0 without steps."""
    start = form.get("start")
    if start is not None and (redrawn is None or start["first"] < redrawn.position):
        raise ValueError("it has an array with a start that cannot be drawn")
    unit = _number(form["unit"]) if "unit" in form else None
    factor = form.get("factor", 0)
    if (
        not _is_whole(factor, 0)
        or factor >= _MOST_FACTOR
        or not (factor or start)
        or (unit is None) != (form["kind"] != "f8" or not factor)
    ):
        raise ValueError("it has an array whose steps cannot be counted")
    if start is None:
        return None, unit, factor
    return Start(tuple(form["shape"]), _number(start["scale"]), _number(start["grid"])), unit, factor


def _checked_part(parts: Parts, name: str, shape: tuple[int, ...] | None, kind: str = "u1") -> NDArray[Any]:
    """A part of the right kind and shape, with an axis of bytes before it: as a matrix for each byte."""
    part = parts[name]
    right = part.ndim == 1 if shape is None else 1 <= len(part) <= MOST_BYTES and math.prod(part.shape[1:]) == math.prod(shape)
    if part.dtype.str[1:] != kind or not right:
        raise ValueError(f"it has an array whose {name} are of {part.dtype} and shape {part.shape}")
    return part if shape is None else part.reshape(len(part), *shape)


def _is_whole(value: Any, least: int) -> bool:
    """Whether a value from a header is a whole number, `least` or more."""
    return type(value) is int and value >= least


def _number(value: Any) -> float:
    """A finite number from a header."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"it has an array in units of {value!r}")
    return float(value)
