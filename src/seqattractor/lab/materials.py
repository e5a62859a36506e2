"""What there is to learn: the sequences of the lab by name, each with its choices and the Python code that makes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from seqattractor.datasets._place_cells import place_cells
from seqattractor.datasets._random import random_periodic
from seqattractor.datasets._toy import toy, xor
from seqattractor.datasets._tune import PITCHES, tune
from seqattractor.datasets._walker import walker
from seqattractor.lab.requests import Fields, Limits, Refusal, pack, unpack
from seqattractor.sequences import Sequences

SIDE = 40  # of the canvas on which digits move


@dataclass(frozen=True)
class Material:
    """Sequences to learn, and how to show them."""

    data: Sequences
    code: str = ""
    """Python that makes them, as ``X``."""

    @property
    def kind(self) -> str:
        """How they are shown: "pictures", "units" (without rows and columns) or "music"."""
        return "music" if self.data.kind == "music" else "pictures" if len(self.data.frame_shape) == 2 else "units"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns in which the units of a pattern are drawn; at least N places."""
        shape = self.data.frame_shape
        return (shape[0], shape[1]) if len(shape) == 2 else _grid(shape[0])

    def as_json(self) -> dict[str, Any]:
        """Give all that the page needs to show it."""
        return {
            "frames": len(self.data),
            "units": self.data.shape[1],
            "shape": list(self.shape),
            "lengths": self.data.lengths.tolist(),
            "loop": list(self.data.loops),
            "kind": self.kind,
            "pitches": list(PITCHES) if self.kind == "music" else None,
            "bits": pack(self.data.patterns),
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
        "options": [_range("frames", "Frames", 8, 103, 24), _choice("size", "Size", "medium", small="32 × 22", medium="64 × 44")],
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
    >>> make_material(Fields({"name": "random", "frames": 5, "units": 9}, "sequence"), Limits()).data.shape
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
    limits.check_sequence(*material.data.shape)
    return material


def _grid(units: int) -> tuple[int, int]:
    """Rows and columns, about square, for units that have none."""
    rows = math.isqrt(units)
    for r in range(rows, rows // 2, -1):
        if units % r == 0:
            return r, units // r
    return rows, -(-units // rows)


def first_material() -> Material:
    """Give what the page shows first."""
    return _walker(24, "medium")


@lru_cache(maxsize=8)  # drawing it takes a moment
def _walker(frames: int, size: str) -> Material:
    """The walker."""
    shrink = 4 if size == "small" else 2
    return Material(walker(frames, shrink=shrink), f"X = sa.datasets.walker({frames}, shrink={shrink})")


def _digits(sequences: int, frames: int, digits: int, seed: int) -> Material:
    """Moving digits on a small canvas."""
    from seqattractor.datasets._moving_digits import moving_digits

    X = moving_digits(sequences, frames, SIDE, digits, rng=seed)
    return Material(X, f"X = sa.datasets.moving_digits({sequences}, {frames}, {SIDE}, {digits}, rng={seed})")


def _places(frames: int, path: str) -> Material:
    """Place cells along a path."""
    return Material(
        place_cells(frames, "eight" if path == "eight" else "loop"), f'X = sa.datasets.place_cells({frames}, "{path}")'
    )


def _tune() -> Material:
    """The tune."""
    return Material(tune(), "X = sa.datasets.tune()")


def _random(frames: int, units: int, seed: int) -> Material:
    """A random periodic sequence."""
    try:
        X = random_periodic(frames, units, rng=seed)
    except ValueError as error:
        raise Refusal(400, _sentence(error)) from None
    return Material(X, f"X = sa.datasets.random_periodic({frames}, {units}, rng={seed})")


def _toy(which: str) -> Material:
    """The toy sequences of section 3."""
    if which == "xor":
        return Material(xor(), "X = sa.datasets.xor()")
    return Material(toy(int(which)), f"X = sa.datasets.toy({which})")


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
    frame_shape = tuple(shape) if kind == "pictures" else (units,)
    data = Sequences(X, np.array(lengths), frame_shape, kind="pictures" if kind == "pictures" else "array")
    load = 'sa.io.load("sequence.npz", key="X")'
    made = load if len(lengths) == 1 else f"sa.Sequences({load}, lengths={lengths})"
    return Material(data, f'X = {made}  # "Sequence" under "Take it with you"')


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
