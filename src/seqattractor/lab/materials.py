"""What there is to learn: the sequences of the lab by name, each with its choices and the Python code that makes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqattractor.datasets._place_cells import place_cells
from seqattractor.datasets._tune import PITCHES, tune
from seqattractor.datasets._walker import walker
from seqattractor.lab.fields import Fields, pack, unpack
from seqattractor.lab.limits import Limits, Refusal
from seqattractor.sequences import Lengths, Patterns

__all__ = ["CATALOGUE", "Material", "grid", "make_material"]


@dataclass(frozen=True)
class Material:
    """Sequences to learn, and how to show them."""

    X: Patterns
    """Patterns of +-1, shape (T, N)."""
    lengths: Lengths
    """Rows of each sequence, shape (S,)."""
    shape: tuple[int, int]
    """Rows and columns in which the units of a pattern are drawn; at least N places."""
    code: str
    """Python that makes `X` and `lengths`."""
    kind: str = "pictures"
    """"pictures", "units" (without rows and columns) or "music"."""
    loop: tuple[bool, ...] = field(init=False)
    """Whether each sequence ends with its first pattern."""

    def __post_init__(self) -> None:
        ends = np.cumsum(self.lengths)
        starts = ends - self.lengths
        closed = tuple(bool(np.array_equal(self.X[a], self.X[b - 1])) for a, b in zip(starts, ends, strict=True))
        object.__setattr__(self, "loop", closed)

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """The shape of a frame: rows and columns of pictures, else the number of units."""
        return self.shape if self.kind == "pictures" else (self.X.shape[1],)

    def as_json(self) -> dict[str, Any]:
        """Give all that the page needs to show it."""
        return {
            "frames": len(self.X),
            "units": self.X.shape[1],
            "shape": list(self.shape),
            "lengths": self.lengths.tolist(),
            "loop": list(self.loop),
            "kind": self.kind,
            "pitches": list(PITCHES) if self.kind == "music" else None,
            "bits": pack(self.X),
        }


def _range(name: str, label: str, low: int, high: int, default: int) -> dict[str, Any]:
    """Describe a whole number that the visitor may choose."""
    return {"name": name, "label": label, "low": low, "high": high, "default": default}


def _choice(name: str, label: str, default: str, **choices: str) -> dict[str, Any]:
    """Describe a word that the visitor may choose: word and label."""
    return {"name": name, "label": label, "choices": choices, "default": default}


_SEED = _range("seed", "Seed", 0, 9999, 0)

# Order, names and hints as on the page; `suggest` are settings with which a first try succeeds.
CATALOGUE: tuple[dict[str, Any], ...] = (
    {
        "name": "walker",
        "label": "Walker",
        "hint": "a walking figure in silhouette",
        "options": [
            _range("frames", "Frames", 8, 103, 24),
            _choice("size", "Size", "medium", small="32 × 22", medium="64 × 44"),
        ],
        "suggest": {"hidden": 150, "flips": 20},
    },
    {
        "name": "digits",
        "label": "Digits",
        "hint": "digits that wander and bounce",
        "options": [
            _range("sequences", "Sequences", 1, 10, 2),
            _range("frames", "Frames in each", 4, 40, 16),
            _range("digits", "Digits", 1, 2, 1),
            _SEED,
        ],
        "suggest": {"hidden": 250, "flips": 10},
    },
    {
        "name": "places",
        "label": "Place cells",
        "hint": "cells of an animal that runs a loop",
        "options": [
            _range("frames", "Places", 8, 100, 36),
            _choice("path", "Path", "loop", loop="Loop", eight="Figure of eight"),
        ],
        "suggest": {"hidden": 300, "flips": 5},
    },
    {
        "name": "tune",
        "label": "Tune",
        "hint": "four bars for the piano, with three steps of context",
        "options": [],
        "suggest": {"hidden": 400, "order": 3, "flips": 4},
    },
    {
        "name": "random",
        "label": "Random",
        "hint": "random patterns, as in the paper",
        "options": [_range("frames", "Patterns", 3, 300, 40), _range("units", "Units", 4, 1024, 100), _SEED],
        "suggest": {"hidden": 400, "flips": 10},
    },
    {
        "name": "toy",
        "label": "Toy",
        "hint": "small, but impossible without hidden neurons",
        "options": [_choice("which", "Which", "1", **{"1": "Toy 1", "2": "Toy 2", "xor": "XOR"})],
        "suggest": {"hidden": 50, "flips": 10},
    },
)


def make_material(spec: Fields, limits: Limits) -> Material:
    """Make the sequences that a request describes.

    Parameters
    ----------
    spec : Fields
        ``{"name": ..., ...}`` with the options in `CATALOGUE`; or the name "frames" with ``shape``, ``units``, ``lengths``,
        ``kind`` and ``bits``.
    limits : Limits

    Returns
    -------
    Material

    Examples
    --------
    >>> make_material(Fields({"name": "random", "frames": 5, "units": 9}, "sequence"), Limits()).X.shape
    (5, 9)
    """
    name = spec.choice("name", "walker", (*_MAKERS, "frames"))
    if name == "frames":
        return _frames(spec, limits)
    entry = next(e for e in CATALOGUE if e["name"] == name)
    spec.only("name", *(option["name"] for option in entry["options"]))
    values: dict[str, Any] = {}
    for option in entry["options"]:
        if "choices" in option:
            values[option["name"]] = spec.choice(option["name"], option["default"], tuple(option["choices"]))
        else:
            values[option["name"]] = spec.whole(option["name"], option["default"], option["low"], option["high"])
    material = _MAKERS[name](**values)
    limits.check_sequence(*material.X.shape)
    return material


def _one(X: Patterns, code: str, shape: tuple[int, int] | None = None, kind: str = "units") -> Material:
    """Material of one sequence."""
    places = shape or grid(X.shape[1])
    return Material(X, np.array([len(X)], dtype=np.int64), places, code + "\nlengths = [len(X)]", kind)


def grid(units: int) -> tuple[int, int]:
    """Rows and columns, about square, for units that have none."""
    rows = math.isqrt(units)
    for r in range(rows, rows // 2, -1):
        if units % r == 0:
            return r, units // r
    return rows, -(-units // rows)


def _walker(frames: int, size: str) -> Material:
    """The walker."""
    shrink = 4 if size == "small" else 2
    code = f"X = sa.datasets.walker({frames}, shrink={shrink})"
    return _one(walker(frames, shrink=shrink).patterns, code, (128 // shrink, 88 // shrink), "pictures")


def _digits(sequences: int, frames: int, digits: int, seed: int) -> Material:
    """Moving digits on a small canvas."""
    from seqattractor.datasets import moving_digits

    size = 40
    X = moving_digits(sequences, frames, size, digits, rng=seed)
    code = f"X = sa.datasets.moving_digits({sequences}, {frames}, {size}, {digits}, rng={seed})\nlengths = X.lengths"
    return Material(X.patterns, X.lengths, (size, size), code)


def _places(frames: int, path: str) -> Material:
    """Place cells along a path."""
    code = f'X = sa.datasets.place_cells({frames}, "{path}")'
    return _one(place_cells(frames, "eight" if path == "eight" else "loop").patterns, code, (16, 16), "pictures")


def _tune() -> Material:
    """The tune."""
    return _one(tune().patterns, "X = sa.datasets.tune()", kind="music")


def _random(frames: int, units: int, seed: int) -> Material:
    """A random periodic sequence."""
    from seqattractor.datasets import random_periodic

    try:
        X = random_periodic(frames, units, rng=seed)
    except ValueError as error:
        raise Refusal(400, _sentence(error)) from None
    return _one(X.patterns, f"X = sa.datasets.random_periodic({frames}, {units}, rng={seed})")


def _toy(which: str) -> Material:
    """The toy sequences of section 3."""
    from seqattractor import datasets

    if which == "xor":
        return _one(datasets.xor().patterns, "X = sa.datasets.xor()")
    return _one(datasets.toy(int(which)).patterns, f"X = sa.datasets.toy({which})")


def _frames(spec: Fields, limits: Limits) -> Material:
    """Frames that the visitor drew or dropped."""
    spec.only("name", "shape", "units", "lengths", "kind", "bits")
    shape = spec.wholes("shape", 1, limits.units, 2)
    if len(shape) != 2:
        raise Refusal(400, "shape must have two numbers, rows and columns.")
    units = spec.whole("units", shape[0] * shape[1], 1, limits.units)
    kind = spec.choice("kind", "pictures", ("pictures", "units"))
    if units > shape[0] * shape[1] or (kind == "pictures" and units != shape[0] * shape[1]):
        raise Refusal(400, f"{units} units do not fit into {shape[0]} rows of {shape[1]}.")
    lengths = spec.wholes("lengths", 1, limits.frames, limits.frames)
    limits.check_sequence(sum(lengths), units)
    X = unpack(spec.text("bits", 4 * (limits.frames * limits.units // 24 + 2)), sum(lengths), units)
    code = 'X = sa.io.load("sequence.npz", key="X")  # "Sequence" under "Take it with you"'
    code += f"\nlengths = {lengths}"
    return Material(X, np.array(lengths, dtype=np.int64), (shape[0], shape[1]), code, kind)


def _sentence(error: Exception) -> str:
    """The library's sentence, as a sentence on the page."""
    text = str(error)
    return text[:1].upper() + text[1:]


_MAKERS: dict[str, Callable[..., Material]] = {
    "walker": _walker,
    "digits": _digits,
    "places": _places,
    "tune": _tune,
    "random": _random,
    "toy": _toy,
}
