"""The sequences of the lab by name, each with its choices and the Python code that makes it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from seqattractor.datasets._moving_digits import moving_digits
from seqattractor.datasets._random import random_periodic
from seqattractor.datasets._small import place_cells, toy, tune, xor
from seqattractor.datasets._walker import walker
from seqattractor.lab.requests import Fields, Limits, Rejection, pack, unpack
from seqattractor.sequences import LevelCode, Sequences
from seqattractor.sequences._columns import note_name, pitches_of
from seqattractor.sequences._level_code import CHANNELS, CODES, MOST_LEVELS

_LARGEST = 1e100
SIDE = 40  # of the canvas on which digits move


@dataclass(frozen=True)
class Material:
    """Sequences to learn, and how to show them."""

    data: Sequences
    python: str = ""  # code that makes them, as ``X``

    @property
    def kind(self) -> str:
        """How they are shown: "pictures", "units" (without rows and columns) or "music"."""
        return (
            "music"
            if self.data.kind == "music"
            else "units"
            if self.data.picture_shape is None
            else "pictures"
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns in which the units of a pattern are drawn; at least N places."""
        return self.data.picture_shape or _grid(self.data.shape[1])

    @property
    def code(self) -> dict[str, Any] | None:
        """How units stand for grey values or colours, for the page; None in black and white."""
        code = self.data.code
        if code is None:
            return None
        return {
            **code.to_dict(),
            "bits": code.n_bits,
            "channels": CHANNELS if len(self.data.frame_shape) == 4 else 1,
        }

    def as_json(self) -> dict[str, Any]:
        """Return it for the page."""
        return {
            "frames": len(self.data),
            "units": self.data.shape[1],
            "shape": list(self.shape),
            "lengths": self.data.lengths.tolist(),
            "loop": list(self.data.loops),
            "kind": self.kind,
            "code": self.code,
            "pitches": pitches_of(self.data.units or []) if self.kind == "music" else None,
            "bits": pack(self.data.patterns),
        }


def _range(name: str, label: str, low: int, high: int, default: int) -> dict[str, Any]:
    """Return the description of a whole number to choose."""
    return {"name": name, "label": label, "low": low, "high": high, "default": default}


def _choice(name: str, label: str, default: str, **choices: str) -> dict[str, Any]:
    """Return the description of a word to choose, each with its label."""
    return {"name": name, "label": label, "choices": choices, "default": default}


def _entry(
    name: str, label: str, hint: str, *options: dict[str, Any], **suggest: int
) -> dict[str, Any]:
    """Return the description of a kind of sequence; `suggest` are settings with which a first try
    succeeds.
    """
    return {
        "name": name,
        "label": label,
        "hint": hint,
        "options": list(options),
        "suggest": suggest,
    }


_SEED = _range("seed", "Seed", 0, 9999, 0)
_WALKER = (
    _range("frames", "Frames", 8, 103, 24),
    _choice("size", "Size", "medium", small="32 × 22", medium="64 × 44"),
)
_PLACES = (
    _range("frames", "Places", 8, 100, 36),
    _choice("path", "Path", "loop", loop="Loop", eight="Figure of eight"),
)
_DIGITS = (
    _range("sequences", "Sequences", 1, 10, 2),
    _range("frames", "Frames in each", 4, 40, 16),
    _range("digits", "Digits", 1, 2, 1),
    _SEED,
)
_RANDOM = _range("frames", "Patterns", 3, 300, 40), _range("units", "Units", 4, 1024, 100), _SEED
_TOY = _choice("which", "Which", "1", **{"1": "Toy 1", "2": "Toy 2", "xor": "XOR"})

# Order, names and hints as on the page.
CATALOGUE: tuple[dict[str, Any], ...] = (
    _entry("walker", "Walker", "a walking figure in silhouette", *_WALKER, hidden=150, flips=20),
    _entry("digits", "Digits", "digits that wander and bounce", *_DIGITS, hidden=250, flips=10),
    _entry(
        "places",
        "Place cells",
        "cells of a running animal, each active around its own place",
        *_PLACES,
        hidden=300,
        flips=5,
    ),
    _entry(
        "tune",
        "Tune",
        "four bars for the piano, with three steps of context",
        hidden=400,
        order=3,
        flips=4,
    ),
    _entry("random", "Random", "random patterns, as in the paper", *_RANDOM, hidden=400, flips=10),
    _entry("toy", "Toy", "small, but impossible without hidden neurons", _TOY, hidden=50, flips=10),
)


def make_material(spec: Fields, limits: Limits) -> Material:
    """Make the sequences that a request describes: options of `CATALOGUE` by name, or drawn
    "frames".
    """
    name = spec.choice("name", "walker", (*_MAKERS, "frames"))
    if name == "frames":
        return _frames(spec, limits)
    entry = next(e for e in CATALOGUE if e["name"] == name)
    spec.only("name", *(option["name"] for option in entry["options"]))
    values: dict[str, Any] = {}
    for option in entry["options"]:
        if "choices" in option:
            values[option["name"]] = spec.choice(
                option["name"], option["default"], tuple(option["choices"])
            )
        else:
            values[option["name"]] = spec.whole(
                option["name"], option["default"], option["low"], option["high"]
            )
    material = _MAKERS[name](**values)
    limits.check_sequences(material.data.lengths.tolist(), material.data.shape[1])
    return material


def _grid(units: int) -> tuple[int, int]:
    """Return rows and columns, about square, for units that have none."""
    rows = math.isqrt(units)
    for r in range(rows, rows // 2, -1):
        if units % r == 0:
            return r, units // r
    return rows, -(-units // rows)


@lru_cache(maxsize=8)  # drawing the walker takes a moment
def _dataset(make: Callable[..., Sequences], *arguments: Any, **options: Any) -> Material:
    """Return a dataset of the library with the Python code that makes it."""
    words = [
        *map(json.dumps, arguments),
        *(f"{name}={json.dumps(value)}" for name, value in options.items()),
    ]
    return Material(
        make(*arguments, **options), f"X = sa.datasets.{make.__name__}({', '.join(words)})"
    )


_MAKERS: dict[str, Callable[..., Material]] = {
    "walker": lambda frames, size: _dataset(walker, frames, shrink={"small": 4, "medium": 2}[size]),
    "digits": lambda sequences, frames, digits, seed: _dataset(
        moving_digits, sequences, frames, SIDE, digits, rng=seed
    ),
    "places": lambda frames, path: _dataset(place_cells, frames, path),
    "tune": lambda: _dataset(tune),
    "random": lambda frames, units, seed: _dataset(random_periodic, frames, units, rng=seed),
    "toy": lambda which: _dataset(xor) if which == "xor" else _dataset(toy, int(which)),
}


def _frames(spec: Fields, limits: Limits) -> Material:
    """Read frames that the visitor drew or dropped."""
    spec.only("name", "shape", "units", "lengths", "kind", "bits", "code", "pitches")
    shape = spec.wholes("shape", 1, limits.units, 2)
    if len(shape) != 2:
        raise Rejection(400, "shape must have two numbers, rows and columns.")
    kind = spec.choice("kind", "pictures", ("pictures", "units", "music"))
    code, behind = (
        _code(spec.object("code")) if spec.has("code") and kind == "pictures" else (None, ())
    )
    places = math.prod((*shape, *behind))
    units = spec.whole("units", min(places, limits.units), 1, limits.units)
    if units > places or (kind == "pictures" and units != places):
        raise Rejection(400, f"{units} units do not fit into {shape[0]} rows of {shape[1]}.")
    lengths = spec.wholes("lengths", 1, limits.frames, limits.frames)
    limits.check_sequences(lengths, units)
    X = unpack(spec.text("bits", 4 * (limits.frames * limits.units // 24 + 2)), sum(lengths), units)
    frame_shape = (*shape, *behind) if kind == "pictures" else (units,)
    pitches = spec.wholes("pitches", 0, 127, units) if kind == "music" else []
    if kind == "music" and len(pitches) != units:
        raise Rejection(400, f"pitches must have {units} numbers, one for each unit.")
    data = Sequences(
        X,
        np.array(lengths),
        frame_shape,
        units=[note_name(pitch) for pitch in pitches] or None,
        kind="array" if kind == "units" else kind,
        code=code,
    )
    load = 'sa.io.load("sequence.npz", key="X")'
    about = [] if len(lengths) == 1 else [f"lengths={lengths}"]
    if code is not None:
        about += [f"frame_shape={frame_shape}", f"code=sa.encoders.{code}"]
    made = f"sa.Sequences({', '.join([load, *about])})" if about else load
    return Material(data, f'X = {made}  # "Sequence" under "Take it with you"')


def _code(spec: Fields) -> tuple[LevelCode, tuple[int, ...]]:
    """Read how units encode grey values or colours; the second value is the rest of the frame
    shape.
    """
    spec.only("n_levels", "kind", "low", "high", "bits", "channels")
    low, high = (
        spec.number(name, default, -_LARGEST, _LARGEST)
        for name, default in (("low", 0.0), ("high", 255.0))
    )
    if not low < high:
        raise Rejection(400, f"high must lie above low, but they are {high:g} and {low:g}.")
    code = LevelCode(
        spec.whole("n_levels", 2, 2, MOST_LEVELS), spec.choice("kind", CODES[0], CODES), low, high
    )
    channels = spec.whole("channels", 1, 1, CHANNELS)
    if channels == 2 or spec.whole("bits", code.n_bits, 1, MOST_LEVELS) != code.n_bits:
        raise Rejection(
            400,
            f"A value of {code.n_levels} levels has {code.n_bits} bits, and a picture 1 or 3 "
            "channels.",
        )
    return code, (code.n_bits,) if channels == 1 else (channels, code.n_bits)
