"""Checks of what a browser sends: a value of a wrong type or range is rejected with a status and
one sentence.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqattractor.sequences import Patterns


class Rejection(Exception):
    """A request that the lab rejects; `sentence` explains why and what to do.

    Where the same request will probably be served soon, `retry` is after how many seconds the page
    should send it again.
    """

    def __init__(self, status: int, sentence: str, *, retry: int = 0) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.retry = retry


@dataclass(frozen=True)
class Limits:
    """Sizes that keep the page quick and the server alive; the library itself has no such
    limits.
    """

    units: int = 4096  # N, visible neurons
    frames: int = 400  # T, patterns of all sequences together
    hidden: int = 2000  # M, hidden neurons
    weights: int = 12_500_000  # numbers in one network, 100 MB of them
    epochs: int = 5000
    order: int = 6
    steps: int = 1000
    states: int = 2_000_000  # steps of recall * N
    body: int = 1_000_000  # bytes of a JSON request
    upload: int = 8_000_000  # bytes of the dropped files together
    unpacked: int = 64_000_000  # bytes that the arrays in a dropped npz file may have
    pixels: int = 4_000_000  # of one dropped picture
    visits: int = 200  # open pages
    idle_seconds: float = 3600.0  # after which a page is forgotten
    spare_seconds: float = (
        600.0  # after which a page and its networks give way to others if there is no room
    )
    network_bytes: int = 300_000_000  # of the networks of all visitors
    settle_seconds: float = (
        20.0  # after which networks make room for others, to be learned again when asked for
    )
    workers: int = 2  # visitors whose networks learn at the same time
    waiting: int = 200  # visitors who may wait for that
    seconds: float = 120.0  # how long one visitor's networks may learn at a time
    again_seconds: float = 5.0  # how long epochs may be learned again, to look back at one of them
    threads: int = (
        4  # visitors for whom something else is computed at the same time, such as a recall
    )
    requests: int = 12  # of one page under way at once; a browser sends up to 6
    downloads: int = 2  # among these
    connections: int = 1200  # a browser opens up to 6
    grace: float = 10.0  # seconds after which a client that sends or reads nothing is disconnected

    def check_sequences(self, lengths: list[int], units: int) -> None:
        """Reject sequences that are too large, or too short."""
        frames = sum(lengths)
        if units > self.units:
            raise Rejection(
                413,
                f"The lab takes patterns of up to {self.units} units, but these have {units}; make "
                "them smaller.",
            )
        if frames > self.frames:
            raise Rejection(
                413,
                f"The lab takes up to {self.frames} frames, but these are {frames}; leave some "
                "out.",
            )
        if min(lengths, default=0) < 2:
            which = (
                f"sequence {1 + lengths.index(min(lengths))}" if len(lengths) > 1 else "this one"
            )
            raise Rejection(
                400,
                f"A sequence needs at least two frames, but {which} has {min(lengths, default=0)}.",
            )

    def check_network(self, weights: int, what: str, smaller: str) -> None:
        """Reject networks that are too large; `smaller` names the remedy."""
        if weights > self.weights:
            raise Rejection(
                413,
                f"{what} would have {weights / 1e6:.1f} million weights; the lab goes up to "
                f"{self.weights / 1e6:.1f} million; use {smaller}, or the library on your own "
                "machine.",
            )


def parse(
    body: bytes, name: str = "request", complaint: str = "The request is not valid JSON."
) -> Fields:
    """Read a JSON object."""
    try:
        data = json.loads(body, parse_constant=_reject_constant)
    except (ValueError, RecursionError):
        raise Rejection(400, complaint) from None
    return Fields(data, name)


def _reject_constant(name: str) -> Any:
    """NaN and Infinity are not JSON."""
    raise ValueError(name)


class Fields:
    """A JSON object whose values are taken out one by one."""

    def __init__(self, data: Any, name: str) -> None:
        if not isinstance(data, dict):
            raise Rejection(400, f"The {name} must be a JSON object.")
        self._data, self._name = data, name

    def only(self, *names: str) -> None:
        """Reject unknown fields: most likely they are misspelt."""
        for name in self._data:
            if name not in names:
                raise Rejection(
                    400,
                    f"The {self._name} has no field {str(name)[:40]!r}; it has "
                    f"{', '.join(names) or 'none'}.",
                )

    def whole(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number in a range."""
        value = self._data.get(name, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Rejection(400, f"{name} must be a whole number, but it is {_short(value)}.")
        if not low <= value <= high:
            raise Rejection(
                400, f"{name} must lie between {low} and {high}, but it is {_short(value)}."
            )
        return value

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """Return a number in a range."""
        value = self._data.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Rejection(400, f"{name} must be a number, but it is {_short(value)}.")
        if not low <= value <= high or not math.isfinite(value):
            raise Rejection(
                400, f"{name} must lie between {low:g} and {high:g}, but it is {_short(value)}."
            )
        return float(value)

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        """Return one of a few words."""
        value = self._data.get(name, default)
        if not isinstance(value, str) or value not in choices:
            raise Rejection(
                400, f"{name} must be one of {', '.join(choices)}, but it is {_short(value)}."
            )
        return value

    def wholes(self, name: str, low: int, high: int, most: int) -> list[int]:
        """Return a list of whole numbers in a range."""
        value = self._data.get(name, [])
        if not isinstance(value, list) or len(value) > most:
            raise Rejection(400, f"{name} must be a list of at most {most} whole numbers.")
        for item in value:
            if isinstance(item, bool) or not isinstance(item, int) or not low <= item <= high:
                raise Rejection(
                    400,
                    f"{name} must hold whole numbers from {low} to {high}, but it has "
                    f"{_short(item)}.",
                )
        return list(value)

    def object(self, name: str) -> Fields:
        """Return an inner object; empty where it is missing."""
        return Fields(self._data.get(name, {}), name)

    def objects(self, name: str, least: int, most: int) -> list[Fields]:
        """Return a list of objects."""
        value = self._data.get(name)
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise Rejection(400, f"{name} must be a list of {least} to {most} objects.")
        return [Fields(item, f"{name}[{k}]") for k, item in enumerate(value)]

    def text(self, name: str, most: int) -> str:
        """Return a text of bounded length."""
        value = self._data.get(name, "")
        if not isinstance(value, str) or len(value) > most:
            raise Rejection(400, f"{name} must be a text of at most {most} characters.")
        return value

    def digest(self) -> str:
        """Return what stands for these fields, whatever their order."""
        return hashlib.sha256(json.dumps(self._data, sort_keys=True).encode()).hexdigest()

    def names(self, name: str) -> bool:
        """Return whether the field `name` has this value."""
        return self._data.get("name") == name

    def is_text(self, name: str) -> bool:
        """Return whether a field was sent with a text."""
        return isinstance(self._data.get(name), str)

    def has(self, name: str) -> bool:
        """Return whether a field was sent with a value."""
        return self._data.get(name) is not None


def pack(X: NDArray[Any]) -> str:
    """Return patterns of +-1 of any shape as bits in base64: one bit per unit, rows one after the
    other.
    """
    return base64.b64encode(np.packbits(np.asarray(X).ravel() > 0).tobytes()).decode("ascii")


def unpack(text: str, frames: int, units: int) -> Patterns:
    """Return the patterns of `pack`, shape (frames, units)."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Rejection(400, "The bits are not valid base64.") from None
    count = frames * units
    if len(data) != -(-count // 8):
        raise Rejection(
            400,
            f"{frames} frames of {units} units need {-(-count // 8)} bytes of bits, but these are "
            f"{len(data)}.",
        )
    bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=count)
    return np.where(bits, 1, -1).astype(np.int8).reshape(frames, units)


def _short(value: Any) -> str:
    """Return a value for a sentence, shortened."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a very long number"
    return text if len(text) <= 60 else text[:57] + "..."
