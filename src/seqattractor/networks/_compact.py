"""All arrays of a network in less room, see `_packed_array`: what is drawn again is drawn in the order of learning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.networks._origins import Origin, Redrawn
from seqattractor.networks._packed_array import PARTS, Form, pack, sizes_of, unpack
from seqattractor.networks._plain_values import as_generator_of, to_json

Arrays = dict[str, NDArray[Any]]

_ALWAYS = 2**26  # bytes that any file may take when it is unpacked
_TIMES = 250  # how many times its own size a file may take beside that; films have been seen to take 50 times their size


def most_bytes(file_size: int) -> int:
    """How many bytes a file may take in memory: a small file cannot ask for much."""
    return _ALWAYS + _TIMES * file_size


def is_part(name: str) -> bool:
    """Whether this is the name of a part of an array, such as ``U_.steps``."""
    array, dot, part = name.partition(".")
    return bool(array and dot) and part in PARTS


def pack_arrays(
    arrays: Arrays, origins: dict[str, Origin], generator: np.random.Generator | None
) -> tuple[dict[str, Any], Arrays, Arrays]:
    """Pack what can be packed. It is unpacked again and compared, so that nothing is lost, whatever went wrong.

    Parameters
    ----------
    arrays : dict
        All arrays of a network.
    origins : dict of Origin
        Those that are known, in the order in which their starts were drawn.
    generator : Generator, optional
        As it was before.

    Returns
    -------
    tuple of the entries for the header, the arrays that are kept as they are, and the parts of all others

    Examples
    --------
    >>> header, kept, parts = pack_arrays({"a_": np.eye(50), "b_": np.full(9, 0.1)}, {}, None)
    >>> list(header["forms"]), list(kept), list(parts)
    (['a_'], ['b_'], ['a_.steps'])
    """
    redrawn, again = (Redrawn(generator) if generator is not None else None for _ in range(2))
    forms: dict[str, Form] = {}
    kept, first = dict(arrays), 0
    parts: Arrays = {}
    for name in sorted(arrays, key=lambda name: (list(origins).index(name) if name in origins else len(origins), name)):
        origin = origins.get(name)
        if origin is not None and origin.start is not None:
            if redrawn is not None:
                redrawn.begin(first)
            first += math.prod(origin.start.shape)
        packed = pack(arrays[name], origin, redrawn)
        if packed is not None and _same_bits(unpack(*packed, again), arrays[name]):
            forms[name] = packed[0]
            parts |= {f"{name}.{part}": content for part, content in packed[1].items()}
            del kept[name]
    entries: dict[str, Any] = {"forms": forms}
    if any("start" in form for form in forms.values()):
        entries |= {"drawn_from": to_json(generator, "the generator"), "numpy": np.__version__}
    return entries, kept, parts


def _same_bits(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays are equal, in the signs of zeros, too."""
    whole = np.ascontiguousarray(other)
    return one.dtype == whole.dtype and one.shape == whole.shape and np.array_equal(one.view(np.uint8), whole.view(np.uint8))


def unpacked_size(forms: dict[str, Form], members: Arrays) -> int:
    """How many bytes members of a file take, and all arrays that are made of them; more if more random numbers are drawn."""
    sizes = [sizes_of(form) for form in forms.values()]
    drawn = max((end for _, end in sizes), default=0)
    return max(sum(size for size, _ in sizes) + sum(member.nbytes for member in members.values()), 8 * drawn)


def unpack_arrays(header: dict[str, Any], members: Arrays) -> Arrays:
    """Undo `pack_arrays`, for a header of which `unpacked_size` was asked before, and the members of its file.

    Examples
    --------
    >>> header, kept, parts = pack_arrays({"a_": np.eye(50)}, {}, None)
    >>> bool((unpack_arrays(header, kept | parts)["a_"] == np.eye(50)).all())
    True
    """
    forms: dict[str, Form] = header["forms"]
    parts: dict[str, Arrays] = {name: {} for name in forms}
    arrays: Arrays = {}
    for name, member in members.items():
        array, _, part = name.partition(".")
        if not part:
            arrays[name] = member
        elif array in parts:
            parts[array][part] = member
        else:
            raise ValueError(f"it has a member {name!r} that belongs to nothing")
    redrawn = None
    if any("start" in form for form in forms.values()):
        redrawn = Redrawn(as_generator_of(header["drawn_from"]))
    for name, form in sorted(forms.items(), key=lambda item: item[1].get("start", {"first": -1})["first"]):
        if name in arrays:
            raise ValueError(f"it has {name} twice")
        arrays[name] = unpack(form, parts[name], redrawn)
    return arrays
